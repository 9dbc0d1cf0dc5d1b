//! From text to calls and literals.

use std::fmt;

use winnow::ascii::multispace0;
use winnow::combinator::{alt, cut_err, opt, peek, preceded};
use winnow::error::{ContextError, ErrMode, ParserError};
use winnow::token::take_while;
use winnow::{ModalResult, Parser};

use super::{ExprError, Value};
use crate::composed::{ComposedLayout, Outer};
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::nest::{MAX_DEPTH, Nest};
use crate::stride::{Basis, Path};
use crate::symbolic::{ExtentText, SymLayout, extent_text};
use crate::text::{self, ParseError, checked_swizzle, expected};
use crate::tiler::Tiler;

/// An expression, with the byte offset of each call.
pub(super) enum Expr {
    Literal(Box<Value>),
    Call {
        offset: usize,
        name: String,
        arguments: Vec<Expr>,
    },
    Tiler {
        offset: usize,
        modes: Vec<Expr>,
    },
}

/// The parsed text, literals not yet checked against the rules of layouts.
enum Raw {
    Tuple {
        offset: usize,
        tuple: Nest<Leaf>,
    },
    Layout {
        offset: usize,
        shape: Nest<Leaf>,
        stride: Nest<Basis>,
    },
    Swizzle((i64, i64, i64)),
    Composed {
        at: usize,
        outer: Box<Raw>,
        offset: i64,
        inner: Box<Raw>,
    },
    Call {
        offset: usize,
        name: String,
        arguments: Vec<Raw>,
    },
    Tiler {
        offset: usize,
        modes: Vec<Raw>,
    },
}

/// Where in the text a parser stands.
#[derive(Clone, Copy)]
struct Place {
    total: usize,
}

impl Place {
    fn offset(self, input: &str) -> usize {
        self.total - input.len()
    }
}

pub(super) fn expression(text: &str, numbers: &[(&str, i64)]) -> Result<Expr, ExprError> {
    let place = Place { total: text.len() };
    let raw = text::parse_all(text, |input: &mut &str| raw(input, place, 0))?;
    checked(raw, numbers)
}

fn raw(input: &mut &str, place: Place, depth: usize) -> ModalResult<Raw> {
    multispace0.parse_next(input)?;
    if depth > MAX_DEPTH {
        return Err(refused(input, "at most 32 levels of nesting"));
    }
    let offset = place.offset(input);
    let call = (name, multispace0, peek('(')).map(|(name, _, _)| name);
    if input.starts_with("Sw") && !input.starts_with("Swizzle") {
        return composed(input, place);
    }
    if let Some(name) = opt(call).parse_next(input)? {
        let arguments = list(input, place, depth, "(", ")", "`,` or `)`")?;
        return Ok(Raw::Call {
            offset,
            name: name.to_string(),
            arguments,
        });
    }
    if input.starts_with('<') {
        let modes = list(input, place, depth, "<", ">", "`,` or `>`")?;
        return Ok(Raw::Tiler { offset, modes });
    }
    composed(input, place).map_err(|error| match error {
        // Nothing of a literal was found: something else may stand here.
        ErrMode::Backtrack(mut error) => {
            error.push(expected("a function's name"));
            error.push(expected("`<`"));
            ErrMode::Backtrack(error)
        }
        within => within,
    })
}

fn name<'i>(input: &mut &'i str) -> ModalResult<&'i str> {
    let first = |c: char| c.is_ascii_alphabetic();
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (take_while(1, first), take_while(0.., rest))
        .take()
        .parse_next(input)
}

fn list(
    input: &mut &str,
    place: Place,
    depth: usize,
    open: &'static str,
    close: &'static str,
    next: &'static str,
) -> ModalResult<Vec<Raw>> {
    (multispace0, open).parse_next(input)?;
    if opt((multispace0, close)).parse_next(input)?.is_some() {
        return Ok(Vec::new());
    }
    let mut items = Vec::new();
    loop {
        items.push(raw(input, place, depth + 1).map_err(ErrMode::cut)?);
        let separator = preceded(multispace0, alt((",", close))).context(expected(next));
        if cut_err(separator).parse_next(input)? == close {
            return Ok(items);
        }
    }
}

/// A tuple, a layout, a swizzle, or `outer o offset o inner`.
fn composed(input: &mut &str, place: Place) -> ModalResult<Raw> {
    let at = place.offset(input);
    let outer = simple(input, place)?;
    if opt(preceded(multispace0, ("o", peek(' '))))
        .parse_next(input)?
        .is_none()
    {
        return Ok(outer);
    }
    let offset = cut_err(text::int).parse_next(input)?;
    let circle = preceded(multispace0, "o").context(expected("`o`"));
    cut_err(circle).parse_next(input)?;
    let inner = simple(input, place).map_err(ErrMode::cut)?;
    Ok(Raw::Composed {
        at,
        outer: Box::new(outer),
        offset,
        inner: Box::new(inner),
    })
}

