//! The mode FP16_OVFL: results past the largest number of their format become it, infinities of
//! sources stay.

use tilefold_sim::{Arg, CodeObject, Launch, Simulator};

use crate::differential::numbers::{f, f16_bits, f32_bits, fused, h};
use crate::{Bytes, Numbers, build, words};

const CHIPS: [&str; 4] = ["gfx1100", "gfx1151", "gfx1201", "gfx950"];

/// What the mode makes of an f16.
fn limited(value: f64, infinite: bool) -> u32 {
    let bits = f16_bits(value);
    match bits & 0x7fff == 0x7c00 && !infinite {
        true => bits & 0x8000 | 0x7bff,
        false => bits,
    }
}

fn word(numbers: &mut Numbers) -> u32 {
    const SPECIAL: [u32; 8] = [0x7bff, 0xfbff, 0x7c00, 0xfc00, 0, 0x8000, 0x7e00, 0x3c00];
    let random = numbers.next();
    let pick = numbers.next();
    match pick % 4 {
        // An f32 around the largest f16.
        0 => random & 0x807f_ffff | (127 + 14 + pick / 4 % 4) << 23,
        1 => match pick / 8 % 3 {
            0 => 0x7f80_0000 | random & 1 << 31,
            1 => 0x477f_efff + (random & 1),
            _ => 0x3f80_0000,
        },
        // Two f16, some of which are large.
        2 => random | 0x7000_7000,
        _ => SPECIAL[pick as usize / 4 % 8] | SPECIAL[random as usize % 8] << 16,
    }
}

