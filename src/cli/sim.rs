//! `tilefold sim`

use super::{Report, json, print, read_file};
use clap::Args;
use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use half::f16;
use npyz::{DType, NpyFile};
use std::path::{Path, PathBuf};
use tilefold::Error;
use tilefold_sim::{Arg, BufferId, CodeObject, Launch, Memory, Simulator};

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
    /// An argument of the kernel, in its order: in:FILE.npy, out:FILE.npy, inout:FILE.npy are
    /// buffers, written back where they can change (out: the file gives shape and type);
    /// i32:, u32:, i64:, f32:, f16: are numbers.
    #[arg(long = "arg", value_name = "KIND:VALUE")]
    args: Vec<String>,
    /// Bytes of LDS beyond those that the kernel declares.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    dynamic_lds: u32,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "text")]
    report: Report,
}

/// One to three numbers; those left out are 1.
fn triple(text: &str) -> Result<[u32; 3], String> {
    let mut extents = [1; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("give at most three extents".into());
    }
    for (extent, part) in extents.iter_mut().zip(parts) {
        *extent = part
            .trim()
            .parse()
            .map_err(|_| format!("`{part}` is no extent"))?;
    }
    Ok(extents)
}

/// A buffer and the file that it came from.
struct Buffer {
    id: BufferId,
    path: PathBuf,
    /// What stands before the elements: their type and shape.
    header: Vec<u8>,
    writes: bool,
}

/// Executes the kernel, writes its buffers back and prints the report; whether all checks were
/// silent.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let path = &arguments.code_object;
    let bytes = read_file(path, u64::MAX)?;
    let object = CodeObject::load(&bytes)?;
    let mut simulator = Simulator::new();
    let mut buffers = Vec::new();
    let mut args = Vec::new();
    for text in &arguments.args {
        args.push(argument(text, &mut simulator.memory, &mut buffers)?);
    }
    let launch = Launch {
        grid: arguments.grid,
        block: arguments.block,
        args,
        dynamic_lds: arguments.dynamic_lds,
        ..Launch::default()
    };
    let report = simulator.launch(&object, &arguments.kernel, launch)?;
    for buffer in buffers.iter().filter(|buffer| buffer.writes) {
        write(buffer, &simulator.memory.read(buffer.id))?;
    }
    print(&match arguments.report {
        Report::Json => json(&report)?,
        Report::Text => text(&report),
    })?;
    Ok(report.passed())
}

fn text(report: &tilefold_sim::Report) -> String {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    for (name, count) in &report.checks {
        let found = if *count == 0 {
            "silent".into()
        } else {
            format!("{count} findings")
        };
        table.add_row([(*name).to_string(), found]);
    }
    let counters = &report.counters;
    for (name, count) in [
        ("wave instructions", counters.wave_instructions),
        ("matrix instructions", counters.mma),
        (
            "LDS conflict cycles, reads",
            counters.lds_conflict_cycles_read,
        ),
        (
            "LDS conflict cycles, writes",
            counters.lds_conflict_cycles_write,
        ),
        ("bytes of memory read", counters.global_bytes_read),
        ("bytes of memory written", counters.global_bytes_written),
    ] {
        table.add_row([name.to_string(), count.to_string()]);
    }
    let mut text = table.to_string();
    for finding in &report.findings {
        text.push_str(&format!("\n{finding}"));
        for line in &finding.history {
            text.push_str(&format!("\n    {line}"));
        }
    }
    for note in &report.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    text
}

fn argument(text: &str, memory: &mut Memory, buffers: &mut Vec<Buffer>) -> Result<Arg, Error> {
    let wrong = |what: &str| Error::Usage {
        what: format!("--arg {text}: {what}"),
        advice: "write in:FILE.npy, out:FILE.npy, inout:FILE.npy, i32:N, u32:N, i64:N, f32:X or \
                 f16:X"
            .into(),
    };
    let (kind, value) = text
        .split_once(':')
        .ok_or_else(|| wrong("there is no kind"))?;
    let no_number = |_| wrong("the value is no such number");
    Ok(match kind {
        "in" | "out" | "inout" => {
            let path = PathBuf::from(value);
            let (header, bytes) = read(&path)?;
            let id = match kind {
                "in" => memory.alloc_input(&bytes),
                "out" => memory.alloc_output(bytes.len()),
                _ => memory.alloc_inout(&bytes),
            };
            buffers.push(Buffer {
                id,
                path,
                header,
                writes: kind != "in",
            });
            Arg::Buffer(id)
        }
        "i32" => Arg::I32(
            value
                .parse()
                .map_err(|_| wrong("the value is no such number"))?,
        ),
        "u32" => Arg::U32(
            value
                .parse()
                .map_err(|_| wrong("the value is no such number"))?,
        ),
        "i64" => Arg::I64(
            value
                .parse()
                .map_err(|_| wrong("the value is no such number"))?,
        ),
        "f32" => Arg::F32(value.parse().map_err(no_number)?),
        "f16" => Arg::F16(f16::from_f32(value.parse().map_err(no_number)?).to_bits()),
        _ => return Err(wrong("there is no such kind")),
    })
}

/// An array file's header and its elements, as bytes.
fn read(path: &Path) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let mut bytes = read_file(&path.to_path_buf(), u64::MAX)?;
    let file = NpyFile::new(&bytes[..]).map_err(|source| Error::file(path, source))?;
    let unfit = |what: &str| Error::Usage {
        what: format!("{}: {what}", path.display()),
        advice: "take a plain array of numbers, as numpy.save writes it".into(),
    };
    let DType::Plain(element) = file.dtype() else {
        return Err(unfit("a structured array"));
    };
    let size = element
        .num_bytes()
        .ok_or_else(|| unfit("elements of unknown size"))?;
    let count = file
        .shape()
        .iter()
        .try_fold(1_u64, |product, extent| product.checked_mul(*extent));
    let length = count.and_then(|count| usize::try_from(count).ok()?.checked_mul(size));
    // The elements are what the file ends with.
    let start = length.and_then(|length| bytes.len().checked_sub(length));
    let start = start.ok_or_else(|| unfit("it is cut short"))?;
    let elements = bytes.split_off(start);
    Ok((bytes, elements))
}

/// Writes a buffer back in the form of the file that it came from.
fn write(buffer: &Buffer, elements: &[u8]) -> Result<(), Error> {
    let file = [&buffer.header[..], elements].concat();
    std::fs::write(&buffer.path, file).map_err(|source| Error::file(&buffer.path, source))
}
