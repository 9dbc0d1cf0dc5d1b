//! Models of conversions between formats.

use super::forms::Op;
use super::harness::{After, Kind, Lane};
use super::numbers::{
    BF8, FP4, FP8, Format, bf16_bits, f, f16_bits, f16_toward_zero, f32_bits, h, sext,
};
use super::table::{Table, op, words};

const SHORT: &str = "e32 e64 dpp sdwa";
const F32: (Kind, u32) = (Kind::F32, 32);
const PAIR: (Kind, u32) = (Kind::Pair16, 32);

/// Towards zero, to the nearest bound where it does not fit, NaN to 0.
fn integer(x: f64, low: f64, high: f64) -> i64 {
    if x.is_nan() {
        0
    } else {
        x.trunc().clamp(low, high) as i64
    }
}

fn i32_of(x: f64) -> u32 {
    integer(x, -2_147_483_648.0, 2_147_483_647.0) as u32
}

fn u32_of(x: f64) -> u32 {
    integer(x, 0.0, 4_294_967_295.0) as u32
}

pub fn add(t: &mut Table) {
    let f16 = (Kind::F16, 16);
    t.kind(
        "v_cvt_f16_f32",
        SHORT,
        "D, f0",
        f16,
        words!(|a| f16_bits(f(a))),
    );
    t.kind(
        "v_cvt_f32_f16",
        SHORT,
        "D, h0",
        F32,
        words!(|a| f32_bits(h(a))),
    );
    t.kind(
        "v_cvt_f32_i32",
        SHORT,
        "D, i0",
        F32,
        words!(|a| f32_bits(sext(a, 32) as f64)),
    );
    t.kind(
        "v_cvt_f32_u32",
        SHORT,
        "D, i0",
        F32,
        words!(|a| f32_bits(f64::from(a))),
    );
    t.word("v_cvt_i32_f32", SHORT, "D, f0", words!(|a| i32_of(f(a))));
    t.word("v_cvt_u32_f32", SHORT, "D, f0", words!(|a| u32_of(f(a))));
    let rtz = words!(|a, b| f16_toward_zero(f(a)) | f16_toward_zero(f(b)) << 16);
    match t.gfx9() {
        true => t.kind("v_cvt_pkrtz_f16_f32", "3 !k", "D, f0, f1", PAIR, rtz),
        false => t.kind("v_cvt_pk_rtz_f16_f32", "e32 e64 !k", "D, f0, f1", PAIR, rtz),
    }
    if !t.gfx9() {
        shorts(t);
    }
    if !t.gfx9() && !t.gfx12() {
        return;
    }
    small(t);
    if t.gfx9() {
        more(t);
        scaled(t);
    }
}

/// Pairs of integers of 16 bits, towards zero and within their range.
fn shorts(t: &mut Table) {
    let within = |x: u32, low: f64, high: f64| match f(x).is_nan() {
        true => 0,
        false => f(x).trunc().clamp(low, high) as i32 as u32 & 0xffff,
    };
    let signed = move |x| within(x, -32768.0, 32767.0);
    let unsigned = move |x| within(x, 0.0, 65535.0);
    let model = words!(|a, b| signed(a) | signed(b) << 16);
    t.word("v_cvt_pk_i16_f32", "3", "D, f0, f1", model);
    let model = words!(|a, b| unsigned(a) | unsigned(b) << 16);
    t.word("v_cvt_pk_u16_f32", "3", "D, f0, f1", model);
}

