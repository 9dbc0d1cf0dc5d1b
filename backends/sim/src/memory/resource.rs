//! Buffer resources: where a lane's bytes are, and whether they are in range.
//!
//! gfx9 has no choice of rules: with an index and a stride records are structures, else they are
//! bytes (Mesa's descriptor code states it so for gfx9; AMD's CDNA 3 guide, "Range checking",
//! tells raw from structured buffers). RDNA names its rule in the descriptor (`OOB_SELECT`; AMD's
//! RDNA 3 guide, "Range checking", which counts the scalar offset where it compares bytes). A
//! scalar load compares its offset with all the bytes of the records (the same guide, on
//! `S_BUFFER_LOAD`).
//!
//! Swizzled addresses follow the CDNA 3 guide's "Swizzled Buffer Addressing". Elements have four
//! bytes on gfx9 (Mesa), on RDNA 3 and 4 what the two bits that enable it say: 4, 8 or 16 (Mesa's
//! `SWIZZLE_ENABLE_GFX11`). `ADD_TID_ENABLE` adds the lane to the index, and on gfx9 makes the data
//! format the upper bits of the stride (AMD's PAL, Mesa).
//!
//! A check is made for each 32-bit word of an access on its own; a word that is partly outside is
//! outside (LLVM's AMDGPU usage guide on buffer accesses out of bounds).

use crate::chip::Isa;
use crate::wave::Wave;

/// A buffer resource with the parts of the offset that lanes share.
pub(crate) struct Resource {
    base: u64,
    stride: u32,
    records: u64,
    rule: Rule,
    /// Elements of so many bytes of so many consecutive structures lie together.
    swizzle: Option<(u32, u32)>,
    /// Whether the index counts from the lane.
    add_lane: bool,
    soffset: u32,
    offset: u64,
}

/// What reads a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A scalar load.
    Scalar,
    /// A vector access, with or without an index.
    Vector { indexed: bool },
}

/// What is compared with the number of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The end of each word in bytes.
    Raw,
    /// The index, and the end of each word with the stride.
    IndexAndOffset,
    /// The index.
    Index,
    /// Whether there are records at all.
    NotEmpty,
}

/// What the range check says of one lane.
pub(crate) struct Range {
    pub(crate) address: u64,
    /// The words that are in range.
    pub(crate) words: u16,
    /// Whether leaving the scalar offset out of the check would change that.
    pub(crate) differs: bool,
}

impl Resource {
    pub(crate) fn new<const W: usize>(
        first: u16,
        wave: &Wave<W>,
        soffset: u32,
        offset: i64,
        (isa, reader): (Isa, Reader),
    ) -> Resource {
        let word = |at: u16| wave.s[usize::from(first + at)];
        let gfx9 = isa == Isa::Gfx9;
        let add_lane = word(3) >> 23 & 1 == 1 && reader != Reader::Scalar;
        let mut stride = word(1) >> 16 & 0x3fff;
        if gfx9 && add_lane {
            stride |= (word(3) >> 15 & 0xf) << 14;
        }
        let element = match word(1) >> 30 {
            _ if reader == Reader::Scalar => 0,
            enable if gfx9 => 4 * (enable >> 1),
            0 => 0,
            enable => 2 << enable,
        };
        let structured = match reader {
            Reader::Scalar => false,
            Reader::Vector { indexed } => indexed || add_lane,
        };
        let rule = match word(3) >> 28 & 3 {
            _ if reader == Reader::Scalar => Rule::Raw,
            _ if gfx9 && structured && stride != 0 => Rule::Index,
            _ if gfx9 => Rule::Raw,
            0 => Rule::IndexAndOffset,
            1 => Rule::Index,
            2 => Rule::NotEmpty,
            _ if element != 0 && stride != 0 => Rule::IndexAndOffset,
            _ => Rule::Raw,
        };
        let records = match reader {
            Reader::Scalar => u64::from(word(2)) * u64::from(stride.max(1)),
            Reader::Vector { .. } => u64::from(word(2)),
        };
        Resource {
            base: u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32,
            stride,
            records,
            rule,
            swizzle: (element != 0).then(|| (element, 8 << (word(3) >> 21 & 3))),
            add_lane,
            soffset,
            offset: offset as u64,
        }
    }

