//! LLVM IR to an object file.

use std::ffi::{CString, c_char};

use llvm_sys::prelude::LLVMModuleRef;

use crate::chip::{Chip, TRIPLE};
use crate::error::{LlvmError, Stage};
use crate::init;
use crate::module::LlvmModule;
use crate::sink::{Collected, Sink};
use crate::usage::{self, KernelUsage};

/// How code is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The chip that the code is for.
    pub chip: Chip,
    /// LLVM target features, each with its sign, for functions that name none of their own.
    pub features: Vec<String>,
    /// The optimisation level.
    pub level: Level,
    /// Whether to keep the IR as it is after optimisation.
    pub want_ir: bool,
    /// Whether to emit assembly too, at the cost of a second code generation.
    pub want_assembly: bool,
}

impl Options {
    /// Level 3 for the chip, with nothing but the object. Where a workgroup could spread over the
    /// two CUs of a work-group processor, it is kept to one (`+cumode`).
    pub fn new(chip: Chip) -> Options {
        let features = if chip.has_cu_mode() {
            vec!["+cumode".to_owned()]
        } else {
            Vec::new()
        };
        Options {
            chip,
            features,
            level: Level::O3,
            want_ir: false,
            want_assembly: false,
        }
    }
}

/// Optimisation levels, as a compiler driver names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the levels are named as every compiler driver names them"
)]
pub enum Level {
    O0,
    O1,
    O2,
    O3,
}

/// What code generation gave.
#[derive(Debug, Clone)]
pub struct Generated {
    /// A relocatable ELF object.
    pub object: Vec<u8>,
    /// The assembly, when asked for.
    pub assembly: Option<String>,
    /// The IR after optimisation, when asked for.
    pub optimised_ir: Option<String>,
    /// What each function of the module uses.
    pub usage: Vec<KernelUsage>,
    /// LLVM's warnings.
    pub warnings: Vec<String>,
    /// How long the stages took.
    pub times: Times,
}

/// Milliseconds of wall time by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct Times {
    /// The optimisation pipeline.
    pub optimise_ms: f64,
    /// Code generation to the object.
    pub emit_ms: f64,
    /// Code generation to assembly; 0 when it was not asked for.
    pub assembly_ms: f64,
}

/// `TilefoldRequest` of shim/codegen.cpp.
#[repr(C)]
struct Request {
    triple: *const c_char,
    chip: *const c_char,
    features: *const c_char,
    level: u32,
    want_ir: bool,
    want_assembly: bool,
}

unsafe extern "C" {
    // shim/codegen.cpp
    fn tilefold_generate(
        module: LLVMModuleRef,
        request: *const Request,
        out: Sink,
        times: *mut Times,
    ) -> i32;
}

/// Optimises the module and emits an object for the chip.
///
/// Any number of threads may be in here at once; equal modules give equal bytes.
///
/// # Errors
/// [`LlvmError::Refused`] when the module does not verify, a feature is unknown, or code
/// generation reports an error, such as LDS over the limit; [`LlvmError::Crashed`] when LLVM
/// cannot go on, as with an intrinsic that the chip lacks.
pub fn generate(module: LlvmModule, options: &Options) -> Result<Generated, LlvmError> {
    init::code_generator();
    let refused = |messages| LlvmError::Refused {
        stage: Stage::Generate,
        messages,
    };
    let c_string =
        |text: &str| CString::new(text).map_err(|_| refused(vec![format!("{text:?} holds a NUL")]));
    let triple = c_string(TRIPLE)?;
    let chip = c_string(options.chip.name())?;
    let features = c_string(&options.features.join(","))?;
    let request = Request {
        triple: triple.as_ptr(),
        chip: chip.as_ptr(),
        features: features.as_ptr(),
        level: options.level as u32,
        want_ir: options.want_ir,
        want_assembly: options.want_assembly,
    };
    let mut collected = Collected::default();
    let mut times = Times::default();
    // SAFETY: the module is valid and owned here; all pointers outlive the call, which is what
    // the sink is called during.
    let status =
        unsafe { tilefold_generate(module.as_raw(), &request, collected.sink(), &mut times) };
    match status {
        0 => Ok(Generated {
            object: collected.object,
            assembly: collected.assembly,
            optimised_ir: collected.optimised_ir,
            usage: usage::parse(&collected.remarks),
            warnings: collected.warnings,
            times,
        }),
        1 => Err(refused(collected.errors)),
        _ => {
            module.leak();
            Err(LlvmError::Crashed {
                stage: Stage::Generate,
                messages: collected.errors,
            })
        }
    }
}
