//! The steps of the ladder as rules.
//!
//! Each rule exchanges one choice for the next larger one. Its equation is that of its sort: the
//! kernels before and after compute the same C. Its side condition, whether the kernel can be
//! built, is weighed over whole combinations, because it depends on all choices together.

use super::language::{Choice, Kind, Leaf};
use egg::{Pattern, Rewrite};

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
    kind: Kind,
    values: &'static [i64],
    equation: &'static str,
    condition: &'static str,
}

const EXTENTS: &[i64] = &[16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256];

const FAMILIES: [Family; 9] = [
    Family {
        name: "grow-m",
        kind: Kind::M,
        values: EXTENTS,
        equation: "rows of C are independent of one another",
        condition: "whole atoms per wave; threads that share the tile evenly; registers for accumulators, fragments and what is staged; LDS for the tile of A",
    },
    Family {
        name: "grow-n",
        kind: Kind::N,
        values: EXTENTS,
        equation: "columns of C are independent of one another",
        condition: "whole atoms per wave; threads that share the tile evenly; registers for accumulators, fragments and what is staged; LDS for the tile of B",
    },
    Family {
        name: "deepen-k",
        kind: Kind::K,
        values: &[16, 32, 64, 128],
        equation: "sum over k = sum over tiles of sum over k in tile",
        condition: "LDS for both tiles; registers for what is staged",
    },
    Family {
        name: "split-m-over-waves",
        kind: Kind::WavesM,
        values: &[1, 2, 4, 8],
        equation: "a tile is the disjoint union of its waves' parts",
        condition: "whole atoms per wave; waves of a workgroup, all of them resident with their registers; threads that share both tiles evenly; instructions of a K slice for what is read ahead",
    },
    Family {
        name: "split-n-over-waves",
        kind: Kind::WavesN,
        values: &[1, 2, 4, 8],
        equation: "a tile is the disjoint union of its waves' parts",
        condition: "whole atoms per wave; waves of a workgroup, all of them resident with their registers; threads that share both tiles evenly; instructions of a K slice for what is read ahead",
    },
    Family {
        name: "double-buffer",
        kind: Kind::Buffers,
        values: &[1, 2],
        equation: "a tile read is the tile last written, whichever buffer holds it",
        condition: "LDS for twice the tiles",
    },
    Family {
        name: "prefetch",
        kind: Kind::Prefetch,
        values: &[0, 1, 2],
        equation: "a load may be issued any time between the last write and the first use",
        condition: "registers for the staged tiles",
    },
    Family {
        name: "read-ahead",
        kind: Kind::Ahead,
        values: &[1, 2, 4, 8, 16, 32],
        equation: "a fragment may be read any time between the barrier and its use",
        condition: "interleaved loads; registers for the fragments in flight; no more than the instructions of a K slice",
    },
    Family {
        name: "group-rows",
        kind: Kind::Group,
        values: &[1, 8],
        equation: "tiles of C are independent of one another",
        condition: "none: a short last group is allowed",
    },
];

/// Every rule.
pub fn rules() -> impl Iterator<Item = Rule> {
    FAMILIES.iter().flat_map(|family| {
        family.values.windows(2).map(|pair| Rule {
            name: family.name,
            from: Leaf {
                kind: family.kind,
                value: pair[0],
            },
            to: Leaf {
                kind: family.kind,
                value: pair[1],
            },
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
