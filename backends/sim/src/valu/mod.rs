//! Vector arithmetic: fetch up to three sources over the whole wave, compute, write by EXEC.
//!
//! What an instruction computes is a row of one of the tables below this module; what its operand
//! forms mean (halves, sign modifiers, DPP, clamp, output scale, lane masks) is here, once.

mod bytes;
mod compare;
mod convert;
mod division;
mod dot;
mod double;
mod dpp;
mod finish;
pub(crate) mod float;
mod half_ops;
mod integer;
mod lanes;
mod mixed;
mod operand;
pub(crate) mod overflow;
mod recode;
mod rows;
mod saturate;
mod scalar;
mod sdwa;
mod single;
mod swap;
mod turns;
mod wide_ops;

pub(crate) use bytes::{Sums, sums};
pub(crate) use dot::Dot;
pub(crate) use lanes::{LaneOp, lane_op};
pub(crate) use mixed::{Packed, packed};
pub(crate) use operand::{Input, Source, Type, constant, flush_denormal};
pub(crate) use recode::{Recode, recode};
use rows::keeps_half;
pub(crate) use rows::row;
pub(crate) use rows::row_of;
pub(crate) use scalar::{Real, real};
pub(crate) use swap::{Swap, swap};

use crate::chip::Isa;
use crate::simd::vectorized;
use crate::text::{EXEC, Half, Line, Operand, VCC, Value};
use crate::wave::Wave;
use dpp::Dpp;
use overflow::Overflow;
use sdwa::Sdwa;

/// The sources of a 32-bit operation, one value a lane.
pub(crate) type Sources<'a, const W: usize> = [&'a [u32; W]; 3];
/// Computes 32-bit (or 16-bit, in the low half) results from sources and a lane mask; the value
/// returned is a lane mask for instructions that write one.
pub(crate) type Narrow<const W: usize> = fn(&Sources<'_, W>, u64, &mut [u32; W]) -> u64;
/// The same on values of 64 bits, 32-bit sources zero-extended.
pub(crate) type Wide64<const W: usize> = fn(&[[u64; W]; 3], u64, &mut [u64; W]) -> u64;

pub(crate) enum Body<const W: usize> {
    Narrow(Narrow<W>),
    Wide(Wide64<W>),
    /// Any function of three bits, by its truth table.
    Table(u8),
}

impl<const W: usize> Clone for Body<W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<const W: usize> Copy for Body<W> {}

/// Which operands the text lists besides the destination and the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `dst, sources`.
    Plain,
    /// `mask, sources`.
    Compare,
    /// `sources`; the mask goes to EXEC.
    CompareExec,
    /// `dst, mask, sources`.
    MaskOut,
    /// `dst, mask out, sources, mask in`.
    MaskInOut,
    /// `dst, sources, mask`, VCC where none is written.
    MaskIn,
}

/// A row of an instruction table.
pub(crate) struct Row<const W: usize> {
    pub(crate) body: Body<W>,
    pub(crate) shape: Shape,
    pub(crate) result: Type,
    pub(crate) sources: &'static [Type],
    /// The destination is also the last source, which the text does not repeat.
    pub(crate) accumulates: bool,
    /// The sources' denormals are kept in any mode.
    pub(crate) keeps: bool,
}

impl<const W: usize> Row<W> {
    pub(crate) fn narrow(body: Narrow<W>, result: Type, sources: &'static [Type]) -> Row<W> {
        Row {
            body: Body::Narrow(body),
            shape: Shape::Plain,
            result,
            sources,
            accumulates: false,
            keeps: false,
        }
    }

    pub(crate) fn wide(body: Wide64<W>, result: Type, sources: &'static [Type]) -> Row<W> {
        Row {
            body: Body::Wide(body),
            shape: Shape::Plain,
            result,
            sources,
            accumulates: false,
            keeps: false,
        }
    }

    pub(crate) fn shape(mut self, shape: Shape) -> Row<W> {
        self.shape = shape;
        self
    }

