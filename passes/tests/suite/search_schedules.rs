//! The search over tiles, waves and schedules: its judgement, its chains and its answers.

mod limits;
mod rules;
mod worth;

use std::collections::BTreeSet;
use tilefold_dialect::{
    plan::{LdsLayout, Prefetch},
    spec::Spec,
};
use tilefold_passes::{
    Plan,
    search::{
        layouts::check,
        plans,
        schedules::{self, Choices, Leaf, Open, rules},
    },
};

const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

/// A spec that leaves everything open.
fn spec(chip: &str, extents: &str, element: &str, orders: [&str; 2], more: &str) -> Spec {
    let [a, b] = orders;
    let text = format!(
        "arch = \"{chip}\"\n[gemm]\nm = {extents}\nn = {extents}\nk = {extents}\n\
         a = {{ type = \"{element}\", layout = \"{a}\" }}\n\
         b = {{ type = \"{element}\", layout = \"{b}\" }}\n\
         c = {{ type = \"f32\", layout = \"col\" }}\naccumulate = \"f32\"\n{more}"
    );
    Spec::from_toml("open.toml", text).unwrap()
}

fn open(plan: &Plan) -> Open<'_> {
    Open::of(plan)
}

/// The spec with all choices written into it.
fn filled(spec: &Spec, choices: &Choices) -> Spec {
    let mut spec = spec.clone();
    choices.fill(&mut spec);
    spec.plan.lds.a = Some(LdsLayout::None);
    spec.plan.lds.b = Some(LdsLayout::None);
    spec
}

/// Applied to the start one by one, the steps of a chain are rules and end at the finalist.
#[test]
fn chains_lead_from_the_start_to_each_finalist() {
    for chip in CHIPS {
        for more in [
            "",
            "[lds]\nbuffers = 2\n[schedule]\nprefetch = \"interleaved\"\n",
        ] {
            let found = plans(&spec(chip, "1024", "f16", ["row", "col"], more)).unwrap();
            let search = found.schedules.unwrap();
            assert_eq!(search.finalists.len(), found.plans.len());
            for (finalist, proposal) in search.finalists.iter().zip(&found.plans) {
                let mut choices = Choices::default();
                if !more.is_empty() {
                    choices.buffers = 2;
                    choices.prefetch = Prefetch::Interleaved;
                }
                for step in &proposal.chain {
                    let leaf: Leaf = step.choice.parse().unwrap();
                    let before = choices.get(leaf.kind());
                    choices = choices.with(leaf);
                    assert!(
                        rules().any(|rule| {
                            rule.name == step.rule && rule.to == leaf && rule.from == before
                        }),
                        "{step:?} from {before}"
                    );
                }
                assert_eq!(choices, finalist.choices, "{chip}");
                assert_eq!(choices, Choices::of(&proposal.plan), "{chip}");
                assert!(!proposal.chain.is_empty());
            }
        }
    }
}

