//! Functions that read something off a layout: sizes, values, tables.

use super::Value;
use super::arguments::{Arguments, Failure, Known, Outcome, too_large};
use crate::error::LayoutError;
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::stride::Basis;

/// Tables of at most this many values are listed.
const MAX_TABLE: i64 = 1 << 16;

/// The shape of the next argument: a layout's, or a tuple by itself.
fn shape(args: &mut Arguments) -> Result<IntTuple, Failure> {
    if let Some(Value::Tuple(Nest::Tuple(items))) = args.peek()
        && let Ok(shape) = Nest::Tuple(items.clone()).try_map(&mut |n: &Option<i64>| n.ok_or(()))
    {
        args.next("a shape")?;
        return Ok(Layout::new(shape.clone(), shape.map(&mut |_| 0))?
            .shape()
            .clone());
    }
    Ok(match args.known()? {
        Known::Offsets(layout) => layout.shape().clone(),
        Known::Coordinates(layout) => layout.shape().clone(),
    })
}

pub(super) fn size(args: &mut Arguments) -> Outcome {
    let shape = shape(args)?;
    Ok(Layout::new(shape.clone(), shape.map(&mut |_| 0))?
        .size()
        .into())
}

pub(super) fn rank(args: &mut Arguments) -> Outcome {
    if let Some(layout) = args.symbolic() {
        return Ok((layout.shape().rank() as i64).into());
    }
    Ok((shape(args)?.rank() as i64).into())
}

pub(super) fn depth(args: &mut Arguments) -> Outcome {
    if let Some(layout) = args.symbolic() {
        return Ok((layout.shape().depth() as i64).into());
    }
    Ok((shape(args)?.depth() as i64).into())
}

pub(super) fn cosize(args: &mut Arguments) -> Outcome {
    Ok(match args.known()? {
        Known::Offsets(layout) => layout.cosize().into(),
        Known::Coordinates(layout) => {
            // As far as each mode's strides reach, whichever way they lead.
            let stride = layout.stride().try_map(&mut |d: &Basis| {
                let value = d.value.checked_abs().ok_or(())?;
                Ok::<_, ()>(Basis { value, ..*d })
            });
            let stride = stride.unwrap_or_else(|()| layout.stride().clone());
            let ahead = Layout::new(layout.shape().clone(), stride)?;
            let last = ahead.coord_at(ahead.size() - 1)?;
            last.map(&mut |&c| c.saturating_add(1)).into()
        }
    })
}

pub(super) fn at(args: &mut Arguments) -> Outcome {
    if let Some(Value::Swizzle(swizzle)) = args.peek() {
        let swizzle = *swizzle;
        args.next("a swizzle")?;
        return Ok(swizzle.apply(args.int()?).into());
    }
    match args.known()? {
        Known::Offsets(layout) => Ok(layout.at_coord(&args.tuple()?)?.into()),
        Known::Coordinates(layout) => Ok(layout.coord_at_coord(&args.tuple()?)?.into()),
    }
}

pub(super) fn table(args: &mut Arguments) -> Outcome {
    let small = |value: Value, size: i64| match size > MAX_TABLE {
        true => Err(too_large("table", &value, size, MAX_TABLE)),
        false => Ok(()),
    };
    Ok(Value::Table(match args.known()? {
        Known::Offsets(layout) => {
            small(layout.clone().into(), layout.size())?;
            layout.offsets().map(Nest::Int).collect()
        }
        Known::Coordinates(layout) => {
            small(Value::Coordinates(layout.clone()), layout.size())?;
            let values = (0..layout.size()).map(|i| layout.coord_at(i));
            values.collect::<Result<_, LayoutError>>()?
        }
    }))
}
