//! `tilefold run`

use super::{Report, json, print, read_spec};
use clap::Args;
use std::path::PathBuf;
use tilefold::{CompileOptions, Error, Inputs, RunOptions, compile, report::RunReport, run};

/// Arguments of `tilefold run`.
#[derive(Args)]
pub struct Arguments {
    /// The spec file.
    spec: PathBuf,
    /// Rows of A and C, instead of the spec's.
    #[arg(long)]
    m: Option<i64>,
    /// Columns of B and C, instead of the spec's.
    #[arg(long)]
    n: Option<i64>,
    /// Columns of A and rows of B, instead of the spec's.
    #[arg(long)]
    k: Option<i64>,
    /// What the matrices are filled with: signs, small (integers) or random.
    #[arg(long, default_value = "signs")]
    inputs: Inputs,
    /// Seed of the inputs.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "text")]
    report: Report,
    /// Neither read nor write a cache of kernels. (This version keeps none.)
    #[arg(long)]
    no_cache: bool,
}

/// Compiles, executes, compares and prints the report; whether the kernel is right.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let spec = read_spec(&arguments.spec)?;
    let compiled = compile(&spec, &CompileOptions::default())?;
    let options = RunOptions {
        extents: [arguments.m, arguments.n, arguments.k],
        inputs: arguments.inputs,
        seed: arguments.seed,
    };
    let outcome = run(&compiled, &options)?;
    let verdict = outcome.passed();
    let report = RunReport::new(&compiled, outcome);
    print(&match arguments.report {
        Report::Text => report.to_text(),
        Report::Json => json(&report)?,
    })?;
    Ok(verdict)
}