    fn accumulate(mut self) -> Row<W> {
        self.accumulates = true;
        self
    }
}

vectorized! {
    /// Loops over the lanes of one source.
    pub(crate) fn map1[const W: usize, F: Fn(u32) -> u32](
        s: &Sources<'_, W>, out: &mut [u32; W], f: F,
    ) -> u64 {
        for lane in 0..W {
            out[lane] = f(s[0][lane]);
        }
        0
    }
}

vectorized! {
    /// Loops over the lanes of two sources.
    pub(crate) fn map2[const W: usize, F: Fn(u32, u32) -> u32](
        s: &Sources<'_, W>, out: &mut [u32; W], f: F,
    ) -> u64 {
        for lane in 0..W {
            out[lane] = f(s[0][lane], s[1][lane]);
        }
        0
    }
}

vectorized! {
    /// Loops over the lanes of three sources.
    pub(crate) fn map3[const W: usize, F: Fn(u32, u32, u32) -> u32](
        s: &Sources<'_, W>, out: &mut [u32; W], f: F,
    ) -> u64 {
        for lane in 0..W {
            out[lane] = f(s[0][lane], s[1][lane], s[2][lane]);
        }
        0
    }
}

/// Rows of instructions on 32-bit operands: `"name" => |a, b| expression;`.
macro_rules! narrow {
    ($name:expr, $result:ident, $source:ident; $($key:pat => |$($arg:ident),+| $body:expr;)*) => {
        match $name {
            $($key => narrow!(@row $result, $source, |$($arg),+| $body),)*
            _ => return None,
        }
    };
    (@row $r:ident, $s:ident, |$a:ident| $body:expr) => {
        $crate::valu::Row::narrow(|s, _, out| $crate::valu::map1(s, out, |$a| $body),
            $crate::valu::Type::$r, &[$crate::valu::Type::$s])
    };
    (@row $r:ident, $s:ident, |$a:ident, $b:ident| $body:expr) => {
        $crate::valu::Row::narrow(|s, _, out| $crate::valu::map2(s, out, |$a, $b| $body),
            $crate::valu::Type::$r, &[$crate::valu::Type::$s, $crate::valu::Type::$s])
    };
    (@row $r:ident, $s:ident, |$a:ident, $b:ident, $c:ident| $body:expr) => {
        $crate::valu::Row::narrow(|s, _, out| $crate::valu::map3(s, out, |$a, $b, $c| $body),
            $crate::valu::Type::$r,
            &[$crate::valu::Type::$s, $crate::valu::Type::$s, $crate::valu::Type::$s])
    };
}
pub(crate) use narrow;

/// One vector instruction, ready to execute.
pub(crate) struct Valu<const W: usize> {
    body: Body<W>,
    inputs: [Input; 3],
    /// First destination register and half; none for comparisons.
    dst: Option<(u16, Option<Half>)>,
    result: Type,
    mask_in: Option<u16>,
    mask_out: Option<u16>,
    clamp: bool,
    /// Output scale.
    scale: f32,
    dpp: Option<Box<Dpp<W>>>,
    sdwa: Option<Sdwa>,
    /// Whether a comparison sets EXEC besides its mask.
    exec_too: bool,
    /// Whether a 16-bit result clears the other half of its register.
    clears: bool,
    /// What becomes of results that overflow where the mode says so.
    overflow: Option<Overflow>,
}

/// What a vector instruction computed and has not written yet.
pub(crate) struct Computed<const W: usize> {
    low: [u32; W],
    high: [u32; W],
    mask: u64,
    /// Lanes written.
    lanes: u64,
}

