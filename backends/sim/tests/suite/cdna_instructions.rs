//! Single instructions of gfx950 against models written for the tests alone, over 64 lanes.

use tilefold_sim::{Arg, Check, Checks, Launch, Simulator};

use crate::{Bytes, Numbers, build, words};

pub const LANES: usize = 64;

/// Inputs v1, v2 and v3, and what v0, v10 and the mask s[20:21] hold afterwards.
pub struct Run {
    pub inputs: [Vec<u32>; 3],
    pub v0: Vec<u32>,
    pub v10: Vec<u32>,
    pub mask: u64,
}

fn samples(seed: u64) -> Vec<u32> {
    let special = [
        0,
        1,
        0xffff_ffff,
        0x7fff_ffff,
        0x8000_0000,
        0x7fff_8000,
        0x3f80_0000,
        0x7f80_0000,
        0xff80_0001,
        0x7fc0_0000,
        0x0000_0001,
        0x3c00_fc00,
        0x7bff_0400,
        0x8001_7e01,
        0x807f_7f80,
        0x0102_0304,
    ];
    let mut numbers = Numbers(seed);
    (0..LANES)
        .map(|lane| match (lane as u64 + seed) % 3 {
            0 => special[numbers.next() as usize % special.len()],
            1 => numbers.next(),
            _ => ((numbers.next() % 4001) as f32 / 16.0 - 125.0).to_bits(),
        })
        .collect()
}

/// Executes texts, each from a fresh start in which v0 is v3, v10 is v2, VCC is a pattern and
/// s[20:21] is zero. Hazards are another test's.
pub fn execute(texts: &[&str]) -> Vec<Run> {
    let part = |text: &&str| {
        format!(
            "
v_mov_b32 v1, v31
v_mov_b32 v2, v32
v_mov_b32 v3, v33
v_mov_b32 v0, v3
v_mov_b32 v10, v2
s_mov_b32 vcc_lo, 0x5555aaaa
s_mov_b32 vcc_hi, 0x0f0ff0f0
s_mov_b64 s[20:21], 0
s_mov_b32 s22, 0x87654321
{text}
s_mov_b64 exec, -1
v_mov_b32 v11, s20
v_mov_b32 v12, s21
global_store_dword v30, v0, s[6:7]
global_store_dword v30, v10, s[6:7] offset:256
global_store_dword v30, v11, s[6:7] offset:512
global_store_dword v30, v12, s[6:7] offset:768
s_add_u32 s6, s6, 1024
s_addc_u32 s7, s7, 0
"
        )
    };
    let parts: String = texts.iter().map(part).collect();
    let body = format!(
        "
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32 v30, 2, v0
{{scalar}}
global_load_dword v31, v30, s[4:5]
global_load_dword v32, v30, s[4:5] offset:256
global_load_dword v33, v30, s[4:5] offset:512
{{load}}
{parts}"
    );
    let object = build::kernel("gfx950", &body);
    let mut runs = Vec::new();
    for seed in 0..4 {
        let inputs = [0, 1, 2].map(|at| samples(seed * 3 + at));
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&inputs.concat().bytes());
        let b = simulator.memory.alloc_output(1024 * texts.len());
        let launch = Launch {
            block: [64, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b)],
            checks: Checks::all().without(Check::Hazard),
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{texts:?}: {:#?}", report.findings);
        for out in words(&simulator.memory.read(b)).chunks(256) {
            runs.push(Run {
                inputs: inputs.clone(),
                v0: out[..64].to_vec(),
                v10: out[64..128].to_vec(),
                mask: u64::from(out[128]) | u64::from(out[192]) << 32,
            });
        }
    }
    runs
}

/// The runs of one text.
pub fn of(text: &str) -> Vec<Run> {
    execute(&[text])
}

type Model = fn(u32, u32, u32) -> u32;

