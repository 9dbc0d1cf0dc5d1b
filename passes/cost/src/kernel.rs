//! What the model asks of a kernel.

use thiserror::Error;
use tilefold_machine::{Access, Machine, Width};

use crate::{constants::LINE_BITS, order::gcd};

/// A GEMM kernel, C = A x B, as far as its cost depends on it. A is M x K, B is K x N.
///
/// How often an LDS tile is buffered is not asked: it counts by [`Kernel::lds_bytes`], hence by
/// the workgroups that are resident. Nor is the shape of the wave grid, which the model cannot
/// tell apart but by the instructions that follow from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
    /// What one workgroup computes at a time, in elements along M, N and K.
    pub block: [u32; 3],
    /// Waves of a workgroup.
    pub waves: u32,
    /// Whether prefetches are issued between matrix instructions, instead of all before them.
    pub interleaved: bool,
    /// Tile rows of a group of the block order; 0 and 1 are row-major order.
    pub group_rows: u64,
    /// How A lies in memory.
    pub a: Operand,
    /// How B lies in memory.
    pub b: Operand,
    /// Bits of an element of C.
    pub c_bits: u32,
    /// Extents of one matrix instruction along M, N and K.
    pub mma: [u32; 3],
    /// Cycles for which one matrix instruction keeps a SIMD's matrix unit
    /// ([`Machine::matrix_cycles`]).
    pub mma_cycles: u32,
    /// Vector loads from global memory that one wave issues per K tile.
    pub vector_loads: u32,
    /// LDS instructions that one wave issues per K tile.
    pub lds: Vec<LdsInstructions>,
    /// Cycles that bank conflicts add to those ([`Machine::conflict_cycles`]), together.
    pub lds_conflict_cycles: u32,
    /// LDS bytes of a workgroup.
    pub lds_bytes: u32,
    /// Vector registers of a wave.
    pub vgprs: u32,
}

/// An operand in global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// Bits of an element.
    pub bits: u32,
    /// Which extent is contiguous.
    pub contiguous: Contiguous,
}

/// The contiguous extent of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contiguous {
    /// K, which both operands share: A row-major, B column-major.
    K,
    /// The other one: M of A, N of B.
    Outer,
}

/// LDS instructions of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LdsInstructions {
    /// Direction.
    pub access: Access,
    /// What one lane moves.
    pub width: Width,
    /// How many one wave issues per K tile.
    pub count: u32,
}

/// Why there is no cost for a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CostError {
    /// An extent or count that is zero.
    #[error("`{field}` is 0: a kernel needs at least 1")]
    Zero {
        /// The field of [`Kernel`].
        field: &'static str,
    },
    /// More workgroups than 64 bits count.
    #[error("more than 2^64 - 1 workgroups")]
    TooManyWorkgroups,
    /// Not even one workgroup fits on a compute unit.
    #[error(
        "a workgroup of {waves} waves, {vgprs} VGPRs and {lds_bytes} LDS bytes does not fit on {chip}"
    )]
    DoesNotFit {
        /// The chip.
        chip: String,
        /// Waves of the workgroup.
        waves: u32,
        /// Vector registers of a wave.
        vgprs: u32,
        /// LDS bytes of the workgroup.
        lds_bytes: u32,
    },
}

impl Kernel {
    /// Refuses what has no cost: extents, waves, element bits and matrix cycles of zero.
    pub(crate) fn check(&self) -> Result<(), CostError> {
        let [block_m, block_n, block_k] = self.block;
        let [mma_m, mma_n, mma_k] = self.mma;
        let fields = [
            ("m", self.m),
            ("n", self.n),
            ("k", self.k),
            ("block.m", block_m.into()),
            ("block.n", block_n.into()),
            ("block.k", block_k.into()),
            ("mma.m", mma_m.into()),
            ("mma.n", mma_n.into()),
            ("mma.k", mma_k.into()),
            ("mma_cycles", self.mma_cycles.into()),
            ("waves", self.waves.into()),
            ("a.bits", self.a.bits.into()),
            ("b.bits", self.b.bits.into()),
            ("c_bits", self.c_bits.into()),
        ];
        match fields.iter().find(|(_, value)| *value == 0) {
            Some(&(field, _)) => Err(CostError::Zero { field }),
            None => Ok(()),
        }
    }

    /// Matrix instructions of a workgroup per K tile. Ragged blocks are computed in full.
    pub(crate) fn mmas(&self) -> f64 {
        (0..3)
            .map(|axis| f64::from(self.block[axis].div_ceil(self.mma[axis])))
            .product()
    }

    /// Cycles of one wave's LDS instructions per K tile: one for each group of lanes that is
    /// served together, and the conflicts.
    pub(crate) fn lds_cycles(&self, machine: &Machine) -> f64 {
        let groups = |of: &LdsInstructions| machine.lds.groups(of.width, of.access).len();
        self.lds
            .iter()
            .map(|of| f64::from(of.count) * groups(of) as f64)
            .sum::<f64>()
            + f64::from(self.lds_conflict_cycles)
    }

    /// Bytes of the lines that a K tile of one panel of A touches.
    pub(crate) fn a_panel(&self) -> f64 {
        self.a.panel(self.m, self.k, self.block[0], self.block[2])
    }

    /// Bytes of the lines that a K tile of one panel of B touches.
    pub(crate) fn b_panel(&self) -> f64 {
        self.b.panel(self.n, self.k, self.block[1], self.block[2])
    }

    /// Bytes of A and B in memory.
    pub(crate) fn operand_bytes(&self) -> f64 {
        let (m, n, k) = (self.m as f64, self.n as f64, self.k as f64);
        (m * k * f64::from(self.a.bits) + n * k * f64::from(self.b.bits)) / 8.0
    }

    /// Bytes of C that a workgroup stores.
    pub(crate) fn c_bytes(&self) -> f64 {
        let rows = self.m.min(self.block[0].into()) as f64;
        let cols = self.n.min(self.block[1].into()) as f64;
        rows * cols * f64::from(self.c_bits) / 8.0
    }
}

impl Operand {
    /// Bytes of the lines of a tile of `outer` x `k` elements, of an operand of so many.
    fn panel(&self, outers: u64, ks: u64, outer: u32, k: u32) -> f64 {
        // A block that is larger than the matrix reads no more than the matrix.
        let (outer, k) = (outers.min(outer.into()), ks.min(k.into()));
        let (slice, slices) = match self.contiguous {
            Contiguous::K => (k, outer),
            Contiguous::Outer => (outer, k),
        };
        lines(slice * u64::from(self.bits)) * (LINE_BITS / 8) as f64 * slices as f64
    }
}

/// Lines that a slice of so many bits touches, on average over the slices that follow one
/// another from the beginning of a line.
///
/// Slices start at multiples of g = gcd(slice, line) bits within a line, evenly often, and the
/// sum over these starts of the lines touched is (slice + line - g) / g.
fn lines(slice: u64) -> f64 {
    let over = LINE_BITS - gcd(slice, LINE_BITS);
    (slice as f64 + over as f64) / LINE_BITS as f64
}
