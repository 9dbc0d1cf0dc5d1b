//! Kernels that Triton compiled, from the folder that `TILEFOLD_TRITON` names; see
//! `tests/triton/README.md` for how to fill it. Without it nothing is tested, which is said.

use std::path::Path;

use half::{bf16, f16};
use rayon::prelude::*;
use tilefold_sim::CodeObject;

use super::{Value, edgy, get, launch, put};
use crate::Numbers;

/// A line of the folder's index.
struct Entry {
    file: String,
    kernel: String,
    threads: u32,
    lds: u32,
}

impl Entry {
    fn parse(line: &str) -> Option<Entry> {
        let mut parts = line.split('\t');
        Some(Entry {
            file: parts.next()?.to_owned(),
            kernel: parts.next()?.to_owned(),
            threads: parts.next()?.parse().ok()?,
            lds: parts.next()?.parse().ok()?,
        })
    }

    /// Its outputs. What the kernel takes besides `values` are pointers to scratch and profiles of
    /// Triton's own, which are null where it uses none.
    fn run(&self, folder: &Path, grid: [u32; 3], values: &[Value]) -> Vec<Vec<u8>> {
        let elf = std::fs::read(folder.join(&self.file)).expect("the index names files there are");
        let object =
            CodeObject::load(&elf).unwrap_or_else(|error| panic!("{}: {error}", self.file));
        let info = object
            .kernels()
            .find(|info| info.name == self.kernel)
            .unwrap_or_else(|| panic!("{} lacks {}", self.file, self.kernel));
        let dynamic = self.lds.saturating_sub(info.lds_bytes);
        let block = [self.threads, 1, 1];
        let (report, outputs) = launch(&object, &self.kernel, grid, block, values, dynamic)
            .unwrap_or_else(|error| panic!("{}: {error}", self.file));
        for &count in report.checks.values() {
            let (file, findings) = (&self.file, &report.findings);
            assert_eq!(count, 0, "{file}: false alarm: {findings:#?}");
        }
        outputs
    }
}

fn reals(seed: u64, n: usize) -> Vec<f32> {
    let mut numbers = Numbers(seed);
    (0..n)
        .map(|_| (numbers.next() % 8000) as f32 / 1000.0 - 4.0)
        .collect()
}

fn close(file: &str, got: &[u8], expected: impl Iterator<Item = f64>, bound: f64) {
    for (i, (got, expected)) in get::<f32>(got).into_iter().zip(expected).enumerate() {
        let error = (f64::from(got) - expected).abs();
        assert!(error <= bound, "{file} {i}: {got}, not {expected}");
    }
}

/// The bits of a small whole number in a type.
fn encode(element: &str, value: i32) -> Vec<u8> {
    // E4M3 and E5M2 have biases of 7 and 15; up to four the mantissa has at most two bits.
    let small = |mantissa: u32, bias: i32| {
        let magnitude = value.unsigned_abs();
        let code = match magnitude.checked_ilog2() {
            None => 0,
            Some(log) => {
                let fraction = (magnitude << mantissa >> log) & ((1 << mantissa) - 1);
                ((log as i32 + bias) as u32) << mantissa | fraction
            }
        };
        vec![code as u8 | if value < 0 { 0x80 } else { 0 }]
    };
    match element {
        "f16" => put(&[f16::from_f32(value as f32)]),
        "bf16" => put(&[bf16::from_f32(value as f32)]),
        "f32" => put(&[value as f32]),
        "i8" => put(&[value as i8]),
        "fp8" => small(3, 7),
        _ => small(2, 15),
    }
}

fn matmul(entry: &Entry, folder: &Path, element: &str) {
    let [m, n, k] = [96, 80, 160_usize];
    let mut numbers = Numbers(91);
    let mut matrix = |len: usize| (0..len).map(|_| numbers.small()).collect::<Vec<i32>>();
    let (a, b) = (matrix(m * k), matrix(k * n));
    let bytes = |x: &[i32]| -> Vec<u8> { x.iter().flat_map(|&x| encode(element, x)).collect() };
    let ints = [m, n, k].map(|x| Value::I32(x as i32));
    let values = [
        Value::In(bytes(&a)),
        Value::In(bytes(&b)),
        Value::Out(4 * m * n),
    ]
    .into_iter()
    .chain(ints)
    .collect::<Vec<_>>();
    let grid = [m.div_ceil(64) as u32, n.div_ceil(64) as u32, 1];
    let out = entry.run(folder, grid, &values);
    for (i, word) in get::<u32>(&out[0]).into_iter().enumerate() {
        let expected: i32 = (0..k).map(|at| a[i / n * k + at] * b[at * n + i % n]).sum();
        let got = match element {
            "i8" => word as i32,
            _ => f32::from_bits(word) as i32,
        };
        assert_eq!(got, expected, "{} {i}", entry.file);
    }
}