/// The registers that a body leaves in v4 to v9, of each item.
fn run(object: &CodeObject, inputs: &[u32]) -> Vec<[u32; 6]> {
    let mut simulator = Simulator::new();
    let x = simulator.memory.alloc_input(&inputs.bytes());
    let y = simulator.memory.alloc_output(inputs.len() / 2 * 24);
    let launch = Launch {
        grid: [inputs.len() as u32 / 128, 1, 1],
        block: [64, 1, 1],
        args: vec![Arg::Buffer(x), Arg::Buffer(y)],
        ..Launch::default()
    };
    let report = simulator.launch(object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let out = words(&simulator.memory.read(y));
    let (items, _) = out.as_chunks::<6>();
    items.to_vec()
}

/// A kernel of such a body, which finds two words of its item in v2 and v3; the mode is on by the
/// descriptor, or not.
fn kernel(chip: &str, wave: usize, body: &str, on: bool) -> CodeObject {
    kernel_with(chip, wave, body, on, "")
}

/// What a descriptor says where output scales count.
const SCALES: &str = ".amdhsa_float_denorm_mode_16_64 0\n.amdhsa_ieee_mode 0\n";

/// The same with more in its descriptor.
fn kernel_with(chip: &str, wave: usize, body: &str, on: bool, more: &str) -> CodeObject {
    let gfx9 = chip == "gfx950";
    let mut lines = vec![
        "s_load_dwordx4 s[4:7], s[0:1], 0x0".to_owned(),
        "v_and_b32 v0, 0x3ff, v0".into(),
        match chip {
            "gfx1201" => "s_lshl_b32 s8, ttmp9, 6",
            _ => "s_lshl_b32 s8, s2, 6",
        }
        .into(),
        "v_or_b32 v0, s8, v0".into(),
        "v_lshlrev_b32 v1, 3, v0\nv_mul_u32_u24 v10, 24, v0".into(),
        "{scalar}\nglobal_load_dwordx2 v[2:3], v1, s[4:5]\n{load}".into(),
        "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_mov_b32 v6, 0\nv_mov_b32 v7, 0".into(),
        "v_mov_b32 v8, 0\nv_mov_b32 v9, 0".into(),
        body.to_owned(),
        "global_store_dwordx4 v10, v[4:7], s[6:7]".into(),
        "global_store_dwordx2 v10, v[8:9], s[6:7] offset:16".into(),
    ];
    for line in &mut lines {
        if !gfx9 {
            *line = line.replace("dwordx2", "b64").replace("dwordx4", "b128");
        }
    }
    let mode = format!(".amdhsa_fp16_overflow {}", u32::from(on));
    let workgroup = ".amdhsa_system_sgpr_workgroup_id_x 1";
    // RDNA 4 has no such mode.
    let more = match chip {
        "gfx1201" => more.replace(".amdhsa_ieee_mode 0\n", ""),
        _ => more.to_owned(),
    };
    let place = ".amdhsa_float_denorm_mode_32 3\n";
    let source = build::kernel_source(chip, &lines.join("\n"))
        .replace(place, &format!("{place}{mode}\n{workgroup}\n{more}"));
    let mut flags = vec![];
    let source = match wave == 64 && !gfx9 {
        true => {
            flags.push("-mwavefrontsize64");
            source
                .replace(".amdhsa_wavefront_size32 1", ".amdhsa_wavefront_size32 0")
                .replace(".wavefront_size: 32", ".wavefront_size: 64")
        }
        false => source,
    };
    let elf = build::assemble_with(chip, &source, &flags);
    CodeObject::load(&elf).expect("clang's output loads")
}

#[test]
fn halves_are_limited() {
    let mut numbers = Numbers(77);
    let inputs = Vec::from_iter((0..2 * 64 * 64).map(|_| word(&mut numbers)));
    for (chip, wave) in CHIPS
        .map(|chip| [(chip, 32), (chip, 64)])
        .concat()
        .into_iter()
        .filter(|&(chip, wave)| chip != "gfx950" || wave == 64)
    {
        let body = "v_mul_f16 v4, v2, v3\nv_pk_add_f16 v5, v2, v3\nv_cvt_f16_f32 v6, v2\n\
             v_fma_mixlo_f16 v7, v2, v3, 0\nv_fma_mixhi_f16 v7, v2, v3, v3\nv_rcp_f16 v8, v2\n\
             v_fma_f16 v9, v2, v3, v2";
        for on in [true, false] {
            let got = run(&kernel(chip, wave, body, on), &inputs);
            let mut met = [0; 6];
            for (pair, got) in inputs.chunks(2).zip(got) {
                let (a, b) = (pair[0], pair[1]);
                let [x, y] = [a, b].map(|word| [h(word & 0xffff), h(word >> 16)]);
                let [u, v] = [f(a), f(b)];
                let any = |values: &[f64]| values.iter().any(|value| value.is_infinite()) || !on;
                let half = |value: f64, sources: &[f64]| limited(value, any(sources));
                // Rounded to f32 before.
                let mixed = |u, v, c| half(f(f32_bits(fused(u, v, c))), &[u, v]);
                let expected = [
                    half(x[0] * y[0], &[x[0], y[0]]),
                    half(x[0] + y[0], &[x[0], y[0]]) | half(x[1] + y[1], &[x[1], y[1]]) << 16,
                    half(u, &[u]),
                    mixed(u, v, 0.0) | mixed(u, v, v) << 16,
                    // At most a unit off, which shows nowhere near the largest number.
                    half(1.0 / x[0], &[if x[0] == 0.0 { f64::INFINITY } else { 0.0 }]),
                    half(fused(x[0], y[0], x[0]), &[x[0], y[0]]),
                ];
                for at in 0..6 {
                    let what = format!("{chip} {wave} {on} {a:#x} {b:#x} {at}");
                    if at == 4 && got[at] & 0x7fff < 0x7bff {
                        assert!(expected[at] & 0x7fff < 0x7bff, "{what}");
                        continue;
                    }
                    for shift in [0, 16] {
                        let [got, expected] =
                            [got[at], expected[at]].map(|word| word >> shift & 0xffff);
                        met[at] += u32::from(got & 0x7fff == 0x7bff);
                        let nan = h(got).is_nan() && h(expected).is_nan();
                        assert!(nan || got == expected, "{what}: {got:#x} {expected:#x}");
                    }
                }
            }
            assert!(
                !on || [0, 1, 2, 3, 5].iter().all(|&at| met[at] > 100) && met[4] > 0,
                "{met:?}"
            );
        }
    }
}

#[test]
fn the_mode_can_be_set() {
    for chip in CHIPS {
        let mode = match chip {
            "gfx1201" => "HW_REG_WAVE_MODE",
            _ => "HW_REG_MODE",
        };
        let body = format!(
            "v_mul_f16 v4, v2, v2\ns_setreg_imm32_b32 hwreg({mode}, 23, 1), 1\n\
             v_mul_f16 v5, v2, v2\ns_setreg_imm32_b32 hwreg({mode}, 23, 1), 0\n\
             v_mul_f16 v6, v2, v2"
        );
        let got = run(&kernel(chip, 64, &body, false), &[0x7bff; 128]);
        assert_eq!(got[5][..3], [0x7c00, 0x7bff, 0x7c00], "{chip}");
    }
}

#[test]
fn infinities_of_divisions_by_zero_stay() {
    // A numerator and a denominator.
    let inputs = [0x3c00, 0, 0xbc00, 0].repeat(32);
    for chip in CHIPS {
        let body = "v_div_fixup_f16 v4, v2, v3, v2\nv_rsq_f16 v5, v3\nv_log_f16 v6, v3\n\
                    v_rcp_f16 v7, v3";
        let got = run(&kernel(chip, 64, body, true), &inputs);
        assert_eq!(got[0][..4], [0x7c00, 0x7c00, 0xfc00, 0x7c00], "{chip}");
        assert_eq!(got[1][..4], [0xfc00, 0x7c00, 0xfc00, 0x7c00], "{chip}");
    }
}

#[test]
fn scaled_halves_are_limited() {
    // 32,768, its negative, infinity and the largest number that is not too large, times one.
    let inputs = [
        0x7800, 0x3c00, 0xf800, 0x3c00, 0x7c00, 0x3c00, 0x77ff, 0x3c00,
    ]
    .repeat(16);
    for chip in CHIPS {
        for on in [true, false] {
            let got = run(
                &kernel_with(chip, 64, "v_mul_f16_e64 v4, v2, v3 mul:2", on, SCALES),
                &inputs,
            );
            let beyond = if on { 0x7bff } else { 0x7c00 };
            let expected = [beyond, beyond | 0x8000, 0x7c00, 0x7bff];
            for (got, expected) in got.iter().zip(expected.into_iter().cycle()) {
                assert_eq!(got[0], expected, "{chip} {on}");
            }
        }
    }
}

#[test]
fn bytes_are_limited() {
    // 1e6, infinity, a NaN, and 1.
    let inputs = [0x4974_2400, 0x7f80_0000, 0x7fc0_0000, 0x3f80_0000].repeat(32);
    let body = "v_cvt_pk_fp8_f32 v4, v2, v3\nv_cvt_pk_bf8_f32 v5, v2, v3\n";
    let scaled = "v_mov_b32 v11, 1.0\nv_cvt_scalef32_pk_fp8_f32 v6, v2, v3, v11\n\
                  v_cvt_scalef32_pk_bf8_f32 v7, v2, v3, v11\n\
                  v_cvt_pk_f16_f32 v8, v2, v3";
    for chip in ["gfx1201", "gfx950"] {
        let body = match chip {
            "gfx950" => format!("{body}{scaled}"),
            _ => body.to_owned(),
        };
        for on in [true, false] {
            let got = run(&kernel(chip, 64, &body, on), &inputs);
            let [fp8, bf8] = if on { [0x7e, 0x7b] } else { [0x7f, 0x7c] };
            let expected = [
                [fp8 * 0x101, bf8 * 0x101],
                [0x7f | 0x38 << 8, 0x7f | 0x3c << 8],
            ];
            for (got, expected) in got.iter().zip(expected) {
                assert_eq!(got[..2], expected, "{chip} {on}");
                if chip == "gfx950" {
                    assert_eq!(got[2..4], expected, "{chip} {on}");
                }
            }
            if chip == "gfx950" {
                // The infinity of a source stays.
                let half = if on { 0x7bff } else { 0x7c00 };
                assert_eq!(got[0][4], half | 0x7c00 << 16, "{on}");
                assert_eq!(got[1][4] >> 16, 0x3c00, "{on}");
            }
        }
    }
}

#[test]
fn matrix_products_are_limited() {
    let registers = |value: &str, range: std::ops::Range<u32>| {
        Vec::from_iter(range.map(|at| format!("v_mov_b32 v{at}, {value}\n"))).concat()
    };
    for (chip, wave) in [("gfx1100", 32), ("gfx1201", 32), ("gfx1201", 64)] {
        // 256 x 256 sixteen times, added to 1 and to infinity.
        let body = registers("0x5c005c00", 20..36)
            + &registers("0x3c003c00", 40..48)
            + &registers("0x7c007c00", 50..58);
        let (a, b, c, d) = match (chip, wave) {
            ("gfx1100", _) => ("v[20:27]", "v[28:35]", "v[40:47]", "v[50:57]"),
            (_, 32) => ("v[20:23]", "v[28:31]", "v[40:43]", "v[50:53]"),
            _ => ("v[20:21]", "v[28:29]", "v[40:41]", "v[50:51]"),
        };
        let body = body
            + &format!("v_wmma_f16_16x16x16_f16 {c}, {a}, {b}, {c}\n")
            + "v_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\n"
            + &format!("v_wmma_f16_16x16x16_f16 {d}, {a}, {b}, {d}\n")
            + "v_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\nv_nop\n"
            + "v_and_b32 v4, 0xffff, v40\nv_and_b32 v5, 0xffff, v50";
        for (on, expected) in [(true, [0x7bff, 0x7c00]), (false, [0x7c00, 0x7c00])] {
            for got in run(&kernel(chip, wave, &body, on), &[0; 128]) {
                assert_eq!(got[..2], expected, "{chip} {wave} {on}");
            }
        }
    }
    // The largest f32 is doubled and 2^31 - 1 is counted on; the same negative.
    let body = registers("0x7f7fffff", 20..21)
        + &registers("2.0", 21..22)
        + &registers("0", 32..36)
        + &registers("0x1010101", 22..24)
        + &registers("-1", 24..26)
        + &registers("0x7fffffff", 36..40)
        + &registers("0x80000000", 40..44)
        + "s_nop 4\nv_mfma_f32_4x4x1_16b_f32 v[32:35], v20, v21, v[32:35]\n\
           v_mfma_i32_16x16x32_i8 v[36:39], v[22:23], v[22:23], v[36:39]\n\
           v_mfma_i32_16x16x32_i8 v[40:43], v[22:23], v[24:25], v[40:43]\n\
           s_nop 15\ns_nop 15\nv_mov_b32 v4, v32\nv_mov_b32 v5, v36\nv_mov_b32 v6, v40";
    for (on, expected) in [
        (true, [0x7f7f_ffff, 0x7fff_ffff, 0x8000_0000]),
        (false, [0x7f80_0000, 0x8000_001f, 0x7fff_ffe0]),
    ] {
        for got in run(&kernel("gfx950", 64, &body, on), &[0; 128]) {
            assert_eq!(got[..3], expected, "{on}");
        }
    }
}
