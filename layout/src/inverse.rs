//! Complement, inverses, and what two layouts have in common.

use crate::coalesce::coalesced;
use smallvec::SmallVec;

use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::{Layout, Leaves};
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
            .map_err(|fault| fault.of("complement", self, &cotarget))
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
        let leaves = shape.leaves();
        if let Some(at) = leaves.iter().position(|&n| n < 1) {
            let rule = Rule::PositiveExtent { extent: leaves[at] };
            let error = LayoutError::binary("complement", self, shape, rule);
            return Err(error.at(shape.leaf_path(at)));
        }
        self.complement_in(&leaves)
            .map_err(|fault| fault.of("complement", self, shape))
    }

    /// The complement within a shape of these extents; faults come with this layout's mode.
    pub(crate) fn complement_in(&self, cotarget: &[i64]) -> Result<Layout, Fault> {
        let overflow = || Rule::Overflow {
            what: "the complement",
        };
        let modes = self.ascending(true);
        let mut result = Leaves::new();
        let mut covered = 1i64;
        for (at, &(extent, stride)) in modes.iter().enumerate() {
            let rule = if stride < 0 {
                Rule::NonNegativeStride { stride }
            } else if stride < covered {
                Rule::Injective { stride, covered }
            } else {
                result.push((stride / covered, covered));
                let next = stride.checked_mul(extent);
                covered =
                    next.ok_or_else(|| Fault::at(overflow(), self.ascending_mode(true, at)))?;
                continue;
            };
            return Err(Fault::at(rule, self.ascending_mode(true, at)));
        }
        let (mut rest, mut divisor) = (1i64, covered);
        for &n in cotarget {
            rest = rest
                .checked_mul(ceil_div(n, divisor))
                .ok_or_else(overflow)?;
            divisor = ceil_div(divisor, n);
        }
        result.push((rest, covered));
        let complement = Layout::from_leaves(&coalesced(&result));
        complement.checked().map_err(Fault::anywhere)
    }

    /// The coalesced modes by ascending stride, stride-0 modes with or left out.
    fn ascending(&self, filtered: bool) -> Leaves<i64> {
        let mut modes = self.leaves();
        modes.retain(|m| !filtered || m.1 != 0);
        let mut modes = coalesced(&modes);
        modes.sort_by_key(|m| m.1);
        modes
    }

    /// The path of the leaf that mode `at` of [`Layout::ascending`] starts with.
    #[cold]
    fn ascending_mode(&self, filtered: bool, at: usize) -> Vec<usize> {
        let leaves = self.leaves();
        // Of the leaves, those at which a mode of the coalesced layout starts.
        let mut starts: Vec<(i64, usize)> = Vec::new();
        let mut last: Option<(i64, i64)> = None;
        for (leaf, &(extent, stride)) in leaves.iter().enumerate() {
            if extent == 1 || (filtered && stride == 0) {
                continue;
            }
            last = match last {
                Some((n, d)) if d.checked_mul(n) == Some(stride) => Some((n * extent, d)),
                _ => {
                    starts.push((stride, leaf));
                    Some((extent, stride))
                }
            };
        }
        starts.sort_by_key(|start| start.0);
        let leaf = starts.get(at).map(|start| start.1);
        leaf.map(|leaf| self.shape.leaf_path(leaf))
            .unwrap_or_default()
    }

    /// Whether the layout and its complement reach every offset below the cotarget: each stride is
    /// a multiple of what the smaller ones cover.
    pub(crate) fn leaves_no_gap(&self) -> bool {
        let mut covered = 1i64;
        self.ascending(true).iter().all(|&(extent, stride)| {
            let whole = stride % covered == 0;
            covered = stride.saturating_mul(extent);
            whole
        })
    }

    /// A layout `R` with `self(R(i)) == i` for all `i < size(R)`: the one that CuTe gives, which
    /// where offsets coincide need not be the largest.
    pub fn right_inverse(&self) -> Layout {
        right_inverse_of(&self.leaves())
    }

    /// A layout `L` with `self(L(self(i))) == self(i)` for all `i < size(self)`; where `self` is
    /// injective, `L(self(i)) == i`.
    ///
    /// # Errors
    /// [`Rule::LeftInverseDivisibility`], [`Rule::NonNegativeStride`], or [`Rule::Invertible`]
    /// where overlapping modes leave no layout that inverts this one.
    pub fn left_inverse(&self) -> Result<Layout> {
        self.inverted_left()
            .map_err(|fault| fault.of_one("left_inverse", self))
    }

    fn inverted_left(&self) -> Result<Layout, Fault> {
        let fail = |rule, at| Err(Fault::at(rule, self.ascending_mode(false, at)));
        let leaves = self.leaves();
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
        let mut result = Leaves::new();
        let (mut covered, mut index_stride) = (1i64, 0i64);
        for (at, &(_, stride, index)) in sorted.iter().enumerate() {
            if stride == 0 {
                continue;
            }
            if stride < 0 {
                return fail(Rule::NonNegativeStride { stride }, at);
            }
            if stride % covered != 0 {
                return fail(Rule::LeftInverseDivisibility { stride, covered }, at);
            }
            result.push((stride / covered, index_stride));
            (covered, index_stride) = (stride, index);
        }
        result.push((last_extent, index_stride));
        let inverse = Layout::from_leaves(&coalesced(&result));

        // Offsets read in the inverse's radices must give coordinates that exist.
        let mut carry = 0i64;
        for (at, &(extent, stride, index)) in sorted.iter().enumerate() {
            if stride == 0 {
                continue;
            }
            let radix = sorted.get(at + 1).map_or(i64::MAX, |next| next.1 / stride);
            let reach = (extent - 1).saturating_add(carry);
            let digit = reach.min(radix - 1);
            if digit >= extent && unbounded != Some(index) {
                let why = "modes overlap so that an offset reads as a coordinate past its extent";
                return fail(Rule::Invertible { why }, at);
            }
            carry = reach / radix;
        }
        inverse.checked().map_err(Fault::anywhere)
    }
}

