//! Deliberately broken builds, which the checks must find.

use tilefold_sim::Check;

use super::{Case, reductions, rows, vectors};

fn must_find(case: &Case, name: &'static str, checks: &[Check]) {
    for chip in super::CHIPS {
        for opt in ["-O0", "-O3"] {
            let report = case.broken(chip, opt, name);
            assert!(
                !report.passed() && checks.iter().any(|&check| report.count(check) > 0),
                "{} {chip} {opt} {name}: {:#?}",
                case.kernel,
                report.checks
            );
        }
    }
}

#[test]
fn missing_barriers() {
    for case in [
        vectors::transpose_words(),
        reductions::tree(),
        rows::softmax_case(),
    ] {
        must_find(&case, "BROKEN_BARRIER", &[Check::LdsRace]);
    }
}

#[test]
fn wrong_indices() {
    must_find(
        &vectors::vector_add(),
        "BROKEN_INDEX",
        &[Check::GlobalBounds],
    );
    // Rows of 33 words in room for rows of 32.
    must_find(
        &vectors::transpose_words(),
        "BROKEN_INDEX",
        &[Check::LdsBounds],
    );
}
