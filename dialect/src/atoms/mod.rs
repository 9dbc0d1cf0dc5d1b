//! Copy and mma atoms: tables of what one instruction of one wave does.
//!
//! Lane arithmetic lives here and nowhere else. An mma atom says by three thread-value
//! layouts which lane holds which element of its operands; a copy atom says how many bits
//! a lane moves and between which spaces. Everything above them (partitioning, fragment
//! addresses, copy widths, epilogue addresses) is computed from these rows by the layout
//! algebra.

pub mod copy;
pub mod mma;

pub use copy::{CopyAtom, Direction, Space};
pub use mma::{MmaAtom, RegisterVector};
