//! Accesses of global memory that are pending when their wave signals.
//!
//! What a wave stores and reads back itself needs no wait: the vector memory operations of a wave
//! reach the cache in order. Others must only read it, or store over it, behind a release, which
//! waits until loads and stores are complete (LLVM's AMDGPU usage guide, "Memory Model"): for other
//! workgroups before a store or an atomic operation that tells them (see [`crate::signals`]), and
//! within a workgroup before the barrier, unless it runs on one compute unit, where its waves share
//! that cache. The scalar cache sees no vector stores at all until it is invalidated.

use std::collections::HashMap;
use std::ops::Range;

use crate::check::Check;
use crate::group::Group;
use crate::memory::Visitor;
use crate::memory::lds::Touch;
use crate::signals::How;
use crate::waits::Access;
use crate::wave::Wave;

/// What waves of a workgroup had not waited for when they signalled a barrier.
#[derive(Debug, Default)]
pub(crate) struct Exposed {
    /// By the barrier's number modulo two: waves are never further apart.
    barriers: [Open; 2],
}

/// The same of one barrier: of words of global memory, by address over four, the waves that load,
/// store and change them by atomic operations, as masks.
#[derive(Debug, Default)]
struct Open {
    barrier: u32,
    words: HashMap<u64, [u64; 3]>,
}

impl Exposed {
    fn add(&mut self, barrier: u32, wave: u32, words: impl Iterator<Item = (u64, Access)>) {
        let open = &mut self.barriers[barrier as usize % 2];
        if open.barrier != barrier {
            open.barrier = barrier;
            open.words.clear();
        }
        for (word, access) in words {
            open.words.entry(word).or_default()[access as usize] |= 1 << wave;
        }
    }

    /// Whether other waves do one of some things to one of some words, behind the barrier that a
    /// wave passed last.
    #[inline]
    fn meets(&self, words: Range<u64>, accesses: &[Access], me: &Visitor) -> bool {
        let Some(barrier) = me.passed.checked_sub(1) else {
            return false;
        };
        let open = &self.barriers[barrier as usize % 2];
        if open.words.is_empty() || open.barrier != barrier {
            return false;
        }
        words.filter_map(|word| open.words.get(&word)).any(|waves| {
            let others = |access: &Access| waves[*access as usize] & !(1 << me.wave) != 0;
            accesses.iter().any(others)
        })
    }
}

impl<const W: usize> Group<'_, W> {
    /// A wave signals a barrier: what it did not wait for may happen behind it.
    pub(crate) fn expose_at_barrier(&mut self, wave: &Wave<W>) {
        self.heard.join(&wave.heard);
        self.scalar_heard.join(&wave.scalar_heard);
        if self.checks.has(Check::Unreleased) && self.across_units {
            self.exposed
                .add(wave.passed(), wave.id, wave.waits.open_words());
        }
    }

    /// Notes that a wave loads what kernels store, where it must have waited for that before a barrier.
    #[inline]
    pub(crate) fn note_load(&mut self, address: u64, len: usize) {
        if self.across_units {
            let words = address / 4..(address + len as u64).div_ceil(4);
            self.loaded.extend(words);
        }
    }

    /// Whether a wave reads bytes whose store another wave of its workgroup had not waited for
    /// before their barrier.
    #[inline]
    pub(crate) fn reads_exposed(&self, address: u64, len: usize) -> bool {
        let words = address / 4..(address + len as u64).div_ceil(4);
        let accesses = [Access::Store, Access::Atomic];
        self.exposed.meets(words, &accesses, &self.visitor)
    }

    /// The same of a wave that stores, plainly or by an atomic operation: over what is loaded, and
    /// over what is stored.
    #[inline]
    pub(crate) fn writes_exposed(&self, address: u64, len: usize, atomic: bool) -> Option<Access> {
        let words = address / 4..(address + len as u64).div_ceil(4);
        let accesses = [Access::Load, Access::Store, Access::Atomic];
        // Atomic operations on a word may come in any order.
        let accesses = &accesses[..if atomic { 2 } else { 3 }];
        let meets = |access: &&Access| {
            let only = std::slice::from_ref(*access);
            self.exposed.meets(words.clone(), only, &self.visitor)
        };
        accesses.iter().find(meets).copied()
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
            let now = signals.now(wave);
            signals.loads.complete(told.section, now);
        }
    }
}
