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

/// What a read-modify-write operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Sub,
    /// The given value less the old one.
    SubReversed,
    /// Counts up and wraps around behind the given value.
    Inc,
    /// Counts down and wraps around to the given value.
    Dec,
    /// Subtracts where the difference is no less than zero.
    SubConditional,
    /// Subtracts down to zero.
    SubClamped,
    AddF,
    MinF,
    MaxF,
    /// IEEE 754's minimumNumber and maximumNumber: -0 is less than +0, and a number wins over NaN.
    MinNumF,
    MaxNumF,
    PkAddF16,
    PkAddBf16,
    MinI,
    MaxI,
    MinU,
    MaxU,
    And,
    Or,
    Xor,
    Swap,
    CompareSwap,
}

/// A read-modify-write operation on 4 or 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atomic {
    pub(crate) operation: Operation,
    pub(crate) bytes: usize,
}

impl Atomic {
    /// The operation that the last part of a mnemonic names, in the spelling of any generation.
    pub(crate) fn parse(name: &str) -> Option<Atomic> {
        use Operation::*;
        let (stem, bytes) = match name.strip_suffix("_x2") {
            Some(stem) => (stem, 8),
            None => (name, if name.ends_with("64") { 8 } else { 4 }),
        };
        let operation = match stem {
            "add_u32" | "add_u64" | "add" => Add,
            "sub_u32" | "sub_u64" | "sub" => Sub,
            "rsub_u32" | "rsub_u64" => SubReversed,
            "inc_u32" | "inc_u64" | "inc" => Inc,
            "dec_u32" | "dec_u64" | "dec" => Dec,
            "cond_sub_u32" => SubConditional,
            "sub_clamp_u32" | "csub_u32" => SubClamped,
            "add_f32" | "add_f64" => AddF,
            "min_f32" | "min_f64" => MinF,
            "max_f32" | "max_f64" => MaxF,
            "min_num_f32" | "min_num_f64" => MinNumF,
            "max_num_f32" | "max_num_f64" => MaxNumF,
            "pk_add_f16" => PkAddF16,
            "pk_add_bf16" => PkAddBf16,
            "min_i32" | "min_i64" | "smin" => MinI,
            "max_i32" | "max_i64" | "smax" => MaxI,
            "min_u32" | "min_u64" | "umin" => MinU,
            "max_u32" | "max_u64" | "umax" => MaxU,
            "and_b32" | "and_b64" | "and" => And,
            "or_b32" | "or_b64" | "or" => Or,
            "xor_b32" | "xor_b64" | "xor" => Xor,
            "swap_b32" | "swap_b64" | "swap" | "wrxchg_b32" | "wrxchg_b64" => Swap,
            "storexchg_b32" | "storexchg_b64" => Swap,
            "cmpswap_b32" | "cmpswap_b64" | "cmpswap" => CompareSwap,
            "cmpst_b32" | "cmpst_b64" | "cmpstore_b32" | "cmpstore_b64" => CompareSwap,
            _ => return None,
        };
        Some(Atomic { operation, bytes })
    }

    /// The new value; `compare` is what a compare-and-swap expects. Of 32-bit operations the low
    /// halves count.
    pub(crate) fn apply(self, old: u64, value: u64, compare: u64) -> u64 {
        use crate::valu::float::{from_bf16, from_f16, to_bf16, to_f16};
        use Operation::*;
        let narrow = self.bytes == 4;
        let keep = if narrow {
            u64::from(u32::MAX)
        } else {
            u64::MAX
        };
        let [old, value, compare] = [old, value, compare].map(|bits| bits & keep);
        let signed = |bits: u64| match narrow {
            true => i64::from(bits as i32),
            false => bits as i64,
        };
        let real = |bits: u64| match narrow {
            true => f64::from(f32::from_bits(bits as u32)),
            false => f64::from_bits(bits),
        };
        let halves = |from: fn(u32) -> f32, to: fn(f32) -> u32| {
            let part = |bits: u64, shift: u32| from((bits >> shift) as u32 & 0xffff);
            let add = |shift: u32| u64::from(to(part(old, shift) + part(value, shift)));
            add(0) | add(16) << 16
        };
        let replaced = |replace: bool| if replace { value } else { old };
        keep & match self.operation {
            Add => old.wrapping_add(value),
            Sub => old.wrapping_sub(value),
            SubReversed => value.wrapping_sub(old),
            Inc if old >= value => 0,
            Inc => old + 1,
            Dec if old == 0 || old > value => value,
            Dec => old - 1,
            SubConditional => old.checked_sub(value).unwrap_or(old),
            SubClamped => old.saturating_sub(value),
            AddF if narrow => {
                let [old, value] = [old, value].map(|bits| f32::from_bits(bits as u32));
                u64::from((old + value).to_bits())
            }
            AddF => (real(old) + real(value)).to_bits(),
            MinNumF | MaxNumF => {
                let (from, to) = (real(value), real(old));
                let less = from < to || from == 0.0 && to == 0.0 && from.is_sign_negative();
                let more = from > to || from == 0.0 && to == 0.0 && from.is_sign_positive();
                match (from.is_nan(), to.is_nan()) {
                    (true, true) => value | 1 << if narrow { 22 } else { 51 },
                    (true, false) => old,
                    (false, true) => value,
                    _ if self.operation == MinNumF => replaced(less),
                    _ => replaced(more),
                }
            }
            MinF => replaced(real(value) < real(old)),
            MaxF => replaced(real(value) > real(old)),
            PkAddF16 => halves(from_f16, to_f16),
            PkAddBf16 => halves(from_bf16, to_bf16),
            MinI => replaced(signed(value) < signed(old)),
            MaxI => replaced(signed(value) > signed(old)),
            MinU => old.min(value),
            MaxU => old.max(value),
            And => old & value,
            Or => old | value,
            Xor => old ^ value,
            Swap => value,
            CompareSwap => replaced(old == compare),
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

/// Width and extension by the names of every generation.
pub(super) fn load_kind(name: &str) -> Option<(usize, Extend)> {
    use Half::{High, Low};
    Some(match name {
        "b32" | "dword" => (4, Extend::None),
        "b64" | "dwordx2" => (8, Extend::None),
        "b96" | "dwordx3" => (12, Extend::None),
        "b128" | "dwordx4" => (16, Extend::None),
        "u8" | "ubyte" => (1, Extend::Zero),
        "i8" | "sbyte" => (1, Extend::Sign),
        "u16" | "ushort" => (2, Extend::Zero),
        "i16" | "sshort" => (2, Extend::Sign),
        "d16_b16" | "short_d16" => (2, Extend::Half(Low, false)),
        "d16_hi_b16" | "short_d16_hi" => (2, Extend::Half(High, false)),
        "d16_u8" | "ubyte_d16" => (1, Extend::Half(Low, false)),
        "d16_hi_u8" | "ubyte_d16_hi" => (1, Extend::Half(High, false)),
        "d16_i8" | "sbyte_d16" => (1, Extend::Half(Low, true)),
        "d16_hi_i8" | "sbyte_d16_hi" => (1, Extend::Half(High, true)),
        _ => return None,
    })
}

pub(super) fn store_kind(name: &str) -> Option<(usize, Option<Half>)> {
    Some(match name {
        "b8" | "byte" => (1, None),
        "b16" | "short" => (2, None),
        "d16_hi_b8" | "byte_d16_hi" => (1, Some(Half::High)),
        "d16_hi_b16" | "short_d16_hi" => (2, Some(Half::High)),
        other => match load_kind(other)? {
            (bytes, Extend::None) => (bytes, None),
            _ => return None,
        },
    })
}
