//! Counters, and that nothing depends on the number of threads.

use proptest::prelude::*;
use tilefold_sim::{Arg, Check, Checks, Launch, Moved, Report, Simulator, Space};

use crate::{Bytes, build};

/// Stores and loads `width` words a lane at the addresses given, all in one wave.
fn conflicts(chip: &str, width: u32, addresses: &[u32]) -> Report {
    let registers = |first: u32| match width {
        1 => format!("v{first}"),
        _ => format!("v[{first}:{}]", first + width - 1),
    };
    let bits = 32 * width;
    let body = format!(
        "
s_load_b64 s[4:5], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
{{scalar}}
global_load_b32 v2, v1, s[4:5]
{{load}}
ds_store_b{bits} v2, {}
{{lds}}
ds_load_b{bits} {}, v2
{{lds}}
",
        registers(8),
        registers(12)
    );
    let object = build::kernel_in(chip, addresses.len(), &body);
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&addresses.bytes());
    let launch = Launch {
        block: [addresses.len() as u32, 1, 1],
        args: vec![Arg::Buffer(a)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    report
}

/// The rule by brute force, with the groups of lanes written out: of RDNA 3's 128-bit accesses the
/// published ones, else as many consecutive lanes as move 128 bytes.
fn brute_force(chip: &str, width: u32, addresses: &[u32]) -> u64 {
    let groups: Vec<Vec<usize>> = match (chip, width) {
        ("gfx1100", 4) => vec![
            [0..4, 20..24].into_iter().flatten().collect(),
            [4..8, 16..20].into_iter().flatten().collect(),
            [8..12, 28..32].into_iter().flatten().collect(),
            [12..16, 24..28].into_iter().flatten().collect(),
        ],
        _ => (0..width as usize)
            .map(|group| {
                (0..32 / width as usize)
                    .map(|at| group * 32 / width as usize + at)
                    .collect()
            })
            .collect(),
    };
    groups
        .into_iter()
        .map(|group| {
            let deepest = (0..32)
                .map(|bank| {
                    let mut words: Vec<u32> = group
                        .iter()
                        .flat_map(|&lane| (0..width).map(move |word| addresses[lane] / 4 + word))
                        .filter(|word| word % 32 == bank)
                        .collect();
                    words.sort_unstable();
                    words.dedup();
                    words.len() as u64
                })
                .max();
            deepest.unwrap_or(0).saturating_sub(1)
        })
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bank_conflicts_are_those_of_the_rule(
        chip in prop::sample::select(vec!["gfx1100", "gfx1201"]),
        width in prop::sample::select(vec![1_u32, 2, 4]),
        stride in 0..9_u32,
        lanes in prop::sample::select(vec![32_u32, 64]),
        noise in prop::collection::vec(0..4_u32, 64),
    ) {
        // Strided with some lanes moved, so that banks are shared and words are too.
        let addresses: Vec<u32> = (0..lanes)
            .map(|lane| (lane * stride + noise[lane as usize] / 3 * 7) % 60 * 4 * width)
            .collect();
        let report = conflicts(chip, width, &addresses);
        // A wave of 64 lanes is served in two passes.
        let passes = addresses.chunks(32);
        let expected = passes.map(|pass| brute_force(chip, width, pass)).sum::<u64>();
        prop_assert_eq!(report.counters.lds_conflict_cycles_read, expected);
        prop_assert_eq!(report.counters.lds_conflict_cycles_write, expected);
        let sum: u64 = report.counters.conflicts.iter().map(|inst| inst.cycles).sum();
        prop_assert_eq!(sum, 2 * expected);
    }
}

#[test]
fn a_padded_column_has_none_and_a_plain_one_all() {
    let column = |stride: u32| (0..32).map(|lane| lane * stride).collect::<Vec<u32>>();
    let plain = conflicts("gfx1100", 1, &column(32));
    assert_eq!(
        plain.counters.lds_conflict_cycles_read, 7,
        "32 words in 4 banks"
    );
    assert_eq!(plain.counters.conflicts.len(), 2);
    assert_eq!(
        conflicts("gfx1100", 1, &column(4))
            .counters
            .lds_conflict_cycles_read,
        0
    );
}

#[test]
fn the_same_pattern_at_another_byte_may_conflict() {
    // Two bytes 127 apart, moved by a byte at a time: in the words 0 and 31 at first, then in 0 and
    // 32, which share a bank.
    let body = "
v_mul_u32_u24 v2, 0x7f, v0
s_mov_b32 s8, 0
again:
ds_load_u8 v3, v2
{lds}
v_add_nc_u32 v2, 1, v2
s_add_co_i32 s8, s8, 1
s_cmp_lt_i32 s8, 4
s_cbranch_scc1 again
";
    for chip in ["gfx1100", "gfx1201"] {
        let body = match chip {
            "gfx1201" => body.to_owned(),
            _ => body.replace("s_add_co_i32", "s_add_i32"),
        };
        let launch = Launch {
            block: [2, 1, 1],
            checks: Checks::all().without(Check::LdsUninitialized),
            ..Launch::default()
        };
        let object = build::kernel(chip, &body);
        let report = Simulator::new().launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        assert_eq!(report.counters.lds_conflict_cycles_read, 3, "{chip}");
    }
}

#[test]
fn threads_change_nothing() {
    // A sum of floats by atomics depends on the order, races between workgroups besides.
    const SOURCE: &str = "
kernel void sum(global const float *x, global float *y) {
    int i = get_group_id(0) * 64 + get_local_id(0);
    __opencl_atomic_fetch_add((volatile global atomic_float *)y, x[i], memory_order_relaxed,
                              memory_scope_device);
    y[1 + get_local_id(0)] = get_group_id(0);
    y[100 + i] = x[i];
}";
    let object = build::compile("gfx1100", SOURCE);
    let x: Vec<f32> = (0..64 * 40).map(|i| 1.0 / (i + 1) as f32).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_inout(&vec![0; 4 * (100 + x.len())]);
        let launch = Launch {
            grid: [40, 1, 1],
            block: [64, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b)],
            ..Launch::default()
        };
        let report = pool
            .install(|| simulator.launch(&object, "sum", launch))
            .unwrap();
        (report, simulator.memory.read(b))
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
    let total: f32 = x.iter().sum();
    let got = f32::from_le_bytes(one.1[..4].try_into().expect("four bytes"));
    assert!((got - total).abs() < 1e-4, "{got} {total}");
    assert_eq!(
        one.1[4..8],
        f32::to_le_bytes(39.0),
        "the last workgroup's store stands"
    );
}

