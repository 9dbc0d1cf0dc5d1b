//! Models of what goes across lanes or takes several operations: moves, swaps, pairs of
//! instructions.

use super::extrema::Bits;
use super::harness::{After, Kind, Lane, SCALAR};
use super::numbers::{f, f32_bits, fused};
use super::operands::Tuple;
use super::table::{Table, op};

/// v[8:9] with another low register.
fn low(lane: &Lane<'_>, value: u32) -> After {
    both(value, (lane.tuple().old >> 32) as u32)
}

fn both(low: u32, high: u32) -> After {
    After {
        value: u64::from(low) | u64::from(high) << 32,
        mask: false,
    }
}

pub fn add(t: &mut Table) {
    if !t.gfx9() {
        comparisons(t);
    }
    moves(t);
    match t.gfx9() {
        true => cdna(t),
        false => rdna(t),
    }
}

fn moves(t: &mut Table) {
    let below = |mask: u32, lanes: usize| {
        (0..lanes.min(32)).filter(|at| mask >> at & 1 == 1).count() as u32
    };
    t.word(
        "v_mbcnt_lo_u32_b32",
        "3",
        "D, i0, i1",
        op(move |[a, b, _], lane| {
            (
                u64::from((b as u32).wrapping_add(below(a as u32, lane.at))),
                false,
            )
        }),
    );
    t.word(
        "v_mbcnt_hi_u32_b32",
        "3",
        "D, i0, i1",
        op(move |[a, b, _], lane| {
            let count = below(a as u32, lane.at.saturating_sub(32));
            (u64::from((b as u32).wrapping_add(count)), false)
        }),
    );
    let read = |from: usize| move |lane: &Lane<'_>| low(lane, lane.wave[from].i[0]);
    t.case(
        "v_readfirstlane_b32 s24, i0\nv_mov_b32 D, s24",
        Kind::Bits,
        read(0),
    );
    // The first of those that are on.
    let tail = "v_readfirstlane_b32 s24, i0\ns_mov_b32 exec_lo, -1";
    let some = "s_mov_b32 exec_lo, 0xfffffff0";
    t.case(
        format!("{some}\n{tail}\nv_mov_b32 D, s24"),
        Kind::Bits,
        read(4),
    );
    t.case(
        "v_readlane_b32 s24, i0, 7\nv_mov_b32 D, s24",
        Kind::Bits,
        read(7),
    );
    // Of the lane's number as many bits count as the wave has lanes.
    let last = "s_mov_b32 s25, 0xffffffff\nv_readlane_b32 s24, i0, s25\nv_mov_b32 D, s24";
    t.case(last, Kind::Bits, |lane| {
        low(lane, lane.wave[lane.wave.len() - 1].i[0])
    });
    t.case("v_writelane_b32 D, s30, 3", Kind::Bits, |lane| {
        match lane.at {
            3 => low(lane, SCALAR),
            _ => low(lane, lane.tuple().old as u32),
        }
    });
    t.case("v_swap_b32 D, v9", Kind::Bits, |lane| {
        let old = lane.tuple().old;
        both((old >> 32) as u32, old as u32)
    });
}

fn cdna(t: &mut Table) {
    t.case("v_nop", Kind::Bits, |lane| After {
        value: lane.tuple().old,
        mask: false,
    });
    let text = "v_accvgpr_write_b32 a1, i0\ns_nop 2\nv_accvgpr_mov_b32 a2, a1\ns_nop 2\n\
                v_accvgpr_read_b32 D, a2";
    t.case(text, Kind::Bits, |lane| low(lane, lane.tuple().i[0]));
    let text = "v_accvgpr_write_b32 a1, 0\ns_nop 2\nv_accvgpr_read_b32 D, a1";
    t.case(text, Kind::Bits, |lane| low(lane, 0));
    t.case(
        "v_mov_b32_dpp D, i0 wave_shr:1 row_mask:0xf bank_mask:0xf",
        Kind::Bits,
        |lane| match lane.at {
            0 => low(lane, lane.tuple().old as u32),
            at => low(lane, lane.wave[at - 1].i[0]),
        },
    );
    // The first register's odd rows of so many lanes and the second's even ones trade places.
    for (name, rows) in [("v_permlane16_swap_b32", 16), ("v_permlane32_swap_b32", 32)] {
        for form in ["_e32", "_e64"] {
            t.case(format!("{name}{form} D, v9"), Kind::Bits, move |lane| {
                let old = |at: usize| lane.wave[at].old;
                let at = lane.at;
                match at / rows % 2 {
                    0 => both(old(at) as u32, old(at + rows) as u32),
                    _ => both((old(at - rows) >> 32) as u32, (old(at) >> 32) as u32),
                }
            });
        }
    }
}

