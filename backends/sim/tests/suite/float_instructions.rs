//! Floats and halves against models written for the tests alone, and LLVM's divisions.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::instructions::{BOTH, Model, b, check, check_all, execute, f, samples};
use crate::{Bytes, build, words};

/// The sum of a product and a number, rounded once to f32: exact in 128-bit integers scaled by the
/// smallest exponents, for finite sources.
fn fused(a: f32, b: f32, c: f32) -> f32 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return a * b + c;
    }
    // Rust's own, which the host or its library computes.
    a.mul_add(b, c)
}

#[test]
fn floats() {
    let table: &[(&str, Model)] = &[
        ("v_add_f32 v0, v1, v2", |a, c, _| b(f(a) + f(c))),
        ("v_add_f32 v0, -v1, |v2|", |a, c, _| b(f(c).abs() - f(a))),
        ("v_sub_f32 v0, v1, v2", |a, c, _| b(f(a) - f(c))),
        ("v_mul_f32 v0, 0.15915494, v2", |_, c, _| {
            b(f(c) * 0.159_154_94)
        }),
        ("v_mul_f32 v0, v1, v2", |a, c, _| b(f(a) * f(c))),
        ("v_mul_f32_e64 v0, v1, v2 clamp", |a, c, _| {
            let x = f(a) * f(c);
            b(if x > 1.0 {
                1.0
            } else if x > 0.0 {
                x
            } else {
                0.0
            })
        }),
        // Denormal results are kept, so that the scale is ignored.
        ("v_add_f32_e64 v0, v1, v2 mul:2", |a, c, _| b(f(a) + f(c))),
        ("v_fma_f32 v0, v1, v2, v3", |x, y, z| {
            b(fused(f(x), f(y), f(z)))
        }),
        ("v_fma_f32 v0, v1, -v2, 1.0", |x, y, _| {
            b(fused(f(x), -f(y), 1.0))
        }),
        ("v_fmac_f32 v0, v1, v2", |x, y, z| {
            b(fused(f(x), f(y), f(z)))
        }),
        ("v_cvt_f32_i32 v0, v1", |a, _, _| b(a as i32 as f32)),
        ("v_cvt_f32_u32 v0, v1", |a, _, _| b(a as f32)),
        ("v_rndne_f32 v0, v1", |a, _, _| b(f(a).round_ties_even())),
        ("v_rcp_f32 v0, v1", |a, _, _| {
            let flush = |x: f32| {
                if x.is_subnormal() {
                    0.0_f32.copysign(x)
                } else {
                    x
                }
            };
            b(flush(1.0 / flush(f(a))))
        }),
    ];
    for chip in BOTH {
        check_all(chip, table, true);
        let (max, med) = match chip {
            "gfx1201" => ("v_max_num_f32", "v_med3_num_f32"),
            _ => ("v_max_f32", "v_med3_f32"),
        };
        check(chip, &format!("{max} v0, v1, v2"), true, |a, c, _| {
            match (f(a), f(c)) {
                (x, y) if x.is_nan() => b(y),
                (x, y) if y.is_nan() => b(x),
                (x, y) if x == 0.0 && y == 0.0 => a & c,
                (x, y) => b(if x < y { y } else { x }),
            }
        });
        check(
            chip,
            &format!("{med} v0, v1, 0, 1.0"),
            true,
            |a, _, _| match f(a) {
                x if x.is_nan() || x <= 0.0 => 0,
                x => b(if x > 1.0 { 1.0 } else { x }),
            },
        );
        check(chip, "v_cvt_i32_f32 v0, v1", false, |a, _, _| {
            let x = f64::from(f(a)).trunc();
            if x.is_nan() {
                0
            } else {
                x.clamp(-2_147_483_648.0, 2_147_483_647.0) as i64 as u32
            }
        });
        check(chip, "v_cvt_u32_f32 v0, v1", false, |a, _, _| {
            let x = f64::from(f(a)).trunc();
            if x.is_nan() {
                0
            } else {
                x.clamp(0.0, 4_294_967_295.0) as u64 as u32
            }
        });
        // Sum of f16 and f32 in one: the low half of v1, the high half of v2, all of v3.
        let text = "v_fma_mix_f32 v0, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[1,1,0]";
        check(chip, text, true, |x, y, z| {
            let half = |bits: u16| half::f16::from_bits(bits).to_f32();
            b(fused(half(x as u16), half((y >> 16) as u16), f(z)))
        });
    }
}

