//! Hardware registers, the modes of a wave and the time.

use tilefold_sim::{Arg, Check, CodeObject, Error, Launch, Report, Simulator};

use crate::{Bytes, build, floats, words};

fn run(object: &CodeObject, block: u32) -> (Report, Vec<u32>) {
    let mut simulator = Simulator::new();
    let out = simulator.memory.alloc_output(64);
    let launch = Launch {
        block: [block, 1, 1],
        args: [out; 3].map(Arg::Buffer).to_vec(),
        ..Launch::default()
    };
    let report = simulator.launch(object, "k", launch).unwrap();
    (report, words(&simulator.memory.read(out)))
}

const CHIPS: [&str; 4] = ["gfx1100", "gfx1151", "gfx1201", "gfx950"];

#[test]
fn the_mode_is_what_was_set() {
    for chip in CHIPS {
        let mode = match chip {
            "gfx1201" => "HW_REG_WAVE_MODE",
            _ => "HW_REG_MODE",
        };
        let store = match chip {
            "gfx950" => "global_store_dwordx4 v0, v[2:5], s[4:5]",
            _ => "global_store_b128 v0, v[2:5], s[4:5]",
        };
        let load = match chip {
            "gfx950" => "s_load_dwordx2 s[4:5], s[0:1], 0x0",
            _ => "s_load_b64 s[4:5], s[0:1], 0x0",
        };
        // The assembler's defaults: f32 denormals kept by the kernel's own descriptor, others too.
        let body = format!(
            "{load}\ns_getreg_b32 s8, hwreg({mode}, 0, 8)\n\
             s_setreg_imm32_b32 hwreg({mode}, 4, 4), 9\ns_getreg_b32 s9, hwreg({mode}, 4, 4)\n\
             s_getreg_b32 s10, hwreg({mode}, 0, 4)\ns_getreg_b32 s11, hwreg({mode}, 7, 17)\n\
             v_mov_b32 v0, 0\nv_mov_b32 v2, s8\nv_mov_b32 v3, s9\nv_mov_b32 v4, s10\n\
             v_mov_b32 v5, s11\n{{scalar}}\n{store}"
        );
        let (report, out) = run(&build::kernel(chip, &body), 1);
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        // Before RDNA 4 the assembler also asks for DX10_CLAMP and IEEE mode.
        let above = if chip == "gfx1201" { 1 } else { 7 };
        assert_eq!(out[..4], [0xf0, 9, 0, above], "{chip}");
    }
}

#[test]
fn waves_are_dealt_to_the_simds_of_the_first_unit() {
    for chip in CHIPS {
        let (names, simd, wave): (&[&str], u32, u32) = match chip {
            "gfx950" => (&["HW_REG_HW_ID", "HW_REG_XCC_ID"], 4, 6),
            "gfx1201" => (&["HW_REG_WAVE_HW_ID1", "HW_REG_WAVE_HW_ID2"], 8, 5),
            _ => (&["HW_REG_HW_ID1", "HW_REG_HW_ID2"], 8, 5),
        };
        for (name, zero) in names.iter().zip([false, true]) {
            let body = format!(
                "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_getreg_b32 s8, hwreg({name})\n\
                 v_lshrrev_b32 v0, {wave}, v0\nv_lshlrev_b32 v0, 2, v0\nv_mov_b32 v2, s8\n\
                 {{scalar}}\nglobal_store_dword v0, v2, s[4:5]"
            );
            let body = match chip {
                "gfx950" => body,
                _ => body.replace("dwordx2", "b64").replace("dword", "b32"),
            };
            let (report, out) = run(&build::kernel(chip, &body), 16 << wave);
            assert!(report.passed(), "{chip}: {:#?}", report.findings);
            for (at, got) in (0..16).zip(out) {
                let expected = if zero { 0 } else { (at / 4) | (at % 4) << simd };
                assert_eq!(got, expected, "{chip} {name} {at}");
            }
        }
    }
}

/// A kernel with one more line in its descriptor.
fn described(chip: &str, body: &str, line: &str) -> CodeObject {
    let place = ".amdhsa_float_denorm_mode_32 3\n";
    let source = build::kernel_source(chip, body).replace(place, &format!("{place}{line}\n"));
    assert!(source.contains(line), "{source}");
    CodeObject::load(&build::assemble(chip, &source)).expect("clang's output loads")
}

