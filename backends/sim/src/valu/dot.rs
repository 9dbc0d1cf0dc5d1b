//! Dot products of packed numbers, added to a 32-bit one.

use super::float::{from_bf8, from_bf16, from_f16, from_fp8};
use super::{Input, Row, Type, map3};
use crate::text::{Line, Value};
use crate::wave::Wave;

/// What the elements of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    /// Integers of so many bits, two's complement or not.
    Int(u32, bool),
    F16,
    Bf16,
    Fp8,
    Bf8,
}

impl Element {
    fn bits(self) -> u32 {
        match self {
            Element::Int(bits, _) => bits,
            Element::F16 | Element::Bf16 => 16,
            Element::Fp8 | Element::Bf8 => 8,
        }
    }

    fn int(self, word: u32, at: u32) -> i64 {
        let bits = self.bits();
        let field = word >> (bits * at) << (32 - bits);
        match self {
            Element::Int(_, true) => i64::from(field as i32 >> (32 - bits)),
            _ => i64::from(field >> (32 - bits)),
        }
    }

    fn real(self, word: u32, at: u32) -> f64 {
        let field = word >> (self.bits() * at);
        f64::from(match self {
            Element::F16 => from_f16(field & 0xffff),
            Element::Bf16 => from_bf16(field & 0xffff),
            Element::Fp8 => from_fp8(field as u8),
            _ => from_bf8(field as u8),
        })
    }
}

/// The rows of those that stand in pairs of instructions.
pub(super) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    const SOURCES: &[Type] = &[Type::B32, Type::B32, Type::F32];
    let row = match name {
        "v_dot2acc_f32_f16" => Row::narrow(
            |s, _, out| map3(s, out, |x, y, z| real([Element::F16; 2], x, y, z)),
            Type::F32,
            SOURCES,
        ),
        "v_dot2acc_f32_bf16" => Row::narrow(
            |s, _, out| map3(s, out, |x, y, z| real([Element::Bf16; 2], x, y, z)),
            Type::F32,
            SOURCES,
        ),
        _ => return None,
    };
    Some(row.accumulate())
}

/// The sum of products and addend, formed in f64 and rounded once; AMD does not say how hardware
/// rounds.
fn real([a, b]: [Element; 2], x: u32, y: u32, z: u32) -> u32 {
    let count = 32 / a.bits();
    let sum: f64 = (0..count).map(|at| a.real(x, at) * b.real(y, at)).sum();
    ((sum + f64::from(f32::from_bits(z))) as f32).to_bits()
}

/// A dot product, ready to execute.
pub(crate) struct Dot {
    dst: u16,
    elements: [Element; 2],
    sources: [Input; 3],
    saturate: bool,
}

impl Dot {
    /// The dot product of a line; none when it is another family's.
    pub(crate) fn new(line: &Line) -> Option<Result<Dot, String>> {
        let name = line.name.strip_prefix("v_dot")?;
        Some(Self::build(line, name).ok_or_else(|| "no such dot product or operand".to_owned()))
    }

    fn build(line: &Line, name: &str) -> Option<Dot> {
        // Whether A and B are signed, where the name does not say it.
        let signs: [bool; 3] = match name.contains("_iu") {
            true => line.bits("neg_lo", false),
            false => [false; 3],
        };
        let int = |bits, signed| [Element::Int(bits, signed); 2];
        // A trailing `c` or `acc` adds to the destination, which the text does not repeat.
        let (name, accumulates) = match name.split_once('_')? {
            (count, rest) if count.len() > 1 => (format!("{}_{rest}", &count[..1]), true),
            _ => (name.to_owned(), false),
        };
        let elements = match name.as_str() {
            "4_i32_iu8" => [0, 1].map(|at| Element::Int(8, signs[at])),
            "8_i32_iu4" => [0, 1].map(|at| Element::Int(4, signs[at])),
            "4_i32_i8" => int(8, true),
            "4_u32_u8" => int(8, false),
            "8_i32_i4" => int(4, true),
            "8_u32_u4" => int(4, false),
            "2_i32_i16" => int(16, true),
            "2_u32_u16" => int(16, false),
            "2_f32_f16" => [Element::F16; 2],
            "2_f32_bf16" => [Element::Bf16; 2],
            "4_f32_fp8_fp8" => [Element::Fp8; 2],
            "4_f32_bf8_bf8" => [Element::Bf8; 2],
            "4_f32_fp8_bf8" => [Element::Fp8, Element::Bf8],
            "4_f32_bf8_fp8" => [Element::Bf8, Element::Fp8],
            _ => return None,
        };
        let real = !matches!(elements[0], Element::Int(..));
        let dst = match line.operands.first()?.value {
            Value::Vector { first, .. } => first,
            _ => return None,
        };
        let addend = if accumulates { 0 } else { 3 };
        let ty = if real { Type::F32 } else { Type::B32 };
        Some(Dot {
            dst,
            elements,
            sources: [
                Input::new(line.operands.get(1)?, Type::B32, false)?,
                Input::new(line.operands.get(2)?, Type::B32, false)?,
                Input::new(line.operands.get(addend)?, ty, false)?,
            ],
            saturate: !real && line.flag("clamp"),
        })
    }

    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let mut store = [[0; W]; 3];
        let [a, b, c] = &mut store;
        let x = self.sources[0].fetch(wave, a);
        let y = self.sources[1].fetch(wave, b);
        let z = self.sources[2].fetch(wave, c);
        let out: [u32; W] = std::array::from_fn(|lane| self.lane(x[lane], y[lane], z[lane]));
        wave.write(self.dst, &out, wave.exec());
    }

    fn lane(&self, x: u32, y: u32, z: u32) -> u32 {
        let [a, b] = self.elements;
        let count = 32 / a.bits();
        let Element::Int(_, first) = a else {
            return real(self.elements, x, y, z);
        };
        let sum: i64 = (0..count).map(|at| a.int(x, at) * b.int(y, at)).sum();
        let signed = first || matches!(b, Element::Int(_, true));
        if !self.saturate {
            return sum.wrapping_add(i64::from(z)) as u32;
        }
        match signed {
            true => (sum + i64::from(z as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as u32,
            false => (sum + i64::from(z)).min(u32::MAX.into()) as u32,
        }
    }
}
