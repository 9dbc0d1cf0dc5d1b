//! Instructions on packed halves, and those that mix f16 with f32.

use super::float::{clamp, from_f16, result3, to_f16};
use super::operand::flush_denormal;
use super::overflow::{self, Overflow};
use super::{Body, Input, Narrow, Row, Source, Type, row, write_half};
use crate::text::{Half, Line, Value};
use crate::wave::{Mode, Wave};

/// A packed or mixed instruction, ready to execute.
pub(crate) enum Packed<const W: usize> {
    /// One 16-bit operation on both halves.
    Halves {
        body: Narrow<W>,
        dst: u16,
        low: [Input; 3],
        high: [Input; 3],
        result: Type,
        clamp: bool,
    },
    /// One f32 operation on both registers of pairs.
    Pairs {
        body: Narrow<W>,
        dst: u16,
        low: [Input; 3],
        high: [Input; 3],
        result: Type,
        clamp: bool,
    },
    /// a x b + c in f32, each operand f32 or half of a register.
    Mix {
        dst: u16,
        half: Option<Half>,
        sources: [Input; 3],
        clamp: bool,
    },
}

/// The packed instruction of a line; none when it is another family's.
pub(crate) fn packed<const W: usize>(line: &Line) -> Option<Result<Packed<W>, String>> {
    let name = line.name.as_str();
    let built = if let Some(rest) = name.strip_prefix("v_fma_mix") {
        mix(line, rest)
    } else {
        let rest = name.strip_prefix("v_pk_")?;
        match rest.ends_with("_f32") || rest == "mov_b32" {
            true => pairs(line, rest),
            false => halves(line, rest),
        }
    };
    Some(built.ok_or_else(|| "no such packed instruction or operand".to_owned()))
}

fn destination(line: &Line) -> Option<(u16, Option<Half>)> {
    match line.operands.first()?.value {
        Value::Vector { first, half, .. } => Some((first, half)),
        _ => None,
    }
}

fn halves<const W: usize>(line: &Line, rest: &str) -> Option<Packed<W>> {
    let name = match rest {
        "add_u16" | "add_i16" => "v_add_nc_u16".to_owned(),
        "sub_u16" | "sub_i16" => "v_sub_nc_u16".to_owned(),
        other => format!("v_{other}"),
    };
    let mut clamp = line.flag("clamp");
    let plain: Row<W> = row(&name)?;
    let row = match clamp && plain.result != Type::F16 {
        true => {
            clamp = false;
            super::saturate::row(&format!("v_{rest}"))?
        }
        false => plain,
    };
    let Body::Narrow(body) = row.body else {
        return None;
    };
    if row.result.bits() != 16 {
        return None;
    }
    let mut inputs = [[Input::ZERO; 3]; 2];
    // `op_sel` picks the half that the low result reads, `op_sel_hi` that of the high one.
    let selects: [[bool; 3]; 2] = [line.bits("op_sel", false), line.bits("op_sel_hi", true)];
    let negs: [[bool; 3]; 2] = [line.bits("neg_lo", false), line.bits("neg_hi", false)];
    for part in 0..2 {
        for (at, &ty) in row.sources.iter().enumerate() {
            let operand = line.operands.get(at + 1).or(match row.accumulates {
                true => line.operands.first(),
                false => None,
            })?;
            let mut input = Input::new(operand, ty, selects[part][at])?;
            // A constant has 32 bits: a float is one of f16 in the low half, or of f32 where the
            // halves are integers (LLVM: `getInlineEncodingV2F16` and `V2I16`).
            if let Source::Const(_) = input.source {
                let pair = match ty {
                    Type::F16 => Type::PairF16,
                    _ => Type::B32,
                };
                let full = super::constant(&operand.value, pair)?;
                let shift = if selects[part][at] { 16 } else { 0 };
                input.source = Source::Const(full >> shift & 0xffff);
            }
            input.neg ^= negs[part][at];
            inputs[part][at] = input;
        }
    }
    let [low, high] = inputs;
    Some(Packed::Halves {
        body,
        dst: destination(line)?.0,
        low,
        high,
        result: row.result,
        clamp,
    })
}

