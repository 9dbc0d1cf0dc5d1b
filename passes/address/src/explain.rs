//! Chains of rules: why one term is another.

use crate::{
    node::Node,
    program::{Assignments, Program},
    rules::{Family, Rule, name},
    search::{EVALUATE, saturate},
    space::Limits,
    term::{Term, insert},
};
use egg::{ENodeOrVar, FlatTerm, Id, Language, PatternAst, Symbol};
use serde::Serialize;
use std::{collections::HashMap, fmt};

/// A step of a chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// The rule's name; `evaluate` where a part that has one value is replaced by it.
    pub rule: String,
    /// Whether the rule's right side was replaced by its left side.
    pub backward: bool,
    /// The part that was replaced, as text.
    pub from: String,
    /// What replaced it, as text.
    pub to: String,
    #[serde(skip)]
    parts: [Term; 2],
}

/// A chain of rules that leads from one term to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The steps, first to last.
    pub steps: Vec<Step>,
    /// All terms: the first, and that after each step.
    pub terms: Vec<Term>,
}

/// Why a chain is not one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("step {step}, {rule}: {why}")]
pub struct ChainError {
    /// Which step, from 0.
    pub step: usize,
    /// The rule it names.
    pub rule: String,
    /// What is wrong.
    pub why: &'static str,
}

/// The chain from `left` to `right`, where the rules find one.
pub fn chain(left: &Term, right: &Term, limits: &Limits) -> Option<Chain> {
    let pair = [left.clone(), right.clone()];
    let (mut egraph, classes) = saturate(&pair, &limits.families, limits, true);
    if classes[0] != classes[1] {
        return None;
    }
    let mut explanation = egraph.explain_equivalence(&left.expression(), &right.expression());
    let flat = explanation.make_flat_explanation();
    let terms: Vec<Term> = flat.iter().map(term).collect();
    let steps = flat
        .windows(2)
        .map(|pair| step(&pair[0], &pair[1]))
        .collect::<Option<_>>()?;
    Some(Chain { steps, terms })
}

fn term(flat: &FlatTerm<Node>) -> Term {
    fn push(flat: &FlatTerm<Node>, nodes: &mut Vec<Node>) -> Id {
        let children: Vec<Id> = flat.children.iter().map(|it| push(it, nodes)).collect();
        let mut node = flat.node.clone();
        node.children_mut().copy_from_slice(&children);
        insert(nodes, node)
    }
    let mut nodes = Vec::new();
    // A term's root is in none of its parts, so that it comes last.
    push(flat, &mut nodes);
    Term::from_nodes(&nodes)
}

/// The step between two terms that follow each other: the second marks the part that changed.
fn step(from: &FlatTerm<Node>, to: &FlatTerm<Node>) -> Option<Step> {
    let made = |rule: Symbol, backward: bool| {
        let parts = [term(from), term(to)];
        Some(Step {
            rule: rule.to_string(),
            backward,
            from: parts[0].to_string(),
            to: parts[1].to_string(),
            parts,
        })
    };
    match (to.forward_rule, to.backward_rule) {
        (Some(rule), _) => made(rule, false),
        (None, Some(rule)) => made(rule, true),
        (None, None) => {
            let mut pairs = from.children.iter().zip(&to.children);
            pairs.find_map(|(from, to)| step(from, to))
        }
    }
}

impl Chain {
    /// Checks the chain by itself, without the e-graph: each step's two parts are instances of
    /// the two sides of the rule that it names, each term is the one before with that part
    /// replaced, and all terms have the same value wherever they are evaluated (for all threads,
    /// see [`place`](crate::place)).
    ///
    /// # Errors
    /// The first step that is wrong.
    pub fn check(&self, limits: &Limits) -> Result<(), ChainError> {
        let fail = |step: usize, why| {
            let rule = self
                .steps
                .get(step)
                .map_or(String::new(), |step| step.rule.clone());
            Err(ChainError { step, rule, why })
        };
        if self.terms.len() != self.steps.len() + 1 {
            return fail(0, "the number of terms is not that of steps and one");
        }
        for (index, step) in self.steps.iter().enumerate() {
            if !step.is_of_its_rule() {
                return fail(index, "the parts are not the rule's sides");
            }
            let [from, to] = [&self.terms[index], &self.terms[index + 1]];
            if !is_replaced(from, to, &step.parts) {
                return fail(index, "more than the part is replaced");
            }
        }
        let variables = self.terms.iter().flat_map(Term::variables).collect();
        let Ok(assignments) = Assignments::new(variables, limits.threads) else {
            return fail(0, "more threads than the limit");
        };
        let values = Program::new(&self.terms).evaluate(&assignments, true);
        match values.iter().position(|value| *value != values[0]) {
            Some(term) => fail(term.saturating_sub(1), "the value changes"),
            None => Ok(()),
        }
    }
}

