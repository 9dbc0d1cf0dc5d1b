//! The definition of each operation.

use tilefold_layout::expr::Value;
use tilefold_layout::{Basis, IntTuple, Layout, Nest, Path, SliceCoord, Tiler};

use super::map::{
    Map, Point, at, at_leaves, at_point, digits, number, offset_point, plus, samples, tile_at,
    tile_size,
};
use super::numbers;
use super::{integer, tiled, tiler, tiles};

/// Whether `result` is what the operation gives for these operands; `None` where no definition
/// here decides.
///
/// `named` where numbers stand for names: what is simplest for all of them need not be for one.
pub fn right(name: &str, operands: &[Value], result: &Value, named: bool) -> Option<bool> {
    if let (Some(Value::Swizzle(outer)), Value::Swizzle(r)) = (operands.first(), result) {
        return match (name, operands.get(1)) {
            ("composition", Some(Value::Swizzle(inner))) => {
                let same = |&x: &i64| r.apply(x) == outer.apply(inner.apply(x));
                Some(samples(1 << 20).iter().all(same))
            }
            ("left_inverse" | "right_inverse", None) => Some(
                samples(1 << 20)
                    .iter()
                    .all(|&x| r.apply(outer.apply(x)) == x),
            ),
            _ => None,
        };
    }
    if let Some(verdict) = numbers::right(name, operands, result) {
        return verdict;
    }
    if let Some(verdict) = tiled::right(name, operands, result) {
        return verdict;
    }
    let r = Map::of(result)?;
    let (first, second) = (operands.first()?, operands.get(1));
    if let Value::Swizzle(swizzle) = first {
        let b = Map::of(second?)?;
        return every(&r, b.size(), |i| {
            Some(offset_point(swizzle.apply(b.offset(i)?)))
        });
    }
    match name {
        "make_layout"
            if operands
                .iter()
                .all(|v| Map::of(v).is_some() && integer(v).is_none()) =>
        {
            let maps: Option<Vec<Map>> = operands.iter().map(Map::of).collect();
            return side_by_side(&r, &maps?);
        }
        "make_layout_left" | "make_layout_right" | "make_ordered_layout" | "make_layout_tv" => {
            return r.numbers_all();
        }
        "make_identity_layout" => {
            let same = |i| Some(r.inner.idx2crd(i).leaves() == digits(&r.inner, i));
            let strides = r.inner.stride().leaves();
            let once = strides
                .iter()
                .enumerate()
                .all(|(i, d)| !strides[..i].contains(d));
            return Some(
                once && r
                    .samples()
                    .into_iter()
                    .map(same)
                    .collect::<Option<Vec<_>>>()?
                    .iter()
                    .all(|x| *x),
            );
        }
        "recognise" => {
            let Value::Tuple(table) = first else {
                return None;
            };
            let table = table.leaves();
            return every(&r, table.len() as i64, |i| {
                Some(offset_point(table[i as usize]?))
            });
        }
        "domain_distribute" => {
            let (shape, count) = (tuple(first)?, integer(second?)?);
            let domain = shape.checked_product()?;
            let within = |p: &Point| number(p).is_some_and(|x| 0 <= x && x < domain);
            let table = r.table()?;
            return Some(
                r.size() <= count
                    && domain % r.size() == 0
                    && r.injective()?
                    && table.iter().all(within),
            );
        }
        _ => {}
    }
    let a = Map::of(first)?;
    unary(name, &a, operands, &r, named).or_else(|| binary(name, &a, second?, &r))
}

/// Whether `r` has this size and these values, as far as they are looked at.
fn every(r: &Map, size: i64, mut value: impl FnMut(i64) -> Option<Point>) -> Option<bool> {
    if r.size() != size {
        return Some(false);
    }
    for i in r.samples() {
        if r.at(i)? != value(i)? {
            return Some(false);
        }
    }
    Some(true)
}

pub fn holds(indices: Vec<i64>, mut test: impl FnMut(i64) -> Option<bool>) -> Option<bool> {
    for i in indices {
        if !test(i)? {
            return Some(false);
        }
    }
    Some(true)
}

pub fn tuple(value: &Value) -> Option<IntTuple> {
    match value {
        Value::Tuple(tuple) => tuple.try_map(&mut |n: &Option<i64>| n.ok_or(())).ok(),
        _ => None,
    }
}

pub fn plain(value: &Value) -> Option<Layout> {
    match value {
        Value::Layout(layout) => layout.as_plain().cloned(),
        other => Layout::compact_left(integer(other)?).ok(),
    }
}

