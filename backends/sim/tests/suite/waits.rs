//! Registers used while a load into them is pending: each fault with the kernel that does it right.

use tilefold_sim::{Check, Checks};

use crate::CHIPS;
use crate::faults::{EXCHANGE, plant, run};

/// Arguments in s[4:7], the lane's number in v1, four bytes times it in v2.
const BEGIN: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
{scalar}
";

#[test]
fn missing_waits() {
    let missing = |from: &str, at: &str| {
        plant(&CHIPS, EXCHANGE, Check::MissingWait, from, "", at);
    };
    missing("{scalar} // arguments", "global_load_b32 v3");
    missing("{load}\n", "ds_store_b32 v2, v3");
    let early = "v_mov_b32 v9, v5\n{lds}";
    plant(
        &CHIPS,
        EXCHANGE,
        Check::MissingWait,
        "{lds} // loaded",
        early,
        "v_mov_b32_e32 v9, v5",
    );
    missing("{load} // scratch", "global_store_b32 v2, v6");
}

#[test]
fn waits_that_let_too_many_loads_stand() {
    let body = &(BEGIN.to_owned()
        + "\
global_load_b32 v3, v2, s[4:5]
global_load_b32 v4, v2, s[4:5]
{load but one}
ds_store_b32 v2, v3
{load}
ds_store_b32 v2, v4 offset:512
{lds}
ds_load_b32 v5, v2
ds_load_b32 v6, v2 offset:512
{lds but one}
v_mov_b32 v7, v5
{lds}
v_add_nc_u32 v7, v7, v6
global_store_b32 v2, v7, s[6:7]
");
    let (first, second) = ("ds_store_b32 v2, v3", "ds_store_b32 v2, v4 offset:512");
    let early = "ds_store_b32 v2, v4";
    plant(&CHIPS, body, Check::MissingWait, first, early, early);
    plant(
        &CHIPS,
        body,
        Check::MissingWait,
        &format!("{{load}}\n{second}"),
        second,
        second,
    );
    plant(
        &CHIPS,
        body,
        Check::MissingWait,
        "v7, v5",
        "v7, v6",
        "v_mov_b32_e32 v7, v6",
    );
}

/// Loads of one kind may follow each other into one register where they write it in order.
#[test]
fn loads_into_one_register() {
    let body = &(BEGIN.to_owned()
        + "\
global_load_b32 v3, v2, s[4:5]
{load} // between
global_load_b32 v3, v2, s[4:5] offset:0
{load}
ds_store_b32 v2, v3
{lds}
ds_load_b32 v5, v2
ds_load_b32 v5, v2 offset:0
{lds}
global_store_b32 v2, v5, s[6:7]
");
    let between = "{load} // between\n";
    let at = "global_load_b32 v3, v2, s[4:5]";
    plant(&["gfx1201"], body, Check::MissingWait, between, "", at);
    for chip in ["gfx1100", "gfx1151"] {
        let (report, _) = run(chip, &body.replace(between, ""), 1, Checks::all());
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
    }
    let mixed = body.replace(
        "{lds}\nglobal_store",
        "global_load_b32 v5, v2, s[4:5]\n{lds}\n{load}\nglobal_store",
    );
    for chip in CHIPS {
        let (report, _) = run(chip, &mixed, 1, Checks::all());
        assert_eq!(
            report.count(Check::MissingWait),
            2,
            "{chip}: {:#?}",
            report.findings
        );
    }
}

/// A flat load may go to LDS, and return before an older one from memory.
#[test]
fn flat_loads_into_one_register() {
    let body = &(BEGIN.to_owned()
        + "\
v_add_co_u32 v8, vcc_lo, s4, v2
v_mov_b32 v9, s5
{alu}
v_add_co_ci_u32_e64 v9, null, 0, v9, vcc_lo
FIRST
{load}
{lds} // between
SECOND
{load}
{lds}
global_store_b32 v2, v3, s[6:7]
");
    let [flat, global] = [
        "flat_load_b32 v3, v[8:9]",
        "global_load_b32 v3, v[8:9], off",
    ];
    for (first, second) in [(flat, flat), (flat, global), (global, flat)] {
        let body = body.replace("FIRST", first).replace("SECOND", second);
        plant(
            &CHIPS,
            &body,
            Check::MissingWait,
            "{load}\n{lds} // between\n",
            "",
            second,
        );
    }
}

/// A load into one half of a register leaves accesses of memory that move the other half alone,
/// and meets all else that touches the register.
#[test]
fn loads_into_halves() {
    let body = &(BEGIN.to_owned()
        + "\
ds_store_b32 v2, v2
global_load_d16_hi_b16 v5, v2, s[4:5]
{lds}
ds_load_u16_d16 v5, v2
{lds}
global_store_b16 v2, v5, s[6:7]
{load} // both
global_store_d16_hi_b16 v2, v5, s[6:7] offset:2
ds_store_b16 v2, v5
{lds}
ds_load_u16_d16_hi v6, v2
ds_load_u16_d16 v6, v2
{lds} // read
v_mov_b32 v7, v6
v_mov_b32 v8, v2
ds_load_u16_d16_hi v8, v2 offset:2
{lds} // an address
ds_store_b16 v8, v8
");
    let whole = |from: &str, to: &str, at: &str| {
        plant(&CHIPS, body, Check::MissingWait, from, to, at);
    };
    let late = "global_store_d16_hi_b16 v2, v5";
    whole("{load} // both", "", late);
    whole(
        "{load} // both",
        "v_mov_b32 v9, v5\n{load}",
        "v_mov_b32_e32 v9, v5",
    );
    whole(
        "{load} // both",
        "global_store_b32 v2, v5, s[6:7]\n{load}",
        "global_store_b32 v2, v5",
    );
    // As an address, or filled as a whole, the register counts with both halves.
    whole("{lds} // an address", "", "ds_store_b16 v8, v8");
    whole(
        "ds_load_u16_d16 v5, v2",
        "ds_load_u16 v5, v2",
        "ds_load_u16 v5, v2",
    );
    whole(
        "ds_load_u16_d16 v5, v2",
        "ds_load_u16_d16_hi v5, v2",
        "ds_load_u16_d16_hi v5, v2",
    );
    whole(
        "{lds}\nglobal_store_b16",
        "global_store_b16",
        "global_store_b16 v2, v5",
    );
    whole("{lds} // read", "{lds but one}", "v_mov_b32_e32 v7, v6");
}

#[test]
fn overwriting_what_a_load_still_writes() {
    let from = "{lds} // loaded";
    plant(
        &CHIPS,
        EXCHANGE,
        Check::MissingWait,
        from,
        "v_mov_b32 v5, 0\n{lds}",
        "v_mov_b32",
    );
}
