//! Expressions of the algebra, such as `logical_divide((12,8):(8,1), 4:1)`.
//!
//! An expression is a literal or a call of one of [`FUNCTIONS`] on expressions. Literals are
//! integers, tuples `(4,(2,_))`, layouts `(4,8):(8,1)`, layouts into coordinates
//! `(4,8):(1@1,1@0)`, swizzles `Sw<3,3,3>`, composed layouts `Sw<3,3,3> o 0 o (8,64):(64,1)`, and
//! tilers `<4:1, _, 8>`. Extents may be names, `(16,N/8):(1,16)`, where the operation is one of
//! [`symbolic`](crate::symbolic).
//!
//! ```
//! use tilefold_layout::expr::evaluate;
//! let value = evaluate("zipped_divide((12,8):(8,1), <4, 2>)")?;
//! assert_eq!(value.to_string(), "((4,2),(3,4)):((8,1),(32,2))");
//! assert_eq!(evaluate("size(coalesce((4,8):(1,4)))")?.to_string(), "32");
//! # Ok::<(), tilefold_layout::expr::ExprError>(())
//! ```

mod functions;
mod parse;

pub use functions::{FUNCTIONS, Function};

use std::fmt;

use crate::composed::ComposedLayout;
use crate::draw::Drawing;
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::slice::{SliceCoord, slice_text};
use crate::stride::Basis;
use crate::swizzle::Swizzle;
use crate::symbolic::SymLayout;
use crate::text::ParseError;
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
    /// The values of a layout, in order.
    Table(Vec<i64>),
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
            Value::Table(values) => write!(f, "{values:?}"),
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
    /// A picture of the value, where it is a layout: offsets, or owners of a tile.
    ///
    /// # Errors
    /// As [`Drawing::offsets`] and [`Drawing::ownership`].
    pub fn drawing(&self) -> Option<Result<Drawing, LayoutError>> {
        match self {
            Value::Layout(layout) => Some(Drawing::offsets(layout.clone())),
            Value::ThreadValue { tile, layout } => Some(Drawing::ownership(layout, tile)),
            _ => None,
        }
    }
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
    functions::value(&parse::expression(text)?)
}
