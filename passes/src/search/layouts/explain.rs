//! Why the best is among equals: the chain of rules that leads to it, and its check.

use super::{LayoutError, TileUse, language::Term, rules::Rule};
use egg::{Explanation, FlatTerm, Language, RecExpr};
use serde::Serialize;

/// One term of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The rule that was used on a part of the term before; none for the first.
    pub rule: Option<&'static str>,
    /// Whether the rule was used from right to left.
    pub backwards: bool,
    /// The term.
    pub term: String,
}

/// The steps of an explanation.
pub(super) fn steps(mut explanation: Explanation<Term>) -> Vec<Step> {
    let flat = explanation.make_flat_explanation();
    flat.iter()
        .map(|term| {
            let used = rule_of(term);
            Step {
                rule: used.map(|(rule, _)| rule.name),
                backwards: used.is_some_and(|(_, backwards)| backwards),
                term: term.get_recexpr().to_string(),
            }
        })
        .collect()
}

fn rule_of(term: &FlatTerm<Term>) -> Option<(&'static Rule, bool)> {
    let here = match (&term.forward_rule, &term.backward_rule) {
        (Some(rule), _) => Some((rule, false)),
        (_, Some(rule)) => Some((rule, true)),
        _ => None,
    };
    match here {
        Some((rule, backwards)) => Some((Rule::by_name(rule.as_str())?, backwards)),
        None => term.children.iter().find_map(rule_of),
    }
}

/// Whether a chain leads from its first term to its last by its rules, each used on one part of
/// a term and on nothing else. No e-graph of the search is consulted.
///
/// # Errors
/// [`LayoutError::Explanation`] names the first step that does not follow from the one before.
pub fn check(usage: &TileUse, steps: &[Step]) -> Result<(), LayoutError> {
    let fault = |step: &Step| LayoutError::Explanation {
        term: step.term.clone(),
    };
    for pair in steps.windows(2) {
        let [before, after] = pair else { continue };
        let rule = after.rule.and_then(Rule::by_name);
        let rule = rule.ok_or_else(|| fault(after))?;
        let [from, to] = [before, after].map(|step| step.term.parse::<RecExpr<Term>>());
        let from = from.map_err(|_| fault(before))?;
        let to = to.map_err(|_| fault(after))?;
        let (from, to) = if after.backwards {
            (to, from)
        } else {
            (from, to)
        };
        let (from, to) = differing(from, to);
        // A rule may match at the part that differs or above it, where the rest stays.
        let mut parts = from.iter().zip(&to);
        let mut holds = false;
        for (from, to) in &mut parts {
            holds |= rule.apply(usage, from)?.iter().any(|right| same(right, to));
        }
        if !holds {
            return Err(fault(after));
        }
    }
    Ok(())
}

/// The parts of two terms on the way down to where they differ, outermost first.
fn differing(
    mut from: RecExpr<Term>,
    mut to: RecExpr<Term>,
) -> (Vec<RecExpr<Term>>, Vec<RecExpr<Term>>) {
    let (mut froms, mut tos) = (Vec::new(), Vec::new());
    loop {
        froms.push(from.clone());
        tos.push(to.clone());
        let [a, b] = [&from, &to].map(|term| &term[term.root()]);
        if !a.matches(b) {
            break;
        }
        let children: Vec<_> = a.children().iter().zip(b.children()).collect();
        let part = |term: &RecExpr<Term>, id| {
            let root: &Term = &term[id];
            root.build_recexpr(|id| term[id].clone())
        };
        let parts = children
            .into_iter()
            .map(|(a, b)| (part(&from, *a), part(&to, *b)));
        let mut unequal = parts.filter(|(a, b)| !same(a, b));
        let (Some(only), None) = (unequal.next(), unequal.next()) else {
            break;
        };
        (from, to) = only;
    }
    (froms, tos)
}

fn same(a: &RecExpr<Term>, b: &RecExpr<Term>) -> bool {
    a.to_string() == b.to_string()
}
