//! A kernel's output against the reference.

use super::{Reference, decode, encode};
use tilefold_dialect::element::ElementType;

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Elements out of tolerance.
    pub mismatches: u64,
    /// Largest distance from the reference rounded to the output type, or, where accumulation
    /// is not exact, from the reference itself. Infinite where an element is no number.
    pub max_abs_error: f64,
    /// Row, column, value and expectation of the first mismatch, rows first.
    pub first: Option<(usize, usize, f64, f64)>,
    /// Bytes of C's allocation between its lines that changed.
    pub padding_written: u64,
}

/// How C lies in memory.
pub struct Placement {
    /// Element type.
    pub element: ElementType,
    /// Elements from a row, and from a column, to the next.
    pub strides: [usize; 2],
}

/// Compares C in `bytes` with the reference; what lies between C's lines must still be `fill`.
pub fn compare(reference: &Reference, placement: &Placement, bytes: &[u8], fill: u8) -> Comparison {
    let size = placement.element.bits() as usize / 8;
    let product = &reference.product;
    let mut found = Comparison::default();
    let mut owned = vec![false; bytes.len() / size];
    let mut rounded = Vec::with_capacity(8);
    for row in 0..product.rows {
        for col in 0..product.cols {
            let at = row * placement.strides[0] + col * placement.strides[1];
            owned[at] = true;
            let value = decode(placement.element, &bytes[at * size..(at + 1) * size]);
            let index = row * product.cols + col;
            let mut expected = product.values[index];
            if reference.exact {
                rounded.clear();
                encode(placement.element, expected, &mut rounded);
                expected = decode(placement.element, &rounded);
            }
            let error = if value.is_finite() {
                (value - expected).abs()
            } else {
                f64::INFINITY
            };
            found.max_abs_error = found.max_abs_error.max(error);
            if error > reference.tolerance(index, placement.element) {
                found.mismatches += 1;
                found.first.get_or_insert((row, col, value, expected));
            }
        }
    }
    let padding = owned
        .iter()
        .zip(bytes.chunks(size))
        .filter(|(owned, _)| !**owned);
    found.padding_written = padding
        .flat_map(|(_, bytes)| bytes)
        .filter(|byte| **byte != fill)
        .count() as u64;
    found
}
