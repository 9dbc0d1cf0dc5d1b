//! What is known of a term's value: bits, range, and what it depends on.

use crate::{
    node::Node,
    term::{Kind, Variable},
    word::{Operator, Word},
};

/// A set of [`Kind`]s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Depends(u8);

impl Depends {
    /// On nothing: a constant.
    pub const NOTHING: Self = Self(0);

    /// On one kind of variable.
    pub fn on(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    /// On what either depends on.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// On what both depend on: equal terms depend on no more than that.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether `kind` is among them.
    pub fn has(self, kind: Kind) -> bool {
        self.0 & Self::on(kind).0 != 0
    }

    /// How far inside a sum a part belongs: threads innermost, constants outermost, so that what
    /// changes least and is shared most comes first.
    pub fn rank(self) -> u8 {
        match self {
            Self::NOTHING => 0,
            _ if self.has(Kind::Thread) => 3,
            _ if self.has(Kind::Step) => 1,
            _ => 2,
        }
    }
}

/// Facts that hold for every value of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Bits that are never set.
    pub zeros: u32,
    /// Bits that are always set.
    pub ones: u32,
    /// No value is less.
    pub min: u32,
    /// No value is more.
    pub max: u32,
    /// What the value depends on at most.
    pub depends: Depends,
}

impl Facts {
    /// Of a constant.
    pub fn constant(value: u32, word: Word) -> Self {
        let value = value & word.mask();
        Self {
            zeros: !value & word.mask(),
            ones: value,
            min: value,
            max: value,
            depends: Depends::NOTHING,
        }
    }

    /// Of values from `min` to `max`, at most the word's largest.
    pub fn range(min: u32, max: u32, depends: Depends, word: Word) -> Self {
        Self {
            zeros: 0,
            ones: 0,
            min,
            max: max.min(word.mask()),
            depends,
        }
        .closed(word)
    }

    /// Bits that some value may have.
    pub fn maybe(self, word: Word) -> u32 {
        !self.zeros & word.mask()
    }

    /// The value, where there is only one.
    pub fn value(self) -> Option<u32> {
        (self.min == self.max).then_some(self.min)
    }

    /// Number of low bits that are never set; the word's width for zero.
    pub fn trailing_zeros(self, word: Word) -> u32 {
        (!self.zeros).trailing_zeros().min(word.bits())
    }

    /// What two sets of facts of one value say together.
    pub fn and(self, other: Self, word: Word) -> Self {
        Self {
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
            min: self.min.max(other.min),
            max: self.max.min(other.max),
            depends: self.depends.and(other.depends),
        }
        .closed(word)
    }

    /// Lets bits and range sharpen each other.
    fn closed(mut self, word: Word) -> Self {
        self.min = self.min.max(self.ones);
        self.max = self.max.min(!self.zeros & word.mask());
        // Bits above the highest in which the ends differ are those of both.
        let known = !(u32::MAX.checked_shr((self.min ^ self.max).leading_zeros())).unwrap_or(0);
        self.zeros |= known & !self.min & word.mask();
        self.ones |= known & self.min;
        if self.min == self.max {
            self.depends = Depends::NOTHING;
        }
        self
    }

    /// Of a node whose operands have the facts that `operand` tells.
    pub fn of(node: &Node, operand: impl Fn(egg::Id) -> Self, word: Word) -> Self {
        match node {
            Node::Constant(value) => Self::constant(*value, word),
            Node::Variable(Variable { kind, min, max, .. }) => {
                Self::range(*min, *max, Depends::on(*kind), word)
            }
            Node::Binary(operator, [left, right]) => {
                Self::binary(*operator, operand(*left), operand(*right), word)
            }
        }
    }

    /// Of an operator's result.
    pub fn binary(operator: Operator, left: Self, right: Self, word: Word) -> Self {
        if let (Some(left), Some(right)) = (left.value(), right.value()) {
            return Self::constant(word.apply(operator, left, right), word);
        }
        let all = Self {
            zeros: 0,
            ones: 0,
            min: 0,
            max: word.mask(),
            depends: left.depends.or(right.depends),
        };
        let facts = match operator {
            Operator::Add => add(left, right, all, word),
            Operator::Mul => mul(left, right, all, word),
            Operator::Xor => Self {
                zeros: (left.zeros & right.zeros) | (left.ones & right.ones),
                ones: (left.zeros & right.ones) | (left.ones & right.zeros),
                ..all
            },
            Operator::And => Self {
                zeros: left.zeros | right.zeros,
                ones: left.ones & right.ones,
                max: left.max.min(right.max),
                ..all
            },
            Operator::Shl => shl(left, right, all, word),
            Operator::Lshr => lshr(left, right, all, word),
            Operator::Udiv => match right.value() {
                Some(divisor) if divisor > 0 => Self {
                    min: left.min / divisor,
                    max: left.max / divisor,
                    ..all
                },
                // No quotient is more than what was divided; a division by 0 gives 0.
                _ => Self {
                    max: left.max,
                    ..all
                },
            },
            Operator::Urem => match right.value() {
                Some(divisor) if left.max < divisor => left,
                Some(divisor) if divisor > 0 => Self {
                    max: left.max.min(divisor - 1),
                    ..all
                },
                _ => Self {
                    max: left.max,
                    ..all
                },
            },
        };
        facts.closed(word)
    }
}

