//! Operations on sums are sums of operations, where one part does not depend on the thread.

use super::{Rule, holds};
use crate::facts::low;

const OUTER: &str = "b does not depend on the thread";

pub const RULES: &[Rule] = &[
    Rule {
        name: "and-of-xor",
        left: "(& (^ ?a ?b) ?c)",
        right: "(^ (& ?a ?c) (& ?b ?c))",
        when: OUTER,
        condition: |scope| holds(scope.rank("b") < 3),
    },
    Rule {
        name: "lshr-of-xor",
        left: "(>> (^ ?a ?b) ?c)",
        right: "(^ (>> ?a ?c) (>> ?b ?c))",
        when: OUTER,
        condition: |scope| holds(scope.rank("b") < 3),
    },
    Rule {
        name: "shl-of-xor",
        left: "(<< (^ ?a ?b) ?c)",
        right: "(^ (<< ?a ?c) (<< ?b ?c))",
        when: "b does not depend on the thread; a and b share bits, or else shl-of-add applies",
        condition: |scope| {
            let share = scope.maybe("a") & scope.maybe("b") != 0;
            holds(share && scope.rank("b") < 3)
        },
    },
    Rule {
        name: "shl-of-add",
        left: "(<< (+ ?a ?b) ?c)",
        right: "(+ (<< ?a ?c) (<< ?b ?c))",
        when: OUTER,
        condition: |scope| holds(scope.rank("b") < 3),
    },
    Rule {
        name: "mul-of-add",
        left: "(* (+ ?a ?b) ?u)",
        right: "(+ (* ?a ?u) (* ?b ?u))",
        when: "neither b nor u depends on the thread, and u is no power of two, which shifts",
        condition: |scope| {
            let u = scope.facts("u");
            let shifts = u.value().is_some_and(u32::is_power_of_two);
            holds(scope.rank("b") < 3 && scope.rank("u") < 3 && !shifts)
        },
    },
    Rule {
        name: "xor-of-sum",
        left: "(^ (+ ?a ?c) ?b)",
        right: "(+ (^ (+ ?a ?k) ?b) ?l)",
        when: "c = k + l, b < 2^j, k < 2^j, l a multiple of 2^j and not 0; b is no constant",
        condition: |scope| {
            let (c, low) = (scope.constant("c"), low(scope.length("b")));
            let moves = c & !low != 0 && scope.rank("b") > 0;
            moves.then(|| vec![("k", c & low), ("l", c & !low)])
        },
    },
    Rule {
        name: "xor-of-sum-with-multiple",
        left: "(^ (+ ?a ?u) ?b)",
        right: "(+ (^ ?a ?b) ?u)",
        when: "u is a multiple of 2^j, b < 2^j",
        condition: |scope| holds(scope.facts("u").trailing_zeros(scope.word) >= scope.length("b")),
    },
];

#[cfg(test)]
mod tests {
    use crate::rules::check::{Wrong::*, aimless, holds, wrong};

    #[test]
    fn bitwise_and_linear() {
        for name in ["and-of-xor", "lshr-of-xor", "shl-of-xor", "shl-of-add"] {
            holds(name);
            aimless(name, &[("a", "thread"), ("b", "thread"), ("c", "1")]);
        }
    }

    #[test]
    fn mul_of_add() {
        holds("mul-of-add");
        aimless(
            "mul-of-add",
            &[("a", "thread"), ("b", "1"), ("u", "thread")],
        );
    }

    #[test]
    fn xor_of_sum() {
        holds("xor-of-sum");
        let low = [("a", Any(1)), ("c", Constant(1)), ("b", Within(3, 2))];
        wrong("xor-of-sum", &low, &[("k", 0), ("l", 1)]);
        aimless("xor-of-sum", &[("a", "thread"), ("c", "64"), ("b", "1")]);
    }

    #[test]
    fn xor_of_sum_with_multiple() {
        holds("xor-of-sum-with-multiple");
        let low = [("a", Any(1)), ("u", Within(6, 2)), ("b", Within(3, 2))];
        wrong("xor-of-sum-with-multiple", &low, &[]);
    }
}
