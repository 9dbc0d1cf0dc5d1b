//! A planted fault for every row of every generation, what cures it, and what lies just outside.

use super::*;
use crate::chip::Chip;

const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

/// What lines run one after the other meet, and at which of them.
fn met(chip: &str, wave: usize, lines: &[&str]) -> Vec<(Rule, usize)> {
    let chip = Chip::find(chip).expect("the chip has a record");
    let mut facts: Vec<_> = lines
        .iter()
        .map(|text| Some(Box::new(crate::hazards::Facts::new(text, chip, wave))))
        .collect();
    crate::hazards::prune(facts.iter_mut());
    let facts_of = |at: usize| facts[at].as_deref()?.as_rdna();
    let mut recent = Recent::default();
    (0..lines.len())
        .filter_map(|at| {
            let met = recent.step(at, facts_of(at)?, at.checked_sub(1), facts_of)?;
            Some((met.rule, at))
        })
        .collect()
}

const RCP: &str = "v_rcp_f32_e32 v0, v1";
const ADD: &str = "v_add_f32_e32 v2, v0, v3";
const OTHER: &str = "v_mov_b32_e32 v9, v8";
const SIN: &str = "v_sin_f32_e32 v7, v8";
const SELECT: &str = "v_cndmask_b32_e64 v0, v1, v2, s[2:3]";
const COMPARE: &str = "v_cmpx_eq_u32_e32 v0, v1";
const PERMUTE: &str = "v_permlanex16_b32 v2, v3, s4, s5";
const VA_VDST: &str = "s_waitcnt_depctr depctr_va_vdst(0)";
const SA_SDST: &str = "s_waitcnt_depctr depctr_sa_sdst(0)";

/// Rule, whether in wave64 alone, generations that have it, the lines, and what cures it before
/// the last of them.
type Case = (
    Rule,
    bool,
    [bool; 3],
    &'static [&'static str],
    &'static [&'static str],
);

