//! Conversions between formats. Out-of-range values saturate and NaN becomes 0, as Rust's casts do.
//!
//! AMD's guides name the conversions to normalized integers and to a byte (`f32_to_snorm`,
//! `f32_to_u8`) without a rule for rounding: the first is taken to be to nearest even, as in buffer
//! stores with such a format, the second towards zero, as in `V_CVT_U32_F32`.

use super::float::{
    from_bf8, from_bf16, from_f16, from_fp8, to_bf8, to_bf16, to_f16, to_f16_toward_zero, to_fp8,
};
use super::{Row, Type, map1, map2, map3};

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Quiets a NaN that passes through.
fn same(value: f32) -> u32 {
    if value.is_nan() {
        value.to_bits() | 0x40_0000
    } else {
        value.to_bits()
    }
}

/// `name: source types => result type, |arguments| expression`.
macro_rules! conversions {
    ($name:expr; $($key:pat => $source:ident -> $result:ident, |$($arg:ident),+| $body:expr;)*) => {
        match $name {
            $($key => conversions!(@row $source, $result, |$($arg),+| $body),)*
            _ => return None,
        }
    };
    (@row $s:ident, $r:ident, |$a:ident| $body:expr) => {
        Row::narrow(|s, _, out| map1(s, out, |$a| $body), Type::$r, &[Type::$s])
    };
    (@row $s:ident, $r:ident, |$a:ident, $b:ident| $body:expr) => {
        Row::narrow(|s, _, out| map2(s, out, |$a, $b| $body), Type::$r, &[Type::$s, Type::$s])
    };
}

/// A signed normalized integer of 16 bits.
fn snorm(value: f32) -> u32 {
    let scaled = (f64::from(value) * 32767.0).round_ties_even();
    u32::from(scaled.clamp(-32767.0, 32767.0) as i16 as u16)
}

/// An unsigned one.
fn unorm(value: f32) -> u32 {
    u32::from((f64::from(value) * 65535.0).round_ties_even() as u16)
}

/// A signed integer of four bits in sixteenths: places of samples in a pixel.
fn offset(value: u32) -> f32 {
    ((value << 28) as i32 >> 28) as f32 / 16.0
}

/// Signed halves as bytes, kept within their range.
fn bytes(value: u32) -> u32 {
    let byte = |half: u32| i32::from(half as u16 as i16).clamp(0, 0xff) as u32;
    byte(value) | byte(value >> 16) << 8
}

/// `base` with a byte replaced by an f32.
fn with_byte(value: f32, at: u32, base: u32) -> u32 {
    let shift = 8 * (at & 3);
    base & !(0xff << shift) | u32::from(value as u8) << shift
}

pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    if name == "v_cvt_pk_u8_f32" {
        const SOURCES: &[Type] = &[Type::F32, Type::B32, Type::B32];
        return Some(Row::narrow(
            |s, _, out| map3(s, out, |a, b, c| with_byte(f(a), b, c)),
            Type::B32,
            SOURCES,
        ));
    }
    wide(name).or_else(|| narrow(name))
}

