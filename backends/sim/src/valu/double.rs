//! f64 operations beyond sums and products: extrema, exponents, and the steps of a division.
//!
//! The steps of a division scale by 2^128 where those of f32 scale by 2^64; AMD's text of them is
//! read as it is for f32.

use super::division::div_scale;
use super::turns::trig_preop;
use super::{Row, Shape, Type};

fn f(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn quiet(bits: u64) -> u64 {
    bits | 1 << 51
}

/// The bits of a result, a NaN that passes through made quiet.
pub(super) fn passed(value: f64) -> u64 {
    match value.is_nan() {
        true => quiet(value.to_bits()),
        false => value.to_bits(),
    }
}

fn biased_exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32
}

/// A power of two in the range of normal numbers.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The value times a power of two, rounded once.
pub(super) fn scale(value: f64, by: i32) -> f64 {
    let (mantissa, exponent) = frexp(value);
    match exponent.saturating_add(by) {
        // The mantissa is at least a half, so that this overflows.
        total if total > 1024 => mantissa * f64::MAX * 4.0,
        total if total > 0 => mantissa * 2.0 * power(total - 1),
        total if total > -1000 => mantissa * power(total),
        // The first product is exact, the second rounds.
        total => mantissa * power(total.max(-1100) + 200) * power(-200),
    }
}

/// The larger (or smaller) number: a NaN loses, save a signalling one (IEEE mode, as for f32);
/// +0 beats -0 (or the other way).
fn extreme(a: u64, b: u64, larger: bool) -> u64 {
    let signalling = |&bits: &u64| f(bits).is_nan() && quiet(bits) != bits;
    match [a, b].iter().copied().find(signalling) {
        Some(bits) => quiet(bits),
        None => number_of(a, b, larger),
    }
}

/// The larger (or smaller) value, NaN if one is.
fn value_of(a: u64, b: u64, larger: bool) -> u64 {
    match [a, b].iter().copied().find(|&bits| f(bits).is_nan()) {
        Some(bits) => quiet(bits),
        None => number_of(a, b, larger),
    }
}

/// The larger (or smaller) number: a NaN of either kind loses, as in the `_num` operations of
/// RDNA 4.
fn number_of(a: u64, b: u64, larger: bool) -> u64 {
    let (x, y) = (f(a), f(b));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => quiet(a),
        (true, false) => b,
        (false, true) => a,
        _ if x == y && larger => a & b,
        _ if x == y => a | b,
        _ if (x > y) == larger => a,
        _ => b,
    }
}

/// Exponent of a mantissa in [0.5, 1), and that mantissa; zero, infinities and NaN stay.
fn frexp(value: f64) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let (normal, shift) = match value.is_subnormal() {
        true => (value * 2_f64.powi(64), 64),
        false => (value, 0),
    };
    let mantissa = f(normal.to_bits() & !(0x7ff << 52) | 1022 << 52);
    (mantissa, biased_exponent(normal) - 1022 - shift)
}

div_scale!(f64, scale, 128, 768, 53);

/// a x b + c scaled back by 2^128, up when the quotient is large, down when it is small, rounded
/// once.
fn scaled_fma(a: f64, b: f64, c: f64) -> f64 {
    let sum = a.mul_add(b, c);
    if biased_exponent(c) > 1023 || !sum.is_finite() {
        return sum * power(128);
    }
    let result = sum * power(-128);
    // What the scaling dropped, in units of the sum; it matters only at half a unit of a denormal.
    let dropped = sum - result * power(128);
    let unit = (result.abs().next_up() - result.abs()) * power(128);
    if !result.is_finite() || dropped.abs() * 2.0 != unit {
        return result;
    }
    // What the sum itself dropped decides: the exact one is high + low + tail. All is small here;
    // scaled up, the product and its tail are exact, unless it is too small for more than its sign.
    let up = power(500);
    let (a, b) = match a.abs() < b.abs() {
        true => (a * up, b),
        false => (a, b * up),
    };
    let (c, sum) = (c * up, sum * up);
    let product = a * b;
    let tail = match product == 0.0 && a != 0.0 && b != 0.0 {
        true => f64::MIN_POSITIVE.copysign(product),
        false => a.mul_add(b, -product),
    };
    let high = product + c;
    let shadow = high - product;
    let low = (product - (high - shadow)) + (c - shadow);
    let rest = (high - sum) + low + tail;
    let even = result.to_bits() & 1 == 0;
    let away = match (rest == 0.0, (rest > 0.0) == (dropped > 0.0)) {
        (true, _) => !even,
        (false, same) => same,
    };
    // The tie went to even already; what lies past it goes on, what lies short of it goes back.
    match away {
        true if dropped > 0.0 => result.next_up(),
        true => result.next_down(),
        false => result,
    }
}

fn div_fixup(q: f64, denominator: f64, numerator: f64) -> u64 {
    let negative = (denominator.to_bits() ^ numerator.to_bits()) >> 63 == 1;
    let signed = |value: f64| if negative { -value } else { value }.to_bits();
    let distance = biased_exponent(numerator) - biased_exponent(denominator);
    if numerator.is_nan() {
        quiet(numerator.to_bits())
    } else if denominator.is_nan() {
        quiet(denominator.to_bits())
    } else if numerator == 0.0 && denominator == 0.0
        || numerator.is_infinite() && denominator.is_infinite()
    {
        0xfff8 << 48
    } else if denominator == 0.0 || numerator.is_infinite() || distance > 1024 {
        signed(f64::INFINITY)
    } else if denominator.is_infinite() || numerator == 0.0 || distance < -1075 {
        signed(0.0)
    } else {
        signed(q.abs())
    }
}

pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    const ONE: &[Type] = &[Type::F64];
    const TWO: &[Type] = &[Type::F64, Type::F64];
    const THREE: &[Type] = &[Type::F64, Type::F64, Type::F64];
    macro_rules! rows {
        ($($key:literal => $result:ident, $types:expr, |$a:ident, $b:ident, $c:ident| $body:expr;)*) => {
            match name {
                $($key => Row::wide(|s, _, out| {
                    for lane in 0..W {
                        let ($a, $b, $c) = (s[0][lane], s[1][lane], s[2][lane]);
                        out[lane] = $body;
                    }
                    0
                }, Type::$result, $types),)*
                _ => return None,
            }
        };
    }
    match name {
        "v_div_scale_f64" => {
            let body = |s: &[[u64; W]; 3], _: u64, out: &mut [u64; W]| {
                let mut flags = 0;
                for lane in 0..W {
                    let (value, flag) = div_scale(f(s[0][lane]), f(s[1][lane]), f(s[2][lane]));
                    out[lane] = value.to_bits();
                    flags |= u64::from(flag) << lane;
                }
                flags
            };
            return Some(Row::wide(body, Type::F64, THREE).shape(Shape::MaskOut));
        }
        "v_div_fmas_f64" => {
            let body = |s: &[[u64; W]; 3], mask: u64, out: &mut [u64; W]| {
                for lane in 0..W {
                    let [a, b, c] = [0, 1, 2].map(|at| f(s[at][lane]));
                    let value = match mask >> lane & 1 {
                        1 => scaled_fma(a, b, c),
                        _ => a.mul_add(b, c),
                    };
                    out[lane] = value.to_bits();
                }
                0
            };
            return Some(Row::wide(body, Type::F64, THREE).shape(Shape::MaskIn));
        }
        "v_fmac_f64" => {
            let body = |s: &[[u64; W]; 3], _: u64, out: &mut [u64; W]| {
                for lane in 0..W {
                    let [a, b, c] = [0, 1, 2].map(|at| f(s[at][lane]));
                    out[lane] = a.mul_add(b, c).to_bits();
                }
                0
            };
            return Some(Row::wide(body, Type::F64, THREE).accumulate());
        }
        _ => {}
    }
    Some(rows!(
        "v_max_f64" => F64, TWO, |a, b, _c| extreme(a, b, true);
        "v_min_f64" => F64, TWO, |a, b, _c| extreme(a, b, false);
        "v_max_num_f64" => F64, TWO, |a, b, _c| number_of(a, b, true);
        "v_min_num_f64" => F64, TWO, |a, b, _c| number_of(a, b, false);
        "v_maximum_f64" => F64, TWO, |a, b, _c| value_of(a, b, true);
        "v_minimum_f64" => F64, TWO, |a, b, _c| value_of(a, b, false);
        "v_ceil_f64" => F64, ONE, |a, _b, _c| passed(f(a).ceil());
        // Kept below 1 where the difference rounds up to it.
        "v_fract_f64" => F64, ONE, |a, _b, _c| {
            let part = f(a) - f(a).floor();
            passed(if part >= 1.0 { 1.0_f64.next_down() } else { part })
        };
        "v_frexp_mant_f64" => F64, ONE, |a, _b, _c| passed(frexp(f(a)).0);
        "v_frexp_exp_i32_f64" => B32, ONE, |a, _b, _c| u64::from(frexp(f(a)).1 as u32);
        "v_trig_preop_f64" => F64, &[Type::F64, Type::B32], |a, b, _c| {
            trig_preop(a, b as u32).to_bits()
        };
        "v_ldexp_f64" => F64, &[Type::F64, Type::B32], |a, b, _c| {
            passed(scale(f(a), b as u32 as i32))
        };
        "v_div_fixup_f64" => F64, THREE, |a, b, c| div_fixup(f(a), f(b), f(c));
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_rounds_once() {
        let tiny = f64::MIN_POSITIVE;
        assert_eq!(scale(1.5, -1074), 2.0 * 5e-324);
        assert_eq!(scale(1.0, -1075), 0.0);
        assert_eq!(scale(1.0 + f64::EPSILON, -1075), 5e-324);
        assert_eq!(scale(5e-324, 1074), 1.0);
        assert_eq!(scale(-1.0, 1024), f64::NEG_INFINITY);
        assert_eq!(scale(1.5, i32::MIN), 0.0);
        assert_eq!(frexp(tiny / 4.0), (0.5, -1023));
        // Half a unit of a denormal and a little more or less, which the sum itself drops.
        let (one, half) = (power(128 - 1074), power(128 - 1075));
        assert_eq!(scaled_fma(one, 1.0, half), 2.0 * 5e-324);
        assert_eq!(scaled_fma(2.0, one, half), 2.0 * 5e-324);
        let (a, b) = (power(-500), power(-600));
        assert_eq!(scaled_fma(a, b, 2.0 * one + half), 3.0 * 5e-324);
        assert_eq!(scaled_fma(a, -b, 3.0 * one + half), 3.0 * 5e-324);
    }
}
