//! The dense matrix instructions of gfx950: shapes, element types and passes.
//!
//! Shapes are those that LLVM lists for gfx950; a pass is four cycles, and how many an instruction
//! takes is LLVM's scheduling model (SISchedule, the model of gfx950), except that F8F6F4
//! instructions take twice as many when an operand has 8-bit elements, which AMD's peak rates tell.

use super::format::Format;

/// Types of C and D.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accumulator {
    F32,
    F64,
    I32,
}

/// What may be said about the lanes that A and B come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// Nothing.
    Fixed,
    /// `blgp` names a pattern of lanes of B.
    Pattern,
    /// The same, and `cbsz` and `abid` spread one block of A over others.
    Blocks,
}

/// One instruction without its `v_mfma_`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) accumulator: Accumulator,
    /// Rows of A and columns of B of one block.
    pub(crate) dim: usize,
    pub(crate) k: usize,
    /// Independent products.
    pub(crate) blocks: usize,
    /// Formats of A and B; none where modifiers name them.
    pub(crate) formats: Option<[Format; 2]>,
    passes: u32,
    pub(crate) lanes: Lanes,
}

impl Shape {
    /// The shape of a mnemonic without its `v_mfma_` or `v_mfma_scale_`.
    pub(crate) fn find(name: &str) -> Option<Shape> {
        use Accumulator::{F32, F64, I32};
        use Format::{Bf8, Bf16, F16, Fp8, Int8};
        use Lanes::{Blocks, Fixed, Pattern};
        let row = |accumulator, [dim, k, blocks]: [usize; 3], formats, passes, lanes| Shape {
            accumulator,
            dim,
            k,
            blocks,
            formats,
            passes,
            lanes,
        };
        let same = |format| Some([format, format]);
        Some(match name {
            "f32_32x32x1_2b_f32" => row(F32, [32, 1, 2], same(Format::F32), 16, Blocks),
            "f32_16x16x1_4b_f32" => row(F32, [16, 1, 4], same(Format::F32), 8, Blocks),
            "f32_4x4x1_16b_f32" => row(F32, [4, 1, 16], same(Format::F32), 2, Blocks),
            "f32_32x32x2_f32" => row(F32, [32, 2, 1], same(Format::F32), 16, Pattern),
            "f32_16x16x4_f32" => row(F32, [16, 4, 1], same(Format::F32), 8, Pattern),
            "f32_32x32x4_2b_f16" => row(F32, [32, 4, 2], same(F16), 16, Blocks),
            "f32_16x16x4_4b_f16" => row(F32, [16, 4, 4], same(F16), 8, Blocks),
            "f32_4x4x4_16b_f16" => row(F32, [4, 4, 16], same(F16), 2, Blocks),
            "f32_32x32x8_f16" => row(F32, [32, 8, 1], same(F16), 8, Fixed),
            "f32_16x16x16_f16" => row(F32, [16, 16, 1], same(F16), 4, Fixed),
            "f32_32x32x16_f16" => row(F32, [32, 16, 1], same(F16), 8, Fixed),
            "f32_16x16x32_f16" => row(F32, [16, 32, 1], same(F16), 4, Fixed),
            "f32_32x32x4_2b_bf16" => row(F32, [32, 4, 2], same(Bf16), 16, Blocks),
            "f32_16x16x4_4b_bf16" => row(F32, [16, 4, 4], same(Bf16), 8, Blocks),
            "f32_4x4x4_16b_bf16" => row(F32, [4, 4, 16], same(Bf16), 2, Blocks),
            "f32_32x32x8_bf16" => row(F32, [32, 8, 1], same(Bf16), 8, Fixed),
            "f32_16x16x16_bf16" => row(F32, [16, 16, 1], same(Bf16), 4, Fixed),
            "f32_32x32x16_bf16" => row(F32, [32, 16, 1], same(Bf16), 8, Fixed),
            "f32_16x16x32_bf16" => row(F32, [16, 32, 1], same(Bf16), 4, Fixed),
            "i32_32x32x4_2b_i8" => row(I32, [32, 4, 2], same(Int8), 16, Blocks),
            "i32_16x16x4_4b_i8" => row(I32, [16, 4, 4], same(Int8), 8, Blocks),
            "i32_4x4x4_16b_i8" => row(I32, [4, 4, 16], same(Int8), 2, Blocks),
            "i32_32x32x16_i8" => row(I32, [32, 16, 1], same(Int8), 8, Fixed),
            "i32_16x16x32_i8" => row(I32, [16, 32, 1], same(Int8), 4, Fixed),
            "i32_32x32x32_i8" => row(I32, [32, 32, 1], same(Int8), 8, Fixed),
            "i32_16x16x64_i8" => row(I32, [16, 64, 1], same(Int8), 4, Fixed),
            "f32_16x16x32_fp8_fp8" => row(F32, [16, 32, 1], Some([Fp8, Fp8]), 4, Fixed),
            "f32_16x16x32_fp8_bf8" => row(F32, [16, 32, 1], Some([Fp8, Bf8]), 4, Fixed),
            "f32_16x16x32_bf8_fp8" => row(F32, [16, 32, 1], Some([Bf8, Fp8]), 4, Fixed),
            "f32_16x16x32_bf8_bf8" => row(F32, [16, 32, 1], Some([Bf8, Bf8]), 4, Fixed),
            "f32_32x32x16_fp8_fp8" => row(F32, [32, 16, 1], Some([Fp8, Fp8]), 8, Fixed),
            "f32_32x32x16_fp8_bf8" => row(F32, [32, 16, 1], Some([Fp8, Bf8]), 8, Fixed),
            "f32_32x32x16_bf8_fp8" => row(F32, [32, 16, 1], Some([Bf8, Fp8]), 8, Fixed),
            "f32_32x32x16_bf8_bf8" => row(F32, [32, 16, 1], Some([Bf8, Bf8]), 8, Fixed),
            "f64_16x16x4_f64" => row(F64, [16, 4, 1], same(Format::F64), 16, Fixed),
            "f64_4x4x4_4b_f64" => row(F64, [4, 4, 4], same(Format::F64), 4, Fixed),
            "f32_16x16x128_f8f6f4" => row(F32, [16, 128, 1], None, 4, Fixed),
            "f32_32x32x64_f8f6f4" => row(F32, [32, 64, 1], None, 8, Fixed),
            _ => return None,
        })
    }

    /// Lanes that hold the same part of K; the wave is this many lanes times the groups.
    pub(crate) fn width(&self) -> usize {
        self.dim * self.blocks
    }

    /// Elements of A or B in a lane.
    pub(crate) fn per_lane(&self) -> usize {
        self.k * self.width() / 64
    }

    /// Registers of C and D.
    pub(crate) fn accumulators(&self) -> usize {
        let words = if self.accumulator == Accumulator::F64 {
            2
        } else {
            1
        };
        self.dim * self.dim * self.blocks / 64 * words
    }

    /// Passes of four cycles with these element formats.
    pub(crate) fn passes(&self, formats: [Format; 2]) -> u32 {
        match self.formats {
            None if formats.iter().any(|format| format.bits() == 8) => 2 * self.passes,
            _ => self.passes,
        }
    }
}
