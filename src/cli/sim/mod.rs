//! `tilefold sim`

mod argument;
mod npy;
mod report;

use super::{Report, json, print, read_file};
use argument::{Given, SYNTAX, argument};
use clap::{Args, builder::PossibleValuesParser};
use std::path::PathBuf;
use tilefold::Error;
use tilefold_sim::{Check, Checks, CodeObject, Launch, Sample, Simulator, Trace};

/// Arguments of `tilefold sim`.
#[derive(Args)]
pub struct Arguments {
    /// The code object: an ELF file for a chip that is simulated.
    code_object: PathBuf,
    /// The kernel's name.
    #[arg(long)]
    kernel: String,
    /// Workgroups along x, y and z.
    #[arg(long, value_name = "X,Y,Z", value_parser = triple)]
    grid: [u32; 3],
    /// Work-items of a workgroup along x, y and z.
    #[arg(long, value_name = "X,Y,Z", value_parser = triple)]
    block: [u32; 3],
    /// An argument of the kernel, in its order.
    #[arg(long = "arg", value_name = "KIND:VALUE", help = SYNTAX)]
    args: Vec<String>,
    /// Bytes of LDS beyond those that the kernel declares.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    dynamic_lds: u32,
    /// Checks to switch off.
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = checks())]
    off: Vec<String>,
    /// Run about this many workgroups alone: the corners of the grid, some of its edges and some
    /// of its inside.
    #[arg(long, value_name = "N", conflicts_with = "only",
          value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Run this workgroup alone, and others given so.
    #[arg(long, value_name = "X,Y,Z", value_parser = place)]
    only: Vec<[u32; 3]>,
    /// Write what a wave does to a file: every instruction with the values that it wrote.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The wave to trace.
    #[arg(long, value_name = "X,Y,Z:WAVE", value_parser = wave, default_value = "0,0,0:0",
          requires = "trace")]
    trace_wave: ([u32; 3], u32),
    /// Most instructions in the trace.
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "trace")]
    trace_limit: u64,
    /// Most instructions that one wave may execute.
    #[arg(long, value_name = "N", default_value_t = Launch::default().max_instructions)]
    max_instructions: u64,
    /// Instructions to list in the text report, those executed most often first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    hot: usize,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "text")]
    report: Report,
}

fn checks() -> PossibleValuesParser {
    PossibleValuesParser::new(Check::ALL.map(Check::name))
}

/// One to three numbers; those left out are `default`.
fn numbers(text: &str, default: u32) -> Result<[u32; 3], String> {
    let mut extents = [default; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("give at most three numbers".into());
    }
    for (extent, part) in extents.iter_mut().zip(parts) {
        *extent = part
            .trim()
            .parse()
            .map_err(|_| format!("`{part}` is no number"))?;
    }
    Ok(extents)
}

fn triple(text: &str) -> Result<[u32; 3], String> {
    numbers(text, 1)
}

fn place(text: &str) -> Result<[u32; 3], String> {
    numbers(text, 0)
}

fn wave(text: &str) -> Result<([u32; 3], u32), String> {
    let (workgroup, wave) = text.split_once(':').unwrap_or((text, "0"));
    let wave = wave
        .trim()
        .parse()
        .map_err(|_| format!("`{wave}` is no number of a wave"))?;
    Ok((place(workgroup)?, wave))
}

/// Executes the kernel, writes its buffers back and prints the report; whether all checks were
/// silent.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let path = &arguments.code_object;
    let bytes = read_file(path, u64::MAX)?;
    let object = CodeObject::load(&bytes)?;
    let mut simulator = Simulator::new();
    let mut outputs = Vec::new();
    let mut args = Vec::new();
    for text in &arguments.args {
        let Given { arg, output } = argument(text, &mut simulator.memory)?;
        args.push(arg);
        outputs.extend(output);
    }
    let mut checks = Checks::all();
    for name in &arguments.off {
        let check = Check::by_name(name).map_err(|error| Error::Usage {
            what: format!("--off {name}"),
            advice: error.to_string(),
        })?;
        checks = checks.without(check);
    }
    let launch = Launch {
        grid: arguments.grid,
        block: arguments.block,
        args,
        dynamic_lds: arguments.dynamic_lds,
        checks,
        sample: match (arguments.sample, &arguments.only[..]) {
            (Some(most), _) => Some(Sample::Spread(most)),
            (None, []) => None,
            (None, only) => Some(Sample::Only(only.to_vec())),
        },
        trace: arguments.trace.as_ref().map(|_| Trace {
            workgroup: arguments.trace_wave.0,
            wave: arguments.trace_wave.1,
            limit: arguments.trace_limit,
        }),
        max_instructions: arguments.max_instructions,
    };
    let result = simulator.launch(&object, &arguments.kernel, launch);
    if let (Some(path), Some(trace)) = (&arguments.trace, simulator.unfinished_trace.take()) {
        std::fs::write(path, trace).map_err(|source| Error::file(path, source))?;
    }
    let mut report = result.inspect_err(|_| {
        for finding in &simulator.unfinished_findings {
            eprintln!("before the error: {}", report::finding(finding));
        }
    })?;
    for output in &outputs {
        npy::write(output, &simulator.memory)?;
    }
    if let Some(path) = &arguments.trace {
        match report.trace.take() {
            Some(trace) => {
                std::fs::write(path, trace).map_err(|source| Error::file(path, source))?;
            }
            None => report
                .notes
                .push("there is no trace: its workgroup is not among those that ran".into()),
        }
    }
    print(&match arguments.report {
        Report::Json => json(&report)?,
        Report::Text => report::text(&report, arguments.hot),
    })?;
    Ok(report.passed())
}
