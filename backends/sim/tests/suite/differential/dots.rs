//! Models of dot products.

use super::harness::{After, Kind, Lane};
use super::numbers::{bf16_bits, f, f16_bits, f32_bits, h, sext};
use super::table::{Table, op, words};

const F32: (Kind, u32) = (Kind::F32, 32);

pub fn add(t: &mut Table) {
    reals(t);
    match t.gfx9() {
        true => named(t),
        false => open(t),
    }
}

/// A denormal f32 as zero of its sign.
fn flushed(value: f64) -> f64 {
    match value.abs() < f64::from(f32::MIN_POSITIVE) {
        true => 0.0_f64.copysign(value),
        false => value,
    }
}

/// One half of a pair, as bf16 or f16, with its sign flipped or not.
fn half(pair: u64, at: u32, bf: bool, flip: bool) -> f64 {
    let bits = (pair >> (16 * at)) as u32 & 0xffff ^ if flip { 0x8000 } else { 0 };
    if bf { f(bits << 16) } else { h(bits) }
}

/// Sums of products of floats. They are formed in f64 and rounded once, which is the simulator's
/// stated choice: AMD does not publish how hardware rounds. Denormal f32 are zeros, as LLVM says.
fn reals(t: &mut Table) {
    // The elements that a text negates, those of pairs and the addend.
    let none = [[false; 3]; 2];
    let some = [[true, false, true], [false, true, true]];
    for (tail, [low, high]) in [
        ("", none),
        (" neg_lo:[1,0,0]", [[true, false, false], [false; 3]]),
        (" neg_hi:[0,1,0]", [[false; 3], [false, true, false]]),
        (" clamp", none),
        (" neg_lo:[1,0,1] neg_hi:[0,1,1]", some),
        (" neg_lo:[1,0,1] neg_hi:[0,1,1] clamp", some),
    ] {
        for (name, bf) in [("v_dot2_f32_f16", false), ("v_dot2_f32_bf16", true)] {
            let model = op(move |[a, b, c], _| {
                let c = f(c as u32);
                let c = flushed(if low[2] { -c } else { c });
                let products = half(a, 0, bf, low[0]) * half(b, 0, bf, low[1])
                    + half(a, 1, bf, high[0]) * half(b, 1, bf, high[1]);
                let sum = flushed(f(f32_bits(products + c)));
                let sum = match tail.ends_with("clamp") {
                    true if sum > 0.0 => sum.min(1.0),
                    true => 0.0,
                    false => sum,
                };
                (f32_bits(sum).into(), false)
            });
            t.tail_kind(name, "3 !c !m !k", "D, h0, h1, f2", F32, tail, model);
        }
    }
    if t.gfx9() {
        for (name, bf) in [("v_dot2c_f32_f16", false), ("v_dot2c_f32_bf16", true)] {
            let model = op(move |[a, b, _], lane: &Lane<'_>| {
                let products = half(a, 0, bf, false) * half(b, 0, bf, false)
                    + half(a, 1, bf, false) * half(b, 1, bf, false);
                let sum = f(f32_bits(products + flushed(f(lane.tuple().f[2]))));
                (f32_bits(flushed(sum)).into(), false)
            });
            t.accumulating(name, "e32 !c", "D, h0, h1", "v_mov_b32 D, f2", F32, model);
        }
        return;
    }
    // Results of 16 bits, with the halves of addend and result that are picked, and with signs,
    // which count for both halves of a pair: what is negated and what has none.
    for (operands, from, to, negated, bare) in [
        ("h0, h1, h2", 0, 0, [false; 3], [false; 3]),
        ("h0, h1, h2 op_sel:[0,0,1,0]", 1, 0, [false; 3], [false; 3]),
        ("h0, h1, h2 op_sel:[0,0,0,1]", 0, 16, [false; 3], [false; 3]),
        ("h0, h1, h2 op_sel:[0,0,1,1]", 1, 16, [false; 3], [false; 3]),
        ("-h0, h1, h2", 0, 0, [true, false, false], [false; 3]),
        (
            "h0, |h1|, -h2",
            0,
            0,
            [false, false, true],
            [false, true, false],
        ),
        (
            "-|h0|, -h1, |h2|",
            0,
            0,
            [true, true, false],
            [true, false, true],
        ),
    ] {
        for (name, bf) in [("v_dot2_f16_f16", false), ("v_dot2_bf16_bf16", true)] {
            let text = format!("{name} D, {operands}");
            // Of bf16 the sum alone is compared where it is a number.
            t.case(text, Kind::Bits, move |lane| {
                let number = |source: usize, at: u32| {
                    let number = half(lane.tuple().h[source].into(), at, bf, false);
                    let number = if bare[source] { number.abs() } else { number };
                    if negated[source] { -number } else { number }
                };
                let products = number(0, 0) * number(1, 0) + number(0, 1) * number(1, 1);
                let sum = products + number(2, from);
                let bits = match (sum.is_nan(), bf) {
                    (true, true) => 0x7fc0,
                    (true, false) => 0x7e00,
                    (false, true) => bf16_bits(sum),
                    (false, false) => f16_bits(sum),
                };
                let old = lane.tuple().old;
                After {
                    value: old & !(0xffff << to) | u64::from(bits) << to,
                    mask: false,
                }
            });
        }
    }
}

