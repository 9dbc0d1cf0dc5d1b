//! Nested tuples: the shapes, strides and coordinates of layouts.

use std::fmt;

/// Tuples may nest this deep; deeper input is refused, so that no recursion here can exhaust a
/// stack.
pub const MAX_DEPTH: usize = 32;

/// A tuple of tuples with values of `T` at its leaves, such as `(4,(2,2))`.
///
/// `4` and `(4)` differ: the first is a leaf (depth 0), the second a tuple of rank 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Nest<T> {
    /// A leaf.
    Int(T),
    /// A tuple of nests.
    Tuple(Vec<Nest<T>>),
}

/// A nested tuple of integers: a shape, a coordinate, or the strides of a plain layout.
pub type IntTuple = Nest<i64>;

impl<T> Nest<T> {
    /// Number of modes at the top: 1 for a leaf.
    pub fn rank(&self) -> usize {
        match self {
            Nest::Int(_) => 1,
            Nest::Tuple(items) => items.len(),
        }
    }

    /// Levels of parentheses: 0 for a leaf.
    pub fn depth(&self) -> usize {
        match self {
            Nest::Int(_) => 0,
            Nest::Tuple(items) => 1 + items.iter().map(Nest::depth).max().unwrap_or(0),
        }
    }

    /// The modes at the top; a leaf is its own only mode.
    pub fn modes(&self) -> &[Nest<T>] {
        match self {
            Nest::Int(_) => std::slice::from_ref(self),
            Nest::Tuple(items) => items,
        }
    }

    /// Mode `i` at the top, if there is one.
    pub fn get(&self, i: usize) -> Option<&Nest<T>> {
        self.modes().get(i)
    }

    /// The value, if this is a leaf.
    pub fn as_int(&self) -> Option<&T> {
        match self {
            Nest::Int(value) => Some(value),
            Nest::Tuple(_) => None,
        }
    }

    /// Whether both have the same tree of tuples, whatever stands at the leaves.
    pub fn congruent<U>(&self, other: &Nest<U>) -> bool {
        match (self, other) {
            (Nest::Int(_), Nest::Int(_)) => true,
            (Nest::Tuple(a), Nest::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.congruent(b))
            }
            _ => false,
        }
    }

    /// Whether every leaf of `self` lies on a leaf or a whole sub-tuple of `other`.
    pub fn compatible_profile<U>(&self, other: &Nest<U>) -> bool {
        match (self, other) {
            (Nest::Int(_), _) => true,
            (Nest::Tuple(a), Nest::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible_profile(b))
            }
            _ => false,
        }
    }

    /// The same tree with every leaf mapped.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Nest<U> {
        match self {
            Nest::Int(value) => Nest::Int(f(value)),
            Nest::Tuple(items) => Nest::Tuple(items.iter().map(|n| n.map(f)).collect()),
        }
    }

    /// The same tree with every leaf mapped, stopping at the first error.
    pub fn try_map<U, E>(&self, f: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Nest<U>, E> {
        Ok(match self {
            Nest::Int(value) => Nest::Int(f(value)?),
            Nest::Tuple(items) => Nest::Tuple(
                items
                    .iter()
                    .map(|n| n.try_map(f))
                    .collect::<Result<_, E>>()?,
            ),
        })
    }

    /// The indices that lead to leaf `n`, counted left to right; the deepest that exist where there
    /// are fewer.
    pub(crate) fn leaf_path(&self, n: usize) -> Vec<usize> {
        fn walk<T>(nest: &Nest<T>, left: &mut usize, path: &mut Vec<usize>) -> bool {
            match nest {
                Nest::Int(_) if *left == 0 => true,
                Nest::Int(_) => {
                    *left -= 1;
                    false
                }
                Nest::Tuple(items) => items.iter().enumerate().any(|(i, item)| {
                    path.push(i);
                    let found = walk(item, left, path);
                    if !found {
                        path.pop();
                    }
                    found
                }),
            }
        }
        let (mut left, mut path) = (n, Vec::new());
        walk(self, &mut left, &mut path);
        path
    }

    /// Calls `f` with every leaf, left to right.
    pub fn for_each(&self, f: &mut impl FnMut(&T)) {
        match self {
            Nest::Int(value) => f(value),
            Nest::Tuple(items) => items.iter().for_each(|n| n.for_each(f)),
        }
    }
}

impl<T: Copy> Nest<T> {
    /// The leaves, left to right.
    pub fn leaves(&self) -> Vec<T> {
        let mut out = Vec::with_capacity(self.rank());
        self.for_each(&mut |v| out.push(*v));
        out
    }

    /// All leaves in one tuple; a leaf stays a leaf.
    pub fn flatten(&self) -> Nest<T> {
        match self {
            Nest::Int(_) => self.clone(),
            Nest::Tuple(_) => Nest::flat(&self.leaves()),
        }
    }

    /// A tuple of leaves.
    pub fn flat(leaves: &[T]) -> Nest<T> {
        Nest::Tuple(leaves.iter().map(|v| Nest::Int(*v)).collect())
    }
}

impl IntTuple {
    /// The product of the leaves, or `None` where it leaves 64 bits.
    pub fn checked_product(&self) -> Option<i64> {
        match self {
            Nest::Int(n) => Some(*n),
            Nest::Tuple(items) => items
                .iter()
                .try_fold(1i64, |p, n| p.checked_mul(n.checked_product()?)),
        }
    }
}

impl From<i64> for IntTuple {
    fn from(value: i64) -> Self {
        Nest::Int(value)
    }
}

impl From<&[i64]> for IntTuple {
    fn from(values: &[i64]) -> Self {
        Nest::flat(values)
    }
}

impl<const N: usize> From<[i64; N]> for IntTuple {
    fn from(values: [i64; N]) -> Self {
        Nest::flat(&values)
    }
}

impl<T: fmt::Display> fmt::Display for Nest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nest::Int(value) => write!(f, "{value}"),
            Nest::Tuple(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}
