//! Traces that people read.

use tilefold_sim::{Arg, Check, CodeObject, Error, Launch, Report, Simulator, Trace};

use crate::{Bytes, build};

fn trace(object: &CodeObject, trace: Trace) -> Result<Report, Error> {
    launch(&mut Simulator::new(), object, trace)
}

fn launch(simulator: &mut Simulator, object: &CodeObject, trace: Trace) -> Result<Report, Error> {
    let input: Vec<u32> = (0..64).map(|i| i * i).collect();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_output(256);
    let launch = Launch {
        grid: [2, 1, 1],
        block: [64, 1, 1],
        args: [a, b, b].map(Arg::Buffer).to_vec(),
        trace: Some(trace),
        max_instructions: 1000,
        ..Launch::default()
    };
    simulator.launch(object, "k", launch)
}

const BODY: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
{scalar}
global_load_b32 v3, v2, s[4:5]
{load}
v_mov_b32 v4, 1.0
ds_store_2addr_b32 v2, v3, v4 offset1:64
v_cmp_gt_u32 vcc_lo, 37, v1
s_and_saveexec_b32 s8, vcc_lo
{lds}
ds_load_b32 v5, v2
scratch_store_b32 off, v4, off offset:4
s_cmp_eq_u32 s8, 0
";

#[test]
fn every_instruction_with_what_it_wrote() {
    let object = build::kernel("gfx1100", BODY);
    let request = Trace {
        workgroup: [1, 0, 0],
        wave: 1,
        ..Trace::default()
    };
    let report = trace(&object, request).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    // The source lies in a folder that is another one each time.
    let trace = report.trace.expect("it was asked for");
    let lines: Vec<_> = trace
        .lines()
        .map(|line| line.split("  /").next().unwrap_or(line).trim_end())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_trace_ends_where_it_should() {
    let object = build::kernel("gfx1100", BODY);
    let request = Trace {
        limit: 3,
        ..Trace::default()
    };
    let text = trace(&object, request).unwrap().trace.unwrap();
    assert!(
        text.contains("v_lshlrev_b32") && !text.contains("global_load"),
        "{text}"
    );
    assert!(
        text.ends_with("12 more instructions are not shown\n"),
        "{text}"
    );
    for (workgroup, wave) in [([2, 0, 0], 0), ([0, 0, 0], 2)] {
        let request = Trace {
            workgroup,
            wave,
            limit: 3,
        };
        let error = trace(&object, request).unwrap_err().to_string();
        assert!(error.contains("cannot be traced"), "{error}");
    }
}

#[test]
fn lines_of_the_source_stand_beside_instructions() {
    let source = "kernel void k(global const int *x, global int *y, global int *z) {
        y[get_local_id(0)] = x[get_local_id(0)] * 3;
    }";
    let object = build::compile_with("gfx1201", source, &["-g"]);
    let text = trace(&object, Trace::default()).unwrap().trace.unwrap();
    let line = build::PRELUDE.lines().count() + 2;
    let store = text
        .lines()
        .find(|line| line.contains("global_store"))
        .unwrap();
    assert!(store.ends_with(&format!("source:{line}")), "{store}");
}

#[test]
fn a_run_that_an_error_ends_leaves_its_trace() {
    // Workgroup 0, or 1, stops; both meet in an output, or not, which runs them one by one.
    let unknown = "ds_bvh_stack_rtn_b32 v0, v1, v2, v[3:6]";
    for stopping in [0, 1] {
        for (meet, end, error) in [
            ("", unknown, "unknown instruction `ds_bvh_stack_rtn_b32"),
            ("", "endless:\ns_branch endless", "without ending"),
            (
                "global_store_b32 v5, v5, s[6:7]",
                unknown,
                "ds_bvh_stack_rtn_b32",
            ),
        ] {
            let body = format!(
                "s_load_b128 s[4:7], s[0:1], 0x0\nv_mov_b32 v5, 0\n{{scalar}}\n{meet}\n\
                 s_cmp_lg_u32 s2, {stopping}\ns_cbranch_scc1 out\ns_mov_b32 s9, 7\n{end}\nout:"
            );
            // The first scalar register behind the arguments' address holds the workgroup.
            let object = build::kernel("gfx1100", &body);
            for traced in [0, 1] {
                let request = Trace {
                    workgroup: [traced, 0, 0],
                    limit: 12,
                    ..Trace::default()
                };
                let mut simulator = Simulator::new();
                let ended = launch(&mut simulator, &object, request).unwrap_err();
                assert!(ended.to_string().contains(error), "{ended}");
                let label = format!("{stopping} {traced} {body}");
                let trace = match simulator.unfinished_trace.take() {
                    Some(trace) => trace,
                    None => {
                        // One by one, the second one did not begin.
                        assert!((stopping, traced) == (0, 1) && !meet.is_empty(), "{label}");
                        continue;
                    }
                };
                assert!(trace.contains("s_cbranch_scc1"), "{label}: {trace}");
                let last = trace.lines().last().expect("a line");
                match stopping == traced {
                    true => {
                        assert!(trace.contains("s9 = 0x7"), "{label}: {trace}");
                        assert_eq!(last, format!("the run ended here: {ended}"), "{label}");
                    }
                    false => assert!(last.contains("s_endpgm"), "{label}: {trace}"),
                }
            }
        }
    }
    let object = build::kernel("gfx1100", BODY);
    let mut simulator = Simulator {
        unfinished_trace: Some("of another launch".into()),
        ..Simulator::new()
    };
    launch(&mut simulator, &object, Trace::default()).unwrap();
    assert_eq!(simulator.unfinished_trace, None);
}

