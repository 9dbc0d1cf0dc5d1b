//! Workgroups that wait for each other, in whichever order the grid has them.

use tilefold_sim::Check;

use super::{Build, CHIPS, Case, Value, edgy, get, in_parallel, launch, object, put};
use crate::Numbers;

const BLOCKS: usize = 5;
const ITEMS: usize = 128;

fn ring() -> (Case, Vec<u32>) {
    let x = edgy(71, BLOCKS * ITEMS);
    let expected = (0..BLOCKS * ITEMS).map(|at| {
        let (block, item) = (at / ITEMS, at % ITEMS);
        x[(block + 1) % BLOCKS * ITEMS + ITEMS - 1 - item].wrapping_mul(3)
    });
    let expected = expected.collect();
    let values = vec![
        Value::In(put(&x)),
        Value::Out(4 * x.len()),
        Value::InOut(put(&[0_u32; BLOCKS])),
        Value::Out(4 * x.len()),
    ];
    let case = Case::new("signals.hip", "ring", BLOCKS as u32, ITEMS as u32, values);
    (case, expected)
}

/// The same by one flag for all, which one block gives when it has seen those of all.
fn gather() -> (Case, Vec<u32>) {
    let (mut case, expected) = ring();
    case.kernel = "gather";
    case.values[2] = Value::InOut(put(&[0_u32; BLOCKS + 1]));
    (case, expected)
}

fn pairs() -> (Case, Vec<u32>) {
    let x = edgy(72, 4 * ITEMS);
    let expected = (0..x.len()).map(|at| {
        let x = x[at ^ ITEMS];
        (0..4_u32).fold(0_u32, |sum, j| {
            sum.wrapping_mul(10).wrapping_add(x.wrapping_add(j))
        })
    });
    let expected = expected.collect();
    let values = vec![
        Value::In(put(&x)),
        Value::Out(16 * x.len()),
        Value::InOut(put(&vec![0_u32; x.len()])),
        Value::Out(4 * x.len()),
    ];
    let case = Case::new("signals.hip", "pairs", 4, ITEMS as u32, values);
    (case, expected)
}

#[test]
fn flags() {
    for (case, expected) in [ring(), gather(), pairs()] {
        case.check(|label, out| {
            assert_eq!(get::<u32>(&out[2]), expected, "{label}");
        });
    }
}

#[test]
fn flags_that_do_not_wait() {
    let found = |case: &Case, chip: &'static str, opt: &'static str, name| {
        let report = case.broken(chip, opt, name);
        let others = report
            .checks
            .iter()
            .filter(|(check, count)| **count > 0 && **check != Check::Unreleased.name());
        assert_eq!(others.count(), 0, "{chip} {opt}: {:?}", report.checks);
        report.count(Check::Unreleased) > 0
    };
    for chip in CHIPS {
        for opt in ["-O0", "-O3"] {
            let (pairs, ring) = (pairs().0, ring().0);
            let wave64 = chip == "gfx950";
            // Without optimisation gfx950 waits for stores with the loads of variables.
            let expected = !(wave64 && opt == "-O0");
            let label = format!("{chip} {opt}");
            assert_eq!(
                found(&pairs, chip, opt, "BROKEN_RELEASE"),
                expected,
                "{label}"
            );
            // The barrier waits for all waves' stores, except on gfx950, where the release does.
            let (release, fences) = (
                found(&ring, chip, opt, "BROKEN_RELEASE"),
                found(&ring, chip, opt, "BROKEN_FENCES"),
            );
            assert_eq!((release, fences), (wave64 && expected, !wave64), "{label}");
        }
    }
}

#[test]
fn words_that_were_looked_at_before_the_loop() {
    let x = edgy(75, 8);
    let expected: Vec<u32> = x.iter().map(|x| x.wrapping_mul(3)).collect();
    let values = vec![
        Value::In(put(&x)),
        Value::Out(32),
        Value::InOut(put(&[0_u32; 10])),
        Value::Out(32),
    ];
    let case = Case::new("signals.hip", "queue", 3, 64, values);
    case.check(|label, out| assert_eq!(get::<u32>(&out[2]), expected, "{label}"));
}

