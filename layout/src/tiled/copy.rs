//! A copy atom spread over threads and values.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CopyAtom, Side, cut};
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::product::zip;

/// A copy atom repeated over a tile: threads and values side by side, as CuTe's `TiledCopy`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct TiledCopy {
    atom: CopyAtom,
    tile: Vec<i64>,
    layout: Layout,
    /// (thread, (value of the atom, further values)) -> tile, by what each side of the atom does.
    source: Layout,
    destination: Layout,
}

#[derive(Serialize, Deserialize)]
struct Text {
    atom: CopyAtom,
    tile: Vec<i64>,
    layout: Layout,
}

impl TiledCopy {
    /// The atom spread over threads and their values as [`make_layout_tv`](crate::make_layout_tv)
    /// lays them out: CuTe's `make_tiled_copy`.
    ///
    /// # Errors
    /// As there, and as [`TiledCopy::over`].
    pub fn new(atom: CopyAtom, threads: &Layout, values: &Layout) -> Result<TiledCopy> {
        let (tile, layout) = crate::tv::make_layout_tv(threads, values)?;
        TiledCopy::over(atom, tile, layout)
    }

    /// The atom spread as `layout` says, from (thread, value) to the 1-D column-major coordinate
    /// of a tile of these extents. Threads and values are those of the atom's reference side.
    ///
    /// # Errors
    /// [`Rule::Rank`] unless the layout has two modes, [`Rule::OutOfRange`] where it leaves the
    /// tile, [`Rule::Divisibility`] with the mode where the atom's lanes do not divide the threads
    /// or its values not the values, and as [`Layout::compose`] where the atom's threads and
    /// values are not laid out as one side of it needs.
    pub fn over(atom: CopyAtom, tile: Vec<i64>, layout: Layout) -> Result<TiledCopy> {
        let fail = |rule| LayoutError::binary("tiled_copy", &atom, &layout, rule);
        let extent = Layout::col_major(&tile)?.size();
        if layout.rank() != 2 {
            let (expected, found) = (2, layout.rank());
            return Err(fail(Rule::Rank { expected, found }));
        }
        let backwards = layout.flat_modes().into_iter().filter(|m| m.1 < 0);
        let least: i64 = backwards.map(|(n, d)| (n - 1) * d).sum();
        if least < 0 || layout.cosize() > extent {
            let last = layout.cosize() - 1;
            let coordinate = if least < 0 { least } else { last };
            return Err(fail(Rule::OutOfRange { coordinate, extent }));
        }
        let by = atom.side(atom.reference());
        for i in 0..2 {
            let (value, divisor) = (layout.mode(i)?.size(), by.mode(i)?.size());
            if value % divisor != 0 {
                return Err(fail(Rule::Divisibility { value, divisor }).at([i]));
            }
        }
        let side = |side| {
            thread_values(&layout, by, atom.side(side))
                .map_err(|e| e.shown("tiled_copy", &atom, &layout))
        };
        let (source, destination) = (side(Side::Source)?, side(Side::Destination)?);
        Ok(TiledCopy {
            atom,
            tile,
            layout,
            source,
            destination,
        })
    }

    /// The atom.
    pub fn atom(&self) -> &CopyAtom {
        &self.atom
    }

    /// Extents of the tile that is copied at once.
    pub fn tile(&self) -> &[i64] {
        &self.tile
    }

    /// From (thread, value) to the 1-D column-major coordinate of the tile, by the atom's
    /// reference side.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of threads.
    pub fn threads(&self) -> i64 {
        self.layout.modes()[0].size()
    }

    /// From (thread, (value of the atom, further values)) to the tile, on a side.
    pub fn side(&self, side: Side) -> &Layout {
        match side {
            Side::Source => &self.source,
            Side::Destination => &self.destination,
        }
    }

    /// What each thread reads of a block: `(thread, (value, further values), rest0, rest1, ...)`
    /// to what `block` gives, the rests counting tiles along each mode.
    ///
    /// [`Layout::slice_and_offset`] at a thread gives that thread's part.
    ///
    /// # Errors
    /// [`Rule::Rank`], [`Rule::Divisibility`] with the mode where the tile does not divide the
    /// block, and as [`Layout::compose`].
    pub fn partition_source(&self, block: &Layout) -> Result<Layout> {
        self.partition("partition_source", &self.source, block)
    }

