//! Memory of gfx950: loads straight into LDS and their waits, the order of stores, buffers as gfx9
//! checks them, flat addresses.

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
pub fn silent(body: &str, waves: u32, output: usize) -> Vec<u32> {
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
pub const BEGIN: &str = "
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
