//! Element formats of CDNA's matrix instructions, decoded from register bits.
//!
//! The encodings are those of the OCP microscaling and 8-bit floating-point specifications, which
//! gfx950 follows (AMD CDNA 4 ISA, "Matrix arithmetic instructions"): a sign, then an exponent with
//! a bias, then a mantissa; exponent zero means a denormal. Only the 8-bit formats have a NaN, only
//! E5M2 an infinity.

use crate::valu::float::{from_bf16, from_f16};

/// Element types of A and B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    F64,
    F32,
    F16,
    Bf16,
    /// E4M3.
    Fp8,
    /// E5M2.
    Bf8,
    /// E2M3.
    Fp6,
    /// E3M2.
    Bf6,
    /// E2M1.
    Fp4,
    Int8,
}

impl Format {
    pub(crate) fn bits(self) -> usize {
        match self {
            Format::F64 => 64,
            Format::F32 => 32,
            Format::F16 | Format::Bf16 => 16,
            Format::Fp8 | Format::Bf8 | Format::Int8 => 8,
            Format::Fp6 | Format::Bf6 => 6,
            Format::Fp4 => 4,
        }
    }

    /// The value of an element of at most 32 bits, in the low bits of a word.
    pub(crate) fn decode(self, word: u32) -> f64 {
        f64::from(match self {
            Format::F32 | Format::F64 => f32::from_bits(word),
            Format::F16 => f16(word),
            Format::Bf16 => bf16(word),
            Format::Fp8 => fp8(word),
            Format::Bf8 => bf8(word),
            Format::Fp6 => fp6(word),
            Format::Bf6 => bf6(word),
            Format::Fp4 => fp4(word),
            Format::Int8 => f32::from(word as u8 as i8),
        })
    }

    /// The format that `cbsz` (for A) or `blgp` (for B) names in an F8F6F4 instruction.
    pub(crate) fn of_f8f6f4(code: i64) -> Option<Format> {
        Some(match code {
            0 => Format::Fp8,
            1 => Format::Bf8,
            2 => Format::Fp6,
            3 => Format::Bf6,
            4 => Format::Fp4,
            _ => return None,
        })
    }
}

/// A small float without NaN and infinity from the low bits of a word, branchless so that loops
/// vectorise, and without denormals of the host, which are slow.
#[inline(always)]
pub(crate) fn finite(word: u32, exponent_bits: u32, mantissa_bits: u32) -> f32 {
    let magnitude = word & ((1 << (exponent_bits + mantissa_bits)) - 1);
    let sign = word << (31 - exponent_bits - mantissa_bits) & 0x8000_0000;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let normal = (magnitude << (23 - mantissa_bits)).wrapping_add((127 - bias) << 23);
    // Units of the last place of the smallest exponent.
    let unit = f32::from_bits((128 - bias - mantissa_bits) << 23);
    let denormal = (magnitude as i32 as f32 * unit).to_bits();
    let bits = if magnitude < 1 << mantissa_bits {
        denormal
    } else {
        normal
    };
    f32::from_bits(bits | sign)
}

/// An E4M3 byte in the low bits of a word: all ones are NaN, there is no infinity.
#[inline(always)]
pub(crate) fn fp8(word: u32) -> f32 {
    let nan = f32::from_bits(0x7fc0_0000 | (word & 0x80) << 24);
    if word & 0x7f == 0x7f {
        nan
    } else {
        finite(word, 4, 3)
    }
}

/// An E5M2 byte: the largest exponent is infinity or NaN.
#[inline(always)]
pub(crate) fn bf8(word: u32) -> f32 {
    let magnitude = word & 0x7f;
    // Infinity, and the quiet bit of a NaN.
    let nan = if magnitude > 0x7c { 0x40_0000 } else { 0 };
    let special = f32::from_bits(0x7f80_0000 | nan | (word & 0x80) << 24);
    if magnitude >= 0x7c {
        special
    } else {
        finite(word, 5, 2)
    }
}

/// An E2M3 value.
#[inline(always)]
pub(crate) fn fp6(word: u32) -> f32 {
    finite(word, 2, 3)
}

/// An E3M2 value.
#[inline(always)]
pub(crate) fn bf6(word: u32) -> f32 {
    finite(word, 3, 2)
}

/// An E2M1 value.
#[inline(always)]
pub(crate) fn fp4(word: u32) -> f32 {
    finite(word, 2, 1)
}

/// An f16 in the low half of a word.
#[inline(always)]
pub(crate) fn f16(word: u32) -> f32 {
    from_f16(word & 0xffff)
}

/// A bf16 in the low half of a word.
#[inline(always)]
pub(crate) fn bf16(word: u32) -> f32 {
    from_bf16(word & 0xffff)
}

/// An E8M0 scale: a power of two; all ones are NaN.
#[inline(always)]
pub(crate) fn e8m0(byte: u32) -> f64 {
    if byte == 0xff {
        f64::NAN
    } else {
        f64::from_bits(u64::from(1023 - 127 + byte) << 52)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valu::float::{from_bf8, from_fp8};

    #[test]
    fn bytes_are_those_of_the_other_decoder() {
        for byte in 0..=u8::MAX {
            // What lies above the byte does not matter.
            let word = 0xabcd_ef00 | u32::from(byte);
            for (got, expected) in [(fp8(word), from_fp8(byte)), (bf8(word), from_bf8(byte))] {
                assert_eq!(
                    got.to_bits(),
                    expected.to_bits(),
                    "{byte:#x}: {got} {expected}"
                );
            }
        }
    }

    #[test]
    fn small_formats_by_their_tables() {
        // OCP microscaling formats, version 1.0, section 5.3.
        let fp4_table = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        for (code, value) in fp4_table.into_iter().enumerate() {
            assert_eq!(fp4(code as u32), value);
            assert_eq!(fp4(code as u32 | 8).to_bits(), (-value).to_bits());
        }
        let fp6_table = [
            0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.375, 1.5, 1.625,
            1.75, 1.875, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5,
            7.0, 7.5,
        ];
        let bf6_table = [
            0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625, 0.75, 0.875, 1.0,
            1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 14.0, 16.0,
            20.0, 24.0, 28.0,
        ];
        for code in 0..32 {
            assert_eq!(fp6(code), fp6_table[code as usize]);
            assert_eq!(bf6(code), bf6_table[code as usize]);
            assert_eq!(fp6(code | 32), -fp6(code));
            assert_eq!(bf6(code | 32), -bf6(code));
        }
        assert_eq!(e8m0(127), 1.0);
        assert_eq!(e8m0(0), 2_f64.powi(-127));
        assert_eq!(e8m0(254), 2_f64.powi(127));
        assert!(e8m0(255).is_nan());
    }
}
