//! Conversions of small floats of gfx950, compared with a search among all codes of a format.

use half::{bf16, f16};
use tilefold_sim::{Arg, Launch, Simulator};

use crate::small_floats::{BF6, BF8, FP4, FP6, FP8, Small};
use crate::{Bytes, Numbers, build, words};

/// Wide formats: `f32`, `f16`, `bf16`.
const WIDE: [(&str, u32, u32); 3] = [("f32", 32, 23), ("f16", 16, 10), ("bf16", 16, 7)];

fn wide_value(name: &str, code: u32) -> f64 {
    match name {
        "f32" => f64::from(f32::from_bits(code)),
        "f16" => f16::from_bits(code as u16).to_f64(),
        _ => bf16::from_bits(code as u16).to_f64(),
    }
}

fn wide_code(name: &str, value: f64) -> u32 {
    match name {
        "f32" => (value as f32).to_bits(),
        "f16" => u32::from(f16::from_f64(value).to_bits()),
        _ => u32::from(bf16::from_f64(value).to_bits()),
    }
}

fn prng(seed: u32) -> u32 {
    let feedback = [0, 2, 6, 7].iter().fold(0, |word, bit| word | 1 << bit);
    (seed << 1) ^ if seed & 0x8000_0000 == 0 { 0 } else { feedback }
}

