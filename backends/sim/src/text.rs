//! LLVM's text of one instruction, taken apart.
//!
//! Only decoding sees text: `v_fma_f32 v0, -v1, |v2|, 1.0 clamp` becomes a mnemonic, operands and
//! modifiers, from which the instruction families build their micro-operations.

use std::cell::Cell;

/// Register halves of 16-bit operands, written `.l` and `.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Low,
    High,
}

/// Index of `vcc_lo` in the scalar file.
pub(crate) const VCC: u16 = 106;
/// Index of `ttmp0`.
pub(crate) const TTMP: u16 = 108;
/// Index of `null`, which reads as zero and swallows what is written.
pub(crate) const NULL: u16 = 124;
/// Index of `m0`.
pub(crate) const M0: u16 = 125;
/// Index of `exec_lo`.
pub(crate) const EXEC: u16 = 126;
/// Scalar registers, the ones above included, and room for ranges that run past the last one.
pub(crate) const SCALARS: usize = 144;

/// What an operand names, before the instruction says which type it reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Vector registers `first..first + count`; accumulation registers follow from 256.
    Vector {
        first: u16,
        count: u16,
        half: Option<Half>,
    },
    /// Scalar registers `first..first + count`.
    Scalar { first: u16, count: u16 },
    /// An inline integer, sign-extended to the operand's width.
    Int(i64),
    /// A literal, as its bits.
    Literal(u64),
    /// An inline floating-point constant in the operand's own format.
    Float(f64),
    /// Anything else: `off`, `scc`, `hwreg(...)`, `vmcnt(0)`.
    Word(String),
}

/// One operand with its sign modifiers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) neg: bool,
    pub(crate) abs: bool,
    /// Whether the part that SDWA selects is sign-extended.
    pub(crate) sext: bool,
}

/// A modifier: its value is empty for a flag such as `clamp`.
#[derive(Debug, Clone)]
pub(crate) struct Modifier {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether the instruction's family asked for it; what nobody asks for must not be ignored.
    pub(crate) read: Cell<bool>,
}

/// Modifiers that choose how caches treat an access, which changes no result.
const CACHE_POLICY: [&str; 8] = ["glc", "slc", "dlc", "sc0", "sc1", "nt", "th", "scope"];

/// Modifiers that say which lane's first source a lane reads.
const LANE_MOVES: [&str; 15] = [
    "quad_perm",
    "row_shl",
    "row_shr",
    "row_ror",
    "row_mirror",
    "row_half_mirror",
    "row_share",
    "row_xmask",
    "row_bcast",
    "row_newbcast",
    "wave_shl",
    "wave_shr",
    "wave_rol",
    "wave_ror",
    "dpp8",
];

/// One instruction's text in parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    /// Mnemonic without `_e32`, `_e64`, `_dpp`, `_e64_dpp`, `_sdwa`.
    pub(crate) name: String,
    pub(crate) dpp: bool,
    /// Whether sources and result are parts of registers, as gfx9's SDWA encoding selects them.
    pub(crate) sdwa: bool,
    pub(crate) operands: Vec<Operand>,
    pub(crate) modifiers: Vec<Modifier>,
}

impl Line {
    /// Parses one instruction; the halves of a dual instruction are parsed one by one.
    pub(crate) fn parse(text: &str) -> Line {
        let text = text.trim();
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (name, dpp, sdwa) = base_name(mnemonic);
        let mut line = Line {
            name,
            dpp,
            sdwa,
            ..Line::default()
        };
        let mut pieces = split_outside(rest.trim(), ',');
        // The modifiers follow the last operand, separated by spaces.
        if let Some(last) = pieces.pop() {
            let mut words = split_outside(last.trim(), ' ').into_iter();
            if let Some(word) = words.next() {
                pieces.push(word);
            }
            for word in words {
                let (name, value) = word.split_once(':').unwrap_or((word, ""));
                line.modifiers.push(Modifier {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    read: Cell::new(false),
                });
            }
        }
        line.operands = pieces
            .into_iter()
            .map(str::trim)
            .filter(|piece| !piece.is_empty())
            .map(operand)
            .collect();
        // LLVM's disassembler leaves the suffix out of comparisons of RDNA.
        line.dpp |= (line.modifiers.iter()).any(|known| LANE_MOVES.contains(&known.name.as_str()));
        line
    }

