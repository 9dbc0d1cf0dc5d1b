//! Accesses of lanes that the banks serve together, and the cycles that conflicts add to one.

use tilefold_layout::Swizzle;
use tilefold_machine::Access;

/// Lanes of one wave that are served together.
pub(super) struct Lanes {
    /// Their offsets, the smallest 0: a number for this pattern.
    pub pattern: usize,
    /// What is added to them.
    pub base: i64,
    /// Every bit that some offset of the pattern has.
    pub used: i64,
}

/// How accesses of one width are served.
pub(super) struct Service<'a> {
    pub width: i64,
    pub access: Access,
    /// The lanes served together.
    pub lanes: &'a [Vec<u8>],
    /// Elements of the aligned blocks that one lane takes whole: its access, or a word.
    pub block: i64,
    /// Blocks after which the banks repeat.
    pub banks: i64,
}

/// An access of lanes that are served together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Served {
    /// Number of how it is served.
    pub service: usize,
    /// Offsets of the lanes, the smallest 0: a number for this pattern.
    pub pattern: usize,
    /// What is added to them before the swizzle.
    pub start: i64,
}

/// Room for the blocks that lanes access and for how many of them lie in each bank.
#[derive(Default)]
pub(super) struct Seen {
    pub blocks: Vec<i64>,
    pub depths: Vec<i64>,
}

impl Lanes {
    /// What is added to the lanes' offsets, without bits that no lane has and no carry reaches.
    /// The sum of the rest with any offset has none of these, so that they do no more than an xor
    /// with what the swizzle makes of them, which renames the banks.
    pub fn mixed(&self, start: i64) -> i64 {
        let mut rest = start;
        let mut free = !self.used & i64::MAX;
        while free != 0 {
            let lowest = 1 << free.trailing_zeros();
            let below = lowest - 1;
            let run = free & !free.wrapping_add(lowest);
            // A carry stops at the first bit that is not set.
            let carries = (self.used & below) + (rest & below) > below;
            let reached = match carries {
                true => (1 << (!(rest | below)).trailing_zeros()) - 1,
                false => 0,
            };
            rest &= !run | reached;
            free &= !run;
        }
        rest
    }
}

impl Service<'_> {
    /// Elements after which everything repeats with this swizzle in front: the banks, and what
    /// the swizzle does.
    pub fn period(&self, swizzle: Swizzle) -> Option<i64> {
        let banks = self.block * self.banks;
        (banks.count_ones() == 1).then(|| banks.max(swizzle.period()))
    }

    /// Cycles that conflicts add where these lanes access what `start` and a swizzle make of
    /// their offsets: the most blocks in one bank, less one, as
    /// [`tilefold_machine::Machine::conflict_cycles`] counts them. Every access is aligned to its
    /// width, so that two lanes take the same words or none in common.
    pub fn cycles(&self, lanes: &[i64], start: i64, swizzle: Swizzle, seen: &mut Seen) -> i64 {
        let Seen { blocks, depths } = seen;
        blocks.clear();
        depths.clear();
        depths.resize(self.banks as usize, 0);
        let mut deepest = 1;
        for offset in lanes {
            let block = swizzle.apply(offset + start) / self.block;
            let depth = &mut depths[(block % self.banks) as usize];
            if *depth == 0 || !blocks.contains(&block) {
                *depth += 1;
                deepest = deepest.max(*depth);
                blocks.push(block);
            }
        }
        deepest - 1
    }
}
