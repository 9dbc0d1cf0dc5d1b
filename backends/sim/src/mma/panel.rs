//! Operands of CDNA's matrix instructions as panels of floats, and the products over them.
//!
//! A panel holds one operand by k: `panel[k][i]`, `D` rows of A (or columns of B) of all
//! blocks side by side. `D` is also the number of neighbouring lanes that hold one part of K, so a
//! panel's row comes from neighbouring lanes of one register. Elements are exact in f32; where the
//! sums of products are exact in f32 too, as for small integers, they are formed there, twice as
//! fast and with the same result as in f64.

use super::format::{self, Format};
use crate::simd::vectorized;

/// Which k an element of a lane is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    /// Elements of a lane.
    pub(super) per_lane: usize,
    /// How many of them follow each other in K; the runs of the groups of lanes take turns.
    pub(super) run: usize,
}

impl Order {
    #[inline(always)]
    fn k(self, group: usize, groups: usize, element: usize) -> usize {
        (element / self.run * groups + group) * self.run + element % self.run
    }
}

/// Elements of K that share a scale.
pub(super) const SCALED: usize = 32;

/// Neighbouring lanes of a register.
#[inline(always)]
fn lanes<const D: usize, const W: usize>(register: &[u32; W], first: usize) -> &[u32; D] {
    register[first..first + D]
        .try_into()
        .expect("the slice has D lanes")
}

vectorized! {
    /// Decodes all elements of an operand; `scales` has `D` factors for each 32 of K.
    pub(super) fn fill[const D: usize, const W: usize](
        registers: &[[u32; W]],
        format: Format,
        order: Order,
        scales: Option<&[[f32; D]]>,
        panel: &mut [[f32; D]],
    ) {
        macro_rules! spread {
            ($value:expr) => {
                spread(registers, format.bits(), order, panel, |bits| f32::from($value(bits)))
            };
        }
        match format {
            Format::F32 => spread!(f32::from_bits),
            Format::F16 => spread!(format::f16),
            Format::Bf16 => spread!(format::bf16),
            Format::Fp8 => spread!(format::fp8),
            Format::Bf8 => spread!(format::bf8),
            Format::Fp6 => spread!(format::fp6),
            Format::Bf6 => spread!(format::bf6),
            Format::Fp4 => spread!(format::fp4),
            Format::Int8 => spread!(|bits: u32| bits as u8 as i8),
            // Two registers an element: read where they are multiplied.
            Format::F64 => {}
        }
        let Some(scales) = scales else { return };
        for (k, row) in panel.iter_mut().enumerate() {
            // A row apart is what the host multiplies in one go.
            let (mut scaled, scales) = (*row, &scales[k / SCALED]);
            for i in 0..D {
                scaled[i] *= scales[i];
            }
            *row = scaled;
        }
    }
}

#[inline(always)]
fn spread<const D: usize, const W: usize>(
    registers: &[[u32; W]],
    bits: usize,
    order: Order,
    panel: &mut [[f32; D]],
    value: impl Fn(u32) -> f32,
) {
    let groups = W / D;
    for group in 0..groups {
        for element in 0..order.per_lane {
            let (register, shift) = (element * bits / 32, element * bits % 32);
            let words: &[u32; D] = lanes(&registers[register], group * D);
            let row = &mut panel[order.k(group, groups, element)];
            if shift + bits > 32 {
                let more: &[u32; D] = lanes(&registers[register + 1], group * D);
                for i in 0..D {
                    row[i] = value(words[i] >> shift | more[i] << (32 - shift));
                }
            } else {
                for i in 0..D {
                    row[i] = value(words[i] >> shift);
                }
            }
        }
    }
}

vectorized! {
    /// Whether all values are multiples, at most 2^8 - 1 times, of one power of two. Sums of 128
    /// products of such values need no more than the 24 bits of an f32.
    pub(super) fn is_narrow[const D: usize](panel: &[[f32; D]]) -> bool {
        let panel = panel.as_flattened();
        let bits = |value: f32| value.to_bits() & 0x7fff_ffff;
        let largest = panel.iter().fold(0, |largest, &value| bits(value).max(largest));
        let exponent = largest >> 23;
        // Neither products nor their units may leave the range of normal numbers.
        if !(127 - 48..127 + 48).contains(&exponent) {
            return largest == 0;
        }
        // Added to this, a value is rounded to units 2^-7 of the largest power of two in it.
        let magic = f32::from_bits((exponent + 23 - 7) << 23) * 1.5;
        let changed = panel.iter().fold(0, |changed, &value| {
            changed | bits(value + magic - magic) ^ bits(value)
        });
        changed == 0
    }
}

