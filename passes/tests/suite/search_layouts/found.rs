//! What the search finds.

use super::{brute::verify, fp8, wmma};
use tilefold_dialect::element::ElementType;
use tilefold_passes::search::layouts::{
    Candidate, LayoutError, LayoutSearch, TileUse, check, search,
};

fn free_everywhere(chip: &str, element: ElementType, depths: &[i64]) {
    for &depth in depths {
        for (rows, threads) in [(64, 128), (256, 128), (128, 256), (256, 512)] {
            if rows * depth < 8 * threads {
                continue;
            }
            let usage = wmma(chip, element, [rows, depth], threads, 1);
            let found = search(&usage).unwrap();
            let case = format!("{chip} {element} {rows} x {depth}, {threads} threads");
            let best = &found.best;
            assert!(found.complete, "{case}");
            assert_eq!(best.cost.conflict_cycles, 0, "{case}: {}", best.term);
            assert_eq!(best.cost.bytes, 2 * rows * depth, "{case}");
            let widths = [best.load_bits, best.read_bits, best.write_bits];
            assert_eq!(widths, [128; 3], "{case}");
            assert_eq!(found.zero_conflict_proof, None, "{case}");
            let published = found.published.unwrap();
            assert!(best.cost <= published.cost, "{case}");
        }
    }
}

#[test]
fn gfx1100_is_free_of_conflicts_without_padding() {
    free_everywhere("gfx1100", ElementType::F16, &[16, 32, 64, 128]);
}

#[test]
fn gfx1201_is_free_of_conflicts_without_padding() {
    free_everywhere("gfx1201", ElementType::F16, &[16, 32, 64, 128]);
}

#[test]
fn gfx1151_and_bf16_are_free_of_conflicts_too() {
    free_everywhere("gfx1151", ElementType::F16, &[16, 64]);
    free_everywhere("gfx1100", ElementType::Bf16, &[32]);
    free_everywhere("gfx1151", ElementType::Bf16, &[128]);
    free_everywhere("gfx1201", ElementType::Bf16, &[16]);
}

/// One line a candidate.
fn line(candidate: &Candidate) -> String {
    let cost = &candidate.cost;
    format!(
        "{}\n  {} by {} o {} | b{} b{} | {} instructions, {} lines, {}+{} conflict cycles, {} permutes, {} bytes, {} registers\n",
        candidate.term,
        candidate.lds,
        candidate.threads,
        candidate.values,
        candidate.read_bits,
        candidate.write_bits,
        cost.instructions,
        cost.cache_lines,
        candidate.read_cycles,
        candidate.write_cycles,
        cost.permutes,
        cost.bytes,
        cost.registers
    )
}

fn summary(found: &LayoutSearch) -> String {
    let mut text = format!("{:?}\nbest\n{}", found.enumerated, line(&found.best));
    text += &format!("runner-up\n{}", line(&found.runners_up[0]));
    if let Some(published) = &found.published {
        text += &format!("published\n{}", line(published));
    }
    for step in &found.explanation {
        let rule = step.rule.unwrap_or("start");
        text += &format!(
            "{rule}{}: {}\n",
            if step.backwards { " backwards" } else { "" },
            step.term
        );
    }
    if let Some(proof) = &found.zero_conflict_proof {
        text += &format!("{proof:?}\n");
    }
    text
}

#[test]
fn the_published_ladder_has_its_layouts() {
    let first = wmma("gfx1100", ElementType::F16, [256, 16], 512, 1);
    let later = wmma("gfx1201", ElementType::F16, [128, 64], 128, 1);
    insta::assert_snapshot!(
        "ladder",
        [first, later]
            .map(|usage| summary(&search(&usage).unwrap()))
            .join("\n")
    );
}

#[test]
fn a_published_permutation_of_one_fragment_a_row_is_none() {
    let usage = wmma("gfx1100", ElementType::F16, [256, 16], 512, 1);
    let found = search(&usage).unwrap();
    let published = found.published.unwrap();
    assert_eq!(published.lds.to_string(), "(256,16):(16,1)");
    assert!(published.read_cycles > 0);
    verify(&usage, &published);
}

#[test]
fn operands_that_lie_across_are_stored_narrow_or_turned() {
    let mut text = String::new();
    for chip in ["gfx1100", "gfx1201"] {
        for reorder in [false, true] {
            let usage = wmma(chip, ElementType::F16, [128, 32], 128, 0);
            let usage = TileUse { reorder, ..usage };
            let found = search(&usage).unwrap();
            verify(&usage, &found.best);
            check(&usage, &found.explanation).unwrap();
            // A thread has four lines of eight elements.
            let width = if reorder { 64 } else { 16 };
            assert_eq!((found.best.read_bits, found.best.write_bits), (128, width));
            text += &format!("{chip}, reorder {reorder}\n{}\n", summary(&found));
        }
    }
    insta::assert_snapshot!("across", text);
}

