//! Divides: a layout cut into a tile and the rest.

use crate::coalesce::coalesced;
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::Nest;
use crate::tiler::Tiler;

impl Layout {
    /// Splits into (tile, rest): the tile's coordinates pick the elements that `tiler` names, the
    /// rest says which repetition of it. With one tiler per mode, each mode is split so.
    ///
    /// A size that the tile does not divide is rounded up, as in CuTe, and the result then reaches
    /// past the layout; [`Layout::divide_evenly`] refuses instead.
    ///
    /// # Errors
    /// As [`Layout::complement`] of the tiler and [`Layout::compose`].
    pub fn logical_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.divide("logical_divide", &tiler.into())
    }

    /// [`Layout::logical_divide`] for tiles that cover each mode a whole number of times.
    ///
    /// # Errors
    /// [`Rule::Divisibility`] with the mode and both sizes, [`Rule::Mismatch`] where the tile has
    /// gaps that cannot be filled or reaches past an extent within the mode, or as [`Layout::logical_divide`].
    pub fn divide_evenly(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.divided_evenly(&tiler.into())
    }

    fn divided_evenly(&self, tiler: &Tiler) -> Result<Layout> {
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
                let divided = self.divide("logical_divide", tiler)?;
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
                Layout::concat(&modes)
            }
        }
    }

    fn divide(&self, operation: &'static str, tiler: &Tiler) -> Result<Layout> {
        match tiler {
            Tiler::Whole => Ok(self.clone()),
            Tiler::Layout(tile) => {
                let within = coalesced(&self.flat_modes());
                let within: Vec<_> = within.iter().map(|m| m.0).collect();
                let rest = tile.complement_in(&within);
                let rest = rest.map_err(|e| LayoutError::binary(operation, self, tile, e.rule))?;
                let divisor = Layout::concat(&[tile.clone(), rest])?;
                let ragged_from = tile.shape.leaves().len();
                self.compose_rounding(&divisor, ragged_from)
                    .map_err(|(path, rule)| {
                        // The path is within (tile, rest), of which the caller knows the tile.
                        let path = path.get(1..).unwrap_or_default();
                        LayoutError::binary(operation, self, tile, rule).at(path)
                    })
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(operation, self)?;
                let mut modes = self.modes();
                for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                    *mode = mode.divide(operation, tiler).map_err(|e| e.within(i))?;
                }
                Layout::concat(&modes)
            }
        }
    }

    /// [`Layout::logical_divide`] with the tiles of all modes gathered in mode 0 and the rests in
    /// mode 1: `((tile...),(rest...))`.
    ///
    /// # Errors
    /// As [`Layout::logical_divide`]; [`Rule::NothingToZip`] for `_`.
    pub fn zipped_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        let tiler = tiler.into();
        self.divide("zipped_divide", &tiler)?
            .unzipped("zipped_divide", self, &tiler)
    }

    /// `(tile, rest0, rest1, ...)`: [`Layout::zipped_divide`] with the rests at the top.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn tiled_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        let tiler = tiler.into();
        let zipped = self
            .divide("tiled_divide", &tiler)?
            .unzipped("tiled_divide", self, &tiler)?;
        zipped.spread(1)
    }

    /// `(tile0, tile1, ..., rest0, rest1, ...)`.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn flat_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        let tiler = tiler.into();
        let zipped = self
            .divide("flat_divide", &tiler)?
            .unzipped("flat_divide", self, &tiler)?;
        zipped.spread(0)
    }

    /// The same as [`Layout::zipped_divide`]: the tile and rest of each mode, unzipped along the
    /// tiler's tree.
    ///
    /// # Errors
    /// As [`Layout::zipped_divide`].
    pub fn hier_unzip_divide(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.zipped_divide(tiler)
    }

    /// Gathers first halves and second halves along the tiler's tree. `whole` is the layout before
    /// it was divided, for messages.
    pub(crate) fn unzipped(
        &self,
        operation: &'static str,
        whole: &Layout,
        tiler: &Tiler,
    ) -> Result<Layout> {
        match tiler {
            Tiler::Layout(_) => Ok(self.clone()),
            Tiler::Whole => {
                Err(LayoutError::binary(operation, whole, tiler, Rule::NothingToZip).at([]))
            }
            Tiler::Modes(tilers) => {
                let mut firsts = Vec::with_capacity(tilers.len());
                let mut seconds = Vec::with_capacity(self.rank());
                for (i, mode) in self.modes().into_iter().enumerate() {
                    let Some(tiler) = tilers.get(i) else {
                        seconds.push(mode);
                        continue;
                    };
                    let whole = whole.mode(i)?;
                    let pair = mode.unzipped(operation, &whole, tiler);
                    let pair = pair.map_err(|e| e.within(i))?;
                    firsts.push(pair.mode(0)?);
                    seconds.push(pair.mode(1)?);
                }
                Layout::concat(&[Layout::concat(&firsts)?, Layout::concat(&seconds)?])
            }
        }
    }

    /// A layout whose modes from `first` on are replaced by their own modes.
    pub(crate) fn spread(&self, first: usize) -> Result<Layout> {
        let mut modes = Vec::new();
        for (i, mode) in self.modes().into_iter().enumerate() {
            if i >= first && matches!(mode.shape, Nest::Tuple(_)) {
                modes.extend(mode.modes());
            } else {
                modes.push(mode);
            }
        }
        Layout::concat(&modes)
    }
}
