//! Vector kernels, transposes and the unpacking of four-bit weights.

use super::{Case, Value, edgy, get, put};
use crate::Numbers;
use half::f16;

pub fn vector_add() -> Case {
    let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.75).collect();
    let y: Vec<f32> = (0..1000).map(|i| 1e-3 / (i + 1) as f32).collect();
    let values = vec![
        Value::In(put(&x)),
        Value::In(put(&y)),
        Value::Out(4000),
        Value::I32(1000),
    ];
    Case::new("vectors.hip", "vector_add", 9, 128, values)
}

#[test]
fn additions() {
    vector_add().check(|label, out| {
        for (i, z) in get::<f32>(&out[0]).into_iter().enumerate() {
            let (x, y) = (i as f32 * 0.75, 1e-3 / (i + 1) as f32);
            assert_eq!(z, x + y, "{label} {i}");
        }
    });
    let x: Vec<f32> = edgy(1, 777).into_iter().map(|x| x as i32 as f32).collect();
    let y: Vec<f32> = edgy(2, 777).into_iter().map(|x| x as i32 as f32).collect();
    let values = vec![
        Value::In(put(&x)),
        Value::In(put(&y)),
        Value::Out(4 * 777),
        Value::F32(-1.7),
        Value::U64(777),
    ];
    Case::new("vectors.hip", "axpy", 3, 64, values).check(|label, out| {
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.mul_add(-1.7, *y)).collect();
        assert_eq!(get::<f32>(&out[0]), expected, "{label}");
    });
}

#[test]
fn wide_and_narrow_elements() {
    let mut numbers = Numbers(3);
    let x: Vec<f32> = (0..1024).map(|_| numbers.small() as f32).collect();
    // The structure as C lays it out: f32, u8, three bytes, f64, three i16, two bytes.
    let mut scale = put(&[3.0_f32]);
    scale.extend([4, 0, 0, 0]);
    scale.extend(put(&[-0.5_f64]));
    scale.extend(put(&[1_i16, -2, 300, 0]));
    let values = vec![Value::In(put(&x)), Value::Out(4096), Value::Bytes(scale)];
    Case::new("vectors.hip", "affine", 2, 128, values).check(|label, out| {
        let add = [16.0, -32.0, 4800.0, 0.0];
        let expected: Vec<f32> = x
            .iter()
            .enumerate()
            .map(|(i, x)| x * 3.0 - 0.5 + add[i % 4])
            .collect();
        assert_eq!(get::<f32>(&out[0]), expected, "{label}");
    });
    let bytes: Vec<u8> = edgy(4, 300).into_iter().map(|x| (x >> 3) as u8).collect();
    let signed: Vec<i8> = edgy(5, 300).into_iter().map(|x| (x >> 5) as i8).collect();
    let shorts: Vec<i16> = edgy(6, 300).into_iter().map(|x| (x >> 7) as i16).collect();
    let values = vec![
        Value::In(put(&bytes)),
        Value::In(put(&signed)),
        Value::In(put(&shorts)),
        Value::Out(600),
        Value::Out(300),
        Value::I32(300),
    ];
    Case::new("vectors.hip", "narrow", 3, 128, values).check(|label, out| {
        for (i, (z, w)) in get::<i16>(&out[0]).into_iter().zip(&out[1]).enumerate() {
            let left = if i > 0 { i32::from(bytes[i - 1]) } else { 0 };
            let product = i32::from(bytes[i]) * i32::from(signed[i]);
            assert_eq!(
                z,
                (left + product - i32::from(shorts[i])) as i16,
                "{label} {i}"
            );
            let expected = if bytes[i] > 127 {
                !bytes[i]
            } else {
                bytes[i].rotate_left(1)
            };
            assert_eq!(*w, expected, "{label} {i}");
        }
    });
}

pub fn transpose_words() -> Case {
    let x: Vec<u32> = (0..96 * 96).collect();
    let values = vec![Value::In(put(&x)), Value::Out(4 * 96 * 96), Value::I32(96)];
    Case {
        grid: [3, 3, 1],
        block: [32, 8, 1],
        ..Case::new("transpose.cl", "transpose_words", 1, 1, values)
    }
}

