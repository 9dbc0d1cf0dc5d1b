//! The grid of tiles, waves and orders, weighed once for all searches of a spec.

use super::{
    Limits, MARGIN, Open, Options, Reason, Refused, ScheduleSearch, Weighed, Weigher,
    climb::{Climb, bases},
    finalists, saturate, start,
};

/// Every kernel of the grid that can be built, with its figures.
pub struct Grid {
    options: Options,
    kernels: Vec<Weighed>,
    refused: Refused,
    /// Combinations that may still be looked at,
    left: usize,
    /// and that were when the last search ended.
    before: usize,
    complete: bool,
}

impl Grid {
    /// Weighs the grid of a spec, at most so many `combinations`, though none is left out before
    /// one is found that can be built.
    ///
    /// # Errors
    /// What refused every combination, where none can be built.
    pub fn new(open: &Open<'_>, combinations: usize) -> Result<Self, Refused> {
        let graph = saturate(open).egraph;
        let grid = Self::weigh(open, Options::of(&graph, false), combinations);
        if !grid.kernels.is_empty() {
            return Ok(grid);
        }
        // What is said, such as eleven waves, may go with none of the blocks tried first.
        let wide = Self::weigh(open, Options::of(&graph, true), combinations);
        match wide.kernels.is_empty() {
            true => Err(grid.refused),
            false => Ok(wide),
        }
    }

    fn weigh(open: &Open<'_>, options: Options, combinations: usize) -> Self {
        let mut grid = Self {
            options,
            kernels: Vec::new(),
            refused: Refused::new(),
            left: combinations,
            before: combinations,
            complete: true,
        };
        let Some(mut weigher) = Weigher::new(open) else {
            return grid;
        };
        let options = &grid.options;
        let per_buffers = options.per_buffers();
        let tiles = options.largest_first(start(open)).into_iter();
        let tried = tiles.flat_map(|tile| options.buffers.iter().map(move |it| tile.with(*it)));
        for tile in tried {
            if grid.left == 0 && !grid.kernels.is_empty() {
                grid.complete = false;
                break;
            }
            let possible = weigher.tile(&tile).and_then(|()| {
                let widths = weigher.widths(&tile)?;
                weigher.lds_bytes(&tile, &widths)?;
                Ok(widths)
            });
            let widths = match possible {
                Ok(widths) => widths,
                Err(reason) => {
                    grid.left = grid.left.saturating_sub(1);
                    *grid.refused.entry(reason).or_default() += per_buffers;
                    continue;
                }
            };
            grid.left = grid.left.saturating_sub(per_buffers);
            for choices in options.schedules(tile) {
                match weigher.schedule(&choices, &widths) {
                    Ok(figures) => grid.kernels.push(Weighed { choices, figures }),
                    Err(reason) => *grid.refused.entry(reason).or_default() += 1,
                }
            }
        }
        grid
    }

    /// The best kernels of the grid with as many registers to spare as `limits` ask for, and what
    /// changes of one choice lead to from them, as far as combinations are left.
    ///
    /// # Errors
    /// What refused every combination, where none is left.
    pub fn search(&mut self, open: &Open<'_>, limits: &Limits) -> Result<ScheduleSearch, Refused> {
        let mut refused = self.refused.clone();
        let Some(mut weigher) = Weigher::new(open) else {
            return Err(refused);
        };
        let spares = |it: &&Weighed| it.figures.spare_vgprs >= limits.spare_vgprs;
        let possible = || self.kernels.iter().filter(spares);
        let mut count = possible().count();
        if count < self.kernels.len() {
            refused.insert(Reason::TooFewSpare, self.kernels.len() - count);
        }
        let Some(fastest) = possible().min_by(|a, b| a.compare_time(b)) else {
            return Err(refused);
        };
        let mut climb = Climb {
            weigher: &mut weigher,
            options: &self.options,
            spare_vgprs: limits.spare_vgprs,
            left: self.left,
            weighed: 0,
            complete: self.complete,
        };
        // The least time first, which says what is within the margin.
        let fastest = climb.climb(*fastest, f64::INFINITY, Weighed::compare_time, |_| true);
        let limit = fastest.figures.modelled_us * (1.0 + MARGIN);
        let mut kept: Vec<Weighed> = possible().copied().chain([fastest]).collect();
        kept.retain(|candidate| candidate.figures.modelled_us <= limit);
        kept.sort_by(Weighed::compare);
        for base in bases(&kept) {
            let found = climb.climb(base, limit, Weighed::compare, |_| true);
            kept.push(found);
        }
        count += climb.weighed;
        let complete = climb.complete;
        self.left = climb.left;
        let tried = self.before - self.left;
        self.before = self.left;
        kept.sort_by(Weighed::compare);
        kept.dedup();
        let start = start(open);
        let start = weigher.figures(&start).ok().map(|figures| Weighed {
            choices: start,
            figures,
        });
        let (finalists, runners_up) = finalists::choose(&kept);
        Ok(ScheduleSearch {
            finalists,
            runners_up,
            weighed: count,
            tried,
            limits: *limits,
            complete,
            refused,
            start,
        })
    }
}
