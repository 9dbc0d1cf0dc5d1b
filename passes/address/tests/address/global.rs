//! Loads from global memory: lines a leading dimension apart.

use crate::tile::emitted;
use tilefold_address::{
    Kind, Limits, Origin, Placement, ScalarOperand, Space, Term, Variable, place,
};

/// A block of 128 rows and 64 columns, 16 rows of 8 times 8 columns at a time, in steps along the
/// columns; half precision.
fn offsets() -> Vec<Term> {
    let thread = Term::variable(Variable::thread(128));
    let ld = Term::variable(Variable::new("ld", Kind::Uniform, 1, 1 << 20));
    let step = Term::variable(Variable::new("step", Kind::Step, 0, 1 << 8));
    let (row, column) = (thread.clone() >> 3, (thread & 7) * 8);
    let at = |down: u32, right: u32| {
        ((row.clone() + down) * ld.clone() + (column.clone() + right) + step.clone() * 128) * 2
    };
    (0..8)
        .flat_map(|block| [at(16 * block, 0), at(16 * block, 64)])
        .collect()
}

fn check(placed: &Placement) {
    assert_eq!(placed.origin(), Origin::Rules);
    for thread in [0, 1, 8, 77, 127] {
        for (ld, step) in [(1, 0), (4096, 3), (1000, 17), (8191, 256)] {
            let value = |variable: &Variable| match &*variable.name {
                "thread" => thread,
                "ld" => ld,
                _ => step,
            };
            let expected: Vec<u32> = offsets().iter().map(|term| term.evaluate(value)).collect();
            assert_eq!(emitted(placed, value).0, expected);
        }
    }
}

#[test]
fn the_uniform_part_is_scalar() {
    let space = Space::buffer(12, ScalarOperand::Uniform);
    let placed = place(&offsets(), &space, &Limits::default()).unwrap();
    check(&placed);
    let cost = placed.cost();
    assert_eq!(
        (placed.registers().len(), placed.scalars().len()),
        (1, 8),
        "{placed:?}"
    );
    assert_eq!((cost.loop_vector, placed.minimum()), (0, 1));
    let immediates: Vec<u32> = placed.accesses().iter().map(|it| it.immediate).collect();
    assert_eq!(immediates[..4], [0, 128, 0, 128]);
}

#[test]
fn lines_stay_in_registers_where_only_the_step_is_scalar() {
    let space = Space::buffer(12, ScalarOperand::Step);
    let placed = place(&offsets(), &space, &Limits::default()).unwrap();
    check(&placed);
    let cost = placed.cost();
    assert_eq!(
        (placed.registers().len(), placed.scalars().len()),
        (8, 1),
        "{placed:?}"
    );
    assert_eq!((cost.loop_vector, cost.loop_scalar), (0, 1));
}

#[test]
fn without_a_scalar_operand_the_step_is_added_to_each_register() {
    let space = Space::buffer(12, ScalarOperand::None);
    let placed = place(&offsets(), &space, &Limits::default()).unwrap();
    check(&placed);
    let cost = placed.cost();
    assert_eq!(
        (placed.registers().len(), cost.loop_vector),
        (8, 8),
        "{placed:?}"
    );
    assert_eq!(placed.minimum(), 8);
}

#[test]
fn immediates_are_as_wide_as_the_instruction() {
    let thread = Term::variable(Variable::thread(64)) * 16;
    let offsets: Vec<Term> = (0..8)
        .map(|access| thread.clone() + access * 1024)
        .collect();
    for (bits, registers) in [(10, 8), (11, 4), (12, 2), (13, 1), (23, 1)] {
        for evaluated in [false, true] {
            let limits = Limits {
                evaluated,
                ..Limits::default()
            };
            let space = Space::buffer(bits, ScalarOperand::Uniform);
            let placed = place(&offsets, &space, &limits).unwrap();
            assert_eq!(placed.registers().len(), registers, "{bits} bits");
            assert!(placed.accesses().iter().all(|it| it.immediate < 1 << bits));
        }
    }
}
