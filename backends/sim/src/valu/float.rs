//! Floating-point helpers that keep AMD's rules: which NaN results, where halves round.

/// The NaN that an operation on numbers yields.
const NAN: u32 = 0x7fc0_0000;

/// f16 bits (in the low half) to f32, exact; written without branches so that loops vectorise.
#[inline(always)]
pub(crate) fn from_f16(half: u32) -> f32 {
    let magnitude = half & 0x7fff;
    // Shifted into place the exponent is 112 too small; the product also normalises denormals.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
    let special = magnitude << 13 | 0x7f80_0000;
    let bits = if magnitude >= 0x7c00 {
        special
    } else {
        scaled.to_bits()
    };
    f32::from_bits(bits | (half & 0x8000) << 16)
}

/// f32 to f16 bits, to nearest even; NaNs become quiet.
#[inline(always)]
pub(crate) fn to_f16(value: f32) -> u32 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let rounded =
        (magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1)) >> 13).wrapping_sub(112 << 10);
    // Added to 0.5, whose unit in the last place is f16's smallest denormal, it is rounded to it.
    let denormal = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0x3f00_0000);
    let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    let half = if magnitude > 0x7f80_0000 {
        nan
    } else if magnitude >= 0x477f_f000 {
        0x7c00
    } else if magnitude < 0x3880_0000 {
        denormal
    } else {
        rounded
    };
    half | bits >> 16 & 0x8000
}

/// f32 to f16 bits, towards zero.
#[inline(always)]
pub(crate) fn to_f16_toward_zero(value: f32) -> u32 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00 | (magnitude >> 13 & 0x3ff)
    } else if magnitude == 0x7f80_0000 {
        0x7c00
    } else if magnitude >= 0x4780_0000 {
        0x7bff
    } else if magnitude < 0x3880_0000 {
        // In units of 2^-24; the product is exact.
        (f32::from_bits(magnitude) * 16_777_216.0) as u32
    } else {
        (magnitude >> 13) - (112 << 10)
    };
    half | bits >> 16 & 0x8000
}

/// bf16 bits to f32, exact.
#[inline(always)]
pub(crate) fn from_bf16(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// f32 to bf16 bits, to nearest even; NaNs become quiet.
#[inline(always)]
pub(crate) fn to_bf16(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        return bits >> 16 | 0x40;
    }
    bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16
}

/// f64 to f32 such that a further rounding to a shorter format is as if from the f64: inexact
/// values get an odd last bit.
#[inline(always)]
pub(crate) fn to_f32_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    if back == value || bits & 1 == 1 || !near.is_finite() || value.is_nan() {
        return match near.is_infinite() && value.is_finite() {
            true => f32::MAX.copysign(near),
            false => near,
        };
    }
    // The value lies beyond or before the even neighbour; one step towards it is odd.
    let outward = value.abs() > back.abs();
    f32::from_bits(if outward {
        bits + 1
    } else {
        bits.wrapping_sub(1)
    })
}

/// The sum of two numbers with an odd last bit where it is not exact, so that a further rounding
/// to a shorter format is as if from the exact sum.
#[inline(always)]
pub(crate) fn sum_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // What the rounding lost, by Knuth's two-sum.
    let shadow = sum - a;
    let error = (a - (sum - shadow)) + (b - shadow);
    let bits = sum.to_bits();
    if error != 0.0 && error.is_finite() && bits & 1 == 0 {
        let outward = (error > 0.0) == (sum > 0.0);
        f64::from_bits(if outward { bits + 1 } else { bits - 1 })
    } else {
        sum
    }
}

/// a x b + c of f16 values, rounded once.
#[inline(always)]
pub(crate) fn fma_f16(a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (from_f16(a), from_f16(b), from_f16(c));
    let sum = sum_odd(f64::from(a) * f64::from(b), f64::from(c));
    let result = to_f16(to_f32_odd(sum));
    pick_nan(result, 0x7c00, &[a.to_bits(), b.to_bits(), c.to_bits()])
}

