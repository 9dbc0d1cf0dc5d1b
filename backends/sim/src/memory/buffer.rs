//! One buffer: its bytes, and which workgroups touched them.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed};

use super::marks::{self, Visitor};
use super::pages::{Background, PAGE_WORDS, Pages, Snapshot};

/// How a kernel may use a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Input,
    Output,
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

    /// Notes a read; true if another one wrote there.
    #[inline]
    pub(crate) fn note_read(&self, offset: usize, len: usize, visitor: &Visitor) -> bool {
        if self.is_input() || !visitor.parallel {
            return false;
        }
        let mut met = false;
        for word in offset / 4..(offset + len).div_ceil(4) {
            let (page, at) = (self.pages.page(word), word % PAGE_WORDS);
            let of = u64::from(bytes_of(word, offset, len));
            met |= visitor.reads(&page.writers[at], page.reader_mut(at), of);
        }
        met
    }

    /// Notes a store of the low `len` bytes of `value` about to be executed; true if another one
    /// read there or wrote something else.
    #[inline]
    pub(crate) fn note_write(
        &self,
        offset: usize,
        len: usize,
        value: u32,
        visitor: &Visitor,
    ) -> bool {
        let mut met = false;
        for word in offset / 4..(offset + len).div_ceil(4) {
            let (page, at) = (self.pages.page(word), word % PAGE_WORDS);
            let writer = &page.writers[at];
            if !visitor.parallel {
                let mark = marks::alone(0, visitor.workgroup, false);
                writer.store(mark, Relaxed);
                continue;
            }
            let of = u64::from(bytes_of(word, offset, len));
            let changes = || self.changed(offset, len, value) != 0;
            met |= visitor.writes(writer, page.reader(at), of, changes);
        }
        met
    }

    /// Notes an atomic operation; true if the order in which it and others came may matter.
    pub(crate) fn note_atomic(&self, offset: usize, len: usize, visitor: &Visitor) -> bool {
        let mut met = false;
        for word in offset / 4..(offset + len).div_ceil(4) {
            let (page, at) = (self.pages.page(word), word % PAGE_WORDS);
            let writer = &page.writers[at];
            if !visitor.parallel {
                let mark = marks::alone(writer.load(Relaxed), visitor.workgroup, true);
                writer.store(mark, Relaxed);
                continue;
            }
            met |= visitor.changes(writer, page.reader(at));
        }
        met
    }

    /// Which of the `len` bytes from an offset on differ from those of a value, as a mask.
    pub(crate) fn changed(&self, offset: usize, len: usize, value: u32) -> u8 {
        let bytes = value.to_le_bytes().into_iter().take(len).enumerate();
        bytes.fold(0, |changed, (at, byte)| {
            changed | u8::from(self.read_u8(offset + at) != byte) << at
        })
    }

    /// What stored the word at an offset, or 0.
    #[inline]
    pub(crate) fn stamp(&self, offset: usize) -> u32 {
        self.pages.page(offset / 4).stamp(offset / 4 % PAGE_WORDS)
    }

    #[inline]
    pub(crate) fn set_stamp(&self, offset: usize, number: u32) {
        let word = offset / 4;
        self.pages.page(word).set_stamp(word % PAGE_WORDS, number);
    }

    /// What loaded the word at an offset since, or 0.
    #[inline]
    pub(crate) fn loads(&self, offset: usize) -> u32 {
        self.pages.page(offset / 4).loads(offset / 4 % PAGE_WORDS)
    }

    #[inline]
    pub(crate) fn set_loads(&self, offset: usize, number: u32) {
        let word = offset / 4;
        self.pages.page(word).set_loads(word % PAGE_WORDS, number);
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
                let writer = &self.pages.page(word).writers[word % PAGE_WORDS];
                marks::is_of(writer.load(Relaxed), workgroup, atomics)
            })
    }
}