fn pairs<const W: usize>(line: &Line, rest: &str) -> Option<Packed<W>> {
    let (body, sources) = match rest {
        // Moves one register of each source: the first to the low, the second to the high.
        "mov_b32" => match row::<W>("v_mov_b32")?.body {
            Body::Narrow(body) => (body, 2),
            Body::Wide(_) | Body::Table(_) => return None,
        },
        other => {
            let row: Row<W> = row(&format!("v_{other}"))?;
            match row.body {
                Body::Narrow(body) => (body, row.sources.len()),
                Body::Wide(_) | Body::Table(_) => return None,
            }
        }
    };
    let clamp = line.flag("clamp");
    if clamp && rest == "mov_b32" {
        return None;
    }
    let selects: [[bool; 3]; 2] = [line.bits("op_sel", false), line.bits("op_sel_hi", true)];
    let negs: [[bool; 3]; 2] = [line.bits("neg_lo", false), line.bits("neg_hi", false)];
    let mut inputs = [[Input::ZERO; 3]; 2];
    for part in 0..2 {
        for at in 0..sources {
            let operand = line.operands.get(at + 1)?;
            let mut input = Input::new(operand, Type::F32, false)?;
            if selects[part][at] {
                input.source = upper(input.source, &operand.value)?;
            }
            input.neg ^= negs[part][at];
            inputs[part][at] = input;
        }
    }
    let [mut low, mut high] = inputs;
    if rest == "mov_b32" {
        // The selections of the two sources are `op_sel[0]` and `op_sel[1]`.
        let operand = line.operands.get(2)?;
        let mut second = Input::new(operand, Type::B32, false)?;
        if selects[0][1] {
            second.source = upper(second.source, &operand.value)?;
        }
        low[0].ty = Type::B32;
        high[0] = second;
    }
    Some(Packed::Pairs {
        body,
        dst: destination(line)?.0,
        low,
        high,
        result: low[0].ty,
        clamp,
    })
}

/// The high register of a pair; of a constant its sign where it is an integer, else nothing.
fn upper(source: Source, value: &Value) -> Option<Source> {
    Some(match (source, value) {
        (Source::Vector(index, half), _) => Source::Vector(index.checked_add(1)?, half),
        (Source::Scalar(index), _) => Source::Scalar(index.checked_add(1)?),
        (_, Value::Int(int)) => Source::Const((*int >> 32) as u32 as u64),
        _ => Source::Const(0),
    })
}

fn mix<const W: usize>(line: &Line, rest: &str) -> Option<Packed<W>> {
    let (dst, _) = destination(line)?;
    let half = match rest {
        "_f32" => None,
        "lo_f16" => Some(Half::Low),
        "hi_f16" => Some(Half::High),
        _ => return None,
    };
    let is_half: [bool; 3] = line.bits("op_sel_hi", false);
    let select: [bool; 3] = line.bits("op_sel", false);
    let mut sources = [Input::ZERO; 3];
    for at in 0..3 {
        let ty = if is_half[at] { Type::F16 } else { Type::F32 };
        sources[at] = Input::new(line.operands.get(at + 1)?, ty, select[at])?;
    }
    Some(Packed::Mix {
        dst,
        half,
        sources,
        clamp: line.flag("clamp"),
    })
}

/// Clamps a result and drops its denormals where the mode says so; what is no f16 is clamped as an
/// f32.
#[inline(always)]
fn finish(bits: u32, result: Type, clamped: bool, mode: Mode) -> u32 {
    let between = |value: f32| clamp(f64::from(value), mode.clamp_nan) as f32;
    let bits = match (clamped, result) {
        (false, _) => bits,
        (true, Type::F16) => to_f16(between(from_f16(bits & 0xffff))),
        (true, _) => between(f32::from_bits(bits)).to_bits(),
    };
    if drops(result, mode) {
        flush_denormal(bits, result)
    } else {
        bits
    }
}

