//! Random specs: completing answers whatever it is asked, and what completes lowers.

use melior::ir::{
    BlockLike, Module, RegionLike,
    operation::{OperationLike, OperationRef},
};
use std::fmt::Write;
use tilefold_dialect::{
    atoms::CopyAtom,
    spec::Spec,
    tile::{self, text},
};
use tilefold_layout::Layout;
use tilefold_passes::{
    Plan,
    access::in_lds,
    access_elements, lower, tile_module,
    tiling::{MmaLayouts, copy_layout},
};

/// Specs that are completed; of the plans that come of them, one in [`LOWERED`] is lowered too.
const SPECS: u64 = 10_000;
const LOWERED: u64 = 16;

#[test]
fn random_specs_are_answered_and_plans_lower() {
    let (mut plans, mut lowered) = (0, 0);
    let mut context = tile::context();
    for seed in 0..SPECS {
        let text = spec(&mut Random(seed));
        let Some(plan) = complete(&text) else {
            continue;
        };
        plans += 1;
        if plans % LOWERED != 0 {
            continue;
        }
        if lowered % 50 == 0 {
            // A context keeps every attribute that it has ever seen.
            context = tile::context();
        }
        lowered += 1;
        complete_again(&plan, &text);
        places_in_lds_are_sums(&plan);
        let module = tile_module(&context, &plan, |_, _| {}).expect(&text);
        accesses_are_aligned(&plan, &module);
        let kernel = lower(&context, &module, &plan).expect(&text);
        assert!(kernel.as_operation().verify(), "{text}");
    }
    assert!(
        plans > SPECS / 5,
        "the generator makes too few good specs: {plans}"
    );
    assert!(lowered > 100, "only {lowered} plans are lowered");
}

/// The plan of a spec, if it has one; a refusal must say something.
fn complete(text: &str) -> Option<Plan> {
    let answer = Spec::from_toml("random", text).and_then(|spec| Plan::complete(&spec));
    if let Err(error) = &answer {
        assert!(
            !error.rule().is_empty() && !error.help().is_empty(),
            "{text}"
        );
    }
    answer.ok()
}

/// A completed plan's own spec must complete to the same.
fn complete_again(plan: &Plan, text: &str) {
    let again = Plan::complete(&plan.completed)
        .unwrap_or_else(|error| panic!("{error}\n{text}\n{}", plan.completed.to_toml()));
    assert_eq!(again.completed, plan.completed, "{text}");
    let widths = access_elements(plan).expect(text);
    assert_eq!(access_elements(&again).expect(text), widths, "{text}");
    assert_eq!(widths[..2], plan.load_elements, "{text}");
}

/// Thread's part plus value's part, swizzled, is where the layout puts the element.
fn places_in_lds_are_sums(plan: &Plan) {
    let [m, n, k] = plan.block;
    let mma = MmaLayouts::new(plan.atom, plan.block, &plan.wave_layout).unwrap();
    for (operand, (tile, mma)) in [([m, k], mma.a), ([n, k], mma.b)].into_iter().enumerate() {
        let (threads, values) = &plan.copies[operand];
        let placement = &plan.lds[operand];
        for layout in [copy_layout(threads, values, tile).unwrap(), mma] {
            let [threads, values] = [0, 1].map(|mode| layout.mode(mode).unwrap());
            let parts = in_lds(placement, &layout).unwrap();
            for thread in (0..threads.size()).step_by(7) {
                for value in 0..values.size() {
                    let place = placement.offset() + parts[0].at(thread) + parts[1].at(value);
                    assert_eq!(
                        placement.outer().apply(place),
                        placement.at(threads.at(thread) + values.at(value)),
                        "{placement} and {layout}"
                    );
                }
            }
        }
    }
}

