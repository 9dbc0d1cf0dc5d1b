//! 100,000 random expressions: none crashes or hangs, and every answer is right by its table.

use std::collections::BTreeMap;

use crate::generate::Random;
use crate::oracle::{Verdict, judge, taken_apart};

/// Each operation and each kind of operand must have been right this often or more, so that none
/// passes by refusing.
const LEAST: usize = 50;

/// What marks a kind of operand in the text.
const KINDS: [(&str, &str); 6] = [
    ("a name", "N"),
    ("a stride along a mode", "@"),
    ("a swizzle", "Sw<"),
    ("a tiler by mode", ", <"),
    ("a negative stride", "-"),
    ("a huge extent", "1099511627776"),
];

#[test]
fn random_expressions_are_right_or_refused() {
    let mut random = Random(1);
    let (mut refused, mut unchecked, mut right) = (0, 0, 0);
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for _ in 0..100_000 {
        let text = random.call(3);
        match judge(&text) {
            Verdict::Refused => refused += 1,
            Verdict::Unchecked => unchecked += 1,
            Verdict::Right => {
                right += 1;
                let (name, _) = taken_apart(&text).expect("only calls are checked");
                *by_name.entry(name.to_string()).or_default() += 1;
                for (kind, mark) in KINDS {
                    *by_name.entry(kind.to_string()).or_default() +=
                        usize::from(text.contains(mark));
                }
            }
            Verdict::Wrong(why) => wrong.push(why),
        }
    }
    println!("{refused} refused, {unchecked} answered and unchecked, {right} right");
    println!("{by_name:?}");
    wrong.sort_by_key(String::len);
    wrong.truncate(12);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        right > 30_000 && refused < 65_000,
        "{right} right, {refused} refused"
    );
    let rare: Vec<_> = by_name.iter().filter(|(_, n)| **n < LEAST).collect();
    assert!(by_name.len() >= 40 && rare.is_empty(), "too few: {rare:?}");
}
