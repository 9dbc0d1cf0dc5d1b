//! Sources of vector instructions: registers, their halves, scalars and constants, with the sign
//! modifiers and the denormals that the mode drops.

use crate::text::{Half, NULL, Operand, Value};
use crate::wave::Wave;

/// Operand types: their width, and whether denormals and clamping are those of a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    B16,
    F16,
    B32,
    F32,
    /// Two f16 in one register.
    PairF16,
    /// Two bf16.
    PairBf16,
    /// A bf16.
    Bf16,
    B64,
    F64,
}

impl Type {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Type::B16 | Type::F16 | Type::Bf16 => 16,
            Type::B32 | Type::F32 | Type::PairF16 | Type::PairBf16 => 32,
            Type::B64 | Type::F64 => 64,
        }
    }
}

/// Where a source's value comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Source {
    Vector(u16, Option<Half>),
    Scalar(u16),
    /// The high half of a scalar register.
    ScalarHigh(u16),
    /// Some bits of a register, as SDWA selects them.
    Part(Part),
    Const(u64),
}

/// A byte, a half or the whole of a register.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) vector: bool,
    pub(crate) index: u16,
    pub(crate) shift: u32,
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

impl Part {
    /// The part of a register's value, extended to 32 bits.
    fn of(self, value: u32) -> u32 {
        let high = value << (32 - self.bits - self.shift);
        match self.signed {
            true => (high as i32 >> (32 - self.bits)) as u32,
            false => high >> (32 - self.bits),
        }
    }
}

/// A source with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Input {
    pub(crate) source: Source,
    pub(crate) ty: Type,
    pub(crate) neg: bool,
    pub(crate) abs: bool,
    /// Whether denormals are kept in any mode.
    pub(crate) keeps: bool,
}

impl Input {
    /// In the place of a source that an instruction does not have.
    pub(crate) const ZERO: Input = Input {
        source: Source::Const(0),
        ty: Type::B32,
        neg: false,
        abs: false,
        keeps: false,
    };
}

/// The bits of a constant in an operand of a type; none for what is no constant.
pub(crate) fn constant(value: &Value, ty: Type) -> Option<u64> {
    let mask = u64::MAX >> (64 - ty.bits());
    match *value {
        Value::Int(int) => Some(int as u64 & mask),
        // A 32-bit literal is the high half of an f64.
        Value::Literal(bits) if ty == Type::F64 && bits <= u64::from(u32::MAX) => Some(bits << 32),
        Value::Literal(bits) => Some(bits & mask),
        // In a pair a float stands in the low half (LLVM: `getInlineEncodingV2F16` and `V2BF16`).
        Value::Float(float) if matches!(ty, Type::Bf16 | Type::PairBf16) => {
            Some(u64::from(half::bf16::from_f64(float).to_bits()))
        }
        Value::Float(float) if ty == Type::PairF16 => constant(&Value::Float(float), Type::F16),
        Value::Float(float) => Some(match ty.bits() {
            16 => u64::from(half::f16::from_f64(float).to_bits()),
            32 => u64::from((float as f32).to_bits()),
            // The only inline constant that is not exact in f32 is 1/(2 pi).
            _ if float != 0.0 && float.abs() < 0.2 => 0x3fc4_5f30_6dc9_c882,
            _ => float.to_bits(),
        }),
        Value::Word(ref word) => match word.as_str() {
            "off" => Some(0),
            "src_shared_base" => Some(crate::memory::SHARED_APERTURE & mask),
            "src_private_base" => Some(crate::memory::PRIVATE_APERTURE & mask),
            _ => None,
        },
        Value::Vector { .. } | Value::Scalar { .. } => None,
    }
}

impl Input {
    /// Reads an operand as a type; `high` is its `op_sel` bit.
    pub(crate) fn new(operand: &Operand, ty: Type, high: bool) -> Option<Input> {
        let source = match operand.value {
            Value::Vector { first, half, .. } => Source::Vector(
                first,
                half.or(match (ty.bits() == 16, high) {
                    (false, _) => None,
                    (true, false) => Some(Half::Low),
                    (true, true) => Some(Half::High),
                }),
            ),
            Value::Scalar { first: NULL, .. } => Source::Const(0),
            Value::Scalar { first, .. } if high && ty.bits() == 16 => Source::ScalarHigh(first),
            Value::Scalar { first, .. } => Source::Scalar(first),
            _ => Source::Const(constant(&operand.value, ty)?),
        };
        Some(Input {
            source,
            ty,
            neg: operand.neg,
            abs: operand.abs,
            keeps: false,
        })
    }

