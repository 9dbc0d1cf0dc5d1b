//! Every rule by itself: both sides on every element of small tiles, with all numbers that it can
//! have there; and wrong uses that its condition keeps out.

use super::meaning::{Tree, equal};
use std::collections::HashSet;
use tilefold_dialect::element::ElementType;
use tilefold_machine::Machine;
use tilefold_passes::search::layouts::{Rule, TileUse, rules};

/// Elements of a load in all uses here.
const LOAD: i64 = 2;

fn small(tile: [i64; 2], along: usize) -> TileUse {
    let size = tile[0] * tile[1];
    TileUse {
        machine: Machine::by_name("gfx1201").unwrap(),
        tile,
        element: ElementType::F16,
        threads: 32,
        along,
        load_elements: LOAD,
        fragments: format!("(32,(1,{})):(1,(0,32))", size / 32)
            .parse()
            .unwrap(),
        max_bytes: 2 * size + 256,
        reorder: true,
    }
}

/// Terms to try the rules on: everything of few numbers, and what rules make of it.
fn corpus() -> Vec<String> {
    let mut placements: Vec<String> = ["rows", "cols"].map(String::from).to_vec();
    for parts in ["1 2", "2 16", "4 8", "16 1", "24 1", "4 2", "2 4", "8 8"] {
        placements.push(format!("(tiled {parts})"));
    }
    placements.extend([0, 1, 4, 8].map(|n| format!("(pad {n})")));
    let mut swizzles = Vec::new();
    for bits in 0..4 {
        for base in [0, 2, 3, 7] {
            swizzles.extend([-3, 1, 3, 4].map(|shift| format!("{bits} {base} {shift}")));
        }
    }
    let mut terms: Vec<String> = placements.iter().map(|of| format!("(hold {of})")).collect();
    for of in &placements {
        for swizzle in &swizzles {
            terms.push(format!("(sw {swizzle} {of})"));
            terms.push(format!("(hold (sw {swizzle} {of}))"));
        }
    }
    for outer in &swizzles {
        for inner in swizzles.iter().filter(|inner| inner.contains(" 2 ")) {
            terms.push(format!("(sw {outer} (sw {inner} (tiled 8 4)))"));
        }
    }
    let mut copies = Vec::new();
    for line in [1, 2, 4, 8, 16, 32] {
        copies.extend([format!("(along {line})"), format!("(across {line})")]);
        for first in [1, 2, 4, 8, 16, 32] {
            copies.push(format!("(split-along {line} {first})"));
            copies.push(format!("(split-across {line} {first})"));
        }
    }
    let around = |name: &str, numbers: &[i64], of: &[String]| -> Vec<String> {
        let all = of
            .iter()
            .flat_map(|of| numbers.iter().map(move |n| format!("({name} {n} {of})")));
        all.collect()
    };
    let raked = around("raked", &[1, 2], &copies);
    let turned = around("turned", &[1, 2], &raked);
    for copy in copies.iter().chain(&raked).chain(&turned) {
        terms.push(format!("(carry {copy})"));
    }
    terms.extend(placements);
    terms.extend(copies);
    terms.extend(raked);
    terms.extend(turned);
    terms
}

/// A step that a rule must not take, since its sides are not equal.
struct Wrong(&'static str, &'static str);

/// Asserts that the rule gives equal sides wherever it gives any, that it does somewhere, and
/// that it takes no wrong step.
fn holds(name: &str, wrong: &[Wrong]) {
    let rule = Rule::by_name(name).unwrap_or_else(|| panic!("no rule is named {name}"));
    let mut used = 0;
    let uses = [
        small([16, 16], 1),
        small([16, 16], 0),
        small([24, 8], 1),
        small([8, 64], 0),
        // Half as large as the banks, with no room to spare.
        TileUse {
            max_bytes: 128,
            ..small([8, 8], 1)
        },
    ];
    for usage in &uses {
        for term in corpus() {
            let term: Tree = term.parse().unwrap();
            for right in rule.apply(usage, &term).unwrap() {
                used += 1;
                let same = equal(usage, LOAD, &term, &right);
                assert!(same, "{term} = {right} on {:?}", usage.tile);
            }
        }
    }
    assert!(used > 0, "never used");
    for Wrong(from, to) in wrong {
        let [from, to]: [Tree; 2] = [from, to].map(|side| side.parse().unwrap());
        let usage = &uses[0];
        assert!(!equal(usage, LOAD, &from, &to), "{from} is {to}");
        let led = rule.apply(usage, &from).unwrap();
        let taken = led.iter().any(|it| it.to_string() == to.to_string());
        assert!(!taken, "{from} = {to}");
    }
}

