//! The block order, and how many panels concurrent workgroups read.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tilefold_cost::{BlockOrder, MeanPanels, Panels, constants::EXACT_ROUNDS};

/// The published index arithmetic, with its own names.
fn published(block: u64, tiles_m: u64, tiles_n: u64, group_size: u64) -> (u64, u64) {
    let (index_m, index_n) = (block / tiles_n, block % tiles_n);
    let group_rows = if index_m < tiles_m - tiles_m % group_size {
        group_size
    } else {
        tiles_m % group_size
    };
    let local = index_n + index_m % group_size * tiles_n;
    (
        local % group_rows + index_m / group_size * group_size,
        local / group_rows,
    )
}

/// Panels by going through the blocks one by one.
fn enumerated(order: &BlockOrder, blocks: std::ops::Range<u64>) -> Panels {
    let tiles: Vec<_> = blocks.filter_map(|block| order.tile(block)).collect();
    let distinct =
        |of: fn(&(u64, u64)) -> u64| tiles.iter().map(of).collect::<BTreeSet<_>>().len() as u64;
    Panels {
        rows: distinct(|tile| tile.0),
        cols: distinct(|tile| tile.1),
    }
}

fn enumerated_mean(order: &BlockOrder, resident: u64) -> MeanPanels {
    let rounds = order.blocks() / resident;
    let panels: Vec<_> = (0..rounds)
        .map(|round| enumerated(order, round * resident..(round + 1) * resident))
        .collect();
    let mean = |of: fn(&Panels) -> u64| panels.iter().map(of).sum::<u64>() as f64 / rounds as f64;
    MeanPanels {
        rows: mean(|panels| panels.rows),
        cols: mean(|panels| panels.cols),
    }
}

#[test]
fn four_columns_of_groups_of_two() {
    let order = BlockOrder::new(3, 4, 2).expect("there are tiles");
    let tiles: Vec<_> = (0..13).map_while(|block| order.tile(block)).collect();
    let group = [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (0, 2),
        (1, 2),
        (0, 3),
        (1, 3),
    ];
    let short = [(2, 0), (2, 1), (2, 2), (2, 3)];
    assert_eq!(tiles, [&group[..], &short[..]].concat());
}

#[test]
fn no_tiles_is_no_order() {
    assert_eq!(BlockOrder::new(0, 4, 1), None);
    assert_eq!(BlockOrder::new(4, 0, 1), None);
    assert_eq!(BlockOrder::new(u64::MAX, 2, 1), None);
}

#[test]
fn extremes_do_not_overflow() {
    for group in [0, 1, 7, u64::MAX] {
        let tall = BlockOrder::new(u64::MAX, 1, group).expect("they fit");
        let wide = BlockOrder::new(1, u64::MAX, group).expect("they fit");
        assert_eq!(tall.panels(0..u64::MAX).rows, u64::MAX);
        assert_eq!(wide.panels(0..u64::MAX).cols, u64::MAX);
        assert_eq!(tall.mean_panels(140).cols, 1.0);
        assert_eq!(wide.mean_panels(140).rows, 1.0);
    }
}

/// The ladder has few rounds, which are counted exactly; the closed form is close even there.
#[test]
fn the_closed_form_on_the_ladder() {
    for (rows, cols, group) in [
        (64, 86, 8),
        (64, 86, 1),
        (32, 32, 1),
        (43, 37, 8),
        (64, 299, 8),
    ] {
        let order = BlockOrder::new(rows, cols, group).expect("there are tiles");
        for resident in [40, 64, 70, 80, 128, 140] {
            let (exact, close) = (order.mean_panels(resident), order.estimate(resident));
            let off = (close.rows + close.cols) / (exact.rows + exact.cols) - 1.0;
            assert!(
                off.abs() < 0.03,
                "{rows}x{cols} in {group}, {resident}: {exact:?} {close:?} {off}"
            );
        }
    }
}

proptest! {
    #[test]
    fn tiles_follow_the_published_order(rows in 1u64..40, cols in 1u64..40, group in 1u64..20) {
        let order = BlockOrder::new(rows, cols, group).expect("there are tiles");
        for block in 0..order.blocks() {
            prop_assert_eq!(order.tile(block), Some(published(block, rows, cols, group.min(rows))));
        }
    }

    #[test]
    fn every_tile_has_one_block(rows in 1u64..40, cols in 1u64..40, group in 0u64..50) {
        let order = BlockOrder::new(rows, cols, group).expect("there are tiles");
        let tiles: BTreeSet<_> = (0..order.blocks()).filter_map(|block| order.tile(block)).collect();
        prop_assert_eq!(tiles.len() as u64, rows * cols);
        prop_assert!(tiles.iter().all(|&(row, col)| row < rows && col < cols));
        prop_assert_eq!(order.tile(order.blocks()), None);
    }

    #[test]
    fn panels_are_those_enumerated(
        (rows, cols) in (1u64..40, 1u64..40), group in 0u64..20, from in 0u64..1700, length in 0u64..400,
    ) {
        let order = BlockOrder::new(rows, cols, group).expect("there are tiles");
        let blocks = from..from + length;
        prop_assert_eq!(order.panels(blocks.clone()), enumerated(&order, blocks));
    }

    #[test]
    fn mean_panels_are_those_enumerated(
        (rows, cols) in (1u64..40, 1u64..40), group in 0u64..20, resident in 1u64..200,
    ) {
        let order = BlockOrder::new(rows, cols, group).expect("there are tiles");
        let resident = resident.min(order.blocks());
        prop_assume!(order.blocks() / resident <= EXACT_ROUNDS);
        let (got, want) = (order.mean_panels(resident), enumerated_mean(&order, resident));
        prop_assert!((got.rows - want.rows).abs() < 1e-9 && (got.cols - want.cols).abs() < 1e-9);
    }

    /// Where it is used: beyond so many rounds, of at least one workgroup a compute unit.
    #[test]
    fn the_closed_form_is_close(
        rows in 150u64..2000, cols in 150u64..2000, group in 1u64..20, resident in 40u64..400,
    ) {
        let order = BlockOrder::new(rows, cols, group).expect("there are tiles");
        let rounds = order.blocks() / resident;
        prop_assume!(rounds > EXACT_ROUNDS);
        let (close, mut exact) = (order.estimate(resident), [0, 0]);
        for round in 0..rounds {
            let panels = order.panels(round * resident..(round + 1) * resident);
            exact[0] += panels.rows;
            exact[1] += panels.cols;
        }
        let exact = (exact[0] + exact[1]) as f64 / rounds as f64;
        let off = (close.rows + close.cols) / exact - 1.0;
        prop_assert!(off.abs() < 0.02, "{order:?} {resident}: {close:?}, {exact}: {off}");
    }
}
