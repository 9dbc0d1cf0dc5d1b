//! From a ROCDL module to a code object with its resource report and manifest.
//!
//! [`compile`] takes a module in MLIR's LLVM dialect whose kernels carry the attribute
//! `rocdl.kernel`, checks in Rust what would end the process inside LLVM, and gives a
//! [`CodeObject`]: the linked hsaco and what its metadata and its disassembly say of it. A
//! [`Manifest`] beside the hsaco tells whoever launches it all that they need.

mod check;
mod compile;
mod error;
mod kernel;
mod main_loop;
mod manifest;
mod metadata;
mod resources;

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
