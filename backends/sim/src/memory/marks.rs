//! Who touched a word of an output last, in a word of its own, while workgroups run side by side.
//!
//! This says only whether a workgroup, or a wave of one, may have met another: what comes of it is
//! judged in a second run, one workgroup after the other (see [`crate::races`]). From the low bits:
//! the workgroup, the wave, the bytes written, the barrier that orders the access before what other
//! waves do behind it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use super::lds::MAX_WAVES;

/// In the number of a workgroup: all that it did there were atomic operations.
const ATOMIC: u32 = 1 << 31;
/// In place of a reading workgroup: several did.
const SEVERAL: u32 = u32::MAX;
/// In place of a wave: several of the workgroup, between the same barriers.
const WAVES: u64 = 63;
const _: () = assert!((MAX_WAVES as u64) <= WAVES);
/// Largest number of a workgroup, counted from 1.
pub(crate) const MAX_WORKGROUPS: u32 = ATOMIC - 2;

const WAVE: u32 = 32;
const BYTES: u32 = 38;
const BARRIER: u32 = 42;
/// Barriers are counted modulo this power of two.
const BARRIER_BITS: u32 = 64 - BARRIER;

/// A wave that accesses memory, and when it does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visitor {
    /// Its workgroup, counted from 1.
    pub(crate) workgroup: u32,
    pub(crate) wave: u32,
    /// Barriers that it has passed.
    pub(crate) passed: u32,
    /// The barrier that orders it before what other waves do behind it.
    pub(crate) barrier: u32,
    /// Whether workgroups run side by side.
    pub(crate) parallel: bool,
    /// Whether waves of one workgroup meet, or workgroups alone.
    pub(crate) waves: bool,
}

fn workgroup(mark: u64) -> u32 {
    mark as u32
}

fn wave(mark: u64) -> u64 {
    mark >> WAVE & WAVES
}

/// The bytes written; 0 where atomic operations alone wrote between two barriers.
fn bytes(mark: u64) -> u64 {
    mark >> BYTES & 15
}

fn with_wave(mark: u64, wave: u64) -> u64 {
    mark & !(WAVES << WAVE) | wave << WAVE
}

impl Visitor {
    #[inline]
    fn mark(&self, bytes: u64) -> u64 {
        u64::from(self.workgroup)
            | u64::from(self.wave) << WAVE
            | bytes << BYTES
            | u64::from(self.barrier) << BARRIER
    }

    /// Whether no barrier orders the access behind a mark of its own workgroup.
    #[inline]
    fn meets(&self, mark: u64) -> bool {
        if !self.waves || wave(mark) == u64::from(self.wave) {
            return false;
        }
        let since = u64::from(self.passed).wrapping_sub(mark >> BARRIER);
        let since = since & ((1 << BARRIER_BITS) - 1);
        since == 0 || since >> (BARRIER_BITS - 1) == 1
    }

    /// Notes a read of a word; true where another one wrote there.
    #[inline]
    pub(super) fn reads(&self, writer: &AtomicU64, reader: &AtomicU64, of: u64) -> bool {
        let mark = self.mark(0);
        let before = reader.load(Relaxed);
        let alike = |mark: u64| mark >> BARRIER == before >> BARRIER;
        let known = before == mark
            || workgroup(before) == SEVERAL
            || alike(mark) && before == with_wave(mark, WAVES);
        if !known {
            let before = reader.swap(mark, SeqCst);
            if before != 0 && workgroup(before) != self.workgroup {
                reader.store(u64::from(SEVERAL), SeqCst);
            } else if before != 0 && self.meets(before) {
                reader.store(with_wave(mark, WAVES), SeqCst);
            }
        }
        let writer = writer.load(SeqCst);
        let written = bytes(writer);
        writer != 0
            && (workgroup(writer) & !ATOMIC != self.workgroup
                || (written == 0 || written & of != 0) && self.meets(writer))
    }

    /// Notes a store to bytes of a word; true where another one wrote something else there, or
    /// read. `changes` tells whether the store changes what is there.
    #[inline]
    pub(super) fn writes(
        &self,
        writer: &AtomicU64,
        reader: Option<&AtomicU64>,
        of: u64,
        changes: impl FnOnce() -> bool,
    ) -> bool {
        let mark = self.mark(of);
        let before = writer.swap(mark, SeqCst);
        let mut met = false;
        if before != 0 {
            if workgroup(before) & !ATOMIC != self.workgroup {
                met = true;
            } else if wave(before) == u64::from(self.wave) {
                writer.store(mark | before & 15 << BYTES, SeqCst);
            } else if self.meets(before) {
                let theirs = bytes(before);
                met = (theirs == 0 || theirs & of != 0) && changes();
                let both = mark | before & 15 << BYTES;
                writer.store(with_wave(both, WAVES), SeqCst);
            }
        }
        met | reader.is_some_and(|reader| self.read(reader))
    }

    /// Whether another one read.
    #[inline]
    fn read(&self, reader: &AtomicU64) -> bool {
        let reader = reader.load(SeqCst);
        reader != 0 && (workgroup(reader) != self.workgroup || self.meets(reader))
    }

    /// Notes an atomic operation on a word; true where the order matters.
    pub(super) fn changes(&self, writer: &AtomicU64, reader: Option<&AtomicU64>) -> bool {
        let atomic = u64::from(ATOMIC);
        let mark = self.mark(0) | atomic;
        let before = writer.swap(mark, SeqCst);
        let mut met = false;
        if before != 0 {
            if workgroup(before) & !ATOMIC != self.workgroup {
                met = true;
            } else {
                // What it wrote without an atomic operation still counts.
                let mut mark = mark & (before | !atomic);
                if self.meets(before) {
                    met = bytes(before) != 0;
                    mark = with_wave(mark, WAVES) | before & 15 << BYTES;
                } else if wave(before) == u64::from(self.wave) {
                    mark |= before & 15 << BYTES;
                }
                writer.store(mark, SeqCst);
            }
        }
        met | reader.is_some_and(|reader| self.read(reader))
    }
}

/// Whether a workgroup wrote the word of a mark; where it did so by atomic operations alone, as
/// `atomics` says.
pub(super) fn is_of(mark: u64, own: u32, atomics: bool) -> bool {
    workgroup(mark) == own || atomics && workgroup(mark) == own | ATOMIC
}

/// The mark where workgroups run one at a time, after a store or an atomic operation.
pub(super) fn alone(before: u64, own: u32, atomic: bool) -> u64 {
    match atomic && !is_of(before, own, false) {
        true => u64::from(own | ATOMIC),
        false => u64::from(own),
    }
}
