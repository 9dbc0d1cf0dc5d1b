//! Fragment reads and copy writes in LDS: right for every thread and value, with no more
//! registers than there must be.

use crate::tile::{Group, emitted, placements, reads, writes};
use tilefold_address::{Family, Kind, Limits, Origin, Placement, Space, Term, Variable, place};
use tilefold_layout::Layout;

/// Places a group and compares every thread and access with the layouts.
fn checked(placement: &str, layout: &Layout, width: i64, bytes: u32, limits: &Limits) -> Placement {
    let group = Group::new(placement, layout, width, bytes);
    let placed = place(&group.offsets, &Space::lds(), limits).unwrap();
    assert_eq!(placed.origin(), Origin::Rules, "{placement} {layout}");
    for thread in 0..group.expected[0].len() {
        let (found, _) = emitted(&placed, |_| thread as u32);
        let found: Vec<i64> = found.into_iter().map(i64::from).collect();
        let expected: Vec<i64> = group.expected.iter().map(|access| access[thread]).collect();
        assert_eq!(found, expected, "{placement} {layout}: thread {thread}");
    }
    assert!(placed.accesses().iter().all(|it| it.immediate < 1 << 16));
    assert_eq!(placed.cost().loop_vector, 0);
    placed
}

fn rules_alone() -> Limits {
    Limits {
        evaluated: false,
        ..Limits::default()
    }
}

#[test]
fn fragment_reads_need_no_more_registers_than_there_must_be() {
    for (rows, k) in [
        (64, 16),
        (64, 64),
        (96, 48),
        (96, 64),
        (128, 32),
        (256, 128),
    ] {
        for placement in placements(rows, k) {
            for waves in [1, 2, 4] {
                if rows % (16 * waves) == 0 {
                    let layout = reads(rows, k, waves);
                    let placed = checked(&placement, &layout, 8, 2, &Limits::default());
                    assert_eq!(
                        placed.registers().len(),
                        placed.minimum(),
                        "{placement} {layout}"
                    );
                }
            }
        }
    }
}

#[test]
fn copy_writes_need_no_more_registers_than_there_must_be() {
    for (rows, k) in [(64, 64), (96, 32), (96, 48), (128, 16), (256, 128)] {
        for placement in placements(rows, k) {
            for threads in [32, 48, 128, 512] {
                let Some(layout) = writes(rows, k, threads) else {
                    continue;
                };
                let placed = checked(&placement, &layout, 8, 2, &Limits::default());
                assert_eq!(
                    placed.registers().len(),
                    placed.minimum(),
                    "{placement} {layout}"
                );
            }
        }
    }
}

#[test]
fn rules_alone_find_the_same() {
    for (rows, k) in [(64, 32), (96, 48), (96, 64)] {
        for placement in placements(rows, k) {
            for layout in [Some(reads(rows, k, 2)), writes(rows, k, 96)]
                .into_iter()
                .flatten()
            {
                let placed = checked(&placement, &layout, 8, 2, &rules_alone());
                assert_eq!(
                    placed.registers().len(),
                    placed.minimum(),
                    "{placement} {layout}"
                );
            }
        }
    }
}

/// Two bits that always agree are beyond known bits: with two waves 48 rows apart, bits 11 and 12
/// of the offset are both the wave. Evaluation sees that some sums still differ by constants.
#[test]
fn bits_that_agree_are_seen_by_evaluation_alone() {
    let placement = "Sw<4,3,6> o 0 o (96,128):(128,1)";
    let layout = reads(96, 128, 2);
    let by_rules = checked(placement, &layout, 8, 2, &rules_alone());
    let placed = checked(placement, &layout, 8, 2, &Limits::default());
    let registers = [&by_rules, &placed].map(|it| it.registers().len());
    assert_eq!((registers, placed.minimum()), ([16, 8], 8));
}

#[test]
fn transposed_tiles_and_other_elements() {
    // A tile whose rows are contiguous, written along them and read across: single elements.
    for placement in [
        "(64,32):(1,64)",
        "(64,32):(1,72)",
        "Sw<3,3,3> o 0 o (64,32):(1,64)",
    ] {
        let along: Layout = "((8,16),(8,2)):((8,64),(1,1024))".parse().unwrap();
        let placed = checked(placement, &along, 8, 2, &Limits::default());
        assert_eq!(placed.registers().len(), placed.minimum(), "{placement}");
        let placed = checked(placement, &reads(64, 32, 2), 1, 2, &Limits::default());
        assert_eq!(placed.registers().len(), placed.minimum(), "{placement}");
    }
    // One byte and four bytes, 128 bits each.
    let bytes: Layout = "((4,32),(16,2)):((1024,1),(64,32))".parse().unwrap();
    let words: Layout = "((16,8),(4,8)):((256,1),(64,8))".parse().unwrap();
    let placed = checked(
        "Sw<2,4,3> o 0 o (64,64):(64,1)",
        &bytes,
        16,
        1,
        &Limits::default(),
    );
    assert_eq!(placed.registers().len(), placed.minimum());
    let placed = checked(
        "Sw<3,2,4> o 0 o (64,64):(64,1)",
        &words,
        4,
        4,
        &Limits::default(),
    );
    assert_eq!(placed.registers().len(), placed.minimum());
}

#[test]
fn a_swizzled_tile_costs_few_operations() {
    // Sixteen rows by lane, two halves: Sw<3,3,3> of rows of 64 elements.
    let placement = "Sw<3,3,3> o 0 o (128,64):(64,1)";
    let placed = checked(placement, &reads(128, 64, 1), 8, 2, &Limits::default());
    assert_eq!(placed.registers().len(), 4);
    // (t & 15) << 7, t & 16, their sum, (t & 7) << 4, the swizzle, and 32, 64, 96 flipped.
    let cost = placed.cost();
    assert_eq!(
        (cost.registers, cost.entry_vector),
        (4, 10),
        "{:?}",
        placed.registers()
    );
}

/// Each family is there for something: without it, some group needs more registers, or its terms
/// more operations.
#[test]
fn every_family_is_of_use() {
    let reads = reads(96, 64, 2);
    let tile =
        |swizzle| Group::new(&format!("{swizzle} o 0 o (96,64):(64,1)"), &reads, 8, 2).offsets;
    // The second half of a workgroup alone: bit 8 of the offset is always set, so that flipping it
    // is a subtraction.
    let half = Term::variable(Variable::new("thread", Kind::Thread, 32, 63)) * 8;
    let flipped = [0, 8, 256, 264].map(|bits| half.clone() ^ bits).to_vec();
    let groups = [tile("Sw<3,3,3>"), tile("Sw<3,3,5>"), flipped];
    let cost = |limits: &Limits| -> (usize, u64) {
        let costs = groups.iter().map(|offsets| {
            let placed = place(offsets, &Space::lds(), limits).unwrap();
            assert_eq!(placed.origin(), Origin::Rules);
            (placed.registers().len(), placed.cost().total)
        });
        costs.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
    };
    let all = cost(&rules_alone());
    assert_eq!(all.0, 10);
    for family in Family::ALL {
        let mut limits = rules_alone();
        limits.families.retain(|other| *other != family);
        let without = cost(&limits);
        println!("without {family:?}: {without:?}, with all {all:?}");
        match family {
            Family::Shift | Family::Inner => assert!(without.0 == all.0 && without.1 > all.1),
            _ => assert!(without.0 > all.0, "{family:?} {without:?}"),
        }
    }
}
