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
//! let n = Symbol::new("N")?.multiple_of(64)?;
//! let rows = SymLayout::<i64>::parse("(N,128):(128,1)", &[n])?;
//! assert_eq!(rows.divide_mode(0, &"64:1".parse()?)?.to_string(), "((64,N/64),128):((128,8192),1)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algebra;
mod divide;
mod extent;
mod symbol;

pub use extent::{Extent, Share};
pub use symbol::Symbol;

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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
    /// As [`Layout::new`], with every name at its least value. What is known of a name in one
    /// extent holds for it in all; [`Rule::SymbolRange`] with the mode where that contradicts
    /// itself.
    pub fn new(shape: Nest<Extent>, stride: Nest<S>) -> Result<Self> {
        let shape = unified(shape).map_err(|(leaf, shape, rule)| {
            let path = shape.leaf_path(leaf);
            fault("make_layout", &shape, &stride, path, rule)
        })?;
        Layout::new(shape.map(&mut Extent::min), stride.clone())
            .map_err(|e| e.shown("make_layout", &shape, &stride))?;
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
        let mut leaf = 0;
        let shape = self.shape.try_map(&mut |extent| {
            leaf += 1;
            extent.bind(name, value)
        });
        let shape = shape.map_err(|rule| {
            let binding = format!("{name} = {value}");
            fault("bind", self, &binding, self.shape.leaf_path(leaf - 1), rule)
        })?;
        SymLayout::new(shape, self.stride.clone())
    }

    /// The plain layout, once no name is left.
    ///
    /// # Errors
    /// [`Rule::Unsupported`] with the mode of the first name.
    pub fn to_static(&self) -> Result<Layout<S>> {
        self.plain_for("to_static")
    }

    /// The plain layout, for an operation that takes no names.
    ///
    /// # Errors
    /// [`Rule::Unsupported`] for that operation with the mode of the first name.
    pub fn plain_for(&self, operation: &'static str) -> Result<Layout<S>> {
        let mut leaf = 0;
        let shape = self.shape.try_map(&mut |extent| {
            leaf += 1;
            match extent {
                Extent::Static(n) => Ok(*n),
                symbolic => Err(symbolic.to_string()),
            }
        });
        let shape = shape.map_err(|extent| {
            let extent = extent.into();
            let error = LayoutError::unary(operation, self, Rule::Unsupported { extent });
            error.at(self.shape.leaf_path(leaf - 1))
        })?;
        Layout::new(shape, self.stride.clone())
    }

    /// The modes at the top as layouts; a layout of depth 0 is its own only mode.
    pub fn modes(&self) -> Vec<SymLayout<S>> {
        let pairs = self.shape.modes().iter().zip(self.stride.modes());
        let mode = |(shape, stride): (&Nest<Extent>, &Nest<S>)| SymLayout {
            shape: shape.clone(),
            stride: stride.clone(),
        };
        pairs.map(mode).collect()
    }

    /// The layouts side by side, as the modes of one.
    pub(crate) fn bundle(modes: Vec<SymLayout<S>>) -> Result<SymLayout<S>> {
        let (shape, stride) = modes.into_iter().map(|l| (l.shape, l.stride)).unzip();
        SymLayout::new(Nest::Tuple(shape), Nest::Tuple(stride))
    }

    /// The mode of the name that comes after `before` others; the whole where there are fewer.
    pub(crate) fn name_path(&self, before: usize) -> Vec<usize> {
        let (mut leaf, mut names) = (0, Vec::new());
        self.shape.for_each(&mut |extent: &Extent| {
            if extent.symbol().is_some() {
                names.push(leaf);
            }
            leaf += 1;
        });
        let path = names.get(before).map(|&leaf| self.shape.leaf_path(leaf));
        path.unwrap_or_default()
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
        shape.try_map(&mut |extent| extent.declare(&mut known, symbols))?;
        let mut leaf = 0;
        let resolved = shape.try_map(&mut |extent| {
            leaf += 1;
            extent.resolve(&known)
        });
        let resolved = resolved.map_err(|rule| {
            fault(
                "make_layout",
                shape,
                &stride,
                shape.leaf_path(leaf - 1),
                rule,
            )
        })?;
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

/// What serde writes of a symbolic layout: its text, and what is known of its names.
#[derive(Serialize, Deserialize)]
struct Data {
    layout: String,
    symbols: Vec<Symbol>,
}

impl<S: StrideText> Serialize for SymLayout<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut symbols: Vec<Symbol> = Vec::new();
        self.shape.for_each(&mut |extent: &Extent| {
            let fresh = extent.symbol().filter(|symbol| !symbols.contains(symbol));
            symbols.extend(fresh.cloned());
        });
        let layout = self.to_string();
        Data { layout, symbols }.serialize(serializer)
    }
}

impl<'de, S: StrideText> Deserialize<'de> for SymLayout<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = Data::deserialize(deserializer)?;
        SymLayout::parse(&data.layout, &data.symbols).map_err(D::Error::custom)
    }
}

/// The shape with all that is known of a name at each of its places; else the leaf at fault.
fn unified(shape: Nest<Extent>) -> Result<Nest<Extent>, (usize, Nest<Extent>, Rule)> {
    let mut known: Vec<Symbol> = Vec::new();
    let (mut leaf, mut differ) = (0, false);
    let merged = shape.try_map(&mut |extent| {
        leaf += 1;
        let Some(symbol) = extent.symbol() else {
            return Ok(());
        };
        match known.iter_mut().find(|k| k.name() == symbol.name()) {
            Some(have) if have == symbol => {}
            Some(have) => {
                differ = true;
                *have = have.merged(symbol)?;
            }
            None => known.push(symbol.clone()),
        }
        Ok(())
    });
    if let Err(LayoutError { rule, .. }) = merged {
        return Err((leaf - 1, shape, rule));
    }
    if !differ {
        return Ok(shape);
    }
    Ok(shape.map(&mut |extent| {
        let named = |k: &&Symbol| extent.symbol().is_some_and(|s| s.name() == k.name());
        match known.iter().find(named) {
            Some(symbol) => extent.with_symbol(symbol),
            None => extent.clone(),
        }
    }))
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
