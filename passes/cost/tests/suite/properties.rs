//! What holds of the model whatever its constants are.

use proptest::prelude::*;
use tilefold_cost::{
    Contiguous, Cost, Kernel, LdsInstructions, Model, Operand, Rates, constants::LINE_BITS, prune,
};
use tilefold_machine::{Access, Machine, Width};

use crate::published::{CHIPS, Step, model};

fn operand() -> impl Strategy<Value = Operand> {
    let contiguous = prop_oneof![Just(Contiguous::K), Just(Contiguous::Outer)];
    (prop_oneof![Just(8), Just(16), Just(32)], contiguous)
        .prop_map(|(bits, contiguous)| Operand { bits, contiguous })
}

/// Kernels that fit on every chip of the ladder.
fn kernel() -> impl Strategy<Value = Kernel> {
    let size = (1u64..20_000, 1u64..20_000, 1u64..20_000);
    let block = (1u32..16, 1u32..16, 1u32..8).prop_map(|(m, n, k)| [16 * m, 16 * n, 16 * k]);
    let schedule = (any::<bool>(), 0u64..12, 1u32..9, operand(), operand());
    let counts = (0u32..64, 0u32..64, 0u32..500, 0u32..65_537, 0u32..257);
    (size, block, schedule, counts).prop_map(|((m, n, k), block, schedule, counts)| {
        let (interleaved, group_rows, waves, a, b) = schedule;
        let (vector_loads, reads, lds_conflict_cycles, lds_bytes, vgprs) = counts;
        Kernel {
            m,
            n,
            k,
            block,
            waves,
            interleaved,
            group_rows,
            a,
            b,
            c_bits: 16,
            mma: [16, 16, 16],
            mma_cycles: 16,
            vector_loads,
            lds: vec![LdsInstructions {
                access: Access::Read,
                width: Width::B128,
                count: reads,
            }],
            lds_conflict_cycles,
            lds_bytes,
            vgprs,
        }
    })
}

fn any_model() -> impl Strategy<Value = Model> {
    (0..CHIPS.len()).prop_map(|chip| model(CHIPS[chip]))
}

fn cost(model: &Model, kernel: &Kernel) -> Cost {
    model.cost(kernel).expect("the kernels fit")
}

/// Not longer, but for rounding.
fn at_most(less: f64, more: f64) -> bool {
    less <= more * (1.0 + 1e-12)
}

proptest! {
    #[test]
    fn costs_are_times(model in any_model(), kernel in kernel()) {
        let cost = cost(&model, &kernel);
        prop_assert!(cost.microseconds.is_finite() && cost.microseconds > 0.0);
        prop_assert!(cost.last_round_fill > 0.0 && cost.last_round_fill <= 1.0);
        prop_assert!(cost.k_tile.missed_bytes <= cost.k_tile.line_bytes * (1.0 + 1e-12));
        // Nothing is faster than the matrix unit or than memory.
        let floor = cost.parts.matrix.max(cost.parts.issue).max(cost.parts.memory());
        prop_assert!(at_most(floor, cost.microseconds));
        let clock = f64::from(model.device.clock_mhz);
        prop_assert_eq!(cost.cycles, cost.microseconds * clock);
    }

    #[test]
    fn more_bandwidth_is_never_slower(model in any_model(), kernel in kernel(), by in 1.0..4.0f64) {
        let before = cost(&model, &kernel).microseconds;
        let Rates { l2, llc, dram, .. } = model.rates;
        for rates in [
            Rates { l2: by * l2, ..model.rates },
            Rates { llc: by * llc, ..model.rates },
            Rates { dram: by * dram, ..model.rates },
        ] {
            let faster = Model { rates, ..model };
            prop_assert!(at_most(cost(&faster, &kernel).microseconds, before));
        }
    }

    #[test]
    fn more_work_is_never_cheaper(model in any_model(), kernel in kernel(), more in 1u32..1000) {
        let before = cost(&model, &kernel).microseconds;
        let k_tile = u64::from(kernel.block[2]);
        for worse in [
            Kernel { lds_conflict_cycles: kernel.lds_conflict_cycles + more, ..kernel.clone() },
            Kernel { vector_loads: kernel.vector_loads + more, ..kernel.clone() },
            Kernel { mma_cycles: kernel.mma_cycles + more, ..kernel.clone() },
            Kernel { c_bits: kernel.c_bits + more, ..kernel.clone() },
            Kernel { interleaved: false, ..kernel.clone() },
        ] {
            prop_assert!(at_most(before, cost(&model, &worse).microseconds));
        }
        // Longer sums: the operands grow, so the last-level cache holds less of them. That is
        // worse only where it is the faster of the two, which holds on all boards.
        let longer = Kernel { k: kernel.k + k_tile * u64::from(more), ..kernel.clone() };
        prop_assert!(at_most(before, cost(&model, &longer).microseconds));
    }

    #[test]
    fn pruning_keeps_what_is_close(
        model in any_model(), kernels in prop::collection::vec(kernel(), 0..12), within in 0.0..1.0f64,
    ) {
        let kept = prune(&model, &kernels, within);
        let times: Vec<_> = kernels.iter().map(|of| cost(&model, of).microseconds).collect();
        let best = times.iter().copied().fold(f64::INFINITY, f64::min);
        let close = times.iter().filter(|&&time| time <= best * (1.0 + within)).count();
        prop_assert_eq!(kept.len(), close);
        let sorted = |pair: &[tilefold_cost::Candidate]| {
            let key = |i: usize| (times[pair[i].index], pair[i].index);
            key(0) < key(1)
        };
        prop_assert!(kept.windows(2).all(sorted));
    }
}

