//! Scalar instructions against models, on pairs of registers.

use crate::instructions::{BOTH, Lane, execute_all, f};
use crate::{cdna_execute, exchanges};

/// Two pairs, a result and SCC.
type Outcome = (u64, u64, u64, bool);

/// Lanes whose inputs are tried.
const LANES: std::ops::Range<usize> = 0..8;

/// Runs scalar codes on pairs in s[12:13] and s[14:15]; yields the pairs, s[20:21] and SCC of each.
fn scalars(chip: &str, texts: &[String]) -> Vec<Vec<Outcome>> {
    let unroll = |text: &String| -> String {
        LANES
            .map(|lane| {
                let other = lane + 8;
                format!(
                    "v_readlane_b32 s12, v1, {lane}\nv_readlane_b32 s13, v2, {lane}\n\
                     v_readlane_b32 s14, v3, {lane}\nv_readlane_b32 s15, v1, {other}\n\
                     {{alu}}\ns_mov_b64 s[20:21], s[12:13]\n{{alu}}\n{text}\ns_cselect_b32 s16, 1, 0\n{{alu}}\n\
                     v_writelane_b32 v0, s20, {lane}\nv_writelane_b32 v0, s16, {other}\n\
                     v_writelane_b32 v10, s21, {lane}\n",
                )
            })
            .collect()
    };
    let bodies: Vec<String> = texts.iter().map(unroll).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let outcomes = |lanes: Vec<Lane>| {
        let outcome = |chunk: &[Lane], lane: usize| {
            let [a, b, c] = chunk[lane].0;
            let d = chunk[lane + 8].0[0];
            let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
            let result = wide(chunk[lane].1[0], chunk[lane].1[1]);
            (wide(a, b), wide(c, d), result, chunk[lane + 8].1[0] == 1)
        };
        let chunks = lanes.chunks(32);
        chunks
            .flat_map(|chunk| LANES.map(move |lane| outcome(chunk, lane)))
            .collect()
    };
    execute_all(chip, &bodies)
        .into_iter()
        .map(outcomes)
        .collect()
}

fn scalar(chip: &str, text: &str) -> Vec<Outcome> {
    scalars(chip, &[text.to_owned()]).swap_remove(0)
}

/// The names that RDNA 4 gives.
fn spell(chip: &str, text: &str) -> String {
    match chip {
        "gfx1201" => text
            .replace("s_add_i32", "s_add_co_i32")
            .replace("s_sub_i32", "s_sub_co_i32")
            .replace("s_addk_i32", "s_addk_co_i32")
            .replace("s_addc_u32", "s_add_co_ci_u32")
            .replace("s_add_u32", "s_add_co_u32"),
        _ => text.to_owned(),
    }
}

