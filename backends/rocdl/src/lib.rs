//! From a ROCDL module to a code object with its resource report and manifest.
//!
//! [`compile`] takes a module in MLIR's LLVM dialect whose kernels carry the attribute
//! `rocdl.kernel`, checks in Rust what would end the process inside LLVM, and gives a
//! [`CodeObject`]: the linked hsaco and what its metadata and its disassembly say of it. A
//! [`Manifest`] beside the hsaco tells whoever launches it all that they need.
//!
//! ```
//! use melior::{Context, dialect::DialectRegistry, ir::Module, utility::register_all_dialects};
//! use tilefold_rocdl::{KernelInfo, Options, compile};
//!
//! let registry = DialectRegistry::new();
//! register_all_dialects(&registry);
//! let context = Context::new();
//! context.append_dialect_registry(&registry);
//! let text = "llvm.func @nothing(%p: !llvm.ptr<1>) attributes {rocdl.kernel} { llvm.return }";
//! let module = Module::parse(&context, text).unwrap();
//! let kernel = KernelInfo {
//!     name: "nothing".to_owned(),
//!     block: [64, 1, 1],
//!     dynamic_lds_bytes: 0,
//!     k_step: None,
//! };
//! let code = compile(&module, &kernel, "gfx1201", &Options::default())?;
//! assert_eq!(code.metadata.arguments[0].kind, "global_buffer");
//! assert_eq!(code.resources.waves_per_simd, 16);
//! # Ok::<(), tilefold_rocdl::RocdlError>(())
//! ```

mod address_arithmetic;
mod check;
mod compile;
mod error;
mod kernel;
mod main_loop;
mod manifest;
mod metadata;
mod resources;

pub use address_arithmetic::address_arithmetic;
pub use compile::{CodeObject, Options, StageMs, compile};
pub use error::RocdlError;
pub use kernel::{KStep, KernelInfo};
pub use main_loop::{Instruction, MainLoop, disassemble};
pub use manifest::{
    Argument, ArgumentType, Extent, Factor, Grid, Manifest, ManifestError, Requirement,
    compiler_version,
};
pub use metadata::{KernelMetadata, MetadataArgument, read_metadata};
pub use resources::Resources;

#[cfg(test)]
mod tests;
