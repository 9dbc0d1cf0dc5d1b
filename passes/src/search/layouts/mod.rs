//! Where a tile lies in LDS and who carries it there, found by search.
//!
//! An e-graph holds all placements of one operand's tile that the [`rules`] reach (plain rows,
//! padding, blocked and transposed orders, and every swizzle of them that helps) and all thread
//! layouts of its copy; [`search`] weighs every pair and keeps those that none beats. What
//! equality means is said in [`language`].
//!
//! ```
//! use tilefold_dialect::{atoms::MmaAtom, element::ElementType};
//! use tilefold_machine::Machine;
//! use tilefold_passes::{search::layouts::{TileUse, search}, tiling::MmaLayouts};
//!
//! let atom = MmaAtom::by_name("gfx1201", "wmma.f16.16x16x16.f16").unwrap();
//! let mma = MmaLayouts::new(atom, [128, 128, 64], &"(2,2):(2,1)".parse()?)?;
//! let found = search(&TileUse {
//!     machine: Machine::by_name("gfx1201")?,
//!     tile: [128, 64],
//!     element: ElementType::F16,
//!     threads: 128,
//!     along: 1,
//!     load_elements: 8,
//!     fragments: mma.a,
//!     max_bytes: 32768,
//!     reorder: false,
//! })?;
//! assert_eq!(found.best.cost.conflict_cycles, 0);
//! assert_eq!((found.best.read_bits, found.best.write_bits), (128, 128));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod budget;
mod comparison;
mod conflicts;
mod copy_rules;
mod domain;
mod explain;
mod extract;
pub mod language;
mod mix;
mod once;
mod placement;
mod placement_rules;
mod report;
mod rules;

pub use budget::Limits;
pub use domain::TileUse;
pub use explain::{Step, check};
pub use report::{Candidate, Class, Cost, Enumerated, LayoutSearch, NoZeroConflicts};
pub use rules::{Rule, rules};

use analysis::{Graph, Meaning};
use budget::Work;
use domain::{Copy, Domain};
use egg::{RecExpr, Rewrite, Runner, StopReason};
use extract::{Members, Pairs};
use language::Term;
use once::Once;
use placement::Placement;
use std::{rc::Rc, time::Duration};
use thiserror::Error;
use tilefold_layout::Layout;

/// Rules that lead to what is not near plain rows, or to many thread layouts.
const FAR: [&str; 5] = [
    "order-columns",
    "order-tiles",
    "pad-rows",
    "split-threads-along",
    "split-threads-across",
];
/// Placements that are named beside the best one.
const RUNNERS_UP: usize = 4;

/// The error of [`search`] and of what checks it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// What is searched for makes no sense.
    #[error("{rule}")]
    Use {
        /// What is wrong.
        rule: String,
    },
    /// Nothing fits.
    #[error("no layout of the tile fits into {max_bytes} bytes")]
    Nothing {
        /// The bytes there are.
        max_bytes: i64,
    },
    /// A chain of rules has a step that its rule does not make.
    #[error("{term} does not follow")]
    Explanation {
        /// The term that does not follow from the one before.
        term: String,
    },
}

/// Finds where the tile of `usage` best lies in LDS and who carries it, within the default
/// [`Limits`].
///
/// What is free of bank conflicts goes before what is not, and without padding before with it;
/// within each the order of preference is that of the fields of [`Cost`].
///
/// # Errors
/// [`LayoutError::Use`] where the use is none, [`LayoutError::Nothing`] where no placement fits
/// into the bytes given or none is reached by constant steps.
pub fn search(usage: &TileUse) -> Result<LayoutSearch, LayoutError> {
    Searches::new(Limits::default(), 1).search(usage)
}

/// Searches for several uses of one spec, which share what they may spend and the e-graphs that
/// they have in common.
pub struct Searches {
    limits: Limits,
    work: Rc<Work>,
    /// Searches that are still to come.
    waiting: usize,
    graphs: Vec<Saturated>,
}

/// An e-graph that the rules are exhausted in, or the limits.
struct Saturated {
    domain: Rc<Domain>,
    graph: Graph,
    members: Members,
    complete: bool,
}

impl Searches {
    /// Room for so many searches, all with the same share, and with what those before have left
    /// of theirs. More may follow, with what is left.
    pub fn new(limits: Limits, searches: usize) -> Self {
        Self {
            limits,
            work: Rc::default(),
            waiting: searches,
            graphs: Vec::new(),
        }
    }

    /// Room for so many more searches, with limits of their own.
    pub fn go_on(&mut self, limits: Limits, searches: usize) {
        let work = self.work.spent().saturating_add(limits.work);
        self.limits = Limits { work, ..limits };
        self.waiting = searches;
    }

    /// Work that was counted, as [`Limits::work`] has it.
    pub fn work(&self) -> u64 {
        self.work.spent()
    }

