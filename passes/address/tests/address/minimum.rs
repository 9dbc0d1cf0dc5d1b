//! Against brute force: every way to share registers in small groups.

use crate::tile::{Group, placements, reads, writes};
use tilefold_address::{Limits, ScalarOperand, Space, place};

/// The fewest blocks of a partition of `left` accesses into those of `blocks` and new ones, where
/// `fits` tells whether a block can share a register.
fn fewest(left: &[usize], blocks: &mut Vec<Vec<usize>>, fits: &dyn Fn(&[usize]) -> bool) -> usize {
    let Some((access, left)) = left.split_first() else {
        return blocks.len();
    };
    blocks.push(vec![*access]);
    let mut best = fewest(left, blocks, fits);
    blocks.pop();
    for block in 0..blocks.len() {
        blocks[block].push(*access);
        if fits(&blocks[block]) {
            best = best.min(fewest(left, blocks, fits));
        }
        blocks[block].pop();
    }
    best
}

#[test]
fn no_way_to_share_is_missed() {
    let mut groups = Vec::new();
    for (rows, k) in [(32, 16), (32, 32), (16, 64), (48, 16), (48, 32)] {
        for placement in placements(rows, k) {
            let layouts = [
                Some(reads(rows, k, 1)),
                writes(rows, k, 32),
                writes(rows, k, 16),
            ];
            for layout in layouts.into_iter().flatten() {
                groups.push(Group::new(&placement, &layout, 8, 2));
            }
        }
    }
    let mut compared = 0;
    for group in groups.iter().filter(|group| group.offsets.len() <= 8) {
        for bits in [5, 7, 10, 16] {
            // A register holds any value for each thread: all accesses of a block must differ
            // from it by the same for all threads, and by what the immediate holds.
            let fits = |block: &[usize]| {
                let differences = |thread: usize| -> Vec<i64> {
                    let first = group.expected[block[0]][thread];
                    block
                        .iter()
                        .map(|access| group.expected[*access][thread] - first)
                        .collect()
                };
                let first = differences(0);
                let spread = first.iter().max().unwrap() - first.iter().min().unwrap();
                let threads = group.expected[0].len();
                spread < 1 << bits && (1..threads).all(|thread| differences(thread) == first)
            };
            let all: Vec<usize> = (0..group.offsets.len()).collect();
            let least = fewest(&all, &mut Vec::new(), &fits);
            let space = Space::buffer(bits, ScalarOperand::None);
            for evaluated in [false, true] {
                let limits = Limits {
                    evaluated,
                    ..Limits::default()
                };
                let placed = place(&group.offsets, &space, &limits).unwrap();
                assert_eq!(
                    (placed.registers().len(), placed.minimum()),
                    (least, least),
                    "{:?}",
                    group.offsets
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}
