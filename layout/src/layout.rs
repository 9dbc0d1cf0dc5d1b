//! The layout itself: construction and what can be read off it.

use std::fmt;
use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{Fault, LayoutError, Result, Rule};
use crate::nest::{IntTuple, MAX_DEPTH, Nest};
use crate::stride::Stride;

/// Extent and stride of leaves, on the stack for the layouts that programs have.
pub(crate) type Leaves<S> = SmallVec<[(i64, S); 4]>;

/// A function from coordinates within a nested shape to offsets: the inner product of the
/// coordinate with a stride of the same nesting.
///
/// `S` is what the strides are: `i64` for offsets, [`Basis`](crate::Basis) for coordinates.
/// Every layout that exists has congruent shape and stride, extents of at least 1, and a size and
/// cosize that fit in 64 bits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Layout<S = i64> {
    pub(crate) shape: IntTuple,
    pub(crate) stride: Nest<S>,
}

/// A layout, or a mode of one, where it stands.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, S> {
    pub(crate) shape: &'a IntTuple,
    pub(crate) stride: &'a Nest<S>,
}

impl<'a, S: Stride> View<'a, S> {
    pub(crate) fn rank(self) -> usize {
        self.shape.rank()
    }

    pub(crate) fn size(self) -> i64 {
        fn product(shape: &IntTuple) -> i64 {
            match shape {
                Nest::Int(n) => *n,
                Nest::Tuple(items) => items.iter().map(product).product(),
            }
        }
        product(self.shape)
    }

    /// Mode `i`, if there is one; a leaf is its own only mode.
    pub(crate) fn mode(self, i: usize) -> Option<View<'a, S>> {
        let (shape, stride) = (self.shape.get(i)?, self.stride.get(i)?);
        Some(View { shape, stride })
    }

    pub(crate) fn modes(self) -> impl Iterator<Item = View<'a, S>> {
        let pairs = self.shape.modes().iter().zip(self.stride.modes());
        pairs.map(|(shape, stride)| View { shape, stride })
    }

    /// Extent and stride of every leaf, left to right.
    pub(crate) fn leaves(self) -> Leaves<S> {
        let mut out = Leaves::new();
        collect(self.shape, self.stride, &mut out);
        out
    }

    pub(crate) fn to_layout(self) -> Layout<S> {
        Layout {
            shape: self.shape.clone(),
            stride: self.stride.clone(),
        }
    }
}

