//! Single instructions of gfx950 against models written for the tests alone, over 64 lanes.

use crate::cdna_execute::{LANES, check_all, execute, high, low, of};

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
