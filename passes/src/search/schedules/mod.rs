//! Tile, waves and schedule of an open spec, found by search.
//!
//! The published ladder is a chain of choices that a person made, from one wave with one small
//! tile to a deep, interleaved, single-buffered schedule. Here each step is a rule ([`rules`])
//! and an e-graph holds all that they reach; the cost model over the machine record and the
//! limits of registers, LDS and threads weigh the combinations, and the few best go
//! to whoever can count the instructions that they really compile to.
//!
//! A grid of tiles, waves and orders is weighed whole; the best of several tiles are then tried with
//! every other value that the rules reach of each choice, and with those of the better ones in turn.
//! What the cadence of loads, the point of commits and priorities ([`Kind::UNWEIGHED`]) are worth on
//! a device the model does not know: it counts the registers, waits and instructions that they take.

mod alternatives;
mod climb;
mod counts;
mod figures;
mod finalists;
mod grid;
mod language;
mod options;
mod reason;
mod rules;
mod weigh;
mod widths;

pub use alternatives::{Alternatives, Decided, Refusal, Why, alternatives, refusal};
pub use figures::{Figures, Weighed};
pub use finalists::FINALISTS;
pub(super) use grid::Grid;
pub use language::{Choice, Choices, Kind, Leaf};
pub use reason::Reason;
pub use rules::{Rule, rules};
pub use widths::{Said, Widths};

use super::layouts;
use crate::plan::Plan;
use egg::{EGraph, FlatTerm, RecExpr, Rewrite, Runner, SimpleScheduler};
use language::kernel;
use options::Options;
use std::{collections::BTreeMap, time::Duration};
use tilefold_dialect::{atoms::MmaAtom, plan::PartialPlan, problem::Problem};
use tilefold_machine::Machine;
use weigh::Weigher;

/// Rounds of all rules: more than the longest chain to any choice.
const ROUNDS: usize = 24;
/// Nodes at which the search stops with what it has.
const NODES: usize = 10_000;
/// Modelled costs that lie so close to the best mean nothing (see `docs/cost-model.md`).
pub const MARGIN: f64 = 0.15;

/// Combinations that are looked at, tiles that cannot be built counting as one: more than an
/// open spec of any chip has.
const COMBINATIONS: usize = 1_000_000;

/// Where the search stops, and what it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Combinations to look at, in all searches of a spec together; the first says how many. A
    /// search ends with the best so far, once it has any.
    pub combinations: usize,
    /// Registers that a wave must have besides those that the model expects: more than those of
    /// kernels that spilled when they were compiled.
    pub spare_vgprs: i64,
    /// What the searches for the places of tiles in LDS may spend.
    pub layouts: layouts::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            combinations: COMBINATIONS,
            spare_vgprs: 0,
            layouts: layouts::Limits::default(),
        }
    }
}

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Open<'a> {
    /// The chip.
    pub machine: &'static Machine,
    /// The problem, with row or column orders.
    pub problem: &'a Problem,
    /// The atoms to choose from: all of the same types, each of another K, and of which the first
    /// is what the search starts from.
    pub atoms: Vec<&'static MmaAtom>,
    /// Choices already made, which the search keeps.
    pub fixed: Vec<Leaf>,
    /// What is said of the accesses of A and of B.
    pub said: [Said; 2],
    /// Rule families that are left out.
    pub without: &'a [&'a str],
}

impl<'a> Open<'a> {
    /// Everything open of a problem, to be multiplied by one of `atoms`, which take the same types.
    pub fn new(
        machine: &'static Machine,
        problem: &'a Problem,
        atoms: Vec<&'static MmaAtom>,
    ) -> Self {
        let any = PartialPlan::default();
        let said = |operand| Said::of(problem, &any, None, problem.a.element, operand);
        Self {
            machine,
            problem,
            atoms,
            fixed: Vec::new(),
            said: [said(0), said(1)],
            without: &[],
        }
    }

    /// Everything open of what a plan multiplies, and in what types.
    pub fn of(plan: &'a Plan) -> Self {
        let atom = plan.atom;
        let atoms = MmaAtom::of_types(&plan.machine.name, atom.input, atom.accumulator);
        Self::new(plan.machine, &plan.problem, atoms.collect())
    }

    /// The atom of a kernel with these choices.
    pub fn atom(&self, choices: &Choices) -> Option<&'static MmaAtom> {
        let mut atoms = self.atoms.iter().copied();
        atoms.find(|atom| atom.shape[2] == choices.slice)
    }

    /// Whether a choice stands for something that there is.
    fn has(&self, leaf: Leaf) -> bool {
        match leaf {
            Leaf::Slice(k) => self.atoms.iter().any(|atom| atom.shape[2] == k),
            _ => true,
        }
    }
}

/// Combinations refused, by what refused them.
pub type Refused = BTreeMap<Reason, usize>;

