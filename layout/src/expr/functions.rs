//! The functions of expressions: one table, in alphabetical order.

use super::Value;
use super::arguments::{Arguments, Failure, Known, Outcome, as_symbolic, as_tiler, each};
use super::making::{make_layout, make_thread_value};
use super::reading::{at, cosize, depth, rank, size, table};
use super::tiling::{self, Operand};
use crate::composed::{ComposedLayout, Outer};
use crate::coord::idx2crd;
use crate::error::{LayoutError, Rule};
use crate::inverse::{max_common_layout, max_common_vector};
use crate::layout::Layout;
use crate::product::zip;
use crate::recast::domain_distribute;
use crate::recognise::recognise;
use crate::stride::Basis;
use crate::swizzle::Swizzle;
use crate::symbolic::SymLayout;
use crate::tiled::Side;

/// A function of expressions.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How it is called, and what comes out.
    pub usage: &'static str,
    pub(super) run: fn(&mut Arguments) -> Outcome,
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
    "coalesce" "(layout[, profile]): the simplest equal layout" coalesce;
    "complement" "(layout[, cotarget]): what the layout leaves out" |a| {
        let layout = a.plain()?;
        Ok(match a.optional(Arguments::tuple)? {
            Some(cotarget) => layout.complement_shape(&cotarget)?.into(),
            None => layout.complement_self()?.into(),
        })
    };
    "composition" "(layout or swizzle, layout or tiler): first the second, then the first"
        composition;
    "copy_atom" "(values) or (source, destination[, 0 or 1]): what one copy instruction moves"
        tiling::copy_atom;
    "cosize" "(layout): offsets from the least to the greatest, for coordinates in each mode" cosize;
    "crd2idx" "(layout, coordinate): the offset there" at;
    "depth" "(layout or tuple): levels of nesting" depth;
    "dice" "(layout, coordinate): the modes not under `_`" |a| {
        let layout = a.known()?;
        let coord = a.coord()?;
        Ok(each!(layout, l => l.dice(&coord)))
    };
    "divide_evenly" "(layout, tiler): logical_divide that refuses a remainder" |a| {
        let layout = a.known()?;
        let tiler = a.tiler()?;
        Ok(each!(layout, l => l.divide_evenly(tiler)))
    };
    "domain_distribute" "(shape, count): a share of the shape"
        |a| Ok(domain_distribute(&a.tuple()?, a.int()?)?.into());
    "downcast" "(layout or swizzle, n): the layout of elements split in n" |a| {
        if let Some(Value::Swizzle(swizzle)) = a.peek() {
            let swizzle = *swizzle;
            a.next("a swizzle")?;
            return Ok(Value::Swizzle(swizzle.downcast(a.int()?)?));
        }
        Ok(a.any()?.downcast(a.int()?)?.into())
    };
    "filter" "(layout[, profile]): without repetition" |a| {
        let layout = a.known()?;
        let profile = a.optional(Arguments::tuple)?;
        Ok(each!(layout, l => match &profile {
            Some(profile) => l.filter_by(profile),
            None => Ok(l.filter()),
        }))
    };
    "filter_zeros" "(layout[, profile]): extents of stride 0, or under a 0 of the profile, become 1"
        |a| {
            let layout = a.known()?;
            let profile = a.optional(Arguments::tuple)?;
            Ok(each!(layout, l => match &profile {
                Some(profile) => l.filter_zeros_by(profile),
                None => Ok(l.filter_zeros()),
            }))
        };
    "flat_divide" "(layout, tiler): (tile..., rest...)" |a| {
        if let Some(layout) = a.symbolic() {
            let divided = symbolic_offsets(a, &layout)?.flat_divide(a.tiler()?)?;
            return Ok(Value::Symbolic((&divided).into()));
        }
        let layout = a.known()?;
        let tiler = a.tiler()?;
        Ok(each!(layout, l => l.flat_divide(tiler)))
    };
    "flat_product" "(layout, tiler): (block..., repetition...)"
        |a| Ok(a.plain()?.flat_product(a.tiler()?)?.into());
    "flatten" "(layout): all leaves in one tuple" |a| {
        let layout = a.known()?;
        Ok(each!(layout, l => Ok::<_, LayoutError>(l.flatten())))
    };
    "fragment_a" "(tiled mma, (m,k)): the registers of A of one thread"
        |a| tiling::fragment(a, Operand::A);
    "fragment_b" "(tiled mma, (n,k)): the registers of B of one thread"
        |a| tiling::fragment(a, Operand::B);
    "fragment_c" "(tiled mma, (m,n)): the registers of C of one thread"
        |a| tiling::fragment(a, Operand::C);
    "get_1d_coord" "(layout, offset): the 1-D coordinate of a compact layout"
        |a| Ok(a.plain()?.get_1d_coord(a.int()?).into());
    "get_flat_coord" "(layout, offset): the coordinate, one integer a mode"
        |a| Ok(a.plain()?.get_flat_coord(a.int()?).into());
    "get_hier_coord" "(layout, offset): the nested coordinate"
        |a| Ok(a.plain()?.get_hier_coord(a.int()?).into());
    "group" "(layout, begin, end): modes begin..end as one" |a| {
        let layout = a.known()?;
        let range = a.index()?..a.index()?;
        Ok(each!(layout, l => l.group(range)))
    };
    "hier_unzip_divide" "(layout, tiler): ((tile...),(rest...))" |a| {
        let layout = a.known()?;
        let tiler = a.tiler()?;
        Ok(each!(layout, l => l.hier_unzip_divide(tiler)))
    };
    "hier_unzip_product" "(layout, tiler): ((block...),(repetition...))"
        |a| Ok(a.plain()?.hier_unzip_product(a.tiler()?)?.into());
    "idx2crd" "(index, shape): the coordinate of a 1-D index" |a| {
        let index = a.int()?;
        Ok(idx2crd(index, &a.tuple()?).into())
    };
    "layout_a" "(tiled mma): who holds what of A's tile" |a| tiling::layout(a, Operand::A);
    "layout_b" "(tiled mma): who holds what of B's tile" |a| tiling::layout(a, Operand::B);
    "layout_c" "(tiled mma): who holds what of C's tile" |a| tiling::layout(a, Operand::C);
    "left_inverse" "(layout or swizzle): L with A(L(A(i))) = A(i)" |a| {
        if let Some(Value::Swizzle(_)) = a.peek() {
            // Its source bits are never among its target bits: applied twice it is the identity.
            return a.next("a swizzle");
        }
        Ok(a.any()?.left_inverse()?.into())
    };
    "logical_divide" "(layout, tiler): (tile, rest)" |a| {
        if let Some(layout) = a.symbolic() {
            let divided = symbolic_offsets(a, &layout)?.logical_divide(a.tiler()?)?;
            return Ok(Value::Symbolic((&divided).into()));
        }
        let layout = a.known()?;
        let tiler = a.tiler()?;
        Ok(each!(layout, l => l.logical_divide(tiler)))
    };
    "logical_product" "(layout, tiler): (block, repetition)"
        |a| Ok(a.plain()?.logical_product(a.tiler()?)?.into());
    "make_identity_layout" "(shape): each coordinate as itself"
        |a| Ok(Value::Coordinates(Layout::<Basis>::coordinates(a.tuple()?)?));
    "make_layout" "(layout, ...) or (shape[, stride]): modes side by side" make_layout;
    "make_layout_left" "(shape): compact, first mode fastest"
        |a| Ok(Layout::compact_left(a.tuple()?)?.into());
    "make_layout_like" "(layout): compact, in the same order"
        |a| Ok(a.plain()?.compact_like()?.into());
    "make_layout_right" "(shape): compact, last mode fastest"
        |a| Ok(Layout::compact_right(a.tuple()?)?.into());
    "make_layout_tv" "(threads, values): the tile and its thread-value layout" make_thread_value;
    "make_ordered_layout" "(shape, order): compact in an order"
        |a| Ok(Layout::ordered(a.tuple()?, &a.tuple()?)?.into());
    "max_common_layout" "(layout, layout): what is contiguous in both"
        |a| Ok(max_common_layout(&a.plain()?, &a.plain()?)?.into());
    "max_common_vector" "(layout, layout): how much is contiguous in both"
        |a| Ok(max_common_vector(&a.plain()?, &a.plain()?).into());
    "mma_atom" "((m,n,k), A, B, C): a matrix instruction by its (lane,value) layouts"
        tiling::mma_atom;
    "mode" "(layout, index): one mode" |a| {
        let layout = a.known()?;
        let index = a.index()?;
        Ok(each!(layout, l => l.mode(index)))
    };
    "nullspace" "(layout): the coordinates that give 0" |a| Ok(match a.known()? {
        Known::Coordinates(layout) => layout.nullspace().into(),
        Known::Offsets(layout) => match layout.as_plain() {
            Some(layout) => layout.nullspace().into(),
            None => return a.wrong("a layout without swizzle", &layout.into()),
        },
    });
    "pad" "(layout, rank): modes 1:0 appended up to this rank" |a| {
        let layout = a.known()?;
        let rank = a.index()?;
        if rank > 64 {
            return a.wrong("a rank of at most 64", &(rank as i64).into());
        }
        Ok(each!(layout, l => Ok::<_, LayoutError>(l.padded(rank))))
    };
    "partition_a" "(tiled mma, block or shape): who holds what of a block of A"
        |a| tiling::partition(a, Operand::A);
    "partition_b" "(tiled mma, block or shape): who holds what of a block of B"
        |a| tiling::partition(a, Operand::B);
    "partition_c" "(tiled mma, block or shape): who holds what of a block of C"
        |a| tiling::partition(a, Operand::C);
    "partition_destination" "(tiled copy, block or shape): who writes what of a block"
        |a| tiling::partition_copy(a, Side::Destination);
    "partition_source" "(tiled copy, block or shape): who reads what of a block"
        |a| tiling::partition_copy(a, Side::Source);
    "raked_product" "(block, layout): blocks interleaved"
        |a| Ok(a.plain()?.raked_product(&a.plain()?)?.into());
    "rank" "(layout or tuple): modes at the top" rank;
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
    "retile" "(tiled copy, fragment): registers in the copy's order" tiling::retile;
    "right_inverse" "(layout or swizzle): R with A(R(i)) = i" |a| {
        if let Some(layout) = a.symbolic() {
            let inverse = symbolic_offsets(a, &layout)?.right_inverse()?;
            return Ok(Value::Symbolic((&inverse).into()));
        }
        if let Some(Value::Swizzle(_)) = a.peek() {
            return a.next("a swizzle");
        }
        Ok(a.any()?.right_inverse()?.into())
    };
    "select" "(layout, index or (index, ...)): modes in this order" |a| {
        let layout = a.known()?;
        let tuple = a.tuple()?;
        let indices: Result<Vec<_>, _> = tuple.leaves().into_iter().map(usize::try_from).collect();
        let Ok(indices) = indices else {
            return a.wrong("indices of modes", &tuple.into());
        };
        Ok(each!(layout, l => l.select(&indices)))
    };
    "size" "(layout or tuple): number of coordinates" size;
    "slice" "(layout, coordinate): the modes under `_`" |a| {
        let layout = a.known()?;
        let coord = a.coord()?;
        Ok(match layout {
            Known::Coordinates(layout) => Value::Coordinates(layout.slice(&coord)?),
            Known::Offsets(layout) => match layout.as_plain() {
                Some(layout) => layout.slice(&coord)?.into(),
                None => layout.slice(&coord)?.into(),
            },
        })
    };
    "table" "(layout): its values in order" table;
    "tile" "(tiled copy or mma): the extents it covers at once" tiling::tile;
    "tile_to_shape" "(layout, shape[, order]): the block repeated to fill a shape" |a| {
        let layout = a.any()?;
        let shape = a.tuple()?;
        let order = a.optional(Arguments::tuple)?;
        Ok(layout.tile_to_shape(&shape, order.as_ref())?.into())
    };
    "tiled_copy" "(copy atom, threads, values) or (copy atom, tile, layout): many threads copy"
        tiling::tiled_copy;
    "tiled_copy_a" "(tiled mma, copy atom): the copy of A's tile by those that multiply it"
        |a| tiling::tiled_copy_of(a, Operand::A);
    "tiled_copy_b" "(tiled mma, copy atom): the copy of B's tile by those that multiply it"
        |a| tiling::tiled_copy_of(a, Operand::B);
    "tiled_copy_c" "(tiled mma, copy atom): the copy of C's tile by those that multiply it"
        |a| tiling::tiled_copy_of(a, Operand::C);
    "tiled_divide" "(layout, tiler): (tile, rest...)" |a| {
        if let Some(layout) = a.symbolic() {
            let divided = symbolic_offsets(a, &layout)?.tiled_divide(a.tiler()?)?;
            return Ok(Value::Symbolic((&divided).into()));
        }
        let layout = a.known()?;
        let tiler = a.tiler()?;
        Ok(each!(layout, l => l.tiled_divide(tiler)))
    };
    "tiled_mma" "(mma atom[, waves[, permutation]]): many waves multiply" tiling::tiled_mma;
    "tiled_product" "(layout, tiler): (block, repetition...)"
        |a| Ok(a.plain()?.tiled_product(a.tiler()?)?.into());
    "upcast" "(layout or swizzle, n[, mode]): in units of n elements, for coordinates of one mode"
        upcast;
    "with_shape" "(layout, shape): the same function on another shape" |a| {
        let layout = a.known()?;
        let shape = Layout::compact_left(a.tuple()?)?;
        Ok(each!(layout, l => l.compose(&shape)))
    };
    "zip" "(layout, layout): modes in pairs" |a| Ok(zip(&a.plain()?, &a.plain()?)?.into());
    "zipped_divide" "(layout, tiler): ((tile...),(rest...))" |a| {
        if let Some(layout) = a.symbolic() {
            let divided = symbolic_offsets(a, &layout)?.zipped_divide(a.tiler()?)?;
            return Ok(Value::Symbolic((&divided).into()));
        }
        let layout = a.known()?;
        let tiler = a.tiler()?;
        Ok(each!(layout, l => l.zipped_divide(tiler)))
    };
    "zipped_product" "(layout, tiler): ((block...),(repetition...))"
        |a| Ok(a.plain()?.zipped_product(a.tiler()?)?.into());
}

