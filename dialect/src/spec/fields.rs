//! The fields of the spec: their names, their ranges and what is said when they are misspelt.

use std::str::FromStr;

use tilefold_layout::{Layout, ParseError};

use super::error::SpecError;
use super::read::{Field, Node, Table, listed, nearest, shortened};
use crate::element::ElementType;
use crate::plan::{
    Block, Commit, LdsLayout, Lead, PartialAtoms, PartialCopies, PartialCopy, PartialLds,
    PartialMma, PartialPlan, PartialSchedule, PartialTile, Prefetch,
};
use crate::problem::{Extent, MAX_EXTENT, Operand, OperandLayout, Problem};

/// Largest side of a workgroup's tile. LDS holds far less.
const MAX_BLOCK: i64 = 4096;
/// Largest number of waves along one side, buffers, grouped rows and padding elements.
const MAX_COUNT: i64 = 1024;

/// The keys at the top of a spec.
pub(super) const TOP: [&str; 8] = [
    "arch", "gemm", "tile", "atoms", "copy", "mma", "lds", "schedule",
];

const GEMM: [&str; 7] = ["m", "n", "k", "a", "b", "c", "accumulate"];
const OPERAND: [&str; 3] = ["type", "layout", "ld"];

/// The name of the chip.
pub(super) fn arch(root: &Table<'_>) -> Result<String, SpecError> {
    root.required("arch")
}

/// `[gemm]`
pub(super) fn problem(root: &Table<'_>) -> Result<Problem, SpecError> {
    let gemm = root.required_table("gemm", &GEMM)?;
    Ok(Problem {
        m: gemm.required("m")?,
        n: gemm.required("n")?,
        k: gemm.required("k")?,
        a: operand(&gemm, "a")?,
        b: operand(&gemm, "b")?,
        c: operand(&gemm, "c")?,
        accumulate: gemm.required("accumulate")?,
    })
}

fn operand(gemm: &Table<'_>, key: &str) -> Result<Operand, SpecError> {
    let operand = gemm.required_table(key, &OPERAND)?;
    Ok(Operand {
        element: operand.required("type")?,
        layout: operand.required("layout")?,
        ld: operand.get::<Bounded<1, MAX_EXTENT>>("ld")?.map(|ld| ld.0),
    })
}

/// Every table but `[gemm]`.
pub(super) fn plan(root: &Table<'_>) -> Result<PartialPlan, SpecError> {
    let tile = root.table("tile", &["block", "waves"])?;
    let atoms = root.table("atoms", &["mma", "load"])?;
    let copies = root.table("copy", &["a", "b"])?;
    let mma = root.table("mma", &["waves"])?;
    let lds = root.table("lds", &["a", "b", "buffers"])?;
    let schedule = root.table(
        "schedule",
        &[
            "prefetch",
            "cadence",
            "ahead",
            "lead",
            "commit",
            "group_rows",
            "priority",
        ],
    )?;
    Ok(PartialPlan {
        tile: PartialTile {
            block: tile.get("block")?.unwrap_or_default(),
            waves: tile.get::<Waves>("waves")?.map(|waves| waves.0),
        },
        atoms: PartialAtoms {
            mma: atoms.get("mma")?,
            load: atoms.get("load")?,
        },
        copy: PartialCopies {
            a: copy(&copies, "a")?,
            b: copy(&copies, "b")?,
        },
        mma: PartialMma {
            waves: mma.get("waves")?,
        },
        lds: PartialLds {
            a: lds.get("a")?,
            b: lds.get("b")?,
            buffers: lds
                .get::<Bounded<1, 8>>("buffers")?
                .map(|buffers| buffers.0),
        },
        schedule: PartialSchedule {
            prefetch: schedule.get("prefetch")?,
            cadence: schedule
                .get::<Bounded<1, MAX_COUNT>>("cadence")?
                .map(|cadence| cadence.0),
            ahead: schedule
                .get::<Bounded<1, MAX_COUNT>>("ahead")?
                .map(|ahead| ahead.0),
            lead: schedule.get("lead")?,
            commit: schedule.get("commit")?,
            group_rows: schedule
                .get::<Bounded<1, MAX_COUNT>>("group_rows")?
                .map(|rows| rows.0),
            priority: schedule.get("priority")?,
        },
    })
}

fn copy(copies: &Table<'_>, key: &str) -> Result<PartialCopy, SpecError> {
    let copy = copies.table(key, &["threads", "values", "stores"])?;
    Ok(PartialCopy {
        threads: copy.get("threads")?,
        values: copy.get("values")?,
        stores: copy.get("stores")?,
    })
}

/// An integer between two bounds.
struct Bounded<const LOW: i64, const HIGH: i64>(i64);
struct Waves([i64; 2]);

impl<const LOW: i64, const HIGH: i64> Field for Bounded<LOW, HIGH> {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        node.integer(
            LOW..=HIGH,
            &format!("give a whole number from {LOW} to {HIGH}"),
        )
        .map(Self)
    }
}

impl Field for Block {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        let help =
            "m, n and k of one workgroup, as in `block = [128, 96, 64]`; `\"_\"` leaves one open";
        let mut block = Self::default();
        for (item, entry) in node.items(3, help)?.iter().zip(&mut block.0) {
            if !item.is_string() || item.string("an extent", help)? != Self::OPEN {
                *entry = Some(item.integer(1..=MAX_BLOCK, help)?);
            }
        }
        Ok(block)
    }
}

