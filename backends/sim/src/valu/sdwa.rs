//! Sub-dword addressing: sources that are a byte or half of a register, and results that become
//! one.
//!
//! Source: AMD's CDNA 3 instruction set guide, "Sub-Dword Addressing (SDWA)".

use super::operand::Part;
use super::{Input, Source, Type};
use crate::text::{Line, Operand, Value};

/// Shift and width of `BYTE_0` to `DWORD`.
fn part(name: &str) -> Option<(u32, u32)> {
    Some(match name {
        "BYTE_0" => (0, 8),
        "BYTE_1" => (8, 8),
        "BYTE_2" => (16, 8),
        "BYTE_3" => (24, 8),
        "WORD_0" => (0, 16),
        "WORD_1" => (16, 16),
        "DWORD" => (0, 32),
        _ => return None,
    })
}

/// The source at a place with its selected part.
pub(crate) fn input(line: &Line, operand: &Operand, ty: Type, at: usize) -> Option<Input> {
    let (shift, bits) = match line.modifier(["src0_sel", "src1_sel"].get(at)?) {
        Some(name) => part(name)?,
        None => (0, 32),
    };
    let plain = Input::new(operand, ty, false)?;
    let (vector, index) = match operand.value {
        Value::Vector { first, .. } => (true, first),
        Value::Scalar { first, .. } => (false, first),
        _ => return Some(plain),
    };
    Some(Input {
        source: Source::Part(Part {
            vector,
            index,
            shift,
            bits,
            signed: operand.sext,
        }),
        ..plain
    })
}

/// What becomes of the bits beside the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unused {
    Zero,
    /// The sign above, zeros below.
    Sign,
    Keep,
}

/// Where a result goes in its register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sdwa {
    shift: u32,
    bits: u32,
    unused: Unused,
}

impl Sdwa {
    pub(crate) fn new(line: &Line) -> Option<Sdwa> {
        let (shift, bits) = part(line.modifier("dst_sel").unwrap_or("DWORD"))?;
        let unused = match line.modifier("dst_unused").unwrap_or("UNUSED_PAD") {
            "UNUSED_PAD" => Unused::Zero,
            "UNUSED_SEXT" => Unused::Sign,
            "UNUSED_PRESERVE" => Unused::Keep,
            _ => return None,
        };
        Some(Sdwa {
            shift,
            bits,
            unused,
        })
    }

    /// The register after the result is placed.
    pub(crate) fn merge<const W: usize>(&self, result: &[u32; W], old: &[u32; W]) -> [u32; W] {
        let mask = (u32::MAX >> (32 - self.bits)) << self.shift;
        std::array::from_fn(|lane| {
            let placed = result[lane] << self.shift & mask;
            match self.unused {
                Unused::Zero => placed,
                Unused::Keep => placed | old[lane] & !mask,
                Unused::Sign => {
                    let above = 32 - self.bits - self.shift;
                    ((placed << above) as i32 >> above) as u32
                }
            }
        })
    }
}
