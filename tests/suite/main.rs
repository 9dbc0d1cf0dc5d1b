//! Tests of the whole path, from a spec to a judged result.

mod addresses;
mod choices;
mod command;
mod conflicts;
mod estimates;
mod explain;
mod figures;
mod gemm;
mod ladder;
mod large;
mod layout;
mod pairs;
mod ragged;
mod random;
mod refusals;
mod search;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tilefold::Spec;

/// Every chip that kernels are compiled for.
const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A spec of the repository, for another chip.
fn spec(file: &str, chip: &str) -> Spec {
    let mut spec = read(file);
    spec.arch = chip.into();
    spec
}

fn read(file: &str) -> Spec {
    let text = std::fs::read_to_string(repository().join("specs").join(file)).unwrap();
    Spec::from_toml(file, text).unwrap()
}

/// The published ladder's specs that this version has.
const LADDER: [&str; 4] = [
    "ladder/1.toml",
    "ladder/2.toml",
    "ladder/3-pad.toml",
    "ladder/4.toml",
];

/// Runs the command line from the repository's root.
fn tilefold(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilefold"))
        .args(arguments)
        .current_dir(repository())
        .output()
        .unwrap()
}

/// A folder of one test's own for files, empty at first.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