impl Field for Waves {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        node.integers(1..=MAX_COUNT, "waves along m and n, as in `waves = [2, 2]`")
            .map(Self)
    }
}

impl Field for Extent {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        let help = "give a whole number, as in `4096`, or \"any\"";
        if !node.is_string() {
            return node.integer(1..=MAX_EXTENT, help).map(Self::Exact);
        }
        match node.string("an extent", help)? {
            "any" => Ok(Self::Any),
            other => Err(node.error(format!("`{}` is not an extent", shortened(other)), help)),
        }
    }
}

impl Field for String {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        node.string("a name between quotes", "write the name between quotes")
            .map(str::to_owned)
    }
}

impl Field for ElementType {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        let names = Self::ALL.map(Self::name);
        let help = format!("types are {}", listed(&names));
        let text = node.string("an element type", &help)?;
        text.parse().map_err(|_| {
            node.error(
                format!("there is no element type `{}`", shortened(text)),
                did_you_mean(text, &names, help),
            )
        })
    }
}

impl Field for Prefetch {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        named(node, "prefetch", "a way to prefetch", Self::ALL, Self::name)
    }
}

impl Field for Lead {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        named(node, "lead", "an operand", Self::ALL, Self::name)
    }
}

impl Field for Commit {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        named(node, "commit", "a moment", Self::ALL, Self::name)
    }
}

/// One of a few values that have names.
fn named<T: Copy, const N: usize>(
    node: &Node<'_>,
    field: &str,
    expected: &str,
    all: [T; N],
    name: fn(T) -> &'static str,
) -> Result<T, SpecError> {
    let names = all.map(name);
    let help = format!("{field} can be {}", listed(&names));
    let text = node.string(expected, &help)?;
    all.into_iter()
        .find(|value| name(*value) == text)
        .ok_or_else(|| {
            node.error(
                format!("there is no {field} `{}`", shortened(text)),
                did_you_mean(text, &names, help),
            )
        })
}

impl Field for OperandLayout {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        let help = "write `row` (the second coordinate is contiguous), `col` (the first), or a \
                    layout over both, as in `(4096,4096):(1,4096)`";
        match node.string("a layout between quotes", help)? {
            "row" => Ok(Self::Row),
            "col" => Ok(Self::Col),
            text if is_word(text) => Err(node.error(
                format!("there is no layout `{}`", shortened(text)),
                did_you_mean(text, &["row", "col"], help.to_owned()),
            )),
            _ => Layout::read(node).map(Self::Expr),
        }
    }
}

impl Field for LdsLayout {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        let help = "write `none`, `pad(n)` with n elements after each row, `xor`, or a layout \
                    over the tile, as in `Sw<3,3,3> o 0 o (128,64):(64,1)`";
        let text = node.string("a layout between quotes", help)?;
        match text {
            "none" => return Ok(Self::None),
            "xor" => return Ok(Self::Xor),
            _ => {}
        }
        if let Some(count) = text
            .strip_prefix("pad(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            return match count.parse() {
                Ok(elements) if (0..=MAX_COUNT).contains(&elements) => Ok(Self::Pad(elements)),
                _ => Err(node.error_in_string(
                    "pad(".len(),
                    format!(
                        "`{}` is not a number from 0 to {MAX_COUNT}",
                        shortened(count)
                    ),
                    "pad(n) puts n elements after each row, as in `pad(8)`",
                )),
            };
        }
        if is_word(text) || text.starts_with("pad") {
            return Err(node.error(
                format!("there is no LDS layout `{}`", shortened(text)),
                did_you_mean(text, &["none", "xor"], help.to_owned()),
            ));
        }
        parse_layout(node, text, help).map(Self::Expr)
    }
}

impl Field for Layout {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        let help = "a layout is a shape and a stride of the same form, as in \"(16,8):(8,1)\"";
        let text = node.string("a layout between quotes", help)?;
        parse_layout(node, text, help)
    }
}

/// Longest text of a layout. It bounds the work of walking through one.
const MAX_LAYOUT_TEXT: usize = 512;

/// A text in the notation of layouts.
fn parse_layout<T: FromStr<Err = ParseError>>(
    node: &Node<'_>,
    text: &str,
    help: &str,
) -> Result<T, SpecError> {
    if text.len() > MAX_LAYOUT_TEXT {
        return Err(node.error(
            format!(
                "has {} bytes, a layout may have {MAX_LAYOUT_TEXT}",
                text.len()
            ),
            "write the layout with fewer modes",
        ));
    }
    text.parse().map_err(|error| match error {
        ParseError::Syntax {
            offset,
            expected,
            found,
        } => node.error_in_string(
            offset,
            format!("is not a layout: expected {expected}, found {found}"),
            help,
        ),
        ParseError::Rule(error) => node.error(
            shortened(&error.rule.to_string()),
            "change the layout so that the rule holds",
        ),
    })
}

/// What was probably meant, before the help.
fn did_you_mean(text: &str, names: &[&str], help: String) -> String {
    match nearest(text, names) {
        Some(near) => format!("did you mean `{near}`? {help}"),
        None => help,
    }
}

fn is_word(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
}
