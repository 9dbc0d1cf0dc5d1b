//! `tilefold layout`

use super::{Report, json, print};
use clap::{Args, ValueEnum};
use serde_json::json as object;
use std::{
    io::{IsTerminal, Read},
    path::{Path, PathBuf},
};
use tilefold::{ElementType, Error};
use tilefold_layout::{
    ComposedLayout, IntTuple, Nest,
    draw::{BankModel, Drawing, bank_use},
    expr::{FUNCTIONS, Value, evaluate_with},
};
use tilefold_machine::{Access, Machine, Width};

/// Arguments of `tilefold layout`.
#[derive(Args)]
pub struct Arguments {
    /// An expression of the layout algebra, such as "logical_divide((12,8):(8,1), 4:1)"; `-` reads
    /// it from standard input, `functions` lists the functions, and a function's name alone says
    /// how it is called.
    #[arg(
        required_unless_present = "functions",
        default_value = "",
        hide_default_value = true
    )]
    expression: String,
    /// List the functions that expressions are made of.
    #[arg(long)]
    functions: bool,
    /// A number in place of a name among the extents. May be repeated.
    #[arg(long = "let", value_name = "NAME=NUMBER", value_parser = binding)]
    numbers: Vec<(String, i64)>,
    /// Print the whole table and picture, however large; up to 65536 entries.
    #[arg(long)]
    all: bool,
    /// Write the picture as SVG to a file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Show which lanes meet in which LDS banks of this chip, lane i accessing the element at the
    /// layout's offset i.
    #[arg(long, requires = "access")]
    chip: Option<String>,
    /// Bits that each lane accesses: 8, 16, 32, 64, 96 or 128.
    #[arg(long, value_name = "BITS", requires = "chip")]
    access: Option<u32>,
    /// Type of an element.
    #[arg(long, value_name = "TYPE", default_value = "f16", requires = "chip")]
    element: ElementType,
    /// Whether the access reads or writes.
    #[arg(long, value_enum, default_value = "read", requires = "chip")]
    direction: Direction,
    /// The form of the answer.
    #[arg(long, value_enum, default_value = "text")]
    report: Report,
}

#[derive(Clone, Copy, ValueEnum)]
enum Direction {
    Read,
    Write,
}

/// Entries of a table, and rows and columns of a picture, that are printed unasked.
const TABLE: i64 = 256;
const ROWS: usize = 64;
const COLUMNS: usize = 64;

/// Entries that are printed at all.
const WHOLE_TABLE: i64 = 1 << 16;

/// Bytes of an expression, and characters of an error that are shown.
const MAX_EXPRESSION: u64 = 1 << 24;
const MAX_ERROR: usize = 1000;

fn binding(text: &str) -> Result<(String, i64), String> {
    let (name, number) = text.split_once('=').ok_or("expected NAME=NUMBER")?;
    let number = number.trim().parse();
    let number = number.map_err(|error| format!("the number is none: {error}"))?;
    Ok((name.trim().to_string(), number))
}

