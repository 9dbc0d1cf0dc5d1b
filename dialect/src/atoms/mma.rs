//! Mma atoms: matrix instructions as shapes, types and thread-value layouts.

use crate::element::ElementType;
use tilefold_layout::Layout;

/// The vector type in which an operand stands in registers, as ROCDL wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterVector {
    /// Elements of the vector.
    pub len: i64,
    /// MLIR name of the vector's element type; an integer of the element's width where
    /// ROCDL has no type for it.
    pub element: &'static str,
    /// Position of the fragment's element `v`, counted in elements of the fragment's type, is
    /// `v * step`.
    pub step: i64,
}

impl RegisterVector {
    /// 32-bit registers of a lane.
    pub fn vgprs(&self) -> i64 {
        // The names are those of MLIR's integer and float types: a letter or two and the width.
        let bits = self.element.trim_start_matches(|c: char| c.is_alphabetic());
        self.len * bits.parse::<i64>().unwrap_or(32) / 32
    }
}

/// One matrix product D = A x B + C of one wave: an instruction, or several of the same kind one
/// after another along K.
///
/// A lane's values of A and of B are those of the first instruction, then those of the second,
/// and so on. As a product does not change when the K of A and B are renamed alike, values that
/// belong to different instructions may lie side by side in memory: where one instruction takes
/// less than the widest LDS access moves, an access can feed several.
///
/// `a_layout`, `b_layout` and `c_layout` map (lane, value) to the column-major index of the
/// element in the reference tiles (M,K):(1,M), (N,K):(1,N) and (M,N):(1,M), as
/// `mma_atoms.json` of the conformance vectors states them. D has the layout of C.
#[derive(Debug)]
pub struct MmaAtom {
    /// The name used in specs: `KIND.ACCUMULATOR.MxNxK.INPUT`.
    pub name: &'static str,
    /// Chips that have it with these layouts, by exact name.
    pub chips: &'static [&'static str],
    /// The instruction, as the assembler names it.
    pub instruction: &'static str,
    /// Instructions of a product, each with an equal part of K.
    pub instructions: i64,
    /// M, N and K of the product.
    pub shape: [i64; 3],
    /// Lanes of the wave that issues it.
    pub wave: i64,
    /// Element type of A and B.
    pub input: ElementType,
    /// Element type of C and D.
    pub accumulator: ElementType,
    /// (lane, value) -> (M,K).
    pub a_layout: &'static str,
    /// (lane, value) -> (N,K).
    pub b_layout: &'static str,
    /// (lane, value) -> (M,N).
    pub c_layout: &'static str,
    /// Registers of A and of B that one instruction reads.
    pub ab: RegisterVector,
    /// Registers of C and of D.
    pub cd: RegisterVector,
    /// The ROCDL operation that stands for it.
    pub operation: &'static str,
}

const RDNA3: &[&str] = &["gfx1100", "gfx1151"];
const RDNA4: &[&str] = &["gfx1201"];

// RDNA 3: both half-waves hold the same operand rows, each lane all of K; the accumulator
// interleaves rows over the half-waves (RDNA 3 ISA guide, chapter on WMMA; the calculator
// AMD publishes gives the same maps).
const RDNA3_AB: &str = "((16,2),16):((1,0),16)";
const RDNA3_C: &str = "((16,2),8):((16,1),2)";
// RDNA 4: operands are split over the half-waves, four consecutive K at a time for 16-bit
// types; the accumulator's rows are packed.
const RDNA4_AB: &str = "((16,2),(4,2)):((1,64),(16,128))";
// 8-bit types have eight consecutive K in a lane.
const RDNA4_AB8: &str = "((16,2),8):((1,128),16)";
// Two of them: the second takes the 16 K that follow, in the lane's next eight bytes.
const RDNA4_AB8_TWICE: &str = "((16,2),(8,2)):((1,128),(16,256))";
const RDNA4_C: &str = "((16,2),8):((16,8),1)";

const fn vector(len: i64, element: &'static str, step: i64) -> RegisterVector {
    RegisterVector { len, element, step }
}

macro_rules! wmma {
    ($($name:literal on $chips:ident: $count:literal x $instruction:literal, $input:ident -> $acc:ident,
       $ab_layout:ident, $c_layout:ident, $ab:expr, $cd:expr, $operation:literal;)*) => {
        &[$(MmaAtom {
            name: $name,
            chips: $chips,
            instruction: $instruction,
            instructions: $count,
            shape: [16, 16, 16 * $count],
            wave: 32,
            input: ElementType::$input,
            accumulator: ElementType::$acc,
            a_layout: $ab_layout,
            b_layout: $ab_layout,
            c_layout: $c_layout,
            ab: $ab,
            cd: $cd,
            operation: $operation,
        }),*]
    };
}