#[test]
fn scalar_arithmetic() {
    type Model = fn(u64, u64) -> (u64, bool);
    let table: &[(&str, Model)] = &[
        ("s_add_u32 s20, s12, s14", |a, b| {
            let sum = (a as u32 as u64) + (b as u32 as u64);
            (sum, sum > 0xffff_ffff)
        }),
        ("s_add_i32 s20, s12, s14", |a, b| {
            let sum = a as i32 as i64 + b as i32 as i64;
            (sum as u64, sum != sum as i32 as i64)
        }),
        ("s_sub_i32 s20, s12, s14", |a, b| {
            let sum = a as i32 as i64 - b as i32 as i64;
            (sum as u64, sum != sum as i32 as i64)
        }),
        ("s_addk_i32 s20, 0x8001", |a, _| {
            let sum = a as i32 as i64 - 0x7fff;
            (sum as u64, sum != sum as i32 as i64)
        }),
        ("s_cmp_eq_u32 s12, s12\ns_addc_u32 s20, s12, s14", |a, b| {
            let sum = (a as u32 as u64) + (b as u32 as u64) + 1;
            (sum, sum > 0xffff_ffff)
        }),
        (
            "s_mul_hi_u32 s20, s12, s14\ns_cmp_eq_u32 s12, s12",
            |a, b| ((a as u32 as u64 * b as u32 as u64) >> 32, true),
        ),
        ("s_and_b32 s20, s12, s14", |a, b| {
            ((a & b) as u32 as u64, (a & b) as u32 != 0)
        }),
        ("s_and_not1_b32 s20, s12, s14", |a, b| {
            ((a & !b) as u32 as u64, (a & !b) as u32 != 0)
        }),
        ("s_xor_b32 s20, s12, -1", |a, _| {
            (!a as u32 as u64, !a as u32 != 0)
        }),
        ("s_lshl_b32 s20, s12, s14", |a, b| {
            let x = (a as u32) << (b % 32);
            (x as u64, x != 0)
        }),
        ("s_ashr_i32 s20, s12, s14", |a, b| {
            let x = (a as i32) >> (b % 32);
            (x as u64, x != 0)
        }),
        ("s_lshl_b64 s[20:21], s[12:13], s14", |a, b| {
            (a << (b % 64), a << (b % 64) != 0)
        }),
        ("s_bfe_u32 s20, s12, 0x50019", |a, _| {
            let x = a as u32 >> 25 & 31;
            (x as u64, x != 0)
        }),
        ("s_bcnt1_i32_b32 s20, s12", |a, _| {
            ((a as u32).count_ones() as u64, a as u32 != 0)
        }),
        ("s_abs_i32 s20, s12", |a, _| {
            ((a as i32).wrapping_abs() as u64, a as u32 != 0)
        }),
        ("s_min_i32 s20, s12, s14", |a, b| {
            ((a as i32).min(b as i32) as u64, (a as i32) < b as i32)
        }),
        ("s_max_i32 s20, s12, s14", |a, b| {
            ((a as i32).max(b as i32) as u64, a as i32 >= b as i32)
        }),
        ("s_max_i32 s20, s12, s12", |a, _| (a, true)),
        ("s_min_i32 s20, s12, s12", |a, _| (a, false)),
        // The examples of AMD's guides for the largest differences.
        ("s_absdiff_i32 s20, 0x80000000, 0", |_, _| {
            (0x8000_0000, true)
        }),
        ("s_absdiff_i32 s20, 0x80000000, 1", |_, _| {
            (0x7fff_ffff, true)
        }),
        ("s_absdiff_i32 s20, 0x80000000, -2", |_, _| {
            (0x7fff_fffe, true)
        }),
        ("s_absdiff_i32 s20, s12, s12", |_, _| (0, false)),
        // A field that goes beyond the top has the sign there.
        ("s_bfe_i32 s20, s12, 0x50019", |a, _| {
            let x = (a as i32) << 2 >> 27;
            (x as u64, x != 0)
        }),
        ("s_bfe_i32 s20, s12, 0xa0019", |a, _| {
            let x = a as i32 >> 25;
            (x as u64, x != 0)
        }),
        ("s_bfe_i32 s20, s12, 0x200000", |a, _| (a, a as u32 != 0)),
        ("s_bfe_i64 s[20:21], s[12:13], 0x400000", |a, _| (a, a != 0)),
        ("s_bfe_i64 s[20:21], s[12:13], 0x400008", |a, _| {
            ((a as i64 >> 8) as u64, a >> 8 != 0)
        }),
        ("s_bfe_i64 s[20:21], s[12:13], 0x200014", |a, _| {
            let x = a as i64;
            ((x << 12 >> 32) as u64, x << 12 >> 32 != 0)
        }),
        ("s_bfe_u64 s[20:21], s[12:13], 0x400008", |a, _| {
            (a >> 8, a >> 8 != 0)
        }),
        ("s_cmp_eq_u32 s12, s12\ns_cls_i32 s20, 0", |_, _| {
            (0xffff_ffff, true)
        }),
        ("s_cmp_lg_u32 s12, s12\ns_cls_i32 s20, -1", |_, _| {
            (0xffff_ffff, false)
        }),
        ("s_cmp_eq_u32 s12, s12\ns_cls_i32 s20, s12", |a, _| {
            let top = (a as u32) >> 31;
            let differs = (0..32).find(|at| (a as u32) >> (31 - at) & 1 != top);
            (differs.unwrap_or(0xffff_ffff), true)
        }),
        (
            "s_cmp_eq_u32 s12, s12\ns_pack_ll_b32_b16 s20, s12, s14",
            |a, b| (a & 0xffff | b << 16, true),
        ),
        (
            "s_cmp_eq_u32 s12, s12\ns_pack_lh_b32_b16 s20, s12, s14",
            |a, b| (a & 0xffff | b >> 16 << 16, true),
        ),
        (
            "s_cmp_eq_u32 s12, s12\ns_pack_hl_b32_b16 s20, s12, s14",
            |a, b| (u64::from(a as u32 >> 16) | b << 16, true),
        ),
        (
            "s_cmp_eq_u32 s12, s12\ns_pack_hh_b32_b16 s20, s12, s14",
            |a, b| (u64::from(a as u32 >> 16) | b >> 16 << 16, true),
        ),
        // SCC is whether a lane is on afterwards, wherever the old mask goes.
        (
            "s_mov_b32 exec_lo, s14\ns_and_saveexec_b32 s20, s12\ns_mov_b32 exec_lo, -1",
            |a, b| (b, a as u32 & b as u32 != 0),
        ),
        (
            "s_nand_saveexec_b32 null, -1\ns_mov_b32 exec_lo, -1",
            |a, _| (a, false),
        ),
        (
            "s_or_not0_saveexec_b32 null, -1\ns_mov_b32 exec_lo, -1",
            |a, _| (a, true),
        ),
        ("s_cmp_lt_i32 s12, s14", |a, b| (a, (a as i32) < b as i32)),
        ("s_cmp_ge_u32 s12, s14", |a, b| (a, a as u32 >= b as u32)),
        ("s_cmp_lg_u64 s[12:13], s[14:15]", |a, b| (a, a != b)),
        ("s_movk_i32 s20, 0x8000\ns_cmp_eq_u32 s12, s12", |_, _| {
            (0xffff_8000, true)
        }),
    ];
    for chip in BOTH {
        let texts: Vec<String> = table.iter().map(|(text, _)| spell(chip, text)).collect();
        for ((outcomes, text), (_, model)) in
            scalars(chip, &texts).into_iter().zip(&texts).zip(table)
        {
            let wide = text.contains("[20:21]");
            for (a, b, result, scc) in outcomes {
                let (expected, flag) = model(a, b);
                let mask = if wide { u64::MAX } else { 0xffff_ffff };
                assert_eq!(
                    (result & mask, scc),
                    (expected & mask, flag),
                    "{chip} {text}: {a:#x} {b:#x}"
                );
            }
        }
        for (a, _, result, _) in scalar(
            chip,
            "s_mov_b64 exec, s[12:13]\ns_and_saveexec_b32 s20, \
             s13\ns_mov_b32 s21, exec_lo\ns_mov_b32 exec_lo, -1",
        ) {
            let (low, high) = (a as u32, (a >> 32) as u32);
            assert_eq!(
                result,
                u64::from(low) | u64::from(low & high) << 32,
                "{chip}"
            );
        }
    }
    for (a, b, result, _) in scalar("gfx1201", "s_mul_u64 s[20:21], s[12:13], s[14:15]") {
        assert_eq!(result, a.wrapping_mul(b));
    }
    for (a, b, result, _) in scalar("gfx1201", "s_add_nc_u64 s[20:21], s[12:13], s[14:15]") {
        assert_eq!(result, a.wrapping_add(b));
    }
    for (a, b, result, _) in scalar("gfx1201", "s_mul_f32 s20, s12, s14") {
        let expected = f(a as u32) * f(b as u32);
        let got = f(result as u32);
        assert!(
            got == expected || got.is_nan() && expected.is_nan(),
            "{a:#x} {b:#x}"
        );
    }
}