#[test]
fn modes_that_are_not_simulated_are_refused() {
    for chip in CHIPS {
        for (line, reason) in [
            (".amdhsa_float_round_mode_32 1", "another rounding"),
            (".amdhsa_float_round_mode_16_64 3", "another rounding"),
        ] {
            let object = described(chip, "s_nop 0", line);
            let error = Simulator::new().launch(&object, "k", Launch::default());
            let error = error.unwrap_err().to_string();
            assert!(error.contains(reason), "{chip} {line}: {error}");
        }
    }
}

#[test]
fn output_scales_count_outside_ieee_mode() {
    let body = "s_load_b64 s[4:5], s[0:1], 0x0\nv_mov_b32 v0, 0\nv_mov_b32 v1, 1.0\n\
                v_add_f32_e64 v2, v1, v1 mul:4\ns_denorm_mode 12\n\
                v_add_f32_e64 v3, v1, v1 mul:4\nv_mul_f32_e64 v4, -v1, v0 div:2\n\
                v_mul_f32_e64 v5, -v1, v0\n{scalar}\nglobal_store_b128 v0, v[2:5], s[4:5]";
    let (two, eight, minus) = (2_f32.to_bits(), 8_f32.to_bits(), 1 << 31);
    for (chip, line, counts) in [
        ("gfx1100", ".amdhsa_ieee_mode 1", false),
        ("gfx1100", ".amdhsa_ieee_mode 0", true),
        ("gfx1201", ".amdhsa_fp16_overflow 0", true),
    ] {
        let (report, out) = run(&described(chip, body, line), 1);
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        // Not where denormals are kept; a zero that is scaled is positive.
        let expected = match counts {
            true => [two, eight, 0, minus],
            false => [two, two, minus, minus],
        };
        assert_eq!(out[..4], expected, "{chip} {line}");
    }
}

#[test]
fn denormals_are_kept_or_dropped_by_the_mode() {
    // A denormal times 1 and times 4, which is none: of f64, of f16 in pairs, of f32 by a mixed
    // instruction and, on gfx950, in pairs.
    let double = 1_u32 << 19;
    let expected = [
        (double, 1 << 21),
        (0x0200_0200, 0x0800_0800),
        (1 << 22, 2 << 23),
        (1 << 22, 2 << 23),
    ];
    for chip in CHIPS {
        let gfx9 = chip == "gfx950";
        let (load, store) = match gfx9 {
            true => ("s_load_dwordx2", "global_store_dwordx4"),
            false => ("s_load_b64", "global_store_b128"),
        };
        let pairs = |factor: &str| match gfx9 {
            true => format!("v_pk_mul_f32 v[16:17], v[8:9], {factor} op_sel_hi:[1,0]"),
            false => format!("v_fma_mix_f32 v16, v8, {factor}, 0"),
        };
        for mode in 0..4 {
            let set = match gfx9 {
                true => format!("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), {}", mode * 5),
                false => format!("s_denorm_mode {}", mode * 5),
            };
            let part = |half: u32, factor: &str, offset: u32| {
                format!(
                    "v_mov_b32 v7, {half:#x}\nv_mul_f64 v[10:11], v[2:3], {factor}\n\
                     v_pk_mul_f16 v12, v6, v7\nv_fma_mix_f32 v13, v8, {factor}, 0\n{}\n\
                     v_mov_b32 v10, v11\nv_mov_b32 v11, v12\nv_mov_b32 v12, v13\n\
                     v_mov_b32 v13, v16\n{store} v0, v[10:13], s[4:5] offset:{offset}\n\
                     s_nop 1\n",
                    pairs(factor)
                )
            };
            let body = format!(
                "{load} s[4:5], s[0:1], 0x0\nv_mov_b32 v0, 0\nv_mov_b32 v2, 0\n\
                 v_mov_b32 v3, {double}\nv_mov_b32 v6, 0x02000200\nv_mov_b32 v8, 0x400000\n\
                 v_mov_b32 v9, 0\n{set}\n{{scalar}}\n{}{}",
                part(0x3c00_3c00, "1.0", 0),
                part(0x4400_4400, "4.0", 16)
            );
            let (report, out) = run(&build::kernel(chip, &body), 1);
            assert!(report.passed(), "{chip}: {:#?}", report.findings);
            let (inputs, results) = (mode & 1 == 1, mode & 2 == 2);
            for (at, (same, larger)) in expected.into_iter().enumerate() {
                let same = if inputs && results { same } else { 0 };
                let larger = if inputs { larger } else { 0 };
                assert_eq!((out[at], out[at + 4]), (same, larger), "{chip} {mode} {at}");
            }
        }
    }
}

