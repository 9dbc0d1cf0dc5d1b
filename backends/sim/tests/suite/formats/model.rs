//! The model of formats: what loads make of memory and stores of registers.

use crate::differential::numbers::{f, f16_bits, f32_bits, h};

/// A format, whose components are listed from the lowest bits up.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    pub layout: &'static str,
    pub sizes: &'static [u32],
    pub number: &'static str,
    /// Its code in resources, of gfx9 and of later chips.
    pub codes: [u32; 2],
}

/// All formats; codes as in LLVM's SIDefines, the first of each layout.
pub fn formats() -> Vec<Format> {
    const NUMBERS: [(&str, u32); 7] = [
        ("UNORM", 0),
        ("SNORM", 1),
        ("USCALED", 2),
        ("SSCALED", 3),
        ("UINT", 4),
        ("SINT", 5),
        ("FLOAT", 7),
    ];
    let fixed = Vec::from(&NUMBERS[..6]);
    let layouts: [(_, &[u32], _, _, _); 14] = [
        ("8", &[8], 1, 1, fixed.clone()),
        ("16", &[16], 2, 7, NUMBERS.into()),
        ("8_8", &[8; 2], 3, 14, fixed.clone()),
        ("32", &[32], 4, 20, NUMBERS[4..].into()),
        ("16_16", &[16; 2], 5, 23, NUMBERS.into()),
        ("10_11_11", &[11, 11, 10], 6, 30, NUMBERS[6..].into()),
        ("11_11_10", &[10, 11, 11], 7, 31, NUMBERS[6..].into()),
        // Without the scaled ones, which gfx9 alone has.
        (
            "10_10_10_2",
            &[2, 10, 10, 10],
            8,
            32,
            [0, 1, 4, 5].map(|at| NUMBERS[at]).into(),
        ),
        ("2_10_10_10", &[10, 10, 10, 2], 9, 36, fixed.clone()),
        ("8_8_8_8", &[8; 4], 10, 42, fixed),
        ("32_32", &[32; 2], 11, 48, NUMBERS[4..].into()),
        ("16_16_16_16", &[16; 4], 12, 51, NUMBERS.into()),
        ("32_32_32", &[32; 3], 13, 58, NUMBERS[4..].into()),
        ("32_32_32_32", &[32; 4], 14, 61, NUMBERS[4..].into()),
    ];
    let mut formats = Vec::new();
    for (layout, sizes, data, first, numbers) in layouts {
        for (at, (number, code)) in numbers.into_iter().enumerate() {
            formats.push(Format {
                layout,
                sizes,
                number,
                codes: [data << 15 | code << 12, (first + at as u32) << 12],
            });
        }
    }
    formats
}

/// What the code of a float without a sign stands for: five bits of exponent, the rest mantissa.
fn unsigned_float(code: u32, size: u32) -> f64 {
    let ones = 1 << (size - 5);
    let (exponent, fraction) = (code / ones, f64::from(code % ones) / f64::from(ones));
    match exponent {
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        0 => fraction * 2_f64.powi(-14),
        _ => (1.0 + fraction) * 2_f64.powi(exponent as i32 - 15),
    }
}

/// The nearest code, by a search; of two the even one. What rounds past the largest is infinite.
fn unsigned_code(value: f64, size: u32) -> u32 {
    let infinity = 31 << (size - 5);
    if value.is_nan() {
        return infinity + 1;
    }
    if value.is_infinite() {
        return if value > 0.0 { infinity } else { 0 };
    }
    let below = (0..infinity).rfind(|&code| unsigned_float(code, size) <= value);
    let Some(below) = below else { return 0 };
    let low = unsigned_float(below, size);
    let high = match below + 1 == infinity {
        true => 65536.0,
        false => unsigned_float(below + 1, size),
    };
    let (down, up) = (value - low, high - value);
    below + u32::from(up < down || up == down && below % 2 == 1)
}

impl Format {
    /// As LLVM writes it.
    pub fn text(&self, chip: &str) -> String {
        let (layout, number) = (self.layout, self.number);
        match chip {
            "gfx950" => format!("format:[BUF_DATA_FORMAT_{layout},BUF_NUM_FORMAT_{number}]"),
            _ => format!("format:[BUF_FMT_{layout}_{number}]"),
        }
    }

