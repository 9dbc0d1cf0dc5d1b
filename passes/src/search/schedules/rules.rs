//! The steps of the ladder as rules.
//!
//! Each rule exchanges one choice for a larger one. Its equation is that of its sort: the
//! kernels before and after compute the same C. Its side condition is a list of what may keep the
//! kernel after it from being built, which depends on all choices together: it is weighed over
//! whole combinations, where what a rule's list does not have never comes up (a test).

use super::{
    Reason::{self, *},
    language::{Choice, Leaf},
};
use egg::{Pattern, Rewrite};
use tilefold_dialect::plan::{Commit, Lead, Prefetch};

/// One rule, for one value of its choice.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The rule family, a step that a person would name.
    pub name: &'static str,
    /// The choice before.
    pub from: Leaf,
    /// The choice after.
    pub to: Leaf,
    /// Why the product stays the same.
    pub equation: &'static str,
    /// What may keep the kernel after it from being built, where the one before can be.
    pub conditions: &'static [Reason],
}

struct Family {
    name: &'static str,
    values: Values,
    equation: &'static str,
    conditions: &'static [Reason],
}

/// The values of a choice.
enum Values {
    /// Multiples of a unit, in stretches up to so many units: by the steps from one to the next.
    Counts(fn(i64) -> Leaf, i64, &'static [(i64, i64)]),
    Named(&'static [Leaf]),
}

impl Values {
    /// Every value but the least, each with the one that leads to it. Counts are doubled, and then
    /// grow by ever smaller powers of two: 1, 2, 4, 8, 12, 14, 15.
    fn pairs(&self) -> Vec<[Leaf; 2]> {
        match self {
            Values::Counts(leaf, unit, stretches) => {
                let mut counts = vec![1];
                for (step, most) in *stretches {
                    let last = *counts.last().expect("it begins with one");
                    let first = last / step * step + step;
                    counts.extend((first..=*most).step_by(*step as usize));
                }
                counts.remove(0);
                let from = |count: i64| match count & (count - 1) {
                    0 => count / 2,
                    less => less,
                };
                let pair = |count: i64| [from(count), count].map(|it| leaf(it * unit));
                counts.into_iter().map(pair).collect()
            }
            Values::Named(leaves) => leaves.windows(2).map(|pair| [pair[0], pair[1]]).collect(),
        }
    }
}

const FAMILIES: [Family; 14] = [
    Family {
        name: "grow-m",
        values: Values::Counts(Leaf::M, 16, &[(1, 16)]),
        equation: "rows of C are independent of one another",
        conditions: &[
            PartAtoms,
            TooFarApart,
            UnevenThreads,
            TooMuchLds,
            TooManyVgprs,
        ],
    },
    Family {
        name: "grow-n",
        values: Values::Counts(Leaf::N, 16, &[(1, 16)]),
        equation: "columns of C are independent of one another",
        conditions: &[
            PartAtoms,
            TooFarApart,
            UnevenThreads,
            TooMuchLds,
            TooManyVgprs,
        ],
    },
    Family {
        name: "deepen-k",
        values: Values::Counts(Leaf::K, 16, &[(1, 8), (4, 16)]),
        equation: "sum over k = sum over tiles of sum over k in tile",
        conditions: &[
            PartAtoms,
            PartTiles,
            TooFarApart,
            NoPermutation,
            UnevenThreads,
            TooMuchLds,
            TooManyVgprs,
        ],
    },
    Family {
        name: "widen-fragments",
        values: Values::Counts(Leaf::Slice, 16, &[(1, 2)]),
        equation: "sum over k = sum over k in any order that A and B share",
        conditions: &[NoAtom, PartAtoms, TooManyVgprs],
    },
    Family {
        name: "split-m-over-waves",
        values: Values::Counts(Leaf::WavesM, 1, &[(1, 4), (2, 8)]),
        equation: "a tile is the disjoint union of its waves' parts",
        conditions: &[PartAtoms, TooManyWaves, UnevenThreads, TooManyVgprs],
    },
    Family {
        name: "split-n-over-waves",
        values: Values::Counts(Leaf::WavesN, 1, &[(1, 4), (2, 8)]),
        equation: "a tile is the disjoint union of its waves' parts",
        conditions: &[PartAtoms, TooManyWaves, UnevenThreads, TooManyVgprs],
    },
    Family {
        name: "double-buffer",
        values: Values::Counts(Leaf::Buffers, 1, &[(1, 2)]),
        equation: "a tile read is the tile last written, whichever buffer holds it",
        conditions: &[TooMuchLds],
    },
    Family {
        name: "prefetch",
        values: Values::Named(&[
            Leaf::Prefetch(Prefetch::None),
            Leaf::Prefetch(Prefetch::Burst),
            Leaf::Prefetch(Prefetch::Interleaved),
        ]),
        equation: "a load may be issued any time between the last write and the first use",
        conditions: &[TooManyVgprs],
    },
    Family {
        name: "space-loads",
        values: Values::Counts(Leaf::Cadence, 1, &[(1, 16)]),
        equation: "a load may be issued any time between the last write and the first use",
        conditions: &[NotInterleaved],
    },
    Family {
        name: "read-ahead",
        values: Values::Counts(Leaf::Ahead, 1, &[(1, 32), (4, 64), (16, 128)]),
        equation: "a fragment may be read any time between the barrier and its use",
        conditions: &[NotInterleaved, TooManyVgprs],
    },
    Family {
        name: "lead-with-b",
        values: Values::Named(&[Leaf::Lead(Lead::A), Leaf::Lead(Lead::B)]),
        equation: "elements of C are independent of one another, and of the order of loads",
        conditions: &[NotInterleaved, TooManyVgprs],
    },
    Family {
        name: "commit-after-reads",
        values: Values::Named(&[Leaf::Commit(Commit::End), Leaf::Commit(Commit::Reads)]),
        equation: "a tile may be overwritten any time after its last read",
        conditions: &[NotInterleaved, TooManyVgprs],
    },
    Family {
        name: "raise-priority",
        values: Values::Named(&[Leaf::Priority(false), Leaf::Priority(true)]),
        equation: "what a wave computes does not depend on when it is issued",
        conditions: &[NotInterleaved],
    },
    Family {
        name: "group-rows",
        values: Values::Counts(Leaf::Group, 1, &[(1, 2), (2, 4), (4, 8), (8, 16), (16, 32)]),
        equation: "tiles of C are independent of one another",
        conditions: &[],
    },
];

/// Every rule.
pub fn rules() -> impl Iterator<Item = Rule> {
    FAMILIES.iter().flat_map(|family| {
        let pairs = family.values.pairs();
        pairs.into_iter().map(|[from, to]| Rule {
            name: family.name,
            from,
            to,
            equation: family.equation,
            conditions: family.conditions,
        })
    })
}

impl Rule {
    /// The name of the rewrite: the family and what it chooses.
    pub fn rewrite_name(&self) -> String {
        format!("{}:{}", self.name, self.to)
    }

    /// The rule for egg.
    pub(super) fn rewrite(&self) -> Rewrite<Choice, ()> {
        let pattern = |leaf: Leaf| -> Pattern<Choice> {
            leaf.to_string()
                .parse()
                .expect("a leaf prints as it parses")
        };
        Rewrite::new(self.rewrite_name(), pattern(self.from), pattern(self.to))
            .expect("neither side has a variable")
    }
}
