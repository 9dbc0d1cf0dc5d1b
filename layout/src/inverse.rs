//! Complement, inverses, and what two layouts have in common.

use crate::coalesce::coalesced;
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::IntTuple;
use crate::stride::Stride;

impl Layout {
    /// The layout that reaches what this one leaves out: its offsets and this one's do not overlap,
    /// and, where each stride is a multiple of what lies before it, together they fill
    /// `0..cotarget`, rounded up to a whole number of repetitions. Other strides leave gaps that
    /// nothing fills, as CuTe's do: `(2,4):(1,3)` has the complement `2:12` within 24. Strides
    /// ascend.
    ///
    /// # Errors
    /// [`Rule::Injective`] where offsets coincide (stride-0 modes aside, which are filtered),
    /// [`Rule::NonNegativeStride`], [`Rule::PositiveExtent`] for a cotarget below 1.
    pub fn complement(&self, cotarget: i64) -> Result<Layout> {
        if cotarget < 1 {
            let rule = Rule::PositiveExtent { extent: cotarget };
            return Err(LayoutError::binary("complement", self, &cotarget, rule));
        }
        self.complement_in(&[cotarget])
    }

    /// [`Layout::complement`] within the layout's own cosize, stride-0 modes filtered.
    ///
    /// # Errors
    /// As [`Layout::complement`].
    pub fn complement_self(&self) -> Result<Layout> {
        self.complement(self.filter().cosize())
    }

    /// The complement within a shape. CuTe rounds up mode by mode, so where neither what the layout
    /// covers nor the extent it meets divides the other, this reaches less or more than the shape's
    /// product: `2:4` within `(6,4)` has `(4,2):(1,8)`, which fills 16 of 24.
    ///
    /// # Errors
    /// As [`Layout::complement`].
    pub fn complement_shape(&self, shape: &IntTuple) -> Result<Layout> {
        if let Some(&extent) = shape.leaves().iter().find(|&&n| n < 1) {
            let rule = Rule::PositiveExtent { extent };
            return Err(LayoutError::binary("complement", self, shape, rule));
        }
        self.complement_in(&shape.leaves())
    }

    pub(crate) fn complement_in(&self, cotarget: &[i64]) -> Result<Layout> {
        let fail = |rule| match cotarget {
            [n] => LayoutError::binary("complement", self, n, rule),
            _ => LayoutError::binary("complement", self, &IntTuple::from(cotarget), rule),
        };
        let overflow = || {
            fail(Rule::Overflow {
                what: "the complement",
            })
        };
        let mut modes = self.flat_modes();
        modes.retain(|m| m.1 != 0);
        let mut modes = coalesced(&modes);
        modes.sort_by_key(|m| m.1);
        let mut result = Vec::with_capacity(modes.len() + 1);
        let mut covered = 1i64;
        for &(extent, stride) in &modes {
            if stride < 0 {
                return Err(fail(Rule::NonNegativeStride { stride }));
            }
            if stride < covered {
                return Err(fail(Rule::Injective { stride, covered }));
            }
            result.push((stride / covered, covered));
            covered = stride.checked_mul(extent).ok_or_else(overflow)?;
        }
        let (mut rest, mut divisor) = (1i64, covered);
        for &n in cotarget {
            rest = rest
                .checked_mul(ceil_div(n, divisor))
                .ok_or_else(overflow)?;
            divisor = ceil_div(divisor, n);
        }
        result.push((rest, covered));
        Layout::from_leaves(&coalesced(&result))
            .validated("complement")
            .map_err(|e| fail(e.rule))
    }

    /// Whether the layout and its complement reach every offset below the cotarget: each stride is
    /// a multiple of what the smaller ones cover.
    pub(crate) fn leaves_no_gap(&self) -> bool {
        let mut modes = self.flat_modes();
        modes.retain(|m| m.1 != 0);
        let mut modes = coalesced(&modes);
        modes.sort_by_key(|m| m.1);
        let mut covered = 1i64;
        modes.iter().all(|&(extent, stride)| {
            let whole = stride % covered == 0;
            covered = stride.saturating_mul(extent);
            whole
        })
    }

    /// A layout `R` with `self(R(i)) == i` for all `i < size(R)`: the one that CuTe gives, which
    /// where offsets coincide need not be the largest.
    pub fn right_inverse(&self) -> Layout {
        let modes = with_prefix_products(&coalesced(&self.flat_modes()));
        let mut sorted = modes;
        sorted.sort_by_key(|&(_, stride, _)| stride);
        let mut result = Vec::with_capacity(sorted.len());
        let mut covered = 1i64;
        for (extent, stride, index) in sorted {
            if stride == covered {
                result.push((extent, index));
                covered *= extent;
            }
        }
        Layout::from_leaves(&coalesced(&result))
    }