/// Every access of the module that goes to the lowering finds its elements side by side, from a
/// multiple of their number on, whatever thread makes it.
fn accesses_are_aligned(plan: &Plan, module: &Module<'_>) {
    let mut operations = Vec::new();
    collect(module.as_operation(), &mut operations);
    let places = plan
        .lds
        .each_ref()
        .map(|layout| layout.offsets().collect::<Vec<_>>());
    // The operation's thread-value layout, its atom, and which operand's tile in LDS it accesses.
    let mut shared = Vec::new();
    let mut copies = 0;
    for operation in &operations {
        let name = operation
            .name()
            .as_string_ref()
            .as_str()
            .unwrap()
            .to_owned();
        match name.as_str() {
            "tile.copy" | "tile.commit" => {
                let order = ["layout", "stores"][usize::from(name == "tile.copy")];
                shared.push((operation, order, "store", copies % 2));
                copies += 1;
            }
            "tile.mma" => {
                shared.push((operation, "a_layout", "a_read", 0));
                shared.push((operation, "b_layout", "b_read", 1));
            }
            _ => {}
        }
    }
    assert!(copies > 0);
    for (operation, layout, atom, operand) in shared {
        let layout: Layout = text(operation, layout).unwrap().parse().unwrap();
        let atom = CopyAtom::by_name(text(operation, atom).unwrap()).unwrap();
        let width = atom.elements(plan.input());
        let [threads, values] = [0, 1].map(|mode| layout.mode(mode).unwrap());
        let values: Vec<i64> = values.offsets().collect();
        for thread in threads.offsets().step_by(5) {
            for group in values.chunks(width as usize) {
                let place = |value: i64| places[operand][(thread + value) as usize];
                let first = place(group[0]);
                assert_eq!(
                    first % width,
                    0,
                    "{} in {}",
                    atom.name,
                    plan.completed.to_toml()
                );
                let run = first..first + width;
                assert!(
                    group.iter().map(|value| place(*value)).eq(run),
                    "{}",
                    atom.name
                );
            }
        }
    }
}

fn collect<'c, 'a>(operation: OperationRef<'c, 'a>, found: &mut Vec<OperationRef<'c, 'a>>) {
    found.push(operation);
    for region in operation.regions() {
        let mut block = region.first_block();
        while let Some(at) = block {
            let mut inner = at.first_operation();
            while let Some(operation) = inner {
                // SAFETY: the module outlives the list of its operations.
                let operation = unsafe { OperationRef::from_raw(operation.to_raw()) };
                collect(operation, found);
                inner = operation.next_in_block();
            }
            block = at.next_in_region();
        }
    }
}

/// A small generator of numbers (SplitMix64), so that a seed means the same spec everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// True once in so many times.
    fn rarely(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Two factors of `product`, in any split of its divisors.
    fn split(&mut self, product: i64) -> [i64; 2] {
        let divisors: Vec<i64> = (1..=product.min(2048))
            .filter(|d| product % d == 0)
            .collect();
        let first = self.pick(&divisors);
        [first, product / first]
    }
}

const ODD: [i64; 10] = [-16, -1, 0, 1, 7, 17, 24, 4096, i32::MAX as i64, i64::MAX];