#[test]
fn halves() {
    use half::f16;
    let h = |bits: u32| f16::from_bits(bits as u16);
    let same = |got: u32, expected: f16| {
        got as u16 == expected.to_bits() || h(got).is_nan() && expected.is_nan()
    };
    for chip in BOTH {
        for ([a, _, c], [got, ..]) in execute(chip, "v_cvt_f16_f32 v0, v1") {
            // The other half stays.
            assert!(
                same(got, f16::from_f32(f(a))) && got >> 16 == c >> 16,
                "{chip} {a:#x} {got:#x}"
            );
        }
        for ([a, y, _], [got, ..]) in execute(chip, "v_mul_f16 v0, v1, v2") {
            let expected = f16::from_f64(h(a).to_f64() * h(y).to_f64());
            assert!(same(got, expected), "{chip} {a:#x} {y:#x} {got:#x}");
        }
        for ([x, y, z], [got, ..]) in execute(chip, "v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[0,1,1]")
        {
            for part in 0..2 {
                let at = |bits: u32| h(bits >> (16 * part)).to_f64();
                // f64 is wide enough for these unless the addend is far away; then it decides.
                let expected = f16::from_f64(h(x).to_f64() * at(y) + at(z));
                assert!(
                    same(got >> (16 * part), expected),
                    "{chip} {x:#x} {y:#x} {z:#x} {got:#x}"
                );
            }
        }
        for ([a, y, _], [got, ..]) in execute(chip, "v_cvt_pk_rtz_f16_f32 v0, v1, v2") {
            for (bits, input) in [(got, a), (got >> 16, y)] {
                let near = f16::from_f32(f(input));
                let over = f64::from(near.to_f32()).abs() > f64::from(f(input)).abs();
                let expected = match over {
                    true => f16::from_bits(near.to_bits() - 1),
                    false => near,
                };
                assert!(same(bits, expected), "{chip} {input:#x} {bits:#x}");
            }
        }
        for ([a, y, _], [got, ..]) in execute(chip, "v_pack_b32_f16 v0, v1, v2") {
            assert_eq!(got, (a & 0xffff) | y << 16, "{chip}");
        }
    }
}

#[test]
fn division_and_root() {
    // LLVM's expansions of a correctly rounded division and root, by scales and fused steps.
    const SOURCE: &str = "
kernel void divide(global const float *x, global const float *y, global float *z) {
    int i = get_local_id(0);
    z[i] = x[i] / y[i];
    z[i + 32] = __builtin_sqrtf(x[i]);
}";
    for chip in BOTH {
        let object = build::compile_with(chip, SOURCE, &["-cl-fp32-correctly-rounded-divide-sqrt"]);
        for seed in 0..20 {
            let (x, y) = (samples(seed), samples(seed + 100));
            let mut simulator = Simulator::new();
            let a = simulator.memory.alloc_input(&x.bytes());
            let d = simulator.memory.alloc_input(&y.bytes());
            let z = simulator.memory.alloc_output(256);
            let launch = Launch {
                block: [32, 1, 1],
                args: vec![Arg::Buffer(a), Arg::Buffer(d), Arg::Buffer(z)],
                ..Launch::default()
            };
            let report = simulator.launch(&object, "divide", launch).unwrap();
            assert!(report.passed(), "{chip}: {:#?}", report.findings);
            let got = words(&simulator.memory.read(z));
            for lane in 0..32 {
                let (x, y) = (f(x[lane]), f(y[lane]));
                for (got, expected) in [(got[lane], x / y), (got[lane + 32], x.sqrt())] {
                    let nan = f(got).is_nan() && expected.is_nan();
                    assert!(
                        got == b(expected) || nan,
                        "{chip} {x:e} {y:e}: {:e}, {expected:e}",
                        f(got)
                    );
                }
            }
        }
    }
}