fn check_all(table: &[(&str, Model)]) {
    let texts: Vec<&str> = table.iter().map(|(text, _)| *text).collect();
    for (at, run) in execute(&texts).iter().enumerate() {
        let (text, model) = table[at % table.len()];
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|source| run.inputs[source][lane]);
            let (got, expected) = (run.v0[lane], model(a, b, c));
            assert_eq!(
                got, expected,
                "{text}: {a:#x} {b:#x} {c:#x} gives {got:#x}, not {expected:#x}"
            );
        }
    }
}

/// Checks a pair of results, of which the text leaves the high one in v10.
pub fn check_pair(text: &str, model: impl Fn(u32, u32, u32) -> u64) {
    for run in of(text) {
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|source| run.inputs[source][lane]);
            let got = u64::from(run.v0[lane]) | u64::from(run.v10[lane]) << 32;
            let expected = model(a, b, c);
            assert_eq!(
                got, expected,
                "{text}: {a:#x} {b:#x} {c:#x}: {got:#x} {expected:#x}"
            );
        }
    }
}

/// Bits `from..from + count` of a number.
fn field(value: u32, from: u32, count: u32) -> i64 {
    i64::from(value) / (1 << from) % (1 << count)
}

fn signed(value: u32, from: u32, count: u32) -> i64 {
    let value = field(value, from, count);
    if value >= 1 << (count - 1) {
        value - (1 << count)
    } else {
        value
    }
}

fn dot(a: u32, b: u32, c: u32, bits: u32, pick: fn(u32, u32, u32) -> i64) -> u32 {
    let products = (0..32 / bits).map(|at| pick(a, at * bits, bits) * pick(b, at * bits, bits));
    (i64::from(c as i32) + products.sum::<i64>()) as u32
}

/// A function of three bits, bit by bit.
fn table_of(table: u32, a: u32, b: u32, c: u32) -> u32 {
    (0..32)
        .map(|bit| {
            let row = field(a, bit, 1) * 4 + field(b, bit, 1) * 2 + field(c, bit, 1);
            (table >> row & 1) << bit
        })
        .sum()
}

#[test]
fn integers() {
    check_all(&[
        ("v_add_u32 v0, v1, v2", |a, b, _| a.wrapping_add(b)),
        ("v_subrev_u32 v0, v1, v2", |a, b, _| b.wrapping_sub(a)),
        ("v_add_u32_e64 v0, v1, v2 clamp", |a, b, _| {
            (u64::from(a) + u64::from(b)).min(0xffff_ffff) as u32
        }),
        ("v_sub_u32_e64 v0, v1, v2 clamp", |a, b, _| {
            (i64::from(a) - i64::from(b)).max(0) as u32
        }),
        ("v_add_i32 v0, v1, v2 clamp", |a, b, _| {
            let sum = i64::from(a as i32) + i64::from(b as i32);
            sum.clamp(-0x8000_0000, 0x7fff_ffff) as u32
        }),
        ("v_xad_u32 v0, v1, v2, v3", |a, b, c| {
            (a ^ b).wrapping_add(c)
        }),
        ("v_bitop3_b32 v0, v1, v2, v3 bitop3:0x96", |a, b, c| {
            a ^ b ^ c
        }),
        ("v_bitop3_b32 v0, v1, s22, v3 bitop3:0x2d", |a, _, c| {
            table_of(0x2d, a, 0x8765_4321, c)
        }),
        ("v_bitop3_b32 v0, v1, v2, v3 bitop3:0xe4", |a, b, c| {
            table_of(0xe4, a, b, c)
        }),
        ("v_alignbyte_b32 v0, v1, v2, v3", |a, b, c| {
            let bytes = [b.to_le_bytes(), a.to_le_bytes()].concat();
            let at = (c % 4) as usize;
            u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
        }),
        ("v_ashr_pk_i8_i32 v0, v1, v2, v3", |a, b, c| {
            let byte = |x: u32| (x as i32 >> (c % 32)).clamp(-128, 127) as u8;
            c & 0xffff_0000 | u32::from_le_bytes([byte(a), byte(b), 0, 0])
        }),
        ("v_ashr_pk_u8_i32 v0, v1, v2, v3", |a, b, c| {
            let byte = |x: u32| (x as i32 >> (c % 32)).clamp(0, 255) as u8;
            c & 0xffff_0000 | u32::from_le_bytes([byte(a), byte(b), 0, 0])
        }),
        ("v_dot4_i32_i8 v0, v1, v2, v3", |a, b, c| {
            dot(a, b, c, 8, signed)
        }),
        ("v_dot4_u32_u8 v0, v1, v2, v3", |a, b, c| {
            dot(a, b, c, 8, field)
        }),
        ("v_dot8_i32_i4 v0, v1, v2, v3", |a, b, c| {
            dot(a, b, c, 4, signed)
        }),
        ("v_dot8_u32_u4 v0, v1, v2, v3", |a, b, c| {
            dot(a, b, c, 4, field)
        }),
        ("v_dot2_i32_i16 v0, v1, v2, v3", |a, b, c| {
            dot(a, b, c, 16, signed)
        }),
        ("v_dot4c_i32_i8 v0, v1, v2", |a, b, c| {
            dot(a, b, c, 8, signed)
        }),
        (
            "v_accvgpr_write_b32 a5, v1\nv_accvgpr_mov_b32 a6, a5\nv_accvgpr_read_b32 v0, a6",
            |a, _, _| a,
        ),
    ]);
}

