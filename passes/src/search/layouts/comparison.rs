//! What tells candidates apart.

use super::{
    Candidate, Class,
    conflicts::{Counter, sides},
    domain::Domain,
    extract::{Members, Pair, Pairs, cost},
    report::candidate,
};

/// The figures of [`super::Cost`] by name, the weightiest first.
const FIGURES: [&str; 6] = [
    "LDS instructions",
    "cache lines",
    "conflict cycles",
    "permutes",
    "bytes",
    "address registers",
];

impl Candidate {
    /// The first figure in which another candidate differs, its value here and there: what puts
    /// the better one first. None where all are equal, and the one with the smaller term is taken.
    pub fn decided(&self, other: &Self) -> Option<(&'static str, i64, i64)> {
        if self.class() != other.class() {
            // Free of conflicts before not, without padding before with it.
            let conflicting = |it: &Self| it.class() == Class::Conflicting;
            return Some(if conflicting(self) != conflicting(other) {
                let cycles = [self, other].map(|it| it.cost.conflict_cycles);
                ("conflict cycles", cycles[0], cycles[1])
            } else {
                let padding = [self, other].map(|it| it.pad.unwrap_or(0));
                ("padding", padding[0], padding[1])
            });
        }
        let figures = [self, other].map(|it| it.cost.figures());
        let mut named = FIGURES.into_iter().zip(figures[0]).zip(figures[1]);
        named
            .find(|((_, here), there)| here != there)
            .map(|((name, here), there)| (name, here, there))
    }
}

/// The best pair of a pair's placement with another copy, of as many as there is work for.
pub(super) fn other_copy(domain: &Domain, pairs: &Pairs<'_>, best: &Pair) -> Option<Candidate> {
    let Members { placements, copies } = pairs.members;
    let placement = &placements[best.placement].what;
    let mut counter = Counter::new(domain);
    let mut figures = |copy: usize| {
        let what = &copies[copy].what;
        let fragments = &domain.usage.fragments;
        let [mut reads, mut writes] = sides(&mut counter, placement, fragments, &what.commit)?;
        let read = counter.cost(&mut reads, placement.swizzle)?;
        let write = counter.cost(&mut writes, placement.swizzle)?;
        let cost = cost(domain, placement, what, read, write);
        let class = Class::of(cost.conflict_cycles, placement.padding);
        Some((class, cost, copy))
    };
    let others = (0..copies.len()).filter(|copy| *copy != best.copy);
    let others = others.take_while(|_| !domain.work.is_over());
    let (_, _, copy) = others.filter_map(&mut figures).min()?;
    let pair = Pair {
        copy,
        ..best.clone()
    };
    candidate(domain, placement, &copies[copy].what, pairs.term(&pair))
}
