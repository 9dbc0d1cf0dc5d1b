//! Models of integer and bit operations.

use super::harness::Kind;
use super::integers_more;
use super::numbers::sext;
use super::table::{Table, flags, longs, op, words};

/// The byte of `v_perm_b32` for a selector; source 1 holds bytes 0 to 3.
fn permuted(a: u32, b: u32, select: u32) -> u32 {
    let bytes = [b.to_le_bytes(), a.to_le_bytes()].concat();
    let sign = |byte: usize| if bytes[byte] >= 0x80 { 0xff } else { 0 };
    match select {
        0..=7 => bytes[select as usize].into(),
        8 => sign(1),
        9 => sign(3),
        10 => sign(5),
        11 => sign(7),
        12 => 0,
        _ => 0xff,
    }
}

/// 2^n, also for n of 32.
pub(super) fn two(n: u32) -> u64 {
    1 << n
}

pub(super) fn low24(x: u32) -> u64 {
    u64::from(x) % two(24)
}

/// Bit by bit: what a truth table says of three bits.
pub(super) fn truth(table: u32, a: u32, b: u32, c: u32) -> u32 {
    (0..32).fold(0, |result, bit| {
        let row = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
        result | (table >> row & 1) << bit
    })
}

pub fn add(t: &mut Table) {
    let gfx9 = t.gfx9();
    let gfx12 = t.gfx12();
    // Names that differ by generation.
    let (add_u32, sub_u32, subrev_u32) = match gfx9 {
        true => ("v_add_u32", "v_sub_u32", "v_subrev_u32"),
        false => ("v_add_nc_u32", "v_sub_nc_u32", "v_subrev_nc_u32"),
    };
    let short = "e32 e64 dpp sdwa";
    let b = Kind::Bits;
    t.word(
        add_u32,
        short,
        "D, i0, i1",
        words!(|a, b| (u64::from(a) + u64::from(b)) as u32),
    );
    t.word(
        sub_u32,
        short,
        "D, i0, i1",
        words!(|a, b| (two(32) + u64::from(a) - u64::from(b)) as u32),
    );
    t.word(
        subrev_u32,
        short,
        "D, i0, i1",
        words!(|a, b| (two(32) + u64::from(b) - u64::from(a)) as u32),
    );
    t.word(
        "v_and_b32",
        short,
        "D, i0, i1",
        words!(|a, b| truth(0xc0, a, b, 0)),
    );
    t.word(
        "v_or_b32",
        short,
        "D, i0, i1",
        words!(|a, b| truth(0xfc, a, b, 0)),
    );
    t.word(
        "v_xor_b32",
        short,
        "D, i0, i1",
        words!(|a, b| truth(0x3c, a, b, 0)),
    );
    t.word(
        "v_lshlrev_b32",
        short,
        "D, i0, i1",
        words!(|a, b| (u64::from(b) * two(a % 32)) as u32),
    );
    t.word(
        "v_lshrrev_b32",
        short,
        "D, i0, i1",
        words!(|a, b| (u64::from(b) / two(a % 32)) as u32),
    );
    t.word(
        "v_ashrrev_i32",
        short,
        "D, i0, i1",
        words!(|a, b| { sext(b, 32).div_euclid(two(a % 32) as i64) as u32 }),
    );
    t.word(
        "v_max_i32",
        short,
        "D, i0, i1",
        words!(|a, b| sext(a, 32).max(sext(b, 32)) as u32),
    );
    t.word("v_min_u32", short, "D, i0, i1", words!(|a, b| a.min(b)));
    t.word(
        "v_mul_u32_u24",
        short,
        "D, i0, i1",
        words!(|a, b| (low24(a) * low24(b)) as u32),
    );
    t.word("v_mov_b32", short, "D, i0", words!(|a| a));
    t.word(
        "v_mul_lo_u32",
        "3",
        "D, i0, i1",
        words!(|a, b| (u64::from(a) * u64::from(b)) as u32),
    );
    t.word(
        "v_mul_hi_u32",
        "3",
        "D, i0, i1",
        words!(|a, b| (u64::from(a) * u64::from(b) / two(32)) as u32),
    );
    t.word(
        "v_add3_u32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| { (u64::from(a) + u64::from(b) + u64::from(c)) as u32 }),
    );
    t.word(
        "v_lshl_add_u32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| { (u64::from(a) * two(b % 32) + u64::from(c)) as u32 }),
    );
    t.word(
        "v_add_lshl_u32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| { ((u64::from(a) + u64::from(b)) % two(32) * two(c % 32)) as u32 }),
    );
    t.word(
        "v_lshl_or_b32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| (u64::from(a) * two(b % 32)) as u32 | c),
    );
    t.word(
        "v_and_or_b32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| truth(0xea, a, b, c)),
    );
    t.word(
        "v_or3_b32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| truth(0xfe, a, b, c)),
    );
    t.word(
        "v_bfe_u32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| { (u64::from(a) / two(b % 32) % two(c % 32)) as u32 }),
    );
    t.word(
        "v_bfi_b32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| truth(0xca, a, b, c)),
    );
    t.word(
        "v_alignbit_b32",
        "3 !l",
        "D, i0, i1, i2",
        words!(|a, b, c| {
            ((u128::from(a) << 32 | u128::from(b)) / u128::from(two(c % 32))) as u32
        }),
    );
    if !t.gfx9() && !t.gfx12() {
        shifts_by_halves(t);
    }
    t.word(
        "v_mad_u32_u24",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| { (low24(a) * low24(b) + u64::from(c)) as u32 }),
    );
    t.word(
        "v_med3_i32",
        "3",
        "D, i0, i1, i2",
        words!(|a, b, c| {
            let mut all = [sext(a, 32), sext(b, 32), sext(c, 32)];
            all.sort_unstable();
            all[1] as u32
        }),
    );
    let perm = words!(|a, b, c| (0..4).fold(0, |result, at| {
        result | permuted(a, b, c >> (8 * at) & 0xff) << (8 * at)
    }));
    t.word("v_perm_b32", "3", "D, i0, i1, p0", perm.clone());
    t.word("v_perm_b32", "3", "D, i0, i1, i2", perm);
    t.word(
        "v_cndmask_b32",
        "e32 !m",
        "D, i0, i1, VCC",
        flags(|a, b, carry| (if carry { b } else { a }, false)),
    );
    t.word(
        "v_cndmask_b32",
        "e64 !m",
        "D, i0, i1, C",
        flags(|a, b, carry| (if carry { a } else { b }, false)),
    );
    // As floats its sources have signs.
    t.word(
        "v_cndmask_b32",
        "e64",
        "D, f0, f1, C",
        flags(|a, b, carry| (if carry { a } else { b }, false)),
    );
    if gfx9 {
        t.word(
            "v_cndmask_b32",
            "sdwa",
            "D, f0, f1, VCC",
            flags(|a, b, carry| (if carry { b } else { a }, false)),
        );
    }
    carries(t);
    // Products of 32 bits and a sum of 64 that carries out.
    let (unsigned, signed) = match gfx12 {
        true => ("v_mad_co_u64_u32", "v_mad_co_i64_i32"),
        false => ("v_mad_u64_u32", "v_mad_i64_i32"),
    };
    t.masked(unsigned, "3", "DD, M, i0, i1, q2", 64, b, |a, b, c| {
        let sum = u128::from(a) * u128::from(b) + u128::from(c);
        (sum as u64, sum >> 64 & 1 == 1)
    });
    t.masked(signed, "3", "DD, M, i0, i1, q2", 64, b, |a, b, c| {
        let product = i128::from(sext(a as u32, 32)) * i128::from(sext(b as u32, 32));
        let sum = product + i128::from(c as i64);
        (sum as u64, sum >> 64 & 1 == 1)
    });
    let shift = longs(|a, b, _| (u128::from(b) << (a % 64)) as u64);
    match gfx12 {
        true => t.long("v_lshlrev_b64", "e32 e64", "DD, i0, q1", shift),
        false => t.long("v_lshlrev_b64", "3", "DD, i0, q1", shift),
    }
    integers_more::sixteen(t);
    if gfx9 {
        integers_more::cdna(t);
    } else {
        t.word("v_max_u32", short, "D, i0, i1", words!(|a, b| a.max(b)));
        t.word(
            "v_min_i32",
            short,
            "D, i0, i1",
            words!(|a, b| sext(a, 32).min(sext(b, 32)) as u32),
        );
    }
}

