//! What is counted beside bank conflicts, checked against counts made by hand.

use tilefold_sim::{
    Arg, Check, Checks, Class, CodeObject, Launch, Moved, Report, Simulator, Space,
};

use crate::{Bytes, CHIPS, build};

fn launch(object: &CodeObject, grid: u32, block: u32) -> Report {
    let mut simulator = Simulator::new();
    let input: Vec<u32> = (0..64).collect();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_output(4 * 64);
    let c = simulator.memory.alloc_inout(&[0; 64]);
    let launch = Launch {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        args: [a, b, c].map(Arg::Buffer).to_vec(),
        ..Launch::default()
    };
    let report = simulator.launch(object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    report
}

/// Every space once, with half of the lanes off for a part of it.
const SPACES: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
{scalar}
global_load_b32 v3, v2, s[4:5]
{load}
s_mov_b32 s20, exec_lo
v_cmp_gt_u32 vcc_lo, 16, v1
s_and_b32 exec_lo, exec_lo, vcc_lo
ds_store_b32 v2, v3
{lds}
ds_load_b32 v4, v2
{lds}
s_mov_b32 exec_lo, s20
scratch_store_b64 off, v[2:3], off
scratch_load_b32 v6, off, off offset:4
{load}
s_mov_b32 s8, s6
s_and_b32 s9, s7, 0xffff
s_mov_b32 s10, 256
s_mov_b32 s11, 0x31004000
s_mov_b32 s12, 0
buffer_store_b32 v6, v2, s[8:11], s12 offen
";

#[test]
fn bytes_by_space_and_lanes() {
    for chip in CHIPS {
        let report = launch(&build::kernel(chip, SPACES), 1, 32);
        let counters = &report.counters;
        let moved = |read, written| Moved { read, written };
        assert_eq!(counters.moved[&Space::Global], moved(128, 0), "{chip}");
        assert_eq!(counters.moved[&Space::Buffer], moved(0, 128));
        assert_eq!(counters.moved[&Space::Lds], moved(64, 64));
        assert_eq!(counters.moved[&Space::Scratch], moved(128, 256));
        assert_eq!(counters.moved[&Space::Scalar], moved(16, 0));
        assert_eq!(
            (counters.global_bytes_read, counters.global_bytes_written),
            (128, 128)
        );
        let divergence = counters.divergence;
        assert_eq!(divergence.partings, 1, "the lanes that were on part once");
        assert_eq!(divergence.partly_off, 2, "two LDS accesses");
        assert_eq!(divergence.vector_instructions, 9);
        assert_eq!(divergence.active_lanes, 7 * 32 + 2 * 16);
        assert_eq!(divergence.lanes, 9 * 32);
        let executed: u64 = report.instructions.iter().map(|i| i.executions).sum();
        assert_eq!(executed, counters.wave_instructions);
        let store = report
            .instructions
            .iter()
            .find(|i| i.instruction.starts_with("ds_store"));
        assert_eq!(
            store.map(|i| (i.active_lanes, i.moved)),
            Some((16, moved(0, 64)))
        );
    }
}

#[test]
fn work_items_that_do_not_fill_a_wave_are_no_divergence() {
    let report = launch(
        &build::kernel("gfx1201", "v_mov_b32 v1, 0\nv_mov_b32 v2, 0"),
        1,
        20,
    );
    let divergence = report.counters.divergence;
    assert_eq!((divergence.partly_off, divergence.partings), (0, 0));
    assert_eq!((divergence.active_lanes, divergence.lanes), (40, 64));
}

#[test]
fn the_hottest_instructions_are_those_of_the_loop() {
    let body = "
s_mov_b32 s2, 0
loop:
s_add_u32 s2, s2, 1
s_cmp_lt_u32 s2, 10
s_cbranch_scc1 loop
";
    let report = launch(&build::kernel("gfx1100", body), 3, 64);
    let hottest = report.hottest(3);
    let text: Vec<_> = hottest.iter().map(|i| &i.instruction[..9]).collect();
    assert_eq!(text, ["s_add_u32", "s_cmp_lt_", "s_cbranch"]);
    assert!(hottest.iter().all(|i| i.executions == 10 * 2 * 3));
    assert_eq!(report.counters.by_class[&Class::Branch], 60);
}

/// A store past the end of its buffer, on line 4.
const WRONG: &str = "kernel void k(global const int *x, global int *y, global int *z) {
    int i = get_local_id(0);
    int s = x[i];
    y[i + 32] = s;
}";

#[test]
fn findings_and_counts_name_the_source_line() {
    for chip in CHIPS {
        let debug = build::compile_with(chip, WRONG, &["-g"]);
        let plain = build::compile(chip, WRONG);
        let run = |object: &CodeObject| {
            let mut simulator = Simulator::new();
            let a = simulator.memory.alloc_input(&[0; 256]);
            let b = simulator.memory.alloc_output(128);
            let launch = Launch {
                block: [32, 1, 1],
                args: [a, b, b].map(Arg::Buffer).to_vec(),
                ..Launch::default()
            };
            simulator.launch(object, "k", launch).unwrap()
        };
        let report = run(&debug);
        let finding = &report.findings[0];
        assert_eq!(finding.check, Check::GlobalBounds, "{chip}");
        let source = finding.source.as_ref().expect("the object has lines");
        // The prelude stands before the source.
        let line = build::PRELUDE.lines().count() as u32 + 4;
        assert_eq!(source.line, line, "{chip}: {finding}");
        assert!(
            finding.to_string().contains(&format!("source:{line}")),
            "{finding}"
        );
        let loads = report
            .instructions
            .iter()
            .find(|i| i.instruction.starts_with("global_load"));
        assert_eq!(
            loads.and_then(|i| i.source.as_ref()).map(|s| s.line),
            Some(line - 1)
        );
        assert_eq!(run(&plain).findings[0].source, None);
    }
}

#[test]
fn checks_that_are_off_are_named() {
    let object = build::kernel("gfx1100", "s_nop 0");
    let mut simulator = Simulator::new();
    let launch = Launch {
        checks: Checks::all().without(Check::LdsRace),
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert_eq!(report.off, ["lds_race"]);
    for check in Check::ALL {
        assert_eq!(
            report.checks.contains_key(check.name()),
            check != Check::LdsRace
        );
        assert_eq!(Check::by_name(check.name()), Ok(check));
    }
    let error = Check::by_name("lds_races").unwrap_err().to_string();
    assert!(
        error.contains("`lds_races`") && error.contains("lds_race,"),
        "{error}"
    );
}
