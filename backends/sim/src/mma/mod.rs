//! Matrix instructions.
//!
//! AMD describes them as D = A x B + C and publishes no order of the additions inside. Here the
//! products and the sum of one instruction are formed in f64, in the order of k, and rounded once
//! to the accumulator's type (C comes first in WMMA, last in MFMA); sums of integers are exact. One
//! file per family; formats, shapes and panels serve MFMA.

pub(crate) mod format;
mod mfma;
mod panel;
mod shapes;
mod sparse;
mod swmmac;
mod wmma;

pub(crate) use mfma::Mfma;
pub(crate) use swmmac::Swmmac;
pub(crate) use wmma::Wmma;
use wmma::{MAX_K, Panel};

/// Room for the operands of a matrix instruction.
pub(crate) struct Room {
    wide: [Panel; 2],
    narrow: [[f32; 16 * MAX_K]; 2],
}

impl Room {
    pub(crate) fn new() -> Box<Room> {
        Box::new(Room {
            wide: [[[0.0; 16]; MAX_K]; 2],
            narrow: [[0.0; 16 * MAX_K]; 2],
        })
    }
}
