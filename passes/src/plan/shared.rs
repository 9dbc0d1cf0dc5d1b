//! Layouts of the tiles in LDS, and whether they fit.

use tilefold_dialect::{
    atoms::MmaAtom,
    element::ElementType,
    plan::LdsLayout,
    spec::{Spec, SpecError},
};
use tilefold_layout::{ComposedLayout, Layout, LayoutError, Swizzle};
use tilefold_machine::Machine;

/// The layout that a choice stands for, over the tile's (row, k).
pub fn layout(
    spec: &Spec,
    operand: usize,
    choice: &LdsLayout,
    tile: [i64; 2],
    atom: &MmaAtom,
) -> Result<ComposedLayout, SpecError> {
    let field = ["lds.a", "lds.b"][operand];
    let fault = |rule: String, help: &str| SpecError::at(spec.source(), field, rule, help);
    let algebra = |error: LayoutError| fault(error.to_string(), "take another layout");
    let [rows, depth] = tile;
    match choice {
        LdsLayout::None => Ok(Layout::row_major(&tile).map_err(algebra)?.into()),
        LdsLayout::Pad(pad) => {
            let stride = depth.saturating_add(*pad);
            Ok(Layout::flat(&[(rows, stride), (depth, 1)]).map_err(algebra)?.into())
        }
        LdsLayout::Xor => {
            // Whole fragments move: block k / unit of a row goes to (k / unit) xor row, among
            // the blocks of the row.
            let unit = fragment(atom);
            let blocks = depth / unit;
            if depth % unit != 0 || blocks.count_ones() != 1 {
                return Err(fault(
                    format!("a row of {depth} is no power of two of fragments of {unit} elements"),
                    "take a k that is, or padding",
                ));
            }
            let [bits, base, row] = [blocks, unit, depth].map(i64::ilog2);
            let swizzle = Swizzle::new(bits, base, (row - base) as i32).map_err(algebra)?;
            let plain = Layout::row_major(&tile).map_err(algebra)?;
            Ok(ComposedLayout::new(swizzle, plain))
        }
        LdsLayout::Expr(layout) => {
            if layout.size() != rows * depth {
                return Err(fault(
                    format!("{layout} has {} elements, the tile {rows} x {depth}", layout.size()),
                    "its two modes are the tile's rows and its k",
                ));
            }
            if layout.swizzle().is_none() {
                return Err(fault(
                    format!("{layout} applies a layout to a layout"),
                    "take one layout, with a swizzle in front or none",
                ));
            }
            let mut offsets: Vec<i64> = (0..layout.size()).map(|i| layout.at(i)).collect();
            offsets.sort_unstable();
            let distinct = offsets.windows(2).all(|pair| pair[0] < pair[1]);
            if !distinct || offsets[0] < 0 {
                return Err(fault(
                    format!("{layout} puts two elements in one place, or one before the start"),
                    "a tile in LDS needs a place of its own for every element",
                ));
            }
            Ok(layout.clone())
        }
    }
}

/// Consecutive K values of one lane's fragment.
fn fragment(atom: &MmaAtom) -> i64 {
    atom.a().mode(1).map_or(1, |values| values.size())
}

/// Elements that one buffer takes: whole lines, the padding of the last one included, rounded
/// up to 16 bytes so that the next buffer is aligned for every access.
pub fn elements(layout: &ComposedLayout, element: ElementType) -> i64 {
    let last = (0..layout.size()).map(|index| layout.at(index)).max().unwrap_or(0);
    let lines = layout.inner().flat_modes().into_iter().map(|(extent, stride)| extent * stride);
    let unit = 128 / i64::from(element.bits());
    let whole = lines.max().unwrap_or(0).max(last + 1);
    (whole + unit - 1) / unit * unit
}

/// Bytes of LDS of a kernel; refuses what the chip does not have.
pub fn fits(
    spec: &Spec,
    machine: &Machine,
    layouts: &[ComposedLayout],
    element: ElementType,
    buffers: i64,
    block: [i64; 3],
) -> Result<i64, SpecError> {
    let tiles: i64 = layouts.iter().map(|layout| elements(layout, element)).sum();
    let bytes = tiles.saturating_mul(buffers).saturating_mul(i64::from(element.bits())) / 8;
    let limit = i64::from(machine.lds.per_workgroup);
    if bytes > limit {
        return Err(SpecError::at(
            spec.source(),
            "tile.block",
            format!(
                "{buffers} buffers of the {} x {} tiles of A and B need {bytes} bytes of LDS, a \
                 workgroup on {} has {limit}",
                block[0], block[2], machine.name
            ),
            "take a smaller block, a smaller k, fewer buffers or less padding",
        ));
    }
    Ok(bytes)
}
