//! Conversions to and from the small float formats of gfx950, scaled or rounded stochastically.
//!
//! Sources: the pseudo-code of AMD's CDNA 4 instruction set guide ("V_CVT_SCALEF32_..." and
//! "V_CVT_SR_...") for operands, places and the order of elements; HIP's host model of these
//! instructions (`amd_hip_ocp_host.hpp`) for the arithmetic that the guide only names. A scale is
//! the exponent of an f32, taken as E8M0: results in a small format are divided by it, results in a
//! wide one multiplied.
//!
//! Rounding is to nearest even, or stochastic: the bits that a result has no place for, as many as
//! the source's mantissa is longer, are added to as many top bits of the random operand and then
//! dropped. The guide's pseudo-code of the unscaled forms rounds to nearest after the addition,
//! which would change numbers that need no rounding; HIP's model drops, and so does this. Further
//! elements of an instruction take the next random number of `V_PRNG_B32`.
//!
//! Beyond the largest number E4M3 becomes NaN and E5M2 infinity, or the largest number in the mode
//! FP16_OVFL (the guide's "CVT_*FP8_F32 and CVT*_BF8_F32 FP16_OVFL rule"), which f16 results heed
//! too; formats that have neither become the largest number, NaNs too.

use super::operand::{Input, Type};
use crate::mma::format::{Format, e8m0};
use crate::text::{Line, Value};
use crate::wave::Wave;

use super::float::{to_bf16, to_f16, to_f32_odd};
use super::overflow;

/// A conversion, ready to execute.
pub(crate) struct Recode {
    from: Format,
    to: Format,
    count: usize,
    words: Vec<Words>,
    /// First bit of the source elements.
    skip: usize,
    random: Option<Input>,
    scale: Option<Input>,
    dst: u16,
    /// First bit of the results.
    place: usize,
}

/// Where 32-bit words of source elements come from.
enum Words {
    /// Vector registers.
    Registers {
        first: u16,
        count: u16,
    },
    Input(Input),
}

/// What a mnemonic says.
struct Name {
    scaled: bool,
    stochastic: bool,
    count: usize,
    /// Elements come from two operands by turns.
    two: bool,
    to: Format,
    from: Format,
}

fn format(name: &str) -> Option<Format> {
    Some(match name {
        "f32" => Format::F32,
        "f16" => Format::F16,
        "bf16" => Format::Bf16,
        "fp8" => Format::Fp8,
        "bf8" => Format::Bf8,
        "fp6" => Format::Fp6,
        "bf6" => Format::Bf6,
        "fp4" => Format::Fp4,
        _ => return None,
    })
}

fn name(name: &str) -> Option<Name> {
    let rest = name.strip_prefix("v_cvt_")?;
    let (rest, scaled) = match rest.strip_prefix("scalef32_") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (rest, stochastic) = match rest.strip_prefix("sr_") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let (rest, count, two) = [
        ("pk_", 2, false),
        ("pk32_", 32, false),
        ("2xpk16_", 32, true),
    ]
    .into_iter()
    .find_map(|(prefix, count, two)| Some((rest.strip_prefix(prefix)?, count, two)))
    .unwrap_or((rest, 1, false));
    let (to, from) = rest.split_once('_')?;
    let (to, from) = (format(to)?, format(from)?);
    (scaled || stochastic && count == 1).then_some(Name {
        scaled,
        stochastic,
        count,
        two,
        to,
        from,
    })
}

/// The conversion of a line; none when it is another family's.
pub(crate) fn recode(line: &Line) -> Option<Result<Recode, String>> {
    let name = name(&line.name)?;
    Some(Recode::new(line, &name).ok_or_else(|| "an operand is of no known kind".to_owned()))
}

