//! Every instruction that LLVM 22 emits for GEMM kernels, their epilogues and helpers decodes to
//! something the simulator knows, in the operand forms it is seen in.

use crate::build;

/// Lines that all chips have.
const COMMON: &str = "
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0
buffer_load_b128 v[0:3], v5, s[0:3], s9 offen offset:32
buffer_load_b32 v0, off, s[0:3], null offset:32
buffer_load_b64 v[0:1], v5, s[0:3], null offen
buffer_load_u16 v0, v5, s[0:3], null offen
buffer_load_u8 v0, v5, s[0:3], null offen
buffer_load_i8 v0, v5, s[0:3], null offen
buffer_load_d16_b16 v0, v5, s[0:3], null offen
buffer_load_d16_hi_b16 v0, v5, s[0:3], null offen
buffer_load_b96 v[0:2], v5, s[0:3], null offen
buffer_store_b128 v[0:3], v5, s[0:3], null offen
buffer_store_b16 v0, v5, s[0:3], null offen
buffer_store_d16_hi_b16 v0, v5, s[0:3], null offen
buffer_store_b64 v[0:1], v5, s[0:3], null offen
buffer_store_b32 v0, v5, s[0:3], null offen
buffer_store_b8 v0, v5, s[0:3], null offen
buffer_atomic_add_f32 v0, v5, s[0:3], null offen
ds_bpermute_b32 v0, v1, v2
ds_load_2addr_b32 v[0:1], v2 offset1:8
ds_load_2addr_b64 v[0:3], v2 offset0:1 offset1:8
ds_load_2addr_stride64_b32 v[0:1], v2 offset1:8
ds_store_2addr_b32 v2, v3, v4 offset1:8
ds_store_2addr_stride64_b64 v2, v[4:5], v[6:7] offset1:8
ds_load_b128 v[0:3], v4 offset:65520
ds_load_b96 v[0:2], v4
ds_load_b64 v[0:1], v4
ds_load_b32 v0, v4
ds_load_u16 v0, v4
ds_load_u16_d16 v0, v4
ds_load_u16_d16_hi v0, v4
ds_load_u8 v0, v4
ds_load_i8 v0, v4
ds_store_b128 v4, v[0:3]
ds_store_b64 v4, v[0:1]
ds_store_b32 v4, v0
ds_store_b16 v4, v0
ds_store_b16_d16_hi v4, v0
ds_store_b8 v4, v0
ds_add_u32 v4, v0
ds_add_f32 v4, v0
ds_add_rtn_u32 v1, v4, v0
ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,\"0p1pi\")
ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,4,1)
ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,0,1,2,1)
global_atomic_add_f32 v0, v1, s[0:1]
global_atomic_add_f32 v[0:1], v2, off
global_atomic_add_u32 v0, v1, s[0:1]
global_atomic_cmpswap_b32 v0, v[2:3], s[0:1]
global_load_b128 v[0:3], v[4:5], off offset:-16
global_load_b32 v0, v1, s[0:1]
global_load_b64 v[0:1], v1, s[0:1]
global_load_b96 v[0:2], v1, s[0:1]
global_load_d16_b16 v0, v[2:3], off
global_load_d16_hi_b16 v0, v[2:3], off
global_load_u16 v0, v[2:3], off
global_load_u8 v0, v[2:3], off
global_load_i16 v0, v[2:3], off
global_store_b128 v4, v[0:3], s[0:1]
global_store_b64 v[4:5], v[0:1], off
global_store_b16 v4, v0, s[0:1]
global_store_b32 v4, v0, s[0:1]
global_store_b8 v4, v0, s[0:1]
global_store_d16_hi_b16 v4, v0, s[0:1]
s_abs_i32 s0, s1
s_and_b32 s0, exec_lo, vcc_lo
s_and_not1_b32 s0, s1, s2
s_and_saveexec_b32 s0, vcc_lo
s_or_saveexec_b32 s0, s1
s_ashr_i32 s0, s1, 31
s_bcnt1_i32_b32 s0, s1
s_bfe_u32 s0, s1, 0x50019
s_clause 0x3
s_cselect_b32 s0, -1, 0
s_cselect_b64 s[0:1], -1, 0
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
s_lshl_b32 s0, s1, 5
s_lshl_b64 s[0:1], s[2:3], 5
s_lshr_b32 s0, s1, 5
s_max_i32 s0, s1, 0
s_min_i32 s0, s1, 64
s_min_u32 s0, s1, 64
s_mov_b32 s0, 0x12345678
s_mov_b64 s[0:1], exec
s_movk_i32 s0, 0x1000
s_mul_hi_u32 s0, s1, s2
s_mul_i32 s0, s1, s2
s_mulk_i32 s0, 0x60
s_nop 0
s_or_b32 exec_lo, exec_lo, s0
s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
s_setprio 1
s_sleep 1
s_xor_b32 s0, s1, -1
s_cmp_eq_u32 s0, 0
s_cmp_ge_i32 s0, s1
s_cmp_ge_u32 s0, s1
s_cmp_gt_i32 s0, 0
s_cmp_lg_u32 s0, s1
s_cmp_lg_u64 s[0:1], 0
s_cmp_lt_i32 s0, s1
s_load_b128 s[0:3], s[4:5], 0x10
s_load_b256 s[0:7], s[8:9], null
s_load_b32 s0, s[4:5], s6 offset:0x10
s_load_b64 s[0:1], s[4:5], 0x24
s_load_b512 s[16:31], s[4:5], 0x0
s_buffer_load_b128 s[16:19], s[4:7], 0x10
scratch_load_b128 v[0:3], off, off offset:16
scratch_load_b32 v0, off, s32
scratch_store_b128 off, v[0:3], s32 offset:4
scratch_store_b32 v1, v0, off
v_add3_u32 v0, v1, s2, v3
v_add_co_ci_u32_e64 v1, null, s1, v1, vcc_lo
v_add_co_u32 v0, vcc_lo, s0, v0
v_add_co_u32 v0, s2, v1, v0
v_add_f32_dpp v0, v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
v_add_f32_dpp v0, v1, v2 row_xmask:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_add_f32_e32 v0, v1, v2
v_add_lshl_u32 v0, v1, v2, 2
v_add_nc_u16 v0, v1, v2
v_add_nc_u32_e32 v0, 64, v1
v_and_b32_e32 v0, 0x3ff, v0
v_and_or_b32 v0, v1, 15, v2
v_ashrrev_i32_e32 v0, 31, v1
v_bfe_u32 v0, v0, 10, 10
v_cndmask_b32_e32 v0, 0, v1, vcc_lo
v_cndmask_b32_e64 v0, 0, -1.0, s0
v_div_fixup_f32 v0, v1, v2, v3
v_div_fmas_f32 v0, v1, v2, v3
v_div_scale_f32 v0, null, v1, v2, v3
v_div_scale_f32 v0, vcc_lo, v1, v2, v3
v_exp_f32_e32 v0, v1
v_log_f32_e32 v0, v1
v_fma_f32 v0, -v1, v2, 1.0
v_fma_mix_f32 v0, v1, v2, v3 op_sel_hi:[1,0,0]
v_fma_mixlo_f16 v0, v1, v2, v3 op_sel_hi:[1,0,0]
v_fmac_f32_e32 v0, v1, v2
v_fmac_f32_e64 v0, v1, s2
v_fmaak_f32 v0, v1, v2, 0x3f000001
v_fmamk_f32 v0, v1, 0x3f000001, v2
v_lshl_add_u32 v0, v1, 2, v2
v_lshl_or_b32 v0, v1, 16, v2
v_lshlrev_b32_e32 v0, 2, v1
v_lshrrev_b32_e32 v0, 4, v1
v_mad_u32_u24 v0, v1, 0x60, v2
v_mbcnt_lo_u32_b32 v0, -1, 0
v_mov_b32_e32 v0, s0
v_mul_f16_e32 v0, v1, v2
v_add_f16_e32 v0, v1, v2
v_mul_f32_e32 v0, 0x3fb8aa3b, v1
v_mul_lo_u32 v0, v1, s2
v_mul_hi_u32 v0, v1, v2
v_mul_u32_u24_e32 v0, 0x84, v1
v_or3_b32 v0, v1, v2, v3
v_or_b32_e32 v0, v1, v2
v_pack_b32_f16 v0, v1, v2
v_perm_b32 v0, v1, v2, s0
v_rcp_f32_e32 v0, v1
v_rcp_iflag_f32_e32 v0, v1
v_readfirstlane_b32 s0, v1
v_readlane_b32 s0, v1, 31
v_writelane_b32 v0, s1, 3
v_rndne_f32_e32 v0, v1
v_ldexp_f32 v0, v1, v2
v_sqrt_f32_e32 v0, v1
v_rsq_f32_e32 v0, v1
v_sub_f32_e32 v0, v1, v2
v_subrev_nc_u32_e32 v0, v1, v2
v_sub_nc_u32_e32 v0, v1, v2
v_xor_b32_e32 v0, v1, v2
v_max_i32_e32 v0, v1, v2
v_min_u32_e32 v0, v1, v2
v_med3_i32 v0, v1, v2, v3
v_bfi_b32 v0, v1, v2, v3
v_alignbit_b32 v0, v1, v2, 8
v_swap_b32 v0, v1
v_permlane16_b32 v0, v1, s2, s3
v_permlanex16_b32 v0, v1, s2, s3
v_cmp_class_f32_e64 s0, v1, 0x204
v_cmp_eq_u32_e32 vcc_lo, 0, v1
v_cmp_ge_f32_e64 s0, v1, v2
v_cmp_gt_f32_e32 vcc_lo, v1, v2
v_cmp_gt_i32_e32 vcc_lo, s1, v2
v_cmp_gt_i32_e64 s0, s1, v2
v_cmp_gt_u32_e64 s0, s1, v2
v_cmp_le_i32_e64 s0, s1, v2
v_cmp_lt_f32_e64 s0, |v1|, v2
v_cmp_u_f32_e32 vcc_lo, v1, v1
v_cmp_eq_u64_e64 s0, v[0:1], v[2:3]
v_cmp_lt_u16_e64 s0, v1, v2
v_cmpx_eq_u32_e32 0, v1
v_cmpx_gt_i32_e64 s1, v2
v_cvt_f16_f32_e32 v0, v1
v_cvt_f32_f16_e32 v0, v1
v_cvt_f32_i32_e32 v0, v1
v_cvt_f32_u32_e32 v0, v1
v_cvt_i32_f32_e32 v0, v1
v_cvt_u32_f32_e32 v0, v1
v_cvt_pk_rtz_f16_f32_e32 v0, v1, v2
v_dual_add_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v7
v_dual_cndmask_b32 v0, v1, v2 :: v_dual_mov_b32 v3, 0
v_dual_fmac_f32 v0, v1, v2 :: v_dual_add_nc_u32 v3, v4, v7
v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[0,1,1]
v_pk_add_f16 v0, v1, v2
v_pk_mul_f16 v0, v1, 1.0 op_sel_hi:[1,0]
v_pk_add_u16 v0, v1, v2
v_pk_lshlrev_b16 v0, 8, v1 op_sel_hi:[0,1]
v_dot2_f32_f16 v0, v1, v2, v3

