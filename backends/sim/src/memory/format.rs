//! Formats of typed buffer accesses: what elements are in memory and what of them is in registers.
//!
//! Sources: AMD's CDNA 3 guide, "Buffer Data" and "Buffer Resource" (formats of gfx9, selections of
//! components, all-or-nothing range checks), and RDNA 3's and 4's, "Buffer Image Formats", whose
//! codes LLVM's names of formats follow. A name lists the sizes of components from the high bits
//! down; the first component is the lowest. Floats of 11 and 10 bits are f16 without sign and the
//! last bits of the mantissa.
//!
//! What the guides leave open and is chosen here: numbers are rounded to nearest even on their way
//! to a narrower format, integers that do not fit keep their low bits, negative numbers become zero
//! in floats without sign, and a component that is selected but not in the format is zero.

use crate::chip::Isa;
use crate::valu::float::{from_f16, to_f16, to_f32_odd};

/// What the bits of a component mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
}

use Number::{Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};

/// Bits of each of up to four components, the lowest first; 0 for those that there are not.
type Sizes = [u32; 4];

/// Up to four components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    sizes: Sizes,
    pub(super) count: usize,
    number: Number,
}

/// The numbers of gfx9 by their code.
const NUMBERS: [Option<Number>; 8] = [
    Some(Unorm),
    Some(Snorm),
    Some(Uscaled),
    Some(Sscaled),
    Some(Uint),
    Some(Sint),
    None,
    Some(Float),
];
/// The layouts of gfx9 by their code, from 1; RDNA 3 and 4 have them in the same order.
const LAYOUTS: [Sizes; 14] = [
    [8, 0, 0, 0],
    [16, 0, 0, 0],
    [8, 8, 0, 0],
    [32, 0, 0, 0],
    [16, 16, 0, 0],
    [11, 11, 10, 0],
    [10, 11, 11, 0],
    [2, 10, 10, 10],
    [10, 10, 10, 2],
    [8, 8, 8, 8],
    [32, 32, 0, 0],
    [16, 16, 16, 16],
    [32, 32, 32, 0],
    [32, 32, 32, 32],
];

const INTEGERS: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
const HALVES: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float];
const WORDS: &[Number] = &[Uint, Sint, Float];
/// The numbers of each layout on RDNA 3 and 4 in the order of their codes, from 1.
const UNIFIED: [&[Number]; 14] = [
    INTEGERS,
    HALVES,
    INTEGERS,
    WORDS,
    HALVES,
    &[Float],
    &[Float],
    &[Unorm, Snorm, Uint, Sint],
    INTEGERS,
    INTEGERS,
    WORDS,
    HALVES,
    WORDS,
    WORDS,
];

impl Format {
    /// The format that a buffer resource names in its last word; none for one not simulated.
    pub(super) fn of_resource(word: u32, isa: Isa) -> Option<Format> {
        if isa == Isa::Gfx9 {
            let layout = (word >> 15 & 15).checked_sub(1)? as usize;
            let number = NUMBERS[(word >> 12 & 7) as usize]?;
            return Format::new(*LAYOUTS.get(layout)?, number);
        }
        let mut code = (word >> 12 & 63).checked_sub(1)? as usize;
        for (sizes, numbers) in LAYOUTS.into_iter().zip(UNIFIED) {
            match numbers.get(code) {
                Some(&number) => return Format::new(sizes, number),
                None => code -= numbers.len(),
            }
        }
        None
    }

    /// The format that an instruction names, as LLVM writes it; without one the format is the
    /// first, of bytes.
    pub(super) fn named(text: Option<&str>) -> Option<Format> {
        let (mut layout, mut number) = ("8".to_owned(), "UNORM".to_owned());
        for name in text
            .unwrap_or("[]")
            .strip_prefix('[')?
            .strip_suffix(']')?
            .split(',')
        {
            if let Some(name) = name.strip_prefix("BUF_FMT_") {
                let (left, right) = name.rsplit_once('_')?;
                (layout, number) = (left.to_owned(), right.to_owned());
            } else if let Some(name) = name.strip_prefix("BUF_DATA_FORMAT_") {
                layout = name.to_owned();
            } else if let Some(name) = name.strip_prefix("BUF_NUM_FORMAT_") {
                number = name.to_owned();
            } else if !name.is_empty() {
                return None;
            }
        }
        let mut sizes = [0; 4];
        for (at, bits) in layout.rsplit('_').enumerate() {
            *sizes.get_mut(at)? = bits.parse().ok()?;
        }
        let number = match number.as_str() {
            "UNORM" => Unorm,
            "SNORM" => Snorm,
            "USCALED" => Uscaled,
            "SSCALED" => Sscaled,
            "UINT" => Uint,
            "SINT" => Sint,
            "FLOAT" => Float,
            _ => return None,
        };
        Format::new(sizes, number)
    }