/// A product with a scale of a power of two for every 32 elements along k.
fn scaled(entry: &Entry, folder: &Path, types: &str) {
    let [m, n, k] = [64, 64, 256_usize];
    let mut numbers = Numbers(92);
    let (left, right) = types.split_once('_').expect("two types");
    // Codes and values: E2M1 has 0, 1/2, 1, 3/2, 2, 3, 4 and 6 and their negatives.
    let fours = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let mut matrix = |element: &str, len: usize| -> Vec<(u8, f32)> {
        (0..len)
            .map(|_| match element {
                "e2m1" => {
                    let code = (numbers.next() % 16) as u8;
                    let sign = if code & 8 == 0 { 1.0 } else { -1.0 };
                    (code, sign * fours[usize::from(code & 7)])
                }
                _ => {
                    let value = numbers.small();
                    (encode("fp8", value)[0], value as f32)
                }
            })
            .collect()
    };
    let (a, b) = (matrix(left, m * k), matrix(right, k * n));
    let mut scales =
        |len: usize| -> Vec<u8> { (0..len).map(|_| (127 + numbers.small()) as u8).collect() };
    let (sa, sb) = (scales(m * k / 32), scales(n * k / 32));
    // Two fours of a row of A, or of a column of B, share a byte, the first in its low half.
    let pack_a = |x: &[(u8, f32)]| -> Vec<u8> {
        match left {
            "e2m1" => x.chunks(2).map(|pair| pair[0].0 | pair[1].0 << 4).collect(),
            _ => x.iter().map(|x| x.0).collect(),
        }
    };
    let pack_b = |x: &[(u8, f32)]| -> Vec<u8> {
        match right {
            "e2m1" => (0..k / 2 * n)
                .map(|i| x[i / n * 2 * n + i % n].0 | x[(i / n * 2 + 1) * n + i % n].0 << 4)
                .collect(),
            _ => x.iter().map(|x| x.0).collect(),
        }
    };
    let values = [
        Value::In(pack_a(&a)),
        Value::In(sa.clone()),
        Value::In(pack_b(&b)),
        Value::In(sb.clone()),
        Value::Out(4 * m * n),
        Value::I32(n as i32),
        Value::I32(k as i32),
    ];
    let out = entry.run(folder, [1, 1, 1], &values);
    for (i, got) in get::<f32>(&out[0]).into_iter().enumerate() {
        let (row, col) = (i / n, i % n);
        let products = || {
            (0..k).map(|at| {
                let left = i32::from(sa[(row * k + at) / 32]);
                let right = i32::from(sb[(col * k + at) / 32]);
                let scale = 2_f64.powi(left + right - 254);
                f64::from(a[row * k + at].1) * f64::from(b[at * n + col].1) * scale
            })
        };
        let (sum, size) = products().fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        // The products are exact; each of k additions rounds by half a unit at most.
        let bound = k as f64 * 2_f64.powi(-24) * size;
        let error = (f64::from(got) - sum).abs();
        assert!(error <= bound, "{} {i}: {got}, not {sum}", entry.file);
    }
}

