//! Contents that are computed when they are first touched.

use half::{bf16, f16};

/// Types of the elements of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// IEEE double precision.
    F64,
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// 8-bit float E4M3 of the Open Compute Project: no infinity, largest number 448.
    F8E4m3,
    /// 8-bit float E5M2 of the Open Compute Project.
    F8E5m2,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
}

impl Element {
    /// Every type.
    pub const ALL: [Element; 14] = [
        Element::F64,
        Element::F32,
        Element::F16,
        Element::Bf16,
        Element::F8E4m3,
        Element::F8E5m2,
        Element::I64,
        Element::U64,
        Element::I32,
        Element::U32,
        Element::I16,
        Element::U16,
        Element::I8,
        Element::U8,
    ];

    /// Name as users write it: `f16`, `bf16`, `fp8`, `bf8`, `i32`.
    pub fn name(self) -> &'static str {
        match self {
            Element::F64 => "f64",
            Element::F32 => "f32",
            Element::F16 => "f16",
            Element::Bf16 => "bf16",
            Element::F8E4m3 => "fp8",
            Element::F8E5m2 => "bf8",
            Element::I64 => "i64",
            Element::U64 => "u64",
            Element::I32 => "i32",
            Element::U32 => "u32",
            Element::I16 => "i16",
            Element::U16 => "u16",
            Element::I8 => "i8",
            Element::U8 => "u8",
        }
    }

    /// Size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Element::F64 | Element::I64 | Element::U64 => 8,
            Element::F32 | Element::I32 | Element::U32 => 4,
            Element::F16 | Element::Bf16 | Element::I16 | Element::U16 => 2,
            Element::F8E4m3 | Element::F8E5m2 | Element::I8 | Element::U8 => 1,
        }
    }

    /// Bits of the significand of a float, the leading one counted; none for integers.
    fn significand(self) -> Option<u32> {
        Some(match self {
            Element::F64 => 53,
            Element::F32 => 24,
            Element::F16 => 11,
            Element::Bf16 => 8,
            Element::F8E4m3 => 4,
            Element::F8E5m2 => 3,
            _ => return None,
        })
    }

    /// The bits of the nearest number (ties to even); integers are truncated and saturate, 8-bit
    /// floats saturate.
    pub fn encode(self, value: f64) -> u64 {
        match self {
            Element::F64 => value.to_bits(),
            Element::F32 => u64::from((value as f32).to_bits()),
            Element::F16 => u64::from(f16::from_f64(value).to_bits()),
            Element::Bf16 => u64::from(bf16::from_f64(value).to_bits()),
            Element::F8E4m3 => small_bits(value, 4, 3, 448.0),
            Element::F8E5m2 => small_bits(value, 5, 2, 57344.0),
            Element::I64 => value as i64 as u64,
            Element::U64 => value as u64,
            Element::I32 => u64::from(value as i32 as u32),
            Element::U32 => u64::from(value as u32),
            Element::I16 => u64::from(value as i16 as u16),
            Element::U16 => u64::from(value as u16),
            Element::I8 => u64::from(value as i8 as u8),
            Element::U8 => u64::from(value as u8),
        }
    }

    /// The number of the given bits, which is exact but for 64-bit integers beyond 2^53.
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Element::F64 => f64::from_bits(bits),
            Element::F32 => f64::from(f32::from_bits(bits as u32)),
            Element::F16 => f16::from_bits(bits as u16).to_f64(),
            Element::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Element::F8E4m3 => small_value(bits as u8, 4, 3),
            Element::F8E5m2 => small_value(bits as u8, 5, 2),
            Element::I64 => bits as i64 as f64,
            Element::U64 => bits as f64,
            Element::I32 => f64::from(bits as i32),
            Element::U32 => f64::from(bits as u32),
            Element::I16 => f64::from(bits as i16),
            Element::U16 => f64::from(bits as u16),
            Element::I8 => f64::from(bits as i8),
            Element::U8 => f64::from(bits as u8),
        }
    }
}