    fn new(sizes: Sizes, number: Number) -> Option<Format> {
        let meant = match number {
            Float => matches!(sizes, [10 | 11 | 16 | 32, ..]) && sizes[3] != 2,
            Uint | Sint => sizes[2] == 0 || sizes[1] != 11,
            _ => sizes[0] < 32 && sizes[1] != 11,
        };
        (LAYOUTS.contains(&sizes) && meant).then_some(Format {
            sizes,
            count: sizes.iter().filter(|&&bits| bits != 0).count(),
            number,
        })
    }

    /// Bytes of an element.
    pub(super) fn bytes(self) -> usize {
        self.place(4) / 8
    }

    /// The first bit of a component.
    pub(super) fn place(self, at: usize) -> usize {
        self.sizes[..at].iter().sum::<u32>() as usize
    }

    /// Whether registers hold integers.
    fn integers(self) -> bool {
        matches!(self.number, Uint | Sint)
    }

    /// The register's bits for one, of 32 bits or of 16.
    pub(super) fn one(self, narrow: bool) -> u32 {
        match (self.integers(), narrow) {
            (true, _) => 1,
            (false, true) => 0x3c00,
            (false, false) => 1.0_f32.to_bits(),
        }
    }

    /// Whether registers of 16 bits can hold it.
    pub(super) fn fits_narrow(self) -> bool {
        !(self.integers() && self.sizes[0] == 32)
    }

    /// The bits of a component of an element's words.
    pub(super) fn component(self, words: [u32; 4], at: usize) -> u32 {
        let first = self.place(at);
        words[first / 32] >> (first % 32) & (u32::MAX >> (32 - self.sizes[at]))
    }

    /// What a register has of a component's bits.
    pub(super) fn decode(self, at: usize, bits: u32, narrow: bool) -> u32 {
        let size = self.sizes[at];
        let signed = (bits << (32 - size)) as i32 >> (32 - size);
        let largest = |bits: u32| f64::from(u32::MAX >> (32 - bits));
        let value = match self.number {
            Uint => return if narrow { bits & 0xffff } else { bits },
            Sint => {
                return if narrow {
                    signed as u32 & 0xffff
                } else {
                    signed as u32
                };
            }
            Float if size == 32 && !narrow => return bits,
            Float if size == 32 => f64::from(f32::from_bits(bits)),
            // Without a sign the exponent is the highest bits.
            Float => match if size < 16 { bits << (15 - size) } else { bits } {
                half if narrow => return half,
                half => f64::from(from_f16(half)),
            },
            Unorm => f64::from(bits) / largest(size),
            Snorm => (f64::from(signed) / largest(size - 1)).max(-1.0),
            Uscaled => f64::from(bits),
            Sscaled => f64::from(signed),
        };
        match narrow {
            true => to_f16(to_f32_odd(value)),
            false => (value as f32).to_bits(),
        }
    }

    /// The bits of a component that a register holds.
    pub(super) fn encode(self, at: usize, register: u32, narrow: bool) -> u32 {
        let size = self.sizes[at];
        let mask = u32::MAX >> (32 - size);
        let value = match narrow {
            true => f64::from(from_f16(register & 0xffff)),
            false => f64::from(f32::from_bits(register)),
        };
        let largest = |bits: u32| f64::from(u32::MAX >> (32 - bits));
        let rounded = |value: f64, low: f64, high: f64| {
            // NaN becomes zero.
            value.clamp(low, high).round_ties_even() as i64 as u32
        };
        let bits = match self.number {
            Uint => register,
            Sint if narrow => i32::from(register as u16 as i16) as u32,
            Sint => register,
            Float if size == 32 && !narrow => register,
            Float if size == 16 && narrow => register,
            Float if size == 32 => (value as f32).to_bits(),
            Float if size < 16 => unsigned_float(value, size as i32 - 5),
            Float => to_f16(f32::from_bits(register)),
            Unorm => {
                let top = largest(size);
                rounded(value * top, 0.0, top)
            }
            Snorm => {
                let top = largest(size - 1);
                rounded(value * top, -top, top)
            }
            Uscaled => rounded(value, 0.0, largest(size)),
            Sscaled => {
                let top = largest(size - 1);
                rounded(value, -top - 1.0, top)
            }
        };
        bits & mask
    }
}

/// A float of five bits of exponent and so many of mantissa, without a sign.
fn unsigned_float(value: f64, mantissa: i32) -> u32 {
    let infinity = 31 << mantissa;
    if value.is_nan() {
        return infinity | 1 << (mantissa - 1);
    }
    // Denormals of f64 do not occur.
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-14);
    if value <= 0.0 {
        0
    } else if exponent > 15 {
        infinity
    } else {
        // In units of the last place; a carry goes into the exponent.
        let units = (value * 2_f64.powi(mantissa - exponent)).round_ties_even() as u32;
        ((exponent + 14) as u32).wrapping_shl(mantissa as u32) + units
    }
}
