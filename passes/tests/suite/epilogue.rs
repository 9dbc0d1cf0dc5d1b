//! What the epilogue makes of an atom's results.

use super::plan;
use tilefold_layout::Layout;
use tilefold_passes::{Epilogue, Plan};

const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

/// Input, accumulator and output types.
const TYPES: [[&str; 3]; 6] = [
    ["f16", "f16", "f16"],
    ["f16", "f16", "f32"],
    ["f16", "f32", "f16"],
    ["f16", "f32", "f32"],
    ["bf16", "f32", "bf16"],
    ["bf16", "bf16", "bf16"],
];

fn problem(chip: &str, [input, accumulate, output]: [&str; 3], c: &str, block: &str) -> Plan {
    plan(&format!(
        r#"
        arch = "{chip}"
        [gemm]
        m = 960
        n = 960
        k = 64
        a = {{ type = "{input}", layout = "row" }}
        b = {{ type = "{input}", layout = "col" }}
        c = {{ type = "{output}", {c} }}
        accumulate = "{accumulate}"
        [tile]
        {block}
        "#
    ))
}

const ONE_ATOM: &str = "block = [16, 16, 16]\nwaves = [1, 1]";
const BLOCKS: [&str; 3] = [
    ONE_ATOM,
    "block = [64, 96, 32]\nwaves = [2, 2]",
    "block = [48, 32, 16]\nwaves = [1, 2]",
];

/// Index of the element that each value of each lane is.
fn owned(layout: &Layout) -> Vec<Vec<i64>> {
    let [lanes, values] = [0, 1].map(|mode| layout.mode(mode).unwrap());
    let row = |lane: i64| values.offsets().map(|value| lane + value).collect();
    lanes.offsets().map(row).collect()
}

#[test]
fn stores_are_as_wide_as_registers_and_lines_allow() {
    for chip in CHIPS {
        for types in TYPES {
            let widest = if types[2] == "f32" { 4 } else { 8 };
            for (c, elements) in [
                (r#"layout = "row""#, widest),
                (r#"layout = "col""#, widest),
                (r#"layout = "row", ld = 970"#, 2),
                (r#"layout = "col", ld = 961"#, 1),
            ] {
                for block in BLOCKS {
                    let plan = problem(chip, types, c, block);
                    let epilogue = Epilogue::of(&plan).unwrap();
                    let what = format!("{chip} {types:?} {c} {block}");
                    assert_eq!(epilogue.elements, elements, "{what}");
                    let mut all: Vec<i64> = owned(&epilogue.layout).concat();
                    all.sort_unstable();
                    assert!(
                        all.into_iter().eq(0..plan.block[0] * plan.block[1]),
                        "{what}"
                    );
                }
            }
        }
    }
}

/// Nothing is exchanged or turned that need not be.
#[test]
fn the_cheapest_way_is_taken() {
    let way = |chip, c| {
        let epilogue = Epilogue::of(&problem(chip, TYPES[0], c, ONE_ATOM)).unwrap();
        (epilogue.b_first, epilogue.exchanged)
    };
    for (c, b_first) in [(r#"layout = "col""#, false), (r#"layout = "row""#, true)] {
        assert_eq!(
            way("gfx1100", c),
            (b_first, true),
            "every second row lies in a lane"
        );
        assert_eq!(
            way("gfx1201", c),
            (b_first, false),
            "eight rows lie in a lane"
        );
    }
    for chip in CHIPS {
        let odd = way(chip, r#"layout = "row", ld = 961"#);
        assert_eq!(odd, (false, false), "elements are stored one by one anyway");
    }
}

/// The exchange, played out on the elements that lanes hold, ends where the layout says.
#[test]
fn layouts_follow_the_exchange() {
    for chip in ["gfx1100", "gfx1151"] {
        for (c, turned) in [(r#"layout = "col""#, false), (r#"layout = "row""#, true)] {
            let plan = problem(chip, TYPES[0], c, ONE_ATOM);
            let turn = |index: i64| {
                if turned {
                    index / 16 + index % 16 * 16
                } else {
                    index
                }
            };
            let held = owned(&plan.atom.c());
            let half = held[0].len() / 2;
            let played: Vec<Vec<i64>> = (0..32)
                .map(|lane| {
                    let (lower, upper) = (&held[lane % 16], &held[lane % 16 + 16]);
                    let first = if lane < 16 { 0 } else { half };
                    (first..first + half)
                        .flat_map(|value| [turn(lower[value]), turn(upper[value])])
                        .collect()
                })
                .collect();
            let epilogue = Epilogue::of(&plan).unwrap();
            assert_eq!(owned(&epilogue.layout), played, "{chip} {c}");
        }
    }
}
