//! What an open spec compiles to against every change of one of its choices.
//!
//! The large set takes minutes: `cargo test --release --test suite choices -- --ignored`.

use super::CHIPS;
use std::cmp::Ordering;
use tilefold::{
    CompileOptions, Compiled, ElementType, Gemm, OperandLayout, Plan, Prefetch, Spec, compile,
};
use tilefold_passes::search::{
    plans,
    schedules::{Choices, Kind, Leaf, MARGIN, rules},
};

use ElementType::{Bf8, Bf16, F16, F32, Fp8};
use OperandLayout::{Col, Row};

fn open(
    chip: &str,
    [input, sums]: [ElementType; 2],
    [a, b]: [OperandLayout; 2],
    extent: i64,
) -> Spec {
    let problem = Gemm::new(chip).m(extent).n(extent).k(extent);
    let spec = problem.a(input, a).b(input, b).c(sums, Col);
    spec.accumulate(sums).build().unwrap()
}

/// Values of a choice: those that rules reach, and others that a spec may say.
fn values(kind: Kind) -> Vec<Leaf> {
    let reached = rules().flat_map(|rule| [rule.from, rule.to]);
    let mut leaves: Vec<Leaf> = reached.filter(|leaf| leaf.kind() == kind).collect();
    match kind {
        Kind::Ahead => leaves.extend([47, 100, 192].map(Leaf::Ahead)),
        Kind::Cadence => leaves.extend([20, 64].map(Leaf::Cadence)),
        Kind::M => leaves.extend([288, 384].map(Leaf::M)),
        Kind::N => leaves.extend([288, 384].map(Leaf::N)),
        Kind::K => leaves.push(Leaf::K(512)),
        Kind::WavesM => leaves.extend([5, 7].map(Leaf::WavesM)),
        Kind::WavesN => leaves.extend([5, 7].map(Leaf::WavesN)),
        _ => {}
    }
    leaves.sort_unstable();
    leaves.dedup();
    leaves
}

/// Whether the model expects a kernel to take as little time as those that are compiled to decide.
fn in_time(spec: &Spec, least_us: f64) -> bool {
    let found = plans(spec).unwrap();
    let figures = found.plans.first().and_then(|plan| plan.figures);
    figures.is_some_and(|it| it.modelled_us <= least_us * (1.0 + MARGIN))
}

/// Compiles the winner of an open spec and every kernel that differs from it in one of the choices
/// of `kinds`, every `step`-th of them. None that the model expects in as little time has better
/// code.
fn none_is_better(spec: &Spec, kinds: &[Kind], step: usize) -> usize {
    let built = |spec: &Spec| compile(spec, &CompileOptions::default()).unwrap();
    let score = |compiled: &Compiled| compiled.search.scores[compiled.search.kept];
    let winner = built(spec);
    let own = Choices::of(&winner.plan);
    let proposals = winner.search.proposals.plans.iter();
    let times = proposals.filter_map(|it| Some(it.figures?.modelled_us));
    let least_us = times.fold(f64::INFINITY, f64::min);
    let (mut tried, mut equal) = (0, 0);
    let leaves = kinds.iter().flat_map(|kind| values(*kind));
    for leaf in leaves
        .filter(|leaf| own.get(leaf.kind()) != *leaf)
        .step_by(step)
    {
        let mut choices = own.with(leaf);
        if choices.prefetch != Prefetch::Interleaved {
            // The rest says how interleaved loads go.
            choices = Choices {
                cadence: 1,
                ahead: 1,
                lead: Choices::default().lead,
                commit: Choices::default().commit,
                ..choices
            };
        }
        let mut pinned = spec.clone();
        choices.fill(&mut pinned);
        let whole = spec
            .problem
            .k
            .exact()
            .is_none_or(|k| k % choices.block[2] == 0);
        if !whole || Plan::complete(&pinned).is_err() || !in_time(&pinned, least_us) {
            continue;
        }
        let other = built(&pinned);
        if Choices::of(&other.plan) != choices {
            continue;
        }
        let order = score(&other).compare(&score(&winner));
        assert!(
            order != Ordering::Less,
            "{} {:?}: {leaf} is better than {own:?}\n{:?}\n{:?}",
            spec.arch,
            spec.problem,
            score(&other),
            score(&winner),
        );
        tried += 1;
        equal += usize::from(order == Ordering::Equal);
    }
    println!("{} {own:?}: {tried} others, {equal} as good", spec.arch);
    tried
}

const ORDER: [Kind; 7] = [
    Kind::Ahead,
    Kind::Lead,
    Kind::Commit,
    Kind::Cadence,
    Kind::Priority,
    Kind::Prefetch,
    Kind::Buffers,
];

const TILE: [Kind; 5] = [Kind::M, Kind::N, Kind::K, Kind::WavesM, Kind::WavesN];

/// A few of all changes, for every chip and the types that it has.
#[test]
fn no_change_of_a_choice_is_better() {
    for (chip, types, orders, extent) in [
        ("gfx1201", [F16, F32], [Row, Col], 4096),
        ("gfx1201", [Fp8, F32], [Row, Col], 512),
        ("gfx1100", [F16, F32], [Row, Col], 4096),
        ("gfx1100", [F16, F16], [Row, Col], 4096),
        ("gfx1151", [Bf16, F32], [Row, Row], 2048),
    ] {
        let spec = open(chip, types, orders, extent);
        let tried = none_is_better(&spec, &[&ORDER[..], &TILE].concat(), 5);
        assert!(tried > 5, "{chip} {types:?}: {tried}");
    }
}

/// All of them, for more specs.
#[test]
#[ignore = "takes minutes: the documentation of this file says how"]
fn no_change_of_any_choice_is_better() {
    for chip in CHIPS {
        let mut types = vec![[F16, F32], [Bf16, F32], [F16, F16]];
        if chip == "gfx1201" {
            types.extend([[Fp8, F32], [Bf8, F32]]);
        }
        for types in types {
            for orders in [[Row, Col], [Row, Row], [Col, Row]] {
                for extent in [512, 4096] {
                    let spec = open(chip, types, orders.clone(), extent);
                    assert!(none_is_better(&spec, &Kind::ALL, 1) > 20);
                }
            }
        }
    }
}
