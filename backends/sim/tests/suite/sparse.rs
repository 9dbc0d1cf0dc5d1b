//! Buffers and grids far larger than what is touched of them.

use tilefold_sim::{Arg, Element, Fill, Launch, Memory, Pattern, Sample, Simulator};

use crate::{build, floats, sources};

/// Tiles of a product of 64 GiB, compared with sums over the patterns.
#[test]
fn tiles_of_a_huge_gemm() {
    // 256 x 256 tiles; k is short so that the test is, the matrices are as wide as they come.
    let (n, k) = (1_usize << 17, 64_usize);
    for chip in ["gfx1100", "gfx1201"] {
        let source =
            sources::gemm(chip, "f16", "f32", 4, 4).replace(") * n + n0", ") * (long)n + n0");
        let object = build::compile(chip, &source);
        let mut simulator = Simulator::new();
        let pattern = |seed| Pattern {
            element: Element::F16,
            fill: Fill::Small { seed },
        };
        let a = simulator.memory.alloc_pattern(2 * n * k, pattern(1));
        let b = simulator.memory.alloc_pattern(2 * n * k, pattern(2));
        let c = simulator.memory.alloc_output(4 * n * n);
        let tiles = (n / 256) as u32;
        let launch = Launch {
            grid: [tiles, tiles, 1],
            block: [512, 1, 1],
            args: vec![
                Arg::Buffer(a),
                Arg::Buffer(b),
                Arg::Buffer(c),
                Arg::I32(n as i32),
                Arg::I32(k as i32),
            ],
            sample: Some(Sample::Spread(6)),
            ..Launch::default()
        };
        let report = simulator.launch(&object, "gemm", launch).unwrap();
        assert!(report.passed(), "{:#?}", report.findings);
        let sampled = report.sampled.expect("not all ran");
        assert_eq!(sampled.of, u64::from(tiles) * u64::from(tiles));
        assert_eq!(sampled.workgroups.len(), 6);
        assert!(sampled.workgroups.contains(&[tiles - 1, tiles - 1, 0]));
        for &[x, y, _] in &sampled.workgroups {
            for (row, column) in [(0, 0), (17, 255), (128, 3), (255, 100)] {
                let [i, j] = [(y, row), (x, column)].map(|(tile, at)| 256 * u64::from(tile) + at);
                let dot: f64 = (0..k as u64)
                    .map(|at| {
                        pattern(1).value(i * k as u64 + at) * pattern(2).value(j * k as u64 + at)
                    })
                    .sum();
                let at = 4 * (i * n as u64 + j);
                let got = floats(&simulator.memory.read_range(c, at..at + 4));
                assert_eq!(got, [dot as f32], "{chip}: {i},{j}");
            }
        }
        // 1.5 MiB of C, and what was read of A and B.
        assert!(
            report.notes.iter().any(|note| note.starts_with("6 of ")),
            "{:?}",
            report.notes
        );
        assert!(
            simulator.memory.resident() < 4 << 20,
            "{}",
            simulator.memory.resident()
        );
    }
}

#[test]
fn patterns_are_what_kernels_read() {
    const SOURCE: &str = "
kernel void k(global const float *x, global float *y) {
    long i = get_local_id(0) + (long)get_group_id(0) * 1000000000;
    y[i] += 2 * x[i];
}";
    let object = build::compile("gfx1201", SOURCE);
    let mut simulator = Simulator::new();
    let x = Pattern {
        element: Element::F32,
        fill: Fill::Random { seed: 9 },
    };
    let y = Pattern {
        element: Element::F32,
        fill: Fill::Iota,
    };
    let len = 4 * 7_000_000_100;
    let a = simulator.memory.alloc_pattern(len, x);
    let b = simulator.memory.alloc_inout_pattern(len, y);
    let launch = Launch {
        grid: [8, 1, 1],
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    for group in 0..8_u64 {
        let first = group * 1_000_000_000;
        let read = |memory: &Memory| floats(&memory.read_range(b, 4 * first..4 * first + 4 * 65));
        for (at, got) in read(&simulator.memory).into_iter().enumerate() {
            let index = first + at as u64;
            let add = if at < 64 { 2.0 * x.value(index) } else { 0.0 };
            assert_eq!(got, (y.value(index) + add) as f32, "element {index}");
        }
    }
    assert!(simulator.memory.resident() < 100_000);
    assert_eq!(simulator.memory.size(b), Some(len as u64));
}

#[test]
fn given_workgroups_alone_run() {
    let object = build::compile(
        "gfx1100",
        "kernel void k(global int *x) { x[get_group_id(0) + 4 * get_group_id(1)] = 1; }",
    );
    let mut simulator = Simulator::new();
    let x = simulator.memory.alloc_inout(&[0; 4 * 12]);
    let mut launch = Launch {
        grid: [4, 3, 1],
        args: vec![Arg::Buffer(x)],
        sample: Some(Sample::Only(vec![[3, 1, 0], [0, 2, 0]])),
        ..Launch::default()
    };
    simulator.launch(&object, "k", launch.clone()).unwrap();
    let ones: Vec<usize> = (0..12)
        .filter(|at| simulator.memory.read(x)[4 * at] == 1)
        .collect();
    assert_eq!(ones, [7, 8]);
    launch.sample = Some(Sample::Only(vec![[4, 0, 0]]));
    let error = simulator
        .launch(&object, "k", launch)
        .unwrap_err()
        .to_string();
    assert!(error.contains("[4, 0, 0] is not in the grid"), "{error}");
}
