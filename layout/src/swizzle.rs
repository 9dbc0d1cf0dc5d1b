//! Swizzles: an exclusive-or of some bits of an offset into others.

use std::fmt;

use crate::error::{LayoutError, Result, Rule};

/// `Sw<bits,base,shift>`: `bits` bits at `base + max(shift,0)` are xored onto those `shift` bits
/// lower (or higher, where `shift` is negative).
///
/// The two groups of bits never overlap, so that a swizzle is its own inverse.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// The swizzle that changes nothing, with the fields CuTe gives it.
    pub const IDENTITY: Swizzle = Swizzle {
        bits: 0,
        base: 4,
        shift: 3,
    };

    /// `Sw<bits,base,shift>`.
    ///
    /// # Errors
    /// [`Rule::SwizzleFields`] unless `|shift| >= bits` and all bits lie within 62.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle> {
        let swizzle = Swizzle { bits, base, shift };
        let top = u64::from(bits) + u64::from(base) + u64::from(shift.unsigned_abs());
        if shift.unsigned_abs() < bits || top > 62 {
            return Err(LayoutError::unary("swizzle", &swizzle, Rule::SwizzleFields));
        }
        Ok(swizzle)
    }

    /// Number of bits xored.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Number of low bits left alone: runs of `2^base` elements stay contiguous.
    pub fn base(self) -> u32 {
        self.base
    }

    /// Distance between the two groups of bits.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// Whether it changes nothing.
    pub fn is_identity(self) -> bool {
        self.bits == 0
    }

    /// Bits that are read: `Y` of CuTe.
    pub fn source_mask(self) -> i64 {
        ((1 << self.bits) - 1) << (self.base as i32 + self.shift.max(0))
    }

    /// Bits that are changed: `Z` of CuTe.
    pub fn target_mask(self) -> i64 {
        ((1 << self.bits) - 1) << (self.base as i32 - self.shift.min(0))
    }

    /// Swizzles an offset; applying it twice gives the offset back.
    pub fn apply(self, offset: i64) -> i64 {
        let source = offset & self.source_mask();
        if self.shift >= 0 {
            offset ^ (source >> self.shift)
        } else {
            offset ^ (source << -self.shift)
        }
    }

    /// The number of offsets after which it repeats: it permutes every aligned block of this many.
    pub fn period(self) -> i64 {
        if self.is_identity() {
            1
        } else {
            1 << (self.bits + self.base + self.shift.unsigned_abs())
        }
    }

    /// The swizzle with these source and target bits.
    ///
    /// # Errors
    /// [`Rule::Swizzle`] where either is not one run of bits or their lengths differ.
    pub fn from_masks(source: i64, target: i64) -> Result<Swizzle> {
        let fail = |why| {
            let right = format!("{target:#b}");
            Err(LayoutError::binary(
                "swizzle",
                &format!("{source:#b}"),
                &right,
                Rule::Swizzle { why },
            ))
        };
        if source == 0 && target == 0 {
            return Ok(Swizzle::IDENTITY);
        }
        if source.count_ones() != target.count_ones() || source < 0 || target < 0 {
            return fail("source and target have different numbers of bits");
        }
        let (from, to) = (source.trailing_zeros(), target.trailing_zeros());
        let bits = source.count_ones();
        let run = ((1u64 << bits) - 1) as i64;
        if source >> from != run || target >> to != run {
            return fail("its bits are not contiguous");
        }
        let swizzle = Swizzle {
            bits,
            base: from.min(to),
            shift: from as i32 - to as i32,
        };
        Swizzle::new(swizzle.bits, swizzle.base, swizzle.shift)
    }

    /// `self ∘ inner`, where that is one swizzle.
    ///
    /// # Errors
    /// [`Rule::Swizzle`] where the two shift differently, the inner one changes bits that this one
    /// reads, or their bits together are not one run.
    pub fn compose(self, inner: Swizzle) -> Result<Swizzle> {
        let fail = |why| LayoutError::binary("composition", &self, &inner, Rule::Swizzle { why });
        if self.is_identity() || inner.is_identity() {
            return Ok(if self.is_identity() { inner } else { self });
        }
        if self.shift != inner.shift {
            return Err(fail("they shift by different distances"));
        }
        if inner.target_mask() & self.source_mask() != 0 {
            return Err(fail("the inner one changes bits that the outer one reads"));
        }
        let source = self.source_mask() ^ inner.source_mask();
        let target = self.target_mask() ^ inner.target_mask();
        Swizzle::from_masks(source, target).map_err(|_| fail("their bits are not one run"))
    }

    /// The swizzle of offsets counted in units of `n` elements.
    ///
    /// # Errors
    /// [`Rule::Swizzle`] where `n` is no power of two, or the swizzle moves elements within a
    /// unit. (CuTe drops the bits below the unit there, which is another function.)
    pub fn upcast(self, n: i64) -> Result<Swizzle> {
        let fail = |why| LayoutError::binary("upcast", &self, &n, Rule::Swizzle { why });
        if n < 1 || n.count_ones() != 1 {
            return Err(fail("the factor is not a power of two"));
        }
        match self.base.checked_sub(n.trailing_zeros()) {
            Some(base) => Ok(Swizzle { base, ..self }),
            None if self.is_identity() => Ok(Swizzle { base: 0, ..self }),
            None => Err(fail("it moves elements within a unit of the factor")),
        }
    }

    /// The swizzle of offsets whose elements are split into `n`.
    ///
    /// # Errors
    /// [`Rule::Swizzle`] where `n` is no power of two, [`Rule::SwizzleFields`] past 62 bits.
    pub fn downcast(self, n: i64) -> Result<Swizzle> {
        if n < 1 || n.count_ones() != 1 {
            let why = "the factor is not a power of two";
            return Err(LayoutError::binary(
                "downcast",
                &self,
                &n,
                Rule::Swizzle { why },
            ));
        }
        Swizzle::new(self.bits, self.base + n.trailing_zeros(), self.shift)
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

impl fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
