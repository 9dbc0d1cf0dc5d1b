//! Buffer resources and their range checks.
//!
//! A check is made for each 32-bit word of an access on its own; a word that is partly outside is
//! outside (LLVM's AMDGPU usage guide on buffer accesses out of bounds). AMD's RDNA 3 instruction
//! set guide, "Range checking", counts the scalar offset.

use crate::wave::Wave;

/// A buffer resource with the parts of the offset that lanes share.
pub(crate) struct Resource {
    base: u64,
    stride: u32,
    records: u32,
    mode: u32,
    soffset: u32,
    offset: u64,
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
    ) -> Resource {
        let word = |at: u16| wave.s[usize::from(first + at)];
        Resource {
            base: u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32,
            stride: word(1) >> 16 & 0x3fff,
            records: word(2),
            mode: word(3) >> 28 & 3,
            soffset,
            offset: offset as u64,
        }
    }

    /// Size of the buffer: bytes, or structures where there is a stride.
    pub(crate) fn records(&self) -> u32 {
        self.records
    }

    pub(crate) fn range(&self, index: u32, offset: u32, bytes: usize) -> Range {
        let within = u64::from(offset) + self.offset;
        let structure = u64::from(index) * u64::from(self.stride);
        let soffset = u64::from(self.soffset);
        let address = (self.base + soffset + structure + within) & 0xffff_ffff_ffff;
        let words = bytes.div_ceil(4);
        let size = bytes.min(4) as u64;
        let records = u64::from(self.records);
        let raw = self.stride == 0 || self.mode == 3;
        let (mut counted, mut ignored) = (0, 0);
        for word in 0..words {
            let end = within + 4 * word as u64 + size;
            let (with, without) = if raw {
                (end + soffset <= records, end <= records)
            } else {
                let inside = match self.mode {
                    0 => u64::from(index) < records && end <= u64::from(self.stride),
                    1 => u64::from(index) < records,
                    _ => records != 0,
                };
                (inside, inside)
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

    fn raw(records: u32, soffset: u32) -> Resource {
        Resource {
            base: 0x1000,
            stride: 0,
            records,
            mode: 3,
            soffset,
            offset: 0,
        }
    }

    #[test]
    fn words_are_checked_one_by_one() {
        let range = raw(24, 0).range(0, 16, 16);
        assert_eq!(
            (range.words, range.differs, range.address),
            (0b0011, false, 0x1010)
        );
        assert_eq!(
            raw(26, 0).range(0, 16, 16).words,
            0b0011,
            "a word partly outside is outside"
        );
        assert_eq!(raw(26, 0).range(0, 24, 2).words, 1);
        assert_eq!(
            raw(24, 0).range(0, u32::MAX - 3, 16).words,
            0,
            "no wrap around"
        );
    }

    #[test]
    fn the_scalar_offset_counts() {
        let range = raw(24, 8).range(0, 16, 4);
        assert_eq!((range.words, range.differs), (0, true));
        let range = raw(24, 4).range(0, 16, 4);
        assert_eq!(
            (range.words, range.differs, range.address),
            (1, false, 0x1014)
        );
    }
}