fn low(value: u32) -> u32 {
    value % 0x1_0000
}

fn high(value: u32) -> u32 {
    value / 0x1_0000
}

#[test]
fn sixteen_bit_results_clear_or_keep_the_other_half() {
    check_all(&[
        ("v_add_u16 v0, v1, v2", |a, b, _| low(low(a) + low(b))),
        ("v_sub_u16 v0, v1, v2", |a, b, _| low(a.wrapping_sub(b))),
        ("v_add_u16_e64 v0, v1, v2 clamp", |a, b, _| {
            (low(a) + low(b)).min(0xffff)
        }),
        ("v_mul_lo_u16 v0, v1, v2", |a, b, _| {
            low(low(a).wrapping_mul(low(b)))
        }),
        ("v_lshlrev_b16 v0, 3, v2", |_, b, _| low(low(b) * 8)),
        ("v_ashrrev_i16 v0, 3, v2", |_, b, _| {
            low((signed(b, 0, 16) >> 3) as u32)
        }),
        ("v_mad_legacy_u16 v0, v1, v2, v3", |a, b, c| {
            low(low(a).wrapping_mul(low(b)).wrapping_add(low(c)))
        }),
        ("v_max_i16 v0, v1, v2", |a, b, _| {
            low(signed(a, 0, 16).max(signed(b, 0, 16)) as u32)
        }),
        // These keep it: v0 was v3.
        ("v_mad_u16 v0, v1, v2, v3", |a, b, c| {
            low(low(a).wrapping_mul(low(b)).wrapping_add(low(c))) + high(c) * 0x1_0000
        }),
        ("v_bitop3_b16 v0, v1, v2, v3 bitop3:0x80", |a, b, c| {
            low(a & b & c) + high(c) * 0x1_0000
        }),
        ("v_mad_u16 v0, v1, v2, v3 op_sel:[1,0,0,1]", |a, b, c| {
            low(high(a).wrapping_mul(low(b)).wrapping_add(low(c))) * 0x1_0000 + low(c)
        }),
    ]);
    let number = |bits: u32| half::f16::from_bits(bits as u16).to_f32();
    let texts = ["v_add_f16 v0, v1, v2", "v_fma_f16 v0, v1, v2, 1.0"];
    for (at, run) in execute(&texts).iter().enumerate() {
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|source| run.inputs[source][lane]);
            let (x, y) = (number(a), number(b));
            // A product of two f16 and 1 are exact in f64.
            let exact = match at % 2 {
                0 => f64::from(x) + f64::from(y),
                _ => f64::from(x) * f64::from(y) + 1.0,
            };
            let expected = half::f16::from_f64(exact);
            let got = half::f16::from_bits(run.v0[lane] as u16);
            assert!(
                got == expected || got.is_nan() && expected.is_nan(),
                "{x} {y}"
            );
            let upper = if at % 2 == 0 { 0 } else { high(c) };
            assert_eq!(high(run.v0[lane]), upper, "{}", texts[at % 2]);
        }
    }
}