    /// As [`search`], within what is left of the limits. Whatever they are, there is an answer;
    /// [`LayoutSearch::complete`] says whether they cut it short.
    ///
    /// # Errors
    /// Those of [`search`].
    pub fn search(&mut self, usage: &TileUse) -> Result<LayoutSearch, LayoutError> {
        self.search_with(usage, None)
    }

    /// As [`Self::search`], the thread layout of the copy and its value layouts, in the order of
    /// loading and of storing, being given: only the place in LDS is searched for, and explained.
    ///
    /// # Errors
    /// Those of [`search`].
    pub fn search_with(
        &mut self,
        usage: &TileUse,
        copy: Option<[&Layout; 3]>,
    ) -> Result<LayoutSearch, LayoutError> {
        let domain = Rc::new(Domain::new(usage, &self.work)?);
        let nothing = || LayoutError::Nothing {
            max_bytes: usage.max_bytes,
        };
        let plain = Placement::rows(&domain).filter(|rows| rows.bytes <= usage.max_bytes);
        if plain.is_none() {
            return Err(nothing());
        }
        self.waiting = self.waiting.saturating_sub(1);
        let spent = self.work.spent();
        // As much as each of those to come will have at least: what one leaves, the others share.
        let left = self.limits.work.saturating_sub(spent);
        let share = (left / (self.waiting as u64 + 1)).max(self.limits.least);
        let start = format!("(lds (hold rows) (carry (along {})))", domain.along_threads);
        let start: RecExpr<Term> = start.parse().expect("it is a term of the language");
        let known = self
            .graphs
            .iter()
            .position(|it| it.domain.leads_as(&domain));
        let known = known.unwrap_or_else(|| {
            let graph = Saturated::new(&domain, &start, &self.limits, share);
            self.graphs.push(graph);
            self.graphs.len() - 1
        });
        let found = &mut self.graphs[known];
        self.work.allow(spent.saturating_add(share - share / 8));
        let given = copy.map(|copy| Copy::given(&domain, copy).ok_or_else(nothing));
        let given = given.transpose()?.map(|copy| found.members.with_copy(copy));
        let pairs = Pairs::new(given.as_ref().unwrap_or(&found.members), &domain);
        let best = pairs.best.first().ok_or_else(nothing)?;
        let goal = match given {
            Some(_) => pairs.term_by(best, &format!("(along {})", domain.along_threads)),
            None => pairs.term(best),
        };
        let goal: RecExpr<Term> = goal
            .parse()
            .expect("it is printed from terms of the language");
        let explanation = explain::steps(found.graph.explain_equivalence(&start, &goal));
        self.work.allow(spent.saturating_add(share));
        let complete = found.complete && pairs.complete;
        report::report(&domain, &pairs, explanation, complete, RUNNERS_UP).ok_or_else(nothing)
    }
}

impl Saturated {
    /// Swizzles of plain rows, then the copies near to them, then all that the rules lead to: as
    /// much of it as there is work for.
    fn new(domain: &Rc<Domain>, start: &RecExpr<Term>, limits: &Limits, share: u64) -> Self {
        let work = &domain.work;
        let begun = work.spent();
        let graph = Graph::new(Meaning {
            domain: Rc::clone(domain),
        });
        let mut graph = graph.with_explanations_enabled();
        let (mut once, mut complete) = (Once::default(), true);
        let near = |rule: &Rule| !FAR.contains(&rule.name);
        let swizzles = |rule: &Rule| near(rule) && rule.is_of_placements();
        // Matches that there was no work for are found again.
        work.allow(begun.saturating_add(share - share / 3));
        for stage in [&swizzles as &dyn Fn(&Rule) -> bool, &near, &|_| true] {
            if !complete {
                once = Once::default();
            }
            let rules = rules().filter(|rule| stage(rule));
            (graph, complete) = saturate(graph, start, limits, rules, once.clone());
        }
        Self {
            members: Members::new(&graph),
            domain: Rc::clone(domain),
            graph,
            complete,
        }
    }
}

fn saturate(
    graph: Graph,
    start: &RecExpr<Term>,
    limits: &Limits,
    rules: impl Iterator<Item = &'static Rule>,
    once: Once,
) -> (Graph, bool) {
    let rewrites: Vec<Rewrite<Term, Meaning>> = rules.map(Rule::rewrite).collect();
    once.cut.set(false);
    let cut = Rc::clone(&once.cut);
    let meaning = Meaning {
        domain: Rc::clone(&graph.analysis.domain),
    };
    // Time is no limit, since what is found would depend on it.
    let runner = Runner::<Term, Meaning, ()>::new(meaning)
        .with_egraph(graph)
        .with_expr(start)
        .with_scheduler(once)
        .with_time_limit(Duration::MAX)
        .with_iter_limit(limits.rounds)
        .with_node_limit(limits.nodes)
        .run(&rewrites);
    let complete = matches!(runner.stop_reason, Some(StopReason::Saturated)) && !cut.get();
    (runner.egraph, complete)
}