fn rdna(t: &mut Table) {
    // Lanes of a row of sixteen pick others by four bits each; the second, of the other row.
    const SELECT: u64 = 0xfed1_ba98_7654_0213;
    let set = format!(
        "s_mov_b32 s24, {:#x}\ns_mov_b32 s25, {:#x}\n",
        SELECT as u32,
        SELECT >> 32
    );
    for (name, other) in [("v_permlane16_b32", 0), ("v_permlanex16_b32", 16)] {
        let text = format!("{set}{name} D, i0, s24, s25");
        t.case(text, Kind::Bits, move |lane| {
            let pick = (SELECT >> (4 * (lane.at % 16)) & 15) as usize;
            low(lane, lane.wave[((lane.at & 16) + pick) ^ other].i[0])
        });
    }
    if !t.gfx12() {
        let text = "v_mov_b16_e32 v8.l, v24.h";
        t.case(text, Kind::Bits, |lane| {
            let old = lane.tuple().old;
            low(lane, old as u32 & !0xffff | lane.tuple().i[0] >> 16)
        });
        t.case("v_mov_b16_e32 v8.h, v24.l", Kind::Bits, |lane| {
            let old = lane.tuple().old;
            low(lane, old as u32 & 0xffff | lane.tuple().i[0] << 16)
        });
    }
    duals(t);
}

/// Two instructions in one: both read before either writes.
fn duals(t: &mut Table) {
    let max = if t.gfx12() { "max_num" } else { "max" };
    let extreme = Bits {
        mantissa: 23,
        width: 32,
        ieee: !t.gfx12(),
    };
    let greater = move |a: u32, b: u32| extreme.max(a.into(), b.into()) as u32;
    let add = |a: u32, b: u32| f32_bits(f(a) + f(b));
    let mul = |a: u32, b: u32| f32_bits(f(a) * f(b));
    let pair = Kind::Pair32;
    t.case(
        "v_dual_add_f32 D, f0, f1 :: v_dual_mul_f32 v9, f2, v24",
        pair,
        move |lane| {
            let Tuple { f, i, .. } = lane.tuple();
            both(add(f[0], f[1]), mul(f[2], i[0]))
        },
    );
    t.case(
        "v_dual_mul_f32 D, f0, f1 :: v_dual_add_f32 v9, f2, v24",
        pair,
        move |lane| {
            let Tuple { f, i, .. } = lane.tuple();
            both(mul(f[0], f[1]), add(f[2], i[0]))
        },
    );
    let text = format!("v_dual_{max}_f32 D, f0, f1 :: v_dual_{max}_f32 v9, 0, f2");
    t.case(text, Kind::Bits, move |lane| {
        let Tuple { f, .. } = lane.tuple();
        both(greater(f[0], f[1]), greater(0, f[2]))
    });
    let text = "v_dual_cndmask_b32 D, i0, i1 :: v_dual_mov_b32 v9, i2";
    t.case(text, Kind::Bits, |lane| {
        let Tuple { i, .. } = lane.tuple();
        both(if lane.carry { i[1] } else { i[0] }, i[2])
    });
    let text = "v_dual_mov_b32 D, i0 :: v_dual_cndmask_b32 v9, i1, i2";
    t.case(text, Kind::Bits, |lane| {
        let Tuple { i, .. } = lane.tuple();
        both(i[0], if lane.carry { i[2] } else { i[1] })
    });
    let text = "v_dual_fmac_f32 D, f0, f1 :: v_dual_add_nc_u32 v9, i2, v24";
    t.case(text, pair, |lane| {
        let Tuple { f: x, i, old, .. } = lane.tuple();
        let sum = fused(f(x[0]), f(x[1]), f(*old as u32));
        both(f32_bits(sum), i[2].wrapping_add(i[0]))
    });
    t.case(
        "v_dual_mov_b32 D, v9 :: v_dual_mov_b32 v9, v8",
        Kind::Bits,
        |lane| {
            let old = lane.tuple().old;
            both((old >> 32) as u32, old as u32)
        },
    );
    t.case(
        "v_dual_mul_f32 D, 0x3fb8aa3b, f1 :: v_dual_mul_f32 v9, 0x3fb8aa3b, f0",
        pair,
        move |lane| {
            let Tuple { f, .. } = lane.tuple();
            both(mul(0x3fb8_aa3b, f[1]), mul(0x3fb8_aa3b, f[0]))
        },
    );
}

/// Comparisons whose first source is another lane's, in the short encoding; a lane that there is
/// none for has no bit, or compares zero with `bound_ctrl`.
fn comparisons(t: &mut Table) {
    type From = fn(usize) -> Option<usize>;
    let routes: [(&str, From); 3] = [
        ("quad_perm:[1,0,3,2]", |lane| Some(lane ^ 1)),
        ("row_shr:1", |lane| (lane % 16 > 0).then(|| lane - 1)),
        ("row_xmask:7", |lane| Some(lane ^ 7)),
    ];
    for (route, from) in routes {
        // True of many a zero, which is what a lane without a source would compare.
        let tail = format!("i0, i1 {route} row_mask:0xf bank_mask:0xf");
        for (text, bound) in [
            (format!("v_cmp_le_u32 VCC, {tail}"), false),
            (format!("v_cmp_le_u32 VCC, {tail} bound_ctrl:1"), true),
            (format!("v_cmpx_le_u32 {tail}"), false),
        ] {
            t.case(text, Kind::Bits, move |lane| {
                let most = lane.tuple().i[1];
                After {
                    value: lane.tuple().old,
                    mask: from(lane.at).map_or(bound, |from| lane.wave[from].i[0] <= most),
                }
            });
        }
    }
}
