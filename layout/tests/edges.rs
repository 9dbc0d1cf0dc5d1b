//! Operands that once hung, overlapped or lost elements.

use tilefold_layout::{
    ComposedLayout, Layout, Rule, SliceCoord, Swizzle, max_common_vector, recognise,
};

fn layout(text: &str) -> Layout {
    text.parse().unwrap()
}

#[test]
fn common_vector_of_huge_modes_answers_at_once() {
    let a = layout("(1000000007,5):(1,2000000000)");
    let b = layout("(1000000000,7):(1,1000000000)");
    assert!(max_common_vector(&a, &b) >= 1);
}

#[test]
fn repetitions_of_a_block_with_gaps_do_not_overlap() {
    let mut answered = 0;
    for (block, tile) in [
        ("(3,8):(2,16)", "2:4"),
        ("(2,3):(3,16)", "4:1"),
        ("5:7", "3:2"),
    ] {
        let Ok(product) = layout(block).logical_product(layout(tile)) else {
            continue;
        };
        answered += 1;
        let mut offsets: Vec<i64> = product.offsets().collect();
        let count = offsets.len();
        offsets.sort_unstable();
        offsets.dedup();
        assert_eq!(
            offsets.len(),
            count,
            "logical_product({block}, {tile}) = {product}"
        );
    }
    assert!(answered >= 2);
}

#[test]
fn a_divide_keeps_every_element_or_refuses() {
    let (whole, tile) = (layout("(4,4,4):(1,24,16)"), layout("(6,4):(2,48)"));
    if let Ok(divided) = whole.logical_divide(tile) {
        let parts: std::collections::HashSet<i64> = divided.offsets().collect();
        assert!(
            whole.offsets().all(|offset| parts.contains(&offset)),
            "{divided}"
        );
    }
}

/// The first layout's last mode goes on, the second ends.
#[test]
fn common_vector_ends_with_the_second() {
    let common = |a: &str, b: &str| max_common_vector(&layout(a), &layout(b));
    assert_eq!(common("4:1", "8:1"), 8);
    assert_eq!(common("8:1", "4:1"), 4);
}

#[test]
fn swizzles_end_at_bit_62() {
    let top = Swizzle::new(1, 60, 1).unwrap();
    assert_eq!(top.period(), 1 << 62);
    assert_eq!(top.apply(1 << 61), 3 << 60);
    for (bits, base, shift) in [(1, 61, 1), (1, 60, 2), (2, 59, 2), (1, 60, -2)] {
        let error = Swizzle::new(bits, base, shift).unwrap_err();
        assert_eq!(error.rule, Rule::SwizzleFields, "{error}");
    }
}

/// The bits of both together are one run, but the outer one would read what the inner one wrote.
#[test]
fn swizzles_that_feed_each_other_are_not_one() {
    let fails = |outer: Swizzle, inner| match outer.compose(inner).unwrap_err().rule {
        Rule::Swizzle { why } => why,
        rule => panic!("{rule}"),
    };
    let sw = |bits, base, shift| Swizzle::new(bits, base, shift).unwrap();
    let feeds = "the inner one changes bits that the outer one reads";
    assert_eq!(fails(sw(2, 0, 3), sw(2, 2, 3)), feeds);
    assert_eq!(fails(sw(2, 2, -3), sw(2, 0, -3)), feeds);
    assert_eq!(
        fails(sw(1, 0, 3), sw(1, 2, 3)),
        "their bits are not one run"
    );
    // The other way about nothing is read that was written.
    assert_eq!(sw(1, 0, 3).compose(sw(1, 1, 3)).unwrap(), sw(2, 0, 3));
}

/// A mode of one element never goes backwards, whatever its stride.
#[test]
fn one_element_has_no_direction() {
    let coarse = layout("(1,4):(-2,4)").upcast(4).unwrap();
    assert_eq!(coarse, layout("(1,4):(-1,1)"));
    let error = layout("(2,4):(-2,4)").upcast(4).unwrap_err();
    assert_eq!(error.rule, Rule::NonNegativeStride { stride: -2 });
}

#[test]
fn a_tuple_stands_on_modes() {
    for (text, mode) in [("8:1", vec![]), ("(8,4):(1,8)", vec![1])] {
        let coord = if mode.is_empty() { "(_)" } else { "(_,(_))" };
        let coord: SliceCoord = coord.parse().unwrap();
        let error = layout(text).slice(&coord).unwrap_err();
        assert!(matches!(error.rule, Rule::Mismatch { .. }), "{error}");
        assert_eq!(error.mode.unwrap_or_default().0, mode);
    }
    assert_eq!(
        layout("(8):(1)")
            .slice(&"(_)".parse().unwrap())
            .unwrap()
            .size(),
        8
    );
}

#[test]
fn swizzled_tables_below_zero_are_recognised() {
    let swizzled: ComposedLayout = "Sw<1,0,1> o -4 o 4:1".parse().unwrap();
    let table: Vec<i64> = swizzled.offsets().collect();
    assert_eq!(table, [-4, -3, -1, -2]);
    assert_eq!(recognise(&table), Some(swizzled));
}
