//! Failures that people reported of layout algebra elsewhere, as cases that must come out right.

use tilefold_layout::{ComposedLayout, IntTuple, Layout, Nest, Rule, SliceCoord, make_layout_tv};

fn parse(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// `0,6,7,8,9,15` is no flat layout's table, though CuTe gives `(2,3):(6,3)`.
#[test]
fn composition_that_no_layout_gives_is_refused() {
    let (a, b) = (parse("(4,6,8):(2,3,5)"), parse("6:3"));
    let error = a.compose(&b).unwrap_err();
    assert_eq!(
        error.rule,
        Rule::StrideDivisibility {
            stride: 3,
            extent: 4
        }
    );
    assert_eq!((&*error.left, &*error.right), ("(4,6,8):(2,3,5)", "6:3"));
}

/// The residues of a stride of 72 over extents 3, 6, 2, 8 are 72, 24, 4, 2.
#[test]
fn residues_use_the_stride_of_their_own_mode() {
    let result = parse("(3,6,2,8):(1,3,18,36)")
        .compose(&parse("4:72"))
        .unwrap();
    assert_eq!(result, parse("4:72"));
    let result = parse("(3,6,2,8):(1,10,100,1000)")
        .compose(&parse("4:72"))
        .unwrap();
    assert_eq!(result, parse("4:2000"));
}

#[test]
fn thread_value_layout_of_64_by_4_threads() {
    let (tile, tv) = make_layout_tv(&parse("(4,64):(64,1)"), &parse("(4,8):(8,1)")).unwrap();
    assert_eq!(tile, [16, 512]);
    let mut elements: Vec<i64> = tv.offsets().collect();
    elements.sort_unstable();
    assert_eq!(elements, (0..16 * 512).collect::<Vec<_>>());
}

#[test]
fn slicing_with_the_wrong_rank_names_both() {
    let coord: SliceCoord = Nest::Tuple(vec![Nest::Int(None)]);
    let error = parse("(8,16):(16,1)").slice(&coord).unwrap_err();
    assert_eq!(
        error.rule,
        Rule::Rank {
            expected: 2,
            found: 1
        }
    );
    assert!(error.to_string().contains("expected 2, found 1"), "{error}");
}

#[test]
fn shape_and_stride_must_be_congruent() {
    let error = Layout::new([4, 8], IntTuple::from(1)).unwrap_err();
    assert!(matches!(error.rule, Rule::Congruence { .. }), "{error}");
    let nested = Nest::Tuple(vec![4.into(), [2, 2].into()]);
    let error = Layout::new(nested, [1, 4]).unwrap_err();
    assert_eq!(error.mode.as_ref().unwrap().0, [1]);
    assert!(matches!(error.rule, Rule::Congruence { .. }), "{error}");
}

#[test]
fn even_division_names_mode_and_sizes() {
    let error = parse("(12,8):(8,1)")
        .divide_evenly(&[parse("4:1"), parse("3:1")])
        .unwrap_err();
    assert_eq!(
        error.rule,
        Rule::Divisibility {
            value: 8,
            divisor: 3
        }
    );
    assert_eq!(error.mode.unwrap().0, [1]);
    // The same tile, rounded up as CuTe does.
    let rounded = parse("(12,8):(8,1)")
        .zipped_divide(&[parse("4:1"), parse("3:1")])
        .unwrap();
    assert_eq!(rounded, parse("((4,3),(3,3)):((8,1),(32,3))"));
}

#[test]
fn offsets_are_64_bits() {
    let layout = parse("(536870913,4):(4,1)");
    let offset = layout.at_coord(&[536_870_912, 0].into()).unwrap();
    assert_eq!(offset, 2_147_483_648);
}

#[test]
fn strides_are_64_bits() {
    let layout = Layout::new([2, 65536, 65536], [4_294_967_296, 65536, 1]).unwrap();
    assert_eq!(
        layout.at_coord(&[1, 65535, 65535].into()).unwrap(),
        (1 << 33) - 1
    );
    assert_eq!(layout.cosize(), 1 << 33);
    let order: IntTuple = [2, 1, 0].into();
    assert_eq!(Layout::ordered([2, 65536, 65536], &order).unwrap(), layout);
}

/// Outputs of 2 GiB and more: the last byte of each has a place of its own.
#[test]
fn bytes_past_32_bits_are_counted() {
    for (elements, bytes, size) in [
        ("(5326464,256):(1,5326464)", 2, 2_727_149_568),
        ("(32768,32768):(1,32768)", 4, 1 << 32),
        ("(16384,16384,4):(16384,1,268435456)", 4, 1 << 32),
    ] {
        let layout = parse(elements).downcast(bytes).unwrap();
        assert_eq!(
            (layout.cosize(), layout.at(layout.size() - 1)),
            (size, size - 1)
        );
        assert_eq!(layout.upcast(bytes).unwrap(), parse(elements));
    }
}

#[test]
fn sizes_past_64_bits_are_refused() {
    let error = Layout::col_major(&[1 << 40, 1 << 40]).unwrap_err();
    assert!(matches!(error.rule, Rule::Overflow { .. }), "{error}");
    let error = parse("2:4611686018427387903")
        .at_coord(&5.into())
        .unwrap_err();
    assert!(matches!(error.rule, Rule::Overflow { .. }), "{error}");
}

/// A swizzle can reach past its layout's own offsets, and large tiles need no more than they have.
#[test]
fn swizzled_tiles_have_room() {
    let cosize = |text: &str| text.parse::<ComposedLayout>().unwrap().cosize();
    assert_eq!(cosize("Sw<1,0,3> o 0 o (3,3):(1,4)"), 12);
    assert_eq!(cosize("Sw<3,4,3> o 0 o (1024,128):(128,1)"), 1024 * 128);
    assert_eq!(cosize("Sw<3,4,3> o 0 o (1025,128):(128,1)"), 1025 * 128);
    assert_eq!(
        cosize("(4,8):(8,1) o 4 o (512,256):(1,512)"),
        24 + (131072 + 3) / 4 + 1
    );
    assert_eq!(cosize("Sw<3,4,-3> o 0 o (1025,128):(128,1)"), 1032 * 128);
}

/// Past the size up to which the cosize is counted out it is a bound all the same.
#[test]
fn large_cosizes_bound_every_offset() {
    for outer in [
        "Sw<3,4,3>",
        "Sw<3,4,-3>",
        "Sw<2,0,5>",
        "Sw<1,9,-7>",
        "(5,7):(40,3)",
    ] {
        for inner in [
            "(257,256):(256,1)",
            "(257,256):(1,300)",
            "(3,70000):(70001,1)",
        ] {
            let text = format!("{outer} o 3 o {inner}");
            let layout: ComposedLayout = text.parse().unwrap();
            let top = layout.offsets().max().unwrap();
            assert!(
                layout.cosize() > top,
                "{text}: {} for {top}",
                layout.cosize()
            );
        }
    }
}
