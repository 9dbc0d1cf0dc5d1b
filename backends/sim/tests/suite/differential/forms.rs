//! From an instruction and its model to all operand forms: encodings, constants, sign modifiers,
//! clamp, DPP and SDWA.

use std::rc::Rc;

use super::harness::{After, Case, Kind, Lane, SCALAR};
use super::parts;

/// What an instruction makes of its sources (zero-extended bits) in a lane: its result and the
/// bit of the mask it writes.
pub type Op = Rc<dyn Fn([u64; 3], &Lane<'_>) -> (u64, bool)>;

/// An instruction.
pub struct Entry {
    /// Without the suffix of an encoding.
    pub name: String,
    /// Suffixes: `e32`, `e64`, `dpp`, `sdwa`, or `3` for none. `!c` leaves out constants, `!l` literals, `!m`
    /// sign modifiers, `!k` clamp.
    pub forms: &'static str,
    /// Operands as [`Case::text`] has them.
    pub operands: &'static str,
    pub kind: Kind,
    /// Bits of the result.
    pub bits: u32,
    /// Whether a 16-bit result clears the other half of its register.
    pub clears: bool,
    pub before: &'static str,
    /// Modifiers after the operands, of all forms.
    pub tail: &'static str,
    pub op: Op,
}

/// A source operand of one form.
#[derive(Clone, Copy)]
pub struct Source {
    class: u8,
    index: usize,
    constant: Option<u64>,
    neg: bool,
    abs: bool,
}

impl Source {
    pub(super) fn bits(self) -> u32 {
        match self.class {
            b'h' => 16,
            b'd' | b'q' => 64,
            _ => 32,
        }
    }

    pub(super) fn float(self) -> bool {
        matches!(self.class, b'f' | b'h' | b'd')
    }

    /// The bits in a lane, modifiers applied.
    pub(super) fn read(self, lane: &Lane<'_>) -> u64 {
        let tuple = lane.tuple();
        let at = self.index;
        let value = self.constant.unwrap_or(match self.class {
            b'f' => tuple.f[at].into(),
            b'i' => tuple.i[at].into(),
            b'p' => tuple.p.into(),
            b'd' => tuple.d[at],
            b'q' => tuple.q[at],
            // Packed instructions see both halves; the others look at the low one themselves.
            _ => tuple.h[at].into(),
        });
        let sign = 1_u64 << (self.bits() - 1);
        let value = if self.abs { value & !sign } else { value };
        if self.neg { value ^ sign } else { value }
    }
}

impl Entry {
    fn has(&self, form: &str) -> bool {
        self.forms.split(' ').any(|word| word == form)
    }

    pub(super) fn sources(&self) -> Vec<Source> {
        let tokens = self.operands.split(", ");
        let source = |token: &str| match *token.as_bytes() {
            [class @ (b'f' | b'i' | b'h' | b'd' | b'q' | b'p'), at] => Some(Source {
                class,
                index: usize::from(at - b'0'),
                constant: None,
                neg: false,
                abs: false,
            }),
            _ => None,
        };
        tokens.filter_map(source).collect()
    }

    /// The old destination, after what comes before the instruction.
    pub(super) fn old(&self, lane: &Lane<'_>) -> u64 {
        let tuple = lane.tuple();
        let low = |value: u32| tuple.old & !0xffff_ffff | u64::from(value);
        match self.before {
            "" => tuple.old,
            "v_mov_b32 D, f2" => low(tuple.f[2]),
            "v_mov_b32 D, i2" => low(tuple.i[2]),
            "v_mov_b32 D, h2" => low(tuple.h[2]),
            "v_mov_b64 DD, d2" => tuple.d[2],
            other => panic!("{other} is no known start"),
        }
    }

    /// Where a result goes.
    pub(super) fn place(&self, value: u64, old: u64) -> u64 {
        match self.bits {
            0 => old,
            16 if self.clears => old & !0xffff_ffff | value & 0xffff,
            16 => old & !0xffff | value & 0xffff,
            32 => old & !0xffff_ffff | value & 0xffff_ffff,
            _ => value,
        }
    }

    /// The text of a form whose sources are written as given.
    pub(super) fn text(&self, suffix: &str, sources: &[String], tail: &str) -> String {
        let mut sources = sources.iter();
        let mut operands: Vec<String> = Vec::new();
        for token in self.operands.split(", ") {
            let is_source = matches!(
                *token.as_bytes(),
                [b'f' | b'i' | b'h' | b'd' | b'q' | b'p', _]
            );
            operands.push(match is_source {
                true => sources.next().unwrap().clone(),
                false => token.to_owned(),
            });
        }
        let operands = operands.join(", ");
        format!("{}{suffix} {operands} {}{tail}", self.name, self.tail)
    }

    /// All cases of the instruction.
    pub fn cases(self, chip: &str) -> Vec<Case> {
        let entry = Rc::new(self);
        let mut cases = Vec::new();
        for form in entry.forms.split(' ') {
            match form {
                "e32" | "e64" | "3" => plain(&entry, chip, form, &mut cases),
                "dpp" => parts::dpp(&entry, chip, &mut cases),
                "sdwa" => parts::sdwa(&entry, &mut cases),
                _ => {}
            }
        }
        cases
    }
}

/// The text of a source and its modifiers.
pub(super) fn written(source: &Source, token: Option<&str>) -> String {
    let name = match token {
        Some(token) => token.to_owned(),
        None => format!("{}{}", char::from(source.class), source.index),
    };
    let name = if source.abs {
        format!("|{name}|")
    } else {
        name
    };
    if source.neg { format!("-{name}") } else { name }
}

/// Constants that a source of a class can be, and their bits.
fn constants(class: u8, literals: bool) -> Vec<(&'static str, u64)> {
    let mut all = match class {
        b'f' => vec![("-4.0", 0xc080_0000), ("0.15915494", 0x3e22_f983), ("7", 7)],
        b'h' => vec![("-4.0", 0xc400), ("0.5", 0x3800)],
        b'd' => vec![("-4.0", 0xc010 << 48), ("0.5", 0x3fe0 << 48)],
        b'q' => vec![("-16", -16_i64 as u64), ("64", 64)],
        _ => vec![("-16", 0xffff_fff0), ("64", 64)],
    };
    match class {
        b'd' | b'q' => all.push(("s[30:31]", SCALAR.into())),
        _ => all.push(("s30", SCALAR.into())),
    }
    if literals {
        match class {
            b'h' => all.push(("0x3e01", 0x3e01)),
            b'd' | b'q' => {}
            _ => all.push(("0x3fb8aa3b", 0x3fb8_aa3b)),
        }
    }
    all
}

fn plain(entry: &Rc<Entry>, chip: &str, form: &str, cases: &mut Vec<Case>) {
    let suffix = match form {
        "e32" => "_e32",
        "e64" => "_e64",
        _ => "",
    };
    let sources = entry.sources();
    let mut push = |sources: Vec<Source>, tokens: &[Option<&str>], tail: &str, clamp: bool| {
        let texts: Vec<String> = sources
            .iter()
            .enumerate()
            .map(|(at, source)| written(source, tokens.get(at).copied().flatten()))
            .collect();
        let kind = entry.kind;
        let entry2 = entry.clone();
        let entry = entry.clone();
        cases.push(Case {
            before: entry.before,
            text: entry.text(suffix, &texts, tail),
            kind,
            model: Rc::new(move |lane| {
                let mut values = [0; 3];
                for (at, source) in sources.iter().enumerate() {
                    values[at] = source.read(lane);
                }
                let (value, mask) = (entry2.op)(values, lane);
                let value = if clamp { clamped(kind, value) } else { value };
                let value = entry2.place(value, entry2.old(lane));
                After { value, mask }
            }),
        });
    };
    push(sources.clone(), &[], "", false);
    let vop3 = form != "e32";
    if !entry.has("!c") && !sources.is_empty() {
        let literals = !entry.has("!l") && (!vop3 || !chip.starts_with("gfx9"));
        let operands = entry.operands;
        let reads_mask = chip.starts_with("gfx9")
            && (operands.ends_with("VCC")
                || operands.ends_with(", C")
                || entry.name.starts_with("v_div_fmas"));
        // The short encodings have constants in their first source alone.
        let places = if vop3 { sources.len() } else { 1 };
        for at in 0..places {
            for (token, bits) in constants(sources[at].class, literals) {
                // One scalar or literal is all that an instruction reads before RDNA, masks too.
                if reads_mask && (token.starts_with('s') || token.starts_with("0x")) {
                    continue;
                }
                let mut with = sources.clone();
                with[at].constant = Some(bits);
                let mut tokens = [None; 3];
                tokens[at] = Some(token);
                push(with, &tokens, "", false);
            }
        }
    }
    let floats: Vec<usize> = (0..sources.len())
        .filter(|&at| sources[at].float())
        .collect();
    if vop3 && !entry.has("!m") {
        // Every source negated, without its sign, and both.
        for &at in &floats {
            for (neg, abs) in [(true, false), (false, true), (true, true)] {
                let mut with = sources.clone();
                (with[at].neg, with[at].abs) = (neg, abs);
                push(with, &[], "", false);
            }
        }
        if floats.len() > 1 {
            let mut with = sources.clone();
            for &at in &floats {
                (with[at].neg, with[at].abs) = (true, at == 1);
            }
            push(with, &[], "", false);
        }
    }
    let float = matches!(
        entry.kind,
        Kind::F32 | Kind::F16 | Kind::F64 | Kind::Close32 | Kind::Close16
    );
    if vop3 && float && !entry.has("!k") {
        push(sources, &[], " clamp", true);
    }
}

/// What `clamp` makes of a float: within [0, 1], NaN and -0 become 0.
fn clamped(kind: Kind, value: u64) -> u64 {
    let (width, one) = match kind {
        Kind::F16 | Kind::Close16 => (16, 0x3c00),
        Kind::F64 => (64, 0x3ff0 << 48),
        _ => (32, 0x3f80_0000),
    };
    let value = value & (u64::MAX >> (64 - width));
    let infinity = match width {
        16 => 0x7c00,
        64 => 0x7ff0 << 48,
        _ => 0x7f80_0000,
    };
    let magnitude = value & !(1 << (width - 1));
    if magnitude != value || magnitude > infinity {
        0
    } else {
        value.min(one)
    }
}
