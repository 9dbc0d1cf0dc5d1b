//! Executes AMDGPU code objects without a GPU: results, checks and counters.
//!
//! A code object is read as the ELF file it is, its kernel decoded once through LLVM's
//! disassembler into micro-operations, and its workgroups run in parallel, each wave instruction
//! over all lanes at once. While it runs, checks look for what hardware lets pass in silence: a
//! missing wait or barrier, an access outside its buffer, LDS bytes that nobody wrote.
//!
//! [`Simulator::launch`] is the way in; [`Report`] says what came of it:
//!
//! ```
//! use tilefold_llvm::codegen::{Options, generate};
//! use tilefold_llvm::{Chip, LlvmModule, link::link};
//! use tilefold_sim::{Arg, CodeObject, Launch, Simulator};
//!
//! // Any code object will do; this one is made here, of a kernel that adds `n` to every element.
//! let ir = r#"
//! define amdgpu_kernel void @add(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) {
//!   %lane = call i32 @llvm.amdgcn.workitem.id.x()
//!   %from = getelementptr i32, ptr addrspace(1) %x, i32 %lane
//!   %value = load i32, ptr addrspace(1) %from
//!   %sum = add i32 %value, %n
//!   %to = getelementptr i32, ptr addrspace(1) %y, i32 %lane
//!   store i32 %sum, ptr addrspace(1) %to
//!   ret void
//! }
//! declare i32 @llvm.amdgcn.workitem.id.x()
//! "#;
//! let options = Options::new(Chip::find("gfx1201")?);
//! let elf = link(&generate(LlvmModule::parse(ir.as_bytes())?, &options)?.object)?;
//!
//! let object = CodeObject::load(&elf)?;
//! let mut simulator = Simulator::new();
//! let numbers: Vec<u8> = (0..32_u32).flat_map(u32::to_le_bytes).collect();
//! let x = simulator.memory.alloc_input(&numbers);
//! let y = simulator.memory.alloc_output(numbers.len());
//! let launch = Launch {
//!     block: [32, 1, 1],
//!     args: vec![Arg::Buffer(x), Arg::Buffer(y), Arg::I32(10)],
//!     ..Launch::default()
//! };
//! let report = simulator.launch(&object, "add", launch)?;
//! assert!(report.passed(), "{:?}", report.findings);
//! assert_eq!(simulator.memory.read(y)[..8], [10, 0, 0, 0, 11, 0, 0, 0]);
//! assert_eq!(report.counters.global_bytes_written, 128);
//!
//! // The same with a buffer that is one word short: the judge says what, where and who.
//! let y = simulator.memory.alloc_output(numbers.len() - 4);
//! let launch = Launch {
//!     block: [32, 1, 1],
//!     args: vec![Arg::Buffer(x), Arg::Buffer(y), Arg::I32(10)],
//!     ..Launch::default()
//! };
//! let report = simulator.launch(&object, "add", launch)?;
//! assert_eq!(report.checks["global_bounds"], 1);
//! let finding = &report.findings[0];
//! assert!(finding.instruction.starts_with("global_store_b32"));
//! assert_eq!(finding.lane, Some(31));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A launch can be kept to a part of a large grid ([`Launch::sample`]), whose buffers are filled
//! with a [`Pattern`] as they are touched; a [`Trace`] shows what one wave does. Values and time are apart:
//! nothing here says how long a kernel takes, bank conflicts excepted, which are counted.
//!
//! What is not published by AMD and therefore chosen here: the order of additions inside a matrix
//! instruction (formed in f64, rounded once), the bits of transcendental functions (rounded from
//! f64), and the contents of fresh outputs (`0xff`). Before RDNA 4 IEEE mode, in which minima and
//! maxima heed signalling NaNs, is taken to be on, as it is in every compute kernel of LLVM.

#![warn(missing_docs)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over lanes index several arrays at once"
)]

mod accesses;
mod barrier;
mod branches;
mod check;
mod chip;
mod conflicts;
mod counters;
mod error;
mod facts;
mod findings;
mod group;
mod hazards;
mod launch;
mod lines;
mod loads;
mod memory;
mod metadata;
mod mma;
mod object;
mod operation;
mod ordering;
mod overwrites;
mod poll;
mod program;
mod races;
mod report;
mod salu;
mod sample;
mod scalar_cache;
mod schedule;
mod signals;
mod simd;
mod stamps;
mod start;
mod summary;
mod suspects;
mod system;
mod tally;
mod text;
mod trace;
mod valu;
mod waits;
mod wave;

pub use check::{Check, Checks, Finding, UnknownCheck};
pub use counters::{
    Class, Counters, Divergence, InstructionConflicts, InstructionCount, Moved, Space,
};
pub use error::Error;
pub use launch::{Arg, Launch, Simulator, Unsupported};
pub use lines::SourceLine;
pub use memory::{BufferId, Element, Fill, Memory, Pattern};
pub use metadata::{ArgInfo, KernelInfo};
pub use object::CodeObject;
pub use report::Report;
pub use sample::{Sample, Sampled};
pub use trace::Trace;
