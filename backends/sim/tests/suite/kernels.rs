//! Whole kernels without matrix instructions.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{Bytes, CHIPS, Numbers, build, floats, words};

#[test]
fn vector_add_with_a_ragged_end() {
    const SOURCE: &str = r"
kernel void add(global const float *x, global const float *y, global float *z, int n) {
    int i = get_group_id(0) * 128 + get_local_id(0);
    if (i < n) z[i] = x[i] + y[i];
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let mut simulator = Simulator::new();
        let n = 1000;
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_input(&y.bytes());
        let c = simulator.memory.alloc_output(4 * n);
        let report = simulator
            .launch(
                &object,
                "add",
                Launch {
                    grid: [8, 1, 1],
                    block: [128, 1, 1],
                    args: vec![
                        Arg::Buffer(a),
                        Arg::Buffer(b),
                        Arg::Buffer(c),
                        Arg::I32(n as i32),
                    ],
                    ..Launch::default()
                },
            )
            .unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert_eq!(floats(&simulator.memory.read(c)), expected, "{chip}");
        assert_eq!(report.counters.global_bytes_read, 8 * n as u64);
        assert_eq!(report.counters.global_bytes_written, 4 * n as u64);
    }
}

pub const TRANSPOSE: &str = r"
kernel void transpose(global const uint *x, global uint *y, int n) {
    local uint tile[32 * 33];
    int lx = get_local_id(0), ly = get_local_id(1);
    int bx = get_group_id(0) * 32, by = get_group_id(1) * 32;
    for (int j = 0; j < 32; j += 8)
        tile[(ly + j) * 33 + lx] = x[(by + ly + j) * n + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 32; j += 8)
        y[(bx + ly + j) * n + by + lx] = tile[lx * 33 + ly + j];
}";

#[test]
fn transpose_through_lds() {
    for chip in CHIPS {
        let object = build::compile(chip, TRANSPOSE);
        let mut simulator = Simulator::new();
        let n = 96;
        let x: Vec<u32> = (0..n * n).collect();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_output(4 * x.len());
        let launch = Launch {
            grid: [3, 3, 1],
            block: [32, 8, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::U32(n)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "transpose", launch).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        let expected: Vec<u32> = (0..n * n).map(|i| (i % n) * n + i / n).collect();
        assert_eq!(words(&simulator.memory.read(b)), expected, "{chip}");
        // A row of 33 words puts a column of 32 into 32 banks.
        assert_eq!(report.counters.lds_conflict_cycles_read, 0, "{chip}");
        assert_eq!(report.counters.lds_conflict_cycles_write, 0, "{chip}");
    }
}

#[test]
fn reduction_with_divergence_and_atomics() {
    const SOURCE: &str = r"
kernel void reduce(global const int *x, global int *sum, int n) {
    local int part[256];
    int l = get_local_id(0);
    int s = 0;
    for (int i = get_group_id(0) * 256 + l; i < n; i += 256 * 4) s += x[i];
    part[l] = s;
    for (int stride = 128; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < stride) part[l] += part[l + stride];
    }
    if (l == 0) atomic_add(sum, part[0]);
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let mut numbers = Numbers(1);
        let x: Vec<u32> = (0..5000).map(|_| numbers.small() as u32).collect();
        let expected: i32 = x.iter().map(|&x| x as i32).sum();
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_inout(&[0; 4]);
        let launch = Launch {
            grid: [4, 1, 1],
            block: [256, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::U32(x.len() as u32)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "reduce", launch).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        assert_eq!(
            words(&simulator.memory.read(b)),
            [expected as u32],
            "{chip}"
        );
    }
}
