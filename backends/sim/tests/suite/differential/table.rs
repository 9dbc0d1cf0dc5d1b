//! The table of a chip's instructions, as the models fill it.

use std::rc::Rc;

use super::forms::{Entry, Op};
use super::harness::{After, Case, Kind, Lane};

pub struct Table {
    pub chip: &'static str,
    pub cases: Vec<Case>,
}

/// A model of 32-bit words: `words!(|a, b| result)`.
macro_rules! words {
    (|$a:ident| $body:expr) => {
        $crate::differential::table::op(move |[a, ..], _| {
            let $a = a as u32;
            let value: u32 = $body;
            (value.into(), false)
        })
    };
    (|$a:ident, $b:ident| $body:expr) => {
        $crate::differential::table::op(move |[a, b, _], _| {
            let ($a, $b) = (a as u32, b as u32);
            let value: u32 = $body;
            (value.into(), false)
        })
    };
    (|$a:ident, $b:ident, $c:ident| $body:expr) => {
        $crate::differential::table::op(move |[a, b, c], _| {
            let ($a, $b, $c) = (a as u32, b as u32, c as u32);
            let value: u32 = $body;
            (value.into(), false)
        })
    };
}
pub(super) use words;

pub fn op(model: impl Fn([u64; 3], &Lane<'_>) -> (u64, bool) + 'static) -> Op {
    Rc::new(model)
}

/// A model of 64-bit values, narrower sources zero-extended.
pub fn longs(model: impl Fn(u64, u64, u64) -> u64 + 'static) -> Op {
    op(move |[a, b, c], _| (model(a, b, c), false))
}

/// A model of two words and the lane's bit in VCC, that may write a bit.
pub fn flags(model: impl Fn(u32, u32, bool) -> (u32, bool) + 'static) -> Op {
    op(move |[a, b, _], lane| {
        let (value, flag) = model(a as u32, b as u32, lane.carry);
        (value.into(), flag)
    })
}

impl Table {
    pub fn gfx9(&self) -> bool {
        self.chip.starts_with("gfx9")
    }

    pub fn gfx12(&self) -> bool {
        self.chip.starts_with("gfx12")
    }

    pub fn case(
        &mut self,
        text: impl Into<String>,
        kind: Kind,
        model: impl Fn(&Lane<'_>) -> After + 'static,
    ) {
        self.cases.push(Case {
            before: "",
            text: text.into(),
            kind,
            model: Rc::new(model),
        });
    }

    pub fn entry(&mut self, entry: Entry) {
        let mut entry = entry;
        if !self.gfx9() && entry.forms.contains("sdwa") {
            entry.forms = entry.forms.split(" sdwa").next().unwrap_or_default();
        }
        self.cases.extend(entry.cases(self.chip));
    }

    fn of(&self, name: &str, forms: &'static str, operands: &'static str, op: Op) -> Entry {
        Entry {
            name: name.to_owned(),
            forms,
            operands,
            kind: Kind::Bits,
            bits: 32,
            clears: false,
            before: "",
            tail: "",
            op,
        }
    }

    /// A result of 32 bits.
    pub fn word(&mut self, name: &str, forms: &'static str, operands: &'static str, op: Op) {
        self.entry(self.of(name, forms, operands, op));
    }

    /// A result of 64 bits.
    pub fn long(&mut self, name: &str, forms: &'static str, operands: &'static str, op: Op) {
        let bits = 64;
        self.entry(Entry {
            bits,
            ..self.of(name, forms, operands, op)
        });
    }

    /// A result of any kind.
    pub fn kind(
        &mut self,
        name: &str,
        forms: &'static str,
        operands: &'static str,
        (kind, bits): (Kind, u32),
        op: Op,
    ) {
        let clears = bits == 16 && self.gfx9();
        self.entry(Entry {
            kind,
            bits,
            clears,
            ..self.of(name, forms, operands, op)
        });
    }

    /// The same with an accumulator that is the destination, set by `before`.
    pub fn accumulating(
        &mut self,
        name: &str,
        forms: &'static str,
        operands: &'static str,
        before: &'static str,
        (kind, bits): (Kind, u32),
        op: Op,
    ) {
        self.entry(Entry {
            kind,
            bits,
            before,
            ..self.of(name, forms, operands, op)
        });
    }

    /// A result of 16 bits in the low half, which clears the other one on gfx9.
    pub fn short(&mut self, name: &str, forms: &'static str, operands: &'static str, op: Op) {
        self.kind(name, forms, operands, (Kind::Bits, 16), op);
    }

    /// One that keeps the other half everywhere.
    pub fn keeping(&mut self, name: &str, forms: &'static str, operands: &'static str, op: Op) {
        let bits = 16;
        self.entry(Entry {
            bits,
            ..self.of(name, forms, operands, op)
        });
    }

    /// The same with a modifier.
    pub fn kept(
        &mut self,
        name: &str,
        forms: &'static str,
        operands: &'static str,
        tail: &'static str,
        op: Op,
    ) {
        let bits = 16;
        self.entry(Entry {
            bits,
            tail,
            ..self.of(name, forms, operands, op)
        });
    }

    /// A result of bits, with a modifier.
    pub fn tail(
        &mut self,
        name: &str,
        forms: &'static str,
        operands: &'static str,
        bits: u32,
        tail: &'static str,
        op: Op,
    ) {
        let clears = bits == 16 && self.gfx9();
        self.entry(Entry {
            bits,
            clears,
            tail,
            ..self.of(name, forms, operands, op)
        });
    }

    /// A result of any kind, with a modifier.
    pub fn tail_kind(
        &mut self,
        name: &str,
        forms: &'static str,
        operands: &'static str,
        (kind, bits): (Kind, u32),
        tail: &'static str,
        op: Op,
    ) {
        self.entry(Entry {
            kind,
            bits,
            tail,
            ..self.of(name, forms, operands, op)
        });
    }

    /// A result in the high half; the low one stays.
    pub fn high(&mut self, name: &str, operands: &'static str, tail: &'static str, model: Op) {
        let whole = op(move |sources, lane| {
            let (value, flag) = model(sources, lane);
            (value << 16 | lane.tuple().old & 0xffff, flag)
        });
        self.entry(Entry {
            tail,
            ..self.of(name, "3 !c !m", operands, whole)
        });
    }

    /// A result and a mask.
    pub fn masked(
        &mut self,
        name: &str,
        forms: &'static str,
        operands: &'static str,
        bits: u32,
        kind: Kind,
        model: impl Fn(u64, u64, u64) -> (u64, bool) + 'static,
    ) {
        let op = op(move |[a, b, c], _| model(a, b, c));
        self.entry(Entry {
            bits,
            kind,
            ..self.of(name, forms, operands, op)
        });
    }

    /// A mask alone.
    pub fn mask(
        &mut self,
        name: &str,
        forms: &'static str,
        operands: &'static str,
        model: impl Fn(u64, u64) -> bool + 'static,
    ) {
        let op = op(move |[a, b, _], _| (0, model(a, b)));
        let bits = 0;
        self.entry(Entry {
            bits,
            ..self.of(name, forms, operands, op)
        });
    }
}
