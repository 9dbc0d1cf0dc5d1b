//! Stores and atomic operations as parts of races in global memory: the other half of
//! [`crate::races`].

use crate::check::Check;
use crate::group::Group;
use crate::loads::{LOCAL, Loaded, SIGNAL};
use crate::memory::{Buffer, bytes_of};
use crate::program::Inst;
use crate::races::NOTHING;
use crate::signals::{How, Number, Order, Point};
use crate::stamps::Parts;
use crate::wave::Wave;

/// What another wave did to bytes of a word that may happen behind the store.
#[derive(Clone, Copy, Default)]
struct Other {
    bytes: u8,
    /// The first one, and whether it is pending or unordered.
    first: Option<(Point, Order)>,
}

impl Other {
    fn add(&mut self, bytes: u8, point: Point, order: Order) {
        self.bytes |= bytes;
        self.first.get_or_insert((point, order));
    }
}

/// What is said of a store to some bytes of a word.
#[derive(Clone, Copy)]
struct Verdict {
    /// What was stored.
    stored: Other,
    /// What was loaded.
    loaded: Other,
    /// Bytes that nobody stored in this launch.
    fresh: u8,
    /// What the word then has: stamp and loads.
    stamp: u32,
    loads: u32,
}

/// What the instruction being executed stores.
#[derive(Default)]
pub(crate) struct Writing {
    judged: Option<((u32, u32, u8), Verdict)>,
    /// The first store over what another wave loaded.
    loaded: Option<(u32, u64, Point, Order)>,
    /// All stores over what other waves stored, and who did.
    stored: Vec<(u32, u64)>,
    by: Option<(Point, Order)>,
}

impl Writing {
    fn note(&mut self, verdict: &Verdict, stored: u8, loaded: u8, (lane, address): (u32, u64)) {
        if let (None, Some((reader, order))) = (&self.loaded, verdict.loaded.first)
            && loaded != 0
        {
            self.loaded = Some((lane, address, reader, order));
        }
        if stored != 0 {
            self.stored.push((lane, address));
            self.by = self.by.or(verdict.stored.first);
        }
    }
}

/// An atomic operation on a word.
#[derive(Clone, Copy)]
pub(crate) struct Swap {
    pub(crate) before: u32,
    pub(crate) after: u32,
    /// Whether the wave is told what was there.
    pub(crate) returns: bool,
    /// Whether it is a compare-and-swap.
    pub(crate) compares: bool,
    /// Whether that failed, and it was no more than a load.
    pub(crate) lost: bool,
}