/// The sum of products of integers of so many bits.
fn sum(a: u32, b: u32, bits: u32, signed: [bool; 2]) -> i64 {
    (0..32 / bits).fold(0_i64, |sum, at| {
        let part = |x: u32, signed: bool| match signed {
            true => sext(x >> (bits * at), bits),
            false => i64::from(x >> (bits * at)) & ((1 << bits) - 1),
        };
        sum + part(a, signed[0]) * part(b, signed[1])
    })
}

/// What `clamp` makes of a sum of a signed or unsigned type.
fn clamped(sum: i64, signed: bool) -> u32 {
    match signed {
        true => sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
        false => sum.clamp(0, u32::MAX.into()) as u32,
    }
}

fn addend(c: u32, signed: bool) -> i64 {
    if signed { sext(c, 32) } else { i64::from(c) }
}

/// Those of integers whose signs the name tells.
fn named(t: &mut Table) {
    for (name, bits, signed) in [
        ("v_dot2_i32_i16", 16, true),
        ("v_dot2_u32_u16", 16, false),
        ("v_dot4_i32_i8", 8, true),
        ("v_dot4_u32_u8", 8, false),
        ("v_dot8_i32_i4", 4, true),
        ("v_dot8_u32_u4", 4, false),
    ] {
        plain(t, name, bits, signed);
    }
    for (name, bits) in [("v_dot2c_i32_i16", 16), ("v_dot4c_i32_i8", 8)] {
        let model = op(move |[a, b, _], lane: &Lane<'_>| {
            let c = i64::from(lane.tuple().i[2]);
            let products = sum(a as u32, b as u32, bits, [true; 2]);
            (u64::from((products + c) as u32), false)
        });
        let kind = (Kind::Bits, 32);
        t.accumulating(name, "e32 !c", "D, i0, i1", "v_mov_b32 D, i2", kind, model);
    }
}

fn plain(t: &mut Table, name: &str, bits: u32, signed: bool) {
    let model = words!(|a, b, c| (sum(a, b, bits, [signed; 2]) + i64::from(c)) as u32);
    t.word(name, "3 !c", "D, i0, i1, i2", model);
    let model = words!(|a, b, c| clamped(sum(a, b, bits, [signed; 2]) + addend(c, signed), signed));
    t.tail(name, "3 !c", "D, i0, i1, i2", 32, " clamp", model);
}

/// Those whose modifiers say which of A and B are signed. The sum is signed in any case.
fn open(t: &mut Table) {
    plain(t, "v_dot4_u32_u8", 8, false);
    plain(t, "v_dot8_u32_u4", 4, false);
    for (tail, with_clamp, signed) in [
        ("", " clamp", [false, false]),
        (" neg_lo:[1,0,0]", " neg_lo:[1,0,0] clamp", [true, false]),
        (" neg_lo:[0,1,0]", " neg_lo:[0,1,0] clamp", [false, true]),
        (" neg_lo:[1,1,0]", " neg_lo:[1,1,0] clamp", [true, true]),
    ] {
        for (name, bits) in [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)] {
            let model = words!(|a, b, c| (sum(a, b, bits, signed) + i64::from(c)) as u32);
            t.tail(name, "3 !c", "D, i0, i1, i2", 32, tail, model);
            let model = words!(|a, b, c| clamped(sum(a, b, bits, signed) + addend(c, true), true));
            t.tail(name, "3 !c", "D, i0, i1, i2", 32, with_clamp, model);
        }
    }
}
