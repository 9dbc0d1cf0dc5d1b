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
use crate::memory::lds::Touch;
use crate::signals::How;
use crate::wave::Wave;

/// Words of global memory, by address over four, whose stores and atomic operations a wave of the
/// workgroup had not waited for at its last barrier; which wave.
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

    /// A wave executed an atomic operation on words of LDS: it comes behind what waves did before
    /// theirs on the same words, if it is told what was there.
    pub(crate) fn order_by_lds(&mut self, touch: &Touch<W>, returns: bool, wave: &mut Wave<W>) {
        if !touch.atomic || self.signals.is_none() {
            return;
        }
        let storing = self.storing;
        self.issue(How::Atomically, wave);
        let number = std::mem::replace(&mut self.storing, storing);
        let Some(signals) = &mut self.signals else {
            return;
        };
        for lane in (0..W).filter(|lane| touch.lanes >> lane & 1 == 1) {
            let first = touch.base[lane].wrapping_add(touch.offsets[0]) / 4;
            for word in first..first + (touch.bytes as u32).div_ceil(4) {
                let earlier = self.lds_atomics.insert(word, number).unwrap_or(0);
                if earlier == number {
                    continue;
                }
                signals.keep(number, earlier);
                if returns {
                    signals.hear(&mut wave.heard, (self.number, wave.id), earlier);
                }
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
}
