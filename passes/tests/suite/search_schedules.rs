//! The search over tiles, waves and schedules: its judgement, its chains and its answers.

use std::collections::{BTreeMap, BTreeSet};
use tilefold_dialect::{
    atoms::MmaAtom,
    element::ElementType,
    plan::{LdsLayout, Prefetch},
    problem::Extent,
    spec::Spec,
};
use tilefold_machine::Machine;
use tilefold_passes::{
    Plan,
    search::{
        Search,
        layouts::check,
        plans, plans_without,
        schedules::{self, Choices, Kind, Leaf, Limits, Open, Reason, rules},
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

/// The values of each choice, least first.
fn values() -> BTreeMap<Kind, Vec<Leaf>> {
    let mut values: BTreeMap<Kind, BTreeSet<Leaf>> = BTreeMap::new();
    for rule in rules() {
        let of = values.entry(rule.to.kind()).or_default();
        of.extend([rule.from, rule.to]);
    }
    let sorted = |(kind, values): (Kind, BTreeSet<Leaf>)| (kind, values.into_iter().collect());
    values.into_iter().map(sorted).collect()
}

/// So many combinations of choices, small values more often than large ones; every other one in the
/// plain order.
fn some(count: usize, mut visit: impl FnMut(&Choices)) {
    let values = values();
    let mut state = 1_u64;
    const ORDER: [Kind; 5] = [
        Kind::Cadence,
        Kind::Ahead,
        Kind::Lead,
        Kind::Commit,
        Kind::Priority,
    ];
    for sample in 0..count {
        let mut choices = Choices::default();
        for (kind, values) in &values {
            if sample % 2 == 0 && ORDER.contains(kind) {
                continue;
            }
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005);
                state = state.wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % values.len()
            };
            let (one, other) = (next(), next());
            choices = choices.with(values[one.min(other)]);
        }
        visit(&choices);
    }
}

#[test]
fn rules_are_steps_from_the_least_value() {
    let mut reached: BTreeMap<Kind, BTreeSet<Leaf>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for rule in rules() {
        assert!(names.insert(rule.rewrite_name()), "{rule:?}");
        let kind = rule.from.kind();
        assert_eq!(kind, rule.to.kind(), "{rule:?}");
        assert!(rule.from < rule.to, "{rule:?}");
        assert_eq!(rule.to.to_string().parse(), Ok(rule.to));
        let of = reached.entry(kind).or_insert_with(|| {
            let least = Choices::default().get(kind);
            BTreeSet::from([least])
        });
        assert!(of.contains(&rule.from) && of.insert(rule.to), "{rule:?}");
        assert!(!rule.equation.is_empty());
    }
    assert_eq!(reached.len(), Kind::ALL.len(), "every choice has rules");
}

/// Where a rule leads from what can be built to what cannot, its side condition has the reason;
/// and every reason of a side condition comes up somewhere.
#[test]
fn side_conditions_are_what_refuses_a_step() {
    let mut met: BTreeMap<(&str, Reason), Choices> = BTreeMap::new();
    for (chip, element, sum) in [
        ("gfx1100", "f16", "f32"),
        ("gfx1100", "f16", "f16"),
        ("gfx1151", "f16", "f32"),
        ("gfx1201", "f16", "f32"),
        ("gfx1201", "fp8", "f32"),
    ] {
        let spec = spec(chip, "\"any\"", element, ["row", "col"], "");
        let sum: ElementType = sum.parse().unwrap();
        for k in [Extent::Any, Extent::Exact(48)] {
            let mut problem = spec.problem.clone();
            (problem.k, problem.accumulate) = (k, sum);
            let atoms = MmaAtom::of_types(chip, problem.a.element, sum).collect();
            let open = Open::new(Machine::by_name(chip).unwrap(), &problem, atoms);
            some(200_000, |choices| {
                if schedules::weigh(&open, choices).is_err() {
                    return;
                }
                for rule in rules().filter(|rule| choices.get(rule.from.kind()) == rule.from) {
                    let after = choices.with(rule.to);
                    if let Err(reason) = schedules::weigh(&open, &after) {
                        met.entry((rule.name, reason)).or_insert(*choices);
                    }
                }
            });
        }
    }
    let all = rules().flat_map(|rule| rule.conditions.iter().map(move |it| (rule.name, *it)));
    let stated: BTreeSet<_> = all.collect();
    let unstated: Vec<_> = met.iter().filter(|it| !stated.contains(it.0)).collect();
    assert!(unstated.is_empty(), "{unstated:#?}");
    let idle: Vec<_> = stated.iter().filter(|it| !met.contains_key(it)).collect();
    assert!(idle.is_empty(), "never refused for: {idle:#?}");
}