const CASES: &[Case] = &[
    (
        Rule::Transcendental,
        false,
        [true, false, false],
        &[RCP, ADD],
        &[VA_VDST, "s_waitcnt_depctr 0xf9f", "ds_store_b32 v8, v9"],
    ),
    (
        Rule::Transcendental,
        false,
        [true, false, false],
        &[
            RCP,
            OTHER,
            SIN,
            OTHER,
            OTHER,
            OTHER,
            "v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v3, v0",
        ],
        &[OTHER, SIN, VA_VDST],
    ),
    (
        Rule::PartialForwarding,
        true,
        [true, true, false],
        &[
            "v_mov_b32_e32 v0, v9",
            OTHER,
            "s_and_saveexec_b64 s[0:1], s[2:3]",
            OTHER,
            "v_mov_b32_e32 v3, v9",
            OTHER,
            OTHER,
            OTHER,
            OTHER,
            ADD,
        ],
        &[OTHER, VA_VDST, "global_load_b32 v8, v[10:11], off"],
    ),
    (
        Rule::MaskByScalar,
        true,
        [true, true, false],
        &[SELECT, "s_mov_b32 s3, s7", "v_add_nc_u32_e32 v0, s3, v0"],
        &[SA_SDST, "s_waitcnt_depctr 0xff9e"],
    ),
    (
        Rule::MaskByScalar,
        true,
        [true, true, false],
        &[
            "v_div_fmas_f32 v0, v1, v2, v3",
            "s_mov_b64 vcc, s[4:5]",
            "s_cbranch_vccz 4",
        ],
        &[SA_SDST],
    ),
    (
        Rule::MaskByVector,
        true,
        [true, true, false],
        &[SELECT, "v_readfirstlane_b32 s2, v0", "v_mov_b32_e32 v4, s2"],
        &[
            "s_waitcnt_depctr depctr_va_sdst(0)",
            "s_waitcnt_depctr 0xf19f",
        ],
    ),
    (
        Rule::MaskVcc,
        true,
        [true, true, false],
        &[
            "v_add_co_ci_u32_e32 v0, vcc, v1, v2, vcc",
            "v_cmp_eq_u32_e32 vcc, v0, v1",
            "v_cndmask_b32_e32 v4, v5, v6, vcc",
        ],
        &[
            "s_waitcnt_depctr depctr_va_vcc(0)",
            "s_waitcnt_depctr 0xff9d",
        ],
    ),
    (
        Rule::ReadByScalar,
        false,
        [false, false, true],
        &[
            "v_mov_b32_e32 v0, s2",
            "s_mov_b32 s3, s7",
            "s_add_co_u32 s8, s3, 1",
        ],
        &[
            "s_wait_alu depctr_sa_sdst(0)",
            "s_wait_alu 0xff9e",
            "s_load_b32 s9, s[10:11], null",
        ],
    ),
    (
        Rule::ReadByVector,
        false,
        [false, false, true],
        &[
            "v_mov_b32_e32 v0, s2",
            "v_readlane_b32 s2, v0, 1",
            "v_mov_b32_e32 v1, s2",
        ],
        &["s_wait_alu depctr_va_sdst(0)", "s_mov_b32 s8, s9"],
    ),
    (
        Rule::ReadVcc,
        false,
        [false, false, true],
        &[
            "v_cndmask_b32_e32 v4, v5, v6, vcc_lo",
            "v_cmp_eq_u32_e32 vcc_lo, v0, v1",
            "v_dual_cndmask_b32 v0, v1, v2 :: v_dual_mov_b32 v3, v5",
        ],
        &["s_wait_alu depctr_va_vcc(0)", "s_cbranch_vccz 4"],
    ),
    (
        Rule::Permlane,
        false,
        [true, true, true],
        &[COMPARE, "s_mov_b32 s9, s8", PERMUTE],
        &[OTHER, "v_nop"],
    ),
    (
        Rule::Dealloc,
        false,
        [true, true, true],
        &[
            "s_nop 0",
            "s_mov_b32 s0, s1",
            "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
        ],
        &["s_nop 0"],
    ),
    (
        Rule::MultiplyAdd,
        false,
        [true, false, false],
        &["v_mad_u64_u32 v[0:1], null, v1, v4, v[2:3]"],
        &[],
    ),
    (
        Rule::MultiplyAdd,
        false,
        [true, false, false],
        &["v_mad_i64_i32 v[0:1], s2, v4, v0, v[2:3]"],
        &[],
    ),
];

#[test]
fn every_row_has_a_fault_and_cures() {
    let rows = [RDNA3, RDNA35, RDNA4];
    for &(rule, wave64, has, lines, cures) in CASES {
        for (generation, chip) in CHIPS.into_iter().enumerate() {
            assert_eq!(
                rows[generation].iter().any(|row| row.rule == rule),
                has[generation]
            );
            for wave in [32, 64] {
                let last = lines.len() - 1;
                let found = met(chip, wave, lines);
                if !has[generation] || wave64 && wave == 32 {
                    assert!(
                        found.iter().all(|found| found.0 != rule),
                        "{chip}: {lines:?}"
                    );
                    continue;
                }
                assert_eq!(found, [(rule, last)], "{chip} wave{wave}: {lines:?}");
                for cure in cures {
                    let cured = [&lines[..last], &[cure], &lines[last..]].concat();
                    assert_eq!(met(chip, wave, &cured), [], "{chip} wave{wave}: {cured:?}");
                }
            }
        }
    }
    let direct = [Rule::DirectVector, Rule::DirectMemory];
    let tried = |rule: Rule| CASES.iter().any(|case| case.0 == rule) || direct.contains(&rule);
    assert!(
        rows.iter()
            .flat_map(|rows| rows.iter())
            .all(|row| tried(row.rule))
    );
}

