//! Models of operations that keep a number between two others, and of `clamp` on pairs of f16.

use super::extrema::Bits;
use super::harness::Kind;
use super::numbers::{f, f16_bits, f16_toward_zero, h};
use super::table::{Table, op, words};

pub fn add(t: &mut Table) {
    if t.gfx12() {
        keeping_nans(t);
    }
    if !t.gfx9() {
        halves(t);
    }
    pairs(t);
}

/// The larger of two, then the smaller with a third, and the other way round.
fn halves(t: &mut Table) {
    let bits = Bits {
        mantissa: 10,
        width: 16,
        ieee: !t.gfx12(),
    };
    let names = match t.gfx12() {
        true => ["v_maxmin_num_f16", "v_minmax_num_f16"],
        false => ["v_maxmin_f16", "v_minmax_f16"],
    };
    for (name, first_max) in names.into_iter().zip([true, false]) {
        let model = op(move |all, _| {
            let [a, b, c] = all.map(|x| x & 0xffff);
            let value = match first_max {
                true => bits.min(bits.max(a, b), c),
                false => bits.max(bits.min(a, b), c),
            };
            (value, false)
        });
        t.kind(name, "3", "D, h0, h1, h2", (Kind::F16, 16), model);
    }
}

fn keeping_nans(t: &mut Table) {
    for (name, larger) in [("v_maximumminimum", true), ("v_minimummaximum", false)] {
        for (ty, operands, kind, width, mantissa) in [
            ("f32", "D, f0, f1, f2", Kind::F32, 32, 23),
            ("f16", "D, h0, h1, h2", Kind::F16, 16, 10),
        ] {
            let bits = Bits {
                mantissa,
                width,
                ieee: false,
            };
            let model = op(move |all, _| {
                let [a, b, c] = all.map(|x| x & (u64::MAX >> (64 - width)));
                let first = bits.keep_nan(a, b, larger);
                (bits.keep_nan(first, c, !larger), false)
            });
            let name = format!("{name}_{ty}");
            t.kind(&name, "3", operands, (kind, width), model);
        }
    }
}

/// Conversions to pairs, each of which is clamped.
fn pairs(t: &mut Table) {
    let clamped = |half: u32| match h(half) > 0.0 {
        true => f16_bits(h(half).min(1.0)),
        false => 0,
    };
    let pair = (Kind::Pair16, 32);
    let (name, forms) = match t.gfx9() {
        true => ("v_cvt_pkrtz_f16_f32", "3 !c !k"),
        false => ("v_cvt_pk_rtz_f16_f32", "e64 !c !k"),
    };
    let zero =
        words!(|a, b| { clamped(f16_toward_zero(f(a))) | clamped(f16_toward_zero(f(b))) << 16 });
    t.tail_kind(name, forms, "D, f0, f1", pair, " clamp", zero);
    if t.gfx9() {
        let near = words!(|a, b| clamped(f16_bits(f(a))) | clamped(f16_bits(f(b))) << 16);
        t.tail_kind(
            "v_cvt_pk_f16_f32",
            "3 !c !k",
            "D, f0, f1",
            pair,
            " clamp",
            near,
        );
    }
}
