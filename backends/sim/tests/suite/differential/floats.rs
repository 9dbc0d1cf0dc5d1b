//! Models of f32 operations, of minima and maxima of all formats.

use super::extrema::Bits;
use super::forms::Op;
use super::harness::{After, Kind};
use super::numbers::{f, f16_bits, f32_bits, fused, h};
use super::table::{Table, op, words};
use super::{division, doubles, halves};

const F32: (Kind, u32) = (Kind::F32, 32);
const CLOSE: (Kind, u32) = (Kind::Close32, 32);
const F16: (Kind, u32) = (Kind::F16, 16);
const BITS: (Kind, u32) = (Kind::Bits, 32);
const SHORT: &str = "e32 e64 dpp sdwa";

pub fn add(t: &mut Table) {
    single(t);
    scaled(t);
    extrema(t);
    transcendental(t);
    division::add(t);
    halves::add(t);
    if t.gfx9() {
        more(t);
        doubles::add(t);
    }
}

/// A model of f32 as exact f64 values, rounded once.
macro_rules! reals {
    (|$a:ident| $body:expr) => {
        words!(|a| {
            let $a = f(a);
            f32_bits($body)
        })
    };
    (|$a:ident, $b:ident| $body:expr) => {
        words!(|a, b| {
            let ($a, $b) = (f(a), f(b));
            f32_bits($body)
        })
    };
    (|$a:ident, $b:ident, $c:ident| $body:expr) => {
        words!(|a, b, c| {
            let ($a, $b, $c) = (f(a), f(b), f(c));
            f32_bits($body)
        })
    };
}

macro_rules! halves {
    (|$a:ident| $body:expr) => {
        words!(|a| {
            let $a = h(a);
            f16_bits($body)
        })
    };
    (|$a:ident, $b:ident| $body:expr) => {
        words!(|a, b| {
            let ($a, $b) = (h(a), h(b));
            f16_bits($body)
        })
    };
    (|$a:ident, $b:ident, $c:ident| $body:expr) => {
        words!(|a, b, c| {
            let ($a, $b, $c) = (h(a), h(b), h(c));
            f16_bits($body)
        })
    };
}

fn single(t: &mut Table) {
    let two = "D, f0, f1";
    let three = "D, f0, f1, f2";
    t.kind("v_add_f32", SHORT, two, F32, reals!(|a, b| a + b));
    t.kind("v_sub_f32", SHORT, two, F32, reals!(|a, b| a - b));
    t.kind("v_mul_f32", SHORT, two, F32, reals!(|a, b| a * b));
    t.kind(
        "v_fma_f32",
        "3",
        three,
        F32,
        reals!(|a, b, c| fused(a, b, c)),
    );
    let fmac = op(|[a, b, _], lane| {
        (
            f32_bits(fused(f(a as u32), f(b as u32), f(lane.tuple().f[2]))).into(),
            false,
        )
    });
    let forms = if t.gfx9() { "e32 e64" } else { "e32 e64 dpp" };
    t.accumulating("v_fmac_f32", forms, two, "v_mov_b32 D, f2", F32, fmac);
    const K: u32 = 0x3f00_0001;
    t.kind(
        "v_fmaak_f32",
        "3 !m !k !c",
        "D, f0, f1, 0x3f000001",
        F32,
        reals!(|a, b| fused(a, b, f(K))),
    );
    t.kind(
        "v_fmamk_f32",
        "3 !m !k !c",
        "D, f0, 0x3f000001, f1",
        F32,
        reals!(|a, b| fused(a, f(K), b)),
    );
    t.kind(
        "v_rndne_f32",
        SHORT,
        "D, f0",
        F32,
        reals!(|a| {
            // AMD's text: up from the half, less one where that made an even number odd.
            if a.abs() >= 8_388_608.0 || a.is_nan() {
                a
            } else {
                let up = (a + 0.5).floor();
                let tie = a.floor() % 2.0 == 0.0 && a - a.floor() == 0.5;
                (if tie { up - 1.0 } else { up }).copysign(a)
            }
        }),
    );
    // The power as AMD writes it, in steps that f64 holds.
    t.kind(
        "v_ldexp_f32",
        "3",
        "D, f0, i1",
        F32,
        words!(|a, by| {
            let by = (by as i32).clamp(-400, 400);
            f32_bits(f(a) * 2_f64.powi(by))
        }),
    );
}