/// What a spec says besides its tile is kept, and never makes the search fail.
#[test]
fn fields_beside_the_tile_are_kept() {
    for (index, more) in [
        "[lds]\na = \"pad(8)\"\nb = \"pad(8)\"",
        "[lds]\na = \"xor\"\nb = \"xor\"",
        "[lds]\nbuffers = 2",
        "[schedule]\nprefetch = \"none\"",
        "[schedule]\nprefetch = \"burst\"",
        "[schedule]\nahead = 1",
        "[schedule]\nahead = 3",
        "[schedule]\ncadence = 2",
        "[schedule]\nprefetch = \"interleaved\"\npriority = true",
        "[schedule]\npriority = true",
        "[schedule]\ngroup_rows = 4",
        "[mma]\nwaves = \"(2,2):(1,2)\"",
        "[tile]\nwaves = [1, 4]",
        "[atoms]\nload = \"global_load_b64\"",
    ]
    .into_iter()
    .enumerate()
    {
        let chip = CHIPS[index % CHIPS.len()];
        let spec = spec(chip, "1024", "f16", ["row", "col"], more);
        let found = plans(&spec).unwrap_or_else(|error| panic!("{chip} {more}: {error}"));
        assert!(!found.plans.is_empty());
        for proposal in &found.plans {
            let (plan, given) = (&proposal.plan.completed.plan, &spec.plan);
            assert!(given.lds.a.is_none() || plan.lds.a == given.lds.a, "{more}");
            assert!(given.lds.buffers.is_none() || plan.lds.buffers == given.lds.buffers);
            let (have, want) = (&plan.schedule, &given.schedule);
            assert!(want.prefetch.is_none() || have.prefetch == want.prefetch);
            assert!(want.ahead.is_none() || have.ahead == want.ahead, "{more}");
            assert!(want.cadence.is_none() || have.cadence == want.cadence);
            assert!(want.priority.is_none() || have.priority == want.priority);
            assert!(want.group_rows.is_none() || have.group_rows == want.group_rows);
            assert!(given.mma.waves.is_none() || plan.mma.waves == given.mma.waves);
            assert!(given.tile.waves.is_none() || plan.tile.waves == given.tile.waves);
            assert!(given.atoms.load.is_none() || plan.atoms.load == given.atoms.load);
        }
    }
}

#[test]
fn entries_of_a_block_are_kept() {
    for (index, block) in [
        [None, None, Some(16)],
        [None, None, Some(128)],
        [Some(96), None, None],
        [None, Some(48), Some(64)],
        [Some(128), Some(96), Some(64)],
    ]
    .into_iter()
    .enumerate()
    {
        let chip = CHIPS[index % CHIPS.len()];
        let mut spec = spec(chip, "1024", "f16", ["row", "col"], "");
        spec.plan.tile.block = block.into();
        let found = plans(&spec).unwrap_or_else(|error| panic!("{chip} {block:?}: {error}"));
        assert!(found.schedules.is_some(), "{chip} {block:?}");
        for proposal in &found.plans {
            for (said, have) in block.into_iter().zip(proposal.plan.block) {
                assert!(said.is_none_or(|said| said == have), "{chip} {block:?}");
            }
            let lds = &proposal.plan.lds;
            let chosen = proposal.layouts.each_ref().map(|found| {
                let found = found.as_ref().expect("the places of tiles are open");
                assert_eq!(found.best.cost.conflict_cycles, 0, "{chip} {block:?}");
                &found.best.lds
            });
            assert_eq!(chosen, lds.each_ref());
        }
    }
}

/// Where the spec says who carries what, the places in LDS are searched for that copy.
#[test]
fn places_are_searched_for_copies_that_are_given() {
    let more = "[tile]\nblock = [128, 128, 64]\nwaves = [2, 2]\n[copy.a]\n\
                threads = \"(16,8):(8,1)\"\nvalues = \"(1,8):(8,1)\"\n";
    let spec = spec("gfx1201", "4096", "f16", ["row", "col"], more);
    let found = plans(&spec).unwrap();
    for proposal in &found.plans {
        let placed = proposal.layouts[0]
            .as_ref()
            .expect("the place of A is open");
        assert_eq!(placed.best.cost.conflict_cycles, 0);
        assert_eq!(
            proposal.plan.lds[0].to_string(),
            placed.best.lds.to_string()
        );
        let said = (&spec.plan.copy.a.threads, &spec.plan.copy.a.values);
        let kept = &proposal.plan.completed.plan.copy.a;
        assert_eq!((&kept.threads, &kept.values), said);
        check(&placed.usage, &placed.explanation).unwrap();
    }
}