impl<const W: usize> Group<'_, W> {
    /// Notes that a wave stores the low `len` bytes of a value in a buffer, before it does.
    #[inline]
    pub(crate) fn stores(
        &mut self,
        buffer: &Buffer,
        (at, len): (usize, usize),
        value: u32,
        place: (u32, u64),
        writing: &mut Writing,
        wave: &Wave<W>,
    ) {
        if self.storing == 0 {
            return;
        }
        for word in at / 4..(at + len).div_ceil(4) {
            let bytes = bytes_of(word, at, len);
            let (stamp, loads) = (buffer.stamp(4 * word), buffer.loads(4 * word));
            if stamp == 0 && loads == 0 && bytes == 15 {
                buffer.set_stamp(4 * word, self.storing);
                continue;
            }
            let key = (stamp, loads, bytes);
            let verdict = match writing.judged {
                Some((same, verdict)) if same == key => verdict,
                _ => {
                    let verdict = self.judge_store(key, None, wave);
                    writing.judged = Some((key, verdict));
                    verdict
                }
            };
            let stamp_before = stamp;
            let (mut stamp, mut loads_after) = (verdict.stamp, verdict.loads);
            if verdict.stored.bytes | verdict.loaded.bytes != 0 {
                let changed = buffer.changed(at, len, value);
                let changed = in_word(changed, at, word);
                writing.note(
                    &verdict,
                    verdict.stored.bytes & changed,
                    verdict.loaded.bytes & (changed | verdict.fresh),
                    place,
                );
                let same = bytes & !changed;
                if same != 0 {
                    stamp = self.same_stamp(stamp_before, bytes, verdict.stored.bytes & same);
                    loads_after = loads;
                }
            }
            buffer.set_stamp(4 * word, stamp);
            if loads_after != loads {
                buffer.set_loads(4 * word, loads_after);
            }
        }
    }

    fn parts(&self, stamp: u32) -> Parts {
        let signals = self.signals.as_ref();
        signals.map_or_else(Default::default, |signals| signals.stamps.parts(stamp))
    }

    /// The stamp after a store of bytes, `same` of which had their value.
    fn same_stamp(&mut self, stamp: u32, bytes: u8, same: u8) -> u32 {
        let Some(signals) = &mut self.signals else {
            return self.storing;
        };
        let parts = signals.stamps.parts(stamp);
        let mut stamps = std::mem::take(&mut signals.stamps);
        let plain = |number| signals.how(number) == Some(How::Plainly);
        let parts = stamps.stored(parts, self.storing, (bytes, same), plain);
        signals.stamps = stamps;
        signals.stamps.stamp(parts)
    }

    /// Judges a store or an atomic operation.
    fn judge_store(
        &mut self,
        (stamp, loads, bytes): (u32, u32, u8),
        atomic: Option<Swap>,
        wave: &Wave<W>,
    ) -> Verdict {
        let mut verdict = Verdict {
            stored: Other::default(),
            loaded: Other::default(),
            fresh: 0,
            stamp: self.storing,
            loads: 0,
        };
        let Some(signals) = &mut self.signals else {
            return verdict;
        };
        let me = &self.visitor;
        let own = signals.how(self.storing);
        let parts = signals.stamps.parts(stamp);
        for (at, number) in parts.bytes.iter().enumerate() {
            verdict.fresh |= u8::from(*number == 0) << at;
        }
        let plain = |number| signals.how(number) == Some(How::Plainly);
        // One that is spelled atomic races with plain stores alone.
        let spelled = atomic.is_some() || own != Some(How::Plainly);
        for (number, same, of) in parts.of(bytes) {
            let before = signals.stamps.list(same, spelled);
            for number in std::iter::once(number).chain(before) {
                let apart = !spelled || plain(number);
                let order = signals.order_of(number, me, &wave.heard);
                let order = order.filter(|order| apart && *order != Order::Complete);
                if let (Some(order), Some(point)) = (order, signals.point(number)) {
                    verdict.stored.add(of, point, order);
                    break;
                }
            }
        }
        for (loaded, of) in signals.loads.of(loads) {
            let near = loaded.point.workgroup == me.workgroup;
            let order = signals.order(&loaded.point, &loaded.done, me, &wave.heard);
            if of & bytes != 0 && !(of & LOCAL != 0 && near) && order != Order::Complete {
                verdict.loaded.add(of & bytes, loaded.point, order);
            }
        }
        let mine = |point: &Point| (point.workgroup, point.wave) == (me.workgroup, me.wave);
        let left = |loaded: &Loaded, of: u8| match atomic.is_some() && mine(&loaded.point) {
            // It began the loop of a compare-and-swap.
            true => 0,
            false => of & !bytes,
        };
        verdict.loads = signals.loads.filter(loads, left);
        let after = match atomic {
            None => parts.stored(self.storing, bytes),
            Some(swap) => {
                // Who is told what was there knows of the atomic operations before, and the wave's
                // own are before this one.
                let counts = |number: Number| match signals.how(number) {
                    Some(How::Atomically) => {
                        !swap.returns && !signals.point(number).is_some_and(|point| mine(&point))
                    }
                    how => how.is_some(),
                };
                let kept = parts.of(15).filter(|(number, ..)| counts(*number));
                let kept = kept.fold(0, |mask, (_, _, of)| mask | of) & bytes;
                let mut stamps = std::mem::take(&mut signals.stamps);
                let plain = |number| signals.how(number) == Some(How::Plainly);
                let after = stamps.changed(parts, self.storing, (bytes, kept), plain);
                signals.stamps = stamps;
                after
            }
        };
        verdict.stamp = signals.stamps.stamp(after);
        verdict
    }

    /// Notes that an atomic operation changes the word at an offset of a buffer.
    pub(crate) fn swaps(
        &mut self,
        buffer: &Buffer,
        at: usize,
        swap: Swap,
        place: (u32, u64),
        writing: &mut Writing,
        wave: &mut Wave<W>,
    ) {
        self.forgive(place.1, wave);
        if self.storing == 0 {
            return;
        }
        let (stamp, loads) = (buffer.stamp(at), buffer.loads(at));
        let parts = self.parts(stamp);
        for (earlier, ..) in parts.of(15) {
            if earlier == self.storing {
                continue;
            }
            if swap.returns && self.hearing.last() != Some(&earlier) {
                self.hearing.push(earlier);
            }
            if let Some(signals) = self.signals.as_mut().filter(|_| !swap.lost) {
                signals.keep(self.storing, earlier);
            }
        }
        let signal = if swap.returns { SIGNAL } else { 0 };
        if swap.lost {
            buffer.set_loads(at, loads | signal);
            return;
        }
        let differ = swap.before ^ swap.after;
        // LLVM makes atomic operations on a byte or a half of ones that swap the word: they count for
        // what they change, and for nothing where they add zero.
        let bytes = match swap.compares {
            true => (0..4)
                .filter(|at| differ >> (8 * at) & 0xff != 0)
                .fold(0, |mask, at| mask | 1 << at),
            false => 15,
        };
        let verdict = self.judge_store((stamp, loads, bytes), Some(swap), wave);
        let stored = if swap.returns {
            0
        } else {
            verdict.stored.bytes
        };
        let loaded = if differ == 0 { 0 } else { verdict.loaded.bytes };
        writing.note(&verdict, stored, loaded, place);
        buffer.set_stamp(at, verdict.stamp);
        buffer.set_loads(at, verdict.loads | signal);
    }

    /// Reports what the instruction stored.
    pub(crate) fn report_writing(&mut self, writing: Writing, wave: &Wave<W>, inst: &Inst<W>) {
        let memory = self.memory;
        if let Some((lane, address, reader, order)) = writing.loaded {
            let (check, why) = judged(order);
            let who = self.name(&reader);
            self.find(check, wave, inst, Some(lane), || {
                let place = memory.describe(address);
                format!("stores over what {who} read, and {why}: {place}")
            });
        }
        if let Some((by, order)) = writing.by {
            let (check, why) = judged(order);
            let what = format!("stores over what {} stored, and {why}", self.name(&by));
            let suspect = self.suspect(check, writing.stored, what, wave, inst);
            if let Some(signals) = self.signals.as_mut().filter(|_| self.checks.has(check)) {
                signals.suspect_store(suspect);
            }
        }
    }
}

/// The check that an access in such an order is a matter of, and what it says.
fn judged(order: Order) -> (Check, &'static str) {
    match order {
        Order::Pending => (
            Check::Unreleased,
            "that wave had not waited for it when it signalled",
        ),
        Order::Unordered | Order::Complete => (Check::GlobalRace, NOTHING),
    }
}

/// A mask of bytes from `at` on as one of a word, given by its index.
#[inline]
fn in_word(mask: u8, at: usize, word: usize) -> u8 {
    match at.checked_sub(4 * word) {
        Some(after) => mask << after & 15,
        None => mask >> (4 * word - at),
    }
}
