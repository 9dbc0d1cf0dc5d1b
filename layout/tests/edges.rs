//! Operands that once hung, overlapped or lost elements.

use tilefold_layout::{Layout, max_common_vector};

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
