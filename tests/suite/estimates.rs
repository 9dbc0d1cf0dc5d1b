//! What the model expects of the plans that the search finds, and what they compile to.

use tilefold::{
    CompileOptions, Compiled, ElementType, Extent, Gemm, OperandLayout, Prefetch, compile,
    report::CompileReport,
};

use ElementType::{Bf8, Bf16, F16, F32, Fp8};
use OperandLayout::{Col, Row};

/// Registers that kernels take at most beyond those expected of them: those that
/// `schedules::finalists` wants to spare.
const BEYOND: i64 = 16;
/// How far instructions may lie from those expected.
const FACTOR: f64 = 1.03;

fn searched(chip: &str, input: ElementType, [a, b]: [OperandLayout; 2]) -> Compiled {
    let problem = Gemm::new(chip).m(8192).n(8192).k(8192);
    let spec = problem.a(input, a).b(input, b).c(Bf16, Col).accumulate(F32);
    compile(&spec.build().unwrap(), &CompileOptions::default()).unwrap()
}

/// Nothing that is kept spills, and what is compiled to decide is what was expected.
fn compiles_as_expected(chip: &str, input: ElementType, orders: [OperandLayout; 2]) {
    let what = format!("{chip} {input} {orders:?}");
    let compiled = searched(chip, input, orders);
    let (search, resources) = (&compiled.search, &compiled.code.resources);
    assert_eq!(
        (resources.vgpr_spills, resources.scratch_bytes),
        (0, 0),
        "{what}"
    );
    // The first takes what registers there are, and may fail; the others do not.
    assert!(search.spilled <= 1, "{what}: {:?}", search.scores);
    let plans = search.proposals.plans.iter().zip(&search.scores);
    for (proposal, score) in plans.filter(|(_, score)| !score.spills()) {
        let figures = proposal.figures.unwrap();
        let expected = figures.instructions_per_mma;
        let more = i64::from(score.vgprs) - figures.vgprs;
        println!(
            "{what} {:?}: {:.3} instructions per mma expected, {:.3} compiled; {more} registers \
             beyond",
            proposal.plan.block, expected, score.instructions_per_mma
        );
        let factor = score.instructions_per_mma / expected;
        assert!((1.0 / FACTOR..FACTOR).contains(&factor), "{what}: {factor}");
        assert!(more <= BEYOND, "{what}: {more}");
    }
}

#[test]
fn bytes_that_lie_across_k_are_expected() {
    for orders in [[Col, Row], [Row, Row], [Col, Col]] {
        compiles_as_expected("gfx1201", Fp8, orders);
    }
    compiles_as_expected("gfx1201", Bf8, [Col, Row]);
}

#[test]
fn halves_that_lie_across_k_are_expected() {
    compiles_as_expected("gfx1100", F16, [Col, Row]);
    compiles_as_expected("gfx1100", Bf16, [Row, Row]);
}

/// Bytes that lie along K are stored as they are loaded, and no address is computed.
#[test]
fn bytes_along_k_need_no_vector_instruction() {
    for input in [Fp8, Bf8] {
        let compiled = searched("gfx1201", input, [Row, Col]);
        let main_loop = compiled.code.resources.main_loop.unwrap();
        println!("{input}: {main_loop:?}");
        assert_eq!(main_loop.valu, 0, "{main_loop:?}");
    }
}

/// Loads of less than a register take one each, and as many scalars as they are in lines: few of
/// the kernels that are compiled spill, so that no search follows.
#[test]
fn narrow_loads_are_expected() {
    for (chip, input, m, n, orders) in [
        ("gfx1201", Bf8, Extent::Any, 17, [Col, Row]),
        ("gfx1151", Bf16, Extent::Exact(512), 31, [Col, Row]),
    ] {
        let [a, b] = orders;
        let problem = Gemm::new(chip).m(m).n(n).k(8192);
        let spec = problem.a(input, a).b(input, b).c(F32, Col).accumulate(F32);
        let mut compiled = compile(&spec.build().unwrap(), &CompileOptions::default()).unwrap();
        let search = &compiled.search;
        assert!(!search.scores[search.kept].spills());
        assert!(search.spilled <= 1, "{chip}: {:?}", search.scores);
        // Scalars in lanes of vector registers are no registers that go to memory.
        compiled.code.resources.sgpr_spills = 5;
        assert_eq!(CompileReport::new(&compiled).warnings, Vec::<String>::new());
    }
}

/// Bytes that were loaded alone are put together by three permutes a register.
#[test]
fn bytes_that_are_loaded_alone_are_permuted() {
    let problem = Gemm::new("gfx1201").m(4096).n(17).k(8192);
    let problem = problem.a(Bf8, Col).b(Bf8, Row).c(F32, Col).accumulate(F32);
    let tile = problem.block([128, 32, 64]).waves([2, 1]);
    let compiled = compile(&tile.build().unwrap(), &CompileOptions::default()).unwrap();
    let main_loop = compiled.code.resources.main_loop.unwrap();
    // Two for each of 32 registers of A, three for each of 8 of B.
    assert_eq!(main_loop.valu, 2 * 32 + 3 * 8, "{main_loop:?}");
}

/// Results that are stored one by one, two of which share a register, need no other one.
#[test]
fn accumulators_that_fill_the_registers_are_stored_by_halves() {
    let problem = Gemm::new("gfx1201").m(127).n(31).k(1024);
    let problem = problem.a(F16, Row).b(F16, Col).c(F16, Row).accumulate(F16);
    let spec = problem.block([256, 256, 64]).waves([2, 4]).build().unwrap();
    let compiled = compile(&spec, &CompileOptions::default()).unwrap();
    assert_eq!(compiled.search.spilled, 0, "{:?}", compiled.search.scores);
}

/// Of a tile that is said, schedules that need fewer registers are tried where the first ones
/// spill; and where all do, the report says so.
#[test]
fn a_given_tile_is_kept_from_spilling_as_far_as_can_be() {
    let given = |chip: &str, input, block, waves, prefetch: Option<Prefetch>| {
        let problem = Gemm::new(chip).m(4800).n(4800).k(4800);
        let problem = problem.a(input, Row).b(input, Row).c(F32, Col);
        let tile = problem.accumulate(F32).block(block).waves(waves);
        let mut spec = tile.build().unwrap();
        spec.plan.schedule.prefetch = prefetch;
        compile(&spec, &CompileOptions::default()).unwrap()
    };
    let compiled = given("gfx1151", Bf16, [80, 96, 48], [1, 2], None);
    assert!(!compiled.search.scores[compiled.search.kept].spills());
    assert!(CompileReport::new(&compiled).warnings.is_empty());
    // As many registers as a wave has, without any for addresses.
    let prefetch = Some(Prefetch::None);
    let compiled = given("gfx1201", F16, [192, 320, 16], [4, 2], prefetch);
    assert!(compiled.search.scores[compiled.search.kept].spills());
    let warnings = CompileReport::new(&compiled).warnings;
    assert!(
        warnings[0].contains("bytes of memory a lane"),
        "{warnings:?}"
    );
}
