//! Scalar loads of what vector memory instructions stored, with the cache invalidated at the right
//! time and too early.

use tilefold_sim::{Arg, Check, Launch, Report, Simulator};

use crate::build;
use crate::compiled::CHIPS;
use crate::signals::{spelled, with};

/// Two waves a workgroup.
fn run(chip: &str, body: &str, grid: u32) -> Report {
    let wave = if chip == "gfx950" { 64 } else { 32 };
    let body = body.replace("{second}", &format!("{:#x}", 4 * wave));
    let object = build::kernel(chip, &spelled(chip, &body));
    let mut simulator = Simulator::new();
    let b = simulator.memory.alloc_output(1024);
    let c = simulator.memory.alloc_inout(&[0; 1024]);
    let launch = Launch {
        grid: [grid, 1, 1],
        block: [2 * wave, 1, 1],
        args: [b, b, c].map(Arg::Buffer).to_vec(),
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch);
    report.unwrap_or_else(|error| panic!("{chip}: {error}"))
}

/// So many scalar loads are stale, and nothing else is found.
fn stale(body: &str, grid: u32, count: u64) {
    for chip in CHIPS {
        let report = run(chip, body, grid);
        for check in Check::ALL {
            let expected = match check {
                Check::StaleScalar => count,
                _ => 0,
            };
            let findings = &report.findings;
            assert_eq!(
                report.count(check),
                expected,
                "{chip} {check}: {findings:#?}"
            );
        }
    }
}

/// Every wave stores a word a lane in `b` and loads its first one.
const ALONE: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b64 s[8:9], s[0:1], 0x10
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
v_mov_b32 v5, 1
s_nop 0
v_readfirstlane_b32 s11, v2
{scalar}
global_store_b32 v2, v1, s[6:7]
{store} // written
s_dcache_inv
global_store_b32 v2, v1, s[8:9]
s_load_b32 s12, s[6:7], s11
{scalar}
";

#[test]
fn a_later_store_elsewhere_changes_nothing() {
    stale(ALONE, 1, 0);
    stale(&with(ALONE, "s_dcache_inv\n", ""), 1, 2);
    stale(&with(ALONE, "{store} // written\n", ""), 1, 2);
    // A wait behind it is too late.
    let late = with(
        ALONE,
        "{store} // written\ns_dcache_inv",
        "s_dcache_inv\n{store}",
    );
    stale(&late, 1, 2);
    stale(&with(&late, "s_load_b32", "s_dcache_inv\ns_load_b32"), 1, 0);
    // So is what is stored after it.
    stale(&with(ALONE, "v2, v1, s[8:9]", "v2, v1, s[6:7]"), 1, 2);
    stale(&with(ALONE, "s12, s[6:7]", "s12, s[8:9]"), 1, 2);
}

/// The second wave stores, the first invalidates the cache, then stores its own; both load.
const TOGETHER: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
v_readfirstlane_b32 s11, v1
{scalar}
s_cmp_eq_u32 s11, 0
s_cbranch_scc1 first
global_store_b32 v2, v1, s[6:7]
{store} // written
{barrier} // told
{barrier} // known
s_load_b32 s12, s[6:7], {second}
{scalar}
s_endpgm
first:
{barrier} // told
s_dcache_inv
global_store_b32 v2, v1, s[6:7]
{barrier} // known
s_load_b32 s12, s[6:7], {second}
{scalar}
";

#[test]
fn waves_invalidate_the_cache_for_each_other_behind_barriers() {
    stale(TOGETHER, 1, 0);
    stale(&with(TOGETHER, "s_dcache_inv\n", ""), 1, 2);
    stale(&with(TOGETHER, "{store} // written\n", ""), 1, 2);
    // Only the wave that invalidated it knows.
    stale(&with(TOGETHER, "{barrier} // known\n", ""), 1, 1);
    stale(&with(TOGETHER, "{barrier} // told\n", ""), 1, 2);
    // The word that the first one stored later.
    stale(&with(TOGETHER, "{second}", "0x0"), 1, 2);
}

#[test]
fn atomic_operations_count_once_a_barrier_lies_between() {
    let body = with(
        ALONE,
        "global_store_b32 v2, v1, s[6:7]\n{store} // written\ns_dcache_inv\n",
        "global_atomic_add_u32 v2, v5, s[6:7]\n{store} // written\n",
    );
    stale(&body, 1, 0);
    let before = with(
        &body,
        "global_store_b32",
        "{store}\n{barrier}\nglobal_store_b32",
    );
    stale(&before, 1, 2);
    let known = with(&before, "{barrier}\n", "s_dcache_inv\n{barrier}\n");
    stale(&known, 1, 0);
    // What is stored before the barrier does not make one behind it count.
    let behind = with(
        &body,
        "global_atomic_add_u32",
        "global_store_b32 v2, v1, s[8:9]\n{barrier}\nglobal_atomic_add_u32",
    );
    stale(&behind, 1, 0);
}

/// The first workgroup stores a word and sets a flag; the second loads the flag, then the word.
const APART: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b64 s[8:9], s[0:1], 0x10
v_mov_b32 v3, 0
v_mov_b32 v4, 1
s_mov_b32 s10, {group}
{scalar}
s_cmp_eq_u32 s10, 1
s_cbranch_scc1 second
global_store_b32 v3, v4, s[6:7]
{store} // release
global_store_b32 v3, v4, s[8:9]{device}
s_endpgm
second:
global_load_b32 v5, v3, s[8:9]{device}
{load} // told
s_dcache_inv
s_load_b32 s12, s[6:7], 0x0
{scalar}
";

#[test]
fn what_another_workgroup_stored_is_stale_once_it_is_heard_of() {
    stale(APART, 2, 0);
    stale(&with(APART, "s_dcache_inv\n", ""), 2, 2);
    stale(&with(APART, "{store} // release\n", ""), 2, 2);
    let early = with(
        &with(APART, "s_dcache_inv\n", ""),
        "second:",
        "second:\ns_dcache_inv",
    );
    stale(&early, 2, 2);
    // Who heard of nothing may see either: that is another fault.
    let plain = with(&early, "v5, v3, s[8:9]{device}", "v5, v3, s[8:9]");
    for chip in CHIPS {
        let report = run(chip, &plain, 2);
        assert_eq!(report.count(Check::StaleScalar), 0, "{chip}");
        assert!(report.count(Check::GlobalRace) > 0, "{chip}");
    }
}
