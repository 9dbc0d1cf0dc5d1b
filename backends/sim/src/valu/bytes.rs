//! Sums of absolute differences and means of bytes.
//!
//! Source: the pseudo-code of AMD's RDNA 3.5, RDNA 4 and CDNA 4 guides, `V_SAD_U8` to
//! `V_MQSAD_U32_U8` and `V_LERP_U8`. What `clamp` does to them is not in it, and is refused.

use super::{Input, Row, Type, map3};
use crate::text::{Line, Value};
use crate::wave::Wave;

/// The byte of a number.
fn byte(value: u32, at: u32) -> u32 {
    value >> (8 * at) & 0xff
}

/// The sum of the bytes' absolute differences, added to `sum`.
fn sad(a: u32, b: u32, sum: u32) -> u32 {
    let differences = (0..4).map(|at| byte(a, at).abs_diff(byte(b, at)));
    differences.fold(sum, u32::wrapping_add)
}

/// The same without the bytes whose reference `b` is zero.
fn masked_sad(a: u32, b: u32, sum: u32) -> u32 {
    let counted = (0..4).filter(|&at| byte(b, at) != 0);
    let differences = counted.map(|at| byte(a, at).abs_diff(byte(b, at)));
    differences.fold(sum, u32::wrapping_add)
}

/// The mean of each byte, rounded up where the byte of `c` is odd.
fn lerp(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(0, |mean, at| {
        let sum = byte(a, at) + byte(b, at) + (byte(c, at) & 1);
        mean | sum >> 1 << (8 * at)
    })
}

/// Four sums of four bytes of `a`, which begin at its first four, each added to a half of `sums`.
fn four(a: u64, b: u32, sums: u64, sad: impl Fn(u32, u32, u32) -> u32) -> u64 {
    (0..4).fold(0, |packed, at| {
        let sum = (sums >> (16 * at)) as u32 & 0xffff;
        let sum = sad((a >> (8 * at)) as u32, b, sum);
        packed | u64::from(sum & 0xffff) << (16 * at)
    })
}

/// The row of a mnemonic.
pub(super) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    const WORDS: &[Type] = &[Type::B32; 3];
    const QUAD: &[Type] = &[Type::B64, Type::B32, Type::B64];
    macro_rules! words {
        ($function:expr) => {
            Row::narrow(|s, _, out| map3(s, out, $function), Type::B32, WORDS)
        };
    }
    macro_rules! quad {
        ($function:expr) => {
            Row::wide(
                |s, _, out| {
                    for lane in 0..W {
                        out[lane] = four(s[0][lane], s[1][lane] as u32, s[2][lane], $function);
                    }
                    0
                },
                Type::B64,
                QUAD,
            )
        };
    }
    Some(match name {
        "v_sad_u8" => words!(sad),
        "v_msad_u8" => words!(masked_sad),
        "v_lerp_u8" => words!(lerp),
        "v_sad_hi_u8" => words!(|a, b, c| (sad(a, b, 0) << 16).wrapping_add(c)),
        "v_sad_u16" => words!(|a, b, c| {
            let low = (a & 0xffff).abs_diff(b & 0xffff);
            let high = (a >> 16).abs_diff(b >> 16);
            c.wrapping_add(low).wrapping_add(high)
        }),
        "v_qsad_pk_u16_u8" => quad!(sad),
        "v_mqsad_pk_u16_u8" => quad!(masked_sad),
        _ => return None,
    })
}

/// Four masked sums of 32 bits, `v_mqsad_u32_u8`.
pub(crate) struct Sums {
    dst: u16,
    a: Input,
    b: Input,
    /// First of the registers that they are added to.
    addends: u16,
}

/// The instruction of a line; none when it is another one.
pub(crate) fn sums(line: &Line) -> Option<Result<Sums, String>> {
    if line.name != "v_mqsad_u32_u8" {
        return None;
    }
    let four = |at: usize| match line.operands.get(at)?.value {
        Value::Vector {
            first, count: 4, ..
        } => Some(first),
        _ => None,
    };
    let build = || {
        Some(Sums {
            dst: four(0)?,
            a: Input::new(line.operands.get(1)?, Type::B64, false)?,
            b: Input::new(line.operands.get(2)?, Type::B32, false)?,
            addends: four(3)?,
        })
    };
    Some(build().ok_or_else(|| "an operand is of no known kind".to_owned()))
}

impl Sums {
    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let a = self.a.fetch_wide(wave);
        let mut store = [0; W];
        let b = *self.b.fetch(wave, &mut store);
        let first = usize::from(self.addends);
        let results: [[u32; W]; 4] = std::array::from_fn(|at| {
            let addends = &wave.v[first + at];
            std::array::from_fn(|lane| {
                masked_sad((a[lane] >> (8 * at)) as u32, b[lane], addends[lane])
            })
        });
        let exec = wave.exec();
        for (at, result) in results.iter().enumerate() {
            wave.write(self.dst + at as u16, result, exec);
        }
    }
}
