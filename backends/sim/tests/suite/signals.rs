//! Two workgroups that hand each other a word behind a flag: each fault with the kernel that does
//! it right, and what is none.

use tilefold_sim::{Arg, Check, Checks, Error, Launch, Simulator};

use crate::build;
use crate::compiled::CHIPS;
use crate::faults::run;

/// Each stores its data in `b`, sets its flag in `c`, waits for the other's and loads its data.
const HAND_OVER: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b64 s[8:9], s[0:1], 0x10
v_mov_b32 v1, {group}
v_lshlrev_b32 v3, 2, v1
v_xor_b32 v6, 4, v3
v_mov_b32 v4, 1
v_mov_b32 v9, 0
{scalar}
global_store_b32 v3, v4, s[6:7]
{store} // release
global_store_b32 v3, v4, s[8:9]{device}
poll:
global_load_b32 v5, v6, s[8:9]{device}
{load} // told
v_readfirstlane_b32 s10, v5
s_cmp_eq_u32 s10, 0
s_cbranch_scc1 poll
global_load_b32 v7, v6, s[6:7]
{load}
v_mov_b32 v8, v7
";

/// The kernel as a chip spells it.
pub fn spelled(chip: &str, body: &str) -> String {
    let (group, device, returns) = match chip {
        "gfx1201" => ("ttmp9", " scope:SCOPE_DEV", " th:TH_ATOMIC_RETURN"),
        "gfx950" => ("s2", " sc1", " sc0"),
        _ => ("s2", " glc", " glc"),
    };
    let body = body
        .replace("{group}", group)
        .replace("{scalar group}", group)
        .replace("{device}", device)
        .replace("{returns}", returns);
    if chip != "gfx950" {
        return body;
    }
    let names = [
        ("s_load_b128", "s_load_dwordx4"),
        ("s_load_b64", "s_load_dwordx2"),
        ("_store_b32", "_store_dword"),
        ("_store_b8", "_store_byte"),
        ("_load_b32", "_load_dword"),
        ("_load_u8", "_load_ubyte"),
        ("atomic_add_u32", "atomic_add"),
    ];
    names
        .iter()
        .fold(body, |body, (name, own)| body.replace(name, own))
}

/// Replaces what must be there.
pub fn with(body: &str, from: &str, to: &str) -> String {
    assert!(body.contains(from), "{from} is in the kernel");
    body.replace(from, to)
}

fn silent(body: &str) {
    for chip in CHIPS {
        let (report, _) = run(chip, &spelled(chip, body), 2, Checks::all());
        for check in Check::ALL {
            let findings = &report.findings;
            assert_eq!(report.count(check), 0, "{chip}: {findings:#?}");
        }
    }
}

/// Only the check for early reads finds something, at an instruction that begins with `at` on
/// RDNA, and says `what`.
fn found(body: &str, at: &str, what: &str) {
    for chip in CHIPS {
        let (report, _) = run(chip, &spelled(chip, body), 2, Checks::all());
        for check in Check::ALL {
            let expected = check == Check::Unreleased;
            let findings = &report.findings;
            assert_eq!(
                report.count(check) > 0,
                expected,
                "{chip} {check}: {findings:#?}"
            );
        }
        let mut findings = report.findings.iter();
        let first = findings.find(|finding| finding.check == Check::Unreleased);
        let first = first.expect("it was counted");
        assert!(first.message.contains(what), "{chip}: {first}");
        assert!(first.instruction.starts_with(&spelled(chip, at)), "{first}");
        assert_eq!(first.lane, Some(0));
        let off = Checks::all().without(Check::Unreleased);
        assert!(run(chip, &spelled(chip, body), 2, off).0.passed());
    }
}

/// Only the check for races finds something.
fn races(body: &str) {
    for chip in CHIPS {
        let (report, _) = run(chip, &spelled(chip, body), 2, Checks::all());
        for check in Check::ALL {
            let (expected, findings) = (check == Check::GlobalRace, &report.findings);
            let found = report.count(check) > 0;
            assert_eq!(found, expected, "{chip} {check}: {findings:#?}");
        }
    }
}

const STORED: &str = "did not wait for before it signalled";

#[test]
fn a_flag_does_not_wait_for_the_stores_before_it() {
    silent(HAND_OVER);
    let early = with(HAND_OVER, "{store} // release", "");
    found(&early, "global_load_b32 v7", STORED);
    // Whoever loads at the scope of the device is ready for either order.
    silent(&with(&early, "v7, v6, s[6:7]", "v7, v6, s[6:7]{device}"));
    // A flag that is loaded as data says nothing.
    races(&with(HAND_OVER, "v5, v6, s[8:9]{device}", "v5, v6, s[8:9]"));
}

