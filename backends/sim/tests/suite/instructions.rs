//! Single instructions against models written for the tests alone.
//!
//! A kernel loads three vectors of 32 lanes, executes one instruction and stores what it wrote.
//! The models know nothing of the simulator: plain Rust on integers, and f64 or wider arithmetic
//! rounded once for floats.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{Bytes, Numbers, build, words};

/// Values that tend to go wrong, and some that look random.
pub fn samples(seed: u64) -> Vec<u32> {
    let special = [
        0,
        1,
        2,
        31,
        32,
        0xffff_ffff,
        0x7fff_ffff,
        0x8000_0000,
        0x00ff_ffff,
        0x0080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0000_0001,
        0x7f7f_ffff,
        0x3c00_3c00,
        0x7bff_0400,
        0x8001_7c00,
        0x4b00_0000,
        0xcf00_0000,
    ];
    let mut numbers = Numbers(seed);
    (0..32)
        .map(|lane| match (lane as u64 + seed) % 3 {
            0 => special[(numbers.next() % special.len() as u32) as usize],
            1 => numbers.next(),
            // A float of moderate size.
            _ => ((numbers.next() % 4001) as f32 / 16.0 - 125.0).to_bits(),
        })
        .collect()
}

/// Executes `text` on v1, v2, v3 (and v4 to v7, which hold 4 to 7 in every lane) for a number of
/// inputs; returns inputs and v0, v10 and `s20` of every lane.
pub fn execute(chip: &str, text: &str) -> Vec<Lane> {
    execute_all(chip, &[text]).swap_remove(0)
}

/// Inputs v1, v2, v3 and outputs v0, v10, s20 of one lane.
pub type Lane = ([u32; 3], [u32; 3]);

