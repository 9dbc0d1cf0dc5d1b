//! Global memory: buffers in one sparse address space with wide gaps between them.

pub(crate) mod access;
mod direct;
pub(crate) mod ds;
pub(crate) mod element;
mod exchange;
pub(crate) mod lds;
pub(crate) mod resource;
pub(crate) mod scalar;
mod scratch;
mod transfer;

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

/// Flat addresses with these high halves lie in LDS or in the lane's scratch; the low half is the
/// offset. No buffer lies there.
pub(crate) const SHARED_APERTURE: u64 = 0x0001_0000 << 32;
pub(crate) const PRIVATE_APERTURE: u64 = 0x0002_0000 << 32;

/// Where the first buffer lies. The low half is chosen so that a buffer of more than 4 KiB crosses
/// a multiple of 4 GiB: an address computed without its carry is then caught.
const FIRST_BASE: u64 = 0x7e00_ffff_f000;
/// Distance between the end of a buffer and the next base, before alignment.
const GAP: u64 = 0x1_0000_0000;
/// Alignment of bases, as a device allocator's.
const ALIGN: u64 = 256;
/// What fresh outputs hold: NaN in every floating-point format.
const POISON: u32 = u32::MAX;
/// Marks words that several workgroups read.
const SEVERAL: u32 = u32::MAX;

/// A buffer of a [`Memory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId(usize);

/// How a kernel may use a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usage {
    Input,
    Output,
}

/// The buffers that kernels are launched on.
#[derive(Debug, Default)]
pub struct Memory {
    /// In order of address.
    buffers: Vec<Buffer>,
}

/// One allocation.
#[derive(Debug)]
pub(crate) struct Buffer {
    base: u64,
    len: u64,
    usage: Usage,
    /// Contents; a relaxed atomic each, since workgroups run on several threads.
    words: Box<[AtomicU32]>,
    /// For outputs, per word: the workgroup that last wrote it, counted from 1.
    writers: Box<[AtomicU32]>,
    /// For outputs, per word: the workgroup that read it, or [`SEVERAL`].
    readers: Box<[AtomicU32]>,
}

impl Memory {
    /// No buffers.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// A buffer that kernels only read; a store into it is a finding.
    pub fn alloc_input(&mut self, bytes: &[u8]) -> BufferId {
        self.alloc(bytes.len(), Some(bytes), Usage::Input)
    }

    /// A buffer of `len` bytes that kernels write. It starts as `0xff`, which is NaN in every
    /// floating-point format and -1 as an integer.
    pub fn alloc_output(&mut self, len: usize) -> BufferId {
        self.alloc(len, None, Usage::Output)
    }

    /// A buffer with contents that kernels read and write.
    pub fn alloc_inout(&mut self, bytes: &[u8]) -> BufferId {
        self.alloc(bytes.len(), Some(bytes), Usage::Output)
    }

    /// The contents of a buffer, or nothing when it is another memory's.
    pub fn read(&self, id: BufferId) -> Vec<u8> {
        self.buffers
            .get(id.0)
            .map(Buffer::bytes)
            .unwrap_or_default()
    }

    /// The address that a kernel sees.
    pub fn address(&self, id: BufferId) -> Option<u64> {
        self.buffers.get(id.0).map(|buffer| buffer.base)
    }

