//! Memory of gfx950: loads straight into LDS and their waits, the order of stores, buffers as gfx9
//! checks them, atomics, flat addresses.

use tilefold_sim::{Arg, Check, Launch, Report, Simulator};

use crate::{Bytes, build, words};

const CHIP: &str = "gfx950";

/// Runs a kernel of `waves` waves on 1024 words 0x1000, 0x1001, ... and an output of so many.
fn run(body: &str, waves: u32, output: usize) -> (Report, Vec<u32>) {
    let object = build::kernel(CHIP, body);
    let mut simulator = Simulator::new();
    let input: Vec<u32> = (0x1000..0x1400).collect();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_inout(&vec![0_u32; output].bytes());
    let launch = Launch {
        block: [64 * waves, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    (report, words(&simulator.memory.read(b)))
}

/// The same, which must be silent.
fn silent(body: &str, waves: u32, output: usize) -> Vec<u32> {
    let (report, out) = run(body, waves, output);
    assert!(report.passed(), "{:#?}", report.findings);
    out
}

/// Only one check speaks.
fn only(body: &str, waves: u32, output: usize, check: Check) -> Report {
    let (report, _) = run(body, waves, output);
    for other in Check::ALL {
        let found = report.count(other) > 0;
        assert_eq!(found, other == check, "{other}: {:#?}", report.findings);
    }
    report
}

/// Arguments in s[4:7], a buffer over the input in s[8:11], the lane's number in v1, four bytes
/// times it in v2.
const BEGIN: &str = "
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
s_waitcnt lgkmcnt(0)
s_mov_b32 s8, s4
s_mov_b32 s9, s5
s_movk_i32 s10, 0x1000
s_mov_b32 s11, 0x20000
";

#[test]
fn loads_into_lds_put_lanes_side_by_side() {
    // From word 100 - 2 * lane of the input to byte 64 + 16 + 4 * lane, every other lane off.
    let body = format!(
        "{BEGIN}
v_mov_b32 v9, 0
ds_write_b32 v2, v9
ds_write_b32 v2, v9 offset:256
s_waitcnt lgkmcnt(0)
v_lshlrev_b32 v3, 3, v1
v_sub_u32 v3, 0x400, v3
s_mov_b32 m0, 64
s_mov_b32 s12, 0x55555555
s_mov_b32 s13, s12
s_mov_b64 exec, s[12:13]
buffer_load_dword v3, s[8:11], 0 offen offset:16 lds
s_mov_b64 exec, -1
s_waitcnt vmcnt(0)
ds_read_b32 v4, v2
ds_read_b32 v5, v2 offset:256
s_waitcnt lgkmcnt(0)
global_store_dword v2, v4, s[6:7]
global_store_dword v2, v5, s[6:7] offset:256"
    );
    let out = silent(&body, 1, 128);
    for (word, &value) in out.iter().enumerate() {
        let lane = word as i64 - 20;
        let on = (0..64).contains(&lane) && lane % 2 == 0;
        let expected = if on { 0x1000 + 0x100 - 2 * lane + 4 } else { 0 };
        assert_eq!(i64::from(value), expected, "word {word}");
    }
}

#[test]
fn wide_and_narrow_loads_into_lds() {
    for (load, size) in [
        ("dwordx4", 16),
        ("dwordx3", 12),
        ("ushort", 4),
        ("ubyte", 4),
    ] {
        let body = format!(
            "{BEGIN}
v_mul_u32_u24 v3, {size}, v1
v_mov_b32 v4, v3
v_mov_b32 v5, 0
v_lshl_add_u64 v[4:5], v[4:5], 0, s[4:5]
s_mov_b32 m0, 0
s_nop 0
global_load_lds_{load} v[4:5], off
s_waitcnt vmcnt(0)
ds_read_b32 v6, v3
ds_read_b32 v7, v3 offset:{}
s_waitcnt lgkmcnt(0)
global_store_dword v2, v6, s[6:7]
global_store_dword v2, v7, s[6:7] offset:256",
            size - 4
        );
        let out = silent(&body, 1, 128);
        for lane in 0..64_u32 {
            let word = 0x1000 + lane * size / 4;
            let expected = match load {
                "ushort" => (word & 0xffff, word & 0xffff),
                "ubyte" => (word & 0xff, word & 0xff),
                _ => (word, word + size / 4 - 1),
            };
            let got = (out[lane as usize], out[64 + lane as usize]);
            assert_eq!(got, expected, "{load} lane {lane}");
        }
    }
}

#[test]
fn bytes_of_a_load_into_lds_are_pending_until_it_is_waited_for() {
    let body = format!(
        "{BEGIN}
s_mov_b32 m0, 0
s_nop 0
buffer_load_dword v2, s[8:11], 0 offen lds
buffer_load_dword v2, s[8:11], 0 offen offset:256 lds
s_waitcnt vmcnt(1) // first
ds_read_b32 v4, v2
s_waitcnt vmcnt(0) // second
ds_read_b32 v5, v2 offset:256
s_waitcnt lgkmcnt(0)
global_store_dword v2, v4, s[6:7]
global_store_dword v2, v5, s[6:7] offset:256"
    );
    let out = silent(&body, 1, 128);
    assert_eq!(out, (0x1000..0x1080).collect::<Vec<_>>());
    for (from, to) in [
        ("s_waitcnt vmcnt(1) // first", "s_waitcnt vmcnt(2)"),
        ("s_waitcnt vmcnt(0) // second", ""),
    ] {
        let report = only(&body.replace(from, to), 1, 128, Check::MissingWait);
        assert!(report.findings[0].instruction.starts_with("ds_read_b32"));
        assert!(report.findings[0].message.contains("LDS at"));
    }
}

#[test]
fn a_load_into_lds_that_passes_a_barrier_races() {
    // The first wave loads, the second reads behind a barrier.
    let body = format!(
        "{BEGIN}
v_readfirstlane_b32 s12, v1
v_and_b32 v3, 0xfc, v2
s_mov_b32 m0, 0
s_cmp_lg_u32 s12, 0
s_cbranch_scc1 other
buffer_load_dword v3, s[8:11], 0 offen lds
s_waitcnt vmcnt(0) // loaded
s_barrier
s_endpgm
other:
s_barrier
ds_read_b32 v4, v3
s_waitcnt lgkmcnt(0)
global_store_dword v3, v4, s[6:7]"
    );
    let out = silent(&body, 2, 64);
    assert_eq!(out, (0x1000..0x1040).collect::<Vec<_>>());
    let without = body.replace("s_waitcnt vmcnt(0) // loaded", "");
    only(&without, 2, 64, Check::LdsRace);
    let (report, _) = run(
        &body.replace("s_mov_b32 m0, 0", "s_movk_i32 m0, 0x380"),
        2,
        64,
    );
    assert_eq!(report.count(Check::LdsBounds), 1);
    assert!(report.findings[0].instruction.contains("lds"));
}

#[test]
fn stores_wait_in_the_queue_of_loads() {
    // A load and a store after it: letting one stand waits for the load.
    let body = format!(
        "{BEGIN}
global_load_dword v3, v2, s[4:5]
global_store_dword v2, v1, s[6:7] offset:256
s_waitcnt vmcnt(1)
global_store_dword v2, v3, s[6:7]"
    );
    let out = silent(&body, 1, 128);
    assert_eq!(out[..64], (0x1000..0x1040).collect::<Vec<_>>());
    let swapped = format!(
        "{BEGIN}
global_store_dword v2, v1, s[6:7] offset:256
global_load_dword v3, v2, s[4:5]
s_waitcnt vmcnt(1)
global_store_dword v2, v3, s[6:7]"
    );
    only(&swapped, 1, 128, Check::MissingWait);
}

#[test]
fn buffers_count_bytes_or_with_an_index_structures() {
    // Record count, stride, instruction; then the word read at each lane's offset 4 * lane, as an
    // index where one is used, or none.
    type Expected = fn(u32) -> Option<u32>;
    let cases: &[(u32, u32, &str, Expected)] = &[
        (100, 0, "v2, s[8:11], 0 offen", |lane| {
            (4 * lane + 4 <= 100).then_some(lane)
        }),
        (102, 0, "v2, s[8:11], 0 offen", |lane| {
            (4 * lane + 4 <= 102).then_some(lane)
        }),
        (100, 0, "v2, s[8:11], 0 offen offset:8", |lane| {
            (4 * lane + 12 <= 100).then_some(lane + 2)
        }),
        (100, 16, "v2, s[8:11], 0 offen", |lane| {
            (4 * lane + 4 <= 100).then_some(lane)
        }),
        (20, 16, "v1, s[8:11], 0 idxen", |lane| {
            (lane < 20).then_some(4 * lane)
        }),
        (20, 16, "v1, s[8:11], 0 idxen offset:8", |lane| {
            (lane < 20).then_some(4 * lane + 2)
        }),
        (20, 16, "v[16:17], s[8:11], 0 idxen offen", |lane| {
            (lane < 20).then_some(5 * lane)
        }),
    ];
    for &(records, stride, operands, expected) in cases {
        let body = format!(
            "{BEGIN}
s_or_b32 s9, s9, {:#x}
s_movk_i32 s10, {records}
v_mov_b32 v16, v1
v_mov_b32 v17, v2
buffer_load_dword v3, {operands}
s_waitcnt vmcnt(0)
global_store_dword v2, v3, s[6:7]",
            stride << 16
        );
        let out = silent(&body, 1, 64);
        for lane in 0..64 {
            let word = expected(lane).map_or(0, |word| 0x1000 + word);
            assert_eq!(
                out[lane as usize], word,
                "{records} {stride} {operands} lane {lane}"
            );
        }
    }
    // Four words are checked one by one, and stores outside are dropped.
    let body = format!(
        "{BEGIN}
s_mov_b32 s8, s6
s_mov_b32 s9, s7
s_movk_i32 s10, 24
v_lshlrev_b32 v3, 4, v1
v_mov_b32 v4, 1
v_mov_b32 v5, 2
v_mov_b32 v6, 3
v_mov_b32 v7, 4
buffer_store_dwordx4 v[4:7], v3, s[8:11], 0 offen"
    );
    let out = silent(&body, 1, 64);
    assert_eq!(out[..8], [1, 2, 3, 4, 1, 2, 0, 0]);
    assert!(out[8..].iter().all(|&word| word == 0));
}

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
            "buffer_atomic_dec v10, v3, s[8:11], 0 offen".into(),
            [0, 9],
            [5, 9, NONE, NONE],
        ),
        (
            "global_atomic_add_x2 v[20:21], v3, v[10:11], s[6:7] sc0".into(),
            [NONE, 1],
            [4, 2, NONE, 1],
        ),
        (
            "global_atomic_inc_x2 v3, v[10:11], s[6:7]".into(),
            [5, 0],
            [0, 0, NONE, NONE],
        ),
        (
            "global_atomic_dec_x2 v3, v[10:11], s[6:7]".into(),
            [6, 0],
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

#[test]
fn flat_addresses_reach_lds_scratch_and_memory() {
    let source = "
        static __attribute__((noinline)) int get(int *p) { return *p; }
        static __attribute__((noinline)) void put(int *p, int value) { *p = value; }
        kernel void k(global int *in, global int *out) {
            local int shared[64];
            int own[4];
            int i = get_local_id(0);
            put(&shared[i], in[i]);
            for (int j = 0; j < 4; ++j) put(&own[(j + i) % 4], 10 * i + j);
            // Lanes of one instruction go to three places.
            int *p = i % 3 == 0 ? (int *)&shared[i] : i % 3 == 1 ? own + (i + 2) % 4 : (int *)in + i;
            out[i] = get(p);
        }";
    for level in ["-O0", "-O1"] {
        let object = build::compile_with(CHIP, source, &[level]);
        let mut simulator = Simulator::new();
        let input: Vec<u32> = (500..564).collect();
        let a = simulator.memory.alloc_input(&input.bytes());
        let b = simulator.memory.alloc_output(4 * 64);
        let launch = Launch {
            block: [64, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{level}: {:#?}", report.findings);
        let expected: Vec<u32> = (0..64)
            .map(|i| if i % 3 == 1 { 10 * i + 2 } else { 500 + i })
            .collect();
        assert_eq!(words(&simulator.memory.read(b)), expected, "{level}");
    }
}