    /// The value of a modifier, if it is there.
    pub(crate) fn modifier(&self, name: &str) -> Option<&str> {
        let modifier = self.modifiers.iter().find(|known| known.name == name)?;
        modifier.read.set(true);
        Some(&modifier.value)
    }

    /// A modifier that changes results and that nobody has asked for.
    pub(crate) fn unread(&self) -> Option<&str> {
        self.modifiers
            .iter()
            .map(|modifier| (modifier.name.as_str(), modifier.read.get()))
            .find(|(name, read)| !read && !CACHE_POLICY.contains(name))
            .map(|(name, _)| name)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.modifier(name).is_some()
    }

    /// A modifier that is a number, in decimal or hexadecimal.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.modifier(name).and_then(number)
    }

    /// A modifier that is a list of bits, `name:[1,0,1]`; what is left out is `default`.
    pub(crate) fn bits<const N: usize>(&self, name: &str, default: bool) -> [bool; N] {
        let mut bits = [default; N];
        if let Some(list) = self.modifier(name) {
            for (bit, digit) in bits.iter_mut().zip(list_numbers(list)) {
                *bit = digit != 0;
            }
        }
        bits
    }
}

/// The numbers of `[1,0,3,2]`.
pub(crate) fn list_numbers(list: &str) -> impl Iterator<Item = i64> + '_ {
    list.trim_matches(['[', ']'])
        .split(',')
        .filter_map(|digit| number(digit.trim()))
}

/// A decimal or hexadecimal number.
pub(crate) fn number(text: &str) -> Option<i64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(|bits| bits as i64);
    }
    match text.strip_prefix("-0x") {
        Some(hex) => u32::from_str_radix(hex, 16)
            .ok()
            .map(|bits| -i64::from(bits)),
        None => text.parse().ok(),
    }
}

/// The mnemonic without its encoding, and whether that is DPP or SDWA.
fn base_name(mnemonic: &str) -> (String, bool, bool) {
    let mut name = mnemonic;
    let (mut dpp, mut sdwa) = (false, false);
    for suffix in ["_dpp8", "_dpp", "_sdwa", "_e32", "_e64"] {
        if let Some(shorter) = name.strip_suffix(suffix) {
            name = shorter;
            dpp |= suffix.starts_with("_dpp");
            sdwa |= suffix == "_sdwa";
        }
    }
    (name.to_owned(), dpp, sdwa)
}

/// Splits at `separator` outside brackets, parentheses and quotes.
fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut depth, mut quoted, mut start) = (0_i32, false, 0);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ if c == separator && depth == 0 && !quoted => {
                if start < at {
                    pieces.push(&text[start..at]);
                }
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

fn operand(text: &str) -> Operand {
    let (mut text, mut neg, mut abs) = (text, false, false);
    let inner = text.strip_prefix("sext(").and_then(|t| t.strip_suffix(')'));
    let sext = inner.is_some();
    text = inner.unwrap_or(text);
    if let Some(inner) = text.strip_prefix("neg(").and_then(|t| t.strip_suffix(')')) {
        (text, neg) = (inner, true);
    } else if let Some(inner) = text.strip_prefix('-')
        && inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '|')
    {
        (text, neg) = (inner, true);
    }
    if let Some(inner) = text.strip_prefix('|').and_then(|t| t.strip_suffix('|')) {
        (text, abs) = (inner, true);
    }
    Operand {
        value: value(text),
        neg,
        abs,
        sext,
    }
}

