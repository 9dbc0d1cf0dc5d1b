//! One planted fault per check: the right kernel is silent, and of the wrong one only the check
//! that is for it speaks.

use tilefold_sim::{Arg, Check, Checks, Finding, Launch, Report, Simulator};

use crate::{Bytes, CHIPS, build, words};

/// Two waves hand each other a word a lane through LDS, twice.
pub const EXCHANGE: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
v_readfirstlane_b32 s8, v1
{scalar} // arguments
global_load_b32 v3, v2, s[4:5]
{load}
ds_store_b32 v2, v3
{lds} // before the first barrier
{barrier} // first
v_xor_b32 v4, 0x80, v2
ds_load_b32 v5, v4
{lds} // loaded
{barrier} // second
ds_store_b32 v2, v5
{lds} // stored again
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 skip
skip:
{barrier} // third
scratch_store_b32 off, v5, off offset:12
scratch_load_b32 v6, off, off offset:12
{load} // scratch
global_store_b32 v2, v6, s[6:7]
";

pub fn run(chip: &str, body: &str, grid: u32, checks: Checks) -> (Report, Vec<u32>) {
    let object = build::kernel(chip, body);
    let mut simulator = Simulator::new();
    let input: Vec<u32> = (100..164).collect();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_output(4 * 64);
    let c = simulator.memory.alloc_inout(&[0; 64]);
    let launch = Launch {
        grid: [grid, 1, 1],
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::Buffer(c)],
        checks,
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    (report, words(&simulator.memory.read(b)))
}

/// Runs the kernel as it is, and with `from` replaced by `to`: only `check` may find something,
/// at an instruction that contains `at`, and nothing when it is switched off.
pub fn plant(chips: &[&str], body: &str, check: Check, from: &str, to: &str, at: &str) {
    assert!(body.contains(from), "{from} is in the kernel");
    let wrong = body.replace(from, to);
    for &chip in chips {
        let (report, _) = run(chip, body, 1, Checks::all());
        assert!(
            report.checks.values().all(|&n| n == 0),
            "{chip}: {:#?}",
            report.findings
        );
        let (report, _) = run(chip, &wrong, 1, Checks::all());
        for other in Check::ALL {
            let found = report.count(other) > 0;
            assert_eq!(
                found,
                other == check,
                "{chip} {other}: {:#?}",
                report.findings
            );
        }
        assert_eq!(report.passed(), check.is_warning());
        let first = &report.findings[0];
        assert!(first.instruction.contains(at), "{chip}: {first}");
        told(first, &build::kernel_source(chip, &wrong));
        assert!(
            first.history.contains(&first.instruction),
            "{chip}: {:?}",
            first.history
        );
        let (report, _) = run(chip, &wrong, 1, Checks::all().without(check));
        assert!(
            report.checks.values().all(|&n| n == 0),
            "{chip}: {:#?}",
            report.findings
        );
        assert!(!report.checks.contains_key(check.name()));
    }
}

