//! f16 operations. They go through f32, whose 24 bits are enough for a second rounding to be
//! harmless in a sum, a product, a quotient and a root; the fused ones round once by other means.

use super::float::{
    fma_f16, fract, from_f16, max, max_ieee, maximum, med3, min, min_ieee, minimum, result2,
    to_f16, to_f32_odd,
};
use super::single::ldexp;
use super::{Row, Type, map2, map3, narrow, turns};

#[inline(always)]
fn binary(a: u32, b: u32, operation: impl Fn(f32, f32) -> f32) -> u32 {
    let (a, b) = (from_f16(a), from_f16(b));
    to_f16(f32::from_bits(result2(operation(a, b), a, b)))
}

#[inline(always)]
fn unary(a: u32, operation: impl Fn(f32) -> f32) -> u32 {
    binary(a, a, |a, _| operation(a))
}

fn transcendental(a: u32, function: impl Fn(f64) -> f64) -> u32 {
    let a = from_f16(a);
    to_f16(f32::from_bits(result2(
        to_f32_odd(function(f64::from(a))),
        a,
        a,
    )))
}

/// A sine or cosine, whose NaN of infinities is negative in the guides' examples.
fn of_turns(a: u32, function: impl Fn(f64) -> f64) -> u32 {
    match a & 0x7fff {
        0x7c00 => 0xfe00,
        _ => transcendental(a, function),
    }
}

#[inline(always)]
fn ternary(a: u32, b: u32, c: u32, operation: impl Fn(f32, f32, f32) -> f32) -> u32 {
    to_f16(operation(from_f16(a), from_f16(b), from_f16(c)))
}

/// Mantissa in [0.5, 1) and its exponent; zero, infinities and NaN stay as they are.
fn frexp(a: u32) -> (u32, u32) {
    let value = from_f16(a);
    if value == 0.0 || !value.is_finite() {
        return (unary(a, |x| x), 0);
    }
    // Every f16 is a normal f32.
    let exponent = (value.to_bits() >> 23 & 0xff) as i32 - 126;
    (
        to_f16(value * 2_f32.powi(-exponent)),
        exponent as u16 as u32,
    )
}

/// Puts the special cases of a division right.
fn div_fixup(q: u32, denominator: u32, numerator: u32) -> u32 {
    let sign = (denominator ^ numerator) & 0x8000;
    let (d, n) = (from_f16(denominator), from_f16(numerator));
    if n.is_nan() {
        numerator & 0xffff | 0x200
    } else if d.is_nan() {
        denominator & 0xffff | 0x200
    } else if n == 0.0 && d == 0.0 || n.is_infinite() && d.is_infinite() {
        0xfe00
    } else if d == 0.0 || n.is_infinite() {
        sign | 0x7c00
    } else if d.is_infinite() || n == 0.0 {
        sign
    } else {
        q & 0x7fff | sign
    }
}

fn canonical(name: &str) -> &str {
    match name {
        "v_fmac_f16" | "v_fmaak_f16" | "v_fmamk_f16" => "v_fma_f16",
        other => other,
    }
}

pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    let accumulates = name == "v_fmac_f16";
    let name = canonical(name);
    match name {
        "v_ldexp_f16" => {
            return Some(Row::narrow(
                |s, _, out| {
                    map2(s, out, |a, b| {
                        unary(a, |x| ldexp(x, i32::from(b as u16 as i16)))
                    })
                },
                Type::F16,
                &[Type::F16, Type::B16],
            ));
        }
        "v_fma_f16" => {
            const THREE: &[Type] = &[Type::F16, Type::F16, Type::F16];
            let row = Row::narrow(|s, _, out| map3(s, out, fma_f16), Type::F16, THREE);
            return Some(if accumulates { row.accumulate() } else { row });
        }
        _ => {}
    }
    Some(narrow!(name, F16, F16;
        "v_add_f16" => |a, b| binary(a, b, |a, b| a + b);
        "v_sub_f16" => |a, b| binary(a, b, |a, b| a - b);
        "v_subrev_f16" => |a, b| binary(a, b, |a, b| b - a);
        "v_mul_f16" => |a, b| binary(a, b, |a, b| a * b);
        "v_max_f16" => |a, b| to_f16(max_ieee(from_f16(a), from_f16(b)));
        "v_max_num_f16" => |a, b| to_f16(max(from_f16(a), from_f16(b)));
        "v_min_f16" => |a, b| to_f16(min_ieee(from_f16(a), from_f16(b)));
        "v_min_num_f16" => |a, b| to_f16(min(from_f16(a), from_f16(b)));
        "v_maximum_f16" => |a, b| to_f16(maximum(from_f16(a), from_f16(b)));
        "v_minimum_f16" => |a, b| to_f16(minimum(from_f16(a), from_f16(b)));
        "v_max3_f16" => |a, b, c| ternary(a, b, c, |a, b, c| max_ieee(max_ieee(a, b), c));
        "v_max3_num_f16" => |a, b, c| ternary(a, b, c, |a, b, c| max(max(a, b), c));
        "v_min3_f16" => |a, b, c| ternary(a, b, c, |a, b, c| min_ieee(min_ieee(a, b), c));
        "v_min3_num_f16" => |a, b, c| ternary(a, b, c, |a, b, c| min(min(a, b), c));
        "v_maximum3_f16" => |a, b, c| ternary(a, b, c, |a, b, c| maximum(maximum(a, b), c));
        "v_minimum3_f16" => |a, b, c| ternary(a, b, c, |a, b, c| minimum(minimum(a, b), c));
        "v_div_fixup_f16" => |a, b, c| div_fixup(a, b, c);
        "v_fract_f16" => |a| unary(a, |x| fract(x, 1.0 - 2_f32.powi(-11)));
        "v_frexp_mant_f16" => |a| frexp(a).0;
        "v_frexp_exp_i16_f16" => |a| frexp(a).1;
        "v_med3_f16" => |a, b, c| {
            ternary(a, b, c, |a, b, c| med3([a, b, c], max_ieee, min_ieee))
        };
        "v_med3_num_f16" => |a, b, c| ternary(a, b, c, |a, b, c| med3([a, b, c], max, min));
        "v_rndne_f16" => |a| unary(a, f32::round_ties_even);
        "v_floor_f16" => |a| unary(a, f32::floor);
        "v_ceil_f16" => |a| unary(a, f32::ceil);
        "v_trunc_f16" => |a| unary(a, f32::trunc);
        "v_rcp_f16" => |a| transcendental(a, |x| 1.0 / x);
        "v_rsq_f16" => |a| transcendental(a, |x| 1.0 / x.sqrt());
        "v_sqrt_f16" => |a| transcendental(a, f64::sqrt);
        "v_exp_f16" => |a| transcendental(a, f64::exp2);
        "v_log_f16" => |a| transcendental(a, f64::log2);
        "v_sin_f16" => |a| of_turns(a, turns::sin);
        "v_cos_f16" => |a| of_turns(a, turns::cos);
        "v_maximumminimum_f16" => |a, b, c| {
            ternary(a, b, c, |a, b, c| minimum(maximum(a, b), c))
        };
        "v_minimummaximum_f16" => |a, b, c| {
            ternary(a, b, c, |a, b, c| maximum(minimum(a, b), c))
        };
        "v_maxmin_f16" => |a, b, c| ternary(a, b, c, |a, b, c| min_ieee(max_ieee(a, b), c));
        "v_minmax_f16" => |a, b, c| ternary(a, b, c, |a, b, c| max_ieee(min_ieee(a, b), c));
        "v_maxmin_num_f16" => |a, b, c| ternary(a, b, c, |a, b, c| min(max(a, b), c));
        "v_minmax_num_f16" => |a, b, c| ternary(a, b, c, |a, b, c| max(min(a, b), c));
    ))
}