#[test]
fn conflicts_count_where_issue_is_what_binds() {
    let kernel = Step::named("8").kernel(0);
    let slow = Kernel {
        lds_conflict_cycles: 2000,
        ..kernel.clone()
    };
    let model = model("gfx1100");
    assert!(cost(&model, &slow).microseconds > 1.5 * cost(&model, &kernel).microseconds);
}

#[test]
fn grouping_saves_misses() {
    let missed = |step| {
        let cost = cost(&model("gfx1201"), &Step::named(step).kernel(2));
        cost.k_tile.missed_bytes
    };
    assert!(missed("5") > 3.0 * missed("6"));
}

#[test]
fn panels_along_the_other_extent_count_their_lines() {
    let mut kernel = Step::named("8").kernel(2);
    let model = model("gfx1201");
    let along_k = cost(&model, &kernel).k_tile.line_bytes;
    // 128 x 64 of 16 bits is whole lines both ways; 96 x 64 is 1.5 lines a slice along N, every
    // other slice beginning in the middle of a line: 2 lines each.
    kernel.a.contiguous = Contiguous::Outer;
    assert_eq!(cost(&model, &kernel).k_tile.line_bytes, along_k);
    kernel.b.contiguous = Contiguous::Outer;
    let places = 128.0;
    assert_eq!(
        cost(&model, &kernel).k_tile.line_bytes,
        places * f64::from(128 * 128 + 64 * 2 * 128)
    );
}

#[test]
fn equal_kernels_stay_in_order() {
    let kernel = Step::named("8").kernel(2);
    let kept = prune(
        &model("gfx1201"),
        &[kernel.clone(), kernel.clone(), kernel],
        0.0,
    );
    let order: Vec<_> = kept.iter().map(|of| of.index).collect();
    assert_eq!(order, [0, 1, 2]);
}

#[test]
fn a_grid_of_less_than_a_round() {
    let mut kernel = Step::named("8").kernel(2);
    (kernel.m, kernel.n) = (128, 96);
    let cost = cost(&model("gfx1201"), &kernel);
    assert_eq!((cost.rounds, cost.last_round_fill), (1, 1.0 / 128.0));
    assert_eq!(cost.k_tile.missed_bytes, cost.k_tile.line_bytes);
}

#[test]
fn a_lone_wave_keeps_one_matrix_unit() {
    let two = Step::named("8").kernel(2);
    let two = Kernel {
        waves: 2,
        lds_bytes: 60000,
        ..two
    };
    let one = Kernel {
        waves: 1,
        ..two.clone()
    };
    let matrix = |kernel| cost(&model("gfx1201"), kernel).k_tile.matrix_cycles;
    assert_eq!(matrix(&one), 2.0 * matrix(&two));
}

#[test]
fn a_block_beyond_the_matrix_reads_the_matrix() {
    let mut kernel = Step::named("8").kernel(2);
    (kernel.m, kernel.n) = (16, 96);
    let cost = cost(&model("gfx1201"), &kernel);
    assert_eq!(cost.k_tile.line_bytes, f64::from((16 + 96) * 128));
}

#[test]
fn boards_have_lines_and_rates() {
    // Of gfx950 there are no rates yet.
    for machine in Machine::all()
        .iter()
        .filter(|machine| machine.name != "gfx950")
    {
        assert_eq!(u64::from(machine.cache_line) * 8, LINE_BITS);
        for device in &machine.devices {
            Model::of_device(machine, &device.name).expect("every board has rates");
        }
    }
    let without = Machine::by_name("gfx950").expect("it has a record");
    assert!(Model::new(without).is_err());
}