fn run(entry: &Entry, folder: &Path) {
    let name = entry.file.split('.').next().unwrap_or_default();
    if let Some(element) = name.strip_prefix("matmul_") {
        return matmul(entry, folder, element);
    }
    if let Some(types) = name.strip_prefix("scaled_") {
        return scaled(entry, folder, types);
    }
    let (x, y) = (reals(81, 1500), reals(82, 1500));
    let ints = edgy(83, 1500);
    let one = |grid: u32, values: Vec<Value>| entry.run(folder, [grid, 1, 1], &values);
    match name {
        "add" => {
            let inputs = [put(&x), put(&y)].map(Value::In);
            let out = one(
                6,
                inputs
                    .into_iter()
                    .chain([Value::Out(6000), Value::I32(1500)])
                    .collect(),
            );
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            assert_eq!(get::<f32>(&out[0]), expected, "{}", entry.file);
        }
        "softmax" => {
            let out = one(
                3,
                vec![Value::In(put(&x)), Value::Out(6000), Value::I32(500)],
            );
            let expected = x.chunks(500).flat_map(|row| {
                let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
                row.iter().map(move |&x| f64::from(x).exp() / sum)
            });
            // Of values up to 2%, some units of 2^-24.
            close(&entry.file, &out[0], expected, 2e-8);
        }
        "layer_norm" => {
            let values = vec![
                Value::In(put(&x[..750])),
                Value::In(put(&y[..250])),
                Value::In(put(&y[250..500])),
                Value::Out(3000),
                Value::I32(250),
                Value::F32(1e-5),
            ];
            let out = one(3, values);
            let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
            let expected = wide[..750].chunks(250).flat_map(|row| {
                let mean = row.iter().sum::<f64>() / 250.0;
                let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 250.0;
                let scale = 1.0 / (variance + 1e-5).sqrt();
                let y = &y;
                row.iter()
                    .enumerate()
                    .map(move |(i, x)| (x - mean) * scale * f64::from(y[i]) + f64::from(y[250 + i]))
            });
            close(&entry.file, &out[0], expected, 1e-5);
        }
        "total" => {
            let values = vec![
                Value::In(put(&ints)),
                Value::InOut(vec![0; 4]),
                Value::I32(1500),
            ];
            let sum = ints.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
            assert_eq!(get::<u32>(&one(3, values)[0]), [sum], "{}", entry.file);
        }
        "total_f32" => {
            let whole: Vec<f32> = x.iter().map(|x| x.round()).collect();
            let values = vec![
                Value::In(put(&whole)),
                Value::InOut(vec![0; 4]),
                Value::I32(1500),
            ];
            let sum: f32 = whole.iter().sum();
            assert_eq!(get::<f32>(&one(3, values)[0]), [sum], "{}", entry.file);
        }
        "histogram" => {
            let small: Vec<u32> = ints.iter().map(|x| x & 0xffff).collect();
            let values = vec![
                Value::In(put(&small)),
                Value::InOut(vec![0; 68]),
                Value::I32(1500),
            ];
            let mut expected = [0; 17];
            for x in &small {
                expected[(x % 16) as usize] += 1;
                expected[16] = expected[16].max(*x);
            }
            assert_eq!(get::<u32>(&one(6, values)[0]), expected, "{}", entry.file);
        }
        "scan" => {
            let out = one(2, vec![Value::In(put(&ints[..512])), Value::Out(2048)]);
            let mut sum = 0_u32;
            for (i, got) in get::<u32>(&out[0]).into_iter().enumerate() {
                let start = if i % 256 == 0 { 0 } else { sum };
                sum = start.wrapping_add(ints[i]);
                assert_eq!(got, sum, "{} {i}", entry.file);
            }
        }
        other => panic!("no test of {other}"),
    }
}

#[test]
fn triton() {
    let Some(folder) = std::env::var_os("TILEFOLD_TRITON") else {
        eprintln!("SKIPPED: TILEFOLD_TRITON names no folder of code objects that Triton made");
        return;
    };
    let folder = Path::new(&folder);
    let index = std::fs::read_to_string(folder.join("index.tsv")).expect("the folder has an index");
    let entries: Vec<Entry> = index.lines().filter_map(Entry::parse).collect();
    assert!(!entries.is_empty(), "the index is empty");
    // Every failure is told, not the first alone.
    let failures: Vec<String> = entries
        .par_iter()
        .filter_map(|entry| {
            let run = || run(entry, folder);
            let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).err()?;
            Some(match payload.downcast_ref::<String>() {
                Some(message) => message.clone(),
                None => format!("{}: a panic", entry.file),
            })
        })
        .collect();
    eprintln!("{} kernels of Triton ran", entries.len() - failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
