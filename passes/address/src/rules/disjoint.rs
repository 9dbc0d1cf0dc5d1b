//! Sums without carry are exclusive ors.

use super::{Computed, Rule, Scope, holds};

const OUTER: &str = "a and b share no bits, b does not depend on the thread";

fn disjoint(scope: &Scope<'_>) -> Computed {
    holds(scope.maybe("a") & scope.maybe("b") == 0 && scope.rank("b") < 3)
}

pub const RULES: &[Rule] = &[
    Rule {
        name: "disjoint-add-is-xor",
        left: "(+ ?a ?b)",
        right: "(^ ?a ?b)",
        when: OUTER,
        condition: disjoint,
    },
    Rule {
        name: "disjoint-xor-is-add",
        left: "(^ ?a ?b)",
        right: "(+ ?a ?b)",
        when: OUTER,
        condition: disjoint,
    },
];

#[cfg(test)]
mod tests {
    use crate::rules::check::{Wrong::*, holds, wrong};

    #[test]
    fn disjoint_sums() {
        let shared = [("a", Within(6, 2)), ("b", Within(3, 2))];
        for name in ["disjoint-add-is-xor", "disjoint-xor-is-add"] {
            holds(name);
            wrong(name, &shared, &[]);
        }
    }
}
