//! Arithmetic of the models: floats of any width through exact f64, rounded once.

use half::f16;

/// The value of f16 bits (in the low half).
pub fn h(bits: u32) -> f64 {
    f16::from_bits(bits as u16).to_f64()
}

/// The value of f32 bits.
pub fn f(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// The bits of an f32 that is nearest.
pub fn f32_bits(value: f64) -> u32 {
    (value as f32).to_bits()
}

/// A binary format with denormals: explicit mantissa bits, exponent of the smallest normal, and the
/// largest number.
pub struct Format {
    pub mantissa: i32,
    pub smallest: i32,
    pub largest: f64,
}

pub const F16: Format = Format {
    mantissa: 10,
    smallest: -14,
    largest: 65504.0,
};
pub const BF16: Format = Format {
    mantissa: 7,
    smallest: -126,
    largest: 3.389_531_389_251_535_5e38,
};

/// Exponent of the leading bit of a positive normal f64.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1023
}

fn power(by: i32) -> f64 {
    f64::from_bits(((1023 + by) as u64) << 52)
}

impl Format {
    /// The value in units of its last place, and the unit's exponent.
    fn units(&self, value: f64) -> (f64, i32) {
        let unit = exponent(value.abs()).max(self.smallest) - self.mantissa;
        (value * power(-unit), unit)
    }

    /// To nearest even, beyond the largest to infinity.
    pub fn nearest(&self, value: f64) -> f64 {
        if value == 0.0 || !value.is_finite() {
            return value;
        }
        let (units, unit) = self.units(value);
        let rounded = units.round_ties_even() * power(unit);
        match rounded.abs() > self.largest {
            true => f64::INFINITY.copysign(value),
            false => rounded.copysign(value),
        }
    }

    /// Towards zero, beyond the largest to it.
    pub fn toward_zero(&self, value: f64) -> f64 {
        if value == 0.0 || !value.is_finite() {
            return value;
        }
        let (units, unit) = self.units(value);
        let cut = (units.trunc() * power(unit)).abs().min(self.largest);
        cut.copysign(value)
    }
}

/// The bits of an f16 that has exactly this value.
fn exact16(value: f64) -> u32 {
    f16::from_f64(value).to_bits().into()
}

/// The bits of the nearest f16.
pub fn f16_bits(value: f64) -> u32 {
    exact16(F16.nearest(value))
}

pub fn f16_toward_zero(value: f64) -> u32 {
    exact16(F16.toward_zero(value))
}

pub fn bf16_bits(value: f64) -> u32 {
    f32_bits(BF16.nearest(value)) >> 16
}

/// a x b + c for values whose product is exact in f64, rounded to odd: the last bit stands for all
/// that is lost, so that rounding to a shorter format is as if from the exact sum.
pub fn fused(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    if !sum.is_finite() || !product.is_finite() {
        return sum;
    }
    let (big, small) = match product.abs() > c.abs() {
        true => (product, c),
        false => (c, product),
    };
    // Exact, since `big` is the larger.
    let lost = small - (sum - big);
    match lost == 0.0 || sum.to_bits() & 1 == 1 {
        true => sum,
        false if (lost > 0.0) == (sum > 0.0) => f64::from_bits(sum.to_bits() + 1),
        false => f64::from_bits(sum.to_bits() - 1),
    }
}

pub fn is_nan32(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

/// Sign extension of the lowest bits.
pub fn sext(value: u32, bits: u32) -> i64 {
    let modulus = 1_i64 << bits;
    let low = i64::from(value) & (modulus - 1);
    if low >= modulus / 2 {
        low - modulus
    } else {
        low
    }
}

pub const FP8: Format = Format {
    mantissa: 3,
    smallest: -6,
    largest: 448.0,
};
pub const BF8: Format = Format {
    mantissa: 2,
    smallest: -14,
    largest: 57344.0,
};
pub const FP4: Format = Format {
    mantissa: 1,
    smallest: 0,
    largest: 6.0,
};

impl Format {
    /// Bits of a code without its sign, and the code of the largest number: OCP's formats of eight
    /// and four bits.
    fn shape(&self) -> (u32, u32) {
        match self.mantissa {
            3 => (7, 0x7e),
            2 => (7, 0x7b),
            _ => (3, 7),
        }
    }

    /// The value of a code.
    pub fn decode(&self, code: u32) -> f64 {
        let (bits, largest) = self.shape();
        let magnitude = code & ((1 << bits) - 1);
        let sign = if code >> bits & 1 == 1 { -1.0 } else { 1.0 };
        if magnitude > largest {
            // BF8 has infinities, of the mantissa zero.
            let infinite = self.mantissa == 2 && magnitude == 0x7c;
            return sign * if infinite { f64::INFINITY } else { f64::NAN };
        }
        let field = magnitude >> self.mantissa;
        let fraction = f64::from(magnitude % (1 << self.mantissa)) / power(self.mantissa);
        sign * match field {
            0 => fraction * power(self.smallest),
            _ => (1.0 + fraction) * power(field as i32 - 1 + self.smallest),
        }
    }

    /// The code of the nearest number; what is beyond the largest is infinite in BF8, NaN in FP8
    /// and the largest in FP4, which has neither.
    pub fn encode(&self, value: f64) -> u32 {
        let (bits, largest) = self.shape();
        let sign = u32::from(value.is_sign_negative()) << bits;
        let magnitude = self.nearest(value.abs());
        let code = if magnitude.is_nan() {
            (1 << bits) - 1
        } else if magnitude.is_infinite() {
            (largest + 1).min((1 << bits) - 1)
        } else {
            let mut code = 0;
            let mut step = 1 << (bits - 1);
            // The codes are in the order of their values.
            while step > 0 {
                if code + step <= largest && self.decode(code + step) <= magnitude {
                    code += step;
                }
                step /= 2;
            }
            code
        };
        sign | code
    }
}
