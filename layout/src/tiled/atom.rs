//! What one instruction does: copies and multiplications of small tiles.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{numbers_all, reaches_all};
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::IntTuple;

/// The two sides of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Where it reads.
    Source,
    /// Where it writes.
    Destination,
}

/// A copy instruction: which of the elements it moves each lane reads, and which it writes.
///
/// Both layouts go from (lane, value) to the number of an element among those moved. A tiled copy
/// deals out threads and values by the reference side; the other side follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CopyText", into = "CopyText")]
pub struct CopyAtom {
    source: Layout,
    destination: Layout,
    reference: Side,
}

#[derive(Serialize, Deserialize)]
struct CopyText {
    source: Layout,
    destination: Layout,
    reference: Side,
}

impl CopyAtom {
    /// The copy with these (lane, value) layouts.
    ///
    /// # Errors
    /// [`Rule::Rank`] unless both have two modes, [`Rule::Mismatch`] where they disagree in their
    /// lanes, the reference does not number the elements from 0 each once, or the other side does
    /// not reach the same elements.
    pub fn new(source: Layout, destination: Layout, reference: Side) -> Result<CopyAtom> {
        let fail = |rule| LayoutError::binary("copy_atom", &source, &destination, rule);
        for layout in [&source, &destination] {
            if layout.rank() != 2 {
                let (expected, found) = (2, layout.rank());
                return Err(fail(Rule::Rank { expected, found }));
            }
        }
        if source.mode(0)?.size() != destination.mode(0)?.size() {
            let why = "source and destination must have the same lanes";
            return Err(fail(Rule::Mismatch { why }).at([0]));
        }
        let (by, other) = match reference {
            Side::Source => (&source, &destination),
            Side::Destination => (&destination, &source),
        };
        if !numbers_all(by) {
            let why = "the reference side must number the elements from 0, each once";
            return Err(fail(Rule::Mismatch { why }));
        }
        if !reaches_all(other, by.size()) {
            let why =
                "both sides must reach the same elements, repeating some by strides of 0 only";
            return Err(fail(Rule::Mismatch { why }));
        }
        Ok(CopyAtom {
            source,
            destination,
            reference,
        })
    }

    /// The plain copy: each lane by itself moves `values` elements.
    ///
    /// # Errors
    /// [`Rule::PositiveExtent`].
    pub fn per_lane(values: i64) -> Result<CopyAtom> {
        let layout = Layout::new([1, values], [0, 1])?;
        CopyAtom::new(layout.clone(), layout, Side::Source)
    }

    /// From (lane, value) to the element read.
    pub fn source(&self) -> &Layout {
        &self.source
    }

    /// From (lane, value) to the element written.
    pub fn destination(&self) -> &Layout {
        &self.destination
    }

    /// The side that threads and values of a tiled copy are dealt out by.
    pub fn reference(&self) -> Side {
        self.reference
    }

    /// The layout of a side.
    pub fn side(&self, side: Side) -> &Layout {
        match side {
            Side::Source => &self.source,
            Side::Destination => &self.destination,
        }
    }
}

impl TryFrom<CopyText> for CopyAtom {
    type Error = LayoutError;

    fn try_from(text: CopyText) -> Result<CopyAtom> {
        CopyAtom::new(text.source, text.destination, text.reference)
    }
}

impl From<CopyAtom> for CopyText {
    fn from(atom: CopyAtom) -> CopyText {
        CopyText {
            source: atom.source,
            destination: atom.destination,
            reference: atom.reference,
        }
    }
}

impl fmt::Display for CopyAtom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.source, self.destination)
    }
}

/// A matrix instruction, `C(m,n) += A(m,k) B(n,k)`: which elements of its tiles each lane holds.
///
/// Each layout goes from (lane, value) to the column-major coordinate of the operand's tile.
/// Lanes are those of one wave, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "MmaText", into = "MmaText")]
pub struct MmaAtom {
    shape: [i64; 3],
    a: Layout,
    b: Layout,
    c: Layout,
}

#[derive(Serialize, Deserialize)]
struct MmaText {
    shape: [i64; 3],
    a: Layout,
    b: Layout,
    c: Layout,
}

impl MmaAtom {
    /// The instruction of shape (m, n, k) with these (lane, value) layouts over (m, k), (n, k) and
    /// (m, n).
    ///
    /// # Errors
    /// [`Rule::PositiveExtent`] and [`Rule::Overflow`] for the shape, [`Rule::Rank`] unless the
    /// layouts have two modes, [`Rule::Mismatch`] where they disagree in their lanes or a layout
    /// does not hold every element of its tile.
    pub fn new(shape: [i64; 3], a: Layout, b: Layout, c: Layout) -> Result<MmaAtom> {
        let [m, n, k] = shape;
        let lanes = c.mode(0)?.size();
        for (layout, tile) in [(&a, [m, k]), (&b, [n, k]), (&c, [m, n])] {
            let space = Layout::col_major(&tile)?;
            let fail = |rule| LayoutError::binary("mma_atom", layout, &IntTuple::from(tile), rule);
            if layout.rank() != 2 {
                let (expected, found) = (2, layout.rank());
                return Err(fail(Rule::Rank { expected, found }));
            }
            if layout.mode(0)?.size() != lanes {
                let why = "all operands must have the same lanes";
                return Err(fail(Rule::Mismatch { why }).at([0]));
            }
            if !reaches_all(layout, space.size()) {
                let why = "an operand must hold every element of its tile, repeating some by \
                           strides of 0 only";
                return Err(fail(Rule::Mismatch { why }));
            }
        }
        Ok(MmaAtom { shape, a, b, c })
    }

    /// Extents along m, n and k.
    pub fn shape(&self) -> [i64; 3] {
        self.shape
    }

    /// Operand A: from (lane, value) to (m, k).
    pub fn a(&self) -> &Layout {
        &self.a
    }

    /// Operand B: from (lane, value) to (n, k).
    pub fn b(&self) -> &Layout {
        &self.b
    }

    /// Operands C and D: from (lane, value) to (m, n).
    pub fn c(&self) -> &Layout {
        &self.c
    }
}

impl TryFrom<MmaText> for MmaAtom {
    type Error = LayoutError;

    fn try_from(text: MmaText) -> Result<MmaAtom> {
        MmaAtom::new(text.shape, text.a, text.b, text.c)
    }
}

impl From<MmaAtom> for MmaText {
    fn from(atom: MmaAtom) -> MmaText {
        MmaText {
            shape: atom.shape,
            a: atom.a,
            b: atom.b,
            c: atom.c,
        }
    }
}

impl fmt::Display for MmaAtom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.shape;
        write!(f, "{m}x{n}x{k} A {} B {} C {}", self.a, self.b, self.c)
    }
}