#[test]
fn what_moves_lds_is_counted_as_such() {
    // Of 40 work-items: a load into LDS, an atomic operation with a result and one without, and flat
    // accesses of LDS and of memory.
    let body = "
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32 v2, 2, v0
v_mov_b32 v3, 0
s_mov_b32 m0, 0
{scalar}
global_load_lds_dword v2, s[4:5]
{load}
ds_add_rtn_u32 v4, v2, v0
{lds}
ds_max_u32 v2, v0
s_mov_b64 s[8:9], src_shared_base
v_mov_b32 v3, s9
{lds}
flat_load_dword v5, v[2:3]
s_waitcnt vmcnt(0) lgkmcnt(0)
v_mov_b32 v7, s5
v_add_co_u32 v6, vcc, s4, v2
v_addc_co_u32 v7, vcc, 0, v7, vcc
flat_load_dword v5, v[6:7]
s_waitcnt vmcnt(0) lgkmcnt(0)
";
    let object = build::kernel("gfx950", body);
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&[0; 256]);
    let launch = Launch {
        block: [40, 1, 1],
        args: vec![Arg::Buffer(a)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(
        report.count(Check::LdsUninitialized) == 0,
        "{:#?}",
        report.findings
    );
    let moved = |read, written| Moved { read, written };
    let spaces = &report.counters.moved;
    // Written: the load, and both atomic operations.
    assert_eq!(spaces[&Space::Lds], moved(160, 480));
    assert_eq!(spaces[&Space::Global], moved(160, 0));
    assert_eq!(spaces[&Space::Flat], moved(160, 0));
    assert_eq!(report.counters.global_bytes_read, 320);
    assert_eq!(report.counters.global_bytes_written, 0);
    let of = |name: &str| {
        let mut found = report.instructions.iter();
        found
            .find(|inst| inst.instruction.starts_with(name))
            .expect("it was executed")
            .moved
    };
    assert_eq!(of("global_load_lds"), moved(160, 160));
    assert_eq!(of("ds_add_rtn"), moved(0, 160));
    assert_eq!(of("ds_max"), moved(0, 160));
    assert_eq!(of("flat_load"), moved(160, 0));
}

#[test]
fn conflicts_of_atomic_operations_are_those_of_writes() {
    let body = "v_lshlrev_b32 v2, 4, v0\nv_and_b32 v2, 1023, v2\n\
                ds_store_b32 v2, v0\n{lds}\nds_add_rtn_u32 v4, v2, v0\n{lds}";
    let object = build::kernel("gfx1100", body);
    let launch = Launch {
        block: [32, 1, 1],
        ..Launch::default()
    };
    let report = Simulator::new().launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    assert_eq!(report.counters.lds_conflict_cycles_read, 0);
    let accesses = report.counters.conflicts.iter().map(|inst| inst.access);
    assert_eq!(accesses.collect::<Vec<_>>(), ["write", "write"]);
}
