//! The functions of expressions.

use super::parse::Expr;
use super::{ExprError, Value};
use crate::composed::ComposedLayout;
use crate::coord::idx2crd;
use crate::error::{LayoutError, Result as LayoutResult, Rule};
use crate::inverse::{max_common_layout, max_common_vector};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::product::zip;
use crate::recast::domain_distribute;
use crate::recognise::recognise;
use crate::slice::SliceCoord;
use crate::stride::Basis;
use crate::symbolic::SymLayout;
use crate::tiler::Tiler;
use crate::tv::make_layout_tv;

/// Tables of at most this many values are listed.
const MAX_TABLE: i64 = 1 << 16;

/// A function of expressions.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How it is called, and what comes out.
    pub usage: &'static str,
    run: fn(&mut Arguments) -> Outcome,
}

/// Why a call fails before its offset is known.
enum Failure {
    Arguments(String),
    Expr(ExprError),
}

type Outcome = Result<Value, Failure>;

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Failure::Expr(ExprError::Rule(error))
    }
}

/// The arguments of a call, taken one by one.
struct Arguments {
    values: std::vec::IntoIter<Value>,
    taken: usize,
}

impl Arguments {
    fn next(&mut self, what: &'static str) -> Result<Value, Failure> {
        self.taken += 1;
        let missing = || Failure::Arguments(format!("argument {} is missing, {what}", self.taken));
        self.values.next().ok_or_else(missing)
    }

    fn wrong<T>(&self, what: &'static str, found: &Value) -> Result<T, Failure> {
        Err(Failure::Arguments(format!(
            "argument {} must be {what}, not {found}",
            self.taken
        )))
    }

    fn more(&self) -> bool {
        !self.values.as_slice().is_empty()
    }

    fn any(&mut self) -> Result<ComposedLayout, Failure> {
        match self.next("a layout")? {
            Value::Layout(layout) => Ok(layout),
            Value::Tuple(Nest::Int(Some(n))) => Ok(Layout::compact_left(n)?.into()),
            other => self.wrong("a layout", &other),
        }
    }

    fn plain(&mut self) -> Result<Layout, Failure> {
        let layout = self.any()?;
        match layout.as_plain() {
            Some(layout) => Ok(layout.clone()),
            None => self.wrong("a layout without swizzle", &layout.into()),
        }
    }

    /// The next argument as a symbolic layout, where it or the one after it has names.
    fn symbolic(&mut self) -> Option<SymLayout<Basis>> {
        let values = self.values.as_slice();
        if !values
            .iter()
            .take(2)
            .any(|value| matches!(value, Value::Symbolic(_)))
        {
            return None;
        }
        let layout = as_symbolic(values.first()?)?;
        self.values.next();
        self.taken += 1;
        Some(layout)
    }

    fn int(&mut self) -> Result<i64, Failure> {
        match self.next("an integer")? {
            Value::Tuple(Nest::Int(Some(n))) => Ok(n),
            other => self.wrong("an integer", &other),
        }
    }

    fn index(&mut self) -> Result<usize, Failure> {
        let n = self.int()?;
        usize::try_from(n).or_else(|_| self.wrong("an index", &n.into()))
    }

    fn tuple(&mut self) -> Result<IntTuple, Failure> {
        let value = self.next("a tuple")?;
        match &value {
            Value::Tuple(tuple) => match tuple.try_map(&mut |n| n.ok_or(())) {
                Ok(tuple) => Ok(tuple),
                Err(()) => self.wrong("a tuple of integers", &value),
            },
            other => self.wrong("a tuple", other),
        }
    }

    fn coord(&mut self) -> Result<SliceCoord, Failure> {
        match self.next("a coordinate")? {
            Value::Tuple(tuple) => Ok(tuple),
            Value::Tiler(Tiler::Whole) => Ok(Nest::Int(None)),
            other => self.wrong("a coordinate", &other),
        }
    }

    fn tiler(&mut self) -> Result<Tiler, Failure> {
        let value = self.next("a tiler")?;
        as_tiler(&value).map_or_else(|| self.wrong("a layout or a tiler", &value), |t| Ok(t?))
    }
}

