//! Vector registers of a wave, as a function of its plan.

use super::Schedule;
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
    /// Whether that waits while fragments are multiplied.
    pub waits: bool,
}

impl Registers {
    /// Those of a wave of `waves` = (m, n) that share a block of `block` = (m, n, k), which is
    /// whole atoms for each.
    pub fn of(
        atom: &MmaAtom,
        block: [i64; 3],
        waves: [i64; 2],
        prefetch: Prefetch,
        schedule: &Schedule,
    ) -> Self {
        let [m, n] = [0, 1].map(|axis| block[axis] / (atom.shape[axis] * waves[axis]));
        let rows = if packed(atom) { (m + 1) / 2 } else { m };
        let (outer, inner) = match schedule.lead {
            Lead::A => (m, n),
            Lead::B => (n, m),
        };
        // Instructions of a row of accumulators, which share a fragment.
        let line = inner * atom.instructions;
        // Interleaved multiplications keep the order of the plan: the fragments of a row of
        // accumulators, and those read ahead of it. Others are ordered by the code generator.
        let in_flight = match (prefetch, schedule.ahead) {
            (Prefetch::None | Prefetch::Burst, _) => m.min(n) + 1,
            (_, 1) => inner + 2,
            (_, ahead) if ahead < inner => inner + 3,
            (_, ahead) if ahead < outer * line => 2 * inner + 1 + (ahead / line.max(1)).max(1),
            _ => 2 * (outer + inner),
        };
        let carried = [block[0], block[1]].map(|extent| {
            let bits = extent * block[2] * i64::from(atom.input.bits());
            bits / (32 * waves[0] * waves[1] * atom.wave)
        });
        Self {
            accumulators: rows * n * atom.cd.vgprs(),
            fragments: in_flight * atom.input_vgprs(),
            staged: match prefetch {
                // One after the other.
                Prefetch::None => carried[0].max(carried[1]),
                _ => carried[0] + carried[1],
            },
            waits: prefetch != Prefetch::None,
        }
    }

    /// The most at any time.
    pub fn most(&self) -> i64 {
        self.accumulators
            + if self.waits {
                self.fragments + self.staged
            } else {
                self.fragments.max(self.staged)
            }
    }
}

/// Whether accumulators that are neighbours along M share registers, where the atom's results
/// fill one half of each.
pub fn packed(atom: &MmaAtom) -> bool {
    atom.cd.step == 2
}