#[test]
fn a_spec_that_says_it_all_is_not_searched() {
    for step in ["1", "3-pad", "7", "8", "tuned"] {
        let path = format!("{}/../specs/ladder/{step}.toml", env!("CARGO_MANIFEST_DIR"));
        let spec = Spec::from_file(path).unwrap();
        let found = plans(&spec).unwrap();
        assert!(
            found.schedules.is_none() && found.plans.len() == 1,
            "{step}"
        );
        let by_default = Plan::complete(&spec).unwrap().completed;
        assert_eq!(found.plans[0].plan.completed, by_default, "{step}");
        // What is completed says it all.
        assert!(plans(&by_default).unwrap().schedules.is_none(), "{step}");
        // Neither is a search where only the order of blocks is left.
        let mut open = spec.clone();
        open.plan.schedule.group_rows = None;
        let found = plans(&open).unwrap();
        let same = |it: &Plan| (it.block, it.waves, it.buffers, it.prefetch);
        let said = Plan::complete(&spec).unwrap();
        assert!(
            found.plans.iter().all(|it| same(&it.plan) == same(&said)),
            "{step}"
        );
    }
}

#[test]
fn what_leaves_nothing_is_refused() {
    let refused = |block: [Option<i64>; 3], more: &str| {
        let mut spec = spec("gfx1201", "1024", "f16", ["row", "col"], more);
        spec.plan.tile.block = block.into();
        let error = plans(&spec).unwrap_err();
        format!("{}: {}\n  {}", error.field(), error.rule(), error.help())
    };
    insta::assert_snapshot!(
        [
            refused([None, None, Some(48)], ""),
            refused([Some(4096), None, None], ""),
            refused([None, Some(16), Some(16)], "[tile]\nwaves = [1, 4]\n"),
        ]
        .join("\n")
    );
}

/// An exact K that K tiles do not divide is refused the same way however much of the tile is said.
#[test]
fn broken_k_is_refused_however_it_is_said() {
    let refused = |chip: &str, element: &str, k: i64, more: &str| {
        let mut spec = spec(chip, "512", element, ["row", "col"], more);
        spec.problem.k = k.into();
        let error = plans(&spec).expect_err(more);
        assert!(
            error.rule().contains("no multiple of"),
            "{more}: {}",
            error.rule()
        );
        error.field().to_owned()
    };
    assert_eq!(refused("gfx1201", "fp8", 8, ""), "gemm.k");
    assert_eq!(refused("gfx1100", "f16", 24, ""), "gemm.k");
    for said in [
        "block = [\"_\", \"_\", 64]",
        "block = [64, 64, 64]",
        "block = [64, 64, 64]\nwaves = [2, 2]",
        // Neither does what else cannot be go first.
        "block = [256, 256, 64]",
    ] {
        let more = format!("[tile]\n{said}\n");
        assert_eq!(refused("gfx1100", "f16", 48, &more), "tile.block");
        let all = "[lds]\na = \"none\"\nb = \"none\"\nbuffers = 1\n[schedule]\nprefetch = \
                   \"burst\"\ngroup_rows = 1\n";
        assert_eq!(refused("gfx1100", "f16", 48, &(more + all)), "tile.block");
    }
}

/// Of a block that is said whole what is open is searched: two tiles of this one do not fit.
#[test]
fn buffers_of_a_given_block_are_searched() {
    let more = "[tile]\nblock = [64, 112, 96]\n[schedule]\ngroup_rows = 1\ncadence = 3\n";
    let mut spec = spec("gfx1100", "960", "bf16", ["row", "col"], more);
    spec.problem.m = 3.into();
    let found = plans(&spec).unwrap();
    assert!(found.schedules.is_some());
    for proposal in &found.plans {
        assert_eq!(proposal.plan.buffers, 1);
        assert_eq!(proposal.plan.prefetch, Prefetch::Interleaved);
        assert_eq!(proposal.plan.schedule.cadence, 3);
    }
}

