//! The nodes of terms, as a language for the e-graph.

use crate::{term::Variable, word::Operator};
use egg::{FromOp, Id, Language};
use std::fmt;

/// A node of a term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    Constant(u32),
    Variable(Variable),
    Binary(Operator, [Id; 2]),
}

impl Language for Node {
    /// The operator; leaves have none.
    type Discriminant = Option<Operator>;

    fn discriminant(&self) -> Self::Discriminant {
        match self {
            Self::Binary(operator, _) => Some(*operator),
            Self::Constant(_) | Self::Variable(_) => None,
        }
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Binary(left, _), Self::Binary(right, _)) => left == right,
            (left, right) => left == right,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            Self::Binary(_, operands) => operands,
            Self::Constant(_) | Self::Variable(_) => &[],
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Self::Binary(_, operands) => operands,
            Self::Constant(_) | Self::Variable(_) => &mut [],
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Variable(variable) => f.write_str(&variable.name),
            Self::Binary(operator, _) => write!(f, "{operator}"),
        }
    }
}

/// Patterns are written with operators and constants; a variable cannot be, as its name does not
/// tell its range.
impl FromOp for Node {
    type Error = String;

    fn from_op(text: &str, operands: Vec<Id>) -> Result<Self, String> {
        let operator = Operator::ALL.into_iter().find(|it| it.sign() == text);
        match (operator, operands.as_slice()) {
            (Some(operator), [left, right]) => Ok(Self::Binary(operator, [*left, *right])),
            (None, []) => text.parse().map(Self::Constant).map_err(|_| text.into()),
            _ => Err(text.into()),
        }
    }
}