impl<const W: usize> Valu<W> {
    /// Builds the micro-operation of a line; the error says what is not known about it.
    pub(crate) fn new(line: &Line, row: Row<W>, isa: Isa) -> Result<Valu<W>, String> {
        let mut operands = line.operands.iter();
        let mut next = || operands.next().ok_or("an operand is missing");
        let dst = match row.shape {
            Shape::Compare | Shape::CompareExec => None,
            _ => match next()?.value {
                Value::Vector { first, half, .. } => Some((first, half)),
                _ => return Err("the destination is no vector register".into()),
            },
        };
        let scalar = |operand: &Operand| match operand.value {
            Value::Scalar { first, .. } => Ok(first),
            _ => Err("a lane mask is no scalar register"),
        };
        let mask_out = match row.shape {
            Shape::Compare | Shape::MaskOut | Shape::MaskInOut => Some(scalar(next()?)?),
            Shape::CompareExec => {
                // Before RDNA the mask goes to a register that is named, too.
                match line.operands.len() > row.sources.len() {
                    true => Some(scalar(next()?)?),
                    false => Some(EXEC),
                }
            }
            _ => None,
        };
        let select: [bool; 4] = line.bits("op_sel", false);
        let mut inputs = [Input::ZERO; 3];
        let listed = row.sources.len() - usize::from(row.accumulates);
        for (at, &ty) in row.sources[..listed].iter().enumerate() {
            let operand = next()?;
            inputs[at] = match line.sdwa {
                true => sdwa::input(line, operand, ty, at),
                false => Input::new(operand, ty, select[at]),
            }
            .ok_or("a source is of no known kind")?;
            inputs[at].keeps = row.keeps;
        }
        if row.accumulates {
            inputs[listed] = Input::new(&line.operands[0], row.sources[listed], select[listed])
                .ok_or("the destination is no register")?;
        }
        let mask_in = match row.shape {
            Shape::MaskInOut | Shape::MaskIn => Some(match operands.next() {
                Some(operand) => scalar(operand)?,
                None => VCC,
            }),
            _ => None,
        };
        // In 16-bit instructions the last bit of `op_sel` is the destination's.
        let dst = dst.map(|(first, half)| match (row.result.bits(), half) {
            (16, None) if select[row.sources.len().min(3)] => (first, Some(Half::High)),
            (16, None) => (first, Some(Half::Low)),
            (_, half) => (first, half),
        });
        let dst_half = match (dst, row.result.bits()) {
            (Some((_, half)), 16) => half,
            _ => None,
        };
        let halves = row.sources.iter().chain([&row.result]);
        if (halves.zip(select)).any(|(ty, high)| high && ty.bits() != 16) {
            return Err("op_sel chooses a half of what has none".into());
        }
        let clamp = line.flag("clamp");
        let float = matches!(row.result, Type::F16 | Type::F32 | Type::F64);
        let clamps = float || row.result == Type::PairF16;
        if clamp && !clamps && saturate::row::<W>(&line.name).is_none() {
            return Err("clamping of integers".into());
        }
        let scale = match (line.number("mul"), line.number("div")) {
            (Some(factor), _) => factor as f32,
            (None, Some(divisor)) => 1.0 / divisor as f32,
            (None, None) => 1.0,
        };
        if scale != 1.0 && !float {
            return Err("an output scale of integers".into());
        }
        Ok(Valu {
            body: row.body,
            inputs,
            dst,
            result: row.result,
            mask_in,
            mask_out,
            clamp,
            scale,
            dpp: match line.dpp {
                true => Some(Box::new(Dpp::new(line)?)),
                false => None,
            },
            // A pair of registers has no parts.
            sdwa: match line.sdwa && dst.is_some() && row.result.bits() != 64 {
                true => Some(Sdwa::new(line).ok_or("no such part of a register")?),
                false => None,
            },
            exec_too: row.shape == Shape::CompareExec,
            overflow: Overflow::of(&line.name, row.result),
            clears: isa == Isa::Gfx9 && dst_half == Some(Half::Low) && !keeps_half(&line.name),
        })
    }

    pub(crate) fn execute(&self, wave: &mut Wave<W>) {
        let computed = self.compute(wave);
        self.commit(wave, &computed);
    }