#[test]
fn a_flag_is_known_once_its_load_is_waited_for() {
    let early = with(
        HAND_OVER,
        "{load} // told",
        "global_load_b32 v7, v6, s[6:7]\n{load} // told",
    );
    // It loads the data before they are stored, too, while it waits.
    for chip in CHIPS {
        let (report, _) = run(chip, &spelled(chip, &early), 2, Checks::all());
        let both = [Check::Unreleased, Check::GlobalRace];
        for check in Check::ALL {
            let (found, findings) = (report.count(check) > 0, &report.findings);
            assert_eq!(
                found,
                both.contains(&check),
                "{chip} {check}: {findings:#?}"
            );
        }
        let mut findings = report.findings.iter();
        let found = findings.find(|finding| finding.check == Check::Unreleased);
        let found = found.expect("it was counted");
        let what = "before it waited for the load";
        assert!(found.message.contains(what), "{chip}: {found}");
    }
}

#[test]
fn a_later_flag_makes_up_for_an_early_one() {
    let poll = "poll:
global_load_b32 v5, v6, s[8:9]{device}
{load} // told
v_readfirstlane_b32 s10, v5
s_cmp_eq_u32 s10, 0
s_cbranch_scc1 poll
";
    let early = with(HAND_OVER, "{store} // release", "");
    let again = with(
        &early,
        poll,
        &format!(
            "{{store}} // second
global_store_b32 v3, v4, s[8:9] offset:32{{device}}
{poll}{}",
            with(
                &poll.replace("s[8:9]", "s[8:9] offset:32"),
                "poll",
                "second"
            )
        ),
    );
    silent(&again);
    let neither = with(&again, "{store} // second", "");
    found(&neither, "global_load_b32 v7", STORED);
}

#[test]
fn an_atomic_operation_beside_the_flag_tells_nothing() {
    let counting = with(
        HAND_OVER,
        "{store} // release",
        "global_atomic_add_u32 v9, v4, s[8:9] offset:16\n{store} // release",
    );
    silent(&counting);
    found(
        &with(&counting, "{store} // release", ""),
        "global_load_b32 v7",
        STORED,
    );
}

#[test]
fn flags_of_bytes_share_a_word() {
    let bytes = HAND_OVER
        .replace("v6, 4, v3", "v6, 4, v3\nv_xor_b32 v2, 1, v1")
        .replace(
            "global_store_b32 v3, v4, s[8:9]",
            "global_store_b8 v1, v4, s[8:9]",
        )
        .replace("global_load_b32 v5, v6", "global_load_u8 v5, v2");
    silent(&bytes);
    found(
        &with(&bytes, "{store} // release", ""),
        "global_load_b32 v7",
        STORED,
    );
}

#[test]
fn a_flag_says_nothing_of_what_follows_it() {
    let (store, flag) = (
        "global_store_b32 v3, v4, s[6:7]\n{store} // release\n",
        "global_store_b32 v3, v4, s[8:9]{device}\n",
    );
    let late = with(
        HAND_OVER,
        &format!("{store}{flag}"),
        &format!("{flag}{store}"),
    );
    races(&late);
    // Nor of what another wave stores behind the same barrier.
    let apart = format!(
        "{{barrier}}
v_and_b32 v10, 0x3ff, v0
v_cmpx_gt_u32 32, v10
{flag}s_mov_b32 exec_lo, -1
v_cmpx_le_u32 32, v10
{store}s_mov_b32 exec_lo, -1
"
    );
    let apart = with(HAND_OVER, &format!("{store}{flag}"), &apart);
    for chip in &CHIPS[..3] {
        let (report, _) = run(chip, &spelled(chip, &apart), 2, Checks::all());
        let (early, races) = (Check::Unreleased, Check::GlobalRace);
        assert_eq!(report.count(early), 0, "{chip}: {:#?}", report.findings);
        assert!(report.count(races) > 0, "{chip}");
    }
}

/// The first of three workgroups stores its data and tells so, the second passes it on, and the
/// third hears of it from the second alone.
fn chain(tell: &str, pass: &str, hear: &str) -> String {
    format!(
        "
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b64 s[8:9], s[0:1], 0x10
v_mov_b32 v3, 0
v_mov_b32 v4, 1
s_mov_b32 s10, {{scalar group}}
{{scalar}}
s_cmp_eq_u32 s10, 1
s_cbranch_scc1 second
s_cmp_eq_u32 s10, 2
s_cbranch_scc1 third
global_store_b32 v3, v4, s[6:7]
{{store}} // release
{tell}
s_endpgm
second:
{pass}
s_endpgm
third:
{hear}
{{load}}
global_load_b32 v7, v3, s[6:7]
{{load}}
v_mov_b32 v8, v7
"
    )
}

