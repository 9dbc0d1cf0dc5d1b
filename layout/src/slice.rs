//! Slicing: fixing some coordinates and keeping the modes where `_` stands.

use crate::composed::ComposedLayout;
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};

/// A coordinate with holes: `None`, written `_`, keeps the mode it stands on.
pub type SliceCoord = Nest<Option<i64>>;

impl Layout {
    /// The modes under `_`, side by side; the part of the function that the fixed coordinates add
    /// is dropped ([`Layout::slice_and_offset`] has it).
    ///
    /// `_` alone keeps the whole layout; a coordinate without `_` leaves `1:0`.
    ///
    /// # Errors
    /// [`Rule::Rank`] with the mode and both ranks where a tuple of the coordinate stands on a mode
    /// of another rank, and as [`Layout::slice_and_offset`].
    pub fn slice(&self, coord: &SliceCoord) -> Result<Layout> {
        Ok(self.slice_and_offset(coord)?.0)
    }

    /// The modes under `_`, and the offset of the coordinates given elsewhere.
    ///
    /// # Errors
    /// As [`Layout::slice`]; [`Rule::Overflow`] for the offset.
    pub fn slice_and_offset(&self, coord: &SliceCoord) -> Result<(Layout, i64)> {
        if *coord == Nest::Int(None) {
            return Ok((self.clone(), 0));
        }
        let mut parts = Parts {
            kept: vec![],
            offset: 0,
        };
        walk(coord, self, &mut parts).map_err(|(mut path, rule)| {
            path.reverse();
            LayoutError::binary("slice", self, &slice_text(coord), rule).at(path)
        })?;
        let layout = if parts.kept.is_empty() {
            Layout::unit()
        } else {
            Layout::concat(&parts.kept)?
        };
        Ok((layout, parts.offset))
    }

    /// The modes that `coord` fixes, side by side: what [`Layout::slice`] leaves out.
    ///
    /// # Errors
    /// As [`Layout::slice`].
    pub fn dice(&self, coord: &SliceCoord) -> Result<Layout> {
        let flipped = coord.map(&mut |c| match c {
            Some(_) => None,
            None => Some(0),
        });
        self.slice(&flipped)
    }
}

impl ComposedLayout {
    /// The modes under `_`, with the offset of the others added before the outer function, so that
    /// the result gives the very offsets of the whole layout.
    ///
    /// # Errors
    /// As [`Layout::slice_and_offset`].
    pub fn slice(&self, coord: &SliceCoord) -> Result<ComposedLayout> {
        let (inner, offset) = self.inner().slice_and_offset(coord)?;
        let total = self.offset().checked_add(offset).ok_or_else(|| {
            let rule = Rule::Overflow { what: "the offset" };
            LayoutError::binary("slice", self, &slice_text(coord), rule)
        })?;
        ComposedLayout::with_offset(self.outer().clone(), total, inner)
    }
}

struct Parts {
    kept: Vec<Layout>,
    offset: i64,
}

fn walk(coord: &SliceCoord, layout: &Layout, parts: &mut Parts) -> Result<(), (Vec<usize>, Rule)> {
    match coord {
        Nest::Int(None) => parts.kept.push(layout.clone()),
        Nest::Int(Some(c)) => {
            let offset = layout
                .at_coord(&IntTuple::Int(*c))
                .map_err(|e| (vec![], e.rule))?;
            let overflow = (vec![], Rule::Overflow { what: "the offset" });
            parts.offset = parts.offset.checked_add(offset).ok_or(overflow)?;
        }
        Nest::Tuple(items) => {
            let modes = layout.modes();
            if layout.depth() == 0 || items.len() != modes.len() {
                return Err((
                    vec![],
                    Rule::Rank {
                        expected: layout.rank(),
                        found: items.len(),
                    },
                ));
            }
            for (i, (coord, mode)) in items.iter().zip(&modes).enumerate() {
                walk(coord, mode, parts).map_err(|(mut path, rule)| {
                    path.push(i);
                    (path, rule)
                })?;
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