/// What is called buildable completes as a plan with the very same choices.
#[test]
fn buildable_choices_complete() {
    for (chip, element, orders) in [
        ("gfx1100", "f16", ["row", "col"]),
        ("gfx1151", "bf16", ["col", "row"]),
        ("gfx1201", "f16", ["row", "row"]),
        ("gfx1201", "bf16", ["col", "col"]),
        ("gfx1201", "fp8", ["row", "col"]),
        ("gfx1201", "bf8", ["col", "row"]),
    ] {
        let spec = spec(chip, "\"any\"", element, orders, "");
        let plan = Plan::complete(&spec).unwrap();
        let open = open(&plan);
        let mut completed = 0;
        some(100_000, |choices| {
            if let Ok(figures) = schedules::weigh(&open, choices) {
                let plan = Plan::complete(&filled(&spec, choices))
                    .unwrap_or_else(|error| panic!("{choices:?}: {error}"));
                assert_eq!(plan.block, choices.block);
                assert_eq!(plan.atom.shape[2], choices.slice);
                assert!(figures.instructions_per_mma.is_finite());
                completed += 1;
            }
        });
        println!("{chip} {element} {orders:?}: {completed} plans completed");
        assert!(completed >= 20, "{completed}");
    }
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

/// The limit on combinations is what stops the search: with the best so far, and always the same.
#[test]
fn a_limit_stops_the_search_with_the_best_so_far() {
    let plan = Plan::complete(&spec("gfx1201", "4096", "f16", ["row", "col"], "")).unwrap();
    let open = open(&plan);
    let within = |combinations| {
        let limits = Limits {
            combinations,
            ..Limits::default()
        };
        schedules::search_within(&open, &limits).unwrap()
    };
    let whole = schedules::search(&open).unwrap();
    assert!(whole.complete);
    let all = whole.weighed + whole.refused.values().sum::<usize>();
    let seen = |search: &schedules::ScheduleSearch| {
        search.weighed + search.refused.values().sum::<usize>()
    };
    let mut before = 0;
    for combinations in [0, 20_000, 80_000] {
        let stopped = within(combinations);
        assert!(!stopped.complete && !stopped.finalists.is_empty());
        assert_eq!(stopped.finalists, within(combinations).finalists);
        assert!((before..all).contains(&seen(&stopped)), "{combinations}");
        before = seen(&stopped) + 1;
        let best = |search: &schedules::ScheduleSearch| search.finalists[0].figures.instructions();
        println!(
            "{combinations}: {} seen, {:.3}",
            seen(&stopped),
            best(&stopped)
        );
    }
    // As much as there is, and no more.
    let enough = within(all);
    assert!(enough.complete);
    assert_eq!(enough.finalists, whole.finalists);
}

/// Of kernels with more registers to spare are all that are asked for, and of too many none.
#[test]
fn registers_to_spare_are_kept() {
    let spec = spec("gfx1201", "4096", "f16", ["row", "col"], "");
    let search = Search::new(&spec, &[]);
    for spare_vgprs in [0, 17, 60, 300] {
        let limits = Limits {
            spare_vgprs,
            ..Limits::default()
        };
        let found = search.plans(&limits).unwrap();
        assert_eq!(found.plans.is_empty(), spare_vgprs == 300);
        for proposal in &found.plans {
            assert!(proposal.figures.unwrap().spare_vgprs >= spare_vgprs);
        }
    }
}

/// Searches that follow the first one look at no more than what lies near their own best kernels,
/// and at nothing where the first one has used up what all of them have.
#[test]
fn searches_of_a_spec_share_their_limit() {
    let spec = spec("gfx1201", "4096", "fp8", ["col", "row"], "");
    let searches = |combinations| {
        let search = Search::new(&spec, &[]);
        [0, 20].map(|spare_vgprs| {
            let limits = Limits {
                spare_vgprs,
                combinations,
                ..Limits::default()
            };
            search.plans(&limits).unwrap().schedules.unwrap()
        })
    };
    let [first, second] = searches(Limits::default().combinations);
    println!("{} and {} combinations", first.tried, second.tried);
    assert!(first.complete && second.complete);
    assert!(first.tried > 100_000 && second.tried * 5 < first.tried);
    // What a search of its own finds.
    let alone = Limits {
        spare_vgprs: 20,
        ..Limits::default()
    };
    let alone = Search::new(&spec, &[]).plans(&alone).unwrap().schedules;
    assert_eq!(alone.unwrap().finalists, second.finalists);
    let few = 10_000;
    let [first, second] = searches(few);
    assert!(!first.complete && !second.complete);
    assert!(first.tried <= few && second.tried == 0);
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

/// The model's microseconds of step 2 of the published ladder.
fn step_2(chip: &str, spec: &Spec) -> f64 {
    let plan = Plan::complete(spec).unwrap();
    assert_eq!(plan.machine.name, chip);
    let choices = Choices {
        block: [256, 256, 16],
        waves: [4, 4],
        buffers: 2,
        prefetch: Prefetch::Burst,
        ..Choices::default()
    };
    schedules::weigh(&open(&plan), &choices)
        .unwrap()
        .modelled_us
}

/// Step 2's problem, left open or with its own tile.
fn ladder_2(chip: &str) -> Spec {
    let text = include_str!("../../../specs/ladder/2.toml");
    let mut spec = Spec::from_toml("2.toml", text).unwrap();
    spec.arch = chip.into();
    spec.plan = Default::default();
    spec
}

#[test]
fn searched_plans_cost_half_of_step_2() {
    for chip in CHIPS {
        let spec = ladder_2(chip);
        let before = step_2(chip, &spec);
        let found = plans(&spec).unwrap();
        let costs: Vec<f64> = found
            .plans
            .iter()
            .map(|plan| plan.figures.unwrap().modelled_us)
            .collect();
        println!("{chip}: step 2 {before:.0} us, searched {costs:.0?} us (modelled)");
        assert!(costs.iter().all(|cost| *cost <= before / 2.0), "{chip}");
    }
}

fn modelled(chip: &str, without: &[&str]) -> f64 {
    let found = plans_without(&ladder_2(chip), without).unwrap();
    let costs = found
        .plans
        .iter()
        .map(|plan| plan.figures.unwrap().modelled_us);
    costs.fold(f64::INFINITY, f64::min)
}

fn costs_more_without(family: &str) {
    for chip in CHIPS {
        let (with, without) = (
            modelled(chip, &["layouts"]),
            modelled(chip, &["layouts", family]),
        );
        println!("{chip}: {with:.0} us, without {family} {without:.0} us (modelled)");
        assert!(without > 1.05 * with, "{chip}: {with} and {without}");
    }
}

#[test]
fn without_prefetch_the_model_expects_more_time() {
    costs_more_without("prefetch");
}

#[test]
fn without_deeper_k_the_model_expects_more_time() {
    costs_more_without("deepen-k");
}

#[test]
fn finalists_are_the_same_from_any_thread() {
    let spec = spec("gfx1201", "1024", "bf16", ["row", "col"], "");
    let found = || {
        let found = plans(&spec).unwrap();
        let plans: Vec<_> = found
            .plans
            .iter()
            .map(|proposal| {
                (
                    format!("{:?}", proposal.plan.completed.plan),
                    proposal.chain.clone(),
                )
            })
            .collect();
        (plans, found.schedules.unwrap().finalists)
    };
    let first = found();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(found)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), first);
        }
    });
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