/// A test for each rule, with wrong steps; and one that none was left out.
macro_rules! each {
    ($($test:ident: [$($from:literal != $to:literal),* $(,)?],)*) => {
        $(
            #[test]
            fn $test() {
                let name = stringify!($test).replace('_', "-");
                holds(&name, &[$(Wrong($from, $to)),*]);
            }
        )*

        #[test]
        fn every_rule_has_a_test() {
            let tested = [$(stringify!($test)),*].map(|name| name.replace('_', "-"));
            let names: Vec<&str> = rules().map(|rule| rule.name).collect();
            let untested: Vec<_> = names
                .iter()
                .filter(|name| !tested.iter().any(|it| it == *name))
                .collect();
            assert!(untested.is_empty(), "{untested:?}");
            assert_eq!(names.len(), tested.len());
        }
    };
}

each! {
    order_columns: [],
    // Offsets up to 495, where there is room for 384.
    order_tiles: ["(hold rows)" != "(hold (tiled 32 1))"],
    // Of 16 lines of 16 elements, 768 bytes hold 8 more elements a line and not 16.
    pad_rows: ["(hold rows)" != "(hold (pad 16))"],
    // They set bit 8, and so offsets up to 511.
    swizzle: ["(hold cols)" != "(hold (sw 1 4 -4 cols))"],
    grow_swizzle: ["(hold (sw 1 3 -4 cols))" != "(hold (sw 1 4 -4 (sw 1 3 -4 cols)))"],
    // The inner one changes bit 5, which the outer one reads.
    compose_swizzles: ["(sw 1 2 3 (sw 1 5 3 rows))" != "(sw 2 2 3 rows)"],
    // One changes a bit that the other one reads.
    commute_swizzles: [
        "(sw 1 5 2 (sw 1 2 3 rows))" != "(sw 1 2 3 (sw 1 5 2 rows))",
        "(sw 1 4 -2 (sw 1 2 -2 rows))" != "(sw 1 2 -2 (sw 1 4 -2 rows))",
    ],
    undo_swizzle: ["(sw 1 2 3 (sw 1 2 4 rows))" != "rows"],
    drop_swizzle: ["(sw 1 2 3 rows)" != "rows"],
    narrow_swizzle: ["(sw 2 2 3 rows)" != "(sw 1 2 3 rows)"],
    pad_nothing: ["(pad 1)" != "rows"],
    tiles_of_rows: ["(tiled 2 8)" != "rows"],
    tiles_of_columns: ["(tiled 8 1)" != "cols"],
    threads_along: ["(carry (along 4))" != "(carry (along 3))"],
    threads_across: ["(carry (along 32))" != "(carry (across 32))"],
    split_threads_along: ["(carry (along 32))" != "(carry (split-along 32 2))"],
    split_threads_across: ["(carry (along 4))" != "(carry (split-across 4 3))"],
    rake_lines: ["(carry (along 2))" != "(carry (raked 2 (along 2)))"],
    turn_values: ["(carry (raked 2 (along 8)))" != "(carry (turned 4 (raked 2 (along 8))))"],
    one_direction: ["(along 4)" != "(across 4)"],
    split_along_nothing: ["(split-along 4 2)" != "(across 4)"],
    split_along_all: ["(split-along 4 2)" != "(along 4)"],
    split_across_nothing: ["(split-across 4 2)" != "(along 4)"],
    split_across_all: ["(split-across 4 2)" != "(across 4)"],
    rake_one: ["(raked 1 (raked 2 (along 4)))" != "(raked 2 (along 4))"],
    turn_nothing: ["(turned 1 (raked 2 (along 4)))" != "(raked 2 (along 4))"],
}

#[test]
fn rules_are_named_once_in_kebab_case() {
    let mut names = HashSet::new();
    for Rule { name, .. } in rules() {
        assert!(names.insert(name), "{name} twice");
        assert!(name.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase())
        }));
    }
}