/// Results scaled by 2, 4 or a half, which hardware does where denormals are dropped: of sources
/// first, of the scaled result last.
fn scaled(t: &mut Table) {
    if t.gfx9() {
        // There the mode has no instruction of its own; LLVM scales no results in kernels.
        return;
    }
    type Model = fn([f64; 3]) -> f64;
    let all: [(&str, Model); 4] = [
        ("v_add_f32_e64 D, f0, f1", |[a, b, _]| a + b),
        ("v_sub_f32_e64 D, f0, f1", |[a, b, _]| a - b),
        ("v_mul_f32_e64 D, f0, f1", |[a, b, _]| a * b),
        ("v_fma_f32 D, f0, f1, f2", |[a, b, c]| fused(a, b, c)),
    ];
    let ieee = !t.gfx12();
    for (text, model) in all {
        for (by, scale) in [("mul:2", 2.0), ("mul:4", 4.0), ("div:2", 0.5)] {
            let text = format!("s_denorm_mode 12\n{text} {by}\ns_denorm_mode 15");
            t.case(text, Kind::F32, move |lane| {
                let sources = lane.tuple().f.map(|bits| flush(f(bits)));
                let rounded = f(f32_bits(model(sources)));
                // IEEE mode, which RDNA 4 has not, ignores scales; elsewhere they lose -0.
                let result = match ieee {
                    true => flush(rounded),
                    false => flush(f(f32_bits(rounded * scale))) + 0.0,
                };
                After {
                    value: lane.tuple().old & !0xffff_ffff | u64::from(f32_bits(result)),
                    mask: false,
                }
            });
        }
    }
}

fn bits(t: &Table, mantissa: u32, width: u32) -> Bits {
    Bits {
        mantissa,
        width,
        ieee: !t.gfx12(),
    }
}