fn spec(random: &mut Random) -> String {
    let r = random;
    let sides = [16, 16, 32, 32, 32, 48, 64, 64, 64, 80, 96, 128, 128, 256];
    let mut block = [
        r.pick(&sides),
        r.pick(&sides),
        r.pick(&[16, 16, 32, 32, 48, 64, 128]),
    ];
    if r.rarely(30) {
        let axis = r.below(3);
        block[axis] = r.pick(&ODD);
    }
    let mut waves = [r.pick(&[1, 1, 2, 2, 3, 4, 8]), r.pick(&[1, 1, 2, 2, 3, 4])];
    if !r.rarely(6) {
        // Mostly waves that the block divides among.
        waves = [0, 1].map(|i| {
            if block[i] % (16 * waves[i]) == 0 {
                waves[i]
            } else {
                1
            }
        });
    }
    let mut text = String::new();
    let arch = r.pick(&["gfx1100", "gfx1151", "gfx1201"]);
    let arch = if r.rarely(200) { "gfx942" } else { arch };
    writeln!(text, "arch = \"{arch}\"").unwrap();
    problem(r, &mut text, block);
    let key = |text: &mut String, line: String| writeln!(text, "{line}").unwrap();
    if !r.rarely(6) {
        key(&mut text, format!("[tile]\nblock = {block:?}"));
        if !r.rarely(4) {
            key(&mut text, format!("waves = {waves:?}"));
        }
    }
    key(&mut text, "[atoms]".into());
    if r.rarely(16) {
        let names = [
            "wmma.f32.16x16x16.f16",
            "wmma.f16.16x16x16.f16",
            "wmma.bf16.16x16x16.bf16",
        ];
        key(&mut text, format!("mma = \"{}\"", r.pick(&names)));
    }
    if r.rarely(3) {
        let good = !r.rarely(10);
        let space = r.pick(if good {
            &["buffer", "global"]
        } else {
            &["ds", "tensor"]
        });
        let width = r.pick(&[16, 32, 64, 64, 128, 128, 128, if good { 64 } else { 256 }]);
        key(&mut text, format!("load = \"{space}_load_b{width}\""));
    }
    for (operand, rows) in [("a", block[0]), ("b", block[1])] {
        if r.rarely(8) {
            copy(r, &mut text, operand, [rows, block[2]], waves);
        }
    }
    if r.rarely(8) {
        let layout = wave_layout(r, waves);
        key(&mut text, format!("[mma]\nwaves = \"{layout}\""));
    }
    key(&mut text, "[lds]".into());
    for (operand, rows) in [("a", block[0]), ("b", block[1])] {
        if !r.rarely(3) {
            let layout = lds(r, [rows, block[2]]);
            key(&mut text, format!("{operand} = \"{layout}\""));
        }
    }
    if !r.rarely(3) {
        let buffers = if r.rarely(12) {
            r.pick(&ODD)
        } else {
            r.pick(&[1, 1, 1, 2, 2, 2, 2, 3])
        };
        key(&mut text, format!("buffers = {buffers}"));
    }
    key(&mut text, "[schedule]".into());
    if !r.rarely(3) {
        let ways: &[&str] = if r.rarely(30) {
            &["interleaved"]
        } else {
            &["none", "burst"]
        };
        let prefetch = r.pick(ways);
        key(&mut text, format!("prefetch = \"{prefetch}\""));
    }
    if r.rarely(3) {
        let rows = if r.rarely(12) {
            r.pick(&ODD)
        } else {
            r.pick(&[1, 2, 8, 1024])
        };
        key(&mut text, format!("group_rows = {rows}"));
    }
    if r.rarely(40) {
        key(
            &mut text,
            format!("priority = {}", r.pick(&["true", "false", "1"])),
        );
    }
    text
}

fn problem(r: &mut Random, text: &mut String, block: [i64; 3]) {
    let mut extents = [0; 3];
    let mut words = [const { String::new() }; 3];
    for axis in 0..3 {
        extents[axis] = block[axis].saturating_mul(r.pick(&[1, 1, 2, 3, 64, 1000]));
        if r.rarely(30) {
            extents[axis] = r.pick(&ODD);
        }
        words[axis] = if r.rarely(6) {
            "\"any\"".into()
        } else {
            extents[axis].to_string()
        };
    }
    writeln!(
        text,
        "[gemm]\nm = {}\nn = {}\nk = {}",
        words[0], words[1], words[2]
    )
    .unwrap();
    let [m, n, k] = extents;
    let input = r.pick(&["f16", "f16", "bf16"]);
    let accumulate = if r.rarely(2) { "f32" } else { input };
    let output = r.pick(&[accumulate, accumulate, "f32", input]);
    let other = [
        "f32", "f16", "bf16", "i8", "i32", "fp8", "bf8", "fp6", "bf6", "fp4",
    ];
    for (name, element, lines) in [
        ("a", input, [m, k]),
        ("b", input, [k, n]),
        ("c", output, [m, n]),
    ] {
        let element = if r.rarely(40) {
            r.pick(&other)
        } else {
            element
        };
        let layout = operand(r, lines);
        writeln!(text, "{name} = {{ type = \"{element}\", {layout} }}").unwrap();
    }
    let accumulate = if r.rarely(40) {
        r.pick(&other)
    } else {
        accumulate
    };
    writeln!(text, "accumulate = \"{accumulate}\"").unwrap();
}

fn operand(r: &mut Random, [rows, cols]: [i64; 2]) -> String {
    let more = r.pick(&[0, 0, 0, 1, 2, 4, 8, 16, 24]);
    let (row_ld, col_ld) = (cols.saturating_add(more), rows.saturating_add(more));
    match r.below(10) {
        0..4 => "layout = \"row\"".into(),
        4..8 => "layout = \"col\"".into(),
        8 if r.rarely(2) => format!("layout = \"row\", ld = {row_ld}"),
        8 => format!("layout = \"col\", ld = {col_ld}"),
        _ => {
            let layout = match r.below(8) {
                0..3 => format!("({rows},{cols}):({row_ld},1)"),
                3..5 => format!("({rows},{cols}):(1,{col_ld})"),
                5 => format!("({rows},(2,{})):({row_ld},(1,2))", cols / 2),
                6 => format!("({rows},{cols}):({},1)", r.pick(&ODD)),
                _ => format!("({rows},{cols}):({},{})", r.pick(&ODD), r.pick(&ODD)),
            };
            format!("layout = \"{layout}\"")
        }
    }
}

