//! Rules: what they reach, what refuses their steps, and what can be built.

use super::{filled, open, spec};
use std::collections::{BTreeMap, BTreeSet};
use tilefold_dialect::{
    atoms::MmaAtom,
    element::ElementType,
    plan::LdsLayout,
    problem::{Extent, Operand, OperandLayout},
};
use tilefold_machine::Machine;
use tilefold_passes::{
    Plan,
    search::{
        plans,
        schedules::{self, Choices, Kind, Leaf, Open, Reason, rules},
    },
};

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
        for (k, far_apart, place) in [
            (Extent::Any, false, None),
            (Extent::Exact(48), false, None),
            (Extent::Any, true, None),
            (Extent::Any, false, Some(LdsLayout::Xor)),
        ] {
            let mut problem = spec.problem.clone();
            (problem.k, problem.accumulate) = (k, sum);
            if far_apart {
                // Lines of A are along K of a tile, of B along N and of C along M.
                problem.a = Operand::new(problem.a.element, OperandLayout::Col).with_ld(1 << 24);
                problem.b = problem.b.with_ld(1 << 24);
                problem.c = Operand::new(problem.c.element, OperandLayout::Row).with_ld(1 << 23);
            }
            let atoms = MmaAtom::of_types(chip, problem.a.element, sum).collect();
            let mut open = Open::new(Machine::by_name(chip).unwrap(), &problem, atoms);
            open.said[0].place = place;
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

/// A place that is given takes its padding and gaps along: what a kernel is said to need of LDS is
/// what its plan has, and no kernel is taken for which there is no room.
#[test]
fn given_places_are_counted_as_they_lie() {
    for (chip, element, block, places) in [
        ("gfx1201", "f16", "", ["\"pad(8)\"", "\"pad(8)\""]),
        ("gfx1100", "f16", "", ["\"pad(64)\"", "\"pad(64)\""]),
        ("gfx1201", "fp8", "", ["\"pad(3)\"", "\"none\""]),
        ("gfx1201", "f16", "", ["\"(128,64):(72,1)\"", "\"pad(8)\""]),
        // Open, where all of LDS would be just enough without the padding.
        (
            "gfx1201",
            "f16",
            "block = [\"_\", 128, 64]",
            ["\"pad(8)\"", "\"pad(8)\""],
        ),
        (
            "gfx1201",
            "f16",
            "block = [\"_\", \"_\", 64]",
            ["\"xor\"", "\"pad(8)\""],
        ),
    ] {
        let [a, b] = places;
        let more = format!("[tile]\n{block}\n[lds]\na = {a}\nb = {b}\nbuffers = 2\n");
        let spec = spec(chip, "4096", element, ["row", "col"], &more);
        let found = plans(&spec).unwrap_or_else(|error| panic!("{chip} {more}: {error}"));
        let search = found.schedules.unwrap();
        // Every finalist has become a plan.
        assert_eq!(search.finalists.len(), found.plans.len(), "{chip} {more}");
        assert!(
            search.refused.contains_key(&Reason::TooMuchLds),
            "{chip} {more}"
        );
        for (finalist, proposal) in search.finalists.iter().zip(&found.plans) {
            let plan = &proposal.plan;
            // Rows with what lies behind each.
            let elements: i64 = plan
                .lds
                .iter()
                .map(|place| place.inner().mode(0).unwrap().size() * place.inner().at(1))
                .sum();
            let bytes = elements * plan.buffers * i64::from(plan.input().bits()) / 8;
            assert_eq!(finalist.figures.lds_bytes, bytes, "{chip} {more}");
            assert_eq!(proposal.figures.unwrap().lds_bytes, bytes, "{chip} {more}");
        }
    }
}

/// What is expected of a kernel before its tiles have their places is what is expected of its plan:
/// of loads of less than a register too, which are put together in whatever order they come.
#[test]
fn a_plan_is_expected_to_be_what_its_choices_were() {
    for (chip, element, extents, orders) in [
        ("gfx1201", "f16", "4095", ["row", "row"]),
        ("gfx1100", "bf16", "4095", ["col", "row"]),
        ("gfx1201", "fp8", "4095", ["col", "row"]),
        ("gfx1201", "fp8", "4098", ["col", "row"]),
        ("gfx1201", "f16", "4096", ["col", "row"]),
    ] {
        let mut spec = spec(chip, extents, element, orders, "");
        spec.problem.k = Extent::Exact(4096);
        let found = plans(&spec).unwrap();
        let finalists = found.schedules.unwrap().finalists;
        assert_eq!(finalists.len(), found.plans.len());
        for (finalist, proposal) in finalists.iter().zip(&found.plans) {
            let (choices, plan) = (finalist.figures, proposal.figures.unwrap());
            println!("{chip} {element} {extents} {orders:?}: {choices:?}, {plan:?}");
            let factor = plan.instructions_per_mma / choices.instructions_per_mma;
            assert!((0.99..1.01).contains(&factor), "{chip} {element}: {factor}");
        }
    }
}
