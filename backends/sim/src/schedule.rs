//! The order in which workgroups run: in parallel where they have nothing to do with each other,
//! else one at a time, and those that wait for a word of memory to change step aside.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::check::{Check, Finding};
use crate::error::Error;
use crate::group::{Common, Group, Pause};
use crate::memory::{Buffer, Memory};
use crate::signals::Signals;
use crate::start::Start;
use crate::tally::Tally;
use crate::wave::Wave;

/// Findings kept of a launch.
const KEPT: usize = 32;

/// Times that a wave loads the same from the same places, by a few instructions and without storing
/// anything, until others have their turn. A loop that does so for another reason goes on later.
const POLLS: u32 = 256;

/// Most workgroups that have begun and not ended, about as many as a large device holds.
const RESIDENT: usize = 512;

/// A word that a load found where kernels store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    address: u64,
    word: u32,
}

impl Seen {
    /// Notes the words that a lane of an instruction finds in a buffer, unless nobody can change
    /// them.
    #[inline]
    pub(crate) fn note(
        seen: &mut Vec<Seen>,
        buffer: &Buffer,
        (at, len): (usize, usize),
        from: u64,
    ) {
        if buffer.is_input() {
            return;
        }
        for word in at / 4..(at + len).div_ceil(4) {
            let address = (from - at as u64) + 4 * word as u64;
            // Lanes often load the same.
            if seen.last().is_none_or(|last| last.address != address) {
                let word = buffer.read_u32(4 * word);
                seen.push(Seen { address, word });
            }
        }
    }

    /// Whether it is something else now.
    fn changed(&self, memory: &Memory) -> bool {
        memory.word_at(self.address) != Some(self.word)
    }
}

/// Instructions that a loop polls by.
const INSTRUCTIONS: usize = 4;

/// What an instruction of a loop found.
#[derive(Debug, Clone)]
struct Found {
    pc: usize,
    seen: Vec<Seen>,
    /// How many loads had found the same when it last did.
    last: u32,
}

/// What a wave loads over and over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Poll {
    found: Vec<Found>,
    /// Loads that found the same.
    times: u32,
}

impl Poll {
    /// Notes what an instruction loads; whether as many as it takes have found the same.
    #[inline]
    pub(crate) fn again(&mut self, pc: usize, seen: &[Seen]) -> bool {
        if let Some(found) = self.found.iter_mut().find(|found| found.pc == pc)
            && found.seen == seen
        {
            self.times = self.times.wrapping_add(1);
            found.last = self.times;
            return self.times.is_multiple_of(POLLS * self.found.len() as u32);
        }
        let known = self.found.iter().any(|found| found.pc == pc);
        if known || self.found.len() == INSTRUCTIONS {
            self.found.clear();
        }
        self.found.push(Found {
            pc,
            seen: seen.to_vec(),
            last: 0,
        });
        for found in &mut self.found {
            found.last = 0;
        }
        self.times = 0;
        false
    }

    /// The words that are loaded over and over: not those that a wave looked at once before.
    pub(crate) fn words(&self) -> impl Iterator<Item = Seen> {
        let often = self.times >= POLLS * self.found.len() as u32;
        let found = self.found.iter();
        let lately = found.filter(move |found| often && found.last > self.times / 2);
        lately.flat_map(|found| found.seen.iter().copied())
    }

    /// Says which they are.
    pub(crate) fn describe(&self, memory: &Memory) -> Option<String> {
        let mut addresses: Vec<u64> = self.words().map(|seen| seen.address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let words: Vec<String> = addresses
            .iter()
            .map(|&word| memory.describe(word))
            .collect();
        (!words.is_empty()).then(|| words.join(", and "))
    }
}

/// A workgroup that has begun.
struct Running<'a, const W: usize> {
    group: Group<'a, W>,
    waves: Vec<Wave<W>>,
    /// The words whose change it waits for; none when it may go on at any time.
    watched: Vec<Seen>,
    /// Whether it has just written what another one waits for.
    told: bool,
    /// What it was when it last had its turn although nothing that it waits for had changed.
    state: Option<u64>,
    /// Whether it was the same the time before: it waits for ever until others change something.
    stuck: bool,
}

