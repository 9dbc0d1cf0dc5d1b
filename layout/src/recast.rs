//! Layouts of the same memory in larger or smaller elements, and of a share of a domain.

use crate::coalesce::coalesced;
use crate::composed::{ComposedLayout, Outer};
use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::stride::{Basis, Stride};

impl Layout {
    /// The layout in units of `n` elements: strides are divided by `n`, and modes within a unit
    /// shrink. An extent that does not fill its units is rounded up.
    ///
    /// # Errors
    /// [`Rule::Divisibility`] with the mode where neither of its stride and `n` divides the other;
    /// [`Rule::NonNegativeStride`] or [`Rule::Mismatch`] where elements of one unit would be counted
    /// into two, which CuTe accepts; [`Rule::PositiveFactor`].
    pub fn upcast(&self, n: i64) -> Result<Layout> {
        let fail = |rule| LayoutError::binary("upcast", self, &n, rule);
        if n < 1 {
            return Err(fail(Rule::PositiveFactor { factor: n }));
        }
        let mut unit = Unit { n, inside: 0 };
        self.by_leaf(&mut |extent, stride| unit.leaf(extent, stride))
            .and_then(Layout::checked)
            .map_err(|fault| fault.of("upcast", self, &n))
    }

    /// The layout with each element split into `n`: the contiguous mode grows by `n`, all other
    /// strides too.
    ///
    /// # Errors
    /// [`Rule::AdjacentElements`] unless exactly one mode has stride 1 and none -1 (for several,
    /// CuTe grows each, and their elements overlap), [`Rule::PositiveFactor`], [`Rule::Overflow`].
    pub fn downcast(&self, n: i64) -> Result<Layout> {
        let fail = |rule| LayoutError::binary("downcast", self, &n, rule);
        if n < 1 {
            return Err(fail(Rule::PositiveFactor { factor: n }));
        }
        let strides = self.stride.leaves();
        let mut adjacent = (0..strides.len()).filter(|&leaf| matches!(strides[leaf], 1 | -1));
        let first = adjacent.next();
        let wrong = adjacent.next().or(first.filter(|&leaf| strides[leaf] < 0));
        if first.is_none() || wrong.is_some() {
            let path = wrong.map(|leaf| self.shape.leaf_path(leaf));
            return Err(fail(Rule::AdjacentElements).at(path.unwrap_or_default()));
        }
        self.by_leaf(&mut |extent, stride| {
            let overflow = Rule::Overflow {
                what: "the finer layout",
            };
            match stride {
                1 => Ok((extent.checked_mul(n).ok_or(overflow)?, 1)),
                _ => Ok((extent, stride.checked_mul(n).ok_or(overflow)?)),
            }
        })
        .and_then(Layout::checked)
        .map_err(|fault| fault.of("downcast", self, &n))
    }
}

impl Layout<Basis> {
    /// The layout with mode `mode` of its coordinates in units of `n`; other modes stay.
    ///
    /// # Errors
    /// As [`Layout::upcast`], for the strides that lead to that very mode; [`Rule::Mismatch`] where
    /// one leads inside it, so that its unit is not this mode's.
    pub fn upcast_along(&self, n: i64, mode: usize) -> Result<Layout<Basis>> {
        let fail = |rule| LayoutError::binary("upcast", self, &n, rule);
        if n < 1 {
            return Err(fail(Rule::PositiveFactor { factor: n }));
        }
        let mut unit = Unit { n, inside: 0 };
        self.by_leaf(&mut |extent, stride: Basis| {
            let path = stride.path.indices();
            if stride.value == 0 || path.first().copied().map(usize::from) != Some(mode) {
                return Ok((extent, stride));
            }
            if path.len() > 1 {
                let why = "the stride leads inside the mode, whose units are not the mode's own";
                return Err(Rule::Mismatch { why });
            }
            let (extent, value) = unit.leaf(extent, stride.value)?;
            Ok((extent, Basis { value, ..stride }))
        })
        .and_then(Layout::checked)
        .map_err(|fault| fault.of("upcast", self, &n))
    }
}

/// A unit of `n` elements, and the offset that the modes so far reach within it, all together.
struct Unit {
    n: i64,
    inside: i64,
}

