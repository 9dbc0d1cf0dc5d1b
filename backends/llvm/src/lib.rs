//! LLVM in process: code generation, linking and disassembly, guarded so that nothing ends the
//! process.
//!
//! The static LLVM is the one that `mlir-sys` links; `llvm-sys` only declares its C functions, and
//! a C++ shim holds what the C interface lacks.

mod chip;
pub mod codegen;
pub mod disasm;
mod error;
pub mod guard;
mod init;
pub mod link;
mod module;
mod sink;
mod usage;

pub use chip::Chip;
pub use error::{LlvmError, Stage};
pub use module::LlvmModule;
pub use usage::KernelUsage;

// Names the crate whose build script links MLIR and LLVM: without a use of it, rustc would leave
// its libraries out of a binary that needs only this crate.
use mlir_sys as _;

/// The version of the LLVM that is linked, such as `22.1.8`.
pub fn llvm_version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers.
    unsafe { llvm_sys::core::LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

#[cfg(test)]
mod tests;
