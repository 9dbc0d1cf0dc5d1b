//! Floating point on scalar registers: the scalar unit's operations of RDNA 3.5 and 4, and RDNA 4's
//! transcendental functions whose operands are scalars.
//!
//! Each computes what the vector instruction of the same name does in a lane (AMD's RDNA 3.5 and 4
//! guides give both the same pseudo-code), so that denormals and FP16_OVFL are the vector ALU's too.
//! A scalar register is written whole: the high half of an f16 result is zero.

use super::operand::flush_denormal;
use super::overflow::Overflow;
use super::{Body, Input, Narrow, Row, Shape, Type, compare, convert, half_ops, single};
use crate::text::{Line, NULL, Value};
use crate::wave::Wave;

/// Lanes of the vector operation that stands for the scalar one; all compute the same.
const LANES: usize = 32;

/// Where a result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Scc,
    Register(u16),
    Nowhere,
}

/// A float operation on scalars, ready to execute.
pub(crate) struct Real {
    body: Narrow<LANES>,
    inputs: [Input; 3],
    result: Type,
    target: Target,
    overflow: Option<Overflow>,
}

/// The vector instruction that computes the same; none of what is no float operation on scalars.
fn vector(name: &str) -> Option<String> {
    const TRANSCENDENTAL: [&str; 5] = ["exp", "log", "rcp", "rsq", "sqrt"];
    const PLAIN: [&str; 14] = [
        "add", "sub", "mul", "min", "max", "min_num", "max_num", "minimum", "maximum", "floor",
        "ceil", "trunc", "rndne", "fmac",
    ];
    const OTHERS: [&str; 9] = [
        "fmaak_f32",
        "fmamk_f32",
        "cvt_f16_f32",
        "cvt_f32_f16",
        "cvt_f32_i32",
        "cvt_f32_u32",
        "cvt_i32_f32",
        "cvt_u32_f32",
        "cvt_pk_rtz_f16_f32",
    ];
    let of = |rest: &str, stems: &[&str]| {
        let stem = ["_f16", "_f32"]
            .into_iter()
            .find_map(|ty| rest.strip_suffix(ty));
        stem.is_some_and(|stem| stems.contains(&stem))
    };
    if let Some(rest) = name.strip_prefix("v_s_") {
        return of(rest, &TRANSCENDENTAL).then(|| format!("v_{rest}"));
    }
    let rest = name.strip_prefix("s_")?;
    let compares = rest.starts_with("cmp_") && (rest.ends_with("_f16") || rest.ends_with("_f32"));
    match rest {
        "cvt_hi_f32_f16" => Some("v_cvt_f32_f16".into()),
        _ if compares || of(rest, &PLAIN) || OTHERS.contains(&rest) => Some(format!("v_{rest}")),
        _ => None,
    }
}

/// The operation of a line; none when it is another family's.
pub(crate) fn real(line: &Line) -> Option<Result<Real, String>> {
    let name = vector(&line.name)?;
    let row = single::row(&name)
        .or_else(|| half_ops::row(&name))
        .or_else(|| convert::row(&name))
        .or_else(|| compare::row(&name))?;
    Some(Real::new(line, &name, row).ok_or_else(|| "an operand is of no known kind".to_owned()))
}

impl Real {
    fn new(line: &Line, name: &str, row: Row<LANES>) -> Option<Real> {
        let Body::Narrow(body) = row.body else {
            return None;
        };
        let high = line.name == "s_cvt_hi_f32_f16";
        let mut operands = line.operands.iter();
        let target = match row.shape {
            Shape::Compare => Target::Scc,
            _ => match operands.next()?.value {
                Value::Scalar { first: NULL, .. } => Target::Nowhere,
                Value::Scalar { first, .. } => Target::Register(first),
                _ => return None,
            },
        };
        let mut inputs = [Input::ZERO; 3];
        let listed = row.sources.len() - usize::from(row.accumulates);
        for (at, (slot, &ty)) in inputs.iter_mut().zip(row.sources).enumerate() {
            let operand = match at < listed {
                true => operands.next()?,
                false => line.operands.first()?,
            };
            let known = match operand.value {
                Value::Vector { .. } => false,
                Value::Scalar { .. } => true,
                // Constants have no high half.
                _ => !high,
            };
            *slot = Input::new(operand, ty, high).filter(|_| known)?;
        }
        Some(Real {
            body,
            inputs,
            result: row.result,
            target,
            overflow: Overflow::of(name, row.result),
        })
    }

    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let values = self
            .inputs
            .map(|input| [input.fetch(wave, &mut [0; W])[0]; LANES]);
        let [a, b, c] = &values;
        let sources = [a, b, c];
        let mut out = [0; LANES];
        let mask = (self.body)(&sources, 0, &mut out);
        if let (true, Some(overflow)) = (wave.mode.saturates, self.overflow) {
            overflow.limit(&mut out, &sources, self.inputs.map(|input| input.ty));
        }
        let flush = match self.result {
            Type::F32 => wave.mode.f32 & 2 == 0,
            Type::F16 | Type::PairF16 => wave.mode.f16_f64 & 2 == 0,
            _ => false,
        };
        let value = match flush {
            true => flush_denormal(out[0], self.result),
            false => out[0],
        };
        match self.target {
            Target::Scc => wave.scc = mask & 1 == 1,
            Target::Register(index) => {
                wave.set_scalar(
                    index,
                    value & (u32::MAX >> (32 - self.result.bits().min(32))),
                );
            }
            Target::Nowhere => {}
        }
    }
}