/// The first coordinate runs through the first layout, and so on.
fn side_by_side(r: &Map, parts: &[Map]) -> Option<bool> {
    let size = parts
        .iter()
        .map(Map::size)
        .try_fold(1i64, i64::checked_mul)?;
    every(r, size, |i| {
        let (mut rest, mut sum) = (i, Point::new());
        for part in parts {
            sum = plus(sum, &part.at(rest % part.size())?)?;
            rest /= part.size();
        }
        Some(sum)
    })
}

fn unary(name: &str, a: &Map, operands: &[Value], r: &Map, named: bool) -> Option<bool> {
    let alone = operands.len() == 1;
    let same = || every(r, a.size(), |i| a.at(i));
    Some(match name {
        "coalesce" => {
            let leaves = r.inner.flat_modes();
            let simple = named
                || leaves.len() == 1
                || leaves.iter().all(|m| m.0 > 1)
                    && leaves.windows(2).all(|w| {
                        let next = w[0].1.value.checked_mul(w[0].0);
                        next != Some(w[1].1.value)
                            || w[0].1.path != w[1].1.path && w[0].1.value != 0
                    });
            same()? && (!alone || r.inner.depth() <= 1 && simple)
        }
        "flatten" => same()? && r.inner.depth() <= 1,
        "group" | "pad" => same()?,
        "filter" if alone => {
            let moves = r
                .inner
                .flat_modes()
                .iter()
                .all(|m| m.1.value != 0 && m.0 > 1);
            a.distinct()? == r.distinct()? && (moves || r.size() == 1)
        }
        "filter_zeros" if alone => {
            let strides = r.inner.stride() == a.inner.stride();
            let ones = r
                .inner
                .flat_modes()
                .iter()
                .all(|m| m.1.value != 0 || m.0 == 1);
            a.distinct()? == r.distinct()? && strides && ones
        }
        "filter_zeros" => r.inner.stride() == a.inner.stride() && a.size() % r.size() == 0,
        "right_inverse" => {
            let inverts = holds(r.samples(), |i| Some(a.offset(r.offset(i)?)? == i))?;
            let whole =
                a.outer.is_some() || !a.numbers_all().unwrap_or(false) || r.size() == a.size();
            inverts && whole
        }
        "left_inverse" => holds(a.samples(), |i| {
            let x = a.offset(i)?;
            Some(a.offset(r.offset(x)?)? == x)
        })?,
        "nullspace" => {
            let still: i64 = a
                .inner
                .flat_modes()
                .iter()
                .filter(|m| m.1.value == 0)
                .map(|m| m.0)
                .product();
            let zero = holds(r.samples(), |i| Some(a.at(r.offset(i)?)?.is_empty()))?;
            zero && r.size() == still && r.injective().unwrap_or(true)
        }
        "make_layout_like" => {
            let like = r.inner.shape() == a.inner.shape();
            let kept: i64 = a
                .inner
                .flat_modes()
                .iter()
                .filter(|m| m.1.value != 0)
                .map(|m| m.0)
                .product();
            let distinct = r.distinct()?;
            like && distinct.len() as i64 == kept
                && distinct
                    .iter()
                    .enumerate()
                    .all(|(i, p)| *p == offset_point(i as i64))
        }
        "complement" => return complement(a, operands.get(1), r),
        "upcast" => return upcast(a, integer(operands.get(1)?)?, operands.get(2), r),
        _ => return None,
    })
}

/// What the layout reaches and what its complement reaches do not overlap; where the strides leave
/// no gap, together they fill what was to be filled.
fn complement(a: &Map, cotarget: Option<&Value>, r: &Map) -> Option<bool> {
    let mut kept = a.inner.flat_modes();
    kept.retain(|m| m.1.value != 0 && m.0 > 1);
    kept.sort_by_key(|m| m.1.value);
    let mut ascending = r.inner.flat_modes();
    ascending.retain(|m| m.0 > 1);
    if !ascending.windows(2).all(|w| w[0].1.value < w[1].1.value) {
        return Some(false);
    }
    let mut covered = 1i64;
    let gapless = kept.iter().all(|&(n, d)| {
        let whole = d.value % covered == 0;
        covered = d.value.saturating_mul(n);
        whole
    });
    let distinct = a.distinct()?;
    if (distinct.len() as i64).checked_mul(r.size())? > 4096 {
        return None;
    }
    let mut sums = Vec::new();
    for x in &distinct {
        for i in 0..r.size() {
            sums.push(number(&plus(x.clone(), &r.at(i)?)?)?);
        }
    }
    sums.sort_unstable();
    let apart = sums.windows(2).all(|w| w[0] < w[1]);
    // Within a shape, modes are rounded up one by one: what is filled then is no product.
    let mut divisor = covered;
    let extents = cotarget.map_or(Some(vec![]), |value| Some(tuple(value)?.leaves()))?;
    let exact = extents.len() == 1
        || extents.iter().all(|n| {
            let whole = n % divisor == 0 || divisor % n == 0;
            divisor = divisor / n + i64::from(divisor % n != 0);
            whole
        });
    let filled = if exact { extents.iter().product() } else { 1 };
    let fills = sums[0] == 0 && sums.last().copied()? + 1 == sums.len() as i64;
    Some(apart && (!gapless || fills && sums.len() as i64 >= filled))
}