fn symbolic_offsets(args: &Arguments, layout: &SymLayout<Basis>) -> Result<SymLayout, Failure> {
    let offsets = layout.as_offsets();
    let wrong = || Value::Symbolic(layout.clone());
    offsets.map_or_else(|| args.wrong("a layout over offsets", &wrong()), Ok)
}

fn coalesce(args: &mut Arguments) -> Outcome {
    if let Some(layout) = args.symbolic() {
        return Ok(Value::Symbolic(layout.coalesce()?));
    }
    let layout = args.known()?;
    let profile = args.optional(Arguments::tuple)?;
    Ok(match (layout, &profile) {
        (Known::Offsets(layout), None) => layout.coalesce().into(),
        (layout, _) => each!(layout, l => match &profile {
            Some(profile) => l.coalesce_by(profile),
            None => Ok(l.coalesce()),
        }),
    })
}

fn upcast(args: &mut Arguments) -> Outcome {
    if let Some(Value::Swizzle(swizzle)) = args.peek() {
        let swizzle = *swizzle;
        args.next("a swizzle")?;
        return Ok(Value::Swizzle(swizzle.upcast(args.int()?)?));
    }
    match args.known()? {
        Known::Offsets(layout) => Ok(layout.upcast(args.int()?)?.into()),
        Known::Coordinates(layout) => {
            let n = args.int()?;
            Ok(Value::Coordinates(layout.upcast_along(n, args.index()?)?))
        }
    }
}

