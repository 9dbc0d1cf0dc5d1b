//! Data races in global memory, where workgroups run one at a time.
//!
//! Two waves touch a byte, one of them stores, and nothing orders the two: not a barrier of their
//! workgroup, nor a signal that one of them heard of (see [`crate::signals`]). A byte remembers what
//! stored it last and who loaded it since. What is no race though it looks like one, and why, is
//! told in the simulator's documentation under "Races in global memory".

use crate::check::Check;
use crate::group::Group;
use crate::loads::{LOCAL, SIGNAL};
use crate::memory::{Buffer, Visitor, bytes_of};
use crate::program::Inst;
use crate::scalar_cache::Own;
use crate::signals::{Early, How, Order, Point};
use crate::waits::Told;
use crate::wave::Wave;

pub(crate) const NOTHING: &str = "nothing orders the two";

/// What a load says of its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Nothing: it is plain, or orders no more than its own wave.
    Wave,
    /// Nothing that the chip spells, but it decides a branch: where the waves of a workgroup share a
    /// cache, LLVM's atomic loads for the workgroup look so.
    Maybe,
    Workgroup,
    Device,
}

/// Why a load is a fault.
#[derive(Debug, Clone, Copy)]
enum Why {
    Early(Early),
    Race(Point),
}

/// What the instruction being executed loads.
#[derive(Default)]
pub(crate) struct Reading {
    /// The words looked at last, and what was said of them.
    stored: Option<(u32, u8, Option<Why>)>,
    /// The same of the loads before.
    loaded: Option<(u32, u8, u32)>,
    /// All that came too early, and why the first one did.
    early: Vec<(u32, u64)>,
    why: Option<Early>,
    /// All that are races, and with whom the first one is.
    races: Vec<(u32, u64)>,
    other: Option<Point>,
}

impl Reading {
    /// What another check says of a load by the scalar cache is left out.
    pub(crate) fn by_scalar_cache(self) -> Reading {
        Reading {
            early: Vec::new(),
            why: None,
            ..self
        }
    }

    fn is_early(&mut self, place: (u32, u64), early: Early) {
        self.why.get_or_insert(early);
        self.early.push(place);
    }
}

