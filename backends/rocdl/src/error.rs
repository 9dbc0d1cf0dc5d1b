use thiserror::Error;
use tilefold_llvm::LlvmError;
use tilefold_machine::UnknownChip;

/// Why a module did not become a code object.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RocdlError {
    /// There is no machine record of the chip.
    #[error(transparent)]
    UnknownChip(#[from] UnknownChip),
    /// The kernel's name cannot be a symbol.
    #[error(
        "kernel name {0:?}: letters, digits, `_`, `.` and `$` make a name, and no digit begins it"
    )]
    Name(String),
    /// The module has no kernel of that name.
    #[error("the module has no kernel `{name}` (an llvm.func with rocdl.kernel); it has {found}")]
    NoKernel {
        /// The name that was looked for.
        name: String,
        /// The kernels that are there.
        found: String,
    },
    /// The workgroup is empty or larger than the chip's largest.
    #[error("block {block:?}: a workgroup of {chip} has 1 to {most} lanes")]
    Block {
        /// Lanes along x, y and z.
        block: [u32; 3],
        /// The chip's name.
        chip: String,
        /// Lanes of the largest workgroup.
        most: u32,
    },
    /// More LDS than a workgroup can have.
    #[error("{bytes} bytes of LDS: a workgroup of {chip} has at most {most}")]
    Lds {
        /// Bytes asked for, statically and at launch.
        bytes: u64,
        /// The chip's name.
        chip: String,
        /// Bytes of the largest workgroup.
        most: u32,
    },
    /// The chip has no such instruction, and LLVM would abort over it.
    #[error("{chip} has no `{operation}`")]
    Intrinsic {
        /// The operation or the intrinsic.
        operation: String,
        /// The chip's name.
        chip: String,
    },
    /// The module does not verify, or holds what has no translation to LLVM IR.
    #[error("the module cannot be translated: {}", .0.join("; "))]
    Module(Vec<String>),
    /// LLVM or lld refused or failed.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
    /// A code object cannot be read.
    #[error("code object: {0}")]
    CodeObject(String),
    /// Two sources of one figure differ.
    #[error("{what}: the metadata says {metadata}, the code generator {remark}")]
    Disagreement {
        /// The figure.
        what: &'static str,
        /// The code object's metadata.
        metadata: u32,
        /// LLVM's remark.
        remark: u32,
    },
    /// The kernel spreads over both CUs of a work-group processor, which none of the figures here
    /// hold for.
    #[error("kernel `{0}` is not in cu mode: give its function the target feature +cumode")]
    CuMode(String),
}