/// Classes tell denormals from zeros in any mode; sums in LDS drop them as other sums do.
#[test]
fn classes_and_sums_in_lds_of_denormals() {
    for chip in CHIPS {
        let gfx9 = chip == "gfx950";
        let (load, store, add) = match gfx9 {
            true => ("s_load_dwordx2", "global_store_dwordx4", "write"),
            false => ("s_load_b64", "global_store_b128", "store"),
        };
        for mode in 0..4 {
            let set = match gfx9 {
                true => format!("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), {}", mode * 5),
                false => format!("s_denorm_mode {}", mode * 5),
            };
            // Positive denormals and positive zeros of three types, as bits of one word.
            let mut body = format!(
                "{load} s[4:5], s[0:1], 0x0\nv_mov_b32 v0, 0\nv_mov_b32 v2, 0\n\
                 v_mov_b32 v3, 1\nv_mov_b32 v4, 5\nv_mov_b32 v10, 0\n{set}\n"
            );
            let tests = [
                ("f32 v4", 128),
                ("f32 v4", 64),
                ("f16 v4", 128),
                ("f16 v4", 64),
            ];
            let tests = tests
                .into_iter()
                .chain([("f64 v[2:3]", 128), ("f64 v[2:3]", 64)]);
            for (bit, (test, class)) in tests.enumerate() {
                let (ty, source) = test.split_once(' ').expect("a type and a source");
                body += &format!(
                    "v_mov_b32 v5, {class}\nv_cmp_class_{ty} vcc{low}, {source}, v5\n\
                     s_nop 4\n{{alu}}\nv_mov_b32 v6, 0\nv_mov_b32 v7, {}\n\
                     v_cndmask_b32 v6, v6, v7, vcc{low}\nv_or_b32 v10, v10, v6\n",
                    1 << bit,
                    low = if gfx9 { "" } else { "_lo" },
                );
            }
            for (register, [x, y]) in [(11, [0x40_0000, 0x40_0000]), (12, [0x20_0000, 0x10_0000])] {
                body += &format!(
                    "v_mov_b32 v5, {x}\nv_mov_b32 v6, {y}\nds_{add}_b32 v0, v5\n{{lds}}\n\
                     ds_add_f32 v0, v6\n{{lds}}\nds_{}_b32 v{register}, v0\n{{lds}}\n",
                    if gfx9 { "read" } else { "load" }
                );
            }
            body += &format!("v_mov_b32 v13, 0\n{{scalar}}\n{store} v0, v[10:13], s[4:5]");
            let body = match gfx9 {
                true => format!("s_mov_b32 m0, -1\n{body}"),
                false => body,
            };
            let (report, out) = run(&build::kernel(chip, &body), 1);
            assert!(report.passed(), "{chip}: {:#?}", report.findings);
            let larger = if mode & 1 == 1 { 0x80_0000 } else { 0 };
            let small = if mode == 3 { 0x30_0000 } else { 0 };
            assert_eq!(out[..3], [0b01_0101, larger, small], "{chip} {mode}");
        }
    }
}

#[test]
fn any_field_of_the_denormal_modes_can_be_set() {
    for chip in CHIPS {
        let (mode, load, store) = match chip {
            "gfx950" => ("HW_REG_MODE", "s_load_dwordx2", "global_store_dwordx4"),
            "gfx1201" => ("HW_REG_WAVE_MODE", "s_load_b64", "global_store_b128"),
            _ => ("HW_REG_MODE", "s_load_b64", "global_store_b128"),
        };
        let body = format!(
            "{load} s[4:5], s[0:1], 0x0\ns_mov_b32 s12, 0x15\n\
             s_setreg_imm32_b32 hwreg({mode}, 4, 4), 0\n\
             s_setreg_imm32_b32 hwreg({mode}, 4, 2), 3\ns_getreg_b32 s8, hwreg({mode}, 0, 8)\n\
             s_setreg_imm32_b32 hwreg({mode}, 7, 1), 1\ns_getreg_b32 s9, hwreg({mode}, 0, 8)\n\
             s_setreg_b32 hwreg({mode}, 5, 3), s12\ns_getreg_b32 s10, hwreg({mode}, 0, 8)\n\
             s_setreg_b32 hwreg({mode}, 4, 2), s12\n\
             s_getreg_b32 s11, hwreg({mode}, 0, 8)\n\
             v_mov_b32 v0, 0\nv_mov_b32 v2, s8\nv_mov_b32 v3, s9\nv_mov_b32 v4, s10\n\
             v_mov_b32 v5, s11\n{{scalar}}\n{store} v0, v[2:5], s[4:5]"
        );
        let (report, out) = run(&build::kernel(chip, &body), 1);
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        assert_eq!(out[..4], [0x30, 0xb0, 0xb0, 0x90], "{chip}");
    }
}

