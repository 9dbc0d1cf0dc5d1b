//! A planted fault for every row: one wait state too few is found, the right number is not.

use super::*;
use crate::chip::Chip;
use crate::text::Line;

/// Index of the first row met by lines run one after the other, and the states it needs.
fn met(lines: &[&str]) -> Option<(usize, u32)> {
    let chip = Chip::find("gfx950").expect("the chip has a record");
    let facts: Vec<Facts> = lines
        .iter()
        .map(|text| Facts::new(&Line::parse(text), chip))
        .collect();
    let mut recent = Recent::default();
    facts.iter().enumerate().find_map(|(index, here)| {
        let met = recent.step(index, here, |at| facts.get(at))?;
        let row = ROWS.iter().position(|row| std::ptr::eq(row, met.row))?;
        Some((row, met.needs))
    })
}

/// First instruction, second instruction, wait states between them that do.
const PAIRS: &[(&str, &str, u32)] = &[
    (
        "v_readfirstlane_b32 s4, v0",
        "buffer_load_dword v1, off, s[4:7], 0",
        5,
    ),
    (
        "v_readfirstlane_b32 s4, v0",
        "global_load_dword v1, v2, s[4:5]",
        5,
    ),
    (
        "v_readfirstlane_b32 m0, v0",
        "global_load_lds_dword v[2:3], off",
        5,
    ),
    (
        "v_cmp_eq_u32_e64 s[4:5], v0, v1",
        "v_readlane_b32 s6, v2, s4",
        4,
    ),
    (
        "v_readfirstlane_b32 s4, v0",
        "v_writelane_b32 v2, s8, s4",
        4,
    ),
    (
        "v_cmp_eq_u32_e32 vcc, v0, v1",
        "v_div_fmas_f32 v0, v1, v2, v3",
        4,
    ),
    (
        "v_cmp_eq_u32_e32 vcc, v0, v1",
        "v_cndmask_b32_e32 v2, v3, v4, vcc",
        2,
    ),
    ("v_readfirstlane_b32 s4, v0", "v_add_u32_e32 v1, s4, v2", 2),
    (
        "v_add_co_u32_e32 v0, vcc, v1, v2",
        "v_addc_co_u32_e32 v3, vcc, v4, v5, vcc",
        2,
    ),
    (
        "v_cmpx_eq_u32_e32 vcc, v0, v1",
        "v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf",
        5,
    ),
    (
        "v_cmpx_eq_u32_e32 vcc, v0, v1",
        "v_readfirstlane_b32 s4, v2",
        4,
    ),
    (
        "v_cmpx_eq_u32_e32 vcc, v0, v1",
        "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]",
        4,
    ),
    (
        "v_cmpx_eq_u32_e32 vcc, v0, v1",
        "v_permlane32_swap_b32_e32 v4, v5",
        4,
    ),
    (
        "v_mov_b32_e32 v3, v0",
        "v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf",
        2,
    ),
    ("v_mov_b32_e32 v3, v0", "v_readlane_b32 s4, v3, 0", 1),
    (
        "v_mov_b32_e32 v3, v0",
        "v_permlane16_swap_b32_e32 v3, v4",
        2,
    ),
    (
        "v_accvgpr_write_b32 a0, v9",
        "v_mfma_f32_16x16x32_f16 a[0:3], v[4:7], v[8:11], a[0:3]",
        2,
    ),
    ("v_exp_f32_e32 v0, v1", "v_add_f32_e32 v2, v0, v3", 1),
    (
        "v_rcp_f32_e32 v0, v1",
        "v_pk_mul_f32 v[2:3], v[0:1], v[4:5]",
        1,
    ),
    (
        "v_add_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 \
         src1_sel:WORD_0",
        "v_mov_b32_e32 v4, v0",
        1,
    ),
    (
        "v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]",
        "v_mov_b32_e32 v4, v0",
        1,
    ),
    (
        "v_cvt_scalef32_sr_pk_fp4_f32 v0, v[2:3], v4, v5",
        "v_mov_b32_e32 v4, v0",
        1,
    ),
    (
        "s_mov_b32 m0, s4",
        "buffer_load_dword v0, s[0:3], 0 offen lds",
        1,
    ),
    (
        "s_add_u32 m0, m0, s4",
        "global_load_lds_dwordx4 v[0:1], off",
        1,
    ),
    ("s_mov_b32 m0, s4", "s_sendmsg sendmsg(MSG_INTERRUPT)", 1),
    (
        "global_store_dwordx4 v[0:1], v[4:7], off",
        "v_mov_b32_e32 v6, 0",
        2,
    ),
    (
        "buffer_store_dwordx3 v[4:6], v0, s[0:3], 0 offen",
        "v_mov_b32_e32 v4, 0",
        2,
    ),
    (
        "v_dot4_i32_i8 v0, v1, v2, v3",
        "v_add_u32_e32 v4, v0, v5",
        3,
    ),
    (
        "v_dot4_i32_i8 v0, v1, v2, v3",
        "v_dot4_i32_i8 v4, v0, v5, v6",
        3,
    ),
    ("v_dot4_i32_i8 v0, v1, v2, v3", "v_mov_b32_e32 v0, v5", 3),
    ("v_dot4_i32_i8 v0, v1, v2, v3", "ds_write_b32 v9, v0", 3),
    // Four, eight and sixteen passes.
    (
        "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]",
        "v_mfma_f32_16x16x32_f16 v[12:15], v[0:3], v[8:11], v[12:15]",
        8,
    ),
    (
        "v_mfma_f32_32x32x16_bf16 a[0:15], v[4:7], v[8:11], a[0:15]",
        "v_accvgpr_read_b32 v0, a15",
        12,
    ),
    (
        "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15], v40, v41",
        "global_store_dword v[50:51], v7, off",
        20,
    ),
    (
        "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:19], v[24:27], v[0:15], v40, v41 \
         cbsz:4 blgp:4",
        "ds_write_b32 v50, v7",
        12,
    ),
    (
        "v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]",
        "v_mfma_f32_16x16x4_f32 v[8:11], v0, v5, v[8:11]",
        10,
    ),
    (
        "v_mfma_f32_32x32x2_f32 v[0:15], v16, v17, v[0:15]",
        "v_mov_b32_e32 v20, v3",
        18,
    ),
    (
        "v_mfma_f32_32x32x2_f32 v[0:15], v16, v17, v[0:15]",
        "v_mov_b32_e32 v3, v20",
        18,
    ),
    (
        "v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]",
        "v_mfma_f32_16x16x4_f32 v[2:5], v8, v9, v[2:5]",
        8,
    ),
    (
        "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]",
        "v_mfma_f32_16x16x32_f16 v[2:5], v[12:15], v[8:11], v[2:5]",
        6,
    ),
    (
        "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[12:15]",
        "v_mov_b32_e32 v2, v20",
        8,
    ),
    (
        "v_mfma_f32_32x32x16_f16 v[0:15], v[20:23], v[24:27], v[32:47]",
        "v_mov_b32_e32 v40, v60",
        7,
    ),
    (
        "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]",
        "v_mov_b32_e32 v9, v0",
        5,
    ),
];