fn more(t: &mut Table) {
    let f16 = (Kind::F16, 16);
    t.kind(
        "v_cvt_f16_u16",
        "e32 e64 !l",
        "D, i0",
        f16,
        words!(|a| f16_bits(f64::from(a & 0xffff))),
    );
    t.kind(
        "v_cvt_f16_i16",
        "e32 e64 !l",
        "D, i0",
        f16,
        words!(|a| f16_bits(sext(a, 16) as f64)),
    );
    t.short(
        "v_cvt_u16_f16",
        "e32 e64",
        "D, h0",
        words!(|a| integer(h(a), 0.0, 65535.0) as u32),
    );
    t.kind(
        "v_cvt_f32_bf16",
        "e32 e64 !c",
        "D, i0",
        F32,
        words!(|a| f32_bits(f(a << 16))),
    );
    t.kind(
        "v_cvt_f32_f64",
        "e32 e64",
        "D, d0",
        F32,
        op(|[a, ..], _| (f32_bits(f64::from_bits(a)).into(), false)),
    );
    let f64s = (Kind::F64, 64);
    t.kind(
        "v_cvt_f64_f32",
        "e32 e64",
        "DD, f0",
        f64s,
        op(|[a, ..], _| (f(a as u32).to_bits(), false)),
    );
    t.kind(
        "v_cvt_f64_i32",
        "e32 e64",
        "DD, i0",
        f64s,
        op(|[a, ..], _| ((sext(a as u32, 32) as f64).to_bits(), false)),
    );
    t.word(
        "v_cvt_i32_f64",
        "e32 e64",
        "D, d0",
        op(|[a, ..], _| (i32_of(f64::from_bits(a)).into(), false)),
    );
    for (at, name) in [
        "v_cvt_f32_ubyte0",
        "v_cvt_f32_ubyte1",
        "v_cvt_f32_ubyte2",
        "v_cvt_f32_ubyte3",
    ]
    .into_iter()
    .enumerate()
    {
        t.kind(
            name,
            SHORT,
            "D, i0",
            F32,
            words!(|a| f32_bits(f64::from(a.to_le_bytes()[at]))),
        );
    }
    t.word(
        "v_cvt_flr_i32_f32",
        SHORT,
        "D, f0",
        words!(|a| i32_of(f(a).floor())),
    );
    t.kind(
        "v_cvt_pk_bf16_f32",
        "3 !k",
        "D, f0, f1",
        (Kind::PairBf16, 32),
        words!(|a, b| { bf16_bits(f(a)) | bf16_bits(f(b)) << 16 }),
    );
    t.kind(
        "v_cvt_pk_f16_f32",
        "3 !k",
        "D, f0, f1",
        PAIR,
        words!(|a, b| { f16_bits(f(a)) | f16_bits(f(b)) << 16 }),
    );
    t.word(
        "v_cvt_pk_i16_i32",
        "3",
        "D, i0, i1",
        words!(|a, b| {
            let half = |x: u32| sext(x, 32).clamp(-32768, 32767) as u32 & 0xffff;
            half(a) | half(b) << 16
        }),
    );
    t.word(
        "v_cvt_pk_u16_u32",
        "3",
        "D, i0, i1",
        words!(|a, b| a.min(65535) | b.min(65535) << 16),
    );
}

/// FP8 and BF8.
fn small(t: &mut Table) {
    for (name, format) in [("fp8", &FP8), ("bf8", &BF8)] {
        let decode = move |code: u32| f32_bits(format.decode(code & 0xff));
        let one = |shift: u32| op(move |[a, ..], _| (decode(a as u32 >> shift).into(), false));
        let two = |shift: u32| {
            op(move |[a, ..], _| {
                let a = a as u32 >> shift;
                (
                    u64::from(decode(a)) | u64::from(decode(a >> 8)) << 32,
                    false,
                )
            })
        };
        let pair = (Kind::Pair32, 64);
        let pk = format!("v_cvt_pk_f32_{name}");
        t.kind(&pk, "e32 e64 !c", "DD, i0", pair, two(0));
        t.kind(
            &format!("v_cvt_f32_{name}"),
            "e32 e64 !c !k",
            "D, i0",
            F32,
            one(0),
        );
        match t.gfx9() {
            true => {
                place(
                    t,
                    &format!("{pk}_sdwa DD, i0 src0_sel:WORD_1"),
                    Kind::Pair32,
                    64,
                    two(16),
                );
                for (at, sel) in ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3"]
                    .into_iter()
                    .enumerate()
                {
                    let text = format!("v_cvt_f32_{name}_sdwa D, i0 src0_sel:{sel}");
                    place(t, &text, Kind::F32, 32, one(8 * at as u32));
                }
            }
            false => {
                place(
                    t,
                    &format!("{pk}_e64 DD, i0 op_sel:[1,0]"),
                    Kind::Pair32,
                    64,
                    two(16),
                );
                for at in 1..4 {
                    let text = format!("v_cvt_f32_{name}_e64 D, i0 byte_sel:{at}");
                    place(t, &text, Kind::F32, 32, one(8 * at));
                }
            }
        }
        // Halves of a register, the other one kept.
        let encode = words!(|a, b| format.encode(f(a)) | format.encode(f(b)) << 8);
        let pk = format!("v_cvt_pk_{name}_f32");
        t.entry(super::forms::Entry {
            name: pk.clone(),
            forms: "3 !k",
            operands: "D, f0, f1",
            kind: Kind::Bits,
            bits: 16,
            clears: false,
            before: "",
            tail: "",
            op: encode.clone(),
        });
        t.high(&pk, "D, f0, f1", " op_sel:[0,0,1]", encode);
    }
}

