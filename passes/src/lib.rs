//! Rewrites over the tile dialect and the lowering to ROCDL.
//!
//! A [`Plan`] holds every choice of a kernel. [`tile_module`] states the problem as one
//! operation and runs the [`PASSES`] that the plan calls for, each one idea of the published
//! kernels; [`lower`] turns the result into a kernel in the LLVM and ROCDL dialects.
//!
//! ```
//! use melior::ir::operation::OperationLike;
//! use tilefold_dialect::{spec::Spec, tile};
//! use tilefold_passes::{Plan, lower, tile_module};
//!
//! let spec = Spec::from_toml(
//!     "gemm.toml",
//!     r#"
//!     arch = "gfx1201"
//!     gemm.m = 64
//!     gemm.n = 64
//!     gemm.k = 64
//!     gemm.a = { type = "f16", layout = "row" }
//!     gemm.b = { type = "f16", layout = "col" }
//!     gemm.c = { type = "f16", layout = "col" }
//!     gemm.accumulate = "f16"
//!     lds.buffers = 1
//!     "#,
//! )?;
//! let plan = Plan::complete(&spec)?;
//! assert_eq!((plan.block, plan.waves), ([64, 64, 32], [2, 2]));
//!
//! let context = tile::context();
//! let mut passes = Vec::new();
//! let module = tile_module(&context, &plan, |pass, _| passes.push(pass))?;
//! assert_eq!(
//!     passes,
//!     [
//!         "tile", "partition", "widen-copies", "widen-epilogue", "double-buffer", "stage-commits",
//!         "one-buffer", "lay-out-lds", "bound-loads", "bound-stores",
//!     ]
//! );
//!
//! // Two copies fill LDS before the loop; in it, loads wait in registers until every wave has
//! // multiplied; the last tiles are multiplied behind it.
//! let text = module.as_operation().to_string();
//! let operations: Vec<_> = text.split('"').filter(|word| word.starts_with("tile.")).collect();
//! assert_eq!(
//!     operations.join(" "),
//!     "tile.view tile.view tile.view tile.block tile.lds tile.lds tile.zero \
//!      tile.copy tile.copy tile.barrier \
//!      tile.load tile.load tile.mma tile.barrier tile.commit tile.commit tile.barrier \
//!      tile.mma tile.store"
//! );
//!
//! let kernel = lower(&context, &module, &plan)?.as_operation().to_string();
//! assert!(kernel.contains("rocdl.wmma.f16.16x16x16.f16"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
mod addresses;
mod bound_loads;
mod bound_stores;
mod describe;
mod double_buffer;
mod early_commits;
mod interleave;
mod lay_out_lds;
mod lower;
mod one_buffer;
mod order;
mod order_blocks;
mod partition;
mod pipeline;
pub mod plan;
mod rewrite;
pub mod search;
mod stage_commits;
pub mod tiling;
mod unroll_buffers;
mod widen_copies;
mod widen_epilogue;

pub use addresses::{Addresses, addresses};
pub use describe::ARGUMENTS;
pub use lower::lower;
pub use pipeline::{PASSES, Pass, tile_module};
pub use plan::Plan;
pub use widen_copies::access_elements;
pub use widen_epilogue::Epilogue;

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
    /// Offsets cannot be placed.
    #[error(transparent)]
    Address(#[from] tilefold_address::AddressError),
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
