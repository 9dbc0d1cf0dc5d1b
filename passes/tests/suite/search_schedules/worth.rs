//! What searched plans and single rules are worth to the model.

use super::{CHIPS, open};
use tilefold_dialect::{plan::Prefetch, spec::Spec};
use tilefold_passes::{
    Plan,
    search::{
        plans, plans_without,
        schedules::{self, Choices},
    },
};

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
    let text = include_str!("../../../../specs/ladder/2.toml");
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
