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
}
