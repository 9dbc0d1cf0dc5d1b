//! Functions of atoms, tiled copies and tiled multiplications.

use super::Value;
use super::arguments::{Arguments, Failure, Outcome};
use crate::error::Result as LayoutResult;
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::tiled::{CopyAtom, MmaAtom, Side, TiledCopy, TiledMma};
use crate::tiler::Tiler;

/// An operand of `C(m,n) += A(m,k) B(n,k)`.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    A,
    B,
    C,
}

fn copy(args: &mut Arguments) -> Result<TiledCopy, Failure> {
    match args.next("a tiled copy")? {
        Value::TiledCopy(copy) => Ok(copy),
        other => args.wrong("a tiled copy", &other),
    }
}

fn mma(args: &mut Arguments) -> Result<TiledMma, Failure> {
    match args.next("a tiled mma")? {
        Value::TiledMma(mma) => Ok(mma),
        other => args.wrong("a tiled mma", &other),
    }
}

fn atom(args: &mut Arguments) -> Result<CopyAtom, Failure> {
    match args.next("a copy atom")? {
        Value::CopyAtom(atom) => Ok(atom),
        other => args.wrong("a copy atom", &other),
    }
}

pub(super) fn copy_atom(args: &mut Arguments) -> Outcome {
    if let Some(Value::Tuple(Nest::Int(Some(_)))) = args.peek() {
        return Ok(Value::CopyAtom(CopyAtom::per_lane(args.int()?)?));
    }
    let (source, destination) = (args.plain()?, args.plain()?);
    let reference = match args.optional(Arguments::int)? {
        None | Some(0) => Side::Source,
        Some(1) => Side::Destination,
        Some(other) => {
            let sides = "0 (the source deals out threads) or 1 (the destination)";
            return args.wrong(sides, &other.into());
        }
    };
    let atom = CopyAtom::new(source, destination, reference)?;
    Ok(Value::CopyAtom(atom))
}

pub(super) fn mma_atom(args: &mut Arguments) -> Outcome {
    let shape = args.tuple()?;
    let [m, n, k] = shape.leaves()[..] else {
        return args.wrong("a shape (m,n,k)", &shape.into());
    };
    let (a, b, c) = (args.plain()?, args.plain()?, args.plain()?);
    Ok(Value::MmaAtom(MmaAtom::new([m, n, k], a, b, c)?))
}

pub(super) fn tiled_copy(args: &mut Arguments) -> Outcome {
    let atom = atom(args)?;
    let copy = match args.peek() {
        Some(Value::Tuple(Nest::Tuple(_))) => {
            let tile = args.tuple()?.leaves();
            TiledCopy::over(atom, tile, args.plain()?)?
        }
        _ => TiledCopy::new(atom, &args.plain()?, &args.plain()?)?,
    };
    Ok(Value::TiledCopy(copy))
}

pub(super) fn tiled_mma(args: &mut Arguments) -> Outcome {
    let atom = match args.next("an mma atom")? {
        Value::MmaAtom(atom) => atom,
        other => return args.wrong("an mma atom", &other),
    };
    let waves = args
        .optional(Arguments::plain)?
        .unwrap_or_else(Layout::unit);
    let permutation = args.optional(Arguments::tiler)?.unwrap_or(Tiler::Whole);
    Ok(Value::TiledMma(TiledMma::new(atom, waves, permutation)?))
}

pub(super) fn tiled_copy_of(args: &mut Arguments, operand: Operand) -> Outcome {
    let (mma, atom) = (mma(args)?, atom(args)?);
    Ok(Value::TiledCopy(match operand {
        Operand::A => mma.tiled_copy_a(atom)?,
        Operand::B => mma.tiled_copy_b(atom)?,
        Operand::C => mma.tiled_copy_c(atom)?,
    }))
}

pub(super) fn tile(args: &mut Arguments) -> Outcome {
    let tile = match args.next("a tiled copy or mma")? {
        Value::TiledCopy(copy) => copy.tile().to_vec(),
        Value::TiledMma(mma) => mma.tile().to_vec(),
        other => return args.wrong("a tiled copy or mma", &other),
    };
    Ok(IntTuple::from(tile.as_slice()).into())
}

pub(super) fn layout(args: &mut Arguments, operand: Operand) -> Outcome {
    let mma = mma(args)?;
    let [m, n, k] = mma.tile();
    let (tile, layout) = match operand {
        Operand::A => ([m, k], mma.layout_a()?),
        Operand::B => ([n, k], mma.layout_b()?),
        Operand::C => ([m, n], mma.layout_c()?),
    };
    let tile = tile.to_vec();
    Ok(Value::ThreadValue { tile, layout })
}

pub(super) fn fragment(args: &mut Arguments, operand: Operand) -> Outcome {
    let mma = mma(args)?;
    let extents = args.tuple()?;
    let [x, y] = extents.leaves()[..] else {
        return args.wrong("a pair of extents", &extents.into());
    };
    Ok(match operand {
        Operand::A => mma.fragment_a([x, y])?,
        Operand::B => mma.fragment_b([x, y])?,
        Operand::C => mma.fragment_c([x, y])?,
    }
    .into())
}

pub(super) fn retile(args: &mut Arguments) -> Outcome {
    Ok(copy(args)?.retile(&args.plain()?)?.into())
}

pub(super) fn partition(args: &mut Arguments, operand: Operand) -> Outcome {
    let mma = mma(args)?;
    over_block(args, |block| match operand {
        Operand::A => mma.partition_a(block),
        Operand::B => mma.partition_b(block),
        Operand::C => mma.partition_c(block),
    })
}

pub(super) fn partition_copy(args: &mut Arguments, side: Side) -> Outcome {
    let copy = copy(args)?;
    over_block(args, |block| match side {
        Side::Source => copy.partition_source(block),
        Side::Destination => copy.partition_destination(block),
    })
}

/// Of a block's layout the partition is a layout to its offsets; of a shape alone, the owners of
/// its elements, all modes behind the thread's being values.
fn over_block(
    args: &mut Arguments,
    partition: impl FnOnce(&Layout) -> LayoutResult<Layout>,
) -> Outcome {
    let Some(Value::Tuple(Nest::Tuple(_))) = args.peek() else {
        return Ok(partition(&args.plain()?)?.into());
    };
    let block = Layout::compact_left(args.tuple()?)?;
    let parts = partition(&block)?;
    let layout = parts.group(1..parts.rank())?;
    let tile = block.modes().iter().map(Layout::size).collect();
    Ok(Value::ThreadValue { tile, layout })
}
