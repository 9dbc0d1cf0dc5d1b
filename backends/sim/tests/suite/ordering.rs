//! Stores that others read too early, and atomic operations among plain accesses: each fault with
//! the kernel that does it right.

use tilefold_sim::{Arg, Check, Checks, Launch, Simulator};

use crate::faults::{plant, run};
use crate::{CHIPS, build, words};

/// Two waves hand each other a word a lane through global memory.
const HAND_OVER: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
v_xor_b32 v4, 0x80, v2
{scalar}
global_store_b32 v2, v1, s[6:7]
{store} // release
{barrier}
global_load_b32 v5, v4, s[6:7]
{load}
v_mov_b32 v6, v5
";

#[test]
fn a_barrier_does_not_wait_for_stores() {
    let check = Check::Unreleased;
    plant(
        &CHIPS,
        HAND_OVER,
        check,
        "{store} // release",
        "",
        "global_load_b32 v5",
    );
}

#[test]
fn on_one_compute_unit_it_need_not() {
    // What a wave wrote itself it may read at once, too.
    let own = HAND_OVER
        .replace("{store} // release", "")
        .replace("v5, v4", "v5, v2");
    for chip in CHIPS {
        let (report, _) = run(chip, &own, 1, Checks::all());
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        let source = "kernel void k(global int *x, global int *y) {
            int i = get_local_id(0);
            y[i] = i;
            __builtin_amdgcn_s_barrier();
            y[i + 64] = y[i ^ 32];
        }";
        for (flag, count) in [("-mcumode", 0), ("-mno-cumode", 2)] {
            let object = build::compile_with(chip, source, &[flag]);
            let mut simulator = Simulator::new();
            let y = simulator.memory.alloc_output(512);
            let launch = Launch {
                block: [64, 1, 1],
                args: [y, y].map(Arg::Buffer).to_vec(),
                ..Launch::default()
            };
            let report = simulator.launch(&object, "k", launch).unwrap();
            let found = report.count(Check::Unreleased);
            assert_eq!(
                found > 0,
                count > 0,
                "{chip} {flag}: {:#?}",
                report.findings
            );
            assert_eq!(words(&simulator.memory.read(y))[64], 32, "{chip}");
        }
    }
}

/// Every workgroup stores a word, counts itself, and reads the word of the other one if that has
/// counted itself before.
const COUNT: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_mov_b32 v1, 7
v_lshlrev_b32 v3, 2, {group}
v_mov_b32 v4, 1
v_mov_b32 v5, 0
v_xor_b32 v6, 4, v3
{scalar}
global_store_b32 v3, v1, s[6:7]
{store} // release
global_atomic_add_u32 v9, v5, v4, s[6:7] offset:128 {returns}
{load}
v_readfirstlane_b32 s10, v9
s_cmp_lt_u32 s10, 64
s_cbranch_scc1 end
global_load_b32 v7, v6, s[6:7]
{load}
v_mov_b32 v8, v7
end:
";

#[test]
fn an_atomic_operation_does_not_wait_for_stores() {
    for chip in CHIPS {
        let group = if chip == "gfx1201" { "ttmp9" } else { "s2" };
        let returns = match chip {
            "gfx1201" => "th:TH_ATOMIC_RETURN",
            _ => "glc",
        };
        let right = COUNT
            .replace("{group}", group)
            .replace("{returns}", returns)
            // It starts from -1.
            .replace("s_cmp_lt_u32 s10, 64", "s_cmp_lt_i32 s10, 63");
        let (report, _) = run(chip, &right, 2, Checks::all());
        assert!(report.findings.is_empty(), "{chip}: {:#?}", report.findings);
        let wrong = right.replace("{store} // release", "");
        let (report, _) = run(chip, &wrong, 2, Checks::all());
        assert!(!report.passed());
        for check in Check::ALL {
            let expected = check == Check::Unreleased;
            assert_eq!(report.count(check) > 0, expected, "{chip} {check}");
        }
        let of = |check| {
            report
                .findings
                .iter()
                .find(|finding| finding.check == check)
        };
        let found = of(Check::Unreleased).expect("it was counted");
        assert!(
            found.instruction.starts_with("global_load_b32 v7"),
            "{found}"
        );
        assert_eq!((found.workgroup, found.lane), ([1, 0, 0], Some(0)));
        let off = Checks::all().without(Check::Unreleased);
        assert!(run(chip, &wrong, 2, off).0.passed());
    }
}

