//! GEMMs on vector and on matrix instructions. Small whole numbers, whose sums are exact in any
//! order, are compared exactly; reals within the bound that the roundings set.

use half::{bf16, f16};

use super::{Build, Case, Value, builds, get, in_parallel_of, launch, object, put};
use crate::Numbers;

/// An element type: the bytes of small whole numbers in it.
fn encode(element: &str, values: &[i32]) -> Vec<u8> {
    let small = |value: i32, mantissa: u32, bias: i32| {
        let magnitude = value.unsigned_abs();
        let code = magnitude.checked_ilog2().map_or(0, |log| {
            let fraction = (magnitude << mantissa >> log) & ((1 << mantissa) - 1);
            ((log as i32 + bias) as u32) << mantissa | fraction
        });
        code as u8 | if value < 0 { 0x80 } else { 0 }
    };
    let each = |encode: &dyn Fn(i32) -> Vec<u8>| values.iter().flat_map(|&x| encode(x)).collect();
    match element {
        "f32" => each(&|x| put(&[x as f32])),
        "f16" => each(&|x| put(&[f16::from_f32(x as f32)])),
        "bf16" => each(&|x| put(&[bf16::from_f32(x as f32)])),
        "i8" | "u8" => each(&|x| vec![x as u8]),
        "fp8" => each(&|x| vec![small(x, 3, 7)]),
        "bf8" => each(&|x| vec![small(x, 2, 15)]),
        "i4" => values
            .chunks(2)
            .map(|pair| (pair[0] & 15 | pair[1] << 4) as u8)
            .collect(),
        other => panic!("no element type {other}"),
    }
}

struct Problem {
    a: Vec<i32>,
    b: Vec<i32>,
    m: usize,
    n: usize,
    k: usize,
}

impl Problem {
    fn new(m: usize, n: usize, k: usize, unsigned: bool) -> Problem {
        let mut numbers = Numbers(101);
        let mut matrix = |len: usize| -> Vec<i32> {
            let value = |numbers: &mut Numbers| match unsigned {
                // Beyond what a signed byte holds.
                true => numbers.small() + 200,
                false => numbers.small(),
            };
            (0..len).map(|_| value(&mut numbers)).collect()
        };
        let (a, b) = (matrix(m * k), matrix(n * k));
        Problem { a, b, m, n, k }
    }

    fn expected(&self) -> Vec<i32> {
        let at = |i: usize| {
            let (a, b) = (
                &self.a[i / self.n * self.k..],
                &self.b[i % self.n * self.k..],
            );
            a.iter().zip(b).take(self.k).map(|(a, b)| a * b).sum()
        };
        (0..self.m * self.n).map(at).collect()
    }

    /// Arguments, k in units of so many elements.
    fn values(&self, element: &str, per_unit: usize, out: usize) -> Vec<Value> {
        vec![
            Value::In(encode(element, &self.a)),
            Value::In(encode(element, &self.b)),
            Value::Out(out * self.m * self.n),
            Value::I32(self.n as i32),
            Value::I32((self.k / per_unit) as i32),
        ]
    }
}

#[test]
fn on_vector_instructions() {
    for (kernel, element, per_unit) in [
        ("gemm_f32", "f32", 1),
        ("gemm_f16_dot", "f16", 2),
        ("gemm_f16_packed", "f16", 2),
        ("gemm_i8_dot", "i8", 4),
        ("gemm_bf16", "bf16", 2),
        ("gemm_fp8", "fp8", 4),
    ] {
        let problem = Problem::new(64, 128, 16 * per_unit, false);
        let half = kernel == "gemm_f16_packed";
        let values = problem.values(element, per_unit, if half { 2 } else { 4 });
        let case = Case {
            grid: [2, 1, 1],
            ..Case::new("gemm.cl", kernel, 1, 256, values)
        };
        case.check(|label, out| {
            let got: Vec<i32> = match element {
                "i8" => get(&out[0]),
                _ if half => get::<f16>(&out[0])
                    .iter()
                    .map(|x| x.to_f32() as i32)
                    .collect(),
                _ => get::<f32>(&out[0]).iter().map(|&x| x as i32).collect(),
            };
            assert_eq!(got, problem.expected(), "{label}");
        });
    }
}

