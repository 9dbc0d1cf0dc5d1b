//! What completing a spec chooses where the spec leaves it open.

use super::plan;
use tilefold_dialect::{
    plan::Prefetch,
    problem::OperandLayout::{Col, Row},
};
use tilefold_passes::{Plan, access_elements};

const DENSE: [&str; 3] = [
    r#"layout = "row""#,
    r#"layout = "col""#,
    r#"layout = "col""#,
];

/// The plan of a problem of 4096 x 4096 x 4096 whose operands have these layouts.
fn with([a, b, c]: [&str; 3], choices: &str) -> Plan {
    plan(&format!(
        r#"
        arch = "gfx1201"
        {choices}
        [gemm]
        m = 4096
        n = 4096
        k = 4096
        a = {{ type = "f16", {a} }}
        b = {{ type = "f16", {b} }}
        c = {{ type = "f16", {c} }}
        accumulate = "f16"
        "#
    ))
}

#[test]
fn waves_and_block_fit_one_another() {
    let fitted = |choices| {
        let plan = with(DENSE, choices);
        (plan.block, plan.waves)
    };
    assert_eq!(fitted(""), ([128, 128, 32], [2, 2]));
    assert_eq!(fitted("tile.waves = [4, 4]"), ([128, 128, 32], [4, 4]));
    assert_eq!(
        fitted(r#"mma.waves = "(4,2):(2,1)""#),
        ([128, 128, 32], [4, 2])
    );
    assert_eq!(
        fitted("tile.block = [48, 64, 16]"),
        ([48, 64, 16], [1, 2]),
        "48 is no multiple of two atoms"
    );
}

#[test]
fn accesses_are_no_wider_than_lines_are_aligned() {
    let layouts = [
        r#"layout = "row", ld = 4100"#,
        r#"layout = "col""#,
        r#"layout = "col", ld = 4097"#,
    ];
    let plan = with(layouts, "");
    assert_eq!(plan.load_elements, [4, 8]);
    assert_eq!(access_elements(&plan).unwrap(), [4, 8, 1]);
    assert_eq!(
        plan.completed.plan.atoms.load, None,
        "no one load does for both"
    );
}

#[test]
fn copies_of_the_spec_say_how_wide_loads_are() {
    let copies = r#"copy.a = { threads = "(128,1):(1,1)", values = "(1,4):(4,1)" }
        copy.b = { threads = "(16,8):(8,1)", values = "(1,4):(4,1)" }"#;
    let plan = with(DENSE, copies);
    // A's pieces of four follow one another in each thread's row of K.
    assert_eq!(plan.load_elements, [8, 4]);
}

#[test]
fn layouts_become_an_order_and_a_leading_dimension() {
    let layouts = [
        r#"layout = "(4096,4096):(5000,1)""#,
        r#"layout = "((64,64),4096):((1,64),4096)""#,
        r#"layout = "(4096,4096):(1,4104)""#,
    ];
    let plan = with(layouts, "");
    let found = [0, 1, 2].map(|i| (plan.operand(i).layout.clone(), plan.operand(i).ld));
    assert_eq!(
        found,
        [(Row, Some(5000)), (Col, Some(4096)), (Col, Some(4104))]
    );
}

/// What says how interleaved loads go says that they are; and what is completed can be completed
/// again.
#[test]
fn orders_of_interleaved_loads_are_of_interleaved_loads() {
    for (order, interleaved) in [
        ("cadence = 2", true),
        ("ahead = 3", true),
        (r#"lead = "b""#, true),
        (r#"commit = "reads""#, true),
        ("priority = true", true),
        ("priority = false", false),
        ("group_rows = 2", false),
    ] {
        let plan = with(DENSE, &format!("schedule = {{ {order} }}"));
        let expected = match interleaved {
            true => Prefetch::Interleaved,
            false => Prefetch::Burst,
        };
        assert_eq!(plan.prefetch, expected, "{order}");
        let again = Plan::complete(&plan.completed).unwrap_or_else(|e| panic!("{order}: {e}"));
        assert_eq!(again.prefetch, expected, "{order}");
    }
}
