//! Stores to global memory that others read before they are sure to have arrived.
//!
//! What a wave stores and reads back itself needs no wait: the vector memory operations of a wave
//! reach the cache in order. Others must only read it behind a release, which waits until the
//! stores are complete (LLVM's AMDGPU usage guide, "Memory Model"): for other workgroups before a
//! store or an atomic operation that tells them (see [`crate::signals`]), and within a workgroup
//! before the barrier, unless it runs on one compute unit, where its waves share that cache. The
//! scalar cache sees no vector stores at all until it is invalidated.

use std::collections::HashMap;

use crate::check::Check;
use crate::group::Group;
use crate::memory::Buffer;
use crate::program::Inst;
use crate::signals::{Early, Number};
use crate::wave::Wave;

/// Words of global memory, by address over four, whose stores a wave of the workgroup had not
/// waited for at its last barrier; which wave.
pub(crate) type Exposed = HashMap<u64, u32>;

impl<const W: usize> Group<'_, W> {
    /// A wave signals a barrier: its stores that were not waited for may arrive behind it.
    pub(crate) fn expose_at_barrier(&mut self, wave: &Wave<W>) {
        self.heard.join(&wave.heard);
        self.scalar_heard.join(&wave.scalar_heard);
        if !self.checks.has(Check::UnreleasedStore) || !self.across_units {
            return;
        }
        self.exposed.retain(|_, storer| *storer != wave.id);
        self.exposed
            .extend(wave.waits.open_stores().map(|word| (word, wave.id)));
    }

    /// Whether a wave reads bytes whose store another wave of its workgroup had not waited for
    /// before their barrier.
    #[inline]
    pub(crate) fn reads_exposed(&self, address: u64, len: usize, wave: u32) -> bool {
        !self.exposed.is_empty()
            && (address / 4..(address + len as u64).div_ceil(4)).any(|word| {
                let storer = self.exposed.get(&word);
                storer.is_some_and(|&storer| storer != wave)
            })
    }

    /// Gives a store or an atomic operation about to be executed its number.
    #[inline]
    pub(crate) fn issue(&mut self, wave: &Wave<W>) {
        if let Some(signals) = &mut self.signals {
            self.storing = signals.issue(self.number, wave);
        }
    }

    /// A store was executed where an earlier one wrote; the part that it left is still there.
    pub(crate) fn keeps_part(&mut self, earlier: Number) {
        if let Some(signals) = &mut self.signals {
            signals.keep(self.storing, earlier);
        }
    }

    /// An atomic operation was executed where a store wrote. One without a result counts as heard
    /// at once; the wave may know by other means that it had its turn.
    pub(crate) fn keeps_all(&mut self, earlier: Number, returns: bool, wave: &mut Wave<W>) {
        if earlier == self.storing {
            return;
        }
        if let Some(signals) = &mut self.signals {
            signals.keep(self.storing, earlier);
            match returns {
                true => self.hearing.push(earlier),
                false => signals.hear(&mut wave.heard, (self.number, wave.id), earlier),
            }
        }
    }

    /// Loads and stores that a wave has waited for since this was last called.
    #[inline]
    pub(crate) fn arrive(&mut self, wave: &mut Wave<W>) {
        if wave.waits.arrived.is_empty() {
            return;
        }
        for told in std::mem::take(&mut wave.waits.arrived) {
            self.scalar_cache.complete(told.own, wave);
            let Some(signals) = &mut self.signals else {
                continue;
            };
            for signal in told.heard {
                signals.hear(&mut wave.heard, (self.number, wave.id), signal);
            }
            signals.complete(told.store, wave);
        }
    }

    /// Notes that a wave loads from a buffer, as a signal or plainly; why it may then see what was
    /// there before a store. `judged` is the store that was looked at last.
    #[inline]
    pub(crate) fn reads_early(
        &mut self,
        buffer: &Buffer,
        (at, len): (usize, usize),
        signal: bool,
        judged: &mut Number,
        wave: &Wave<W>,
    ) -> Option<Early> {
        if self.signals.is_none() || buffer.is_input() {
            return None;
        }
        (at / 4..(at + len).div_ceil(4)).find_map(|word| {
            let store = buffer.stamp(4 * word);
            if store == 0 || store == *judged {
                return None;
            }
            *judged = store;
            if signal {
                self.hearing.push(store);
                return None;
            }
            self.early(store, wave)
        })
    }

    fn early(&self, store: Number, wave: &Wave<W>) -> Option<Early> {
        let signals = self.signals.as_ref()?;
        if !signals.is_foreign(store, self.number) {
            return None;
        }
        signals.early(
            store,
            (self.number, wave.id),
            &wave.heard,
            wave.waits.hearing(),
        )
    }

    pub(crate) fn report_early(
        &mut self,
        lane: u32,
        address: u64,
        early: Early,
        wave: &Wave<W>,
        inst: &Inst<W>,
    ) {
        let memory = self.memory;
        self.find(Check::UnreleasedStore, wave, inst, Some(lane), || {
            let what = match early {
                Early::Stored => {
                    "reads what another wave stored and did not wait for before it signalled"
                }
                Early::Loaded => {
                    "reads what another workgroup stored before it waited for the load that told \
                     it so"
                }
            };
            format!("{what}: {}", memory.describe(address))
        });
    }
}