fn narrow<const W: usize>(name: &str) -> Option<Row<W>> {
    Some(conversions!(name;
        "v_cvt_f16_f32" => F32 -> F16, |a| to_f16(f(a));
        "v_cvt_f32_f16" => F16 -> F32, |a| same(from_f16(a));
        "v_cvt_f32_i32" => B32 -> F32, |a| (a as i32 as f32).to_bits();
        "v_cvt_f32_u32" => B32 -> F32, |a| (a as f32).to_bits();
        "v_cvt_i32_f32" => F32 -> B32, |a| f(a) as i32 as u32;
        "v_cvt_u32_f32" => F32 -> B32, |a| f(a) as u32;
        "v_cvt_nearest_i32_f32" | "v_cvt_rpi_i32_f32" => F32 -> B32, |a| {
            (f(a) + 0.5).floor() as i32 as u32
        };
        "v_cvt_floor_i32_f32" | "v_cvt_flr_i32_f32" => F32 -> B32, |a| f(a).floor() as i32 as u32;
        "v_cvt_f32_ubyte0" => B32 -> F32, |a| ((a & 0xff) as f32).to_bits();
        "v_cvt_f32_ubyte1" => B32 -> F32, |a| ((a >> 8 & 0xff) as f32).to_bits();
        "v_cvt_f32_ubyte2" => B32 -> F32, |a| ((a >> 16 & 0xff) as f32).to_bits();
        "v_cvt_f32_ubyte3" => B32 -> F32, |a| ((a >> 24) as f32).to_bits();
        "v_cvt_f16_u16" => B16 -> F16, |a| to_f16((a & 0xffff) as f32);
        "v_cvt_f16_i16" => B16 -> F16, |a| to_f16(f32::from(a as u16 as i16));
        "v_cvt_u16_f16" => F16 -> B16, |a| u32::from(from_f16(a) as u16);
        "v_cvt_i16_f16" => F16 -> B16, |a| u32::from(from_f16(a) as i16 as u16);
        "v_cvt_i32_i16" => B16 -> B32, |a| i32::from(a as u16 as i16) as u32;
        "v_cvt_u32_u16" => B16 -> B32, |a| a & 0xffff;
        "v_cvt_pk_rtz_f16_f32" | "v_cvt_pkrtz_f16_f32" => F32 -> PairF16, |a, b| {
            to_f16_toward_zero(f(a)) | to_f16_toward_zero(f(b)) << 16
        };
        "v_cvt_pk_bf16_f32" => F32 -> B32, |a, b| to_bf16(f(a)) | to_bf16(f(b)) << 16;
        "v_cvt_pk_f16_f32" => F32 -> PairF16, |a, b| to_f16(f(a)) | to_f16(f(b)) << 16;
        "v_cvt_f32_bf16" => B16 -> F32, |a| same(from_bf16(a & 0xffff));
        "v_cvt_pk_u16_u32" => B32 -> B32, |a, b| a.min(0xffff) | b.min(0xffff) << 16;
        "v_cvt_pk_i16_i32" => B32 -> B32, |a, b| {
            let clamp = |x: u32| (x as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff;
            clamp(a) | clamp(b) << 16
        };
        "v_cvt_pk_u16_f32" => F32 -> B32, |a, b| {
            u32::from(f(a) as u16) | u32::from(f(b) as u16) << 16
        };
        "v_cvt_pk_i16_f32" => F32 -> B32, |a, b| {
            u32::from(f(a) as i16 as u16) | u32::from(f(b) as i16 as u16) << 16
        };
        "v_cvt_pk_norm_i16_f32" | "v_cvt_pknorm_i16_f32" => F32 -> B32, |a, b| {
            snorm(f(a)) | snorm(f(b)) << 16
        };
        "v_cvt_pk_norm_u16_f32" | "v_cvt_pknorm_u16_f32" => F32 -> B32, |a, b| {
            unorm(f(a)) | unorm(f(b)) << 16
        };
        "v_cvt_pk_norm_i16_f16" | "v_cvt_pknorm_i16_f16" => F16 -> B32, |a, b| {
            snorm(from_f16(a)) | snorm(from_f16(b)) << 16
        };
        "v_cvt_pk_norm_u16_f16" | "v_cvt_pknorm_u16_f16" => F16 -> B32, |a, b| {
            unorm(from_f16(a)) | unorm(from_f16(b)) << 16
        };
        "v_cvt_norm_i16_f16" => F16 -> B16, |a| snorm(from_f16(a));
        "v_cvt_norm_u16_f16" => F16 -> B16, |a| unorm(from_f16(a));
        "v_cvt_off_f32_i4" => B32 -> F32, |a| offset(a).to_bits();
        "v_sat_pk_u8_i16" => B32 -> B16, |a| bytes(a);
        "v_cvt_pk_fp8_f32" => F32 -> B16, |a, b| {
            u32::from(to_fp8(f(a), false)) | u32::from(to_fp8(f(b), false)) << 8
        };
        "v_cvt_pk_bf8_f32" => F32 -> B16, |a, b| {
            u32::from(to_bf8(f(a), false)) | u32::from(to_bf8(f(b), false)) << 8
        };
        "v_cvt_f32_fp8" => B32 -> F32, |a| from_fp8(a as u8).to_bits();
        "v_cvt_f32_fp8 byte 1" => B32 -> F32, |a| from_fp8((a >> 8) as u8).to_bits();
        "v_cvt_f32_fp8 byte 2" => B32 -> F32, |a| from_fp8((a >> 16) as u8).to_bits();
        "v_cvt_f32_fp8 byte 3" => B32 -> F32, |a| from_fp8((a >> 24) as u8).to_bits();
        "v_cvt_f32_bf8" => B32 -> F32, |a| from_bf8(a as u8).to_bits();
        "v_cvt_f32_bf8 byte 1" => B32 -> F32, |a| from_bf8((a >> 8) as u8).to_bits();
        "v_cvt_f32_bf8 byte 2" => B32 -> F32, |a| from_bf8((a >> 16) as u8).to_bits();
        "v_cvt_f32_bf8 byte 3" => B32 -> F32, |a| from_bf8((a >> 24) as u8).to_bits();
    ))
}

/// Two f32 in a pair of registers.
fn pair(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

fn wide<const W: usize>(name: &str) -> Option<Row<W>> {
    macro_rules! rows {
        ($($key:literal => $source:ident -> $result:ident, |$a:ident| $body:expr;)*) => {
            match name {
                $($key => Row::wide(|s, _, out| {
                    for lane in 0..W {
                        let $a = s[0][lane];
                        out[lane] = $body;
                    }
                    0
                }, Type::$result, &[Type::$source]),)*
                _ => return None,
            }
        };
    }
    Some(rows!(
        "v_cvt_pk_f32_fp8" => B16 -> B64, |a| pair(from_fp8(a as u8), from_fp8((a >> 8) as u8));
        "v_cvt_pk_f32_bf8" => B16 -> B64, |a| pair(from_bf8(a as u8), from_bf8((a >> 8) as u8));
        "v_cvt_f64_f32" => F32 -> F64, |a| f64::from(f(a as u32)).to_bits();
        "v_cvt_f32_f64" => F64 -> F32, |a| u64::from(same(f64::from_bits(a) as f32));
        "v_cvt_f64_i32" => B32 -> F64, |a| f64::from(a as i32).to_bits();
        "v_cvt_f64_u32" => B32 -> F64, |a| f64::from(a as u32).to_bits();
        "v_cvt_i32_f64" => F64 -> B32, |a| u64::from(f64::from_bits(a) as i32 as u32);
        "v_cvt_u32_f64" => F64 -> B32, |a| u64::from(f64::from_bits(a) as u32);
    ))
}
