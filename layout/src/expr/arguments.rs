//! The arguments of a call, taken one by one as the kinds that a function asks for.

use super::{ExprError, Value};
use crate::composed::ComposedLayout;
use crate::error::{LayoutError, Result as LayoutResult, Rule};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::slice::SliceCoord;
use crate::stride::{Basis, Path};
use crate::symbolic::{Extent, SymLayout};
use crate::tiler::Tiler;

/// Why a call fails before its offset is known.
pub(super) enum Failure {
    /// The arguments are of other kinds, or more or fewer.
    Arguments(String),
    /// They break a rule.
    Expr(ExprError),
}

/// What a function makes of its arguments.
pub(super) type Outcome = Result<Value, Failure>;

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Failure::Expr(ExprError::Rule(error))
    }
}

/// A layout whose extents are numbers.
pub(super) enum Known {
    /// Into offsets, plain or composed.
    Offsets(ComposedLayout),
    /// Into coordinates.
    Coordinates(Layout<Basis>),
}

/// The same operation of whichever kind of layout it is.
macro_rules! each {
    ($known:expr, $layout:ident => $body:expr) => {
        match $known {
            $crate::expr::arguments::Known::Offsets(composed) => {
                composed.map_inner(|$layout| $body)?.into()
            }
            $crate::expr::arguments::Known::Coordinates(coordinates) => {
                let $layout = &coordinates;
                $crate::expr::Value::Coordinates($body?)
            }
        }
    };
}
pub(super) use each;

pub(super) struct Arguments {
    operation: &'static str,
    values: std::vec::IntoIter<Value>,
    taken: usize,
}

impl Arguments {
    pub(super) fn new(operation: &'static str, values: Vec<Value>) -> Arguments {
        Arguments {
            operation,
            values: values.into_iter(),
            taken: 0,
        }
    }

    /// How many were taken.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    pub(super) fn more(&self) -> bool {
        !self.values.as_slice().is_empty()
    }

    pub(super) fn next(&mut self, what: &'static str) -> Result<Value, Failure> {
        self.taken += 1;
        let missing = || Failure::Arguments(format!("argument {} is missing, {what}", self.taken));
        self.values.next().ok_or_else(missing)
    }

    /// The next argument, to look at before it is taken.
    pub(super) fn peek(&self) -> Option<&Value> {
        self.values.as_slice().first()
    }

    /// The refusal of the argument taken last.
    pub(super) fn wrong<T>(&self, what: &'static str, found: &Value) -> Result<T, Failure> {
        if let Value::Symbolic(layout) = found
            && let Some((mode, extent)) = first_name(layout.shape())
        {
            let why = "this operation has no form for names here";
            let rule = extent.needs_static(why);
            return Err(LayoutError::unary(self.operation, layout, rule)
                .at(mode)
                .into());
        }
        Err(Failure::Arguments(format!(
            "argument {} must be {what}, not {found}",
            self.taken
        )))
    }

    pub(super) fn known(&mut self) -> Result<Known, Failure> {
        match self.next("a layout")? {
            Value::Coordinates(layout) => Ok(Known::Coordinates(layout)),
            value => self.offsets(value).map(Known::Offsets),
        }
    }

    pub(super) fn any(&mut self) -> Result<ComposedLayout, Failure> {
        let value = self.next("a layout")?;
        self.offsets(value)
    }

    fn offsets(&self, value: Value) -> Result<ComposedLayout, Failure> {
        match value {
            Value::Layout(layout) => Ok(layout),
            Value::Tuple(Nest::Int(Some(n))) => Ok(Layout::compact_left(n)?.into()),
            Value::ThreadValue { layout, .. } => Ok(layout.into()),
            other @ Value::Coordinates(_) => self.wrong("a layout over offsets", &other),
            other => self.wrong("a layout", &other),
        }
    }

    pub(super) fn plain(&mut self) -> Result<Layout, Failure> {
        let layout = self.any()?;
        match layout.as_plain() {
            Some(layout) => Ok(layout.clone()),
            None => self.wrong("a layout without swizzle", &layout.into()),
        }
    }

    /// The next argument as a symbolic layout, where it or the one after it has names.
    pub(super) fn symbolic(&mut self) -> Option<SymLayout<Basis>> {
        let values = self.values.as_slice();
        let named = |value: &Value| matches!(value, Value::Symbolic(_));
        if !values.iter().take(2).any(named) {
            return None;
        }
        let layout = as_symbolic(values.first()?)?;
        self.values.next();
        self.taken += 1;
        Some(layout)
    }

    pub(super) fn int(&mut self) -> Result<i64, Failure> {
        match self.next("an integer")? {
            Value::Tuple(Nest::Int(Some(n))) => Ok(n),
            other => self.wrong("an integer", &other),
        }
    }

    pub(super) fn index(&mut self) -> Result<usize, Failure> {
        let n = self.int()?;
        usize::try_from(n).or_else(|_| self.wrong("an index", &n.into()))
    }

    pub(super) fn tuple(&mut self) -> Result<IntTuple, Failure> {
        let value = self.next("a tuple")?;
        match &value {
            Value::Tuple(tuple) => match tuple.try_map(&mut |n| n.ok_or(())) {
                Ok(tuple) => Ok(tuple),
                Err(()) => self.wrong("a tuple of integers", &value),
            },
            other => self.wrong("a tuple", other),
        }
    }

    pub(super) fn coord(&mut self) -> Result<SliceCoord, Failure> {
        match self.next("a coordinate")? {
            Value::Tuple(tuple) => Ok(tuple),
            Value::Tiler(Tiler::Whole) => Ok(Nest::Int(None)),
            other => self.wrong("a coordinate", &other),
        }
    }

    pub(super) fn tiler(&mut self) -> Result<Tiler, Failure> {
        let value = self.next("a tiler")?;
        as_tiler(&value).map_or_else(|| self.wrong("a layout or a tiler", &value), |t| Ok(t?))
    }

    /// What `take` takes, if there is an argument left.
    pub(super) fn optional<T>(
        &mut self,
        take: impl FnOnce(&mut Arguments) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        match self.more() {
            true => take(self).map(Some),
            false => Ok(None),
        }
    }
}

