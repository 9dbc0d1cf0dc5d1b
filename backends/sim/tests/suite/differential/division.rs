//! Models of the steps of an f32 division.

use super::forms::Op;
use super::harness::Kind;
use super::numbers::{f, f32_bits, fused, is_nan32};
use super::table::{Table, op, words};

const F32: (Kind, u32) = (Kind::F32, 32);

/// As AMD's pseudo-code, save two things: what is scaled up by 2^64 for a division is scaled back
/// by as much (the code says 2^32, with which no quotient would come out), and where reciprocal
/// and quotient are both denormal the denominator is scaled down (up, it would overflow always).
fn scale32([s0, s1, s2]: [u32; 3]) -> (u32, bool) {
    let exponent = |x: u32| (x >> 23 & 0xff) as i32;
    let denormal = |x: f64| x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE);
    let by = |power: i32| f32_bits(f(s0) * 2_f64.powi(power));
    let same = |x: u32, y: u32| f(x) == f(y);
    let tiny_reciprocal = denormal(1.0 / f(s1)) || f(s1).is_infinite();
    let tiny_quotient = denormal(f(s2) / f(s1)) || f(s2) / f(s1) == 0.0;
    if f(s2) == 0.0 || f(s1) == 0.0 {
        return (0x7fc0_0000, false);
    }
    if exponent(s2) - exponent(s1) >= 96 {
        return (if same(s0, s1) { by(64) } else { s0 }, true);
    }
    if denormal(f(s1)) {
        return (by(64), false);
    }
    match (tiny_reciprocal, tiny_quotient) {
        (true, true) => (if same(s0, s1) { by(-64) } else { s0 }, true),
        (true, false) => (by(-64), false),
        (false, true) => (if same(s0, s2) { by(64) } else { s0 }, true),
        _ if exponent(s2) <= 23 => (by(64), false),
        _ => (s0, false),
    }
}

fn fixup32(q: u32, d: u32, n: u32) -> u32 {
    let sign = (d ^ n) & 0x8000_0000;
    let magnitude = |x: u32| x & 0x7fff_ffff;
    let exponent = |x: u32| (x >> 23 & 0xff) as i32;
    const INFINITY: u32 = 0x7f80_0000;
    let (zero, infinite) = (|x| magnitude(x) == 0, |x| magnitude(x) == INFINITY);
    if is_nan32(n) {
        n | 0x40_0000
    } else if is_nan32(d) {
        d | 0x40_0000
    } else if zero(n) && zero(d) || infinite(n) && infinite(d) {
        0xffc0_0000
    } else if zero(d) || infinite(n) {
        sign | INFINITY
    } else if infinite(d) || zero(n) {
        sign
    } else if exponent(n) - exponent(d) < -150 {
        // AMD's UNDERFLOW: nothing is left.
        sign
    } else if exponent(n) - exponent(d) > 128 {
        // AMD's OVERFLOW, whose condition in the text (an infinite or NaN denominator) cannot be.
        sign | INFINITY
    } else {
        sign | magnitude(q)
    }
}

pub fn add(t: &mut Table) {
    let scale = |[a, b, c]: [u64; 3]| scale32([a as u32, b as u32, c as u32]);
    let with_mask: Op = op(move |all, _| {
        let (value, flag) = scale(all);
        (value.into(), flag)
    });
    for operands in ["D, M, f0, f1, f2", "D, M, f1, f1, f2", "D, M, f2, f1, f2"] {
        t.kind(
            "v_div_scale_f32",
            "3 !c !m !k",
            operands,
            F32,
            with_mask.clone(),
        );
    }
    t.kind(
        "v_div_scale_f32",
        "3 !c !m !k",
        "D, VCC, f1, f1, f2",
        F32,
        with_mask,
    );
    t.kind(
        "v_div_fixup_f32",
        "3 !k",
        "D, f0, f1, f2",
        (Kind::Bits, 32),
        words!(|a, b, c| fixup32(a, b, c)),
    );
    t.kind(
        "v_div_fmas_f32",
        "3 !k",
        "D, f0, f1, f2",
        F32,
        op(|[a, b, c], lane| {
            let sum = fused(f(a as u32), f(b as u32), f(c as u32));
            let up = c >> 23 & 0xff > 127;
            let scale = match (lane.carry, up) {
                (false, _) => 1.0,
                (true, true) => 2_f64.powi(64),
                (true, false) => 2_f64.powi(-64),
            };
            (f32_bits(sum * scale).into(), false)
        }),
    );
}