#[test]
fn one_state_too_few_is_found_in_every_row() {
    let mut seen = vec![false; ROWS.len()];
    for &(first, second, states) in PAIRS {
        let idle = vec!["s_setprio 0"; states as usize];
        let with = |count: usize| [&[first], &idle[..count], &[second]].concat();
        let found = met(&with(states as usize - 1));
        let (row, needs) = found.unwrap_or_else(|| panic!("nothing between {first} and {second}"));
        assert_eq!(needs, states, "{first}; {second}: {}", ROWS[row].name);
        seen[row] = true;
        assert_eq!(met(&with(states as usize)), None, "{first}; {second}");
        let nop = format!("s_nop {}", states.min(16) - 1);
        let more = format!("s_nop {}", states.saturating_sub(17));
        let nops: &[&str] = match states > 16 {
            true => &[first, &nop, &more, second],
            false => &[first, &nop, second],
        };
        assert_eq!(met(nops), None, "{first}; {nop}; {second}");
    }
    for (row, seen) in ROWS.iter().zip(seen) {
        assert!(
            seen,
            "no pair for: {} ({:?}, {:?})",
            row.name, row.first, row.then
        );
    }
}

/// A long product whose result a short one adds to and writes over.
#[test]
fn the_last_product_that_writes_a_register_counts() {
    let long = "v_mfma_f32_16x16x32_fp8_fp8 v[32:35], v[0:1], v[2:3], 0";
    let short = "v_mfma_f32_4x4x4_16b_f16 v[32:35], v[0:1], v[2:3], v[32:35]";
    let reader = "v_mov_b32_e32 v9, v32";
    let (_, alone) = met(&[short, reader]).expect("nothing between");
    let idle = vec!["s_setprio 0"; alone as usize];
    assert_eq!(met(&[&[short][..], &idle, &[reader]].concat()), None);
    // As soon as the short one may follow the long one.
    let both = |count| [&[long][..], &vec!["s_setprio 0"; count], &[short]].concat();
    let soon = (0..32).find(|count| met(&both(*count)).is_none());
    let lines = [&both(soon.expect("it may follow"))[..], &idle, &[reader]].concat();
    assert_eq!(met(&lines), None, "{lines:?}");
    let apart = "v_mfma_f32_4x4x4_16b_f16 v[36:39], v[0:1], v[2:3], v[36:39]";
    let lines = [&[long][..], &[apart], &[reader]].concat();
    assert!(met(&lines).is_some());
}