    pub fn code(&self, chip: &str) -> u32 {
        self.codes[usize::from(chip != "gfx950")]
    }

    pub fn is_integer(&self) -> bool {
        self.number.ends_with("INT")
    }

    /// Whether halves of registers hold it.
    pub fn fits(&self, half: bool) -> bool {
        !(half && self.sizes[0] == 32 && self.is_integer())
    }

    /// Bits of all components.
    pub fn bits(&self) -> u32 {
        self.sizes.iter().sum()
    }

    pub fn bits_of(&self, words: &[u32], at: usize) -> u32 {
        let words = words.iter().rev();
        let all = words.fold(0_u128, |all, word| all << 32 | u128::from(*word));
        let first: u32 = self.sizes[..at].iter().sum();
        (all >> first & ((1 << self.sizes[at]) - 1)) as u32
    }

    /// What a register or half of one gets of a component's bits.
    pub fn loaded(&self, at: usize, bits: u32, half: bool) -> u32 {
        let size = self.sizes[at];
        let top = 2_f64.powi(size as i32);
        let unsigned = f64::from(bits);
        let signed = if unsigned >= top / 2.0 {
            unsigned - top
        } else {
            unsigned
        };
        let value = match self.number {
            "UINT" => return bits,
            "SINT" => return (signed as i64 as u32) & if half { 0xffff } else { u32::MAX },
            "FLOAT" if size < 16 => unsigned_float(bits, size),
            "FLOAT" if size == 16 => h(bits),
            "FLOAT" => f(bits),
            "UNORM" => unsigned / (top - 1.0),
            "SNORM" if signed == -top / 2.0 => -1.0,
            "SNORM" => signed / (top / 2.0 - 1.0),
            "USCALED" => unsigned,
            _ => signed,
        };
        if half {
            f16_bits(value)
        } else {
            f32_bits(value)
        }
    }

    /// The bits in memory of what a register or half of one holds.
    pub fn stored(&self, at: usize, register: u32, half: bool) -> u32 {
        let size = self.sizes[at];
        let low_bits = |bits: u32| (u64::from(bits) & ((1 << size) - 1)) as u32;
        let (value, half_top) = (
            if half { h(register) } else { f(register) },
            2_f64.powi(size as i32 - 1),
        );
        let top = 2.0 * half_top;
        let (factor, low, high) = match self.number {
            "UINT" => return low_bits(register),
            "SINT" if half => return low_bits(register as u16 as i16 as u32),
            "SINT" => return low_bits(register),
            "FLOAT" if size < 16 => return unsigned_code(value, size),
            "FLOAT" if size == 16 => return f16_bits(value),
            "FLOAT" => return f32_bits(value),
            "UNORM" => (top - 1.0, 0.0, top - 1.0),
            "SNORM" => (half_top - 1.0, 1.0 - half_top, half_top - 1.0),
            "USCALED" => (1.0, 0.0, top - 1.0),
            _ => (1.0, -half_top, half_top - 1.0),
        };
        if value.is_nan() {
            return 0;
        }
        let scaled = value * factor;
        let below = scaled.floor();
        let nearest = match (scaled - below).partial_cmp(&0.5) {
            Some(std::cmp::Ordering::Less) => below,
            Some(std::cmp::Ordering::Equal) if below % 2.0 == 0.0 => below,
            _ => below + 1.0,
        };
        let nearest = if value.is_infinite() { value } else { nearest };
        low_bits(nearest.max(low).min(high) as i64 as u32)
    }

    /// Whether two codes of a float mean the same: any NaN is one.
    pub fn same(&self, got: u32, expected: u32, bits: u32) -> bool {
        let nan = |code: u32| match bits {
            10 | 11 => code > 31 << (bits - 5),
            16 => h(code & 0xffff).is_nan(),
            _ => f(code).is_nan(),
        };
        let float = self.number == "FLOAT" || bits == 16 || bits == 32;
        got == expected || !self.is_integer() && float && nan(got) && nan(expected)
    }
}
