//! Every step of the published ladder on every chip: exact, also where blocks overlap the edges,
//! and within the published resources.

use super::{
    CHIPS,
    gemm::{built, judge, ran},
    tilefold,
};
use tilefold::{Compiled, Inputs, ladder};

/// Runs `check` on every step compiled for every chip.
fn every_step(check: impl Fn(&str, &str, &ladder::Step, &Compiled)) {
    for chip in CHIPS {
        for step in ladder::steps() {
            let compiled = built(&step.spec(chip).unwrap());
            check(
                &format!("step {} on {chip}", step.name),
                chip,
                &step,
                &compiled,
            );
        }
    }
}

/// All numbers of K tiles up to one more than two turns of a loop over pairs of them.
#[test]
fn every_step_is_exact_for_any_number_of_k_tiles() {
    every_step(|what, _, _, compiled| {
        let [m, n, k] = compiled.plan.block;
        for tiles in 1..=5 {
            let outcome = ran(compiled, [m, n, tiles * k], Inputs::Signs);
            judge(&format!("{what}, {tiles} tiles"), &outcome, true);
        }
    });
}

#[test]
fn every_step_is_exact_on_whole_tiles_and_at_edges() {
    every_step(|what, _, _, compiled| {
        let [m, n, k] = compiled.plan.block;
        for extents in [
            [2 * m, 3 * n, 3 * k],
            // C's lines run along M, and are stored 128 bits at a time.
            [m + 8, 2 * n + 1, 2 * k],
            [2 * m - 8, n - 1, 3 * k],
        ] {
            judge(
                &format!("{what}, {extents:?}"),
                &ran(compiled, extents, Inputs::Signs),
                true,
            );
        }
    });
}

/// LDS is the published LDS, waves are at least and registers at most the published ones; with
/// two f16 accumulators to a register the last steps stay below what hand-written kernels with
/// such accumulators reached on RDNA 3 (156 and 158).
#[test]
fn every_step_is_within_the_published_resources() {
    every_step(|what, chip, step, compiled| {
        let resources = &compiled.code.resources;
        // Of the first step none is published.
        assert_eq!(step.lds_bytes.is_some(), step.name != "1", "{what}");
        if let Some(lds) = step.lds_bytes {
            assert_eq!(resources.lds_bytes, lds, "{what}");
        }
        if let Some(waves) = ladder::Step::column(&step.waves_per_simd, chip) {
            assert!(resources.waves_per_simd >= waves, "{what}: {resources:?}");
        }
        if let Some(vgprs) = ladder::Step::column(&step.vgprs, chip) {
            assert!(resources.vgprs <= vgprs, "{what}: {resources:?}");
        }
        if ["7", "8"].contains(&step.name.as_str()) && chip != "gfx1201" {
            assert!(resources.vgprs <= 160, "{what}: {resources:?}");
        }
        assert_eq!(resources.vgpr_spills + resources.sgpr_spills, 0, "{what}");
        assert_eq!(resources.scratch_bytes, 0, "{what}");
        // No lane computes an address in the loop.
        let main_loop = resources.main_loop.unwrap();
        assert_eq!(main_loop.valu, 0, "{what}: {main_loop:?}");
    });
}

/// Lines of C that are no multiple of a store: the kernels for the published size do not take
/// them, and those for the size do.
#[test]
fn the_ladder_runs_at_any_size_of_c() {
    let arguments = |chip| ["ladder", "--arch", chip, "--size", "97,193,128"];
    for chip in CHIPS {
        let json = tilefold(&[&arguments(chip)[..], &["--report", "json"]].concat());
        assert_eq!(json.status.code(), Some(0), "{json:?}");
        let rungs: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        let rungs = rungs.as_array().unwrap();
        assert_eq!(rungs.len(), ladder::steps().len());
        for rung in rungs {
            let name = &rung["published"]["name"];
            let ours = &rung["ours"];
            assert_eq!(rung["compiled_for_size"], true, "{name}");
            let shape = ["m", "n", "k"].map(|axis| ours["shape"][axis].as_i64());
            assert_eq!(shape, [97, 193, 128].map(Some), "{name}");
            for holds in ["correct", "exact"] {
                assert_eq!(ours[holds], true, "{name} on {chip}: {holds}");
            }
            // The warning is about two readings of the range check.
            for (check, found) in ours["checks"].as_object().unwrap() {
                let silent = *found == 0 || check == "range_reading";
                assert!(silent, "{name} on {chip}: {check} {found}");
            }
            let published = &rung["published"]["lds_bytes"];
            assert!(
                published.is_null() || *published == rung["ours"]["lds_bytes"],
                "{name}"
            );
        }
    }
    let text = tilefold(&arguments("gfx1201"));
    let text = String::from_utf8(text.stdout).unwrap();
    for step in ladder::steps() {
        let start = format!("│ {} *", step.name);
        let row = text.lines().find(|line| line.starts_with(&start));
        assert!(
            row.is_some_and(|row| row.contains("exact")),
            "{start} in {text}"
        );
    }
    let warned = "checks found (docs/simulator.md): step 5: range_reading ";
    for said in ["49152 (49152)", "59904 (59904)", "compiled for it", warned] {
        assert!(text.contains(said), "{said} in {text}");
    }
    // K must be whole tiles, whoever compiles.
    let refused = tilefold(&["ladder", "--arch", "gfx1201", "--size", "97,193,100"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}