#[test]
fn divisions_that_flush_denormals_run() {
    // LLVM keeps denormals between the scales and the fixup of a division that is right to the last
    // bit.
    const SOURCE: &str = "
kernel void k(global float *z, global const float *x) {
    int i = get_local_id(0);
    z[i] = x[i] / x[i + 8];
}";
    let flags = [
        "-cl-denorms-are-zero",
        "-cl-fp32-correctly-rounded-divide-sqrt",
    ];
    let (x, y) = (
        [1.0, 3.0, -7.0, 1e30, 1e-20, 0.0, 5e-39, 1.0],
        [3.0, 7.0, 11.0, 1e-9, 1e20, 3.0, 1.0, 1e38_f32],
    );
    let expected: Vec<f32> = (0..8)
        .map(|at| {
            let quotient: f32 = match x[at] == 5e-39 {
                true => 0.0,
                false => x[at] / y[at],
            };
            if quotient.is_subnormal() {
                0.0
            } else {
                quotient
            }
        })
        .collect();
    for chip in CHIPS {
        let object = build::compile_with(chip, SOURCE, &flags);
        let mut simulator = Simulator::new();
        let out = simulator.memory.alloc_output(32);
        let input = simulator.memory.alloc_input(&[x, y].concat().bytes());
        let launch = Launch {
            block: [8, 1, 1],
            args: [out, input].map(Arg::Buffer).to_vec(),
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        assert_eq!(floats(&simulator.memory.read(out)), expected, "{chip}");
    }
}

#[test]
fn packed_conversions_drop_denormals_as_single_ones_do() {
    // A denormal of each sign and a number.
    let body = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v0, 0\nv_mov_b32 v6, 0x358637bd\n\
                v_mov_b32 v7, 0xb58637bd\nv_cvt_pk_f16_f32 v2, v6, v7\n\
                s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0\n\
                v_cvt_pk_f16_f32 v3, v6, v7\nv_cvt_pk_f16_f32 v4, v7, 1.0\n\
                v_cvt_f16_f32 v5, v7\n{scalar}\nglobal_store_dwordx4 v0, v[2:5], s[4:5]";
    let (report, out) = run(&build::kernel("gfx950", body), 1);
    assert!(report.passed(), "{:#?}", report.findings);
    assert_eq!(out[..4], [0x8011_0011, 0x8000_0000, 0x3c00_8000, 0x8000]);
}

#[test]
fn a_trap_ends_the_launch_where_it_is_reached() {
    // LLVM puts nothing behind the trap; another kernel of many registers follows in the file.
    const SOURCE: &str = "
kernel void k(global uint *y, int n) {
    if (n == 7) __builtin_trap();
    y[get_local_id(0)] = n;
}
kernel void z(global float *y, global const float *x) {
    float s[40], sum = 0;
    for (int i = 0; i < 40; i++) s[i] = x[i * 64 + get_local_id(0)];
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) sum += s[i] * s[j] * s[(i + j) % 40];
    y[get_local_id(0)] = sum;
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        assert_eq!(object.unsupported("k").unwrap(), [], "{chip}");
        let run = |n: i32| {
            let mut simulator = Simulator::new();
            let out = simulator.memory.alloc_output(16);
            let launch = Launch {
                grid: [2, 1, 1],
                block: [4, 1, 1],
                args: vec![Arg::Buffer(out), Arg::Bytes(n.to_le_bytes().to_vec())],
                ..Launch::default()
            };
            let result = simulator.launch(&object, "k", launch);
            result.map(|_| words(&simulator.memory.read(out)))
        };
        assert_eq!(run(3).unwrap(), [3; 4], "{chip}");
        let error = run(7).unwrap_err();
        let Error::Trap { number, wave, .. } = error else {
            panic!("{chip}: {error}");
        };
        assert_eq!((number, wave), (2, 0));
        assert!(error.to_string().contains("the kernel trapped"), "{error}");
    }
}

