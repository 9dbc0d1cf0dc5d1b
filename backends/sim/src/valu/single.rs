//! f32 operations.
//!
//! The transcendental ones are computed in f64 and rounded: AMD states an accuracy of one unit in
//! the last place and publishes no bits. They flush denormals, as LLVM's expansions assume.

use super::division::div_scale;
use super::float::{
    flush, fract, max, max_ieee, maximum, med3, min, min_ieee, minimum, result2, result3, sum_odd,
};
use super::{Row, Shape, Type, map3, narrow, turns};

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[inline(always)]
fn fma(a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (f(a), f(b), f(c));
    result3(a.mul_add(b, c), a, b, c)
}

fn one(value: f32, a: u32) -> u32 {
    result2(value, f(a), f(a))
}

fn transcendental(a: u32, function: impl Fn(f64) -> f64) -> u32 {
    one(flush(function(f64::from(flush(f(a)))) as f32), a)
}

/// A sine or cosine, whose NaN of infinities is negative in the guides' examples.
fn of_turns(a: u32, function: impl Fn(f64) -> f64) -> u32 {
    match f(a).is_infinite() {
        true => 0xffc0_0000,
        false => transcendental(a, function),
    }
}

/// a x b + c scaled back after `v_div_scale` scaled an operand: up when the quotient is large, down
/// when it is small, rounded once.
fn scaled_fma(a: f32, b: f32, c: f32) -> u32 {
    let sum = sum_odd(f64::from(a) * f64::from(b), f64::from(c));
    let exponent = if biased_exponent(c) > 127 { 64 } else { -64 };
    result3((sum * 2_f64.powi(exponent)) as f32, a, b, c)
}

/// Exponent as `v_frexp_exp` gives it: of a mantissa in [0.5, 1).
fn frexp_exp(a: u32) -> i32 {
    let value = f(a);
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    ((f64::from(value).to_bits() >> 52 & 0x7ff) as i32) - 1022
}

fn frexp_mant(a: u32) -> f32 {
    let value = f(a);
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let bits = f64::from(value).to_bits();
    f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52) as f32
}

pub(crate) fn ldexp(value: f32, exponent: i32) -> f32 {
    // One rounding: the product is exact in f64 unless far beyond f32 anyway.
    (f64::from(value) * 2_f64.powi(exponent.clamp(-400, 400))) as f32
}

fn biased_exponent(value: f32) -> i32 {
    (value.to_bits() >> 23 & 0xff) as i32
}

div_scale!(f32, ldexp, 64, 96, 23);

/// Puts the special cases of a division right: `q` is the quotient computed for ordinary values.
fn div_fixup(q: f32, denominator: f32, numerator: f32) -> f32 {
    let sign = if (denominator.to_bits() ^ numerator.to_bits()) >> 31 == 1 {
        -1.0
    } else {
        1.0
    };
    let quiet = |value: f32| f(value.to_bits() | 0x40_0000);
    if numerator.is_nan() {
        quiet(numerator)
    } else if denominator.is_nan() {
        quiet(denominator)
    } else if numerator == 0.0 && denominator == 0.0
        || numerator.is_infinite() && denominator.is_infinite()
    {
        f(0xffc0_0000)
    } else if denominator == 0.0 || numerator.is_infinite() {
        sign * f32::INFINITY
    } else if denominator.is_infinite()
        || numerator == 0.0
        || biased_exponent(numerator) - biased_exponent(denominator) < -150
    {
        sign * 0.0
    } else if biased_exponent(numerator) - biased_exponent(denominator) > 128 {
        // AMD's text tests the denominator for an exponent that only infinities and NaNs have; a
        // quotient past the largest number is what overflow must mean.
        sign * f32::INFINITY
    } else {
        q.abs().copysign(sign)
    }
}

/// a x b + c, where zero times anything is nothing added: Direct3D 9's rule.
fn fma_of_zeros(a: u32, b: u32, c: u32) -> u32 {
    match f(a) == 0.0 || f(b) == 0.0 {
        true => one(f(c), c),
        false => fma(a, b, c),
    }
}

