//! The module after each pass, per chip.

use super::plan;
use melior::ir::operation::OperationLike;
use tilefold_dialect::tile;
use tilefold_passes::{PASSES, lower, tile_module};

const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

/// A small problem whose plans together call for every pass.
fn every_pass(chip: &str, buffers: i64, prefetch: &str) -> String {
    format!(
        r#"
        arch = "{chip}"
        [gemm]
        m = 256
        n = 256
        k = 64
        a = {{ type = "f16", layout = "row" }}
        b = {{ type = "f16", layout = "col" }}
        c = {{ type = "f16", layout = "col" }}
        accumulate = "f16"
        [tile]
        block = [64, 32, 32]
        waves = [2, 1]
        [atoms]
        load = "buffer_load_b128"
        [lds]
        a = "pad(8)"
        b = "pad(8)"
        buffers = {buffers}
        [schedule]
        prefetch = "{prefetch}"
        group_rows = 4
        "#
    )
}

#[test]
fn tile_module_after_each_pass() {
    for chip in CHIPS {
        let mut seen = Vec::new();
        for (buffers, prefetch, more, only) in [
            (2, "burst", "", None),
            (1, "burst", "", Some("one-buffer")),
            (1, "interleaved", "", Some("interleave")),
            (
                1,
                "interleaved",
                "lead = \"b\"\ncommit = \"reads\"",
                Some("early-commits"),
            ),
        ] {
            let plan = plan(&(every_pass(chip, buffers, prefetch) + more));
            let context = tile::context();
            tile_module(&context, &plan, |pass, module| {
                if only.is_none_or(|only| only == pass) {
                    insta::assert_snapshot!(
                        format!("{chip}-{pass}"),
                        module.as_operation().to_string()
                    );
                    seen.push(pass);
                }
            })
            .unwrap();
        }
        for pass in &PASSES {
            assert!(
                seen.contains(&pass.name),
                "no snapshot of {} on {chip}",
                pass.name
            );
        }
    }
}

#[test]
fn rocdl_module() {
    for chip in CHIPS {
        let plan = plan(&format!(
            r#"
            arch = "{chip}"
            [gemm]
            m = 16
            n = 16
            k = 16
            a = {{ type = "f16", layout = "row" }}
            b = {{ type = "f16", layout = "col" }}
            c = {{ type = "f16", layout = "col" }}
            accumulate = "f32"
            [tile]
            block = [16, 16, 16]
            waves = [1, 1]
            [lds]
            a = "none"
            b = "Sw<1,3,3> o 0 o (16,16):(16,1)"
            buffers = 1
            [schedule]
            prefetch = "none"
            "#
        ));
        let context = tile::context();
        let module = tile_module(&context, &plan, |_, _| {}).unwrap();
        let lowered = lower(&context, &module, &plan).unwrap();
        assert!(lowered.as_operation().verify());
        insta::assert_snapshot!(format!("{chip}-rocdl"), lowered.as_operation().to_string());
    }
}

#[test]
fn passes_have_distinct_names() {
    let mut names: Vec<_> = PASSES.iter().map(|pass| pass.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PASSES.len());
}