vectorized! {
    /// A panel in f64, with scales that f32 has no room for.
    pub(super) fn widen[const D: usize](
        panel: &[[f32; D]],
        scales: Option<&[[f64; D]]>,
        wide: &mut [[f64; D]],
    ) {
        for (wide, &value) in wide.as_flattened_mut().iter_mut().zip(panel.as_flattened()) {
            *wide = f64::from(value);
        }
        let Some(scales) = scales else { return };
        for (k, row) in wide.iter_mut().enumerate() {
            let (mut scaled, scales) = (*row, &scales[k / SCALED]);
            for i in 0..D {
                scaled[i] *= scales[i];
            }
            *row = scaled;
        }
    }
}

/// Four rows by sixteen columns of C and D: four neighbouring registers in sixteen lanes.
#[derive(Debug, Clone, Copy)]
struct Piece {
    register: usize,
    lane: usize,
    /// Its place in the panels.
    row: usize,
    column: usize,
}

/// A piece of a product with `dim` rows and columns. Lane maps: AMD's matrix instruction
/// calculator; a run of four rows goes to four registers, the next run to the next lanes and, past
/// the last lane, to the next registers.
#[inline(always)]
fn piece(at: usize, dim: usize) -> Piece {
    let (groups, halves) = (64 / dim, dim / 16);
    let (run, half) = (at / halves, at % halves);
    let (block, run) = (run / (dim / 4), run % (dim / 4));
    Piece {
        register: block * dim * dim / 64 + run / groups * 4,
        lane: run % groups * dim + half * 16,
        row: block * dim + run * 4,
        column: block * dim + half * 16,
    }
}

/// The pieces of all blocks of a product that is `width` wide.
fn piece_count(dim: usize, width: usize) -> usize {
    width / 4 * (dim / 16)
}

/// The sums of products of four rows and sixteen columns, k by k.
macro_rules! multiply {
    ($float:ty, $a:expr, $b:expr, $piece:expr) => {{
        let mut sums = [[0.0 as $float; 16]; 4];
        for (a, b) in $a.iter().zip($b) {
            let rows: &[$float; 4] = a[$piece.row..$piece.row + 4].try_into().expect("four rows");
            let columns: &[$float; 16] = b[$piece.column..$piece.column + 16]
                .try_into()
                .expect("sixteen columns");
            for m in 0..4 {
                for n in 0..16 {
                    sums[m][n] = rows[m].mul_add(columns[n], sums[m][n]);
                }
            }
        }
        sums
    }};
}

/// C plus the sum of products, rounded once; a NaN is the positive quiet one.
#[inline(always)]
fn rounded(word: u32, sum: f64) -> u32 {
    let c = f64::from(f32::from_bits(word));
    let total = sum + c;
    // What the sum in f64 lost, by Knuth's two-sum; where it lost something its last bit is made
    // odd, so that the rounding to f32 is as if from the exact sum. Without branches, so that the
    // host does many at once.
    let shadow = total - sum;
    let lost = (sum - (total - shadow)) + (c - shadow);
    let bits = total.to_bits();
    let inexact = (lost.abs() > 0.0) & (lost.abs() < f64::INFINITY) & (bits & 1 == 0);
    let step = if (lost > 0.0) == (total > 0.0) {
        1
    } else {
        u64::MAX
    };
    let odd = bits.wrapping_add(if inexact { step } else { 0 });
    let value = f64::from_bits(odd) as f32;
    if total.is_nan() {
        0x7fc0_0000
    } else {
        value.to_bits()
    }
}

/// The same modulo 2^32 of an integer sum, which is exact.
#[inline(always)]
fn wrapped(word: u32, sum: f64) -> u32 {
    // At most 64 products of bytes: added to this, their sum is the low bits of an f32.
    const ZERO: f32 = 12_582_912.0;
    let integer = (sum as f32 + ZERO).to_bits().wrapping_sub(ZERO.to_bits());
    word.wrapping_add(integer)
}

