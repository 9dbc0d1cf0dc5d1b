//! What is multiplied: C = alpha * A x B + beta * C.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use tilefold_layout::Layout;

use crate::element::ElementType;

/// Largest extent and leading dimension: kernels take them as 32-bit signed arguments.
pub const MAX_EXTENT: i64 = i32::MAX as i64;

/// Most elements that a matrix may span in memory. Offsets in bytes stay far from overflow.
pub const MAX_ELEMENTS: i64 = 1 << 40;

/// An extent of the problem. Kernels take extents as arguments; this says what to optimise for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Nothing is assumed.
    Any,
    /// Elements to optimise for and to run with, 1 to [`MAX_EXTENT`].
    Exact(i64),
}

/// How a matrix lies in memory. Coordinates are (m,k) for A, (k,n) for B and (m,n) for C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperandLayout {
    /// The second coordinate is contiguous.
    Row,
    /// The first coordinate is contiguous.
    Col,
    /// A layout over the two coordinates.
    Expr(Layout),
}

/// One matrix in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// Type of its elements.
    #[serde(rename = "type")]
    pub element: ElementType,
    /// Where its elements lie.
    pub layout: OperandLayout,
    /// Elements from one row (or column, as contiguous) to the next, with `row` and `col` only;
    /// without it the matrix is dense.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ld: Option<i64>,
}

/// The multiplication. A is m x k, B is k x n, C is m x n.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Rows of A and C.
    pub m: Extent,
    /// Columns of B and C.
    pub n: Extent,
    /// Columns of A, rows of B.
    pub k: Extent,
    /// Left factor.
    pub a: Operand,
    /// Right factor.
    pub b: Operand,
    /// Result.
    pub c: Operand,
    /// Type in which products are summed.
    pub accumulate: ElementType,
}

impl From<i64> for Extent {
    fn from(extent: i64) -> Self {
        Self::Exact(extent)
    }
}

impl Extent {
    /// The extent, if it is given.
    pub fn exact(self) -> Option<i64> {
        match self {
            Self::Any => None,
            Self::Exact(extent) => Some(extent),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.pad("any"),
            Self::Exact(extent) => extent.fmt(f),
        }
    }
}

impl Serialize for Extent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => serializer.serialize_str("any"),
            Self::Exact(extent) => serializer.serialize_i64(*extent),
        }
    }
}

impl JsonSchema for Extent {
    fn schema_name() -> Cow<'static, str> {
        "Extent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Elements to optimise for and to run with, or `any`.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": MAX_EXTENT },
                { "const": "any" },
            ],
        })
    }
}

impl From<Layout> for OperandLayout {
    fn from(layout: Layout) -> Self {
        Self::Expr(layout)
    }
}

impl fmt::Display for OperandLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row => f.write_str("row"),
            Self::Col => f.write_str("col"),
            Self::Expr(layout) => layout.fmt(f),
        }
    }
}

impl Serialize for OperandLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for OperandLayout {
    fn schema_name() -> Cow<'static, str> {
        "OperandLayout".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`row`, `col`, or a layout over the two coordinates.",
            "type": "string",
            "examples": ["row", "col", "(4096,4096):(1,4096)"],
        })
    }
}

impl Operand {
    /// A dense matrix.
    pub fn new(element: ElementType, layout: impl Into<OperandLayout>) -> Self {
        Self {
            element,
            layout: layout.into(),
            ld: None,
        }
    }

    /// The same matrix with so many elements from one row (or column) to the next.
    pub fn with_ld(mut self, ld: i64) -> Self {
        self.ld = Some(ld);
        self
    }
}
