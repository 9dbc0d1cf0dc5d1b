//! Models of sines and cosines of turns, and of the bits of 2 / pi.

use super::harness::{After, Kind};
use super::numbers::{f, f16_bits, f32_bits, h};
use super::table::{Table, op, words};

/// The sine of turns: of the whole ones nothing is left.
fn sine(turns: f64) -> f64 {
    let part = turns.abs() % 1.0;
    let value = match part {
        0.0 | 0.5 => 0.0,
        _ => (part * std::f64::consts::TAU).sin(),
    };
    match (turns == 0.0, value == 0.0) {
        (true, _) => turns,
        (_, true) => 0.0,
        _ => value * turns.signum(),
    }
}

fn cosine(turns: f64) -> f64 {
    let part = turns.abs() % 1.0;
    match part {
        0.25 | 0.75 => 0.0,
        _ => (part * std::f64::consts::TAU).cos(),
    }
}

/// Denormals as zeros of their sign, as the transcendental unit has them.
fn flushed(value: f64) -> f64 {
    match value.abs() < f64::from(f32::MIN_POSITIVE) {
        true => 0.0_f64.copysign(value),
        false => value,
    }
}

pub fn add(t: &mut Table) {
    const SHORT: &str = "e32 e64 dpp sdwa";
    let (short, long) = ((Kind::Close16, 16), (Kind::Close32, 32));
    t.kind(
        "v_sin_f16",
        SHORT,
        "D, h0",
        short,
        words!(|a| f16_bits(sine(h(a)))),
    );
    t.kind(
        "v_cos_f16",
        SHORT,
        "D, h0",
        short,
        words!(|a| f16_bits(cosine(h(a)))),
    );
    let sin = words!(|a| f32_bits(flushed(f(f32_bits(sine(flushed(f(a))))))));
    t.kind("v_sin_f32", SHORT, "D, f0", long, sin);
    let cos = words!(|a| f32_bits(flushed(f(f32_bits(cosine(flushed(f(a))))))));
    t.kind("v_cos_f32", SHORT, "D, f0", long, cos);
    // The NaN of infinities is negative, which `Close` does not see.
    for name in ["v_sin", "v_cos"] {
        let clears = t.gfx9();
        for (ty, constant) in [("f16", "0x7c00"), ("f16", "0xfc00"), ("f32", "0x7f800000")] {
            let text = format!("{name}_{ty}_e32 D, {constant}");
            t.case(text, Kind::Bits, move |lane| {
                let (kept, nan) = match (ty, clears) {
                    ("f32", _) => (32, 0xffc0_0000),
                    (_, true) => (32, 0xfe00),
                    _ => (16, 0xfe00),
                };
                After {
                    value: lane.tuple().old >> kept << kept | nan,
                    mask: false,
                }
            });
        }
    }
    preop(t);
}

/// Numbers of 1,280 bits with sixteen before the point, the highest word first.
type Fixed = [u32; 40];

fn divided(mut x: Fixed, by: u32) -> Fixed {
    let mut rest = 0;
    for word in &mut x {
        let whole = rest << 32 | u64::from(*word);
        *word = (whole / u64::from(by)) as u32;
        rest = whole % u64::from(by);
    }
    x
}

fn sum(mut x: Fixed, y: Fixed, minus: bool) -> Fixed {
    // The difference is the sum with the complement.
    let mut carry = u64::from(minus);
    for (x, y) in x.iter_mut().zip(y).rev() {
        let y = if minus { !y } else { y };
        let total = u64::from(*x) + u64::from(y) + carry;
        *x = total as u32;
        carry = total >> 32;
    }
    x
}

/// The arc tangent of 1 / n, times a small factor, by its series.
fn arctan(factor: u32, n: u32) -> Fixed {
    let mut power = [0; 40];
    power[0] = factor << 16;
    power = divided(power, n);
    let mut total = power;
    for at in 1..600 {
        power = divided(power, n * n);
        total = sum(total, divided(power, 2 * at + 1), at % 2 == 1);
    }
    total
}

/// The bits of 2 / pi behind the point.
fn two_over_pi() -> Vec<bool> {
    // Machin: pi = 16 arctan(1/5) - 4 arctan(1/239).
    let pi = sum(arctan(16, 5), arctan(4, 239), true);
    let mut rest = [0; 40];
    rest[0] = 2 << 16;
    let bits = (0..1201).map(|_| {
        rest = sum(rest, rest, false);
        let fits = rest >= pi;
        if fits {
            rest = sum(rest, pi, true);
        }
        fits
    });
    bits.collect()
}

fn preop(t: &mut Table) {
    let bits = two_over_pi();
    let model = op(move |[a, b, _], _| {
        let exponent = (a >> 52) as usize & 0x7ff;
        let shift = 53 * (b as usize % 32) + exponent.saturating_sub(1077);
        let bit = |at: usize| u64::from(bits.get(at).copied().unwrap_or(false));
        let segment = (0..53).fold(0, |value, at| value * 2 + bit(shift + at));
        let up = if exponent >= 1968 { 128 } else { 0 };
        // The first factor leaves all bits.
        let value = segment as f64 * 2_f64.powi(-600);
        let value = value * 2_f64.powi(547 - shift as i32 + up);
        (value.to_bits(), false)
    });
    let kind = (Kind::F64, 64);
    t.kind("v_trig_preop_f64", "3", "DD, d0, i1", kind, model);
}
