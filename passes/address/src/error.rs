//! What can be wrong with a question.

/// A group of accesses that cannot be placed, or a layout that is no term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Terms are of words of 32 bits without sign.
    #[error("{layout} has an extent, a stride or an offset that is negative or leaves 32 bits")]
    Layout {
        /// The layout.
        layout: String,
    },
    /// An offset leaves 32 bits for some values of its variables, so that its parts, which the
    /// machine adds in more bits, would not be it.
    #[error("access {access} leaves 32 bits where {assignment}")]
    Wraps {
        /// Which of the accesses.
        access: usize,
        /// Values of the variables.
        assignment: String,
    },
    /// Every placement is verified for every thread.
    #[error("{threads} values of a thread's variables are more than the {limit} that are verified")]
    Threads {
        /// Number of values.
        threads: u64,
        /// [`Limits::threads`](crate::Limits::threads).
        limit: usize,
    },
    /// No chain of rules was found within the limits.
    #[error("access {access} has no chain of rules within the limits")]
    Chain {
        /// Which of the accesses.
        access: usize,
    },
}