/// A layout of any kind without swizzle, as a symbolic one.
fn as_symbolic(value: &Value) -> Option<SymLayout<Basis>> {
    match value {
        Value::Symbolic(layout) => Some(layout.clone()),
        Value::Layout(layout) => Some((&SymLayout::from(layout.as_plain()?)).into()),
        Value::Coordinates(layout) => Some(layout.into()),
        _ => None,
    }
}

fn symbolic_offsets(args: &Arguments, layout: &SymLayout<Basis>) -> Result<SymLayout, Failure> {
    let offsets = layout.as_offsets();
    offsets.map_or_else(
        || args.wrong("a layout over offsets", &Value::Symbolic(layout.clone())),
        Ok,
    )
}

/// A value as a tiler, where it can be one.
fn as_tiler(value: &Value) -> Option<LayoutResult<Tiler>> {
    match value {
        Value::Tiler(tiler) => Some(Ok(tiler.clone())),
        Value::Layout(layout) => layout.as_plain().map(|l| Ok(Tiler::Layout(l.clone()))),
        Value::Tuple(Nest::Int(Some(n))) => Some(Layout::compact_left(*n).map(Tiler::Layout)),
        _ => None,
    }
}

pub(super) fn value(expr: &Expr) -> Result<Value, ExprError> {
    match expr {
        Expr::Literal(value) => Ok(value.clone()),
        Expr::Tiler { offset, modes } => {
            let modes = modes.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            let usage = "<tile, ...>";
            let wrong = |found: &Value| ExprError::Arguments {
                offset: *offset,
                usage,
                why: format!("a tile is a layout, an integer, `_` or a tiler, not {found}"),
            };
            let tiler = |v: &Value| Ok::<_, ExprError>(as_tiler(v).ok_or_else(|| wrong(v))??);
            Ok(Value::Tiler(Tiler::Modes(
                modes.iter().map(tiler).collect::<Result<_, _>>()?,
            )))
        }
        Expr::Call {
            offset,
            name,
            arguments,
        } => {
            let offset = *offset;
            let Some(function) = FUNCTIONS.iter().find(|f| f.name == name) else {
                let nearest = FUNCTIONS.iter().min_by_key(|f| distance(f.name, name));
                let nearest = nearest.map_or("", |f| f.name);
                return Err(ExprError::UnknownFunction {
                    offset,
                    name: name.clone(),
                    nearest,
                });
            };
            let values = arguments.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            let mut arguments = Arguments {
                values: values.into_iter(),
                taken: 0,
            };
            let usage = function.usage;
            match (function.run)(&mut arguments) {
                Ok(_) if arguments.more() => {
                    let why = format!("argument {} is one too many", arguments.taken + 1);
                    Err(ExprError::Arguments { offset, usage, why })
                }
                Ok(value) => Ok(value),
                Err(Failure::Arguments(why)) => Err(ExprError::Arguments { offset, usage, why }),
                Err(Failure::Expr(error)) => Err(error),
            }
        }
    }
}

/// Edits between two names, for short names only.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn composition(args: &mut Arguments) -> Outcome {
    if let Some(left) = args.symbolic() {
        let right = args.next("a layout")?;
        return match as_symbolic(&right) {
            Some(right) => Ok(Value::Symbolic(left.compose(&right)?)),
            None => args.wrong("a layout without swizzle", &right),
        };
    }
    let left = args.next("a layout or a swizzle")?;
    let right = args.next("a layout or a tiler")?;
    Ok(match (&left, &right) {
        (Value::Swizzle(outer), Value::Swizzle(inner)) => Value::Swizzle(outer.compose(*inner)?),
        (Value::Swizzle(swizzle), Value::Layout(layout)) => match layout.as_plain() {
            Some(layout) => ComposedLayout::new(*swizzle, layout.clone()).into(),
            None => return args.wrong("a layout without swizzle", &right),
        },
        (Value::Layout(a), Value::Coordinates(b)) => match a.as_plain() {
            Some(a) => a.compose(b)?.into(),
            None => return args.wrong("a layout over offsets for a swizzled one", &right),
        },
        (Value::Coordinates(a), Value::Layout(b)) => match b.as_plain() {
            Some(b) => Value::Coordinates(a.compose(b)?),
            None => return args.wrong("a layout without swizzle", &right),
        },
        (Value::Coordinates(a), Value::Coordinates(b)) => Value::Coordinates(a.compose(b)?),
        (Value::Layout(a), Value::Layout(b)) if b.as_plain().is_none() => match a.as_plain() {
            Some(a) => a.compose_swizzled(b)?.into(),
            None => return args.wrong("a layout without swizzle", &right),
        },
        (Value::Layout(a), other) => match as_tiler(other) {
            Some(tiler) => a.compose_by(&tiler?)?.into(),
            None => return args.wrong("a layout or a tiler", other),
        },
        (other, _) => return args.wrong("a layout or a swizzle", other),
    })
}

