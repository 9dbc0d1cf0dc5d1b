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

use crate::check::Check;
use crate::group::Group;
use crate::program::Inst;
use crate::wave::Wave;

/// An instruction must lie between a WMMA and the one that wrote what it reads in these registers.
fn check_distance<const W: usize>(
    name: &str,
    first: u16,
    count: u16,
    wave: &Wave<W>,
    group: &mut Group<'_, W>,
    inst: &Inst<W>,
) {
    if let Some((written, length)) = wave.last_mma
        && first < written + length
        && written < first + count
    {
        group.find(Check::WmmaHazard, wave, inst, None, || {
            format!("{name} at v{first} is what the WMMA before writes from v{written}")
        });
    }
}

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
