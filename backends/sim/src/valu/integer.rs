//! Integer and bit operations of 32 and 16 bits.

use super::recode::next_random;
use super::{Row, Shape, Type, map2, map3, narrow};

fn sext(value: u32, bits: u32) -> i32 {
    (value << (32 - bits)) as i32 >> (32 - bits)
}

fn s16(value: u32) -> i32 {
    sext(value, 16)
}

/// The operation whose meaning an older or newer name has.
fn canonical(name: &str) -> &str {
    match name {
        "v_add_u32" => "v_add_nc_u32",
        "v_sub_u32" => "v_sub_nc_u32",
        "v_subrev_u32" => "v_subrev_nc_u32",
        "v_add_u16" => "v_add_nc_u16",
        "v_sub_u16" => "v_sub_nc_u16",
        "v_add_co_ci_u32" | "v_addc_co_u32" => "v_add_co_ci_u32",
        "v_sub_co_ci_u32" | "v_subb_co_u32" => "v_sub_co_ci_u32",
        "v_subrev_co_ci_u32" | "v_subbrev_co_u32" => "v_subrev_co_ci_u32",
        "v_add_i32" => "v_add_nc_i32",
        "v_sub_i32" => "v_sub_nc_i32",
        "v_add_i16" => "v_add_nc_i16",
        "v_sub_i16" => "v_sub_nc_i16",
        "v_mad_legacy_u16" | "v_mad_legacy_i16" => "v_mad_u16",
        // Accumulation registers are as good as any here.
        "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => "v_mov_b32",
        other => other,
    }
}

/// Field `width` bits at `offset` in a mask.
fn field(width: u32) -> u32 {
    (1_u32 << (width & 31)).wrapping_sub(1)
}

/// Each result bit is the bit of the table that the sources' bits choose, `a` the highest.
#[inline(always)]
pub(crate) fn bitop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    (0..8).fold(0, |result, row| {
        if table >> row & 1 == 0 {
            return result;
        }
        let pick = |value: u32, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
        result | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

/// Shifts two numbers right and saturates both to bytes between the bounds.
fn shift_pack(a: u32, b: u32, by: u32, bounds: (i32, i32)) -> u32 {
    let byte = |value: u32| {
        let shifted = value as i32 >> (by & 31);
        u32::from(shifted.clamp(bounds.0, bounds.1) as u8)
    };
    byte(a) | byte(b) << 8
}

/// Picks four bytes of `high:low` by the selectors of `v_perm_b32`.
fn permute(high: u32, low: u32, selector: u32) -> u32 {
    let data = u64::from(high) << 32 | u64::from(low);
    let mut result = 0;
    for at in 0..4 {
        let select = selector >> (8 * at) & 0xff;
        let byte = match select {
            0..=7 => (data >> (8 * select)) as u32 & 0xff,
            // The sign of a 16-bit part, spread over the byte.
            8..=11 => ((data >> (16 * (select - 8) + 15)) as u32 & 1) * 0xff,
            12 => 0,
            _ => 0xff,
        };
        result |= byte << (8 * at);
    }
    result
}

fn add_carry<const W: usize>(a: &[u32; W], b: &[u32; W], carry: u64, out: &mut [u32; W]) -> u64 {
    let mut carries = 0;
    for lane in 0..W {
        let sum = u64::from(a[lane]) + u64::from(b[lane]) + (carry >> lane & 1);
        out[lane] = sum as u32;
        carries |= (sum >> 32 & 1) << lane;
    }
    carries
}

fn sub_borrow<const W: usize>(a: &[u32; W], b: &[u32; W], borrow: u64, out: &mut [u32; W]) -> u64 {
    let mut borrows = 0;
    for lane in 0..W {
        let difference = u64::from(a[lane])
            .wrapping_sub(u64::from(b[lane]))
            .wrapping_sub(borrow >> lane & 1);
        out[lane] = difference as u32;
        borrows |= (difference >> 63) << lane;
    }
    borrows
}

pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    let name = canonical(name);
    carries(name)
        .or_else(|| two(name))
        .or_else(|| three(name))
        .or_else(|| short(name))
}

fn carries<const W: usize>(name: &str) -> Option<Row<W>> {
    const TWO: &[Type] = &[Type::B32, Type::B32];
    let row = match name {
        "v_add_co_u32" => Row::narrow(|s, _, out| add_carry(s[0], s[1], 0, out), Type::B32, TWO),
        "v_sub_co_u32" => Row::narrow(|s, _, out| sub_borrow(s[0], s[1], 0, out), Type::B32, TWO),
        "v_subrev_co_u32" => {
            Row::narrow(|s, _, out| sub_borrow(s[1], s[0], 0, out), Type::B32, TWO)
        }
        "v_add_co_ci_u32" => Row::narrow(|s, m, out| add_carry(s[0], s[1], m, out), Type::B32, TWO),
        "v_sub_co_ci_u32" => {
            Row::narrow(|s, m, out| sub_borrow(s[0], s[1], m, out), Type::B32, TWO)
        }
        "v_subrev_co_ci_u32" => {
            Row::narrow(|s, m, out| sub_borrow(s[1], s[0], m, out), Type::B32, TWO)
        }
        "v_cndmask_b32" | "v_cndmask_b16" => {
            let body = |s: &super::Sources<'_, W>, mask: u64, out: &mut [u32; W]| {
                for lane in 0..W {
                    let take = mask >> lane & 1 == 1;
                    out[lane] = if take { s[1][lane] } else { s[0][lane] };
                }
                0
            };
            let (ty, types): (_, &'static [Type]) = match name {
                "v_cndmask_b32" => (Type::B32, TWO),
                _ => (Type::B16, &[Type::B16, Type::B16]),
            };
            return Some(Row::narrow(body, ty, types).shape(Shape::MaskIn));
        }
        _ => return None,
    };
    Some(row.shape(match name.contains("_ci_") {
        true => Shape::MaskInOut,
        false => Shape::MaskOut,
    }))
}

