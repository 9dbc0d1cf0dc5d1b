//! What becomes of a vector instruction's result before it is written.

use super::operand::{flush_denormal, flush_double};
use super::{Computed, Type, Valu, float, overflow};
use crate::wave::Wave;

impl<const W: usize> Valu<W> {
    /// Output scale, clamp and denormals of the result.
    ///
    /// AMD's RDNA guides, "Output Modifiers": a scale is ignored in IEEE mode and where denormal
    /// results are kept, and makes a zero positive.
    #[inline]
    pub(super) fn finish(&self, wave: &Wave<W>, computed: &mut Computed<W>) {
        let flush = match self.result {
            Type::F32 => wave.mode.f32 & 2 == 0,
            Type::F16 | Type::PairF16 | Type::F64 => wave.mode.f16_f64 & 2 == 0,
            _ => false,
        };
        let scale = if wave.mode.scales && flush {
            self.scale
        } else {
            1.0
        };
        if !(self.clamp || flush || scale != 1.0) || self.dst.is_none() {
            return;
        }
        for lane in 0..W {
            let value = computed.low[lane];
            match self.result {
                Type::F64 => {
                    let bits = u64::from(value) | u64::from(computed.high[lane]) << 32;
                    let scaled = match scale == 1.0 {
                        true => f64::from_bits(bits),
                        false => f64::from_bits(bits) * f64::from(scale),
                    };
                    let bits = if self.clamp {
                        float::clamp(scaled, wave.mode.clamp_nan).to_bits()
                    } else {
                        scaled.to_bits()
                    };
                    let bits = if flush { flush_double(bits) } else { bits };
                    let bits = match scale != 1.0 && bits == 1 << 63 {
                        true => 0,
                        false => bits,
                    };
                    computed.low[lane] = bits as u32;
                    computed.high[lane] = (bits >> 32) as u32;
                }
                // Not scaled.
                Type::PairF16 => {
                    let half = |half: u32| match self.clamp {
                        true => {
                            let real = f64::from(float::from_f16(half));
                            float::to_f16(float::clamp(real, wave.mode.clamp_nan) as f32)
                        }
                        false => half,
                    };
                    let value = half(value & 0xffff) | half(value >> 16) << 16;
                    computed.low[lane] = match flush {
                        true => flush_denormal(value, self.result),
                        false => value,
                    };
                }
                Type::F32 | Type::F16 => {
                    let mut value = value;
                    if scale != 1.0 || self.clamp {
                        let real = match self.result {
                            Type::F32 => f32::from_bits(value),
                            _ => float::from_f16(value),
                        };
                        let scaled = if scale != 1.0 { real * scale } else { real };
                        let clamped = match self.clamp {
                            true => float::clamp(f64::from(scaled), wave.mode.clamp_nan) as f32,
                            false => scaled,
                        };
                        value = match self.result {
                            Type::F32 => clamped.to_bits(),
                            _ => {
                                let kept = !wave.mode.saturates || clamped.is_infinite();
                                overflow::half(float::to_f16(clamped), kept)
                            }
                        };
                    }
                    if flush {
                        value = flush_denormal(value, self.result);
                    }
                    let sign = if self.result == Type::F16 {
                        1 << 15
                    } else {
                        1 << 31
                    };
                    computed.low[lane] = match scale != 1.0 && value == sign {
                        true => 0,
                        false => value,
                    };
                }
                _ => {}
            }
        }
    }
}
