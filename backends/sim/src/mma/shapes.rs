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
    /// Elements of a lane that follow each other in K, where that is not all of them.
    run: Option<usize>,
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
            run: None,
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

    /// The shape of a mnemonic without its `v_smfmac_`, as if A were dense. Passes: those of the
    /// dense instructions with half of K in LLVM's model. That
    /// those of CDNA 4 hold K in runs of 128 bits of B, as F8F6F4 instructions do, is unproven.
    pub(crate) fn sparse(name: &str) -> Option<Shape> {
        use Format::{Bf8, Bf16, F16, Fp8, Int8};
        let (accumulator, rest) = match name.split_once('_')? {
            ("f32", rest) => (Accumulator::F32, rest),
            ("i32", rest) => (Accumulator::I32, rest),
            _ => return None,
        };
        let (size, formats) = rest.split_once('_')?;
        let formats = match formats {
            "f16" => [F16; 2],
            "bf16" => [Bf16; 2],
            "i8" => [Int8; 2],
            "fp8_fp8" => [Fp8; 2],
            "fp8_bf8" => [Fp8, Bf8],
            "bf8_fp8" => [Bf8, Fp8],
            "bf8_bf8" => [Bf8; 2],
            _ => return None,
        };
        if (formats[0] == Int8) != (accumulator == Accumulator::I32) {
            return None;
        }
        let (dim, k, run) = match (size, formats[0].bits()) {
            ("16x16x32", 16) | ("16x16x64", 8) => (16, 512 / formats[0].bits(), None),
            ("32x32x16", 16) | ("32x32x32", 8) => (32, 256 / formats[0].bits(), None),
            ("16x16x64", 16) => (16, 64, Some(8)),
            ("32x32x32", 16) => (32, 32, Some(8)),
            ("16x16x128", 8) => (16, 128, Some(16)),
            ("32x32x64", 8) => (32, 64, Some(16)),
            _ => return None,
        };
        Some(Shape {
            accumulator,
            dim,
            k,
            blocks: 1,
            formats: Some(formats),
            passes: dim as u32 / 4,
            lanes: Lanes::Fixed,
            run,
        })
    }

    /// Elements of a lane that follow each other in K, of an operand of such elements.
    pub(crate) fn run(&self, format: Format) -> usize {
        match self.formats {
            None if format.bits() == 8 => 16,
            _ => self.run.unwrap_or(self.per_lane()),
        }
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
