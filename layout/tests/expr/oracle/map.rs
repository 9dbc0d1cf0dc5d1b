//! Layouts as functions, worked out from their extents and strides alone.

use std::collections::BTreeMap;

use tilefold_layout::expr::Value;
use tilefold_layout::{Basis, ComposedLayout, IntTuple, Layout, Nest, Outer, Path, Tiler};

/// A value of a layout: how far along each mode of a coordinate, the empty path being an offset.
/// Entries of zero are left out.
pub type Point = BTreeMap<Path, i64>;

/// Tables of more entries are sampled.
const WHOLE: i64 = 256;

/// A layout of any kind as a function.
#[derive(Clone)]
pub struct Map {
    pub outer: Option<(Outer, i64)>,
    pub inner: Layout<Basis>,
}

impl Map {
    pub fn of(value: &Value) -> Option<Map> {
        match value {
            Value::Layout(layout) => Some(layout.into()),
            Value::Coordinates(layout) => Some(layout.clone().into()),
            Value::ThreadValue { layout, .. } => Some(layout.into()),
            Value::Tuple(Nest::Int(Some(n))) => Some((&Layout::compact_left(*n).ok()?).into()),
            _ => None,
        }
    }

    pub fn size(&self) -> i64 {
        size(&self.inner)
    }

    /// The value at a 1-D coordinate; `None` past 64 bits.
    pub fn at(&self, index: i64) -> Option<Point> {
        self.after(at(&self.inner, index)?)
    }

    /// The outer function of a value of the inner one.
    pub fn after(&self, inside: Point) -> Option<Point> {
        let Some((outer, offset)) = &self.outer else {
            return Some(inside);
        };
        let x = number(&inside)?.checked_add(*offset)?;
        Some(offset_point(match outer {
            Outer::Swizzle(swizzle) => swizzle.apply(x),
            Outer::Layout(layout) => number(&Map::from(layout).at(x)?)?,
        }))
    }

    /// The offset at a 1-D coordinate.
    pub fn offset(&self, index: i64) -> Option<i64> {
        number(&self.at(index)?)
    }

    /// All values in order, of small layouts.
    pub fn table(&self) -> Option<Vec<Point>> {
        let all = 0..self.size();
        (self.size() <= 2048).then(|| all.map(|i| self.at(i)).collect())?
    }

    pub fn sorted(&self) -> Option<Vec<Point>> {
        let mut table = self.table()?;
        table.sort();
        Some(table)
    }

    pub fn distinct(&self) -> Option<Vec<Point>> {
        let mut table = self.sorted()?;
        table.dedup();
        Some(table)
    }

    pub fn injective(&self) -> Option<bool> {
        Some(self.distinct()?.len() as i64 == self.size())
    }

    /// Whether its values are the offsets below its size, each once.
    pub fn numbers_all(&self) -> Option<bool> {
        let table = self.sorted()?;
        let whole = table.iter().enumerate();
        Some(whole.into_iter().all(|(i, p)| *p == offset_point(i as i64)))
    }

    /// Coordinates to look at: all of few, some of many.
    pub fn samples(&self) -> Vec<i64> {
        samples(self.size())
    }
}

impl From<&Layout> for Map {
    fn from(layout: &Layout) -> Map {
        let stride = layout.stride().map(&mut |&value| Basis {
            value,
            path: Path::ROOT,
        });
        let inner = Layout::new(layout.shape().clone(), stride);
        Map::from(inner.expect("the offsets were a layout"))
    }
}

impl From<Layout<Basis>> for Map {
    fn from(inner: Layout<Basis>) -> Map {
        Map { outer: None, inner }
    }
}

impl From<&ComposedLayout> for Map {
    fn from(layout: &ComposedLayout) -> Map {
        let inner = Map::from(layout.inner());
        let outer = match layout.as_plain() {
            Some(_) => None,
            None => Some((layout.outer().clone(), layout.offset())),
        };
        Map { outer, ..inner }
    }
}

pub fn samples(size: i64) -> Vec<i64> {
    if size <= WHOLE {
        return (0..size).collect();
    }
    let spread = |i: i64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)).rem_euclid(size);
    let ends = [0, 1, 2, size / 2, size - 2, size - 1];
    ends.into_iter().chain((1..58).map(spread)).collect()
}

