use std::fmt;

use thiserror::Error;

/// What LLVM, or a check made before LLVM is called, refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LlvmError {
    /// The chip is none of the table's.
    #[error("unknown chip `{chip}`: known are {known}")]
    UnknownChip {
        /// The name as given.
        chip: String,
        /// Every name the table has.
        known: String,
    },
    /// The chip runs no waves of that many lanes.
    #[error("{chip} runs no waves of {wave} lanes")]
    WaveSize {
        /// The chip's name.
        chip: &'static str,
        /// Lanes asked for.
        wave: u32,
    },
    /// LLVM made no disassembler although the chip is known: this LLVM lacks the target.
    #[error("this LLVM has no disassembler for {chip}")]
    NoDisassembler {
        /// The chip's name.
        chip: &'static str,
    },
    /// LLVM or lld reported errors.
    #[error("LLVM refused to {stage}: {}", messages.join("; "))]
    Refused {
        /// What was being done.
        stage: Stage,
        /// Every error, in the order of their report.
        messages: Vec<String>,
    },
    /// LLVM or lld crashed, aborted, or left by a fatal error of theirs; the guard caught it, and
    /// what they held was leaked.
    #[error("LLVM failed to {stage}: {}", messages.join("; "))]
    Crashed {
        /// What was being done.
        stage: Stage,
        /// The reason, after whatever errors came before it.
        messages: Vec<String>,
    },
    /// lld crashed earlier in this process; its globals are no longer to be trusted.
    #[error("the linker crashed earlier in this process and cannot be used again")]
    LinkerLost,
    /// A temporary file for the linker could not be made, written or read.
    #[error("temporary file for the linker: {0}")]
    TemporaryFile(String),
}

/// What LLVM was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reading textual or binary LLVM IR.
    Parse,
    /// Making LLVM IR from something else.
    Translate,
    /// Optimising and emitting code.
    Generate,
    /// Linking an object into a code object.
    Link,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Parse => "parse the IR",
            Stage::Translate => "translate the module",
            Stage::Generate => "generate code",
            Stage::Link => "link the code object",
        })
    }
}
