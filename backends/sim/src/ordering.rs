//! Stores to global memory that others read before they are sure to have arrived.
//!
//! What a wave stores and reads back itself needs no wait: the vector memory operations of a wave
//! reach the cache in order. Others must only read it behind a release, which waits until the
//! stores are complete (LLVM's AMDGPU usage guide, "Memory Model"): for other workgroups before an
//! atomic operation that tells them, and within a workgroup before the barrier, unless it runs on
//! one compute unit, where its waves share that cache. The scalar cache sees no vector stores at
//! all until it is invalidated.

use std::collections::HashMap;

use crate::check::Check;
use crate::group::Group;
use crate::program::Inst;
use crate::wave::Wave;

/// Words of global memory, by address over four, whose stores were not waited for when the wave
/// signalled.
pub(crate) type Exposed = HashMap<u64, Storer>;

/// Who stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Storer {
    /// Number of the workgroup.
    workgroup: u32,
    wave: u32,
}

impl<const W: usize> Group<'_, W> {
    fn storer(&self, wave: &Wave<W>) -> Storer {
        Storer {
            workgroup: self.number,
            wave: wave.id,
        }
    }

    /// A wave signals a barrier: its stores that were not waited for may arrive behind it.
    pub(crate) fn expose_at_barrier(&mut self, wave: &Wave<W>) {
        if !self.checks.has(Check::UnreleasedStore) {
            return;
        }
        let me = self.storer(wave);
        self.exposed.retain(|_, storer| *storer != me);
        self.exposed
            .extend(wave.waits.open_stores().map(|word| (word, me)));
    }

    /// A wave is about to execute an atomic operation on global memory, by which it may tell other
    /// workgroups of what it stored and of what it knows others of its own to have stored.
    pub(crate) fn expose_at_atomic(&mut self, wave: &Wave<W>) {
        let me = self.storer(wave);
        let Some(early) = &mut self.early else {
            return;
        };
        early.retain(|_, storer| *storer != me);
        early.extend(&self.exposed);
        early.extend(wave.waits.open_stores().map(|word| (word, me)));
    }

    /// Whether there is anything to look for when memory is read.
    #[inline]
    pub(crate) fn exposes(&self) -> bool {
        !self.exposed.is_empty() || self.early.as_ref().is_some_and(|early| !early.is_empty())
    }

    /// Whether a wave reads bytes that were signalled before their store was waited for.
    pub(crate) fn reads_exposed(&self, address: u64, len: usize, wave: u32) -> bool {
        (address / 4..(address + len as u64).div_ceil(4)).any(|word| {
            let inside = self.across_units
                && self
                    .exposed
                    .get(&word)
                    .is_some_and(|storer| storer.wave != wave);
            let outside = self
                .early
                .as_ref()
                .and_then(|early| early.get(&word))
                .is_some_and(|storer| storer.workgroup != self.number);
            inside || outside
        })
    }

    pub(crate) fn report_exposed(
        &mut self,
        lane: u32,
        address: u64,
        wave: &Wave<W>,
        inst: &Inst<W>,
    ) {
        let memory = self.memory;
        self.find(Check::UnreleasedStore, wave, inst, Some(lane), || {
            format!(
                "reads what another wave stored and did not wait for before it signalled: {}",
                memory.describe(address)
            )
        });
    }
}