/// Whether the mode drops denormal results.
fn drops(result: Type, mode: Mode) -> bool {
    match result {
        Type::F32 => mode.f32 & 2 == 0,
        Type::F16 => mode.f16_f64 & 2 == 0,
        _ => false,
    }
}

impl<const W: usize> Packed<W> {
    pub(crate) fn execute(&self, wave: &mut Wave<W>) {
        let exec = wave.exec();
        let mut store = [[0; W]; 3];
        let [a, b, c] = &mut store;
        match self {
            Packed::Halves {
                body,
                dst,
                low,
                high,
                result,
                clamp,
            } => {
                let mut results = [[0; W]; 2];
                for (inputs, out) in [low, high].into_iter().zip(&mut results) {
                    let sources = [
                        inputs[0].fetch(wave, a),
                        inputs[1].fetch(wave, b),
                        inputs[2].fetch(wave, c),
                    ];
                    body(&sources, 0, out);
                    if let (true, Some(overflow)) = (wave.mode.saturates, Overflow::of("", *result))
                    {
                        let types = [0, 1, 2].map(|at: usize| inputs[at].ty);
                        overflow.limit(out, &sources, types);
                    }
                }
                if *clamp || drops(*result, wave.mode) {
                    for bits in results.as_flattened_mut() {
                        *bits = finish(*bits, *result, *clamp, wave.mode);
                    }
                }
                let [low, high] = results;
                let packed = std::array::from_fn(|lane| low[lane] & 0xffff | high[lane] << 16);
                wave.write(*dst, &packed, exec);
            }
            Packed::Pairs {
                body,
                dst,
                low,
                high,
                result,
                clamp,
            } => {
                let mut results = [[0; W]; 2];
                for (inputs, out) in [low, high].into_iter().zip(&mut results) {
                    let sources = [
                        inputs[0].fetch(wave, a),
                        inputs[1].fetch(wave, b),
                        inputs[2].fetch(wave, c),
                    ];
                    body(&sources, 0, out);
                }
                if *clamp || drops(*result, wave.mode) {
                    for bits in results.as_flattened_mut() {
                        *bits = finish(*bits, *result, *clamp, wave.mode);
                    }
                }
                wave.write(*dst, &results[0], exec);
                wave.write(*dst + 1, &results[1], exec);
            }
            Packed::Mix {
                dst,
                half,
                sources,
                clamp,
            } => {
                let real = |input: &Input, values: &[u32; W]| match input.ty {
                    Type::F16 => values.map(from_f16),
                    _ => values.map(f32::from_bits),
                };
                let [x, y, z] = sources;
                let (x, y, z) = (
                    real(x, x.fetch(wave, a)),
                    real(y, y.fetch(wave, b)),
                    real(z, z.fetch(wave, c)),
                );
                let out: [u32; W] = std::array::from_fn(|lane| {
                    let (x, y, z) = (x[lane], y[lane], z[lane]);
                    let bits = result3(x.mul_add(y, z), x, y, z);
                    // A half is not rounded before.
                    let ty = if half.is_some() { Type::B32 } else { Type::F32 };
                    finish(bits, ty, *clamp, wave.mode)
                });
                match half {
                    None => wave.write(*dst, &out, exec),
                    Some(half) => {
                        let out = std::array::from_fn(|lane| {
                            let infinite =
                                [x, y, z].iter().any(|source| source[lane].is_infinite());
                            let kept = infinite || !wave.mode.saturates;
                            let bits = overflow::half(to_f16(f32::from_bits(out[lane])), kept);
                            finish(bits, Type::F16, false, wave.mode)
                        });
                        write_half(wave, *dst, *half, &out, exec);
                    }
                }
            }
        }
    }
}