    /// The value in every lane, of 32 bits or of 16 in the low half.
    #[inline]
    pub(crate) fn fetch<'a, const W: usize>(
        &self,
        wave: &'a Wave<W>,
        store: &'a mut [u32; W],
    ) -> &'a [u32; W] {
        let narrow = self.ty.bits() == 16;
        let flush = match self.ty {
            _ if self.keeps => false,
            Type::F32 => wave.mode.f32 & 1 == 0,
            Type::F16 => wave.mode.f16_f64 & 1 == 0,
            _ => false,
        };
        let plain = !(self.neg || self.abs || flush);
        match self.source {
            Source::Vector(index, None) if plain => return &wave.v[usize::from(index)],
            Source::Vector(index, None) => *store = wave.v[usize::from(index)],
            Source::Vector(index, Some(Half::Low)) => {
                *store = wave.v[usize::from(index)].map(|value| value & 0xffff);
            }
            Source::Vector(index, Some(Half::High)) => {
                *store = wave.v[usize::from(index)].map(|value| value >> 16);
            }
            Source::Scalar(index) if narrow => *store = [wave.s[usize::from(index)] & 0xffff; W],
            Source::Scalar(index) => *store = [wave.s[usize::from(index)]; W],
            Source::ScalarHigh(index) => *store = [wave.s[usize::from(index)] >> 16; W],
            Source::Part(part) => {
                let keep = if narrow { 0xffff } else { u32::MAX };
                *store = match part.vector {
                    true => wave.v[usize::from(part.index)].map(|value| part.of(value) & keep),
                    false => [part.of(wave.s[usize::from(part.index)]) & keep; W],
                };
            }
            Source::Const(bits) => *store = [bits as u32; W],
        }
        if !plain {
            let sign = match self.ty {
                Type::PairF16 | Type::PairBf16 => 0x8000_8000,
                _ if narrow => 0x8000,
                _ => 0x8000_0000,
            };
            let keep = if self.abs { !sign } else { !0 };
            let flip = if self.neg { sign } else { 0 };
            for value in store.iter_mut() {
                if flush {
                    *value = flush_denormal(*value, self.ty);
                }
                *value = *value & keep ^ flip;
            }
        }
        store
    }

    /// The value in every lane, zero-extended to 64 bits.
    pub(crate) fn fetch_wide<const W: usize>(&self, wave: &Wave<W>) -> [u64; W] {
        if self.ty.bits() != 64 {
            let mut store = [0; W];
            return self.fetch(wave, &mut store).map(u64::from);
        }
        let mut values = match self.source {
            Source::Vector(index, _) => {
                let (low, high) = (&wave.v[usize::from(index)], &wave.v[usize::from(index) + 1]);
                std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
            }
            Source::Scalar(index) | Source::ScalarHigh(index) => [wave.pair(index); W],
            // SDWA has no sources of 64 bits.
            Source::Part(_) => [0; W],
            Source::Const(bits) => [bits; W],
        };
        let keep = if self.abs { u64::MAX >> 1 } else { u64::MAX };
        let flip = u64::from(self.neg) << 63;
        let flush = self.ty == Type::F64 && !self.keeps && wave.mode.f16_f64 & 1 == 0;
        for value in &mut values {
            if flush {
                *value = flush_double(*value);
            }
            *value = *value & keep ^ flip;
        }
        values
    }
}

/// The bits of an f64, zero of the same sign where it is denormal.
#[inline(always)]
pub(crate) fn flush_double(value: u64) -> u64 {
    match value >> 52 & 0x7ff {
        0 => value & 1 << 63,
        _ => value,
    }
}

#[inline(always)]
pub(crate) fn flush_denormal(value: u32, ty: Type) -> u32 {
    let (exponent, sign) = match ty {
        Type::F32 => (0x7f80_0000, 0x8000_0000),
        Type::F16 => (0x7c00, 0x8000),
        Type::PairF16 => {
            let half = |value: u32| flush_denormal(value & 0xffff, Type::F16);
            return half(value) | half(value >> 16) << 16;
        }
        _ => return value,
    };
    if value & exponent == 0 {
        value & sign
    } else {
        value
    }
}
