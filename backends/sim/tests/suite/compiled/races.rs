//! Waves that meet in global memory: what orders them, and the same without.

use tilefold_sim::{Check, Launch};

use super::{Build, CHIPS, Value, builds, in_parallel_of, launch, object, put};

const BLOCKS: u32 = 4;
const ITEMS: u32 = 128;

const KERNELS: [&str; 28] = [
    "grid_first",
    "grid_second",
    "again",
    "store_load",
    "load_branch",
    "load_store",
    "store_store",
    "count",
    "start",
    "finish",
    "last_adds",
    "last_number",
    "lock",
    "hand_down",
    "hand_in_lds",
    "flags",
    "bytes",
    "byte_counts",
    "byte_between",
    "nothing_between",
    "half_unreleased",
    "added_to",
    "all_but_one",
    "agreed",
    "nothing_added",
    "published",
    "left_as_it_was",
    "ahead",
];

/// What each check counts in a run.
pub(super) fn found_in(file: &'static str, kernel: &str, build: Build) -> Vec<(&'static str, u64)> {
    let n = (BLOCKS * ITEMS) as usize;
    let x: Vec<u32> = (0..n as u32).map(|at| 5 * at + 1).collect();
    let values = [
        Value::In(put(&x)),
        Value::InOut(vec![0; 4 * n]),
        Value::InOut(vec![0; 4 * n]),
        Value::Out(4 * n),
    ];
    let (grid, block) = ([BLOCKS, 1, 1], [ITEMS, 1, 1]);
    let object = object(file, build);
    let (report, _) = launch(&object, kernel, grid, block, &values, 0)
        .unwrap_or_else(|error| panic!("{kernel} {build:?}: {error}"));
    let counts = report.checks.into_iter();
    counts.filter(|(_, count)| *count > 0).collect()
}

fn found(kernel: &str, build: Build) -> Vec<(&'static str, u64)> {
    found_in("races.hip", kernel, build)
}

#[test]
fn what_is_ordered() {
    in_parallel_of(&builds(), |build| {
        for kernel in KERNELS {
            assert_eq!(found(kernel, build), [], "{kernel} {build:?}");
        }
    });
}

#[test]
fn what_is_not() {
    in_parallel_of(&builds(), |build| {
        for kernel in KERNELS {
            // Without optimisation atomic operations ask what was there, as a lock does, and in CU
            // mode a load may look as if it decided the branch that follows.
            let asks = ["start", "last_adds", "last_number", "added_to"].contains(&kernel);
            let alike = asks || build.chip == "gfx1151";
            // There gfx950 waits behind every store.
            let alike = alike || kernel == "half_unreleased" && build.chip == "gfx950";
            if alike && build.opt == "-O0" {
                continue;
            }
            let found = found(&format!("{kernel}_broken"), build);
            let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
            let checks: &[Check] = match kernel {
                "half_unreleased" => &[Check::Unreleased],
                // Loads are pending when they are counted, too.
                "again" if build.opt != "-O0" => &[Check::GlobalRace, Check::Unreleased],
                _ => &[Check::GlobalRace],
            };
            let checks: Vec<_> = checks.iter().map(|check| check.name()).collect();
            assert_eq!(names, checks, "{kernel} {build:?}");
        }
    });
}

/// In LDS a value may be stored by several waves at once, and nothing else.
#[test]
fn one_value_in_lds() {
    in_parallel_of(&builds(), |build| {
        assert_eq!(found("one_value", build), [], "{build:?}");
        let found = found("one_value_broken", build);
        let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [Check::LdsRace.name()], "{build:?}");
    });
}

/// What was not waited for before a flag for the same workgroup, or a barrier, is a fault where its
/// waves run on two compute units, and none where they share a cache.
#[test]
fn what_a_workgroup_hears_of() {
    in_parallel_of(&builds(), |build| {
        for kernel in ["hand_over", "finish_all"] {
            assert_eq!(found(kernel, build), [], "{kernel} {build:?}");
            // Without optimisation atomic operations ask what was there, which is waited for.
            let waits = kernel == "finish_all" && build.opt == "-O0";
            let expected: &[_] = match build.chip {
                "gfx1100" | "gfx1201" if !waits => &[Check::Unreleased.name()],
                _ => &[],
            };
            let found = found(&format!("{kernel}_broken"), build);
            let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, expected, "{kernel} {build:?}");
        }
    });
}

/// Reports do not depend on how many threads run a launch.
#[test]
fn races_are_found_in_one_order() {
    let build = |chip| Build {
        chip,
        opt: "-O3",
        wave: if chip == "gfx950" { 64 } else { 32 },
        broken: None,
    };
    for chip in CHIPS {
        let object = object("races.hip", build(chip));
        let reports = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| {
                let mut simulator = tilefold_sim::Simulator::new();
                let x = simulator.memory.alloc_input(&[7; 4096]);
                let [a, b, y] = [0; 3].map(|byte| simulator.memory.alloc_inout(&[byte; 4096]));
                let launch = Launch {
                    grid: [BLOCKS, 1, 1],
                    block: [ITEMS, 1, 1],
                    args: [x, a, b, y].map(tilefold_sim::Arg::Buffer).to_vec(),
                    ..Launch::default()
                };
                let report = simulator.launch(&object, "again_broken", launch).unwrap();
                (report, simulator.memory.read(y))
            })
        });
        assert!(reports[0].0.count(Check::GlobalRace) > 0);
        assert!(reports.iter().all(|report| *report == reports[0]), "{chip}");
    }
}