    /// A layout `L` with `self(L(self(i))) == self(i)` for all `i < size(self)`; where `self` is
    /// injective, `L(self(i)) == i`.
    ///
    /// # Errors
    /// [`Rule::LeftInverseDivisibility`], [`Rule::NonNegativeStride`], or [`Rule::Invertible`]
    /// where overlapping modes leave no layout that inverts this one.
    pub fn left_inverse(&self) -> Result<Layout> {
        let fail = |rule| LayoutError::unary("left_inverse", self, rule);
        let leaves = self.flat_modes();
        let mut sorted = with_prefix_products(&coalesced(&leaves));
        // The mode along which coordinates may run past their extent, if it is the layout's last.
        let unbounded = match leaves.last() {
            Some((1, _)) => None,
            _ => sorted.last().map(|m| m.2),
        };
        sorted.sort_by_key(|&(_, stride, _)| stride);
        let Some(&(last_extent, ..)) = sorted.last() else {
            return Ok(Layout::unit());
        };

        // (radix, stride) of the inverse: the radix of each entry is known at the next stride.
        let mut result: Vec<(i64, i64)> = Vec::with_capacity(sorted.len() + 1);
        let (mut covered, mut index_stride) = (1i64, 0i64);
        for &(_, stride, index) in &sorted {
            if stride == 0 {
                continue;
            }
            if stride < 0 {
                return Err(fail(Rule::NonNegativeStride { stride }));
            }
            if stride % covered != 0 {
                return Err(fail(Rule::LeftInverseDivisibility { stride, covered }));
            }
            result.push((stride / covered, index_stride));
            (covered, index_stride) = (stride, index);
        }
        result.push((last_extent, index_stride));
        let inverse = Layout::from_leaves(&coalesced(&result));

        // Offsets read in the inverse's radices must give coordinates that exist.
        let nonzero: Vec<_> = sorted.iter().filter(|m| m.1 != 0).collect();
        let mut carry = 0i64;
        for (i, &&(extent, stride, index)) in nonzero.iter().enumerate() {
            let radix = nonzero.get(i + 1).map_or(i64::MAX, |next| next.1 / stride);
            let reach = (extent - 1).saturating_add(carry);
            let digit = reach.min(radix - 1);
            if digit >= extent && unbounded != Some(index) {
                let why = "modes overlap so that an offset reads as a coordinate past its extent";
                return Err(fail(Rule::Invertible { why }));
            }
            carry = reach / radix;
        }
        inverse.validated("left_inverse").map_err(|e| fail(e.rule))
    }
}

impl<S: Stride> Layout<S> {
    /// The coordinates that the layout sends to 0, as a layout: its stride-0 modes.
    pub fn nullspace(&self) -> Layout {
        let mut covered = 1i64;
        let mut modes = Vec::new();
        for (extent, stride) in self.flat_modes() {
            if stride.is_zero() {
                modes.push((extent, if extent == 1 { 0 } else { covered }));
            }
            covered *= extent;
        }
        Layout::from_leaves(&modes)
    }
}

/// The largest layout `R` whose elements lie contiguously in both: `a(R(i)) == b(R(i)) == i`.
///
/// # Errors
/// Where `a` does not compose with the inverse of `b`, as [`Layout::compose`].
pub fn max_common_layout(a: &Layout, b: &Layout) -> Result<Layout> {
    let inverse = b.right_inverse();
    let common = a.compose(&inverse)?.coalesce();
    match common.flat_modes().first() {
        Some(&(n, 1)) => inverse.compose(&Layout::identity(n)?),
        _ => Ok(Layout::unit()),
    }
}

/// The largest number of elements that lie contiguously, in the same order, in both layouts.
///
/// Where `a` and the inverse of `b` have no composition as a layout, the count is found without
/// it; CuTe refuses those.
pub fn max_common_vector(a: &Layout, b: &Layout) -> i64 {
    let inverse = b.right_inverse();
    if let Ok(common) = a.compose(&inverse) {
        return match common.coalesce().flat_modes().first() {
            Some(&(n, 1)) => n,
            _ => 1,
        };
    }
    // Counted out where no layout has it; longer than that no access is.
    let bound = inverse.size().min(COUNTED);
    (0..bound)
        .take_while(|&i| a.at(inverse.at(i)) == i)
        .count()
        .max(1) as i64
}

/// Runs that no composition gives are counted up to this many elements.
const COUNTED: i64 = 1 << 16;

fn ceil_div(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b != 0)
}

/// Each mode with the number of coordinates before it: (extent, stride, index stride).
fn with_prefix_products(modes: &[(i64, i64)]) -> Vec<(i64, i64, i64)> {
    let mut covered = 1i64;
    let step = |&(extent, stride): &(i64, i64)| {
        let index = covered;
        covered *= extent;
        (extent, stride, index)
    };
    modes.iter().map(step).collect()
}
