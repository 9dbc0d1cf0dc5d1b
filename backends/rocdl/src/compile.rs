//! A verified module to a code object, stage by stage.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use melior::diagnostic::DiagnosticSeverity;
use melior::ir::operation::OperationLike;
use melior::ir::{Module, OperationRef};
use melior::utility::register_all_llvm_translations;
use mlir_sys::mlirTranslateModuleToLLVMIR;
use serde::Serialize;
use tilefold_llvm::codegen::{self, Level, generate};
use tilefold_llvm::link::link;
use tilefold_llvm::{Chip, LlvmError, LlvmModule};
use tilefold_machine::Machine;

use crate::check;
use crate::error::RocdlError;
use crate::kernel::KernelInfo;
use crate::main_loop::{MainLoop, disassemble};
use crate::metadata::{KernelMetadata, read_metadata};
use crate::resources::Resources;

/// What is wanted beyond the code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// LLVM's optimisation level.
    pub level: Level,
    /// Target features, each with its sign, beside `+cumode`; a function's own replace them.
    pub features: Vec<String>,
    /// Whether to keep the optimised LLVM IR.
    pub want_llvm_ir: bool,
    /// Whether to emit assembly, which takes a second code generation.
    pub want_isa: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            level: Level::O3,
            features: Vec::new(),
            want_llvm_ir: false,
            want_isa: false,
        }
    }
}

/// A linked kernel and all that is known of it.
#[derive(Debug, Clone)]
pub struct CodeObject {
    /// The bytes to load: an ELF file.
    pub hsaco: Vec<u8>,
    /// The optimised LLVM IR, when asked for.
    pub llvm_ir: Option<String>,
    /// The assembly, when asked for.
    pub isa: Option<String>,
    /// What the kernel takes up.
    pub resources: Resources,
    /// What the code object says of the kernel.
    pub metadata: KernelMetadata,
    /// LLVM's warnings.
    pub warnings: Vec<String>,
    /// How long each stage took.
    pub stage_ms: StageMs,
}

/// Milliseconds of wall time by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StageMs {
    /// Verifying the module and checking what it holds.
    pub verify: f64,
    /// MLIR to LLVM IR.
    pub translate: f64,
    /// LLVM's optimisation pipeline.
    pub optimise: f64,
    /// Code generation to the object.
    pub emit: f64,
    /// The second code generation, to assembly; 0 unless asked for.
    pub assembly: f64,
    /// Linking.
    pub link: f64,
    /// Reading the code object back: metadata, disassembly, main loop.
    pub inspect: f64,
}