";

const GFX11: &str = "
buffer_gl0_inv
buffer_gl1_inv
s_add_i32 s0, s1, s2
s_add_u32 s0, s1, s2
s_addc_u32 s0, s1, 0
s_addk_i32 s0, 0xff00
s_sub_i32 s0, s1, s2
s_barrier
s_waitcnt vmcnt(3) lgkmcnt(0)
s_waitcnt_depctr 0xfffd
s_waitcnt_vscnt null, 0x0
v_lshlrev_b64 v[0:1], 2, v[2:3]
v_mad_i64_i32 v[0:1], null, v2, s3, v[4:5]
v_mad_u64_u32 v[0:1], null, v2, s3, 0
v_max_f32_e32 v0, v1, v1
v_med3_f32 v0, v1, v2, v3
v_dual_max_f32 v0, 0, v1 :: v_dual_max_f32 v3, 0, v2
v_pk_max_f16 v0, v1, v2
global_atomic_add_u32 v0, v1, v2, s[0:1] glc
v_wmma_f16_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
v_wmma_f16_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7] op_sel:[0,0,1]
v_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[16:23], 0
v_wmma_bf16_16x16x16_bf16 v[0:7], v[8:15], v[16:23], v[0:7]
v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[16:17], v[0:7] neg_lo:[1,1,0]
v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[16:19], v[0:7] neg_lo:[1,1,0] clamp
";

