//! Moves, logic, shifts, bit fields and bit counts.

use super::{D, DD, DN, N, NN, Row, logic, s, w};

fn bits(count: u64) -> u64 {
    (1_u64 << (count & 63)).wrapping_sub(1)
}

/// The lowest bit of each quad of bits that is not empty.
fn quads(a: u64) -> u64 {
    (a | a >> 1 | a >> 2 | a >> 3) & 0x1111_1111_1111_1111
}

/// The place of the first bit found in a word of so many; -1 where none was.
fn below(bits: u32, place: u32) -> u64 {
    if place == bits {
        u64::MAX
    } else {
        u64::from(place)
    }
}

fn pack_quads(a: u64) -> u64 {
    let quads = quads(a);
    (0..16).fold(0, |packed, quad| packed | (quads >> (4 * quad) & 1) << quad)
}

pub(super) fn row(name: &str) -> Option<Row> {
    Some(match name {
        "s_mov_b32" | "s_movk_i32" | "s_cmov_b32" | "s_cmovk_i32" => (|a, _, _| a, 32, N),
        "s_mov_b64" | "s_cmov_b64" => (|a, _, _| a, 64, D),
        "s_not_b32" => (|a, _, scc| logic(!a & 0xffff_ffff, scc), 32, N),
        "s_not_b64" => (|a, _, scc| logic(!a, scc), 64, D),
        "s_and_b32" => (|a, b, scc| logic(a & b, scc), 32, NN),
        "s_and_b64" => (|a, b, scc| logic(a & b, scc), 64, DD),
        "s_or_b32" => (|a, b, scc| logic(a | b, scc), 32, NN),
        "s_or_b64" => (|a, b, scc| logic(a | b, scc), 64, DD),
        "s_xor_b32" => (|a, b, scc| logic(a ^ b, scc), 32, NN),
        "s_xor_b64" => (|a, b, scc| logic(a ^ b, scc), 64, DD),
        "s_xnor_b32" => (|a, b, scc| logic(!(a ^ b) & 0xffff_ffff, scc), 32, NN),
        "s_xnor_b64" => (|a, b, scc| logic(!(a ^ b), scc), 64, DD),
        "s_nand_b32" => (|a, b, scc| logic(!(a & b) & 0xffff_ffff, scc), 32, NN),
        "s_nand_b64" => (|a, b, scc| logic(!(a & b), scc), 64, DD),
        "s_nor_b32" => (|a, b, scc| logic(!(a | b) & 0xffff_ffff, scc), 32, NN),
        "s_nor_b64" => (|a, b, scc| logic(!(a | b), scc), 64, DD),
        "s_and_not1_b32" | "s_andn2_b32" => (|a, b, scc| logic(a & !b, scc), 32, NN),
        "s_and_not1_b64" | "s_andn2_b64" => (|a, b, scc| logic(a & !b, scc), 64, DD),
        "s_or_not1_b32" | "s_orn2_b32" => (|a, b, scc| logic((a | !b) & 0xffff_ffff, scc), 32, NN),
        "s_or_not1_b64" | "s_orn2_b64" => (|a, b, scc| logic(a | !b, scc), 64, DD),
        "s_lshl_b32" => (|a, b, scc| logic(a << (b & 31) & 0xffff_ffff, scc), 32, NN),
        "s_lshl_b64" => (|a, b, scc| logic(a << (b & 63), scc), 64, DN),
        "s_lshr_b32" => (|a, b, scc| logic(a >> (b & 31), scc), 32, NN),
        "s_lshr_b64" => (|a, b, scc| logic(a >> (b & 63), scc), 64, DN),
        "s_ashr_i32" => (|a, b, scc| logic(w(s(a) >> (b & 31)), scc), 32, NN),
        "s_ashr_i64" => (
            |a, b, scc| logic((a as i64 >> (b & 63)) as u64, scc),
            64,
            DN,
        ),
        // The target is the first source too.
        "s_bitset0_b32" => (|a, b, _| a & !(1 << (b & 31)), 32, NN),
        "s_bitset1_b32" => (|a, b, _| a | 1 << (b & 31), 32, NN),
        "s_bitset0_b64" => (|a, b, _| a & !(1 << (b & 63)), 64, DN),
        "s_bitset1_b64" => (|a, b, _| a | 1 << (b & 63), 64, DN),
        "s_bfm_b32" => (|a, b, _| bits(a & 31) << (b & 31), 32, NN),
        "s_bfm_b64" => (|a, b, _| bits(a) << (b & 63), 64, NN),
        // The second source packs an offset in its low bits and a width from bit 16. The shift of
        // the signed ones is arithmetic: a field that goes beyond the top has the sign there.
        "s_bfe_u32" => (
            |a, b, scc| logic(a >> (b & 31) & bits((b >> 16 & 127).min(32)), scc),
            32,
            NN,
        ),
        "s_bfe_i32" => (
            |a, b, scc| {
                let width = (b >> 16 & 127).min(32) as u32;
                let field = (s(a) >> (b & 31)) as u32;
                let value = match width {
                    0 => 0,
                    _ => (field << (32 - width)) as i32 >> (32 - width),
                };
                logic(w(value), scc)
            },
            32,
            NN,
        ),
        "s_bfe_u64" => (
            |a, b, scc| {
                let width = b >> 16 & 127;
                let field = a >> (b & 63);
                logic(
                    if width >= 64 {
                        field
                    } else {
                        field & bits(width)
                    },
                    scc,
                )
            },
            64,
            DN,
        ),
        "s_brev_b32" => (|a, _, _| u64::from((a as u32).reverse_bits()), 32, N),
        "s_brev_b64" => (|a, _, _| a.reverse_bits(), 64, D),
        "s_bcnt1_i32_b32" => (|a, _, scc| logic(u64::from(a.count_ones()), scc), 32, N),
        "s_bcnt1_i32_b64" => (|a, _, scc| logic(u64::from(a.count_ones()), scc), 32, D),
        "s_bcnt0_i32_b32" => (
            |a, _, scc| logic(u64::from((a as u32).count_zeros()), scc),
            32,
            N,
        ),
        "s_bcnt0_i32_b64" => (|a, _, scc| logic(u64::from(a.count_zeros()), scc), 32, D),
        "s_ctz_i32_b32" | "s_ff1_i32_b32" => {
            (|a, _, _| below(32, (a as u32).trailing_zeros()), 32, N)
        }
        "s_ctz_i32_b64" | "s_ff1_i32_b64" => (|a, _, _| below(64, a.trailing_zeros()), 32, D),
        "s_clz_i32_u32" | "s_flbit_i32_b32" => {
            (|a, _, _| below(32, (a as u32).leading_zeros()), 32, N)
        }
        "s_clz_i32_u64" | "s_flbit_i32_b64" => (|a, _, _| below(64, a.leading_zeros()), 32, D),
        "s_ff0_i32_b32" => (|a, _, _| below(32, (a as u32).trailing_ones()), 32, N),
        "s_ff0_i32_b64" => (|a, _, _| below(64, a.trailing_ones()), 32, D),
        // Bits from the top until one differs from the sign; -1 if none does.
        "s_cls_i32" | "s_flbit_i32" => (
            |a, _, _| match a as u32 ^ (s(a) >> 31) as u32 {
                0 => u64::MAX,
                bits => u64::from(bits.leading_zeros()),
            },
            32,
            N,
        ),
        "s_cls_i32_i64" | "s_flbit_i32_i64" => (
            |a, _, _| match a ^ (a as i64 >> 63) as u64 {
                0 => u64::MAX,
                bits => u64::from(bits.leading_zeros()),
            },
            32,
            D,
        ),
        "s_bfe_i64" => (
            |a, b, scc| {
                let width = (b >> 16 & 127).min(64) as u32;
                let field = (a as i64 >> (b & 63)) as u64;
                let value = match width {
                    0 => 0,
                    _ => ((field << (64 - width)) as i64 >> (64 - width)) as u64,
                };
                logic(value, scc)
            },
            64,
            DN,
        ),
        // A quad of bits is on if one of them is; here in place, then packed.
        "s_wqm_b32" => (|a, _, scc| logic(quads(a) * 15, scc), 32, N),
        "s_wqm_b64" => (|a, _, scc| logic(quads(a).wrapping_mul(15), scc), 64, D),
        "s_quadmask_b32" => (|a, _, scc| logic(pack_quads(a), scc), 32, N),
        "s_quadmask_b64" => (|a, _, scc| logic(pack_quads(a), scc), 64, D),
        "s_bitreplicate_b64_b32" => (
            |a, _, _| (0..32).fold(0, |out, bit| out | ((a >> bit & 1) * 3) << (2 * bit)),
            64,
            N,
        ),
        "s_pack_ll_b32_b16" => (|a, b, _| a & 0xffff | b << 16, 32, NN),
        "s_pack_lh_b32_b16" => (|a, b, _| a & 0xffff | b & 0xffff_0000, 32, NN),
        "s_pack_hh_b32_b16" => (|a, b, _| a >> 16 | b & 0xffff_0000, 32, NN),
        "s_pack_hl_b32_b16" => (|a, b, _| a >> 16 | b << 16, 32, NN),
        "s_cselect_b32" => (|a, _, _| a, 32, NN),
        "s_cselect_b64" => (|a, _, _| a, 64, DD),
        _ => return None,
    })
}
