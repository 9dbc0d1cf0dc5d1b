//! Atoms spread over threads and blocks, against counting by hand.

use std::collections::{HashMap, HashSet};

use tilefold_layout::{
    CopyAtom, Layout, MmaAtom, Rule, Side, SliceCoord, TiledCopy, TiledMma, Tiler, recognise,
};

fn parse(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A made-up instruction on 4 x 4 x 2 tiles by 8 lanes: lanes hold A's and B's rows, doubled, and
/// two elements of C down a column.
fn atom() -> MmaAtom {
    let operand = parse("((4,2),2):((1,0),4)");
    let c = parse("((4,2),2):((4,2),1)");
    MmaAtom::new([4, 4, 2], operand.clone(), operand, c).unwrap()
}

fn mma(waves: &str) -> TiledMma {
    TiledMma::new(atom(), parse(waves), Tiler::Whole).unwrap()
}

fn permuted(waves: &str, permutation: &str) -> tilefold_layout::Result<TiledMma> {
    TiledMma::new(atom(), parse(waves), permutation.parse().unwrap())
}

/// Each element with every (thread, value) that has it, values counted over all modes but the
/// first.
fn owners(partition: &Layout) -> HashMap<i64, Vec<(i64, i64)>> {
    let threads = partition.mode(0).unwrap().size();
    let mut owners: HashMap<i64, Vec<(i64, i64)>> = HashMap::new();
    for i in 0..partition.size() {
        let owner = (i % threads, i / threads);
        owners.entry(partition.at(i)).or_default().push(owner);
    }
    owners
}

/// The elements of one thread, in the order of its values.
fn held(partition: &Layout, thread: i64) -> Vec<i64> {
    let threads = partition.mode(0).unwrap().size();
    let values = partition.size() / threads;
    (0..values)
        .map(|value| partition.at(thread + threads * value))
        .collect()
}

#[test]
fn each_element_of_c_has_one_owner() {
    for waves in ["(2,3):(1,2)", "(2,3):(3,1)", "2:1", "1:0"] {
        let block = parse("(16,24):(24,1)");
        let c = mma(waves).partition_c(&block).unwrap();
        assert_eq!((c.rank(), c.size()), (4, 16 * 24), "{waves}");
        assert_eq!(c.mode(0).unwrap().size(), mma(waves).threads());
        assert_eq!(owners(&c).len(), 16 * 24, "{waves}");
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
        assert!(owners.iter().all(|(thread, _)| thread / 24 == row / 4 % 2));
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

/// Waves along k share out k and hold parts of the same sums.
#[test]
fn waves_along_k_split_the_sum() {
    let tiled = mma("(1,2,3):(0,1,2)");
    assert_eq!((tiled.tile(), tiled.threads()), ([4, 8, 6], 48));
    let a = tiled.partition_a(&parse("(4,6):(1,4)")).unwrap();
    for (element, owners) in owners(&a) {
        let k = element / 4;
        assert!(owners.iter().all(|(thread, _)| thread / 16 == k / 2));
        assert_eq!(owners.len(), 4);
    }
    let c = tiled.partition_c(&parse("(4,8):(1,4)")).unwrap();
    assert!(owners(&c).values().all(|owners| owners.len() == 3));
}

/// The order (4,2,2):(1,8,4) along m gives a wave two atoms of 8 neighbouring rows, where without
/// it its atoms lie 8 rows apart.
#[test]
fn permutations_bring_atoms_together() {
    let rows = |tiled: &TiledMma, wave: i64| -> HashSet<i64> {
        let c = tiled.partition_c(&parse("(16,4):(1,16)")).unwrap();
        let owners = owners(&c);
        let of = |e: &&i64| owners[*e][0].0 / 8 == wave;
        owners.keys().filter(of).map(|e| e % 16).collect()
    };
    assert_eq!(
        rows(&mma("2:1"), 1),
        HashSet::from([4, 5, 6, 7, 12, 13, 14, 15])
    );
    let together = permuted("2:1", "<(4,2,2):(1,8,4)>").unwrap();
    assert_eq!(together.tile(), [16, 4, 2]);
    assert_eq!(rows(&together, 1), (8..16).collect());
    let refusal = |waves: &str, permutation: &str| permuted(waves, permutation).unwrap_err();
    let error = refusal("2:1", "<_, 6:1>");
    let rule = Rule::Divisibility {
        value: 6,
        divisor: 4,
    };
    assert_eq!((error.rule, error.mode.unwrap().0), (rule, vec![1]));
    for wrong in ["<(4,4):(1,8)>", "16:1", "<<16:1>>"] {
        let rule = refusal("2:1", wrong).rule;
        assert!(matches!(rule, Rule::Mismatch { .. }), "{wrong}: {rule}");
    }
    let rule = refusal("2:1", "<_,_,_,_>").rule;
    assert!(matches!(rule, Rule::TooManyModes { .. }), "{rule}");
}

/// Three waves of four columns do not share out 16 coordinates that a permutation keeps together,
/// though they do share out all 48; nor does a copy of three rows divide a block whose rows come
/// eight by eight.
#[test]
fn tiles_end_where_an_extent_ends() {
    let tiled = permuted("(1,3):(0,1)", "<_, (16,3):(3,1)>").unwrap();
    let error = tiled.partition_c(&parse("(4,48):(1,4)")).unwrap_err();
    assert!(matches!(error.rule, Rule::Mismatch { .. }), "{error}");
    let threads = parse("(3,4):(4,1)");
    let copy = TiledCopy::new(CopyAtom::per_lane(1).unwrap(), &threads, &parse("1:0")).unwrap();
    let block = parse("((8,3),4):((4,100),1)");
    let error = copy.partition_source(&block).unwrap_err();
    assert!(matches!(error.rule, Rule::Mismatch { .. }), "{error}");
    assert_eq!(error.mode.unwrap().0, [0]);
}

#[test]
fn fragments_have_the_shape_of_a_part() {
    let tiled = mma("(2,3):(3,1)");
    let text = |layout: tilefold_layout::Result<Layout>| layout.unwrap().to_string();
    assert_eq!(text(tiled.fragment_a([16, 4])), "(2,2,2):(1,2,4)");
    assert_eq!(text(tiled.fragment_b([24, 4])), "(2,2,2):(1,2,4)");
    assert_eq!(text(tiled.fragment_c([16, 36])), "(2,2,3):(1,2,4)");
    assert_eq!(
        text(tiled.layout_c()),
        "(((4,2),(3,2)),(2,1,1)):(((8,2),(32,4)),(1,0,0))"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let tiled = mma("(2,3):(3,1)");
    let error = tiled.partition_c(&parse("(16,16):(1,16)")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "partition_c(4x4x2 A ((4,2),2):((1,0),4) B ((4,2),2):((1,0),4) C ((4,2),2):((4,2),1) by \
         (2,3):(3,1), (16,16):(1,16)): mode 1: 12 does not divide 16"
    );
    assert_eq!(error.mode.unwrap().0, [1]);
    for block in ["(16,24,1):(1,16,0)", "384:1"] {
        let (expected, found) = (2, parse(block).rank());
        let error = tiled.partition_c(&parse(block)).unwrap_err();
        assert_eq!(error.rule, Rule::Rank { expected, found });
    }
    let (a, c) = (parse("(4,2):(1,4)"), parse("(4,4):(1,4)"));
    let rule = |shape, a: &Layout, b: &Layout| {
        MmaAtom::new(shape, a.clone(), b.clone(), c.clone())
            .unwrap_err()
            .rule
    };
    // Another tile, other lanes, one mode, elements past the tile.
    assert!(matches!(rule([4, 4, 4], &a, &a), Rule::Mismatch { .. }));
    let lanes = parse("(2,4):(1,2)");
    assert!(matches!(rule([4, 4, 2], &a, &lanes), Rule::Mismatch { .. }));
    assert!(matches!(
        rule([4, 4, 2], &parse("8:1"), &a),
        Rule::Rank { .. }
    ));
    let far = parse("(4,2):(1,5)");
    assert!(matches!(rule([4, 4, 2], &far, &a), Rule::Mismatch { .. }));
    assert!(matches!(
        rule([0, 4, 2], &a, &a),
        Rule::PositiveExtent { .. }
    ));
    for waves in [
        "4:2",
        "(2,2):(1,1)",
        "(2,2,2):(1,2,3)",
        "(2,2,2):(2,2,3)",
        "4:-1",
    ] {
        let error = permuted(waves, "_").unwrap_err();
        assert!(matches!(error.rule, Rule::Mismatch { .. }), "{error}");
    }
    let error = permuted("(1,2,1,2):(0,1,0,2)", "_").unwrap_err();
    assert_eq!(error.rule, Rule::TooManyModes { found: 4, rank: 3 });
    // A copy that walks off the tile, at either end.
    for (layout, coordinate) in [("(4,4):(-1,4)", -3), ("(4,4):(1,5)", 18)] {
        let one = CopyAtom::per_lane(1).unwrap();
        let error = TiledCopy::over(one, vec![4, 4], parse(layout)).unwrap_err();
        let extent = 16;
        assert_eq!(error.rule, Rule::OutOfRange { coordinate, extent });
    }
}

/// 128 threads in rows of 8 pieces of 8 elements copy 16 x 64 at a time, and go on down the block.
#[test]
fn copies_cover_their_block() {
    let threads = parse("(16,8):(8,1)");
    let copy = |values: i64| {
        let atom = CopyAtom::per_lane(values).unwrap();
        TiledCopy::new(atom, &threads, &parse("(1,8):(8,1)"))
    };
    for atom in [1, 2, 4, 8] {
        let copy = copy(atom).unwrap();
        assert_eq!((copy.tile(), copy.threads()), (&[16, 64][..], 128));
        let block = parse("(64,64):(64,1)");
        let part = copy.partition_source(&block).unwrap();
        assert_eq!(copy.partition_destination(&block).unwrap(), part);
        let value = part.mode(1).unwrap();
        assert_eq!(
            (value.mode(0).unwrap().size(), value.mode(1).unwrap().size()),
            (atom, 8 / atom)
        );
        assert_eq!(part.mode(0).unwrap().size(), 128);
        for (element, owners) in owners(&part) {
            assert_eq!(owners.len(), 1);
            let (row, column) = (element / 64, element % 64);
            let (thread, value) = owners[0];
            assert_eq!((row % 16, column / 8), (thread / 8, thread % 8));
            assert_eq!((column % 8, row / 16), (value % 8, value / 8));
        }
    }
    let error = copy(3).unwrap_err();
    let rule = Rule::Divisibility {
        value: 8,
        divisor: 3,
    };
    assert_eq!((error.rule, error.mode.unwrap().0), (rule, vec![1]));
    let error = copy(8)
        .unwrap()
        .partition_source(&parse("(40,64):(64,1)"))
        .unwrap_err();
    assert_eq!(error.operation, "partition_source");
    assert_eq!(error.mode.unwrap().0, [0]);
}

/// A matrix load: of 8 lanes, lane `l` reads row `l` of an 8 x 2 matrix and gets elements `l` and
/// `l + 8` of it in row-major order. Threads are dealt out by what they get.
#[test]
fn sides_of_a_copy_differ() {
    let atom = CopyAtom::new(
        parse("(8,2):(2,1)"),
        parse("(8,2):(1,8)"),
        Side::Destination,
    );
    let atom = atom.unwrap();
    let threads = parse("(2,8):(8,1)");
    let copy = TiledCopy::new(atom, &threads, &parse("(2,1):(1,2)")).unwrap();
    // 16 threads, two atoms: threads 0..8 along the first row pair, 8..16 along the second.
    let block = parse("(4,8):(1,4)");
    let read = copy.partition_source(&block).unwrap();
    let got = copy.partition_destination(&block).unwrap();
    for thread in 0..16 {
        let (row, lane) = (thread / 8 * 2, thread % 8);
        let element = |row: i64, column: i64| row + 4 * column;
        // The atom's element i is value i / 8 of lane i % 8.
        let numbered = |i: i64| element(row + i / 8, i % 8);
        assert_eq!(held(&got, thread), [lane, lane + 8].map(numbered));
        assert_eq!(held(&read, thread), [2 * lane, 2 * lane + 1].map(numbered));
    }
    let faulty = |source: &str, destination: &str| {
        let error = CopyAtom::new(parse(source), parse(destination), Side::Source);
        error.unwrap_err().rule
    };
    assert!(matches!(faulty("16:1", "(8,2):(1,8)"), Rule::Rank { .. }));
    for (source, destination) in [
        ("(8,2):(2,1)", "(4,4):(1,4)"),
        ("(8,2):(2,2)", "(8,2):(2,1)"),
        ("(8,2):(2,1)", "(8,1):(1,0)"),
        ("(8,2):(2,1)", "(8,2):(-1,8)"),
        // Each element reached, some by two ways.
        ("(8,2):(2,1)", "(8,(2,2)):(1,(8,8))"),
        ("(8,2):(2,1)", "(8,(2,2)):(1,(4,4))"),
        ("(8,2):(2,1)", "(8,(2,2)):(1,(8,-8))"),
    ] {
        let rule = faulty(source, destination);
        assert!(matches!(rule, Rule::Mismatch { .. }), "{rule}");
    }
    // Lanes of the second half repeat the first.
    let broadcast = CopyAtom::new(parse("(4,2):(2,1)"), parse("(4,4):(0,2)"), Side::Source);
    assert!(broadcast.is_err());
    let broadcast = CopyAtom::new(
        parse("(4,2):(2,1)"),
        parse("(4,(2,4)):(0,(1,2))"),
        Side::Source,
    );
    assert!(broadcast.is_ok());
}

/// Copies made from a multiplication deal out its own elements: retiled, its registers stand in
/// the copy's order, whatever the copy moves at once.
#[test]
fn registers_of_a_multiplication_are_retiled() {
    let tiled = permuted("(2,3):(3,1)", "<(4,2,2):(1,8,4)>").unwrap();
    assert_eq!(tiled.tile(), [16, 12, 2]);
    let mut checked = 0;
    type Partition = fn(&TiledMma, &Layout) -> tilefold_layout::Result<Layout>;
    type Copy = fn(&TiledMma, CopyAtom) -> tilefold_layout::Result<TiledCopy>;
    let operands: [(Partition, Copy, [i64; 2]); 3] = [
        (TiledMma::partition_a, TiledMma::tiled_copy_a, [32, 4]),
        (TiledMma::partition_b, TiledMma::tiled_copy_b, [24, 4]),
        (TiledMma::partition_c, TiledMma::tiled_copy_c, [32, 24]),
    ];
    for (partition, tiled_copy, extents) in operands {
        let block = Layout::row_major(&extents).unwrap();
        let part = partition(&tiled, &block).unwrap();
        let fragment = Layout::compact_left(tilefold_layout::Nest::Tuple(
            part.shape().modes()[1..].to_vec(),
        ))
        .unwrap();
        for width in [1, 2, 4] {
            let copy = tiled_copy(&tiled, CopyAtom::per_lane(width).unwrap());
            let Ok(copy) = copy else { continue };
            let registers = copy.retile(&fragment).unwrap();
            let copied = copy.partition_source(&block).unwrap();
            assert_eq!(copied.mode(0).unwrap().size(), tiled.threads());
            let mine: SliceCoord = "(0,_,_,_)".parse().unwrap();
            let sizes = |l: &Layout| l.modes().iter().map(Layout::size).collect::<Vec<_>>();
            let mine = copied.slice(&mine).unwrap();
            assert_eq!(sizes(&registers), sizes(&mine));
            let values = |l: &Layout| sizes(&l.mode(0).unwrap());
            assert_eq!(values(&registers), values(&mine));
            for thread in 0..tiled.threads() {
                let elements = held(&part, thread);
                let copies: Vec<i64> = registers
                    .offsets()
                    .map(|r| elements[usize::try_from(r).unwrap()])
                    .collect();
                assert_eq!(copies, held(&copied, thread), "{width} of {extents:?}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 7, "{checked}");
    let copy = tiled.tiled_copy_c(CopyAtom::per_lane(2).unwrap()).unwrap();
    let error = copy.retile(&parse("(3,1,1):(1,0,0)")).unwrap_err();
    let (value, divisor) = (copy.layout().mode(1).unwrap().size(), 3);
    let rule = Rule::Divisibility { value, divisor };
    assert_eq!((error.rule, error.mode.unwrap().0), (rule, vec![0]));
    let error = copy.retile(&parse("(2,1):(1,0)")).unwrap_err();
    assert!(matches!(error.rule, Rule::Rank { .. }), "{error}");
}

/// An instruction whose operands differ: lane `l` has row `l % 4` of A and row `l` of B.
#[test]
fn operands_have_their_own_lanes() {
    let (a, b) = (parse("((4,2),2):((1,0),4)"), parse("(8,2):(1,8)"));
    let atom = MmaAtom::new([4, 8, 2], a, b, parse("((4,2),4):((1,16),4)")).unwrap();
    let tiled = TiledMma::new(atom, Layout::unit(), Tiler::Whole).unwrap();
    let copied = |copy: tilefold_layout::Result<TiledCopy>| {
        let copy = copy.unwrap();
        (copy.tile().to_vec(), copy.layout().clone())
    };
    let one = || CopyAtom::per_lane(1).unwrap();
    let (a, b, c) = (tiled.layout_a(), tiled.layout_b(), tiled.layout_c());
    let (a, b, c) = (a.unwrap(), b.unwrap(), c.unwrap());
    assert_eq!(copied(tiled.tiled_copy_a(one())), (vec![4, 2], a.clone()));
    assert_eq!(copied(tiled.tiled_copy_b(one())), (vec![8, 2], b.clone()));
    assert_eq!(copied(tiled.tiled_copy_c(one())), (vec![4, 8], c.clone()));
    // A block of one tile is dealt out as the tile is.
    type Partition = fn(&TiledMma, &Layout) -> tilefold_layout::Result<Layout>;
    let partitions: [(Partition, [i64; 2], &Layout); 3] = [
        (TiledMma::partition_a, [4, 2], &a),
        (TiledMma::partition_b, [8, 2], &b),
        (TiledMma::partition_c, [4, 8], &c),
    ];
    for (partition, extents, tile) in partitions {
        let part = partition(&tiled, &Layout::col_major(&extents).unwrap()).unwrap();
        assert!((0..8).all(|lane| held(&part, lane) == held(tile, lane)));
    }
    for lane in 0..8 {
        let row = lane % 4;
        assert_eq!(held(&a, lane), [row, row + 4]);
        assert_eq!(held(&b, lane), [lane, lane + 8]);
        let columns = (0..4).map(|value| value + lane / 4 * 4);
        let elements: Vec<i64> = columns.map(|column| row + 4 * column).collect();
        assert_eq!(held(&c, lane), elements);
    }
}

/// A copy that takes a wave's atoms along n first: registers that stand along m first are retiled
/// into its order.
#[test]
fn retiled_registers_follow_the_copy() {
    let tiled = mma("1:0");
    let block = parse("(8,12):(1,8)");
    let part = tiled.partition_c(&block).unwrap();
    let modes = part.modes();
    let values = [&modes[1], &modes[3], &modes[2]].map(Clone::clone);
    let values = Layout::concat(&values).unwrap();
    let layout = Layout::concat(&[modes[0].clone(), values]).unwrap();
    let atom = CopyAtom::per_lane(2).unwrap();
    let copy = TiledCopy::over(atom, vec![8, 12], layout).unwrap();
    let registers = copy.retile(&tiled.fragment_c([8, 12]).unwrap()).unwrap();
    let copied = copy.partition_source(&block).unwrap();
    for thread in 0..tiled.threads() {
        let elements = held(&part, thread);
        let order = registers.offsets().map(|r| elements[r as usize]);
        assert_eq!(order.collect::<Vec<_>>(), held(&copied, thread));
    }
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
