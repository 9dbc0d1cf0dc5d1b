//! The product in f64, and how far a kernel may be from it.

use super::encode::{half_unit, precision};
use matrixmultiply::dgemm;
use tilefold_dialect::element::ElementType;

/// A dense matrix of f64, row after row.
pub struct Dense {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Elements.
    pub values: Vec<f64>,
}

/// C = A x B and what bounds the error of a kernel that computes it.
pub struct Reference {
    /// The product, exact up to f64's rounding.
    pub product: Dense,
    /// Whether every partial sum is exact in the accumulator, so that a kernel must be equal.
    pub exact: bool,
    /// The sums of |a| |b|, where the kernel need not be equal.
    magnitudes: Option<Dense>,
    k: usize,
    accumulate: ElementType,
}

/// K of one step of accumulation: the matrix instructions of all chips round at least once
/// every so many products.
const STEP: usize = 16;

impl Reference {
    /// The reference for inputs that are integers or not, accumulated in `accumulate`.
    pub fn new(a: &Dense, b: &Dense, integers: bool, accumulate: ElementType) -> Self {
        let mut product = Dense {
            rows: a.rows,
            cols: b.cols,
            values: vec![0.0; a.rows * b.cols],
        };
        let (k, limit) = (a.cols, 2.0_f64.powi(precision(accumulate)));
        let largest = |m: &Dense| m.values.iter().fold(0.0_f64, |max, v| max.max(v.abs()));
        let mut exact = integers;
        if integers && k as f64 * largest(a) * largest(b) > limit {
            // Too many products to be sure beforehand: follow the partial sums.
            for start in (0..k).step_by(STEP) {
                multiply(a, b, &mut product, start..(start + STEP).min(k));
                exact &= product.values.iter().all(|sum| sum.abs() <= limit);
            }
        } else {
            multiply(a, b, &mut product, 0..k);
        }
        let magnitudes = (!exact).then(|| {
            let absolute = |m: &Dense| Dense {
                rows: m.rows,
                cols: m.cols,
                values: m.values.iter().map(|v| v.abs()).collect(),
            };
            let mut sums = Dense {
                values: vec![0.0; a.rows * b.cols],
                ..product
            };
            multiply(&absolute(a), &absolute(b), &mut sums, 0..k);
            sums
        });
        Self {
            product,
            exact,
            magnitudes,
            k,
            accumulate,
        }
    }

    /// How far element `index` of C, in type `output`, may be from the product: half a unit in
    /// the last place of the output, and what accumulation may lose.
    ///
    /// With f32 accumulation that is 2^-20 times the sum of |a| |b|. With f16 or bf16
    /// accumulation every step of 16 products may round once, by at most 2^-p of the sum of
    /// |a| |b| (p = 11 or 8 significant bits) or half the smallest subnormal number.
    pub fn tolerance(&self, index: usize, output: ElementType) -> f64 {
        let Some(magnitudes) = &self.magnitudes else {
            return 0.0;
        };
        let sum = magnitudes.values[index];
        let lost = if self.accumulate == ElementType::F32 {
            sum * 2.0_f64.powi(-20)
        } else {
            let steps = self.k.div_ceil(STEP) as f64;
            let relative = 2.0_f64.powi(-precision(self.accumulate));
            steps * (sum * relative).max(half_unit(self.accumulate, 0.0))
        };
        half_unit(output, self.product.values[index].abs() + lost) + lost
    }
}

/// Adds the product over a range of K.
fn multiply(a: &Dense, b: &Dense, c: &mut Dense, range: std::ops::Range<usize>) {
    let (m, n) = (c.rows, c.cols);
    let a_part = &a.values[range.start..];
    let b_part = &b.values[range.start * n..];
    // SAFETY: A has m rows of a.cols elements and B at least `range.end` rows of n, so that every
    // element that the strides reach lies in the slices; C is m x n.
    unsafe {
        dgemm(
            m,
            range.len(),
            n,
            1.0,
            a_part.as_ptr(),
            a.cols as isize,
            1,
            b_part.as_ptr(),
            n as isize,
            1,
            1.0,
            c.values.as_mut_ptr(),
            n as isize,
            1,
        );
    }
}
