//! Models of f64 operations.

use super::floats::{exponent, frexp, mantissa};
use super::harness::Kind;
use super::table::{Table, op};

const F64: (Kind, u32) = (Kind::F64, 64);

/// The bits of a result, NaNs made quiet.
fn quiet(value: f64) -> u64 {
    match value.is_nan() {
        true => value.to_bits() | 1 << 51,
        false => value.to_bits(),
    }
}

macro_rules! doubles {
    (|$a:ident, $b:ident, $c:ident| $body:expr) => {
        op(move |all, _| {
            let [$a, $b, $c] = all.map(f64::from_bits);
            let _ = ($b, $c);
            (quiet($body), false)
        })
    };
}

/// x times a power of two, each step exact but the last.
fn ldexp(x: f64, by: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (mantissa, exponent) = frexp(x);
    let total = i64::from(exponent) + i64::from(by);
    if total > 1025 {
        return f64::INFINITY.copysign(x);
    }
    if total < -1100 {
        return 0.0_f64.copysign(x);
    }
    let total = total as i32;
    match total > -1021 {
        true => mantissa * 2_f64.powi(total / 2) * 2_f64.powi(total - total / 2),
        // The last product alone rounds.
        false => mantissa * 2_f64.powi(-500) * 2_f64.powi(total + 500),
    }
}

pub fn add(t: &mut Table) {
    let two = "DD, d0, d1";
    let three = "DD, d0, d1, d2";
    let one = "DD, d0";
    t.kind("v_add_f64", "3", two, F64, doubles!(|a, b, _c| a + b));
    t.kind("v_mul_f64", "3", two, F64, doubles!(|a, b, _c| a * b));
    t.kind(
        "v_fma_f64",
        "3",
        three,
        F64,
        doubles!(|a, b, c| a.mul_add(b, c)),
    );
    let fmac = op(|[a, b, _], lane| {
        let c = f64::from_bits(lane.tuple().d[2]);
        (
            f64::from_bits(a).mul_add(f64::from_bits(b), c).to_bits(),
            false,
        )
    });
    t.accumulating("v_fmac_f64", "e32 e64", two, "v_mov_b64 DD, d2", F64, fmac);
    t.kind(
        "v_trunc_f64",
        "e32 e64",
        one,
        F64,
        doubles!(|a, _b, _c| a.trunc()),
    );
    t.kind(
        "v_ceil_f64",
        "e32 e64",
        one,
        F64,
        doubles!(|a, _b, _c| a.ceil()),
    );
    t.kind(
        "v_fract_f64",
        "e32 e64",
        one,
        F64,
        doubles!(|a, _b, _c| {
            let x = a - a.floor();
            if x >= 1.0 { 1.0 - 2_f64.powi(-53) } else { x }
        }),
    );
    t.kind(
        "v_frexp_mant_f64",
        "e32 e64",
        one,
        F64,
        doubles!(|a, _b, _c| mantissa(a)),
    );
    t.word(
        "v_frexp_exp_i32_f64",
        "e32 e64",
        "D, d0",
        op(|[a, ..], _| (exponent(f64::from_bits(a)) as u32 as u64, false)),
    );
    t.kind(
        "v_ldexp_f64",
        "3",
        "DD, d0, i1",
        F64,
        op(|[a, by, _], _| (quiet(ldexp(f64::from_bits(a), by as i32)), false)),
    );
    t.kind(
        "v_rcp_f64",
        "e32 e64",
        one,
        (Kind::Close64, 64),
        doubles!(|a, _b, _c| 1.0 / a),
    );
    t.kind(
        "v_rsq_f64",
        "e32 e64",
        one,
        (Kind::Close64, 64),
        doubles!(|a, _b, _c| 1.0 / a.sqrt()),
    );
    division64(t);
}

fn division64(t: &mut Table) {
    let exponent = |x: f64| (x.to_bits() >> 52 & 0x7ff) as i32;
    let denormal = |x: f64| x != 0.0 && x.abs() < f64::MIN_POSITIVE;
    // As for f32, with 2^128.
    let scale = move |[s0, s1, s2]: [f64; 3]| {
        let reciprocal = denormal(1.0 / s1) || s1.is_infinite();
        let quotient = denormal(s2 / s1) || s2 / s1 == 0.0;
        if s2 == 0.0 || s1 == 0.0 {
            (f64::NAN, false)
        } else if exponent(s2) - exponent(s1) >= 768 {
            (if s0 == s1 { ldexp(s0, 128) } else { s0 }, true)
        } else if denormal(s1) {
            (ldexp(s0, 128), false)
        } else {
            match (reciprocal, quotient) {
                (true, true) => (if s0 == s1 { ldexp(s0, -128) } else { s0 }, true),
                (true, false) => (ldexp(s0, -128), false),
                (false, true) => (if s0 == s2 { ldexp(s0, 128) } else { s0 }, true),
                _ if exponent(s2) <= 53 => (ldexp(s0, 128), false),
                _ => (s0, false),
            }
        }
    };
    for operands in [
        "DD, M, d0, d1, d2",
        "DD, M, d1, d1, d2",
        "DD, M, d2, d1, d2",
    ] {
        t.kind(
            "v_div_scale_f64",
            "3 !c !m !k",
            operands,
            F64,
            op(move |all, _| {
                let (value, flag) = scale(all.map(f64::from_bits));
                (value.to_bits(), flag)
            }),
        );
    }
    t.kind(
        "v_div_fixup_f64",
        "3 !k",
        "DD, d0, d1, d2",
        F64,
        op(move |all, _| {
            let [q, d, n] = all.map(f64::from_bits);
            let sign = (all[1] ^ all[2]) & 1 << 63;
            let distance = exponent(n) - exponent(d);
            let nothing = n == 0.0 && d == 0.0 || n.is_infinite() && d.is_infinite();
            let magnitude = if n.is_nan() || d.is_nan() || nothing {
                f64::NAN
            } else if d == 0.0 || n.is_infinite() || distance > 1024 && d.is_finite() {
                f64::INFINITY
            } else if d.is_infinite() || n == 0.0 || distance < -1075 {
                0.0
            } else {
                q.abs()
            };
            (magnitude.to_bits() | sign, false)
        }),
    );
    t.kind(
        "v_div_fmas_f64",
        "3 !k",
        "DD, d0, d1, d2",
        F64,
        op(move |all, lane| {
            let [a, b, c] = all.map(f64::from_bits);
            let sum = a.mul_add(b, c);
            let result = match (lane.carry, exponent(c) > 1023) {
                (false, _) => sum,
                (true, true) => ldexp(sum, 128),
                (true, false) => ldexp(sum, -128),
            };
            (result.to_bits(), false)
        }),
    );
}
