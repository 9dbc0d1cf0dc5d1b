//! Global memory: buffers in one sparse address space with wide gaps between them.

pub(crate) mod access;
pub(crate) mod broadcast;
mod buffer;
mod direct;
pub(crate) mod ds;
mod ds_atomic;
pub(crate) mod element;
mod exchange;
mod format;
pub(crate) mod lds;
mod marks;
mod pages;
mod pattern;
pub(crate) mod resource;
pub(crate) mod scalar;
mod scratch;
mod transfer;
mod transpose;
mod typed;

use std::ops::Range;

use buffer::Usage;
pub(crate) use buffer::{Buffer, bytes_of};
pub(crate) use marks::{MAX_WORKGROUPS, Visitor};
use pages::{Background, Snapshot};
pub use pattern::{Element, Fill, Pattern};

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
/// A buffer of a [`Memory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId(usize);

/// The buffers that kernels are launched on.
#[derive(Debug, Default)]
pub struct Memory {
    /// In order of address.
    buffers: Vec<Buffer>,
}

impl Memory {
    /// Largest buffer in bytes. The functions that allocate panic when they are asked for more.
    pub const MAX_BYTES: u64 = 1 << 42;

    /// No buffers.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// A buffer that kernels only read; a store into it is a finding.
    pub fn alloc_input(&mut self, bytes: &[u8]) -> BufferId {
        self.alloc_bytes(bytes, Usage::Input)
    }

    /// A buffer of `len` bytes that kernels write. It starts as `0xff`, which is NaN in every
    /// floating-point format and -1 as an integer.
    pub fn alloc_output(&mut self, len: usize) -> BufferId {
        self.alloc(len, Usage::Output, Background::Word(POISON))
    }

    /// A buffer with contents that kernels read and write.
    pub fn alloc_inout(&mut self, bytes: &[u8]) -> BufferId {
        self.alloc_bytes(bytes, Usage::Output)
    }

    /// A buffer of `len` bytes that kernels only read, filled with a pattern. Memory is taken for
    /// what is touched alone.
    pub fn alloc_pattern(&mut self, len: usize, pattern: Pattern) -> BufferId {
        self.alloc(len, Usage::Input, Background::Pattern(pattern))
    }

    /// A buffer of `len` bytes that kernels read and write, filled with a pattern.
    pub fn alloc_inout_pattern(&mut self, len: usize, pattern: Pattern) -> BufferId {
        self.alloc(len, Usage::Output, Background::Pattern(pattern))
    }

    /// The contents of a buffer, or nothing when it is another memory's. Of a large one take
    /// [`Memory::read_range`].
    pub fn read(&self, id: BufferId) -> Vec<u8> {
        self.read_range(id, 0..u64::MAX)
    }

    /// The bytes of a range of a buffer, as far as it lies in it; nothing when the buffer is
    /// another memory's.
    pub fn read_range(&self, id: BufferId, range: Range<u64>) -> Vec<u8> {
        self.buffers
            .get(id.0)
            .map(|buffer| buffer.bytes(range))
            .unwrap_or_default()
    }

    /// Size of a buffer in bytes.
    pub fn size(&self, id: BufferId) -> Option<u64> {
        self.buffers.get(id.0).map(|buffer| buffer.len)
    }

    /// Bytes of all buffers that take memory, since they were given or touched.
    pub fn resident(&self) -> u64 {
        self.buffers.iter().map(Buffer::resident).sum()
    }

    /// The address that a kernel sees.
    pub fn address(&self, id: BufferId) -> Option<u64> {
        self.buffers.get(id.0).map(|buffer| buffer.base)
    }

    /// A buffer that the launch itself makes, by its name in findings.
    pub(crate) fn alloc_own(&mut self, bytes: &[u8], name: &'static str) -> u64 {
        let id = self.alloc_input(bytes);
        self.buffers[id.0].name = Some(name);
        self.buffers[id.0].base
    }

    /// Where the next buffer will lie.
    pub(crate) fn next_address(&self) -> u64 {
        match self.buffers.last() {
            None => FIRST_BASE,
            Some(last) => (last.base + last.len + GAP).next_multiple_of(ALIGN),
        }
    }

    fn alloc_bytes(&mut self, bytes: &[u8], usage: Usage) -> BufferId {
        let id = self.alloc(bytes.len(), usage, Background::Word(0));
        self.buffers[id.0].set(bytes);
        id
    }

    fn alloc(&mut self, len: usize, usage: Usage, background: Background) -> BufferId {
        assert!(
            len as u64 <= Memory::MAX_BYTES,
            "a buffer has at most Memory::MAX_BYTES"
        );
        let base = self.next_address();
        self.buffers.push(Buffer::new(base, len, usage, background));
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
        for buffer in &mut self.buffers {
            buffer.reset_owners();
        }
    }

    /// The contents of all that a kernel can write.
    pub(crate) fn snapshot(&mut self) -> Vec<Snapshot> {
        self.buffers.iter_mut().map(Buffer::snapshot).collect()
    }

    pub(crate) fn restore(&mut self, snapshot: &[Snapshot]) {
        for (buffer, words) in self.buffers.iter_mut().zip(snapshot) {
            buffer.restore(words);
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

    /// The aligned word that holds a byte, whoever changes it.
    pub(crate) fn word_at(&self, address: u64) -> Option<u32> {
        let (buffer, at) = self.locate(address, 1, &mut 0)?;
        Some(buffer.read_u32(at & !3))
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
            Some((index, buffer)) => {
                let name = match buffer.name {
                    Some(name) => name.to_owned(),
                    None => format!("buffer {index}"),
                };
                let (at, len) = (address - buffer.base, buffer.len);
                format!("{address:#x} is byte {at} of {name}, which has {len}")
            }
            None => format!("{address:#x} is below every buffer"),
        }
    }
}