/// Which of three coordinates is the cube's major one: z before y before x where they are equal.
fn major(x: f32, y: f32, z: f32) -> usize {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        2
    } else if y.abs() >= x.abs() {
        1
    } else {
        0
    }
}

/// The number of the cube's face, twice the major axis and one more where that is negative.
fn face([x, y, z]: [f32; 3]) -> f32 {
    let at = major(x, y, z);
    (2 * at + usize::from([x, y, z][at] < 0.0)) as f32
}

/// The coordinates on the face, as the guides' pseudo-code of `V_CUBESC_F32` and `V_CUBETC_F32` has
/// them.
fn on_face([x, y, z]: [f32; 3]) -> [f32; 2] {
    match major(x, y, z) {
        2 => [if z < 0.0 { -x } else { x }, -y],
        1 => [x, if y < 0.0 { -z } else { z }],
        _ => [if x < 0.0 { z } else { -z }, -y],
    }
}

/// The operation that a newer name means.
fn canonical(name: &str) -> &str {
    match name {
        "v_mul_dx9_zero_f32" => "v_mul_legacy_f32",
        "v_fmac_f32" | "v_fmaak_f32" | "v_fmamk_f32" => "v_fma_f32",
        "v_fmac_dx9_zero_f32" => "v_fma_dx9_zero_f32",
        other => other,
    }
}

pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    const THREE: &[Type] = &[Type::F32, Type::F32, Type::F32];
    let accumulates = ["v_fmac_f32", "v_fmac_dx9_zero_f32"].contains(&name);
    let name = canonical(name);
    match name {
        "v_div_scale_f32" => {
            let body = |s: &super::Sources<'_, W>, _: u64, out: &mut [u32; W]| {
                let mut flags = 0;
                for lane in 0..W {
                    let (value, flag) = div_scale(f(s[0][lane]), f(s[1][lane]), f(s[2][lane]));
                    out[lane] = value.to_bits();
                    flags |= u64::from(flag) << lane;
                }
                flags
            };
            return Some(Row::narrow(body, Type::F32, THREE).shape(Shape::MaskOut));
        }
        "v_div_fmas_f32" => {
            let body = |s: &super::Sources<'_, W>, mask: u64, out: &mut [u32; W]| {
                for lane in 0..W {
                    let [a, b, c] = [0, 1, 2].map(|at| s[at][lane]);
                    out[lane] = match mask >> lane & 1 {
                        1 => scaled_fma(f(a), f(b), f(c)),
                        _ => fma(a, b, c),
                    };
                }
                0
            };
            return Some(Row::narrow(body, Type::F32, THREE).shape(Shape::MaskIn));
        }
        "v_ldexp_f32" => {
            return Some(Row::narrow(
                |s, _, out| super::map2(s, out, |a, b| one(ldexp(f(a), b as i32), a)),
                Type::F32,
                &[Type::F32, Type::B32],
            ));
        }
        "v_frexp_exp_i32_f32" => {
            return Some(Row::narrow(
                |s, _, out| super::map1(s, out, |a| frexp_exp(a) as u32),
                Type::B32,
                &[Type::F32],
            ));
        }
        _ => {}
    }
    if name == "v_fma_f32" || name == "v_fma_dx9_zero_f32" {
        let row = match name {
            "v_fma_f32" => Row::narrow(|s, _, out| map3(s, out, fma), Type::F32, THREE),
            _ => Row::narrow(|s, _, out| map3(s, out, fma_of_zeros), Type::F32, THREE),
        };
        return Some(if accumulates { row.accumulate() } else { row });
    }
    Some(narrow!(name, F32, F32;
        "v_add_f32" => |a, b| result2(f(a) + f(b), f(a), f(b));
        "v_sub_f32" => |a, b| result2(f(a) - f(b), f(a), f(b));
        "v_subrev_f32" => |a, b| result2(f(b) - f(a), f(a), f(b));
        "v_mul_f32" => |a, b| result2(f(a) * f(b), f(a), f(b));
        "v_mul_legacy_f32" => |a, b| {
            if f(a) == 0.0 || f(b) == 0.0 { 0 } else { result2(f(a) * f(b), f(a), f(b)) }
        };
        "v_cubeid_f32" => |a, b, c| face([f(a), f(b), f(c)]).to_bits();
        "v_cubema_f32" => |a, b, c| {
            let all = [f(a), f(b), f(c)];
            let twice = 2.0 * all[major(f(a), f(b), f(c))];
            result2(twice, twice, twice)
        };
        "v_cubesc_f32" => |a, b, c| {
            let [value, _] = on_face([f(a), f(b), f(c)]);
            one(value, value.to_bits())
        };
        "v_cubetc_f32" => |a, b, c| {
            let [_, value] = on_face([f(a), f(b), f(c)]);
            one(value, value.to_bits())
        };
        "v_max_f32" => |a, b| max_ieee(f(a), f(b)).to_bits();
        "v_min_f32" => |a, b| min_ieee(f(a), f(b)).to_bits();
        "v_max_num_f32" => |a, b| max(f(a), f(b)).to_bits();
        "v_min_num_f32" => |a, b| min(f(a), f(b)).to_bits();
        "v_maximum_f32" => |a, b| maximum(f(a), f(b)).to_bits();
        "v_minimum_f32" => |a, b| minimum(f(a), f(b)).to_bits();
        "v_max3_f32" => |a, b, c| max_ieee(max_ieee(f(a), f(b)), f(c)).to_bits();
        "v_min3_f32" => |a, b, c| min_ieee(min_ieee(f(a), f(b)), f(c)).to_bits();
        "v_max3_num_f32" => |a, b, c| max(max(f(a), f(b)), f(c)).to_bits();
        "v_min3_num_f32" => |a, b, c| min(min(f(a), f(b)), f(c)).to_bits();
        "v_maximum3_f32" => |a, b, c| maximum(maximum(f(a), f(b)), f(c)).to_bits();
        "v_minimum3_f32" => |a, b, c| minimum(minimum(f(a), f(b)), f(c)).to_bits();
        "v_maximumminimum_f32" => |a, b, c| minimum(maximum(f(a), f(b)), f(c)).to_bits();
        "v_minimummaximum_f32" => |a, b, c| maximum(minimum(f(a), f(b)), f(c)).to_bits();
        "v_maxmin_f32" => |a, b, c| min_ieee(max_ieee(f(a), f(b)), f(c)).to_bits();
        "v_minmax_f32" => |a, b, c| max_ieee(min_ieee(f(a), f(b)), f(c)).to_bits();
        "v_maxmin_num_f32" => |a, b, c| min(max(f(a), f(b)), f(c)).to_bits();
        "v_minmax_num_f32" => |a, b, c| max(min(f(a), f(b)), f(c)).to_bits();
        "v_med3_f32" => |a, b, c| med3([f(a), f(b), f(c)], max_ieee, min_ieee).to_bits();
        "v_med3_num_f32" => |a, b, c| med3([f(a), f(b), f(c)], max, min).to_bits();
        "v_div_fixup_f32" => |a, b, c| div_fixup(f(a), f(b), f(c)).to_bits();
        "v_rndne_f32" => |a| one(f(a).round_ties_even(), a);
        "v_floor_f32" => |a| one(f(a).floor(), a);
        "v_ceil_f32" => |a| one(f(a).ceil(), a);
        "v_trunc_f32" => |a| one(f(a).trunc(), a);
        "v_fract_f32" => |a| one(fract(f(a), 1.0_f32.next_down()), a);
        "v_frexp_mant_f32" => |a| one(frexp_mant(a), a);
        "v_rcp_f32" | "v_rcp_iflag_f32" => |a| transcendental(a, |x| 1.0 / x);
        "v_rsq_f32" => |a| transcendental(a, |x| 1.0 / x.sqrt());
        "v_sqrt_f32" => |a| transcendental(a, f64::sqrt);
        "v_exp_f32" => |a| transcendental(a, f64::exp2);
        "v_log_f32" => |a| transcendental(a, f64::log2);
        "v_sin_f32" => |a| of_turns(a, turns::sin);
        "v_cos_f32" => |a| of_turns(a, turns::cos);
    ))
}
