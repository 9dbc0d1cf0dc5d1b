//! Real arithmetic that the compiler expands; every result is exact or rounded correctly.

use super::{Case, Value, edgy, edgy64, get, put};
use half::f16;

const N: usize = 512;

/// Reals of every size, with zeros, infinities, NaNs and denormals among them.
fn reals(seed: u64) -> Vec<f32> {
    let special = [
        0.0,
        -0.0,
        1.0,
        f32::INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        1e-45,
        -3e-39,
        f32::MAX,
        16_777_215.0,
    ];
    edgy(seed, N)
        .into_iter()
        .enumerate()
        .map(|(i, bits)| match i % 4 {
            0 => special[bits as usize % special.len()],
            1 => (bits as i32 as f32) / 65536.0,
            _ => f32::from_bits(bits.wrapping_mul(0x9e37_79b1)),
        })
        .collect()
}

fn doubles(seed: u64) -> Vec<f64> {
    edgy64(seed, N)
        .into_iter()
        .zip(reals(seed))
        .enumerate()
        .map(|(i, (bits, real))| match i % 3 {
            0 => f64::from_bits(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            1 => f64::from(real),
            _ => bits as i64 as f64 / 4096.0,
        })
        .collect()
}

/// Equal, or both NaN.
trait Same: Copy + PartialEq + std::fmt::Debug {
    fn nan(self) -> bool;
    fn bits(self) -> u64;
}
impl Same for f32 {
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}
impl Same for f64 {
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}
impl Same for f16 {
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

fn same<T: Same>(label: &str, inputs: impl std::fmt::Debug, got: &[T], expected: &[T]) {
    for (part, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!(
            got.bits() == expected.bits() || got.nan() && expected.nan(),
            "{label} part {part} of {inputs:?}: {got:?}, not {expected:?}"
        );
    }
}

#[test]
fn divisions_and_roots() {
    let (x, y) = (reals(31), reals(32));
    let values = vec![Value::In(put(&x)), Value::In(put(&y)), Value::Out(12 * N)];
    Case::new("reals.hip", "divide_f32", 4, 128, values).check(|label, out| {
        for (i, got) in get::<f32>(&out[0]).chunks(3).enumerate() {
            let (x, y) = (x[i], y[i]);
            same(label, (x, y), got, &[x / y, x.sqrt(), 1.0 / y]);
        }
    });
    let (x, y) = (doubles(33), doubles(34));
    let values = vec![Value::In(put(&x)), Value::In(put(&y)), Value::Out(32 * N)];
    Case::new("reals.hip", "divide_f64", 4, 128, values).check(|label, out| {
        for (i, got) in get::<f64>(&out[0]).chunks(4).enumerate() {
            let (x, y) = (x[i], y[i]);
            // clang contracts a product and a sum, in whichever of them it stands.
            let last = x.mul_add(y, x - y);
            same(
                label,
                (x, y),
                got,
                &[x / y, x.sqrt(), x.mul_add(y, -x), last],
            );
        }
    });
    let halves = |seed| -> Vec<f16> {
        edgy(seed, N)
            .into_iter()
            .map(|bits| f16::from_bits((bits >> 9) as u16))
            .collect()
    };
    let (x, y) = (halves(35), halves(36));
    let values = vec![Value::In(put(&x)), Value::In(put(&y)), Value::Out(6 * N)];
    Case::new("reals.hip", "divide_f16", 4, 128, values).check(|label, out| {
        for (i, got) in get::<f16>(&out[0]).chunks(3).enumerate() {
            let (a, b) = (x[i].to_f64(), y[i].to_f64());
            // The f64 quotient and root of 11-bit numbers round to the same half as exact ones.
            let expected = [
                f16::from_f64(a / b),
                f16::from_f64(a.sqrt()),
                f16::from_f64(a.mul_add(b, a)),
            ];
            same(label, (a, b), got, &expected);
        }
    });
}

#[test]
fn roundings_and_conversions() {
    let x = reals(37);
    let values = vec![Value::In(put(&x)), Value::Out(32 * N)];
    Case::new("reals.hip", "round_f32", 4, 128, values).check(|label, out| {
        for (x, got) in x.iter().zip(get::<f32>(&out[0]).chunks(8)) {
            let expected = [
                x.floor(),
                x.ceil(),
                x.trunc(),
                x.round_ties_even(),
                x.round(),
                x - x.floor(),
                1.5_f32.copysign(*x),
                x.abs(),
            ];
            same(label, x, got, &expected);
        }
    });
    let n: Vec<i64> = edgy64(38, N).into_iter().map(|n| n as i64).collect();
    // Numbers that the integer types hold.
    let x: Vec<f32> = n.iter().map(|&n| (n >> 33) as f32 / 8.0).collect();
    let d: Vec<f64> = n.iter().map(|&n| n as f64 / 2.0 + 0.25).collect();
    let values = vec![
        Value::In(put(&x)),
        Value::In(put(&d)),
        Value::In(put(&n)),
        Value::Out(32 * N),
        Value::Out(12 * N),
        Value::Out(24 * N),
    ];
    Case::new("reals.hip", "convert", 4, 128, values).check(|label, out| {
        let (whole, f, g) = (
            get::<i64>(&out[0]),
            get::<f32>(&out[1]),
            get::<f64>(&out[2]),
        );
        for i in 0..N {
            let (x, d, n) = (x[i], d[i], n[i]);
            let expected = [x as i64, d as i64, d.abs() as i64, i64::from(x as i32)];
            assert_eq!(whole[4 * i..][..4], expected, "{label} {x} {d}");
            same(
                label,
                n,
                &f[3 * i..][..3],
                &[n as f32, n as u64 as f32, d as f32],
            );
            let expected = [n as f64, n as u64 as f64, f64::from(x)];
            same(label, n, &g[3 * i..][..3], &expected);
        }
    });
}

#[test]
fn vectors_of_shorts() {
    // Fractions within a short, and within an unsigned one.
    let words = edgy(39, 4 * N);
    let x: Vec<f32> = words
        .iter()
        .map(|&x| (x as i32 >> 12) as f32 / 16.0)
        .collect();
    let y: Vec<f32> = words.iter().map(|&x| (x >> 12) as f32 / 16.0).collect();
    let values = vec![
        Value::In(put(&x)),
        Value::In(put(&y)),
        Value::Out(8 * N),
        Value::Out(8 * N),
    ];
    Case::new("reals.hip", "shorts", 4, 128, values).check(|label, out| {
        let expected: Vec<i16> = x.iter().map(|&x| x as i16).collect();
        assert_eq!(get::<i16>(&out[0]), expected, "{label}");
        let expected: Vec<u16> = y.iter().map(|&y| y as u16).collect();
        assert_eq!(get::<u16>(&out[1]), expected, "{label}");
    });
}

#[test]
fn uniform_halves() {
    let words = |seed| -> Vec<u32> {
        let quiet = |bits: u32| match f16::from_bits(bits as u16).is_nan() {
            true => 0x7e00,
            false => bits & 0xffff,
        };
        let words = edgy(seed, N).into_iter();
        words
            .map(|bits| quiet(bits) | quiet(bits >> 13) << 16)
            .collect()
    };
    let (x, y) = (words(40), words(41));
    let values = vec![
        Value::In(put(&x)),
        Value::In(put(&y)),
        Value::Out(48 * N),
        Value::Out(4 * N),
    ];
    let half = |bits: u32| f16::from_bits(bits as u16).to_f64();
    let near = |value: f64| f16::from_f64(value).to_f64();
    // The number where one is a NaN; the sign decides between zeros.
    let pick = |a: f64, b: f64, larger: bool| match a.partial_cmp(&b) {
        _ if a.is_nan() => b,
        None => a,
        Some(std::cmp::Ordering::Equal) => match a.is_sign_negative() == larger {
            true => b,
            false => a,
        },
        Some(order) => match order.is_gt() == larger {
            true => a,
            false => b,
        },
    };
    Case::new("reals.hip", "uniform", N as u32, 1, values).check(|label, out| {
        let flags = get::<u32>(&out[1]);
        for (i, got) in get::<f32>(&out[0]).chunks(12).enumerate() {
            let (a, b, c) = (half(x[i]), half(y[i]), half(y[i] >> 16));
            let product = (a * b) as f32;
            let expected = [
                near(a + b) as f32,
                near(near(a * b) - c) as f32,
                near(a.mul_add(b, c)) as f32,
                near(a.floor() + b.ceil()) as f32,
                near(a.trunc() - b.round_ties_even()) as f32,
                near(pick(a, b, false) + c) as f32,
                near(pick(a, b, true) + c) as f32,
                (c * half(x[i] >> 16)) as f32,
                near(f64::from(product + c as f32)) as f32,
                (a as f32).mul_add(b as f32, 0.5),
                pick(f64::from(a as f32 * 3.0), b, false) as f32,
                (c as f32 * 0.5).round_ties_even() + 1.0,
            ];
            same(label, (a, b, c), got, &expected);
            let unordered = a.is_nan() || b.is_nan();
            let all = [
                a < b,
                a <= b,
                a == b,
                a != b,
                unordered || a >= b,
                unordered || a > b,
                unordered,
                unordered || a == b,
            ];
            let bits = (0..8).fold(0, |bits, at| bits | u32::from(all[at]) << at);
            assert_eq!(flags[i], bits | bits << 8, "{label} {a} {b}");
        }
    });
}
