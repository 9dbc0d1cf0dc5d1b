//! Masks of 64 lanes on gfx950, and lanes that read other lanes.

use super::cdna_execute::{LANES, check_pair, execute, of};

#[test]
fn masks_have_sixty_four_bits() {
    const VCC: u64 = 0x0f0f_f0f0_5555_aaaa;
    let text =
        "v_add_co_u32 v0, s[20:21], v1, v2\nv_addc_co_u32_e64 v10, s[24:25], v2, v3, s[20:21]";
    check_pair(text, |a, b, c| {
        let sum = (u128::from(a) | u128::from(b) << 32) + (u128::from(b) | u128::from(c) << 32);
        sum as u64
    });
    for run in of("v_cndmask_b32 v0, v1, v2, vcc") {
        for lane in 0..LANES {
            let from = (VCC >> lane & 1) as usize;
            assert_eq!(run.v0[lane], run.inputs[from][lane]);
        }
    }
    // Lanes switched off have no bit in the mask.
    for run in of("s_mov_b64 exec, vcc\nv_cmp_gt_i32_e64 s[20:21], v1, v2") {
        let greater = |lane: usize| run.inputs[0][lane] as i32 > run.inputs[1][lane] as i32;
        let expected = (0..LANES).fold(0, |bits, lane| bits | u64::from(greater(lane)) << lane);
        assert_eq!(run.mask, expected & VCC);
    }
    // A comparison for EXEC writes its mask too.
    let text = "v_cmpx_lt_u32_e64 s[20:21], v1, v2\nv_mov_b32 v0, 7\ns_mov_b64 exec, -1";
    for run in of(text) {
        for lane in 0..LANES {
            let less = run.inputs[0][lane] < run.inputs[1][lane];
            assert_eq!(run.v0[lane], if less { 7 } else { run.inputs[2][lane] });
            assert_eq!(run.mask >> lane & 1 == 1, less);
        }
    }
    for (text, expected) in [
        ("s_andn2_b64 s[20:21], -1, vcc", !VCC),
        ("s_orn2_b64 s[20:21], vcc, vcc", u64::MAX),
        ("s_orn2_b64 s[20:21], 1, vcc", 1 | !VCC),
        (
            "s_mov_b64 exec, vcc\ns_nand_saveexec_b64 s[20:21], 15\ns_mov_b64 s[20:21], exec",
            !(15 & VCC),
        ),
        (
            "s_mov_b64 exec, vcc\ns_andn1_wrexec_b64 s[20:21], 0xf0",
            VCC & !0xf0,
        ),
        ("s_flbit_i32_i64 s20, vcc", 4),
        ("s_flbit_i32_i64 s20, 0", u32::MAX.into()),
        ("s_flbit_i32 s20, 0", u32::MAX.into()),
        ("s_flbit_i32 s20, -1", u32::MAX.into()),
        ("s_flbit_i32_b32 s20, 0", u32::MAX.into()),
        ("s_ff0_i32_b64 s20, vcc", 0),
        ("s_bcnt1_i32_b64 s20, vcc", VCC.count_ones().into()),
        ("s_bitreplicate_b64_b32 s[20:21], 5", 0b11_0011),
        ("s_quadmask_b64 s[20:21], 0xf01", 0b101),
        ("s_wqm_b64 s[20:21], 0x401", 0xf0f),
        ("s_bfe_i64 s[20:21], vcc, 0x80000", 0xffff_ffff_ffff_ffaa),
        ("s_bfe_i64 s[20:21], vcc, 0x400000", VCC),
        ("s_bfe_i64 s[20:21], vcc, 0x40003c", 0),
        ("s_brev_b64 s[20:21], 1", 1 << 63),
        (
            "v_readlane_b32 s20, v1, 40\nv_readlane_b32 s21, v1, s22",
            u64::MAX,
        ),
    ] {
        for run in of(text) {
            let expected = match text.starts_with("v_readlane") {
                // 0x21 of 64 lanes.
                true => u64::from(run.inputs[0][40]) | u64::from(run.inputs[0][33]) << 32,
                false => expected,
            };
            assert_eq!(run.mask, expected, "{text}");
        }
    }
}

/// Which lane each lane reads, or none: the register then keeps v3 or, with `bound_ctrl`, is zero.
type From = fn(usize) -> Option<usize>;