/// The registers of one lane: `v8` to `v57`, where sources and old results are.
type Lane<'a> = &'a dyn Fn(usize) -> u32;
type Model = Box<dyn Fn(Lane<'_>) -> Vec<u32>>;

/// An instruction, the registers it writes, and what they should hold.
struct Case {
    text: String,
    dst: (usize, usize),
    model: Model,
}

const SCALE: usize = 56;
const RANDOM: usize = 57;

fn scale(lane: Lane<'_>) -> f64 {
    match lane(SCALE) >> 23 & 0xff {
        255 => f64::NAN,
        exponent => 2_f64.powi(exponent as i32 - 127),
    }
}

/// A product whose sign, in a NaN too, is the first factor's.
fn signed(value: f64, factor: f64) -> f64 {
    (value * factor).copysign(value)
}

/// Bits `at..at + bits` of registers from `first` on.
fn field(lane: Lane<'_>, first: usize, at: u32, bits: u32) -> u32 {
    (0..bits).fold(0, |word, bit| {
        let position = at + bit;
        word | (lane(first + position as usize / 32) >> (position % 32) & 1) << bit
    })
}

/// Registers with elements written over what they held.
fn with(old: Vec<u32>, at: u32, bits: u32, codes: &[u32]) -> Vec<u32> {
    let mut words = old;
    for (index, code) in codes.iter().enumerate() {
        for bit in 0..bits {
            let position = at + index as u32 * bits + bit;
            let word = &mut words[position as usize / 32];
            *word = *word & !(1 << (position % 32)) | (code >> bit & 1) << (position % 32);
        }
    }
    words
}

fn name(first: usize, count: usize) -> String {
    match count {
        1 => format!("v{first}"),
        _ => format!("v[{first}:{}]", first + count - 1),
    }
}

/// From a small format to a wide one.
fn up(cases: &mut Vec<Case>) {
    for (wide, wide_bits, _) in WIDE {
        let mut add = |from: Small, prefix: &str, count: u32, select: u32, high: u32| {
            let from_count = (from.bits() * count).div_ceil(32) as usize;
            let dst = (8, (wide_bits * count).div_ceil(32) as usize);
            let select_bits = match (prefix, from.bits()) {
                ("pk32_", _) => String::new(),
                _ => format!(" op_sel:[{},{},{high}]", select & 1, select >> 1),
            };
            let text = format!(
                "v_cvt_scalef32_{prefix}{wide}_{} {}, {}, v{SCALE}{select_bits}",
                from.name,
                name(dst.0, dst.1),
                name(50, from_count)
            );
            // A pair of bytes is a word, everything else chooses a byte.
            let skip = select * if from.bits() * count == 16 { 16 } else { 8 };
            let model: Model = Box::new(move |lane| {
                let codes = Vec::from_iter((0..count).map(|index| {
                    let code = field(lane, 50, skip + index * from.bits(), from.bits());
                    wide_code(wide, signed(from.value(code), scale(lane)))
                }));
                with(
                    (0..dst.1).map(|at| lane(8 + at)).collect(),
                    16 * high,
                    wide_bits,
                    &codes,
                )
            });
            cases.push(Case { text, dst, model });
        };
        for from in [FP8, BF8] {
            if wide != "bf16" {
                (0..4).for_each(|select| add(from, "", 1, select, 0));
            }
            if wide == "f16" {
                (0..4).for_each(|select| add(from, "", 1, select, 1));
            }
            (0..2).for_each(|select| add(from, "pk_", 2, select, 0));
        }
        (0..4).for_each(|select| add(FP4, "pk_", 2, select, 0));
        [FP6, BF6]
            .into_iter()
            .for_each(|from| add(from, "pk32_", 32, 0, 0));
    }
}

/// From a wide format to a small one.
fn down(cases: &mut Vec<Case>) {
    for (wide, wide_bits, mantissa) in WIDE {
        let mut add =
            |to: Small, prefix: &str, count: u32, place: u32, sources: Vec<(usize, usize)>| {
                let random = prefix.starts_with("sr_");
                let dst = (8, (to.bits() * count).div_ceil(32) as usize);
                let three = random || sources.len() == 2;
                let select = match (to.bits() * count, three) {
                    (8, _) => format!(" op_sel:[0,0,{},{}]", place & 1, place >> 1),
                    (16, true) => format!(" op_sel:[0,0,0,{place}]"),
                    (16, false) => format!(" op_sel:[0,0,{place}]"),
                    _ => String::new(),
                };
                let mut operands = vec![name(dst.0, dst.1)];
                operands.extend(sources.iter().map(|&(first, count)| name(first, count)));
                if random {
                    operands.push(format!("v{RANDOM}"));
                }
                operands.push(format!("v{SCALE}"));
                let text = format!(
                    "v_cvt_scalef32_{prefix}{}_{wide} {}{select}",
                    to.name,
                    operands.join(", ")
                );
                let at = place * if to.bits() * count == 16 { 16 } else { 8 };
                let model: Model = Box::new(move |lane| {
                    let mut seed = lane(RANDOM);
                    let codes = Vec::from_iter((0..count).map(|index| {
                        let code = match sources.len() {
                            // Elements come from both by turns.
                            2 => lane(sources[index as usize % 2].0 + index as usize / 2),
                            _ => field(lane, sources[0].0, index * wide_bits, wide_bits),
                        };
                        let value = signed(wide_value(wide, code), 1.0 / scale(lane));
                        let bits = random.then_some((seed, mantissa - to.mantissa));
                        seed = prng(seed);
                        to.code(value, bits)
                    }));
                    with(
                        (0..dst.1).map(|at| lane(8 + at)).collect(),
                        at,
                        to.bits(),
                        &codes,
                    )
                });
                cases.push(Case { text, dst, model });
            };
        let pair = match wide {
            "f32" => vec![(50, 1), (51, 1)],
            _ => vec![(50, 1)],
        };
        for to in [FP8, BF8] {
            (0..2).for_each(|place| add(to, "pk_", 2, place, pair.clone()));
            (0..4).for_each(|place| add(to, "sr_", 1, place, vec![(50, 1)]));
        }
        let two = if wide == "f32" { 2 } else { 1 };
        (0..4).for_each(|place| add(FP4, "pk_", 2, place, pair.clone()));
        (0..4).for_each(|place| add(FP4, "sr_pk_", 2, place, vec![(50, two)]));
        for to in [FP6, BF6] {
            match wide {
                "f32" => add(to, "2xpk16_", 32, 0, vec![(14, 16), (30, 16)]),
                _ => add(to, "pk32_", 32, 0, vec![(14, 16)]),
            }
            let sources = vec![(14, 16 * two)];
            add(to, "sr_pk32_", 32, 0, sources);
        }
    }
}

/// Conversions without a scale.
fn unscaled(cases: &mut Vec<Case>) {
    for to in [FP8, BF8] {
        for place in 0..4 {
            let text = format!(
                "v_cvt_sr_{}_f32 v8, v50, v{RANDOM} op_sel:[0,0,{},{}]",
                to.name,
                place & 1,
                place >> 1
            );
            let model: Model = Box::new(move |lane| {
                let value = wide_value("f32", lane(50));
                let code = to.code(value, Some((lane(RANDOM), 23 - to.mantissa)));
                with(vec![lane(8)], 8 * place, 8, &[code])
            });
            cases.push(Case {
                text,
                dst: (8, 1),
                model,
            });
        }
        for (part, shift) in [("BYTE_0", 0), ("BYTE_1", 8), ("BYTE_2", 16), ("BYTE_3", 24)] {
            let text = format!("v_cvt_f32_{}_sdwa v8, v50 src0_sel:{part}", to.name);
            let model: Model =
                Box::new(move |lane| vec![wide_code("f32", to.value(lane(50) >> shift & 0xff))]);
            cases.push(Case {
                text,
                dst: (8, 1),
                model,
            });
        }
        for (part, shift) in [("WORD_0", 0), ("WORD_1", 16)] {
            let text = format!("v_cvt_pk_f32_{}_sdwa v[8:9], v50 src0_sel:{part}", to.name);
            let model: Model = Box::new(move |lane| {
                let byte = |at: u32| to.value(lane(50) >> (shift + at) & 0xff);
                vec![wide_code("f32", byte(0)), wide_code("f32", byte(8))]
            });
            cases.push(Case {
                text,
                dst: (8, 2),
                model,
            });
        }
        for place in 0..2 {
            let text = format!(
                "v_cvt_pk_{}_f32 v8, v50, -v51 op_sel:[0,0,{place}]",
                to.name
            );
            let model: Model = Box::new(move |lane| {
                let codes = [
                    to.code(wide_value("f32", lane(50)), None),
                    to.code(-wide_value("f32", lane(51)), None),
                ];
                with(vec![lane(8)], 16 * place, 8, &codes)
            });
            cases.push(Case {
                text,
                dst: (8, 1),
                model,
            });
        }
    }
    for (to, mantissa) in [("f16", 10_u32), ("bf16", 7)] {
        for high in 0..2 {
            let text = format!("v_cvt_sr_{to}_f32 v8, v50, v{RANDOM} op_sel:[0,0,{high}]");
            // Of numbers within the normal range: the next number away from zero, or the one towards.
            let model: Model = Box::new(move |lane| {
                let value = lane(50);
                let dropped = match to {
                    "f16" if wide_value("f32", value).abs() < 2_f64.powi(-14) => 32,
                    _ => 23 - mantissa,
                };
                let code = if dropped == 32 {
                    // Units of the smallest denormal; bits below them that f32 has are kept.
                    let units = wide_value("f32", value).abs() * 2_f64.powi(24 + 13);
                    let sum = units.floor() + f64::from(lane(RANDOM) >> 19);
                    (sum / 8192.0) as u32 | value >> 16 & 0x8000
                } else {
                    let sum = value.wrapping_add(lane(RANDOM) >> (32 - dropped));
                    let cut = f32::from_bits(sum >> dropped << dropped);
                    match wide_value("f32", value) {
                        x if x.is_nan() => {
                            value >> 16 & 0x8000 | if to == "f16" { 0x7e00 } else { 0x7fc0 }
                        }
                        x if x.is_infinite() => wide_code(to, x),
                        _ => wide_code(to, f64::from(cut)),
                    }
                };
                with(vec![lane(8)], 16 * high, 16, &[code])
            });
            cases.push(Case {
                text,
                dst: (8, 1),
                model,
            });
        }
    }
    let text = "v_prng_b32_e32 v8, v50".to_owned();
    let model: Model = Box::new(|lane| vec![prng(lane(50))]);
    cases.push(Case {
        text,
        dst: (8, 1),
        model,
    });
}

/// Values whose exponents lie around those of small formats, and some others.
fn registers(numbers: &mut Numbers) -> Vec<[u32; 64]> {
    (8..58)
        .map(|register| {
            std::array::from_fn(|lane| {
                let random = numbers.next();
                match register {
                    SCALE if lane == 63 => 0x7f80_0000,
                    SCALE => random & 0x807f_ffff | (122 + random % 11) << 23,
                    RANDOM => random,
                    // Two halves, each of moderate size in every wide format.
                    _ if lane % 8 == 7 => random,
                    _ => {
                        let half =
                            |random: u32| random & 0x83ff | (0x30 + random % 20) << 8 & 0x7c00;
                        match lane % 4 {
                            0 => half(random) << 16 | half(numbers.next()),
                            _ => {
                                random & 0x807f_807f
                                    | (121 + random % 12) << 23
                                    | (122 + random % 9) << 7
                            }
                        }
                    }
                }
            })
        })
        .collect()
}

fn check(cases: &[Case]) {
    let mut numbers = Numbers(11);
    let registers = registers(&mut numbers);
    let mut body = String::from(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\n\
         v_add_u32_e32 v2, 0x1000, v1\nv_add_u32_e32 v3, 0x1000, v2\n\
         v_add_u32_e32 v4, 0x1000, v3\n{scalar}\n",
    );
    for case in cases {
        for at in 0..registers.len() {
            body.push_str(&format!(
                "global_load_dword v{}, v{}, s[4:5] offset:{}\n",
                8 + at,
                1 + at / 16,
                at % 16 * 256
            ));
        }
        body.push_str(&format!("{{load}}\n{}\n", case.text));
        for at in 0..case.dst.1 {
            body.push_str(&format!(
                "global_store_dword v{}, v{}, s[6:7] offset:{}\n",
                1 + at / 16,
                case.dst.0 + at,
                at % 16 * 256
            ));
        }
        body.push_str("{load}\ns_add_u32 s6, s6, 0x2000\ns_addc_u32 s7, s7, 0\n");
    }
    let object = build::kernel("gfx950", &body);
    let mut simulator = Simulator::new();
    let flat: Vec<u32> = registers.iter().flatten().copied().collect();
    let a = simulator.memory.alloc_input(&flat.bytes());
    let b = simulator.memory.alloc_output(cases.len() * 0x2000);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let got = words(&simulator.memory.read(b));
    for (case, got) in cases.iter().zip(got.chunks_exact(0x800)) {
        for lane in 0..64 {
            let read = |register: usize| registers[register - 8][lane];
            let expected = (case.model)(&read);
            for (at, expected) in expected.into_iter().enumerate() {
                let got = got[64 * at + lane];
                assert_eq!(
                    got,
                    expected,
                    "{} register {at} lane {lane}: {got:#x}, not {expected:#x}, of {:#x} {:#x}",
                    case.text,
                    read(50),
                    read(SCALE)
                );
            }
        }
    }
}

#[test]
fn from_small_formats() {
    let mut cases = Vec::new();
    up(&mut cases);
    check(&cases);
}

#[test]
fn to_small_formats() {
    let mut cases = Vec::new();
    down(&mut cases);
    check(&cases);
}

#[test]
fn without_scales() {
    let mut cases = Vec::new();
    unscaled(&mut cases);
    check(&cases);
}
