//! Floating point on scalar registers against models of exact arithmetic, on special and random
//! operands, with denormals kept and dropped and with results that overflow limited.

use tilefold_sim::{Arg, Check, Checks, CodeObject, Launch, Simulator};

use crate::differential::extrema::Bits;
use crate::differential::harness::float;
use crate::differential::numbers::{f, f16_bits, f16_toward_zero, f32_bits, fused, h};
use crate::differential::operands::tuples;
use crate::{Bytes, build, words};

/// What a kernel's descriptor says of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    /// Denormals are zeros.
    Flush,
    /// Halves that overflow become the largest.
    Limit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ty {
    F32,
    F16,
    /// Two halves.
    Pair,
    Word,
}

impl Ty {
    /// The denormals of a value made zeros.
    fn flushed(self, bits: u32) -> u32 {
        match self {
            Ty::F32 if f(bits).abs() < f64::from(f32::MIN_POSITIVE) => bits & 1 << 31,
            Ty::F16 if h(bits).abs() < 1.0 / 16384.0 => bits & 0x8000,
            Ty::Pair => Ty::F16.flushed(bits & 0xffff) | Ty::F16.flushed(bits >> 16) << 16,
            _ => bits,
        }
    }

    /// Whether a result is the one expected, up to the kind of a quiet NaN and so many units in the
    /// last place.
    fn same(self, got: u32, expected: u32, close: u64) -> bool {
        let half = |got: u32, expected: u32| float(got.into(), expected.into(), 10, 16, close);
        match self {
            Ty::F32 => float(got.into(), expected.into(), 23, 32, close),
            Ty::F16 => got >> 16 == 0 && half(got, expected),
            Ty::Pair => half(got & 0xffff, expected & 0xffff) && half(got >> 16, expected >> 16),
            Ty::Word => got == expected,
        }
    }
}

type Model = Box<dyn Fn([u32; 3]) -> u32>;

/// An instruction that leaves its result in s20 or SCC.
struct Case {
    text: String,
    source: Ty,
    result: Ty,
    close: u64,
    model: Model,
}

fn model(model: impl Fn([u32; 3]) -> u32 + 'static) -> Model {
    Box::new(model)
}

fn i32_of(value: f64) -> u32 {
    value as i32 as u32
}

/// Both types' operations of a chip.
fn arithmetic(chip: &str, ty: Ty, cases: &mut Vec<Case>) {
    let gfx12 = chip == "gfx1201";
    let suffix = if ty == Ty::F32 { "f32" } else { "f16" };
    let get = move |bits: u32| match ty {
        Ty::F32 => f(bits),
        _ => h(bits & 0xffff),
    };
    let put = move |value: f64| match ty {
        Ty::F32 => f32_bits(value),
        _ => f16_bits(value),
    };
    let mut push = |name: &str, operands: &str, close: u64, model: Model| {
        cases.push(Case {
            text: format!("{name}_{suffix} {operands}"),
            source: ty,
            result: ty,
            close,
            model,
        });
    };
    type Two = fn(f64, f64) -> f64;
    let two: [(&str, Two); 3] = [
        ("s_add", |a, b| a + b),
        ("s_sub", |a, b| a - b),
        ("s_mul", |a, b| a * b),
    ];
    for (name, function) in two {
        let all = model(move |[a, b, _]| put(function(get(a), get(b))));
        push(name, "s20, s12, s13", 0, all);
        let constant = model(move |[a, ..]| put(function(0.5, get(a))));
        push(name, "s20, 0.5, s12", 0, constant);
    }
    type One = fn(f64) -> f64;
    let one: [(&str, One); 4] = [
        ("s_floor", f64::floor),
        ("s_ceil", f64::ceil),
        ("s_trunc", f64::trunc),
        ("s_rndne", f64::round_ties_even),
    ];
    for (name, function) in one {
        push(
            name,
            "s20, s12",
            0,
            model(move |[a, ..]| put(function(get(a)))),
        );
    }
    let all = model(move |[a, b, c]| put(fused(get(a), get(b), get(c))));
    push("s_mov_b32 s20, s14\ns_fmac", "s20, s12, s13", 0, all);
    let bits = Bits {
        mantissa: if ty == Ty::F32 { 23 } else { 10 },
        width: if ty == Ty::F32 { 32 } else { 16 },
        ieee: !gfx12,
    };
    let keep = u32::MAX >> (32 - bits.width);
    let of = move |x: u32| u64::from(x & keep);
    let names = match gfx12 {
        true => ["s_max_num", "s_min_num"],
        false => ["s_max", "s_min"],
    };
    let max = model(move |[a, b, _]| bits.max(of(a), of(b)) as u32);
    push(names[0], "s20, s12, s13", 0, max);
    let min = model(move |[a, b, _]| bits.min(of(a), of(b)) as u32);
    push(names[1], "s20, s12, s13", 0, min);
    if !gfx12 {
        return;
    }
    for (name, larger) in [("s_maximum", true), ("s_minimum", false)] {
        let all = model(move |[a, b, _]| bits.keep_nan(of(a), of(b), larger) as u32);
        push(name, "s20, s12, s13", 0, all);
    }
    let functions: [(&str, One); 5] = [
        ("v_s_exp", f64::exp2),
        ("v_s_log", f64::log2),
        ("v_s_rcp", |x| 1.0 / x),
        ("v_s_rsq", |x| 1.0 / x.sqrt()),
        ("v_s_sqrt", f64::sqrt),
    ];
    for (name, function) in functions {
        // Of f32 they drop denormals in every mode.
        let drop = move |bits: u32| {
            if ty == Ty::F32 {
                ty.flushed(bits)
            } else {
                bits
            }
        };
        let all = move |a: u32| drop(put(function(get(drop(a)))));
        push(name, "s20, s12", 1, model(move |[a, ..]| all(a)));
        let sign = 1 << (bits.width - 1);
        push(name, "s20, -|s12|", 1, model(move |[a, ..]| all(a | sign)));
    }
}

