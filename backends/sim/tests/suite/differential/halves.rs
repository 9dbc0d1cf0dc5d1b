//! Models of f16, packed and mixed operations.

use super::forms::{Entry, Op};
use super::harness::{After, Kind, Lane};
use super::numbers::{f, f16_bits, f32_bits, fused, h};
use super::table::{Table, op, words};

const F16: (Kind, u32) = (Kind::F16, 16);
const BITS: (Kind, u32) = (Kind::Bits, 32);
const SHORT: &str = "e32 e64 dpp sdwa";

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

pub fn add(t: &mut Table) {
    let two = "D, h0, h1";
    t.kind("v_mul_f16", SHORT, two, F16, halves!(|a, b| a * b));
    t.kind("v_add_f16", SHORT, two, F16, halves!(|a, b| a + b));
    packed(t);
    mixed(t);
}

fn fma16(a: u32, b: u32, c: u32) -> u32 {
    f16_bits(fused(h(a), h(b), h(c)))
}

/// Between 0 and 1; what is no number becomes 0, as the kernel's descriptor asks.
fn clamp(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The half that a selection names, and its sign flipped where asked.
fn take(x: u64, high: bool, neg: bool) -> u32 {
    let half = if high { x >> 16 } else { x } as u32 & 0xffff;
    if neg { half ^ 0x8000 } else { half }
}

/// Selections of sources for the low and for the high result.
type Selects = [[bool; 3]; 2];
const PLAIN: Selects = [[false; 3], [true; 3]];

fn packed(t: &mut Table) {
    let pair = (Kind::Pair16, 32);
    // Which halves and signs a text means.
    let forms: [(&'static str, Selects, Selects); 5] = [
        ("", PLAIN, [[false; 3]; 2]),
        (" clamp", PLAIN, [[false; 3]; 2]),
        (
            " op_sel_hi:[0,1,1]",
            [[false; 3], [false, true, true]],
            [[false; 3]; 2],
        ),
        (
            " op_sel:[1,0,1] op_sel_hi:[1,0,0]",
            [[true, false, true], [true, false, false]],
            [[false; 3]; 2],
        ),
        (
            " neg_lo:[1,0,1] neg_hi:[0,1,1]",
            PLAIN,
            [[true, false, true], [false, true, true]],
        ),
    ];
    for (tail, select, neg) in forms {
        let fma = op(move |all, _| {
            let part = |p: usize| {
                let [a, b, c] = [0, 1, 2].map(|at| take(all[at], select[p][at], neg[p][at]));
                let sum = h(fma16(a, b, c));
                u64::from(f16_bits(if tail == " clamp" { clamp(sum) } else { sum }))
            };
            (part(0) | part(1) << 16, false)
        });
        push(t, "v_pk_fma_f16", "D, h0, h1, h2", tail, pair, fma);
        let shorter: &'static str = match tail {
            "" | " clamp" => tail,
            " op_sel_hi:[0,1,1]" => " op_sel_hi:[0,1]",
            " op_sel:[1,0,1] op_sel_hi:[1,0,0]" => " op_sel:[1,0] op_sel_hi:[1,0]",
            _ => " neg_lo:[1,0] neg_hi:[0,1]",
        };
        type Two = fn(f64, f64) -> f64;
        let two: [(&str, Two); 2] = [
            ("v_pk_mul_f16", |a, b| a * b),
            ("v_pk_add_f16", |a, b| a + b),
        ];
        for (name, function) in two {
            let model = op(move |all, _| {
                let part = |p: usize| {
                    let [a, b] = [0, 1].map(|at| h(take(all[at], select[p][at], neg[p][at])));
                    let result = function(a, b);
                    u64::from(f16_bits(match tail {
                        " clamp" => clamp(result),
                        _ => result,
                    }))
                };
                (part(0) | part(1) << 16, false)
            });
            push(t, name, "D, h0, h1", shorter, pair, model);
        }
        if tail.contains("neg") || tail == " clamp" {
            continue;
        }
        // Integers.
        type Sixteen = fn(u32, u32) -> u32;
        let mut all: Vec<(&str, Sixteen)> = vec![
            ("v_pk_add_u16", |a, b| a + b),
            ("v_pk_lshlrev_b16", |a, b| b << (a % 16)),
        ];
        if t.gfx9() {
            all.extend([
                ("v_pk_sub_i16", (|a, b| a.wrapping_sub(b)) as Sixteen),
                ("v_pk_min_i16", |a, b| {
                    (a as u16 as i16).min(b as u16 as i16) as u32
                }),
                ("v_pk_mul_lo_u16", |a, b| a * b),
            ]);
        }
        for (name, function) in all {
            let model = op(move |all, _| {
                let part = |p: usize| {
                    let [a, b] = [0, 1].map(|at| take(all[at], select[p][at], false));
                    u64::from(function(a, b) & 0xffff)
                };
                (part(0) | part(1) << 16, false)
            });
            push(t, name, "D, i0, i1", shorter, BITS, model);
        }
    }
    // A constant is in the low half; the high half of a float one is zero.
    let scaled = op(|[a, ..], _| {
        let one = |p: u32| u64::from(f16_bits(h(a as u32 >> p & 0xffff)));
        (one(0) | one(16) << 16, false)
    });
    push(
        t,
        "v_pk_mul_f16",
        "D, h0, 1.0",
        " op_sel_hi:[1,0]",
        pair,
        scaled,
    );
    let shifted = op(|[a, ..], _| (a << 8 & 0xff00 | (a >> 16) << 24 & 0xff00_0000, false));
    push(
        t,
        "v_pk_lshlrev_b16",
        "D, 8, i0",
        " op_sel_hi:[0,1]",
        BITS,
        shifted,
    );
    let signed = op(|[a, b, _], _| {
        let half = |x: u64, p: u32| i64::from((x >> p) as u16 as i16);
        let part = |p: u32| {
            let sum = (half(a, p) + half(b, p)).clamp(i16::MIN.into(), i16::MAX.into());
            u64::from(sum as u16) << p
        };
        (part(0) | part(16), false)
    });
    push(t, "v_pk_add_i16", "D, i0, i1", " clamp", BITS, signed);
    if !t.gfx9() {
        return;
    }
    let saturated = op(|[a, b, _], _| {
        let part = |p: u32| ((a >> p & 0xffff) + (b >> p & 0xffff)).min(0xffff);
        (part(0) | part(16) << 16, false)
    });
    push(t, "v_pk_add_u16", "D, i0, i1", " clamp", BITS, saturated);
    let mad = op(|[a, b, c], _| {
        let part = |p: u32| ((a >> p & 0xffff) * (b >> p & 0xffff) + (c >> p & 0xffff)) & 0xffff;
        (part(0) | part(16) << 16, false)
    });
    push(t, "v_pk_mad_u16", "D, i0, i1, i2", "", BITS, mad);
    let fmac = op(|[a, b, _], lane| {
        let c = lane.tuple().h[2];
        let part = |p: u32| {
            u64::from(fma16(
                a as u32 >> p & 0xffff,
                b as u32 >> p & 0xffff,
                c >> p & 0xffff,
            ))
        };
        (part(0) | part(16) << 16, false)
    });
    t.accumulating(
        "v_pk_fmac_f16",
        "e32 !c",
        "D, h0, h1",
        "v_mov_b32 D, h2",
        pair,
        fmac,
    );
    pairs(t);
}

fn push(
    t: &mut Table,
    name: &str,
    operands: &'static str,
    tail: &'static str,
    (kind, bits): (Kind, u32),
    op: Op,
) {
    t.entry(Entry {
        name: name.to_owned(),
        forms: "3 !c !m !k",
        operands,
        kind,
        bits,
        clears: false,
        before: "",
        tail,
        op,
    });
}

/// Operations on pairs of f32 registers.
fn pairs(t: &mut Table) {
    let pair = (Kind::Pair32, 64);
    let forms: [(&'static str, &'static str, Selects, Selects); 4] = [
        ("", "", PLAIN, [[false; 3]; 2]),
        (" clamp", " clamp", PLAIN, [[false; 3]; 2]),
        (
            " op_sel:[0,1] op_sel_hi:[1,0]",
            " op_sel:[0,1,0] op_sel_hi:[1,0,1]",
            [[false, true, false], [true, false, true]],
            [[false; 3]; 2],
        ),
        (
            " neg_lo:[0,1] neg_hi:[1,0]",
            " neg_lo:[0,1,1] neg_hi:[1,0,0]",
            PLAIN,
            [[false, true, true], [true, false, false]],
        ),
    ];
    for (two, three, select, neg) in forms {
        let word = move |all: [u64; 3], p: usize, at: usize| {
            let x = if select[p][at] {
                all[at] >> 32
            } else {
                all[at]
            } as u32;
            f(if neg[p][at] { x ^ 0x8000_0000 } else { x })
        };
        type Three = fn(f64, f64, f64) -> f64;
        let all: [(&str, &'static str, &'static str, Three); 3] = [
            ("v_pk_add_f32", "DD, q0, q1", two, |a, b, _| a + b),
            ("v_pk_mul_f32", "DD, q0, q1", two, |a, b, _| a * b),
            ("v_pk_fma_f32", "DD, q0, q1, q2", three, fused),
        ];
        for (name, operands, tail, function) in all {
            // Pairs of floats: the columns of f64 have specials in their high words, those of
            // integers in both.
            for operands in [
                operands,
                if operands.len() > 10 {
                    "DD, d0, d1, d2"
                } else {
                    "DD, d0, d1"
                },
            ] {
                let model = op(move |all, _| {
                    let part = |p: usize| {
                        let [a, b, c] = [0, 1, 2].map(|at| word(all, p, at));
                        let result = function(a, b, c);
                        u64::from(f32_bits(match tail {
                            " clamp" => clamp(result),
                            _ => result,
                        }))
                    };
                    (part(0) | part(1) << 32, false)
                });
                push(t, name, operands, tail, pair, model);
            }
        }
    }
    for (tail, [first, second]) in [
        ("", [0, 0]),
        (" op_sel:[1,0]", [32, 0]),
        (" op_sel:[0,1]", [0, 32]),
        (" op_sel:[1,1]", [32, 32]),
    ] {
        let moved = op(move |[a, b, _], _| {
            (
                (a >> first) & 0xffff_ffff | (b >> second & 0xffff_ffff) << 32,
                false,
            )
        });
        push(
            t,
            "v_pk_mov_b32",
            "DD, q0, q1",
            tail,
            (Kind::Bits, 64),
            moved,
        );
    }
}

/// f32 sums whose operands are halves where `op_sel_hi` says so, the high ones where `op_sel` does.
fn mixed(t: &mut Table) {
    let forms: [(&'static str, &'static str, [u8; 3]); 4] = [
        ("D, f0, f1, f2", "", [0, 0, 0]),
        ("D, h0, f1, f2", " op_sel_hi:[1,0,0]", [1, 0, 0]),
        (
            "D, f0, h1, h2",
            " op_sel:[0,1,0] op_sel_hi:[0,1,1]",
            [0, 2, 1],
        ),
        (
            "D, h0, h1, h2",
            " op_sel:[1,0,1] op_sel_hi:[1,1,1]",
            [2, 1, 2],
        ),
    ];
    for (operands, tail, which) in forms {
        for signs in [false, true] {
            let value = move |x: u64, which: u8| match which {
                0 => f(x as u32),
                1 => h(x as u32),
                _ => h((x >> 16) as u32),
            };
            let sum = move |all: [u64; 3]| {
                let mut values = [0, 1, 2].map(|at| value(all[at], which[at]));
                if signs {
                    values = [-values[0], values[1].abs(), -values[2].abs()];
                }
                let [a, b, c] = values;
                f32_bits(fused(a, b, c))
            };
            let operands: &'static str = match (signs, operands) {
                (false, operands) => operands,
                (_, "D, f0, f1, f2") => "D, -f0, |f1|, -|f2|",
                (_, "D, h0, f1, f2") => "D, -h0, |f1|, -|f2|",
                (_, "D, f0, h1, h2") => "D, -f0, |h1|, -|h2|",
                _ => "D, -h0, |h1|, -|h2|",
            };
            let read = move |lane: &Lane<'_>| {
                let tuple = lane.tuple();
                [0, 1, 2].map(|at| match which[at] {
                    0 => u64::from(tuple.f[at]),
                    _ => u64::from(tuple.h[at]),
                })
            };
            t.case(
                format!("v_fma_mix_f32 {operands}{tail}"),
                Kind::F32,
                move |lane| After {
                    value: lane.tuple().old & !0xffff_ffff | u64::from(sum(read(lane))),
                    mask: false,
                },
            );
            // The f32 sum is rounded again.
            t.case(
                format!("v_fma_mixlo_f16 {operands}{tail}"),
                Kind::F16,
                move |lane| After {
                    value: lane.tuple().old & !0xffff | u64::from(f16_bits(f(sum(read(lane))))),
                    mask: false,
                },
            );
            t.case(
                format!("v_fma_mixhi_f16 {operands}{tail}"),
                Kind::F16,
                move |lane| After {
                    value: lane.tuple().old & !0xffff_0000
                        | u64::from(f16_bits(f(sum(read(lane))))) << 16,
                    mask: false,
                },
            );
        }
    }
    t.case("v_fma_mix_f32 D, f0, f1, f2 clamp", Kind::F32, |lane| {
        let [a, b, c] = lane.tuple().f.map(f);
        let sum = f(f32_bits(fused(a, b, c)));
        let clamped = if sum > 0.0 { sum.min(1.0) } else { 0.0 };
        low(lane.tuple().old, f32_bits(clamped))
    });
}

/// v[8:9] with another low register.
fn low(old: u64, low: u32) -> After {
    After {
        value: old & !0xffff_ffff | u64::from(low),
        mask: false,
    }
}
