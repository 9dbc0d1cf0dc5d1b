//! What one wave issues for one K tile, as the lowering emits it.
//!
//! Compared with compiled kernels in `tests/suite/estimates.rs`.

use super::Choices;
use crate::describe::order;
use tilefold_dialect::{atoms::MmaAtom, plan::Prefetch, problem::Problem};

/// Bytes of the widest access.
const WIDEST: i64 = 16;
/// Scalar instructions of a step: descriptors of both operands, the loop, and barriers.
const STEP: i64 = 15;
/// More of them where an operand lies across K, whose descriptor is bounded anew by each step.
const BOUNDED: i64 = 8;

/// Instructions of a wave for one K tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// Matrix instructions.
    pub mma: i64,
    /// Global loads, by operand.
    pub loads: [i64; 2],
    /// LDS reads of fragments.
    pub reads: i64,
    /// LDS stores.
    pub stores: i64,
    /// Vector instructions that put registers together for stores.
    pub moves: i64,
    /// Waits for fragments, loads and stores.
    pub waits: i64,
    /// Scalar instructions.
    pub scalar: i64,
}

impl Counts {
    /// Those of a kernel, whose waves have whole atoms.
    pub fn of(problem: &Problem, atom: &MmaAtom, choices: &Choices) -> Self {
        let Choices { block, waves, .. } = *choices;
        let [rm, rn, rk] = repeats(atom, choices);
        let mma = rm * rn * rk * atom.instructions;
        let element = i64::from(atom.input.bits()) / 8;
        let threads = waves[0] * waves[1] * atom.wave;
        let loads = [block[0], block[1]].map(|rows| rows * block[2] * element / (WIDEST * threads));
        let fragment = atom.input_values() * element;
        let read = WIDEST.min(fragment);
        let across = across(problem);
        let (mut stores, mut moves) = (0, 0);
        for operand in 0..2 {
            let count = loads[operand];
            if across[operand] {
                // A thread has so many neighbours along K, from as many loads.
                let run = (1 << count.max(1).trailing_zeros()) * element;
                let width = if run >= read { WIDEST } else { run };
                stores += count * WIDEST / width;
                // Halves of a register are gathered by one permute, its bytes by two; bytes that
                // are stored alone are shifted, every other one.
                moves += match (element, width.min(4)) {
                    (1, 2) => 4 * count,
                    (1, _) => 8 * count,
                    (2, 4) => 4 * count,
                    _ => 0,
                };
            } else {
                stores += count;
                // Halves of two loads are stored together where fragments are read by halves.
                if read < WIDEST && count % 2 == 0 {
                    moves += count;
                }
            }
        }
        // Reads that are waited for: of each group at most one, and no more than there are.
        let rows = (rm + rn - 1) * rk;
        let waits = match choices.prefetch {
            Prefetch::Interleaved => (mma / choices.ahead).min(rows).max(rk.min(mma)),
            _ => rows,
        };
        let bounded = across.contains(&true);
        Self {
            mma,
            loads,
            reads: (rm + rn) * rk * (fragment / read),
            stores,
            moves,
            waits: waits + 2,
            scalar: STEP
                + if bounded { BOUNDED } else { 0 }
                + if choices.priority { 2 * mma } else { 0 },
        }
    }

    /// All of them for each matrix instruction.
    pub fn per_mma(&self) -> f64 {
        let memory = self.loads[0] + self.loads[1] + self.reads + self.stores;
        (self.mma + memory + self.moves + self.waits + self.scalar) as f64 / self.mma as f64
    }
}

/// The operands whose lines run across K.
pub(super) fn across(problem: &Problem) -> [bool; 2] {
    let layouts = [&problem.a.layout, &problem.b.layout];
    [0, 1].map(|operand| order(operand, layouts[operand]) != "row")
}

/// Atoms of a wave along m, n and k.
pub(super) fn repeats(atom: &MmaAtom, choices: &Choices) -> [i64; 3] {
    let Choices { block, waves, .. } = choices;
    [
        block[0] / (atom.shape[0] * waves[0]),
        block[1] / (atom.shape[1] * waves[1]),
        block[2] / atom.shape[2],
    ]
}