/// The bits of an 8-bit float with `exponent` and `mantissa` bits.
fn small_bits(value: f64, exponent: i32, mantissa: i32, largest: f64) -> u64 {
    let sign = u64::from(value.is_sign_negative()) << 7;
    if value.is_nan() {
        return sign | 0x7f;
    }
    let bias = (1 << (exponent - 1)) - 1;
    let size = value.abs().min(largest);
    // The exponent of the number's leading bit, or of the smallest normal number.
    let leading = ((size.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    // In units of the last place, rounded; a carry moves on to the next exponent by itself.
    let units = (size * f64::from(mantissa - leading).exp2()).round_ties_even() as u64;
    sign | ((((leading + bias - 1) as u64) << mantissa) + units)
}

/// The value of an 8-bit float.
fn small_value(bits: u8, exponent: i32, mantissa: i32) -> f64 {
    let bias = (1 << (exponent - 1)) - 1;
    let fraction = f64::from(bits & ((1 << mantissa) - 1));
    let stored = i32::from(bits & 0x7f) >> mantissa;
    let special = match exponent {
        4 => bits & 0x7f == 0x7f,
        _ => stored == 31,
    };
    let size = match (special, stored) {
        (true, _) if exponent == 5 && fraction == 0.0 => f64::INFINITY,
        (true, _) => f64::NAN,
        (false, 0) => fraction * f64::from(1 - bias - mantissa).exp2(),
        (false, _) => {
            (fraction + f64::from(mantissa).exp2()) * f64::from(stored - bias - mantissa).exp2()
        }
    };
    if bits >> 7 == 1 { -size } else { size }
}

/// What elements are, by their index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// 0.
    Zeros,
    /// 1.
    Ones,
    /// One number.
    Constant(f64),
    /// The index, in integers modulo their range, in floats modulo `2^p`, where `p` is the number
    /// of bits of the significand: every value is exact.
    Iota,
    /// -1 or +1 (0 or 1 in unsigned integers).
    Signs {
        /// Picks one of the sequences.
        seed: u64,
    },
    /// An integer from -4 to 4 (0 to 8 in unsigned integers).
    Small {
        /// Picks one of the sequences.
        seed: u64,
    },
    /// Floats: a multiple of `2^(1-p)` from -1 to below 1, every one as likely. Integers: any.
    Random {
        /// Picks one of the sequences.
        seed: u64,
    },
}

/// The contents of a buffer as a function of the index of an element, so that nothing needs to be
/// stored before it is touched and anybody can compute what a kernel was given.
///
/// ```
/// use tilefold_sim::{Element, Fill, Pattern};
///
/// let pattern = Pattern { element: Element::F16, fill: Fill::Iota };
/// assert_eq!(pattern.value(5), 5.0);
/// assert_eq!(pattern.bits(1), 0x3c00);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pattern {
    /// The type of the elements.
    pub element: Element,
    /// Their values.
    pub fill: Fill,
}

impl Pattern {
    /// The bits of element `index`, in the low bits.
    pub fn bits(&self, index: u64) -> u64 {
        let element = self.element;
        let unsigned = matches!(
            element,
            Element::U8 | Element::U16 | Element::U32 | Element::U64
        );
        match self.fill {
            Fill::Zeros => 0,
            Fill::Ones => element.encode(1.0),
            Fill::Constant(value) => element.encode(value),
            Fill::Iota => match element.significand() {
                Some(bits) => element.encode((index % (1 << bits)) as f64),
                None => index & mask(element),
            },
            Fill::Signs { seed } => {
                let bit = mix(seed, element, index) >> 63;
                element.encode(match (bit, unsigned) {
                    (0, false) => -1.0,
                    (0, true) => 0.0,
                    _ => 1.0,
                })
            }
            Fill::Small { seed } => {
                let digit = ((u128::from(mix(seed, element, index)) * 9) >> 64) as f64;
                element.encode(if unsigned { digit } else { digit - 4.0 })
            }
            Fill::Random { seed } => {
                let random = mix(seed, element, index);
                match element.significand() {
                    Some(bits) => {
                        let step = (random >> (64 - bits)) as f64;
                        let half = (1_u64 << (bits - 1)) as f64;
                        element.encode((step - half) / half)
                    }
                    None => random >> (64 - 8 * element.bytes()),
                }
            }
        }
    }

