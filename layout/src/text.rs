//! The text notation: `(4,(2,2)):(2,(1,8))`, `Sw<2,0,3> o 0 o (8,8):(8,1)`, `<4:1, _>`.
//!
//! Whatever prints also parses to an equal value. Spaces are allowed between tokens.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, cut_err, delimited, opt, peek, preceded};
use winnow::error::{ContextError, ErrMode, ParserError, StrContext, StrContextValue};
use winnow::stream::Stream;
use winnow::{ModalResult, Parser};

use crate::composed::{ComposedLayout, Outer};
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::nest::{IntTuple, MAX_DEPTH, Nest};
use crate::slice::{SliceCoord, slice_text};
use crate::stride::{Basis, Path};
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;

/// Text that is no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text does not follow the notation.
    #[error("at byte {offset}: expected {expected}, found {found}")]
    Syntax {
        /// Byte offset of what was found.
        offset: usize,
        /// What the notation allows there.
        expected: String,
        /// The character there, or "the end".
        found: String,
    },
    /// The text follows the notation and breaks a rule of layouts.
    #[error(transparent)]
    Rule(#[from] LayoutError),
}

impl ParseError {
    /// Byte offset of the fault, if it is one of notation.
    pub fn offset(&self) -> Option<usize> {
        match self {
            ParseError::Syntax { offset, .. } => Some(*offset),
            ParseError::Rule(_) => None,
        }
    }
}

pub(crate) fn expected(what: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(what))
}

/// Runs a parser over the whole text.
pub(crate) fn parse_all<'i, T>(
    text: &'i str,
    parser: impl Parser<&'i str, T, ErrMode<ContextError>>,
) -> Result<T, ParseError> {
    let end = multispace0.context(expected("the end"));
    let mut whole = (parser, end).map(|(value, _)| value);
    whole
        .parse(text)
        .map_err(|e| syntax_error(text, e.offset(), e.inner()))
}

pub(crate) fn syntax_error(text: &str, offset: usize, error: &ContextError) -> ParseError {
    let found = match text[offset..].chars().next() {
        Some(c) => format!("`{}`", c.escape_debug()),
        None => "the end".to_string(),
    };
    let mut wanted: Vec<String> = Vec::new();
    for context in error.context() {
        if let StrContext::Expected(value) = context {
            let value = value.to_string();
            if !value.is_empty() && !wanted.contains(&value) {
                wanted.push(value);
            }
        }
    }
    if wanted.is_empty() {
        wanted.push("the end".to_string());
    }
    ParseError::Syntax {
        offset,
        expected: wanted.join(" or "),
        found,
    }
}

/// A token after spaces, reported as `name` where it is missing.
pub(crate) fn token<'i>(
    text: &'static str,
    name: &'static str,
) -> impl Parser<&'i str, &'i str, ErrMode<ContextError>> {
    preceded(multispace0, text.context(expected(name)))
}

pub(crate) fn int(input: &mut &str) -> ModalResult<i64> {
    let digits = (opt('-'), digit1).take();
    preceded(multispace0, peek(digits))
        .context(expected("an integer"))
        .parse_next(input)?;
    let digits = (opt('-'), digit1).take();
    let fits = preceded(multispace0, digits.try_map(str::parse::<i64>));
    cut_err(fits)
        .context(expected("an integer of at most 64 bits"))
        .parse_next(input)
}

pub(crate) fn basis(input: &mut &str) -> ModalResult<Basis> {
    let value = int(input)?;
    let start = input.checkpoint();
    let mut path = Vec::new();
    while opt('@').parse_next(input)?.is_some() {
        path.push(
            cut_err(digit1.try_map(str::parse::<usize>))
                .context(expected("an index of a mode"))
                .parse_next(input)?,
        );
    }
    path.reverse();
    Basis::new(value, &path).ok_or_else(|| {
        input.reset(&start);
        let mut error = ContextError::from_input(input);
        error.push(expected("a path of at most 7 indices below 256"));
        ErrMode::Cut(error)
    })
}

