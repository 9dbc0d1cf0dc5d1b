//! Shifts and masks of shifts and masks.

use super::{Rule, Scope};

/// The constants `c` and `d`, where both shift by less than the word.
fn shifts(scope: &Scope<'_>, names: [&str; 2]) -> Option<[u32; 2]> {
    let shifts = names.map(|name| scope.constant(name));
    shifts
        .iter()
        .all(|shift| *shift < scope.word.bits())
        .then_some(shifts)
}

/// Their sum, where that is less than the word.
fn sum(scope: &Scope<'_>) -> Option<u32> {
    let [c, d] = shifts(scope, ["c", "d"])?;
    (c + d < scope.word.bits()).then_some(c + d)
}

/// Whether `a << c` loses no bits.
fn fits(scope: &Scope<'_>, c: u32) -> bool {
    scope.facts("a").max <= scope.word.mask() >> c
}

pub const RULES: &[Rule] = &[
    Rule {
        name: "shl-of-shl",
        left: "(<< (<< ?a ?c) ?d)",
        right: "(<< ?a ?k)",
        when: "k = c + d is less than the word's width",
        condition: |scope| Some(vec![("k", sum(scope)?)]),
    },
    Rule {
        name: "lshr-of-lshr",
        left: "(>> (>> ?a ?c) ?d)",
        right: "(>> ?a ?k)",
        when: "k = c + d is less than the word's width",
        condition: |scope| Some(vec![("k", sum(scope)?)]),
    },
    Rule {
        name: "shl-undoes-lshr",
        left: "(<< (>> ?a ?c) ?c)",
        right: "(& ?a ?k)",
        when: "k all bits from c on",
        condition: |scope| {
            let [c, _] = shifts(scope, ["c", "c"])?;
            Some(vec![("k", (scope.word.mask() >> c) << c)])
        },
    },
    Rule {
        name: "lshr-undoes-shl",
        left: "(>> (<< ?a ?c) ?d)",
        right: "(<< ?a ?k)",
        when: "a << c loses no bits, k = c - d is not negative",
        condition: |scope| {
            let [c, d] = shifts(scope, ["c", "d"])?;
            (c >= d && fits(scope, c)).then(|| vec![("k", c - d)])
        },
    },
    Rule {
        name: "lshr-exceeds-shl",
        left: "(>> (<< ?a ?c) ?d)",
        right: "(>> ?a ?k)",
        when: "a << c loses no bits, k = d - c is positive",
        condition: |scope| {
            let [c, d] = shifts(scope, ["c", "d"])?;
            (d > c && fits(scope, c)).then(|| vec![("k", d - c)])
        },
    },
    Rule {
        name: "and-of-shl",
        left: "(& (<< ?a ?c) ?d)",
        right: "(<< (& ?a (>> ?d ?c)) ?c)",
        when: "",
        condition: super::always,
    },
    Rule {
        name: "shl-of-field",
        left: "(<< (& (>> ?a ?c) ?d) ?e)",
        right: "(<< (& ?a (<< ?d ?c)) ?k)",
        when: "k = e - c is not negative",
        condition: |scope| {
            let [c, e] = shifts(scope, ["c", "e"])?;
            Some(vec![("k", e.checked_sub(c)?)])
        },
    },
    Rule {
        name: "shl-of-high-field",
        left: "(<< (& (>> ?a ?c) ?d) ?e)",
        right: "(>> (& ?a (<< ?d ?c)) ?k)",
        when: "k = c - e is not negative",
        condition: |scope| {
            let [c, e] = shifts(scope, ["c", "e"])?;
            Some(vec![("k", c.checked_sub(e)?)])
        },
    },
];

#[cfg(test)]
mod tests {
    use crate::rules::check::{Wrong::*, holds, wrong};

    #[test]
    fn shifts_of_shifts() {
        holds("shl-of-shl");
        holds("lshr-of-lshr");
        let all = [("a", Any(63)), ("c", Constant(4)), ("d", Constant(3))];
        wrong("shl-of-shl", &all, &[("k", 1)]);
        wrong("lshr-of-lshr", &all, &[("k", 1)]);
    }

    #[test]
    fn shl_undoes_lshr() {
        holds("shl-undoes-lshr");
        wrong(
            "shl-undoes-lshr",
            &[("a", Any(1)), ("c", Constant(6))],
            &[("k", 1)],
        );
    }

    #[test]
    fn lshr_of_shl() {
        holds("lshr-undoes-shl");
        holds("lshr-exceeds-shl");
        let lost = [("a", Any(63)), ("c", Constant(2)), ("d", Constant(1))];
        wrong("lshr-undoes-shl", &lost, &[("k", 1)]);
        let lost = [("a", Any(63)), ("c", Constant(1)), ("d", Constant(2))];
        wrong("lshr-exceeds-shl", &lost, &[("k", 1)]);
    }

    #[test]
    fn and_of_shl() {
        holds("and-of-shl");
    }

    #[test]
    fn shl_of_fields() {
        holds("shl-of-field");
        holds("shl-of-high-field");
        let high = [
            ("a", Any(63)),
            ("c", Constant(2)),
            ("d", Constant(3)),
            ("e", Constant(1)),
        ];
        wrong("shl-of-field", &high, &[("k", 0)]);
        let low = [
            ("a", Any(63)),
            ("c", Constant(1)),
            ("d", Constant(3)),
            ("e", Constant(2)),
        ];
        wrong("shl-of-high-field", &low, &[("k", 0)]);
    }
}