/// What a spec says of loads, copies and places holds of all that is proposed: kernels that cannot
/// have it are left out, and do not end the search.
#[test]
fn what_is_said_of_accesses_holds_of_what_is_found() {
    let threads = "[copy.a]\nthreads = \"(16,8):(8,1)\"\nvalues = \"(8,8):(8,1)\"\n";
    let thirds = "[copy.a]\nthreads = \"(32,8):(8,1)\"\nvalues = \"(3,8):(8,1)\"\n";
    let load = "[atoms]\nload = \"buffer_load_b128\"\n";
    let xor = "[lds]\na = \"xor\"\nb = \"xor\"\n";
    let block = "[tile]\nblock = [96, 144, 16]\n";
    for (chip, k, element, more) in [
        ("gfx1201", "4080", "fp8", load),
        ("gfx1201", "240", "bf8", xor),
        ("gfx1100", "4096", "f16", block),
        ("gfx1201", "1024", "f16", threads),
        ("gfx1100", "4096", "f16", thirds),
    ] {
        let found = plans(&spec(chip, k, element, ["row", "col"], more)).unwrap();
        assert!(found.schedules.is_some(), "{more}");
        let finalists = found
            .schedules
            .as_ref()
            .map_or(0, |found| found.finalists.len());
        assert_eq!(
            found.plans.len(),
            finalists,
            "{more}: all of them can be built"
        );
    }
}

/// Tiles whose lines the problem has too far apart are left out where others are not, and only
/// lines count that a tile has.
#[test]
fn tiles_are_within_reach() {
    let open = |m: i64, n: i64, order: &str| {
        let text = format!(
            "arch = \"gfx1201\"\n[gemm]\nm = {m}\nn = {n}\nk = 64\n\
             a = {{ type = \"f16\", layout = \"{order}\" }}\n\
             b = {{ type = \"f16\", layout = \"col\" }}\n\
             c = {{ type = \"f16\", layout = \"{order}\" }}\naccumulate = \"f32\"\n"
        );
        Spec::from_toml("tall.toml", text).unwrap()
    };
    for (m, n, order) in [
        (5_000_000, 64, "col"),
        (60_000_000, 64, "col"),
        (64, 60_000_000, "row"),
    ] {
        let found = plans(&open(m, n, order)).unwrap();
        assert!(!found.plans.is_empty() && found.schedules.is_some());
        for proposal in &found.plans {
            let plan = &proposal.plan;
            let apart = match order {
                "col" => [m, 64, m],
                _ => [64, 64, n],
            };
            for (operand, apart) in apart.into_iter().enumerate() {
                assert!(
                    apart <= plan.most_apart(operand),
                    "{m} {n}: {:?}",
                    plan.block
                );
            }
        }
    }
    // All 16 lines of the smallest tile, less what the last of them does not go beyond.
    let most = ((1 << 30) - 16) / 15;
    assert!(plans(&open(most, 16, "col")).is_ok());
    for (spec, field, operand) in [
        (open(most + 1, 16, "col"), "gemm.m", "of A"),
        (open(16, most + 1, "row"), "gemm.n", "of C"),
    ] {
        let error = plans(&spec).unwrap_err();
        assert_eq!(error.field(), field);
        assert!(error.rule().contains(operand), "{error}");
        assert!(error.help().contains(&most.to_string()), "{error:?}");
    }
    // A block that is said is refused alone.
    let mut said = open(60_000_000, 64, "col");
    said.plan.tile.block = [Some(64), Some(32), None].into();
    assert_eq!(plans(&said).unwrap_err().field(), "gemm.m");
}

/// Whatever is compiled to decide differs in more than the order of blocks.
#[test]
fn finalists_differ_in_their_code() {
    for chip in CHIPS {
        for more in ["", "[tile]\nblock = [128, 128, 32]\nwaves = [2, 2]\n"] {
            let found = plans(&spec(chip, "4096", "f16", ["row", "col"], more)).unwrap();
            let finalists = found.schedules.unwrap().finalists;
            assert_eq!(finalists.len(), schedules::FINALISTS, "{chip} {more}");
            let codes: BTreeSet<Choices> = finalists
                .iter()
                .map(|it| Choices {
                    group_rows: 1,
                    ..it.choices
                })
                .collect();
            assert_eq!(codes.len(), finalists.len(), "{chip} {more}: {finalists:?}");
            if more.is_empty() {
                let shapes: BTreeSet<_> = finalists
                    .iter()
                    .map(|it| (it.choices.block, it.choices.waves))
                    .collect();
                assert_eq!(shapes.len(), 2, "{chip}: {finalists:?}");
            }
        }
    }
}

