//! Buffers of a tile in LDS, by number.

use crate::tile::{Group, emitted, reads};
use tilefold_address::{Kind, Limits, Origin, Space, Term, Variable, place};

const SIZE: u32 = 128 * 64 * 2;

#[test]
fn a_constant_buffer_is_an_immediate() {
    let group = Group::new("Sw<3,3,3> o 0 o (128,64):(64,1)", &reads(128, 64, 2), 8, 2);
    let both = [0, SIZE].map(|buffer| group.offsets.iter().map(move |term| term.clone() + buffer));
    let offsets: Vec<Term> = both.into_iter().flatten().collect();
    for evaluated in [false, true] {
        let limits = Limits {
            evaluated,
            ..Limits::default()
        };
        let placed = place(&offsets, &Space::lds(), &limits).unwrap();
        assert_eq!((placed.registers().len(), placed.minimum()), (4, 4));
        let half = group.offsets.len();
        for access in 0..half {
            let [first, second] = [0, half].map(|buffer| placed.accesses()[access + buffer]);
            assert_eq!(first.register, second.register);
            assert_eq!(first.immediate + SIZE, second.immediate);
        }
    }
}

#[test]
fn a_symbolic_buffer_is_added_once_per_register() {
    let group = Group::new("Sw<3,3,3> o 0 o (128,64):(64,1)", &reads(128, 64, 2), 8, 2);
    let buffer = Variable::new("buffer", Kind::Step, 0, 1);
    let offset = Term::variable(buffer) * SIZE;
    let offsets: Vec<Term> = group
        .offsets
        .iter()
        .map(|it| it.clone() + offset.clone())
        .collect();
    for evaluated in [false, true] {
        let limits = Limits {
            evaluated,
            ..Limits::default()
        };
        let placed = place(&offsets, &Space::lds(), &limits).unwrap();
        let cost = placed.cost();
        assert_eq!(placed.origin(), Origin::Rules);
        // One register and the buffer are added, and bits of the sum flipped for the other three,
        // so that one value is held over the loop, not four.
        let used = (cost.registers, cost.loop_vector, cost.loop_scalar);
        assert_eq!((placed.registers().len(), used), (4, (1, 4, 1)));
        for thread in 0..64 {
            for buffer in 0..2 {
                let value = |variable: &Variable| match variable.kind {
                    Kind::Thread => thread,
                    _ => buffer,
                };
                let (found, [_, in_loop]) = emitted(&placed, value);
                assert_eq!(in_loop, cost.loop_vector + cost.loop_scalar);
                for (access, found) in found.into_iter().enumerate() {
                    let expected = group.expected[access][thread as usize];
                    assert_eq!(i64::from(found), expected + i64::from(buffer * SIZE));
                }
            }
        }
    }
}

/// A step along k of a swizzled row flips bits that rows flip: one vector operation per register
/// and step where the step is a symbol, and none where it is unrolled.
#[test]
fn a_symbolic_step_in_a_swizzle_is_an_exclusive_or() {
    let row = Term::variable(Variable::thread(16)) * 64;
    let step = Term::variable(Variable::new("step", Kind::Step, 0, 3)) * 16;
    let swizzle = "Sw<3,3,3>".parse().unwrap();
    let offsets: Vec<Term> = (0..4)
        .map(|block| (row.clone() + step.clone() + block * 16 * 64).swizzled(swizzle) * 2)
        .collect();
    for evaluated in [false, true] {
        let limits = Limits {
            evaluated,
            ..Limits::default()
        };
        let placed = place(&offsets, &Space::lds(), &limits).unwrap();
        let cost = placed.cost();
        assert_eq!(
            (placed.origin(), placed.registers().len()),
            (Origin::Rules, 1)
        );
        assert_eq!(
            (cost.registers, cost.loop_vector),
            (1, 1),
            "{:?}",
            placed.registers()
        );
    }
}
