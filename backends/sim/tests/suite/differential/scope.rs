//! The vector ALU instructions that LLVM 22 emits for GEMM kernels, their epilogues and helpers,
//! matrix instructions apart, and the proof that each has a model.

use std::collections::BTreeSet;

use super::table;
use crate::scope;

const COMMON: &str = "
v_add3_u32 v_add_f32_dpp v_add_f32_e32 v_and_b32_e32 v_and_or_b32 v_ashrrev_i32_e32 v_bfe_u32
v_cmp_gt_i32_e32 v_cmp_gt_i32_e64 v_cmp_gt_u32_e64 v_cmp_le_i32_e32 v_cmp_le_i32_e64
v_cmp_u_f32_e64 v_cndmask_b32_e32 v_cndmask_b32_e64 v_cvt_f16_f32_e32 v_cvt_f32_i32_e32
v_cvt_i32_f32_e32 v_div_fixup_f32 v_div_fmas_f32 v_div_scale_f32 v_exp_f32_e32 v_fma_f32
v_fma_mix_f32 v_fmac_f32_e32 v_lshl_add_u32 v_lshl_or_b32 v_lshlrev_b32_e32 v_lshrrev_b32_e32
v_mad_u32_u24 v_mbcnt_lo_u32_b32 v_mov_b32_e32 v_mul_f32_e32 v_mul_lo_u32 v_mul_u32_u24_e32
v_or_b32_e32 v_pk_fma_f16 v_rcp_f32_e32 v_rcp_iflag_f32_e32 v_readfirstlane_b32 v_readlane_b32
v_rndne_f32_e32 v_sqrt_f32_e32 v_sub_f32_e32 v_xor_b32_e32";

const RDNA: &str = "
v_add_co_ci_u32_e64 v_add_co_u32 v_add_lshl_u32 v_add_nc_u16 v_add_nc_u32_e32
v_cmp_class_f32_e64 v_cmp_ge_f32_e64 v_cmp_lt_f32_e64 v_cmp_u_f32_e32 v_cmpx_eq_u32_e32
v_cmpx_gt_i32_e64 v_cvt_pk_rtz_f16_f32_e32 v_dual_add_f32 v_dual_cndmask_b32 v_dual_mov_b32
v_dual_mul_f32 v_mul_f16_e32 v_or3_b32 v_subrev_nc_u32_e32";

const GFX1100: &str = "
v_cmp_eq_u32_e32 v_cmp_gt_f32_e64 v_cmp_gt_u32_e32 v_cvt_f32_u32_e32 v_cvt_u32_f32_e32
v_dual_max_f32 v_lshlrev_b64 v_mad_i64_i32 v_mad_u64_u32 v_max_f32_e32 v_med3_f32 v_mov_b16_e32
v_pk_max_f16";

const GFX1151: &str = "
v_cmp_gt_f32_e64 v_dual_max_f32 v_lshlrev_b64 v_mad_i64_i32 v_mad_u64_u32 v_max_f32_e32
v_med3_f32 v_mov_b16_e32 v_pk_max_f16";

const GFX1201: &str = "
v_cmp_eq_u32_e32 v_cmp_gt_f32_e32 v_cmp_gt_u32_e32 v_cvt_pk_f32_fp8_e32 v_cvt_pk_fp8_f32
v_dual_max_num_f32 v_lshlrev_b64_e32 v_mad_co_i64_i32 v_mad_co_u64_u32 v_max_num_f32_e32
v_med3_num_f32 v_pack_b32_f16 v_perm_b32 v_pk_max_num_f16";

const GFX950: &str = "
v_add_co_u32_e32 v_add_u16_e32 v_add_u32_e32 v_addc_co_u32_e32 v_bitop3_b16 v_bitop3_b32
v_cmp_class_f32_e32 v_cmp_eq_u32_e32 v_cmp_eq_u32_e64 v_cmp_ge_f32_e32 v_cmp_ge_u32_e64
v_cmp_gt_f32_e64 v_cmp_gt_u32_e32 v_cmp_lt_f32_e32 v_cmp_lt_u32_e64 v_cmp_ne_u16_e64
v_cmp_ne_u32_e64 v_cvt_f32_u32_e32 v_cvt_pk_bf16_f32 v_cvt_pk_f32_fp8_e32 v_cvt_pk_fp8_f32
v_cvt_pkrtz_f16_f32 v_cvt_scalef32_pk_f32_fp4 v_cvt_scalef32_pk_fp4_f32
v_cvt_scalef32_pk_fp8_f32 v_cvt_u32_f32_e32 v_lshl_add_u64 v_lshlrev_b16_e32 v_lshlrev_b64
v_mad_i64_i32 v_mad_u64_u32 v_max_f32_e32 v_mbcnt_hi_u32_b32 v_med3_f32 v_mov_b64_e32
v_pack_b32_f16 v_permlane16_swap_b32_e32 v_permlane32_swap_b32_e32 v_pk_fma_f32 v_pk_max_f16
v_pk_mov_b32 v_pk_mul_f16 v_subrev_u32_e32 v_xad_u32";

/// The vector instructions in lines of assembly, matrix instructions apart: they have tests of their
/// own.
fn vector(lines: &str) -> impl Iterator<Item = &str> {
    let words = lines.split([' ', '\n']);
    let matrix = |name: &str| {
        ["v_wmma", "v_swmmac", "v_mfma", "v_smfmac"]
            .iter()
            .any(|kind| name.starts_with(kind))
    };
    words.filter(move |word| word.starts_with("v_") && !matrix(word))
}

/// A mnemonic as the models' cases have it: LLVM prints those of one encoding without a suffix.
fn has_model(covered: &BTreeSet<&str>, name: &str) -> bool {
    covered.contains(name)
        || !["_e32", "_e64", "_dpp", "_sdwa"]
            .iter()
            .any(|form| name.ends_with(form))
            && ["_e32", "_e64"]
                .iter()
                .any(|form| covered.contains(format!("{name}{form}").as_str()))
}

#[test]
fn every_instruction_in_scope_has_a_model() {
    for chip in ["gfx1100", "gfx1151", "gfx1201", "gfx950"] {
        let table = table(chip);
        let covered: BTreeSet<&str> = table
            .cases
            .iter()
            .flat_map(|case| case.mnemonics())
            .collect();
        let own = match chip {
            "gfx1100" => [COMMON, RDNA, GFX1100].join("\n"),
            "gfx1151" => [COMMON, RDNA, GFX1151].join("\n"),
            "gfx1201" => [COMMON, RDNA, GFX1201].join("\n"),
            _ => [COMMON, GFX950].join("\n"),
        };
        let known = scope::lines(chip);
        let missing: BTreeSet<&str> = vector(&own)
            .chain(vector(&known))
            .filter(|name| !has_model(&covered, name))
            .collect();
        assert!(missing.is_empty(), "{chip}: {missing:?}");
    }
}
