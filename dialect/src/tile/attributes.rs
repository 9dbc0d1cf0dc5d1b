//! Reading the attributes of `tile` operations.

use melior::ir::{
    attribute::{DenseI64ArrayAttribute, IntegerAttribute, StringAttribute},
    operation::OperationLike,
};
use thiserror::Error;
use tilefold_layout::Layout;

/// An attribute of an operation is not what the dialect says it is.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("attribute `{name}` of `{operation}` must be {expected}")]
pub struct AttributeError {
    /// The operation's name.
    pub operation: String,
    /// The attribute's name.
    pub name: String,
    /// What it should have been.
    pub expected: &'static str,
}

fn error<'c: 'a, 'a>(
    operation: &impl OperationLike<'c, 'a>,
    name: &str,
    expected: &'static str,
) -> AttributeError {
    let operation = operation
        .name()
        .as_string_ref()
        .as_str()
        .unwrap_or("?")
        .to_string();
    AttributeError {
        operation,
        name: name.to_string(),
        expected,
    }
}

/// A text attribute.
pub fn text<'c: 'a, 'a>(
    operation: &impl OperationLike<'c, 'a>,
    name: &str,
) -> Result<&'c str, AttributeError> {
    operation
        .attribute(name)
        .ok()
        .and_then(|attribute| StringAttribute::try_from(attribute).ok())
        .map(|attribute| attribute.value())
        .ok_or_else(|| error(operation, name, "a text"))
}

/// An integer attribute.
pub fn integer<'c: 'a, 'a>(
    operation: &impl OperationLike<'c, 'a>,
    name: &str,
) -> Result<i64, AttributeError> {
    operation
        .attribute(name)
        .ok()
        .and_then(|attribute| IntegerAttribute::try_from(attribute).ok())
        .map(|attribute| attribute.value())
        .ok_or_else(|| error(operation, name, "an integer"))
}

/// An array attribute of exactly `N` integers.
pub fn integers<'c: 'a, 'a, const N: usize>(
    operation: &impl OperationLike<'c, 'a>,
    name: &str,
) -> Result<[i64; N], AttributeError> {
    let expected = "an array of as many integers as the tile has dimensions";
    let array = operation
        .attribute(name)
        .ok()
        .and_then(|attribute| DenseI64ArrayAttribute::try_from(attribute).ok())
        .filter(|array| array.len() == N)
        .ok_or_else(|| error(operation, name, expected))?;
    let mut values = [0; N];
    for (index, value) in values.iter_mut().enumerate() {
        *value = array
            .element(index)
            .map_err(|_| error(operation, name, expected))?;
    }
    Ok(values)
}

/// A text attribute that holds a plain layout.
pub fn layout<'c: 'a, 'a>(
    operation: &impl OperationLike<'c, 'a>,
    name: &str,
) -> Result<Layout, AttributeError> {
    text(operation, name)?
        .parse()
        .map_err(|_| error(operation, name, "a layout"))
}
