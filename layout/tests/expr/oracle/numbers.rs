//! Definitions of operations whose answer is a number or a coordinate.

use tilefold_layout::expr::Value;
use tilefold_layout::{IntTuple, Layout, Nest, Path};

use super::integer;
use super::map::{Map, Point, at_coord, number, samples};
use super::rules::{holds, plain, tuple};

/// As [`super::rules::right`]; the outer `None` for other operations.
pub fn right(name: &str, operands: &[Value], result: &Value) -> Option<Option<bool>> {
    let decided = match name {
        "size" | "cosize" | "rank" | "depth" => {
            let a = Map::of(operands.first()?)?;
            let n = integer(result)?;
            match name {
                "size" => Some(n == a.size()),
                "rank" => Some(n == a.inner.modes().len() as i64),
                "depth" => Some(n == nesting(a.inner.shape())),
                _ => a.table().and_then(|table| {
                    let offsets: Vec<i64> = table.iter().map(number).collect::<Option<_>>()?;
                    let (low, high) = (offsets.iter().min()?, offsets.iter().max()?);
                    // Of swizzled layouts it counts from 0.
                    let low = if a.outer.is_some() { &0 } else { low };
                    Some(n == high - low + 1)
                }),
            }
        }
        "at" | "crd2idx" => {
            let coord = tuple(operands.get(1)?)?;
            match operands.first()? {
                Value::Swizzle(swizzle) => {
                    Some(integer(result)? == swizzle.apply(*coord.as_int()?))
                }
                value => {
                    let a = Map::of(value)?;
                    let point = a.after(at_coord(&a.inner, &coord)?)?;
                    Some(point == point_of(&tuple(result)?))
                }
            }
        }
        "idx2crd" => {
            let (index, shape) = (integer(operands.first()?)?, tuple(operands.get(1)?)?);
            let compact = Map::from(&Layout::compact_left(shape).ok()?);
            match (0..compact.size()).contains(&index) {
                true => Some(number(&at_coord(&compact.inner, &tuple(result)?)?)? == index),
                false => None,
            }
        }
        "max_common_vector" => {
            let (a, b) = (Map::of(operands.first()?)?, Map::of(operands.get(1)?)?);
            let inverse = Map::from(&plain(&operands[1])?.right_inverse());
            let n = integer(result)?;
            let common = |i: i64| {
                let place = inverse.offset(i)?;
                Some(a.offset(place)? == i && b.offset(place)? == i)
            };
            // One element is a vector of its own wherever it lies.
            match n {
                1 => Some(inverse.size() < 2 || !common(0)? || !common(1)?),
                n if n <= inverse.size() => holds(samples(n), common),
                _ => Some(false),
            }
        }
        _ => return None,
    };
    Some(decided)
}

fn nesting(shape: &IntTuple) -> i64 {
    match shape {
        Nest::Int(_) => 0,
        Nest::Tuple(items) => 1 + items.iter().map(nesting).max().unwrap_or(0),
    }
}

/// A coordinate as a point; an integer is an offset.
fn point_of(coord: &IntTuple) -> Point {
    fn walk(coord: &IntTuple, path: &mut Vec<usize>, out: &mut Point) {
        match coord {
            Nest::Int(0) => {}
            Nest::Int(x) => {
                out.extend(Path::new(path).map(|path| (path, *x)));
            }
            Nest::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    path.push(i);
                    walk(item, path, out);
                    path.pop();
                }
            }
        }
    }
    let mut out = Point::new();
    walk(coord, &mut vec![], &mut out);
    out
}