/// Tiles that reach over the edges are proposed, and pay for it.
#[test]
fn ragged_tiles_are_weighed_by_what_they_compute() {
    let open = |load: &str, extents: &str| {
        let more = format!("[atoms]\nload = \"{load}\"\n");
        spec("gfx1201", extents, "f16", ["row", "col"], &more)
    };
    let bounded = open("buffer_load_b128", "1056");
    let found = plans(&bounded).unwrap();
    for proposal in &found.plans {
        let (figures, block) = (proposal.figures.unwrap(), proposal.plan.block);
        let reached = |tile: i64| ((1056 + tile - 1) / tile * tile) as f64 / 1056.0;
        assert_eq!(figures.waste, reached(block[0]) * reached(block[1]));
    }
    // Extents below the smallest tile.
    let found = plans(&spec("gfx1100", "16", "f16", ["row", "col"], "")).unwrap();
    assert!(found.schedules.is_some());
    // The model pays for whole tiles: at 4096, 96 columns do 1.03 times the work.
    let spec = open("buffer_load_b128", "4096");
    let plan = Plan::complete(&spec).unwrap();
    let open = self::open(&plan);
    let with = |n: i64| Choices {
        block: [128, n, 64],
        waves: [2, 2],
        prefetch: Prefetch::Interleaved,
        ahead: 4,
        group_rows: 8,
        ..Choices::default()
    };
    let ragged = schedules::weigh(&open, &with(96)).unwrap();
    let divided = schedules::weigh(&open, &with(128)).unwrap();
    assert_eq!((ragged.waste, divided.waste), (43.0 * 96.0 / 4096.0, 1.0));
    assert!(ragged.instructions() > ragged.instructions_per_mma);
}

/// Where an atom of two instructions is to be had it is taken, unless the tile is too shallow or
/// the spec says another; its fragments are read by 128 bits and stored by 128 bits as they were
/// loaded.
#[test]
fn fragments_are_widened() {
    let searched = |element: &str, depth: Option<i64>, more: &str| {
        let mut spec = spec("gfx1201", "4096", element, ["row", "col"], more);
        spec.plan.tile.block = [None, None, depth].into();
        plans(&spec).unwrap()
    };
    for element in ["fp8", "bf8"] {
        for depth in [None, Some(32), Some(64), Some(128)] {
            let found = searched(element, depth, "");
            for proposal in &found.plans {
                let what = format!("{element} {depth:?}: {:?}", Choices::of(&proposal.plan));
                assert_eq!(proposal.plan.atom.instructions, 2, "{what}");
                let step = proposal.chain.iter().find(|step| step.choice == "slice=32");
                assert_eq!(step.unwrap().rule, "widen-fragments", "{what}");
                for found in proposal.layouts.iter().flatten() {
                    let best = &found.best;
                    assert_eq!((best.read_bits, best.write_bits), (128, 128), "{what}");
                    assert_eq!(best.cost.conflict_cycles, 0, "{what}");
                    assert_eq!(best.stores, best.values, "{what}");
                }
            }
        }
        let single = format!("wmma.f32.16x16x16.{element}");
        let named = format!("[atoms]\nmma = \"{single}\"\n");
        for (depth, more) in [(Some(16), ""), (Some(64), named.as_str())] {
            for proposal in searched(element, depth, more).plans {
                assert_eq!(proposal.plan.atom.name, single, "{depth:?}");
            }
        }
    }
}
