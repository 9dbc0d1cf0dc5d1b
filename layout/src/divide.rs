//! Divides: a layout cut into a tile and the rest.

use smallvec::SmallVec;

use crate::coalesce::coalesced;
use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::{Layout, View};
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
        let tiler = tiler.into();
        let divided = self.view().divide(&tiler).and_then(Layout::checked);
        divided.map_err(|fault| fault.of("logical_divide", self, &tiler))
    }

    /// [`Layout::logical_divide`] for tiles that cover each mode a whole number of times.
    ///
    /// # Errors
    /// [`Rule::Divisibility`] with the mode and both sizes, [`Rule::Mismatch`] where the tile has
    /// gaps that cannot be filled or reaches past an extent within the mode, or as
    /// [`Layout::logical_divide`].
    pub fn divide_evenly(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        let tiler = tiler.into();
        let divided = self.divided_evenly(&tiler).and_then(Layout::checked);
        divided.map_err(|fault| fault.of("divide_evenly", self, &tiler))
    }

    fn divided_evenly(&self, tiler: &Tiler) -> Result<Layout<S>, Fault> {
        match tiler {
            Tiler::Whole => Ok(self.clone()),
            Tiler::Layout(tile) => {
                let (value, divisor) = (self.size(), tile.size());
                if value % divisor != 0 {
                    return Err(Rule::Divisibility { value, divisor }.into());
                }
                if !tile.leaves_no_gap() {
                    let why = "the tile leaves gaps that no repetition of it fills";
                    return Err(Rule::Mismatch { why }.into());
                }
                let divided = self.view().divide(tiler)?.checked()?;
                if divided.size() != value {
                    let why = "the tile reaches past the end of an extent, or repeats an element";
                    return Err(Rule::Mismatch { why }.into());
                }
                Ok(divided)
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.rank())?;
                let mut modes = self.modes();
                for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                    let divided = mode.divided_evenly(tiler);
                    *mode = divided.map_err(|fault| fault.within(i))?;
                }
                Ok(Layout::bundle(modes))
            }
        }
    }

    /// A divide whose tiles and rests are put together by `arrange`.
    fn arranged_divide(
        &self,
        operation: &'static str,
        tiler: Tiler,
        arrange: impl FnOnce(Layout<S>, Layout<S>) -> Layout<S>,
    ) -> Result<Layout<S>> {
        let parts = self.view().cut_all(&tiler);
        let divided = parts.and_then(|(tile, rest)| arrange(tile, rest).checked());
        divided.map_err(|fault| fault.of(operation, self, &tiler))
    }

    /// [`Layout::logical_divide`] with the tiles of all modes gathered in mode 0 and the rests in
    /// mode 1: `((tile...),(rest...))`.
    ///
    /// # Errors
    /// As [`Layout::logical_divide`]; [`Rule::NothingToZip`] for `_`.
    pub fn zipped_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        self.arranged_divide("zipped_divide", tiler.into(), |tile, rest| {
            Layout::bundle([tile, rest])
        })
    }

    /// `(tile, rest0, rest1, ...)`: [`Layout::zipped_divide`] with the rests at the top.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn tiled_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        self.arranged_divide("tiled_divide", tiler.into(), |tile, rest| {
            Layout::bundle(std::iter::once(tile).chain(rest.into_modes()))
        })
    }

    /// `(tile0, tile1, ..., rest0, rest1, ...)`.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn flat_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        self.arranged_divide("flat_divide", tiler.into(), |tile, rest| {
            Layout::bundle(tile.into_modes().into_iter().chain(rest.into_modes()))
        })
    }

    /// The same as [`Layout::zipped_divide`]: the tile and rest of each mode, unzipped along the
    /// tiler's tree.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn hier_unzip_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout<S>> {
        self.zipped_divide(tiler).map_err(|e| LayoutError {
            operation: "hier_unzip_divide",
            ..e
        })
    }
}

impl<S: Stride> View<'_, S> {
    /// [`Layout::logical_divide`], for the caller to check.
    fn divide(self, tiler: &Tiler) -> Result<Layout<S>, Fault> {
        match tiler {
            Tiler::Whole => Ok(self.to_layout()),
            Tiler::Layout(tile) => self
                .cut(tile)
                .map(|(tile, rest)| Layout::bundle([tile, rest])),
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.rank())?;
                let mut modes = Vec::with_capacity(self.rank());
                for (i, mode) in self.modes().enumerate() {
                    modes.push(match tilers.get(i) {
                        Some(tiler) => mode.divide(tiler).map_err(|fault| fault.within(i))?,
                        None => mode.to_layout(),
                    });
                }
                Ok(Layout::bundle(modes))
            }
        }
    }

    /// The tile and the rest of one mode.
    fn cut(self, tile: &Layout) -> Result<(Layout<S>, Layout<S>), Fault> {
        let within = coalesced(&self.leaves());
        let within: SmallVec<[i64; 4]> = within.iter().map(|mode| mode.0).collect();
        let rest = tile.complement_in(&within)?;
        self.compose_pair(tile, &rest)
    }

    /// The tiles of all modes and the rests of all modes, along the tiler's tree, for the caller to
    /// check.
    fn cut_all(self, tiler: &Tiler) -> Result<(Layout<S>, Layout<S>), Fault> {
        match tiler {
            Tiler::Layout(tile) => self.cut(tile),
            Tiler::Whole => Err(Rule::NothingToZip.into()),
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.rank())?;
                let mut tiles = Vec::with_capacity(tilers.len());
                let mut rests = Vec::with_capacity(self.rank());
                for (i, mode) in self.modes().enumerate() {
                    let Some(tiler) = tilers.get(i) else {
                        rests.push(mode.to_layout());
                        continue;
                    };
                    let (tile, rest) = mode.cut_all(tiler).map_err(|fault| fault.within(i))?;
                    tiles.push(tile);
                    rests.push(rest);
                }
                Ok((Layout::bundle(tiles), Layout::bundle(rests)))
            }
        }
    }
}