impl<S: Stride> Layout<S> {
    /// The layout where it stands.
    pub(crate) fn view(&self) -> View<'_, S> {
        View {
            shape: &self.shape,
            stride: &self.stride,
        }
    }

    /// The layout of this shape and stride.
    ///
    /// # Errors
    /// [`Rule::Congruence`], [`Rule::PositiveExtent`], [`Rule::EmptyTuple`], [`Rule::Depth`], or
    /// [`Rule::Overflow`] where the size or cosize leaves 64 bits.
    pub fn new(shape: impl Into<IntTuple>, stride: impl Into<Nest<S>>) -> Result<Self> {
        let layout = Layout {
            shape: shape.into(),
            stride: stride.into(),
        };
        layout.validated("make_layout")
    }

    /// Checks the invariants of the type; a fault is reported as one of `operation`.
    fn validated(self, operation: &'static str) -> Result<Self> {
        match self.check() {
            Ok(()) => Ok(self),
            // A tree too deep to accept is too deep to print.
            Err(fault) if fault.is_depth() => Err(fault.of(operation, &"(...)", &"(...)")),
            Err(fault) => Err(fault.of(operation, &self.shape, &self.stride)),
        }
    }

    /// The layout, where it keeps the invariants of the type.
    pub(crate) fn checked(self) -> Result<Self, Fault> {
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), Fault> {
        let mut reach = Some((1i64, 0i64));
        check(&self.shape, &self.stride, 0, &mut reach)?;
        let what = "the size or cosize";
        reach
            .map(|_| ())
            .ok_or_else(|| Rule::Overflow { what }.into())
    }

    /// The shape.
    pub fn shape(&self) -> &IntTuple {
        &self.shape
    }

    /// The stride, congruent with the shape.
    pub fn stride(&self) -> &Nest<S> {
        &self.stride
    }

    /// Number of coordinates: the product of the extents.
    pub fn size(&self) -> i64 {
        self.view().size()
    }

    /// Number of modes at the top.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Levels of nesting: 0 for `4:1`, 1 for `(4,8):(1,4)`.
    pub fn depth(&self) -> usize {
        self.shape.depth()
    }

    /// Mode `i` as a layout.
    ///
    /// # Errors
    /// [`Rule::NoSuchMode`].
    pub fn mode(&self, i: usize) -> Result<Layout<S>> {
        match self.view().mode(i) {
            Some(mode) => Ok(mode.to_layout()),
            None => {
                let rule = Rule::NoSuchMode {
                    index: i,
                    rank: self.rank(),
                };
                Err(LayoutError::binary("mode", self, &i, rule).at([i]))
            }
        }
    }

    /// The modes at the top as layouts; a layout of depth 0 is its own only mode.
    pub fn modes(&self) -> Vec<Layout<S>> {
        self.view().modes().map(View::to_layout).collect()
    }

    /// Extent and stride of every leaf, left to right (fastest coordinate first).
    pub fn flat_modes(&self) -> Vec<(i64, S)> {
        self.leaves().into_vec()
    }

    /// [`Layout::flat_modes`] without a heap.
    pub(crate) fn leaves(&self) -> Leaves<S> {
        self.view().leaves()
    }

    /// The layouts side by side, as the modes of one.
    ///
    /// # Errors
    /// [`Rule::EmptyTuple`] for none, [`Rule::Overflow`] where the result leaves 64 bits,
    /// [`Rule::Depth`] where it nests too deep.
    pub fn concat(modes: &[Layout<S>]) -> Result<Layout<S>> {
        Layout::bundle(modes.iter().cloned()).validated("make_layout")
    }

    /// The layouts side by side, for the caller to validate.
    pub(crate) fn bundle(modes: impl IntoIterator<Item = Layout<S>>) -> Layout<S> {
        let modes = modes.into_iter();
        let mut shape = Vec::with_capacity(modes.size_hint().0);
        let mut stride = Vec::with_capacity(modes.size_hint().0);
        for mode in modes {
            shape.push(mode.shape);
            stride.push(mode.stride);
        }
        Layout {
            shape: Nest::Tuple(shape),
            stride: Nest::Tuple(stride),
        }
    }

    /// The modes at the top, taken apart.
    pub(crate) fn into_modes(self) -> Vec<Layout<S>> {
        match (self.shape, self.stride) {
            (Nest::Tuple(shape), Nest::Tuple(stride)) => {
                let pairs = shape.into_iter().zip(stride);
                pairs
                    .map(|(shape, stride)| Layout { shape, stride })
                    .collect()
            }
            (shape, stride) => vec![Layout { shape, stride }],
        }
    }

    /// Flat modes as a layout: `1:0` for none, a leaf for one, else a tuple.
    pub(crate) fn from_leaves(leaves: &[(i64, S)]) -> Layout<S> {
        match leaves {
            [] => Layout::unit(),
            [(n, d)] => Layout {
                shape: Nest::Int(*n),
                stride: Nest::Int(*d),
            },
            _ => Layout {
                shape: Nest::Tuple(leaves.iter().map(|m| Nest::Int(m.0)).collect()),
                stride: Nest::Tuple(leaves.iter().map(|m| Nest::Int(m.1)).collect()),
            },
        }
    }

    /// `1:0`, the layout of one coordinate.
    pub fn unit() -> Layout<S> {
        Layout {
            shape: Nest::Int(1),
            stride: Nest::Int(S::ZERO),
        }
    }

    /// All leaves in one tuple.
    pub fn flatten(&self) -> Layout<S> {
        Layout {
            shape: self.shape.flatten(),
            stride: self.stride.flatten(),
        }
    }

    /// Modes `range` as one mode.
    ///
    /// # Errors
    /// [`Rule::NoSuchModes`] where the range is empty or leaves the layout.
    pub fn group(&self, range: Range<usize>) -> Result<Layout<S>> {
        if range.is_empty() || range.end > self.rank() {
            let text = format!("{}..{}", range.start, range.end);
            let (begin, end, rank) = (range.start, range.end, self.rank());
            let rule = Rule::NoSuchModes { begin, end, rank };
            return Err(LayoutError::binary("group", self, &text, rule).at([begin]));
        }
        let (shape, stride) = (group(&self.shape, &range), group(&self.stride, &range));
        Layout { shape, stride }.validated("group")
    }

    /// The modes at these indices, in this order.
    ///
    /// # Errors
    /// [`Rule::NoSuchMode`] and what [`Layout::concat`] refuses.
    pub fn select(&self, indices: &[usize]) -> Result<Layout<S>> {
        let modes: Result<Vec<_>> = indices.iter().map(|&i| self.mode(i)).collect();
        let selected = modes.and_then(|modes| Layout::bundle(modes).validated("select"));
        let text = format_args!("{indices:?}");
        selected.map_err(|e| e.shown("select", self, &text))
    }

    /// At least `rank` modes, with `1:0` appended for those missing.
    pub fn padded(&self, rank: usize) -> Layout<S> {
        if self.rank() >= rank {
            return self.clone();
        }
        let mut shape = self.shape.modes().to_vec();
        let mut stride = self.stride.modes().to_vec();
        shape.resize(rank, Nest::Int(1));
        stride.resize(rank, Nest::Int(S::ZERO));
        Layout {
            shape: Nest::Tuple(shape),
            stride: Nest::Tuple(stride),
        }
    }
}