impl Recode {
    fn new(line: &Line, name: &Name) -> Option<Recode> {
        let select: [bool; 4] = line.bits("op_sel", false);
        let [a, b, c, d] = select.map(usize::from);
        let mut operands = line.operands.iter();
        let dst = match operands.next()?.value {
            Value::Vector { first, .. } => first,
            _ => return None,
        };
        let bits = name.from.bits();
        // Pairs of f32 come from two operands, but for stochastic rounding.
        let pair = name.count == 2 && bits == 32 && !name.stochastic;
        let mut words = Vec::new();
        for _ in 0..if name.two || pair { 2 } else { 1 } {
            let operand = operands.next()?;
            words.push(match operand.value {
                Value::Vector { first, count, .. } if !operand.neg && !operand.abs => {
                    Words::Registers { first, count }
                }
                _ => Words::Input(Input::new(operand, Type::B32, false)?),
            });
        }
        let mut input = |wanted: bool| match wanted {
            true => Some(Some(Input::new(operands.next()?, Type::B32, false)?)),
            false => Some(None),
        };
        let (random, scale) = (input(name.stochastic)?, input(name.scaled)?);
        let small = |format: Format| format.bits() <= 8;
        let skip = match (small(name.from), name.count) {
            (true, 1) => 8 * (a + 2 * b),
            (true, 2) if name.from == Format::Fp4 => 8 * (a + 2 * b),
            (true, 2) => 16 * a,
            // The half of a single 16-bit source.
            (false, 1) if bits == 16 => 16 * a,
            _ => 0,
        };
        let place = match (name.to.bits() * name.count, line.number("byte_sel")) {
            (8, Some(byte)) => 8 * usize::try_from(byte).ok()?,
            (8, None) => 8 * (c + 2 * d),
            // Instructions with three sources name four bits.
            (16, _) if pair => 16 * d,
            (16, _) => 16 * c,
            _ => 0,
        };
        let available = |words: &Words| match words {
            Words::Registers { count, .. } => usize::from(*count),
            Words::Input(_) => 1,
        };
        let held = 32 * words.iter().map(available).sum::<usize>();
        (skip + name.count * bits <= held && place < 32).then_some(Recode {
            from: name.from,
            to: name.to,
            count: name.count,
            words,
            skip,
            random,
            scale,
            dst,
            place,
        })
    }

    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let exec = wave.exec();
        let sources = self.sources(wave);
        let fetch = |input: &Option<Input>| {
            let mut room = [0; W];
            input.map(|input| *input.fetch(wave, &mut room))
        };
        let (random, scale) = (fetch(&self.random), fetch(&self.scale));
        let end = self.place + self.count * self.to.bits();
        let results = usize::from(self.dst)..usize::from(self.dst) + end.div_ceil(32);
        for lane in (0..W).filter(|lane| exec >> lane & 1 == 1) {
            let scale = scale.map_or(1.0, |scale| e8m0(scale[lane] >> 23 & 0xff));
            let mut random = random.map(|random| random[lane]);
            for element in 0..self.count {
                let at = self.skip + element * self.from.bits();
                let value = self.from.decode(get(&sources, lane, at, self.from.bits()));
                let scaled = match value * scale {
                    // Whose sign the host would choose.
                    nan if nan.is_nan() => f64::NAN.copysign(value),
                    number => number,
                };
                let code = match self.to.bits() {
                    32 => (scaled as f32).to_bits(),
                    16 if random.is_none() && self.to == Format::F16 => {
                        let kept = !wave.mode.saturates || value.is_infinite();
                        overflow::half(to_f16(to_f32_odd(scaled)), kept)
                    }
                    16 if random.is_none() => to_bf16(to_f32_odd(scaled)),
                    _ => {
                        let code = encode(self.to, self.from, value, scale, random);
                        match wave.mode.saturates {
                            true => limited(self.to, code, value),
                            false => code,
                        }
                    }
                };
                let at = self.place + element * self.to.bits();
                put(&mut wave.v[results.clone()], lane, at, self.to.bits(), code);
                random = random.map(next_random);
            }
        }
    }

    /// The words of all source elements, in the order of the elements.
    fn sources<const W: usize>(&self, wave: &Wave<W>) -> Vec<[u32; W]> {
        let mut operands = self.words.iter().map(|words| match words {
            Words::Registers { first, count } => {
                let first = usize::from(*first);
                wave.v[first..first + usize::from(*count)].to_vec()
            }
            Words::Input(input) => vec![*input.fetch(wave, &mut [0; W])],
        });
        let first = operands.next().unwrap_or_default();
        match operands.next() {
            None => first,
            Some(second) => first
                .into_iter()
                .zip(second)
                .flat_map(|(a, b)| [a, b])
                .collect(),
        }
    }
}

/// The generator of `V_PRNG_B32`: a shift register.
pub(crate) fn next_random(seed: u32) -> u32 {
    seed << 1 ^ if seed >> 31 == 1 { 197 } else { 0 }
}

/// `bits` bits of a lane's words from bit `at` on.
fn get<const W: usize>(words: &[[u32; W]], lane: usize, at: usize, bits: usize) -> u32 {
    let word = |index: usize| words.get(index).map_or(0, |word| u64::from(word[lane]));
    let both = word(at / 32) | word(at / 32 + 1) << 32;
    (both >> (at % 32) & (u64::MAX >> (64 - bits))) as u32
}

/// Writes `bits` bits of a lane's words from bit `at` on.
fn put<const W: usize>(words: &mut [[u32; W]], lane: usize, at: usize, bits: usize, code: u32) {
    let mask = (u64::MAX >> (64 - bits)) << (at % 32);
    let code = u64::from(code) << (at % 32);
    for (half, word) in words.iter_mut().skip(at / 32).take(2).enumerate() {
        let (mask, code) = ((mask >> (32 * half)) as u32, (code >> (32 * half)) as u32);
        word[lane] = word[lane] & !mask | code & mask;
    }
}