fn make_layout(args: &mut Arguments) -> Outcome {
    let first = args.next("a layout or a shape")?;
    if let Value::Tuple(shape) = &first {
        let Ok(shape) = shape.try_map(&mut |n| n.ok_or(())) else {
            return args.wrong("a shape", &first);
        };
        return match args.more() {
            true => Ok(Layout::new(shape, args.tuple()?)?.into()),
            false => Ok(Layout::compact_left(shape)?.into()),
        };
    }
    let mut modes = Vec::new();
    let mut next = Some(first);
    while let Some(value) = next {
        match &value {
            Value::Layout(layout) => match layout.as_plain() {
                Some(layout) => modes.push(layout.clone()),
                None => return args.wrong("a layout without swizzle", &value),
            },
            other => return args.wrong("a layout", other),
        }
        next = args.more().then(|| args.next("a layout")).transpose()?;
    }
    Ok(Layout::concat(&modes)?.into())
}

fn table(args: &mut Arguments) -> Outcome {
    let layout = args.any()?;
    if layout.size() > MAX_TABLE {
        let rule = Rule::TooLarge {
            cells: layout.size(),
            limit: MAX_TABLE,
        };
        return Err(LayoutError::unary("table", &layout, rule).into());
    }
    Ok(Value::Table(layout.offsets().collect()))
}

fn at(args: &mut Arguments) -> Outcome {
    match args.next("a layout or a swizzle")? {
        Value::Swizzle(swizzle) => Ok(swizzle.apply(args.int()?).into()),
        Value::Layout(layout) => Ok(layout.at_coord(&args.tuple()?)?.into()),
        Value::Coordinates(layout) => Ok(layout.coord_at(args.int()?)?.into()),
        other => args.wrong("a layout or a swizzle", &other),
    }
}

fn optional<T>(
    args: &mut Arguments,
    take: impl FnOnce(&mut Arguments) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    if args.more() {
        take(args).map(Some)
    } else {
        Ok(None)
    }
}

macro_rules! functions {
    ($($name:literal $usage:literal $run:expr;)*) => {
        /// Every function of expressions, in alphabetical order.
        pub static FUNCTIONS: &[Function] = &[
            $(Function { name: $name, usage: concat!($name, $usage), run: $run },)*
        ];
    };
}

