//! Divides cut without loss; products repeat without overlap.

use std::collections::HashSet;

use proptest::prelude::*;
use tilefold_layout::{IntTuple, Layout, Rule, make_layout_tv, zip};

use crate::generate::{any_layout, cases, compact, evenly_tiled, non_negative, spread, tiler};

fn sorted(layout: &Layout) -> Vec<i64> {
    let mut offsets: Vec<i64> = layout.offsets().collect();
    offsets.sort_unstable();
    offsets
}

proptest! {
    #![proptest_config(cases(800))]

    /// Every way to lay out the result holds each element once, at the place the tile and the
    /// repetition say.
    #[test]
    fn even_divides_tile((a, tiles) in evenly_tiled(1000)) {
        let tiler = tiler(&tiles);
        let Ok(logical) = a.divide_evenly(&tiler) else { return Ok(()) };
        let zipped = a.zipped_divide(&tiler).unwrap();
        prop_assert_eq!(sorted(&logical), sorted(&a));
        prop_assert_eq!(zipped.rank(), 2);
        let (tile, rest) = (zipped.mode(0).unwrap(), zipped.mode(1).unwrap());
        prop_assert_eq!(tile.size(), tiles.iter().product::<i64>());
        let extents: Vec<i64> = a.modes().iter().map(Layout::size).collect();
        let counts: Vec<i64> = extents.iter().zip(&tiles).map(|(n, t)| n / t).collect();
        let (in_tile, in_rest) =
            (Layout::col_major(&tiles).unwrap(), Layout::col_major(&counts).unwrap());
        for t in 0..tile.size() {
            for r in 0..rest.size() {
                let (ct, cr) = (in_tile.idx2crd(t).leaves(), in_rest.idx2crd(r).leaves());
                let coord: Vec<i64> =
                    (0..tiles.len()).map(|m| ct[m] + tiles[m] * cr[m]).collect();
                let coord = if a.depth() == 0 { coord[0].into() } else { IntTuple::flat(&coord) };
                prop_assert_eq!(tile.at(t) + rest.at(r), a.at_coord(&coord).unwrap());
            }
        }
        let tiled = a.tiled_divide(&tiler).unwrap();
        let flat = a.flat_divide(&tiler).unwrap();
        for i in 0..zipped.size() {
            prop_assert_eq!(zipped.at(i), tiled.at(i));
            prop_assert_eq!(zipped.at(i), flat.at(i));
        }
    }

    /// A tile that does not fit is rounded up, and the elements that exist are all in their place.
    #[test]
    fn ragged_divides_keep_what_exists(n in 1..60i64, m in 1..20i64, tile in 1..30i64) {
        let a = Layout::row_major(&[n, m]).unwrap();
        let tiler = tiler(&[tile]);
        let Ok(divided) = a.zipped_divide(&tiler) else { return Ok(()) };
        let count = n / tile + i64::from(n % tile != 0);
        prop_assert_eq!(divided.size(), tile * count * m);
        for i in 0..tile {
            for r in (0..count).filter(|r| r * tile + i < n) {
                for j in 0..m {
                    let rest: IntTuple = [r, j].into();
                    let coord = IntTuple::Tuple(vec![IntTuple::Tuple(vec![i.into()]), rest]);
                    prop_assert_eq!(divided.at_coord(&coord).unwrap(), (r * tile + i) * m + j);
                }
            }
        }
        prop_assert_eq!(a.divide_evenly(&tiler).is_ok(), n % tile == 0);
    }

    /// Division by a layout splits the domain: the tile is the composition with it.
    #[test]
    fn divides_start_with_the_tile(a in any_layout(1000), t in spread(60, 3)) {
        let Ok(divided) = a.logical_divide(&t) else { return Ok(()) };
        let tile = divided.mode(0).unwrap();
        let Ok(direct) = a.compose(&t) else { return Ok(()) };
        prop_assert_eq!(tile.coalesce(), direct.coalesce());
    }

    #[test]
    fn products_repeat_apart(block in spread(60, 3), pattern in spread(30, 2)) {
        let Ok(product) = block.logical_product(&pattern) else { return Ok(()) };
        prop_assert_eq!(&product.mode(0).unwrap(), &block);
        let repeated = product.mode(1).unwrap();
        prop_assert_eq!(repeated.size(), pattern.size());
        let all: HashSet<i64> = product.offsets().collect();
        prop_assert_eq!(all.len() as i64, product.size());
        // Repetitions come in the pattern's order.
        for i in 0..pattern.size() {
            for j in 0..pattern.size() {
                prop_assert_eq!(
                    pattern.at(i) < pattern.at(j),
                    repeated.at(i) < repeated.at(j)
                );
            }
        }
    }

    /// Gaps of any width in the block, and any pattern, also one that goes both ways: no repetition
    /// overlaps another.
    #[test]
    fn products_of_any_block_repeat_apart(block in non_negative(60), pattern in any_layout(30)) {
        let Ok(product) = block.logical_product(&pattern) else { return Ok(()) };
        let distinct = |layout: &Layout| layout.offsets().collect::<HashSet<_>>().len();
        prop_assert_eq!(
            distinct(&product),
            distinct(&block) * distinct(&pattern),
            "{} by {} is {}", block, pattern, product
        );
    }

    #[test]
    fn compact_products_fill(block in compact(60), pattern in compact(60)) {
        let product = block.logical_product(&pattern).unwrap();
        prop_assert_eq!(sorted(&product), (0..product.size()).collect::<Vec<_>>());
    }

    /// Blocked and raked products hold the same elements, block coordinate slow or fast.
    #[test]
    fn blocked_and_raked_products_agree(block in compact(60), pattern in compact(60)) {
        let (Ok(blocked), Ok(raked)) =
            (block.blocked_product(&pattern), block.raked_product(&pattern))
        else {
            return Ok(());
        };
        prop_assert_eq!(sorted(&blocked), (0..blocked.size()).collect::<Vec<_>>());
        prop_assert_eq!(sorted(&raked), sorted(&blocked));
        for (b, r) in blocked.modes().iter().zip(raked.modes()) {
            prop_assert_eq!(b.mode(0).unwrap(), r.mode(1).unwrap());
            prop_assert_eq!(b.mode(1).unwrap(), r.mode(0).unwrap());
        }
    }

    #[test]
    fn tiled_shapes_hold_the_block_first(
        block in prop::collection::vec(1..6i64, 1..3),
        counts in prop::collection::vec(1..5i64, 2..3),
    ) {
        let block = Layout::row_major(&block).unwrap();
        let padded = block.padded(2);
        let extents: Vec<i64> =
            padded.modes().iter().zip(&counts).map(|(m, c)| m.size() * c).collect();
        let shape = IntTuple::flat(&extents);
        let order: IntTuple = [1, 0].into();
        for order in [None, Some(&order)] {
            let tiled = block.tile_to_shape(&shape, order).unwrap();
            prop_assert_eq!(sorted(&tiled), (0..tiled.size()).collect::<Vec<_>>());
            for i in 0..padded.modes()[0].size() {
                for j in 0..padded.modes()[1].size() {
                    let coord: IntTuple = [i, j].into();
                    prop_assert_eq!(tiled.at_coord(&coord), padded.at_coord(&coord));
                }
            }
        }
        let odd = IntTuple::flat(&[extents[0] * 2 + 1, extents[1]]);
        if padded.modes()[0].size() > 1 {
            let error = block.tile_to_shape(&odd, None).unwrap_err();
            let is_divisibility = matches!(error.rule, Rule::Divisibility { .. });
            prop_assert!(is_divisibility);
        }
    }

    #[test]
    fn zip_pairs_modes(a in any_layout(100), b in any_layout(100)) {
        match zip(&a, &b) {
            Ok(zipped) => {
                prop_assert_eq!(zipped.rank(), a.rank());
                for (i, pair) in zipped.modes().iter().enumerate() {
                    prop_assert_eq!(pair.mode(0), a.mode(i));
                    prop_assert_eq!(pair.mode(1), b.mode(i));
                }
            }
            Err(error) => {
                let is_rank = matches!(error.rule, Rule::Rank { .. });
                prop_assert!(is_rank);
            }
        }
    }

    /// Threads and values share out their tile: each element once, each thread's values where the
    /// two layouts say.
    #[test]
    fn thread_value_layouts_are_bijections(t in compact(64), v in compact(16)) {
        let Ok((tile, tv)) = make_layout_tv(&t, &v) else { return Ok(()) };
        prop_assert_eq!(tile.iter().product::<i64>(), tv.size());
        prop_assert_eq!(sorted(&tv), (0..tv.size()).collect::<Vec<_>>());
        let rank = t.rank().max(v.rank());
        let (t, v) = (t.padded(rank), v.padded(rank));
        let space = Layout::col_major(&tile).unwrap();
        for element in 0..tv.size() {
            let coord = space.idx2crd(element).leaves();
            // Values are the fast part of each mode of the tile.
            let sizes: Vec<i64> = v.modes().iter().map(Layout::size).collect();
            let fast: Vec<i64> = coord.iter().zip(&sizes).map(|(c, n)| c % n).collect();
            let slow: Vec<i64> = coord.iter().zip(&sizes).map(|(c, n)| c / n).collect();
            let nest = |c: &[i64], l: &Layout| {
                if l.depth() == 0 { IntTuple::from(c[0]) } else { IntTuple::flat(c) }
            };
            let thread = t.at_coord(&nest(&slow, &t)).unwrap();
            let value = v.at_coord(&nest(&fast, &v)).unwrap();
            let owner: IntTuple = [thread, value].into();
            prop_assert_eq!(tv.at_coord(&owner).unwrap(), element);
        }
    }
}