/// Whether a finding says all that there is to say: instruction, address, source line, wave, lane.
fn told(finding: &Finding, source: &str) {
    let line = finding.source.as_ref().expect("the object has lines").line as usize;
    let words = source
        .lines()
        .nth(line - 1)
        .expect("the source has that line");
    let mnemonic = words
        .split_whitespace()
        .next()
        .expect("it has an instruction");
    assert!(
        finding.instruction.starts_with(mnemonic),
        "{finding}: {words}"
    );
    assert!(finding.address > 0 && finding.wave < 2 && finding.workgroup == [0; 3]);
    assert!(finding.history.len() > 1, "{:?}", finding.history);
    // These concern the wave as a whole; a bad address may be a scalar load's.
    let whole = match finding.check {
        Check::MissingWait | Check::BarrierDivergence | Check::WmmaHazard | Check::Hazard => true,
        Check::StaleScalar => true,
        _ => finding.instruction.starts_with("s_"),
    };
    assert_eq!(finding.lane.is_none(), whole, "{finding}");
    let text = finding.to_string();
    for part in [
        finding.check.name(),
        &finding.instruction,
        &format!("{:#x}", finding.address),
        &format!(":{line}"),
        "workgroup 0,0,0",
        &format!("wave {}", finding.wave),
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

#[test]
fn the_exchange_is_right() {
    let expected: Vec<u32> = (132..164).chain(100..132).collect();
    for chip in CHIPS {
        assert_eq!(run(chip, EXCHANGE, 1, Checks::all()).1, expected, "{chip}");
    }
}

#[test]
fn races() {
    let race = |from: &str, at: &str| plant(&CHIPS, EXCHANGE, Check::LdsRace, from, "", at);
    // The wave that reached the first barrier last runs on: the other one reads what it wrote.
    race("{barrier} // second", "ds_load_b32");
    // The store may still be under way when the other wave reads behind the barrier.
    race("{lds} // before the first barrier", "ds_store_b32 v2, v3");
}

#[test]
fn a_split_barrier_orders_what_is_outside_it_alone() {
    let split =
        "s_barrier_signal -1\nds_store_b32 v2, v5\n{lds} // stored again\ns_barrier_wait -1";
    let body = EXCHANGE.replace(
        "{barrier} // second\nds_store_b32 v2, v5\n{lds} // stored again",
        split,
    );
    let (report, _) = run("gfx1201", &body, 1, Checks::all());
    assert!(
        report.count(Check::LdsRace) > 0,
        "the store is not ordered behind the other's load"
    );
}

/// What a flat access touches of LDS between signal and wait counts behind the barrier, too.
#[test]
fn flat_accesses_are_not_ordered_within_a_split_barrier() {
    let store = "s_mov_b64 s[10:11], src_shared_base\nv_mov_b32 v10, v2\nv_mov_b32 v11, s11\n\
                 flat_store_b32 v[10:11], v5 offset:256\n{lds}";
    let (signal, wait) = ("s_barrier_signal -1", "s_barrier_wait -1");
    let place = "{barrier} // second";
    assert!(EXCHANGE.contains(place));
    for (split, races) in [
        ([store, signal, wait], false),
        ([signal, store, wait], true),
    ] {
        let read = format!(
            "{}\nds_load_b32 v7, v4 offset:256\n{{lds}}",
            split.join("\n")
        );
        let (report, _) = run("gfx1201", &EXCHANGE.replace(place, &read), 1, Checks::all());
        assert_eq!(report.count(Check::LdsRace) > 0, races, "{read}");
    }
}

#[test]
fn a_barrier_that_is_signalled_twice() {
    let place = "{barrier} // second";
    assert!(EXCHANGE.contains(place));
    let body = EXCHANGE.replace(place, "s_barrier_signal -1");
    let (report, _) = run("gfx1201", &body, 1, Checks::all());
    let twice = |found: &Finding| found.message.contains("again");
    assert!(report.findings.iter().any(twice), "{:#?}", report.findings);
}

#[test]
fn lds_bytes_nobody_wrote() {
    let check = Check::LdsUninitialized;
    plant(
        &CHIPS,
        EXCHANGE,
        check,
        "ds_load_b32 v5, v4",
        "ds_load_b32 v5, v4 offset:256",
        "ds_load",
    );
}

#[test]
fn lds_out_of_bounds() {
    let check = Check::LdsBounds;
    plant(
        &CHIPS,
        EXCHANGE,
        check,
        "ds_load_b32 v5, v4",
        "ds_load_b32 v5, v4 offset:1024",
        "ds_load",
    );
    let (from, to) = ("ds_store_b32 v2, v5", "ds_store_b32 v2, v5 offset:1020");
    plant(&CHIPS, EXCHANGE, check, from, to, "ds_store");
}

#[test]
fn global_out_of_bounds() {
    let check = Check::GlobalBounds;
    let plant = |from: &str, to: &str, at: &str| plant(&CHIPS, EXCHANGE, check, from, to, at);
    plant("v2, v6, s[6:7]", "v2, v6, s[6:7] offset:4", "global_store");
    plant("v3, v2, s[4:5]", "v3, v2, s[4:5] offset:-4", "global_load");
    plant(
        "{barrier} // third",
        "{barrier}\ns_load_b32 s9, s[6:7], 0x100\n{scalar}",
        "s_load_b32",
    );
}

#[test]
fn stores_into_inputs() {
    plant(
        &CHIPS,
        EXCHANGE,
        Check::InputStore,
        "v6, s[6:7]",
        "v6, s[4:5]",
        "global_store",
    );
}

#[test]
fn scratch_out_of_bounds() {
    let (from, to) = ("v5, off offset:12", "v5, off offset:16");
    plant(
        &CHIPS,
        EXCHANGE,
        Check::ScratchBounds,
        from,
        to,
        "scratch_store",
    );
}

#[test]
fn waves_that_skip_a_barrier() {
    let check = Check::BarrierDivergence;
    plant(
        &CHIPS,
        EXCHANGE,
        check,
        "skip:\n{barrier} // third",
        "{barrier}\nskip:",
        "s_endpgm",
    );
}

/// One WMMA after another that depends on it, with all there must be between them.
const MATRICES: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 15, v0
v_lshlrev_b32 v2, 2, v0
v_mov_b32 v3, v1
v_mov_b32 v4, v1
v_mov_b32 v5, v1
v_mov_b32 v6, v1
v_mov_b32 v7, v1
v_mov_b32 v8, v1
v_mov_b32 v9, v1
v_mov_b32 v10, v1
v_wmma_i32_16x16x16_iu8 v[20:27], v[3:6], v[7:10], 0
v_nop
v_wmma_i32_16x16x16_iu8 v[30:37], v[20:23], v[7:10], 0
{scalar}
global_store_b32 v2, v20, s[6:7]
";

#[test]
fn wmma_operands_that_do_not_repeat() {
    // In the second WMMA A is a D, which does not repeat: both forms speak, so keep one alone.
    let body = MATRICES.replace("v[30:37], v[20:23]", "v[30:37], v[3:6]");
    let (from, to) = ("v_mov_b32 v4, v1", "v_mov_b32 v4, v2");
    plant(
        &["gfx1100", "gfx1151"],
        &body,
        Check::WmmaHalves,
        from,
        to,
        "v_wmma",
    );
}

#[test]
fn wmma_right_after_the_one_it_reads() {
    // On RDNA 4 operands are half as long and nothing repeats.
    let body = MATRICES
        .replace("v[3:6], v[7:10]", "v[3:4], v[7:8]")
        .replace("v[20:23], v[7:10]", "v[20:21], v[7:8]");
    plant(
        &["gfx1201"],
        &body,
        Check::WmmaHazard,
        "v_nop",
        "",
        "v_wmma_i32_16x16x16_iu8 v[30:37]",
    );
}

#[test]
fn workgroups_that_meet_in_an_output() {
    for chip in CHIPS {
        // Both store the same words.
        let (report, c) = run(chip, EXCHANGE, 2, Checks::all());
        assert!(report.findings.is_empty(), "{chip}: {:#?}", report.findings);
        assert_eq!(c[0], 132);
        let group = if chip == "gfx1201" { "ttmp9" } else { "s2" };
        let other = EXCHANGE.replace(
            "global_store_b32 v2, v6",
            &format!("v_xor_b32 v6, {group}, v6\nglobal_store_b32 v2, v6"),
        );
        let (report, c) = run(chip, &other, 2, Checks::all());
        assert!(report.count(Check::GlobalRace) > 0, "{chip}");
        assert_eq!(report.findings[0].workgroup, [1, 0, 0], "run in order");
        assert_eq!(c[0], 133);
    }
}

#[test]
fn the_two_readings_of_the_range_check() {
    // The last word is in range only when the scalar offset does not count.
    let body = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
{scalar}
s_mov_b32 s8, s4
s_and_b32 s9, s5, 0xffff
s_mov_b32 s10, 252
s_mov_b32 s11, 0x31004000
s_mov_b32 s12, 0
buffer_load_b32 v3, v2, s[8:11], s12 offen
{load}
global_store_b32 v2, v3, s[6:7]
";
    let check = Check::RangeReading;
    plant(
        &CHIPS,
        body,
        check,
        "s_mov_b32 s12, 0",
        "s_mov_b32 s12, 4",
        "buffer_load",
    );
    let (_, c) = run("gfx1100", body, 1, Checks::all());
    assert_eq!((c[62], c[63]), (162, 0), "out of range reads as 0");
}
