//! One buffer: its bytes, and which workgroups touched them.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

use super::pages::{Background, Owner, PAGE_WORDS, Pages, Snapshot};

/// Marks words that several workgroups read.
const SEVERAL: u32 = u32::MAX;
/// In the number of a writer: all that it did there were atomic operations.
const ATOMIC: u32 = 1 << 31;
/// Largest number of a workgroup, counted from 1.
pub(crate) const MAX_WORKGROUPS: u32 = ATOMIC - 2;

/// How a kernel may use a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Input,
    Output,
}

/// How an access meets those of other workgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meeting {
    None,
    /// Atomic operations of both: the order matters, nothing is wrong.
    Atomics,
    Race,
}

/// One allocation.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(super) base: u64,
    pub(super) len: u64,
    pub(super) usage: Usage,
    /// What it is, where the launch itself made it.
    pub(super) name: Option<&'static str>,
    pages: Pages,
}

impl Buffer {
    pub(super) fn new(base: u64, len: usize, usage: Usage, background: Background) -> Buffer {
        Buffer {
            base,
            len: len as u64,
            usage,
            name: None,
            pages: Pages::new(len.div_ceil(4), background, usage == Usage::Output),
        }
    }

    /// Sets the contents.
    pub(super) fn set(&mut self, bytes: &[u8]) {
        for (at, chunk) in bytes.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            self.pages.word(at).store(u32::from_le_bytes(word), Relaxed);
        }
    }

    #[inline]
    pub(super) fn offset(&self, address: u64, len: u64) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.len && len <= self.len - offset).then_some(offset as usize)
    }

    /// The bytes of a range, as far as it lies in the buffer.
    pub(super) fn bytes(&self, range: Range<u64>) -> Vec<u8> {
        let end = range.end.min(self.len) as usize;
        let start = (range.start as usize).min(end);
        let words = start / 4..end.div_ceil(4);
        let mut bytes: Vec<u8> = words
            .flat_map(|word| self.pages.peek(word).to_le_bytes())
            .skip(start % 4)
            .collect();
        bytes.truncate(end - start);
        bytes
    }

    /// Bytes of the pages that exist.
    pub(super) fn resident(&self) -> u64 {
        (self.pages.count() * PAGE_WORDS * 4) as u64
    }

    pub(super) fn reset_owners(&mut self) {
        if self.usage == Usage::Output {
            self.pages.reset_owners();
        }
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        match self.usage {
            Usage::Input => Snapshot::new(),
            Usage::Output => self.pages.snapshot(),
        }
    }

    pub(super) fn restore(&mut self, snapshot: &Snapshot) {
        if self.usage == Usage::Output {
            self.pages.restore(snapshot);
        }
    }

    pub(crate) fn is_input(&self) -> bool {
        self.usage == Usage::Input
    }

    fn byte(&self, offset: usize) -> &AtomicU8 {
        let word: *const AtomicU32 = self.pages.word(offset / 4);
        // SAFETY: the byte lies in the word just borrowed, and all access to it is atomic.
        unsafe { &*word.cast::<AtomicU8>().add(offset % 4) }
    }

    fn short(&self, offset: usize) -> &AtomicU16 {
        debug_assert!(offset.is_multiple_of(2));
        let word: *const AtomicU32 = self.pages.word(offset / 4);
        // SAFETY: as in `byte`; callers pass even offsets, so it is aligned and within the word.
        unsafe { &*word.cast::<AtomicU16>().add(offset / 2 % 2) }
    }

    #[inline]
    pub(crate) fn read_u32(&self, offset: usize) -> u32 {
        if offset.is_multiple_of(4) {
            self.pages.word(offset / 4).load(Relaxed)
        } else {
            u32::from_le_bytes([0, 1, 2, 3].map(|i| self.byte(offset + i).load(Relaxed)))
        }
    }

    /// Reads words from `offset` on.
    #[inline]
    pub(crate) fn read_words<const N: usize>(&self, offset: usize) -> [u32; N] {
        let (word, within) = (offset / 4, offset / 4 % PAGE_WORDS);
        if offset.is_multiple_of(4) && within + N <= PAGE_WORDS {
            let words = &self.pages.page(word).words[within..within + N];
            return std::array::from_fn(|at| words[at].load(Relaxed));
        }
        std::array::from_fn(|at| self.read_u32(offset + 4 * at))
    }

    pub(crate) fn read_u16(&self, offset: usize) -> u16 {
        if offset.is_multiple_of(2) {
            self.short(offset).load(Relaxed)
        } else {
            u16::from_le_bytes([0, 1].map(|i| self.byte(offset + i).load(Relaxed)))
        }
    }

    pub(crate) fn read_u8(&self, offset: usize) -> u8 {
        self.byte(offset).load(Relaxed)
    }

    #[inline]
    pub(crate) fn write_u32(&self, offset: usize, value: u32) {
        if offset.is_multiple_of(4) {
            self.pages.word(offset / 4).store(value, Relaxed);
        } else {
            for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                self.byte(offset + i).store(byte, Relaxed);
            }
        }
    }

    /// Writes a word for a workgroup (counted from 1); true if another one read or wrote there.
    #[inline]
    pub(crate) fn store_u32(&self, offset: usize, value: u32, workgroup: u32) -> bool {
        if !offset.is_multiple_of(4) {
            self.write_u32(offset, value);
            return self.note_write(offset, 4, workgroup);
        }
        let (page, at) = (self.pages.page(offset / 4), offset / 4 % PAGE_WORDS);
        page.words[at].store(value, Relaxed);
        written(&page.owners[at], workgroup)
    }

    pub(crate) fn write_u16(&self, offset: usize, value: u16) {
        if offset.is_multiple_of(2) {
            self.short(offset).store(value, Relaxed);
        } else {
            for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                self.byte(offset + i).store(byte, Relaxed);
            }
        }
    }

    pub(crate) fn write_u8(&self, offset: usize, value: u8) {
        self.byte(offset).store(value, Relaxed);
    }

    /// Notes that a workgroup (counted from 1) reads; true if another one wrote there.
    #[inline]
    pub(crate) fn note_read(&self, offset: usize, len: usize, workgroup: u32) -> bool {
        if self.is_input() {
            return false;
        }
        let mut race = false;
        for word in offset / 4..(offset + len).div_ceil(4) {
            let owner = &self.pages.page(word).owners[word % PAGE_WORDS];
            if owner.reader.load(Relaxed) != workgroup {
                let before = owner.reader.swap(workgroup, SeqCst);
                if before != 0 && before != workgroup {
                    owner.reader.store(SEVERAL, SeqCst);
                }
            }
            let writer = owner.writer.load(SeqCst);
            race |= writer != 0 && writer & !ATOMIC != workgroup;
        }
        race
    }

    /// Notes that a workgroup (counted from 1) writes; true if another one read or wrote there.
    #[inline]
    pub(crate) fn note_write(&self, offset: usize, len: usize, workgroup: u32) -> bool {
        if self.is_input() {
            return false;
        }
        let mut race = false;
        for word in offset / 4..(offset + len).div_ceil(4) {
            let owner = &self.pages.page(word).owners[word % PAGE_WORDS];
            race |= written(owner, workgroup);
        }
        race
    }

    /// Notes an atomic operation of a workgroup (counted from 1).
    pub(crate) fn note_atomic(&self, offset: usize, len: usize, workgroup: u32) -> Meeting {
        if self.is_input() {
            return Meeting::None;
        }
        let mut meeting = Meeting::None;
        for word in offset / 4..(offset + len).div_ceil(4) {
            let owner = &self.pages.page(word).owners[word % PAGE_WORDS];
            let writer = owner.writer.swap(workgroup | ATOMIC, SeqCst);
            let reader = owner.reader.load(SeqCst);
            if writer == workgroup {
                // What it wrote without an atomic operation still counts.
                owner.writer.store(workgroup, SeqCst);
            }
            let foreign = writer != 0 && writer & !ATOMIC != workgroup;
            let here = if reader != 0 && reader != workgroup || foreign && writer & ATOMIC == 0 {
                Meeting::Race
            } else if foreign {
                Meeting::Atomics
            } else {
                Meeting::None
            };
            meeting = meeting.max(here);
        }
        meeting
    }

    /// The number of the instruction that stored the word at an offset last, or 0.
    #[inline]
    pub(crate) fn stamp(&self, offset: usize) -> u32 {
        self.pages.page(offset / 4).stamp(offset / 4 % PAGE_WORDS)
    }

    /// Sets that number; returns what it was.
    #[inline]
    pub(crate) fn set_stamp(&self, offset: usize, number: u32) -> u32 {
        self.pages
            .page(offset / 4)
            .set_stamp(offset / 4 % PAGE_WORDS, number)
    }

    /// Whether a workgroup wrote one of the words of a range in this launch; those that it wrote by
    /// atomic operations alone count where `atomics` says so.
    pub(crate) fn written_by(
        &self,
        offset: usize,
        len: usize,
        workgroup: u32,
        atomics: bool,
    ) -> bool {
        !self.is_input()
            && (offset / 4..(offset + len).div_ceil(4)).any(|word| {
                let owner = &self.pages.page(word).owners[word % PAGE_WORDS];
                let writer = owner.writer.load(Relaxed);
                writer == workgroup || atomics && writer == workgroup | ATOMIC
            })
    }
}

