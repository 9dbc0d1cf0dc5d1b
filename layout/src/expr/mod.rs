//! Expressions of the algebra, such as `logical_divide((12,8):(8,1), 4:1)`.
//!
//! An expression is a literal or a call of one of [`FUNCTIONS`] on expressions. Literals are
//! integers, tuples `(4,(2,_))`, layouts `(4,8):(8,1)`, layouts into coordinates
//! `(4,8):(1@1,1@0)`, swizzles `Sw<3,3,3>`, composed layouts `Sw<3,3,3> o 0 o (8,64):(64,1)`, and
//! tilers `<4:1, _, 8>`. Extents may be names, `(16,N/8):(1,16)`, where the operation is one of
//! [`symbolic`](crate::symbolic); elsewhere the error names the mode, and [`evaluate_with`] puts
//! numbers in place of the names.
//!
//! ```
//! use tilefold_layout::expr::evaluate;
//! let value = evaluate("zipped_divide((12,8):(8,1), <4, 2>)")?;
//! assert_eq!(value.to_string(), "((4,2),(3,4)):((8,1),(32,2))");
//! assert_eq!(evaluate("size(coalesce((4,8):(1,4)))")?.to_string(), "32");
//! # Ok::<(), tilefold_layout::expr::ExprError>(())
//! ```

mod arguments;
mod call;
mod functions;
mod making;
mod parse;
mod reading;
mod tiling;

pub use functions::{FUNCTIONS, Function};

use std::fmt;

use crate::composed::ComposedLayout;
use crate::draw::Drawing;
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::slice::{SliceCoord, slice_text};
use crate::stride::{Basis, Path};
use crate::swizzle::Swizzle;
use crate::symbolic::{Extent, SymLayout};
use crate::text::ParseError;
use crate::tiled::{CopyAtom, MmaAtom, TiledCopy, TiledMma};
use crate::tiler::Tiler;

/// What an expression evaluates to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer or a tuple; `_` may stand in coordinates.
    Tuple(SliceCoord),
    /// A layout, plain or composed.
    Layout(ComposedLayout),
    /// A layout into coordinates.
    Coordinates(Layout<Basis>),
    /// A layout with names among its extents; strides may be integers or lead to coordinates.
    Symbolic(SymLayout<Basis>),
    /// A swizzle by itself.
    Swizzle(Swizzle),
    /// A tiler.
    Tiler(Tiler),
    /// The values of a layout, in order: integers, or coordinates.
    Table(Vec<IntTuple>),
    /// A copy instruction.
    CopyAtom(CopyAtom),
    /// A matrix instruction.
    MmaAtom(MmaAtom),
    /// A copy by many threads.
    TiledCopy(TiledCopy),
    /// A multiplication by many waves.
    TiledMma(TiledMma),
    /// A tile and the thread-value layout over it.
    ThreadValue {
        /// Extents of the tile.
        tile: Vec<i64>,
        /// From (thread, value) to the tile's 1-D coordinate.
        layout: Layout,
    },
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Tuple(tuple) => f.write_str(&slice_text(tuple)),
            Value::Layout(layout) => layout.fmt(f),
            Value::Coordinates(layout) => layout.fmt(f),
            Value::Symbolic(layout) => layout.fmt(f),
            Value::Swizzle(swizzle) => swizzle.fmt(f),
            Value::Tiler(tiler) => tiler.fmt(f),
            Value::Table(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Value::CopyAtom(atom) => atom.fmt(f),
            Value::MmaAtom(atom) => atom.fmt(f),
            Value::TiledCopy(copy) => copy.fmt(f),
            Value::TiledMma(mma) => mma.fmt(f),
            Value::ThreadValue { tile, layout } => {
                write!(
                    f,
                    "tile {}, (thread,value) {layout}",
                    IntTuple::from(tile.as_slice())
                )
            }
        }
    }
}

impl Value {
    /// A picture of the value, where it is a layout: offsets, coordinates, or owners of a tile.
    /// Names among the extents take their least values.
    ///
    /// # Errors
    /// As [`Drawing::offsets`], [`Drawing::coordinates`] and [`Drawing::ownership`].
    pub fn drawing(&self) -> Option<Result<Drawing, LayoutError>> {
        self.drawing_within(usize::MAX, usize::MAX)
    }

    /// The upper left corner of [`Value::drawing`], of at most so many rows and columns. Of a
    /// layout of any size, a small corner can be drawn.
    ///
    /// # Errors
    /// As [`Value::drawing`], for the corner alone where the value is a layout.
    pub fn drawing_within(
        &self,
        rows: usize,
        columns: usize,
    ) -> Option<Result<Drawing, LayoutError>> {
        match self {
            Value::Layout(layout) => Some(Drawing::offsets_within(layout.clone(), rows, columns)),
            Value::Coordinates(layout) => Some(Drawing::coordinates_within(layout, rows, columns)),
            Value::Symbolic(layout) => match least(layout) {
                Ok(value) => value.drawing_within(rows, columns),
                Err(error) => Some(Err(error)),
            },
            _ => {
                let owned = self.owned()?;
                let whole = owned.and_then(|(tile, layout)| Drawing::ownership(&layout, &tile));
                Some(whole.map(|drawing| drawing.corner(rows, columns)))
            }
        }
    }

