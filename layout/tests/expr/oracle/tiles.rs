//! Definitions of divides and products.

use tilefold_layout::{Basis, Layout, Tiler};

use super::map::{Map, at, offset_point, plus, samples, size, tile_at, tile_size};

/// Whether copies of a tile, put one behind another, leave nothing out: each stride is a whole
/// number of what the smaller ones reach.
fn gapless(tile: &Layout) -> bool {
    let mut modes = tile.flat_modes();
    modes.retain(|&(n, d)| n > 1 && d != 0);
    modes.sort_by_key(|m| m.1);
    let mut covered = 1;
    modes.iter().all(|&(n, d)| {
        let whole = d > 0 && d % covered == 0;
        covered = d.saturating_mul(n);
        whole
    })
}

fn all_gapless(tiler: &Tiler) -> bool {
    match tiler {
        Tiler::Whole => true,
        Tiler::Layout(tile) => gapless(tile),
        Tiler::Modes(modes) => modes.iter().all(all_gapless),
    }
}

/// A divide: the first elements are the tile, and nothing is lost where copies of the tile leave
/// nothing out.
pub fn divide(name: &str, a: &Map, tiler: &Tiler, r: &Map) -> Option<bool> {
    let tile = match name {
        "logical_divide" | "divide_evenly" => first_tiles(&a.inner, tiler, &r.inner)?,
        _ => {
            let whole = tile_size(&a.inner, tiler);
            let same = |&i: &i64| Some(r.at(i)? == a.after(tile_at(&a.inner, tiler, i)?)?);
            whole <= r.size()
                && samples(whole)
                    .iter()
                    .map(same)
                    .collect::<Option<Vec<_>>>()?
                    .iter()
                    .all(|x| *x)
        }
    };
    if !tile {
        return Some(false);
    }
    if name == "divide_evenly" {
        return Some(match (a.sorted(), r.sorted()) {
            (Some(before), Some(after)) => before == after,
            _ => a.size() == r.size(),
        });
    }
    if all_gapless(tiler)
        && let (Some(before), Some(after)) = (a.distinct(), r.distinct())
    {
        return Some(before.iter().all(|x| after.binary_search(x).is_ok()));
    }
    Some(true)
}

/// Whether each divided mode starts with its tile.
fn first_tiles(a: &Layout<Basis>, tiler: &Tiler, r: &Layout<Basis>) -> Option<bool> {
    match tiler {
        Tiler::Whole => Some(a == r),
        Tiler::Layout(tile) => {
            let first = r.mode(0).ok()?;
            for i in samples(tile.size()) {
                if at(&first, i)? != tile_at(a, tiler, i)? {
                    return Some(false);
                }
            }
            Some(size(&first) == tile.size() && r.rank() == 2)
        }
        Tiler::Modes(tilers) => {
            let (before, after) = (a.modes(), r.modes());
            for (i, (a, r)) in before.iter().zip(&after).enumerate() {
                let whole = Tiler::Whole;
                if !first_tiles(a, tilers.get(i).unwrap_or(&whole), r)? {
                    return Some(false);
                }
            }
            Some(before.len() == after.len())
        }
    }
}

/// A product: the first elements are the block, repetitions do not overlap, and those of a block
/// that fills its span lie where the right operand says.
pub fn product(a: &Map, tiler: &Tiler, r: &Map) -> Option<bool> {
    let tile = match tiler {
        Tiler::Layout(tile) => tile,
        Tiler::Modes(modes) => {
            let plain = |m: &Tiler| match m {
                Tiler::Layout(tile) => Some(tile.size()),
                _ => None,
            };
            let repeated: i64 = modes
                .iter()
                .map(plain)
                .collect::<Option<Vec<_>>>()?
                .iter()
                .product();
            let same = a.size().checked_mul(repeated)? == r.size();
            return Some(same);
        }
        Tiler::Whole => return None,
    };
    let b = Map::from(tile);
    let n = a.size();
    if n.checked_mul(b.size())? != r.size() {
        return Some(false);
    }
    for i in a.samples() {
        if r.at(i)? != a.at(i)? {
            return Some(false);
        }
    }
    if a.numbers_all()? {
        for i in r.samples() {
            let (inside, which) = (i % n, i / n);
            let repeated = offset_point(b.offset(which)?.checked_mul(n)?);
            if r.at(i)? != plus(a.at(inside)?, &repeated)? {
                return Some(false);
            }
        }
    }
    Some(!a.injective()? || !b.injective()? || r.injective()?)
}

/// A product mode by mode: where element (i, j) of the logical product lies in mode k.
pub fn by_mode(raked: bool, a: &Layout, b: &Layout, r: &Map) -> Option<bool> {
    let rank = a.rank().max(b.rank());
    let product = Map::from(&a.logical_product(b).ok()?);
    let extents =
        |l: &Layout| -> Vec<i64> { l.padded(rank).modes().iter().map(Layout::size).collect() };
    let (blocks, repeats) = (extents(a), extents(b));
    if r.inner.rank() != rank || r.size() != product.size() {
        return Some(false);
    }
    let (n, modes) = (a.size(), r.inner.modes());
    for index in product.samples() {
        let (mut i, mut j) = (index % n, index / n);
        let mut found = super::map::Point::new();
        for (k, mode) in modes.iter().enumerate() {
            let (block, repeat) = (i % blocks[k], j % repeats[k]);
            (i, j) = (i / blocks[k], j / repeats[k]);
            let place = match raked {
                true => repeat + repeats[k] * block,
                false => block + blocks[k] * repeat,
            };
            found = plus(found, &at(mode, place)?)?;
        }
        if found != product.at(index)? {
            return Some(false);
        }
    }
    Some(true)
}
