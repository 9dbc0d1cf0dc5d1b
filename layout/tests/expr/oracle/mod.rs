//! Whether an answer is right, judged by the operation's definition on tables of its operands. It
//! shares no arithmetic with the operations. Used by the random run and by the fuzz target.

mod map;
mod numbers;
mod rules;
mod tiled;
mod tiles;

use tilefold_layout::expr::{Value, evaluate};
use tilefold_layout::{Layout, Tiler};

/// What came of an expression.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// An error.
    Refused,
    /// An answer of an operation, or on operands, that no definition here decides.
    Unchecked,
    /// The answer is what the definition says.
    Right,
    /// It is not.
    Wrong(String),
}

/// Judges an expression by its outermost call.
pub fn judge(text: &str) -> Verdict {
    let Ok(result) = evaluate(text) else {
        return Verdict::Refused;
    };
    if let Err(why) = prints(&result) {
        return Verdict::Wrong(format!("{text} = {result}: {why}"));
    }
    let Some((name, operands)) = taken_apart(text) else {
        return Verdict::Unchecked;
    };
    let operands: Result<Vec<Value>, _> = operands.into_iter().map(evaluate).collect();
    let Ok(operands) = operands else {
        return Verdict::Unchecked;
    };
    match bound(name, &operands, &result) {
        None => Verdict::Unchecked,
        Some(true) => Verdict::Right,
        Some(false) => Verdict::Wrong(format!("{text} = {result}")),
    }
}

/// What prints reads back as an equal value; drawings are drawn.
fn prints(value: &Value) -> Result<(), String> {
    let text = value.to_string();
    if let Value::Layout(_) | Value::Coordinates(_) | Value::Symbolic(_) | Value::Swizzle(_) = value
    {
        match evaluate(&text) {
            Ok(again) if again == *value => {}
            // The text does not say what else is known of a name.
            Ok(Value::Symbolic(again)) if again.to_string() == text => {}
            Ok(again) => return Err(format!("reads back as {again}")),
            Err(error) => return Err(error.to_string()),
        }
    }
    match value.drawing_within(3, 3) {
        Some(Ok(drawing)) if drawing.to_text(false).is_empty() => Err("draws as nothing".into()),
        _ => Ok(()),
    }
}

/// The name and the operands of a call.
pub fn taken_apart(text: &str) -> Option<(&str, Vec<&str>)> {
    let text = text.trim();
    let open = text.find('(')?;
    let name = text[..open].trim_end();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(word) {
        return None;
    }
    let inside = text[open + 1..].strip_suffix(')')?;
    let (mut depth, mut start, mut operands) = (0, 0, Vec::new());
    for (i, c) in inside.char_indices() {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(inside[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    operands.push(inside[start..].trim());
    Some((name, operands))
}

/// Judges with every name at several of its values.
fn bound(name: &str, operands: &[Value], result: &Value) -> Option<bool> {
    let mut names: Vec<(String, i64)> = Vec::new();
    for value in operands.iter().chain([result]) {
        for (name, least) in value.names() {
            match names.iter_mut().find(|(known, _)| *known == name) {
                // A common multiple of both is one that either may be.
                Some((_, known)) => *known = known.checked_mul(least)?,
                None => names.push((name, least)),
            }
        }
    }
    if names.is_empty() {
        return rules::right(name, operands, result, false);
    }
    let mut verdict = None;
    for factor in [1, 2, 3, 5] {
        let number =
            |(name, least): &(String, i64)| Some((name.clone(), least.checked_mul(factor)?));
        let numbers: Vec<_> = names.iter().map(number).collect::<Option<_>>()?;
        let with = |value: &Value| with_numbers(value, &numbers);
        let operands: Vec<_> = operands.iter().map(with).collect::<Option<_>>()?;
        match rules::right(name, &operands, &with(result)?, true) {
            Some(false) => return Some(false),
            other => verdict = verdict.or(other),
        }
    }
    verdict
}

fn with_numbers(value: &Value, numbers: &[(String, i64)]) -> Option<Value> {
    let Value::Symbolic(layout) = value else {
        return Some(value.clone());
    };
    let mut layout = layout.clone();
    for (name, number) in numbers {
        layout = layout.bind(name, *number).ok()?;
    }
    Some(match layout.as_offsets() {
        Some(offsets) => Value::from(offsets.to_static().ok()?),
        None => Value::Coordinates(layout.to_static().ok()?),
    })
}

/// The operand as a tiler.
fn tiler(value: &Value) -> Option<Tiler> {
    match value {
        Value::Tiler(tiler) => Some(tiler.clone()),
        Value::Layout(layout) => Some(Tiler::Layout(layout.as_plain()?.clone())),
        other => Some(Tiler::Layout(Layout::compact_left(integer(other)?).ok()?)),
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Tuple(tuple) => tuple.as_int().copied().flatten(),
        _ => None,
    }
}