impl<'a, const W: usize> Running<'a, W> {
    fn new(common: &Common<'a, W>, start: &Start, index: u32, parallel: bool) -> Self {
        let id = workgroup(index, common.settings.grid);
        let mut group = Group::new(common, id, index + 1, parallel);
        let waves = start.waves(group.id);
        group.start(&waves);
        Running {
            group,
            waves,
            watched: Vec::new(),
            told: false,
            state: None,
            stuck: false,
        }
    }

    fn run(&mut self, alone: bool) -> Result<Pause, Error> {
        let pause = self.group.run(&mut self.waves, alone)?;
        self.watched.clear();
        self.told = pause == Pause::Tells;
        if pause == Pause::Polls {
            let words = self.waves.iter().flat_map(|wave| wave.poll.words());
            self.watched.extend(words);
        }
        Ok(pause)
    }

    fn wakes(&self, memory: &Memory) -> bool {
        self.watched.iter().any(|seen| seen.changed(memory))
    }

    /// Notes whether it ran in vain, as nothing that it waits for had changed: a loop that counts, or
    /// looks at the time, ends some day; one that comes back to the same state does not.
    fn ran_in_vain(&mut self) {
        let mut hasher = DefaultHasher::new();
        self.group.lds.bytes.hash(&mut hasher);
        for wave in &self.waves {
            (wave.pc, &wave.v, wave.s, wave.scc, &wave.scratch).hash(&mut hasher);
        }
        let state = Some(hasher.finish());
        self.stuck = self.state == state;
        self.state = state;
    }
}

/// Workgroup `index` of a grid, x fastest.
pub(crate) fn workgroup(index: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [index % x, index / x % y, index / x / y]
}

/// Why not all workgroups ran to their end.
pub(crate) struct Failure {
    /// The workgroup's place among those that run in parallel.
    at: u32,
    pub(crate) error: Error,
    pub(crate) trace: Option<String>,
    /// What the checks found in that workgroup.
    pub(crate) findings: Vec<Finding>,
}

/// Runs the workgroups in parallel; true if two of them met in memory or one waits for another,
/// which ends the run early.
pub(crate) fn parallel<const W: usize>(
    common: &Common<'_, W>,
    start: &Start,
    groups: Option<&[u32]>,
) -> Result<(Tally, bool), Failure> {
    let all = common.settings.grid.iter().product();
    let count = groups.map_or(all, |groups| groups.len() as u32);
    let overlap = AtomicBool::new(false);
    let empty = || Tally::new(common.program.insts.len(), common.program.ds_count);
    let tally = (0..count)
        .into_par_iter()
        .map(|at| {
            let index = groups.map_or(at, |groups| groups[at as usize]);
            if overlap.load(Ordering::Relaxed) {
                return Ok(Tally::new(0, 0));
            }
            let mut running = Running::new(common, start, index, true);
            let result = running.run(true);
            if running.group.overlap || result == Ok(Pause::Polls) {
                overlap.store(true, Ordering::Relaxed);
                return Ok(Tally::new(0, 0));
            }
            match result {
                Ok(_) => Ok(running.group.tally),
                Err(error) => Err(Failure {
                    at,
                    error,
                    trace: running.group.tally.trace,
                    findings: running.group.tally.findings,
                }),
            }
        })
        .reduce(
            || Ok(empty()),
            |a, b| match (a, b) {
                (Ok(mut a), Ok(b)) => {
                    a.add(b, KEPT);
                    Ok(a)
                }
                // The error of the first workgroup, whichever is traced.
                (Err(a), Err(b)) => {
                    let (first, other) = if a.at <= b.at { (a, b) } else { (b, a) };
                    Err(Failure {
                        trace: first.trace.or(other.trace),
                        ..first
                    })
                }
                (Err(failure), Ok(tally)) | (Ok(tally), Err(failure)) => Err(Failure {
                    trace: failure.trace.or(tally.trace),
                    ..failure
                }),
            },
        );
    if overlap.into_inner() {
        return Ok((empty(), true));
    }
    tally.map(|tally| (tally, false))
}

