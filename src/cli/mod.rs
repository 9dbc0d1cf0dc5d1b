//! Commands, their reports and exit statuses.

mod compile;
mod explain;
mod ladder;
mod layout;
mod run;
mod sim;

use clap::{Parser, Subcommand, ValueEnum};
use miette::{GraphicalReportHandler, GraphicalTheme};
use std::{io::IsTerminal, path::PathBuf, process::ExitCode};
use tilefold::{Error, MAX_BYTES, Spec};

/// Compiles GEMM kernels for AMD GPUs and proves them on a simulator.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
pub struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Compile a spec to a code object, and report its resources.
    Compile(compile::Arguments),
    /// Compile a spec, execute it on the simulator and compare with the reference.
    Run(run::Arguments),
    /// Execute a kernel of any code object on the simulator.
    Sim(sim::Arguments),
    /// Say what was chosen for a spec, why, and what was beaten.
    Explain(explain::Arguments),
    /// Compile and run the published ladder's steps, beside their published figures.
    Ladder(ladder::Arguments),
    /// Evaluate an expression of the layout algebra and draw it.
    Layout(layout::Arguments),
}

/// Forms of a report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Report {
    /// Tables for a terminal.
    Text,
    /// JSON, on one line.
    Json,
}

/// The answer is no: a mismatch or a failed check.
const NO: u8 = 1;
/// The input is wrong.
const WRONG: u8 = 2;
/// A fault of Tilefold's own.
const FAULT: u8 = 3;

/// Runs a command.
pub fn main(command: Command) -> ExitCode {
    let verdict = match command.verb {
        Verb::Compile(arguments) => compile::main(&arguments),
        Verb::Run(arguments) => run::main(&arguments),
        Verb::Sim(arguments) => sim::main(&arguments),
        Verb::Explain(arguments) => explain::main(&arguments),
        Verb::Ladder(arguments) => ladder::main(&arguments),
        Verb::Layout(arguments) => layout::main(&arguments),
    };
    match verdict {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(NO),
        Err(error) => {
            eprintln!("{}", render(&error));
            ExitCode::from(if error.is_internal() { FAULT } else { WRONG })
        }
    }
}

/// The error as people read it: where, which rule, what would do. Plain where it goes to a file.
fn render(error: &Error) -> String {
    let theme = if std::io::stderr().is_terminal() {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let mut text = String::new();
    match GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .render_report(&mut text, error)
    {
        Ok(()) => text.trim_end().to_string(),
        Err(_) => error.to_string(),
    }
}

/// Reads a spec file.
fn read_spec(path: &PathBuf) -> Result<Spec, Error> {
    let bytes = read_file(path, MAX_BYTES as u64 + 1)?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    Ok(Spec::from_toml(&name, bytes)?)
}

/// Reads a regular file, at most `limit` bytes of it: a device or a pipe may never end.
fn read_file(path: &PathBuf, limit: u64) -> Result<Vec<u8>, Error> {
    use std::io::Read;
    let failed = |source| Error::file(path, source);
    let kind = std::fs::metadata(path).map_err(failed)?;
    if !kind.is_file() {
        return Err(Error::Usage {
            what: format!("{} is no regular file", path.display()),
            advice: "give the name of a file".into(),
        });
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Prints to standard output; a reader that has gone away is no error.
fn print(text: &str) -> Result<(), Error> {
    use std::io::Write;
    match writeln!(std::io::stdout(), "{text}") {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::file("standard output", source))
        }
        _ => Ok(()),
    }
}

/// A report as JSON on one line.
fn json(report: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(report).map_err(|error| Error::Usage {
        what: format!("the report cannot be written as JSON: {error}"),
        advice: "this is a fault of Tilefold: please report it".into(),
    })
}
