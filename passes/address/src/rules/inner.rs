//! The same within the part that depends on the thread: no access shares more for it, but its
//! terms become cheaper.

use super::{Computed, Rule, Scope, holds};

const INNER: &str = "a and b depend on the thread";

fn inner(scope: &Scope<'_>) -> Computed {
    holds(scope.rank("a") == 3 && scope.rank("b") == 3)
}

pub const RULES: &[Rule] = &[
    Rule {
        name: "and-of-inner-xor",
        left: "(& (^ ?a ?b) ?c)",
        right: "(^ (& ?a ?c) (& ?b ?c))",
        when: INNER,
        condition: inner,
    },
    Rule {
        name: "lshr-of-inner-xor",
        left: "(>> (^ ?a ?b) ?c)",
        right: "(^ (>> ?a ?c) (>> ?b ?c))",
        when: INNER,
        condition: inner,
    },
    Rule {
        name: "shl-of-inner-xor",
        left: "(<< (^ ?a ?b) ?c)",
        right: "(^ (<< ?a ?c) (<< ?b ?c))",
        when: INNER,
        condition: inner,
    },
    Rule {
        name: "shl-of-inner-add",
        left: "(<< (+ ?a ?b) ?c)",
        right: "(+ (<< ?a ?c) (<< ?b ?c))",
        when: INNER,
        condition: inner,
    },
    Rule {
        name: "inner-add-is-xor",
        left: "(+ ?a ?b)",
        right: "(^ ?a ?b)",
        when: "a and b depend on the thread and share no bits",
        condition: |scope| {
            inner(scope)?;
            holds(scope.maybe("a") & scope.maybe("b") == 0)
        },
    },
    Rule {
        name: "and-drops-high-right",
        left: "(& (+ ?a ?b) ?d)",
        right: "(& ?a ?d)",
        when: "b is a multiple of 2^j, j the length of d",
        condition: |scope| holds(scope.facts("b").trailing_zeros(scope.word) >= scope.length("d")),
    },
    Rule {
        name: "and-drops-high-left",
        left: "(& (+ ?b ?a) ?d)",
        right: "(& ?a ?d)",
        when: "b is a multiple of 2^j, j the length of d",
        condition: |scope| holds(scope.facts("b").trailing_zeros(scope.word) >= scope.length("d")),
    },
];

#[cfg(test)]
mod tests {
    use crate::rules::check::{Wrong::*, aimless, holds, wrong};

    #[test]
    fn within_the_thread() {
        for name in [
            "and-of-inner-xor",
            "lshr-of-inner-xor",
            "shl-of-inner-xor",
            "shl-of-inner-add",
        ] {
            holds(name);
            aimless(name, &[("a", "thread"), ("b", "1"), ("c", "1")]);
        }
    }

    #[test]
    fn inner_add_is_xor() {
        holds("inner-add-is-xor");
        wrong(
            "inner-add-is-xor",
            &[("a", Within(6, 2)), ("b", Within(3, 2))],
            &[],
        );
    }

    #[test]
    fn and_drops_high() {
        holds("and-drops-high-right");
        holds("and-drops-high-left");
        let low = [("a", Any(0)), ("b", Within(6, 2)), ("d", Constant(2))];
        wrong("and-drops-high-right", &low, &[]);
        wrong("and-drops-high-left", &low, &[]);
    }
}
