buffer_inv sc1
buffer_wbl2 sc1
buffer_load_dword v0, off, s[0:3], 0 offset:32
buffer_load_dword v0, v5, s[0:3], s9 offen offset:4092 sc0 nt
buffer_load_dword v0, v[4:5], s[0:3], 0 idxen offen
buffer_load_dwordx2 v[0:1], v5, s[0:3], 0 offen
buffer_load_dwordx3 v[0:2], v5, s[0:3], 0 offen
buffer_load_dwordx4 v[0:3], v5, s[0:3], s9 offen offset:32
buffer_load_dwordx4 a[0:3], v5, s[0:3], 0 offen
buffer_load_ubyte v0, v5, s[0:3], 0 offen
buffer_load_sbyte v0, v5, s[0:3], 0 offen
buffer_load_ushort v0, v5, s[0:3], 0 offen
buffer_load_sshort v0, v5, s[0:3], 0 offen
buffer_load_ubyte_d16 v0, v5, s[0:3], 0 offen
buffer_load_sbyte_d16_hi v0, v5, s[0:3], 0 offen
buffer_load_short_d16 v0, v5, s[0:3], 0 offen
buffer_load_short_d16_hi v0, v5, s[0:3], 0 offen
buffer_load_dword v5, s[0:3], 0 offen lds
buffer_load_dword off, s[0:3], s9 offset:16 lds
buffer_load_ushort v5, s[0:3], 0 offen lds
buffer_load_ubyte v5, s[0:3], 0 offen lds
buffer_load_dwordx3 v5, s[0:3], 0 offen lds
buffer_load_dwordx4 v5, s[0:3], s9 offen offset:2048 sc1 lds
buffer_store_byte v0, v5, s[0:3], 0 offen
buffer_store_byte_d16_hi v0, v5, s[0:3], 0 offen
buffer_store_short v0, v5, s[0:3], 0 offen
buffer_store_short_d16_hi v0, v5, s[0:3], 0 offen
buffer_store_dword v0, v5, s[0:3], 0 offen
buffer_store_dwordx2 v[0:1], v5, s[0:3], 0 offen
buffer_store_dwordx3 v[0:2], v5, s[0:3], 0 offen
buffer_store_dwordx4 v[0:3], v5, s[0:3], 0 offen nt
buffer_store_dwordx4 a[0:3], v5, s[0:3], 0 offen
buffer_atomic_add v0, v5, s[0:3], 0 offen
buffer_atomic_add v0, v5, s[0:3], 0 offen sc0
buffer_atomic_add_x2 v[0:1], v5, s[0:3], 0 offen
buffer_atomic_add_f32 v0, v5, s[0:3], 0 offen
buffer_atomic_add_f64 v[0:1], v5, s[0:3], 0 offen
buffer_atomic_max_f64 v[0:1], v5, s[0:3], 0 offen
buffer_atomic_pk_add_f16 v0, v5, s[0:3], 0 offen
buffer_atomic_pk_add_bf16 v0, v5, s[0:3], 0 offen sc0
buffer_atomic_cmpswap v[0:1], v5, s[0:3], 0 offen sc0
buffer_atomic_cmpswap_x2 v[0:3], v5, s[0:3], 0 offen
buffer_atomic_swap v0, v5, s[0:3], 0 offen
buffer_atomic_umax v0, v5, s[0:3], 0 offen
buffer_atomic_inc v0, v5, s[0:3], 0 offen
ds_bpermute_b32 v0, v1, v2
ds_permute_b32 v0, v1, v2
ds_read2_b32 v[0:1], v2 offset1:8
ds_read2_b64 v[0:3], v4 offset0:1 offset1:8
ds_read2st64_b32 v[0:1], v2 offset1:8
ds_read2st64_b64 v[0:3], v4 offset1:8
ds_read_b128 v[0:3], v4 offset:65520
ds_read_b128 a[0:3], v4
ds_read_b96 v[0:2], v4
ds_read_b64 v[0:1], v4
ds_read_b32 v0, v4
ds_read_u16 v0, v4
ds_read_i16 v0, v4
ds_read_u16_d16 v0, v4
ds_read_u16_d16_hi v0, v4
ds_read_u8 v0, v4
ds_read_u8_d16 v0, v4
ds_read_i8 v0, v4
ds_read_i8_d16_hi v0, v4
ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,"0p1pi")
ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)
ds_write2_b32 v2, v3, v4 offset1:8
ds_write2_b64 v2, v[4:5], v[6:7] offset1:8
ds_write2st64_b32 v2, v3, v4 offset1:8
ds_write2st64_b64 v2, v[4:5], v[6:7] offset1:8
ds_write_b128 v4, v[0:3]
ds_write_b128 v4, a[0:3]
ds_write_b96 v4, v[0:2]
ds_write_b64 v4, v[0:1]
ds_write_b32 v4, v0
ds_write_b16 v4, v0
ds_write_b16_d16_hi v4, v0
ds_write_b8 v4, v0
ds_write_b8_d16_hi v4, v0
ds_add_u32 v4, v0
ds_add_rtn_u32 v1, v4, v0
ds_sub_u32 v4, v0
ds_rsub_u32 v4, v0
ds_inc_u32 v4, v0
ds_dec_rtn_u32 v1, v4, v0
ds_min_i32 v4, v0
ds_max_u32 v4, v0
ds_and_b32 v4, v0
ds_or_b32 v4, v0
ds_xor_b32 v4, v0
ds_add_f32 v4, v0
ds_add_rtn_f32 v1, v4, v0
ds_min_f32 v4, v0
ds_max_rtn_f32 v1, v4, v0
ds_pk_add_f16 v4, v0
ds_pk_add_rtn_bf16 v1, v4, v0
ds_wrxchg_rtn_b32 v1, v4, v0
ds_cmpst_b32 v4, v0, v1
ds_cmpst_rtn_b32 v1, v4, v0, v2
ds_cmpst_rtn_b64 v[6:7], v4, v[0:1], v[2:3]
ds_add_u64 v4, v[0:1]
ds_add_f64 v4, v[0:1]
ds_add_rtn_f64 v[2:3], v4, v[0:1]
flat_load_dword v0, v[2:3]
flat_load_dwordx2 v[0:1], v[2:3] offset:16
flat_load_dwordx4 v[0:3], v[4:5]
flat_load_ubyte v0, v[2:3]
flat_load_short_d16_hi v0, v[2:3]
flat_store_dword v[2:3], v0
flat_store_dwordx4 v[4:5], v[0:3]
flat_store_short v[2:3], v0
flat_store_byte v[2:3], v0
flat_atomic_add v[2:3], v0
flat_atomic_add v1, v[2:3], v0 sc0
flat_atomic_add_f32 v[2:3], v0
flat_atomic_cmpswap v0, v[2:3], v[4:5] sc0
flat_atomic_pk_add_f16 v[2:3], v0
global_atomic_add v0, v1, s[0:1]
global_atomic_add v2, v0, v1, s[0:1] sc0
global_atomic_add v[2:3], v0, off
global_atomic_add_f32 v0, v1, s[0:1]
global_atomic_add_f32 v2, v0, v1, s[0:1] sc0
global_atomic_add_f64 v[2:3], v[0:1], off
global_atomic_pk_add_f16 v0, v1, s[0:1]
global_atomic_pk_add_bf16 v0, v1, s[0:1]
global_atomic_cmpswap v0, v[2:3], s[0:1]
global_atomic_cmpswap v1, v0, v[2:3], s[0:1] sc0
global_atomic_cmpswap_x2 v[0:1], v[2:3], v[4:7], off sc0
global_atomic_add_x2 v0, v[2:3], s[0:1]
global_atomic_umin v0, v1, s[0:1]
global_atomic_smax v0, v1, s[0:1]
global_atomic_swap v2, v0, v1, s[0:1] sc0
global_load_dword v0, v1, s[0:1]
global_load_dword v0, v[2:3], off offset:-16 sc0 sc1
global_load_dwordx2 v[0:1], v2, s[0:1]
global_load_dwordx3 v[0:2], v3, s[0:1]
global_load_dwordx4 v[0:3], v[4:5], off offset:4080 nt
global_load_dwordx4 a[0:3], v[4:5], off
global_load_lds_dword v[0:1], off
global_load_lds_dword v0, s[0:1] offset:16
global_load_lds_ushort v[0:1], off
global_load_lds_ubyte v[0:1], off
global_load_lds_dwordx3 v[0:1], off
global_load_lds_dwordx4 v[0:1], off offset:64
global_load_ubyte v0, v[2:3], off
global_load_sbyte v0, v[2:3], off
global_load_ushort v0, v[2:3], off
global_load_sshort v0, v[2:3], off
global_load_ubyte_d16 v0, v[2:3], off
global_load_short_d16 v0, v[2:3], off
global_load_short_d16_hi v0, v[2:3], off
global_store_byte v4, v0, s[0:1]
global_store_byte_d16_hi v4, v0, s[0:1]
global_store_short v4, v0, s[0:1]
global_store_short_d16_hi v4, v0, s[0:1]
global_store_dword v4, v0, s[0:1]
global_store_dword v[4:5], a0, off
global_store_dwordx2 v[4:5], v[0:1], off
global_store_dwordx3 v[4:5], v[0:2], off
global_store_dwordx4 v4, v[0:3], s[0:1]
scratch_load_dword v0, off, s33 offset:28
scratch_load_dword v0, v1, off
scratch_load_dwordx4 v[0:3], off, off offset:16
scratch_load_ushort v0, off, s33
scratch_load_short_d16 v0, off, s33
scratch_store_dword off, v0, s33 offset:28
scratch_store_dword v1, v0, off
scratch_store_dwordx4 off, v[0:3], off
scratch_store_short off, v0, s33
scratch_store_byte_d16_hi off, v0, s33
s_abs_i32 s0, s1
s_absdiff_i32 s0, s1, s2
s_add_i32 s0, s1, s2
s_add_u32 s0, s1, s2
s_addc_u32 s0, s1, 0
s_addk_i32 s0, 0xff00
s_and_b32 s0, s1, s2
s_and_b64 s[0:1], exec, vcc
s_and_saveexec_b64 s[0:1], vcc
s_andn1_saveexec_b64 s[0:1], s[2:3]
s_andn2_saveexec_b64 s[0:1], s[2:3]
s_or_saveexec_b64 s[0:1], s[2:3]
s_orn1_saveexec_b64 s[0:1], s[2:3]
s_orn2_saveexec_b64 s[0:1], s[2:3]
s_xor_saveexec_b64 s[0:1], -1
s_nand_saveexec_b64 s[0:1], s[2:3]
s_nor_saveexec_b64 s[0:1], s[2:3]
s_xnor_saveexec_b64 s[0:1], s[2:3]
s_andn1_wrexec_b64 s[0:1], s[2:3]
s_andn2_wrexec_b64 s[0:1], s[2:3]
s_andn2_b32 s0, s1, s2
s_andn2_b64 exec, exec, s[0:1]
s_orn2_b32 s0, s1, s2
s_orn2_b64 s[0:1], s[2:3], exec
s_or_b64 exec, exec, s[0:1]
s_nand_b64 s[0:1], s[2:3], s[4:5]
s_nor_b64 s[0:1], s[2:3], s[4:5]
s_xnor_b64 s[0:1], s[2:3], s[4:5]
s_xor_b64 s[0:1], s[2:3], -1
s_not_b64 s[0:1], s[2:3]
s_ashr_i32 s0, s1, 31
s_ashr_i64 s[0:1], s[2:3], 31
s_bcnt0_i32_b64 s0, s[2:3]
s_bcnt1_i32_b32 s0, s1
s_bcnt1_i32_b64 s0, vcc
s_bfe_u32 s0, s1, 0x50019
s_bfe_i32 s0, s1, 0x50019
s_bfe_u64 s[0:1], s[2:3], 0x50019
s_bfe_i64 s[0:1], s[2:3], 0x100000
s_bfm_b32 s0, s1, s2
s_bfm_b64 s[0:1], s2, s3
s_bitset0_b32 s0, s1
s_bitset1_b64 s[0:1], s2
s_bitcmp1_b32 s0, 3
s_bitreplicate_b64_b32 s[0:1], s2
s_brev_b32 s0, s1
s_brev_b64 s[0:1], s[2:3]
s_cselect_b32 s0, -1, 0
s_cselect_b64 s[0:1], -1, 0
s_cmov_b32 s0, s1
s_cmov_b64 s[0:1], s[2:3]
s_cmovk_i32 s0, 0x10
s_cmp_eq_u32 s0, 0
s_cmp_eq_u64 s[0:1], 0
s_cmp_lg_u64 s[0:1], 0
s_cmp_ge_i32 s0, s1
s_cmpk_lt_i32 s0, 0xfff0
s_cmpk_gt_u32 s0, 0xfff0
s_ff0_i32_b32 s0, s1
s_ff1_i32_b32 s0, s1
s_ff1_i32_b64 s0, vcc
s_flbit_i32_b32 s0, s1
s_flbit_i32_b64 s0, s[2:3]
s_flbit_i32 s0, s1
s_flbit_i32_i64 s0, s[2:3]
s_lshl1_add_u32 s0, s1, s2
s_lshl4_add_u32 s0, s1, s2
s_lshl_b32 s0, s1, 5
s_lshl_b64 s[0:1], s[2:3], 5
s_lshr_b32 s0, s1, 5
s_lshr_b64 s[0:1], s[2:3], 5
s_max_i32 s0, s1, 0
s_max_u32 s0, s1, 0
s_min_i32 s0, s1, 64
s_min_u32 s0, s1, 64
s_mov_b32 s0, 0x12345678
s_mov_b32 m0, s4
s_mov_b64 s[0:1], exec
s_mov_b64 s[0:1], src_private_base
s_mov_b64 s[0:1], src_shared_base
s_movk_i32 s0, 0x1000
s_mul_hi_u32 s0, s1, s2
s_mul_hi_i32 s0, s1, s2
s_mul_i32 s0, s1, s2
s_mulk_i32 s0, 0x60
s_pack_hh_b32_b16 s0, s1, s2
s_pack_ll_b32_b16 s0, s1, s2
s_pack_lh_b32_b16 s0, s1, s2
s_quadmask_b64 s[0:1], s[2:3]
s_wqm_b64 exec, exec
s_sext_i32_i8 s0, s1
s_sext_i32_i16 s0, s1
s_sub_i32 s0, s1, s2
s_sub_u32 s0, s1, s2
s_subb_u32 s0, s1, s2
s_xor_b32 s0, s1, -1
s_nop 7
s_setprio 1
s_sleep 1
s_barrier
s_sendmsg sendmsg(MSG_INTERRUPT)
s_sethalt 0
s_icache_inv
s_dcache_inv
s_dcache_wb
s_waitcnt vmcnt(63) lgkmcnt(15)
s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
s_load_dword s0, s[4:5], s6
s_load_dword s0, s[4:5], s6 offset:0x10
s_load_dwordx2 s[0:1], s[4:5], 0x24
s_load_dwordx4 s[0:3], s[4:5], 0x10
s_load_dwordx8 s[0:7], s[8:9], 0x0
s_load_dwordx16 s[16:31], s[4:5], 0x0
s_buffer_load_dword s0, s[4:7], 0x10
s_buffer_load_dwordx4 s[16:19], s[4:7], 0x10
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15
v_accvgpr_read_b32 v0, a1
v_accvgpr_write_b32 a1, v0
v_accvgpr_write_b32 a1, 0
v_accvgpr_mov_b32 a1, a2
v_add3_u32 v0, v1, s2, v3
v_add_co_u32_e32 v0, vcc, s0, v0
v_add_co_u32_e64 v0, s[2:3], v1, v0
v_addc_co_u32_e32 v1, vcc, v2, v1, vcc
v_addc_co_u32_e64 v1, s[0:1], v2, v1, s[2:3]
v_sub_co_u32_e32 v0, vcc, s0, v0
v_subb_co_u32_e32 v1, vcc, v2, v1, vcc
v_subbrev_co_u32_e32 v1, vcc, 0, v1, vcc
v_subrev_co_u32_e32 v0, vcc, s0, v0
v_add_f32_dpp v0, v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
v_add_f32_dpp v0, v1, v2 row_bcast:15 row_mask:0xa bank_mask:0xf
v_add_f32_dpp v0, v1, v2 row_bcast:31 row_mask:0xc bank_mask:0xf
v_add_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
v_mov_b32_dpp v0, v1 row_newbcast:3 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v0, v1 wave_shr:1 row_mask:0xf bank_mask:0xf
v_mov_b64_dpp v[0:1], v[2:3] row_newbcast:3 row_mask:0xf bank_mask:0xf
v_add_f32_e32 v0, v1, v2
v_add_f32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD
v_add_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0
v_add_u32_sdwa v0, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD
v_and_b32_sdwa v0, s1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_2
v_lshlrev_b32_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:DWORD src1_sel:BYTE_3
v_cvt_f32_f16_sdwa v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_2
v_cvt_pk_f32_fp8_sdwa v[0:1], v2 src0_sel:WORD_1
v_cmp_eq_u16_sdwa vcc, v1, v2 src0_sel:WORD_1 src1_sel:DWORD
v_cmp_eq_u32_sdwa s[2:3], v1, v2 src0_sel:BYTE_1 src1_sel:DWORD
v_cndmask_b32_sdwa v0, v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1
v_add_u16_e32 v0, v1, v2
v_add_u16_e64 v0, v1, v2 clamp
v_add_u32_e32 v0, 64, v1
v_add_u32_e64 v0, v1, v2 clamp
v_sub_u32_e32 v0, v1, v2
v_subrev_u32_e32 v0, v1, v2
v_add_i32 v0, v1, v2
v_add_i32 v0, v1, v2 clamp
v_sub_i32 v0, v1, v2
v_add_i16 v0, v1, v2
v_add_lshl_u32 v0, v1, v2, 2
v_alignbit_b32 v0, v1, v2, 8
v_alignbyte_b32 v0, v1, v2, 3
v_and_b32_e32 v0, 0x3ff, v0
v_and_or_b32 v0, v1, 15, v2
v_ashr_pk_i8_i32 v0, v1, v2, v3
v_ashr_pk_u8_i32 v0, v1, v2, v3
v_ashrrev_i16_e32 v0, 3, v1
v_ashrrev_i32_e32 v0, 31, v1
v_ashrrev_i64 v[0:1], 3, v[2:3]
v_bcnt_u32_b32 v0, v1, v2
v_bfe_i32 v0, v0, 10, 10
v_bfe_u32 v0, v0, 10, 10
v_bfi_b32 v0, v1, v2, v3
v_bfrev_b32_e32 v0, v1
v_bitop3_b16 v0, v1, v2, v3 bitop3:0x40
v_bitop3_b32 v0, v1, s2, v3 bitop3:0x96
v_cmp_class_f32_e32 vcc, v1, v2
v_cmp_class_f32_e64 s[0:1], v1, v2
v_cmp_class_f16_e64 s[0:1], v1, v2
v_cmp_class_f64_e64 s[0:1], v[2:3], v4
v_cmp_eq_u32_e32 vcc, 0, v1
v_cmp_eq_u64_e64 s[0:1], v[0:1], v[2:3]
v_cmp_gt_f16_e32 vcc, v1, v2
v_cmp_gt_f64_e32 vcc, v[0:1], v[2:3]
v_cmp_lt_f32_e64 s[0:1], |v1|, v2
v_cmp_ne_u16_e64 s[0:1], v1, v2
v_cmp_nlt_f32_e32 vcc, v1, v2
v_cmp_u_f32_e64 s[0:1], v1, v1
v_cmpx_eq_u32_e32 vcc, 0, v1
v_cmpx_gt_i32_e64 s[0:1], s1, v2
v_cndmask_b32_e32 v0, 0, v1, vcc
v_cndmask_b32_e64 v0, 0, -1.0, s[0:1]
v_cvt_f16_f32_e32 v0, v1
v_cvt_f16_u16_e32 v0, v1
v_cvt_f16_i16_e32 v0, v1
v_cvt_u16_f16_e32 v0, v1
v_cvt_f32_bf16_e32 v0, v1
v_cvt_f32_f16_e32 v0, v1
v_cvt_f32_f64_e32 v0, v[2:3]
v_cvt_f64_f32_e32 v[0:1], v2
v_cvt_f64_i32_e32 v[0:1], v2
v_cvt_i32_f64_e32 v0, v[2:3]
v_cvt_f32_fp8_e32 v0, v1
v_cvt_f32_bf8_e32 v0, v1
v_cvt_f32_i32_e32 v0, v1
v_cvt_f32_u32_e32 v0, v1
v_cvt_f32_ubyte0_e32 v0, v1
v_cvt_f32_ubyte3_e32 v0, v1
v_cvt_flr_i32_f32_e32 v0, v1
v_cvt_i32_f32_e32 v0, v1
v_cvt_u32_f32_e32 v0, v1
v_cvt_pk_bf16_f32 v0, v1, v2
v_cvt_pk_f16_f32 v0, v1, v2
v_cvt_pk_bf8_f32 v0, v1, v2
v_cvt_pk_f32_bf8_e32 v[0:1], v2
v_cvt_pk_f32_fp8_e32 v[0:1], v2
v_cvt_pk_fp8_f32 v0, v1, v2
v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]
v_cvt_pk_i16_i32 v0, v1, v2
v_cvt_pk_u16_u32 v0, v1, v2
v_cvt_pkrtz_f16_f32 v0, v1, v2
v_div_fixup_f16 v0, v1, v2, v3
v_div_fixup_f32 v0, v1, v2, v3
v_div_fixup_f64 v[0:1], v[2:3], v[4:5], v[6:7]
v_div_fmas_f32 v0, v1, v2, v3
v_div_fmas_f64 v[0:1], v[2:3], v[4:5], v[6:7]
v_div_scale_f32 v0, s[0:1], v1, v2, v3
v_div_scale_f32 v0, vcc, v1, v2, v3
v_div_scale_f64 v[0:1], s[0:1], v[2:3], v[4:5], v[6:7]
v_dot2_f32_bf16 v0, v1, v2, v3
v_dot2_f32_f16 v0, v1, v2, v3
v_dot2_i32_i16 v0, v1, v2, v3
v_dot2_u32_u16 v0, v1, v2, v3
v_dot2c_f32_f16_e32 v0, v1, v2
v_dot2c_f32_bf16_e32 v0, v1, v2
v_dot2c_i32_i16_e32 v0, v1, v2
v_dot4_i32_i8 v0, v1, v2, v3
v_dot4_u32_u8 v0, v1, v2, v3
v_dot4c_i32_i8_e32 v0, v1, v2
v_dot8_i32_i4 v0, v1, v2, v3
v_dot8_u32_u4 v0, v1, v2, v3
v_exp_f32_e32 v0, v1
v_exp_f16_e32 v0, v1
v_ffbh_i32_e32 v0, v1
v_ffbh_u32_e32 v0, v1
v_ffbl_b32_e32 v0, v1
v_floor_f32_e32 v0, v1
v_fma_f16 v0, v1, v2, v3
v_fma_f32 v0, -v1, v2, 1.0
v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]
v_fma_mix_f32 v0, v1, v2, v3 op_sel_hi:[1,0,0]
v_fma_mixlo_f16 v0, v1, v2, v3 op_sel_hi:[1,0,0]
v_fma_mixhi_f16 v0, v1, v2, v3 op_sel_hi:[1,0,0]
v_fmaak_f32 v0, v1, v2, 0x3f000001
v_fmac_f32_e32 v0, v1, v2
v_fmac_f64_e32 v[0:1], v[2:3], v[4:5]
v_fmamk_f32 v0, v1, 0x3f000001, v2
v_fract_f16_e32 v0, v1
v_fract_f32_e32 v0, v1
v_fract_f64_e32 v[0:1], v[2:3]
v_frexp_exp_i16_f16_e32 v0, v1
v_frexp_exp_i32_f32_e32 v0, v1
v_frexp_exp_i32_f64_e32 v0, v[2:3]
v_frexp_mant_f16_e32 v0, v1
v_frexp_mant_f32_e32 v0, v1
v_frexp_mant_f64_e32 v[0:1], v[2:3]
v_ldexp_f16_e32 v0, v1, v2
v_ldexp_f32 v0, v1, v2
v_ldexp_f64 v[0:1], v[2:3], v4
v_log_f32_e32 v0, v1
v_lshl_add_u32 v0, v1, 2, v2
v_lshl_add_u64 v[0:1], s[2:3], 3, v[4:5]
v_lshl_or_b32 v0, v1, 16, v2
v_lshlrev_b16_e32 v0, 3, v1
v_lshlrev_b32_e32 v0, 2, v1
v_lshlrev_b64 v[0:1], 2, v[2:3]
v_lshrrev_b16_e32 v0, 3, v1
v_lshrrev_b32_e32 v0, 4, v1
v_lshrrev_b64 v[0:1], 2, v[2:3]
v_mad_i32_i16 v0, v1, v2, v3
v_mad_i32_i24 v0, v1, v2, v3
v_mad_i64_i32 v[0:1], s[0:1], v2, s3, v[4:5]
v_mad_legacy_u16 v0, v1, v2, v3
v_mad_u16 v0, v1, v2, v3
v_mad_u32_u16 v0, v1, v2, v3
v_mad_u32_u24 v0, v1, 32, v2
v_mad_u64_u32 v[0:1], s[0:1], v2, s3, 0
v_max3_f32 v0, v1, v2, v3
v_max3_i32 v0, v1, v2, v3
v_max3_i16 v0, v1, v2, v3
v_max3_f16 v0, v1, v2, v3
v_max_f16_e32 v0, v1, v2
v_max_f32_e32 v0, v1, v2
v_max_f64 v[0:1], v[2:3], v[4:5]
v_max_i16_e32 v0, v1, v2
v_max_i32_e32 v0, v1, v2
v_max_u32_e32 v0, v1, v2
v_maximum3_f32 v0, v1, v2, v3
v_minimum3_f32 v0, v1, v2, v3
v_pk_maximum3_f16 v0, v1, v2, v3
v_pk_minimum3_f16 v0, v1, v2, v3
v_mbcnt_hi_u32_b32 v0, -1, v1
v_mbcnt_lo_u32_b32 v0, -1, 0
v_med3_f16 v0, v1, v2, v3
v_med3_f32 v0, v1, v2, v3
v_med3_i32 v0, v1, v2, v3
v_min_f64 v[0:1], v[2:3], v[4:5]
v_min_u16_e32 v0, v1, v2
v_mov_b32_e32 v0, s0
v_mov_b64_e32 v[0:1], s[2:3]
v_mov_b64_e32 v[0:1], -1
v_mov_b32_sdwa v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0
v_mul_f16_e32 v0, v1, v2
v_mul_f32_e32 v0, 0x3fb8aa3b, v1
v_mul_f64 v[0:1], v[2:3], v[4:5]
v_add_f64 v[0:1], v[2:3], -v[4:5]
v_mul_hi_u32 v0, v1, v2
v_mul_hi_i32 v0, v1, v2
v_mul_hi_u32_u24_e32 v0, v1, v2
v_mul_i32_i24_e32 v0, v1, v2
v_mul_legacy_f32 v0, v1, v2
v_mul_lo_u16_e32 v0, v1, v2
v_mul_lo_u32 v0, v1, s2
v_mul_u32_u24_e32 v0, 0x84, v1
v_not_b32_e32 v0, v1
v_or3_b32 v0, v1, v2, v3
v_or_b32_e32 v0, v1, v2
v_pack_b32_f16 v0, v1, v2
v_pack_b32_f16 v0, v1, v2 op_sel:[1,1,0]
v_perm_b32 v0, v1, v2, s0
v_pk_add_f16 v0, v1, v2
v_pk_add_f32 v[0:1], v[2:3], v[4:5] op_sel:[0,1] op_sel_hi:[1,0]
v_pk_add_f32 v[0:1], v[2:3], 1.0 op_sel_hi:[1,0]
v_pk_add_u16 v0, v1, v2
v_pk_add_u16 v0, v1, v2 clamp
v_pk_sub_i16 v0, v1, v2
v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[0,1,1]
v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] neg_lo:[0,1,0] neg_hi:[0,1,0]
v_pk_fmac_f16_e32 v0, v1, v2
v_pk_lshlrev_b16 v0, 8, v1 op_sel_hi:[0,1]
v_pk_mad_u16 v0, v1, v2, v3
v_pk_max_f16 v0, v1, v2
v_pk_min_i16 v0, v1, v2
v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]
v_pk_mov_b32 v[0:1], s[2:3], v[4:5] op_sel:[0,1]
v_pk_mul_f16 v0, v1, 1.0 op_sel_hi:[1,0]
v_pk_mul_f32 v[0:1], v[2:3], s[4:5]
v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel_hi:[1,0]
v_pk_mul_lo_u16 v0, v1, v2
v_rcp_f16_e32 v0, v1
v_rcp_f32_e32 v0, v1
v_rcp_f64_e32 v[0:1], v[2:3]
v_rcp_iflag_f32_e32 v0, v1
v_readfirstlane_b32 s0, v1
v_readlane_b32 s0, v1, 31
v_readlane_b32 s0, v1, s2
v_rndne_f32_e32 v0, v1
v_rsq_f32_e32 v0, v1
v_rsq_f64_e32 v[0:1], v[2:3]
v_sad_u32 v0, v1, v2, v3
v_sqrt_f32_e32 v0, v1
v_sub_f32_e32 v0, v1, v2
v_subrev_f32_e32 v0, v1, v2
v_sub_u16_e32 v0, v1, v2
v_swap_b32 v0, v1
v_trunc_f32_e32 v0, v1
v_trunc_f64_e32 v[0:1], v[2:3]
v_ceil_f64_e32 v[0:1], v[2:3]
v_writelane_b32 v0, s1, 3
v_xad_u32 v0, v1, v2, v3
v_xnor_b32_e32 v0, v1, v2
v_xor_b32_e32 v0, v1, v2
v_nop
s_cmp_ge_u32 s0, s1
s_cmp_gt_i32 s0, 0
s_cmp_lg_u32 s0, s1
s_cmp_lt_i32 s0, s1
v_cmp_ge_f32_e32 vcc, v1, v2
v_cmp_ge_u32_e64 s[0:1], v1, v2
v_cmp_gt_f32_e64 s[0:1], v1, v2
v_cmp_gt_i32_e32 vcc, s1, v2
v_cmp_gt_i32_e64 s[0:1], s1, v2
v_cmp_gt_u32_e32 vcc, v1, v2
v_cmp_le_i32_e32 vcc, v1, v2
v_cmp_le_i32_e64 s[0:1], v1, v2
v_cmp_lt_f32_e32 vcc, v1, v2
v_cmp_lt_u32_e64 s[0:1], v1, v2
v_cmp_ne_u32_e64 s[0:1], v1, v2
