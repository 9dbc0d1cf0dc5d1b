//! Divides: a layout cut into a tile and the rest.

use crate::coalesce::coalesced;
use crate::compose::Fault;
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::stride::Stride;
use crate::tiler::Tiler;

impl<S: Stride> Layout<S> {
    /// Splits into (tile, rest): the tile's coordinates pick the elements that `tiler` names, the
    /// rest says which repetition of it. With one tiler per mode, each mode is split so.
    ///
    /// A size that the tile does not divide is rounded up, as in CuTe, and the result then reaches
    /// past the layout; [`Layout::divide_evenly`] refuses instead.
    ///
    /// # Errors
    /// As [`Layout::complement`] of the tiler and [`Layout::compose`].
    pub fn logical_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        self.divide("logical_divide", &tiler.into())?
            .validated("logical_divide")
    }

    /// [`Layout::logical_divide`] for tiles that cover each mode a whole number of times.
    ///
    /// # Errors
    /// [`Rule::Divisibility`] with the mode and both sizes, [`Rule::Mismatch`] where the tile has
    /// gaps that cannot be filled or reaches past an extent within the mode, or as [`Layout::logical_divide`].
    pub fn divide_evenly(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        self.divided_evenly(&tiler.into())
    }

    fn divided_evenly(&self, tiler: &Tiler) -> Result<Layout<S>> {
        let fail = |rule| Err(LayoutError::binary("logical_divide", self, tiler, rule).at([]));
        match tiler {
            Tiler::Whole => Ok(self.clone()),
            Tiler::Layout(tile) => {
                let (value, divisor) = (self.size(), tile.size());
                if value % divisor != 0 {
                    return fail(Rule::Divisibility { value, divisor });
                }
                if !tile.leaves_no_gap() {
                    let why = "the tile leaves gaps that no repetition of it fills";
                    return fail(Rule::Mismatch { why });
                }
                let divided = self
                    .divide("logical_divide", tiler)?
                    .validated("logical_divide")?;
                if divided.size() != value {
                    let why = "the tile reaches past the end of an extent, or repeats an element";
                    return fail(Rule::Mismatch { why });
                }
                Ok(divided)
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank("logical_divide", self)?;
                let mut modes = self.modes();
                for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                    *mode = mode.divided_evenly(tiler).map_err(|e| e.within(i))?;
                }
                Layout::join(modes, "logical_divide")
            }
        }
    }

    fn divide(&self, operation: &'static str, tiler: &Tiler) -> Result<Layout<S>> {
        match tiler {
            Tiler::Whole => Ok(self.clone()),
            Tiler::Layout(tile) => {
                let (tile, rest) = self.cut(operation, tile)?;
                Ok(Layout::bundle(vec![tile, rest]))
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(operation, self)?;
                let mut modes = self.modes();
                for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                    *mode = mode.divide(operation, tiler).map_err(|e| e.within(i))?;
                }
                Ok(Layout::bundle(modes))
            }
        }
    }

    /// The tile and the rest of one mode.
    fn cut(&self, operation: &'static str, tile: &Layout) -> Result<(Layout<S>, Layout<S>)> {
        let fail = |(path, rule): Fault| LayoutError::binary(operation, self, tile, rule).at(path);
        let within = coalesced(&self.flat_modes());
        let within: Vec<_> = within.iter().map(|m| m.0).collect();
        let rest = tile
            .complement_in(&within)
            .map_err(|e| fail((vec![], e.rule)))?;
        self.compose_pair(tile, &rest).map_err(fail)
    }

    /// The tiles of all modes and the rests of all modes, along the tiler's tree.
    fn cut_all(&self, operation: &'static str, tiler: &Tiler) -> Result<(Layout<S>, Layout<S>)> {
        match tiler {
            Tiler::Layout(tile) => self.cut(operation, tile),
            Tiler::Whole => {
                Err(LayoutError::binary(operation, self, tiler, Rule::NothingToZip).at([]))
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(operation, self)?;
                let mut tiles = Vec::with_capacity(tilers.len());
                let mut rests = Vec::with_capacity(self.rank());
                for (i, mode) in self.modes().into_iter().enumerate() {
                    let Some(tiler) = tilers.get(i) else {
                        rests.push(mode);
                        continue;
                    };
                    let (tile, rest) = mode.cut_all(operation, tiler).map_err(|e| e.within(i))?;
                    tiles.push(tile);
                    rests.push(rest);
                }
                Ok((
                    Layout::join(tiles, operation)?,
                    Layout::join(rests, operation)?,
                ))
            }
        }
    }

    /// [`Layout::logical_divide`] with the tiles of all modes gathered in mode 0 and the rests in
    /// mode 1: `((tile...),(rest...))`.
    ///
    /// # Errors
    /// As [`Layout::logical_divide`]; [`Rule::NothingToZip`] for `_`.
    pub fn zipped_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        let (tile, rest) = self.cut_all("zipped_divide", &tiler.into())?;
        Layout::join(vec![tile, rest], "zipped_divide")
    }

    /// `(tile, rest0, rest1, ...)`: [`Layout::zipped_divide`] with the rests at the top.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn tiled_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        let (tile, rest) = self.cut_all("tiled_divide", &tiler.into())?;
        let mut modes = vec![tile];
        modes.extend(rest.into_modes());
        Layout::join(modes, "tiled_divide")
    }

    /// `(tile0, tile1, ..., rest0, rest1, ...)`.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn flat_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        let (tile, rest) = self.cut_all("flat_divide", &tiler.into())?;
        let mut modes = tile.into_modes();
        modes.extend(rest.into_modes());
        Layout::join(modes, "flat_divide")
    }

    /// The same as [`Layout::zipped_divide`]: the tile and rest of each mode, unzipped along the
    /// tiler's tree.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn hier_unzip_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        self.zipped_divide(tiler)
    }
}