impl Layout {
    /// A compact layout whose last coordinate moves fastest: strides of `(m,n)` are `(n,1)`.
    ///
    /// # Errors
    /// [`Rule::PositiveExtent`], [`Rule::EmptyTuple`] or [`Rule::Overflow`].
    pub fn row_major(extents: &[i64]) -> Result<Layout> {
        let mut modes: Vec<_> = extents.iter().map(|&n| (n, 1)).collect();
        let mut covered = 1i64;
        for mode in modes.iter_mut().rev() {
            mode.1 = covered;
            covered = covered.saturating_mul(mode.0);
        }
        Layout::flat(&modes)
    }

    /// A compact layout whose first coordinate moves fastest: strides of `(m,n)` are `(1,m)`.
    ///
    /// # Errors
    /// [`Rule::PositiveExtent`], [`Rule::EmptyTuple`] or [`Rule::Overflow`].
    pub fn col_major(extents: &[i64]) -> Result<Layout> {
        let mut modes: Vec<_> = extents.iter().map(|&n| (n, 1)).collect();
        let mut covered = 1i64;
        for mode in &mut modes {
            mode.1 = covered;
            covered = covered.saturating_mul(mode.0);
        }
        Layout::flat(&modes)
    }

    /// The layout of these (extent, stride) modes, without nesting; one mode alone gives a leaf,
    /// `8:1`.
    ///
    /// # Errors
    /// [`Rule::PositiveExtent`], [`Rule::EmptyTuple`] or [`Rule::Overflow`].
    pub fn flat(modes: &[(i64, i64)]) -> Result<Layout> {
        if modes.is_empty() {
            return Err(LayoutError::binary(
                "make_layout",
                &"()",
                &"()",
                Rule::EmptyTuple,
            ));
        }
        Layout::from_leaves(modes).validated("make_layout")
    }

    /// `n:1`, the identity on `n` coordinates.
    ///
    /// # Errors
    /// [`Rule::PositiveExtent`].
    pub fn identity(n: i64) -> Result<Layout> {
        Layout::flat(&[(n, 1)])
    }

    /// Number of offsets from the smallest to the largest that the layout gives, both included.
    ///
    /// For non-negative strides this is the largest offset plus one.
    pub fn cosize(&self) -> i64 {
        fn reach(shape: &IntTuple, stride: &IntTuple) -> i64 {
            match (shape, stride) {
                (Nest::Int(n), Nest::Int(d)) => (n - 1) * d.abs(),
                (Nest::Tuple(n), Nest::Tuple(d)) => n.iter().zip(d).map(|(n, d)| reach(n, d)).sum(),
                _ => 0,
            }
        }
        1 + reach(&self.shape, &self.stride)
    }