fn copy(r: &mut Random, text: &mut String, operand: &str, tile: [i64; 2], waves: [i64; 2]) {
    writeln!(text, "[copy.{operand}]").unwrap();
    if !r.rarely(20) {
        let threads = 32 * waves[0].saturating_mul(waves[1]);
        let [first, second] = r.split(threads);
        let layout = match r.below(6) {
            0..3 => format!("({first},{second}):({second},1)"),
            3..5 => format!("({first},{second}):(1,{first})"),
            _ => format!("({first},{second}):({},{})", r.pick(&ODD), r.pick(&ODD)),
        };
        writeln!(text, "threads = \"{layout}\"").unwrap();
    }
    if !r.rarely(20) {
        let layout = match r.below(8) {
            0..3 => "(1,8):(8,1)".into(),
            3 => "(8,1):(1,8)".into(),
            4 => "(1,1):(1,1)".into(),
            5 => "(2,4):(4,1)".into(),
            6 => "(1,(2,2)):(4,(2,1))".into(),
            _ => format!("({},{}):({},1)", tile[0], r.pick(&ODD), r.pick(&ODD)),
        };
        writeln!(text, "values = \"{layout}\"").unwrap();
    }
}

fn wave_layout(r: &mut Random, [m, n]: [i64; 2]) -> String {
    match r.below(6) {
        0..2 => format!("({m},{n}):({n},1)"),
        2..4 => format!("({m},{n}):(1,{m})"),
        4 if m % 2 == 0 => format!("((2,{}),{n}):((1,{}),2)", m / 2, 2 * n),
        _ => format!("({n},{m}):({},1)", r.pick(&ODD)),
    }
}

fn lds(r: &mut Random, [rows, depth]: [i64; 2]) -> String {
    let line = depth.saturating_add(r.pick(&[0, 0, 1, 4, 8, 16]));
    let column = rows.saturating_add(r.pick(&[0, 0, 2, 8]));
    match r.below(24) {
        16..19 => "none".into(),
        19..23 => "pad(8)".into(),
        0..2 => "none".into(),
        2..5 => format!("pad({})", r.pick(&[0, 1, 2, 4, 8, 8, 16, 24, 1024])),
        5 => format!("pad({})", r.pick(&ODD)),
        6..8 => "xor".into(),
        8 => format!("({rows},{depth}):({line},1)"),
        9 => format!("({rows},{depth}):(1,{column})"),
        10 => format!(
            "({rows},({0},{1})):({0},(1,{2}))",
            depth / 2,
            2,
            rows.saturating_mul(depth) / 2
        ),
        11 => format!(
            "({rows},(8,{})):(8,(1,{}))",
            depth / 8,
            rows.saturating_mul(8)
        ),
        12 => format!(
            "((3,{}),{depth}):(({depth},{}),1)",
            rows / 3,
            depth.saturating_mul(3)
        ),
        13 => format!(
            "Sw<{},{},{}> o {} o ({rows},{depth}):({line},1)",
            r.below(4),
            r.below(4),
            r.pick(&[1, 2, 3, 4, 5, -2, -3]),
            r.pick(&[0, 0, 8, 5, -8]),
        ),
        14 => format!(
            "Sw<{},{},{}> o 0 o ({rows},(8,{})):(8,(1,{}))",
            r.below(3),
            r.below(4),
            r.pick(&[2, 3, 4]),
            depth / 8,
            rows.saturating_mul(8),
        ),
        _ => match r.below(4) {
            0 => format!("({rows},{depth}):({},{})", r.pick(&ODD), r.pick(&ODD)),
            1 => format!(
                "Sw<0,4,3> o {} o ({rows},{depth}):(-{depth},1)",
                rows.saturating_sub(1).saturating_mul(depth)
            ),
            2 => format!("(({rows},1),{depth}):(({line},{}),1)", i64::MAX),
            _ => format!("({depth},{rows}):({rows},1)"),
        },
    }
}
