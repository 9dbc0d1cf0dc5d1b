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
use crate::signals::{Clock, How};
use crate::waits::{Access, Queue};
use crate::wave::Wave;

/// What waves of a workgroup leave behind at barriers.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    /// By the barrier's number modulo two: waves are never further apart.
    left: [Left; 2],
}

/// The same of one barrier.
#[derive(Debug, Default)]
pub(crate) struct Left {
    barrier: u32,
    /// What waves had heard of.
    pub(crate) heard: Clock,
    /// What they had heard of when the scalar cache was invalidated.
    pub(crate) scalar_heard: Clock,
    /// Of words of global memory, by address over four, the waves whose loads, stores and atomic
    /// operations are pending, as masks.
    pending: HashMap<u64, [u64; 3]>,
}

impl Barriers {
    fn at(&mut self, barrier: u32) -> &mut Left {
        let left = &mut self.left[barrier as usize % 2];
        if left.barrier != barrier {
            *left = Left {
                barrier,
                ..Left::default()
            };
        }
        left
    }

    /// What was left at a barrier.
    pub(crate) fn get(&self, barrier: u32) -> Option<&Left> {
        let left = &self.left[barrier as usize % 2];
        (left.barrier == barrier).then_some(left)
    }

    /// Whether other waves do one of some things to one of some words, behind the barrier that a
    /// wave passed last.
    #[inline]
    fn meets(&self, words: Range<u64>, accesses: &[Access], me: &Visitor) -> bool {
        let left = me.passed.checked_sub(1).and_then(|last| self.get(last));
        let Some(left) = left.filter(|left| !left.pending.is_empty()) else {
            return false;
        };
        words
            .filter_map(|word| left.pending.get(&word))
            .any(|waves| {
                let others = |access: &Access| waves[*access as usize] & !(1 << me.wave) != 0;
                accesses.iter().any(others)
            })
    }
}

impl<const W: usize> Group<'_, W> {
    /// A wave signals a barrier: others hear what it has heard of, and what it did not wait for may
    /// happen behind the barrier.
    pub(crate) fn leave_at_barrier(&mut self, wave: &Wave<W>) {
        let exposes = self.exposes();
        let left = self.left.at(wave.passed());
        left.heard.join(&wave.heard);
        left.scalar_heard.join(&wave.scalar_heard);
        if exposes {
            for (word, access) in wave.waits.open_words() {
                left.pending.entry(word).or_default()[access as usize] |= 1 << wave.id;
            }
        }
    }

    /// Whether what is pending at a barrier is kept word by word. Where workgroups run one at a time
    /// clocks tell more exactly.
    #[inline]
    fn exposes(&self) -> bool {
        self.across_units && self.signals.is_none() && self.checks.has(Check::Unreleased)
    }

    /// Says of the operation last pushed what it does to words of global memory.
    #[inline]
    pub(crate) fn expose_words(&self, queue: Queue, wave: &mut Wave<W>) {
        if !self.exposes() {
            return;
        }
        let accesses = [
            (Access::Load, &self.loaded),
            (Access::Store, &self.stored),
            (Access::Atomic, &self.changed),
        ];
        if let Some((access, words)) = accesses.into_iter().find(|(_, words)| !words.is_empty()) {
            wave.waits.last_accesses(queue, access, words);
        }
    }

    /// Notes that a wave loads what kernels store, where it must have waited for that before a barrier.
    #[inline]
    pub(crate) fn note_load(&mut self, address: u64, len: usize) {
        if self.exposes() {
            let words = address / 4..(address + len as u64).div_ceil(4);
            self.loaded.extend(words);
        }
    }

    /// Whether a wave touches words that another wave of its workgroup had not waited for before
    /// their barrier, so that their order matters.
    #[inline]
    pub(crate) fn meets_pending(&self, address: u64, len: usize, access: Access) -> bool {
        let words = address / 4..(address + len as u64).div_ceil(4);
        let accesses: &[Access] = match access {
            Access::Load => &[Access::Store, Access::Atomic],
            Access::Store => &[Access::Load, Access::Store, Access::Atomic],
            // They may come in any order.
            Access::Atomic => &[Access::Load, Access::Store],
        };
        self.left.meets(words, accesses, &self.visitor)
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
