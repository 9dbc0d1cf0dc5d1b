//! Keeping the candidates that may be the best.

use crate::{Cost, Kernel, Model};

/// A kernel that was kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its place among the kernels that were given.
    pub index: usize,
    /// Its estimate.
    pub cost: Cost,
}

/// The kernels whose estimate lies within a share of the best, such as [`crate::MARGIN`] for
/// 15 %; the best first, equals in the order in which they came. Kernels without a cost, such as
/// those that do not fit, are dropped. A share below 0 counts as 0.
///
/// Among those that are kept the order means little: order them by what their code shows
/// (instructions per matrix instruction, conflict cycles, registers), or by timing.
pub fn prune(model: &Model, kernels: &[Kernel], within: f64) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = kernels
        .iter()
        .enumerate()
        .filter_map(|(index, kernel)| {
            let cost = model.cost(kernel).ok()?;
            Some(Candidate { index, cost })
        })
        .collect();
    let time = |of: &Candidate| of.cost.microseconds;
    candidates.sort_by(|a, b| time(a).total_cmp(&time(b)).then(a.index.cmp(&b.index)));
    if let Some(best) = candidates.first() {
        // `max` also turns a share that is no number into 0.
        let limit = time(best) * (1.0 + within.max(0.0));
        candidates.retain(|candidate| time(candidate) <= limit);
    }
    candidates
}