/// What the search found.
#[derive(Clone, Debug)]
pub struct ScheduleSearch {
    /// At most [`FINALISTS`] kernels that differ in their code, best first by the counts that the
    /// model expects.
    pub finalists: Vec<Weighed>,
    /// The best of those that were not taken, for the record.
    pub runners_up: Vec<Weighed>,
    /// Combinations weighed.
    pub weighed: usize,
    /// Combinations that were looked at for this search, as [`Limits::combinations`] counts them:
    /// the grid of tiles and orders is, for the first of a spec, and for those after it no more.
    pub tried: usize,
    /// Where it was to stop, and what it left out.
    pub limits: Limits,
    /// Whether they are all that there are; else the search was stopped by its limit.
    pub complete: bool,
    /// Combinations refused.
    pub refused: Refused,
    /// What the search started from, the smallest kernel with the choices already made, where it
    /// can be built.
    pub start: Option<Weighed>,
}

/// One step of an explanation: a rule, and the choice that it made.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    /// The rule's name.
    pub rule: String,
    /// What was chosen, such as `k=32`.
    pub choice: String,
}

/// Searches.
///
/// # Errors
/// What refused every combination, where none can be built.
pub fn search(open: &Open<'_>) -> Result<ScheduleSearch, Refused> {
    search_within(open, &Limits::default())
}

/// As [`search`], with other limits.
///
/// # Errors
/// As [`search`].
pub fn search_within(open: &Open<'_>, limits: &Limits) -> Result<ScheduleSearch, Refused> {
    Grid::new(open, limits.combinations)?.search(open, limits)
}

/// What the model expects of one combination of choices, or what keeps it from being built: the
/// judgement that [`search`] passes on every combination.
///
/// # Errors
/// The reason, as in [`ScheduleSearch::refused`].
pub fn weigh(open: &Open<'_>, choices: &Choices) -> Result<Figures, Reason> {
    let mut weigher = Weigher::new(open).ok_or(Reason::NoRates)?;
    weigher.figures(choices)
}

/// As [`weigh`], of a plan with these choices, whose accesses are as wide as its layouts allow.
pub(super) fn weigh_plan(open: &Open<'_>, choices: &Choices, plan: &Plan) -> Option<Figures> {
    let widths = Widths::of(plan).ok()?;
    Weigher::new(open)?.figures_of(choices, &widths).ok()
}

/// The chain of rules from the start to a kernel's choices, re-checked by egg as it is made.
pub fn explain(open: &Open<'_>, choices: &Choices) -> Vec<Step> {
    let mut runner = saturate(open);
    let (from, to) = (kernel(&start(open)), kernel(choices));
    let mut explanation = runner.explain_equivalence(&from, &to);
    explanation.check_proof(rewrites(open).iter());
    let flat = explanation.make_flat_explanation();
    flat.iter().filter_map(rule_used).collect()
}

/// The rule that led to a term, wherever in the term it was used.
fn rule_used(term: &FlatTerm<Choice>) -> Option<Step> {
    if let Some(name) = term.forward_rule.or(term.backward_rule) {
        let rule = rules().find(|rule| rule.rewrite_name() == name.to_string())?;
        // Backwards, the choice is what the rule starts from.
        let choice = if term.forward_rule.is_some() {
            rule.to
        } else {
            rule.from
        };
        return Some(Step {
            rule: rule.name.into(),
            choice: choice.to_string(),
        });
    }
    term.children.iter().find_map(rule_used)
}

fn rewrites(open: &Open<'_>) -> Vec<Rewrite<Choice, ()>> {
    rules()
        .filter(|rule| !open.fixed.iter().any(|leaf| leaf.kind() == rule.to.kind()))
        .filter(|rule| !open.without.contains(&rule.name))
        .filter(|rule| open.has(rule.from) && open.has(rule.to))
        .map(|rule| rule.rewrite())
        .collect()
}

fn saturate(open: &Open<'_>) -> Runner<Choice, ()> {
    // Time is no limit, since what is found would depend on it.
    Runner::<Choice, (), ()>::new(())
        .with_egraph(EGraph::default().with_explanations_enabled())
        .with_expr(&kernel(&start(open)))
        .with_scheduler(SimpleScheduler)
        .with_time_limit(Duration::MAX)
        .with_iter_limit(ROUNDS)
        .with_node_limit(NODES)
        .run(&rewrites(open))
}

/// The first step of the ladder, with the choices already made.
fn start(open: &Open<'_>) -> Choices {
    let mut least = Choices::default();
    if let Some(atom) = open.atoms.first() {
        least.slice = atom.shape[2];
    }
    let fixed = open.fixed.iter();
    fixed.fold(least, |choices, leaf| choices.with(*leaf))
}

/// The expression of a kernel, for tests and pictures.
pub fn expression(choices: &Choices) -> RecExpr<Choice> {
    kernel(choices)
}