/// Which bytes of a word, given by its index, lie in a range.
#[inline]
pub(crate) fn bytes_of(word: usize, offset: usize, len: usize) -> u8 {
    let first = offset.saturating_sub(4 * word);
    let end = (offset + len - 4 * word).min(4);
    ((15 << first) & ((1 << end) - 1)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer() -> Buffer {
        Buffer::new(0, 64, Usage::Output, Background::Word(0))
    }

    /// A wave of a workgroup that has passed so many barriers.
    fn visitor(workgroup: u32, wave: u32, passed: u32) -> Visitor {
        Visitor {
            workgroup,
            wave,
            passed,
            barrier: passed,
            parallel: true,
            waves: true,
        }
    }

    #[test]
    fn workgroups_meet_where_one_writes() {
        let buffer = buffer();
        let of = |workgroup| visitor(workgroup, 0, 0);
        assert!(!buffer.note_atomic(0, 4, &of(1)));
        assert!(buffer.note_atomic(0, 4, &of(2)));
        assert!(buffer.note_read(0, 4, &of(3)));
        assert!(!buffer.note_read(4, 4, &of(1)) && !buffer.note_read(4, 4, &of(2)));
        assert!(buffer.note_write(4, 4, 0, &of(2)), "the first one read it");
        assert!(!buffer.note_write(8, 4, 7, &of(1)));
        assert!(!buffer.note_atomic(8, 4, &of(1)), "of one workgroup");
        assert!(buffer.written_by(8, 4, 1, false), "it wrote plainly before");
        assert!(buffer.note_atomic(8, 4, &of(2)));
        assert!(buffer.written_by(8, 4, 2, true) && !buffer.written_by(8, 4, 2, false));
        assert!(!buffer.written_by(16, 4, 2, true));
        let alone = Visitor {
            parallel: false,
            ..of(5)
        };
        assert!(!buffer.note_read(8, 4, &alone) && !buffer.note_atomic(8, 4, &alone));
        assert!(buffer.written_by(8, 4, 5, true) && !buffer.written_by(8, 4, 5, false));
        assert!(!buffer.note_write(8, 4, 7, &alone));
        assert!(!buffer.note_atomic(8, 4, &alone) && buffer.written_by(8, 4, 5, false));
    }

    #[test]
    fn waves_meet_between_barriers() {
        let buffer = buffer();
        let of = |wave, passed| visitor(1, wave, passed);
        assert!(!buffer.note_write(0, 4, 7, &of(0, 0)));
        assert!(buffer.note_read(0, 4, &of(1, 0)));
        assert!(!buffer.note_read(0, 4, &of(0, 0)), "its own");
        assert!(!buffer.note_read(0, 4, &of(1, 1)), "behind the barrier");
        assert!(buffer.note_write(0, 4, 8, &of(2, 1)), "that read it");
        assert!(!buffer.note_write(0, 4, 8, &of(2, 2)));
        // The same value, whoever stores it.
        buffer.write_u32(0, 8);
        assert!(!buffer.note_write(0, 4, 8, &of(3, 2)));
        assert!(buffer.note_read(0, 4, &of(3, 2)), "of one that stored it");
        assert!(buffer.note_write(0, 4, 9, &of(3, 2)));
        // Bytes of one word.
        assert!(!buffer.note_write(4, 1, 1, &of(0, 3)));
        assert!(!buffer.note_write(5, 1, 1, &of(1, 3)));
        assert!(!buffer.note_write(6, 2, 1, &of(2, 3)));
        assert!(buffer.note_write(5, 1, 1, &of(3, 3)));
        // Atomic operations of several waves, and others among them.
        assert!(!buffer.note_atomic(8, 4, &of(0, 4)) && !buffer.note_atomic(8, 4, &of(1, 4)));
        assert!(buffer.note_read(8, 4, &of(0, 4)));
        assert!(!buffer.note_read(12, 4, &of(0, 4)) && !buffer.note_read(12, 4, &of(1, 4)));
        assert!(buffer.note_atomic(12, 4, &of(1, 4)));
        assert!(!buffer.note_write(16, 4, 1, &of(0, 5)));
        assert!(buffer.note_atomic(16, 4, &of(1, 5)));
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
