//! The way from a kernel to better ones, one choice at a time.

use super::{Choices, Options, Weighed, Weigher};

/// The best kernels of so many tiles are tried with every other value of each choice.
const CLIMBED: usize = 8;

/// The first kernels of so many tiles as are climbed from, of kernels in order.
pub(super) fn bases(kernels: &[Weighed]) -> Vec<Weighed> {
    let mut found: Vec<Weighed> = Vec::new();
    let shape = |it: &Weighed| (it.choices.block, it.choices.waves);
    for kernel in kernels {
        if found.len() < CLIMBED && !found.iter().any(|it| shape(it) == shape(kernel)) {
            found.push(*kernel);
        }
    }
    found
}

/// The way from a kernel to better ones, one choice at a time.
pub(super) struct Climb<'a, 'b> {
    pub weigher: &'a mut Weigher<'b>,
    pub options: &'a Options,
    pub spare_vgprs: i64,
    /// Combinations that may still be looked at.
    pub left: usize,
    /// Combinations weighed.
    pub weighed: usize,
    pub complete: bool,
}

impl Climb<'_, '_> {
    /// From `kernel` on to the best of its neighbours within `most_us` that `keep` keeps, as long as
    /// one is better.
    pub fn climb(
        &mut self,
        kernel: Weighed,
        most_us: f64,
        compare: impl Fn(&Weighed, &Weighed) -> std::cmp::Ordering,
        keep: impl Fn(&Choices) -> bool,
    ) -> Weighed {
        let mut best = kernel;
        loop {
            let from = best;
            for choices in self.options.neighbours(from.choices).filter(|it| keep(it)) {
                if self.left == 0 {
                    self.complete = false;
                    return best;
                }
                self.left -= 1;
                let Ok(figures) = self.weigher.figures(&choices) else {
                    continue;
                };
                self.weighed += 1;
                let found = Weighed { choices, figures };
                if figures.spare_vgprs >= self.spare_vgprs
                    && figures.modelled_us <= most_us
                    && compare(&found, &best).is_lt()
                {
                    best = found;
                }
            }
            if best == from {
                return best;
            }
        }
    }
}
