//! Multiplication and division by powers of two.

use super::{Rule, Scope, holds};
use crate::term::Kind;

/// log2 of the constant `c`, where it is a power of two.
fn power(scope: &Scope<'_>) -> Option<u32> {
    let c = scope.constant("c");
    c.is_power_of_two().then(|| c.trailing_zeros())
}

pub const RULES: &[Rule] = &[
    Rule {
        name: "mul-is-shl",
        left: "(* ?a ?c)",
        right: "(<< ?a ?k)",
        when: "c = 2^k",
        condition: |scope| Some(vec![("k", power(scope)?)]),
    },
    Rule {
        name: "udiv-is-lshr",
        left: "(/ ?a ?c)",
        right: "(>> ?a ?k)",
        when: "c = 2^k",
        condition: |scope| Some(vec![("k", power(scope)?)]),
    },
    Rule {
        name: "urem-is-and",
        left: "(% ?a ?c)",
        right: "(& ?a ?k)",
        when: "c is a power of two, k = c - 1",
        condition: |scope| power(scope).map(|_| vec![("k", scope.constant("c") - 1)]),
    },
    Rule {
        name: "mul-of-mul",
        left: "(* (* ?a ?c) ?d)",
        right: "(* ?a (* ?c ?d))",
        when: "",
        condition: super::always,
    },
    Rule {
        name: "shl-of-mul",
        left: "(<< (* ?a ?c) ?d)",
        right: "(* ?a (<< ?c ?d))",
        when: "",
        condition: super::always,
    },
    Rule {
        name: "mul-of-shl",
        left: "(* (<< ?a ?c) ?d)",
        right: "(* ?a (<< ?d ?c))",
        when: "",
        condition: super::always,
    },
    Rule {
        name: "shl-of-uniform-product",
        left: "(<< (* ?a ?u) ?c)",
        right: "(* ?a (<< ?u ?c))",
        when: "u does not depend on the thread",
        condition: |scope| holds(!scope.facts("u").depends.has(Kind::Thread)),
    },
];

#[cfg(test)]
mod tests {
    use crate::rules::check::{Wrong::*, aimless, holds, wrong};

    #[test]
    fn mul_is_shl() {
        holds("mul-is-shl");
        wrong(
            "mul-is-shl",
            &[("a", Any(1)), ("c", Constant(6))],
            &[("k", 1)],
        );
    }

    #[test]
    fn udiv_is_lshr() {
        holds("udiv-is-lshr");
        wrong(
            "udiv-is-lshr",
            &[("a", Any(6)), ("c", Constant(3))],
            &[("k", 2)],
        );
    }

    #[test]
    fn urem_is_and() {
        holds("urem-is-and");
        wrong(
            "urem-is-and",
            &[("a", Any(3)), ("c", Constant(3))],
            &[("k", 2)],
        );
    }

    #[test]
    fn products_of_constants() {
        holds("mul-of-mul");
        holds("shl-of-mul");
        holds("mul-of-shl");
    }

    #[test]
    fn shl_of_uniform_product() {
        holds("shl-of-uniform-product");
        aimless(
            "shl-of-uniform-product",
            &[("a", "thread"), ("u", "thread"), ("c", "1")],
        );
    }
}