fn add(left: Facts, right: Facts, all: Facts, word: Word) -> Facts {
    let mask = word.mask();
    // The sums with every unknown bit set and with none: where both operands and the carry into a
    // bit are known, so is the bit.
    let most = (left.maybe(word).wrapping_add(right.maybe(word))) & mask;
    let least = (left.ones.wrapping_add(right.ones)) & mask;
    let carry_zero = !(most ^ left.zeros ^ right.zeros);
    let carry_one = least ^ left.ones ^ right.ones;
    let known = (left.zeros | left.ones) & (right.zeros | right.ones) & (carry_zero | carry_one);
    let facts = Facts {
        zeros: !most & known & mask,
        ones: least & known,
        ..all
    };
    match left.max.checked_add(right.max) {
        Some(max) if max <= mask => Facts {
            min: left.min + right.min,
            max,
            ..facts
        },
        _ => facts,
    }
}

fn mul(left: Facts, right: Facts, all: Facts, word: Word) -> Facts {
    let zeros = left.trailing_zeros(word) + right.trailing_zeros(word);
    let facts = Facts {
        zeros: low(zeros) & word.mask(),
        ..all
    };
    match left.max.checked_mul(right.max) {
        Some(max) if max <= word.mask() => Facts {
            min: left.min * right.min,
            max,
            ..facts
        },
        _ => facts,
    }
}

fn shl(left: Facts, right: Facts, all: Facts, word: Word) -> Facts {
    let Some(bits) = right.value() else {
        return all;
    };
    if bits >= word.bits() {
        return Facts::constant(0, word);
    }
    let facts = Facts {
        zeros: ((left.zeros << bits) | low(bits)) & word.mask(),
        ones: (left.ones << bits) & word.mask(),
        ..all
    };
    if left.max <= word.mask() >> bits {
        return Facts {
            min: left.min << bits,
            max: left.max << bits,
            ..facts
        };
    }
    facts
}

fn lshr(left: Facts, right: Facts, all: Facts, word: Word) -> Facts {
    let Some(bits) = right.value() else {
        return Facts {
            max: left.max,
            ..all
        };
    };
    if bits >= word.bits() {
        return Facts::constant(0, word);
    }
    Facts {
        zeros: (left.zeros >> bits) | (word.mask() & !(word.mask() >> bits)),
        ones: left.ones >> bits,
        min: left.min >> bits,
        max: left.max >> bits,
        ..all
    }
}

/// A mask of the lowest `bits` bits, of all for more than there are.
pub fn low(bits: u32) -> u32 {
    1u32.checked_shl(bits).map_or(u32::MAX, |bit| bit - 1)
}

#[cfg(test)]
impl Facts {
    /// Of values that have no bit but those of `bits`.
    pub fn within(bits: u32, depends: Depends, word: Word) -> Self {
        Self {
            zeros: !bits & word.mask(),
            ones: 0,
            min: 0,
            max: word.mask(),
            depends,
        }
        .closed(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of words of `word`: every set of bits that may be set, and every range.
    fn all(word: Word) -> Vec<Facts> {
        let nothing = Depends::on(Kind::Thread);
        let within = (0..=word.mask()).map(|bits| Facts::within(bits, nothing, word));
        let ranges = (0..=word.mask())
            .flat_map(|min| (min..=word.mask()).map(move |max| (min, max)))
            .map(|(min, max)| Facts::range(min, max, nothing, word));
        within.chain(ranges).collect()
    }

    fn holds(facts: Facts, value: u32) -> bool {
        value & facts.zeros == 0
            && value & facts.ones == facts.ones
            && (facts.min..=facts.max).contains(&value)
    }

    #[test]
    fn facts_of_a_result_hold_for_every_value_of_the_operands() {
        let word = Word::new(4);
        let facts = all(word);
        for operator in Operator::ALL {
            for left in &facts {
                for right in &facts {
                    let result = Facts::binary(operator, *left, *right, word);
                    for a in (0..=word.mask()).filter(|a| holds(*left, *a)) {
                        for b in (0..=word.mask()).filter(|b| holds(*right, *b)) {
                            let value = word.apply(operator, a, b);
                            assert!(
                                holds(result, value),
                                "{a} {operator} {b} = {value}: {left:?} {right:?} {result:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn facts_are_no_vaguer_than_they_need_be() {
        let word = Word::MACHINE;
        let thread = Facts::range(0, 31, Depends::on(Kind::Thread), word);
        let constant = |value| Facts::constant(value, word);
        let binary = |operator, left, right| Facts::binary(operator, left, right, word);
        assert_eq!(thread.maybe(word), 31);
        assert_eq!(
            binary(Operator::Shl, thread, constant(4)).maybe(word),
            31 << 4
        );
        assert_eq!(binary(Operator::Mul, thread, constant(144)).max, 31 * 144);
        assert_eq!(
            binary(Operator::Mul, thread, constant(144)).trailing_zeros(word),
            4
        );
        assert_eq!(binary(Operator::Add, thread, constant(32)).ones, 32);
        let zero = binary(Operator::And, thread, constant(32));
        assert_eq!((zero.value(), zero.depends), (Some(0), Depends::NOTHING));
    }
}
