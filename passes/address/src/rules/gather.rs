//! Constants and uniform parts move outward and meet there.
//!
//! The equations are those of commutative groups and always hold. Their conditions give them a
//! direction, so that the e-graph does not fill with every order of every sum.

use super::{Computed, Rule, Scope, holds};

/// What changes least goes to the right.
fn ascends(scope: &Scope<'_>) -> Computed {
    holds(scope.rank("a") < scope.rank("b"))
}

/// x moves out past b.
fn passes(scope: &Scope<'_>) -> Computed {
    holds(scope.rank("x") < scope.rank("b"))
}

/// x and y meet: both constants, or both uniform.
fn meet(scope: &Scope<'_>) -> Computed {
    let [a, x, y] = ["a", "x", "y"].map(|name| scope.rank(name));
    holds(x < a && y < a && (x == 0) == (y == 0))
}

const ORDER: &str = "a changes less than b";
const PASS: &str = "x changes less than b";
const MEET: &str = "x and y are constants, or neither is and both are uniform; a is neither";

macro_rules! group {
    ($($sign:literal $name:literal)*) => {
        &[
            $(
                Rule {
                    name: concat!($name, "-commutes"),
                    left: concat!("(", $sign, " ?a ?b)"),
                    right: concat!("(", $sign, " ?b ?a)"),
                    when: ORDER,
                    condition: ascends,
                },
                Rule {
                    name: concat!($name, "-gathers-left"),
                    left: concat!("(", $sign, " (", $sign, " ?a ?x) ?b)"),
                    right: concat!("(", $sign, " (", $sign, " ?a ?b) ?x)"),
                    when: PASS,
                    condition: passes,
                },
                Rule {
                    name: concat!($name, "-gathers-right"),
                    left: concat!("(", $sign, " ?b (", $sign, " ?a ?x))"),
                    right: concat!("(", $sign, " (", $sign, " ?b ?a) ?x)"),
                    when: PASS,
                    condition: passes,
                },
                Rule {
                    name: concat!($name, "-joins"),
                    left: concat!("(", $sign, " (", $sign, " ?a ?x) ?y)"),
                    right: concat!("(", $sign, " ?a (", $sign, " ?x ?y))"),
                    when: MEET,
                    condition: meet,
                },
            )*
            Rule {
                name: "mul-commutes",
                left: "(* ?a ?b)",
                right: "(* ?b ?a)",
                when: ORDER,
                condition: ascends,
            },
        ]
    };
}

pub const RULES: &[Rule] = group!("+" "add" "^" "xor");

#[cfg(test)]
mod tests {
    use crate::rules::check::{aimless, holds};

    #[test]
    fn commutes() {
        for name in ["add-commutes", "xor-commutes", "mul-commutes"] {
            holds(name);
            aimless(name, &[("a", "thread"), ("b", "1")]);
        }
    }

    #[test]
    fn gathers() {
        for name in [
            "add-gathers-left",
            "add-gathers-right",
            "xor-gathers-left",
            "xor-gathers-right",
        ] {
            holds(name);
            aimless(name, &[("a", "thread"), ("x", "thread"), ("b", "1")]);
        }
    }

    #[test]
    fn joins() {
        for name in ["add-joins", "xor-joins"] {
            holds(name);
            aimless(name, &[("a", "thread"), ("x", "step"), ("y", "1")]);
        }
    }
}
