//! Accesses that are pending when their wave signals, and what others then do.

use tilefold_sim::Check;

use super::races::found_in;
use super::{Build, builds, in_parallel_of};

/// Between workgroups.
const FAR: [&str; 7] = [
    "loaded",
    "loaded_then_added",
    "stored",
    "added",
    "first_of_two",
    "loaded_by_two",
    "pair_stored",
];

/// Within one, behind a barrier.
const NEAR: [&str; 10] = [
    "near_loaded",
    "near_loaded_then_added",
    "near_stored",
    "near_added",
    "near_first_of_two",
    "near_added_twice",
    "near_later",
    "near_bytes_stored",
    "near_raised",
    "near_handed_stored",
];

fn found(kernel: &str, build: Build) -> Vec<&'static str> {
    let found = found_in("pending.hip", kernel, build);
    found.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn complete() {
    in_parallel_of(&builds(), |build| {
        for kernel in FAR.iter().chain(&NEAR) {
            assert_eq!(found(kernel, build), [""; 0], "{kernel} {build:?}");
        }
    });
}

#[test]
fn pending() {
    in_parallel_of(&builds(), |build| {
        for kernel in FAR.iter().chain(&NEAR) {
            let is_near = kernel.starts_with("near_");
            // The waves of a workgroup share a cache, whose order counts.
            let shared = is_near && ["gfx1151", "gfx950"].contains(&build.chip);
            // Without optimisation LLVM waits behind whatever has a result, as atomic operations
            // then do, and on gfx950 behind stores.
            let waits = !kernel.ends_with("stored") || build.chip == "gfx950";
            let expected: &[_] = match shared || waits && build.opt == "-O0" {
                true => &[],
                false => &[Check::Unreleased.name()],
            };
            let found = found(&format!("{kernel}_broken"), build);
            assert_eq!(found, expected, "{kernel} {build:?}");
        }
    });
}

#[test]
fn what_was_found_is_passed_on() {
    in_parallel_of(&builds(), |build| {
        assert_eq!(found("passed_on", build), [""; 0], "{build:?}");
        let broken = found("passed_on_broken", build);
        assert_eq!(broken, [Check::GlobalRace.name()], "{build:?}");
    });
}

/// What one wave of a workgroup waited for says nothing of another's load, unless they share an order.
#[test]
fn loads_of_two_waves() {
    in_parallel_of(&builds(), |build| {
        assert_eq!(found("loaded_twice", build), [""; 0], "{build:?}");
        let expected: &[_] = match build.chip == "gfx950" || build.opt == "-O0" {
            true => &[],
            false => &[Check::Unreleased.name()],
        };
        let broken = found("loaded_twice_broken", build);
        assert_eq!(broken, expected, "{build:?}");
    });
}
