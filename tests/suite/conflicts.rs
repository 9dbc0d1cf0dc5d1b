//! Searched plans of every chip, type and depth of K, and the bank conflicts that the simulator
//! counts in them: none, or a proof that there is no better.

use super::CHIPS;
use tilefold::{
    CompileOptions, Compiled, ElementType, Extent, Gemm, Inputs, OperandLayout, RunOptions, Spec,
    compile, report::CompileReport, run,
};
use tilefold_passes::search::{self, layouts::Class};

/// Types that a chip multiplies.
fn types(chip: &str) -> &'static [ElementType] {
    match chip {
        "gfx1201" => &[ElementType::F16, ElementType::Bf16, ElementType::Fp8],
        _ => &[ElementType::F16, ElementType::Bf16],
    }
}

/// Compiles what the search likes best for tiles of so much K, runs three K tiles of one block,
/// and looks at every LDS access of the kernel: those of the main loop and of the epilogue, which
/// exchanges halves of a wave by permutes and has none.
fn searched_is_free(chip: &str, input: ElementType, depth: i64, orders: [OperandLayout; 2]) {
    let what = format!("{chip} {input} k {depth} {} {}", orders[0], orders[1]);
    use OperandLayout::{Col, Row};
    let [a, b] = &orders;
    let spec = Gemm::new(chip)
        .m(Extent::Any)
        .n(Extent::Any)
        .k(Extent::Any)
        .a(input, a.clone())
        .b(input, b.clone())
        .c(ElementType::F32, OperandLayout::Col)
        .accumulate(ElementType::F32)
        .block([None, None, Some(depth)])
        .build()
        .unwrap();
    let proposals = search::plans(&spec).unwrap();
    assert!(proposals.schedules.is_some(), "{what}");
    // The first that has its registers, which the search says in order.
    let spills = |compiled: &Compiled| {
        let resources = &compiled.code.resources;
        resources.vgpr_spills + resources.sgpr_spills + resources.scratch_bytes
    };
    let (best, compiled) = proposals
        .plans
        .iter()
        .map(|best| {
            (
                best,
                compile(&best.plan.completed, &CompileOptions::default()).unwrap(),
            )
        })
        .find(|(_, compiled)| spills(compiled) == 0)
        .unwrap_or_else(|| panic!("{what}: every proposal spills"));
    let plan = &compiled.plan;
    assert_eq!(plan.block[2], depth, "{what}");
    let [m, n, k] = plan.block;
    let options = RunOptions {
        extents: [m, n, 3 * k].map(Some),
        inputs: Inputs::Small,
        seed: 5,
    };
    let outcome = run(&compiled, &options).unwrap();
    assert!(
        outcome.passed(),
        "{what}: {:?} {:?}",
        outcome.checks,
        outcome.findings
    );
    let counters = &outcome.counters;
    let cycles = counters.lds_conflict_cycles_read + counters.lds_conflict_cycles_write;
    let places = best.layouts.each_ref().map(|found| found.as_ref().unwrap());
    println!(
        "{what}: {:?} by {:?} waves, {cycles} conflict cycles; A {} stored by {} bits{}, B {} by \
         {}{}",
        plan.block,
        plan.waves,
        places[0].best.lds,
        places[0].best.write_bits,
        if places[0].best.stores == places[0].best.values {
            ""
        } else {
            ", turned"
        },
        places[1].best.lds,
        places[1].best.write_bits,
        if places[1].best.stores == places[1].best.values {
            ""
        } else {
            ", turned"
        },
    );
    // Fragments of 16 bytes, wherever the tile has K for them: what is loaded is stored as it is.
    if input.bits() == 8 {
        let wide = depth >= 32;
        let bits = if wide { 128 } else { 64 };
        assert_eq!(plan.atom.instructions, if wide { 2 } else { 1 }, "{what}");
        for (place, along) in places.iter().zip([*a == Row, *b == Col]) {
            assert_eq!(place.best.read_bits, bits, "{what}");
            assert!(
                !(wide && along) || place.best.stores == place.best.values,
                "{what}"
            );
        }
    }
    let mut expected = 0;
    for found in places {
        match found.best.class() {
            Class::Free => {}
            // No placement without padding is free, whatever carries it and however narrow.
            class => {
                let proof = found
                    .zero_conflict_proof
                    .as_ref()
                    .expect("a proof by enumeration");
                assert!(found.complete, "{what}");
                assert_eq!(proof.free_with_more_instructions, 0, "{what}");
                expected += u64::from(class == Class::Conflicting);
            }
        }
    }
    if expected == 0 {
        assert_eq!(cycles, 0, "{what}");
    }
}