fn simple(input: &mut &str, place: Place) -> ModalResult<Raw> {
    multispace0.parse_next(input)?;
    if input.starts_with("Sw") {
        return text::swizzle_fields(input).map(Raw::Swizzle);
    }
    let offset = place.offset(input);
    let shape = text::nest(input, 0, leaf)?;
    if opt(preceded(multispace0, ":")).parse_next(input)?.is_none() {
        return Ok(Raw::Tuple {
            offset,
            tuple: shape,
        });
    }
    let stride = text::nest(input, 0, text::basis).map_err(ErrMode::cut)?;
    Ok(Raw::Layout {
        offset,
        shape,
        stride,
    })
}

/// A leaf of a tuple or a shape: `_`, a number, or a symbolic extent.
enum Leaf {
    Hole,
    Extent(ExtentText),
}

fn leaf(input: &mut &str) -> ModalResult<Leaf> {
    let hole = preceded(multispace0, "_").context(expected("`_`"));
    alt((hole.map(|_| Leaf::Hole), extent_text.map(Leaf::Extent))).parse_next(input)
}

fn refused(input: &&str, what: &'static str) -> ErrMode<ContextError> {
    let mut error = ContextError::from_input(input);
    error.push(expected(what));
    ErrMode::Cut(error)
}

fn checked(raw: Raw, numbers: &[(&str, i64)]) -> Result<Expr, ExprError> {
    let all = |raws: Vec<Raw>| {
        let checked = raws.into_iter().map(|raw| checked(raw, numbers));
        checked.collect::<Result<Vec<_>, _>>()
    };
    let with = |extent: &ExtentText| {
        extent
            .with(numbers)
            .map_err(|rule| LayoutError::unary("let", extent, rule))
    };
    let value = match raw {
        Raw::Call {
            offset,
            name,
            arguments,
        } => {
            return Ok(Expr::Call {
                offset,
                name,
                arguments: all(arguments)?,
            });
        }
        Raw::Tiler { offset, modes } => {
            return Ok(Expr::Tiler {
                offset,
                modes: all(modes)?,
            });
        }
        Raw::Tuple {
            tuple: Nest::Int(Leaf::Hole),
            ..
        } => Value::Tiler(Tiler::Whole),
        Raw::Tuple { offset, tuple } => Value::Tuple(tuple.try_map(&mut |leaf| match leaf {
            Leaf::Hole => Ok::<_, ExprError>(None),
            Leaf::Extent(extent) => match with(extent)?.number() {
                Some(n) => Ok(Some(n)),
                None => Err(unexpected(offset, "a tuple of integers", extent).into()),
            },
        })?),
        Raw::Swizzle(fields) => Value::Swizzle(checked_swizzle(fields)?),
        Raw::Layout {
            offset,
            shape,
            stride,
        } => {
            let shape = shape.try_map(&mut |leaf| match leaf {
                Leaf::Hole => Err(ExprError::from(unexpected(
                    offset,
                    "a shape of extents",
                    &"_",
                ))),
                Leaf::Extent(extent) => Ok(with(extent)?),
            })?;
            match shape.try_map(&mut |extent| extent.number().ok_or(())) {
                Err(()) => Value::Symbolic(SymLayout::resolved(&shape, stride, &[])?),
                Ok(shape) if stride.leaves().iter().all(|d| d.path == Path::ROOT) => {
                    Value::Layout(Layout::new(shape, stride.map(&mut |d| d.value))?.into())
                }
                Ok(shape) => Value::Coordinates(Layout::new(shape, stride)?),
            }
        }
        Raw::Composed {
            at,
            outer,
            offset,
            inner,
        } => {
            let (Expr::Literal(outer), Expr::Literal(inner)) =
                (checked(*outer, numbers)?, checked(*inner, numbers)?)
            else {
                unreachable!("`simple` parses literals only");
            };
            let outer = match *outer {
                Value::Swizzle(swizzle) => Outer::Swizzle(swizzle),
                other => Outer::Layout(plain(&other, at)?),
            };
            Value::Layout(ComposedLayout::with_offset(
                outer,
                offset,
                plain(&inner, at)?,
            )?)
        }
    };
    Ok(Expr::Literal(Box::new(value)))
}

fn unexpected(offset: usize, expected: &str, found: &impl fmt::Display) -> ParseError {
    ParseError::Syntax {
        offset,
        expected: expected.to_string(),
        found: format!("`{found}`"),
    }
}

fn plain(value: &Value, offset: usize) -> Result<Layout, ParseError> {
    let layout = match value {
        Value::Layout(layout) => layout.as_plain().cloned(),
        _ => None,
    };
    let expected = "layouts over offsets on both sides of `o`";
    layout.ok_or_else(|| unexpected(offset, expected, value))
}
