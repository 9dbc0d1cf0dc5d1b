//! Layouts whose extents a kernel learns only when it is launched.
//!
//! A symbolic extent is a name times a factor over a divisor, `3*N/8`, with what is known of the
//! name: a number it is a multiple of, and a range. An operation either gives a result that is
//! right for every value the name may take, or refuses and names the mode and what it would need
//! to know.
//!
//! ```
//! use tilefold_layout::symbolic::{SymLayout, Symbol};
//! let a: SymLayout = "(16,N):(1,16)".parse()?;
//! assert_eq!(a.right_inverse()?.to_string(), "16*N:1");
//! let n = Symbol::new("N").multiple_of(64);
//! let rows = SymLayout::<i64>::parse("(N,128):(128,1)", &[n])?;
//! assert_eq!(rows.divide_mode(0, &"64:1".parse()?)?.to_string(), "((64,N/64),128):((128,8192),1)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algebra;
mod extent;

pub use extent::{Extent, Symbol};

use std::fmt;
use std::str::FromStr;

use winnow::combinator::cut_err;
use winnow::{ModalResult, Parser};

use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::Nest;
use crate::stride::{Basis, Path, Stride};
use crate::text::{self, ParseError};
pub(crate) use extent::{ExtentText, extent_text};

/// A layout with symbolic extents. Strides are numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymLayout<S = i64> {
    pub(crate) shape: Nest<Extent>,
    pub(crate) stride: Nest<S>,
}

impl<S: Stride> SymLayout<S> {
    /// The layout of this shape and stride.
    ///
    /// # Errors
    /// As [`Layout::new`], with every name at its least value.
    pub fn new(shape: Nest<Extent>, stride: Nest<S>) -> Result<Self> {
        Layout::new(shape.map(&mut Extent::min), stride.clone())?;
        Ok(SymLayout { shape, stride })
    }

    /// The shape.
    pub fn shape(&self) -> &Nest<Extent> {
        &self.shape
    }

    /// The stride, congruent with the shape.
    pub fn stride(&self) -> &Nest<S> {
        &self.stride
    }

    /// The layout for one value of one name; other names stay.
    ///
    /// # Errors
    /// [`Rule::SymbolValue`] where the value is not one the name may take, and as [`Layout::new`].
    pub fn bind(&self, name: &str, value: i64) -> Result<SymLayout<S>> {
        let shape = self.shape.try_map(&mut |extent| extent.bind(name, value));
        let shape = shape.map_err(|rule| LayoutError::unary("bind", self, rule))?;
        SymLayout::new(shape, self.stride.clone())
    }

    /// The plain layout, once no name is left.
    ///
    /// # Errors
    /// [`Rule::NeedsStatic`] with the first name.
    pub fn to_static(&self) -> Result<Layout<S>> {
        let shape = self.shape.try_map(&mut |extent| match extent {
            Extent::Static(n) => Ok(*n),
            symbolic => Err(symbolic.needs_static("the layout is used as a plain one")),
        });
        let shape = shape.map_err(|rule| LayoutError::unary("to_static", self, rule))?;
        Layout::new(shape, self.stride.clone())
    }

    /// Extent and stride of every leaf, left to right.
    pub fn flat_modes(&self) -> Vec<(Extent, S)> {
        let mut strides = Vec::new();
        self.stride.for_each(&mut |d| strides.push(*d));
        let mut strides = strides.into_iter();
        let mut modes = Vec::new();
        self.shape
            .for_each(&mut |n| modes.extend(strides.next().map(|d| (n.clone(), d))));
        modes
    }
}

impl<S: Stride> From<&Layout<S>> for SymLayout<S> {
    fn from(layout: &Layout<S>) -> Self {
        SymLayout {
            shape: layout.shape.map(&mut |&n| Extent::Static(n)),
            stride: layout.stride.clone(),
        }
    }
}

impl<S: fmt::Display> fmt::Display for SymLayout<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape, self.stride)
    }
}

/// Strides that can be read from text.
pub trait StrideText: Stride {
    #[doc(hidden)]
    fn parse_stride(input: &mut &str) -> ModalResult<Self>;
}

impl StrideText for i64 {
    fn parse_stride(input: &mut &str) -> ModalResult<i64> {
        text::int(input)
    }
}

impl StrideText for Basis {
    fn parse_stride(input: &mut &str) -> ModalResult<Basis> {
        text::basis(input)
    }
}

impl<S: StrideText> SymLayout<S> {
    /// A layout from its text, with what is known of its names. A name that is not among `symbols`
    /// is taken to be a multiple of every divisor it stands over.
    ///
    /// # Errors
    /// [`ParseError`]; [`Rule::NeedsMultiple`] where a divisor does not divide every value of its
    /// name.
    pub fn parse(text: &str, symbols: &[Symbol]) -> Result<Self, ParseError> {
        let (shape, stride) = text::parse_all(text, pair::<S>)?;
        Ok(SymLayout::resolved(&shape, stride, symbols)?)
    }
}

impl<S: Stride> SymLayout<S> {
    pub(crate) fn resolved(
        shape: &Nest<ExtentText>,
        stride: Nest<S>,
        symbols: &[Symbol],
    ) -> Result<Self> {
        let mut known = symbols.to_vec();
        shape.for_each(&mut |extent: &ExtentText| extent.declare(&mut known, symbols));
        let resolved = shape.try_map(&mut |extent| extent.resolve(&known));
        let resolved =
            resolved.map_err(|rule| LayoutError::binary("make_layout", shape, &stride, rule))?;
        SymLayout::new(resolved, stride)
    }
}

impl From<&SymLayout> for SymLayout<Basis> {
    fn from(layout: &SymLayout) -> Self {
        let stride = layout.stride.map(&mut |&value| Basis {
            value,
            path: Path::ROOT,
        });
        SymLayout {
            shape: layout.shape.clone(),
            stride,
        }
    }
}

impl SymLayout<Basis> {
    /// The same layout where no stride leads into a coordinate.
    pub fn as_offsets(&self) -> Option<SymLayout> {
        let stride = self.stride.try_map(&mut |d| {
            if d.path == Path::ROOT {
                Ok(d.value)
            } else {
                Err(())
            }
        });
        Some(SymLayout {
            shape: self.shape.clone(),
            stride: stride.ok()?,
        })
    }
}

impl<S: StrideText> FromStr for SymLayout<S> {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        SymLayout::parse(text, &[])
    }
}

fn pair<S: StrideText>(input: &mut &str) -> ModalResult<(Nest<ExtentText>, Nest<S>)> {
    let shape = text::nest(input, 0, extent_text)?;
    cut_err(text::token(":", "`:`")).parse_next(input)?;
    let stride = text::nest(input, 0, S::parse_stride).map_err(winnow::error::ErrMode::cut)?;
    Ok((shape, stride))
}

/// Names the mode of `rule`'s fault in both operands' text.
pub(crate) fn fault(
    operation: &'static str,
    left: &impl fmt::Display,
    right: &impl fmt::Display,
    mode: Vec<usize>,
    rule: Rule,
) -> LayoutError {
    LayoutError::binary(operation, left, right, rule).at(mode)
}