/// What [`rounded`] became, where results that overflow are the largest numbers.
#[inline(always)]
fn finite(c: u32, sum: f64, result: u32) -> u32 {
    let total = sum + f64::from(f32::from_bits(c));
    match f32::from_bits(result).is_infinite() && total.is_finite() {
        true => result - 1,
        false => result,
    }
}

/// The same of [`wrapped`].
#[inline(always)]
fn bounded(c: u32, sum: f64, _: u32) -> u32 {
    (c as i32).saturating_add(sum as i32) as u32
}

macro_rules! accumulate {
    ($name:ident, $float:ty, $add:ident, $limit:ident) => {
        vectorized! {
            /// Adds `a x b` to registers.
            pub(super) fn $name[const D: usize, const W: usize](
                registers: &mut [[u32; W]],
                dim: usize,
                a: &[[$float; D]],
                b: &[[$float; D]],
                saturate: bool,
            ) {
                for at in 0..piece_count(dim, D) {
                    let piece = piece(at, dim);
                    let sums = multiply!($float, a, b, piece);
                    for (sums, register) in sums.iter().zip(&mut registers[piece.register..]) {
                        let (mut words, sums): ([u32; 16], _) = (*lanes(register, piece.lane), *sums);
                        let before = words;
                        for n in 0..16 {
                            words[n] = $add(words[n], f64::from(sums[n]));
                        }
                        if saturate {
                            for n in 0..16 {
                                words[n] = $limit(before[n], f64::from(sums[n]), words[n]);
                            }
                        }
                        register[piece.lane..piece.lane + 16].copy_from_slice(&words);
                    }
                }
            }
        }
    };
}

accumulate!(accumulate_exact, f32, rounded, finite);
accumulate!(accumulate_f64, f64, rounded, finite);
accumulate!(accumulate_i32, f32, wrapped, bounded);

/// Sixteen 4x4 products: block `lane / 4`, column `lane % 4`, row by register.
pub(super) fn accumulate_small<const D: usize, const W: usize>(
    registers: &mut [[u32; W]],
    integers: bool,
    a: &[[f32; D]],
    b: &[[f32; D]],
    saturate: bool,
) {
    for (row, register) in registers.iter_mut().enumerate().take(4) {
        for (lane, word) in register.iter_mut().enumerate() {
            let sum = a.iter().zip(b).fold(0.0, |sum, (a, b)| {
                f64::from(a[lane / 4 * 4 + row]).mul_add(f64::from(b[lane]), sum)
            });
            *word = match (integers, saturate) {
                (true, false) => wrapped(*word, sum),
                (true, true) => bounded(*word, sum, 0),
                (false, false) => rounded(*word, sum),
                (false, true) => finite(*word, sum, rounded(*word, sum)),
            };
        }
    }
}

/// f64 products: every lane holds one element of A and of B, and a pair of registers of C holds
/// row `4 p + lane / 16` (the 4x4 shape has one pair, and blocks of four lanes).
pub(super) fn accumulate_double<const W: usize>(
    registers: &mut [[u32; W]],
    dim: usize,
    neg: [bool; 3],
    a: &[f64; W],
    b: &[f64; W],
) {
    let sign = |value: f64, neg: bool| if neg { -value } else { value };
    for (pair, registers) in registers.chunks_exact_mut(2).enumerate().take(dim / 4) {
        let [low, high] = registers else { continue };
        for lane in 0..W {
            let bits = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            let mut sum = sign(f64::from_bits(bits), neg[2]);
            // Where the block begins within the lanes that share a k.
            let block = lane % 16 / dim * dim;
            let row = block + pair * 4 + lane / 16;
            for k in 0..4 {
                let (a, b) = (a[k * 16 + row], b[k * 16 + lane % 16]);
                sum = sign(a, neg[0]).mul_add(sign(b, neg[1]), sum);
            }
            let bits = match sum.is_nan() {
                true => 0x7ff8_0000_0000_0000,
                false => sum.to_bits(),
            };
            low[lane] = bits as u32;
            high[lane] = (bits >> 32) as u32;
        }
    }
}
