//! Kernels executed on the simulator against an exact reference, all checks on.

use super::{CHIPS, LADDER, spec};
use tilefold::{
    CompileOptions, Compiled, ElementType, Gemm, Inputs, LdsLayout, Operand, OperandLayout,
    Outcome, Plan, Prefetch, RunOptions, Spec, compile, run,
};

/// The kernel of a spec, what it leaves open as it is by default: the search has tests of its own.
pub fn built(spec: &Spec) -> Compiled {
    let plan =
        Plan::complete(spec).unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)));
    match compile(&plan.completed, &CompileOptions::default()) {
        Ok(compiled) => compiled,
        Err(error) => panic!("{:?}", miette::Report::new(error)),
    }
}

pub fn ran(compiled: &Compiled, extents: [i64; 3], inputs: Inputs) -> Outcome {
    let options = RunOptions {
        extents: extents.map(Some),
        inputs,
        seed: 7,
    };
    run(compiled, &options).unwrap()
}

/// The outcome must be right, every check silent, and, where the caller says so, exact.
pub fn judge(what: &str, outcome: &Outcome, exact: bool) {
    assert_eq!(
        outcome.mismatches, 0,
        "{what}: {:?}",
        outcome.first_mismatch
    );
    assert!(
        outcome.passed(),
        "{what}: {:?} {:?}",
        outcome.checks,
        outcome.findings
    );
    assert_eq!(outcome.exact, exact, "{what}");
    assert!(outcome.checks.len() >= 10, "{what}: checks are missing");
}

#[test]
fn ladder_signs_are_equal() {
    for chip in CHIPS {
        for file in LADDER {
            let compiled = built(&spec(file, chip));
            for extents in [[512, 512, 256], [1024, 768, 512]] {
                let outcome = ran(&compiled, extents, Inputs::Signs);
                judge(&format!("{file} on {chip} at {extents:?}"), &outcome, true);
                assert_eq!(outcome.max_abs_error, 0.0);
                let [m, n, k] = extents.map(|e| e as u64);
                assert_eq!(
                    outcome.counters.mma,
                    m * n * k / 4096,
                    "one mma per 16 x 16 x 16"
                );
            }
        }
    }
}

