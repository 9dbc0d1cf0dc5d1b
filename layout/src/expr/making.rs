//! Functions that make layouts of shapes, strides and other layouts.

use super::Value;
use super::arguments::{Arguments, Known, Outcome, as_coordinates};
use crate::layout::Layout;
use crate::tv::make_layout_tv;

pub(super) fn make_layout(args: &mut Arguments) -> Outcome {
    if let Some(Value::Tuple(shape)) = args.peek() {
        let shape = shape.clone();
        let found = args.next("a layout or a shape")?;
        let Ok(shape) = shape.try_map(&mut |n| n.ok_or(())) else {
            return args.wrong("a shape", &found);
        };
        return match args.more() {
            true => Ok(Layout::new(shape, args.tuple()?)?.into()),
            false => Ok(Layout::compact_left(shape)?.into()),
        };
    }
    let mut modes = vec![args.known()?];
    while args.more() {
        modes.push(args.known()?);
    }
    let mut offsets = Vec::new();
    let mut coordinates = Vec::new();
    for mode in modes {
        match mode {
            Known::Coordinates(layout) => coordinates.push(layout),
            Known::Offsets(layout) => {
                let Some(plain) = layout.as_plain() else {
                    return args.wrong("a layout without swizzle", &layout.into());
                };
                coordinates.push(as_coordinates(plain)?);
                offsets.push(plain.clone());
            }
        }
    }
    match offsets.len() == coordinates.len() {
        true => Ok(Layout::concat(&offsets)?.into()),
        false => Ok(Value::Coordinates(Layout::concat(&coordinates)?)),
    }
}

pub(super) fn make_thread_value(args: &mut Arguments) -> Outcome {
    let (tile, layout) = make_layout_tv(&args.plain()?, &args.plain()?)?;
    Ok(Value::ThreadValue { tile, layout })
}