    fn alloc(&mut self, len: usize, bytes: Option<&[u8]>, usage: Usage) -> BufferId {
        let base = match self.buffers.last() {
            None => FIRST_BASE,
            Some(last) => (last.base + last.len + GAP).next_multiple_of(ALIGN),
        };
        let words = len.div_ceil(4);
        let contents = match bytes {
            None => (0..words).map(|_| AtomicU32::new(POISON)).collect(),
            Some(bytes) => bytes
                .chunks(4)
                .map(|chunk| {
                    let mut word = [0; 4];
                    word[..chunk.len()].copy_from_slice(chunk);
                    AtomicU32::new(u32::from_le_bytes(word))
                })
                .collect(),
        };
        self.buffers.push(Buffer {
            base,
            len: len as u64,
            usage,
            words: contents,
            writers: Box::default(),
            readers: Box::default(),
        });
        BufferId(self.buffers.len() - 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Drops the buffers after the first `len`, which a launch added for itself.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.buffers.truncate(len);
    }

    /// Forgets who touched what.
    pub(crate) fn reset_owners(&mut self) {
        let zeros = |n: usize| (0..n).map(|_| AtomicU32::new(0)).collect();
        for buffer in &mut self.buffers {
            if buffer.usage == Usage::Output {
                buffer.writers = zeros(buffer.words.len());
                buffer.readers = zeros(buffer.words.len());
            }
        }
    }

    /// The contents of all that a kernel can write.
    pub(crate) fn snapshot(&self) -> Vec<Vec<u32>> {
        self.buffers
            .iter()
            .map(|buffer| match buffer.usage {
                Usage::Input => Vec::new(),
                Usage::Output => buffer.words.iter().map(|word| word.load(Relaxed)).collect(),
            })
            .collect()
    }

    pub(crate) fn restore(&mut self, snapshot: &[Vec<u32>]) {
        for (buffer, words) in self.buffers.iter_mut().zip(snapshot) {
            for (word, &value) in buffer.words.iter_mut().zip(words) {
                *word.get_mut() = value;
            }
        }
    }

    /// The buffer that holds all of `address..address + len`, and the offset in it. `hint` is the
    /// buffer tried first.
    #[inline]
    pub(crate) fn locate(
        &self,
        address: u64,
        len: u64,
        hint: &mut usize,
    ) -> Option<(&Buffer, usize)> {
        if let Some(buffer) = self.buffers.get(*hint)
            && let Some(offset) = buffer.offset(address, len)
        {
            return Some((buffer, offset));
        }
        let next = self
            .buffers
            .partition_point(|buffer| buffer.base <= address);
        let index = next.checked_sub(1)?;
        let offset = self.buffers[index].offset(address, len)?;
        *hint = index;
        Some((&self.buffers[index], offset))
    }

    /// Describes an address in relation to the buffer before it.
    pub(crate) fn describe(&self, address: u64) -> String {
        let next = self
            .buffers
            .partition_point(|buffer| buffer.base <= address);
        match next
            .checked_sub(1)
            .map(|index| (index, &self.buffers[index]))
        {
            Some((index, buffer)) => format!(
                "{address:#x} is byte {} of buffer {index}, which has {}",
                address - buffer.base,
                buffer.len
            ),
            None => format!("{address:#x} is below every buffer"),
        }
    }
}

impl Buffer {
    #[inline]
    fn offset(&self, address: u64, len: u64) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.len && len <= self.len - offset).then_some(offset as usize)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .words
            .iter()
            .flat_map(|word| word.load(Relaxed).to_le_bytes())
            .collect();
        bytes.truncate(self.len as usize);
        bytes
    }

    pub(crate) fn is_input(&self) -> bool {
        self.usage == Usage::Input
    }

    fn byte(&self, offset: usize) -> &AtomicU8 {
        let word: *const AtomicU32 = &self.words[offset / 4];
        // SAFETY: the byte lies in the word just borrowed, and all access to it is atomic.
        unsafe { &*word.cast::<AtomicU8>().add(offset % 4) }
    }

    fn short(&self, offset: usize) -> &AtomicU16 {
        debug_assert!(offset.is_multiple_of(2));
        let word: *const AtomicU32 = &self.words[offset / 4];
        // SAFETY: as in `byte`; callers pass even offsets, so it is aligned and within the word.
        unsafe { &*word.cast::<AtomicU16>().add(offset / 2 % 2) }
    }

    #[inline]
    pub(crate) fn read_u32(&self, offset: usize) -> u32 {
        if offset.is_multiple_of(4) {
            self.words[offset / 4].load(Relaxed)
        } else {
            u32::from_le_bytes([0, 1, 2, 3].map(|i| self.byte(offset + i).load(Relaxed)))
        }
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
            self.words[offset / 4].store(value, Relaxed);
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

    /// Notes that a workgroup (counted from 1) reads; true if another one wrote there.
    #[inline]
    pub(crate) fn note_read(&self, offset: usize, len: usize, workgroup: u32) -> bool {
        let mut overlap = false;
        // Inputs have no owners.
        for index in offset / 4..(offset + len).div_ceil(4).min(self.readers.len()) {
            let reader = &self.readers[index];
            if reader.load(Relaxed) != workgroup {
                let before = reader.swap(workgroup, SeqCst);
                if before != 0 && before != workgroup {
                    reader.store(SEVERAL, SeqCst);
                }
            }
            let writer = self.writers[index].load(SeqCst);
            overlap |= writer != 0 && writer != workgroup;
        }
        overlap
    }

    /// Notes that a workgroup (counted from 1) writes; true if another one read or wrote there.
    #[inline]
    pub(crate) fn note_write(&self, offset: usize, len: usize, workgroup: u32) -> bool {
        let mut overlap = false;
        for index in offset / 4..(offset + len).div_ceil(4).min(self.writers.len()) {
            let writer = self.writers[index].swap(workgroup, SeqCst);
            let reader = self.readers[index].load(SeqCst);
            overlap |= writer != 0 && writer != workgroup;
            overlap |= reader != 0 && reader != workgroup;
        }
        overlap
    }
}
