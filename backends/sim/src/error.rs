//! What can go wrong before and while a kernel runs.

use thiserror::Error;

/// Why a code object cannot be loaded or a launch not run to its end.
///
/// Faults of the kernel that leave a sensible way to go on (an access out of bounds, a race) are no
/// errors but findings of the [`Report`](crate::Report).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no ELF file that an AMD GPU could load.
    #[error("not an AMDGPU code object: {0}")]
    Format(String),
    /// The code object is for a chip that is not simulated.
    #[error("code object for {chip}, which is not simulated; simulated are {known}")]
    Chip {
        /// The chip, or the ELF flags where they name none.
        chip: String,
        /// The simulated chips.
        known: String,
    },
    /// No kernel of that name.
    #[error("no kernel `{name}`; the code object has {known}")]
    Kernel {
        /// The name asked for.
        name: String,
        /// The kernels there are.
        known: String,
    },
    /// The launch does not fit the kernel: arguments, grid, block or LDS.
    #[error("launch of `{kernel}`: {reason}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What does not fit.
        reason: String,
    },
    /// The kernel reached an instruction that the simulator does not know.
    #[error("unknown instruction `{text}` at {address:#x}: {reason}")]
    Instruction {
        /// LLVM's text, or the bytes when LLVM knows no instruction there.
        text: String,
        /// Offset in the code object's image.
        address: u64,
        /// What is not known about it.
        reason: String,
    },
    /// Control left the kernel's code.
    #[error("jump to {address:#x}, where no instruction begins")]
    Jump {
        /// Where control went.
        address: u64,
    },
    /// A wave reached a trap: LLVM ends what must not go on by number 2, and puts number 3 where a
    /// debugger is to stop.
    #[error(
        "the kernel trapped: wave {wave} of workgroup {workgroup:?} reached `s_trap {number}` at {address:#x}"
    )]
    Trap {
        /// Number of the trap.
        number: u32,
        /// Offset in the code object's image.
        address: u64,
        /// Workgroup id.
        workgroup: [u32; 3],
        /// Wave in the workgroup.
        wave: u32,
    },
    /// A wave executed more instructions than the launch allows, or workgroups that all wait for each
    /// other have together, of which it is one.
    #[error(
        "wave {wave} of workgroup {workgroup:?} executed {limit} instructions without ending{}",
        waits_for(.polling)
    )]
    Endless {
        /// Workgroup id.
        workgroup: [u32; 3],
        /// Wave in the workgroup.
        wave: u32,
        /// The launch's limit.
        limit: u64,
        /// The words of memory that it loaded over and over at the end.
        polling: Option<String>,
    },
}

fn waits_for(polling: &Option<String>) -> String {
    polling.as_ref().map_or(String::new(), |word| {
        format!(
            "; it loads the same over and over, which no workgroup running beside it changes: {word}"
        )
    })
}