#[test]
fn what_has_no_meaning_here_is_named() {
    for (chip, text, reason) in [
        (
            "gfx1201",
            "s_getreg_b32 s0, hwreg(HW_REG_WAVE_STATUS)",
            "STATUS",
        ),
        (
            "gfx950",
            "s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS, 0, 5)",
            "TRAPSTS",
        ),
        (
            "gfx1100",
            "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)",
            "messages",
        ),
        (
            "gfx950",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 24, 1), 1",
            "denormal",
        ),
        (
            "gfx1201",
            "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 2), 1",
            "denormal",
        ),
    ] {
        let unsupported = build::kernel(chip, text).unsupported("k").unwrap();
        let [only] = &unsupported[..] else {
            panic!("{chip} {text}: {unsupported:#?}");
        };
        assert!(only.reason.contains(reason), "{text}: {}", only.reason);
    }
}

#[test]
fn time_passes_the_same_way_every_run() {
    for chip in CHIPS {
        let real = match chip {
            "gfx950" => "s_memrealtime",
            _ => "s_sendmsg_rtn_b64",
        };
        let now = |pair: &str| match chip {
            "gfx950" => format!("{real} {pair}\n{{scalar}}"),
            _ => format!("{real} {pair}, sendmsg(MSG_RTN_GET_REALTIME)\n{{scalar}}"),
        };
        let cycles = match chip {
            "gfx950" => "s_memtime s[14:15]\n{scalar}",
            "gfx1201" => {
                "s_getreg_b32 s14, hwreg(HW_REG_SHADER_CYCLES_LO)\n\
                 s_getreg_b32 s15, hwreg(HW_REG_SHADER_CYCLES_HI)"
            }
            _ => "s_mov_b32 s15, 0\ns_getreg_b32 s14, hwreg(HW_REG_SHADER_CYCLES, 0, 20)",
        };
        let (load, store, sub) = match chip {
            "gfx950" => ("s_load_dwordx2", "global_store_dwordx4", "s_sub_u32"),
            "gfx1201" => ("s_load_b64", "global_store_b128", "s_sub_co_u32"),
            _ => ("s_load_b64", "global_store_b128", "s_sub_u32"),
        };
        // Loops until time has passed, as programs do that wait for a while.
        let body = format!(
            "{load} s[4:5], s[0:1], 0x0\n{}\nagain:\ns_sleep 1\n{}\n{sub} s12, s10, s8\n\
             s_cmp_lt_u32 s12, 100\ns_cbranch_scc1 again\n{cycles}\nv_mov_b32 v0, 0\n\
             v_mov_b32 v2, s10\nv_mov_b32 v3, s11\nv_mov_b32 v4, s14\nv_mov_b32 v5, s15\n\
             {store} v0, v[2:5], s[4:5]",
            now("s[8:9]"),
            now("s[10:11]")
        );
        let object = build::kernel(chip, &body);
        let (report, out) = run(&object, 1);
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        assert!((100..120).contains(&out[0]), "{chip} {out:?}");
        assert!(
            (out[0] + 1..out[0] + 10).contains(&out[2]),
            "{chip} {out:?}"
        );
        assert_eq!((out[1], out[3]), (0, 0), "{chip}");
        assert_eq!(run(&object, 1).1, out, "{chip}");
    }
}

#[test]
fn time_is_waited_for() {
    for (chip, time) in [
        ("gfx950", "s_memtime s[4:5]"),
        ("gfx950", "s_memrealtime s[4:5]"),
        (
            "gfx1100",
            "s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)",
        ),
        (
            "gfx1201",
            "s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)",
        ),
    ] {
        for (wait, count) in [("{scalar}", 0), ("", 1)] {
            let body = format!("s_nop 0\n{time}\n{wait}\ns_mov_b32 s6, s5");
            let (report, _) = run(&build::kernel(chip, &body), 1);
            assert_eq!(
                report.count(Check::MissingWait),
                count,
                "{chip} {time} {wait}"
            );
        }
    }
}