fn binary(name: &str, a: &Map, second: &Value, r: &Map) -> Option<bool> {
    Some(match name {
        "composition" => return composition(a, second, r),
        "with_shape" => {
            let size = tuple(second)?.checked_product()?;
            every(r, size, |i| a.at(i))?
        }
        "logical_divide" | "divide_evenly" | "zipped_divide" | "tiled_divide" | "flat_divide"
        | "hier_unzip_divide" => return tiles::divide(name, a, &tiler(second)?, r),
        "logical_product" | "zipped_product" | "tiled_product" | "flat_product"
        | "hier_unzip_product" => return tiles::product(a, &tiler(second)?, r),
        "blocked_product" | "raked_product" => {
            let (Some(Value::Layout(block)), repeat) = (offsets(a), plain(second)?) else {
                return None;
            };
            return tiles::by_mode(name == "raked_product", block.as_plain()?, &repeat, r);
        }
        "zip" => {
            let (b, pairs) = (Map::of(second)?, r.inner.modes());
            let whole = (a.inner.modes(), b.inner.modes());
            let mut both = whole.0.iter().zip(&whole.1).zip(&pairs);
            pairs.len() == whole.0.len()
                && pairs.len() == whole.1.len()
                && both.all(|((x, y), pair)| pair.modes() == [x.clone(), y.clone()])
        }
        "max_common_layout" => {
            let b = Map::of(second)?;
            holds(r.samples(), |i| {
                let place = r.offset(i)?;
                Some(a.offset(place)? == i && b.offset(place)? == i)
            })?
        }
        "mode" => {
            let k = usize::try_from(integer(second)?).ok()?;
            let mode = a.inner.modes().get(k)?.clone();
            every(r, Map::from(mode.clone()).size(), |i| {
                a.after(at(&mode, i)?)
            })?
        }
        "select" => {
            let modes = a.inner.modes();
            let chosen = tuple(second)?.leaves();
            let chosen = chosen.iter().map(|&k| modes.get(k as usize).cloned());
            let parts: Option<Vec<_>> = chosen.map(|m| Some(Map::from(m?))).collect();
            let inner = Map::from(r.inner.clone());
            side_by_side(&inner, &parts?)?
        }
        "slice" | "dice" => return slice(name == "dice", a, second, r),
        "tile_to_shape" => {
            let shape = tuple(second)?;
            let (blocks, modes) = (a.inner.modes(), r.inner.modes());
            let size = |l: &Layout<Basis>| Map::from(l.clone()).size();
            let fits = modes.iter().zip(shape.modes());
            let fits = fits
                .into_iter()
                .all(|(m, n)| Some(size(m)) == n.checked_product());
            // The block in its corner, and copies of it that do not overlap.
            let corner = holds(a.samples(), |i| {
                let (mut rest, mut sum) = (i, Point::new());
                for (block, mode) in blocks.iter().zip(&modes) {
                    sum = plus(sum, &at(mode, rest % size(block))?)?;
                    rest /= size(block);
                }
                Some(r.after(sum)? == a.at(i)?)
            })?;
            let apart = match (a.injective(), r.injective()) {
                (Some(true), Some(apart)) => apart,
                _ => true,
            };
            fits && corner && apart
        }
        "downcast" => return downcast(a, integer(second)?, r),
        _ => return None,
    })
}

fn offsets(a: &Map) -> Option<Value> {
    if a.outer.is_some() {
        return None;
    }
    let stride = a.inner.stride().map(&mut |d: &Basis| d.value);
    Some(Value::from(
        Layout::new(a.inner.shape().clone(), stride).ok()?,
    ))
}

