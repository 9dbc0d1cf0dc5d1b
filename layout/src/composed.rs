//! Composed layouts: a swizzle (or another layout) after an offset after a layout.

use std::fmt;

use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::IntTuple;
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;

/// Functions up to this many coordinates are checked one by one where no structural argument
/// decides.
const CHECKED: i64 = 1 << 16;

/// What comes last in a composed layout.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Outer {
    /// A swizzle of the offset.
    Swizzle(Swizzle),
    /// A layout over the offset.
    Layout(Layout),
}

impl Outer {
    /// The value at `x`; saturating where a layout's last mode runs past 64 bits.
    pub fn apply(&self, x: i64) -> i64 {
        match self {
            Outer::Swizzle(swizzle) => swizzle.apply(x),
            Outer::Layout(layout) => layout.at(x),
        }
    }

    fn is_identity(&self) -> bool {
        matches!(self, Outer::Swizzle(swizzle) if swizzle.is_identity())
    }
}

/// `x -> outer(offset + inner(x))`, written `Sw<2,0,3> o 0 o (8,8):(8,1)`.
///
/// A plain layout is one whose swizzle is the identity; it prints as the plain layout.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ComposedLayout {
    outer: Outer,
    offset: i64,
    inner: Layout,
}

impl From<Layout> for ComposedLayout {
    fn from(inner: Layout) -> Self {
        ComposedLayout {
            outer: Outer::Swizzle(Swizzle::IDENTITY),
            offset: 0,
            inner,
        }
    }
}

impl From<&Layout> for ComposedLayout {
    fn from(inner: &Layout) -> Self {
        inner.clone().into()
    }
}

impl ComposedLayout {
    /// The layout swizzled, with nothing added before.
    pub fn new(swizzle: Swizzle, inner: Layout) -> ComposedLayout {
        ComposedLayout {
            outer: Outer::Swizzle(swizzle),
            offset: 0,
            inner,
        }
        .normalised()
    }

    /// `outer o offset o inner`.
    ///
    /// # Errors
    /// [`Rule::Overflow`] where an offset of `inner` plus `offset` leaves 64 bits.
    pub fn with_offset(outer: Outer, offset: i64, inner: Layout) -> Result<ComposedLayout> {
        let reach = inner.cosize().checked_add(offset.saturating_abs());
        if reach.is_none() || offset == i64::MIN {
            let rule = Rule::Overflow { what: "the offset" };
            return Err(LayoutError::binary("composition", &offset, &inner, rule));
        }
        Ok(ComposedLayout {
            outer,
            offset,
            inner,
        }
        .normalised())
    }

    /// Plain layouts are equal whatever the fields of their identity swizzle.
    fn normalised(mut self) -> ComposedLayout {
        if self.as_plain().is_some() {
            self.outer = Outer::Swizzle(Swizzle::IDENTITY);
        }
        self
    }

    /// What comes last.
    pub fn outer(&self) -> &Outer {
        &self.outer
    }

    /// The swizzle, where the outer function is one.
    pub fn swizzle(&self) -> Option<Swizzle> {
        match self.outer {
            Outer::Swizzle(swizzle) => Some(swizzle),
            Outer::Layout(_) => None,
        }
    }

    /// What is added to the inner layout's offsets.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The layout that comes first.
    pub fn inner(&self) -> &Layout {
        &self.inner
    }

    /// The layout alone, where the rest changes nothing.
    pub fn as_plain(&self) -> Option<&Layout> {
        (self.offset == 0 && self.outer.is_identity()).then_some(&self.inner)
    }

    /// The shape: the inner layout's.
    pub fn shape(&self) -> &IntTuple {
        self.inner.shape()
    }

    /// Number of modes at the top.
    pub fn rank(&self) -> usize {
        self.inner.rank()
    }