/// Replaces the host's choice of a NaN in an f16 result.
fn pick_nan(result: u32, infinity: u32, sources: &[u32]) -> u32 {
    if result & 0x7fff <= infinity {
        return result;
    }
    match sources.iter().find(|bits| f32::from_bits(**bits).is_nan()) {
        Some(&bits) => to_f16(f32::from_bits(bits)),
        None => 0x7e00,
    }
}

/// The bits of an f32 result, with AMD's choice of NaN: the first NaN source made quiet, or the
/// positive quiet NaN.
#[inline(always)]
pub(crate) fn result2(value: f32, a: f32, b: f32) -> u32 {
    let nan = if a.is_nan() {
        a.to_bits() | 0x40_0000
    } else if b.is_nan() {
        b.to_bits() | 0x40_0000
    } else {
        NAN
    };
    if value.is_nan() { nan } else { value.to_bits() }
}

/// The same for three sources.
#[inline(always)]
pub(crate) fn result3(value: f32, a: f32, b: f32, c: f32) -> u32 {
    let nan = if a.is_nan() {
        a.to_bits() | 0x40_0000
    } else if b.is_nan() {
        b.to_bits() | 0x40_0000
    } else if c.is_nan() {
        c.to_bits() | 0x40_0000
    } else {
        NAN
    };
    if value.is_nan() { nan } else { value.to_bits() }
}

/// The larger number: a NaN loses, +0 beats -0.
#[inline(always)]
pub(crate) fn max(a: f32, b: f32) -> f32 {
    if a.is_nan() && b.is_nan() {
        return f32::from_bits(a.to_bits() | 0x40_0000);
    }
    if a.is_nan() {
        return b;
    }
    if b.is_nan() {
        return a;
    }
    if a == b {
        return f32::from_bits(a.to_bits() & b.to_bits());
    }
    if a > b { a } else { b }
}

/// The smaller number: a NaN loses, -0 beats +0.
#[inline(always)]
pub(crate) fn min(a: f32, b: f32) -> f32 {
    if a.is_nan() && b.is_nan() {
        return f32::from_bits(a.to_bits() | 0x40_0000);
    }
    if a.is_nan() {
        return b;
    }
    if b.is_nan() {
        return a;
    }
    if a == b {
        return f32::from_bits(a.to_bits() | b.to_bits());
    }
    if a < b { a } else { b }
}

/// A signalling NaN among the sources made quiet: what minima and maxima yield in IEEE mode, which
/// every compute kernel before RDNA 4 runs in; the `_num` operations of RDNA 4 know no such mode.
#[inline(always)]
fn signalling(a: f32, b: f32) -> Option<f32> {
    let quiet = |value: f32| value.to_bits() | 0x40_0000;
    let signals = |value: f32| value.is_nan() && quiet(value) != value.to_bits();
    let first = if signals(a) { a } else { b };
    signals(first).then(|| f32::from_bits(quiet(first)))
}

/// The larger number in IEEE mode.
#[inline(always)]
pub(crate) fn max_ieee(a: f32, b: f32) -> f32 {
    signalling(a, b).unwrap_or_else(|| max(a, b))
}

/// The smaller number in IEEE mode.
#[inline(always)]
pub(crate) fn min_ieee(a: f32, b: f32) -> f32 {
    signalling(a, b).unwrap_or_else(|| min(a, b))
}

/// The middle one of three by a maximum; with a NaN among them the smallest by a minimum. In AMD's
/// order of steps, which decides between zeros.
#[inline(always)]
pub(crate) fn med3(
    [a, b, c]: [f32; 3],
    max: impl Fn(f32, f32) -> f32,
    min: impl Fn(f32, f32) -> f32,
) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min(min(a, b), c);
    }
    let largest = max(max(a, b), c);
    if largest == a {
        max(b, c)
    } else if largest == b {
        max(a, c)
    } else {
        max(a, b)
    }
}

/// x - floor(x), kept below 1 where the difference rounds up to it; NaN of infinities and NaNs.
#[inline(always)]
pub(crate) fn fract(value: f32, below_one: f32) -> f32 {
    let part = value - value.floor();
    if part > below_one { below_one } else { part }
}

/// The larger value, NaN if one is.
#[inline(always)]
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::from_bits(result2(f32::NAN, a, b))
    } else {
        max(a, b)
    }
}