fn carries(t: &mut Table) {
    let sum = |a: u64, b: u64, carry: u64| {
        let sum = a + b + carry;
        (sum as u32, sum >= two(32))
    };
    let difference =
        |a: u64, b: u64, borrow: u64| ((two(33) + a - b - borrow) as u32, b + borrow > a);
    match t.gfx9() {
        true => {
            let wide = |f: fn(u64, u64, u64) -> (u32, bool), reversed: bool, with: i32| {
                flags(move |a, b, carry| {
                    let (a, b) = if reversed { (b, a) } else { (a, b) };
                    // The register of the long form holds the complement of VCC.
                    let carry = match with {
                        0 => 0,
                        1 => u64::from(carry),
                        _ => u64::from(!carry),
                    };
                    f(a.into(), b.into(), carry)
                })
            };
            t.word("v_add_co_u32", "e32", "D, VCC, i0, i1", wide(sum, false, 0));
            t.word("v_add_co_u32", "e64", "D, M, i0, i1", wide(sum, false, 0));
            t.word(
                "v_sub_co_u32",
                "e32",
                "D, VCC, i0, i1",
                wide(difference, false, 0),
            );
            t.word(
                "v_subrev_co_u32",
                "e32",
                "D, VCC, i0, i1",
                wide(difference, true, 0),
            );
            t.word(
                "v_addc_co_u32",
                "e32",
                "D, VCC, i0, i1, VCC",
                wide(sum, false, 1),
            );
            t.word(
                "v_addc_co_u32",
                "e64",
                "D, M, i0, i1, C",
                wide(sum, false, 2),
            );
            t.word(
                "v_subb_co_u32",
                "e32",
                "D, VCC, i0, i1, VCC",
                wide(difference, false, 1),
            );
            t.word(
                "v_subbrev_co_u32",
                "e32",
                "D, VCC, i0, i1, VCC",
                wide(difference, true, 1),
            );
        }
        false => {
            let op = |f: fn(u64, u64, u64) -> (u32, bool), with: i32| {
                flags(move |a, b, carry| {
                    let carry = match with {
                        0 => 0,
                        1 => u64::from(carry),
                        _ => u64::from(!carry),
                    };
                    f(a.into(), b.into(), carry)
                })
            };
            t.word("v_add_co_u32", "3", "D, M, i0, i1", op(sum, 0));
            t.word("v_sub_co_u32", "3", "D, M, i0, i1", op(difference, 0));
            t.word("v_add_co_ci_u32", "e32", "D, VCC, i0, i1, VCC", op(sum, 1));
            t.word("v_add_co_ci_u32", "e64", "D, M, i0, i1, C", op(sum, 2));
            t.word(
                "v_sub_co_ci_u32",
                "e64",
                "D, M, i0, i1, C",
                op(difference, 2),
            );
        }
    }
}

/// RDNA 3 has its shifts in halves of registers.
fn shifts_by_halves(t: &mut Table) {
    for (name, unit, modulus) in [("v_alignbit_b32", 1, 32), ("v_alignbyte_b32", 8, 4)] {
        for (half, shift) in [("l", 0), ("h", 16)] {
            let model = op(move |[a, b, _], lane| {
                let by = lane.tuple().h[2] >> shift & 0xffff;
                let pair = u128::from(a) << 32 | u128::from(b);
                (
                    (pair / u128::from(two(by % modulus * unit))) as u64 & 0xffff_ffff,
                    false,
                )
            });
            let operands = match half {
                "l" => "D, i0, i1, h2.l",
                _ => "D, i0, i1, h2.h",
            };
            t.word(name, "3 !c", operands, model);
        }
    }
    let scalar = words!(|a, b| {
        let by = crate::differential::harness::SCALAR >> 16 & 31;
        ((u128::from(a) << 32 | u128::from(b)) / u128::from(two(by))) as u32
    });
    t.tail(
        "v_alignbit_b32",
        "3 !c",
        "D, i0, i1, s30",
        32,
        " op_sel:[0,0,1,0]",
        scalar,
    );
}