#[test]
fn reals_on_vector_instructions() {
    let (m, n, k) = (64, 128, 16);
    let mut numbers = Numbers(102);
    let mut matrix = |len: usize| -> Vec<f32> {
        (0..len)
            .map(|_| numbers.next() as i32 as f32 / 2e9)
            .collect()
    };
    let (a, b) = (matrix(m * k), matrix(n * k));
    let values = vec![
        Value::In(put(&a)),
        Value::In(put(&b)),
        Value::Out(4 * m * n),
        Value::I32(n as i32),
        Value::I32(k as i32),
    ];
    let case = Case {
        grid: [2, 1, 1],
        ..Case::new("gemm.cl", "gemm_f32", 1, 256, values)
    };
    case.check(|label, out| {
        for (i, got) in get::<f32>(&out[0]).into_iter().enumerate() {
            let pairs = || a[i / n * k..].iter().zip(&b[i % n * k..]).take(k);
            let product = |(a, b): (&f32, &f32)| f64::from(*a) * f64::from(*b);
            let sum: f64 = pairs().map(product).sum();
            // Each of k roundings adds at most half a unit of a partial sum.
            let size: f64 = pairs().map(|pair| product(pair).abs()).sum();
            let bound = k as f64 * size * 2_f64.powi(-24);
            let error = (f64::from(got) - sum).abs();
            assert!(error <= bound, "{label} {i}: {got}, not {sum}");
        }
    });
}

/// The kernels on matrix instructions of a chip: name, element, side of a tile, factor of the
/// result.
fn matrix_kernels(chip: &str) -> Vec<(&'static str, &'static str, usize, f32)> {
    let mut kernels = vec![
        ("matrix_f16", "f16", 16, 1.0),
        ("matrix_bf16", "bf16", 16, 1.0),
        ("matrix_i8", "i8", 16, 1.0),
    ];
    if !chip.starts_with("gfx9") {
        kernels.extend([
            ("matrix_half", "f16", 16, 1.0),
            ("matrix_u8", "u8", 16, 1.0),
            ("matrix_i4", "i4", 16, 1.0),
        ]);
    }
    if !chip.starts_with("gfx11") {
        kernels.extend([
            ("matrix_fp8", "fp8", 16, 1.0),
            ("matrix_bf8", "bf8", 16, 1.0),
        ]);
    }
    if chip.starts_with("gfx9") {
        kernels.extend([
            ("matrix_scaled_fp8", "fp8", 16, 0.5),
            ("matrix_f16_32", "f16", 32, 1.0),
            ("matrix_i8_32", "i8", 32, 1.0),
        ]);
    }
    kernels
}

/// The builds, and waves of 64 without optimisation too.
fn with_plain_waves_of_64() -> Vec<Build> {
    let mut all = builds();
    all.extend(["gfx1100", "gfx1201"].map(|chip| Build {
        chip,
        opt: "-O0",
        wave: 64,
        broken: None,
    }));
    all
}

#[test]
fn on_matrix_instructions() {
    in_parallel_of(&with_plain_waves_of_64(), |build| {
        let object = object("matrix.cl", build);
        for (kernel, element, side, factor) in matrix_kernels(build.chip) {
            let label = format!("{kernel} {build:?}");
            let problem = Problem::new(2 * side, 4 * side, 256, element == "u8");
            let per_word = match element {
                "f16" | "bf16" => 2,
                "i4" => 8,
                _ => 4,
            };
            let half = kernel == "matrix_half";
            let values = problem.values(element, per_word, if half { 2 } else { 4 });
            let block = [4 * build.wave, 1, 1];
            let (report, out) = launch(&object, kernel, [2, 1, 1], block, &values, 0)
                .unwrap_or_else(|error| panic!("{label}: {error}"));
            let silent = report.checks.values().all(|&count| count == 0);
            assert!(silent, "{label}: false alarm: {:#?}", report.findings);
            assert!(report.counters.mma > 0, "{label}");
            let expected = problem.expected();
            if element.starts_with('i') || element == "u8" {
                assert_eq!(get::<i32>(&out[0]), expected, "{label}");
            } else if half {
                let got = get::<f16>(&out[0]).into_iter().map(|x| x.to_f32() as i32);
                assert_eq!(got.collect::<Vec<i32>>(), expected, "{label}");
            } else {
                let expected: Vec<f32> = expected.iter().map(|&x| x as f32 * factor).collect();
                assert_eq!(get::<f32>(&out[0]), expected, "{label}");
            }
        }
    });
}
