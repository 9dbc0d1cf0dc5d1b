//! Time to place the accesses of one operand.

use divan::{Bencher, black_box};
use tilefold_address::{Kind, Limits, ScalarOperand, Space, Term, Variable, place};

fn main() {
    divan::main();
}

/// Fragment reads of a tile of `rows` x 64 elements of two bytes, swizzled, by one wave.
fn swizzled(rows: u32) -> Vec<Term> {
    let thread = Term::variable(Variable::thread(32));
    let base = (thread.clone() & 15) * 64 + (thread >> 4) * 8;
    let swizzle = "Sw<3,3,3>".parse().expect("a swizzle");
    let at = |start: u32| (base.clone() + start).swizzled(swizzle) * 2;
    (0..rows / 16)
        .flat_map(|block| (0..4).map(move |k| 1024 * block + 16 * k))
        .map(at)
        .collect()
}

fn limits(evaluated: bool) -> Limits {
    Limits {
        evaluated,
        ..Limits::default()
    }
}

#[divan::bench(args = [64, 128, 256])]
fn lds(bencher: Bencher<'_, '_>, rows: u32) {
    let offsets = swizzled(rows);
    bencher.bench(|| place(black_box(&offsets), &Space::lds(), &limits(true)));
}

#[divan::bench(args = [64, 128, 256])]
fn lds_by_rules_alone(bencher: Bencher<'_, '_>, rows: u32) {
    let offsets = swizzled(rows);
    bencher.bench(|| place(black_box(&offsets), &Space::lds(), &limits(false)));
}

#[divan::bench(args = [4, 16])]
fn global(bencher: Bencher<'_, '_>, blocks: u32) {
    let thread = Term::variable(Variable::thread(128));
    let ld = Term::variable(Variable::new("ld", Kind::Uniform, 1, 1 << 20));
    let step = Term::variable(Variable::new("step", Kind::Step, 0, 1 << 8));
    let (row, column) = (thread.clone() >> 3, (thread & 7) * 8);
    let at = |block: u32| {
        let line = (row.clone() + 16 * block) * ld.clone();
        (line + column.clone() + step.clone() * 64) * 2
    };
    let offsets: Vec<Term> = (0..blocks).map(at).collect();
    let space = Space::buffer(12, ScalarOperand::Uniform);
    bencher.bench(|| place(black_box(&offsets), &space, &limits(true)));
}