#[test]
fn bytes_are_stored_by_128_bits_without_conflicts_only_when_reordered() {
    let mut text = String::new();
    for depth in [16, 32, 64] {
        for reorder in [false, true] {
            let usage = fp8([128, depth], reorder);
            let found = search(&usage).unwrap();
            verify(&usage, &found.best);
            check(&usage, &found.explanation).unwrap();
            let proof = found.zero_conflict_proof.is_some();
            text += &format!(
                "k {depth}, reorder {reorder}: {:?}, impossible: {proof}\n{}",
                found.zero_conflict_proof,
                line(&found.best)
            );
        }
    }
    insta::assert_snapshot!("fp8", text);
}

#[test]
fn explanations_are_checked_step_by_step() {
    let usage = wmma("gfx1100", ElementType::F16, [128, 64], 128, 1);
    let found = search(&usage).unwrap();
    let steps = &found.explanation;
    assert_eq!(steps.last().unwrap().term, found.best.term);
    assert!(steps[0].term.starts_with("(lds (hold rows) (carry (along "));
    check(&usage, steps).unwrap();
    for index in 1..steps.len() {
        let mut skipped = steps.clone();
        skipped[index].rule = Some("pad-nothing");
        let error = check(&usage, &skipped).unwrap_err();
        assert!(matches!(error, LayoutError::Explanation { .. }), "{error}");
        let mut changed = steps.clone();
        changed[index].term = "(lds (hold (sw 2 3 5 rows)) (carry (across 4)))".into();
        assert!(check(&usage, &changed).is_err());
    }
}

#[test]
fn every_run_answers_alike() {
    let usage = wmma("gfx1201", ElementType::Bf16, [64, 32], 128, 1);
    let answer = || serde_json::to_string(&search(&usage).unwrap()).unwrap();
    let first = answer();
    let others = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(answer));
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(others.iter().all(|other| *other == first));
}

#[test]
fn a_plan_takes_what_was_found() {
    let usage = wmma("gfx1201", ElementType::F16, [128, 64], 128, 1);
    let best = search(&usage).unwrap().best;
    let plan = crate::plan(&format!(
        "arch = \"gfx1201\"\n[gemm]\nm = 256\nn = 256\nk = 256\n\
         a = {{ type = \"f16\", layout = \"row\" }}\n\
         b = {{ type = \"f16\", layout = \"col\" }}\n\
         c = {{ type = \"f32\", layout = \"col\" }}\naccumulate = \"f32\"\n\
         [tile]\nblock = [128, 128, 64]\nwaves = [2, 2]\n\
         [copy.a]\nthreads = \"{}\"\nvalues = \"{}\"\n[lds]\na = \"{}\"\nb = \"{}\"\nbuffers = 1\n",
        best.threads, best.values, best.lds, best.lds
    ));
    assert_eq!(plan.lds[0], best.lds);
    assert_eq!(plan.copies[0], (best.threads, best.values));
    assert_eq!(plan.load_elements[0] * 16, best.load_bits);
}

#[test]
fn senseless_uses_are_refused() {
    let good = wmma("gfx1201", ElementType::F16, [64, 32], 128, 1);
    let bad = |change: &dyn Fn(&mut TileUse)| {
        let mut usage = good.clone();
        change(&mut usage);
        search(&usage).unwrap_err().to_string()
    };
    let errors = [
        bad(&|usage| usage.tile = [0, 32]),
        bad(&|usage| usage.tile = [i64::MAX, i64::MAX]),
        bad(&|usage| usage.element = ElementType::Fp6),
        bad(&|usage| usage.threads = 33),
        bad(&|usage| usage.threads = 1 << 40),
        bad(&|usage| usage.along = 2),
        bad(&|usage| usage.fragments = "32:1".parse().unwrap()),
        bad(&|usage| usage.fragments = "(128,16):(1,4096)".parse().unwrap()),
        bad(&|usage| usage.fragments = "(128,16):(1,-1)".parse().unwrap()),
        bad(&|usage| usage.max_bytes = 4095),
    ];
    insta::assert_snapshot!("refusals", errors.join("\n"));
}

#[test]
fn a_budget_below_padding_leaves_padding_out() {
    let usage = wmma("gfx1100", ElementType::F16, [64, 32], 128, 1);
    let tight = TileUse {
        max_bytes: 4096,
        ..usage
    };
    let found = search(&tight).unwrap();
    let all = found
        .pareto
        .iter()
        .chain(&found.runners_up)
        .chain([&found.best]);
    for candidate in all {
        assert!(candidate.cost.bytes <= 4096, "{}", candidate.term);
    }
}
