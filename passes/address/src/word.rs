//! Machine words: the operators, and what they do to values of a few bits.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An operator of two words. Results wrap, as the machine's do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Exclusive or.
    Xor,
    /// And.
    And,
    /// Shift left; zero from the word's width on.
    Shl,
    /// Logical shift right; zero from the word's width on.
    Lshr,
    /// Unsigned quotient; zero where the divisor is.
    Udiv,
    /// Unsigned remainder; zero where the divisor is.
    Urem,
}

impl Operator {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Add,
        Self::Mul,
        Self::Xor,
        Self::And,
        Self::Shl,
        Self::Lshr,
        Self::Udiv,
        Self::Urem,
    ];

    /// The operator's sign in equations.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Mul => "*",
            Self::Xor => "^",
            Self::And => "&",
            Self::Shl => "<<",
            Self::Lshr => ">>",
            Self::Udiv => "/",
            Self::Urem => "%",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}

/// A width of words. Offsets have 32 bits; rules are tested on words small enough to try all of
/// their values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    bits: u32,
}

impl Word {
    /// 32 bits.
    pub const MACHINE: Self = Self { bits: 32 };

    /// Words of `bits` bits, at least 1 and at most 32.
    #[cfg(test)]
    pub fn new(bits: u32) -> Self {
        Self {
            bits: bits.clamp(1, 32),
        }
    }

    /// Number of bits.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The largest value, all bits set.
    pub fn mask(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// The operator's result on values of this width.
    pub fn apply(self, operator: Operator, left: u32, right: u32) -> u32 {
        let result = match operator {
            Operator::Add => left.wrapping_add(right),
            Operator::Mul => left.wrapping_mul(right),
            Operator::Xor => left ^ right,
            Operator::And => left & right,
            Operator::Shl if right < self.bits => left << right,
            Operator::Lshr if right < self.bits => left >> right,
            Operator::Shl | Operator::Lshr => 0,
            Operator::Udiv => left.checked_div(right).unwrap_or(0),
            Operator::Urem => left.checked_rem(right).unwrap_or(0),
        };
        result & self.mask()
    }
}
