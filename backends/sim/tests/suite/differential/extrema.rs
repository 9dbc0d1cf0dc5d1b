//! Minima, maxima and the middle of three, as AMD's pseudo-code has them, on the bits of a format.
//!
//! AMD writes three kinds. Before RDNA 4 a mode bit (IEEE, on in every compute kernel) makes a
//! signalling NaN win, made quiet; `_num` operations of RDNA 4 drop either NaN; `maximum` and
//! `minimum` keep both.

/// Mantissa bits and width.
#[derive(Clone, Copy)]
pub struct Bits {
    pub mantissa: u32,
    pub width: u32,
    /// Whether a signalling NaN wins.
    pub ieee: bool,
}

impl Bits {
    fn sign(self) -> u64 {
        1 << (self.width - 1)
    }

    fn infinity(self) -> u64 {
        self.sign() - (1 << self.mantissa)
    }

    fn nan(self, x: u64) -> bool {
        x & (self.sign() - 1) > self.infinity()
    }

    fn quiet(self, x: u64) -> u64 {
        x | 1 << (self.mantissa - 1)
    }

    fn signalling(self, x: u64) -> bool {
        self.nan(x) && self.quiet(x) != x
    }

    /// Numbers in their order, -0 before +0.
    fn rank(self, x: u64) -> i128 {
        let magnitude = i128::from(x & (self.sign() - 1));
        if x & self.sign() == 0 {
            magnitude
        } else {
            -1 - magnitude
        }
    }

    fn equal(self, x: u64, y: u64) -> bool {
        !self.nan(x) && !self.nan(y) && (x == y || (x | y) & (self.sign() - 1) == 0)
    }

    fn pick(self, x: u64, y: u64, larger: bool) -> u64 {
        if self.ieee && self.signalling(x) {
            return self.quiet(x);
        }
        if self.ieee && self.signalling(y) {
            return self.quiet(y);
        }
        match (self.nan(x), self.nan(y)) {
            (true, true) => self.quiet(x),
            (true, false) => y,
            (false, true) => x,
            _ if (self.rank(x) > self.rank(y)) == larger => x,
            _ => y,
        }
    }

    pub fn max(self, x: u64, y: u64) -> u64 {
        self.pick(x, y, true)
    }

    pub fn min(self, x: u64, y: u64) -> u64 {
        self.pick(x, y, false)
    }

    pub fn med3(self, [x, y, z]: [u64; 3]) -> u64 {
        if self.nan(x) || self.nan(y) || self.nan(z) {
            return self.min(self.min(x, y), z);
        }
        let max = self.max(self.max(x, y), z);
        if self.equal(max, x) {
            self.max(y, z)
        } else if self.equal(max, y) {
            self.max(x, z)
        } else {
            self.max(x, y)
        }
    }

    /// The larger (or smaller), or a NaN where one is.
    pub fn keep_nan(self, x: u64, y: u64, larger: bool) -> u64 {
        match (self.nan(x), self.nan(y)) {
            (true, _) => self.quiet(x),
            (_, true) => self.quiet(y),
            _ => self.pick(x, y, larger),
        }
    }
}
