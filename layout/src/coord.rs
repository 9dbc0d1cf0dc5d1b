//! Coordinates and indices: evaluating a layout, and going back.

use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::stride::{Basis, Path, Stride};

/// The coordinate within `shape` of a 1-D index, colexicographically (first mode fastest).
///
/// The last mode takes what is left, so an index past the size continues naturally there; CuTe
/// does the same.
pub fn idx2crd(index: i64, shape: &IntTuple) -> IntTuple {
    fn walk(rest: &mut i64, shape: &IntTuple, last: bool) -> IntTuple {
        match shape {
            Nest::Int(_) if last => Nest::Int(*rest),
            // Extents are at least 1 in a layout; a bare shape may hold anything.
            Nest::Int(n) => {
                let n = (*n).max(1);
                let digit = *rest % n;
                *rest /= n;
                Nest::Int(digit)
            }
            Nest::Tuple(items) => {
                let end = items.len().saturating_sub(1);
                let coordinate = |(i, n)| walk(rest, n, last && i == end);
                Nest::Tuple(items.iter().enumerate().map(coordinate).collect())
            }
        }
    }
    let mut rest = index;
    walk(&mut rest, shape, true)
}

/// The offset of a coordinate of `shape` under `stride`.
///
/// The coordinate may be coarser than the shape: an integer on a tuple is a 1-D coordinate of it.
///
/// # Errors
/// [`Rule::Congruence`] where shape and stride disagree, [`Rule::Rank`] where a tuple of the
/// coordinate has another rank than the shape, [`Rule::Overflow`].
pub fn crd2idx(coord: &IntTuple, shape: &IntTuple, stride: &IntTuple) -> Result<i64> {
    Layout::new(shape.clone(), stride.clone())?.at_coord(coord)
}

impl<S: Stride> Layout<S> {
    /// Calls `f` with coordinate and stride of each leaf, for a coordinate that may be coarser
    /// than the shape.
    fn visit_coord(
        &self,
        operation: &'static str,
        coord: &IntTuple,
        f: &mut impl FnMut(i64, S) -> Option<()>,
    ) -> Result<()> {
        fn walk<S: Stride>(
            coord: &IntTuple,
            shape: &IntTuple,
            stride: &Nest<S>,
            f: &mut impl FnMut(i64, S) -> Option<()>,
        ) -> Result<(), Fault> {
            match (coord, shape, stride) {
                (Nest::Int(c), Nest::Int(_), Nest::Int(d)) => {
                    let overflow = || Rule::Overflow { what: "the offset" };
                    Ok(f(*c, *d).ok_or_else(overflow)?)
                }
                (Nest::Int(c), Nest::Tuple(_), _) => walk(&idx2crd(*c, shape), shape, stride, f),
                (Nest::Tuple(c), Nest::Tuple(n), Nest::Tuple(d)) if c.len() == n.len() => {
                    let modes = c.iter().zip(n.iter().zip(d)).enumerate();
                    for (i, (c, (n, d))) in modes {
                        walk(c, n, d, f).map_err(|fault| fault.within(i))?;
                    }
                    Ok(())
                }
                _ => {
                    let (expected, found) = (shape.rank(), coord.rank());
                    Err(Rule::Rank { expected, found }.into())
                }
            }
        }
        walk(coord, &self.shape, &self.stride, f).map_err(|fault| fault.of(operation, self, coord))
    }

    /// The coordinate of a 1-D index with this layout's own nesting.
    pub fn idx2crd(&self, index: i64) -> IntTuple {
        idx2crd(index, &self.shape)
    }
}