#[test]
fn parts_of_registers() {
    check_all(&[
        (
            "v_add_u32_sdwa v0, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 \
             src1_sel:WORD_1",
            |a, b, _| (signed(a, 8, 8) + field(b, 16, 16)) as u32,
        ),
        (
            "v_and_b32_sdwa v0, s22, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 \
             src1_sel:DWORD",
            |_, b, _| 0x87 & b,
        ),
        (
            "v_mov_b32_sdwa v0, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1",
            |a, _, c| {
                let mut bytes = c.to_le_bytes();
                bytes[2] = field(a, 16, 8) as u8;
                u32::from_le_bytes(bytes)
            },
        ),
        (
            "v_or_b32_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0 \
             src1_sel:BYTE_3",
            |a, b, _| (signed(a | b >> 24, 0, 8) << 8) as u32,
        ),
        (
            "v_add_u16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 \
             src1_sel:BYTE_0",
            |a, b, _| low(high(a) + b % 256) * 0x1_0000,
        ),
        (
            "v_lshlrev_b16_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD \
             src1_sel:WORD_1",
            |a, b, _| low(high(b) << (a & 15)),
        ),
        (
            "v_sub_u16_sdwa v0, v1, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 \
             src1_sel:BYTE_0",
            |a, b, _| low((field(a, 16, 8) - signed(b, 0, 8)) as u32),
        ),
    ]);
    let text = "v_cndmask_b32_sdwa v0, v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD \
                src0_sel:WORD_1 src1_sel:BYTE_0";
    for run in of(text) {
        for lane in 0..LANES {
            let expected = match 0x0f0f_f0f0_5555_aaaa_u64 >> lane & 1 {
                1 => run.inputs[1][lane] % 256,
                _ => high(run.inputs[0][lane]),
            };
            assert_eq!(run.v0[lane], expected);
        }
    }
    let text = "v_cmp_eq_u32_sdwa s[20:21], v1, v2 src0_sel:BYTE_3 src1_sel:BYTE_3";
    for run in of(text) {
        for lane in 0..LANES {
            let same = run.inputs[0][lane] >> 24 == run.inputs[1][lane] >> 24;
            assert_eq!(run.mask >> lane & 1 == 1, same);
        }
    }
    // 8-bit floats: sign, four bits of exponent with bias 7, three of mantissa.
    let fp8 = |byte: u32| {
        let (exponent, mantissa) = (field(byte, 3, 4), field(byte, 0, 3) as f32);
        let magnitude = match (exponent, field(byte, 0, 3)) {
            (15, 7) => f32::NAN,
            (0, _) => mantissa / 8.0 / 64.0,
            _ => (1.0 + mantissa / 8.0) * 2_f32.powi(exponent as i32 - 7),
        };
        if byte >= 128 { -magnitude } else { magnitude }
    };
    let same = |got: u32, value: f32| {
        let got = f32::from_bits(got);
        got.to_bits() == value.to_bits() || got.is_nan() && value.is_nan()
    };
    for run in of("v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_2") {
        for lane in 0..LANES {
            assert!(same(
                run.v0[lane],
                fp8(field(run.inputs[0][lane], 16, 8) as u32)
            ));
        }
    }
    let text = "v_cvt_pk_f32_fp8_sdwa v[12:13], v1 src0_sel:WORD_1\nv_mov_b32 v0, v12\n\
                v_mov_b32 v10, v13";
    for run in of(text) {
        for lane in 0..LANES {
            let a = run.inputs[0][lane];
            assert!(same(run.v0[lane], fp8(field(a, 16, 8) as u32)), "{a:#x}");
            assert!(same(run.v10[lane], fp8(field(a, 24, 8) as u32)), "{a:#x}");
        }
    }
}