fn extrema(t: &mut Table) {
    let single = bits(t, 23, 32);
    let half = bits(t, 10, 16);
    let (max, med3) = match t.gfx12() {
        true => ("v_max_num_f32", "v_med3_num_f32"),
        false => ("v_max_f32", "v_med3_f32"),
    };
    t.kind(
        max,
        SHORT,
        "D, f0, f1",
        BITS,
        op(move |[a, b, _], _| (single.max(a, b), false)),
    );
    t.kind(
        med3,
        "3",
        "D, f0, f1, f2",
        BITS,
        op(move |all, _| (single.med3(all), false)),
    );
    let pk_max = if t.gfx12() {
        "v_pk_max_num_f16"
    } else {
        "v_pk_max_f16"
    };
    let both = move |a: u64, b: u64| {
        half.max(a & 0xffff, b & 0xffff) | half.max(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16
    };
    t.kind(
        pk_max,
        "3 !m !c",
        "D, h0, h1",
        BITS,
        op(move |[a, b, _], _| (both(a, b), false)),
    );
    let wide = bits(t, 52, 64);
    let (doubles, of_doubles) = ("DD, d0, d1", (Kind::Bits, 64));
    if t.gfx12() {
        let max = op(move |[a, b, _], _| (wide.max(a, b), false));
        t.kind("v_max_num_f64", "e32 e64", doubles, of_doubles, max);
        let min = op(move |[a, b, _], _| (wide.min(a, b), false));
        t.kind("v_min_num_f64", "e32 e64", doubles, of_doubles, min);
        for (name, larger) in [("v_maximum_f64", true), ("v_minimum_f64", false)] {
            let model = op(move |[a, b, _], _| (wide.keep_nan(a, b, larger), false));
            t.kind(name, "3", doubles, of_doubles, model);
        }
    }
    if !t.gfx9() {
        return;
    }
    t.kind(
        "v_max3_f32",
        "3",
        "D, f0, f1, f2",
        BITS,
        op(move |[a, b, c], _| (single.max(single.max(a, b), c), false)),
    );
    for (name, larger) in [("v_maximum3_f32", true), ("v_minimum3_f32", false)] {
        t.kind(
            name,
            "3",
            "D, f0, f1, f2",
            F32,
            op(move |[a, b, c], _| {
                (
                    single.keep_nan(single.keep_nan(a, b, larger), c, larger),
                    false,
                )
            }),
        );
    }
    let low = |all: [u64; 3]| all.map(|x| x & 0xffff);
    let h16 = (Kind::Bits, 16);
    t.kind(
        "v_max_f16",
        SHORT,
        "D, h0, h1",
        h16,
        op(move |all, _| {
            let [a, b, _] = low(all);
            (half.max(a, b), false)
        }),
    );
    t.kind(
        "v_max3_f16",
        "3",
        "D, h0, h1, h2",
        h16,
        op(move |all, _| {
            let [a, b, c] = low(all);
            (half.max(half.max(a, b), c), false)
        }),
    );
    t.kind(
        "v_med3_f16",
        "3",
        "D, h0, h1, h2",
        h16,
        op(move |all, _| (half.med3(low(all)), false)),
    );
    for (name, larger) in [("v_pk_maximum3_f16", true), ("v_pk_minimum3_f16", false)] {
        t.kind(
            name,
            "3 !m !c",
            "D, h0, h1, h2",
            (Kind::Pair16, 32),
            op(move |all, _| {
                let part = |shift: u32| {
                    let [a, b, c] = all.map(|x| x >> shift & 0xffff);
                    half.keep_nan(half.keep_nan(a, b, larger), c, larger)
                };
                (part(0) | part(16) << 16, false)
            }),
        );
    }
    t.kind(
        "v_max_f64",
        "3",
        "DD, d0, d1",
        (Kind::Bits, 64),
        op(move |[a, b, _], _| (wide.max(a, b), false)),
    );
    t.kind(
        "v_min_f64",
        "3",
        "DD, d0, d1",
        (Kind::Bits, 64),
        op(move |[a, b, _], _| (wide.min(a, b), false)),
    );
}

/// Denormals to zero of their sign, of f32.
fn flush(value: f64) -> f64 {
    match value.abs() < f64::from(f32::MIN_POSITIVE) {
        true => 0.0_f64.copysign(value),
        false => value,
    }
}

fn transcendental(t: &mut Table) {
    type Function = fn(f64) -> f64;
    let all: [(&str, Function); 6] = [
        ("v_rcp_f32", |x| 1.0 / x),
        ("v_rcp_iflag_f32", |x| 1.0 / x),
        ("v_rsq_f32", |x| 1.0 / x.sqrt()),
        ("v_sqrt_f32", f64::sqrt),
        ("v_exp_f32", f64::exp2),
        ("v_log_f32", f64::log2),
    ];
    for (name, function) in all {
        // AMD: within one unit in the last place, denormals flushed on both sides.
        t.kind(
            name,
            SHORT,
            "D, f0",
            CLOSE,
            words!(|a| {
                let result = function(flush(f(a)));
                f32_bits(flush(f64::from(result as f32)))
            }),
        );
    }
}

/// The mantissa of a nonzero finite number in [0.5, 1) and its exponent.
pub(super) fn frexp(x: f64) -> (f64, i32) {
    let (mut mantissa, mut exponent) = (x, 0);
    while mantissa.abs() >= 1.0 {
        (mantissa, exponent) = (mantissa / 2.0, exponent + 1);
    }
    while mantissa.abs() < 0.5 {
        (mantissa, exponent) = (mantissa * 2.0, exponent - 1);
    }
    (mantissa, exponent)
}

pub(super) fn mantissa(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        x
    } else {
        frexp(x).0
    }
}

