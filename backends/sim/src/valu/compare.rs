//! Comparisons: one bit a lane, to a scalar register or, as `v_cmpx`, to EXEC.

use super::float::{class_f16, class_f32, class_f64, from_f16};
use super::{Row, Shape, Sources, Type};
use crate::simd::vectorized;

vectorized! {
    fn mask[const W: usize, F: Fn(u32, u32) -> bool](s: &Sources<'_, W>, f: F) -> u64 {
        let mut bits = 0;
        for lane in 0..W {
            bits |= u64::from(f(s[0][lane], s[1][lane])) << lane;
        }
        bits
    }
}

#[inline(always)]
fn mask_wide<const W: usize>(s: &[[u64; W]; 3], f: impl Fn(u64, u64) -> bool) -> u64 {
    let mut bits = 0;
    for lane in 0..W {
        bits |= u64::from(f(s[0][lane], s[1][lane])) << lane;
    }
    bits
}

/// The row of a relation on values that `$get` makes of the sources' bits.
macro_rules! relations {
    ($new:ident, $mask:ident, $get:expr, $ty:expr, $types:expr, $relation:expr) => {{
        // A NaN is unordered: it fails each of the six, so the negated names pass.
        let get = $get;
        let _ = &get;
        match $relation {
            "f" => Row::$new(|_, _, _| 0, $ty, $types),
            "t" | "tru" => Row::$new(|_, _, _| u64::MAX, $ty, $types),
            "lt" => Row::$new(|s, _, _| $mask(s, |a, b| $get(a) < $get(b)), $ty, $types),
            "eq" => Row::$new(|s, _, _| $mask(s, |a, b| $get(a) == $get(b)), $ty, $types),
            "le" => Row::$new(|s, _, _| $mask(s, |a, b| $get(a) <= $get(b)), $ty, $types),
            "gt" => Row::$new(|s, _, _| $mask(s, |a, b| $get(a) > $get(b)), $ty, $types),
            "ge" => Row::$new(|s, _, _| $mask(s, |a, b| $get(a) >= $get(b)), $ty, $types),
            "ne" | "neq" => Row::$new(|s, _, _| $mask(s, |a, b| $get(a) != $get(b)), $ty, $types),
            "lg" => Row::$new(
                |s, _, _| $mask(s, |a, b| $get(a) < $get(b) || $get(a) > $get(b)),
                $ty,
                $types,
            ),
            "o" => Row::$new(
                |s, _, _| $mask(s, |a, b| $get(a) == $get(a) && $get(b) == $get(b)),
                $ty,
                $types,
            ),
            "u" => Row::$new(
                |s, _, _| $mask(s, |a, b| $get(a) != $get(a) || $get(b) != $get(b)),
                $ty,
                $types,
            ),
            "nge" => Row::$new(
                |s, _, _| $mask(s, |a, b| !($get(a) >= $get(b))),
                $ty,
                $types,
            ),
            "ngt" => Row::$new(|s, _, _| $mask(s, |a, b| !($get(a) > $get(b))), $ty, $types),
            "nle" => Row::$new(
                |s, _, _| $mask(s, |a, b| !($get(a) <= $get(b))),
                $ty,
                $types,
            ),
            "nlt" => Row::$new(|s, _, _| $mask(s, |a, b| !($get(a) < $get(b))), $ty, $types),
            "nlg" => Row::$new(
                |s, _, _| $mask(s, |a, b| !($get(a) < $get(b) || $get(a) > $get(b))),
                $ty,
                $types,
            ),
            _ => return None,
        }
    }};
}

// The negations are not the opposite relations: NaNs pass them. For integers `a == a` is idle.
#[allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::eq_op,
    clippy::nonminimal_bool
)]
pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    let (rest, shape) = match name.strip_prefix("v_cmpx_") {
        Some(rest) => (rest, Shape::CompareExec),
        None => (name.strip_prefix("v_cmp_")?, Shape::Compare),
    };
    let (relation, ty) = rest.split_once('_')?;
    if relation == "class" {
        return class(ty).map(|row| row.shape(shape));
    }
    const F32: &[Type] = &[Type::F32, Type::F32];
    const F16: &[Type] = &[Type::F16, Type::F16];
    const F64: &[Type] = &[Type::F64, Type::F64];
    const B32: &[Type] = &[Type::B32, Type::B32];
    const B16: &[Type] = &[Type::B16, Type::B16];
    const B64: &[Type] = &[Type::B64, Type::B64];
    let row = match ty {
        "f32" => relations!(narrow, mask, f32::from_bits, Type::B32, F32, relation),
        "f16" => relations!(narrow, mask, from_f16, Type::B32, F16, relation),
        "f64" => relations!(wide, mask_wide, f64::from_bits, Type::B32, F64, relation),
        "i32" => relations!(narrow, mask, |x: u32| x as i32, Type::B32, B32, relation),
        "u32" => relations!(narrow, mask, |x: u32| x, Type::B32, B32, relation),
        "i16" => relations!(
            narrow,
            mask,
            |x: u32| x as u16 as i16,
            Type::B32,
            B16,
            relation
        ),
        "u16" => relations!(narrow, mask, |x: u32| x as u16, Type::B32, B16, relation),
        "i64" => relations!(wide, mask_wide, |x: u64| x as i64, Type::B32, B64, relation),
        "u64" => relations!(wide, mask_wide, |x: u64| x, Type::B32, B64, relation),
        _ => return None,
    };
    Some(row.shape(shape))
}

/// Classes of floats. Denormals are told from zeros in any mode: LLVM's `V_CMP_CLASS_*` do not read
/// `MODE`, as other comparisons of floats do.
fn class<const W: usize>(ty: &str) -> Option<Row<W>> {
    let row = match ty {
        "f32" => Row::narrow(
            |s, _, _| mask(s, |a, b| class_f32(a) & b != 0),
            Type::B32,
            &[Type::F32, Type::B32],
        ),
        "f16" => Row::narrow(
            |s, _, _| mask(s, |a, b| class_f16(a) & b != 0),
            Type::B32,
            &[Type::F16, Type::B16],
        ),
        "f64" => Row::wide(
            |s, _, _| mask_wide(s, |a, b| class_f64(a) & b as u32 != 0),
            Type::B32,
            &[Type::F64, Type::B32],
        ),
        _ => return None,
    };
    Some(Row { keeps: true, ..row })
}