    /// Size of the buffer: bytes, or structures where there is a stride.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Bytes from the base to a place in a structure.
    fn place(&self, index: u32, within: u64) -> u64 {
        let (index, stride) = (u64::from(index), u64::from(self.stride));
        let Some((element, count)) = self.swizzle else {
            return index * stride + within;
        };
        let (element, count) = (u64::from(element), u64::from(count));
        (index / count * stride + within / element * element) * count
            + index % count * element
            + within % element
    }

    /// What a lane's access of `bytes` from an index and an offset on meets.
    pub(crate) fn range(&self, lane: usize, index: u32, offset: u32, bytes: usize) -> Range {
        let index = match self.add_lane {
            true => index.wrapping_add(lane as u32),
            false => index,
        };
        let within = u64::from(offset) + self.offset;
        let soffset = u64::from(self.soffset);
        let address = (self.base + soffset + self.place(index, within)) & 0xffff_ffff_ffff;
        let words = bytes.div_ceil(4);
        let size = bytes.min(4) as u64;
        let records = self.records;
        let (mut counted, mut ignored) = (0, 0);
        for word in 0..words {
            let end = within + 4 * word as u64 + size;
            let inside = match self.rule {
                Rule::Raw => end <= records,
                Rule::IndexAndOffset => u64::from(index) < records && end <= u64::from(self.stride),
                Rule::Index => u64::from(index) < records,
                Rule::NotEmpty => records != 0,
            };
            let (with, without) = match self.rule {
                Rule::Raw => (end + soffset <= records, inside),
                _ => (inside, inside),
            };
            counted |= u16::from(with) << word;
            ignored |= u16::from(without) << word;
        }
        Range {
            address,
            words: counted,
            differs: counted != ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(records: u64, soffset: u32) -> Resource {
        Resource {
            base: 0x1000,
            stride: 0,
            records,
            rule: Rule::Raw,
            swizzle: None,
            add_lane: false,
            soffset,
            offset: 0,
        }
    }

    #[test]
    fn words_are_checked_one_by_one() {
        let range = raw(24, 0).range(0, 0, 16, 16);
        assert_eq!(
            (range.words, range.differs, range.address),
            (0b0011, false, 0x1010)
        );
        assert_eq!(
            raw(26, 0).range(0, 0, 16, 16).words,
            0b0011,
            "a word partly outside is outside"
        );
        assert_eq!(raw(26, 0).range(0, 0, 24, 2).words, 1);
        assert_eq!(
            raw(24, 0).range(0, 0, u32::MAX - 3, 16).words,
            0,
            "no wrap around"
        );
    }

    #[test]
    fn swizzled_structures_lie_side_by_side() {
        let resource = Resource {
            stride: 16,
            rule: Rule::Index,
            swizzle: Some((4, 8)),
            ..raw(100, 0)
        };
        // Eight structures' first words, then their second words.
        let at = |index, offset| resource.range(0, index, offset, 4).address - 0x1000;
        assert_eq!([at(0, 0), at(1, 0), at(7, 0), at(0, 4)], [0, 4, 28, 32]);
        assert_eq!(
            [at(8, 0), at(9, 6), at(99, 0)],
            [128, 128 + 32 + 6, 12 * 128 + 12]
        );
        assert_eq!(resource.range(0, 100, 0, 4).words, 0);
    }

    #[test]
    fn the_scalar_offset_counts() {
        let range = raw(24, 8).range(0, 0, 16, 4);
        assert_eq!((range.words, range.differs), (0, true));
        let range = raw(24, 4).range(0, 0, 16, 4);
        assert_eq!(
            (range.words, range.differs, range.address),
            (1, false, 0x1014)
        );
    }
}
