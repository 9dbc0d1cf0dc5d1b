//! Evaluation of rules over all small words.

use super::{Family, Rule, Scope, is_constant, name};
use crate::{
    facts::{Depends, Facts},
    node::Node,
    term::Kind,
    word::Word,
};
use egg::{ENodeOrVar, PatternAst};

/// A value of a pattern's variable in a wrong use, and what is known of it.
#[derive(Clone, Copy)]
pub enum Wrong {
    /// A constant.
    Constant(u32),
    /// Nothing is known.
    Any(u32),
    /// The first has all bits that may be set; the second is the value.
    Within(u32, u32),
}

/// Assignments tried per rule and way of knowing.
const TRIED: f64 = 1e6;

fn by_name(wanted: &str) -> &'static Rule {
    Family::ALL
        .iter()
        .flat_map(|family| family.rules())
        .find(|rule| rule.name == wanted)
        .unwrap_or_else(|| panic!("no rule is named {wanted}"))
}

/// A pattern with its variables replaced by places in a table.
fn compiled(pattern: &PatternAst<Node>, names: &[String]) -> Vec<Step> {
    pattern
        .as_ref()
        .iter()
        .map(|node| match node {
            ENodeOrVar::Var(variable) => {
                let own = name(*variable);
                Step::Place(names.iter().position(|name| *name == own).unwrap())
            }
            ENodeOrVar::ENode(Node::Constant(constant)) => Step::Constant(*constant),
            ENodeOrVar::ENode(Node::Binary(operator, [left, right])) => {
                Step::Binary(*operator, usize::from(*left), usize::from(*right))
            }
            ENodeOrVar::ENode(Node::Variable(_)) => unreachable!("patterns name no variables"),
        })
        .collect()
}

enum Step {
    Place(usize),
    Constant(u32),
    Binary(crate::word::Operator, usize, usize),
}

fn run(steps: &[Step], word: Word, places: &[u32], values: &mut Vec<u32>) -> u32 {
    values.clear();
    for step in steps {
        values.push(match step {
            Step::Place(place) => places[*place],
            Step::Constant(constant) => constant & word.mask(),
            Step::Binary(operator, left, right) => {
                word.apply(*operator, values[*left], values[*right])
            }
        });
    }
    values[values.len() - 1]
}

/// Every set of bits that may be set, or every range, with what it holds.
fn knowledge(word: Word, ranges: bool) -> Vec<(Facts, Vec<u32>)> {
    let depends = Depends::on(Kind::Uniform);
    let all = || 0..=word.mask();
    let facts: Vec<Facts> = if ranges {
        all()
            .flat_map(|min| (min..=word.mask()).map(move |max| (min, max)))
            .map(|(min, max)| Facts::range(min, max, depends, word))
            .collect()
    } else {
        all()
            .map(|bits| Facts::within(bits, depends, word))
            .collect()
    };
    facts
        .into_iter()
        .map(|facts| {
            let holds =
                |value: &u32| value & facts.zeros == 0 && (facts.min..=facts.max).contains(value);
            (facts, all().filter(holds).collect())
        })
        .collect()
}

/// Asserts that both sides are equal for all values of all variables, whatever is known of them,
/// wherever the condition holds; and that it holds somewhere.
pub fn holds(rule: &str) {
    let rule = by_name(rule);
    let [left, right] = rule.sides();
    let names: Vec<String> = left.vars().into_iter().map(name).collect();
    let general = names.iter().filter(|name| !is_constant(name)).count() as i32;
    let constants = names.len() as i32 - general;
    let mut held = 0u64;
    for ranges in [false, true] {
        // The widest words whose assignments are not too many.
        let work = |bits: i32| {
            let values = f64::powi(2.0, bits);
            let each = match ranges {
                true => values * (values + 1.0) * (values + 2.0) / 6.0,
                false => f64::powi(3.0, bits),
            };
            each.powi(general) * values.powi(constants)
        };
        let bits = (2..=6).rev().find(|bits| work(*bits) < TRIED).unwrap_or(2);
        let word = Word::new(bits as u32);
        let terms = knowledge(word, ranges);
        let constants: Vec<(Facts, Vec<u32>)> = (0..=word.mask())
            .map(|value| (Facts::constant(value, word), vec![value]))
            .collect();
        let domain = |name: &String| {
            if is_constant(name) {
                &constants
            } else {
                &terms
            }
        };
        let mut facts: Vec<usize> = vec![0; names.len()];
        loop {
            let known: Vec<&(Facts, Vec<u32>)> = names
                .iter()
                .zip(&facts)
                .map(|(name, index)| &domain(name)[*index])
                .collect();
            // Whatever each variable depends on; constants depend on nothing.
            let mut answers: Vec<Vec<(&str, u32)>> = Vec::new();
            for threads in 0..1u32 << names.len() {
                let lookup = |wanted: &str| {
                    let place = names.iter().position(|name| name == wanted).unwrap();
                    let mut facts = known[place].0;
                    if threads >> place & 1 == 1 && facts.value().is_none() {
                        facts.depends = Depends::on(Kind::Thread);
                    }
                    facts
                };
                let scope = Scope {
                    word,
                    facts: &lookup,
                };
                let answer = (rule.condition)(&scope);
                answers.extend(answer.filter(|answer| !answers.contains(answer)));
            }
            for computed in answers {
                let mut all = names.clone();
                all.extend(computed.iter().map(|(name, _)| name.to_string()));
                let sides = [&left, &right].map(|side| compiled(&side.ast, &all));
                let values: Vec<&[u32]> =
                    known.iter().map(|(_, values)| values.as_slice()).collect();
                held += equal(rule, &sides, word, &values, &computed);
            }
            if !advance(&mut facts, |place| domain(&names[place]).len()) {
                break;
            }
        }
    }
    assert!(held > 0, "{} never applies", rule.name);
}