#[test]
fn workgroups_that_meet_in_atomic_operations_alone_are_silent() {
    let body = "
s_load_b128 s[4:7], s[0:1], 0x0
v_mov_b32 v4, 1
v_mov_b32 v5, 0
{scalar}
global_atomic_add_u32 v5, v4, s[6:7]
";
    for chip in CHIPS {
        let (report, c) = run(chip, body, 3, Checks::all());
        assert!(report.findings.is_empty(), "{chip}: {:#?}", report.findings);
        // It starts from -1.
        assert_eq!(c[0], 3 * 64 - 1);
        let plain = format!("{body}global_load_b32 v6, v5, s[6:7]\n{{load}}\nv_mov_b32 v7, v6\n");
        let (report, _) = run(chip, &plain, 3, Checks::all());
        assert!(report.count(Check::GlobalRace) > 0, "{chip}");
    }
}

#[test]
fn the_scalar_cache_does_not_see_stores() {
    let body = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
{scalar}
global_store_b32 v2, v1, s[6:7]
{store} // written
{barrier}
s_dcache_inv
s_load_b32 s9, s[6:7], 0x0
{scalar}
";
    let check = Check::StaleScalar;
    plant(&CHIPS, body, check, "s_dcache_inv", "", "s_load_b32 s9");
    plant(
        &CHIPS,
        body,
        check,
        "{store} // written",
        "",
        "s_load_b32 s9",
    );
}

#[test]
fn atomic_operations_that_no_barrier_orders_before_a_scalar_load_are_silent() {
    let body = "
s_load_b128 s[4:7], s[0:1], 0x0
v_mov_b32 v4, 1
v_mov_b32 v5, 0
{scalar}
s_load_b32 s9, s[6:7], 0x0 // counted
{scalar}
global_atomic_add_u32 v5, v4, s[6:7]
{store} // arrived
{barrier}
s_dcache_inv
s_load_b32 s9, s[6:7], 0x0
{scalar}
";
    let check = Check::StaleScalar;
    plant(&CHIPS, body, check, "s_dcache_inv", "", "s_load_b32 s9");
}

#[test]
fn lds_atomics_race_with_plain_accesses() {
    let body = "
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
v_mov_b32 v10, 0
ds_store_b32 v2, v1
{lds}
{barrier}
ds_add_u32 v10, v1
{lds} // added
{barrier} // before the plain load
ds_load_b32 v5, v2
{lds}
";
    let check = Check::LdsRace;
    let barrier = "{barrier} // before the plain load";
    plant(&CHIPS, body, check, barrier, "", "ds_load_b32");
    // The addition may still be under way behind the barrier.
    plant(&CHIPS, body, check, "{lds} // added", "", "ds_add_u32");
}

#[test]
fn lds_atomics_need_something_to_start_from() {
    let body = "
v_mov_b32 v10, 0
v_mov_b32 v1, 1
ds_store_b32 v10, v1
{lds}
ds_add_u32 v10, v1
{lds}
";
    let check = Check::LdsUninitialized;
    let alone = |body: &str| {
        format!("v_cmpx_gt_u32 32, v0\n{body}").replace(
            "v_cmpx_gt_u32 32, v0",
            "v_and_b32 v2, 0x3ff, v0\nv_cmpx_gt_u32 32, v2",
        )
    };
    plant(
        &CHIPS,
        &alone(body),
        check,
        "ds_add_u32 v10, v1",
        "ds_add_u32 v10, v1 offset:4",
        "ds_add_u32",
    );
}
