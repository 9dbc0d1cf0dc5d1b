//! Tiled GEMM kernels with WMMA on every chip, inputs small enough to be exact.

use half::{bf16, f16};
use tilefold_sim::{Arg, Check, Launch, Report, Simulator};

use crate::{Bytes, CHIPS, Numbers, build, floats};

use crate::sources::gemm as source;

/// Inputs as f32 and C as f32.
fn reference(a: &[f32], b: &[f32], [m, n, k]: [usize; 3]) -> Vec<f32> {
    let mut c = vec![0.0; m * n];
    for (i, c) in c.iter_mut().enumerate() {
        let (row, column) = (i / n * k, i % n * k);
        *c = a[row..row + k]
            .iter()
            .zip(&b[column..column + k])
            .map(|(a, b)| a * b)
            .sum();
    }
    c
}

fn run(chip: &str, element: &str, accumulator: &str) -> (Report, Vec<f32>, Vec<f32>) {
    let [m, n, k] = [128, 192, 80];
    let mut numbers = Numbers(7);
    let mut matrix = |size| {
        (0..size)
            .map(|_| numbers.small() as f32)
            .collect::<Vec<f32>>()
    };
    let (a, b) = (matrix(m * k), matrix(n * k));
    let encode = |values: &[f32]| {
        let bits: Vec<u16> = match element {
            "bf16" => values
                .iter()
                .map(|&x| bf16::from_f32(x).to_bits())
                .collect(),
            _ => values.iter().map(|&x| f16::from_f32(x).to_bits()).collect(),
        };
        bits.bytes()
    };
    let object = build::compile(chip, &source(chip, element, accumulator, 2, 2));
    let mut simulator = Simulator::new();
    let (x, y) = (encode(&a), encode(&b));
    let x = simulator.memory.alloc_input(&x);
    let y = simulator.memory.alloc_input(&y);
    let size = if accumulator == "f16" { 2 } else { 4 };
    let z = simulator.memory.alloc_output(size * m * n);
    let launch = Launch {
        grid: [n as u32 / 64, m as u32 / 64, 1],
        block: [128, 1, 1],
        args: vec![
            Arg::Buffer(x),
            Arg::Buffer(y),
            Arg::Buffer(z),
            Arg::I32(n as i32),
            Arg::I32(k as i32),
        ],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "gemm", launch).unwrap();
    let bytes = simulator.memory.read(z);
    let c = match accumulator {
        "f16" => bytes
            .chunks_exact(2)
            .map(|half| f16::from_le_bytes([half[0], half[1]]).to_f32())
            .collect(),
        _ => floats(&bytes),
    };
    (report, c, reference(&a, &b, [m, n, k]))
}

#[test]
fn f16_and_bf16_with_f32_accumulators() {
    for chip in CHIPS {
        for element in ["f16", "bf16"] {
            let (report, c, expected) = run(chip, element, "f32");
            assert!(report.passed(), "{chip} {element}: {:#?}", report.findings);
            assert_eq!(c, expected, "{chip} {element}");
            assert_eq!(report.counters.mma, 8 * 12 * 5, "{chip} {element}");
        }
    }
}

#[test]
fn f16_accumulators() {
    for chip in CHIPS {
        let (report, c, expected) = run(chip, "f16", "f16");
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        assert_eq!(c, expected, "{chip}");
        assert_eq!(report.count(Check::LdsRace), 0);
    }
}
