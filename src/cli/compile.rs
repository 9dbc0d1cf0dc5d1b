//! `tilefold compile`

use super::{Report, json, print, read_spec};
use clap::Args;
use std::path::PathBuf;
use tilefold::{CompileOptions, Emit, Error, PASSES, compile, report::CompileReport};

/// Arguments of `tilefold compile`.
#[derive(Args)]
pub struct Arguments {
    /// The spec file.
    spec: PathBuf,
    /// Where the code object goes; its manifest goes beside it, with .json behind.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the kernel in this form instead of the report: tile, the name of a pass, rocdl,
    /// llvm, isa; hsaco writes the code object to standard output.
    #[arg(long, value_name = "FORM")]
    emit: Option<String>,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "text")]
    report: Report,
    /// Neither read nor write a cache of kernels. (This version keeps none.)
    #[arg(long)]
    no_cache: bool,
}

/// Compiles, writes what was asked for and prints the report.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let spec = read_spec(&arguments.spec)?;
    let hsaco = arguments.emit.as_deref() == Some("hsaco");
    let emit = match arguments.emit.as_deref() {
        Some("hsaco") | None => None,
        Some(form) => Some(parse_emit(form)?),
    };
    let compiled = compile(&spec, &CompileOptions { emit: emit.clone() })?;
    if let Some(output) = &arguments.output {
        write(output, &compiled.code.hsaco)?;
        let mut manifest = output.clone().into_os_string();
        manifest.push(".json");
        let text = serde_json::to_string_pretty(&compiled.manifest).unwrap_or_default() + "\n";
        write(&PathBuf::from(manifest), text.as_bytes())?;
    }
    if hsaco {
        use std::io::Write;
        let written = std::io::stdout().write_all(&compiled.code.hsaco);
        written.map_err(|source| Error::file("standard output", source))?;
    } else if emit.is_some() {
        match &compiled.emitted {
            Some(text) => print(text.trim_end())?,
            None => return Err(unknown_form(arguments.emit.as_deref().unwrap_or_default())),
        }
    } else {
        let report = CompileReport::new(&compiled);
        print(&match arguments.report {
            Report::Text => report.to_text(),
            Report::Json => json(&report)?,
        })?;
    }
    Ok(true)
}

fn write(path: &PathBuf, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(|source| Error::file(path, source))
}

fn parse_emit(form: &str) -> Result<Emit, Error> {
    match form {
        "tile" => Ok(Emit::Tile),
        "rocdl" => Ok(Emit::Rocdl),
        "llvm" => Ok(Emit::Llvm),
        "isa" => Ok(Emit::Isa),
        _ if PASSES.iter().any(|pass| pass.name == form) => Ok(Emit::Pass(form.into())),
        _ => {
            let passes: Vec<_> = PASSES.iter().map(|pass| pass.name).collect();
            Err(Error::Usage {
                what: format!("--emit {form}: there is no such form"),
                advice: format!(
                    "forms are tile, {}, rocdl, llvm, isa, hsaco",
                    passes.join(", ")
                ),
            })
        }
    }
}

/// The pass exists, but this plan does not call for it.
fn unknown_form(form: &str) -> Error {
    Error::Usage {
        what: format!("--emit {form}: this spec's plan has no such pass"),
        advice: "compile with --report json and read `plan` for the choices made".into(),
    }
}
