//! Pictures of layouts: tables for a terminal, and SVG.
//!
//! Four subjects: the offsets of a layout ([`Drawing::offsets`]), the coordinates it gives
//! ([`Drawing::coordinates`]), who owns what in a thread-value layout ([`Drawing::ownership`]), and
//! which lanes collide in which memory banks ([`Drawing::banks`]). A drawing is text and colours in cells; [`Drawing::to_text`] and
//! [`Drawing::to_svg`] render it.

mod banks;
mod render;

pub use banks::{BankModel, BankUse, bank_use};

use std::fmt;

use crate::composed::ComposedLayout;
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::IntTuple;
use crate::stride::Basis;

/// Drawings hold at most this many cells.
pub const MAX_CELLS: i64 = 1 << 16;

/// A table of labelled, coloured cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    title: String,
    columns: usize,
    cells: Vec<Cell>,
    /// Rows and columns of the whole, of which this is the upper left corner.
    whole: (i64, i64),
}

/// One cell: its text, and the colour group it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Cells of one group share a colour; none is left plain.
    pub(crate) group: Option<usize>,
}

impl Drawing {
    fn empty(title: String, rows: usize, columns: usize) -> Drawing {
        Drawing {
            title,
            columns,
            cells: vec![Cell::default(); rows * columns],
            whole: (rows as i64, columns as i64),
        }
    }

    /// Rows and columns that are left out.
    pub fn left_out(&self) -> (i64, i64) {
        (
            self.whole.0 - self.rows() as i64,
            self.whole.1 - self.columns as i64,
        )
    }

