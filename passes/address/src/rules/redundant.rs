//! Operations that change nothing, or of which a part is lost.

use super::{Rule, always, holds};
use crate::facts::low;

pub const RULES: &[Rule] = &[
    Rule {
        name: "add-zero",
        left: "(+ ?a 0)",
        right: "?a",
        when: "",
        condition: always,
    },
    Rule {
        name: "xor-zero",
        left: "(^ ?a 0)",
        right: "?a",
        when: "",
        condition: always,
    },
    Rule {
        name: "shl-zero",
        left: "(<< ?a 0)",
        right: "?a",
        when: "",
        condition: always,
    },
    Rule {
        name: "lshr-zero",
        left: "(>> ?a 0)",
        right: "?a",
        when: "",
        condition: always,
    },
    Rule {
        name: "mul-one",
        left: "(* ?a 1)",
        right: "?a",
        when: "",
        condition: always,
    },
    Rule {
        name: "and-covers",
        left: "(& ?a ?c)",
        right: "?a",
        when: "a has no bits outside c",
        condition: |scope| holds(scope.maybe("a") & !scope.constant("c") == 0),
    },
    Rule {
        name: "urem-covers",
        left: "(% ?a ?c)",
        right: "?a",
        when: "a < c",
        condition: |scope| holds(scope.facts("a").max < scope.constant("c")),
    },
    Rule {
        name: "and-of-and",
        left: "(& (& ?a ?c) ?d)",
        right: "(& ?a (& ?c ?d))",
        when: "",
        condition: always,
    },
    Rule {
        name: "and-drops-high-constant",
        left: "(& (+ ?a ?c) ?d)",
        right: "(& (+ ?a ?k) ?d)",
        when: "k = c mod 2^j, j the length of d, is not c",
        condition: |scope| {
            let c = scope.constant("c");
            let k = c & low(scope.length("d"));
            (k != c).then(|| vec![("k", k)])
        },
    },
    Rule {
        name: "and-of-top-bit",
        left: "(& (+ ?a ?c) ?d)",
        right: "(^ (& (+ ?a ?k) ?d) ?l)",
        when: "c = k + l, l the highest bit of d, which carries to nothing within d",
        condition: |scope| {
            let l = scope.length("d").checked_sub(1).map_or(0, |top| 1 << top);
            let c = scope.constant("c");
            (c & l != 0).then(|| vec![("k", c - l), ("l", l)])
        },
    },
];

#[cfg(test)]
mod tests {
    use crate::rules::check::{Wrong::*, holds, wrong};

    #[test]
    fn neutral_constants() {
        for name in ["add-zero", "xor-zero", "shl-zero", "lshr-zero", "mul-one"] {
            holds(name);
        }
    }

    #[test]
    fn and_covers() {
        holds("and-covers");
        wrong(
            "and-covers",
            &[("a", Within(7, 4)), ("c", Constant(3))],
            &[],
        );
    }

    #[test]
    fn urem_covers() {
        holds("urem-covers");
        wrong(
            "urem-covers",
            &[("a", Within(3, 3)), ("c", Constant(3))],
            &[],
        );
    }

    #[test]
    fn and_of_and() {
        holds("and-of-and");
    }

    #[test]
    fn and_drops_high_constant() {
        holds("and-drops-high-constant");
        let low = [("a", Any(0)), ("c", Constant(2)), ("d", Constant(2))];
        wrong("and-drops-high-constant", &low, &[("k", 0)]);
    }

    #[test]
    fn and_of_top_bit() {
        holds("and-of-top-bit");
        let carries = [("a", Any(1)), ("c", Constant(1)), ("d", Constant(3))];
        wrong("and-of-top-bit", &carries, &[("k", 0), ("l", 1)]);
    }
}