fn every_depth(chip: &str) {
    use OperandLayout::{Col, Row};
    for input in types(chip) {
        for depth in [16, 32, 64, 128] {
            searched_is_free(chip, *input, depth, [Row, Col]);
        }
        // Both operands across, and one of them.
        searched_is_free(chip, *input, 16, [Row, Row]);
        searched_is_free(chip, *input, 32, [Col, Row]);
        searched_is_free(chip, *input, 64, [Col, Col]);
    }
}

#[test]
fn gfx1100_has_none() {
    every_depth(CHIPS[0]);
}

#[test]
fn gfx1151_has_none() {
    every_depth(CHIPS[1]);
}

#[test]
fn gfx1201_has_none() {
    every_depth(CHIPS[2]);
}

fn spec(chip: &str, orders: [&str; 2], ld: &str, rest: &str) -> Spec {
    let [a, b] = orders;
    let text = format!(
        "arch = \"{chip}\"\n[gemm]\nm = 4096\nn = 4096\nk = 4096\n\
         a = {{ type = \"f16\", layout = \"{a}\"{ld} }}\n\
         b = {{ type = \"f16\", layout = \"{b}\"{ld} }}\n\
         c = {{ type = \"f32\", layout = \"col\" }}\naccumulate = \"f32\"\n{rest}\n"
    );
    Spec::from_toml("narrow.toml", text).unwrap()
}

/// Loads are narrow by the leading dimensions or because the spec has them so, there are many ways
/// to share a tile by them, and searches follow others where plans spill: what is near has been
/// weighed for all that.
#[test]
fn narrow_loads_have_none() {
    let along = ["row", "col"];
    for (chip, orders, ld, rest) in [
        ("gfx1100", along, ", ld = 4098", ""),
        (
            "gfx1100",
            along,
            ", ld = 4097",
            "[tile]\nblock = [\"_\", \"_\", 32]",
        ),
        ("gfx1201", along, "", "[atoms]\nload = \"global_load_b16\""),
    ] {
        let what = format!("{chip} {orders:?}{ld} {rest}");
        let compiled = compile(&spec(chip, orders, ld, rest), &CompileOptions::default()).unwrap();
        let [m, n, k] = compiled.plan.block;
        let options = RunOptions {
            extents: [m, n, 3 * k].map(Some),
            inputs: Inputs::Small,
            seed: 5,
        };
        let outcome = run(&compiled, &options).unwrap();
        assert!(outcome.passed(), "{what}: {:?}", outcome.findings);
        let counters = &outcome.counters;
        let cycles = counters.lds_conflict_cycles_read + counters.lds_conflict_cycles_write;
        println!(
            "{what}: {:?}, {cycles} conflict cycles",
            compiled.plan.block
        );
        assert_eq!(cycles, 0, "{what}");
        assert_eq!(CompileReport::new(&compiled).warnings, [""; 0], "{what}");
    }
}

#[test]
fn conflicts_of_searches_that_were_cut_short_are_warned_about() {
    let one = "[tile]\nblock = [64, 64, 32]\nwaves = [2, 2]";
    let open = spec("gfx1201", ["row", "col"], "", one);
    let mut compiled = compile(&open, &CompileOptions::default()).unwrap();
    let warnings = |compiled: &Compiled| CompileReport::new(compiled).warnings;
    assert_eq!(warnings(&compiled), [""; 0]);
    let kept = compiled.search.kept;
    compiled.search.proposals.plans[kept].layouts[1]
        .as_mut()
        .unwrap()
        .best
        .cost
        .conflict_cycles = 7;
    // Nothing is better: the search was complete.
    assert_eq!(warnings(&compiled), [""; 0]);
    let place = &mut compiled.search.proposals.plans[kept].layouts[1];
    place.as_mut().unwrap().complete = false;
    let warnings = warnings(&compiled);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("a tile of B in LDS has 7 conflict cycles"));
}