/// Mantissa bits and bias, the largest number's code, what lies beyond it, and a NaN.
fn limits(format: Format) -> (i32, i32, u32, u32, u32) {
    match format {
        Format::F16 => (10, 15, 0x7bff, 0x7c00, 0x7e00),
        Format::Bf16 => (7, 127, 0x7f7f, 0x7f80, 0x7fc0),
        Format::Fp8 => (3, 7, 0x7e, 0x7f, 0x7f),
        Format::Bf8 => (2, 15, 0x7b, 0x7c, 0x7f),
        Format::Fp6 => (3, 1, 0x1f, 0x1f, 0x1f),
        Format::Bf6 => (2, 3, 0x1f, 0x1f, 0x1f),
        Format::Fp4 => (1, 1, 0x7, 0x7, 0x7),
        Format::F32 | Format::F64 | Format::Int8 => {
            (23, 127, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000)
        }
    }
}

/// What a code becomes where results that overflow saturate.
fn limited(format: Format, code: u32, value: f64) -> u32 {
    let (_, _, largest, beyond, _) = limits(format);
    let sign = 1 << (format.bits() - 1);
    let kept = value.is_nan() || value.is_infinite() && format == Format::F16;
    match format {
        Format::Fp8 | Format::Bf8 | Format::F16 if code & !sign == beyond && !kept => {
            code & sign | largest
        }
        _ => code,
    }
}

/// The code of `value / scale`, rounded to nearest even or with a random number.
fn encode(to: Format, from: Format, value: f64, scale: f64, random: Option<u32>) -> u32 {
    let (mantissa, bias, largest, beyond, nan) = limits(to);
    let sign = u32::from(value.is_sign_negative()) << (to.bits() - 1);
    let magnitude = (value / scale).abs();
    if magnitude.is_nan() {
        return sign | nan;
    }
    if magnitude == 0.0 {
        return sign;
    }
    if magnitude.is_infinite() {
        return sign | beyond;
    }
    // Denormals of f64 do not occur: an f32 divided by a power of two that f32 has.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    if exponent > 2 * bias + 1 {
        return sign | beyond;
    }
    // In units of the last place, at least the smallest denormal's.
    let units = magnitude * 2_f64.powi(mantissa - exponent);
    let units = match random {
        None => units.round_ties_even(),
        Some(random) => {
            let dropped = limits(from).0 - mantissa;
            let fraction =
                (units * 2_f64.powi(dropped)).floor() + f64::from(random >> (32 - dropped));
            (fraction / 2_f64.powi(dropped)).floor()
        }
    };
    // Rounding up may carry into the exponent, which the order of codes makes the right thing.
    let code = ((exponent + bias - 1) << mantissa) + units as i32;
    match u32::try_from(code) {
        Ok(code) if code <= largest => sign | code,
        _ => sign | beyond,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_and_midpoints_round_to_even() {
        for to in [
            Format::Fp8,
            Format::Bf8,
            Format::Fp6,
            Format::Bf6,
            Format::Fp4,
        ] {
            let (_, _, largest, ..) = limits(to);
            for code in 0..=largest {
                let value = to.decode(code);
                assert_eq!(encode(to, Format::F32, value, 1.0, None), code, "{to:?}");
                // Stochastic rounding leaves alone what needs none.
                for random in [0, u32::MAX] {
                    assert_eq!(
                        encode(to, Format::F32, value, 1.0, Some(random)),
                        code,
                        "{to:?}"
                    );
                }
                if code < largest {
                    let middle = (value + to.decode(code + 1)) / 2.0;
                    let even = code + code % 2;
                    assert_eq!(encode(to, Format::F32, middle, 1.0, None), even, "{to:?}");
                    let sign = 1 << (to.bits() - 1);
                    assert_eq!(encode(to, Format::F32, -middle, 1.0, None), even | sign);
                    let halves = [0x7fff_ffff, 0x8000_0000].map(Some);
                    let [down, up] = halves.map(|half| encode(to, Format::F32, middle, 1.0, half));
                    assert_eq!((down, up), (code, code + 1), "{to:?} {middle}");
                }
            }
        }
        assert_eq!(encode(Format::Fp4, Format::F32, f64::NAN, 1.0, None), 7);
        assert_eq!(encode(Format::Fp4, Format::F32, -1e30, 1.0, None), 15);
        assert_eq!(encode(Format::Fp8, Format::F32, 465.0, 1.0, None), 0x7f);
        assert_eq!(encode(Format::Fp8, Format::F32, 464.0, 1.0, None), 0x7e);
        assert_eq!(encode(Format::Bf8, Format::F32, -61440.0, 1.0, None), 0xfc);
        assert_eq!(
            encode(Format::Fp8, Format::F32, 3.0, 2_f64.powi(-3), None),
            0x5c
        );
    }
}