#[test]
fn half_of_a_mask_is_changed() {
    // In waves of 64 lanes the others stay on.
    let body = "s_mov_b32 exec_lo, 0x3f\ns_and_saveexec_b32 s20, 0x21\nv_mov_b32 v4, s20";
    for chip in BOTH {
        let lanes = exchanges::run(chip, 64, &[body.to_owned()]).swap_remove(0);
        let on = |lane: usize| matches!(lane, 0 | 5 | 32..);
        let expected = Vec::from_iter((0..64).map(|lane| if on(lane) { 0x3f } else { 0 }));
        assert_eq!(lanes, expected, "{chip}");
    }
}

/// The address of a load is that of a word whatever the sum of its parts is, and a constant part may
/// be negative.
#[test]
fn loads_are_of_whole_words() {
    let table = [
        ("4", "0x8"),
        ("4", "0xb"),
        ("7", "0x5"),
        ("0x20", "-0x14"),
        ("0x22", "-0x13"),
    ];
    let texts = |load: &str| {
        table.map(|(add, offset)| {
            format!(
                "s_add_u32 s12, s4, {add}\ns_addc_u32 s13, s5, 0\n\
                 {load} s20, s[12:13], {offset}\n{{scalar}}"
            )
        })
    };
    for chip in BOTH {
        let texts = texts("s_load_b32").map(|text| spell(chip, &text));
        let texts = texts.each_ref().map(String::as_str);
        for (text, lanes) in texts.iter().zip(execute_all(chip, &texts)) {
            for wave in lanes.chunks(32) {
                assert_eq!(wave[0].1[2], wave[3].0[0], "{chip} {text}");
            }
        }
    }
    let texts = texts("s_load_dword");
    let texts = texts.each_ref().map(String::as_str);
    for (at, run) in cdna_execute::execute(&texts).into_iter().enumerate() {
        let text = texts[at % texts.len()];
        assert_eq!(run.mask, u64::from(run.inputs[0][3]), "gfx950 {text}");
    }
}
