//! What searches may spend, counted and never timed: what is found must not depend on the machine.

use std::cell::Cell;

/// Limits of the searches of one spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Work of all searches together, in steps of one offset each: matches tried, terms made and
    /// accesses counted come to so many.
    pub work: u64,
    /// Work that each search has for itself, however little those before have left: enough for
    /// plain rows, their swizzles and the copies whose loads touch fewest cache lines.
    pub least: u64,
    /// Nodes of one e-graph.
    pub nodes: usize,
    /// Rounds of rules in one e-graph, each time that more of the rules are used on it. Swizzles
    /// grow by one bit in two rounds.
    pub rounds: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            work: 125_000_000,
            least: 5_000_000,
            nodes: 40_000,
            rounds: 24,
        }
    }
}

/// Steps of a match that rules find, and of a right side that they make of one.
pub(super) const MATCH: u64 = 50;
/// Steps of a right side that is new: of its terms, of what these mean, and of explaining it.
pub(super) const RIGHT: u64 = 2_000;
/// Steps of a copy, apart from its loads.
pub(super) const COPY: u64 = 2_000;
/// Steps of one lane's load, when the cache lines of a wave's loads are counted.
pub(super) const LOAD: u64 = 4;
/// Steps of a side that is looked at for a first conflict, apart from its accesses.
pub(super) const SCREEN: u64 = 10;
/// Steps of a pair of a placement and a copy, apart from its accesses.
pub(super) const PAIR: u64 = 50;

/// Work done, and where it is to stop.
#[derive(Debug)]
pub(super) struct Work {
    spent: Cell<u64>,
    until: Cell<u64>,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            spent: Cell::new(0),
            until: Cell::new(u64::MAX),
        }
    }
}

impl Work {
    /// Counts steps. What one goes on with is done whole, and ends where [`Self::is_over`].
    pub fn spend(&self, steps: u64) {
        self.spent.set(self.spent.get().saturating_add(steps));
    }

    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Lets the work go on up to so many steps in all.
    pub fn allow(&self, until: u64) {
        self.until.set(until);
    }

    /// Where it is to stop.
    pub fn until(&self) -> u64 {
        self.until.get()
    }

    pub fn is_over(&self) -> bool {
        self.spent.get() >= self.until.get()
    }
}