/// The smaller value, NaN if one is.
#[inline(always)]
pub(crate) fn minimum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::from_bits(result2(f32::NAN, a, b))
    } else {
        min(a, b)
    }
}

/// Clamps to [0, 1]; NaN becomes 0 where the mode says so.
pub(crate) fn clamp(value: f64, clamp_nan: bool) -> f64 {
    if value.is_nan() {
        return if clamp_nan { 0.0 } else { value };
    }
    // `max` would leave -0 standing.
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// Denormals to zero of the same sign, as the transcendental unit does to inputs and results.
#[inline(always)]
pub(crate) fn flush(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

/// The classes of `v_cmp_class_f32`, bit by bit: signalling and quiet NaN, then -infinity, negative
/// normal, denormal, zero and the positive ones in the opposite order.
pub(crate) fn class_f32(bits: u32) -> u32 {
    class(
        bits >> 31 == 1,
        bits >> 23 & 0xff,
        0xff,
        bits & 0x7f_ffff,
        0x40_0000,
    )
}

/// The same for f16.
pub(crate) fn class_f16(bits: u32) -> u32 {
    class(
        bits >> 15 & 1 == 1,
        bits >> 10 & 0x1f,
        0x1f,
        bits & 0x3ff,
        0x200,
    )
}

/// The same for f64, whose mantissa counts as a whole.
pub(crate) fn class_f64(bits: u64) -> u32 {
    let mantissa = bits & ((1 << 52) - 1);
    // Whether it is zero and its highest bit are all that matters.
    let folded = ((mantissa >> 51) as u32) << 1 | u32::from(mantissa << 13 != 0);
    class(
        bits >> 63 == 1,
        (bits >> 52 & 0x7ff) as u32,
        0x7ff,
        folded,
        2,
    )
}

fn class(negative: bool, exponent: u32, top: u32, mantissa: u32, quiet: u32) -> u32 {
    if exponent == top && mantissa != 0 {
        return if mantissa & quiet == 0 { 1 } else { 2 };
    }
    let distance = match (exponent, mantissa) {
        (e, _) if e == top => 0,
        (0, 0) => 3,
        (0, _) => 2,
        _ => 1,
    };
    if negative {
        4 << distance
    } else {
        0x200 >> distance
    }
}

/// Decodes an FP8 (E4M3) byte, OCP's: no infinities, NaN at 0x7f.
pub(crate) fn from_fp8(byte: u8) -> f32 {
    small(byte, 3, 7, |magnitude| magnitude == 0x7f, |_| false)
}

/// Decodes a BF8 (E5M2) byte, OCP's: infinities and NaNs as in IEEE formats.
pub(crate) fn from_bf8(byte: u8) -> f32 {
    small(
        byte,
        2,
        15,
        |magnitude| magnitude > 0x7c,
        |magnitude| magnitude == 0x7c,
    )
}

fn small(
    byte: u8,
    mantissa_bits: i32,
    bias: i32,
    nan: impl Fn(u8) -> bool,
    infinite: impl Fn(u8) -> bool,
) -> f32 {
    let magnitude = byte & 0x7f;
    let sign = if byte & 0x80 == 0 { 1.0 } else { -1.0 };
    if nan(magnitude) {
        return f32::from_bits(NAN | u32::from(byte & 0x80) << 24);
    }
    if infinite(magnitude) {
        return sign * f32::INFINITY;
    }
    let exponent = i32::from(magnitude >> mantissa_bits);
    let mantissa = f32::from(magnitude & ((1 << mantissa_bits) - 1));
    let one = f32::from(1_u8 << mantissa_bits);
    // A denormal lacks the leading one and has the exponent of the smallest normal.
    let (significand, exponent) = match exponent {
        0 => (mantissa / one, 1 - bias),
        _ => (1.0 + mantissa / one, exponent - bias),
    };
    sign * significand * 2_f32.powi(exponent)
}

/// Rounds to FP8 to nearest even. Beyond the largest value the result is NaN, or that value where
/// `saturate` (the FP16_OVFL mode) is on.
pub(crate) fn to_fp8(value: f32, saturate: bool) -> u8 {
    encode_small(value, 3, 7, 0x7e, if saturate { 0x7e } else { 0x7f })
}

/// Rounds to BF8 to nearest even; beyond the largest value infinity, or that value when saturating.
pub(crate) fn to_bf8(value: f32, saturate: bool) -> u8 {
    encode_small(value, 2, 15, 0x7b, if saturate { 0x7b } else { 0x7c })
}

fn encode_small(value: f32, mantissa_bits: i32, bias: i32, largest: u8, beyond: u8) -> u8 {
    let sign = (value.to_bits() >> 24 & 0x80) as u8;
    if value.is_nan() {
        return sign | 0x7f;
    }
    let magnitude = f64::from(value.abs());
    if magnitude == 0.0 {
        return sign;
    }
    if magnitude.is_infinite() {
        return sign | beyond;
    }
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    // In units of the last place at that exponent; rounding up may carry into the exponent, which
    // the encoding's order makes the right thing.
    let units = (magnitude * 2_f64.powi(mantissa_bits - exponent)).round_ties_even() as i32;
    let code = ((exponent + bias - 1) << mantissa_bits) + units;
    sign | u8::try_from(code)
        .ok()
        .filter(|&code| code <= largest)
        .unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_agree_with_another_implementation() {
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits);
            let got = from_f16(u32::from(bits));
            assert!(
                got == expected.to_f32() || got.is_nan() && expected.is_nan(),
                "{bits:#x}"
            );
        }
        // Every f16 neighbourhood: the midpoints, and one unit beside them.
        for bits in 0..0x7c00_u16 {
            let low = half::f16::from_bits(bits).to_f32();
            let high = if bits == 0x7bff {
                65536.0
            } else {
                half::f16::from_bits(bits + 1).to_f32()
            };
            let middle = (low + high) / 2.0;
            for value in [low, middle, middle.next_up(), middle.next_down(), -middle] {
                let expected = half::f16::from_f32(value).to_bits();
                assert_eq!(to_f16(value), u32::from(expected), "{value}");
                let zero = to_f16_toward_zero(value.abs());
                let floor = if value.abs() >= high { bits + 1 } else { bits };
                assert_eq!(zero, u32::from(floor), "{value} towards zero");
            }
        }
    }

    #[test]
    fn small_floats_round_trip_and_round_to_even() {
        for byte in 0..=u8::MAX {
            let (fp8, bf8) = (from_fp8(byte), from_bf8(byte));
            assert!(fp8.is_nan() || to_fp8(fp8, false) == byte, "{byte:#x}");
            assert!(bf8.is_nan() || to_bf8(bf8, false) == byte, "{byte:#x}");
        }
        assert_eq!(from_fp8(0x7e), 448.0);
        assert_eq!(from_bf8(0x7b), 57344.0);
        // Halfway between 1.0 and 1.125: to even.
        assert_eq!(to_fp8(1.0625, false), 0x38);
        assert_eq!(to_fp8(500.0, false), 0x7f);
        assert_eq!(to_fp8(500.0, true), 0x7e);
        assert_eq!(to_bf8(65536.0, false), 0x7c);
    }

    #[test]
    fn f16_fma_rounds_once() {
        // 2^10 * (1 + 2^-10) + 2^-24 lies just above the middle of two halves' neighbours.
        let a = to_f16(1.0 + 2_f32.powi(-10));
        let b = to_f16(1.0 + 2_f32.powi(-10));
        let tiny = to_f16(2_f32.powi(-24));
        // a*b = 1 + 2^-9 + 2^-20: above 1 + 2^-9 by less than half a unit.
        assert_eq!(fma_f16(a, b, tiny), to_f16(1.0 + 2_f32.powi(-9)));
        // 2048 * 1 + 1 is halfway; the tiny product decides.
        let (one, big) = (to_f16(1.0), to_f16(2048.0));
        assert_eq!(fma_f16(one, one, big), to_f16(2048.0));
        let up = to_f16(1.0 + 2_f32.powi(-10));
        assert_eq!(fma_f16(up, one, big), to_f16(2050.0));
    }
}
