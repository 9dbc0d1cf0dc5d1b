//! Pairs of registers, conversions and f64 steps of gfx950 against models written for the tests
//! alone.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::cdna_execute::{LANES, check_pair, high, low, of};
use crate::{Numbers, build};

#[test]
fn pairs_of_registers() {
    let copy = "v_mov_b32 v14, v2\nv_mov_b32 v15, v3\nv_mov_b32 v16, v1\nv_mov_b32 v17, v2\n";
    let done = "\nv_mov_b32 v0, v12\nv_mov_b32 v10, v13";
    let with = |text: &str| format!("{copy}{text}{done}");
    let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    check_pair(
        &with("v_lshl_add_u64 v[12:13], v[14:15], 3, v[16:17]"),
        |a, b, c| (wide(b, c) << 3).wrapping_add(wide(a, b)),
    );
    check_pair(&with("v_mov_b64 v[12:13], v[14:15]"), |_, b, c| wide(b, c));
    check_pair(&with("v_mov_b64 v[12:13], -1"), |_, _, _| u64::MAX);
    check_pair(
        &with("v_pk_mov_b32 v[12:13], v[14:15], v[16:17] op_sel:[1,0]"),
        |a, _, c| wide(c, a),
    );
    check_pair(
        &with("v_pk_mov_b32 v[12:13], v[14:15], v[16:17] op_sel:[0,1]"),
        |_, b, _| wide(b, b),
    );
    check_pair(
        &with("v_mad_u64_u32 v[12:13], s[20:21], v1, v2, v[14:15]"),
        |a, b, c| (u128::from(a) * u128::from(b) + u128::from(wide(b, c))) as u64,
    );
    check_pair(&with("v_lshlrev_b64 v[12:13], v1, v[14:15]"), |a, b, c| {
        (u128::from(wide(b, c)) << (a % 64)) as u64
    });
    let quiet = |value: f32, a: u32, b: u32| {
        let nan = |bits: u32| f32::from_bits(bits).is_nan();
        match (nan(a), nan(b)) {
            (true, _) => a | 0x40_0000,
            (_, true) => b | 0x40_0000,
            _ if value.is_nan() => 0x7fc0_0000,
            _ => value.to_bits(),
        }
    };
    let add = |a: u32, b: u32| quiet(f32::from_bits(a) + f32::from_bits(b), a, b);
    let times = |a: u32, b: u32| quiet(f32::from_bits(a) * f32::from_bits(b), a, b);
    check_pair(
        &with("v_pk_add_f32 v[12:13], v[14:15], v[16:17]"),
        |a, b, c| wide(add(b, a), add(c, b)),
    );
    let crossed = "v_pk_mul_f32 v[12:13], v[14:15], v[16:17] op_sel:[0,1] op_sel_hi:[1,0]";
    check_pair(&with(crossed), |a, b, c| wide(times(b, b), times(c, a)));
    // Of a constant the low register is the number and the high one nothing.
    check_pair(&with("v_pk_mul_f32 v[12:13], v[14:15], 2.0"), |_, b, c| {
        wide(times(b, 2_f32.to_bits()), times(c, 0))
    });
    check_pair(
        &with("v_pk_mul_f32 v[12:13], v[14:15], 2.0 op_sel_hi:[1,0]"),
        |_, b, c| wide(times(b, 2_f32.to_bits()), times(c, 2_f32.to_bits())),
    );
}

#[test]
fn conversions() {
    // Rounds the high half to nearest even in integers.
    let bf16 = |bits: u32| {
        if f32::from_bits(bits).is_nan() {
            return None;
        }
        let (whole, rest) = (bits / 0x1_0000, bits % 0x1_0000);
        Some(whole + u32::from(rest > 0x8000 || rest == 0x8000 && whole % 2 == 1))
    };
    for run in of("v_cvt_pk_bf16_f32 v0, v1, v2\nv_cvt_f32_bf16 v10, v1") {
        for lane in 0..LANES {
            let [a, b, _] = [0, 1, 2].map(|source| run.inputs[source][lane]);
            for (source, got) in [(a, low(run.v0[lane])), (b, high(run.v0[lane]))] {
                match bf16(source) {
                    Some(expected) => assert_eq!(got, expected, "{source:#x}"),
                    None => assert!(f32::from_bits(got << 16).is_nan(), "{source:#x}"),
                }
            }
            let expected = f32::from_bits(low(a) * 0x1_0000);
            let got = f32::from_bits(run.v10[lane]);
            assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan());
        }
    }
    for run in of("v_cvt_pk_f16_f32 v0, v1, v2") {
        for lane in 0..LANES {
            for (source, got) in [(0, low(run.v0[lane])), (1, high(run.v0[lane]))] {
                let expected = half::f16::from_f32(f32::from_bits(run.inputs[source][lane]));
                let got = half::f16::from_bits(got as u16);
                assert!(got == expected || got.is_nan() && expected.is_nan());
            }
        }
    }
}

#[test]
fn divisions_and_roots_of_doubles() {
    let source = "
        #pragma OPENCL EXTENSION cl_khr_fp64 : enable
        kernel void k(global const double *x, global const double *y, global double *z) {
            int i = get_local_id(0);
            z[i] = x[i] / y[i];
            z[i + 64] = __builtin_fmax(x[i], y[i]);
            z[i + 128] = __builtin_floor(x[i]) + __builtin_ceil(y[i]);
            z[i + 192] = __builtin_amdgcn_frexp_mant(x[i]);
            z[i + 256] = __builtin_amdgcn_frexp_exp(x[i]);
        }";
    let object = build::compile("gfx950", source);
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        3.0,
        1e300,
        1e-300,
        5e-324,
        2.2e-308,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
        1e-310,
        7.0,
        -1e200,
        0.1,
    ];
    let mut numbers = Numbers(3);
    let mut draw = |lane: usize| match lane % 4 {
        0 | 1 => special[numbers.next() as usize % special.len()],
        _ => f64::from(numbers.next() as i32) / 1024.0,
    };
    let x: Vec<f64> = (0..64).map(&mut draw).collect();
    let y: Vec<f64> = (0..64).map(|lane| draw(lane / 2)).collect();
    let bytes = |values: &[f64]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&bytes(&x));
    let b = simulator.memory.alloc_input(&bytes(&y));
    let c = simulator.memory.alloc_output(8 * 320);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::Buffer(c)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let z: Vec<f64> = simulator
        .memory
        .read(c)
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let same = |got: f64, expected: f64| got == expected || got.is_nan() && expected.is_nan();
    for i in 0..64 {
        let (x, y) = (x[i], y[i]);
        // A quotient that is itself denormal is rounded twice; all others are exact to the bit.
        let quotient = x / y;
        if !quotient.is_subnormal() {
            assert!(
                same(z[i], quotient),
                "{x:e} / {y:e}: {:e}, not {quotient:e}",
                z[i]
            );
        }
        assert!(same(z[i + 64], x.max(y)), "max {x} {y}");
        assert!(same(z[i + 128], x.floor() + y.ceil()));
        if x.is_finite() && x != 0.0 {
            let (mantissa, exponent) = (z[i + 192], z[i + 256] as i32);
            assert!((0.5..1.0).contains(&mantissa.abs()), "{x:e}");
            // Two steps, since 2^exponent may be below the normal numbers.
            let half = exponent / 2;
            let value = mantissa * 2_f64.powi(half) * 2_f64.powi(exponent - half);
            assert_eq!(value, x);
        }
    }
}