#[test]
fn pairs_of_registers() {
    let copy = "v_mov_b32 v14, v2\nv_mov_b32 v15, v3\nv_mov_b32 v16, v1\nv_mov_b32 v17, v2\n";
    let done = "\nv_mov_b32 v0, v12\nv_mov_b32 v10, v13";
    let with = |text: &str| format!("{copy}{text}{done}");
    let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    check_pair(
        &with("v_lshl_add_u64 v[12:13], v[14:15], 3, v[16:17]"),
        |a, b, c| (wide(b, c) << 3).wrapping_add(wide(a, b)),
    );
    check_pair(&with("v_mov_b64 v[12:13], v[14:15]"), |_, b, c| wide(b, c));
    check_pair(&with("v_mov_b64 v[12:13], -1"), |_, _, _| u64::MAX);
    check_pair(
        &with("v_pk_mov_b32 v[12:13], v[14:15], v[16:17] op_sel:[1,0]"),
        |a, _, c| wide(c, a),
    );
    check_pair(
        &with("v_pk_mov_b32 v[12:13], v[14:15], v[16:17] op_sel:[0,1]"),
        |_, b, _| wide(b, b),
    );
    check_pair(
        &with("v_mad_u64_u32 v[12:13], s[20:21], v1, v2, v[14:15]"),
        |a, b, c| (u128::from(a) * u128::from(b) + u128::from(wide(b, c))) as u64,
    );
    check_pair(&with("v_lshlrev_b64 v[12:13], v1, v[14:15]"), |a, b, c| {
        (u128::from(wide(b, c)) << (a % 64)) as u64
    });
    let quiet = |value: f32, a: u32, b: u32| {
        let nan = |bits: u32| f32::from_bits(bits).is_nan();
        match (nan(a), nan(b)) {
            (true, _) => a | 0x40_0000,
            (_, true) => b | 0x40_0000,
            _ if value.is_nan() => 0x7fc0_0000,
            _ => value.to_bits(),
        }
    };
    let add = |a: u32, b: u32| quiet(f32::from_bits(a) + f32::from_bits(b), a, b);
    let times = |a: u32, b: u32| quiet(f32::from_bits(a) * f32::from_bits(b), a, b);
    check_pair(
        &with("v_pk_add_f32 v[12:13], v[14:15], v[16:17]"),
        |a, b, c| wide(add(b, a), add(c, b)),
    );
    let crossed = "v_pk_mul_f32 v[12:13], v[14:15], v[16:17] op_sel:[0,1] op_sel_hi:[1,0]";
    check_pair(&with(crossed), |a, b, c| wide(times(b, b), times(c, a)));
    // Of a constant the low register is the number and the high one nothing.
    check_pair(&with("v_pk_mul_f32 v[12:13], v[14:15], 2.0"), |_, b, c| {
        wide(times(b, 2_f32.to_bits()), times(c, 0))
    });
    check_pair(
        &with("v_pk_mul_f32 v[12:13], v[14:15], 2.0 op_sel_hi:[1,0]"),
        |_, b, c| wide(times(b, 2_f32.to_bits()), times(c, 2_f32.to_bits())),
    );
}