#[test]
fn direct_loads_wait_for_vector_instructions() {
    for (chip, load) in [
        ("gfx1100", "lds_direct_load v2 wait_vdst:"),
        ("gfx1151", "lds_direct_load v2 wait_vdst:"),
        ("gfx1201", "ds_direct_load v2 wait_va_vdst:"),
    ] {
        let found = |between: &[&str], wait: u32| {
            let load = format!("{load}{wait}");
            let lines = [&[ADD], between, &[load.as_str()]].concat();
            met(chip, 32, &lines) == [(Rule::DirectVector, lines.len() - 1)]
        };
        assert!(
            found(&[OTHER, OTHER], 3) && !found(&[OTHER, OTHER], 2),
            "{chip}"
        );
        assert!(
            found(&[OTHER, SIN], 1) && !found(&[OTHER, SIN], 0),
            "{chip}"
        );
        assert!(!found(&["ds_store_b32 v8, v9"], 15), "{chip}");
    }
}

#[test]
fn direct_loads_wait_for_accesses_of_memory() {
    let waits: [(&str, &str, &[&str]); 3] = [
        (
            "gfx1100",
            "lds_direct_load v2 wait_vdst:0",
            &[
                "s_waitcnt vmcnt(0)",
                "s_waitcnt_vscnt null, 0x0",
                "s_waitcnt lgkmcnt(0)",
            ],
        ),
        (
            "gfx1151",
            "lds_direct_load v2 wait_vdst:0",
            &[
                "s_waitcnt vmcnt(0)",
                "s_waitcnt_vscnt null, 0x0",
                "s_waitcnt lgkmcnt(0)",
            ],
        ),
        (
            "gfx1201",
            "ds_direct_load v2 wait_va_vdst:0 wait_vm_vsrc:1",
            &[
                "s_wait_loadcnt 0x0",
                "s_wait_storecnt 0x0",
                "s_wait_dscnt 0x0",
            ],
        ),
    ];
    for (chip, load, waits) in waits {
        let found = |access: &str, between: &[&str]| {
            let lines = [&[access], between, &[load]].concat();
            met(chip, 32, &lines) == [(Rule::DirectMemory, lines.len() - 1)]
        };
        let vsrc = match chip {
            "gfx1201" => "s_wait_alu depctr_vm_vsrc(0)",
            _ => "s_waitcnt_depctr depctr_vm_vsrc(0)",
        };
        for (kind, access) in [
            "global_load_b32 v4, v2, s[0:1]",
            "global_store_b32 v4, v2, s[0:1]",
            "ds_store_b32 v4, v2",
        ]
        .into_iter()
        .enumerate()
        {
            assert!(found(access, &[]), "{chip}: {access}");
            for cure in [vsrc, OTHER, "s_wait_idle"] {
                assert!(!found(access, &[cure]), "{chip}: {access}, {cure}");
            }
            for (counter, wait) in waits.iter().enumerate() {
                assert_eq!(
                    found(access, &[wait]),
                    counter != kind,
                    "{chip}: {access}, {wait}"
                );
            }
        }
        assert!(!found("ds_store_b32 v4, v3", &[]), "{chip}");
        assert!(
            !found("buffer_load_b32 v4, v3, s[0:3], 0 offen", &[]),
            "{chip}"
        );
    }
    let load = "ds_direct_load v2 wait_va_vdst:0 wait_vm_vsrc:0";
    assert_eq!(met("gfx1201", 32, &["ds_store_b32 v4, v2", load]), []);
}

#[test]
fn multiply_adds_beside_their_sources_are_none() {
    for line in [
        "v_mad_u64_u32 v[0:1], null, v4, v5, v[2:3]",
        "v_mad_u64_u32 v[0:1], null, v4, v5, v[1:2]",
        "v_mad_u32_u24 v0, v0, v1, v2",
    ] {
        assert_eq!(met("gfx1100", 32, &[line]), [], "{line}");
    }
}

/// A function that calls another one keeps its own return address in lanes.
#[test]
fn return_addresses_need_no_wait() {
    let lines = [
        "v_writelane_b32 v40, s30, 0",
        "s_swappc_b64 s[30:31], s[0:1]",
        "s_setpc_b64 s[30:31]",
    ];
    assert_eq!(met("gfx1201", 32, &lines), []);
    let lines = [lines[0], "s_mov_b32 s30, s4", "s_mov_b32 s5, s30"];
    assert_eq!(met("gfx1201", 32, &lines), [(Rule::ReadByScalar, 2)]);
}