/// What RDNA 3.5 added.
const GFX115: &str = "
s_cvt_f32_u32 s0, s1
s_cvt_u32_f32 s0, s1
s_mul_f32 s0, s1, s2
s_add_f32 s0, s1, s2
";

const GFX12: &str = "
global_inv scope:SCOPE_DEV
global_wb scope:SCOPE_DEV
s_add_co_i32 s0, s1, s2
s_add_co_u32 s0, s1, s2
s_add_co_ci_u32 s0, s1, 0
s_add_nc_u64 s[0:1], s[2:3], s[4:5]
s_mul_u64 s[0:1], s[2:3], s[4:5]
s_addk_co_i32 s0, 0xff00
s_sub_co_i32 s0, s1, s2
s_barrier_signal -1
s_barrier_wait -1
s_load_b96 s[0:2], s[4:5], 0x10
s_wait_alu depctr_sa_sdst(0)
s_wait_dscnt 0x2
s_wait_kmcnt 0x0
s_wait_loadcnt 0x3
s_wait_loadcnt_dscnt 0x301
s_wait_storecnt 0x0
s_wait_storecnt_dscnt 0x0
v_lshlrev_b64_e32 v[0:1], 2, v[2:3]
v_mad_co_i64_i32 v[0:1], null, v2, s3, v[4:5]
v_mad_co_u64_u32 v[0:1], null, v2, s3, 0
v_max_num_f32_e32 v0, v1, v1
v_med3_num_f32 v0, v1, v2, v3
v_dual_max_num_f32 v0, 0, v1 :: v_dual_max_num_f32 v3, 0, v2
v_pk_max_num_f16 v0, v1, v2
v_cvt_pk_f32_fp8_e32 v[0:1], v2
v_cvt_pk_fp8_f32 v0, v1, v2
v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]
v_cvt_f32_fp8_e64 v0, v1 byte_sel:2
global_atomic_pk_add_f16 v0, v1, s[0:1]
global_atomic_add_u32 v0, v1, v2, s[0:1] th:TH_ATOMIC_RETURN
global_load_tr_b128 v[0:3], v4, s[0:1]
global_load_tr_b64 v[0:1], v4, s[0:1]
v_wmma_f16_16x16x16_f16 v[0:3], v[8:11], v[16:19], v[0:3]
v_wmma_f32_16x16x16_bf16 v[0:7], v[8:11], v[16:19], 0
v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[16:19], v[0:7]
v_wmma_f32_16x16x16_fp8_bf8 v[0:7], v[8:9], v[16:17], v[0:7]
v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[16:17], v[0:7]
v_wmma_i32_16x16x16_iu8 v[0:7], v[8:9], v[16:17], v[0:7]
v_wmma_i32_16x16x32_iu4 v[0:7], v[8:9], v[16:17], v[0:7]
v_wmma_i32_16x16x16_iu4 v[0:7], v8, v16, v[0:7]
";