fn two<const W: usize>(name: &str) -> Option<Row<W>> {
    Some(narrow!(name, B32, B32;
        "v_mov_b32" => |a| a;
        "v_not_b32" => |a| !a;
        "v_prng_b32" => |a| next_random(a);
        "v_bfrev_b32" => |a| a.reverse_bits();
        "v_clz_i32_u32" | "v_ffbh_u32" => |a| if a == 0 { u32::MAX } else { a.leading_zeros() };
        "v_ctz_i32_b32" | "v_ffbl_b32" => |a| if a == 0 { u32::MAX } else { a.trailing_zeros() };
        "v_cls_i32" | "v_ffbh_i32" => |a| {
            let magnitude = a ^ ((a as i32) >> 31) as u32;
            if magnitude == 0 { u32::MAX } else { magnitude.leading_zeros() }
        };
        "v_add_nc_u32" | "v_add_nc_i32" => |a, b| a.wrapping_add(b);
        "v_sub_nc_u32" | "v_sub_nc_i32" => |a, b| a.wrapping_sub(b);
        "v_subrev_nc_u32" => |a, b| b.wrapping_sub(a);
        "v_and_b32" => |a, b| a & b;
        "v_or_b32" => |a, b| a | b;
        "v_xor_b32" => |a, b| a ^ b;
        "v_xnor_b32" => |a, b| !(a ^ b);
        "v_lshlrev_b32" => |a, b| b << (a & 31);
        "v_lshrrev_b32" => |a, b| b >> (a & 31);
        "v_ashrrev_i32" => |a, b| ((b as i32) >> (a & 31)) as u32;
        "v_min_i32" => |a, b| (a as i32).min(b as i32) as u32;
        "v_max_i32" => |a, b| (a as i32).max(b as i32) as u32;
        "v_min_u32" => |a, b| a.min(b);
        "v_max_u32" => |a, b| a.max(b);
        "v_mul_u32_u24" => |a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff);
        "v_mul_i32_i24" => |a, b| sext(a, 24).wrapping_mul(sext(b, 24)) as u32;
        "v_mul_hi_u32_u24" => |a, b| {
            ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 32) as u32
        };
        "v_mul_hi_i32_i24" => |a, b| ((i64::from(sext(a, 24)) * i64::from(sext(b, 24))) >> 32) as u32;
        "v_mul_lo_u32" => |a, b| a.wrapping_mul(b);
        "v_mul_hi_u32" => |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        "v_mul_hi_i32" => |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
        "v_bcnt_u32_b32" => |a, b| a.count_ones().wrapping_add(b);
        "v_bfm_b32" => |a, b| field(a) << (b & 31);
    ))
}

