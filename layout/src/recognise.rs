//! From a table of values back to the layout that gives them.

use crate::composed::{ComposedLayout, Outer};
use crate::layout::Layout;
use crate::swizzle::Swizzle;

/// The layout whose value at each 1-D coordinate is the table's, if one is.
///
/// A plain layout is preferred, then one with an offset before it, then a swizzled one with the
/// fewest bits. The result is coalesced; it is exact or `None`.
pub fn recognise(table: &[i64]) -> Option<ComposedLayout> {
    if let Some((offset, layout)) = plain(table) {
        let outer = Outer::Swizzle(Swizzle::IDENTITY);
        return ComposedLayout::with_offset(outer, offset, layout).ok();
    }
    // A negative number sets all high bits, of which a swizzle may read any.
    let top = match *table.iter().min()? {
        ..0 => 62,
        _ => 64 - table.iter().max()?.leading_zeros(),
    };
    for bits in 1..=top / 2 {
        for distance in bits..top.max(bits) {
            for base in 0..top {
                if bits + base + distance > top {
                    break;
                }
                for shift in [distance as i32, -(distance as i32)] {
                    let Ok(swizzle) = Swizzle::new(bits, base, shift) else {
                        continue;
                    };
                    let undone = |i: usize| swizzle.apply(table[i]);
                    if let Some((offset, layout)) = plain_by(table.len(), undone) {
                        let outer = Outer::Swizzle(swizzle);
                        return ComposedLayout::with_offset(outer, offset, layout).ok();
                    }
                }
            }
        }
    }
    None
}

fn plain(table: &[i64]) -> Option<(i64, Layout)> {
    plain_by(table.len(), |i| table[i])
}

/// The offset and flat layout of a function on `0..size`, if it has that form.
///
/// The first mode of a coalesced layout ends exactly where the function stops being linear, and
/// what remains is a function of whole runs of it.
fn plain_by(size: usize, f: impl Fn(usize) -> i64) -> Option<(i64, Layout)> {
    let first = if size == 0 { return None } else { f(0) };
    let at = |i: usize| f(i).checked_sub(first);
    let mut modes: Vec<(i64, i64)> = Vec::new();
    let mut run = 1usize;
    while run < size {
        let stride = at(run)?;
        let count = size / run;
        let linear = |k: &usize| stride.checked_mul(*k as i64) == at(*k * run);
        let extent = (1..count).take_while(linear).count() + 1;
        // Within each run so far the function must repeat itself.
        for k in 1..extent {
            let start = at(k * run)?;
            if (1..run).any(|i| at(k * run + i) != at(i).and_then(|x| x.checked_add(start))) {
                return None;
            }
        }
        if !size.is_multiple_of(run * extent) {
            return None;
        }
        modes.push((extent as i64, stride));
        run *= extent;
    }
    let layout = if modes.is_empty() {
        Layout::unit()
    } else {
        Layout::flat(&modes).ok()?
    };
    Some((first, layout))
}