/// A nested tuple with `leaf` at its leaves.
pub(crate) fn nest<'i, T>(
    input: &mut &'i str,
    depth: usize,
    leaf: fn(&mut &'i str) -> ModalResult<T>,
) -> ModalResult<Nest<T>> {
    if peek(opt(preceded(multispace0, '(')))
        .parse_next(input)?
        .is_none()
    {
        return match leaf(input) {
            Ok(value) => Ok(Nest::Int(value)),
            Err(ErrMode::Backtrack(mut error)) => {
                error.push(expected("`(`"));
                Err(ErrMode::Backtrack(error))
            }
            Err(error) => Err(error),
        };
    }
    if depth == MAX_DEPTH {
        let mut error = ContextError::from_input(input);
        error.push(expected("at most 32 levels of parentheses"));
        return Err(ErrMode::Cut(error));
    }
    token("(", "`(`").parse_next(input)?;
    let mut items = Vec::new();
    loop {
        items.push(nest(input, depth + 1, leaf).map_err(ErrMode::cut)?);
        let next = alt((token(",", ""), token(")", ""))).context(expected("`,` or `)`"));
        if cut_err(next).parse_next(input)? == ")" {
            return Ok(Nest::Tuple(items));
        }
    }
}

pub(crate) fn int_tuple(input: &mut &str) -> ModalResult<IntTuple> {
    nest(input, 0, int)
}

/// Shape and stride, not yet checked for congruence.
pub(crate) fn pair(input: &mut &str) -> ModalResult<(IntTuple, IntTuple)> {
    let shape = int_tuple(input)?;
    token(":", "`:`").parse_next(input)?;
    let stride = int_tuple.parse_next(input).map_err(ErrMode::cut)?;
    Ok((shape, stride))
}

fn basis_pair(input: &mut &str) -> ModalResult<(IntTuple, Nest<Basis>)> {
    let shape = int_tuple(input)?;
    cut_err(token(":", "`:`")).parse_next(input)?;
    let stride = nest(input, 0, basis).map_err(ErrMode::cut)?;
    Ok((shape, stride))
}

/// The fields of `Sw<B,M,S>`, not yet checked.
pub(crate) fn swizzle_fields(input: &mut &str) -> ModalResult<(i64, i64, i64)> {
    token("Sw", "`Sw<`").parse_next(input)?;
    let comma = || token(",", "`,`");
    cut_err(delimited(
        token("<", "`<`"),
        (int, comma(), int, comma(), int).map(|(b, _, m, _, s)| (b, m, s)),
        token(">", "`>`"),
    ))
    .parse_next(input)
}

pub(crate) fn checked_swizzle(
    (bits, base, shift): (i64, i64, i64),
) -> Result<Swizzle, LayoutError> {
    let fields = (
        u32::try_from(bits),
        u32::try_from(base),
        i32::try_from(shift),
    );
    match fields {
        (Ok(bits), Ok(base), Ok(shift)) => Swizzle::new(bits, base, shift),
        _ => {
            let text = format!("Sw<{bits},{base},{shift}>");
            Err(LayoutError::unary(
                "swizzle",
                &text,
                crate::Rule::SwizzleFields,
            ))
        }
    }
}

enum OuterText {
    Swizzle((i64, i64, i64)),
    Layout((IntTuple, IntTuple)),
}

type ComposedText = (OuterText, Option<(i64, (IntTuple, IntTuple))>);

fn outer_text(input: &mut &str) -> ModalResult<OuterText> {
    let swizzle = peek(opt(preceded(multispace0, 'S'))).parse_next(input)?;
    Ok(match swizzle {
        Some(_) => OuterText::Swizzle(swizzle_fields(input)?),
        None => OuterText::Layout(pair.context(expected("`Sw<`")).parse_next(input)?),
    })
}

fn checked_outer(outer: OuterText) -> Result<Outer, LayoutError> {
    Ok(match outer {
        OuterText::Swizzle(fields) => Outer::Swizzle(checked_swizzle(fields)?),
        OuterText::Layout((shape, stride)) => Outer::Layout(Layout::new(shape, stride)?),
    })
}

fn composed_text(input: &mut &str) -> ModalResult<ComposedText> {
    let outer = outer_text(input)?;
    let after = (token("o", "`o`"), cut_err((int, token("o", "`o`"), pair)));
    let after = match outer {
        OuterText::Swizzle(_) => Some(cut_err(after).parse_next(input)?),
        OuterText::Layout(_) => opt(after).parse_next(input)?,
    };
    Ok((outer, after.map(|(_, (offset, _, inner))| (offset, inner))))
}