#[test]
fn loops_that_end_by_themselves() {
    for (kernel, blocks) in [("patient", 2), ("impatient", 2)] {
        let values = vec![Value::InOut(put(&[0_u32; 65])), Value::Out(4)];
        let case = Case::new("signals.hip", kernel, blocks, 64, values);
        case.check(|label, out| assert_eq!(get::<u32>(&out[1]), [5], "{label}"));
    }
}

/// Whoever always has something to do leaves others their turns, to begin as well.
#[test]
fn loops_that_a_third_one_ends() {
    for (kernel, blocks) in [("stopped", 3), ("stopped_near", 2)] {
        let values = vec![Value::InOut(put(&[0_u32; 64])), Value::Out(8)];
        let case = Case::new("signals.hip", kernel, blocks, 128, values);
        case.check(|label, out| assert_eq!(get::<u32>(&out[1]), [5, 7], "{label}"));
    }
}

#[test]
fn words_whose_order_does_not_matter() {
    let values = vec![
        Value::InOut(put(&[0_u32; 2 * BLOCKS])),
        Value::InOut(put(&[0_u32; BLOCKS + 1])),
    ];
    let case = Case::new("signals.hip", "relaxed", BLOCKS as u32, 64, values);
    case.check(|label, out| {
        let others = (0..BLOCKS as u32).map(|block| (block + 1) % BLOCKS as u32 + 1);
        let expected: Vec<u32> = [BLOCKS as u32].into_iter().chain(others).collect();
        assert_eq!(get::<u32>(&out[1]), expected, "{label}");
    });
}

fn last_block() -> (Case, u32) {
    let x = edgy(73, BLOCKS * ITEMS);
    let values = vec![
        Value::In(put(&x)),
        Value::Out(4 * BLOCKS),
        Value::InOut(put(&[0_u32])),
        Value::Out(4),
    ];
    let case = Case::new(
        "signals.hip",
        "last_block",
        BLOCKS as u32,
        ITEMS as u32,
        values,
    );
    let sum = x.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
    (case, sum)
}

#[test]
fn a_sum_that_the_last_block_completes() {
    let (case, sum) = last_block();
    case.check(|label, out| assert_eq!(get::<u32>(&out[2]), [sum], "{label}"));
    for chip in CHIPS {
        let report = case.broken(chip, "-O3", "BROKEN_FENCES");
        assert!(report.count(Check::Unreleased) > 0, "{chip}");
    }
}

#[test]
fn parts_of_k_in_turn() {
    let (n, k, splits) = (32, 48, 3);
    let mut numbers = Numbers(74);
    let mut matrix = || -> Vec<f32> { (0..n * k).map(|_| numbers.small() as f32).collect() };
    let (a, b) = (matrix(), matrix());
    let expected: Vec<f32> = (0..n * n)
        .map(|at| (0..k).map(|j| a[at / n * k + j] * b[at % n * k + j]).sum())
        .collect();
    let values = vec![
        Value::In(put(&a)),
        Value::In(put(&b)),
        Value::Out(4 * n * n),
        Value::InOut(put(&[0_u32; 4])),
        Value::I32(n as i32),
        Value::I32(k as i32),
        Value::I32(splits),
    ];
    let case = Case::new("signals.hip", "split_k", 4 * splits as u32, 256, values);
    case.check(|label, out| assert_eq!(get::<f32>(&out[0]), expected, "{label}"));
}

#[test]
fn sums_that_look_back() {
    let (blocks, items) = (40, 256);
    let x = edgy(75, blocks * items);
    let mut sum = 0_u32;
    let expected: Vec<u32> = x
        .iter()
        .map(|x| {
            sum = sum.wrapping_add(*x);
            sum
        })
        .collect();
    in_parallel(|build: Build| {
        for ticketed in [0, 1] {
            let values = [
                Value::In(put(&x)),
                Value::InOut(put(&vec![0_u64; blocks])),
                Value::InOut(put(&[0_u32])),
                Value::Out(4 * x.len()),
                Value::I32(ticketed),
            ];
            let object = object("signals.hip", build);
            let (grid, block) = ([blocks as u32, 1, 1], [items as u32, 1, 1]);
            let (report, out) = launch(&object, "look_back", grid, block, &values, 0)
                .unwrap_or_else(|error| panic!("{build:?}: {error}"));
            assert!(report.passed(), "{build:?}: {:#?}", report.findings);
            assert_eq!(get::<u32>(&out[2]), expected, "{build:?}");
        }
    });
}