/// A case of one source in column `i`.
fn place(t: &mut Table, text: &str, kind: Kind, bits: u32, op: Op) {
    t.case(text, kind, move |lane| {
        let (value, mask) = op([lane.tuple().i[0].into(), 0, 0], lane);
        let keep = if bits == 64 {
            0
        } else {
            lane.tuple().old & !0xffff_ffff
        };
        After {
            value: keep | value,
            mask,
        }
    });
}

/// Conversions of gfx950 that scale by a power of two, the exponent of an f32; a NaN where it has
/// the exponent of infinity.
fn scaled(t: &mut Table) {
    let power = |bits: u32| match bits >> 23 & 0xff {
        255 => f64::NAN,
        exponent => 2_f64.powi(exponent as i32 - 127),
    };
    // NaNs and zeros have the sign of the number.
    let divided = move |x: u32, by: u32| (f(x) / power(by)).copysign(f(x));
    let encode = move |format: &'static Format, lane: &Lane<'_>| {
        let [a, b, by] = lane.tuple().f;
        let bits = if format.mantissa == 1 { 4 } else { 8 };
        format.encode(divided(a, by)) | format.encode(divided(b, by)) << bits
    };
    let put = |old: u64, value: u32, shift: u32, bits: u32| {
        let mask = ((1_u64 << bits) - 1) << shift;
        After {
            value: old & !mask | u64::from(value) << shift,
            mask: false,
        }
    };
    for (tail, shift) in [
        ("", 0),
        (" op_sel:[0,0,1,0]", 8),
        (" op_sel:[0,0,0,1]", 16),
        (" op_sel:[0,0,1,1]", 24),
    ] {
        let text = format!("v_cvt_scalef32_pk_fp4_f32 D, f0, f1, f2{tail}");
        t.case(text, Kind::Bits, move |lane| {
            put(lane.tuple().old, encode(&FP4, lane), shift, 8)
        });
    }
    for (tail, shift) in [("", 0), (" op_sel:[0,0,0,1]", 16)] {
        let text = format!("v_cvt_scalef32_pk_fp8_f32 D, f0, f1, f2{tail}");
        t.case(text, Kind::Bits, move |lane| {
            put(lane.tuple().old, encode(&FP8, lane), shift, 16)
        });
    }
    for (tail, shift) in [
        ("", 0),
        (" op_sel:[1,0,0]", 8),
        (" op_sel:[0,1,0]", 16),
        (" op_sel:[1,1,0]", 24),
    ] {
        let text = format!("v_cvt_scalef32_pk_f32_fp4 DD, i0, f1{tail}");
        t.case(text, Kind::Pair32, move |lane| {
            let byte = lane.tuple().i[0] >> shift & 0xff;
            let one =
                |code: u32| u64::from(f32_bits(FP4.decode(code & 15) * power(lane.tuple().f[1])));
            After {
                value: one(byte) | one(byte >> 4) << 32,
                mask: false,
            }
        });
    }
}