#[test]
fn ladder_types_are_within_bounds() {
    use ElementType::{Bf16, F16, F32};
    for chip in CHIPS {
        for file in LADDER {
            for (input, accumulate, output, inputs, exact) in [
                (F16, F32, F32, Inputs::Random, false),
                (F16, F32, F16, Inputs::Random, false),
                (F16, F16, F16, Inputs::Random, false),
                (Bf16, F32, F32, Inputs::Random, false),
                (Bf16, F32, Bf16, Inputs::Random, false),
                (Bf16, F32, Bf16, Inputs::Small, true),
                (Bf16, Bf16, Bf16, Inputs::Signs, true),
            ] {
                let mut spec = spec(file, chip);
                spec.problem.a.element = input;
                spec.problem.b.element = input;
                spec.problem.c.element = output;
                spec.problem.accumulate = accumulate;
                spec.plan.atoms.mma = None;
                let compiled = built(&spec);
                let outcome = ran(&compiled, [256, 256, 256], inputs);
                let what = format!("{file} on {chip}, {input} {accumulate} {output}");
                judge(&what, &outcome, exact);
                let resources = &compiled.code.resources;
                assert_eq!(resources.scratch_bytes, 0, "{what}");
                assert_eq!(
                    (resources.vgpr_spills, resources.sgpr_spills),
                    (0, 0),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn ladder_resources_are_the_published_ones() {
    for chip in CHIPS {
        let is_gfx12 = chip == "gfx1201";
        for (file, lds, waves) in [
            ("ladder/2.toml", 32768, if is_gfx12 { 12 } else { 8 }),
            ("ladder/3-pad.toml", 49152, 8),
            ("ladder/4.toml", 49152, 8),
        ] {
            let resources = built(&spec(file, chip)).code.resources;
            assert_eq!(resources.lds_bytes, lds, "{file} on {chip}");
            assert!(
                resources.waves_per_simd >= waves,
                "{file} on {chip}: {resources:?}"
            );
            assert_eq!(resources.scratch_bytes, 0, "{file} on {chip}");
            assert_eq!(
                resources.vgpr_spills + resources.sgpr_spills,
                0,
                "{file} on {chip}"
            );
            let main_loop = resources.main_loop.unwrap();
            // Two steps of 16 each.
            assert_eq!((main_loop.mma, main_loop.k_per_iteration), (32, Some(32)));
            // Loads are staged: one 128-bit load and store per operand and K tile, of which a turn of
            // the loop has two.
            assert_eq!(
                (main_loop.global_loads, main_loop.lds_stores),
                (4, 4),
                "{file} on {chip}"
            );
        }
    }
}

#[test]
fn padding_cures_the_reads_and_not_the_writes() {
    let conflicts = |file: &str, chip: &str| {
        let outcome = ran(&built(&spec(file, chip)), [256, 256, 32], Inputs::Signs);
        let counters = outcome.counters;
        (
            counters.lds_conflict_cycles_read,
            counters.lds_conflict_cycles_write,
        )
    };
    for chip in CHIPS {
        let (plain_reads, _) = conflicts("ladder/2.toml", chip);
        let (padded_reads, _) = conflicts("ladder/3-pad.toml", chip);
        assert!(plain_reads > 0, "{chip}");
        assert_eq!(padded_reads, 0, "{chip}");
    }
}

/// A small spec with one thing in it that other tests leave alone.
pub fn small(chip: &str) -> Gemm {
    use ElementType::F16;
    Gemm::new(chip)
        .m(64)
        .n(64)
        .k(96)
        .a(F16, OperandLayout::Row)
        .b(F16, OperandLayout::Col)
        .c(F16, OperandLayout::Col)
        .accumulate(F16)
        .block([64, 32, 32])
        .waves([2, 1])
}

#[test]
fn every_transposition() {
    use ElementType::{F16, F32};
    use OperandLayout::{Col, Row};
    for chip in CHIPS {
        for a in [Row, Col] {
            for b in [Row, Col] {
                for c in [Row, Col] {
                    for load in ["global_load_b128", "buffer_load_b64"] {
                        let what = format!("{chip} {a} {b} {c} {load}");
                        let spec = small(chip)
                            .operand_a(Operand::new(F16, a.clone()).with_ld(104))
                            .operand_b(Operand::new(F16, b.clone()).with_ld(112))
                            .operand_c(Operand::new(F32, c.clone()).with_ld(72))
                            .accumulate(F32)
                            .load(load)
                            .build()
                            .unwrap();
                        let outcome = ran(&built(&spec), [64, 64, 96], Inputs::Signs);
                        judge(&what, &outcome, true);
                    }
                }
            }
        }
    }
}

#[test]
fn every_schedule_and_lds_layout() {
    let swizzles = [
        "Sw<2,3,3> o 0 o (64,32):(32,1)",
        "Sw<2,3,3> o 0 o (32,32):(32,1)",
    ];
    let [sw_a, sw_b] = swizzles.map(|text| LdsLayout::Expr(text.parse().unwrap()));
    // K outermost: fragments are gathered element by element.
    let [t_a, t_b] =
        ["(64,32):(1,64)", "(32,32):(1,32)"].map(|text| LdsLayout::Expr(text.parse().unwrap()));
    for chip in CHIPS {
        for (prefetch, buffers) in [
            (Prefetch::None, 1),
            (Prefetch::None, 2),
            (Prefetch::Burst, 1),
            (Prefetch::Burst, 2),
        ] {
            for (a, b) in [
                (LdsLayout::None, LdsLayout::None),
                (LdsLayout::Pad(8), LdsLayout::Pad(8)),
                (LdsLayout::Pad(1), LdsLayout::Pad(3)),
                (LdsLayout::Xor, LdsLayout::Xor),
                (sw_a.clone(), sw_b.clone()),
                (t_a.clone(), t_b.clone()),
            ] {
                let what = format!("{chip} {prefetch} {buffers} {a} {b}");
                let spec = small(chip)
                    .lds(a, b)
                    .buffers(buffers)
                    .prefetch(prefetch)
                    .group_rows(2)
                    .build()
                    .unwrap();
                let compiled = built(&spec);
                // One, two and many K tiles.
                for k in [32, 64, 160] {
                    let outcome = ran(&compiled, [192, 96, k], Inputs::Signs);
                    judge(&format!("{what} k = {k}"), &outcome, true);
                }
            }
        }
    }
}

#[test]
fn grouped_blocks_cover_c_when_rows_do_not_divide() {
    for rows in [1, 2, 3, 5, 8] {
        let spec = small("gfx1201").group_rows(rows).build().unwrap();
        let outcome = ran(&built(&spec), [7 * 64, 3 * 32, 32], Inputs::Small);
        judge(&format!("groups of {rows}"), &outcome, true);
    }
}

#[test]
fn one_accumulator_is_no_special_case() {
    for chip in CHIPS {
        let spec = small(chip)
            .block([16, 16, 16])
            .waves([1, 1])
            .build()
            .unwrap();
        judge(chip, &ran(&built(&spec), [48, 32, 64], Inputs::Small), true);
    }
}

/// A row of A that holds its number, times the identity: a wrong row map of an atom shows as a
/// permutation of C. Signs would hide it only by chance; this states it.
#[test]
pub fn small_integers_keep_their_rows() {
    for chip in CHIPS {
        let compiled = built(&small(chip).build().unwrap());
        judge(chip, &ran(&compiled, [64, 32, 32], Inputs::Small), true);
    }
}

#[test]
fn compiling_is_deterministic() {
    let spec = spec("ladder/2.toml", "gfx1201");
    let codes: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| built(&spec).code.hsaco))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(codes.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn eight_bit_floats() {
    use ElementType::{Bf8, Bf16, F16, F32, Fp8};
    use OperandLayout::{Col, Row};
    for input in [Fp8, Bf8] {
        for (output, inputs, exact) in [
            (F32, Inputs::Signs, true),
            (F16, Inputs::Small, true),
            (Bf16, Inputs::Random, false),
        ] {
            for (a, b) in [(Row, Col), (Col, Row)] {
                let what = format!("{input} {output} {a} {b}");
                let spec = Gemm::new("gfx1201")
                    .m(64)
                    .n(64)
                    .k(96)
                    .a(input, a)
                    .b(input, b)
                    .c(output, Col)
                    .accumulate(F32)
                    .block([64, 32, 32])
                    .waves([2, 1])
                    .build()
                    .unwrap();
                judge(&what, &ran(&built(&spec), [64, 64, 96], inputs), exact);
            }
        }
    }
}
