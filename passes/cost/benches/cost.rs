//! A search asks for thousands of costs: each in under 20 microseconds, whatever the size.

use divan::{Bencher, black_box};
use tilefold_cost::{
    BlockOrder, Contiguous, Kernel, LdsInstructions, MARGIN, Model, Operand, prune,
};
use tilefold_machine::{Access, Machine, Width};

fn main() {
    divan::main();
}

fn model() -> Model {
    let machine = Machine::by_name("gfx1201").expect("it has a record");
    Model::new(machine).expect("it has rates")
}

fn kernel(size: u64, block: [u32; 3]) -> Kernel {
    let operand = Operand {
        bits: 16,
        contiguous: Contiguous::K,
    };
    let lds = |access, count| LdsInstructions {
        access,
        width: Width::B128,
        count,
    };
    Kernel {
        m: size,
        n: size,
        k: size,
        block,
        waves: 4,
        interleaved: true,
        group_rows: 8,
        a: operand,
        b: operand,
        c_bits: 16,
        mma: [16, 16, 16],
        mma_cycles: 16,
        vector_loads: 14,
        lds: vec![lds(Access::Read, 28), lds(Access::Write, 14)],
        lds_conflict_cycles: 0,
        lds_bytes: 32256,
        vgprs: 133,
    }
}

/// 43 rounds at 8192; at 32768 688, so the closed form; at 28160 508, the most counted exactly.
#[divan::bench(args = [8192, 28160, 32768])]
fn cost(bencher: Bencher<'_, '_>, size: u64) {
    let (model, kernel) = (model(), kernel(size, [128, 96, 64]));
    bencher.bench(|| black_box(&model).cost(black_box(&kernel)));
}

#[divan::bench]
fn prune_1000(bencher: Bencher<'_, '_>) {
    let model = model();
    let kernels: Vec<_> = (0..1000)
        .map(|i| kernel(8192, [16 * (1 + i % 16), 16 * (1 + i / 16 % 16), 64]))
        .collect();
    bencher.bench(|| prune(black_box(&model), black_box(&kernels), MARGIN));
}

#[divan::bench]
fn panels_of_one_round(bencher: Bencher<'_, '_>) {
    let order = BlockOrder::new(64, 86, 8).expect("there are tiles");
    bencher.bench(|| black_box(&order).panels(black_box(640..768)));
}
