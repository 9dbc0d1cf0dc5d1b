//! Rewrites over the tile dialect and the lowering to ROCDL.
//!
//! A [`Plan`] holds every choice of a kernel. [`tile_module`] states the problem as one
//! operation and runs the [`PASSES`] that the plan calls for, each one idea of the published
//! kernels; [`lower`] turns the result into a kernel in the LLVM and ROCDL dialects.

pub mod access;
mod bound_loads;
mod describe;
mod double_buffer;
mod lay_out_lds;
mod lower;
mod one_buffer;
mod order_blocks;
mod partition;
mod pipeline;
pub mod plan;
mod rewrite;
mod stage_commits;
pub mod tiling;
mod widen_copies;

pub use describe::ARGUMENTS;
pub use lower::lower;
pub use pipeline::{PASSES, Pass, tile_module};
pub use plan::Plan;
pub use widen_copies::access_elements;

use thiserror::Error;
use tilefold_dialect::tile::AttributeError;
use tilefold_layout::LayoutError;

/// A pass met something that it cannot rewrite: a fault of the compiler, since plans are
/// checked before.
#[derive(Debug, Error)]
pub enum PassError {
    /// The module does not have the form that the passes before leave.
    #[error("the module has {found} where {wanted} was expected")]
    Form {
        /// What was looked for.
        wanted: &'static str,
        /// How many, or at which position.
        found: usize,
    },
    /// An attribute is not what the dialect says.
    #[error(transparent)]
    Attribute(#[from] AttributeError),
    /// The algebra refused a step.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout in an attribute does not parse.
    #[error(transparent)]
    Text(#[from] tilefold_layout::ParseError),
    /// MLIR refused the module after a pass.
    #[error("after {pass} the module does not verify")]
    Verify {
        /// The pass.
        pass: &'static str,
    },
    /// MLIR refused a conversion.
    #[error("MLIR: {0}")]
    Mlir(String),
}