/// The first extent with a name, and its mode.
pub(super) fn first_name(shape: &Nest<Extent>) -> Option<(Vec<usize>, &Extent)> {
    match shape {
        Nest::Int(extent) => extent.symbol().map(|_| (vec![], extent)),
        Nest::Tuple(items) => items.iter().enumerate().find_map(|(i, item)| {
            let (mut mode, extent) = first_name(item)?;
            mode.insert(0, i);
            Some((mode, extent))
        }),
    }
}

/// Offsets as coordinates of a space without modes.
pub(super) fn as_coordinates(layout: &Layout) -> LayoutResult<Layout<Basis>> {
    let stride = layout.stride().map(&mut |&value| Basis {
        value,
        path: Path::ROOT,
    });
    Layout::new(layout.shape().clone(), stride)
}

/// A layout of any kind without swizzle, as a symbolic one.
pub(super) fn as_symbolic(value: &Value) -> Option<SymLayout<Basis>> {
    match value {
        Value::Symbolic(layout) => Some(layout.clone()),
        Value::Layout(layout) => Some((&SymLayout::from(layout.as_plain()?)).into()),
        Value::Coordinates(layout) => Some(layout.into()),
        Value::Tuple(Nest::Int(Some(n))) => {
            Some((&SymLayout::from(&Layout::compact_left(*n).ok()?)).into())
        }
        _ => None,
    }
}

/// A value as a tiler, where it can be one.
pub(super) fn as_tiler(value: &Value) -> Option<LayoutResult<Tiler>> {
    match value {
        Value::Tiler(tiler) => Some(Ok(tiler.clone())),
        Value::Layout(layout) => layout.as_plain().map(|l| Ok(Tiler::Layout(l.clone()))),
        Value::Tuple(Nest::Int(Some(n))) => Some(Layout::compact_left(*n).map(Tiler::Layout)),
        _ => None,
    }
}

/// What the operation needs, in an error of the mode: a size that a bound refuses.
pub(super) fn too_large(
    operation: &'static str,
    operand: &Value,
    cells: i64,
    limit: i64,
) -> Failure {
    LayoutError::unary(operation, operand, Rule::TooLarge { cells, limit }).into()
}