functions! {
    "at" "(layout or swizzle, coordinate): the offset there" at;
    "blocked_product" "(block, layout): blocks side by side"
        |a| Ok(a.plain()?.blocked_product(&a.plain()?)?.into());
    "coalesce" "(layout[, profile]): the simplest equal layout" |a| {
        if let Some(layout) = a.symbolic() {
            return Ok(Value::Symbolic(layout.coalesce()?));
        }
        let layout = a.any()?;
        Ok(match optional(a, Arguments::tuple)? {
            Some(profile) => layout.map_inner(|l| l.coalesce_by(&profile))?.into(),
            None => layout.coalesce().into(),
        })
    };
    "complement" "(layout[, cotarget]): what the layout leaves out" |a| {
        let layout = a.plain()?;
        Ok(match optional(a, Arguments::tuple)? {
            Some(cotarget) => layout.complement_shape(&cotarget)?.into(),
            None => layout.complement_self()?.into(),
        })
    };
    "composition" "(layout or swizzle, layout or tiler): first the second, then the first"
        composition;
    "cosize" "(layout): offsets from the least to the greatest" |a| Ok(a.any()?.cosize().into());
    "crd2idx" "(layout, coordinate): the offset there" at;
    "depth" "(layout): levels of nesting" |a| Ok((a.any()?.depth() as i64).into());
    "dice" "(layout, coordinate): the modes not under `_`"
        |a| Ok(a.plain()?.dice(&a.coord()?)?.into());
    "divide_evenly" "(layout, tiler): logical_divide that refuses a remainder"
        |a| Ok(a.plain()?.divide_evenly(a.tiler()?)?.into());
    "domain_distribute" "(shape, count): a share of the shape"
        |a| Ok(domain_distribute(&a.tuple()?, a.int()?)?.into());
    "downcast" "(layout, n): the layout of elements split in n"
        |a| Ok(a.any()?.downcast(a.int()?)?.into());
    "filter" "(layout[, profile]): without repetition" |a| {
        let layout = a.plain()?;
        Ok(match optional(a, Arguments::tuple)? {
            Some(profile) => layout.filter_by(&profile)?.into(),
            None => layout.filter().into(),
        })
    };
    "filter_zeros" "(layout): stride-0 extents become 1" |a| Ok(a.plain()?.filter_zeros().into());
    "flat_divide" "(layout, tiler): (tile..., rest...)"
        |a| Ok(a.any()?.flat_divide(a.tiler()?)?.into());
    "flat_product" "(layout, tiler): (block..., repetition...)"
        |a| Ok(a.plain()?.flat_product(a.tiler()?)?.into());
    "flatten" "(layout): all leaves in one tuple"
        |a| Ok(a.any()?.map_inner(|l| Ok(l.flatten()))?.into());
    "get_1d_coord" "(layout, offset): the 1-D coordinate of a compact layout"
        |a| Ok(a.plain()?.get_1d_coord(a.int()?).into());
    "get_flat_coord" "(layout, offset): the coordinate, one integer a mode"
        |a| Ok(a.plain()?.get_flat_coord(a.int()?).into());
    "get_hier_coord" "(layout, offset): the nested coordinate"
        |a| Ok(a.plain()?.get_hier_coord(a.int()?).into());
    "group" "(layout, begin, end): modes begin..end as one" |a| {
        let layout = a.any()?;
        let range = a.index()?..a.index()?;
        Ok(layout.map_inner(|l| l.group(range))?.into())
    };
    "hier_unzip_divide" "(layout, tiler): ((tile...),(rest...))"
        |a| Ok(a.plain()?.hier_unzip_divide(a.tiler()?)?.into());
    "hier_unzip_product" "(layout, tiler): ((block...),(repetition...))"
        |a| Ok(a.plain()?.hier_unzip_product(a.tiler()?)?.into());
    "idx2crd" "(index, shape): the coordinate of a 1-D index" |a| {
        let index = a.int()?;
        Ok(idx2crd(index, &a.tuple()?).into())
    };
    "left_inverse" "(layout): L with A(L(A(i))) = A(i)" |a| Ok(a.any()?.left_inverse()?.into());
    "logical_divide" "(layout, tiler): (tile, rest)" |a| {
        if let Some(layout) = a.symbolic() {
            let divided = symbolic_offsets(a, &layout)?.logical_divide(&a.plain()?)?;
            return Ok(Value::Symbolic((&divided).into()));
        }
        Ok(a.any()?.logical_divide(a.tiler()?)?.into())
    };
    "logical_product" "(layout, tiler): (block, repetition)"
        |a| Ok(a.plain()?.logical_product(a.tiler()?)?.into());
    "make_layout" "(layout, ...) or (shape[, stride]): modes side by side" make_layout;
    "make_layout_left" "(shape): compact, first mode fastest"
        |a| Ok(Layout::compact_left(a.tuple()?)?.into());
    "make_layout_like" "(layout): compact, in the same order"
        |a| Ok(a.plain()?.compact_like()?.into());
    "make_layout_right" "(shape): compact, last mode fastest"
        |a| Ok(Layout::compact_right(a.tuple()?)?.into());
    "make_layout_tv" "(threads, values): the tile and its thread-value layout" |a| {
        let (tile, layout) = make_layout_tv(&a.plain()?, &a.plain()?)?;
        Ok(Value::ThreadValue { tile, layout })
    };
    "make_ordered_layout" "(shape, order): compact in an order"
        |a| Ok(Layout::ordered(a.tuple()?, &a.tuple()?)?.into());
    "max_common_layout" "(layout, layout): what is contiguous in both"
        |a| Ok(max_common_layout(&a.plain()?, &a.plain()?)?.into());
    "max_common_vector" "(layout, layout): how much is contiguous in both"
        |a| Ok(max_common_vector(&a.plain()?, &a.plain()?).into());
    "mode" "(layout, index): one mode" |a| {
        let layout = a.any()?;
        let index = a.index()?;
        Ok(layout.map_inner(|l| l.mode(index))?.into())
    };
    "nullspace" "(layout): the coordinates that give 0" |a| Ok(a.plain()?.nullspace().into());
    "raked_product" "(block, layout): blocks interleaved"
        |a| Ok(a.plain()?.raked_product(&a.plain()?)?.into());
    "rank" "(layout): modes at the top" |a| Ok((a.any()?.rank() as i64).into());
    "recognise" "(tuple): the layout with this table" |a| {
        let tuple = a.tuple()?;
        match recognise(&tuple.leaves()) {
            Some(layout) => Ok(layout.into()),
            None => {
                let why = "no layout or swizzled layout has this table";
                Err(LayoutError::unary("recognise", &tuple, Rule::Mismatch { why }).into())
            }
        }
    };
    "right_inverse" "(layout): R with A(R(i)) = i" |a| {
        if let Some(layout) = a.symbolic() {
            let inverse = symbolic_offsets(a, &layout)?.right_inverse()?;
            return Ok(Value::Symbolic((&inverse).into()));
        }
        Ok(a.any()?.right_inverse()?.into())
    };
    "size" "(layout): number of coordinates" |a| Ok(a.any()?.size().into());
    "slice" "(layout, coordinate): the modes under `_`" |a| {
        let layout = a.any()?;
        let coord = a.coord()?;
        Ok(match layout.as_plain() {
            Some(layout) => layout.slice(&coord)?.into(),
            None => layout.slice(&coord)?.into(),
        })
    };
    "table" "(layout): its offsets in order" table;
    "tile_to_shape" "(layout, shape[, order]): the block repeated to fill a shape" |a| {
        let layout = a.any()?;
        let shape = a.tuple()?;
        let order = optional(a, Arguments::tuple)?;
        Ok(layout.tile_to_shape(&shape, order.as_ref())?.into())
    };
    "tiled_divide" "(layout, tiler): (tile, rest...)"
        |a| Ok(a.any()?.tiled_divide(a.tiler()?)?.into());
    "tiled_product" "(layout, tiler): (block, repetition...)"
        |a| Ok(a.plain()?.tiled_product(a.tiler()?)?.into());
    "upcast" "(layout, n): the layout in units of n elements"
        |a| Ok(a.any()?.upcast(a.int()?)?.into());
    "with_shape" "(layout, shape): the same function on another shape" |a| {
        let layout = a.any()?;
        let shape = a.tuple()?;
        Ok(layout.map_inner(|l| l.with_shape(shape))?.into())
    };
    "zip" "(layout, layout): modes in pairs" |a| Ok(zip(&a.plain()?, &a.plain()?)?.into());
    "zipped_divide" "(layout, tiler): ((tile...),(rest...))"
        |a| Ok(a.any()?.zipped_divide(a.tiler()?)?.into());
    "zipped_product" "(layout, tiler): ((block...),(repetition...))"
        |a| Ok(a.plain()?.zipped_product(a.tiler()?)?.into());
}