fn checked_composed((outer, after): ComposedText) -> Result<ComposedLayout, LayoutError> {
    match (checked_outer(outer)?, after) {
        (outer, Some((offset, (shape, stride)))) => {
            ComposedLayout::with_offset(outer, offset, Layout::new(shape, stride)?)
        }
        (Outer::Layout(layout), None) => Ok(layout.into()),
        // The notation asks for a layout after a swizzle.
        (Outer::Swizzle(swizzle), None) => Ok(ComposedLayout::new(swizzle, Layout::unit())),
    }
}

enum TilerText {
    Layout((IntTuple, IntTuple)),
    Int(i64),
    Whole,
    Modes(Vec<TilerText>),
}

fn tiler_text(input: &mut &str, depth: usize) -> ModalResult<TilerText> {
    if peek(opt(preceded(multispace0, '<')))
        .parse_next(input)?
        .is_some()
    {
        if depth == MAX_DEPTH {
            let mut error = ContextError::from_input(input);
            error.push(expected("at most 32 levels of `<`"));
            return Err(ErrMode::Cut(error));
        }
        token("<", "`<`").parse_next(input)?;
        let mut modes = Vec::new();
        loop {
            modes.push(tiler_text(input, depth + 1).map_err(ErrMode::cut)?);
            let next = alt((token(",", ""), token(">", ""))).context(expected("`,` or `>`"));
            if cut_err(next).parse_next(input)? == ">" {
                return Ok(TilerText::Modes(modes));
            }
        }
    }
    alt((
        token("_", "`_`").map(|_| TilerText::Whole),
        pair.map(TilerText::Layout),
        int.map(TilerText::Int),
    ))
    .context(expected("`<`"))
    .parse_next(input)
}

fn checked_tiler(text: TilerText) -> Result<Tiler, LayoutError> {
    Ok(match text {
        TilerText::Whole => Tiler::Whole,
        TilerText::Int(n) => Tiler::Layout(Layout::compact_left(n)?),
        TilerText::Layout((shape, stride)) => Tiler::Layout(Layout::new(shape, stride)?),
        TilerText::Modes(modes) => Tiler::Modes(
            modes
                .into_iter()
                .map(checked_tiler)
                .collect::<Result<_, _>>()?,
        ),
    })
}

impl FromStr for IntTuple {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_all(text, int_tuple)
    }
}

impl FromStr for Layout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (shape, stride) = parse_all(text, pair)?;
        Ok(Layout::new(shape, stride)?)
    }
}

impl FromStr for Layout<Basis> {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (shape, stride) = parse_all(text, basis_pair)?;
        Ok(Layout::new(shape, stride)?)
    }
}

impl FromStr for SliceCoord {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let hole = |input: &mut &str| {
            let whole = token("_", "`_`").map(|_| None);
            alt((whole, int.map(Some))).parse_next(input)
        };
        parse_all(text, |input: &mut &str| nest(input, 0, hole))
    }
}

impl FromStr for Basis {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_all(text, basis)
    }
}

impl FromStr for Nest<Basis> {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_all(text, |input: &mut &str| nest(input, 0, basis))
    }
}

impl FromStr for Outer {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(checked_outer(parse_all(text, outer_text)?)?)
    }
}

impl FromStr for Swizzle {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(checked_swizzle(parse_all(text, swizzle_fields)?)?)
    }
}

impl FromStr for ComposedLayout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(checked_composed(parse_all(text, composed_text)?)?)
    }
}

impl FromStr for Tiler {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(checked_tiler(parse_all(text, |input: &mut &str| {
            tiler_text(input, 0)
        })?)?)
    }
}

macro_rules! serde_as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextVisitor(std::marker::PhantomData))
            }
        }
    )*};
}

serde_as_text!(
    IntTuple,
    Nest<Basis>,
    Basis,
    Layout,
    Layout<Basis>,
    Swizzle,
    Outer,
    ComposedLayout,
    Tiler
);

impl Serialize for SliceCoord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&slice_text(self))
    }
}

impl<'de> Deserialize<'de> for SliceCoord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor(std::marker::PhantomData))
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.indices())
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let indices = Vec::<usize>::deserialize(deserializer)?;
        let message = "a path has at most 7 indices below 256";
        Path::new(&indices).ok_or_else(|| serde::de::Error::custom(message))
    }
}

struct TextVisitor<T>(std::marker::PhantomData<T>);

impl<T: FromStr<Err = ParseError>> serde::de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layout in text notation, such as \"(4,8):(1,4)\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}
