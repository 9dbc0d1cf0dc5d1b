//! A 1024 x 1024 x 1024 GEMM in f16 on WMMA, 256 x 256 x 16 a workgroup, all checks on; and the
//! same without checks.

#[path = "../tests/suite/build.rs"]
#[allow(dead_code, reason = "the bench uses a part of what the tests share")]
mod build;
#[path = "../tests/suite/sources.rs"]
mod sources;

use divan::counter::ItemsCount;
use divan::{Bencher, Divan};
use tilefold_sim::{Arg, Checks, Launch, Simulator};

const N: usize = 1024;

fn main() {
    Divan::from_args().sample_count(5).main();
}

fn gemm(bencher: Bencher<'_, '_>, chip: &str, checks: Checks) {
    let object = build::compile(chip, &sources::gemm(chip, "f16", "f32", 4, 4));
    let matrix: Vec<u8> = (0..N * N)
        .flat_map(|i| half::f16::from_f32((i * 7 % 5) as f32 - 2.0).to_le_bytes())
        .collect();
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&matrix);
    let b = simulator.memory.alloc_input(&matrix);
    let c = simulator.memory.alloc_output(4 * N * N);
    let launch = Launch {
        grid: [4, 4, 1],
        block: [512, 1, 1],
        args: vec![
            Arg::Buffer(a),
            Arg::Buffer(b),
            Arg::Buffer(c),
            Arg::I32(N as i32),
            Arg::I32(N as i32),
        ],
        checks,
        ..Launch::default()
    };
    let report = simulator
        .launch(&object, "gemm", launch.clone())
        .expect("the kernel runs");
    assert!(report.passed(), "{:#?}", report.findings);
    bencher
        .counter(ItemsCount::new(report.counters.wave_instructions))
        .bench_local(|| simulator.launch(&object, "gemm", launch.clone()));
}

#[divan::bench(args = ["gfx1100", "gfx1201"])]
fn checked(bencher: Bencher<'_, '_>, chip: &str) {
    gemm(bencher, chip, Checks::all());
}

#[divan::bench(args = ["gfx1100", "gfx1201"])]
fn unchecked(bencher: Bencher<'_, '_>, chip: &str) {
    gemm(bencher, chip, Checks::none());
}
