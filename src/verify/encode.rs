//! Matrix elements as bytes.

use float8::{F8E4M3, F8E5M2};
use half::{bf16, f16};
use tilefold_dialect::element::ElementType;

/// The value rounded to the element type, ties to even, as little-endian bytes appended to
/// `bytes`. The types are those that kernels take: fp8 and bf8 (OCP), f16, bf16 and f32.
pub fn encode(element: ElementType, value: f64, bytes: &mut Vec<u8>) {
    match element {
        ElementType::F16 => bytes.extend(f16::from_f64(value).to_le_bytes()),
        ElementType::Bf16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
        ElementType::Fp8 => bytes.push(F8E4M3::from_f64(value).to_bits()),
        ElementType::Bf8 => bytes.push(F8E5M2::from_f64(value).to_bits()),
        _ => bytes.extend((value as f32).to_le_bytes()),
    }
}

/// The value of one element from its bytes.
pub fn decode(element: ElementType, bytes: &[u8]) -> f64 {
    match (element, bytes) {
        (ElementType::F16, &[a, b]) => f16::from_le_bytes([a, b]).to_f64(),
        (ElementType::Bf16, &[a, b]) => bf16::from_le_bytes([a, b]).to_f64(),
        (ElementType::Fp8, &[a]) => F8E4M3::from_bits(a).to_f64(),
        (ElementType::Bf8, &[a]) => F8E5M2::from_bits(a).to_f64(),
        (_, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::NAN,
    }
}

/// Significant bits of a float type, the hidden one included.
pub fn precision(element: ElementType) -> i32 {
    match element {
        ElementType::F16 => 11,
        ElementType::Bf16 => 8,
        _ => 24,
    }
}

/// Half a unit in the last place of `value` in the element type: the largest error of one
/// rounding. Subnormal numbers have the spacing of the smallest normal ones.
pub fn half_unit(element: ElementType, value: f64) -> f64 {
    let smallest = match element {
        ElementType::F16 => -14,
        _ => -126,
    };
    let exponent = if value == 0.0 {
        smallest
    } else {
        value.abs().log2().floor() as i32
    };
    2.0_f64.powi(exponent.max(smallest) - precision(element))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        for element in [
            ElementType::Fp8,
            ElementType::Bf8,
            ElementType::F16,
            ElementType::Bf16,
            ElementType::F32,
        ] {
            for value in [0.0, 1.0, -2.5, 0.125] {
                let mut bytes = Vec::new();
                encode(element, value, &mut bytes);
                assert_eq!(bytes.len() as u32 * 8, element.bits());
                assert_eq!(decode(element, &bytes), value);
            }
        }
    }

    #[test]
    fn half_units_are_what_a_step_rounds() {
        assert_eq!(half_unit(ElementType::F16, 1.0), 2.0_f64.powi(-11));
        assert_eq!(half_unit(ElementType::F16, 2048.0), 1.0);
        assert_eq!(half_unit(ElementType::Bf16, 256.0), 1.0);
        assert_eq!(half_unit(ElementType::F16, 0.0), 2.0_f64.powi(-25));
        assert_eq!(half_unit(ElementType::F32, 1.5), 2.0_f64.powi(-24));
    }
}
