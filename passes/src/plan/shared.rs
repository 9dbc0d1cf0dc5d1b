//! Layouts of the tiles in LDS, and whether they fit.

use crate::{access::in_lds, tiling::MmaLayouts};
use tilefold_dialect::{
    atoms::MmaAtom,
    element::ElementType,
    plan::LdsLayout,
    spec::{Spec, SpecError},
};
use tilefold_layout::{ComposedLayout, Layout, LayoutError, Swizzle};
use tilefold_machine::Machine;

const FIELDS: [&str; 2] = ["lds.a", "lds.b"];

/// The layout that a choice stands for, over the tile's (row, k).
///
/// That an expression gives every element a place of its own has been checked with the spec.
pub fn layout(
    spec: &Spec,
    operand: usize,
    choice: &LdsLayout,
    tile: [i64; 2],
    atom: &MmaAtom,
) -> Result<ComposedLayout, SpecError> {
    let fault = |rule: String, help: &str| spec.error(FIELDS[operand], rule, help);
    let algebra = |error: LayoutError| fault(error.to_string(), "take another layout");
    let [rows, depth] = tile;
    match choice {
        LdsLayout::None => Ok(Layout::row_major(&tile).map_err(algebra)?.into()),
        LdsLayout::Pad(pad) => {
            let stride = depth.saturating_add(*pad);
            Ok(Layout::flat(&[(rows, stride), (depth, 1)])
                .map_err(algebra)?
                .into())
        }
        LdsLayout::Xor => {
            // Whole fragments move: block k / unit of a row goes to (k / unit) xor row, among
            // the blocks of the row.
            let unit = fragment(atom);
            let blocks = depth / unit;
            if !permutes(atom, depth) {
                return Err(fault(
                    format!(
                        "a row of {depth} elements is {blocks} fragments of {unit}, which is no \
                         power of two"
                    ),
                    "take a k that is a power of two, or padding",
                ));
            }
            let [bits, base, row] = [blocks, unit, depth].map(i64::ilog2);
            let swizzle = Swizzle::new(bits, base, (row - base) as i32).map_err(algebra)?;
            let plain = Layout::row_major(&tile).map_err(algebra)?;
            Ok(ComposedLayout::new(swizzle, plain))
        }
        LdsLayout::Expr(layout) => {
            let extents: Vec<i64> = layout.inner().modes().iter().map(Layout::size).collect();
            if extents != tile {
                return Err(fault(
                    format!("{layout} is not over the {rows} x {depth} of the tile"),
                    "its two modes are the tile's rows and its k; name `tile.block` too",
                ));
            }
            if layout.swizzle().is_none() {
                return Err(fault(
                    format!("{layout} applies a layout to a layout"),
                    "take one layout, with a swizzle in front or none",
                ));
            }
            if layout
                .inner()
                .flat_modes()
                .iter()
                .any(|(_, stride)| *stride < 0)
            {
                return Err(fault(
                    format!("{layout} has a stride below 0"),
                    "kernels step forwards through LDS: use strides of at least 0",
                ));
            }
            Ok(layout.clone())
        }
    }
}

/// Whether rows of `depth` elements are a power of two of fragments, which the published permutation
/// moves.
pub fn permutes(atom: &MmaAtom, depth: i64) -> bool {
    let unit = fragment(atom);
    depth % unit == 0 && (depth / unit).count_ones() == 1
}

/// Consecutive K values of one lane's fragment.
fn fragment(atom: &MmaAtom) -> i64 {
    atom.a().mode(1).map_or(1, |values| values.size())
}

/// Whether threads find what they copy and multiply by constant steps in the tile's layout:
/// `copies` are the thread-value layouts of the copies of A and B.
pub fn reachable(
    spec: &Spec,
    layouts: &[ComposedLayout; 2],
    copies: &[Layout; 2],
    mma: &MmaLayouts,
) -> Result<(), SpecError> {
    for (operand, users) in [[&copies[0], &mma.a], [&copies[1], &mma.b]]
        .into_iter()
        .enumerate()
    {
        let placement = &layouts[operand];
        if users.iter().any(|user| in_lds(placement, user).is_err()) {
            return Err(spec.error(
                FIELDS[operand],
                format!(
                    "{placement} splits the tile where the copy or the matrix instruction does not"
                ),
                "split modes, if at all, into multiples of the matrix instruction's extents",
            ));
        }
    }
    Ok(())
}

/// Elements that one buffer takes: whole lines, the padding of the last one included, rounded
/// up to 16 bytes so that the next buffer is aligned for every access.
pub fn elements(layout: &ComposedLayout, element: ElementType) -> i64 {
    let modes = layout.inner().flat_modes();
    let lines = modes
        .into_iter()
        .filter(|(extent, _)| *extent > 1)
        .map(|(extent, stride)| extent.saturating_mul(stride));
    aligned(lines.max().unwrap_or(0).max(layout.cosize()), element)
}

/// As [`elements`], of the layout that `choice` stands for over `tile`, or of the tile alone where
/// none is chosen.
pub fn elements_of(choice: Option<&LdsLayout>, tile: [i64; 2], element: ElementType) -> i64 {
    let [rows, depth] = tile;
    match choice {
        Some(LdsLayout::Expr(layout)) => elements(layout, element),
        Some(LdsLayout::Pad(pad)) if rows > 1 => {
            aligned(rows.saturating_mul(depth.saturating_add(*pad)), element)
        }
        _ => aligned(rows.saturating_mul(depth), element),
    }
}

/// So many elements, rounded up to whole accesses of the widest kind.
fn aligned(count: i64, element: ElementType) -> i64 {
    let unit = 128 / i64::from(element.bits());
    count.saturating_add(unit - 1) / unit * unit
}

/// Refuses tiles of A and B, of so many elements in LDS as `sizes` says, that the chip has no
/// room for.
pub fn fits(
    spec: &Spec,
    machine: &Machine,
    atom: &MmaAtom,
    tiles: [[i64; 2]; 2],
    sizes: [i64; 2],
    buffers: i64,
) -> Result<(), SpecError> {
    let elements = sizes[0].saturating_add(sizes[1]).saturating_mul(buffers);
    let bytes = elements.saturating_mul(i64::from(atom.input.bits())) / 8;
    let limit = i64::from(machine.lds.per_workgroup);
    if bytes <= limit {
        return Ok(());
    }
    let count = if buffers == 1 {
        "a tile".into()
    } else {
        format!("{buffers} tiles each")
    };
    let [[m, k], [n, _]] = tiles;
    let padding = [sizes[0] - m * k, sizes[1] - n * k];
    let of_them = match bytes / (sizes[0] + sizes[1]) * (padding[0] + padding[1]) {
        0 => String::new(),
        padding => format!(", {padding} of them padding"),
    };
    // Where there is room for the tiles alone, the layout that wastes most is at fault.
    let worst = usize::from(padding[1] > padding[0]);
    let named = [&spec.plan.lds.a, &spec.plan.lds.b][worst].is_some();
    let field = match padding[worst] {
        1.. if named => FIELDS[worst],
        _ => "tile.block",
    };
    Err(spec.error(
        field,
        format!(
            "{count} of A, {m} x {k}, and of B, {n} x {k}, need {bytes} bytes of LDS{of_them}; a \
             workgroup on {} has {limit}",
            machine.name
        ),
        "take a smaller block, a smaller k, fewer buffers or less padding",
    ))
}
