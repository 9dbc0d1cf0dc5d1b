//! The order in which workgroups run: in parallel where they have nothing to do with each other,
//! else one at a time, and those that wait for a word of memory to change step aside.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::check::{Check, Finding};
use crate::error::Error;
use crate::group::{Common, Group, Pause};
use crate::memory::Memory;
use crate::poll::Seen;
use crate::signals::Signals;
use crate::start::Start;
use crate::tally::Tally;
use crate::wave::Wave;

/// Findings kept of a launch.
const KEPT: usize = 32;

/// Turns in a row of workgroups whose words changed or that changed others', until another one has
/// its turn.
const FAVOURS: u32 = 256;

/// Turns in a row of workgroups that do not wait, until one that does has its turn.
const WORKING: u32 = 2;

/// Most workgroups that have begun and not ended, about as many as a large device holds.
const RESIDENT: usize = 512;

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

    /// Instructions that its waves have executed.
    fn executed(&self) -> u64 {
        self.waves.iter().map(|wave| wave.executed).sum()
    }

    /// Runs although nothing that it waits for has changed, and notes whether it came back to the
    /// same: a loop that counts, or looks at the time, ends some day.
    fn run_in_vain(&mut self) -> Result<Pause, Error> {
        for wave in &mut self.waves {
            wave.poll.lengthen();
        }
        let written = self.group.tally.written;
        let pause = self.run(false)?;
        let mut hasher = DefaultHasher::new();
        self.group.lds.bytes.hash(&mut hasher);
        for wave in &self.waves {
            (wave.pc, &wave.v, wave.s, wave.scc, &wave.scratch).hash(&mut hasher);
        }
        let unchanged = pause == Pause::Polls && self.group.tally.written == written;
        let state = unchanged.then(|| hasher.finish());
        self.stuck = state.is_some() && self.state == state;
        self.state = state;
        Ok(pause)
    }

    /// The error of loops that counted in vain for as long as a wave may go on.
    fn gives_up(&self, common: &Common<'_, W>) -> Error {
        let told = |wave: &Wave<W>| Some((wave.id, wave.poll.describe(common.memory)?));
        let polling = self.waves.iter().find_map(told);
        Error::Endless {
            workgroup: self.group.id,
            wave: polling.as_ref().map_or(0, |(wave, _)| *wave),
            limit: common.settings.limit,
            polling: polling.map(|(_, words)| words),
        }
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
    /// What the checks found in that workgroup and others.
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
                // The error of the first workgroup, whichever is traced, and what all found.
                (Err(a), Err(b)) => {
                    let (first, other) = if a.at <= b.at { (a, b) } else { (b, a) };
                    Err(Failure {
                        trace: first.trace.or(other.trace),
                        findings: kept([first.findings, other.findings]),
                        ..first
                    })
                }
                (Err(failure), Ok(tally)) => Err(Failure {
                    trace: failure.trace.or(tally.trace),
                    findings: kept([failure.findings, tally.findings]),
                    ..failure
                }),
                (Ok(tally), Err(failure)) => Err(Failure {
                    trace: failure.trace.or(tally.trace),
                    findings: kept([tally.findings, failure.findings]),
                    ..failure
                }),
            },
        );
    if overlap.into_inner() {
        return Ok((empty(), true));
    }
    tally.map(|tally| (tally, false))
}

/// The first findings of several workgroups.
fn kept(of: [Vec<Finding>; 2]) -> Vec<Finding> {
    of.into_iter().flatten().take(KEPT).collect()
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
    // Turns of each kind in a row, and instructions in vain.
    let (mut favours, mut working, mut vain) = (0, 0, 0);
    loop {
        let woken = || live.iter().position(|running| running.wakes(common.memory));
        let told = || live.iter().position(|running| running.told);
        let favoured = (favours < FAVOURS).then(|| woken().or_else(told)).flatten();
        favours = if favoured.is_some() { favours + 1 } else { 0 };
        let mut in_vain = false;
        let at = match favoured {
            Some(at) => at,
            None if begun < count && live.len() < RESIDENT => {
                let index = groups.map_or(begun, |groups| groups[begun as usize]);
                begun += 1;
                live.push(Running::new(common, start, index, false));
                live.len() - 1
            }
            None if live.is_empty() => break,
            // Those that do not wait go on in turn, and now and then one that does: its loop may
            // count. Where all wait and come back to the same state, the first may give up.
            None => {
                let works = live.iter().position(|running| running.watched.is_empty());
                let works = works.filter(|_| working < WORKING);
                working = if works.is_some() { working + 1 } else { 0 };
                let waits =
                    |running: &Running<'_, W>| !running.watched.is_empty() && !running.stuck;
                let at = works.or_else(|| live.iter().position(waits)).unwrap_or(0);
                in_vain = !live[at].watched.is_empty() && !live[at].wakes(common.memory);
                at
            }
        };
        let mut running = live.remove(at);
        running.group.signals = signals.take();
        let awaited = live.iter().flat_map(|other| &other.watched);
        running.group.awaited = awaited.map(|seen| seen.address / 4).collect();
        let before = running.executed();
        let mut result = match in_vain {
            true => running.run_in_vain(),
            false => running.run(false),
        };
        vain = if in_vain {
            vain + running.executed() - before
        } else {
            0
        };
        if vain >= common.settings.limit && result.is_ok() {
            result = Err(running.gives_up(common));
        }
        let pause = match result {
            Ok(pause) => pause,
            Err(error) => {
                live.insert(0, running);
                for mut other in live {
                    other.group.end_trace(Some(&error));
                    sum.add(other.group.tally, KEPT);
                }
                return Err(Failure {
                    at: 0,
                    error,
                    trace: sum.trace,
                    findings: sum.findings,
                });
            }
        };
        signals = running.group.signals.take();
        match pause {
            Pause::Ended => sum.add(running.group.tally, KEPT),
            Pause::Polls if !in_vain => {
                (running.state, running.stuck) = (None, false);
                live.insert(at, running);
            }
            Pause::Polls | Pause::Long | Pause::Tells => live.push(running),
        }
    }
    if let Some(signals) = signals {
        signals.report_suspects(common.memory, &mut sum, KEPT);
    }
    Ok(sum)
}
