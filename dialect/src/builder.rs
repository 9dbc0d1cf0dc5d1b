//! Specs in Rust.
//!
//! ```
//! use tilefold_dialect::builder::Gemm;
//! use tilefold_dialect::element::ElementType::F16;
//! use tilefold_dialect::problem::OperandLayout::{Col, Row};
//!
//! let spec = Gemm::new("gfx1201")
//!     .m(8192)
//!     .n(8192)
//!     .k(8192)
//!     .a(F16, Row)
//!     .b(F16, Col)
//!     .c(F16, Col)
//!     .accumulate(F16)
//!     .block([128, 96, 64])
//!     .waves([2, 2])
//!     .build()?;
//! assert_eq!(spec.arch, "gfx1201");
//! # Ok::<(), tilefold_dialect::spec::SpecError>(())
//! ```

use serde::Serialize;
use tilefold_layout::Layout;

use crate::element::ElementType;
use crate::plan::{Block, Commit, LdsLayout, Lead, PartialCopy, PartialPlan, Prefetch};
use crate::problem::{Extent, Operand, OperandLayout};
use crate::spec::{Spec, SpecError, document_text};

/// A spec in the making. Chip, extents, operands and accumulator are required; the rest is
/// searched where it is left out.
#[derive(Debug, Clone, Serialize)]
pub struct Gemm {
    arch: String,
    gemm: Parts,
    #[serde(flatten)]
    plan: PartialPlan,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Parts {
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<Extent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<Extent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<Extent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<Operand>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<Operand>,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<Operand>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accumulate: Option<ElementType>,
}

impl Gemm {
    /// A multiplication for the chip of that name.
    pub fn new(arch: impl Into<String>) -> Self {
        Self {
            arch: arch.into(),
            gemm: Parts::default(),
            plan: PartialPlan::default(),
        }
    }

    /// Rows of A and C.
    pub fn m(mut self, extent: impl Into<Extent>) -> Self {
        self.gemm.m = Some(extent.into());
        self
    }

    /// Columns of B and C.
    pub fn n(mut self, extent: impl Into<Extent>) -> Self {
        self.gemm.n = Some(extent.into());
        self
    }

    /// Columns of A, rows of B.
    pub fn k(mut self, extent: impl Into<Extent>) -> Self {
        self.gemm.k = Some(extent.into());
        self
    }

    /// A, over (m,k). For a leading dimension see [`Operand::with_ld`].
    pub fn a(self, element: ElementType, layout: impl Into<OperandLayout>) -> Self {
        self.operand_a(Operand::new(element, layout))
    }

    /// B, over (k,n).
    pub fn b(self, element: ElementType, layout: impl Into<OperandLayout>) -> Self {
        self.operand_b(Operand::new(element, layout))
    }

    /// C, over (m,n).
    pub fn c(self, element: ElementType, layout: impl Into<OperandLayout>) -> Self {
        self.operand_c(Operand::new(element, layout))
    }

    /// A, with all that can be said of it.
    pub fn operand_a(mut self, operand: Operand) -> Self {
        self.gemm.a = Some(operand);
        self
    }

    /// B, with all that can be said of it.
    pub fn operand_b(mut self, operand: Operand) -> Self {
        self.gemm.b = Some(operand);
        self
    }

    /// C, with all that can be said of it.
    pub fn operand_c(mut self, operand: Operand) -> Self {
        self.gemm.c = Some(operand);
        self
    }

    /// Type in which products are summed.
    pub fn accumulate(mut self, element: ElementType) -> Self {
        self.gemm.accumulate = Some(element);
        self
    }

    /// m, n and k of one workgroup: all three, as in `[128, 96, 64]`, or some, as in
    /// `[None, None, Some(32)]`.
    pub fn block(mut self, block: impl Into<Block>) -> Self {
        self.plan.tile.block = block.into();
        self
    }

    /// Waves along m and n.
    pub fn waves(mut self, waves: [i64; 2]) -> Self {
        self.plan.tile.waves = Some(waves);
        self
    }

    /// Name of the matrix instruction.
    pub fn mma(mut self, atom: impl Into<String>) -> Self {
        self.plan.atoms.mma = Some(atom.into());
        self
    }

    /// Name of the load from memory.
    pub fn load(mut self, atom: impl Into<String>) -> Self {
        self.plan.atoms.load = Some(atom.into());
        self
    }

    /// Thread and value layouts of the copy of A, over (m,k).
    pub fn copy_a(mut self, threads: Layout, values: Layout) -> Self {
        self.plan.copy.a = PartialCopy {
            threads: Some(threads),
            values: Some(values),
            stores: None,
        };
        self
    }

    /// Thread and value layouts of the copy of B, over (n,k).
    pub fn copy_b(mut self, threads: Layout, values: Layout) -> Self {
        self.plan.copy.b = PartialCopy {
            threads: Some(threads),
            values: Some(values),
            stores: None,
        };
        self
    }

    /// Wave layout over (m,n).
    pub fn wave_layout(mut self, layout: Layout) -> Self {
        self.plan.mma.waves = Some(layout);
        self
    }

    /// How the tiles of A, over (m,k), and B, over (n,k), lie in LDS.
    pub fn lds(mut self, a: LdsLayout, b: LdsLayout) -> Self {
        self.plan.lds.a = Some(a);
        self.plan.lds.b = Some(b);
        self
    }

    /// Tiles of each operand held at once.
    pub fn buffers(mut self, buffers: i64) -> Self {
        self.plan.lds.buffers = Some(buffers);
        self
    }

    /// When the loads of the next tile are issued.
    pub fn prefetch(mut self, prefetch: Prefetch) -> Self {
        self.plan.schedule.prefetch = Some(prefetch);
        self
    }

    /// With interleaved prefetch: matrix instructions from one load of the next tile to the next.
    pub fn cadence(mut self, instructions: i64) -> Self {
        self.plan.schedule.cadence = Some(instructions);
        self
    }

    /// With interleaved prefetch: what so many matrix instructions use is read from LDS during as
    /// many before them.
    pub fn ahead(mut self, instructions: i64) -> Self {
        self.plan.schedule.ahead = Some(instructions);
        self
    }

    /// With interleaved prefetch: the operand that goes first.
    pub fn lead(mut self, operand: Lead) -> Self {
        self.plan.schedule.lead = Some(operand);
        self
    }

    /// With interleaved prefetch: when the next tiles go to LDS.
    pub fn commit(mut self, commit: Commit) -> Self {
        self.plan.schedule.commit = Some(commit);
        self
    }

    /// Rows of workgroups that run through all columns together.
    pub fn group_rows(mut self, rows: i64) -> Self {
        self.plan.schedule.group_rows = Some(rows);
        self
    }

    /// Whether waves raise their priority around matrix instructions.
    pub fn priority(mut self, priority: bool) -> Self {
        self.plan.schedule.priority = Some(priority);
        self
    }

    /// The spec, checked as if it were read from the TOML that says the same.
    ///
    /// # Errors
    /// [`SpecError`] where something is missing or breaks a rule; it points into that TOML.
    pub fn build(&self) -> Result<Spec, SpecError> {
        Spec::from_toml("Gemm", document_text(self))
    }
}