impl Layout {
    /// The offset of a 1-D coordinate, counted colexicographically.
    ///
    /// For `0 <= index < size` this is exact. Beyond, the last mode continues; what would leave 64
    /// bits there saturates ([`Layout::checked_at`] reports it).
    pub fn at(&self, index: i64) -> i64 {
        fn walk(rest: &mut i64, shape: &IntTuple, stride: &IntTuple, last: bool) -> i64 {
            match (shape, stride) {
                (Nest::Int(_), Nest::Int(d)) if last => rest.saturating_mul(*d),
                (Nest::Int(n), Nest::Int(d)) => {
                    let digit = *rest % n;
                    *rest /= n;
                    digit * d
                }
                (Nest::Tuple(n), Nest::Tuple(d)) => {
                    let end = n.len() - 1;
                    let modes = n.iter().zip(d).enumerate();
                    let offset = |sum: i64, (i, (n, d))| {
                        sum.saturating_add(walk(rest, n, d, last && i == end))
                    };
                    modes.fold(0, offset)
                }
                _ => unreachable!("a layout's shape and stride are congruent"),
            }
        }
        let mut rest = index;
        walk(&mut rest, &self.shape, &self.stride, true)
    }

    /// [`Layout::at`], with an error instead of saturation.
    ///
    /// # Errors
    /// [`Rule::Overflow`].
    pub fn checked_at(&self, index: i64) -> Result<i64> {
        self.at_coord(&Nest::Int(index))
    }

    /// The offset of a coordinate, which may be coarser than the shape.
    ///
    /// Coordinates are not bounded by the extents.
    ///
    /// # Errors
    /// [`Rule::Rank`] or [`Rule::Overflow`].
    pub fn at_coord(&self, coord: &IntTuple) -> Result<i64> {
        let mut sum = 0i64;
        self.visit_coord("crd2idx", coord, &mut |c, d| {
            sum = sum.checked_add(c.checked_mul(d)?)?;
            Some(())
        })?;
        Ok(sum)
    }

    /// The same as [`Layout::at_coord`], by CuTe's name.
    ///
    /// # Errors
    /// As [`Layout::at_coord`].
    pub fn crd2idx(&self, coord: &IntTuple) -> Result<i64> {
        self.at_coord(coord)
    }

    /// The offsets of all 1-D coordinates, in order.
    pub fn offsets(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.size()).map(|i| self.at(i))
    }

    /// The nested coordinate that a compact layout sends to `offset`: each leaf by its own stride.
    ///
    /// Exact for compact layouts in any order of modes; elsewhere each leaf's coordinate is
    /// `(offset / stride) % extent`, as in CuTe, and 0 where the stride is 0.
    pub fn get_hier_coord(&self, offset: i64) -> IntTuple {
        fn walk(offset: i64, shape: &IntTuple, stride: &IntTuple) -> IntTuple {
            match (shape, stride) {
                (Nest::Int(n), Nest::Int(d)) => {
                    Nest::Int(offset.checked_div(*d).map_or(0, |q| q % n))
                }
                (Nest::Tuple(n), Nest::Tuple(d)) => {
                    Nest::Tuple(n.iter().zip(d).map(|(n, d)| walk(offset, n, d)).collect())
                }
                _ => unreachable!("a layout's shape and stride are congruent"),
            }
        }
        walk(offset, &self.shape, &self.stride)
    }

    /// [`Layout::get_hier_coord`] with each mode's coordinate as one integer.
    pub fn get_flat_coord(&self, offset: i64) -> IntTuple {
        let coord = self.get_hier_coord(offset);
        let flat = |(c, n): (&IntTuple, &IntTuple)| Nest::Int(colex(c, n).0);
        match &coord {
            Nest::Int(_) => coord,
            Nest::Tuple(items) => {
                Nest::Tuple(items.iter().zip(self.shape.modes()).map(flat).collect())
            }
        }
    }

    /// [`Layout::get_hier_coord`] as a 1-D coordinate.
    pub fn get_1d_coord(&self, offset: i64) -> i64 {
        colex(&self.get_hier_coord(offset), &self.shape).0
    }
}

