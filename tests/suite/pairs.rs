//! Atoms of two instructions, which share the fragments that one LDS access reads.

use super::gemm::{built, judge, ran};
use tilefold::{
    ElementType::{self, Bf8, F16, F32, Fp8},
    Extent, Gemm, Inputs, LdsLayout, Operand,
    OperandLayout::{self, Col, Row},
    Prefetch,
};
use tilefold_dialect::plan::{Commit, Lead};

fn pair(input: ElementType) -> String {
    format!("wmma.f32.16x16x32.{input}")
}

/// A spec of two waves, each with 2 x 3 atoms, for any extents whose lines are whole words.
fn spec(input: ElementType, [a, b]: [&OperandLayout; 2], depth: i64) -> Gemm {
    let operand =
        |element, layout: &OperandLayout, ld| Operand::new(element, layout.clone()).with_ld(ld);
    Gemm::new("gfx1201")
        .m(Extent::Any)
        .n(Extent::Any)
        .k(Extent::Any)
        .operand_a(operand(input, a, 400))
        .operand_b(operand(input, b, 416))
        .operand_c(operand(F32, &Col, 144))
        .accumulate(F32)
        .mma(pair(input))
        .block([64, 48, depth])
        .waves([2, 1])
        .lds(LdsLayout::Xor, LdsLayout::Xor)
}

/// The schedules that are tried in turn.
fn scheduled(spec: Gemm, turn: usize) -> Gemm {
    let interleaved = |ahead, lead, commit| {
        let spec = spec.clone().prefetch(Prefetch::Interleaved).buffers(1);
        spec.ahead(ahead).lead(lead).commit(commit)
    };
    match turn % 8 {
        0 => spec.prefetch(Prefetch::None).buffers(1),
        1 => spec.prefetch(Prefetch::Burst).buffers(2),
        2 => interleaved(1, Lead::A, Commit::End),
        3 => interleaved(2, Lead::B, Commit::Reads),
        // Groups end within a row's first instructions, with them, and within the second ones.
        4 => interleaved(3, Lead::A, Commit::Reads).cadence(2),
        5 => interleaved(4, Lead::A, Commit::End),
        6 => interleaved(5, Lead::B, Commit::Reads),
        _ => interleaved(12, Lead::A, Commit::Reads).priority(true),
    }
}

#[test]
fn products_are_exact_at_edges_and_for_few_k_tiles() {
    let mut turn = 0;
    for input in [Fp8, Bf8] {
        for depth in [32, 64, 128] {
            for orders in [[&Row, &Col], [&Col, &Row], [&Row, &Row], [&Col, &Col]] {
                let spec = scheduled(spec(input, orders, depth), turn);
                let kernel = built(&spec.build().unwrap());
                assert_eq!(kernel.plan.atom.name, pair(input));
                for tiles in 1..=3 {
                    let [m, n] = [[64, 48], [132, 52], [4, 100]][(turn + tiles as usize) % 3];
                    let what = format!("{input} {depth} {orders:?} {turn}: {m} x {n}, {tiles}");
                    let outcome = ran(&kernel, [m, n, tiles * depth], Inputs::Signs);
                    judge(&what, &outcome, true);
                    assert_eq!(outcome.max_abs_error, 0.0, "{what}");
                    let blocks = ((m + 63) / 64 * ((n + 47) / 48)) as u64;
                    // One for each 16 x 16 x 16 of every block, two for an atom.
                    let products = 4 * 3 * (tiles * depth / 16) as u64;
                    assert_eq!(outcome.counters.mma, blocks * products, "{what}");
                }
                turn += 1;
            }
        }
    }
    assert_eq!(turn, 24);
}

/// One access reads what two instructions multiply, and one XOR of 16-byte blocks lets both reads
/// and stores of 128 bits be free of conflicts, however deep the tile.
#[test]
fn an_access_feeds_two_instructions() {
    for depth in [32, 64, 128] {
        for atom in ["wmma.f32.16x16x16.fp8".into(), pair(Fp8)] {
            let [a, b] = [64, 48].map(|rows| {
                let layout = format!("Sw<3,4,3> o 0 o ({rows},{depth}):({depth},1)");
                LdsLayout::Expr(layout.parse().unwrap())
            });
            let spec = scheduled(spec(Fp8, [&Row, &Col], depth), 2).lds(a, b);
            let spec = spec.mma(atom.clone());
            let kernel = built(&spec.build().unwrap());
            let main_loop = kernel.code.resources.main_loop.unwrap();
            let [m, n, k] = [2, 3, kernel.plan.block[2] / kernel.plan.atom.shape[2]];
            let mma = m * n * depth / 16;
            assert_eq!(i64::from(main_loop.mma), mma, "{atom} {depth}");
            assert_eq!(
                main_loop.k_per_iteration,
                Some(depth as u32),
                "{atom} {depth}"
            );
            if atom != pair(Fp8) {
                continue;
            }
            assert_eq!(i64::from(main_loop.lds_loads), (m + n) * k, "{depth}");
            let outcome = ran(&kernel, [64, 48, 3 * depth], Inputs::Small);
            judge(&atom, &outcome, true);
            let counters = outcome.counters;
            let conflicts = [
                counters.lds_conflict_cycles_read,
                counters.lds_conflict_cycles_write,
            ];
            assert_eq!(conflicts, [0, 0], "{depth}");
        }
    }
}

#[test]
fn sums_that_are_converted() {
    let spec = spec(Fp8, [&Row, &Col], 64).c(F16, Row);
    let kernel = built(&scheduled(spec, 5).build().unwrap());
    judge("f16", &ran(&kernel, [64, 48, 192], Inputs::Small), true);
}