/// Compiles the kernel of a module in the LLVM dialect to a code object for the chip.
///
/// The module holds `llvm.func`s, one of which has the kernel's name and the attribute
/// `rocdl.kernel`, directly or inside the one gpu.module that is all it holds. Equal modules give
/// equal bytes, on any number of threads.
///
/// # Errors
/// [`RocdlError`]: the chip, the names, the workgroup and the operations are checked first, and
/// whatever LLVM makes of the rest ends here too.
pub fn compile(
    module: &Module<'_>,
    kernel: &KernelInfo,
    chip: &str,
    options: &Options,
) -> Result<CodeObject, RocdlError> {
    let machine = Machine::by_name(chip)?;
    let mut codegen_options = codegen::Options::new(Chip::find(chip)?);
    check::kernel(kernel, machine)?;

    let mut stage_ms = StageMs::default();
    let mut clock = Stopwatch::start();
    let root = check::translatable(module);
    let (is_valid, errors) = collecting_errors(module, || module.as_operation().verify());
    if !is_valid || !errors.is_empty() {
        return Err(RocdlError::Module(errors));
    }
    check::operations(root, &kernel.name, machine)?;
    stage_ms.verify = clock.lap();

    let translated = translate(module, root)?;
    stage_ms.translate = clock.lap();

    codegen_options.level = options.level;
    codegen_options
        .features
        .extend_from_slice(&options.features);
    codegen_options.want_ir = options.want_llvm_ir;
    codegen_options.want_assembly = options.want_isa;
    let generated = generate(translated, &codegen_options)?;
    stage_ms.optimise = generated.times.optimise_ms;
    stage_ms.emit = generated.times.emit_ms;
    stage_ms.assembly = generated.times.assembly_ms;

    clock.lap();
    let hsaco = link(&generated.object)?;
    stage_ms.link = clock.lap();

    let missing = || RocdlError::CodeObject(format!("it does not describe `{}`", kernel.name));
    let metadata = read_metadata(&hsaco)?
        .into_iter()
        .find(|found| found.name == kernel.name)
        .ok_or_else(missing)?;
    if metadata.wgp_mode {
        return Err(RocdlError::CuMode(kernel.name.clone()));
    }
    check::lds(
        u64::from(metadata.lds_bytes) + u64::from(kernel.dynamic_lds_bytes),
        machine,
    )?;
    let usage = generated
        .usage
        .iter()
        .find(|usage| usage.name == kernel.name);
    let main_loop = MainLoop::find(&disassemble(&hsaco, &kernel.name, chip)?);
    let resources = Resources::assemble(
        kernel,
        machine,
        &metadata,
        usage.ok_or_else(missing)?,
        main_loop,
    )?;
    stage_ms.inspect = clock.lap();

    Ok(CodeObject {
        hsaco,
        llvm_ir: generated.optimised_ir,
        isa: generated.assembly,
        resources,
        metadata,
        warnings: generated.warnings,
        stage_ms,
    })
}

fn translate(module: &Module<'_>, root: OperationRef<'_, '_>) -> Result<LlvmModule, RocdlError> {
    // What `to_ref` gives points into the handle, so the handle needs a name.
    let handle = module.context();
    // SAFETY: `handle` outlives the reference, and the module's context outlives both.
    register_all_llvm_translations(unsafe { handle.to_ref() });
    let raw = root.to_raw();
    let (translated, mut errors) = collecting_errors(module, || {
        // SAFETY: MLIR gives null or a module of the context that it is given, which the caller
        // owns; the frame of the closure holds nothing to destroy.
        unsafe {
            LlvmModule::translate(|context| mlirTranslateModuleToLLVMIR(raw, context.cast()).cast())
        }
    });
    match translated {
        Ok(translated) if errors.is_empty() => Ok(translated),
        Err(crash @ LlvmError::Crashed { .. }) => Err(crash.into()),
        Err(error) if errors.is_empty() => {
            errors.push(error.to_string());
            Err(RocdlError::Module(errors))
        }
        Ok(_) | Err(_) => Err(RocdlError::Module(errors)),
    }
}

/// Runs `body`; also gives the errors that MLIR reported meanwhile.
fn collecting_errors<T>(module: &Module<'_>, body: impl FnOnce() -> T) -> (T, Vec<String>) {
    let errors = Arc::new(Mutex::new(Vec::new()));
    // What `to_ref` gives points into the handle, so the handle needs a name.
    let handle = module.context();
    // SAFETY: `handle` outlives the reference, and the module's context outlives both.
    let context = unsafe { handle.to_ref() };
    let collected = Arc::clone(&errors);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            let text = format!("{}: {diagnostic}", diagnostic.location());
            // MLIR verifies functions on several threads.
            collected
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(text);
        }
        true
    });
    let outcome = body();
    context.detach_diagnostic_handler(handler);
    let mut errors = std::mem::take(&mut *errors.lock().unwrap_or_else(PoisonError::into_inner));
    // Threads report in any order.
    errors.sort();
    (outcome, errors)
}

struct Stopwatch(Instant);

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Milliseconds since the last lap.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let elapsed = now.duration_since(self.0).as_secs_f64() * 1e3;
        self.0 = now;
        elapsed
    }
}
