//! What a spec's text may not exceed, checked before it is parsed.

use super::error::{SpecError, SpecSource};

/// Most bytes of a spec. A spec that says everything has under two thousand.
pub const MAX_BYTES: usize = 64 * 1024;

/// Most brackets open at once, and most dots in one line outside of strings.
const MAX_NESTING: usize = 8;

/// The text, if it is UTF-8 and no longer or deeper than a spec may be.
pub(super) fn check<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, SpecError> {
    if bytes.len() > MAX_BYTES {
        return Err(SpecError::at(
            &SpecSource::plain(name, ""),
            "spec",
            format!("the text is longer than a spec may be, {MAX_BYTES} bytes"),
            "check that this is a spec, and not some other file",
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = error.valid_up_to();
        let source = SpecSource::plain(name, &String::from_utf8_lossy(bytes));
        SpecError::within(
            &source,
            "spec",
            valid..valid + char::REPLACEMENT_CHARACTER.len_utf8(),
            "the text is not UTF-8",
            "save the spec as UTF-8",
        )
    })?;
    let source = || SpecSource::plain(name, text);
    match nesting_fault(text) {
        None => Ok(text),
        Some((at, Fault::Depth)) => Err(SpecError::within(
            &source(),
            "spec",
            at..at + 1,
            format!("tables, arrays or dotted keys nest more than {MAX_NESTING} deep"),
            "a spec nests 3 deep at most, as in `gemm.a.type`",
        )),
        Some((at, Fault::MultiLine)) => Err(SpecError::within(
            &source(),
            "spec",
            at..at + 3,
            "strings of several lines have no use in a spec",
            "write the string between single quotation marks, on one line",
        )),
    }
}

enum Fault {
    Depth,
    MultiLine,
}

/// The first byte at which the text nests too deep to be a spec, or where a multi-line string
/// begins: without those, no string outlives its line, which is what keeps this scan simple.
fn nesting_fault(text: &str) -> Option<(usize, Fault)> {
    let bytes = text.as_bytes();
    let (mut brackets, mut dots, mut at) = (0usize, 0usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => dots = 0,
            b'#' => at += line_rest(&bytes[at..]) - 1,
            b'"' | b'\'' if bytes[at..].starts_with(&[byte; 3]) => {
                return Some((at, Fault::MultiLine));
            }
            b'"' | b'\'' => at += string_length(&bytes[at..]) - 1,
            b'[' | b'{' => brackets += 1,
            b']' | b'}' => brackets = brackets.saturating_sub(1),
            b'.' => dots += 1,
            _ => {}
        }
        if brackets + dots > MAX_NESTING {
            return Some((at, Fault::Depth));
        }
        at += 1;
    }
    None
}

/// Bytes up to the end of the line.
fn line_rest(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .unwrap_or(bytes.len())
}

/// Bytes of the string that begins here, with its quotation marks; an open one ends with its line.
fn string_length(bytes: &[u8]) -> usize {
    let quote = bytes[0];
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' | b'\r' => return at,
            b'\\' if quote == b'"' && !matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