#[test]
fn lanes_read_other_lanes() {
    let table: &[(&str, From)] = &[
        ("quad_perm:[3,0,0,1]", |lane| {
            Some(lane / 4 * 4 + [3, 0, 0, 1][lane % 4])
        }),
        ("row_shl:3", |lane| (lane % 16 < 13).then_some(lane + 3)),
        ("row_shr:5", |lane| (lane % 16 >= 5).then(|| lane - 5)),
        ("row_ror:4", |lane| Some(lane / 16 * 16 + (lane + 12) % 16)),
        ("row_mirror", |lane| Some(lane / 16 * 16 + 15 - lane % 16)),
        ("row_half_mirror", |lane| Some(lane / 8 * 8 + 7 - lane % 8)),
        ("row_newbcast:3", |lane| Some(lane / 16 * 16 + 3)),
        ("row_bcast:15", |lane| {
            (lane >= 16).then(|| lane / 16 * 16 - 1)
        }),
        ("row_bcast:31", |lane| (lane >= 32).then_some(31)),
        ("wave_shl:1", |lane| (lane < 63).then_some(lane + 1)),
        ("wave_shr:1", |lane| (lane > 0).then(|| lane - 1)),
        ("wave_rol:1", |lane| Some((lane + 1) % 64)),
        ("wave_ror:1", |lane| Some((lane + 63) % 64)),
    ];
    for bound in ["", " bound_ctrl:0"] {
        let texts: Vec<String> = table
            .iter()
            .map(|(control, _)| {
                format!("v_mov_b32_dpp v0, v1 {control} row_mask:0xf bank_mask:0xf{bound}")
            })
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (at, run) in execute(&texts).iter().enumerate() {
            let (control, from) = table[at % table.len()];
            for lane in 0..LANES {
                let expected = match from(lane) {
                    Some(from) => run.inputs[0][from],
                    None if bound.is_empty() => run.inputs[2][lane],
                    None => 0,
                };
                assert_eq!(run.v0[lane], expected, "{control}{bound} lane {lane}");
            }
        }
    }
    let text = "v_mov_b32_dpp v0, v1 row_mirror row_mask:0x5 bank_mask:0xc";
    for run in of(text) {
        for lane in 0..LANES {
            let on = lane / 16 % 2 == 0 && lane % 16 >= 8;
            let from = lane / 16 * 16 + 15 - lane % 16;
            let expected = if on {
                run.inputs[0][from]
            } else {
                run.inputs[2][lane]
            };
            assert_eq!(run.v0[lane], expected);
        }
    }
    let text = "v_mov_b32 v14, v2\nv_mov_b32 v15, v3\n\
                v_mov_b64_dpp v[12:13], v[14:15] row_newbcast:6 row_mask:0xf bank_mask:0xf\n\
                v_mov_b32 v0, v12\nv_mov_b32 v10, v13";
    for run in of(text) {
        for lane in 0..LANES {
            let from = lane / 16 * 16 + 6;
            assert_eq!(
                (run.v0[lane], run.v10[lane]),
                (run.inputs[1][from], run.inputs[2][from])
            );
        }
    }
    let text = "v_mbcnt_lo_u32_b32 v0, vcc_lo, 0\nv_mbcnt_hi_u32_b32 v0, vcc_hi, v0\n\
                v_writelane_b32 v10, s22, 50";
    for run in of(text) {
        for lane in 0..LANES {
            let below = (1_u64 << lane) - 1;
            assert_eq!(run.v0[lane], (0x0f0f_f0f0_5555_aaaa & below).count_ones());
            let kept = run.inputs[1][lane];
            assert_eq!(run.v10[lane], if lane == 50 { 0x8765_4321 } else { kept });
        }
    }
}

#[test]
fn a_lane_number_beyond_the_wave_wraps_around() {
    let text = "s_movk_i32 s23, 0xe7\ns_nop 4\nv_readlane_b32 s20, v1, s23\n\
                v_writelane_b32 v0, 17, s23";
    for run in of(text) {
        assert_eq!(run.mask, u64::from(run.inputs[0][39]));
        for lane in 0..LANES {
            let kept = run.inputs[2][lane];
            assert_eq!(run.v0[lane], if lane == 39 { 17 } else { kept });
        }
    }
}