/// gfx950's lines, whose names are those of the ninth generation.
const GFX950: &str = include_str!("gfx950.s");

/// A chip's lines.
pub fn lines(chip: &str) -> String {
    match chip {
        "gfx950" => GFX950.to_owned(),
        "gfx1201" => format!("{COMMON}{GFX12}{GFX115}"),
        "gfx1151" => format!("{COMMON}{GFX11}{GFX115}"),
        _ => format!("{COMMON}{GFX11}"),
    }
}

#[test]
fn every_instruction_in_scope_is_known() {
    for chip in [&crate::CHIPS[..], &["gfx950"]].concat() {
        let object = build::kernel(chip, &lines(chip));
        let unsupported = object.unsupported("k").unwrap();
        assert!(unsupported.is_empty(), "{chip}: {unsupported:#?}");
    }
}

#[test]
fn what_is_not_known_is_named() {
    let body = "s_mov_b32 s0, 1\nds_bvh_stack_rtn_b32 v0, v1, v2, v[3:6]\nimage_load v0, v[0:1], \
                s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    let object = build::kernel("gfx1100", body);
    let unsupported = object.unsupported("k").unwrap();
    assert_eq!(unsupported.len(), 2);
    assert_eq!(
        unsupported[0].instruction,
        "ds_bvh_stack_rtn_b32 v0, v1, v2, v[3:6]"
    );
    let mut simulator = tilefold_sim::Simulator::new();
    let launch = tilefold_sim::Launch::default();
    let error = simulator.launch(&object, "k", launch).unwrap_err();
    assert!(
        error.to_string().contains("ds_bvh_stack") && error.to_string().contains("0x"),
        "{error}"
    );
}

#[test]
fn modifiers_that_are_not_simulated_are_named() {
    for (chip, text, name) in [
        ("gfx1100", "ds_add_u32 v0, v1 gds", "gds"),
        (
            "gfx1100",
            "v_fma_mix_f32_e64_dpp v0, v1, v2, v3 quad_perm:[0,1,2,3]",
            "quad_perm",
        ),
        (
            "gfx1100",
            "v_mbcnt_lo_u32_b32_e64_dpp v0, v1, v2 quad_perm:[0,1,2,3]",
            "quad_perm",
        ),
        (
            "gfx1201",
            "v_cvt_sr_fp8_f32_e64_dpp v0, v1, v2 row_share:1",
            "row_share",
        ),
        ("gfx1100", "v_sad_u8 v0, v1, v2, v3 clamp", "clamping"),
        (
            "gfx1100",
            "v_dot2_f32_f16 v0, v1, v2, v3 op_sel:[1,0,0]",
            "op_sel",
        ),
        (
            "gfx1100",
            "v_cvt_pk_rtz_f16_f32_e64 v0, v1, v2 mul:2",
            "scale",
        ),
        (
            "gfx1100",
            "v_frexp_exp_i32_f32_e64 v0, v1 clamp",
            "clamping",
        ),
    ] {
        let unsupported = build::kernel(chip, text).unsupported("k").unwrap();
        let [only] = &unsupported[..] else {
            panic!("{text}: {unsupported:#?}");
        };
        assert!(only.reason.contains(name), "{text}: {}", only.reason);
    }
}