/// Runs the workgroups one at a time. One that waits goes on as soon as what it waits for changes,
/// before the one that changed it goes on and a new one begins: so it has heard of no more than it
/// waited for.
pub(crate) fn serial<const W: usize>(
    common: &Common<'_, W>,
    start: &Start,
    groups: Option<&[u32]>,
) -> Result<Tally, Failure> {
    let all = common.settings.grid.iter().product();
    let count = groups.map_or(all, |groups| groups.len() as u32);
    let checks = [Check::Unreleased, Check::StaleScalar, Check::GlobalRace];
    let asks = checks
        .into_iter()
        .any(|check| common.settings.checks.has(check));
    let mut signals =
        asks.then(|| Signals::new(common.settings.shared_order, common.settings.across_units));
    let mut sum = Tally::new(common.program.insts.len(), common.program.ds_count);
    let (mut begun, mut live) = (0, Vec::<Running<'_, W>>::new());
    loop {
        let woken = live.iter().position(|running| running.wakes(common.memory));
        let told = || live.iter().position(|running| running.told);
        let mut in_vain = false;
        let at = match woken.or_else(told) {
            Some(at) => at,
            None if begun < count && live.len() < RESIDENT => {
                let index = groups.map_or(begun, |groups| groups[begun as usize]);
                begun += 1;
                live.push(Running::new(common, start, index, false));
                live.len() - 1
            }
            None if live.is_empty() => break,
            // Nobody changes what the others wait for but those that do not wait. Where all do, each
            // has its turn; where all come back to the same state, the first may give up.
            None => {
                let goes = live.iter().position(|running| running.watched.is_empty());
                in_vain = goes.is_none();
                let goes = goes.or_else(|| live.iter().position(|running| !running.stuck));
                goes.unwrap_or(0)
            }
        };
        let mut running = live.remove(at);
        let all_stuck = in_vain && running.stuck;
        running.group.signals = signals.take();
        let awaited = live.iter().flat_map(|other| &other.watched);
        running.group.awaited = awaited.map(|seen| seen.address / 4).collect();
        let pause = match running.run(false) {
            Ok(pause) => pause,
            Err(error) => {
                let mut trace = sum.trace.or(running.group.tally.trace);
                for mut other in live {
                    other.group.end_trace(Some(&error));
                    trace = trace.or(other.group.tally.trace);
                }
                return Err(Failure {
                    at: 0,
                    error,
                    trace,
                    findings: running.group.tally.findings,
                });
            }
        };
        signals = running.group.signals.take();
        match pause {
            Pause::Ended => sum.add(running.group.tally, KEPT),
            Pause::Polls if in_vain && !all_stuck => {
                running.ran_in_vain();
                live.push(running);
            }
            Pause::Polls => {
                if !in_vain {
                    (running.state, running.stuck) = (None, false);
                }
                live.insert(at, running);
            }
            Pause::Long | Pause::Tells => live.push(running),
        }
    }
    if let Some(signals) = signals {
        signals.report_suspects(common.memory, &mut sum, KEPT);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_waits_for_what_its_lanes_load_and_not_for_what_was_loaded_before() {
        let mut memory = Memory::new();
        let buffer = memory.alloc_inout(&[0; 64]);
        let base = memory.address(buffer).expect("it was allocated here");
        let (buffer, _) = memory.locate(base, 4, &mut 0).expect("its first word");
        let lanes = |words: &[usize]| {
            let mut seen = Vec::new();
            for word in words {
                Seen::note(&mut seen, buffer, (4 * word, 8), base + 4 * *word as u64);
            }
            seen
        };
        let mut poll = Poll::default();
        assert!(!poll.again(1, &lanes(&[9])));
        while !poll.again(2, &lanes(&[0, 0, 3])) {}
        let words: Vec<u64> = poll.words().map(|seen| (seen.address - base) / 4).collect();
        assert_eq!(words, [0, 1, 0, 1, 3, 4]);
    }
}