    /// Element `index` as a number.
    pub fn value(&self, index: u64) -> f64 {
        self.element.decode(self.bits(index))
    }

    /// The 32-bit word with the given index of a buffer filled so.
    pub(crate) fn word(&self, index: u64) -> u32 {
        match self.element.bytes() {
            8 => (self.bits(index / 2) >> (32 * (index % 2))) as u32,
            4 => self.bits(index) as u32,
            size => {
                let each = 4 / size as u64;
                (0..each).fold(0, |word, at| {
                    word | (self.bits(index * each + at) as u32) << (at * 8 * size as u64)
                })
            }
        }
    }
}

fn mask(element: Element) -> u64 {
    u64::MAX >> (64 - 8 * element.bytes())
}

/// Bits that look random: SplitMix64's finaliser over a counter (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014).
fn mix(seed: u64, element: Element, index: u64) -> u64 {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    let scramble = |mut bits: u64| {
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    };
    let stream = scramble(seed.wrapping_mul(GAMMA).wrapping_add(element as u64 + 1));
    scramble(stream.wrapping_add(index.wrapping_mul(GAMMA)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_encoding() {
        for element in Element::ALL {
            let range = 1_u64 << (8 * element.bytes()).min(16);
            for bits in 0..range {
                let value = element.decode(bits);
                // Infinities of E5M2 saturate; every NaN becomes one.
                if value.is_finite() {
                    assert_eq!(element.encode(value), bits, "{element:?} {value}");
                }
            }
        }
    }

    #[test]
    fn small_floats_round_to_even_and_saturate() {
        let fp8 = |value| Element::F8E4m3.decode(Element::F8E4m3.encode(value));
        assert_eq!([fp8(17.0), fp8(19.0), fp8(-1000.0)], [16.0, 20.0, -448.0]);
        assert_eq!(fp8(f64::from(-10).exp2()), 0.0, "half of the smallest");
        assert_eq!(fp8(1.5 * f64::from(-9).exp2()), f64::from(-8).exp2());
        assert_eq!(Element::F8E5m2.encode(1e9), 0x7b);
    }

    #[test]
    fn every_value_of_a_pattern_is_exact() {
        for element in Element::ALL {
            for fill in [
                Fill::Iota,
                Fill::Signs { seed: 3 },
                Fill::Small { seed: 3 },
                Fill::Random { seed: 3 },
            ] {
                let pattern = Pattern { element, fill };
                let other = Pattern {
                    element,
                    fill: match fill {
                        Fill::Random { .. } => Fill::Random { seed: 4 },
                        fill => fill,
                    },
                };
                let values = |pattern: &Pattern| {
                    (0..256)
                        .map(|index| pattern.value(index))
                        .collect::<Vec<_>>()
                };
                let all = values(&pattern);
                match fill {
                    Fill::Signs { .. } => {
                        assert!(all.contains(&1.0) && all.iter().all(|v| v.abs() <= 1.0))
                    }
                    Fill::Small { .. } => {
                        assert!(all.iter().all(|v| v.fract() == 0.0 && v.abs() <= 8.0))
                    }
                    Fill::Random { .. } => {
                        assert_ne!(all, values(&other), "{element:?}: the seed counts");
                        if element.significand().is_some() {
                            assert!(all.iter().all(|v| (-1.0..1.0).contains(v)));
                        }
                    }
                    _ => assert_eq!(all[..8], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
                }
            }
        }
    }

    #[test]
    fn words_are_the_elements_side_by_side() {
        let pattern = |element| Pattern {
            element,
            fill: Fill::Iota,
        };
        assert_eq!(pattern(Element::U8).word(1), 0x0706_0504);
        assert_eq!(pattern(Element::I16).word(1), 0x0003_0002);
        assert_eq!(pattern(Element::U32).word(7), 7);
        assert_eq!(
            [0, 1, 2].map(|at| pattern(Element::U64).word(at)),
            [0, 0, 1]
        );
    }
}
