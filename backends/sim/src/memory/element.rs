//! What a memory instruction does with one lane's value: extension, halves, atomic operations.

use crate::text::Half;
use crate::valu::write_half;
use crate::wave::Wave;

/// How a loaded value fills its register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extend {
    /// Whole registers.
    None,
    Zero,
    Sign,
    /// 16 bits into a half, the other kept. 8-bit values are extended as the flag (signed) says.
    Half(Half, bool),
}

/// Read-modify-write operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Atomic {
    AddU32,
    SubU32,
    AddF32,
    PkAddF16,
    PkAddBf16,
    MinI32,
    MaxI32,
    MinU32,
    MaxU32,
    And,
    Or,
    Xor,
    Swap,
    CompareSwap,
    AddU64,
}

impl Atomic {
    /// The operation that the last part of a mnemonic names.
    pub(crate) fn parse(name: &str) -> Option<Atomic> {
        Some(match name {
            "add_u32" | "add" => Atomic::AddU32,
            "sub_u32" | "sub" => Atomic::SubU32,
            "add_f32" => Atomic::AddF32,
            "pk_add_f16" => Atomic::PkAddF16,
            "pk_add_bf16" => Atomic::PkAddBf16,
            "min_i32" | "smin" => Atomic::MinI32,
            "max_i32" | "smax" => Atomic::MaxI32,
            "min_u32" | "umin" => Atomic::MinU32,
            "max_u32" | "umax" => Atomic::MaxU32,
            "and_b32" | "and" => Atomic::And,
            "or_b32" | "or" => Atomic::Or,
            "xor_b32" | "xor" => Atomic::Xor,
            "swap_b32" | "swap" => Atomic::Swap,
            "cmpswap_b32" | "cmpswap" => Atomic::CompareSwap,
            "add_u64" | "add_x2" => Atomic::AddU64,
            _ => return None,
        })
    }

    pub(crate) fn bytes(self) -> usize {
        if self == Atomic::AddU64 { 8 } else { 4 }
    }

    /// The new value of a 32-bit word; `compare` is what a compare-and-swap expects.
    pub(crate) fn apply(self, old: u32, value: u32, compare: u32) -> u32 {
        use crate::valu::float::{from_bf16, from_f16, to_bf16, to_f16};
        let halves = |from: fn(u32) -> f32, to: fn(f32) -> u32| {
            let add = |a: u32, b: u32| to(from(a & 0xffff) + from(b & 0xffff));
            add(old, value) | add(old >> 16, value >> 16) << 16
        };
        match self {
            Atomic::AddU32 | Atomic::AddU64 => old.wrapping_add(value),
            Atomic::SubU32 => old.wrapping_sub(value),
            Atomic::AddF32 => (f32::from_bits(old) + f32::from_bits(value)).to_bits(),
            Atomic::PkAddF16 => halves(from_f16, to_f16),
            Atomic::PkAddBf16 => halves(from_bf16, to_bf16),
            Atomic::MinI32 => (old as i32).min(value as i32) as u32,
            Atomic::MaxI32 => (old as i32).max(value as i32) as u32,
            Atomic::MinU32 => old.min(value),
            Atomic::MaxU32 => old.max(value),
            Atomic::And => old & value,
            Atomic::Or => old | value,
            Atomic::Xor => old ^ value,
            Atomic::Swap => value,
            Atomic::CompareSwap => {
                if old == compare {
                    value
                } else {
                    old
                }
            }
        }
    }
}

/// A value of one or two bytes, extended to 32 bits.
pub(crate) fn extend_value(bytes: &[u8], extend: Extend) -> u32 {
    let signed = matches!(extend, Extend::Sign | Extend::Half(_, true));
    match (bytes, signed) {
        (&[byte], false) => u32::from(byte),
        (&[byte], true) => byte as i8 as i32 as u32,
        (&[low, high], false) => u32::from(u16::from_le_bytes([low, high])),
        (&[low, high], true) => i16::from_le_bytes([low, high]) as i32 as u32,
        _ => 0,
    }
}

/// Writes extended values to a register or to half of it.
pub(crate) fn fill<const W: usize>(
    wave: &mut Wave<W>,
    dst: u16,
    extend: Extend,
    values: &[u32; W],
    exec: u64,
) {
    match extend {
        Extend::Half(half, _) => write_half(wave, dst, half, values, exec),
        _ => wave.write(dst, values, exec),
    }
}
