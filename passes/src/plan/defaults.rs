//! What an open spec gets.
//!
//! The same on all RDNA chips: the largest of four square tiles that divides the extents given and
//! whose lines are within reach of one another, K slices of 32 (16 for the smallest, one atom's
//! where these do not divide K), 2 x 2 waves (one for the two smallest), padding of 8 elements, two
//! buffers, staged commits, buffer loads of the widest width; interleaved ones where the spec says
//! how these go. A field that the spec names replaces its default, one by one: waves of the user's
//! own get the largest of the tiles that they divide too, a block of the user's own the waves that
//! divide it, up to 2 x 2.

use super::too_far_apart;
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{LdsLayout, PartialPlan, Prefetch},
    problem::Problem,
};

/// Tiles from largest to smallest, with their waves.
const TILES: [([i64; 3], [i64; 2]); 4] = [
    ([128, 128, 32], [2, 2]),
    ([64, 64, 32], [2, 2]),
    ([32, 32, 16], [1, 1]),
    ([16, 16, 16], [1, 1]),
];

/// The LDS layout of a tile.
pub const LDS: LdsLayout = LdsLayout::Pad(8);
/// Tiles of each operand in LDS.
pub const BUFFERS: i64 = 2;
/// When the next tile is loaded.
pub const PREFETCH: Prefetch = Prefetch::Burst;

/// Block (m, n, k) and waves (m, n) of a problem, given what the spec names.
pub fn tile(problem: &Problem, atom: &MmaAtom, partial: &PartialPlan) -> ([i64; 3], [i64; 2]) {
    let layout = partial.mma.waves.as_ref();
    let sizes = |layout: &tilefold_layout::Layout| {
        <[i64; 2]>::try_from(
            layout
                .modes()
                .iter()
                .map(|mode| mode.size())
                .collect::<Vec<_>>(),
        )
        .ok()
    };
    let named = partial.tile.waves.or_else(|| layout.and_then(sizes));
    if let Some(block) = partial.tile.block.whole() {
        let two = |i: usize| {
            if block[i] % (2 * atom.shape[i]) == 0 {
                2
            } else {
                1
            }
        };
        return (block, named.unwrap_or([two(0), two(1)]));
    }
    // Entries that are named replace those of each tile.
    let given = partial.tile.block.0;
    let tiles = TILES.map(|(tile, waves)| ([0, 1, 2].map(|i| given[i].unwrap_or(tile[i])), waves));
    let extents = [problem.m, problem.n, problem.k];
    let reached = |block: &[i64; 3]| too_far_apart(problem, *block).is_none();
    let fits = |(block, waves): &([i64; 3], [i64; 2])| {
        let [m, n] = named.unwrap_or(*waves);
        let wave = [m * atom.shape[0], n * atom.shape[1], atom.shape[2]];
        (0..3).all(|i| {
            block[i] % wave[i] == 0
                && (given[i].is_some()
                    || extents[i]
                        .exact()
                        .is_none_or(|extent| extent % block[i] == 0))
        }) && reached(block)
    };
    // Edges along M and N can be bounded; K needs whole tiles.
    let whole_k = |(block, _): &([i64; 3], [i64; 2])| {
        let depth = problem.k.exact();
        depth.is_none_or(|depth| depth % block[2] == 0)
    };
    let (mut block, waves) = tiles
        .into_iter()
        .find(fits)
        .or_else(|| {
            let named_fit = |(block, waves): &([i64; 3], [i64; 2])| {
                let [m, n] = named.unwrap_or(*waves);
                block[0] % (m * atom.shape[0]) == 0 && block[1] % (n * atom.shape[1]) == 0
            };
            let mut named_fits = tiles.into_iter().filter(named_fit);
            named_fits.find(|tile| whole_k(tile) && reached(&tile.0))
        })
        .unwrap_or(tiles[if reached(&tiles[0].0) { 0 } else { 3 }]);
    if given[2].is_none() && !whole_k(&(block, waves)) {
        block[2] = atom.shape[2];
    }
    (block, named.unwrap_or(waves))
}
