//! What an open spec gets.
//!
//! The same on all RDNA chips: the largest of four square tiles that divides the extents given,
//! K slices of 32 (16 for the smallest), 2 x 2 waves (one for the two smallest), padding of 8
//! elements, two buffers, staged commits, buffer loads of the widest width. A field that the
//! spec names replaces its default, one by one.

use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{LdsLayout, PartialPlan, Prefetch},
    problem::Problem,
};
use tilefold_machine::Machine;

/// The defaults of the fields of the plan that have one.
pub struct Defaults {
    pub block: [i64; 3],
    pub waves: [i64; 2],
    pub lds: LdsLayout,
    pub buffers: i64,
    pub prefetch: Prefetch,
}

/// Tiles from largest to smallest, with their waves.
const TILES: [([i64; 3], [i64; 2]); 4] = [
    ([128, 128, 32], [2, 2]),
    ([64, 64, 32], [2, 2]),
    ([32, 32, 16], [1, 1]),
    ([16, 16, 16], [1, 1]),
];

/// Defaults for a problem, given what the spec names.
pub fn tile(
    _machine: &Machine,
    problem: &Problem,
    atom: &MmaAtom,
    partial: &PartialPlan,
) -> Defaults {
    let extents = [problem.m, problem.n, problem.k];
    let divides = |block: &[i64; 3]| {
        extents.iter().zip(block).all(|(extent, tile)| extent.exact().is_none_or(|e| e % tile == 0))
    };
    let (block, mut waves) =
        TILES.into_iter().find(|(block, _)| divides(block)).unwrap_or(TILES[0]);
    // A block of the user's own gets as many of the waves as divide it.
    if let Some(block) = partial.tile.block {
        waves = [0, 1].map(|i| if block[i] % (2 * atom.shape[i]) == 0 { 2 } else { 1 });
    }
    Defaults {
        block,
        waves,
        lds: LdsLayout::Pad(8),
        buffers: 2,
        prefetch: Prefetch::Burst,
    }
}
