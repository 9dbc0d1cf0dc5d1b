//! What terms mean, written down a second time, element by element.

use egg::{Id, RecExpr};
use std::collections::HashSet;
use tilefold_layout::Swizzle;
use tilefold_passes::search::layouts::{TileUse, language::Term};

pub type Tree = RecExpr<Term>;

fn number(term: &Tree, id: Id) -> i64 {
    match &term[id] {
        Term::Number(value) => *value,
        other => panic!("{other} is no number"),
    }
}

/// Offset of element (row, k).
pub fn offset(term: &Tree, id: Id, tile: [i64; 2], row: i64, k: i64) -> i64 {
    let [rows, depth] = tile;
    match &term[id] {
        Term::Rows => row * depth + k,
        Term::Cols => k * rows + row,
        Term::Pad(padding) => row * (depth + number(term, *padding)) + k,
        Term::Tiled([panel, run]) => {
            let (panel, run) = (number(term, *panel), number(term, *run));
            let places = [
                (row / panel, panel * depth),
                (k / run, panel * run),
                (row % panel, run),
                (k % run, 1),
            ];
            places.iter().map(|(count, step)| count * step).sum()
        }
        Term::Swizzle([bits, base, shift, of]) => {
            let [bits, base, shift] = [bits, base, shift].map(|id| number(term, *id));
            let inner = offset(term, *of, tile, row, k);
            let (mut from, mut to) = (base, base);
            if shift > 0 {
                from += shift;
            } else {
                to -= shift;
            }
            inner ^ (((inner >> from) & ((1 << bits) - 1)) << to)
        }
        other => panic!("{other} is no placement"),
    }
}

/// A copy by its numbers.
struct Copy {
    line: i64,
    first_along: i64,
    then_across: i64,
    raked: i64,
    turned: i64,
}

fn copy(term: &Tree, id: Id, threads: i64, load: i64) -> Copy {
    let of = |line: i64, first_along: i64, then_across: i64| Copy {
        line,
        first_along,
        then_across,
        raked: 1,
        turned: load,
    };
    match &term[id] {
        Term::Along(n) => {
            let n = number(term, *n);
            of(n, n, threads / n)
        }
        Term::Across(n) => {
            let n = number(term, *n);
            of(n, 1, threads / n)
        }
        Term::SplitAlong([n, first]) => {
            let n = number(term, *n);
            of(n, number(term, *first), threads / n)
        }
        Term::SplitAcross([n, first]) => of(number(term, *n), 1, number(term, *first)),
        Term::Raked([raked, inner]) => Copy {
            raked: number(term, *raked),
            ..copy(term, *inner, threads, load)
        },
        Term::Turned([turned, inner]) => Copy {
            turned: number(term, *turned),
            ..copy(term, *inner, threads, load)
        },
        other => panic!("{other} is no copy"),
    }
}

/// Column-major index of what each thread has, by (thread, value), as loaded and as stored.
pub fn carried(term: &Tree, id: Id, usage: &TileUse, load: i64) -> [Vec<Vec<i64>>; 2] {
    let copy = copy(term, id, usage.threads, load);
    let (along, across) = (usage.along, 1 - usage.along);
    let mut covered = [0; 2];
    covered[along] = copy.line * load;
    covered[across] = usage.threads / copy.line * copy.raked;
    let repeats = [0, 1].map(|i| usage.tile[i] / covered[i]);
    let block = load * copy.raked;
    let element = |thread: i64, value: i64, stored: bool| {
        let mut digits = thread;
        let mut digit = |extent: i64| {
            let digit = digits % extent;
            digits /= extent;
            digit
        };
        let (a, b) = (digit(copy.first_along), digit(copy.then_across));
        let c = digit(copy.line / copy.first_along);
        let d = digits;
        let inside = value % block;
        let turned = if stored { copy.turned } else { load };
        let (low, line) = (inside % turned, inside / turned % copy.raked);
        let high = inside / turned / copy.raked;
        let mut at = [0; 2];
        at[along] = (a + copy.first_along * c) * load + low + turned * high;
        at[across] = (b + copy.then_across * d) * copy.raked + line;
        let repeat = value / block;
        at[0] += repeat % repeats[0] * covered[0];
        at[1] += repeat / repeats[0] * covered[1];
        at[0] + at[1] * usage.tile[0]
    };
    [false, true].map(|stored| {
        (0..usage.threads)
            .map(|thread| {
                let values = 0..block * repeats[0] * repeats[1];
                values.map(|value| element(thread, value, stored)).collect()
            })
            .collect()
    })
}

fn placed(term: &Tree, id: Id, tile: [i64; 2]) -> Vec<i64> {
    let elements = (0..tile[1]).flat_map(|k| (0..tile[0]).map(move |row| (row, k)));
    elements
        .map(|(row, k)| offset(term, id, tile, row, k))
        .collect()
}

/// Whether two terms of one sort are equal, as the language says, loads being of so many elements.
pub fn equal(usage: &TileUse, load: i64, left: &Tree, right: &Tree) -> bool {
    let bytes = i64::from(usage.element.bits()) / 8;
    let size = usage.tile[0] * usage.tile[1];
    let holds = |term: &Tree, id: Id| {
        let offsets = placed(term, id, usage.tile);
        let distinct: HashSet<i64> = offsets.iter().copied().collect();
        let room = 0..usage.max_bytes / bytes;
        distinct.len() == offsets.len() && distinct.iter().all(|offset| room.contains(offset))
    };
    let carries = |term: &Tree, id: Id| {
        carried(term, id, usage, load).iter().all(|order| {
            let mut elements: Vec<i64> = order.iter().flatten().copied().collect();
            elements.sort_unstable();
            elements.into_iter().eq(0..size)
        })
    };
    let (a, b) = (left.root(), right.root());
    match (&left[a], &right[b]) {
        (Term::Hold(a), Term::Hold(b)) => holds(left, *a) && holds(right, *b),
        (Term::Carry(a), Term::Carry(b)) => carries(left, *a) && carries(right, *b),
        (
            Term::Along(_)
            | Term::Across(_)
            | Term::SplitAlong(_)
            | Term::SplitAcross(_)
            | Term::Raked(_)
            | Term::Turned(_),
            _,
        ) => carried(left, a, usage, load) == carried(right, b, usage, load),
        _ => placed(left, a, usage.tile) == placed(right, b, usage.tile),
    }
}

#[test]
fn swizzles_here_are_those_of_the_algebra() {
    for (bits, base, shift) in [(1, 0, 1), (2, 1, 3), (3, 3, 4), (2, 0, -2), (1, 2, -3)] {
        let swizzle = Swizzle::new(bits, base, shift).unwrap();
        let term: Tree = format!("(sw {bits} {base} {shift} rows)").parse().unwrap();
        for (row, k) in (0..16).flat_map(|row| (0..16).map(move |k| (row, k))) {
            let mine = offset(&term, term.root(), [16, 16], row, k);
            assert_eq!(mine, swizzle.apply(row * 16 + k));
        }
    }
}