pub(super) fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        0
    } else {
        frexp(x).1
    }
}

/// What gfx950's list has besides, of f32 and f16.
fn more(t: &mut Table) {
    t.kind(
        "v_subrev_f32",
        SHORT,
        "D, f0, f1",
        F32,
        reals!(|a, b| b - a),
    );
    t.kind(
        "v_mul_legacy_f32",
        "3",
        "D, f0, f1",
        F32,
        reals!(|a, b| match a == 0.0 || b == 0.0 {
            true => 0.0,
            false => a * b,
        }),
    );
    t.kind("v_floor_f32", SHORT, "D, f0", F32, reals!(|a| a.floor()));
    t.kind("v_trunc_f32", SHORT, "D, f0", F32, reals!(|a| a.trunc()));
    t.kind(
        "v_fract_f32",
        SHORT,
        "D, f0",
        F32,
        reals!(|a| {
            // Never 1, to which the difference may round.
            let x = a - a.floor();
            if x > 1.0 - 2_f64.powi(-24) {
                1.0 - 2_f64.powi(-24)
            } else {
                x
            }
        }),
    );
    t.kind(
        "v_frexp_mant_f32",
        SHORT,
        "D, f0",
        F32,
        reals!(|a| mantissa(a)),
    );
    t.word(
        "v_frexp_exp_i32_f32",
        SHORT,
        "D, f0",
        words!(|a| exponent(f(a)) as u32),
    );
    t.kind(
        "v_fract_f16",
        SHORT,
        "D, h0",
        F16,
        halves!(|a| {
            let x = a - a.floor();
            if x > 1.0 - 2_f64.powi(-11) {
                1.0 - 2_f64.powi(-11)
            } else {
                x
            }
        }),
    );
    t.kind(
        "v_frexp_mant_f16",
        SHORT,
        "D, h0",
        F16,
        halves!(|a| mantissa(a)),
    );
    t.short(
        "v_frexp_exp_i16_f16",
        SHORT,
        "D, h0",
        words!(|a| exponent(h(a)) as u32),
    );
    t.kind(
        "v_ldexp_f16",
        "e32 e64 !l",
        "D, h0, i1",
        F16,
        words!(|a, by| {
            f16_bits(h(a) * 2_f64.powi(i32::from(by as u16 as i16).clamp(-100, 100)))
        }),
    );
    t.kind(
        "v_rcp_f16",
        SHORT,
        "D, h0",
        (Kind::Close16, 16),
        halves!(|a| 1.0 / a),
    );
    t.kind(
        "v_exp_f16",
        SHORT,
        "D, h0",
        (Kind::Close16, 16),
        halves!(|a| a.exp2()),
    );
    let keeps = |name: &str, op: Op, t: &mut Table| {
        t.entry(super::forms::Entry {
            name: name.to_owned(),
            forms: "3",
            operands: "D, h0, h1, h2",
            kind: Kind::F16,
            bits: 16,
            clears: false,
            before: "",
            tail: "",
            op,
        });
    };
    keeps("v_fma_f16", halves!(|a, b, c| fused(a, b, c)), t);
    let fixup = words!(|q, d, n| {
        let sign = (d ^ n) & 0x8000;
        let (x, y) = (h(n), h(d));
        if x.is_nan() || y.is_nan() || x == 0.0 && y == 0.0 || x.is_infinite() && y.is_infinite() {
            0xfe00
        } else if y == 0.0 || x.is_infinite() {
            sign | 0x7c00
        } else if y.is_infinite() || x == 0.0 {
            sign
        } else {
            sign | q & 0x7fff
        }
    });
    keeps("v_div_fixup_f16", fixup, t);
}
