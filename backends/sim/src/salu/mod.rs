//! Scalar arithmetic on integers and bits.

mod bits;

use crate::text::{EXEC, Line, NULL, Value};
use crate::valu::{Type, constant};
use crate::wave::Wave;

/// Computes a result from two sources, of which narrow ones are zero-extended, and SCC.
type Body = fn(u64, u64, &mut bool) -> u64;

#[derive(Debug, Clone, Copy)]
enum Source {
    Register(u16),
    Pair(u16),
    Const(u64),
    Scc,
}

/// Where the result goes.
#[derive(Debug, Clone, Copy)]
enum Target {
    None,
    Register(u16),
    Pair(u16),
}

/// What besides the plain result happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Plain,
    /// EXEC becomes the result, the target gets the old EXEC, SCC tells whether lanes remain.
    SaveExec,
    /// The same, but the target gets the new EXEC.
    WriteExec,
    /// SCC chooses the second source when it is off.
    Select,
    /// The write happens only when SCC is on.
    Conditional,
}

/// A scalar instruction, ready to execute.
pub(crate) struct Salu {
    body: Body,
    sources: [Source; 2],
    target: Target,
    effect: Effect,
    /// Whether the result has 64 bits.
    wide: bool,
}

fn s(value: u64) -> i32 {
    value as u32 as i32
}

fn w(value: i32) -> u64 {
    u64::from(value as u32)
}

/// Sets SCC to whether the result is not zero.
fn logic(value: u64, scc: &mut bool) -> u64 {
    *scc = value != 0;
    value
}

fn compare(value: bool, scc: &mut bool) -> u64 {
    *scc = value;
    0
}