impl Step {
    fn is_of_its_rule(&self) -> bool {
        let [from, to] = &self.parts;
        let [left, right] = if self.backward {
            [to, from]
        } else {
            [from, to]
        };
        if self.rule == EVALUATE {
            let constant = |term: &Term| matches!(term.nodes(), [Node::Constant(_)]);
            return constant(left) || constant(right);
        }
        let rules = Family::ALL.iter().flat_map(|family| family.rules());
        let Some(rule) = rules.into_iter().find(|rule| rule.name == self.rule) else {
            return false;
        };
        self.matches(rule, left, right)
    }

    /// Whether both are instances of the rule's sides, with the same terms for its variables.
    fn matches(&self, rule: &Rule, left: &Term, right: &Term) -> bool {
        let mut bound = HashMap::new();
        let sides = rule.sides();
        [left, right].into_iter().zip(&sides).all(|(term, side)| {
            let (root, last) = (
                Id::from(term.nodes().len() - 1),
                Id::from(side.ast.len() - 1),
            );
            instance(term.nodes(), root, &side.ast, last, &mut bound)
        })
    }
}

fn subterm(nodes: &[Node], root: Id) -> Term {
    Term::from_nodes(&nodes[..=usize::from(root)])
}

fn instance(
    nodes: &[Node],
    root: Id,
    pattern: &PatternAst<Node>,
    place: Id,
    bound: &mut HashMap<String, Term>,
) -> bool {
    match &pattern[place] {
        ENodeOrVar::Var(variable) => {
            let own = subterm(nodes, root);
            // Two texts of equal terms are equal; the order of nodes may differ.
            let first = bound.entry(name(*variable)).or_insert_with(|| own.clone());
            first.to_string() == own.to_string()
        }
        ENodeOrVar::ENode(Node::Binary(operator, sides)) => match &nodes[usize::from(root)] {
            Node::Binary(own, operands) if own == operator => operands
                .iter()
                .zip(sides)
                .all(|(operand, side)| instance(nodes, *operand, pattern, *side, bound)),
            _ => false,
        },
        ENodeOrVar::ENode(leaf) => *leaf == nodes[usize::from(root)],
    }
}

/// Whether `to` is `from` with one occurrence of the first part replaced by the second.
fn is_replaced(from: &Term, to: &Term, parts: &[Term; 2]) -> bool {
    let [own, new] = [from, to].map(|term| Id::from(term.nodes().len() - 1));
    replaced(from, own, to, new, &parts.each_ref().map(Term::to_string))
}

fn replaced(from: &Term, own: Id, to: &Term, new: Id, parts: &[String; 2]) -> bool {
    let text = |term: &Term, root: Id| subterm(term.nodes(), root).to_string();
    if [text(from, own), text(to, new)] == *parts {
        return true;
    }
    match (
        &from.nodes()[usize::from(own)],
        &to.nodes()[usize::from(new)],
    ) {
        (Node::Binary(a, [left, right]), Node::Binary(b, [other_left, other_right])) if a == b => {
            let same = |a: &Id, b: &Id| text(from, *a) == text(to, *b);
            (same(right, other_right) && replaced(from, *left, to, *other_left, parts))
                || (same(left, other_left) && replaced(from, *right, to, *other_right, parts))
        }
        _ => false,
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.terms[0])?;
        for (step, term) in self.steps.iter().zip(&self.terms[1..]) {
            let arrow = if step.backward { "<-" } else { "->" };
            write!(f, "\n{arrow} {}: {term}", step.rule)?;
        }
        Ok(())
    }
}
