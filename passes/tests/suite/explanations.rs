//! Every step of every explanation, evaluated on both sides over its whole domain.
//!
//! What a kernel computes is written down in [`sums`] a second time: two choices are equal where it
//! gives the same sums for every element of C.

mod sums;

use crate::search_layouts::meaning;
use egg::{Language, RecExpr};
use std::{collections::HashSet, path::Path};
use sums::same_sums;
use tilefold_dialect::{atoms::MmaAtom, spec::Spec};
use tilefold_passes::search::{
    Proposal,
    layouts::{LayoutSearch, Rule, check, language::Term},
    plans,
    schedules::{Choices, Leaf, rules},
};

/// Steps that were evaluated before: many chains share some.
type Known = HashSet<(&'static str, Choices, Choices)>;

fn schedule_steps(proposal: &Proposal, start: Choices, known: &mut Known) -> usize {
    let mut choices = start;
    for step in &proposal.chain {
        let leaf: Leaf = step.choice.parse().unwrap();
        let next = choices.with(leaf);
        let used = |rule: &tilefold_passes::search::schedules::Rule| {
            let ends = [rule.from, rule.to];
            rule.name == step.rule
                && ends.contains(&choices.get(leaf.kind()))
                && ends.contains(&leaf)
        };
        assert!(rules().any(|rule| used(&rule)), "{step:?} from {choices:?}");
        let atom = proposal.plan.atom;
        if known.insert((atom.c_layout, choices, next)) {
            same_sums(atom, &choices, &next);
        }
        choices = next;
    }
    assert_eq!(choices, Choices::of(&proposal.plan));
    proposal.chain.len()
}

/// The parts of two terms on the way down to where they differ.
fn parts(from: &RecExpr<Term>, to: &RecExpr<Term>) -> Vec<[RecExpr<Term>; 2]> {
    let mut found = vec![[from.clone(), to.clone()]];
    loop {
        let [from, to] = &found[found.len() - 1];
        let (a, b) = (&from[from.root()], &to[to.root()]);
        if !a.matches(b) {
            return found;
        }
        let part = |term: &RecExpr<Term>, id: &egg::Id| {
            term[*id].clone().build_recexpr(|id| term[id].clone())
        };
        let children = a.children().iter().zip(b.children());
        let mut unequal = children
            .map(|(a, b)| [part(from, a), part(to, b)])
            .filter(|[a, b]| a.to_string() != b.to_string());
        match (unequal.next(), unequal.next()) {
            (Some(only), None) => found.push(only),
            _ => return found,
        }
    }
}

fn layout_steps(found: &LayoutSearch) -> usize {
    let (usage, steps) = (&found.usage, &found.explanation);
    check(usage, steps).unwrap();
    assert_eq!(steps.last().unwrap().term, found.best.term);
    let load = found.best.load_bits / i64::from(usage.element.bits());
    for pair in steps.windows(2) {
        let rule = Rule::by_name(pair[1].rule.unwrap()).unwrap();
        let [from, to] = [0, 1].map(|side| pair[side].term.parse::<RecExpr<Term>>().unwrap());
        // The part that the rule's left side stands for.
        let head = rule.left.trim_start_matches('(').split(' ').next().unwrap();
        let left = usize::from(pair[1].backwards);
        let parts = parts(&from, &to);
        let part = parts.iter().rev().find(|sides| {
            let side = &sides[left];
            side[side.root()].to_string() == head
        });
        let [from, to] = part.unwrap_or_else(|| panic!("{}: {from} to {to}", rule.name));
        assert!(
            meaning::equal(usage, load, from, to),
            "{}: {from} = {to}",
            rule.name
        );
    }
    steps.len() - 1
}

/// Checks all explanations of what is proposed for a spec; steps of schedules and of layouts.
fn checked(what: &str, spec: &Spec, known: &mut Known) -> [usize; 2] {
    let found = plans(spec).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut steps = [0; 2];
    let fixed = |choices: Choices| {
        // What the spec says is where the chain starts.
        let mut start = Choices::default();
        let (tile, schedule) = (&spec.plan.tile, &spec.plan.schedule);
        for axis in 0..3 {
            start.block[axis] = tile.block.0[axis].unwrap_or(start.block[axis]);
        }
        start.waves = tile.waves.unwrap_or(start.waves);
        let atoms = &spec.plan.atoms;
        let named = atoms
            .mma
            .as_ref()
            .and_then(|name| MmaAtom::by_name(&spec.arch, name));
        start.slice = named.map_or(start.slice, |atom| atom.shape[2]);
        start.buffers = spec.plan.lds.buffers.unwrap_or(start.buffers);
        start.prefetch = schedule.prefetch.unwrap_or(start.prefetch);
        start.cadence = schedule.cadence.unwrap_or(start.cadence);
        start.ahead = schedule.ahead.unwrap_or(start.ahead);
        start.lead = schedule.lead.unwrap_or(start.lead);
        start.commit = schedule.commit.unwrap_or(start.commit);
        start.priority = schedule.priority.unwrap_or(start.priority);
        start.group_rows = schedule.group_rows.unwrap_or(start.group_rows);
        if found.schedules.is_none() {
            choices
        } else {
            start
        }
    };
    let mut seen: Vec<&LayoutSearch> = Vec::new();
    for proposal in &found.plans {
        steps[0] += schedule_steps(proposal, fixed(Choices::of(&proposal.plan)), known);
        for layout in proposal.layouts.iter().flatten() {
            if !seen.contains(&layout) {
                seen.push(layout);
                steps[1] += layout_steps(layout);
            }
        }
    }
    steps
}

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            found.push(path);
        }
    }
}

/// Every file in `specs/`, as it stands; and what it multiplies with all of its plan open.
#[test]
fn explanations_of_every_spec_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    assert!(paths.len() >= 11);
    let (mut problems, mut known) = (Vec::new(), Known::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let spec = Spec::from_toml("spec.toml", text).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let steps = checked(&name, &spec, &mut known);
        let mut open = spec.clone();
        open.plan = Default::default();
        if !problems.contains(&open.problem) {
            problems.push(open.problem.clone());
            let [schedule, layouts] = checked(&name, &open, &mut known);
            assert!(
                schedule >= 10 && layouts >= 2,
                "{name}: {schedule} {layouts}"
            );
        }
        println!("{name}: {steps:?} steps as it stands");
    }
}

/// Searched plans of every chip and type.
#[test]
fn explanations_of_searched_plans_hold() {
    let (mut total, mut known) = ([0; 2], Known::new());
    for chip in ["gfx1100", "gfx1151", "gfx1201"] {
        for atom in MmaAtom::of_chip(chip).filter(|atom| atom.instructions == 1) {
            let (input, sum) = (atom.input, atom.accumulator);
            // Along K and across: what is across is stored in another order.
            let text = format!(
                "arch = \"{chip}\"\n[gemm]\nm = 2048\nn = 2048\nk = 2048\n\
                 a = {{ type = \"{input}\", layout = \"row\" }}\n\
                 b = {{ type = \"{input}\", layout = \"row\" }}\n\
                 c = {{ type = \"{sum}\", layout = \"col\" }}\naccumulate = \"{sum}\"\n"
            );
            let spec = Spec::from_toml("searched.toml", text).unwrap();
            let steps = checked(&format!("{chip} {}", atom.name), &spec, &mut known);
            total = [total[0] + steps[0], total[1] + steps[1]];
        }
    }
    println!("{total:?} steps of schedules and of layouts");
    assert!(total[0] > 100 && total[1] > 40, "{total:?}");
}
