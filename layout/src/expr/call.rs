//! From the parsed expression to its value.

use super::arguments::{Arguments, Failure, as_tiler};
use super::functions::FUNCTIONS;
use super::parse::Expr;
use super::{ExprError, Value};
use crate::tiler::Tiler;

pub(super) fn value(expr: &Expr) -> Result<Value, ExprError> {
    match expr {
        Expr::Literal(value) => Ok(Value::clone(value)),
        Expr::Tiler { offset, modes } => tiler(*offset, modes),
        Expr::Call {
            offset,
            name,
            arguments,
        } => call(*offset, name, arguments),
    }
}

fn tiler(offset: usize, modes: &[Expr]) -> Result<Value, ExprError> {
    let usage = "<tile, ...>";
    let modes = modes.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    let wrong = |found: &Value| ExprError::Arguments {
        offset,
        usage,
        why: format!("a tile is a layout, an integer, `_` or a tiler, not {found}"),
    };
    let tiler = |v: &Value| Ok::<_, ExprError>(as_tiler(v).ok_or_else(|| wrong(v))??);
    let modes = modes.iter().map(tiler).collect::<Result<_, _>>()?;
    Ok(Value::Tiler(Tiler::Modes(modes)))
}

fn call(offset: usize, name: &str, arguments: &[Expr]) -> Result<Value, ExprError> {
    let Some(function) = FUNCTIONS.iter().find(|f| f.name == name) else {
        let nearest = FUNCTIONS.iter().min_by_key(|f| distance(f.name, name));
        return Err(ExprError::UnknownFunction {
            offset,
            name: name.to_string(),
            nearest: nearest.map_or("", |f| f.name),
        });
    };
    let values = arguments.iter().map(value).collect::<Result<Vec<_>, _>>()?;
    let mut arguments = Arguments::new(function.name, values);
    let usage = function.usage;
    match (function.run)(&mut arguments) {
        Ok(_) if arguments.more() => {
            let why = format!("argument {} is one too many", arguments.taken() + 1);
            Err(ExprError::Arguments { offset, usage, why })
        }
        Ok(value) => Ok(value.simplest()?),
        Err(Failure::Arguments(why)) => Err(ExprError::Arguments { offset, usage, why }),
        Err(Failure::Expr(error)) => Err(error),
    }
}

/// Edits between two names, for short names only.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