    /// What each thread writes of a block, as [`TiledCopy::partition_source`].
    ///
    /// # Errors
    /// As there.
    pub fn partition_destination(&self, block: &Layout) -> Result<Layout> {
        self.partition("partition_destination", &self.destination, block)
    }

    fn partition(
        &self,
        operation: &'static str,
        thread_values: &Layout,
        block: &Layout,
    ) -> Result<Layout> {
        let parts = || {
            let (inside, rest) = cut(block, &self.tile)?;
            let mut modes = inside.compose(thread_values)?.into_modes();
            modes.extend(rest.into_modes());
            Layout::concat(&modes)
        };
        parts().map_err(|e: LayoutError| e.shown(operation, self, block))
    }

    /// A fragment's registers in this copy's order of values.
    ///
    /// `fragment` is `(values, rest0, rest1, ...)` as another partition of the same tile has them,
    /// such as [`TiledMma::partition_c`](super::TiledMma::partition_c) at one thread; its values
    /// are runs of this copy's values. The result has the modes of this copy's partition of the
    /// reference side: `((value, further values), rest0, rest1, ...)`.
    ///
    /// # Errors
    /// [`Rule::Rank`], [`Rule::Divisibility`] where the fragment's values do not divide this
    /// copy's (mode 0) or the tile's share does not divide the fragment's rests, and as
    /// [`Layout::compose`] where the values are not such runs.
    pub fn retile(&self, fragment: &Layout) -> Result<Layout> {
        self.retiled(fragment)
            .map_err(|e| e.shown("retile", self, fragment))
    }

    fn retiled(&self, fragment: &Layout) -> Result<Layout> {
        let fail = |rule| LayoutError::binary("retile", self, fragment, rule);
        let (expected, found) = (1 + self.tile.len(), fragment.rank());
        if found != expected {
            return Err(fail(Rule::Rank { expected, found }));
        }
        let held = fragment.mode(0)?.size();
        let values = self.layout.mode(1)?.size();
        if values % held != 0 {
            let (value, divisor) = (values, held);
            return Err(fail(Rule::Divisibility { value, divisor }).at([0]));
        }
        // Where each run of `held` values of all threads lies in the tile: (m, n) -> run.
        let unit = self.threads().checked_mul(held);
        let unit = unit.ok_or_else(|| {
            fail(Rule::Overflow {
                what: "the fragment",
            })
        })?;
        let inverse = self.layout.right_inverse();
        let runs = inverse
            .with_shape(IntTuple::from(self.tile.as_slice()))?
            .upcast(unit)?;
        // (value of the atom, further values) -> (value of the fragment, run along m, along n)
        let atom_values = self.atom.side(self.atom.reference()).mode(1)?.size();
        let order = Layout::identity(held)?
            .logical_product(runs.right_inverse())?
            .zipped_divide(&Layout::identity(atom_values)?)?;
        let mut share = vec![held];
        share.extend(runs.modes().iter().map(Layout::size));
        let (inside, rest) = cut(fragment, &share)?;
        let mut modes = vec![inside.compose(&order)?];
        modes.extend(rest.into_modes().into_iter().skip(1));
        Layout::concat(&modes)
    }
}

/// The layout of a side: `layout` goes by the atom's side `by`, the result by its side `other`.
fn thread_values(layout: &Layout, by: &Layout, other: &Layout) -> Result<Layout> {
    let atom = [by.mode(0)?.size(), by.mode(1)?.size()];
    let tiles = [Layout::identity(atom[0])?, Layout::identity(atom[1])?];
    let divided = layout.zipped_divide(&tiles)?;
    let inside = divided
        .mode(0)?
        .compose(&by.right_inverse().compose(other)?)?;
    let profile = Nest::Tuple(vec![Nest::Int(1), IntTuple::from([1, 1])]);
    zip(&inside, &divided.mode(1)?)?.coalesce_by(&profile)
}

impl TryFrom<Text> for TiledCopy {
    type Error = LayoutError;

    fn try_from(text: Text) -> Result<TiledCopy> {
        TiledCopy::over(text.atom, text.tile, text.layout)
    }
}

impl From<TiledCopy> for Text {
    fn from(copy: TiledCopy) -> Text {
        Text {
            atom: copy.atom,
            tile: copy.tile,
            layout: copy.layout,
        }
    }
}

impl fmt::Display for TiledCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tile = IntTuple::from(self.tile.as_slice());
        write!(f, "{} over {tile} by {}", self.layout, self.atom)
    }
}
