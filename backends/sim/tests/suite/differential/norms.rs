//! Models of conversions to normalized integers, to bytes, and from sixteenths.
//!
//! AMD's guides do not say how the first two round: to nearest even and towards zero are the
//! simulator's stated choices.

use super::harness::Kind;
use super::numbers::{f, f32_bits, h, sext};
use super::table::{Table, words};

const F32: (Kind, u32) = (Kind::F32, 32);

/// A number in [low, 1] as a multiple of 1 / `top`, the nearest or the even one of two.
fn norm(x: f64, low: f64, top: f64) -> u32 {
    if x.is_nan() {
        return 0;
    }
    let scaled = x.max(low).min(1.0) * top;
    let below = scaled.floor();
    let part = scaled - below;
    let up = part > 0.5 || part == 0.5 && below.rem_euclid(2.0) == 1.0;
    (below as i32 + i32::from(up)) as u32 & 0xffff
}

fn signed(x: f64) -> u32 {
    norm(x, -1.0, 32767.0)
}

fn unsigned(x: f64) -> u32 {
    norm(x, 0.0, 65535.0)
}

/// A byte of a float: towards zero, within its range.
fn byte(x: f64) -> u32 {
    (0..=255).rfind(|&byte| f64::from(byte) <= x).unwrap_or(0)
}

pub fn add(t: &mut Table) {
    let name = |rest: &str| match t.gfx9() {
        true => format!("v_cvt_pknorm_{rest}"),
        false => format!("v_cvt_pk_norm_{rest}"),
    };
    let names = ["i16_f32", "u16_f32", "i16_f16", "u16_f16"].map(name);
    let [signed32, unsigned32, signed16, unsigned16] = names;
    let model = words!(|a, b| signed(f(a)) | signed(f(b)) << 16);
    t.word(&signed32, "3", "D, f0, f1", model);
    let model = words!(|a, b| unsigned(f(a)) | unsigned(f(b)) << 16);
    t.word(&unsigned32, "3", "D, f0, f1", model);
    let model = words!(|a, b| signed(h(a)) | signed(h(b)) << 16);
    t.word(&signed16, "3", "D, h0, h1", model);
    let model = words!(|a, b| unsigned(h(a)) | unsigned(h(b)) << 16);
    t.word(&unsigned16, "3", "D, h0, h1", model);
    let short = "e32 e64";
    t.short(
        "v_cvt_norm_i16_f16",
        short,
        "D, h0",
        words!(|a| signed(h(a))),
    );
    t.short(
        "v_cvt_norm_u16_f16",
        short,
        "D, h0",
        words!(|a| unsigned(h(a))),
    );
    let model = words!(|a| f32_bits(sext(a, 4) as f64 / 16.0));
    t.kind("v_cvt_off_f32_i4", "e32 e64 dpp sdwa", "D, i0", F32, model);
    let model = words!(|a, b, c| {
        let mut bytes = c.to_le_bytes();
        bytes[b as usize % 4] = byte(f(a)) as u8;
        u32::from_le_bytes(bytes)
    });
    t.word("v_cvt_pk_u8_f32", "3", "D, f0, i1, i2", model);
    let model = words!(|a| {
        let kept = |half: u32| sext(half, 16).clamp(0, 255) as u32;
        kept(a) + 256 * kept(a >> 16)
    });
    t.short("v_sat_pk_u8_i16", "e32 e64 !l", "D, i0", model);
}