fn value(text: &str) -> Value {
    if let Some(register) = register(text) {
        return register;
    }
    // LLVM marks a literal that an inline constant would have done for.
    let literal = text
        .strip_prefix("lit(")
        .or_else(|| text.strip_prefix("lit64("))
        .and_then(|rest| rest.strip_suffix(')'));
    if let Some(bits) = literal.and_then(number) {
        return Value::Literal(bits as u64);
    }
    if let Some(hex) = text.strip_prefix("0x")
        && let Ok(bits) = u64::from_str_radix(hex, 16)
    {
        return Value::Literal(bits);
    }
    // Below zero in hexadecimal too, as LLVM writes the constants of scalar loads.
    if let Some(int) = number(text) {
        return Value::Int(int);
    }
    if text.contains('.')
        && let Ok(float) = text.parse()
    {
        return Value::Float(float);
    }
    Value::Word(text.to_owned())
}

fn register(text: &str) -> Option<Value> {
    let scalar = |first, count| Some(Value::Scalar { first, count });
    match text {
        // A lane mask is one register in wave32 and two in wave64; both read the same pair.
        "vcc_lo" => return scalar(VCC, 1),
        "vcc_hi" => return scalar(VCC + 1, 1),
        "vcc" => return scalar(VCC, 2),
        "exec_lo" => return scalar(EXEC, 1),
        "exec_hi" => return scalar(EXEC + 1, 1),
        "exec" => return scalar(EXEC, 2),
        "m0" => return scalar(M0, 1),
        "null" => return scalar(NULL, 1),
        _ => {}
    }
    let (body, half) = match text.strip_suffix(".l") {
        Some(body) => (body, Some(Half::Low)),
        None => match text.strip_suffix(".h") {
            Some(body) => (body, Some(Half::High)),
            None => (text, None),
        },
    };
    let digits = body.find(|c: char| c == '[' || c.is_ascii_digit())?;
    let (file, range) = body.split_at(digits);
    let (first, count) = match range.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
        Some(range) => {
            let (first, last) = range.split_once(':').unwrap_or((range, range));
            let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
            (first, last.checked_sub(first)?.checked_add(1)?)
        }
        None => (range.parse().ok()?, 1),
    };
    let end = first.checked_add(count)?;
    match file {
        "v" if end <= 256 => Some(Value::Vector { first, count, half }),
        "a" if end <= 256 => Some(Value::Vector {
            first: first + 256,
            count,
            half,
        }),
        "s" if end <= VCC => scalar(first, count),
        "ttmp" if end <= 16 => scalar(first + TTMP, count),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_modifiers_apart() {
        let line = Line::parse("v_fma_f32 v0, -v1, -|s2|, 0x40490fdb clamp mul:2");
        assert_eq!(line.name, "v_fma_f32");
        assert!(line.operands[1].neg && !line.operands[1].abs);
        assert!(line.operands[2].neg && line.operands[2].abs);
        assert_eq!(line.operands[2].value, Value::Scalar { first: 2, count: 1 });
        assert_eq!(line.operands[3].value, Value::Literal(0x4049_0fdb));
        assert!(line.flag("clamp"));
        assert_eq!(line.number("mul"), Some(2));
    }

    #[test]
    fn halves_ranges_and_lists() {
        let line =
            Line::parse("v_add_f32_e64_dpp v0.h, v[2:5], -1 quad_perm:[1,0,3,2] row_mask:0xf");
        assert_eq!((line.name.as_str(), line.dpp), ("v_add_f32", true));
        assert_eq!(
            line.operands[0].value,
            Value::Vector {
                first: 0,
                count: 1,
                half: Some(Half::High)
            }
        );
        assert_eq!(
            line.operands[1].value,
            Value::Vector {
                first: 2,
                count: 4,
                half: None
            }
        );
        assert_eq!(line.operands[2].value, Value::Int(-1));
        let list: Vec<_> = list_numbers(line.modifier("quad_perm").unwrap()).collect();
        assert_eq!(list, [1, 0, 3, 2]);
        assert_eq!(line.number("row_mask"), Some(15));
    }

    #[test]
    fn nonsense_is_a_word() {
        for text in ["v999", "s[5:2]", "v[0:65535]", "ttmp99", "off"] {
            assert!(matches!(operand(text).value, Value::Word(_)), "{text}");
        }
    }
}
