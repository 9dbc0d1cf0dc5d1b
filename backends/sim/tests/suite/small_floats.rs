//! The floats of gfx950 of at most eight bits, by their codes.

/// Exponent and mantissa bits of a format, and whether all its codes are finite.
#[derive(Clone, Copy)]
pub struct Small {
    pub name: &'static str,
    pub exponent: u32,
    pub mantissa: u32,
    /// The code of the largest number and what stands for more, and for NaN.
    largest: u32,
    beyond: u32,
    nan: u32,
}

pub const FP8: Small = small("fp8", 4, 3, [0x7e, 0x7f, 0x7f]);
pub const BF8: Small = small("bf8", 5, 2, [0x7b, 0x7c, 0x7f]);
pub const FP6: Small = small("fp6", 2, 3, [31; 3]);
pub const BF6: Small = small("bf6", 3, 2, [31; 3]);
pub const FP4: Small = small("fp4", 2, 1, [7; 3]);

const fn small(
    name: &'static str,
    exponent: u32,
    mantissa: u32,
    [largest, beyond, nan]: [u32; 3],
) -> Small {
    Small {
        name,
        exponent,
        mantissa,
        largest,
        beyond,
        nan,
    }
}

impl Small {
    pub fn bits(&self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    pub fn value(&self, code: u32) -> f64 {
        let magnitude = code & ((1 << (self.bits() - 1)) - 1);
        let sign = if code >> (self.bits() - 1) & 1 == 1 {
            -1.0
        } else {
            1.0
        };
        if magnitude > self.largest {
            return if magnitude == self.beyond && self.name == "bf8" {
                sign * f64::INFINITY
            } else {
                f64::NAN.copysign(sign)
            };
        }
        let (exponent, fraction) = (magnitude >> self.mantissa, magnitude % (1 << self.mantissa));
        let bias = (1 << (self.exponent - 1)) - 1;
        let one = f64::from(1 << self.mantissa);
        sign * match exponent {
            0 => f64::from(fraction) / one * 2_f64.powi(1 - bias),
            _ => (1.0 + f64::from(fraction) / one) * 2_f64.powi(exponent as i32 - bias),
        }
    }

    /// The code of a number; `random` has so many bits that a longer mantissa drops.
    pub fn code(&self, value: f64, random: Option<(u32, u32)>) -> u32 {
        let sign = u32::from(value.is_sign_negative()) << (self.bits() - 1);
        let x = value.abs();
        if x.is_nan() {
            return sign | self.nan;
        }
        if x.is_infinite() {
            return sign | self.beyond;
        }
        let below = (0..=self.largest)
            .rfind(|&code| self.value(code) <= x)
            .unwrap();
        let low = self.value(below);
        // The step after the largest number is as long as the one before.
        let step = match below == self.largest {
            true => low - self.value(below - 1),
            false => self.value(below + 1) - low,
        };
        let part = (x - low) / step;
        let up = match random {
            None => part > 0.5 || part == 0.5 && below % 2 == 1,
            Some((random, bits)) => {
                let scale = 2_f64.powi(bits as i32);
                (part * scale).floor() + f64::from(random >> (32 - bits)) >= scale
            }
        };
        let code = below + u32::from(up);
        sign | if code > self.largest {
            self.beyond
        } else {
            code
        }
    }
}