fn composition(a: &Map, second: &Value, r: &Map) -> Option<bool> {
    match second {
        Value::Coordinates(b) => {
            let b = Map::from(b.clone());
            every(r, b.size(), |i| a.after(at_point(&a.inner, &b.at(i)?)?))
        }
        Value::Layout(b) if b.as_plain().is_none() => {
            let b = Map::from(b);
            every(r, b.size(), |i| a.at(b.offset(i)?))
        }
        other => {
            let tiler = tiler(other)?;
            let picked = tile_size(&a.inner, &tiler);
            every(r, picked, |i| a.after(tile_at(&a.inner, &tiler, i)?))
        }
    }
}

/// The layout with coordinates fixed outside the holes; of a plain one less what those add.
fn slice(flipped: bool, a: &Map, coord: &Value, r: &Map) -> Option<bool> {
    fn free(layout: &Layout<Basis>, coord: &SliceCoord, out: &mut Vec<(Layout<Basis>, bool, i64)>) {
        match coord {
            Nest::Int(c) => out.push((layout.clone(), c.is_none(), c.unwrap_or(0))),
            Nest::Tuple(items) => {
                let modes = layout.modes();
                modes.iter().zip(items).for_each(|(m, c)| free(m, c, out));
            }
        }
    }
    let coord = match coord {
        Value::Tuple(coord) => coord.clone(),
        Value::Tiler(Tiler::Whole) => Nest::Int(None),
        _ => return None,
    };
    let mut parts = Vec::new();
    free(&a.inner, &coord, &mut parts);
    let kept = |hole: bool| hole != flipped;
    let sizes = parts
        .iter()
        .filter(|p| kept(p.1))
        .map(|p| Map::from(p.0.clone()).size());
    every(r, sizes.product(), |i| {
        let (mut rest, mut sum) = (i, Point::new());
        for (part, hole, fixed) in &parts {
            let part = Map::from(part.clone());
            if kept(*hole) {
                sum = plus(sum, &part.at(rest % part.size())?)?;
                rest /= part.size();
            } else if a.outer.is_some() && !flipped {
                sum = plus(sum, &part.at(*fixed)?)?;
            }
        }
        a.after(sum)
    })
}

/// Element by element: an element at offset x is in unit x / n at its coordinate in units. Of
/// coordinates, those along one mode are in units.
fn upcast(a: &Map, n: i64, mode: Option<&Value>, r: &Map) -> Option<bool> {
    let along = match mode {
        None => Path::ROOT,
        Some(mode) => Path::new(&[usize::try_from(integer(mode)?).ok()?])?,
    };
    let leaves = a.inner.flat_modes();
    if leaves.len() != r.inner.flat_modes().len() {
        return Some(false);
    }
    // Every unit that an element lies in is there, and none besides.
    let counts = leaves.iter().map(|&(extent, d)| match d.value.abs() {
        size if size > 0 && size < n && d.path == along => (extent - 1) / (n / size) + 1,
        _ => extent,
    });
    if !counts.eq(r.inner.flat_modes().iter().map(|m| m.0)) {
        return Some(false);
    }
    holds(a.samples(), |i| {
        let units = digits(&a.inner, i).into_iter().zip(&leaves);
        let units = units.map(|(c, (_, d))| match d.value.abs() {
            size if size > 0 && size < n && d.path == along => c / (n / size),
            _ => c,
        });
        let unit = r.after(at_leaves(&r.inner, &units.collect::<Vec<_>>())?)?;
        let mut expected = a.at(i)?;
        if let Some(x) = expected.remove(&along).map(|x| x.div_euclid(n)) {
            expected.extend((x != 0).then_some((along, x)));
        }
        Some(unit == expected)
    })
}

/// An element at offset x is made of the finer elements n x to n x + n - 1.
fn downcast(a: &Map, n: i64, r: &Map) -> Option<bool> {
    let leaves = a.inner.flat_modes();
    if leaves.len() != r.inner.flat_modes().len() || a.size().checked_mul(n)? != r.size() {
        return Some(false);
    }
    holds(a.samples(), |i| {
        let coords = digits(&a.inner, i);
        let x = a.offset(i)?.checked_mul(n)?;
        holds((0..n.min(16)).collect(), |j| {
            let fine = coords
                .iter()
                .zip(&leaves)
                .map(|(&c, (_, d))| match d.value {
                    1 => c * n + j,
                    _ => c,
                });
            let piece = r.after(at_leaves(&r.inner, &fine.collect::<Vec<_>>())?)?;
            Some(number(&piece)? == x + j)
        })
    })
}