fn composition(args: &mut Arguments) -> Outcome {
    if let Some(left) = args.symbolic() {
        let right = args.next("a layout")?;
        return Ok(Value::Symbolic(
            match (as_symbolic(&right), as_tiler(&right)) {
                (Some(right), _) => left.compose(&right)?,
                (None, Some(tiler)) => left.compose_by(&tiler?)?,
                (None, None) => return args.wrong("a layout without swizzle or a tiler", &right),
            },
        ));
    }
    if let Some(Value::Swizzle(swizzle)) = args.peek() {
        let outer = *swizzle;
        args.next("a swizzle")?;
        return match args.next("a layout or a swizzle")? {
            Value::Swizzle(inner) => Ok(Value::Swizzle(outer.compose(inner)?)),
            Value::Layout(layout) => swizzled(args, outer, &layout),
            other => args.wrong("a layout over offsets or a swizzle", &other),
        };
    }
    let left = args.known()?;
    let right = args.next("a layout or a tiler")?;
    Ok(match (&left, &right) {
        (left, Value::Coordinates(right)) => match left {
            Known::Coordinates(left) => Value::Coordinates(left.compose(right)?),
            Known::Offsets(left) => left.map_inner(|l| l.compose(right))?.into(),
        },
        (left, Value::Layout(right)) if right.as_plain().is_none() => match left {
            Known::Offsets(left) if left.as_plain().is_some() => {
                left.inner().compose_swizzled(right)?.into()
            }
            _ => return args.wrong("a layout without swizzle", &right.clone().into()),
        },
        (_, other) => match as_tiler(other) {
            Some(tiler) => {
                let tiler = tiler?;
                each!(left, l => l.compose_by(&tiler))
            }
            None => return args.wrong("a layout or a tiler", other),
        },
    })
}

/// A swizzle after a layout that may have one already.
fn swizzled(args: &Arguments, outer: Swizzle, layout: &ComposedLayout) -> Outcome {
    if let Some(layout) = layout.as_plain() {
        return Ok(ComposedLayout::new(outer, layout.clone()).into());
    }
    match layout.swizzle() {
        Some(inner) => {
            let both = Outer::Swizzle(outer.compose(inner)?);
            let (offset, inner) = (layout.offset(), layout.inner().clone());
            Ok(ComposedLayout::with_offset(both, offset, inner)?.into())
        }
        None => args.wrong("a layout, plain or swizzled", &Value::from(layout.clone())),
    }
}
