//! The order of an interleaved multiplication: which matrix instruction follows which, and when
//! what they use is read and loaded.
//!
//! The lowering emits this order and the search counts it, so that what is expected of a kernel
//! is what it does.

use crate::early_commits::last_group;
use tilefold_dialect::plan::Commit;

/// A fragment: operand, K slice, index along m or n.
pub type Fragment = (usize, i64, i64);

/// Matrix instructions from one that adds to an accumulator to the next that adds to the same, so
/// that none waits for the one before: LLVM marks what depends on one of the last four vector
/// instructions by an instruction of its own (`AMDGPUInsertDelayAlu`).
const APART: i64 = 5;

/// One matrix instruction of a wave's tile: K slice, part of it where an atom has several
/// instructions, and accumulator along m and n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub slice: i64,
    pub part: i64,
    pub m: i64,
    pub n: i64,
}

impl Step {
    /// The fragments that it uses.
    pub fn fragments(self) -> [Fragment; 2] {
        [(0, self.slice, self.m), (1, self.slice, self.n)]
    }
}

/// The matrix instructions of `repeat` = (m, n, k) atoms of so many `parts` each.
///
/// K slice after K slice, and in each the fragments of the operand that leads one by one, every
/// one against all of the other operand's: the first instructions of those atoms, then the second
/// ones. Where these are too few to keep apart what adds to one accumulator, as many fragments of
/// the leading operand go together as it takes.
pub fn steps(repeat: [i64; 3], parts: i64, lead: usize) -> Vec<Step> {
    let [repeat_m, repeat_n, repeat_k] = repeat;
    let (outer, inner) = match lead {
        0 => (repeat_m, repeat_n),
        _ => (repeat_n, repeat_m),
    };
    let together = match parts {
        1 => 1,
        _ => (APART + inner - 1) / inner.max(1),
    };
    let groups = (outer / together).max(1);
    let mut steps = Vec::with_capacity((outer * inner * repeat_k * parts).max(0) as usize);
    for slice in 0..repeat_k {
        for group in 0..groups {
            let [first, last] = [group, group + 1].map(|at| at * outer / groups);
            for part in 0..parts {
                for at in first..last {
                    steps.extend((0..inner).map(|other| {
                        let (m, n) = match lead {
                            0 => (at, other),
                            _ => (other, at),
                        };
                        Step { slice, part, m, n }
                    }));
                }
            }
        }
    }
    steps
}

/// When fragments are read, in their order.
#[derive(Debug)]
pub struct Reads {
    /// So many of them go before everything else.
    pub first: usize,
    /// Fragments, each with the step just before which it is read.
    pub due: Vec<(usize, Fragment)>,
}

/// Groups the steps by `ahead`, and spreads the reads of a group over the group before it. Of a
/// group's fragments the one that is used first is read last: LDS answers in order, so that a
/// single wait then covers the group.
pub fn reads(steps: &[Step], ahead: usize) -> Reads {
    let ahead = ahead.max(1);
    let mut known = Known::of(steps);
    let mut reads = Reads {
        first: 0,
        due: Vec::with_capacity(known.seen.len()),
    };
    let mut new = Vec::new();
    for (index, group) in steps.chunks(ahead).enumerate() {
        let used = group.iter().flat_map(|step| step.fragments());
        new.extend(used.filter(|fragment| known.insert(*fragment)));
        let count = new.len();
        if index == 0 {
            reads.first = count;
        }
        for (place, fragment) in new.drain(..).rev().enumerate() {
            let before = index.saturating_sub(1) * ahead;
            let at = if index == 0 { 0 } else { place * ahead / count };
            reads.due.push((before + at, fragment));
        }
    }
    reads
}

/// Loads of the next tiles in their order: operand, and which of its `counts` loads; one of the
/// operand that leads and one of the other in turn.
pub fn loads(counts: [usize; 2], lead: usize) -> impl Iterator<Item = (usize, usize)> {
    let longest = counts[0].max(counts[1]);
    (0..longest)
        .flat_map(move |index| [0, 1].map(|turn| (turn ^ lead, index)))
        .filter(move |(operand, index)| *index < counts[*operand])
}

/// Numbers of the fragments of some steps.
struct Known {
    extents: [usize; 3],
    seen: Vec<bool>,
}

impl Known {
    fn of(steps: &[Step]) -> Self {
        let most = |of: fn(&Step) -> i64| steps.iter().map(of).max().map_or(0, |it| it + 1);
        let extents = [most(|it| it.m), most(|it| it.n), most(|it| it.slice)];
        let [m, n, slices] = extents.map(|it| it as usize);
        Self {
            extents: [m, n, slices],
            seen: vec![false; (m + n) * slices],
        }
    }

    fn number(&self, (operand, slice, index): Fragment) -> usize {
        let [m, n, _] = self.extents;
        slice as usize * (m + n) + operand * m + index as usize
    }

    /// Whether it is new.
    fn insert(&mut self, fragment: Fragment) -> bool {
        let number = self.number(fragment);
        !std::mem::replace(&mut self.seen[number], true)
    }
}

