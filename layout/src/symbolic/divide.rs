//! Divides of layouts with symbolic extents.

use super::algebra::{Mode, OVERFLOW, coalesced};
use super::{Extent, SymLayout};
use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::tiler::Tiler;

/// The tile and what repeats it.
type Cut = (SymLayout, SymLayout);

impl SymLayout {
    /// (tile, rest), as [`Layout::logical_divide`]; a symbolic extent must be known to be a
    /// multiple of what the tile takes of it.
    ///
    /// # Errors
    /// As there; [`Rule::NeedsMultiple`] or [`Rule::NeedsStatic`] with the mode of the name.
    pub fn logical_divide(&self, tiler: impl Into<Tiler>) -> Result<SymLayout> {
        let tiler = tiler.into();
        self.divide(&tiler)
            .map_err(|fault| fault.of("logical_divide", self, &tiler))
    }

    /// Divides one mode, leaving the others.
    ///
    /// # Errors
    /// [`Rule::NoSuchMode`], and as [`SymLayout::logical_divide`] with the mode named.
    pub fn divide_mode(&self, mode: usize, tile: &Layout) -> Result<SymLayout> {
        let mut modes = self.modes();
        let rank = modes.len();
        let Some(part) = modes.get_mut(mode) else {
            let rule = Rule::NoSuchMode { index: mode, rank };
            return Err(LayoutError::binary("logical_divide", self, tile, rule).at([mode]));
        };
        let divided = part.divide(&Tiler::from(tile));
        *part = divided.map_err(|fault| fault.within(mode).of("logical_divide", self, tile))?;
        SymLayout::bundle(modes)
    }

    /// ((tile of each mode), (rest of each mode)), as [`Layout::zipped_divide`].
    ///
    /// # Errors
    /// As there and as [`SymLayout::logical_divide`].
    pub fn zipped_divide(&self, tiler: impl Into<Tiler>) -> Result<SymLayout> {
        self.arranged_divide("zipped_divide", tiler.into(), |tile, rest| vec![tile, rest])
    }

    /// (tile, rest0, rest1, ...), as [`Layout::tiled_divide`].
    ///
    /// # Errors
    /// As [`SymLayout::zipped_divide`].
    pub fn tiled_divide(&self, tiler: impl Into<Tiler>) -> Result<SymLayout> {
        self.arranged_divide("tiled_divide", tiler.into(), |tile, rest| {
            [vec![tile], rest.modes()].concat()
        })
    }

    /// (tile0, tile1, ..., rest0, rest1, ...), as [`Layout::flat_divide`].
    ///
    /// # Errors
    /// As [`SymLayout::zipped_divide`].
    pub fn flat_divide(&self, tiler: impl Into<Tiler>) -> Result<SymLayout> {
        self.arranged_divide("flat_divide", tiler.into(), |tile, rest| {
            [tile.modes(), rest.modes()].concat()
        })
    }

    fn arranged_divide(
        &self,
        operation: &'static str,
        tiler: Tiler,
        arrange: impl FnOnce(SymLayout, SymLayout) -> Vec<SymLayout>,
    ) -> Result<SymLayout> {
        let parts = self.cut_all(&tiler);
        let divided = parts.and_then(|(tile, rest)| Ok(SymLayout::bundle(arrange(tile, rest))?));
        divided.map_err(|fault| fault.of(operation, self, &tiler))
    }

    fn divide(&self, tiler: &Tiler) -> Result<SymLayout, Fault> {
        match tiler {
            Tiler::Whole => Ok(self.clone()),
            Tiler::Layout(tile) => {
                let (tile, rest) = self.cut(tile)?;
                Ok(SymLayout::bundle(vec![tile, rest])?)
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.shape.rank())?;
                let mut modes = self.modes();
                for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                    *mode = mode.divide(tiler).map_err(|fault| fault.within(i))?;
                }
                Ok(SymLayout::bundle(modes)?)
            }
        }
    }

    /// The tiles of all modes and the rests of all modes, along the tiler's tree.
    fn cut_all(&self, tiler: &Tiler) -> Result<Cut, Fault> {
        match tiler {
            Tiler::Layout(tile) => self.cut(tile),
            Tiler::Whole => Err(Rule::NothingToZip.into()),
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.shape.rank())?;
                let (mut tiles, mut rests) = (Vec::new(), Vec::new());
                for (i, mode) in self.modes().into_iter().enumerate() {
                    let Some(tiler) = tilers.get(i) else {
                        rests.push(mode);
                        continue;
                    };
                    let (tile, rest) = mode.cut_all(tiler).map_err(|fault| fault.within(i))?;
                    tiles.push(tile);
                    rests.push(rest);
                }
                Ok((SymLayout::bundle(tiles)?, SymLayout::bundle(rests)?))
            }
        }
    }

    /// The tile and the rest of one mode.
    fn cut(&self, tile: &Layout) -> Result<Cut, Fault> {
        let within = coalesced(self.flat_modes())?;
        // A complement within its own cosize ends where the tile ends; what is beyond is counted
        // mode by mode.
        let inside = tile.complement_self()?;
        let filtered = tile.filter();
        let reaches = filtered.flat_modes().into_iter();
        let covered = reaches.map(|(n, d)| n.saturating_mul(d)).max();
        let covered = covered.unwrap_or(1).max(1);
        let mut rest = Extent::Static(1);
        let mut divisor = covered;
        let mut names = 0;
        for (extent, _) in &within {
            let name_fault = |rule| Fault::at(rule, self.name_path(names));
            rest = match (extent, &rest) {
                (Extent::Static(n), rest) => {
                    let tiles = n / divisor + i64::from(n % divisor != 0);
                    divisor = divisor / n + i64::from(divisor % n != 0);
                    rest.times(tiles).ok_or(OVERFLOW)?
                }
                (symbolic, Extent::Static(before)) => {
                    let tiles = symbolic.divided(divisor);
                    let tiles =
                        tiles.ok_or_else(|| name_fault(symbolic.needs_multiple(divisor)))?;
                    divisor = 1;
                    names += 1;
                    tiles.times(*before).ok_or(OVERFLOW)?
                }
                (symbolic, _) => {
                    let why = "only one extent of what is divided may be symbolic";
                    return Err(name_fault(symbolic.needs_static(why)));
                }
            };
        }
        let inside = inside.flat_modes().into_iter();
        let mut modes: Vec<Mode<i64>> = inside.map(|(n, d)| (Extent::Static(n), d)).collect();
        modes.push((rest, covered));
        let rest = SymLayout::from_modes(coalesced(modes)?)?;
        let divisor = SymLayout::bundle(vec![SymLayout::from(tile), rest])?;
        let divided = self
            .composed(&divisor)
            .map_err(|fault| self.divide_fault(fault))?;
        let mut parts = divided.modes().into_iter();
        match (parts.next(), parts.next()) {
            (Some(tile), Some(rest)) => Ok((tile, rest)),
            _ => unreachable!("a composition has the modes of its right operand"),
        }
    }

    /// A fault of the composition with (tile, rest): at the name where one is in the way, else at
    /// the tile's mode.
    fn divide_fault(&self, fault: Fault) -> Fault {
        match fault.rule() {
            Rule::NeedsStatic { .. } | Rule::NeedsMultiple { .. } => {
                let rule = fault.rule().clone();
                Fault::at(rule, self.name_path(0))
            }
            _ => fault.inside(0),
        }
    }
}
