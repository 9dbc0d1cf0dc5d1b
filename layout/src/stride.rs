//! What may stand at the leaves of a stride: integers, or basis elements of a coordinate space.

use std::fmt;

/// A leaf of a layout's stride. Integers give offsets; [`Basis`] elements give coordinates.
pub trait Stride: Copy + Eq + std::hash::Hash + fmt::Debug + fmt::Display {
    /// The stride that never moves.
    const ZERO: Self;
    /// Whether this is [`Stride::ZERO`] or a zero multiple of a basis element.
    fn is_zero(self) -> bool;
    /// `self * factor`, or `None` where that leaves 64 bits.
    fn scale(self, factor: i64) -> Option<Self>;
    /// The number in front of the basis element; an integer is its own.
    fn value(self) -> i64;
    /// The coordinate it moves along; empty for integers.
    fn path(self) -> Path;
}

impl Stride for i64 {
    const ZERO: i64 = 0;

    fn is_zero(self) -> bool {
        self == 0
    }

    fn scale(self, factor: i64) -> Option<i64> {
        self.checked_mul(factor)
    }

    fn value(self) -> i64 {
        self
    }

    fn path(self) -> Path {
        Path::ROOT
    }
}

/// A mode of a coordinate space: the indices that lead to it from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    len: u8,
    at: [u8; Path::MAX_LEN],
}

impl Path {
    /// The whole space.
    pub const ROOT: Path = Path {
        len: 0,
        at: [0; Path::MAX_LEN],
    };
    /// Longest path there is.
    pub const MAX_LEN: usize = 7;

    /// The path through these indices, if it is no longer than [`Path::MAX_LEN`] and no index is
    /// above 255.
    pub fn new(indices: &[usize]) -> Option<Path> {
        let mut path = Path::ROOT;
        for &index in indices {
            *path.at.get_mut(usize::from(path.len))? = u8::try_from(index).ok()?;
            path.len += 1;
        }
        Some(path)
    }

    /// The indices, outermost first.
    pub fn indices(&self) -> &[u8] {
        &self.at[..usize::from(self.len)]
    }
}

/// A basis element scaled: `2@1@0` moves by two along mode 1 of mode 0 of a coordinate.
///
/// The path reads right to left, as CuTe prints it; a basis element with an empty path is an
/// integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Basis {
    /// How far it moves.
    pub value: i64,
    /// Along which mode.
    pub path: Path,
}

impl Basis {
    /// One step along the mode that `indices` lead to, outermost first; `None` where
    /// [`Path::new`] refuses them.
    pub fn new(value: i64, indices: &[usize]) -> Option<Basis> {
        Some(Basis {
            value,
            path: Path::new(indices)?,
        })
    }
}

impl Stride for Basis {
    const ZERO: Basis = Basis {
        value: 0,
        path: Path::ROOT,
    };

    fn is_zero(self) -> bool {
        self.value == 0
    }

    fn scale(self, factor: i64) -> Option<Basis> {
        Some(Basis {
            value: self.value.checked_mul(factor)?,
            path: self.path,
        })
    }

    fn value(self) -> i64 {
        self.value
    }

    fn path(self) -> Path {
        self.path
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        self.path
            .indices()
            .iter()
            .rev()
            .try_for_each(|index| write!(f, "@{index}"))
    }
}