#[test]
fn conversions() {
    // Rounds the high half to nearest even in integers.
    let bf16 = |bits: u32| {
        if f32::from_bits(bits).is_nan() {
            return None;
        }
        let (whole, rest) = (bits / 0x1_0000, bits % 0x1_0000);
        Some(whole + u32::from(rest > 0x8000 || rest == 0x8000 && whole % 2 == 1))
    };
    for run in of("v_cvt_pk_bf16_f32 v0, v1, v2\nv_cvt_f32_bf16 v10, v1") {
        for lane in 0..LANES {
            let [a, b, _] = [0, 1, 2].map(|source| run.inputs[source][lane]);
            for (source, got) in [(a, low(run.v0[lane])), (b, high(run.v0[lane]))] {
                match bf16(source) {
                    Some(expected) => assert_eq!(got, expected, "{source:#x}"),
                    None => assert!(f32::from_bits(got << 16).is_nan(), "{source:#x}"),
                }
            }
            let expected = f32::from_bits(low(a) * 0x1_0000);
            let got = f32::from_bits(run.v10[lane]);
            assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan());
        }
    }
    for run in of("v_cvt_pk_f16_f32 v0, v1, v2") {
        for lane in 0..LANES {
            for (source, got) in [(0, low(run.v0[lane])), (1, high(run.v0[lane]))] {
                let expected = half::f16::from_f32(f32::from_bits(run.inputs[source][lane]));
                let got = half::f16::from_bits(got as u16);
                assert!(got == expected || got.is_nan() && expected.is_nan());
            }
        }
    }
}

#[test]
fn divisions_and_roots_of_doubles() {
    let source = "
        #pragma OPENCL EXTENSION cl_khr_fp64 : enable
        kernel void k(global const double *x, global const double *y, global double *z) {
            int i = get_local_id(0);
            z[i] = x[i] / y[i];
            z[i + 64] = __builtin_fmax(x[i], y[i]);
            z[i + 128] = __builtin_floor(x[i]) + __builtin_ceil(y[i]);
            z[i + 192] = __builtin_amdgcn_frexp_mant(x[i]);
            z[i + 256] = __builtin_amdgcn_frexp_exp(x[i]);
        }";
    let object = build::compile("gfx950", source);
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        3.0,
        1e300,
        1e-300,
        5e-324,
        2.2e-308,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
        1e-310,
        7.0,
        -1e200,
        0.1,
    ];
    let mut numbers = Numbers(3);
    let mut draw = |lane: usize| match lane % 4 {
        0 | 1 => special[numbers.next() as usize % special.len()],
        _ => f64::from(numbers.next() as i32) / 1024.0,
    };
    let x: Vec<f64> = (0..64).map(&mut draw).collect();
    let y: Vec<f64> = (0..64).map(|lane| draw(lane / 2)).collect();
    let bytes = |values: &[f64]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&bytes(&x));
    let b = simulator.memory.alloc_input(&bytes(&y));
    let c = simulator.memory.alloc_output(8 * 320);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::Buffer(c)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let z: Vec<f64> = simulator
        .memory
        .read(c)
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let same = |got: f64, expected: f64| got == expected || got.is_nan() && expected.is_nan();
    for i in 0..64 {
        let (x, y) = (x[i], y[i]);
        // A quotient that is itself denormal is rounded twice; all others are exact to the bit.
        let quotient = x / y;
        if !quotient.is_subnormal() {
            assert!(
                same(z[i], quotient),
                "{x:e} / {y:e}: {:e}, not {quotient:e}",
                z[i]
            );
        }
        assert!(same(z[i + 64], x.max(y)), "max {x} {y}");
        assert!(same(z[i + 128], x.floor() + y.ceil()));
        if x.is_finite() && x != 0.0 {
            let (mantissa, exponent) = (z[i + 192], z[i + 256] as i32);
            assert!((0.5..1.0).contains(&mantissa.abs()), "{x:e}");
            // Two steps, since 2^exponent may be below the normal numbers.
            let half = exponent / 2;
            let value = mantissa * 2_f64.powi(half) * 2_f64.powi(exponent - half);
            assert_eq!(value, x);
        }
    }
}
