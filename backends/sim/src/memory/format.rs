//! Formats of typed buffer accesses: what elements are in memory and what of them is in registers.
//!
//! Sources: AMD's CDNA 3 guide, "Buffer Data" and "Buffer Resource" (formats of gfx9, selections of
//! components, all-or-nothing range checks), and RDNA 3's and 4's, "Buffer Image Formats", whose
//! codes LLVM's names of formats follow. Formats whose components differ in size are not simulated.
//! What the guides leave open and is chosen here: numbers are rounded to nearest even on their way
//! to a narrower format, integers that do not fit keep their low bits, and a component that is
//! selected but not in the format is zero.

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

/// Up to four components of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    bits: u32,
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
/// The layouts of gfx9 by their code: bits of a component and how many.
const LAYOUTS: [Option<(u32, usize)>; 16] = [
    None,
    Some((8, 1)),
    Some((16, 1)),
    Some((8, 2)),
    Some((32, 1)),
    Some((16, 2)),
    None,
    None,
    None,
    None,
    Some((8, 4)),
    Some((32, 2)),
    Some((16, 4)),
    Some((32, 3)),
    Some((32, 4)),
    None,
];

const INTEGERS: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
const HALVES: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float];
const WORDS: &[Number] = &[Uint, Sint, Float];
/// The formats of RDNA 3 and 4 in the order of their codes, from 1: bits and count, and numbers.
/// Those without a count have components of several sizes.
const UNIFIED: [(u32, usize, &[Number]); 14] = [
    (8, 1, INTEGERS),
    (16, 1, HALVES),
    (8, 2, INTEGERS),
    (32, 1, WORDS),
    (16, 2, HALVES),
    (11, 0, &[Float]),
    (11, 0, &[Float]),
    (10, 0, &[Unorm, Snorm, Uint, Sint]),
    (10, 0, INTEGERS),
    (8, 4, INTEGERS),
    (32, 2, WORDS),
    (16, 4, HALVES),
    (32, 3, WORDS),
    (32, 4, WORDS),
];

impl Format {
    /// The format that a buffer resource names in its last word; none for one not simulated.
    pub(super) fn of_resource(word: u32, isa: Isa) -> Option<Format> {
        if isa == Isa::Gfx9 {
            let (bits, count) = LAYOUTS[(word >> 15 & 15) as usize]?;
            let number = NUMBERS[(word >> 12 & 7) as usize]?;
            return Format::new(bits, count, number);
        }
        let mut code = (word >> 12 & 63).checked_sub(1)? as usize;
        for (bits, count, numbers) in UNIFIED {
            match numbers.get(code) {
                Some(&number) => return Format::new(bits, count, number),
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
        let sizes: Option<Vec<u32>> = layout.split('_').map(|bits| bits.parse().ok()).collect();
        let sizes = sizes?;
        if sizes.iter().any(|size| *size != sizes[0]) {
            return None;
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
        Format::new(sizes[0], sizes.len(), number)
    }

    fn new(bits: u32, count: usize, number: Number) -> Option<Format> {
        let layout = matches!((bits, count), (8 | 16, 1 | 2 | 4) | (32, 1..=4));
        let meant = match number {
            Float => bits > 8,
            Uint | Sint => true,
            _ => bits < 32,
        };
        (layout && meant).then_some(Format {
            bits,
            count,
            number,
        })
    }

    /// Bytes of an element.
    pub(super) fn bytes(self) -> usize {
        self.bits as usize / 8 * self.count
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
        !(self.integers() && self.bits == 32)
    }

    /// The bits of a component of an element's words.
    pub(super) fn component(self, words: [u32; 4], at: usize) -> u32 {
        let first = self.bits as usize * at;
        words[first / 32] >> (first % 32) & (u32::MAX >> (32 - self.bits))
    }

    /// What a register has of a component's bits.
    pub(super) fn decode(self, bits: u32, narrow: bool) -> u32 {
        let signed = (bits << (32 - self.bits)) as i32 >> (32 - self.bits);
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
            Float if self.bits == 32 && !narrow => return bits,
            Float if self.bits == 16 && narrow => return bits,
            Float if self.bits == 32 => f64::from(f32::from_bits(bits)),
            Float => f64::from(from_f16(bits)),
            Unorm => f64::from(bits) / largest(self.bits),
            Snorm => (f64::from(signed) / largest(self.bits - 1)).max(-1.0),
            Uscaled => f64::from(bits),
            Sscaled => f64::from(signed),
        };
        match narrow {
            true => to_f16(to_f32_odd(value)),
            false => (value as f32).to_bits(),
        }
    }

    /// The bits of a component that a register holds.
    pub(super) fn encode(self, register: u32, narrow: bool) -> u32 {
        let mask = u32::MAX >> (32 - self.bits);
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
            Float if self.bits == 32 && !narrow => register,
            Float if self.bits == 16 && narrow => register,
            Float if self.bits == 32 => (value as f32).to_bits(),
            Float => to_f16(f32::from_bits(register)),
            Unorm => {
                let top = largest(self.bits);
                rounded(value * top, 0.0, top)
            }
            Snorm => {
                let top = largest(self.bits - 1);
                rounded(value * top, -top, top)
            }
            Uscaled => rounded(value, 0.0, largest(self.bits)),
            Sscaled => {
                let top = largest(self.bits - 1);
                rounded(value, -top - 1.0, top)
            }
        };
        bits & mask
    }
}
