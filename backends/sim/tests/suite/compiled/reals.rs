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
