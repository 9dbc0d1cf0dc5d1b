//! What one wave issues for one K tile, as the lowering emits it.
//!
//! Compared with compiled kernels in `tests/suite/estimates.rs`.

use super::{Choices, Widths, widths::REGISTER};
use crate::{describe::order, order::Taken};
use tilefold_dialect::{atoms::MmaAtom, plan::Prefetch, problem::Problem};
use tilefold_machine::{Generation, Machine};

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
    /// Barriers, priorities and marks of what goes together.
    pub other: i64,
}

impl Counts {
    /// Those of a kernel, whose waves have whole atoms: `widths` is what its accesses move, and
    /// `taken` what its order takes, where it is interleaved.
    pub fn of(
        machine: &Machine,
        problem: &Problem,
        atom: &MmaAtom,
        choices: &Choices,
        widths: &Widths,
        taken: Option<Taken>,
    ) -> Self {
        let Choices { waves, .. } = *choices;
        let [rm, rn, rk] = repeats(atom, choices);
        let mma = rm * rn * rk * atom.instructions;
        let element = i64::from(atom.input.bits()) / 8;
        let loads = loads(atom, choices, widths);
        let fragment = atom.input_values() * element;
        let across = across(problem);
        let (mut reads, mut stores, mut moves, mut single) = (0, 0, 0, true);
        for (operand, repeat) in [rm, rn].into_iter().enumerate() {
            let width = widths.reads[operand];
            let pieces = fragment / width;
            // LLVM joins two of 32 or 64 bits.
            let joined = matches!(width, 4 | 8);
            reads += match (joined, pieces) {
                (true, 2..) => repeat * rk * ((pieces + 1) / 2),
                _ => repeat * rk * pieces,
            };
            single &= joined && pieces == 1;
            let bytes = loads[operand] * widths.loads[operand];
            let store = widths.stores[operand];
            stores += (bytes + store - 1) / store;
            // Halves of a register are gathered by one permute, its bytes by two, and by three from
            // four registers; halves that are stored alone are taken where they are, and bytes
            // shifted, every other one.
            let registers = widths.permuted[operand];
            let apart = widths.loads[operand] == 1;
            moves += match (element, store.min(REGISTER)) {
                (1, 1) if apart => 0,
                (1, 1) => 2 * bytes / REGISTER,
                (1, 2) => registers,
                (1, _) if apart => 3 * registers,
                (1, _) if across[operand] => 2 * registers,
                (2, 2) => 0,
                _ => registers,
            };
        }
        moves += in_lanes(widths);
        let threads = waves[0] * waves[1];
        let barriers = match (threads, choices.buffers) {
            (1, _) => 0,
            (_, 1) => 2,
            _ => 1,
        };
        let rdna4 = machine.generation == Generation::Rdna4;
        let rows = (rm + rn - 1) * rk;
        if let Some(taken) = taken.filter(|_| single) {
            reads = taken.pairs;
        }
        // Each barrier is waited for what is read before and for what is written, which RDNA 4
        // counts apart. With one buffer all loads are waited for at the first, with two each by
        // what stores it.
        let bounded = across.contains(&true);
        // What LLVM makes of the same pointers differs with the bytes that they go on by.
        let (waited, scalar) = match (rdna4, choices.buffers, element, bounded) {
            (true, 1, 1, false) => (2, 14),
            (true, 1, 1, true) => (3, 17),
            (true, 1, _, false) => (4, 11),
            (true, 1, _, true) => (4, 18),
            (true, _, _, false) => (1, 12),
            (true, _, _, true) => (1, 17),
            (false, 1, _, false) => (2, 13),
            (false, 1, _, true) => (2, 21),
            (false, _, _, false) => (1, 14),
            (false, _, _, true) => (1, 21),
        };
        let waits = waited
            + match (taken, choices.buffers) {
                (Some(taken), 1) => taken.waits,
                (Some(taken), _) => taken.waits + taken.late + taken.stored,
                (None, 1) => rows,
                (None, _) => rows + loads[0],
            };
        let clauses = match choices.prefetch {
            Prefetch::Interleaved => i64::from(taken.is_some_and(|taken| taken.crowded > 1)),
            _ => 2,
        };
        Self {
            mma,
            loads,
            reads,
            stores,
            moves,
            waits,
            scalar,
            other: barriers * if rdna4 { 2 } else { 1 }
                + clauses
                + if choices.priority { 2 * mma } else { 0 },
        }
    }

    /// All of them for each matrix instruction.
    pub fn per_mma(&self) -> f64 {
        let memory = self.loads[0] + self.loads[1] + self.reads + self.stores;
        let rest = self.moves + self.waits + self.scalar + self.other;
        (self.mma + memory + rest) as f64 / self.mma as f64
    }
}

/// Scalar registers for the lines of both matrices besides the first ones, beyond which some go to
/// lanes of vector registers: of the 106 that a wave has what the kernel's own leave.
const LINES: i64 = 68;

/// Scalars that go to lanes of vector registers, from where each is read once in a K tile: loads of
/// one thread that are in many lines, which are what narrow loads are.
pub(super) fn in_lanes(widths: &Widths) -> i64 {
    let lines = widths.lines.map(|lines| (lines - 1).max(0));
    (lines[0] + lines[1] - LINES).max(0)
}

/// Loads of a thread for one tile of A and of B.
pub(super) fn loads(atom: &MmaAtom, choices: &Choices, widths: &Widths) -> [i64; 2] {
    let Choices { block, waves, .. } = *choices;
    let element = i64::from(atom.input.bits()) / 8;
    let threads = waves[0] * waves[1] * atom.wave;
    [0, 1].map(|operand| block[operand] * block[2] * element / (widths.loads[operand] * threads))
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