impl<const W: usize> Group<'_, W> {
    /// A wave is about to access memory by its next instruction.
    #[inline]
    pub(crate) fn visit(&mut self, wave: &Wave<W>) {
        self.visitor = Visitor {
            workgroup: self.number,
            wave: wave.id,
            passed: wave.passed(),
            barrier: wave.next_barrier(),
            ..self.visitor
        };
        self.section = 0;
    }

    /// Gives a store or an atomic operation about to be executed its number.
    #[inline]
    pub(crate) fn issue(&mut self, how: How, wave: &Wave<W>) {
        if let Some(signals) = &mut self.signals {
            self.storing = signals.issue(self.number, how, wave);
        }
    }

    /// What the instruction just executed has to do with other waves.
    pub(crate) fn tell(&mut self, own: Own) -> Told {
        Told {
            store: std::mem::take(&mut self.storing),
            heard: self.hearing.drain(..).collect(),
            section: self.section,
            own,
        }
    }

    /// Notes that a wave loads from a buffer.
    #[inline]
    pub(crate) fn reads(
        &mut self,
        buffer: &Buffer,
        (at, len): (usize, usize),
        (lane, address): (u32, u64),
        scope: Scope,
        reading: &mut Reading,
        wave: &Wave<W>,
    ) {
        if self.signals.is_none() || buffer.is_input() {
            return;
        }
        for word in at / 4..(at + len).div_ceil(4) {
            let bytes = bytes_of(word, at, len);
            let (stamp, loads) = (buffer.stamp(4 * word), buffer.loads(4 * word));
            let why = match reading.stored {
                _ if stamp == 0 => None,
                Some((same, of, why)) if (same, of) == (stamp, bytes) => why,
                _ => {
                    let why = self.judge_load(stamp, bytes, scope, wave);
                    reading.stored = Some((stamp, bytes, why));
                    why
                }
            };
            let address = address + (4 * word).saturating_sub(at) as u64;
            match why {
                None => {}
                Some(Why::Early(early)) => reading.is_early((lane, address), early),
                Some(Why::Race(point)) => {
                    reading.other.get_or_insert(point);
                    reading.races.push((lane, address));
                }
            }
            let after = match reading.loaded {
                Some((same, of, after)) if (same, of) == (loads, bytes) => after,
                _ => {
                    let after = self.add_load(loads, bytes, scope, wave);
                    reading.loaded = Some((loads, bytes, after));
                    after
                }
            };
            if after != loads {
                buffer.set_loads(4 * word, after);
            }
        }
    }

    /// The loads of a word after one more.
    fn add_load(&mut self, loads: u32, bytes: u8, scope: Scope, wave: &Wave<W>) -> u32 {
        let Some(signals) = &mut self.signals else {
            return loads;
        };
        let (bytes, signal) = match scope {
            Scope::Wave => (bytes, 0),
            Scope::Maybe => (bytes | LOCAL, SIGNAL),
            Scope::Workgroup | Scope::Device => return loads | SIGNAL,
        };
        let me = &self.visitor;
        if self.section == 0 {
            self.section = signals.loads.section(Point {
                workgroup: me.workgroup,
                wave: me.wave,
                number: signals.next(),
                barrier: me.barrier,
            });
        }
        let mut sets = std::mem::take(&mut signals.loads);
        let after = sets.add(loads | signal, self.section, bytes, |loaded| {
            let (point, done) = (&loaded.point, &loaded.done);
            let order = signals.order(point, done, me, &wave.heard);
            order == Order::Complete && signals.returned(point, done, me, &wave.heard)
        });
        signals.loads = sets;
        after
    }

    /// Why a load may meet what stored some bytes of a word.
    fn judge_load(&mut self, stamp: u32, bytes: u8, scope: Scope, wave: &Wave<W>) -> Option<Why> {
        let signals = self.signals.as_ref()?;
        let me = (self.number, wave.id);
        let parts = signals.stamps.parts(stamp);
        let mut why = None;
        for (number, same, _) in parts.of(bytes) {
            let Some(point) = signals.point(number) else {
                continue;
            };
            let near = point.workgroup == self.number;
            let signal = match scope {
                Scope::Wave => false,
                Scope::Maybe | Scope::Workgroup => near,
                Scope::Device => true,
            };
            if signal {
                self.hearing.push(number);
                continue;
            }
            let is_atomic = signals.how(number) == Some(How::Atomically);
            let waits = signals.waits(&point, &self.visitor);
            let before = signals.is_before(&point, &self.visitor, &wave.heard);
            if before && !waits && !(is_atomic && same != 0) {
                continue;
            }
            let all = signals.with(&wave.heard, me, wave.waits.hearing());
            let is_before = |point: &Point| signals.is_before(point, &self.visitor, &all);
            let early = |number, point: &Point| {
                if !signals.waits(point, &self.visitor) {
                    return None;
                }
                // The waves of a workgroup do not race for what one of them has yet to hear.
                let near = point.workgroup == self.number;
                let early = signals.early(number, &self.visitor, [&wave.heard, &all]);
                early.filter(|early| !near || *early == Early::Stored)
            };
            let others = || {
                let others = signals.stamps.list(same, false);
                others.filter_map(|number| Some((number, signals.point(number)?)))
            };
            let (early, race) = match is_atomic {
                // All that the word is made of must be there.
                true => {
                    let made_of = || std::iter::once((number, point)).chain(others());
                    let early = made_of().find_map(|(number, point)| early(number, &point));
                    let race = made_of().find(|(_, point)| !is_before(point));
                    (early, race.map(|(_, point)| point))
                }
                // One that stored the same value may have told of it.
                false => {
                    let before = is_before(&point) || others().any(|(_, point)| is_before(&point));
                    (early(number, &point), (!before).then_some(point))
                }
            };
            why = why.or(early.map(Why::Early)).or(race.map(Why::Race));
        }
        why
    }

    /// Reports what the instruction loaded.
    pub(crate) fn report_reading(&mut self, reading: Reading, wave: &mut Wave<W>, inst: &Inst<W>) {
        if let Some(early) = reading.why {
            let (check, what) = (Check::Unreleased, early.describe().to_owned());
            let suspect = self.suspect(check, reading.early, what, wave, inst);
            self.suspect_load(suspect, wave);
        }
        if let Some(other) = reading.other {
            let what = format!("reads what {} stored, and {NOTHING}", self.name(&other));
            let suspect = self.suspect(Check::GlobalRace, reading.races, what, wave, inst);
            self.suspect_load(suspect, wave);
        }
    }

    /// Names the wave of an access.
    pub(crate) fn name(&self, other: &Point) -> String {
        let whose = match other.workgroup == self.number {
            true => "of its workgroup".to_owned(),
            false => {
                let [x, y, z] = crate::schedule::workgroup(other.workgroup - 1, self.grid);
                format!("of workgroup {x},{y},{z}")
            }
        };
        format!("wave {} {whose}", other.wave)
    }
}
