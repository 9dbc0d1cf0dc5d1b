//! The steps of the ladder as rules.
//!
//! Each rule exchanges one choice for the next larger one. Its equation is that of its sort: the
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

/// The values of a choice, least first.
enum Values {
    Counts(fn(i64) -> Leaf, &'static [i64]),
    Named(&'static [Leaf]),
}

impl Values {
    fn leaves(&self) -> Vec<Leaf> {
        match self {
            Values::Counts(leaf, counts) => counts.iter().copied().map(leaf).collect(),
            Values::Named(leaves) => leaves.to_vec(),
        }
    }
}

const EXTENTS: &[i64] = &[16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256];

const FAMILIES: [Family; 14] = [
    Family {
        name: "grow-m",
        values: Values::Counts(Leaf::M, EXTENTS),
        equation: "rows of C are independent of one another",
        conditions: &[PartAtoms, UnevenThreads, TooMuchLds, NoRoom, TooManyVgprs],
    },
    Family {
        name: "grow-n",
        values: Values::Counts(Leaf::N, EXTENTS),
        equation: "columns of C are independent of one another",
        conditions: &[PartAtoms, UnevenThreads, TooMuchLds, NoRoom, TooManyVgprs],
    },
    Family {
        name: "deepen-k",
        values: Values::Counts(Leaf::K, &[16, 32, 64, 128]),
        equation: "sum over k = sum over tiles of sum over k in tile",
        conditions: &[PartTiles, TooMuchLds, TooManyVgprs],
    },
    Family {
        name: "widen-fragments",
        values: Values::Counts(Leaf::Slice, &[16, 32]),
        equation: "sum over k = sum over k in any order that A and B share",
        conditions: &[NoAtom, PartAtoms, TooManyVgprs],
    },
    Family {
        name: "split-m-over-waves",
        values: Values::Counts(Leaf::WavesM, &[1, 2, 4, 8]),
        equation: "a tile is the disjoint union of its waves' parts",
        conditions: &[
            PartAtoms,
            TooManyWaves,
            UnevenThreads,
            ReadTooFar,
            NoRoom,
            TooManyVgprs,
        ],
    },
    Family {
        name: "split-n-over-waves",
        values: Values::Counts(Leaf::WavesN, &[1, 2, 4, 8]),
        equation: "a tile is the disjoint union of its waves' parts",
        conditions: &[
            PartAtoms,
            TooManyWaves,
            UnevenThreads,
            ReadTooFar,
            NoRoom,
            TooManyVgprs,
        ],
    },
    Family {
        name: "double-buffer",
        values: Values::Counts(Leaf::Buffers, &[1, 2]),
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
        values: Values::Counts(Leaf::Cadence, &[1, 2, 4]),
        equation: "a load may be issued any time between the last write and the first use",
        conditions: &[NotInterleaved, NoRoom],
    },
    Family {
        name: "read-ahead",
        values: Values::Counts(Leaf::Ahead, &[1, 2, 4, 8, 16, 32]),
        equation: "a fragment may be read any time between the barrier and its use",
        conditions: &[NotInterleaved, ReadTooFar, NoRoom, TooManyVgprs],
    },
    Family {
        name: "lead-with-b",
        values: Values::Named(&[Leaf::Lead(Lead::A), Leaf::Lead(Lead::B)]),
        equation: "elements of C are independent of one another, and of the order of loads",
        conditions: &[NotInterleaved, PackedAccumulators, TooManyVgprs],
    },
    Family {
        name: "commit-after-reads",
        values: Values::Named(&[Leaf::Commit(Commit::End), Leaf::Commit(Commit::Reads)]),
        equation: "a tile may be overwritten any time after its last read",
        conditions: &[NotInterleaved, NoRoom],
    },
    Family {
        name: "raise-priority",
        values: Values::Named(&[Leaf::Priority(false), Leaf::Priority(true)]),
        equation: "what a wave computes does not depend on when it is issued",
        conditions: &[NotInterleaved],
    },
    Family {
        name: "group-rows",
        values: Values::Counts(Leaf::Group, &[1, 8]),
        equation: "tiles of C are independent of one another",
        conditions: &[],
    },
];

/// Every rule.
pub fn rules() -> impl Iterator<Item = Rule> {
    FAMILIES.iter().flat_map(|family| {
        let values = family.values.leaves();
        let pairs: Vec<_> = values.windows(2).map(|pair| [pair[0], pair[1]]).collect();
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
