//! Rules of copies and of carriages.

use super::{
    domain::{Copy, Domain},
    language::{Build, Term},
    rules::Rule,
};
use egg::{Id, PatternAst};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "threads-along",
        equation: "(carry (along n)) = (carry (along m))",
        condition: "n threads on a line, and the others across, share the tile evenly, and so do m",
        left: "(carry (along ?n))",
        right: |domain, bound| {
            let from = shared(domain, bound.number("?n")?)?;
            let others = domain.line_threads(1).filter(|line| *line != from);
            Some(others.map(|line| carry([line], Term::along)).collect())
        },
    },
    Rule {
        name: "threads-across",
        equation: "(carry (along n)) = (carry (across n))",
        condition: "n threads on a line, and the others across, share the tile evenly",
        left: "(carry (along ?n))",
        right: |domain, bound| {
            let line = shared(domain, bound.number("?n")?)?;
            Some(vec![carry([line], Term::across)])
        },
    },
    Rule {
        name: "split-threads-along",
        equation: "(carry (along n)) = (carry (split-along n f))",
        condition: "as for `threads-across`, and f divides n",
        left: "(carry (along ?n))",
        right: |domain, bound| {
            let line = shared(domain, bound.number("?n")?)?;
            let parts = divisors(line).map(|first| carry([line, first], Term::SplitAlong));
            Some(parts.collect())
        },
    },
    Rule {
        name: "split-threads-across",
        equation: "(carry (along n)) = (carry (split-across n f))",
        condition: "as for `threads-across`, and f divides the threads across",
        left: "(carry (along ?n))",
        right: |domain, bound| {
            let line = shared(domain, bound.number("?n")?)?;
            let parts = divisors(domain.usage.threads / line);
            Some(
                parts
                    .map(|first| carry([line, first], Term::SplitAcross))
                    .collect(),
            )
        },
    },
    Rule {
        name: "rake-lines",
        equation: "(carry C) = (carry (raked c C))",
        condition: "memory is contiguous along rows, or values may be reordered: else it changes \
                    no access; c is a power of two of at most as many runs as one access has room \
                    for, threads have one line at a time in C, and with c still share the tile \
                    evenly",
        left: "(carry ?x)",
        right: |domain, bound| {
            let copy = bound.copy("?x")?;
            let helps = domain.usage.along == 0 || domain.usage.reorder;
            if !helps || !whole(domain, copy) {
                return None;
            }
            let most = powers(domain.widest() / turned_run(domain));
            let fits = most.filter(|raked| domain.shares(copy.order.line, *raked));
            Some(fits.map(|raked| around(raked, Term::Raked)).collect())
        },
    },
    Rule {
        name: "turn-values",
        equation: "(carry C) = (carry (turned f C))",
        condition: "values may be reordered, threads have several lines at a time in C, and f is a \
                    run, below the elements of a load",
        left: "(carry ?x)",
        right: |domain, bound| {
            let copy = bound.copy("?x")?;
            if !domain.usage.reorder || copy.raked == 1 || copy.turned != domain.load {
                return None;
            }
            let run = turned_run(domain);
            (run < domain.load).then(|| vec![around(run, Term::Turned)])
        },
    },
    Rule {
        name: "one-direction",
        equation: "(along n) = (across n)",
        condition: "n is 1 or all threads",
        left: "(along ?n)",
        right: |domain, bound| {
            let line = bound.number("?n")?;
            let one = line == 1 || line == domain.usage.threads;
            one.then(|| vec![order([line], Term::across)])
        },
    },
    Rule {
        name: "split-along-nothing",
        equation: "(split-along n 1) = (across n)",
        condition: "",
        left: "(split-along ?n 1)",
        right: |_, bound| Some(vec![order([bound.number("?n")?], Term::across)]),
    },
    Rule {
        name: "split-along-all",
        equation: "(split-along n n) = (along n)",
        condition: "",
        left: "(split-along ?n ?n)",
        right: |_, bound| Some(vec![order([bound.number("?n")?], Term::along)]),
    },
    Rule {
        name: "split-across-nothing",
        equation: "(split-across n 1) = (along n)",
        condition: "",
        left: "(split-across ?n 1)",
        right: |_, bound| Some(vec![order([bound.number("?n")?], Term::along)]),
    },
    Rule {
        name: "split-across-all",
        equation: "(split-across n f) = (across n)",
        condition: "f times n are all threads",
        left: "(split-across ?n ?f)",
        right: |domain, bound| {
            let [line, first] = bound.numbers(["?n", "?f"])?;
            let all = line.checked_mul(first) == Some(domain.usage.threads);
            all.then(|| vec![order([line], Term::across)])
        },
    },
    Rule {
        name: "rake-one",
        equation: "(raked 1 C) = C",
        condition: "threads have one line at a time in C",
        left: "(raked 1 ?x)",
        right: |domain, bound| whole(domain, bound.copy("?x")?).then(|| vec![same()]),
    },
    Rule {
        name: "turn-nothing",
        equation: "(turned f C) = C",
        condition: "f is the elements of a load, and C is stored as it is loaded",
        left: "(turned ?f ?x)",
        right: |domain, bound| {
            let stored = bound.copy("?x")?.turned == domain.load;
            (stored && bound.number("?f")? == domain.load).then(|| vec![same()])
        },
    },
];

impl Term {
    fn along([line]: [Id; 1]) -> Term {
        Term::Along(line)
    }

    fn across([line]: [Id; 1]) -> Term {
        Term::Across(line)
    }
}

/// Neighbours on a line of memory that a placement may keep together, so that a store has room for
/// as many of these runs, each of another line, as fit: along K those of a fragment, across single
/// elements.
fn turned_run(domain: &Domain) -> i64 {
    match domain.usage.along {
        1 => domain.run,
        _ => 1,
    }
}

/// Whether threads have one line at a time and store as they load.
fn whole(domain: &Domain, copy: &Copy) -> bool {
    copy.raked == 1 && copy.turned == domain.load
}

fn shared(domain: &Domain, line: i64) -> Option<i64> {
    domain.shares(line, 1).then_some(line)
}

/// Divisors but for 1 and the number itself.
fn divisors(of: i64) -> impl Iterator<Item = i64> {
    (2..of).filter(move |part| of % part == 0)
}

/// Powers of two from 2 to `most`.
fn powers(most: i64) -> impl Iterator<Item = i64> {
    (1..63).map(|bit| 1 << bit).take_while(move |n| *n <= most)
}

fn order<const N: usize>(numbers: [i64; N], node: fn([Id; N]) -> Term) -> PatternAst<Term> {
    let mut right = Build::default();
    let numbers = right.numbers(numbers);
    right.node(node(numbers));
    right.done()
}

fn carry<const N: usize>(numbers: [i64; N], node: fn([Id; N]) -> Term) -> PatternAst<Term> {
    let mut right = Build(order(numbers, node));
    let copy = Id::from(N);
    right.node(Term::Carry(copy));
    right.done()
}

fn around(number: i64, node: fn([Id; 2]) -> Term) -> PatternAst<Term> {
    let mut right = Build::default();
    let number = right.number(number);
    let copy = right.var("?x");
    let copy = right.node(node([number, copy]));
    right.node(Term::Carry(copy));
    right.done()
}

fn same() -> PatternAst<Term> {
    let mut right = Build::default();
    right.var("?x");
    right.done()
}