/// Notes that a workgroup writes a word; true if another one read or wrote it.
#[inline]
fn written(owner: &Owner, workgroup: u32) -> bool {
    let writer = owner.writer.swap(workgroup, SeqCst);
    let reader = owner.reader.load(SeqCst);
    (writer != 0 && writer & !ATOMIC != workgroup) | (reader != 0 && reader != workgroup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_race_with_plain_accesses_alone() {
        let buffer = Buffer::new(0, 64, Usage::Output, Background::Word(0));
        assert_eq!(buffer.note_atomic(0, 4, 1), Meeting::None);
        assert_eq!(buffer.note_atomic(0, 4, 2), Meeting::Atomics);
        assert!(
            buffer.note_read(0, 4, 3),
            "a plain read of what atomics write"
        );
        assert_eq!(
            buffer.note_atomic(0, 4, 2),
            Meeting::Race,
            "the read was plain"
        );
        assert!(!buffer.note_write(8, 4, 1));
        assert_eq!(
            buffer.note_atomic(8, 4, 1),
            Meeting::None,
            "of one workgroup"
        );
        assert_eq!(
            buffer.note_atomic(8, 4, 2),
            Meeting::Race,
            "it wrote plainly before"
        );
        assert!(buffer.written_by(8, 4, 2, true) && !buffer.written_by(16, 4, 2, true));
        assert!(buffer.written_by(0, 4, 2, true) && !buffer.written_by(0, 4, 2, false));
    }

    #[test]
    fn untouched_pages_cost_nothing() {
        let mut buffer = Buffer::new(0, 100 << 30, Usage::Output, Background::Word(u32::MAX));
        assert_eq!(buffer.resident(), 0);
        buffer.write_u32(99 << 30, 7);
        let snapshot = buffer.snapshot();
        buffer.write_u32(99 << 30, 8);
        buffer.write_u32(0, 9);
        assert_eq!(buffer.resident(), 2048);
        assert_eq!(
            buffer.bytes((99 << 30) - 1..(99 << 30) + 5),
            [255, 8, 0, 0, 0, 255]
        );
        buffer.restore(&snapshot);
        assert_eq!((buffer.resident(), buffer.read_u32(99 << 30)), (1024, 7));
        assert_eq!(buffer.bytes(0..2), [255, 255]);
    }
}