/// A row: the operation and the widths of result and sources in bits; 0 for what is not there.
type Row = (Body, u32, &'static [u32]);

fn row(name: &str) -> Option<Row> {
    arithmetic(name)
        .or_else(|| bits::row(name))
        .or_else(|| comparison(name))
}

const N: &[u32] = &[32];
const NN: &[u32] = &[32, 32];
const D: &[u32] = &[64];
const DD: &[u32] = &[64, 64];
const DN: &[u32] = &[64, 32];

fn arithmetic(name: &str) -> Option<Row> {
    Some(match name {
        "s_add_u32" | "s_add_co_u32" => (
            |a, b, scc| {
                *scc = a + b > u64::from(u32::MAX);
                a + b
            },
            32,
            NN,
        ),
        "s_sub_u32" | "s_sub_co_u32" => (
            |a, b, scc| {
                *scc = b > a;
                a.wrapping_sub(b)
            },
            32,
            NN,
        ),
        "s_addc_u32" | "s_add_co_ci_u32" => (
            |a, b, scc| {
                let sum = a + b + u64::from(*scc);
                *scc = sum > u64::from(u32::MAX);
                sum
            },
            32,
            NN,
        ),
        "s_subb_u32" | "s_sub_co_ci_u32" => (
            |a, b, scc| {
                let taken = b + u64::from(*scc);
                *scc = taken > a;
                a.wrapping_sub(taken)
            },
            32,
            NN,
        ),
        "s_add_i32" | "s_add_co_i32" | "s_addk_i32" | "s_addk_co_i32" => (
            |a, b, scc| {
                let (sum, overflow) = s(a).overflowing_add(s(b));
                *scc = overflow;
                w(sum)
            },
            32,
            NN,
        ),
        "s_sub_i32" | "s_sub_co_i32" => (
            |a, b, scc| {
                let (difference, overflow) = s(a).overflowing_sub(s(b));
                *scc = overflow;
                w(difference)
            },
            32,
            NN,
        ),
        "s_add_nc_u64" | "s_add_u64" => (|a, b, _| a.wrapping_add(b), 64, DD),
        "s_sub_nc_u64" | "s_sub_u64" => (|a, b, _| a.wrapping_sub(b), 64, DD),
        "s_mul_u64" => (|a, b, _| a.wrapping_mul(b), 64, DD),
        "s_mul_i32" | "s_mulk_i32" => (|a, b, _| a.wrapping_mul(b), 32, NN),
        "s_mul_hi_u32" => (|a, b, _| (a * b) >> 32, 32, NN),
        "s_mul_hi_i32" => (
            |a, b, _| ((i64::from(s(a)) * i64::from(s(b))) >> 32) as u64,
            32,
            NN,
        ),
        "s_abs_i32" => (|a, _, scc| logic(w(s(a).wrapping_abs()), scc), 32, N),
        "s_absdiff_i32" => (
            |a, b, scc| logic(w(s(a).wrapping_sub(s(b)).wrapping_abs()), scc),
            32,
            NN,
        ),
        "s_min_i32" => (|a, b, scc| pick(s(a) < s(b), a, b, scc), 32, NN),
        "s_min_u32" => (|a, b, scc| pick(a < b, a, b, scc), 32, NN),
        "s_max_i32" => (|a, b, scc| pick(s(a) >= s(b), a, b, scc), 32, NN),
        "s_max_u32" => (|a, b, scc| pick(a >= b, a, b, scc), 32, NN),
        "s_lshl1_add_u32" => (|a, b, scc| shift_add(a, b, 1, scc), 32, NN),
        "s_lshl2_add_u32" => (|a, b, scc| shift_add(a, b, 2, scc), 32, NN),
        "s_lshl3_add_u32" => (|a, b, scc| shift_add(a, b, 3, scc), 32, NN),
        "s_lshl4_add_u32" => (|a, b, scc| shift_add(a, b, 4, scc), 32, NN),
        "s_sext_i32_i8" => (|a, _, _| w(i32::from(a as i8)), 32, N),
        "s_sext_i32_i16" => (|a, _, _| w(i32::from(a as i16)), 32, N),
        _ => return None,
    })
}

fn pick(first: bool, a: u64, b: u64, scc: &mut bool) -> u64 {
    *scc = first;
    if first { a } else { b }
}

fn shift_add(a: u64, b: u64, by: u32, scc: &mut bool) -> u64 {
    let sum = (a << by) + b;
    *scc = sum > u64::from(u32::MAX);
    sum
}

fn comparison(name: &str) -> Option<Row> {
    let (rest, constant) = match name.strip_prefix("s_cmpk_") {
        Some(rest) => (rest, true),
        None => match name.strip_prefix("s_cmp_") {
            Some(rest) => (rest, false),
            None => {
                return Some(match name {
                    "s_bitcmp0_b32" => (|a, b, scc| compare(a >> (b & 31) & 1 == 0, scc), 0, NN),
                    "s_bitcmp1_b32" => (|a, b, scc| compare(a >> (b & 31) & 1 == 1, scc), 0, NN),
                    "s_bitcmp0_b64" => (|a, b, scc| compare(a >> (b & 63) & 1 == 0, scc), 0, DN),
                    "s_bitcmp1_b64" => (|a, b, scc| compare(a >> (b & 63) & 1 == 1, scc), 0, DN),
                    _ => return None,
                });
            }
        },
    };
    let body: Body = match rest {
        "eq_i32" | "eq_u32" | "eq_u64" => |a, b, scc| compare(a == b, scc),
        "lg_i32" | "lg_u32" | "lg_u64" | "ne_u64" => |a, b, scc| compare(a != b, scc),
        "gt_i32" => |a, b, scc| compare(s(a) > s(b), scc),
        "ge_i32" => |a, b, scc| compare(s(a) >= s(b), scc),
        "lt_i32" => |a, b, scc| compare(s(a) < s(b), scc),
        "le_i32" => |a, b, scc| compare(s(a) <= s(b), scc),
        "gt_u32" => |a, b, scc| compare(a > b, scc),
        "ge_u32" => |a, b, scc| compare(a >= b, scc),
        "lt_u32" => |a, b, scc| compare(a < b, scc),
        "le_u32" => |a, b, scc| compare(a <= b, scc),
        _ => return None,
    };
    let wide = rest.ends_with("64");
    if wide && constant {
        return None;
    }
    Some((body, 0, if wide { DD } else { NN }))
}

/// The same of `s_andn1_wrexec_b64` and its kin.
fn write_exec(name: &str) -> Option<Row> {
    let (stem, width) = name.rsplit_once("_wrexec_")?;
    let wide = width == "b64";
    let body: Body = match stem {
        "s_and_not1" | "s_andn2" => |a, exec, _| a & !exec,
        "s_and_not0" | "s_andn1" => |a, exec, _| !a & exec,
        _ => return None,
    };
    Some((body, if wide { 64 } else { 32 }, if wide { D } else { N }))
}

/// The plain operation and widths of `s_and_saveexec_b32` and its kin.
fn save_exec(name: &str) -> Option<Row> {
    let (stem, width) = name.rsplit_once("_saveexec_")?;
    let wide = width == "b64";
    let body: Body = match stem {
        "s_and" => |a, exec, _| a & exec,
        "s_or" => |a, exec, _| a | exec,
        "s_xor" => |a, exec, _| a ^ exec,
        "s_and_not1" | "s_andn2" => |a, exec, _| a & !exec,
        "s_and_not0" | "s_andn1" => |a, exec, _| !a & exec,
        "s_or_not1" | "s_orn2" => |a, exec, _| a | !exec,
        "s_or_not0" | "s_orn1" => |a, exec, _| !a | exec,
        "s_nand" => |a, exec, _| !(a & exec),
        "s_nor" => |a, exec, _| !(a | exec),
        "s_xnor" => |a, exec, _| !(a ^ exec),
        _ => return None,
    };
    Some((body, if wide { 64 } else { 32 }, if wide { D } else { N }))
}

impl Salu {
    /// The scalar instruction of a line; none when the mnemonic is no scalar arithmetic.
    pub(crate) fn new(line: &Line) -> Option<Result<Salu, String>> {
        let name = line.name.as_str();
        let (row, effect) = match (save_exec(name), write_exec(name)) {
            (Some(row), _) => (row, Effect::SaveExec),
            (_, Some(row)) => (row, Effect::WriteExec),
            _ if name.starts_with("s_cselect") => (row(name)?, Effect::Select),
            _ if name.starts_with("s_cmov") => (row(name)?, Effect::Conditional),
            _ => (row(name)?, Effect::Plain),
        };
        Some(
            Self::build(line, row, effect)
                .ok_or_else(|| "an operand is of no known kind".to_owned()),
        )
    }

    fn build(line: &Line, (body, result, widths): Row, effect: Effect) -> Option<Salu> {
        let name = line.name.as_str();
        let mut operands = line.operands.iter();
        let target = match result {
            0 => Target::None,
            _ => match (&operands.next()?.value, result) {
                (&Value::Scalar { first: NULL, .. }, _) => Target::None,
                (&Value::Scalar { first, .. }, 32) => Target::Register(first),
                (&Value::Scalar { first, .. }, _) => Target::Pair(first),
                _ => return None,
            },
        };
        // The constant of these is a signed 16-bit one, and the target their first source.
        let short = matches!(
            name,
            "s_movk_i32" | "s_cmovk_i32" | "s_addk_i32" | "s_addk_co_i32" | "s_mulk_i32"
        ) || name.starts_with("s_cmpk_");
        let unsigned = name.starts_with("s_cmpk_") && name.ends_with("u32");
        let mut sources = [Source::Const(0); 2];
        let in_place = matches!(name, "s_addk_i32" | "s_addk_co_i32" | "s_mulk_i32")
            || name.starts_with("s_bitset");
        for (at, (&width, slot)) in widths.iter().zip(&mut sources).enumerate() {
            let operand = match (in_place, at) {
                (true, 0) => line.operands.first()?,
                _ => operands.next()?,
            };
            let ty = if width == 64 { Type::B64 } else { Type::B32 };
            *slot = match operand.value {
                Value::Scalar { first: NULL, .. } => Source::Const(0),
                Value::Scalar { first, .. } if width == 64 => Source::Pair(first),
                Value::Scalar { first, .. } => Source::Register(first),
                Value::Word(ref word) if word == "scc" || word == "src_scc" => Source::Scc,
                ref value => {
                    let bits = constant(value, ty)?;
                    Source::Const(match short {
                        true if unsigned => bits & 0xffff,
                        true => w(i32::from(bits as i16)),
                        false => bits,
                    })
                }
            };
        }
        Some(Salu {
            body,
            sources,
            target,
            effect,
            wide: result == 64,
        })
    }

    #[inline]
    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let fetch = |source: Source| match source {
            Source::Register(index) => u64::from(wave.s[usize::from(index)]),
            Source::Pair(index) => wave.pair(index),
            Source::Const(bits) => bits,
            Source::Scc => u64::from(wave.scc),
        };
        let [a, b] = self.sources;
        let (a, b) = (fetch(a), fetch(b));
        let mut scc = wave.scc;
        let value = match self.effect {
            Effect::Plain => (self.body)(a, b, &mut scc),
            Effect::Select => {
                if scc {
                    a
                } else {
                    b
                }
            }
            Effect::Conditional if scc => a,
            Effect::Conditional => return,
            Effect::SaveExec | Effect::WriteExec => {
                // As many bits of EXEC as the instruction has, whatever the wave's size.
                let bits = match self.wide {
                    true => u64::MAX,
                    false => u64::from(u32::MAX),
                };
                let exec = wave.pair(EXEC) & bits;
                let next = (self.body)(a, exec, &mut scc) & bits;
                wave.set_scalar(EXEC, next as u32);
                if self.wide {
                    wave.set_scalar(EXEC + 1, (next >> 32) as u32);
                }
                scc = next != 0;
                match self.effect {
                    Effect::SaveExec => exec,
                    _ => next,
                }
            }
        };
        wave.scc = scc;
        match self.target {
            Target::None => {}
            Target::Register(index) => wave.set_scalar(index, value as u32),
            Target::Pair(index) => {
                wave.set_scalar(index, value as u32);
                wave.set_scalar(index + 1, (value >> 32) as u32);
            }
        }
    }
}
