//! f16 operations. They go through f32, whose 24 bits are enough for a second rounding to be
//! harmless in a sum, a product, a quotient and a root; the fused ones round once by other means.

use super::float::{
    fma_f16, from_f16, max, maximum, med3, min, minimum, result2, to_f16, to_f32_odd,
};
use super::single::ldexp;
use super::{Row, Type, map2, map3, narrow};

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

#[inline(always)]
fn ternary(a: u32, b: u32, c: u32, operation: impl Fn(f32, f32, f32) -> f32) -> u32 {
    to_f16(operation(from_f16(a), from_f16(b), from_f16(c)))
}

fn canonical(name: &str) -> &str {
    match name {
        "v_max_num_f16" => "v_max_f16",
        "v_min_num_f16" => "v_min_f16",
        "v_max3_num_f16" => "v_max3_f16",
        "v_min3_num_f16" => "v_min3_f16",
        "v_med3_num_f16" => "v_med3_f16",
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
        "v_max_f16" => |a, b| to_f16(max(from_f16(a), from_f16(b)));
        "v_min_f16" => |a, b| to_f16(min(from_f16(a), from_f16(b)));
        "v_maximum_f16" => |a, b| to_f16(maximum(from_f16(a), from_f16(b)));
        "v_minimum_f16" => |a, b| to_f16(minimum(from_f16(a), from_f16(b)));
        "v_max3_f16" => |a, b, c| ternary(a, b, c, |a, b, c| max(max(a, b), c));
        "v_min3_f16" => |a, b, c| ternary(a, b, c, |a, b, c| min(min(a, b), c));
        "v_med3_f16" => |a, b, c| ternary(a, b, c, med3);
        "v_rndne_f16" => |a| unary(a, f32::round_ties_even);
        "v_floor_f16" => |a| unary(a, f32::floor);
        "v_ceil_f16" => |a| unary(a, f32::ceil);
        "v_trunc_f16" => |a| unary(a, f32::trunc);
        "v_rcp_f16" => |a| transcendental(a, |x| 1.0 / x);
        "v_rsq_f16" => |a| transcendental(a, |x| 1.0 / x.sqrt());
        "v_sqrt_f16" => |a| transcendental(a, f64::sqrt);
        "v_exp_f16" => |a| transcendental(a, f64::exp2);
        "v_log_f16" => |a| transcendental(a, f64::log2);
    ))
}