    #[inline]
    pub(crate) fn compute(&self, wave: &Wave<W>) -> Computed<W> {
        let mut computed = Computed {
            low: [0; W],
            high: [0; W],
            mask: 0,
            lanes: wave.exec(),
        };
        let mask_in = self.mask_in.map_or(0, |register| wave.mask(register));
        match self.body {
            Body::Narrow(_) | Body::Table(_) => {
                let mut store = [[0; W]; 3];
                let [a, b, c] = &mut store;
                let mut first = self.inputs[0].fetch(wave, a);
                let moved;
                if let Some(dpp) = &self.dpp {
                    let (values, lanes) = dpp.apply(first, wave.exec());
                    (moved, computed.lanes) = (values, lanes);
                    first = &moved;
                }
                let sources = [
                    first,
                    self.inputs[1].fetch(wave, b),
                    self.inputs[2].fetch(wave, c),
                ];
                match self.body {
                    Body::Narrow(body) => {
                        computed.mask = body(&sources, mask_in, &mut computed.low);
                    }
                    Body::Table(table) => {
                        map3(&sources, &mut computed.low, |a, b, c| {
                            integer::bitop3(table, a, b, c)
                        });
                    }
                    Body::Wide(_) => {}
                }
                if let (true, Some(overflow)) = (wave.mode.saturates, self.overflow) {
                    let types = self.inputs.map(|input| input.ty);
                    overflow.limit(&mut computed.low, &sources, types);
                }
            }
            Body::Wide(body) => {
                let mut sources = [0, 1, 2].map(|at| self.inputs[at].fetch_wide(wave));
                if let Some(dpp) = &self.dpp {
                    let parts = [0, 32].map(|shift| {
                        dpp.apply(
                            &sources[0].map(|value| (value >> shift) as u32),
                            wave.exec(),
                        )
                    });
                    let [(low, lanes), (high, _)] = parts;
                    computed.lanes = lanes;
                    sources[0] = std::array::from_fn(|lane| {
                        u64::from(low[lane]) | u64::from(high[lane]) << 32
                    });
                }
                let mut out = [0; W];
                computed.mask = body(&sources, mask_in, &mut out);
                for lane in 0..W {
                    computed.low[lane] = out[lane] as u32;
                    computed.high[lane] = (out[lane] >> 32) as u32;
                }
            }
        }
        self.finish(wave, &mut computed);
        computed
    }

    #[inline]
    pub(crate) fn commit(&self, wave: &mut Wave<W>, computed: &Computed<W>) {
        let exec = computed.lanes;
        if let Some(register) = self.mask_out {
            wave.set_mask(register, computed.mask & exec);
            if self.exec_too {
                wave.set_exec(computed.mask & exec);
            }
        }
        if let (Some(sdwa), Some((index, _))) = (&self.sdwa, self.dst) {
            let keep = u32::MAX >> (32 - self.result.bits().min(32));
            let result = computed.low.map(|value| value & keep);
            let merged = sdwa.merge(&result, &wave.v[usize::from(index)]);
            return wave.write(index, &merged, exec);
        }
        match self.dst {
            None => {}
            Some((index, None)) => {
                wave.write(index, &computed.low, exec);
                if self.result.bits() == 64 {
                    wave.write(index + 1, &computed.high, exec);
                }
            }
            Some((index, Some(_))) if self.clears => {
                let whole = computed.low.map(|value| value & 0xffff);
                wave.write(index, &whole, exec);
            }
            Some((index, Some(half))) => {
                write_half(wave, index, half, &computed.low, exec);
            }
        }
    }
}

/// Writes 16-bit values into one half of a register and keeps the other.
pub(crate) fn write_half<const W: usize>(
    wave: &mut Wave<W>,
    index: u16,
    half: Half,
    values: &[u32; W],
    exec: u64,
) {
    let old = &wave.v[usize::from(index)];
    let merged = match half {
        Half::Low => std::array::from_fn(|lane| old[lane] & !0xffff | values[lane] & 0xffff),
        Half::High => std::array::from_fn(|lane| old[lane] & 0xffff | values[lane] << 16),
    };
    wave.write(index, &merged, exec);
}