    /// The same function of the 1-D coordinate with another shape.
    ///
    /// The layout is composed with the compact column-major layout of `shape`, so a mode may be
    /// split or merged and the whole may be cut short.
    ///
    /// # Errors
    /// As for [`Layout::compose`].
    pub fn with_shape(&self, shape: impl Into<IntTuple>) -> Result<Layout> {
        let shape = shape.into();
        let compact = Layout::compact_left(shape.clone());
        let shaped = compact.and_then(|compact| self.compose(&compact));
        shaped.map_err(|e| e.shown("with_shape", self, &shape))
    }
}

/// The layouts side by side, as the modes of one; `make_layout(&[a])` has rank 1.
///
/// # Errors
/// As for [`Layout::concat`].
pub fn make_layout<S: Stride>(modes: &[Layout<S>]) -> Result<Layout<S>> {
    Layout::concat(modes)
}

/// Walks shape and stride together. `reach` holds (size, sum of (extent-1)*|stride|), `None` once
/// either overflows.
fn check<S: Stride>(
    shape: &IntTuple,
    stride: &Nest<S>,
    depth: usize,
    reach: &mut Option<(i64, i64)>,
) -> Result<(), Fault> {
    if depth > MAX_DEPTH {
        let limit = MAX_DEPTH;
        return Err(Rule::Depth { depth, limit }.into());
    }
    match (shape, stride) {
        (Nest::Int(extent), Nest::Int(stride)) => {
            if *extent < 1 {
                return Err(Rule::PositiveExtent { extent: *extent }.into());
            }
            *reach = reach.and_then(|(size, sum)| {
                let far = (extent - 1).checked_mul(stride.value().checked_abs()?)?;
                let sum = sum.checked_add(far)?;
                sum.checked_add(1)?;
                Some((size.checked_mul(*extent)?, sum))
            });
            Ok(())
        }
        (Nest::Tuple(shape), Nest::Tuple(stride)) if shape.len() == stride.len() => {
            if shape.is_empty() {
                return Err(Rule::EmptyTuple.into());
            }
            for (i, (n, d)) in shape.iter().zip(stride).enumerate() {
                check(n, d, depth + 1, reach).map_err(|fault| fault.within(i))?;
            }
            Ok(())
        }
        _ => {
            let (shape, stride) = (brief(shape), brief(stride));
            Err(Rule::Congruence { shape, stride }.into())
        }
    }
}

/// The text of a nest, or its rank alone where it is too deep to print.
fn brief<T: fmt::Display>(nest: &Nest<T>) -> Box<str> {
    match nest {
        Nest::Int(value) => value.to_string().into(),
        Nest::Tuple(items) if items.iter().all(|n| matches!(n, Nest::Int(_))) => {
            nest.to_string().into()
        }
        Nest::Tuple(items) => format!("a tuple of rank {}", items.len()).into(),
    }
}

fn collect<S: Stride>(shape: &IntTuple, stride: &Nest<S>, out: &mut Leaves<S>) {
    match (shape, stride) {
        (Nest::Int(n), Nest::Int(d)) => out.push((*n, *d)),
        (Nest::Tuple(n), Nest::Tuple(d)) => {
            n.iter().zip(d).for_each(|(n, d)| collect(n, d, out));
        }
        _ => unreachable!("a layout's shape and stride are congruent"),
    }
}

fn group<T: Clone>(nest: &Nest<T>, range: &Range<usize>) -> Nest<T> {
    let items = nest.modes();
    let mut out = items[..range.start].to_vec();
    out.push(Nest::Tuple(items[range.clone()].to_vec()));
    out.extend_from_slice(&items[range.end..]);
    Nest::Tuple(out)
}

impl<S: fmt::Display> fmt::Display for Layout<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape, self.stride)
    }
}

impl<S: fmt::Display> fmt::Debug for Layout<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