    /// Levels of nesting.
    pub fn depth(&self) -> usize {
        self.inner.depth()
    }

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.inner.size()
    }

    /// An upper bound of the largest offset, plus one: what to allocate for it.
    ///
    /// Exact for plain layouts and up to 65,536 coordinates; beyond, what the swizzle can reach at
    /// most.
    /// (CuTe gives the inner layout's cosize, which a swizzle can exceed.)
    pub fn cosize(&self) -> i64 {
        if self.as_plain().is_some() {
            return self.inner.cosize();
        }
        if self.size() <= CHECKED {
            return (0..self.size())
                .map(|i| self.at(i))
                .max()
                .unwrap_or(0)
                .saturating_add(1);
        }
        let top = self.inner.cosize() - 1 + self.offset;
        match &self.outer {
            Outer::Swizzle(swizzle) => {
                // It permutes each aligned block of its period, and leaves all bits above its
                // target as they are.
                let period = swizzle.period();
                let block = (top / period).saturating_add(1).saturating_mul(period);
                let below = (1i64 << (64 - swizzle.target_mask().leading_zeros())) - 1;
                block.min((top | below).saturating_add(1))
            }
            Outer::Layout(layout) => {
                // Beyond its size the layout goes on in its last mode.
                let modes = layout.flat_modes();
                let (mut rest, mut reach) = (top.max(0), 0i64);
                for (i, &(extent, stride)) in modes.iter().enumerate() {
                    let steps = if i + 1 == modes.len() {
                        rest
                    } else {
                        extent - 1
                    };
                    reach = reach.saturating_add(steps.saturating_mul(stride.max(0)));
                    rest /= extent;
                }
                reach.saturating_add(1)
            }
        }
    }

    /// The offset of a 1-D coordinate; exact for `0 <= index < size`.
    pub fn at(&self, index: i64) -> i64 {
        self.outer
            .apply(self.inner.at(index).saturating_add(self.offset))
    }

    /// The offset of a coordinate, which may be coarser than the shape.
    ///
    /// # Errors
    /// As [`Layout::at_coord`].
    pub fn at_coord(&self, coord: &IntTuple) -> Result<i64> {
        let rule = Rule::Overflow { what: "the offset" };
        let inner = self.inner.at_coord(coord);
        let inner = inner
            .map_err(|e| self.shown_whole(e))?
            .checked_add(self.offset);
        let inner = inner.ok_or_else(|| LayoutError::binary("crd2idx", self, coord, rule))?;
        Ok(self.outer.apply(inner))
    }

    /// The offsets of all 1-D coordinates, in order.
    pub fn offsets(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.size()).map(|i| self.at(i))
    }

    /// The same with the inner layout replaced by `f` of it.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn map_inner(&self, f: impl FnOnce(&Layout) -> Result<Layout>) -> Result<ComposedLayout> {
        let inner = f(&self.inner).map_err(|e| self.shown_whole(e))?;
        ComposedLayout::with_offset(self.outer.clone(), self.offset, inner)
    }

    /// An error of the inner layout with the whole in its place.
    fn shown_whole(&self, mut error: LayoutError) -> LayoutError {
        if self.as_plain().is_none() && *error.left == *self.inner.to_string() {
            error.left = self.to_string().into();
        }
        error
    }

    /// `self ∘ other`.
    ///
    /// # Errors
    /// As [`Layout::compose`].
    pub fn compose(&self, other: &Layout) -> Result<ComposedLayout> {
        self.map_inner(|inner| inner.compose(other))
    }

    /// Composes with a tiler of any form.
    ///
    /// # Errors
    /// As [`Layout::compose_by`].
    pub fn compose_by(&self, tiler: &Tiler) -> Result<ComposedLayout> {
        self.map_inner(|inner| inner.compose_by(tiler))
    }

    /// The inner layout coalesced.
    pub fn coalesce(&self) -> ComposedLayout {
        ComposedLayout {
            inner: self.inner.coalesce(),
            ..self.clone()
        }
    }

    /// Divides the inner layout, [`Layout::logical_divide`].
    ///
    /// # Errors
    /// As there.
    pub fn logical_divide(&self, tiler: impl Into<Tiler>) -> Result<ComposedLayout> {
        self.map_inner(|inner| inner.logical_divide(tiler))
    }

    /// Divides the inner layout, [`Layout::zipped_divide`].
    ///
    /// # Errors
    /// As there.
    pub fn zipped_divide(&self, tiler: impl Into<Tiler>) -> Result<ComposedLayout> {
        self.map_inner(|inner| inner.zipped_divide(tiler))
    }

    /// Divides the inner layout, [`Layout::tiled_divide`].
    ///
    /// # Errors
    /// As there.
    pub fn tiled_divide(&self, tiler: impl Into<Tiler>) -> Result<ComposedLayout> {
        self.map_inner(|inner| inner.tiled_divide(tiler))
    }

    /// Divides the inner layout, [`Layout::flat_divide`].
    ///
    /// # Errors
    /// As there.
    pub fn flat_divide(&self, tiler: impl Into<Tiler>) -> Result<ComposedLayout> {
        self.map_inner(|inner| inner.flat_divide(tiler))
    }

    /// Repeats the block to a shape, [`Layout::tile_to_shape`]: how a swizzled LDS atom becomes a
    /// tile.
    ///
    /// # Errors
    /// As there.
    pub fn tile_to_shape(
        &self,
        shape: &IntTuple,
        order: Option<&IntTuple>,
    ) -> Result<ComposedLayout> {
        self.map_inner(|inner| inner.tile_to_shape(shape, order))
    }

    /// A layout `R` with `self(R(i)) == i` for all `i < size(R)`.
    ///
    /// # Errors
    /// [`Rule::Swizzle`] where that is no swizzled layout, [`Rule::Invertible`] where the outer
    /// function is a layout, or an offset is added before a swizzle.
    pub fn right_inverse(&self) -> Result<ComposedLayout> {
        let inverse = self.swizzled_inverse("right_inverse", self.inner.right_inverse())?;
        let right = |i| self.at(inverse.at(i)) == i;
        self.check_inverse("right_inverse", &inverse, inverse.size(), right)?;
        Ok(inverse)
    }

    /// A layout `L` with `self(L(self(i))) == self(i)` for all `i < size(self)`.
    ///
    /// # Errors
    /// As [`ComposedLayout::right_inverse`] and [`Layout::left_inverse`].
    pub fn left_inverse(&self) -> Result<ComposedLayout> {
        let left = self.inner.left_inverse().map_err(|e| self.shown_whole(e))?;
        let inverse = self.swizzled_inverse("left_inverse", left)?;
        let right = |i| self.at(inverse.at(self.at(i))) == self.at(i);
        self.check_inverse("left_inverse", &inverse, self.size(), right)?;
        Ok(inverse)
    }

    fn swizzled_inverse(&self, name: &'static str, inner: Layout) -> Result<ComposedLayout> {
        if self.as_plain().is_some() {
            return Ok(inner.into());
        }
        match self.outer {
            Outer::Swizzle(swizzle) if self.offset == 0 => {
                let pushed = pushed_through(&inner, swizzle);
                let pushed = pushed.map_err(|e| LayoutError::unary(name, self, e.rule))?;
                Ok(ComposedLayout::new(pushed, inner))
            }
            _ => {
                let why = "only swizzles with offset 0 are inverted";
                Err(LayoutError::unary(name, self, Rule::Invertible { why }))
            }
        }
    }

    fn check_inverse(
        &self,
        name: &'static str,
        inverse: &ComposedLayout,
        size: i64,
        right: impl Fn(i64) -> bool,
    ) -> Result<()> {
        let Some(swizzle) = self.swizzle() else {
            return Ok(());
        };
        let structural = swizzle.is_identity()
            || (inverse.inner.size() % swizzle.period() == 0
                && self.inner.size() == inverse.inner.size()
                && permutes_bits(&inverse.inner));
        if structural || (size <= CHECKED && (0..size).all(right)) {
            return Ok(());
        }
        let why = "the layout's inverse moves its bits apart";
        Err(LayoutError::unary(name, self, Rule::Swizzle { why }))
    }
}

