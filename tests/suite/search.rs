//! What the search proposes, compiled and executed.

use super::{CHIPS, read, spec};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};
use tilefold::{
    CompileOptions, Compiled, ElementType, Extent, Gemm, Inputs, LdsLayout, OperandLayout, Outcome,
    Prefetch, RunOptions, Spec, compile, compile_plan, run,
};
use tilefold_passes::search::{
    plans_without,
    schedules::{self, Choices, Open, rules},
};

fn built(spec: &Spec) -> Compiled {
    compile(spec, &CompileOptions::default())
        .unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)))
}

fn ran(compiled: &Compiled, extents: [i64; 3], inputs: Inputs) -> Outcome {
    let options = RunOptions {
        extents: extents.map(Some),
        inputs,
        seed: 11,
    };
    run(compiled, &options).unwrap()
}

/// A problem with everything open.
fn problem(chip: &str, extent: impl Into<Extent> + Clone, input: ElementType) -> Gemm {
    Gemm::new(chip)
        .m(extent.clone())
        .n(extent.clone())
        .k(extent)
        .a(input, OperandLayout::Row)
        .b(input, OperandLayout::Col)
        .c(ElementType::F32, OperandLayout::Col)
        .accumulate(ElementType::F32)
}

/// The searched kernel of 4096 x 4096 x 4096, f16 with f32 accumulation or bf16: by chip.
fn searched(chip: &'static str, input: ElementType) -> &'static Compiled {
    static F16: [OnceLock<Compiled>; 3] = [const { OnceLock::new() }; 3];
    static BF16: [OnceLock<Compiled>; 3] = [const { OnceLock::new() }; 3];
    let cells = if input == ElementType::F16 {
        &F16
    } else {
        &BF16
    };
    let index = CHIPS.iter().position(|known| *known == chip).unwrap();
    cells[index].get_or_init(|| built(&problem(chip, 4096, input).build().unwrap()))
}

/// The kernel with exactly these choices, for any extents.
fn chosen(chip: &str, [input, accumulate]: [ElementType; 2], choices: &Choices) -> Spec {
    let spec = problem(chip, Extent::Any, input).accumulate(accumulate);
    let mut spec = spec.lds(LdsLayout::None, LdsLayout::None).build().unwrap();
    choices.fill(&mut spec);
    spec
}

fn common_multiple(a: i64, b: i64) -> i64 {
    (1..).map(|times| a * times).find(|it| it % b == 0).unwrap()
}

/// Both sides of every rule, executed: the kernels before and after give the same exact C.
///
/// The domain of a rule is all kernels that hold its choice. Each is tried in the first of a few
/// that has room for both sides, of f16 with sums in f32 if it can be.
#[test]
fn both_sides_of_every_rule_compute_the_same() {
    let chip = "gfx1201";
    use ElementType::{F16, F32, Fp8};
    let types = [[F16, F32], [F16, F16], [Fp8, F32]];
    let plans = types.map(|[input, accumulate]| {
        let spec = problem(chip, Extent::Any, input).accumulate(accumulate);
        tilefold::Plan::complete(&spec.build().unwrap()).unwrap()
    });
    let opens = plans.each_ref().map(Open::of);
    let base = |block, waves, buffers, prefetch, ahead, group_rows| Choices {
        block,
        waves,
        buffers,
        prefetch,
        ahead,
        group_rows,
        ..Choices::default()
    };
    use Prefetch::{Burst, Interleaved};
    let contexts = [
        Choices::default(),
        base([32, 128, 32], [2, 1], 2, Interleaved, 4, 8),
        base([128, 32, 32], [1, 2], 1, Burst, 1, 1),
        base([128, 128, 16], [2, 2], 1, Interleaved, 1, 1),
        base([128, 128, 32], [1, 1], 1, Burst, 1, 1),
        base([256, 256, 16], [2, 4], 1, Interleaved, 1, 1),
        base([192, 32, 16], [1, 1], 1, Burst, 1, 1),
        base([32, 192, 16], [1, 1], 1, Burst, 1, 1),
        base([192, 48, 16], [1, 1], 1, Burst, 1, 1),
        base([48, 192, 16], [1, 1], 1, Burst, 1, 1),
    ];
    let mut kernels: BTreeMap<(usize, Choices), Compiled> = BTreeMap::new();
    let mut pairs = BTreeMap::new();
    for rule in rules() {
        let tried =
            (0..types.len()).flat_map(|index| contexts.iter().map(move |context| (index, context)));
        let pair = tried.into_iter().find_map(|(index, context)| {
            let sides = [rule.from, rule.to].map(|leaf| context.with(leaf));
            let buildable = |choices| schedules::weigh(&opens[index], choices).is_ok();
            sides.iter().all(buildable).then_some((index, sides))
        });
        let Some((index, sides)) = pair else {
            panic!("{}: no context builds both sides", rule.rewrite_name());
        };
        let extent = |axis: usize| common_multiple(sides[0].block[axis], sides[1].block[axis]);
        // Two tiles of K at least, so that loops go round.
        let extents = [extent(0), extent(1), 2 * extent(2)];
        for choices in &sides {
            let compiled = kernels
                .entry((index, *choices))
                .or_insert_with(|| built(&chosen(chip, types[index], choices)));
            let outcome = ran(compiled, extents, Inputs::Small);
            let what = format!("{} at {extents:?}: {choices:?}", rule.rewrite_name());
            // Equal to the reference, exactly: so both are equal.
            assert!(outcome.exact && outcome.passed(), "{what}: {outcome:?}");
            assert_eq!(outcome.max_abs_error, 0.0, "{what}");
        }
        *pairs.entry(rule.name).or_insert(0) += 1;
    }
    println!("pairs run: {pairs:?}, kernels: {}", kernels.len());
    assert_eq!(pairs.values().sum::<usize>(), rules().count());
    assert_eq!(
        pairs.len(),
        rules().map(|rule| rule.name).collect::<BTreeSet<_>>().len()
    );
}

/// What the model expects of finalists is what they compile to.
#[test]
fn finalists_compile_as_estimated() {
    for chip in CHIPS {
        let compiled = built(&spec("gemm.toml", chip));
        let search = &compiled.search;
        assert_eq!(search.scores.len(), search.proposals.plans.len());
        for (proposal, score) in search.proposals.plans.iter().zip(&search.scores) {
            let figures = proposal.figures.unwrap();
            println!(
                "{chip} {:?}: {} VGPRs estimated, {} compiled; {:.2} instructions per mma \
                 estimated, {:.2} compiled",
                proposal.plan.block,
                figures.vgprs,
                score.vgprs,
                figures.instructions_per_mma,
                score.instructions_per_mma
            );
            assert!(!score.spills(), "{chip} {:?}", proposal.plan.block);
            let (estimated, compiled) = (figures.vgprs as f64, f64::from(score.vgprs));
            assert!(
                estimated >= 0.85 * compiled,
                "{chip}: {estimated}, {compiled}"
            );
        }
    }
}

#[test]
fn searched_main_loops_are_short() {
    for chip in CHIPS {
        let resources = &searched(chip, ElementType::F16).code.resources;
        let main_loop = resources.main_loop.as_ref().unwrap();
        let per_mma = f64::from(main_loop.total) / f64::from(main_loop.mma);
        let plan = &searched(chip, ElementType::F16).plan;
        println!(
            "{chip} {:?} {:?}: {per_mma:.3} {main_loop:?}",
            plan.block, plan.waves
        );
        let most = if chip == "gfx1201" { 2.4 } else { 3.1 };
        assert!(per_mma <= most, "{chip}: {per_mma}");
        assert_eq!(main_loop.valu, 0, "{chip}: {main_loop:?}");
        let spills = resources.vgpr_spills + resources.sgpr_spills + resources.scratch_bytes;
        assert_eq!(spills, 0, "{chip}");
    }
}

/// Accumulators of 16 bits take half the registers on every chip: on RDNA 3 two share them.
#[test]
fn narrow_accumulators_take_larger_tiles_and_do_not_spill() {
    for chip in CHIPS {
        let spec = problem(chip, 4096, ElementType::F16)
            .c(ElementType::F16, OperandLayout::Col)
            .accumulate(ElementType::F16);
        let narrow = built(&spec.build().unwrap());
        let wide = searched(chip, ElementType::F16);
        let area = |compiled: &Compiled| compiled.plan.block[0] * compiled.plan.block[1];
        let resources = &narrow.code.resources;
        println!(
            "{chip}: {:?} by {:?} against {:?}, {} VGPRs, {:?}",
            narrow.plan.block,
            narrow.plan.waves,
            wide.plan.block,
            resources.vgprs,
            narrow.search.scores
        );
        assert!(area(&narrow) >= area(wide), "{chip}");
        for score in &narrow.search.scores {
            assert!(!score.spills(), "{chip}");
        }
        let outcome = ran(&narrow, narrow.plan.block, Inputs::Signs);
        assert!(outcome.passed(), "{chip}: {:?}", outcome.checks);
    }
}

/// Conflict cycles of reads and of writes, of a run over two tiles along every extent.
fn conflicts(compiled: &Compiled) -> [u64; 2] {
    let outcome = ran(
        compiled,
        compiled.plan.block.map(|extent| 2 * extent),
        Inputs::Small,
    );
    assert!(
        outcome.passed(),
        "{:?} {:?}",
        outcome.checks,
        outcome.findings
    );
    let counters = outcome.counters;
    [
        counters.lds_conflict_cycles_read,
        counters.lds_conflict_cycles_write,
    ]
}

#[test]
fn searched_layouts_have_no_conflicts() {
    for chip in CHIPS {
        for input in [ElementType::F16, ElementType::Bf16] {
            let cycles = conflicts(searched(chip, input));
            println!("{chip} {input}: {cycles:?}");
            assert_eq!(cycles, [0, 0], "{chip} {input}");
        }
    }
}

/// The proposals without some rules, compiled; the best by instructions per mma.
fn without(chip: &str, families: &[&str]) -> (Compiled, f64) {
    let spec = problem(chip, 4096, ElementType::F16).build().unwrap();
    let proposals = plans_without(&spec, families).unwrap();
    let compiled = proposals.plans.iter().map(|proposal| {
        let compiled = compile_plan(&proposal.plan, &CompileOptions::default()).unwrap();
        let main_loop = compiled.code.resources.main_loop.as_ref().unwrap();
        let per_mma = f64::from(main_loop.total) / f64::from(main_loop.mma);
        (compiled, per_mma)
    });
    compiled.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

#[test]
fn without_layouts_there_are_conflicts() {
    for chip in CHIPS {
        let cycles = conflicts(&without(chip, &["layouts"]).0);
        println!("{chip}: without layouts {cycles:?} conflict cycles");
        assert!(cycles.iter().sum::<u64>() > 0, "{chip}");
    }
}

#[test]
fn without_read_ahead_there_are_more_instructions() {
    for chip in CHIPS {
        let resources = &searched(chip, ElementType::F16).code.resources;
        let main_loop = resources.main_loop.as_ref().unwrap();
        let with = f64::from(main_loop.total) / f64::from(main_loop.mma);
        let (_, without) = without(chip, &["read-ahead"]);
        println!("{chip}: {with:.3} instructions per mma, without read-ahead {without:.3}");
        assert!(without > with, "{chip}: {with}, {without}");
    }
}

/// Every access then holds a register of its own, more than there are: what is spilled, or computed
/// in the loop, is more instructions.
#[test]
fn without_address_rules_there_are_more_instructions() {
    for chip in CHIPS {
        let resources = &searched(chip, ElementType::F16).code.resources;
        let main_loop = resources.main_loop.as_ref().unwrap();
        let with = f64::from(main_loop.total) / f64::from(main_loop.mma);
        let (compiled, without) = without(chip, &["addresses"]);
        let valu = compiled.code.resources.main_loop.as_ref().unwrap().valu;
        println!("{chip}: {with:.3} instructions per mma, without address rules {without:.3}");
        assert!(without > with, "{chip}: {with}, {without}");
        assert!(
            valu > 0 && main_loop.valu == 0,
            "{chip}: {valu} {main_loop:?}"
        );
    }
}

#[test]
fn searching_is_deterministic() {
    let spec = read("gemm.toml");
    let one = || {
        let compiled = built(&spec);
        let finalists = compiled
            .search
            .proposals
            .schedules
            .as_ref()
            .unwrap()
            .finalists
            .clone();
        (compiled.code.hsaco, finalists, compiled.search.kept)
    };
    let first = one();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(one)).collect();
        for thread in threads {
            assert!(thread.join().unwrap() == first);
        }
    });
}
