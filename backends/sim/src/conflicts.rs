//! LDS bank conflicts of a workgroup's instructions.

use tilefold_machine::{Access, Width};

use crate::group::Group;
use crate::wave::Wave;

/// The last addresses of an LDS instruction relative to its first active lane, with the conflicts
/// they had: moving all lanes by a whole number of words changes nothing about them.
#[derive(Clone)]
pub(crate) struct Pattern<const W: usize> {
    relative: [u32; W],
    misalignment: u32,
    lanes: u64,
    cycles: u64,
}

impl<const W: usize> Group<'_, W> {
    /// Counts the bank conflicts of one span of an LDS instruction.
    #[inline]
    pub(crate) fn count_conflicts(
        &mut self,
        index: usize,
        base: &[u32; W],
        offset: u32,
        lanes: u64,
        width: Width,
        access: Access,
    ) {
        if lanes == 0 {
            return;
        }
        let first = base[lanes.trailing_zeros() as usize];
        let misalignment = first.wrapping_add(offset) % 4;
        let all = lanes == Wave::<W>::ALL;
        let mut relative = [0; W];
        for lane in 0..W {
            let on = all || lanes >> lane & 1 == 1;
            relative[lane] = if on {
                base[lane].wrapping_sub(first)
            } else {
                0
            };
        }
        let cycles = match &self.patterns[index] {
            Some(pattern)
                if pattern.lanes == lanes
                    && pattern.misalignment == misalignment
                    && pattern.relative == relative =>
            {
                pattern.cycles
            }
            _ => {
                let addresses: [Option<u32>; W] = std::array::from_fn(|lane| {
                    (lanes >> lane & 1 == 1).then(|| base[lane].wrapping_add(offset))
                });
                let cycles = u64::from(self.machine.conflict_cycles(&addresses, width, access));
                self.patterns[index] = Some(Box::new(Pattern {
                    relative,
                    misalignment,
                    lanes,
                    cycles,
                }));
                cycles
            }
        };
        let (accesses, sum) = &mut self.tally.conflicts[index];
        *accesses += 1;
        *sum += cycles;
        match access {
            Access::Read => self.tally.conflicts_read += cycles,
            Access::Write => self.tally.conflicts_write += cycles,
        }
    }
}
