//! Tiled GEMM kernels with WMMA on every chip, inputs small enough to be exact.

use half::{bf16, f16};
use tilefold_sim::{Arg, Check, Launch, Report, Simulator};

use crate::{Bytes, CHIPS, Numbers, build, floats};

/// The GEMM that the tests and the bench run: C = A x B^T with A of m x k and B of n x k, both
/// with k contiguous, and C of m x n. A workgroup has 2 x 2 waves of 2 x 2 tiles: 64 x 64 of C,
/// through LDS in steps of 16 along k.
pub fn source(chip: &str, element: &str, accumulator: &str) -> String {
    let gfx12 = chip.starts_with("gfx12");
    let suffix = if gfx12 { "w32_gfx12" } else { "w32" };
    let (input, bits) = match element {
        "bf16" => ("short", "short"),
        _ => ("half", "half"),
    };
    let (c_vector, c_scalar) = match (accumulator, gfx12) {
        ("f16", false) => ("half16", "half"),
        ("f16", true) => ("half8", "half"),
        _ => ("float8", "float"),
    };
    let lanes = if gfx12 { 8 } else { 16 };
    let arguments = if accumulator == "f16" && !gfx12 {
        ", 0"
    } else {
        ""
    };
    let (element_of, row) = match (accumulator, gfx12) {
        ("f16", false) => ("2 * r", "2 * r + hi"),
        (_, false) => ("r", "2 * r + hi"),
        (_, true) => ("r", "r + 8 * hi"),
    };
    let fragment = if gfx12 {
        // Lanes of the upper half hold the second eight of k, in A and B alike.
        "*(local vec *)(tile + row * LD + 8 * hi)"
    } else {
        "*(local vec *)(tile + row * LD)"
    };
    format!(
        r"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define LD 24
typedef {input} vec __attribute__((ext_vector_type({lanes}), aligned(16)));
typedef {bits} chunk __attribute__((ext_vector_type(8)));
static vec fragment(local {input} *tile, int row, int hi) {{ return {fragment}; }}
kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void gemm(global const {input} *a, global const {input} *b, global {c_scalar} *c, int n, int k) {{
    local {input} ta[64 * LD], tb[64 * LD];
    int t = get_local_id(0), lane = t % 32, wave = t / 32, lo = lane % 16, hi = lane / 16;
    int m0 = get_group_id(1) * 64, n0 = get_group_id(0) * 64;
    int wm = wave / 2 * 32, wn = wave % 2 * 32;
    {c_vector} acc[2][2] = {{}};
    for (int kk = 0; kk < k; kk += 16) {{
        int row = t / 2, col = t % 2 * 8;
        chunk x = *(global const chunk *)(a + (m0 + row) * k + kk + col);
        chunk y = *(global const chunk *)(b + (n0 + row) * k + kk + col);
        barrier(CLK_LOCAL_MEM_FENCE);
        *(local chunk *)(ta + row * LD + col) = x;
        *(local chunk *)(tb + row * LD + col) = y;
        barrier(CLK_LOCAL_MEM_FENCE);
        vec fa[2], fb[2];
        for (int i = 0; i < 2; ++i) {{
            fa[i] = fragment(ta, wm + 16 * i + lo, hi);
            fb[i] = fragment(tb, wn + 16 * i + lo, hi);
        }}
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                acc[i][j] = __builtin_amdgcn_wmma_{accumulator}_16x16x16_{element}_{suffix}(
                    fa[i], fb[j], acc[i][j]{arguments});
    }}
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            for (int r = 0; r < 8; ++r)
                c[(m0 + wm + 16 * i + {row}) * n + n0 + wn + 16 * j + lo] = acc[i][j][{element_of}];
}}"
    )
}

/// Inputs as f32 and C as f32.
pub fn reference(a: &[f32], b: &[f32], [m, n, k]: [usize; 3]) -> Vec<f32> {
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
    let object = build::compile(chip, &source(chip, element, accumulator));
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