impl Unit {
    /// One mode in units.
    fn leaf(&mut self, extent: i64, stride: i64) -> Result<(i64, i64), Rule> {
        if stride == 0 {
            return Ok((extent, 0));
        }
        let n = self.n;
        let overflow = Rule::Overflow { what: "the stride" };
        let size = stride.checked_abs().ok_or(overflow)?;
        if size % n == 0 {
            return Ok((extent, stride / n));
        }
        if n % size != 0 {
            return Err(Rule::Divisibility {
                value: stride,
                divisor: n,
            });
        }
        let within = n / size;
        if stride < 0 && extent > 1 {
            return Err(Rule::NonNegativeStride { stride });
        }
        let reach = (extent.min(within) - 1) * size;
        self.inside = self.inside.saturating_add(reach);
        if self.inside >= n {
            let why = "the modes overlap within a unit, so their sum crosses into the next";
            return Err(Rule::Mismatch { why });
        }
        let units = extent / within + i64::from(extent % within != 0);
        Ok((units, stride.signum()))
    }
}

impl<S: Stride> Layout<S> {
    fn by_leaf(
        &self,
        f: &mut impl FnMut(i64, S) -> Result<(i64, S), Rule>,
    ) -> Result<Layout<S>, Fault> {
        if let (Nest::Int(n), Nest::Int(d)) = (&self.shape, &self.stride) {
            let (n, d) = f(*n, *d)?;
            return Ok(Layout {
                shape: Nest::Int(n),
                stride: Nest::Int(d),
            });
        }
        let mut shape = Vec::with_capacity(self.rank());
        let mut stride = Vec::with_capacity(self.rank());
        for (i, mode) in self.modes().iter().enumerate() {
            let mode = mode.by_leaf(f).map_err(|fault| fault.within(i))?;
            shape.push(mode.shape);
            stride.push(mode.stride);
        }
        Ok(Layout {
            shape: Nest::Tuple(shape),
            stride: Nest::Tuple(stride),
        })
    }
}

impl ComposedLayout {
    /// The layout in units of `n` elements.
    ///
    /// # Errors
    /// As [`Layout::upcast`] and [`Swizzle::upcast`](crate::Swizzle::upcast);
    /// [`Rule::Divisibility`] where `n` does not divide the offset.
    pub fn upcast(&self, n: i64) -> Result<ComposedLayout> {
        let shown = |e: LayoutError| e.shown("upcast", self, &n);
        let inner = self.inner().upcast(n).map_err(shown)?;
        if self.offset() % n != 0 {
            let rule = Rule::Divisibility {
                value: self.offset(),
                divisor: n,
            };
            return Err(LayoutError::binary("upcast", self, &n, rule));
        }
        let outer = match self.outer() {
            Outer::Swizzle(swizzle) => Outer::Swizzle(swizzle.upcast(n).map_err(shown)?),
            Outer::Layout(layout) => Outer::Layout(layout.upcast(n).map_err(shown)?),
        };
        ComposedLayout::with_offset(outer, self.offset() / n, inner).map_err(shown)
    }

    /// The layout with each element split into `n`.
    ///
    /// # Errors
    /// As [`Layout::downcast`] and [`Swizzle::downcast`](crate::Swizzle::downcast).
    pub fn downcast(&self, n: i64) -> Result<ComposedLayout> {
        let shown = |e: LayoutError| e.shown("downcast", self, &n);
        let inner = self.inner().downcast(n).map_err(shown)?;
        let outer = match self.outer() {
            Outer::Swizzle(swizzle) => Outer::Swizzle(swizzle.downcast(n).map_err(shown)?),
            Outer::Layout(layout) => Outer::Layout(layout.downcast(n).map_err(shown)?),
        };
        let offset = self.offset().checked_mul(n).ok_or_else(|| {
            let rule = Rule::Overflow { what: "the offset" };
            LayoutError::binary("downcast", self, &n, rule)
        })?;
        ComposedLayout::with_offset(outer, offset, inner).map_err(shown)
    }
}

/// A layout of up to `count` coordinates of `shape`, taken evenly: from each mode in turn the
/// greatest common divisor of its extent and what remains. It divides the shape, and may hold fewer
/// than `count`.
///
/// # Errors
/// [`Rule::PositiveFactor`], and as [`Layout::compact_left`] of the shape.
pub fn domain_distribute(shape: &IntTuple, count: i64) -> Result<Layout> {
    if count < 1 {
        let rule = Rule::PositiveFactor { factor: count };
        return Err(LayoutError::binary(
            "domain_distribute",
            shape,
            &count,
            rule,
        ));
    }
    let domain = Layout::new(shape.clone(), shape.map(&mut |_| 0))
        .map_err(|e| e.shown("domain_distribute", shape, &count))?;
    let (mut rest, mut covered) = (count, 1i64);
    let mut modes = Vec::new();
    for (extent, _) in domain.flat_modes() {
        let share = gcd(extent, rest);
        modes.push((share, covered));
        rest /= share;
        covered *= extent;
    }
    Ok(Layout::from_leaves(&coalesced(&modes)))
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(i64::MAX)
}
