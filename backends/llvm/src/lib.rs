//! LLVM in process: code generation, linking and disassembly, guarded so that nothing ends the
//! process.
//!
//! The static LLVM is the one that `mlir-sys` links; `llvm-sys` only declares its C functions.

mod chip;
pub mod disasm;
mod error;

pub use chip::Chip;
pub use error::LlvmError;

// Names the crate whose build script links MLIR and LLVM: without a use of it, rustc would leave
// its libraries out of a binary that needs only this crate.
use mlir_sys as _;
