//! The whole path: compiling a spec, and executing what came of it.

use divan::Bencher;
use tilefold::{CompileOptions, Compiled, RunOptions, Spec, compile, run};
use tilefold_passes::search::plans;

fn main() {
    divan::main();
}

fn spec(file: &str) -> Spec {
    let path = format!("{}/specs/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the specs are part of the repository");
    Spec::from_toml(file, text).expect("the tests read every spec")
}

fn built(file: &str) -> Compiled {
    compile(&spec(file), &CompileOptions::default()).expect("the tests compile every spec")
}

/// A warm process; the command line takes a few milliseconds more.
#[divan::bench(args = ["ladder/1.toml", "ladder/2.toml", "ladder/4.toml", "gemm.toml"])]
fn compile_spec(bencher: Bencher<'_, '_>, file: &str) {
    let spec = spec(file);
    bencher.bench(|| compile(&spec, &CompileOptions::default()));
}

/// Inputs, simulation, reference and comparison; all checks on.
#[divan::bench(args = [256, 512, 1024], sample_count = 5)]
fn run_step_2(bencher: Bencher<'_, '_>, extent: i64) {
    let compiled = built("ladder/2.toml");
    let options = RunOptions {
        extents: [Some(extent); 3],
        ..RunOptions::default()
    };
    bencher.bench(|| run(&compiled, &options));
}

/// Completing an open spec by search, without compiling what it proposes.
#[divan::bench(args = ["gfx1100", "gfx1151", "gfx1201"], sample_count = 10)]
fn search_open_spec(bencher: Bencher<'_, '_>, chip: &str) {
    let mut spec = spec("gemm.toml");
    spec.arch = chip.into();
    bencher.bench(|| plans(&spec).expect("the tests search it"));
}