fn three<const W: usize>(name: &str) -> Option<Row<W>> {
    Some(narrow!(name, B32, B32;
        "v_add3_u32" => |a, b, c| a.wrapping_add(b).wrapping_add(c);
        "v_lshl_add_u32" => |a, b, c| (a << (b & 31)).wrapping_add(c);
        "v_add_lshl_u32" => |a, b, c| a.wrapping_add(b) << (c & 31);
        "v_xad_u32" => |a, b, c| (a ^ b).wrapping_add(c);
        "v_lshl_or_b32" => |a, b, c| a << (b & 31) | c;
        "v_and_or_b32" => |a, b, c| a & b | c;
        "v_or3_b32" => |a, b, c| a | b | c;
        "v_xor3_b32" => |a, b, c| a ^ b ^ c;
        "v_bfi_b32" => |a, b, c| a & b | !a & c;
        "v_bfe_u32" => |a, b, c| a >> (b & 31) & field(c);
        "v_bfe_i32" => |a, b, c| {
            let width = c & 31;
            // The shift is arithmetic: a field that goes beyond the top has the sign there.
            let shifted = (a as i32 >> (b & 31)) as u32;
            if width == 0 { 0 } else { sext(shifted & field(width), width) as u32 }
        };
        "v_alignbit_b32" => |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32;
        "v_alignbyte_b32" => |a, b, c| {
            ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
        };
        "v_perm_b32" => |a, b, c| permute(a, b, c);
        "v_mad_u32_u24" => |a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c);
        "v_mad_i32_i24" => |a, b, c| {
            (sext(a, 24).wrapping_mul(sext(b, 24)) as u32).wrapping_add(c)
        };
        "v_min3_i32" => |a, b, c| (a as i32).min(b as i32).min(c as i32) as u32;
        "v_max3_i32" => |a, b, c| (a as i32).max(b as i32).max(c as i32) as u32;
        "v_min3_u32" => |a, b, c| a.min(b).min(c);
        "v_max3_u32" => |a, b, c| a.max(b).max(c);
        "v_med3_i32" => |a, b, c| {
            let (a, b, c) = (a as i32, b as i32, c as i32);
            a.min(b).max(a.max(b).min(c)) as u32
        };
        "v_med3_u32" => |a, b, c| a.min(b).max(a.max(b).min(c));
        "v_maxmin_i32" | "v_max_min_i32" => |a, b, c| (a as i32).max(b as i32).min(c as i32) as u32;
        "v_minmax_i32" | "v_min_max_i32" => |a, b, c| (a as i32).min(b as i32).max(c as i32) as u32;
        "v_maxmin_u32" => |a, b, c| a.max(b).min(c);
        "v_minmax_u32" => |a, b, c| a.min(b).max(c);
        "v_sad_u32" => |a, b, c| a.abs_diff(b).wrapping_add(c);
    ))
}

fn short<const W: usize>(name: &str) -> Option<Row<W>> {
    // A 16-bit addend in a 32-bit instruction and the like.
    const MAD: &[Type] = &[Type::B16, Type::B16, Type::B32];
    match name {
        "v_mad_u32_u16" => {
            return Some(Row::narrow(
                |s, _, out| map3(s, out, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
                Type::B32,
                MAD,
            ));
        }
        "v_mad_i32_i16" => {
            return Some(Row::narrow(
                |s, _, out| {
                    map3(s, out, |a, b, c| {
                        (s16(a).wrapping_mul(s16(b)) as u32).wrapping_add(c)
                    })
                },
                Type::B32,
                MAD,
            ));
        }
        // Two bytes in the low half of the destination.
        "v_ashr_pk_i8_i32" | "v_ashr_pk_u8_i32" => {
            const WORDS: &[Type] = &[Type::B32, Type::B32, Type::B32];
            let body: super::Narrow<W> = match name {
                "v_ashr_pk_i8_i32" => {
                    |s, _, out| map3(s, out, |a, b, c| shift_pack(a, b, c, (-128, 127)))
                }
                _ => |s, _, out| map3(s, out, |a, b, c| shift_pack(a, b, c, (0, 255))),
            };
            return Some(Row::narrow(body, Type::B16, WORDS));
        }
        "v_pack_b32_f16" => {
            return Some(Row::narrow(
                |s, _, out| map2(s, out, |a, b| a & 0xffff | b << 16),
                Type::B32,
                &[Type::F16, Type::F16],
            ));
        }
        _ => {}
    }
    Some(narrow!(name, B16, B16;
        "v_mov_b16" => |a| a;
        "v_not_b16" => |a| !a;
        "v_add_nc_u16" | "v_add_nc_i16" => |a, b| a.wrapping_add(b);
        "v_sub_nc_u16" | "v_sub_nc_i16" => |a, b| a.wrapping_sub(b);
        "v_and_b16" => |a, b| a & b;
        "v_or_b16" => |a, b| a | b;
        "v_xor_b16" => |a, b| a ^ b;
        "v_subrev_u16" => |a, b| b.wrapping_sub(a);
        "v_min3_u16" => |a, b, c| a.min(b).min(c);
        "v_max3_u16" => |a, b, c| a.max(b).max(c);
        "v_min3_i16" => |a, b, c| s16(a).min(s16(b)).min(s16(c)) as u32;
        "v_max3_i16" => |a, b, c| s16(a).max(s16(b)).max(s16(c)) as u32;
        "v_med3_u16" => |a, b, c| a.min(b).max(a.max(b).min(c));
        "v_med3_i16" => |a, b, c| {
            let (a, b, c) = (s16(a), s16(b), s16(c));
            a.min(b).max(a.max(b).min(c)) as u32
        };
        "v_mul_lo_u16" => |a, b| a.wrapping_mul(b);
        "v_lshlrev_b16" => |a, b| b << (a & 15);
        "v_lshrrev_b16" => |a, b| b >> (a & 15);
        "v_ashrrev_i16" => |a, b| (s16(b) >> (a & 15)) as u32;
        "v_min_u16" => |a, b| a.min(b);
        "v_max_u16" => |a, b| a.max(b);
        "v_min_i16" => |a, b| s16(a).min(s16(b)) as u32;
        "v_max_i16" => |a, b| s16(a).max(s16(b)) as u32;
        "v_mad_u16" | "v_mad_i16" => |a, b, c| a.wrapping_mul(b).wrapping_add(c);
    ))
}