// On RDNA 3 a 16-bit accumulator fills one half of each of its eight registers: the vector
// has 16 elements and element v stands at 2 v (OPSEL = 0 takes the low halves).
static ATOMS: &[MmaAtom] = wmma! {
    "wmma.f32.16x16x16.f16" on RDNA3: 1 x "v_wmma_f32_16x16x16_f16", F16 -> F32,
        RDNA3_AB, RDNA3_C, vector(16, "f16", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.f16";
    "wmma.f32.16x16x16.bf16" on RDNA3: 1 x "v_wmma_f32_16x16x16_bf16", Bf16 -> F32,
        RDNA3_AB, RDNA3_C, vector(16, "i16", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.bf16";
    "wmma.f16.16x16x16.f16" on RDNA3: 1 x "v_wmma_f16_16x16x16_f16", F16 -> F16,
        RDNA3_AB, RDNA3_C, vector(16, "f16", 1), vector(16, "f16", 2), "rocdl.wmma.f16.16x16x16.f16";
    "wmma.bf16.16x16x16.bf16" on RDNA3: 1 x "v_wmma_bf16_16x16x16_bf16", Bf16 -> Bf16,
        RDNA3_AB, RDNA3_C, vector(16, "i16", 1), vector(16, "i16", 2), "rocdl.wmma.bf16.16x16x16.bf16";
    "wmma.f32.16x16x16.f16" on RDNA4: 1 x "v_wmma_f32_16x16x16_f16", F16 -> F32,
        RDNA4_AB, RDNA4_C, vector(8, "f16", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.f16";
    "wmma.f32.16x16x16.bf16" on RDNA4: 1 x "v_wmma_f32_16x16x16_bf16", Bf16 -> F32,
        RDNA4_AB, RDNA4_C, vector(8, "i16", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.bf16";
    "wmma.f16.16x16x16.f16" on RDNA4: 1 x "v_wmma_f16_16x16x16_f16", F16 -> F16,
        RDNA4_AB, RDNA4_C, vector(8, "f16", 1), vector(8, "f16", 1), "rocdl.wmma.f16.16x16x16.f16";
    "wmma.f32.16x16x16.fp8" on RDNA4: 1 x "v_wmma_f32_16x16x16_fp8_fp8", Fp8 -> F32,
        RDNA4_AB8, RDNA4_C, vector(2, "i32", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.fp8_fp8";
    "wmma.f32.16x16x32.fp8" on RDNA4: 2 x "v_wmma_f32_16x16x16_fp8_fp8", Fp8 -> F32,
        RDNA4_AB8_TWICE, RDNA4_C, vector(2, "i32", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.fp8_fp8";
    "wmma.f32.16x16x16.bf8" on RDNA4: 1 x "v_wmma_f32_16x16x16_bf8_bf8", Bf8 -> F32,
        RDNA4_AB8, RDNA4_C, vector(2, "i32", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.bf8_bf8";
    "wmma.f32.16x16x32.bf8" on RDNA4: 2 x "v_wmma_f32_16x16x16_bf8_bf8", Bf8 -> F32,
        RDNA4_AB8_TWICE, RDNA4_C, vector(2, "i32", 1), vector(8, "f32", 1), "rocdl.wmma.f32.16x16x16.bf8_bf8";
    "wmma.bf16.16x16x16.bf16" on RDNA4: 1 x "v_wmma_bf16_16x16x16_bf16", Bf16 -> Bf16,
        RDNA4_AB, RDNA4_C, vector(8, "i16", 1), vector(8, "i16", 1), "rocdl.wmma.bf16.16x16x16.bf16";
};

impl MmaAtom {
    /// M, N and K of one instruction.
    pub fn instruction_shape(&self) -> [i64; 3] {
        let [m, n, k] = self.shape;
        [m, n, k / self.instructions]
    }

    /// 32-bit registers of A, and of B, in a lane.
    pub fn input_vgprs(&self) -> i64 {
        self.instructions * self.ab.vgprs()
    }

    /// Elements of A, and of B, that a lane holds.
    pub fn input_values(&self) -> i64 {
        self.input_vgprs() * 32 / i64::from(self.input.bits()) / self.ab.step
    }

    /// Elements of C, and of D, that a lane holds.
    pub fn result_values(&self) -> i64 {
        self.cd.vgprs() * 32 / i64::from(self.accumulator.bits()) / self.cd.step
    }

    /// All rows.
    pub fn all() -> &'static [MmaAtom] {
        ATOMS
    }

    /// The rows of one chip, by exact name.
    pub fn of_chip(chip: &str) -> impl Iterator<Item = &'static MmaAtom> {
        ATOMS.iter().filter(move |atom| atom.chips.contains(&chip))
    }

    /// The row of that name on that chip.
    pub fn by_name(chip: &str, name: &str) -> Option<&'static MmaAtom> {
        Self::of_chip(chip).find(|atom| atom.name == name)
    }

    /// The rows that multiply `input` and accumulate in `accumulator` on that chip, that with the
    /// fewest instructions first.
    pub fn of_types(
        chip: &str,
        input: ElementType,
        accumulator: ElementType,
    ) -> impl Iterator<Item = &'static MmaAtom> {
        Self::of_chip(chip)
            .filter(move |atom| atom.input == input && atom.accumulator == accumulator)
    }

    /// The first of [`MmaAtom::of_types`].
    pub fn by_types(
        chip: &str,
        input: ElementType,
        accumulator: ElementType,
    ) -> Option<&'static MmaAtom> {
        Self::of_types(chip, input, accumulator).next()
    }

    /// (lane, value) -> (M,K).
    pub fn a(&self) -> Layout {
        parse(self.a_layout)
    }

    /// (lane, value) -> (N,K).
    pub fn b(&self) -> Layout {
        parse(self.b_layout)
    }

    /// (lane, value) -> (M,N).
    pub fn c(&self) -> Layout {
        parse(self.c_layout)
    }
}

fn parse(text: &str) -> Layout {
    text.parse()
        .expect("the table's layouts parse: the test `atoms` reads every one")
}
