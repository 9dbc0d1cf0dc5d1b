//! The search over tiles, waves and schedules: its judgement, its chains and its answers.

use std::collections::{BTreeMap, BTreeSet};
use tilefold_dialect::{plan::Prefetch, spec::Spec};
use tilefold_passes::{
    Plan,
    search::{
        plans, plans_without,
        schedules::{self, Kind, Leaf, Open, rules},
    },
};

const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

type Choices = BTreeMap<Kind, i64>;

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
    Open {
        machine: plan.machine,
        problem: &plan.problem,
        atom: plan.atom,
        fixed: BTreeMap::new(),
        without: &[],
    }
}

/// The spec with all choices written into it.
fn filled(spec: &Spec, choices: &Choices) -> Spec {
    let mut spec = spec.clone();
    let plan = &mut spec.plan;
    plan.tile.block = Some([Kind::M, Kind::N, Kind::K].map(|kind| choices[&kind]));
    plan.tile.waves = Some([Kind::WavesM, Kind::WavesN].map(|kind| choices[&kind]));
    plan.lds.buffers = Some(choices[&Kind::Buffers]);
    plan.lds.a = Some(tilefold_dialect::plan::LdsLayout::None);
    plan.lds.b = plan.lds.a.clone();
    plan.schedule.group_rows = Some(choices[&Kind::Group]);
    plan.schedule.prefetch = Some(match choices[&Kind::Prefetch] {
        0 => Prefetch::None,
        1 => Prefetch::Burst,
        _ => Prefetch::Interleaved,
    });
    if choices[&Kind::Prefetch] == 2 {
        plan.schedule.ahead = Some(choices[&Kind::Ahead]);
    }
    spec
}

/// The values of each choice, least first.
fn values() -> BTreeMap<Kind, Vec<i64>> {
    let mut values: BTreeMap<Kind, BTreeSet<i64>> = BTreeMap::new();
    for rule in rules() {
        values
            .entry(rule.to.kind)
            .or_default()
            .extend([rule.from.value, rule.to.value]);
    }
    let sorted = |(kind, values): (Kind, BTreeSet<i64>)| (kind, values.into_iter().collect());
    values.into_iter().map(sorted).collect()
}

/// Every `step`-th combination of choices.
fn every(step: usize, mut visit: impl FnMut(&Choices)) {
    let values = values();
    let count: usize = values.values().map(Vec::len).product();
    for index in (0..count).step_by(step) {
        let mut rest = index;
        let mut choices = Choices::new();
        for (kind, values) in &values {
            choices.insert(*kind, values[rest % values.len()]);
            rest /= values.len();
        }
        visit(&choices);
    }
}

#[test]
fn rules_are_steps_from_the_least_value() {
    let mut reached: BTreeMap<Kind, i64> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for rule in rules() {
        assert!(names.insert(rule.rewrite_name()), "{rule:?}");
        assert_eq!(rule.from.kind, rule.to.kind, "{rule:?}");
        assert!(rule.from.value < rule.to.value, "{rule:?}");
        let kind = rule.from.kind;
        let before = reached.insert(kind, rule.to.value);
        assert_eq!(before.unwrap_or(kind.least()), rule.from.value, "{rule:?}");
        assert!(!rule.equation.is_empty() && !rule.condition.is_empty());
    }
    assert_eq!(reached.len(), Kind::ALL.len(), "every choice has rules");
}

/// What a rule's condition must speak of where a combination is refused for a reason.
fn named(reason: &str) -> &'static str {
    match reason {
        "no whole atoms for every wave" => "whole atoms per wave",
        "reads ahead without interleaving" => "interleaved",
        "more waves than a workgroup has" => "waves of a workgroup",
        "more LDS than a workgroup has" => "LDS",
        "threads that cannot share a tile in 128-bit pieces" => "threads",
        "more registers than a wave has" => "registers",
        "fragments read farther ahead than a K slice" => "instructions",
        other => panic!("an unknown refusal: {other}"),
    }
}

/// Where a rule leads from what can be built to what cannot, its condition names the reason.
#[test]
fn refusals_are_those_that_conditions_name() {
    for chip in CHIPS {
        let plan = Plan::complete(&spec(chip, "\"any\"", "f16", ["row", "col"], "")).unwrap();
        let open = open(&plan);
        let mut met: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        every(211, |choices| {
            if schedules::weigh(&open, choices).is_err() {
                return;
            }
            for rule in rules().filter(|rule| choices[&rule.from.kind] == rule.from.value) {
                let mut after = choices.clone();
                after.insert(rule.to.kind, rule.to.value);
                if let Err(reason) = schedules::weigh(&open, &after) {
                    assert!(
                        rule.condition.contains(named(reason)),
                        "{}: {reason}, not in: {} ({choices:?})",
                        rule.rewrite_name(),
                        rule.condition
                    );
                    *met.entry((rule.name, reason)).or_default() += 1;
                }
            }
        });
        println!("{chip}: {met:#?}");
        assert!(met.len() >= 12, "{chip}: {met:?}");
    }
}

/// What is called buildable completes as a plan with the very same choices.
#[test]
fn buildable_choices_complete() {
    for (chip, element, orders) in [
        ("gfx1100", "f16", ["row", "col"]),
        ("gfx1151", "bf16", ["col", "row"]),
        ("gfx1201", "f16", ["row", "row"]),
        ("gfx1201", "bf16", ["col", "col"]),
    ] {
        let spec = spec(chip, "\"any\"", element, orders, "");
        let plan = Plan::complete(&spec).unwrap();
        let open = open(&plan);
        let mut completed = 0;
        every(199, |choices| {
            if let Ok(figures) = schedules::weigh(&open, choices) {
                let plan = Plan::complete(&filled(&spec, choices))
                    .unwrap_or_else(|error| panic!("{choices:?}: {error}"));
                assert_eq!(plan.block[2], choices[&Kind::K]);
                assert_eq!(plan.load_elements, [8, 8], "{choices:?}: 128 bits");
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
                let mut choices: Choices = Kind::ALL.map(|kind| (kind, kind.least())).into();
                if !more.is_empty() {
                    choices.extend([(Kind::Buffers, 2), (Kind::Prefetch, 2)]);
                }
                for step in &proposal.chain {
                    let leaf: Leaf = step.choice.parse().unwrap();
                    let before = choices.insert(leaf.kind, leaf.value).unwrap();
                    assert!(
                        rules().any(|rule| {
                            rule.name == step.rule && rule.to == leaf && rule.from.value == before
                        }),
                        "{step:?} from {before}"
                    );
                }
                assert_eq!(choices, finalist.choices, "{chip}");
                let plan = &proposal.plan;
                let block = [Kind::M, Kind::N, Kind::K].map(|kind| choices[&kind]);
                assert_eq!(plan.block, block, "{chip}");
                assert_eq!(plan.buffers, choices[&Kind::Buffers], "{chip}");
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

/// The model's microseconds of step 2 of the published ladder.
fn step_2(chip: &str, spec: &Spec) -> f64 {
    let plan = Plan::complete(spec).unwrap();
    assert_eq!(plan.machine.name, chip);
    let choices: Choices = [
        (Kind::M, 256),
        (Kind::N, 256),
        (Kind::K, 16),
        (Kind::WavesM, 4),
        (Kind::WavesN, 4),
        (Kind::Buffers, 2),
        (Kind::Prefetch, 1),
        (Kind::Ahead, 1),
        (Kind::Group, 1),
    ]
    .into();
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