/// Evaluates the expression, prints the result, its table and its picture.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    if arguments.functions || arguments.expression.trim() == "functions" {
        for function in FUNCTIONS {
            print(function.usage)?;
        }
        return Ok(true);
    }
    let expression = match arguments.expression.as_str() {
        "-" => from_input()?,
        text => text.to_string(),
    };
    if let Some(function) = FUNCTIONS.iter().find(|f| f.name == expression.trim()) {
        print(function.usage)?;
        return Ok(true);
    }
    let numbers: Vec<(&str, i64)> = arguments
        .numbers
        .iter()
        .map(|(name, number)| (name.as_str(), *number))
        .collect();
    let value = evaluate_with(&expression, &numbers).map_err(|error| Error::Usage {
        what: shortened(&error.to_string()),
        advice: "`tilefold layout --functions` lists the functions".into(),
    })?;
    let table = Table::of(&value, if arguments.all { WHOLE_TABLE } else { TABLE });
    let banks = match (&arguments.chip, arguments.access) {
        (Some(chip), Some(bits)) => Some(banks(arguments, &value, chip, bits)?),
        _ => None,
    };
    if let Some(path) = &arguments.svg {
        write_svg(path, &value, banks.as_ref())?;
    }
    if arguments.report == Report::Json {
        print(&json(&report(&value, table.as_ref(), banks.as_ref()))?)?;
        return Ok(true);
    }
    print(&value.to_string())?;
    let names: Vec<String> = value
        .names()
        .iter()
        .map(|(name, least)| format!("{name} = {least}"))
        .collect();
    if !names.is_empty() {
        let names = names.join(", ");
        print(&format!(
            "\nwith {names}, the least; --let NAME=NUMBER takes others:"
        ))?;
    }
    if let Some(table) = table {
        print(&format!("\ntable: {}", table.text()))?;
    }
    if let Some(banks) = &banks {
        print(&format!("\n{} conflict cycles", banks.conflict_cycles))?;
    }
    let (rows, columns) = match arguments.all {
        true => (usize::MAX, usize::MAX),
        false => (ROWS, COLUMNS),
    };
    let picture = match banks {
        Some(banks) => Some(Ok(banks.drawing)),
        None => value.drawing_within(rows, columns),
    };
    match picture {
        Some(Ok(picture)) => {
            print(&format!("\n{}", picture.to_text(coloured()).trim_end()))?;
            if picture.left_out() != (0, 0) {
                print(match value.entries() {
                    Some(size) if size <= WHOLE_TABLE => {
                        "--all draws them here, --svg FILE in a file"
                    }
                    _ => "too many to draw: slice or compose to see another part",
                })?;
            }
        }
        // The picture is beside the answer: too large a one is left out.
        Some(Err(error)) => eprintln!("no picture: {}", shortened(&error.to_string())),
        None => {}
    }
    Ok(true)
}

fn from_input() -> Result<String, Error> {
    let mut text = String::new();
    std::io::stdin()
        .take(MAX_EXPRESSION)
        .read_to_string(&mut text)
        .map_err(|source| Error::file("standard input", source))?;
    Ok(text)
}

/// Escapes colour a terminal that has not been told otherwise (no-color.org).
fn coloured() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    std::io::stdout().is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").is_none_or(|term| term != "dumb")
}

/// The beginning and the end of a text too long to read: an error tells its operands, however
/// large they are.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_ERROR {
        return text.to_string();
    }
    let half = MAX_ERROR / 2;
    let begin: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{begin} ... {end}")
}

fn write_svg(path: &Path, value: &Value, banks: Option<&Banks>) -> Result<(), Error> {
    let refused = |why: String| Error::Usage {
        what: shortened(&why),
        advice: "layouts of up to 65536 coordinates have a picture".into(),
    };
    let drawing = match banks {
        Some(banks) => banks.drawing.clone(),
        None => match value.drawing() {
            Some(drawing) => drawing.map_err(|error| refused(error.to_string()))?,
            None => return Err(refused(format!("{value} has no picture"))),
        },
    };
    std::fs::write(path, drawing.to_svg()).map_err(|source| Error::file(path, source))
}

fn report(value: &Value, table: Option<&Table>, banks: Option<&Banks>) -> serde_json::Value {
    let mut report = object!({ "value": value.to_string() });
    if let Some(table) = table {
        report["table"] = object!(table.entries.iter().map(entry).collect::<Vec<_>>());
        report["entries"] = object!(table.size);
    }
    for (name, least) in value.names() {
        report["names"][name] = object!(least);
    }
    if let Some(banks) = banks {
        report["conflict_cycles"] = object!(banks.conflict_cycles);
    }
    report
}

