//! Executes AMDGPU code objects without a GPU: results, checks and counters.
//!
//! A code object is read as the ELF file it is, its kernel decoded once through LLVM's
//! disassembler into micro-operations, and its workgroups run in parallel, each wave instruction
//! over all lanes at once. While it runs, checks look for what hardware lets pass in silence: a
//! missing wait or barrier, an access outside its buffer, LDS bytes that nobody wrote.
//!
//! [`Simulator::launch`] is the way in; [`Report`] says what came of it. Values and time are apart:
//! nothing here says how long a kernel takes, bank conflicts excepted, which are counted.
//!
//! What is not published by AMD and therefore chosen here: the order of additions inside a matrix
//! instruction (formed in f64, rounded once), the bits of transcendental functions (rounded from
//! f64), and the contents of fresh outputs (`0xff`).

#![warn(missing_docs)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over lanes index several arrays at once"
)]

mod chip;
mod error;
mod group;
mod launch;
mod memory;
mod metadata;
mod mma;
mod object;
mod program;
mod report;
mod salu;
mod simd;
mod start;
mod system;
mod text;
mod valu;
mod waits;
mod wave;

pub use error::Error;
pub use launch::{Arg, Launch, Simulator, Unsupported};
pub use memory::{BufferId, Memory};
pub use metadata::{ArgInfo, KernelInfo};
pub use object::CodeObject;
pub use report::{Check, Checks, Class, Counters, Finding, InstructionConflicts, Report};