/// The same for several texts, each from a fresh start, in one kernel.
pub fn execute_all(chip: &str, texts: &[&str]) -> Vec<Vec<Lane>> {
    let advance = match chip {
        "gfx1201" => "s_add_co_u32 s6, s6, 384\ns_add_co_ci_u32 s7, s7, 0",
        _ => "s_add_u32 s6, s6, 384\ns_addc_u32 s7, s7, 0",
    };
    let part = |text: &&str| {
        format!(
            "
v_lshlrev_b32 v9, 2, v60
v_mov_b32 v1, v61
v_mov_b32 v2, v62
v_mov_b32 v3, v63
v_mov_b32 v0, v3
v_mov_b32 v10, v2
v_mov_b32 v4, 4
v_mov_b32 v5, 5
s_mov_b32 s20, 0
s_mov_b32 s21, 0x12345678
s_mov_b32 vcc_lo, 0x5555aaaa
{{alu}}
{text}
{{alu}}
v_mov_b32 v11, s20
global_store_b32 v9, v0, s[6:7]
global_store_b32 v9, v10, s[6:7] offset:128
global_store_b32 v9, v11, s[6:7] offset:256
{advance}
"
        )
    };
    let parts: String = texts.iter().map(part).collect();
    let body = format!(
        "
s_load_b128 s[4:7], s[0:1], 0x0
v_mov_b32 v60, v0
v_lshlrev_b32 v9, 2, v0
{{scalar}}
global_load_b32 v61, v9, s[4:5]
global_load_b32 v62, v9, s[4:5] offset:128
global_load_b32 v63, v9, s[4:5] offset:256
{{load}}
{parts}"
    );
    let object = build::kernel(chip, &body);
    let mut results = vec![Vec::new(); texts.len()];
    for seed in 0..6 {
        let inputs: Vec<u32> = (0..3).flat_map(|at| samples(seed * 3 + at)).collect();
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&inputs.bytes());
        let b = simulator.memory.alloc_output(384 * texts.len());
        let launch = Launch {
            block: [32, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{texts:?}: {:#?}", report.findings);
        let out = words(&simulator.memory.read(b));
        for (results, out) in results.iter_mut().zip(out.chunks(96)) {
            results.extend((0..32).map(|lane| {
                let at = |part: usize, from: &[u32]| from[32 * part + lane];
                (
                    [0, 1, 2].map(|part| at(part, &inputs)),
                    [0, 1, 2].map(|part| at(part, out)),
                )
            }));
        }
    }
    results
}

/// What an instruction makes of v1, v2 and v3.
pub type Model = fn(u32, u32, u32) -> u32;

/// Checks a table of instructions and models.
pub fn check_all(chip: &str, table: &[(&str, Model)], float: bool) {
    let texts: Vec<&str> = table.iter().map(|(text, _)| *text).collect();
    for (lanes, (text, model)) in execute_all(chip, &texts).into_iter().zip(table) {
        compare(chip, text, float, model, lanes);
    }
}

/// Checks that v0 is what the model makes of v1, v2 and v3, NaNs being equal to each other where
/// `float` says that the result is one.
pub fn check(chip: &str, text: &str, float: bool, model: impl Fn(u32, u32, u32) -> u32) {
    compare(chip, text, float, model, execute(chip, text));
}

fn compare(
    chip: &str,
    text: &str,
    float: bool,
    model: impl Fn(u32, u32, u32) -> u32,
    lanes: Vec<Lane>,
) {
    for ([a, b, c], [got, ..]) in lanes {
        let expected = model(a, b, c);
        let nan = |bits: u32| f32::from_bits(bits).is_nan();
        let same = got == expected || float && nan(got) && nan(expected);
        assert!(
            same,
            "{chip} {text}: {a:#x} {b:#x} {c:#x} gives {got:#x}, not {expected:#x}"
        );
    }
}

pub const BOTH: [&str; 2] = ["gfx1100", "gfx1201"];

pub fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

pub fn b(value: f32) -> u32 {
    value.to_bits()
}

#[test]
fn integers() {
    let table: &[(&str, Model)] = &[
        ("v_add_nc_u32 v0, v1, v2", |a, b, _| a.wrapping_add(b)),
        ("v_add_nc_u32 v0, 0x12345, v2", |_, b, _| {
            b.wrapping_add(0x12345)
        }),
        ("v_sub_nc_u32 v0, v1, v2", |a, b, _| a.wrapping_sub(b)),
        ("v_subrev_nc_u32 v0, v1, v2", |a, b, _| b.wrapping_sub(a)),
        ("v_add3_u32 v0, v1, v2, v3", |a, b, c| {
            a.wrapping_add(b).wrapping_add(c)
        }),
        ("v_lshl_add_u32 v0, v1, v2, v3", |a, b, c| {
            a.wrapping_shl(b).wrapping_add(c)
        }),
        ("v_add_lshl_u32 v0, v1, v2, v3", |a, b, c| {
            a.wrapping_add(b).wrapping_shl(c)
        }),
        ("v_lshl_or_b32 v0, v1, v2, v3", |a, b, c| {
            a.wrapping_shl(b) | c
        }),
        ("v_and_or_b32 v0, v1, v2, v3", |a, b, c| (a & b) | c),
        ("v_or3_b32 v0, v1, s21, v3", |a, _, c| a | 0x1234_5678 | c),
        ("v_and_b32 v0, v1, v2", |a, b, _| a & b),
        ("v_or_b32 v0, -16, v2", |_, b, _| b | 0xffff_fff0),
        ("v_xor_b32 v0, v1, v2", |a, b, _| a ^ b),
        ("v_lshlrev_b32 v0, v1, v2", |a, b, _| b.wrapping_shl(a)),
        ("v_lshrrev_b32 v0, 7, v2", |_, b, _| b / 128),
        ("v_ashrrev_i32 v0, v1, v2", |a, b, _| {
            (b as i32).wrapping_shr(a) as u32
        }),
        ("v_bfe_u32 v0, v1, 5, 10", |a, _, _| a / 32 % 1024),
        ("v_mul_lo_u32 v0, v1, v2", |a, b, _| a.wrapping_mul(b)),
        ("v_mul_hi_u32 v0, v1, v2", |a, b, _| {
            (a as u64 * b as u64 / (1 << 32)) as u32
        }),
        ("v_mul_u32_u24 v0, v1, v2", |a, b, _| {
            ((a % (1 << 24)) as u64 * (b % (1 << 24)) as u64) as u32
        }),
        ("v_mad_u32_u24 v0, v1, v2, v3", |a, b, c| {
            ((a % (1 << 24)) as u64 * (b % (1 << 24)) as u64 + c as u64) as u32
        }),
        ("v_max_i32 v0, v1, v2", |a, b, _| {
            if a as i32 > b as i32 { a } else { b }
        }),
        ("v_min_u32 v0, v1, v2", |a, b, _| if a < b { a } else { b }),
        ("v_perm_b32 v0, v1, v2, 0x0c020605", |a, b, _| {
            // Bytes 0 to 3 are the second source's.
            let bytes = [b.to_le_bytes(), a.to_le_bytes()].concat();
            u32::from_le_bytes([bytes[5], bytes[6], bytes[2], 0])
        }),
        ("v_mov_b32 v0, v1", |a, _, _| a),
    ];
    for chip in BOTH {
        check_all(chip, table, false);
    }
}

#[test]
fn carries_and_wide_results() {
    for chip in BOTH {
        for (at, ([a, b, _], [low, _, mask])) in execute(chip, "v_add_co_u32 v0, s20, v1, v2")
            .into_iter()
            .enumerate()
        {
            let sum = a as u64 + b as u64;
            assert_eq!(
                (low, mask >> (at % 32) & 1),
                (sum as u32, (sum >> 32) as u32),
                "{chip}"
            );
        }
        let text = "v_add_co_ci_u32 v0, s20, v1, v2, vcc_lo";
        for (at, ([a, b, _], [low, _, mask])) in execute(chip, text).into_iter().enumerate() {
            let carry = 0x5555_aaaa_u64 >> (at % 32) & 1;
            let sum = a as u64 + b as u64 + carry;
            assert_eq!(
                (low, mask >> (at % 32) & 1),
                (sum as u32, (sum >> 32) as u32),
                "{chip}"
            );
        }
        let (unsigned, signed) = match chip {
            "gfx1201" => ("v_mad_co_u64_u32", "v_mad_co_i64_i32"),
            _ => ("v_mad_u64_u32", "v_mad_i64_i32"),
        };
        let tail = "v[12:13], s20, v1, v2, v[4:5]\nv_mov_b32 v0, v12\nv_mov_b32 v10, v13";
        for ([a, b, _], [low, high, _]) in execute(chip, &format!("{unsigned} {tail}")) {
            let expected = (a as u128 * b as u128 + (5 << 32) + 4) as u64;
            assert_eq!((low as u64) | (high as u64) << 32, expected, "{chip}");
        }
        for ([a, b, _], [low, high, _]) in execute(chip, &format!("{signed} {tail}")) {
            let product = a as i32 as i128 * b as i32 as i128 + (5 << 32) + 4;
            assert_eq!((low as u64) | (high as u64) << 32, product as u64, "{chip}");
        }
        let text = "v_mov_b32 v12, v1\nv_mov_b32 v13, v2\n\
                    v_lshlrev_b64 v[14:15], 5, v[12:13]\nv_mov_b32 v0, v14\nv_mov_b32 v10, v15";
        for ([a, b, _], [low, high, _]) in execute(chip, text) {
            let value = (a as u64 | (b as u64) << 32) << 5;
            assert_eq!((low, high), (value as u32, (value >> 32) as u32), "{chip}");
        }
    }
}

#[test]
fn comparisons() {
    type Model = fn(u32, u32) -> bool;
    let table: &[(&str, Model)] = &[
        ("v_cmp_gt_i32 s20, v1, v2", |a, c| a as i32 > c as i32),
        ("v_cmp_le_i32 s20, v1, v2", |a, c| a as i32 <= c as i32),
        ("v_cmp_gt_u32 s20, v1, v2", |a, c| a > c),
        ("v_cmp_eq_u32 s20, v1, v2", |a, c| a == c),
        ("v_cmp_ge_f32 s20, v1, v2", |a, c| f(a) >= f(c)),
        ("v_cmp_lt_f32 s20, v1, v2", |a, c| f(a) < f(c)),
        ("v_cmp_u_f32 s20, v1, v2", |a, c| {
            f(a).is_nan() || f(c).is_nan()
        }),
        ("v_cmp_nge_f32 s20, v1, v2", |a, c| {
            f(a).is_nan() || f(c).is_nan() || f(a) < f(c)
        }),
        // Infinities, as the expansion of a square root asks for.
        ("v_cmp_class_f32 s20, v1, 0x204", |a, _| f(a).is_infinite()),
        ("v_cmp_class_f32 s20, v1, 0x90", |a, _| f(a).is_subnormal()),
        ("v_cmp_class_f32 s20, v1, 0x3", |a, _| f(a).is_nan()),
    ];
    for chip in BOTH {
        let texts: Vec<&str> = table.iter().map(|(text, _)| *text).collect();
        for (lanes, (text, model)) in execute_all(chip, &texts).into_iter().zip(table) {
            for (at, ([a, c, _], out)) in lanes.into_iter().enumerate() {
                let bit = out[2] >> (at % 32) & 1 == 1;
                assert_eq!(bit, model(a, c), "{chip} {text}: {a:#x} {c:#x}");
            }
        }
        // A comparison that narrows EXEC: the other lanes keep what they had.
        let text = "v_cmpx_gt_i32 v1, v2\nv_mov_b32 v0, v1\ns_mov_b32 exec_lo, -1";
        for ([a, c, old], out) in execute(chip, text) {
            assert_eq!(out[0], if a as i32 > c as i32 { a } else { old }, "{chip}");
        }
    }
}

#[test]
fn dual_instructions_read_before_they_write() {
    for chip in BOTH {
        let text = "v_dual_mov_b32 v0, v10 :: v_dual_mov_b32 v1, v0\n\
                    v_dual_add_f32 v10, 1.0, v1 :: v_dual_mul_f32 v3, v0, v4";
        // v10 was v2 and v0 was v3: they swap through one instruction.
        for ([_, second, third], [first, sum, _]) in execute(chip, text) {
            let expected = 1.0 + f(third);
            let same = f(sum) == expected || f(sum).is_nan() && expected.is_nan();
            assert!(first == second && same, "{chip} {second:#x} {third:#x}");
        }
        let text = "v_dual_cndmask_b32 v0, v1, v2 :: v_dual_add_nc_u32 v3, v4, v5";
        for (at, ([a, c, _], [got, ..])) in execute(chip, text).into_iter().enumerate() {
            let on = 0x5555_aaaa_u32 >> (at % 32) & 1 == 1;
            assert_eq!(got, if on { c } else { a }, "{chip}");
        }
    }
}

#[test]
fn denormals_by_the_mode() {
    // The low two bits are f32's: none kept, inputs kept alone, all kept.
    for chip in BOTH {
        for (mode, inputs, results) in [(12, false, false), (13, true, false), (15, true, true)] {
            let text = format!("s_denorm_mode {mode}\nv_mul_f32 v0, 0.5, v1");
            let flush = |x: f32| {
                if x.is_subnormal() {
                    0.0_f32.copysign(x)
                } else {
                    x
                }
            };
            check(chip, &text, true, |a, _, _| {
                let a = if inputs { f(a) } else { flush(f(a)) };
                b(if results { 0.5 * a } else { flush(0.5 * a) })
            });
        }
        // f16 keeps its own whatever f32's are.
        for ([a, ..], [got, ..]) in execute(chip, "s_denorm_mode 12\nv_mul_f16 v0, 0.5, v1") {
            let expected = half::f16::from_f64(half::f16::from_bits(a as u16).to_f64() * 0.5);
            let nan = expected.is_nan() && half::f16::from_bits(got as u16).is_nan();
            assert!(nan || got as u16 == expected.to_bits(), "{chip} {a:#x}");
        }
    }
}

#[test]
fn register_halves() {
    // The disassembler shows the halves that `op_sel` picks as operands of their own.
    for chip in BOTH {
        for ([a, c, old], [got, ..]) in execute(chip, "v_add_nc_u16 v0, v1, v2 op_sel:[1,0,1]") {
            let sum = (a >> 16).wrapping_add(c) << 16;
            assert_eq!(got, sum | (old & 0xffff), "{chip} {a:#x} {c:#x}");
        }
        for ([a, c, old], [got, ..]) in execute(chip, "v_add_nc_u16 v0, v1, v2 op_sel:[0,1,0]") {
            let sum = a.wrapping_add(c >> 16) & 0xffff;
            assert_eq!(got, sum | (old & 0xffff_0000), "{chip} {a:#x} {c:#x}");
        }
    }
}
