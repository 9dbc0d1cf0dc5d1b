//! Exclusive ors with bits that are known are sums.

use super::Rule;

pub const RULES: &[Rule] = &[Rule {
    name: "xor-splits",
    left: "(^ ?a ?c)",
    right: "(+ (^ ?a ?k) ?l)",
    when: "k the bits of c that a may or may not have; l those that a never has, less those that \
           it always has; l is not 0",
    condition: |scope| {
        let (a, c) = (scope.facts("a"), scope.constant("c"));
        let l = (c & a.zeros).wrapping_sub(c & a.ones) & scope.word.mask();
        let k = c & !a.zeros & !a.ones;
        (l != 0).then(|| vec![("k", k), ("l", l)])
    },
}];

#[cfg(test)]
mod tests {
    use crate::rules::check::{Wrong::*, holds, wrong};

    #[test]
    fn xor_splits() {
        holds("xor-splits");
        let unknown = [("a", Within(3, 1)), ("c", Constant(1))];
        wrong("xor-splits", &unknown, &[("k", 0), ("l", 1)]);
    }
}