/// An interleaved multiplication of one wave and K tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleaved {
    /// Atoms along m, n and k.
    pub repeat: [i64; 3],
    /// Instructions of an atom.
    pub parts: i64,
    /// The operand, 0 or 1, that goes first.
    pub lead: usize,
    /// Instructions whose fragments are read together.
    pub ahead: i64,
    /// Instructions from one load to the next.
    pub cadence: i64,
    /// When the next tiles go to LDS.
    pub commit: Commit,
    /// Loads of the next tiles of A and B.
    pub loads: [i64; 2],
    /// Registers of a fragment.
    pub fragment: i64,
    /// Registers of the next tiles of A and B.
    pub staged: [i64; 2],
}

/// What an order takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Most registers of fragments at once.
    pub fragments: i64,
    /// Most registers of fragments and of what is loaded at once.
    pub registers: i64,
    /// Matrix instructions before which fragments are waited for, without those that come after
    /// the commit of the next tiles,
    pub waits: i64,
    /// and those, which a barrier before the commit has waited for.
    pub late: i64,
    /// Reads of fragments, where two of one operand with no matrix instruction between them are
    /// one.
    pub pairs: i64,
    /// Loads that no matrix instruction comes between.
    pub crowded: i64,
    /// Loads that what is stored waits for one after the other, A before B, where nothing has
    /// waited for all of them.
    pub stored: i64,
}

impl Interleaved {
    /// Follows the order through one K tile.
    pub fn take(&self) -> Taken {
        let steps = steps(self.repeat, self.parts, self.lead);
        let reads = reads(&steps, self.ahead.max(1) as usize);
        let known = Known::of(&steps);
        // Of every fragment its place among the reads, and the last step that uses it.
        let mut place = vec![0; known.seen.len()];
        for (index, (_, fragment)) in reads.due.iter().enumerate() {
            place[known.number(*fragment)] = index + 1;
        }
        let mut last = vec![0; known.seen.len()];
        for (at, step) in steps.iter().enumerate() {
            for fragment in step.fragments() {
                last[known.number(fragment)] = at;
            }
        }
        let cadence = self.cadence.max(1) as usize;
        let tail = match self.commit {
            Commit::End => 0,
            Commit::Reads => last_group(steps.len() as i64, self.ahead) as usize,
        };
        let counts = self.loads.map(|count| count.max(0) as usize);
        let mut queue = loads(counts, self.lead);
        let mut issued = [0; 2];
        let mut taken = Taken::default();
        let mut due = reads.due.iter().skip(reads.first).peekable();
        let (mut live, mut waited) = (reads.first as i64, 0);
        let pairs = |near: [i64; 2]| (near[0] + 1) / 2 + (near[1] + 1) / 2;
        let mut near = [0; 2];
        for (_, fragment) in &reads.due[..reads.first] {
            near[fragment.0] += 1;
        }
        for (at, step) in steps.iter().enumerate() {
            if at + tail == steps.len() {
                taken.crowded = self.rest(&mut queue, &mut issued);
            } else if at + tail < steps.len()
                && at % cadence == 0
                && let Some((operand, _)) = queue.next()
            {
                issued[operand] += 1;
            }
            while let Some((_, fragment)) = due.next_if(|(before, _)| *before == at) {
                near[fragment.0] += 1;
                live += 1;
            }
            taken.pairs += pairs(std::mem::take(&mut near));
            let fragments = live * self.fragment;
            taken.fragments = taken.fragments.max(fragments);
            taken.registers = taken.registers.max(fragments + self.staged(issued));
            let used = step.fragments().map(|fragment| known.number(fragment));
            let wanted = place[used[0]].max(place[used[1]]);
            if wanted > waited {
                waited = wanted;
                if at + tail < steps.len() {
                    taken.waits += 1;
                } else {
                    taken.late += 1;
                }
            }
            live -= used.iter().filter(|number| last[**number] == at).count() as i64;
        }
        if tail == 0 {
            taken.crowded = self.rest(&mut queue, &mut issued);
        }
        taken.registers = taken.registers.max(self.staged(issued));
        let mut issued = [Vec::new(), Vec::new()];
        for (place, (operand, _)) in loads(counts, self.lead).enumerate() {
            issued[operand].push(place + 1);
        }
        let mut waited = 0;
        for place in issued.into_iter().flatten() {
            if place > waited {
                waited = place;
                taken.stored += 1;
            }
        }
        taken
    }

    /// Issues what no matrix instruction is left for.
    fn rest(&self, queue: &mut impl Iterator<Item = (usize, usize)>, issued: &mut [i64; 2]) -> i64 {
        let mut count = 0;
        for (operand, _) in queue {
            issued[operand] += 1;
            count += 1;
        }
        count
    }

    /// Registers of so many loads of A and B.
    fn staged(&self, issued: [i64; 2]) -> i64 {
        let of =
            |operand: usize| self.staged[operand] * issued[operand] / self.loads[operand].max(1);
        of(0) + of(1)
    }
}