fn relations(ty: Ty, cases: &mut Vec<Case>) {
    let (suffix, get): (_, fn(u32) -> f64) = match ty {
        Ty::F32 => ("f32", f),
        _ => ("f16", |bits| h(bits & 0xffff)),
    };
    use std::cmp::Ordering::{Equal, Greater, Less};
    let (less, equal, greater) = (Some(Less), Some(Equal), Some(Greater));
    for (name, holds) in [
        ("eq", vec![equal]),
        ("lg", vec![less, greater]),
        ("lt", vec![less]),
        ("le", vec![less, equal]),
        ("gt", vec![greater]),
        ("ge", vec![greater, equal]),
        ("o", vec![less, equal, greater]),
        ("u", vec![None]),
        ("neq", vec![less, greater, None]),
        ("nlg", vec![equal, None]),
        ("nlt", vec![greater, equal, None]),
        ("nle", vec![greater, None]),
        ("ngt", vec![less, equal, None]),
        ("nge", vec![less, None]),
    ] {
        cases.push(Case {
            text: format!("s_cmp_{name}_{suffix} s12, s13\ns_cselect_b32 s20, 1, 0"),
            source: ty,
            result: Ty::Word,
            close: 0,
            model: model(move |[a, b, _]| holds.contains(&get(a).partial_cmp(&get(b))).into()),
        });
    }
}

fn conversions(cases: &mut Vec<Case>) {
    type One = fn(u32) -> u32;
    let one: [(&str, Ty, Ty, One); 7] = [
        ("s_cvt_f32_f16 s20, s12", Ty::F16, Ty::F32, |a| {
            f32_bits(h(a & 0xffff))
        }),
        ("s_cvt_hi_f32_f16 s20, s12", Ty::Pair, Ty::F32, |a| {
            f32_bits(h(a >> 16))
        }),
        ("s_cvt_f16_f32 s20, s12", Ty::F32, Ty::F16, |a| {
            f16_bits(f(a))
        }),
        ("s_cvt_i32_f32 s20, s12", Ty::F32, Ty::Word, |a| {
            i32_of(f(a))
        }),
        ("s_cvt_u32_f32 s20, s12", Ty::F32, Ty::Word, |a| f(a) as u32),
        ("s_cvt_f32_i32 s20, s12", Ty::Word, Ty::F32, |a| {
            f32_bits(f64::from(a as i32))
        }),
        ("s_cvt_f32_u32 s20, s12", Ty::Word, Ty::F32, |a| {
            f32_bits(f64::from(a))
        }),
    ];
    for (text, source, result, function) in one {
        cases.push(Case {
            text: text.into(),
            source,
            result,
            close: 0,
            model: model(move |[a, ..]| function(a)),
        });
    }
    type Three = fn([u32; 3]) -> u32;
    let three: [(&str, Ty, Three); 3] = [
        (
            "s_cvt_pk_rtz_f16_f32 s20, s12, s13",
            Ty::Pair,
            |[a, b, _]| f16_toward_zero(f(a)) | f16_toward_zero(f(b)) << 16,
        ),
        (
            "s_fmaak_f32 s20, s12, s13, 0x3f000000",
            Ty::F32,
            |[a, b, _]| f32_bits(fused(f(a), f(b), 0.5)),
        ),
        (
            "s_fmamk_f32 s20, s12, 0x3f000000, s13",
            Ty::F32,
            |[a, b, _]| f32_bits(fused(f(a), 0.5, f(b))),
        ),
    ];
    for (text, result, function) in three {
        cases.push(Case {
            text: text.into(),
            source: Ty::F32,
            result,
            close: 0,
            model: model(function),
        });
    }
}

