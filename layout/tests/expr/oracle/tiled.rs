//! Definitions of tiled copies and multiplications: where each value of each thread lies, counted
//! out from the atom.

use tilefold_layout::expr::Value;
use tilefold_layout::{Layout, Side, TiledCopy, TiledMma, Tiler};

use super::map::{Map, samples};

/// As [`super::rules::right`]; the outer `None` for other operations.
pub fn right(name: &str, operands: &[Value], result: &Value) -> Option<Option<bool>> {
    Some(match (name, operands) {
        ("partition_a" | "layout_a", [Value::TiledMma(mma), ..]) => {
            multiplied(mma, mma.atom().a(), [0, 2], operands.get(1), result)
        }
        ("partition_b" | "layout_b", [Value::TiledMma(mma), ..]) => {
            multiplied(mma, mma.atom().b(), [1, 2], operands.get(1), result)
        }
        ("partition_c" | "layout_c", [Value::TiledMma(mma), ..]) => {
            multiplied(mma, mma.atom().c(), [0, 1], operands.get(1), result)
        }
        ("partition_source", [Value::TiledCopy(copy), block]) => {
            copied(copy, Side::Source, block, result)
        }
        ("partition_destination", [Value::TiledCopy(copy), block]) => {
            copied(copy, Side::Destination, block, result)
        }
        ("tiled_copy_a", [Value::TiledMma(mma), _]) => same_owners(result, mma.layout_a().ok()?),
        ("tiled_copy_b", [Value::TiledMma(mma), _]) => same_owners(result, mma.layout_b().ok()?),
        ("tiled_copy_c", [Value::TiledMma(mma), _]) => same_owners(result, mma.layout_c().ok()?),
        _ => return None,
    })
}

fn same_owners(result: &Value, owners: Layout) -> Option<bool> {
    match result {
        Value::TiledCopy(copy) => Some(*copy.layout() == owners),
        _ => Some(false),
    }
}

/// A block by its layout, or the column-major one of its shape.
fn block_of(value: &Value) -> Option<Layout> {
    match value {
        Value::Layout(layout) => layout.as_plain().cloned(),
        Value::Tuple(shape) => {
            let shape = shape.try_map(&mut |n| n.ok_or(())).ok()?;
            Layout::compact_left(shape).ok()
        }
        _ => None,
    }
}

fn at(layout: &Layout, index: i64) -> Option<i64> {
    Map::from(layout).offset(index)
}

/// What the block holds at one coordinate for each of its modes.
fn element(block: &Layout, coords: &[i64]) -> Option<i64> {
    let mut parts = block.modes().into_iter().zip(coords);
    parts.try_fold(0i64, |sum, (mode, &c)| sum.checked_add(at(&mode, c)?))
}

/// Compares a partition, `(thread, value, rest...)`, with where its elements are.
fn partition(
    result: &Value,
    (threads, values): (i64, i64),
    rests: &[i64],
    place: impl Fn(i64, i64, &[i64]) -> Option<i64>,
) -> Option<bool> {
    let found = match result {
        Value::ThreadValue { layout, .. } => layout.clone(),
        Value::Layout(layout) => layout.as_plain()?.clone(),
        _ => return Some(false),
    };
    let size = threads * values * rests.iter().product::<i64>();
    if found.mode(0).ok()?.size() != threads || found.size() != size {
        return Some(false);
    }
    for index in samples(size) {
        let (thread, mut left) = (index % threads, index / threads);
        let value = left % values;
        left /= values;
        let mut rest = Vec::new();
        for n in rests {
            rest.push(left % n);
            left /= n;
        }
        if at(&found, index)? != place(thread, value, &rest)? {
            return Some(false);
        }
    }
    Some(true)
}

/// Along each mode a coordinate counts, fastest first, within the atom, over waves, and over what
/// repeats them; the permutation then says where in its tile that coordinate lies.
fn multiplied(
    mma: &TiledMma,
    operand: &Layout,
    modes: [usize; 2],
    block: Option<&Value>,
    result: &Value,
) -> Option<bool> {
    let tile = modes.map(|mode| mma.tile()[mode]);
    let block = match block {
        Some(block) => block_of(block)?,
        None => Layout::col_major(&tile).ok()?,
    };
    let (atom, waves) = (mma.atom().shape(), mma.waves());
    let extents = waves.padded(3).modes().into_iter().map(|m| m.size());
    let grid: Vec<i64> = extents.collect();
    let steps = modes.map(|mode| atom[mode] * grid[mode]);
    let sizes: Vec<i64> = block.modes().iter().map(Layout::size).collect();
    let rests: Vec<i64> = sizes.iter().zip(steps).map(|(n, step)| n / step).collect();
    let (lanes, values) = (operand.mode(0).ok()?.size(), operand.mode(1).ok()?.size());
    partition(
        result,
        (lanes * waves.size(), values),
        &rests,
        |thread, value, rest| {
            let inside = at(operand, thread % lanes + lanes * value)?;
            let wave = (0..waves.size()).find(|&i| at(waves, i) == Some(thread / lanes))?;
            let stands = [
                wave % grid[0],
                wave / grid[0] % grid[1],
                wave / grid[0] / grid[1],
            ];
            let first = atom[modes[0]];
            let mut coords = [inside % first, inside / first];
            for (k, mode) in modes.into_iter().enumerate() {
                coords[k] += atom[mode] * (stands[mode] + grid[mode] * rest[k]);
                let order = match mma.permutation() {
                    Tiler::Modes(orders) => orders.get(mode),
                    _ => None,
                };
                if let Some(Tiler::Layout(order)) = order {
                    let (n, c) = (order.size(), coords[k]);
                    coords[k] = at(order, c % n)? + n * (c / n);
                }
            }
            element(&block, &coords)
        },
    )
}

/// Lane and value of the side move an element of the atom; the lane and value of the reference
/// side that have the same element say where in the tile it lies.
fn copied(copy: &TiledCopy, side: Side, block: &Value, result: &Value) -> Option<bool> {
    let block = block_of(block)?;
    let atom = copy.atom();
    let (moved, by) = (atom.side(side), atom.side(atom.reference()));
    let sizes = |l: &Layout| Some((l.mode(0).ok()?.size(), l.mode(1).ok()?.size()));
    let ((lanes, held), (_, per_lane)) = (sizes(moved)?, sizes(by)?);
    let (threads, values) = sizes(copy.layout())?;
    let extents = block.modes().into_iter().map(|m| m.size());
    let rests: Vec<i64> = extents.zip(copy.tile()).map(|(n, tile)| n / tile).collect();
    let all = values / per_lane * held;
    partition(result, (threads, all), &rests, |thread, value, rest| {
        let element_of_atom = at(moved, thread % lanes + lanes * (value % held))?;
        let same = (0..by.size()).find(|&i| at(by, i) == Some(element_of_atom))?;
        let (lane, own) = (same % lanes, same / lanes);
        let thread = lane + lanes * (thread / lanes);
        let value = own + per_lane * (value / held);
        let mut inside = at(copy.layout(), thread + threads * value)?;
        let mut coords = Vec::new();
        for (&tile, &rest) in copy.tile().iter().zip(rest) {
            coords.push(inside % tile + tile * rest);
            inside /= tile;
        }
        element(&block, &coords)
    })
}