#[test]
fn transposes() {
    transpose_words().check(|label, out| {
        let expected: Vec<u32> = (0..96 * 96).map(|i| i % 96 * 96 + i / 96).collect();
        assert_eq!(get::<u32>(&out[0]), expected, "{label}");
    });
    let x: Vec<u16> = (0..64 * 64).map(|i| i * 3).collect();
    let values = vec![Value::In(put(&x)), Value::Out(2 * 64 * 64), Value::I32(64)];
    let halves = Case {
        grid: [2, 2, 1],
        block: [32, 8, 1],
        ..Case::new("transpose.cl", "transpose_halves", 1, 1, values)
    };
    halves.check(|label, out| {
        let expected: Vec<u16> = (0..64 * 64).map(|i| x[i % 64 * 64 + i / 64]).collect();
        assert_eq!(get::<u16>(&out[0]), expected, "{label}");
    });
    let x: Vec<u8> = (0..48 * 48).map(|i| (i * 7 % 251) as u8).collect();
    let values = vec![Value::In(x.clone()), Value::Out(48 * 48), Value::I32(48)];
    let bytes = Case {
        grid: [3, 3, 1],
        ..Case::new("transpose.cl", "transpose_bytes", 1, 64, values)
    };
    bytes.check(|label, out| {
        let expected: Vec<u8> = (0..48 * 48).map(|i| x[i % 48 * 48 + i / 48]).collect();
        assert_eq!(out[0], expected, "{label}");
    });
}

#[test]
fn four_bit_weights() {
    let x = edgy(7, 128);
    let nibble = |i: usize| x[i / 8] >> (i % 8 * 4) & 15;
    let values = vec![Value::In(put(&x)), Value::Out(1024)];
    Case::new("int4.cl", "unpack_bytes", 2, 64, values).check(|label, out| {
        let expected: Vec<i8> = (0..1024).map(|i| ((nibble(i) << 4) as i8) >> 4).collect();
        assert_eq!(get::<i8>(&out[0]), expected, "{label}");
    });
    let values = vec![
        Value::In(put(&x)),
        Value::Out(2048),
        Value::F16(0.37),
        Value::F16(8.0),
    ];
    Case::new("int4.cl", "unpack_halves", 2, 64, values).check(|label, out| {
        let scale = f16::from_f32(0.37);
        for (at, got) in get::<f16>(&out[0]).into_iter().enumerate() {
            let (word, step, half) = (at / 8, at % 8 / 2, at % 2);
            let weight = nibble(8 * word + step + 4 * half) as f32 - 8.0;
            assert_eq!(got, f16::from_f32(weight * scale.to_f32()), "{label} {at}");
        }
    });
    // Powers of two as scales, small whole numbers as the vector: every sum is exact.
    let mut numbers = Numbers(8);
    let (rows, n) = (128, 192);
    let w: Vec<u32> = (0..rows * n / 8).map(|_| numbers.next()).collect();
    let scales: Vec<f32> = (0..rows * n / 32)
        .map(|_| 2_f32.powi(numbers.small()))
        .collect();
    let zeros: Vec<u8> = (0..rows * n / 32)
        .map(|_| numbers.next() as u8 & 15)
        .collect();
    let v: Vec<f32> = (0..n).map(|_| numbers.small() as f32).collect();
    let values = vec![
        Value::In(put(&w)),
        Value::In(put(&scales)),
        Value::In(zeros.clone()),
        Value::In(put(&v)),
        Value::Out(4 * rows),
        Value::I32(n as i32),
    ];
    Case::new("int4.cl", "matvec", 2, 64, values).check(|label, out| {
        for (row, got) in get::<f32>(&out[0]).into_iter().enumerate() {
            let expected: f32 = (0..n)
                .map(|k| {
                    let (at, group) = (row * n + k, (row * n + k) / 32);
                    let weight = w[at / 8] >> (at % 8 * 4) & 15;
                    (weight as f32 - f32::from(zeros[group])) * scales[group] * v[k]
                })
                .sum();
            assert_eq!(got, expected, "{label} row {row}");
        }
    });
}
