//! The mode FP16_OVFL: results that overflow become the largest number of their format.
//!
//! Sources: AMD's RDNA 3 and 4 and CDNA 3 guides, the mode register: of f16 results of the vector
//! ALU; infinities of sources, and those of divisions by zero, stay. CDNA 4's guide, "CVT_*FP8_F32
//! and CVT*_BF8_F32 FP16_OVFL rule", has the same for bytes, where infinities do not stay.

use super::float::from_f16;
use super::{Sources, Type};

/// The largest f16, and infinity.
const LARGEST: u32 = 0x7bff;
const INFINITE: u32 = 0x7c00;

/// What results that can overflow are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    Half,
    /// One over a source: an infinity stays where that is zero.
    Reciprocal,
    /// Two f16, of the first and of the second source.
    Pair,
    Fp8,
    Bf8,
}

impl Overflow {
    /// That of an instruction.
    pub(super) fn of(name: &str, result: Type) -> Option<Overflow> {
        // An infinity of these is that of a source or of a division by zero.
        const KEEP: [&str; 3] = ["v_rsq_f16", "v_log_f16", "v_div_fixup_f16"];
        match (result, name) {
            (_, "v_rcp_f16") => Some(Overflow::Reciprocal),
            (_, "v_cvt_pk_fp8_f32") => Some(Overflow::Fp8),
            (_, "v_cvt_pk_bf8_f32") => Some(Overflow::Bf8),
            (Type::F16, _) if !KEEP.contains(&name) => Some(Overflow::Half),
            (Type::PairF16, _) => Some(Overflow::Pair),
            _ => None,
        }
    }

    /// Limits results of sources of these types.
    pub(super) fn limit<const W: usize>(
        self,
        results: &mut [u32; W],
        sources: &Sources<'_, W>,
        types: [Type; 3],
    ) {
        for (lane, result) in results.iter_mut().enumerate() {
            let source = |at: usize| sources[at][lane];
            *result = match self {
                Overflow::Half => {
                    let kept = (0..3).any(|at| infinite(source(at), types[at]));
                    half(*result, kept)
                }
                Overflow::Reciprocal => half(*result, from_f16(source(0) & 0xffff) == 0.0),
                Overflow::Pair => {
                    let kept = [0, 1].map(|at| infinite(source(at), types[at]));
                    half(*result & 0xffff, kept[0]) | half(*result >> 16, kept[1]) << 16
                }
                Overflow::Fp8 | Overflow::Bf8 => {
                    let byte = |at: usize| {
                        let code = *result >> (8 * at) & 0xff;
                        match f32::from_bits(source(at)).is_nan() {
                            true => code,
                            false => self.byte(code),
                        }
                    };
                    byte(0) | byte(1) << 8
                }
            };
        }
    }

    /// What a byte that is no NaN's becomes.
    fn byte(self, code: u32) -> u32 {
        match (self, code & 0x7f) {
            (Overflow::Fp8, 0x7f) => code - 1,
            (Overflow::Bf8, 0x7c) => code - 1,
            _ => code,
        }
    }
}

/// An f16 result, where an infinity is kept or not.
pub(crate) fn half(result: u32, kept: bool) -> u32 {
    match result & 0x7fff {
        INFINITE if !kept => result & !0x7fff | LARGEST,
        _ => result,
    }
}

/// Whether a source is infinite. Words that f16 results are made of are pairs of f16.
pub(super) fn infinite(bits: u32, ty: Type) -> bool {
    match ty {
        Type::F16 => from_f16(bits & 0xffff).is_infinite(),
        Type::F32 => f32::from_bits(bits).is_infinite(),
        Type::B32 => [bits, bits >> 16]
            .into_iter()
            .any(|half| half & 0x7fff == INFINITE),
        _ => false,
    }
}
