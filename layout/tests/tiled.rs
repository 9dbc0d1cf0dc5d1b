//! Atoms repeated over waves and blocks, against counting by hand.

use std::collections::HashMap;

use tilefold_layout::{Atom, Layout, Rule, TiledCopy, TiledMma, recognise};

fn parse(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A made-up instruction on 4 x 4 x 2 tiles by 8 lanes: lanes hold A's and B's rows, doubled, and
/// two elements of C down a column.
fn mma(waves: &str) -> TiledMma {
    let a = Atom::new([4, 2], parse("((4,2),2):((1,0),4)")).unwrap();
    let b = Atom::new([4, 2], parse("((4,2),2):((1,0),4)")).unwrap();
    let c = Atom::new([4, 4], parse("((4,2),2):((4,2),1)")).unwrap();
    TiledMma::new(a, b, c, &parse(waves)).unwrap()
}

fn owners(partition: &Layout) -> HashMap<i64, Vec<(i64, i64)>> {
    let lanes = partition.mode(0).unwrap().size();
    let mut owners: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
    for i in 0..partition.size() {
        owners
            .entry(partition.at(i))
            .or_default()
            .push((i % lanes, i / lanes));
    }
    owners
}

#[test]
fn each_element_of_c_has_one_owner() {
    for waves in ["(2,3):(1,2)", "(2,3):(3,1)", "2:1", "1:0"] {
        let block = parse("(16,24):(24,1)");
        let c = mma(waves).partition_c(&block).unwrap();
        assert_eq!(c.size(), 16 * 24, "{waves}");
        let owners = owners(&c);
        assert_eq!(owners.len(), 16 * 24, "{waves}");
    }
}

/// Wave `w` of a row-major 2 x 3 grid stands at (w / 3, w % 3), and its atoms repeat every 8 rows
/// and 12 columns.
#[test]
fn waves_stand_where_they_should() {
    let block = parse("(16,24):(1,16)");
    let c = mma("(2,3):(3,1)").partition_c(&block).unwrap();
    for (element, owners) in owners(&c) {
        let (row, column) = (element % 16, element / 16);
        let (thread, value) = owners[0];
        let wave = thread / 8;
        assert_eq!((row / 4 % 2, column / 4 % 3), (wave / 3, wave % 3));
        let (repeat_m, repeat_n) = (value / 2 % 2, value / 4);
        assert_eq!((row / 8, column / 12), (repeat_m, repeat_n));
        let lane = thread % 8;
        assert_eq!(column % 4, lane % 4);
        assert_eq!(row % 4, lane / 4 * 2 + value % 2);
    }
}

/// What a wave multiplies is what its part of C needs: rows of A by its rows, columns of B by its
/// columns.
#[test]
fn operands_follow_their_waves() {
    let tiled = mma("(2,3):(3,1)");
    let a = tiled.partition_a(&parse("(16,4):(1,16)")).unwrap();
    for (element, owners) in owners(&a) {
        let row = element % 16;
        // Three waves along n, two halves of the lanes.
        assert_eq!(owners.len(), 6);
        assert!(
            owners
                .iter()
                .all(|(thread, _)| thread / 8 / 3 == row / 4 % 2)
        );
    }
    let b = tiled.partition_b(&parse("(24,4):(1,24)")).unwrap();
    for (element, owners) in owners(&b) {
        let column = element % 24;
        assert_eq!(owners.len(), 4);
        assert!(
            owners
                .iter()
                .all(|(thread, _)| thread / 8 % 3 == column / 4 % 3)
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let tiled = mma("(2,3):(3,1)");
    let error = tiled.partition_c(&parse("(16,16):(1,16)")).unwrap_err();
    assert_eq!(
        error.rule,
        Rule::Divisibility {
            value: 16,
            divisor: 12
        }
    );
    assert_eq!(error.mode.unwrap().0, [1]);
    assert!(Atom::new([4, 2], parse("(4,3):(1,4)")).is_err());
    let atom = |tile| Atom::new(tile, parse("(4,2):(1,4)")).unwrap();
    let mismatch = TiledMma::new(atom([4, 2]), atom([2, 4]), atom([4, 4]), &parse("1:0"));
    assert!(matches!(mismatch.unwrap_err().rule, Rule::Mismatch { .. }));
}

/// 128 threads in rows of 8 pieces of 8 elements copy 16 x 64 at a time, and go on down the block.
#[test]
fn copies_cover_their_block() {
    let copy = TiledCopy::new(&parse("(16,8):(8,1)"), &parse("(1,8):(8,1)")).unwrap();
    assert_eq!(copy.tile, [16, 64]);
    let part = copy.partition(&parse("(64,64):(64,1)")).unwrap();
    assert_eq!(part.mode(0).unwrap().size(), 128);
    for (element, owners) in owners(&part) {
        assert_eq!(owners.len(), 1);
        let (row, column) = (element / 64, element % 64);
        let (thread, value) = owners[0];
        assert_eq!((row % 16, column / 8), (thread / 8, thread % 8));
        assert_eq!((column % 8, row / 16), (value % 8, value / 8));
    }
    assert!(copy.partition(&parse("(40,64):(64,1)")).is_err());
}

#[test]
fn tables_are_recognised() {
    let texts = [
        "1:0",
        "8:1",
        "(4,8):(8,1)",
        "(4,2,3):(0,5,-2)",
        "Sw<0,4,3> o 9 o (4,4):(1,8)",
        "Sw<2,0,3> o 0 o (8,8):(8,1)",
        "Sw<3,3,3> o 0 o (16,64):(64,1)",
        "Sw<1,2,-2> o 4 o (4,16):(16,1)",
    ];
    for text in texts {
        let layout: tilefold_layout::ComposedLayout = text.parse().unwrap();
        let table: Vec<i64> = layout.offsets().collect();
        let found = recognise(&table).unwrap_or_else(|| panic!("{text} is not recognised"));
        assert_eq!(
            found.offsets().collect::<Vec<_>>(),
            table,
            "{text} as {found}"
        );
    }
    assert_eq!(recognise(&[0, 6, 7, 8, 9, 15]), None);
    // A mode of 4 that does not fill a table of 5 or 6.
    assert_eq!(recognise(&[0, 1, 2, 3, 7]), None);
    assert_eq!(recognise(&[0, 1, 2, 3, 8, 9]), None);
    assert_eq!(recognise(&[]), None);
    assert_eq!(recognise(&[i64::MIN, i64::MAX]), None);
}