impl<S: Stride> Layout<S> {
    /// The coordinates that the layout sends to 0, as a layout: its stride-0 modes.
    pub fn nullspace(&self) -> Layout {
        let mut covered = 1i64;
        let mut modes = Leaves::new();
        for (extent, stride) in self.leaves() {
            if stride.is_zero() {
                modes.push((extent, if extent == 1 { 0 } else { covered }));
            }
            covered *= extent;
        }
        Layout::from_leaves(&modes)
    }
}

/// The largest layout `R` whose elements lie contiguously in both: `a(R(i)) == b(R(i)) == i`. It may
/// reach past the end of `a`, as [`max_common_vector`] does.
///
/// # Errors
/// Where `a` does not compose with the inverse of `b`, as [`Layout::compose`].
pub fn max_common_layout(a: &Layout, b: &Layout) -> Result<Layout> {
    let inverse = b.right_inverse();
    let common =
        a.composed(&inverse)
            .and_then(|common| match coalesced(&common.leaves()).first() {
                Some(&(n, 1)) => inverse.composed(&Layout::identity(n)?),
                _ => Ok(Layout::unit()),
            });
    common.map_err(|fault| fault.anywhere().of("max_common_layout", a, b))
}

/// The largest number of elements that lie contiguously, in the same order, in both layouts.
///
/// The last mode of `a` counts as going on for ever, as in every composition, so that the answer may
/// reach past the end of `a`, and never past that of `b`: 8 of `4:1` with `8:1`, as in CuTe.
///
/// Where `a` and the inverse of `b` have no composition as a layout, the count is found without
/// it; CuTe refuses those.
pub fn max_common_vector(a: &Layout, b: &Layout) -> i64 {
    let inverse = b.right_inverse();
    if let Ok(common) = a.composed(&inverse) {
        return match coalesced(&common.leaves()).first() {
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

/// The right inverse of a layout with these leaves, whose size fits in 64 bits.
pub(crate) fn right_inverse_of(leaves: &[(i64, i64)]) -> Layout {
    let mut sorted = with_prefix_products(&coalesced(leaves));
    sorted.sort_by_key(|&(_, stride, _)| stride);
    let mut result = Leaves::new();
    let mut covered = 1i64;
    for (extent, stride, index) in sorted {
        if stride == covered {
            result.push((extent, index));
            covered *= extent;
        }
    }
    Layout::from_leaves(&coalesced(&result))
}

/// Each mode with the number of coordinates before it: (extent, stride, index stride).
fn with_prefix_products(modes: &[(i64, i64)]) -> SmallVec<[(i64, i64, i64); 4]> {
    let mut covered = 1i64;
    let step = |&(extent, stride): &(i64, i64)| {
        let index = covered;
        covered *= extent;
        (extent, stride, index)
    };
    modes.iter().map(step).collect()
}