/// A kernel that runs all cases on the three words of its workgroup.
fn kernel(chip: &str, cases: &[Case], mode: Mode) -> CodeObject {
    let id = if chip == "gfx1201" { "ttmp9" } else { "s2" };
    let mut body = format!(
        "s_load_b128 s[4:7], s[0:1], 0x0\ns_lshl_b32 s8, {id}, 4\n\
         s_mul_i32 s9, {id}, {}\n{{scalar}}\ns_load_b128 s[12:15], s[4:5], s8\n\
         v_mov_b32 v0, s9\n{{scalar}}\n",
        4 * cases.len()
    );
    for (at, case) in cases.iter().enumerate() {
        body += &format!(
            "s_mov_b32 s20, -1\n{}\n{{alu}}\nv_mov_b32 v1, s20\n\
             global_store_b32 v0, v1, s[6:7] offset:{}\n",
            case.text,
            4 * at
        );
    }
    let place = ".amdhsa_float_denorm_mode_32 3\n";
    let floats = match mode {
        Mode::Plain => place.to_owned(),
        Mode::Flush => {
            ".amdhsa_float_denorm_mode_32 0\n.amdhsa_float_denorm_mode_16_64 0\n".to_owned()
        }
        Mode::Limit => format!("{place}.amdhsa_fp16_overflow 1\n"),
    };
    let source = build::kernel_source(chip, &body).replace(
        place,
        &format!("{floats}.amdhsa_system_sgpr_workgroup_id_x 1\n"),
    );
    let elf = build::assemble_with(chip, &source, &[]);
    CodeObject::load(&elf).expect("clang's output loads")
}

fn expected(case: &Case, mode: Mode, operands: [u32; 3]) -> u32 {
    match mode {
        Mode::Plain => (case.model)(operands),
        Mode::Flush => {
            let operands = operands.map(|bits| match case.source {
                Ty::F16 => Ty::F16.flushed(bits & 0xffff),
                ty => ty.flushed(bits),
            });
            case.result.flushed((case.model)(operands))
        }
        Mode::Limit => {
            let bits = (case.model)(operands);
            let infinite = |bits: u32| match case.source {
                Ty::F16 => h(bits & 0xffff).is_infinite(),
                _ => f(bits).is_infinite(),
            };
            let used = if case.text.contains("fmac") { 3 } else { 2 };
            let used = if case.text.contains("s13") { used } else { 1 };
            // Infinities of sources stay, and those of poles.
            let pole = case.text.contains("_log") || case.text.contains("_r");
            let kept = operands[..used].iter().any(|&bits| infinite(bits))
                || pole && h(operands[0] & 0x7fff) == 0.0;
            match case.result == Ty::F16 && bits & 0x7fff == 0x7c00 && !kept {
                true => bits & 0x8000 | 0x7bff,
                false => bits,
            }
        }
    }
}

fn agrees(chip: &str, mode: Mode) {
    let mut cases = Vec::new();
    for ty in [Ty::F32, Ty::F16] {
        arithmetic(chip, ty, &mut cases);
        relations(ty, &mut cases);
    }
    conversions(&mut cases);
    // A third of the tuples, among which are all special values.
    let tuples: Vec<_> = tuples().into_iter().step_by(3).collect();
    let mut seen = 0;
    for (ty, name) in [(Ty::F32, "f"), (Ty::F16, "h"), (Ty::Word, "i")] {
        let cases: Vec<Case> = cases
            .extract_if(.., |case| {
                case.source == ty || ty == Ty::F16 && case.source == Ty::Pair
            })
            .collect();
        seen += cases.len();
        let operands = tuples.iter().map(|tuple| match ty {
            Ty::F32 => tuple.f,
            Ty::F16 => tuple.h,
            _ => tuple.i,
        });
        let operands: Vec<[u32; 3]> = operands.collect();
        let input: Vec<u32> = operands
            .iter()
            .flat_map(|&[a, b, c]| [a, b, c, 0])
            .collect();
        let object = kernel(chip, &cases, mode);
        let mut simulator = Simulator::new();
        let x = simulator.memory.alloc_input(&input.bytes());
        let y = simulator
            .memory
            .alloc_output(4 * cases.len() * operands.len());
        let launch = Launch {
            grid: [operands.len() as u32, 1, 1],
            args: vec![Arg::Buffer(x), Arg::Buffer(y)],
            checks: Checks::all().without(Check::Hazard),
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{:#?}", report.findings);
        let out = words(&simulator.memory.read(y));
        for (&operands, out) in operands.iter().zip(out.chunks(cases.len())) {
            for (case, &got) in cases.iter().zip(out) {
                let expected = expected(case, mode, operands);
                assert!(
                    case.result.same(got, expected, case.close),
                    "{chip} {mode:?} {name} {}: {operands:#x?} gives {got:#x}, not {expected:#x}",
                    case.text
                );
            }
        }
    }
    assert!(cases.is_empty() && seen > 60, "{seen}");
}

#[test]
fn gfx1151_agrees_with_the_models() {
    for mode in [Mode::Plain, Mode::Flush, Mode::Limit] {
        agrees("gfx1151", mode);
    }
}

#[test]
fn gfx1201_agrees_with_the_models() {
    for mode in [Mode::Plain, Mode::Flush, Mode::Limit] {
        agrees("gfx1201", mode);
    }
}
