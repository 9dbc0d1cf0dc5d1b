//! Pictures of layouts, as text and as SVG.

use tilefold_layout::draw::{BankModel, Drawing, bank_use};
use tilefold_layout::{ComposedLayout, Layout, Rule, make_layout_tv};

fn parse(text: &str) -> ComposedLayout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn plain(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn offsets_of_a_swizzled_layout() {
    let drawing = Drawing::offsets(parse("Sw<2,0,3> o 0 o (4,8):(8,1)")).unwrap();
    assert_eq!((drawing.rows(), drawing.columns()), (4, 8));
    insta::assert_snapshot!(drawing.to_text(false), @"
    Sw<2,0,3> o 0 o (4,8):(8,1)
        0  1  2  3  4  5  6  7
      ┌────────────────────────
    0 │  0  1  2  3  4  5  6  7
    1 │  9  8 11 10 13 12 15 14
    2 │ 18 19 16 17 22 23 20 21
    3 │ 27 26 25 24 31 30 29 28
    ");
}

#[test]
fn owners_of_a_tile() {
    let (tile, tv) = make_layout_tv(&plain("(2,2):(2,1)"), &plain("(1,2):(2,1)")).unwrap();
    let drawing = Drawing::ownership(&tv, &tile).unwrap();
    insta::assert_snapshot!(drawing.to_text(false), @"
    (thread,value) ((2,2),2):((4,1),2) over (2,4)
           0     1     2     3
      ┌────────────────────────
    0 │ T0 V0 T0 V1 T1 V0 T1 V1
    1 │ T2 V0 T2 V1 T3 V0 T3 V1
    ");
    // Threads that hold the same element share its cell.
    let shared = Drawing::ownership(&plain("((2,2),1):((1,0),0)"), &[2, 1]).unwrap();
    assert_eq!(shared.text_at(1, 0), Some("T1 V0 +1"));
    assert!(Drawing::ownership(&plain("(4,2):(1,4)"), &[2, 2]).is_err());
}

/// Eight lanes read one column of 4-byte elements from rows of 32 bytes: all in one bank, until a
/// swizzle spreads them.
#[test]
fn bank_conflicts_of_a_column() {
    let model = BankModel::in_runs(8, 4, 8, 8);
    let addresses = |text: &str| -> Vec<i64> {
        let layout = parse(text);
        (0..8).map(|lane| layout.at(lane) * 4).collect()
    };
    let column = bank_use(&addresses("(8,8):(8,1)"), 4, &model).unwrap();
    assert_eq!(column[0].cycles(), 8);
    assert_eq!(column[0].banks[0].len(), 8);
    let swizzled = bank_use(&addresses("Sw<3,0,3> o 0 o (8,8):(8,1)"), 4, &model).unwrap();
    assert_eq!(swizzled[0].cycles(), 1);
    // A word that several lanes read is given once.
    let same = bank_use(&[0, 0, 2, 4], 2, &BankModel::in_runs(8, 4, 4, 4)).unwrap();
    assert_eq!(same[0].cycles(), 1);
    assert_eq!(same[0].banks[0], [(0, vec![0, 1, 2])]);
    let drawing = Drawing::banks(
        &addresses("(8,8):(4,1)"),
        4,
        &BankModel::in_runs(8, 4, 8, 4),
    );
    insta::assert_snapshot!(drawing.unwrap().to_text(false), @"
    8 banks of 4 bytes, 4 bytes a lane: 4 cycles for 2 groups
         0   1   2   3   4   5   6   7
      ┌────────────────────────────────
    0 │ 0|2             1|3
    1 │ 4|6             5|7
    ");
    assert!(bank_use(&[0], 4, &model).is_err());
    assert!(bank_use(&[-4; 8], 4, &model).is_err());
}

/// The last byte of an access decides which bank is the last, and limits are as documented.
#[test]
fn banks_end_where_an_access_ends() {
    let model = |banks, width| BankModel::in_runs(banks, width, 1, 0);
    let words = |address, bytes| -> usize {
        let uses = bank_use(&[address], bytes, &model(4, 4)).unwrap();
        uses[0].banks.iter().map(Vec::len).sum()
    };
    assert_eq!(
        [words(0, 4), words(1, 4), words(3, 1), words(3, 2)],
        [1, 2, 1, 2]
    );
    let rule =
        |addresses: &[i64], bytes, model| bank_use(addresses, bytes, &model).unwrap_err().rule;
    for (banks, width, bytes) in [(0, 4, 4), (4, 0, 4), (4, 4, 0)] {
        let found = rule(&[0], bytes, model(banks, width));
        assert_eq!(found, Rule::PositiveFactor { factor: 0 });
    }
    assert!(bank_use(&[0], 1024, &model(4096, 4)).is_ok());
    let (cells, limit) = (4097, 4096);
    assert_eq!(
        rule(&[0], 4, model(4097, 4)),
        Rule::TooLarge { cells, limit }
    );
    let (cells, limit) = (1025, 1024);
    assert_eq!(
        rule(&[0], 1025, model(4, 4)),
        Rule::TooLarge { cells, limit }
    );
    for coordinate in [-1, i64::MAX] {
        let extent = i64::MAX;
        assert_eq!(
            rule(&[coordinate], 4, model(4, 4)),
            Rule::OutOfRange { coordinate, extent }
        );
    }
    let (coordinate, extent) = (0, 0);
    assert_eq!(
        rule(&[], 4, model(4, 4)),
        Rule::OutOfRange { coordinate, extent }
    );
}

#[test]
fn colours_and_svg() {
    let drawing = Drawing::offsets(parse("(2,2):(2,1)")).unwrap();
    let coloured = drawing.to_text(true);
    assert!(coloured.contains("\u{1b}[30;48;5;"), "{coloured}");
    insta::assert_snapshot!(drawing.to_svg());
}
