//! Dot products of packed numbers, added to a 32-bit one.

use super::float::{
    clamp, flush, from_bf8, from_bf16, from_f16, from_fp8, to_bf16, to_f16, to_f32_odd,
};
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

/// The rows of those that stand in pairs of instructions, and of those with a result of 16 bits.
///
/// The latter have one sign modifier for both numbers of a source. It is taken to count for both:
/// LLVM makes one of the negation of a pair, and AMD's guides do not say.
pub(super) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    macro_rules! single {
        ($element:expr, $pair:expr) => {
            Row::narrow(
                |s, _, out| {
                    map3(s, out, |x, y, z| {
                        sum_of_two([$element; 2], x, y, f32::from_bits(z)).to_bits()
                    })
                },
                Type::F32,
                &[$pair, $pair, Type::F32],
            )
            .accumulate()
        };
    }
    Some(match name {
        "v_dot2acc_f32_f16" => single!(Element::F16, Type::PairF16),
        "v_dot2acc_f32_bf16" => single!(Element::Bf16, Type::PairBf16),
        "v_dot2_f16_f16" => Row::narrow(
            |s, _, out| {
                map3(s, out, |x, y, z| {
                    to_f16(to_f32_odd(sum([Element::F16; 2], x, y, from_f16(z))))
                })
            },
            Type::F16,
            &[Type::PairF16, Type::PairF16, Type::F16],
        ),
        "v_dot2_bf16_bf16" => Row::narrow(
            |s, _, out| {
                map3(s, out, |x, y, z| {
                    to_bf16(to_f32_odd(sum([Element::Bf16; 2], x, y, from_bf16(z))))
                })
            },
            Type::B16,
            &[Type::PairBf16, Type::PairBf16, Type::Bf16],
        ),
        _ => return None,
    })
}

/// The sum of products and addend, formed in f64; AMD does not say how hardware rounds.
fn sum([a, b]: [Element; 2], x: u32, y: u32, z: f32) -> f64 {
    let count = 32 / a.bits();
    let products: f64 = (0..count).map(|at| a.real(x, at) * b.real(y, at)).sum();
    let total = products + f64::from(z);
    // The host's NaN may have any sign.
    if total.is_nan() { f64::NAN } else { total }
}

/// The sum of two products and an f32. Denormals of that and of the result count as zero, whatever
/// the mode: what LLVM counts on of `v_dot2_f32_f16` where it makes one of multiply-adds; taken to
/// hold for bf16 too.
fn sum_of_two(elements: [Element; 2], x: u32, y: u32, z: f32) -> f32 {
    flush(sum(elements, x, y, flush(z)) as f32)
}

/// A dot product, ready to execute.
pub(crate) struct Dot {
    dst: u16,
    elements: [Element; 2],
    sources: [Input; 3],
    /// Whether a sum of integers is signed, and kept within its type.
    signed: bool,
    clamp: bool,
    /// Signs flipped of A's and B's 16-bit elements.
    flip: [u32; 2],
}

impl Dot {
    /// The dot product of a line; none when it is another family's.
    pub(crate) fn new(line: &Line) -> Option<Result<Dot, String>> {
        let name = line.name.strip_prefix("v_dot")?;
        // Those are rows of a table.
        if matches!(name, "2_f16_f16" | "2_bf16_bf16") {
            return None;
        }
        Some(Self::build(line, name).ok_or_else(|| "no such dot product or operand".to_owned()))
    }

    fn build(line: &Line, name: &str) -> Option<Dot> {
        // Of integers whose name leaves it open the sign modifiers say whether A and B are signed.
        let open = name.contains("_iu");
        let low: [bool; 3] = match open || name.ends_with("f16") {
            true => line.bits("neg_lo", false),
            false => [false; 3],
        };
        let high: [bool; 3] = match name.ends_with("f16") {
            true => line.bits("neg_hi", false),
            false => [false; 3],
        };
        let int = |bits, signed| [Element::Int(bits, signed); 2];
        // A trailing `c` or `acc` adds to the destination, which the text does not repeat.
        let (name, accumulates) = match name.split_once('_')? {
            (count, rest) if count.len() > 1 => (format!("{}_{rest}", &count[..1]), true),
            _ => (name.to_owned(), false),
        };
        let elements = match name.as_str() {
            "4_i32_iu8" => [0, 1].map(|at| Element::Int(8, low[at])),
            "8_i32_iu4" => [0, 1].map(|at| Element::Int(4, low[at])),
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
        let pair = |at: usize| match elements[at] {
            Element::F16 => Type::PairF16,
            Element::Bf16 => Type::PairBf16,
            _ => Type::B32,
        };
        let mut sources = [
            Input::new(line.operands.get(1)?, pair(0), false)?,
            Input::new(line.operands.get(2)?, pair(1), false)?,
            Input::new(line.operands.get(addend)?, ty, false)?,
        ];
        if real && low[2] != high[2] {
            // LLVM sets both for an f32.
            return None;
        }
        sources[2].neg ^= real && low[2];
        let flip = |at: usize| match real {
            true => u32::from(low[at]) << 15 | u32::from(high[at]) << 31,
            false => 0,
        };
        Some(Dot {
            dst,
            elements,
            sources,
            signed: name.contains("_i32_"),
            clamp: line.flag("clamp"),
            flip: [flip(0), flip(1)],
        })
    }

    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let mut store = [[0; W]; 3];
        let [a, b, c] = &mut store;
        let x = self.sources[0].fetch(wave, a);
        let y = self.sources[1].fetch(wave, b);
        let z = self.sources[2].fetch(wave, c);
        let out: [u32; W] = std::array::from_fn(|lane| match self.elements[0] {
            Element::Int(..) => self.integer(x[lane], y[lane], z[lane]),
            _ => {
                let sum = self.real(x[lane], y[lane], f32::from_bits(z[lane]));
                match self.clamp {
                    true => (clamp(f64::from(sum), wave.mode.clamp_nan) as f32).to_bits(),
                    false => sum.to_bits(),
                }
            }
        });
        wave.write(self.dst, &out, wave.exec());
    }

    fn real(&self, x: u32, y: u32, z: f32) -> f32 {
        let (x, y) = (x ^ self.flip[0], y ^ self.flip[1]);
        match self.elements[0].bits() {
            16 => sum_of_two(self.elements, x, y, z),
            _ => sum(self.elements, x, y, z) as f32,
        }
    }

    /// The sum of integers. AMD's guides form it in the type that the name has, also where neither
    /// A nor B is signed, so that `clamp` keeps it within that type.
    fn integer(&self, x: u32, y: u32, z: u32) -> u32 {
        let [a, b] = self.elements;
        let count = 32 / a.bits();
        let sum: i64 = (0..count).map(|at| a.int(x, at) * b.int(y, at)).sum();
        match (self.clamp, self.signed) {
            (false, _) => sum.wrapping_add(i64::from(z)) as u32,
            (true, true) => {
                (sum + i64::from(z as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as u32
            }
            (true, false) => (sum + i64::from(z)).clamp(0, u32::MAX.into()) as u32,
        }
    }
}
