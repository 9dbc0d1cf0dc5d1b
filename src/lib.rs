//! Compiles GEMM kernels for AMD GPUs from tile and layout specs, and proves them on a simulator.
//!
//! A [`Spec`] says what is multiplied, on which chip, and as much of how as the user cares to.
//! [`compile`] completes it and gives a code object with its resource report and manifest;
//! [`run`] executes that on a simulator of the chip and compares with a reference.
//!
//! ```
//! use tilefold::{CompileOptions, ElementType::F16, Gemm, OperandLayout::{Col, Row}, RunOptions};
//!
//! let spec = Gemm::new("gfx1201")
//!     .m(64)
//!     .n(64)
//!     .k(32)
//!     .a(F16, Row)
//!     .b(F16, Col)
//!     .c(F16, Col)
//!     .accumulate(F16)
//!     .build()?;
//! let compiled = tilefold::compile(&spec, &CompileOptions::default())?;
//! let outcome = tilefold::run(&compiled, &RunOptions::default())?;
//! assert!(outcome.correct);
//! # Ok::<(), tilefold::Error>(())
//! ```

mod compile;
mod error;
mod launch;
mod run;
mod verify;

pub mod ladder;
pub mod report;

pub use compile::{
    CompileMs, CompileOptions, Compiled, Emit, Score, Searched, compile, compile_plan,
};
pub use error::Error;
pub use launch::{LaunchError, Shape};
pub use run::{Outcome, RunOptions, run};
pub use tilefold_dialect::{
    builder::Gemm,
    element::ElementType,
    plan::{LdsLayout, PartialPlan, Prefetch},
    problem::{Extent, Operand, OperandLayout, Problem},
    spec::{MAX_BYTES, Spec, SpecError},
};
pub use tilefold_passes::{PASSES, Plan};
pub use tilefold_rocdl::{Manifest, Resources};
pub use verify::Inputs;
