//! Softmax and layer norm, compared with f64 within a bound that the number of roundings sets.

use super::{Case, Value, get, put};
use crate::Numbers;
use half::f16;

fn inputs(seed: u64, n: usize) -> Vec<f32> {
    let mut numbers = Numbers(seed);
    (0..n)
        .map(|_| (numbers.next() % 20_000) as f32 / 1000.0 - 10.0)
        .collect()
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
    row.iter().map(|x| (x - most).exp() / sum).collect()
}

pub fn softmax_case() -> Case {
    let values = vec![
        Value::In(put(&inputs(51, 3 * 300))),
        Value::Out(4 * 900),
        Value::I32(300),
    ];
    Case::new("rows.cl", "softmax", 3, 128, values)
}

#[test]
fn softmax_of_rows() {
    let x = inputs(51, 900);
    // The exponent x log2(e) reaches 29 and is rounded to 24 bits twice, which exp2 makes a
    // relative error of 2 x 2^-20 ln 2; the rest is a few units of 2^-24.
    let bound = 4e-6;
    softmax_case().check(|label, out| {
        let got = get::<f32>(&out[0]);
        for (row, got) in x.chunks(300).zip(got.chunks(300)) {
            let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
            for (expected, got) in softmax(&row).into_iter().zip(got) {
                let error = (f64::from(*got) - expected).abs();
                assert!(error <= bound * expected, "{label}: {got}, not {expected}");
            }
        }
    });
    let x: Vec<f16> = x.into_iter().map(f16::from_f32).collect();
    let values = vec![Value::In(put(&x)), Value::Out(2 * 900), Value::I32(300)];
    Case::new("rows.cl", "softmax_half", 3, 128, values).check(|label, out| {
        let got = get::<f16>(&out[0]);
        for (row, got) in x.chunks(300).zip(got.chunks(300)) {
            let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
            for (expected, got) in softmax(&row).into_iter().zip(got) {
                // Half a unit of the last place, or of the smallest denormal, 2^-24.
                let error = (got.to_f64() - expected).abs();
                let bound = expected * (2_f64.powi(-11) + 1e-5) + 2_f64.powi(-25);
                assert!(error <= bound, "{label}: {got}, not {expected}");
            }
        }
    });
}

#[test]
fn layer_norm_of_rows() {
    let (x, gain, bias) = (inputs(52, 4 * 200), inputs(53, 200), inputs(54, 200));
    let values = vec![
        Value::In(put(&x)),
        Value::In(put(&gain)),
        Value::In(put(&bias)),
        Value::Out(4 * 800),
        Value::I32(200),
        Value::F32(1e-5),
    ];
    Case::new("rows.cl", "layer_norm", 4, 128, values).check(|label, out| {
        for (row, got) in x.chunks(200).zip(get::<f32>(&out[0]).chunks(200)) {
            let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
            let mean = row.iter().sum::<f64>() / 200.0;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 200.0;
            for (i, got) in got.iter().enumerate() {
                let scaled = (row[i] - mean) / (variance + 1e-5).sqrt() * f64::from(gain[i]);
                let expected = scaled + f64::from(bias[i]);
                // About twenty roundings of numbers up to 30.
                let error = (f64::from(*got) - expected).abs();
                assert!(error <= 4e-5, "{label} {i}: {got}, not {expected}");
            }
        }
    });
}
