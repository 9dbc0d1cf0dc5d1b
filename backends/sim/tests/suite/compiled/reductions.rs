//! Reductions, scans and histograms.

use super::{Case, Value, edgy, get, put};
use crate::Numbers;

pub fn tree() -> Case {
    let x = edgy(41, 5000);
    let values = vec![Value::In(put(&x)), Value::Out(16), Value::I32(5000)];
    Case::new("reduce.cl", "reduce_tree", 4, 256, values)
}

#[test]
fn sums_and_maxima() {
    let x = edgy(41, 5000);
    tree().check(|label, out| {
        let mut expected = [0_u32; 4];
        for (i, x) in x.iter().enumerate() {
            expected[i / 256 % 4] = expected[i / 256 % 4].wrapping_add(*x);
        }
        assert_eq!(get::<u32>(&out[0]), expected, "{label}");
    });
    let (x, mut numbers) = (edgy(42, 768), Numbers(43));
    let f: Vec<f32> = (0..768).map(|_| numbers.next() as i32 as f32).collect();
    let values = vec![
        Value::In(put(&x)),
        Value::In(put(&f)),
        Value::Out(12),
        Value::Out(12),
    ];
    Case::new("reduce.cl", "reduce_dpp", 3, 256, values).check(|label, out| {
        for block in 0..3 {
            let part = 256 * block..256 * (block + 1);
            let sum = x[part.clone()]
                .iter()
                .fold(0_u32, |sum, x| sum.wrapping_add(*x));
            let most = f[part].iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(get::<u32>(&out[0])[block], sum, "{label}");
            assert_eq!(get::<f32>(&out[1])[block], most, "{label}");
        }
    });
}

#[test]
fn scans_ranks_and_histograms() {
    let x = edgy(44, 512);
    let values = || vec![Value::In(put(&x)), Value::Out(2048)];
    Case::new("reduce.cl", "scan", 2, 256, values()).check(|label, out| {
        let mut sum = 0_u32;
        for (i, got) in get::<u32>(&out[0]).into_iter().enumerate() {
            sum = if i % 256 == 0 {
                x[i]
            } else {
                sum.wrapping_add(x[i])
            };
            assert_eq!(got, sum, "{label} {i}");
        }
    });
    Case::new("reduce.cl", "rank", 2, 256, values()).check(|label, out| {
        let wave = if label.contains("wave: 64") { 64 } else { 32 };
        for (i, got) in get::<u32>(&out[0]).into_iter().enumerate() {
            let first = i / wave * wave;
            let odd = |from: usize, to: usize| x[from..to].iter().filter(|x| *x % 2 == 1).count();
            let expected = odd(first, i) | odd(first, first + wave) << 16;
            assert_eq!(got, expected as u32, "{label} {i}");
        }
    });
    let x = edgy(45, 3000);
    let values = vec![
        Value::In(put(&x)),
        Value::InOut(vec![0; 64]),
        Value::I32(3000),
    ];
    let histogram = Case::new("reduce.cl", "histogram", 3, 256, values);
    histogram.check(|label, out| {
        let count = |bin: u32| x.iter().filter(|x| *x % 16 == bin).count() as u32;
        assert_eq!(
            get::<u32>(&out[0]),
            (0..16).map(count).collect::<Vec<_>>(),
            "{label}"
        );
    });
}