/// What led to an error is told with it: here an address of code from beyond the scratch memory.
#[test]
fn a_run_that_an_error_ends_leaves_its_findings() {
    let body = "scratch_load_b64 v[2:3], off, off offset:64\n{load}\nv_readfirstlane_b32 s8, v2\n\
                v_readfirstlane_b32 s9, v3\ns_setpc_b64 s[8:9]";
    for chip in ["gfx1100", "gfx1201"] {
        let object = build::kernel(chip, body);
        let mut simulator = Simulator::new();
        let error = launch(&mut simulator, &object, Trace::default()).unwrap_err();
        assert!(matches!(error, Error::Jump { .. }), "{error}");
        let found = &simulator.unfinished_findings;
        let checks: Vec<_> = found.iter().map(|finding| finding.check).collect();
        assert_eq!(
            checks,
            [Check::ScratchBounds; 2],
            "one of each workgroup: {found:#?}"
        );
        assert!(found[0].source.is_some());
        launch(
            &mut simulator,
            &build::kernel(chip, "s_nop 0"),
            Trace::default(),
        )
        .unwrap();
        assert!(simulator.unfinished_findings.is_empty());
    }
}

/// So is what another workgroup did: here the second one waits for a word that the first one stored
/// elsewhere, and runs side by side with it or behind it.
#[test]
fn findings_of_other_workgroups_are_left_too() {
    let body = "s_load_b128 s[4:7], s[0:1], 0x0\nv_mov_b32 v5, 0\nv_mov_b32 v6, 7\n{scalar}\n\
                s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 first\nwait:\n\
                global_load_b32 v7, v5, s[6:7] glc\n{load}\nv_readfirstlane_b32 s8, v7\n\
                s_cmp_eq_u32 s8, 7\ns_cbranch_scc0 wait\ns_branch out\n\
                first:\nscratch_store_b32 off, v6, off offset:64\nout:";
    let object = build::kernel("gfx1100", body);
    for looks in [false, true] {
        let body = match looks {
            true => body.replace("first:", "first:\nglobal_store_b32 v5, v6, s[6:7] offset:4"),
            false => body.to_owned(),
        };
        let object = if looks {
            &build::kernel("gfx1100", &body)
        } else {
            &object
        };
        let mut simulator = Simulator::new();
        let error = launch(&mut simulator, object, Trace::default()).unwrap_err();
        assert!(matches!(error, Error::Endless { .. }), "{error}");
        let found = simulator.unfinished_findings.iter();
        let found: Vec<_> = found.map(|found| (found.check, found.workgroup)).collect();
        assert!(
            found.contains(&(Check::ScratchBounds, [0, 0, 0])),
            "{found:?}"
        );
    }
}

/// Here both do, and both wait.
#[test]
fn findings_of_workgroups_that_wait_are_left_too() {
    let body = "s_load_b128 s[4:7], s[0:1], 0x0\nv_mov_b32 v5, 0\n{scalar}\n\
                scratch_store_b32 off, v5, off offset:64\nwait:\n\
                global_load_b32 v7, v5, s[6:7] glc\n{load}\nv_readfirstlane_b32 s8, v7\n\
                s_cmp_eq_u32 s8, 7\ns_cbranch_scc0 wait";
    let mut simulator = Simulator::new();
    let object = build::kernel("gfx1100", body);
    let out = simulator.memory.alloc_inout(&[0; 256]);
    let waiting = Launch {
        grid: [2, 1, 1],
        block: [64, 1, 1],
        args: vec![Arg::Buffer(out); 3],
        // Enough for the workgroups to be seen to wait, so that they have turns.
        max_instructions: 20_000,
        ..Launch::default()
    };
    let error = simulator.launch(&object, "k", waiting).unwrap_err();
    assert!(matches!(error, Error::Endless { .. }), "{error}");
    let found = simulator.unfinished_findings.iter();
    let mut found: Vec<_> = found.map(|found| found.workgroup[0]).collect();
    found.dedup();
    found.sort_unstable();
    assert_eq!(found, [0, 1]);
}
