//! Vector registers of a wave, as a function of its plan.

use super::Schedule;
use crate::order::{Interleaved, Taken};
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{Lead, Prefetch},
};

/// Registers of a wave for what its part of a tile needs, addresses and the code generator's own
/// left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Of the accumulators, all the time.
    pub accumulators: i64,
    /// Of the fragments that live at once.
    pub fragments: i64,
    /// Of what is on the way from memory to LDS.
    pub staged: i64,
    /// Of both at the same time, at most.
    pub both: i64,
}

impl Registers {
    /// Those of a wave of `waves` = (m, n) that share a block of `block` = (m, n, k), which is
    /// whole atoms for each; `loads` are those of a thread for the tiles of A and B.
    pub fn of(
        atom: &MmaAtom,
        block: [i64; 3],
        waves: [i64; 2],
        loads: [i64; 2],
        prefetch: Prefetch,
        schedule: &Schedule,
    ) -> Self {
        let order = interleaved(atom, block, waves, loads, schedule);
        let taken = match prefetch {
            Prefetch::Interleaved => Some(order.take()),
            _ => None,
        };
        Self::with(atom, &order, prefetch, taken)
    }

    /// The same of an order that has been followed, where it is one.
    pub(crate) fn with(
        atom: &MmaAtom,
        order: &Interleaved,
        prefetch: Prefetch,
        taken: Option<Taken>,
    ) -> Self {
        let [m, n, _] = order.repeat;
        let rows = if packed(atom) { (m + 1) / 2 } else { m };
        let [a, b] = order.staged;
        let staged = match prefetch {
            // One after the other.
            Prefetch::None => a.max(b),
            _ => a + b,
        };
        // Interleaved multiplications keep the order of the plan. Others are ordered by the code
        // generator.
        let fragments = (m.min(n) + 1) * order.fragment;
        Self {
            accumulators: rows * n * atom.cd.vgprs(),
            fragments: taken.map_or(fragments, |taken| taken.fragments),
            staged,
            both: match (taken, prefetch) {
                (Some(taken), _) => taken.registers,
                (None, Prefetch::None) => fragments.max(staged),
                _ => fragments + staged,
            },
        }
    }

    /// The most at any time.
    pub fn most(&self) -> i64 {
        self.accumulators + self.both
    }
}

/// The order of a wave's part of a tile.
pub(crate) fn interleaved(
    atom: &MmaAtom,
    block: [i64; 3],
    waves: [i64; 2],
    loads: [i64; 2],
    schedule: &Schedule,
) -> Interleaved {
    let repeat = |axis: usize| {
        let waves = waves.get(axis).copied().unwrap_or(1);
        block[axis] / (atom.shape[axis] * waves)
    };
    // What is loaded in less than a register has one of its own until it goes to LDS.
    let carried = |operand: usize| {
        let bits = block[operand] * block[2] * i64::from(atom.input.bits());
        (bits / (32 * waves[0] * waves[1] * atom.wave)).max(loads[operand])
    };
    Interleaved {
        repeat: [0, 1, 2].map(repeat),
        parts: atom.instructions,
        lead: usize::from(schedule.lead == Lead::B),
        ahead: schedule.ahead,
        cadence: schedule.cadence,
        commit: schedule.commit,
        loads,
        fragment: atom.input_vgprs(),
        staged: [carried(0), carried(1)],
    }
}

/// Whether accumulators that are neighbours along M share registers, where the atom's results
/// fill one half of each.
pub fn packed(atom: &MmaAtom) -> bool {
    atom.cd.step == 2
}
