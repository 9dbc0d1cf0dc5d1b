//! Atomic operations of gfx950 on memory and LDS, one lane at a time.

use crate::cdna_memory::{BEGIN, silent};

/// Executes on lane 0 with v[10:11] = 5 and 0, v[12:13] = 7 and 0; the memory holds `before`; the
/// values returned are the memory afterwards and v[20:21].
fn atomic(text: &str, before: [u32; 2]) -> [u32; 4] {
    let body = format!(
        "{BEGIN}
s_mov_b64 exec, 1
s_mov_b32 s8, s6
s_mov_b32 s9, s7
v_mov_b32 v3, 0
v_mov_b32 v20, {:#x}
v_mov_b32 v21, {:#x}
ds_write_b64 v3, v[20:21]
s_waitcnt lgkmcnt(0)
global_store_dwordx2 v3, v[20:21], s[6:7]
v_mov_b32 v10, 5
v_mov_b32 v11, 0
v_mov_b32 v12, 7
v_mov_b32 v13, 0
v_mov_b32 v14, s6
v_mov_b32 v15, s7
v_mov_b32 v20, -1
v_mov_b32 v21, -1
s_waitcnt vmcnt(0)
{text}
s_waitcnt vmcnt(0) lgkmcnt(0)
global_store_dwordx2 v3, v[20:21], s[6:7] offset:8
{}",
        before[0],
        before[1],
        match text.starts_with("ds_") {
            true =>
                "ds_read_b64 v[22:23], v3\ns_waitcnt lgkmcnt(0)\n\
                     global_store_dwordx2 v3, v[22:23], s[6:7]",
            false => "",
        }
    );
    silent(&body, 1, 4).try_into().unwrap()
}

#[test]
fn atomics() {
    const NONE: u32 = u32::MAX;
    let (one, two) = (1_f32.to_bits(), 2_f32.to_bits());
    let double = |value: f64| [value.to_bits() as u32, (value.to_bits() >> 32) as u32];
    let with = |lines: &str, text: &str| format!("{lines}\n{text}");
    let cases: Vec<(String, [u32; 2], [u32; 4])> = vec![
        (
            "global_atomic_add v3, v10, s[6:7]".into(),
            [3, 9],
            [8, 9, NONE, NONE],
        ),
        (
            "global_atomic_add v20, v3, v10, s[6:7] sc0".into(),
            [3, 9],
            [8, 9, 3, NONE],
        ),
        (
            "global_atomic_sub v[14:15], v10, off".into(),
            [3, 9],
            [NONE - 1, 9, NONE, NONE],
        ),
        (
            "flat_atomic_umax v20, v[14:15], v10 sc0".into(),
            [3, 9],
            [5, 9, 3, NONE],
        ),
        (
            "buffer_atomic_smin v10, v3, s[8:11], 0 offen".into(),
            [NONE, 9],
            [NONE, 9, NONE, NONE],
        ),
        (
            "buffer_atomic_inc v10, v3, s[8:11], 0 offen".into(),
            [5, 9],
            [0, 9, NONE, NONE],
        ),
        (
            "buffer_atomic_inc v10, v3, s[8:11], 0 offen".into(),
            [8, 9],
            [0, 9, NONE, NONE],
        ),
        (
            "buffer_atomic_dec v10, v3, s[8:11], 0 offen".into(),
            [0, 9],
            [5, 9, NONE, NONE],
        ),
        (
            "ds_dec_rtn_u32 v20, v3, v10".into(),
            [8, 9],
            [5, 9, 8, NONE],
        ),
        (
            "global_atomic_add_x2 v[20:21], v3, v[10:11], s[6:7] sc0".into(),
            [NONE, 1],
            [4, 2, NONE, 1],
        ),
        // Half of it is in range, which is nothing of it.
        (
            with(
                "s_mov_b32 s10, 4",
                "buffer_atomic_add_x2 v[10:11], v3, s[8:11], 0 offen sc0\ns_waitcnt vmcnt(0)\n\
                 v_mov_b32 v20, v10\nv_mov_b32 v21, v11",
            ),
            [3, 9],
            [3, 9, 0, 0],
        ),
        (
            "global_atomic_inc_x2 v3, v[10:11], s[6:7]".into(),
            [3, 1],
            [0, 0, NONE, NONE],
        ),
        (
            "global_atomic_dec_x2 v3, v[10:11], s[6:7]".into(),
            [3, 1],
            [5, 0, NONE, NONE],
        ),
        (
            "global_atomic_smax_x2 v3, v[10:11], s[6:7]".into(),
            [NONE, NONE],
            [5, 0, NONE, NONE],
        ),
        // The new value, then what is expected.
        (
            with(
                "v_mov_b32 v11, 3",
                "global_atomic_cmpswap v20, v3, v[10:11], s[6:7] sc0",
            ),
            [3, 9],
            [5, 9, 3, NONE],
        ),
        (
            with(
                "v_mov_b32 v11, 4",
                "global_atomic_cmpswap v20, v3, v[10:11], s[6:7] sc0",
            ),
            [3, 9],
            [3, 9, 3, NONE],
        ),
        (
            "global_atomic_cmpswap_x2 v[20:21], v3, v[10:13], s[6:7] sc0".into(),
            [7, 0],
            [5, 0, 7, 0],
        ),
        (
            "global_atomic_cmpswap_x2 v[20:21], v3, v[10:13], s[6:7] sc0".into(),
            [7, 1],
            [7, 1, 7, 1],
        ),
        (
            with(
                "v_mov_b32 v10, 1.0",
                "buffer_atomic_add_f32 v10, v3, s[8:11], 0 offen sc0\nv_mov_b32 v20, 0",
            ),
            [one, 9],
            [two, 9, 0, NONE],
        ),
        (
            with(
                "v_mov_b32 v10, 0x3c003c00",
                "global_atomic_pk_add_f16 v3, v10, s[6:7]",
            ),
            [0x4000_3c00, 9],
            [0x4200_4000, 9, NONE, NONE],
        ),
        (
            with(
                "v_mov_b32 v10, 0x3f803f80",
                "global_atomic_pk_add_bf16 v3, v10, s[6:7]",
            ),
            [0x4000_3f80, 9],
            [0x4040_4000, 9, NONE, NONE],
        ),
        (
            with(
                "v_mov_b32 v10, 0\nv_mov_b32 v11, 0x3ff00000",
                "global_atomic_add_f64 v3, v[10:11], s[6:7]",
            ),
            double(1.5),
            [double(2.5)[0], double(2.5)[1], NONE, NONE],
        ),
        (
            with(
                "v_mov_b32 v10, 0\nv_mov_b32 v11, 0x3ff00000",
                "global_atomic_max_f64 v3, v[10:11], s[6:7]",
            ),
            double(-1.5),
            [double(1.0)[0], double(1.0)[1], NONE, NONE],
        ),
        (
            "ds_add_rtn_u32 v20, v3, v10".into(),
            [3, 9],
            [8, 9, 3, NONE],
        ),
        ("ds_rsub_u32 v3, v10".into(), [3, 9], [2, 9, NONE, NONE]),
        (
            "ds_add_u64 v3, v[10:11]".into(),
            [NONE, 1],
            [4, 2, NONE, NONE],
        ),
        // What is expected, then the new value.
        (
            "ds_cmpst_rtn_b32 v20, v3, v10, v12".into(),
            [5, 9],
            [7, 9, 5, NONE],
        ),
        (
            "ds_cmpst_rtn_b32 v20, v3, v10, v12".into(),
            [6, 9],
            [6, 9, 6, NONE],
        ),
        (
            "ds_cmpst_b64 v3, v[10:11], v[12:13]".into(),
            [5, 0],
            [7, 0, NONE, NONE],
        ),
        (
            "ds_wrxchg_rtn_b32 v20, v3, v10".into(),
            [3, 9],
            [5, 9, 3, NONE],
        ),
        (
            with("v_mov_b32 v10, 1.0", "ds_max_rtn_f32 v20, v3, v10"),
            [two, 9],
            [two, 9, two, NONE],
        ),
    ];
    for (text, before, after) in cases {
        assert_eq!(atomic(&text, before), after, "{text} on {before:x?}");
    }
}