    /// The tile whose owners the value names, and its thread-value layout: of an instruction or a
    /// multiplication that of C, of a copy that of the side that deals out the threads.
    fn owned(&self) -> Option<Result<(Vec<i64>, Layout), LayoutError>> {
        Some(match self {
            Value::ThreadValue { tile, layout } => Ok((tile.clone(), layout.clone())),
            Value::CopyAtom(atom) => {
                let layout = atom.side(atom.reference());
                Ok((vec![layout.cosize()], layout.clone()))
            }
            Value::MmaAtom(atom) => {
                let [m, n, _] = atom.shape();
                Ok((vec![m, n], atom.c().clone()))
            }
            Value::TiledCopy(copy) => Ok((copy.tile().to_vec(), copy.layout().clone())),
            Value::TiledMma(mma) => {
                let [m, n, _] = mma.tile();
                mma.layout_c().map(|layout| (vec![m, n], layout))
            }
            _ => return None,
        })
    }

    /// Number of entries of the value's table, where it is a layout.
    pub fn entries(&self) -> Option<i64> {
        match self {
            Value::Layout(layout) => Some(layout.size()),
            Value::Coordinates(layout) => Some(layout.size()),
            Value::Symbolic(layout) => least(layout).ok()?.entries(),
            _ => Some(self.owned()?.ok()?.1.size()),
        }
    }

    /// Entry `index` of the value's table: the offset or the coordinate there.
    pub fn entry(&self, index: i64) -> Option<IntTuple> {
        match self {
            Value::Layout(layout) => Some(Nest::Int(layout.at(index))),
            Value::Coordinates(layout) => layout.coord_at(index).ok(),
            Value::Symbolic(layout) => least(layout).ok()?.entry(index),
            _ => Some(Nest::Int(self.owned()?.ok()?.1.at(index))),
        }
    }

    /// The same value in the simplest kind that holds it: without names a layout is no symbolic
    /// one, and without a stride that leads along a mode it gives offsets.
    fn simplest(self) -> Result<Value, LayoutError> {
        let whole = |layout: &Layout<Basis>| {
            let stride = layout.stride().try_map(&mut |d: &Basis| match d.path {
                Path::ROOT => Ok(d.value),
                _ => Err(()),
            });
            let stride = stride.ok()?;
            Some(Layout::new(layout.shape().clone(), stride).map(Value::from))
        };
        match self {
            Value::Symbolic(layout) if names(&layout).is_empty() => {
                Value::Coordinates(layout.to_static()?).simplest()
            }
            Value::Coordinates(layout) => match whole(&layout) {
                Some(offsets) => offsets,
                None => Ok(Value::Coordinates(layout)),
            },
            other => Ok(other),
        }
    }

    /// The names among the extents, each with the least value it may take: those that the table
    /// and the picture are of.
    pub fn names(&self) -> Vec<(String, i64)> {
        match self {
            Value::Symbolic(layout) => names(layout),
            _ => Vec::new(),
        }
    }
}

fn names(layout: &SymLayout<Basis>) -> Vec<(String, i64)> {
    let mut names: Vec<(String, i64)> = Vec::new();
    layout.shape().for_each(&mut |extent: &Extent| {
        if let Some(symbol) = extent.symbol()
            && names.iter().all(|(name, _)| name != symbol.name())
        {
            names.push((symbol.name().to_string(), symbol.min()));
        }
    });
    names
}

/// The layout with every name at its least value.
fn least(layout: &SymLayout<Basis>) -> Result<Value, LayoutError> {
    let mut bound = layout.clone();
    for (name, value) in names(layout) {
        bound = bound.bind(&name, value)?;
    }
    Value::Coordinates(bound.to_static()?).simplest()
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Tuple(Nest::Int(Some(value)))
    }
}

impl From<IntTuple> for Value {
    fn from(tuple: IntTuple) -> Self {
        Value::Tuple(tuple.map(&mut |&n| Some(n)))
    }
}

impl From<Layout> for Value {
    fn from(layout: Layout) -> Self {
        Value::Layout(layout.into())
    }
}

impl From<ComposedLayout> for Value {
    fn from(layout: ComposedLayout) -> Self {
        Value::Layout(layout)
    }
}

/// An expression that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    /// The text is no expression.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// No function has this name.
    #[error("at byte {offset}: there is no function `{name}`; the nearest is `{nearest}`")]
    UnknownFunction {
        /// Byte offset of the name.
        offset: usize,
        /// The name.
        name: String,
        /// The function whose name is most like it.
        nearest: &'static str,
    },
    /// The function takes other arguments.
    #[error("at byte {offset}: expected {usage}: {why}")]
    Arguments {
        /// Byte offset of the call.
        offset: usize,
        /// How the function is called.
        usage: &'static str,
        /// What does not fit.
        why: String,
    },
    /// The operands break a rule of the algebra.
    #[error(transparent)]
    Rule(#[from] LayoutError),
}

/// The value of an expression.
///
/// # Errors
/// [`ExprError`] with the byte offset of the fault, or the rule that the operands break.
pub fn evaluate(text: &str) -> Result<Value, ExprError> {
    evaluate_with(text, &[])
}

/// The value of an expression with these numbers in place of names.
///
/// ```
/// use tilefold_layout::expr::evaluate_with;
/// let value = evaluate_with("size((16,N/8):(1,16))", &[("N", 64)])?;
/// assert_eq!(value.to_string(), "128");
/// # Ok::<(), tilefold_layout::expr::ExprError>(())
/// ```
///
/// # Errors
/// As [`evaluate`]; [`Rule::NeedsMultiple`](crate::Rule::NeedsMultiple) where a divisor does not
/// divide the number.
pub fn evaluate_with(text: &str, numbers: &[(&str, i64)]) -> Result<Value, ExprError> {
    call::value(&parse::expression(text, numbers)?)
}