impl Layout<Basis> {
    /// The layout that gives each coordinate of a shape itself, `(4,(2,2)):(1@0,(1@0@1,1@1@1))`:
    /// CuTe's identity layout.
    ///
    /// # Errors
    /// As [`Layout::new`]; [`Rule::Depth`] where a path would be longer than a [`Path`] can be, and
    /// [`Rule::TooLarge`] above 256 modes.
    pub fn coordinates(shape: impl Into<IntTuple>) -> Result<Layout<Basis>> {
        fn walk(shape: &IntTuple, path: &mut Vec<usize>) -> Result<Nest<Basis>, Rule> {
            let Nest::Tuple(items) = shape else {
                return Basis::new(1, path).map(Nest::Int).ok_or_else(|| {
                    let (depth, limit) = (path.len(), Path::MAX_LEN);
                    match depth > limit {
                        true => Rule::Depth { depth, limit },
                        false => Rule::TooLarge {
                            cells: path.iter().max().map_or(0, |&i| i as i64 + 1),
                            limit: 256,
                        },
                    }
                });
            };
            let mut out = Vec::with_capacity(items.len());
            for (i, item) in items.iter().enumerate() {
                path.push(i);
                out.push(walk(item, path)?);
                path.pop();
            }
            Ok(Nest::Tuple(out))
        }
        let shape = shape.into();
        // Refuses a shape of unbounded depth before it is walked.
        Layout::new(shape.clone(), shape.map(&mut |_| 0i64))?;
        let stride = walk(&shape, &mut vec![])
            .map_err(|rule| LayoutError::unary("make_identity_layout", &shape, rule))?;
        Layout::new(shape, stride)
    }

    /// The coordinate that the layout sends a 1-D coordinate to, with one entry per mode its
    /// strides name.
    ///
    /// # Errors
    /// [`Rule::Overflow`], and [`Rule::Mismatch`] where the strides name both a mode and a mode
    /// inside it.
    pub fn coord_at(&self, index: i64) -> Result<IntTuple> {
        self.coord_at_coord(&Nest::Int(index))
    }

    /// The coordinate that the layout sends a coordinate to, which may be coarser than the shape.
    ///
    /// # Errors
    /// As [`Layout::coord_at`], and [`Rule::Rank`].
    pub fn coord_at_coord(&self, at: &IntTuple) -> Result<IntTuple> {
        let mut coord = Nest::Int(0);
        let mut deep = false;
        self.visit_coord("coord_at", at, &mut |c, d| {
            let amount = c.checked_mul(d.value)?;
            deep |= !add_along(&mut coord, d.path.indices(), amount)?;
            Some(())
        })?;
        if deep {
            let why = "the strides name both a mode and a mode inside it";
            return Err(LayoutError::unary("coord_at", self, Rule::Mismatch { why }));
        }
        Ok(coord)
    }
}

/// Adds to the leaf at `path`, growing the tree where it is still zero. `Some(false)` where the
/// path ends above leaves or below a non-zero leaf; `None` on overflow.
fn add_along(coord: &mut IntTuple, path: &[u8], amount: i64) -> Option<bool> {
    let Some((&first, rest)) = path.split_first() else {
        return match coord {
            Nest::Int(value) => {
                *value = value.checked_add(amount)?;
                Some(true)
            }
            Nest::Tuple(_) => Some(amount == 0),
        };
    };
    if let Nest::Int(value) = coord {
        if *value != 0 {
            return Some(false);
        }
        *coord = Nest::Tuple(vec![]);
    }
    let Nest::Tuple(items) = coord else {
        return Some(false);
    };
    let first = usize::from(first);
    if items.len() <= first {
        items.resize(first + 1, Nest::Int(0));
    }
    add_along(&mut items[first], rest, amount)
}

/// The 1-D coordinate of a congruent coordinate, and the shape's size. In range for coordinates
/// within the shape, which is all that is asked for here.
fn colex(coord: &IntTuple, shape: &IntTuple) -> (i64, i64) {
    match (coord, shape) {
        (Nest::Tuple(c), Nest::Tuple(n)) => {
            let modes = c.iter().zip(n);
            modes.fold((0, 1), |(index, size), (c, n)| {
                let (c, n) = colex(c, n);
                (index + c * size, size * n)
            })
        }
        (Nest::Int(c), shape) => (*c, shape.checked_product().unwrap_or(i64::MAX)),
        _ => unreachable!("the coordinate was made from this shape"),
    }
}