    /// The upper left corner of at most so many rows and columns.
    pub fn corner(mut self, rows: usize, columns: usize) -> Drawing {
        let (rows, kept) = (rows.min(self.rows()), columns.min(self.columns));
        let lines = self.cells.chunks(self.columns.max(1)).take(rows);
        self.cells = lines.flat_map(|line| line[..kept].to_vec()).collect();
        self.columns = kept;
        self
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.cells.len() / self.columns.max(1)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The text at a place, if it is in the drawing.
    pub fn text_at(&self, row: usize, column: usize) -> Option<&str> {
        let cell = (column < self.columns).then(|| self.cells.get(row * self.columns + column));
        cell.flatten().map(|cell| cell.text.as_str())
    }

    /// The offset of each coordinate: mode 0 down, all other modes across. A layout of one mode is
    /// one row. Offsets that differ by a multiple of 8 share a colour.
    ///
    /// # Errors
    /// [`Rule::TooLarge`] above [`MAX_CELLS`].
    pub fn offsets(layout: impl Into<ComposedLayout>) -> Result<Drawing> {
        Drawing::offsets_within(layout, usize::MAX, usize::MAX)
    }

    /// The upper left corner of [`Drawing::offsets`], of at most so many rows and columns.
    ///
    /// # Errors
    /// [`Rule::TooLarge`] where the corner is above [`MAX_CELLS`].
    pub fn offsets_within(
        layout: impl Into<ComposedLayout>,
        rows: usize,
        columns: usize,
    ) -> Result<Drawing> {
        let layout = layout.into();
        let first = layout.inner().mode(0)?.size();
        Drawing::corner_of(
            &layout,
            first,
            layout.rank(),
            layout.size(),
            (rows, columns),
            |i| {
                let offset = layout.at(i);
                Ok((offset.to_string(), offset))
            },
        )
    }

    /// The coordinate that a layout gives at each coordinate, as [`Drawing::offsets`]; those with
    /// the same first entry, up to a multiple of 8, share a colour.
    ///
    /// # Errors
    /// [`Rule::TooLarge`] above [`MAX_CELLS`], and as [`Layout::coord_at`].
    pub fn coordinates(layout: &Layout<Basis>) -> Result<Drawing> {
        Drawing::coordinates_within(layout, usize::MAX, usize::MAX)
    }

    /// The upper left corner of [`Drawing::coordinates`], of at most so many rows and columns.
    ///
    /// # Errors
    /// As there, for the corner.
    pub fn coordinates_within(
        layout: &Layout<Basis>,
        rows: usize,
        columns: usize,
    ) -> Result<Drawing> {
        let first = layout.mode(0)?.size();
        Drawing::corner_of(
            layout,
            first,
            layout.rank(),
            layout.size(),
            (rows, columns),
            |i| {
                let coord = layout.coord_at(i)?;
                let group = coord.leaves().first().copied().unwrap_or(0);
                Ok((coord.to_string(), group))
            },
        )
    }

    /// The corner of a layout's picture: `at` gives text and colour of a 1-D coordinate.
    fn corner_of(
        layout: &impl fmt::Display,
        first: i64,
        rank: usize,
        size: i64,
        (rows, columns): (usize, usize),
        at: impl Fn(i64) -> Result<(String, i64)>,
    ) -> Result<Drawing> {
        let down = if rank == 1 { 1 } else { first };
        let across = size / down;
        let limit = |n: i64, most: usize| n.min(i64::try_from(most).unwrap_or(i64::MAX));
        let (rows, columns) = (limit(down, rows), limit(across, columns));
        let cells = rows.saturating_mul(columns);
        if cells > MAX_CELLS {
            let limit = MAX_CELLS;
            return Err(LayoutError::unary(
                "draw",
                layout,
                Rule::TooLarge { cells, limit },
            ));
        }
        let mut drawing = Drawing::empty(layout.to_string(), rows as usize, columns as usize);
        drawing.whole = (down, across);
        for row in 0..rows {
            for column in 0..columns {
                let (text, group) = at(row + column * down)?;
                let group = usize::try_from(group.rem_euclid(8)).ok();
                drawing.cells[(row * columns + column) as usize] = Cell { text, group };
            }
        }
        Ok(drawing)
    }

    /// Who owns each element of a tile of these extents: `T3 V1` is value 1 of thread 3, coloured
    /// by thread. Elements with several owners list the first and the number of others.
    ///
    /// `tv` sends (thread, value) to a 1-D column-major coordinate of the tile.
    ///
    /// # Errors
    /// [`Rule::TooLarge`], [`Rule::Rank`] where `tv` has not two modes, [`Rule::OutOfRange`] where
    /// it leaves the tile.
    pub fn ownership(tv: &Layout, tile: &[i64]) -> Result<Drawing> {
        let extents = IntTuple::from(tile);
        let fail = |rule| LayoutError::binary("draw", tv, &extents, rule);
        if tv.rank() != 2 {
            return Err(fail(Rule::Rank {
                expected: 2,
                found: tv.rank(),
            }));
        }
        let space = Layout::col_major(tile)?;
        if tv.size() > MAX_CELLS {
            return Err(fail(Rule::TooLarge {
                cells: tv.size(),
                limit: MAX_CELLS,
            }));
        }
        let (rows, columns) = grid("draw", &space.into())?;
        let title = format!("(thread,value) {tv} over {extents}");
        let mut drawing = Drawing::empty(title, rows, columns);
        let mut others = vec![0usize; rows * columns];
        let threads = tv.mode(0)?.size();
        for i in 0..tv.size() {
            let (thread, value) = (i % threads, i / threads);
            let element = tv.at(i);
            let place = usize::try_from(element)
                .ok()
                .filter(|&e| e < rows * columns);
            let Some(element) = place else {
                let extent = (rows * columns) as i64;
                return Err(fail(Rule::OutOfRange {
                    coordinate: element,
                    extent,
                }));
            };
            let place = if tile.len() == 1 {
                element
            } else {
                element % rows * columns + element / rows
            };
            let cell = &mut drawing.cells[place];
            if cell.group.is_none() {
                *cell = Cell {
                    text: format!("T{thread} V{value}"),
                    group: usize::try_from(thread).ok(),
                };
            } else {
                others[place] += 1;
            }
        }
        for (cell, others) in drawing.cells.iter_mut().zip(others) {
            if others > 0 {
                cell.text.push_str(&format!(" +{others}"));
            }
        }
        Ok(drawing)
    }

    /// Which lanes use which bank: one row per group of lanes that are served together, one column
    /// per bank. Lanes that read the same word stand together (`0,1`), different words of one bank
    /// are apart (`0|32`), and the cell's colour says how many words there are.
    ///
    /// # Errors
    /// [`Rule::TooLarge`], and as [`bank_use`].
    pub fn banks(addresses: &[i64], bytes: i64, model: &BankModel) -> Result<Drawing> {
        let uses = bank_use(addresses, bytes, model)?;
        let cells = uses.len() as i64 * model.banks;
        if cells > MAX_CELLS {
            let rule = Rule::TooLarge {
                cells,
                limit: MAX_CELLS,
            };
            return Err(LayoutError::unary("draw", &"banks", rule));
        }
        let columns = model.banks as usize;
        let cycles: i64 = uses.iter().map(BankUse::cycles).sum();
        let title = format!(
            "{} banks of {} bytes, {bytes} bytes a lane: {cycles} cycles for {} groups",
            model.banks,
            model.width,
            uses.len()
        );
        let mut drawing = Drawing::empty(title, uses.len(), columns);
        for (row, group) in uses.iter().enumerate() {
            for (column, words) in group.banks.iter().enumerate() {
                let lanes = |lanes: &Vec<usize>| {
                    let lanes: Vec<String> = lanes.iter().map(usize::to_string).collect();
                    lanes.join(",")
                };
                let words: Vec<String> = words.iter().map(|(_, l)| lanes(l)).collect();
                let degree = words.len();
                drawing.cells[row * columns + column] = Cell {
                    text: words.join("|"),
                    group: degree.checked_sub(1),
                };
            }
        }
        Ok(drawing)
    }
}

/// Rows and columns of a layout's drawing: mode 0 and the rest, or one row for one mode.
fn grid(operation: &'static str, layout: &ComposedLayout) -> Result<(usize, usize)> {
    let cells = layout.size();
    if cells > MAX_CELLS {
        let rule = Rule::TooLarge {
            cells,
            limit: MAX_CELLS,
        };
        return Err(LayoutError::unary(operation, layout, rule));
    }
    let rows = if layout.rank() == 1 {
        1
    } else {
        layout.inner().mode(0)?.size()
    };
    Ok((rows as usize, (cells / rows) as usize))
}