/// An offset as a number, a coordinate as nested arrays.
fn entry(value: &IntTuple) -> serde_json::Value {
    match value {
        Nest::Int(n) => object!(n),
        Nest::Tuple(items) => items.iter().map(entry).collect(),
    }
}

/// The result as a function of the 1-D coordinate: its first entries.
struct Table {
    entries: Vec<IntTuple>,
    size: i64,
}

impl Table {
    fn of(value: &Value, limit: i64) -> Option<Table> {
        let size = value.entries()?;
        let entries = (0..size.min(limit)).map(|i| value.entry(i));
        Some(Table {
            entries: entries.collect::<Option<_>>()?,
            size,
        })
    }

    fn text(&self) -> String {
        let entries: Vec<_> = self.entries.iter().map(ToString::to_string).collect();
        let listed = entries.len() as i64;
        let entries = entries.join(" ");
        let (more, size) = (self.size - listed, self.size);
        match more {
            0 => entries,
            _ if listed < WHOLE_TABLE => {
                format!("{entries} ... ({more} more of {size}; --all lists up to {WHOLE_TABLE})")
            }
            _ => format!("{entries} ... ({more} more of {size})"),
        }
    }
}

/// The banks of one access of a wave.
struct Banks {
    drawing: Drawing,
    conflict_cycles: i64,
}

fn banks(arguments: &Arguments, value: &Value, chip: &str, bits: u32) -> Result<Banks, Error> {
    let usage = |what: String, advice: &str| Error::Usage {
        what,
        advice: advice.into(),
    };
    let machine = Machine::by_name(chip)
        .map_err(|unknown| usage(unknown.to_string(), "`--chip` takes one of the known chips"))?;
    let width = Width::from_bits(bits).ok_or_else(|| {
        usage(
            format!("no LDS access has {bits} bits"),
            "take 8, 16, 32, 64, 96 or 128",
        )
    })?;
    let lanes = i64::from(machine.wave);
    let layout: ComposedLayout = match value {
        Value::Layout(layout) => layout.clone(),
        // Of a thread-value layout, each lane's first value.
        Value::ThreadValue { layout, .. } => layout.into(),
        _ => {
            return Err(usage(
                shortened(&format!("{value} gives no addresses")),
                "take a layout over the lanes",
            ));
        }
    };
    if layout.size() < lanes {
        return Err(usage(
            format!(
                "{layout} has {} coordinates, a wave of {chip} {lanes} lanes",
                layout.size()
            ),
            "lane i accesses the element at offset i of the layout",
        ));
    }
    let element_bits = i64::from(arguments.element.bits());
    let mut addresses = Vec::new();
    for lane in 0..lanes {
        let bit = layout.at(lane).checked_mul(element_bits);
        let address = bit.filter(|bit| *bit >= 0).map(|bit| bit / 8);
        addresses.push(address.ok_or_else(|| {
            usage(
                format!("lane {lane} has no address"),
                "offsets in LDS are at least zero",
            )
        })?);
    }
    let access = match arguments.direction {
        Direction::Read => Access::Read,
        Direction::Write => Access::Write,
    };
    let groups = machine.lds.groups(width, access);
    let model = BankModel {
        banks: i64::from(machine.lds.banks_of(width, access)),
        width: i64::from(machine.lds.bank_bytes),
        groups: groups
            .iter()
            .map(|group| group.iter().map(|l| usize::from(*l)).collect())
            .collect(),
    };
    let bytes = i64::from(width.bytes());
    let rule =
        |error: tilefold_layout::LayoutError| usage(error.to_string(), "take a smaller layout");
    let uses = bank_use(&addresses, bytes, &model).map_err(rule)?;
    let drawing = Drawing::banks(&addresses, bytes, &model).map_err(rule)?;
    let conflict_cycles = uses.iter().map(|group| (group.cycles() - 1).max(0)).sum();
    Ok(Banks {
        drawing,
        conflict_cycles,
    })
}
