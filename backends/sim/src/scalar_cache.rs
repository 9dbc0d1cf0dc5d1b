//! What the scalar cache may still hold of words that vector memory instructions wrote.
//!
//! The cache may hold any line at any time and sees no vector store. A word that was stored is
//! known to be read anew only if a wave invalidated the cache when the store was complete, and
//! before the load. What waves do is ordered by their programs, and between them by barriers.

use std::collections::HashMap;

use crate::check::Check;
use crate::group::Group;
use crate::memory::{Buffer, bytes_of};
use crate::wave::Wave;

/// Number of a storing instruction among those of the workgroup, from 1.
pub(crate) type Own = u32;

/// When a wave did something.
#[derive(Debug, Clone, Copy)]
struct Moment {
    wave: u32,
    /// Among all that is noted of the workgroup.
    at: u32,
    /// Barriers that the wave had passed.
    passed: u32,
    /// The barrier that orders it before what other waves do behind it.
    barrier: u32,
}

impl Moment {
    fn is_before(&self, other: &Moment) -> bool {
        match self.wave == other.wave {
            true => self.at < other.at,
            false => other.passed > self.barrier,
        }
    }
}

/// A storing instruction: when it was issued, and when its wave had waited for it.
#[derive(Debug)]
struct Store {
    issued: Moment,
    complete: Option<Moment>,
}

impl Store {
    /// Whether it was complete at a moment. Where no barrier says which was first, waves may know
    /// of each other through memory, and the order in which they ran counts.
    fn is_complete(&self, at: &Moment) -> bool {
        self.complete.is_some_and(|complete| {
            complete.is_before(at) || !self.issued.is_before(at) && complete.at < at.at
        })
    }
}

/// The last instructions that stored a word: plainly, and by an atomic operation.
#[derive(Debug, Default)]
struct Word {
    plain: Own,
    atomic: Own,
    /// When the atomic operation was issued.
    changed: Option<Moment>,
}

/// What a workgroup stored, and when its waves invalidated the scalar cache.
#[derive(Debug)]
pub(crate) struct ScalarCache {
    /// Whether any wave may invalidate it. Where none does, a store is never known.
    invalidates: bool,
    now: u32,
    /// By number; the first is 1.
    stores: Vec<Store>,
    invalidated: Vec<Moment>,
    /// By address over four. Plain stores are here only where a wave may invalidate the cache.
    words: HashMap<u64, Word>,
}

impl ScalarCache {
    pub(crate) fn new(invalidates: bool) -> ScalarCache {
        ScalarCache {
            invalidates,
            now: 0,
            stores: Vec::new(),
            invalidated: Vec::new(),
            words: HashMap::new(),
        }
    }

    fn moment<const W: usize>(&mut self, wave: &Wave<W>) -> Moment {
        self.now = self.now.saturating_add(1);
        Moment {
            wave: wave.id,
            at: self.now,
            passed: wave.passed(),
            barrier: wave.next_barrier(),
        }
    }

    fn number(&mut self, issued: Moment) -> Own {
        self.stores.push(Store {
            issued,
            complete: None,
        });
        self.stores.len() as Own
    }

    /// A wave stored words, by address over four; the number to say later that it waited for them,
    /// or 0 where that does not matter.
    #[inline]
    pub(crate) fn store<const W: usize>(&mut self, words: &[u64], wave: &Wave<W>) -> Own {
        if !self.invalidates || words.is_empty() {
            return 0;
        }
        let issued = self.moment(wave);
        let number = self.number(issued);
        for &word in words {
            self.words.entry(word).or_default().plain = number;
        }
        number
    }

    /// The same of words changed by an atomic operation.
    pub(crate) fn change<const W: usize>(&mut self, words: &[u64], wave: &Wave<W>) -> Own {
        let issued = self.moment(wave);
        let number = match self.invalidates {
            true => self.number(issued),
            false => 0,
        };
        for &word in words {
            let word = self.words.entry(word).or_default();
            (word.atomic, word.changed) = (number, Some(issued));
        }
        number
    }

    /// A wave waited for a store.
    pub(crate) fn complete<const W: usize>(&mut self, number: Own, wave: &Wave<W>) {
        let complete = Some(self.moment(wave));
        let store = (number as usize).checked_sub(1);
        if let Some(store) = store.and_then(|at| self.stores.get_mut(at)) {
            store.complete = complete;
        }
    }

    /// A wave invalidates the cache.
    pub(crate) fn invalidate<const W: usize>(&mut self, wave: &Wave<W>) {
        let moment = self.moment(wave);
        // Of several between the same barriers the last makes up for the others.
        let between = |last: &&mut Moment| {
            (last.wave, last.passed, last.barrier) == (wave.id, moment.passed, moment.barrier)
        };
        match self.invalidated.last_mut().filter(between) {
            Some(last) => *last = moment,
            None => self.invalidated.push(moment),
        }
    }

    /// Whether the cache was invalidated between a store and a moment.
    fn knows(&self, number: Own, now: &Moment) -> bool {
        let store = (number as usize).checked_sub(1);
        store
            .and_then(|at| self.stores.get(at))
            .is_some_and(|store| {
                let between = |moment: &Moment| store.is_complete(moment) && moment.is_before(now);
                self.invalidated.iter().rev().any(between)
            })
    }

    /// Whether the cache may hold what was in a word, by address over four, before this workgroup,
    /// which wrote it last, did so: `plainly` or by atomic operations alone.
    ///
    /// Atomic operations count where a barrier orders them before the load. Where none does it may
    /// see an old value whatever the cache does: LLVM starts a loop around a compare-and-swap from
    /// one.
    fn is_stale<const W: usize>(&mut self, word: u64, plainly: bool, wave: &Wave<W>) -> bool {
        let now = self.moment(wave);
        let word = self.words.get(&word);
        let changed = word.is_some_and(|word| {
            let ordered = |moment: Moment| now.passed > moment.barrier;
            word.changed.is_some_and(ordered) && !self.knows(word.atomic, &now)
        });
        changed || plainly && !word.is_some_and(|word| self.knows(word.plain, &now))
    }
}

impl<const W: usize> Group<'_, W> {
    /// Why a scalar load of a word may see what was there before a vector store.
    #[inline]
    pub(crate) fn stale(
        &mut self,
        buffer: &Buffer,
        (at, len): (usize, usize),
        address: u64,
        wave: &Wave<W>,
    ) -> Option<&'static str> {
        if buffer.is_input() || !self.checks.has(Check::StaleScalar) {
            return None;
        }
        if buffer.written_by(at, len, self.number, true) {
            let plainly = buffer.written_by(at, len, self.number, false);
            return self
                .scalar_cache
                .is_stale(address / 4, plainly, wave)
                .then_some("a vector store of this workgroup");
        }
        let signals = self.signals.as_ref()?;
        let parts = signals.stamps.parts(buffer.stamp(at));
        let bytes = bytes_of(at / 4, at, len);
        let stale = |store| {
            signals.is_foreign(store, self.number)
                && signals.is_store_told(store, &wave.heard)
                && !signals.is_store_released(store, &wave.scalar_heard)
        };
        let mut stores = parts.of(bytes);
        stores
            .any(|(store, ..)| stale(store))
            .then_some("another workgroup, which told so,")
    }

    /// A wave invalidates the scalar cache.
    pub(crate) fn invalidate_scalar(&mut self, wave: &mut Wave<W>) {
        self.scalar_cache.invalidate(wave);
        wave.scalar_heard.join(&wave.heard);
        wave.fresh_scalars = true;
    }
}