/// The point of an offset.
pub fn offset_point(x: i64) -> Point {
    Point::from_iter((x != 0).then_some((Path::ROOT, x)))
}

/// The offset of a point, if it is one.
pub fn number(point: &Point) -> Option<i64> {
    match point.len() {
        0 => Some(0),
        1 => point.get(&Path::ROOT).copied(),
        _ => None,
    }
}

pub fn size(layout: &Layout<Basis>) -> i64 {
    layout.flat_modes().iter().map(|m| m.0).product()
}

pub fn plus(mut a: Point, b: &Point) -> Option<Point> {
    for (path, x) in b {
        let sum = a.get(path).copied().unwrap_or(0).checked_add(*x)?;
        match sum {
            0 => a.remove(path),
            sum => a.insert(*path, sum),
        };
    }
    Some(a)
}

fn step(count: i64, stride: Basis) -> Option<Point> {
    let x = count.checked_mul(stride.value)?;
    Some(Point::from_iter((x != 0).then_some((stride.path, x))))
}

/// The value at a 1-D coordinate, the last mode taking what is left.
pub fn at(layout: &Layout<Basis>, index: i64) -> Option<Point> {
    let leaves = layout.flat_modes();
    let (mut rest, mut point) = (index, Point::new());
    for (i, (extent, stride)) in leaves.iter().enumerate() {
        let digit = match i + 1 == leaves.len() {
            true => rest,
            false => rest % extent,
        };
        point = plus(point, &step(digit, *stride)?)?;
        rest /= extent;
    }
    Some(point)
}

/// The value at one coordinate for each leaf.
pub fn at_leaves(layout: &Layout<Basis>, coords: &[i64]) -> Option<Point> {
    let mut leaves = layout.flat_modes().into_iter().zip(coords);
    leaves.try_fold(Point::new(), |sum, ((_, stride), &c)| {
        plus(sum, &step(c, stride)?)
    })
}

/// The value at a coordinate that may be coarser than the shape.
pub fn at_coord(layout: &Layout<Basis>, coord: &IntTuple) -> Option<Point> {
    match coord {
        Nest::Int(i) => at(layout, *i),
        Nest::Tuple(items) => {
            let modes = layout.modes();
            let mut parts = modes.iter().zip(items);
            parts.try_fold(Point::new(), |sum, (mode, c)| {
                plus(sum, &at_coord(mode, c)?)
            })
        }
    }
}

/// The value at the coordinate that a point is: each entry is a coordinate of the mode it names.
pub fn at_point(layout: &Layout<Basis>, point: &Point) -> Option<Point> {
    let mut entries = point.iter();
    entries.try_fold(Point::new(), |sum, (path, &x)| {
        let mut part = layout.clone();
        for &index in path.indices() {
            part = part.mode(usize::from(index)).ok()?;
        }
        plus(sum, &at(&part, x)?)
    })
}

/// Coordinates of a layout's leaves at a 1-D coordinate within it.
pub fn digits(layout: &Layout<Basis>, index: i64) -> Vec<i64> {
    let mut rest = index;
    let digit = |(extent, _): (i64, Basis)| {
        let digit = rest % extent;
        rest /= extent;
        digit
    };
    layout.flat_modes().into_iter().map(digit).collect()
}

/// Number of elements that a tiler picks.
pub fn tile_size(layout: &Layout<Basis>, tiler: &Tiler) -> i64 {
    match tiler {
        Tiler::Layout(tile) => tile.size(),
        Tiler::Whole => size(layout),
        Tiler::Modes(tilers) => {
            let modes = layout.modes();
            modes
                .iter()
                .zip(tilers)
                .map(|(m, t)| tile_size(m, t))
                .product()
        }
    }
}

/// Element `index` of those that a tiler picks.
pub fn tile_at(layout: &Layout<Basis>, tiler: &Tiler, index: i64) -> Option<Point> {
    match tiler {
        Tiler::Layout(tile) => at(layout, Map::from(tile).offset(index)?),
        Tiler::Whole => at(layout, index),
        Tiler::Modes(tilers) => {
            let (mut rest, mut sum) = (index, Point::new());
            for (mode, tiler) in layout.modes().iter().zip(tilers) {
                let size = tile_size(mode, tiler);
                sum = plus(sum, &tile_at(mode, tiler, rest % size)?)?;
                rest /= size;
            }
            Some(sum)
        }
    }
}