#[test]
fn waits_for_scalar_registers_are_none_for_vcc() {
    let lines = [
        "v_cndmask_b32_e32 v4, v5, v6, vcc_lo",
        "v_cmp_eq_u32_e32 vcc_lo, v0, v1",
        "s_wait_alu depctr_va_sdst(0)",
        "v_cndmask_b32_e32 v4, v5, v6, vcc_lo",
    ];
    assert_eq!(met("gfx1201", 32, &lines), [(Rule::ReadVcc, 3)]);
}

#[test]
fn what_lies_outside_is_none() {
    for (chip, wave, lines) in [
        // Other halves.
        (
            "gfx1100",
            32,
            &["v_rcp_f16_e32 v0.h, v1.l", "v_add_f16_e32 v2.l, v0.l, v3.l"][..],
        ),
        // A sixth vector instruction or a second transcendental one between.
        (
            "gfx1100",
            32,
            &[RCP, OTHER, OTHER, OTHER, OTHER, OTHER, OTHER, ADD],
        ),
        ("gfx1100", 32, &[RCP, SIN, SIN, ADD]),
        // A wait that lets some results stand.
        (
            "gfx1100",
            32,
            &[RCP, "s_waitcnt_depctr depctr_va_vdst(0)", ADD],
        ),
        // EXEC is not written between both; both operands come from behind it; too far apart.
        (
            "gfx1100",
            64,
            &[
                "v_mov_b32_e32 v0, v9",
                "v_mov_b32_e32 v3, v9",
                "s_mov_b64 exec, -1",
                ADD,
            ],
        ),
        (
            "gfx1100",
            64,
            &[
                "s_mov_b64 exec, -1",
                "v_mov_b32_e32 v0, v9",
                "v_mov_b32_e32 v3, v9",
                ADD,
            ],
        ),
        (
            "gfx1151",
            64,
            &[
                "v_mov_b32_e32 v0, v9",
                OTHER,
                OTHER,
                "s_mov_b64 exec, -1",
                OTHER,
                "v_mov_b32_e32 v3, v9",
                ADD,
            ],
        ),
        // The mask itself is read again; a load brings a new one.
        ("gfx1100", 64, &[SELECT, SELECT, "s_mov_b64 s[4:5], s[2:3]"]),
        (
            "gfx1100",
            64,
            &[
                SELECT,
                "s_load_b64 s[2:3], s[8:9], null",
                "s_mov_b32 s2, s5",
                SELECT,
            ],
        ),
        // A scalar reader waits for a vector instruction by itself.
        (
            "gfx1151",
            64,
            &[SELECT, "v_readfirstlane_b32 s2, v0", "s_mov_b32 s5, s2"],
        ),
        (
            "gfx1201",
            32,
            &[
                "v_mov_b32_e32 v0, s2",
                "v_readlane_b32 s2, v0, 1",
                "s_mov_b32 s5, s2",
            ],
        ),
        // Another function.
        ("gfx1100", 32, &[RCP, "s_setpc_b64 s[30:31]", ADD]),
        // No vector instruction read it.
        (
            "gfx1201",
            32,
            &[
                "v_mov_b32_e32 v0, s4",
                "s_mov_b32 s3, s7",
                "s_add_co_u32 s8, s3, 1",
            ],
        ),
        (
            "gfx1201",
            64,
            &[
                "v_cmp_lt_u32_e32 vcc, s8, v0",
                "v_cndmask_b32_e32 v4, v5, v6, vcc",
            ],
        ),
    ] {
        assert_eq!(met(chip, wave, lines), [], "{chip} wave{wave}: {lines:?}");
    }
    let some = [RCP, "s_waitcnt_depctr depctr_va_vdst(1)", ADD];
    assert_eq!(met("gfx1100", 32, &some), [(Rule::Transcendental, 2)]);
}
