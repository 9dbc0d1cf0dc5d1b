//! `tilefold layout`

use super::{Report, json, print};
use clap::{Args, ValueEnum};
use serde_json::json as object;
use std::{io::IsTerminal, path::PathBuf};
use tilefold::{ElementType, Error};
use tilefold_layout::{
    draw::{BankModel, Drawing, bank_use},
    expr::{FUNCTIONS, Value, evaluate},
};
use tilefold_machine::{Access, Machine, Width};

/// Arguments of `tilefold layout`.
#[derive(Args)]
pub struct Arguments {
    /// An expression of the layout algebra, such as "logical_divide((12,8):(8,1), 4:1)".
    #[arg(
        required_unless_present = "functions",
        default_value = "",
        hide_default_value = true
    )]
    expression: String,
    /// List the functions that expressions are made of.
    #[arg(long)]
    functions: bool,
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

/// Tables of more coordinates are not printed.
const MAX_TABLE: i64 = 256;

/// Evaluates the expression, prints the result, its table and its picture.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    if arguments.functions {
        for function in FUNCTIONS {
            print(function.usage)?;
        }
        return Ok(true);
    }
    let value = evaluate(&arguments.expression).map_err(|error| Error::Usage {
        what: error.to_string(),
        advice: "`tilefold layout --functions` lists the functions".into(),
    })?;
    let table = table(&value);
    let banks = match (&arguments.chip, arguments.access) {
        (Some(chip), Some(bits)) => Some(banks(arguments, &value, chip, bits)?),
        _ => None,
    };
    let picture = match &banks {
        Some(banks) => Some(banks.drawing.clone()),
        None => value.drawing().transpose().or_else(|error| {
            // The picture is beside the answer: too large a one is left out.
            eprintln!("no picture: {error}");
            Ok::<_, Error>(None)
        })?,
    };
    if let Some(path) = &arguments.svg {
        let svg = picture
            .as_ref()
            .map(Drawing::to_svg)
            .ok_or_else(|| Error::Usage {
                what: format!("{value} has no picture"),
                advice: "layouts of up to 65536 coordinates have one".into(),
            })?;
        std::fs::write(path, svg).map_err(|source| Error::file(path, source))?;
    }
    if arguments.report == Report::Json {
        let mut report = object!({ "value": value.to_string() });
        if let Some(table) = &table {
            report["table"] = object!(table);
        }
        if let Some(banks) = &banks {
            report["conflict_cycles"] = object!(banks.conflict_cycles);
        }
        print(&json(&report)?)?;
        return Ok(true);
    }
    print(&value.to_string())?;
    if let Some(table) = table {
        let numbers: Vec<_> = table.iter().map(ToString::to_string).collect();
        print(&format!("\ntable: {}", numbers.join(" ")))?;
    }
    if let Some(banks) = &banks {
        print(&format!("\n{} conflict cycles", banks.conflict_cycles))?;
    }
    if let Some(picture) = picture {
        let colour = std::io::stdout().is_terminal();
        print(&format!("\n{}", picture.to_text(colour).trim_end()))?;
    }
    Ok(true)
}

/// The result as a function of the 1-D coordinate, where it is a small layout.
fn table(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::Layout(layout) if layout.size() <= MAX_TABLE => Some(layout.offsets().collect()),
        Value::ThreadValue { layout, .. } if layout.size() <= MAX_TABLE => {
            Some(layout.offsets().collect())
        }
        _ => None,
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
    let machine = Machine::by_name(chip).map_err(|unknown| {
        usage(
            unknown.to_string(),
            &format!("known chips: {}", unknown.known.join(", ")),
        )
    })?;
    let width = Width::from_bits(bits).ok_or_else(|| {
        usage(
            format!("no LDS access has {bits} bits"),
            "take 8, 16, 32, 64, 96 or 128",
        )
    })?;
    let lanes = i64::from(machine.wave);
    let Value::Layout(layout) = value else {
        return Err(usage(
            format!("{value} gives no addresses"),
            "take a layout over the lanes",
        ));
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