#[test]
fn pairs_without_anything_in_common_are_none() {
    for lines in [
        ["v_exp_f32_e32 v0, v1", "v_add_f32_e32 v2, v3, v4"],
        ["v_exp_f32_e32 v0, v1", "v_rcp_f32_e32 v2, v0"],
        // LLVM puts nothing there.
        [
            "v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3",
            "v_mov_b32_e32 v4, v0",
        ],
        [
            "v_cmp_eq_u32_e32 vcc, v0, v1",
            "s_and_saveexec_b64 s[0:1], vcc",
        ],
        [
            "v_cmp_eq_u32_e64 s[4:5], v0, v1",
            "v_cndmask_b32_e64 v2, v3, v4, s[6:7]",
        ],
        ["v_mov_b32_e32 v3, v0", "v_add_u32_e32 v4, v3, v3"],
        ["v_mov_b32_e32 v3, v0", "global_load_dword v1, v3, s[4:5]"],
        [
            "buffer_store_dwordx4 v[4:7], v0, s[0:3], s9 offen",
            "v_mov_b32_e32 v4, 0",
        ],
        [
            "global_store_dwordx2 v[0:1], v[4:5], off",
            "v_mov_b32_e32 v4, 0",
        ],
        ["s_cmp_eq_u32 m0, s4", "s_sendmsg sendmsg(MSG_INTERRUPT)"],
        [
            "v_dot4_i32_i8 v0, v1, v2, v3",
            "v_dot4_i32_i8 v0, v4, v5, v0",
        ],
        // The accumulator is passed on.
        [
            "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]",
            "v_mfma_f32_16x16x32_f16 v[0:3], v[12:15], v[8:11], v[0:3]",
        ],
        [
            "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]",
            "v_mfma_f32_16x16x32_f16 v[16:19], v[12:15], v[8:11], v[16:19]",
        ],
    ] {
        assert_eq!(met(&lines), None, "{lines:?}");
    }
}