/// Compares both sides for all `values`, and returns how many there were.
fn equal(
    rule: &Rule,
    sides: &[Vec<Step>; 2],
    word: Word,
    values: &[&[u32]],
    computed: &[(&str, u32)],
) -> u64 {
    let mut index = vec![0; values.len()];
    let mut places: Vec<u32> = vec![0; values.len()];
    places.extend(computed.iter().map(|(_, value)| value & word.mask()));
    let (mut scratch, mut count) = (Vec::new(), 0);
    loop {
        for (place, index) in index.iter().enumerate() {
            places[place] = values[place][*index];
        }
        let [a, b] = [0, 1].map(|side| run(&sides[side], word, &places, &mut scratch));
        assert_eq!(a, b, "{}: {} at {places:?}", rule.name, rule.equation());
        count += 1;
        if !advance(&mut index, |place| values[place].len()) {
            return count;
        }
    }
}

/// Counts on, the first place fastest; whether there was anything left.
fn advance(index: &mut [usize], extent: impl Fn(usize) -> usize) -> bool {
    for (place, count) in index.iter_mut().enumerate() {
        *count += 1;
        if *count < extent(place) {
            return true;
        }
        *count = 0;
    }
    false
}

/// Asserts that a use which would be wrong, with those constants computed, is refused.
pub fn wrong(rule: &str, values: &[(&str, Wrong)], computed: &[(&str, u32)]) {
    let rule = by_name(rule);
    let word = Word::new(6);
    let depends = Depends::on(Kind::Uniform);
    let find = |name: &str| values.iter().find(|(own, _)| *own == name).unwrap().1;
    let facts = |name: &str| match find(name) {
        Wrong::Constant(value) => Facts::constant(value, word),
        Wrong::Any(_) => Facts::within(word.mask(), depends, word),
        Wrong::Within(bits, _) => Facts::within(bits, depends, word),
    };
    let value = |name: &str| {
        if let Some((_, value)) = computed.iter().find(|(own, _)| *own == name) {
            return *value;
        }
        let (Wrong::Constant(value) | Wrong::Any(value) | Wrong::Within(_, value)) = find(name);
        value
    };
    let mut names: Vec<String> = values.iter().map(|(name, _)| name.to_string()).collect();
    names.extend(computed.iter().map(|(name, _)| name.to_string()));
    let places: Vec<u32> = names.iter().map(|name| value(name)).collect();
    let [left, right] = rule
        .sides()
        .map(|side| run(&compiled(&side.ast, &names), word, &places, &mut Vec::new()));
    assert_ne!(left, right, "{}: the use is not wrong", rule.name);
    let scope = Scope {
        word,
        facts: &facts,
    };
    assert_eq!((rule.condition)(&scope), None, "{}", rule.name);
}

/// Asserts that a use against the rule's direction is refused; the second of each pair is what
/// the variable depends on, or a constant.
pub fn aimless(rule: &str, variables: &[(&str, &str)]) {
    let word = Word::MACHINE;
    let facts = |name: &str| {
        let what = variables.iter().find(|(own, _)| *own == name).unwrap().1;
        let kind = match what {
            "thread" => Kind::Thread,
            "step" => Kind::Step,
            "uniform" => Kind::Uniform,
            constant => return Facts::constant(constant.parse().unwrap(), word),
        };
        Facts::range(0, 63, Depends::on(kind), word)
    };
    let scope = Scope {
        word,
        facts: &facts,
    };
    assert_eq!((by_name(rule).condition)(&scope), None, "{rule}");
}
