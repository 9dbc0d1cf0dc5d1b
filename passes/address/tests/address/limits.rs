//! What limits do, what is refused, and that answers do not change.

use crate::tile::{Group, emitted, reads};
use tilefold_address::{
    AddressError, Kind, Limits, Origin, Placement, ScalarOperand, Space, Term, Variable, place,
};
use tilefold_layout::Layout;

fn group() -> Group {
    Group::new("Sw<3,3,3> o 0 o (64,64):(64,1)", &reads(64, 64, 2), 8, 2)
}

fn is_right(placed: &Placement, group: &Group) -> bool {
    (0..group.expected[0].len()).all(|thread| {
        let (found, _) = emitted(placed, |_| thread as u32);
        let mut pairs = found.iter().zip(&group.expected);
        pairs.all(|(found, expected)| i64::from(*found) == expected[thread])
    })
}

#[test]
fn within_any_limits_the_answer_is_right() {
    let group = group();
    for evaluated in [false, true] {
        let mut last = usize::MAX;
        for nodes in [0, 100, 400, 10_000] {
            for iterations in [0, 2, 16] {
                for choices in [0, 10_000] {
                    let limits = Limits {
                        nodes,
                        iterations,
                        choices,
                        evaluated,
                        ..Limits::default()
                    };
                    let placed = place(&group.offsets, &Space::lds(), &limits).unwrap();
                    assert!(is_right(&placed, &group));
                    assert_ne!(placed.origin(), Origin::Fault);
                    last = placed.registers().len();
                }
            }
        }
        assert_eq!(last, 4);
    }
    let limits = Limits {
        nodes: 0,
        ..Limits::default()
    };
    let placed = place(&group.offsets, &Space::lds(), &limits).unwrap();
    assert_eq!(
        (placed.origin(), placed.registers().len()),
        (Origin::Limits, 8)
    );
    assert_eq!(placed.explain(0), Err(AddressError::Chain { access: 0 }));
}

#[test]
fn answers_do_not_change() {
    let group = group();
    for evaluated in [false, true] {
        let limits = Limits {
            evaluated,
            ..Limits::default()
        };
        let first = place(&group.offsets, &Space::lds(), &limits).unwrap();
        for _ in 0..3 {
            assert_eq!(
                place(&group.offsets, &Space::lds(), &limits).unwrap(),
                first
            );
        }
    }
}

#[test]
fn nothing_is_placed_as_nothing() {
    let placed = place(&[], &Space::lds(), &Limits::default()).unwrap();
    assert!(placed.accesses().is_empty() && placed.registers().is_empty());
}

#[test]
fn constants_and_uniform_terms_have_a_place() {
    let step = Term::variable(Variable::new("step", Kind::Step, 0, 1000)) * 4;
    let offsets = [
        Term::constant(12),
        Term::constant(0),
        step.clone(),
        step + 8,
    ];
    for scalar in [
        ScalarOperand::None,
        ScalarOperand::Step,
        ScalarOperand::Uniform,
    ] {
        let placed = place(&offsets, &Space::buffer(12, scalar), &Limits::default()).unwrap();
        assert_eq!(placed.origin(), Origin::Rules);
        let expected = if scalar == ScalarOperand::None { 2 } else { 1 };
        assert_eq!(placed.registers().len(), expected, "{placed:?}");
        assert_eq!(emitted(&placed, |_| 5).0, [12, 0, 20, 28]);
    }
}

#[test]
fn what_cannot_be_verified_is_refused() {
    let thread = Term::variable(Variable::thread(1 << 20));
    let error = place(&[thread], &Space::lds(), &Limits::default()).unwrap_err();
    assert_eq!(
        error,
        AddressError::Threads {
            threads: 1 << 20,
            limit: 4096
        }
    );
    let far = Term::variable(Variable::thread(4)) * (1 << 30) + (1 << 30);
    let error = place(&[far], &Space::lds(), &Limits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "access 0 leaves 32 bits where thread = 3"
    );
}

#[test]
fn layouts_that_are_no_terms_are_refused() {
    let thread = Term::variable(Variable::thread(4));
    for text in ["4:-1", "(2,2):(1,4294967296)"] {
        let layout: Layout = text.parse().unwrap();
        let error = Term::of_layout(&layout, &thread).unwrap_err();
        assert_eq!(
            error,
            AddressError::Layout {
                layout: text.into()
            }
        );
    }
}

#[test]
fn terms_are_their_layouts() {
    let thread = Term::variable(Variable::thread(64));
    for text in [
        "(4,16):(16,1)",
        "(3,5,4):(1,7,100)",
        "64:3",
        "Sw<2,1,3> o 5 o (8,8):(8,1)",
    ] {
        let layout: tilefold_layout::ComposedLayout = text.parse().unwrap();
        let term = Term::of_composed(&layout, &thread).unwrap();
        for index in 0..layout.size() {
            assert_eq!(
                i64::from(term.evaluate(|_| index as u32)),
                layout.at(index),
                "{text}"
            );
        }
    }
}
