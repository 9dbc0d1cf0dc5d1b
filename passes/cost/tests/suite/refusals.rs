//! What has no cost.

use tilefold_cost::{CostError, Kernel, Model, Operand, prune};
use tilefold_machine::Machine;

use crate::published::{Step, model};

#[test]
fn unknown_boards_are_named() {
    let machine = Machine::by_name("gfx1100").expect("it has a record");
    let error = Model::of_device(machine, "Radeon 8060S").expect_err("it carries another chip");
    insta::assert_snapshot!(
        error,
        @"no cost model of `Radeon 8060S` with gfx1100; boards with one: Radeon PRO W7800, Radeon PRO W7900"
    );
}

#[test]
fn kernels_that_do_not_fit() {
    let kernel = Kernel {
        lds_bytes: 65537,
        ..Step::named("8").kernel(2)
    };
    let error = model("gfx1201").cost(&kernel).expect_err("too much LDS");
    insta::assert_snapshot!(
        error,
        @"a workgroup of 4 waves, 133 VGPRs and 65537 LDS bytes does not fit on gfx1201"
    );
    assert!(prune(&model("gfx1201"), &[kernel], 1.0).is_empty());
}

#[test]
fn zeros_are_named() {
    let kernel = Step::named("8").kernel(2);
    let operand = Operand {
        bits: 0,
        ..kernel.a
    };
    for (kernel, field) in [
        (
            Kernel {
                m: 0,
                ..kernel.clone()
            },
            "m",
        ),
        (
            Kernel {
                block: [128, 0, 64],
                ..kernel.clone()
            },
            "block.n",
        ),
        (
            Kernel {
                mma: [16, 16, 0],
                ..kernel.clone()
            },
            "mma.k",
        ),
        (
            Kernel {
                waves: 0,
                ..kernel.clone()
            },
            "waves",
        ),
        (
            Kernel {
                b: operand,
                ..kernel.clone()
            },
            "b.bits",
        ),
    ] {
        assert_eq!(
            model("gfx1201").cost(&kernel),
            Err(CostError::Zero { field })
        );
    }
}

#[test]
fn extremes_neither_overflow_nor_hang() {
    let mut kernel = Step::named("8").kernel(2);
    (kernel.m, kernel.n, kernel.k) = (u64::MAX, u64::MAX, u64::MAX);
    let model = model("gfx1201");
    assert_eq!(model.cost(&kernel), Err(CostError::TooManyWorkgroups));

    (kernel.n, kernel.group_rows) = (1, u64::MAX);
    assert!(
        model
            .cost(&kernel)
            .expect("it fits")
            .microseconds
            .is_finite()
    );

    kernel.block = [u32::MAX; 3];
    kernel.mma = [1; 3];
    kernel.a.bits = u32::MAX;
    (kernel.vector_loads, kernel.lds_conflict_cycles) = (u32::MAX, u32::MAX);
    assert!(
        model
            .cost(&kernel)
            .expect("it fits")
            .microseconds
            .is_finite()
    );
}