#[test]
fn a_workgroup_between_passes_word_on() {
    let load = "global_load_b32 v5, v3, s[8:9] offset:4{device}";
    let count = "global_atomic_add_u32 v3, v4, s[8:9] offset:4";
    let counted = "global_atomic_add_u32 v5, v3, v4, s[8:9] offset:4{returns}\n{load}";
    let byte = |at: u32| format!("global_store_b8 v3, v4, s[8:9] offset:{at}{{device}}");
    let flag = "global_store_b32 v3, v4, s[8:9]{device}";
    let passed = "global_load_b32 v5, v3, s[8:9]{device}
{load}
v_mov_b32 v6, v5
global_store_b32 v3, v4, s[8:9] offset:4{device}";
    for (tell, pass) in [
        (count, count),
        (count, counted),
        (&byte(4), &byte(5)),
        (flag, passed),
    ] {
        let right = chain(tell, pass, load);
        let wrong = with(&right, "{store} // release", "");
        for chip in CHIPS {
            let of = |body: &str| run(chip, &spelled(chip, body), 3, Checks::all()).0;
            let report = of(&right);
            assert!(report.passed(), "{chip} {pass}: {:#?}", report.findings);
            let report = of(&wrong);
            let found = report.count(Check::Unreleased);
            assert!(found > 0, "{chip} {pass}: {:#?}", report.findings);
        }
    }
}

/// The data of the second wave, where there are two, told by the first behind a barrier.
const BARRIER: &str = "
{wait}
{barrier}
v_cmpx_gt_u32 32, v10
s_cbranch_execz end
{store} // release
global_store_b32 v3, v4, s[8:9]{device}
";

#[test]
fn a_flag_behind_a_barrier_tells_of_every_wave() {
    let whole = HAND_OVER
        .replace(
            "v_mov_b32 v4, 1",
            "v_mov_b32 v4, 1\nv_and_b32 v10, 0x3ff, v0",
        )
        .replace(
            "{store} // release\nglobal_store_b32 v3, v4, s[8:9]{device}\n",
            BARRIER,
        );
    let body = format!("{whole}end:\n");
    for chip in &CHIPS[..3] {
        let of = |wait: &str| {
            let body = spelled(chip, &body.replace("{wait}", wait));
            run(chip, &body, 2, Checks::all()).0
        };
        let right = of("{store}");
        assert!(right.passed(), "{chip}: {:#?}", right.findings);
        let wrong = of("");
        assert!(wrong.count(Check::Unreleased) > 0, "{chip}");
    }
}

/// What a loop waits for: one word, the same by scalar loads, or one of two.
fn loops() -> [(String, &'static [u32]); 3] {
    let load = "global_load_b32 v5, v6, s[8:9]{device}
{load} // told
v_readfirstlane_b32 s10, v5
";
    let scalar = "s_lshl_b32 s11, {group}, 2
s_xor_b32 s11, s11, 4
s_dcache_inv
s_load_b32 s10, s[8:9], s11
{scalar}
";
    let two = "global_load_b32 v5, v6, s[8:9]{device}
global_load_b32 v7, v6, s[8:9] offset:32{device}
{load} // told
v_or_b32 v5, v5, v7
s_nop 0
v_readfirstlane_b32 s10, v5
";
    [
        (HAND_OVER.into(), &[12]),
        (with(HAND_OVER, load, scalar), &[12]),
        (with(HAND_OVER, load, two), &[12, 44]),
    ]
}

#[test]
fn waiting_for_what_never_comes_is_told() {
    for (chip, (body, bytes)) in CHIPS
        .into_iter()
        .flat_map(|chip| loops().map(|case| (chip, case)))
    {
        let object = build::kernel(chip, &spelled(chip, &body));
        let mut simulator = Simulator::new();
        let b = simulator.memory.alloc_output(64);
        let c = simulator.memory.alloc_inout(&[0; 64]);
        let launch = |grid| Launch {
            grid: [grid, 1, 1],
            block: [64, 1, 1],
            args: [b, b, c].map(Arg::Buffer).to_vec(),
            max_instructions: 20_000,
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch(2)).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        let error = simulator.launch(&object, "k", launch(3)).unwrap_err();
        let Error::Endless { workgroup, .. } = &error else {
            panic!("{chip}: {error}");
        };
        assert_eq!(*workgroup, [2, 0, 0], "the others have each other");
        let text = error.to_string();
        assert!(text.contains("over and over"), "{chip}: {text}");
        for byte in 0..64 {
            let named = text.contains(&format!("byte {byte} of buffer 1, which has 64"));
            assert_eq!(named, bytes.contains(&byte), "{chip}: {text}");
        }
    }
}
