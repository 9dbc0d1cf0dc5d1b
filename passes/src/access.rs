//! Where threads find what they access and how wide an access may be, found by evaluating
//! layouts.

use tilefold_layout::{ComposedLayout, Layout, LayoutError};

/// Where the values of every thread lie: index of the tile element as a sum of a thread's part
/// and a value's part.
///
/// Layouts are linear in their modes, so that the two parts are tables of one mode each.
#[derive(Clone, Debug)]
pub struct Ownership {
    /// Parts of the threads, each once.
    pub threads: Vec<i64>,
    /// Part of each value.
    pub values: Vec<i64>,
}

impl Ownership {
    /// Tabulates a thread-value layout, whose two modes are (thread, value).
    pub fn new(layout: &Layout) -> Self {
        let [threads, values] = [0, 1].map(|mode| match layout.mode(mode) {
            Ok(mode) => mode.offsets().collect(),
            Err(_) => vec![0],
        });
        let mut threads: Vec<i64> = threads;
        threads.sort_unstable();
        threads.dedup();
        Self { threads, values }
    }

    /// The most consecutive values, a power of two up to `limit`, that every thread finds side
    /// by side and aligned to their number, where `offset` places a tile element. Groups start
    /// at multiples of the width.
    pub fn width(&self, limit: i64, offset: impl Fn(i64) -> i64) -> i64 {
        let fits = |width: usize| {
            self.values.len().is_multiple_of(width)
                && self.threads.iter().all(|thread| {
                    self.values.chunks(width).all(|group| {
                        let start = offset(thread + group[0]);
                        start % width as i64 == 0
                            && group
                                .iter()
                                .zip(start..)
                                .all(|(value, expected)| offset(thread + value) == expected)
                    })
                })
        };
        let mut width = 1;
        while width * 2 <= limit && fits(width as usize * 2) {
            width *= 2;
        }
        width
    }
}

/// Places the elements of a tile in a matrix whose lines are far apart and aligned: what holds
/// there holds for every leading dimension that is a multiple of the access's width.
pub fn in_matrix(tile: [i64; 2], order: &str) -> impl Fn(i64) -> i64 {
    // Lines of the tile lie this far apart: farther than any line is long, so that two lines
    // never look like neighbours, and a multiple of every access's width.
    const LINE: i64 = 1 << 32;
    let along_second = order == "row";
    move |index| {
        let (first, second) = (index % tile[0], index / tile[0]);
        if along_second {
            first * LINE + second
        } else {
            second * LINE + first
        }
    }
}

/// Coordinates of a thread-value layout within its tile.
pub struct Coordinates {
    /// Thread -> coordinate, first and second.
    pub threads: [Layout; 2],
    /// Coordinates of every value.
    pub values: Vec<[i64; 2]>,
}

impl Coordinates {
    /// Splits a thread-value layout onto a tile into its two coordinates.
    pub fn new(layout: &Layout, tile: [i64; 2]) -> Result<Self, LayoutError> {
        let threads = layout.mode(0)?;
        let first = Layout::flat(&[(tile[0], 1), (tile[1], 0)])?;
        let second = Layout::flat(&[(tile[0], 0), (tile[1], 1)])?;
        let values = Ownership::new(layout).values;
        Ok(Self {
            threads: [first.compose(&threads)?, second.compose(&threads)?],
            values: values
                .into_iter()
                .map(|index| [index % tile[0], index / tile[0]])
                .collect(),
        })
    }
}

/// A thread-value layout onto a tile, carried on to the tile's places in LDS before offset and
/// swizzle: where threads lie and where values lie. The place of a value is the sum of the two.
///
/// That sum is exact. The modes of both that move at all are, in order of stride, the digits of
/// the tile's elements in one number system; where each composes with `placement`, no extent of
/// `placement` lies across a digit, so that a thread's part and a value's part never carry.
///
/// # Errors
/// A [`LayoutError`] where they cannot be carried on: the layout in LDS splits the tile's
/// coordinates at places that the threads and values do not.
pub fn in_lds(placement: &ComposedLayout, layout: &Layout) -> Result<[Layout; 2], LayoutError> {
    let part = |mode| placement.inner().compose(&layout.mode(mode)?);
    Ok([part(0)?, part(1)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_along_the_line_are_wide() {
        // 4 threads, each 4 neighbours along the second coordinate of a 2 x 8 tile.
        let layout: Layout = "((2,2),4):((1,8),2)".parse().unwrap();
        let ownership = Ownership::new(&layout);
        assert_eq!(ownership.width(8, in_matrix([2, 8], "row")), 4);
        assert_eq!(ownership.width(2, in_matrix([2, 8], "row")), 2);
        assert_eq!(ownership.width(8, in_matrix([2, 8], "col")), 1);
    }

    #[test]
    fn a_padded_row_keeps_what_its_padding_divides() {
        let layout: Layout = "((4,2),8):((1,32),4)".parse().unwrap();
        let ownership = Ownership::new(&layout);
        let padded = |pad: i64| move |index: i64| (index % 4) * (16 + pad) + index / 4;
        assert_eq!(ownership.width(8, padded(8)), 8);
        assert_eq!(ownership.width(8, padded(4)), 4);
        assert_eq!(ownership.width(8, padded(1)), 1);
    }
}
