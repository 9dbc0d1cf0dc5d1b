//! The order in which tiles of the output are handed out, and what concurrent workgroups share.

use std::ops::Range;

use crate::constants::EXACT_ROUNDS;

/// Tiles of the output in the order of workgroups.
///
/// Tiles go down columns of a group of `group_rows` tile rows, then on to the next column; the
/// last group is as short as the rows that are left. A group of one row is plain row-major order.
/// Source: AMD, FP16 GEMM on RDNA 3 and RDNA 4, step 6, after Composable Kernel's
/// `BlockToCTileMap_M00_N0_M01Adapt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockOrder {
    rows: u64,
    cols: u64,
    group: u64,
}

/// Distinct tile rows (panels of A) and tile columns (panels of B) that some workgroups read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panels {
    /// Tile rows.
    pub rows: u64,
    /// Tile columns.
    pub cols: u64,
}

/// [`Panels`] on average over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanPanels {
    /// Tile rows.
    pub rows: f64,
    /// Tile columns.
    pub cols: f64,
}

impl BlockOrder {
    /// The order of `rows` x `cols` tiles in groups of `group_rows` rows, of which there are no
    /// more than rows and at least one. None if there are no tiles, or more than 2^64 - 1.
    pub fn new(rows: u64, cols: u64, group_rows: u64) -> Option<Self> {
        let tiles = rows.checked_mul(cols)?;
        (tiles > 0).then(|| Self {
            rows,
            cols,
            group: group_rows.clamp(1, rows),
        })
    }

    /// Workgroups: one a tile.
    pub fn blocks(&self) -> u64 {
        self.rows * self.cols
    }

    /// Row and column of a workgroup's tile; none from [`BlockOrder::blocks`] on.
    pub fn tile(&self, block: u64) -> Option<(u64, u64)> {
        (block < self.blocks()).then(|| {
            let (group, local) = self.split(block);
            let height = self.height(group);
            (group * self.group + local % height, local / height)
        })
    }

    /// The panels that a run of consecutive workgroups reads, in constant time. Blocks that do
    /// not exist read none.
    pub fn panels(&self, blocks: Range<u64>) -> Panels {
        let end = blocks.end.min(self.blocks());
        if blocks.start >= end {
            return Panels { rows: 0, cols: 0 };
        }
        let (first, from) = self.split(blocks.start);
        let (last, to) = self.split(end - 1);
        if first == last {
            return Panels {
                rows: (to - from + 1).min(self.height(first)),
                cols: to / self.height(first) - from / self.height(first) + 1,
            };
        }
        let tail = self.height(first) * self.cols - from;
        let between = (last - first - 1) * self.group;
        let from = from / self.height(first);
        let to = to / self.height(last);
        Panels {
            rows: tail.min(self.height(first)) + between + self.rows_of_head(last, end),
            // The run leaves the first group by its last column and enters the last by its first.
            cols: if between > 0 || to >= from {
                self.cols
            } else {
                self.cols - from + to + 1
            },
        }
    }

    /// The panels that `resident` workgroups read on average over the full rounds of `resident`
    /// consecutive workgroups: exactly, or by [`BlockOrder::estimate`] where there are more than
    /// [`EXACT_ROUNDS`]. Without one full round, the panels of all.
    pub fn mean_panels(&self, resident: u64) -> MeanPanels {
        let resident = resident.clamp(1, self.blocks());
        let rounds = self.blocks() / resident;
        if rounds > EXACT_ROUNDS {
            return self.estimate(resident);
        }
        let mut sum = (0.0, 0.0);
        for round in 0..rounds {
            let panels = self.panels(round * resident..(round + 1) * resident);
            sum.0 += panels.rows as f64;
            sum.1 += panels.cols as f64;
        }
        MeanPanels {
            rows: sum.0 / rounds as f64,
            cols: sum.1 / rounds as f64,
        }
    }

    /// The closed form of [`BlockOrder::mean_panels`].
    ///
    /// A run of R workgroups that starts anywhere in columns of g tiles touches (R + g - d) / g
    /// of them on average, d being gcd(R, g) as runs start at multiples of R; the same holds for
    /// groups of g x cols tiles, each of which adds g rows, or R where R is less. A short last
    /// group counts by its share of the tiles.
    pub fn estimate(&self, resident: u64) -> MeanPanels {
        let resident = resident.clamp(1, self.blocks());
        let whole = (self.rows / self.group) as f64 * self.group as f64 / self.rows as f64;
        let tall = self.estimate_for(resident, self.group);
        match self.rows % self.group {
            0 => tall,
            short => {
                let short = self.estimate_for(resident, short);
                MeanPanels {
                    rows: whole * tall.rows + (1.0 - whole) * short.rows,
                    cols: whole * tall.cols + (1.0 - whole) * short.cols,
                }
            }
        }
    }

    fn estimate_for(&self, resident: u64, height: u64) -> MeanPanels {
        let columns = runs(resident, height);
        let groups = runs(resident, height * self.cols);
        MeanPanels {
            rows: (height.min(resident) as f64 * groups).min(self.rows as f64),
            cols: columns.min(self.cols as f64),
        }
    }

    /// Group of a block, and the block's number within it.
    fn split(&self, block: u64) -> (u64, u64) {
        let tiles = self.group * self.cols;
        (block / tiles, block % tiles)
    }

    /// Rows of a group.
    fn height(&self, group: u64) -> u64 {
        self.group.min(self.rows - group * self.group)
    }

    /// Rows that the blocks of a group before `end` read.
    fn rows_of_head(&self, group: u64, end: u64) -> u64 {
        (end - group * self.group * self.cols).min(self.height(group))
    }
}

/// Pieces of `length` that a run touches on average, when runs follow one another.
fn runs(run: u64, length: u64) -> f64 {
    (run as f64 + length as f64 - gcd(run, length) as f64) / length as f64
}

/// Greatest common divisor.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
