//! Slicing: fixing some coordinates and keeping the modes where `_` stands.

use crate::composed::ComposedLayout;
use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::stride::Stride;

/// A coordinate with holes: `None`, written `_`, keeps the mode it stands on.
pub type SliceCoord = Nest<Option<i64>>;

impl<S: Stride> Layout<S> {
    /// The modes under `_`, side by side; the part of the function that the fixed coordinates add
    /// is dropped ([`Layout::slice_and_offset`] has it).
    ///
    /// `_` alone keeps the whole layout; a coordinate without `_` leaves `1:0`.
    ///
    /// # Errors
    /// [`Rule::Rank`] with the mode and both ranks where a tuple of the coordinate stands on a mode
    /// of another rank, [`Rule::Mismatch`] where one stands on a mode without modes.
    pub fn slice(&self, coord: &SliceCoord) -> Result<Layout<S>> {
        if *coord == Nest::Int(None) {
            return Ok(self.clone());
        }
        let mut kept = vec![];
        walk(coord, self, &mut kept, &mut |_, _| Ok(()))
            .map_err(|fault| fault.of("slice", self, &slice_text(coord)))?;
        match kept.is_empty() {
            true => Ok(Layout::unit()),
            false => Layout::concat(&kept),
        }
    }

    /// The modes that `coord` fixes, side by side: what [`Layout::slice`] leaves out.
    ///
    /// # Errors
    /// As [`Layout::slice`].
    pub fn dice(&self, coord: &SliceCoord) -> Result<Layout<S>> {
        let flipped = coord.map(&mut |c| match c {
            Some(_) => None,
            None => Some(0),
        });
        self.slice(&flipped)
            .map_err(|e| e.shown("dice", self, &slice_text(coord)))
    }
}

impl Layout {
    /// The modes under `_`, and the offset of the coordinates given elsewhere.
    ///
    /// # Errors
    /// As [`Layout::slice`]; [`Rule::Overflow`] for the offset.
    pub fn slice_and_offset(&self, coord: &SliceCoord) -> Result<(Layout, i64)> {
        let mut total = 0i64;
        let layout = self.slice(coord)?;
        let mut add = |mode: &Layout, c: i64| {
            let offset = mode.at_coord(&IntTuple::Int(c)).map_err(|e| e.rule)?;
            let overflow = Rule::Overflow { what: "the offset" };
            total = total.checked_add(offset).ok_or(overflow)?;
            Ok(())
        };
        walk(coord, self, &mut vec![], &mut add)
            .map_err(|fault| fault.of("slice", self, &slice_text(coord)))?;
        Ok((layout, total))
    }
}

impl ComposedLayout {
    /// The modes under `_`, with the offset of the others added before the outer function, so that
    /// the result gives the very offsets of the whole layout.
    ///
    /// # Errors
    /// As [`Layout::slice_and_offset`].
    pub fn slice(&self, coord: &SliceCoord) -> Result<ComposedLayout> {
        let parts = self.inner().slice_and_offset(coord);
        let (inner, offset) = parts.map_err(|e| e.shown("slice", self, &slice_text(coord)))?;
        let total = self.offset().checked_add(offset).ok_or_else(|| {
            let rule = Rule::Overflow { what: "the offset" };
            LayoutError::binary("slice", self, &slice_text(coord), rule)
        })?;
        ComposedLayout::with_offset(self.outer().clone(), total, inner)
    }
}

/// Collects the modes under `_`, and gives each coordinate that is fixed, with its mode, to `fixed`.
fn walk<S: Stride>(
    coord: &SliceCoord,
    layout: &Layout<S>,
    kept: &mut Vec<Layout<S>>,
    fixed: &mut impl FnMut(&Layout<S>, i64) -> Result<(), Rule>,
) -> Result<(), Fault> {
    match coord {
        Nest::Int(None) => kept.push(layout.clone()),
        Nest::Int(Some(c)) => fixed(layout, *c)?,
        Nest::Tuple(items) => {
            let modes = layout.modes();
            if layout.depth() == 0 {
                let why = "a tuple of coordinates stands on a mode that has no modes of its own";
                return Err(Rule::Mismatch { why }.into());
            }
            if items.len() != modes.len() {
                let (expected, found) = (layout.rank(), items.len());
                return Err(Rule::Rank { expected, found }.into());
            }
            for (i, (coord, mode)) in items.iter().zip(&modes).enumerate() {
                walk(coord, mode, kept, fixed).map_err(|fault| fault.within(i))?;
            }
        }
    }
    Ok(())
}

/// A coordinate with holes as text.
pub fn slice_text(coord: &SliceCoord) -> String {
    let text = coord.map(&mut |c| match c {
        Some(c) => c.to_string(),
        None => "_".to_string(),
    });
    text.to_string()
}