impl Layout {
    /// `self ∘ other` for a swizzled layout: the swizzle's bits are followed through `self`, so
    /// that the result is again swizzle after layout.
    ///
    /// # Errors
    /// [`Rule::Swizzle`] where `self` does not send the swizzle's bits to bits of a swizzle, or the
    /// offset is not 0; otherwise as [`Layout::compose`].
    pub fn compose_swizzled(&self, other: &ComposedLayout) -> Result<ComposedLayout> {
        let fail = |why| LayoutError::binary("composition", self, other, Rule::Swizzle { why });
        let shown = |e: LayoutError| e.shown("composition", self, other);
        let composed = self.compose(&other.inner).map_err(shown)?;
        if other.as_plain().is_some() {
            return Ok(composed.into());
        }
        let Some(swizzle) = other.swizzle().filter(|_| other.offset == 0) else {
            return Err(fail(
                "only a swizzle with offset 0 can be followed through a layout",
            ));
        };
        let pushed = pushed_through(self, swizzle).map_err(shown)?;
        let result = ComposedLayout::new(pushed, composed);
        let structural = permutes_bits(self)
            && swizzle.period() <= self.size()
            && other.inner.cosize() <= self.size()
            && other.inner.flat_modes().iter().all(|m| m.1 >= 0);
        let same = |i| result.at(i) == self.at(other.at(i));
        if structural || (other.size() <= CHECKED && (0..other.size()).all(same)) {
            return Ok(result);
        }
        Err(fail("the left layout moves its bits apart"))
    }
}

/// The swizzle `S'` with `layout ∘ swizzle == S' ∘ layout`, if the layout keeps its bits together.
fn pushed_through(layout: &Layout, swizzle: Swizzle) -> Result<Swizzle> {
    Swizzle::from_masks(
        layout.at(swizzle.source_mask()),
        layout.at(swizzle.target_mask()),
    )
}

/// Whether the layout sends each bit of the index to a bit of the offset of its own.
fn permutes_bits(layout: &Layout) -> bool {
    let mut seen = 0i64;
    layout.flat_modes().iter().all(|&(extent, stride)| {
        let reach = (extent - 1).saturating_mul(stride);
        let fresh = reach & seen == 0;
        seen |= reach;
        fresh && extent.count_ones() == 1 && stride > 0 && stride.count_ones() == 1 || extent == 1
    })
}

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outer::Swizzle(swizzle) => swizzle.fmt(f),
            Outer::Layout(layout) => layout.fmt(f),
        }
    }
}

impl fmt::Debug for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ComposedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_plain() {
            Some(layout) => layout.fmt(f),
            None => write!(f, "{} o {} o {}", self.outer, self.offset, self.inner),
        }
    }
}

impl fmt::Debug for ComposedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
