//! The steps of the ladder as rules.
//!
//! Each rule exchanges one choice for the next larger one. Its equation is that of its sort: the
//! kernels before and after compute the same C. Its side condition, whether the kernel can be
//! built, is weighed over whole combinations, because it depends on all choices together.

use super::language::{Choice, Leaf};
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
    /// When the kernel can be built.
    pub condition: &'static str,
}

struct Family {
    name: &'static str,
    values: Values,
    equation: &'static str,
    condition: &'static str,
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
        condition: "whole atoms per wave; threads that share the tile evenly; registers for accumulators, fragments and what is staged; LDS for the tile of A; room for its loads before what waits for them",
    },
    Family {
        name: "grow-n",
        values: Values::Counts(Leaf::N, EXTENTS),
        equation: "columns of C are independent of one another",
        condition: "whole atoms per wave; threads that share the tile evenly; registers for accumulators, fragments and what is staged; LDS for the tile of B; room for its loads before what waits for them",
    },
    Family {
        name: "deepen-k",
        values: Values::Counts(Leaf::K, &[16, 32, 64, 128]),
        equation: "sum over k = sum over tiles of sum over k in tile",
        condition: "LDS for both tiles; registers for what is staged; room for its loads before what waits for them",
    },
    Family {
        name: "widen-fragments",
        values: Values::Counts(Leaf::Slice, &[16, 32]),
        equation: "sum over k = sum over k in any order that A and B share",
        condition: "an atom of that k; whole atoms per wave; registers for the fragments",
    },
    Family {
        name: "split-m-over-waves",
        values: Values::Counts(Leaf::WavesM, &[1, 2, 4, 8]),
        equation: "a tile is the disjoint union of its waves' parts",
        condition: "whole atoms per wave; waves of a workgroup, all of them resident with their registers; threads that share both tiles evenly; instructions of a K slice for what is read ahead; room for its loads before what waits for them",
    },
    Family {
        name: "split-n-over-waves",
        values: Values::Counts(Leaf::WavesN, &[1, 2, 4, 8]),
        equation: "a tile is the disjoint union of its waves' parts",
        condition: "whole atoms per wave; waves of a workgroup, all of them resident with their registers; threads that share both tiles evenly; instructions of a K slice for what is read ahead; room for its loads before what waits for them",
    },
    Family {
        name: "double-buffer",
        values: Values::Counts(Leaf::Buffers, &[1, 2]),
        equation: "a tile read is the tile last written, whichever buffer holds it",
        condition: "LDS for twice the tiles",
    },
    Family {
        name: "prefetch",
        values: Values::Named(&[
            Leaf::Prefetch(Prefetch::None),
            Leaf::Prefetch(Prefetch::Burst),
            Leaf::Prefetch(Prefetch::Interleaved),
        ]),
        equation: "a load may be issued any time between the last write and the first use",
        condition: "registers for the staged tiles and for the fragments of a row",
    },
    Family {
        name: "space-loads",
        values: Values::Counts(Leaf::Cadence, &[1, 2, 4]),
        equation: "a load may be issued any time between the last write and the first use",
        condition: "interleaved loads; room for all of them before what waits for them",
    },
    Family {
        name: "read-ahead",
        values: Values::Counts(Leaf::Ahead, &[1, 2, 4, 8, 16, 32]),
        equation: "a fragment may be read any time between the barrier and its use",
        condition: "interleaved loads; registers for the fragments in flight; no more than the instructions of a K slice; room for the loads before what waits for them",
    },
    Family {
        name: "lead-with-b",
        values: Values::Named(&[Leaf::Lead(Lead::A), Leaf::Lead(Lead::B)]),
        equation: "elements of C are independent of one another, and of the order of loads",
        condition: "interleaved loads; accumulators that share no registers along M; registers for the fragments of a column",
    },
    Family {
        name: "commit-after-reads",
        values: Values::Named(&[Leaf::Commit(Commit::End), Leaf::Commit(Commit::Reads)]),
        equation: "a tile may be overwritten any time after its last read",
        condition: "interleaved loads; room for all of them before the last matrix instructions",
    },
    Family {
        name: "raise-priority",
        values: Values::Named(&[Leaf::Priority(false), Leaf::Priority(true)]),
        equation: "what a wave computes does not depend on when it is issued",
        condition: "interleaved loads",
    },
    Family {
        name: "group-rows",
        values: Values::Counts(Leaf::Group, &[1, 8]),
        equation: "tiles of C are independent of one another",
        condition: "none: a short last group is allowed",
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
            condition: family.condition,
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
