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
mod comparison;
mod conflicts;
mod copy_rules;
mod domain;
mod explain;
mod extract;
pub mod language;
mod once;
mod placement;
mod placement_rules;
mod report;
mod rules;

pub use domain::TileUse;
pub use explain::{Step, check};
pub use report::{Candidate, Class, Cost, Enumerated, LayoutSearch, NoZeroConflicts};
pub use rules::{Rule, rules};

use analysis::{Graph, Meaning};
use domain::Domain;
use egg::{RecExpr, Rewrite, Runner, StopReason};
use extract::Pairs;
use language::Term;
use once::Once;
use std::{sync::Arc, time::Duration};
use thiserror::Error;

/// Nodes at which the search stops with the best so far.
const NODES: usize = 40_000;
/// Rounds of all rules at which it stops. Swizzles grow by one bit in two rounds.
const ROUNDS: usize = 24;
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

/// Finds where the tile of `usage` best lies in LDS and who carries it.
///
/// What is free of bank conflicts goes before what is not, and without padding before with it;
/// within each the order of preference is that of the fields of [`Cost`].
///
/// # Errors
/// [`LayoutError::Use`] where the use is none, [`LayoutError::Nothing`] where no placement fits
/// into the bytes given or none is reached by constant steps.
pub fn search(usage: &TileUse) -> Result<LayoutSearch, LayoutError> {
    let domain = Arc::new(Domain::new(usage)?);
    let nothing = || LayoutError::Nothing {
        max_bytes: usage.max_bytes,
    };
    let plain = placement::Placement::rows(&domain).filter(|rows| rows.bytes <= usage.max_bytes);
    if plain.is_none() {
        return Err(nothing());
    }
    let start = format!("(lds (hold rows) (carry (along {})))", domain.along_threads);
    let start: RecExpr<Term> = start.parse().expect("it is a term of the language");
    let rewrites: Vec<Rewrite<Term, Meaning>> = rules().map(Rule::rewrite).collect();
    let meaning = Meaning {
        domain: Arc::clone(&domain),
    };
    // Time is no limit, since what is found would depend on it.
    let runner = Runner::<Term, Meaning, ()>::new(meaning)
        .with_explanations_enabled()
        .with_expr(&start)
        .with_scheduler(Once::default())
        .with_time_limit(Duration::MAX)
        .with_iter_limit(ROUNDS)
        .with_node_limit(NODES)
        .run(&rewrites);
    let complete = matches!(runner.stop_reason, Some(StopReason::Saturated));
    let mut graph: Graph = runner.egraph;
    let pairs = Pairs::new(&graph, &domain);
    let best = pairs.best.first().ok_or_else(nothing)?;
    let goal: RecExpr<Term> = pairs
        .term(best)
        .parse()
        .expect("it is printed from terms of the language");
    let explanation = explain::steps(graph.explain_equivalence(&start, &goal));
    report::report(&domain, &pairs, explanation, complete, RUNNERS_UP).ok_or_else(nothing)
}
