//! The e-graph: all terms that the rules prove equal, and the ways to take them apart.

use crate::{
    facts::{Depends, Facts},
    node::Node,
    rules::Family,
    space::{Costs, Limits, ScalarOperand},
    term::{Kind, Term},
    word::{Operator, Word},
};
use egg::{Analysis, CostFunction, DidMerge, EGraph, Id, Rewrite, Runner, SimpleScheduler};
use std::{sync::LazyLock, time::Duration};

/// The analysis of the e-graph: facts of every class, and constants in place of classes that have
/// one value.
#[derive(Clone, Copy, Default, Debug)]
pub struct Knowledge;

/// The name that explanations give to the step from a term of one value to that constant.
pub const EVALUATE: &str = "evaluate";

impl Analysis<Node> for Knowledge {
    type Data = Facts;

    fn make(egraph: &mut EGraph<Node, Self>, node: &Node, _: Id) -> Facts {
        Facts::of(node, |operand| egraph[operand].data, Word::MACHINE)
    }

    fn merge(&mut self, to: &mut Facts, from: Facts) -> DidMerge {
        let both = to.and(from, Word::MACHINE);
        let changed = DidMerge(both != *to, both != from);
        *to = both;
        changed
    }

    fn modify(egraph: &mut EGraph<Node, Self>, class: Id) {
        if let Some(value) = egraph[class].data.value() {
            // The id of the constant itself, not of its class, for explanations to name it.
            let constant = egraph.add_uncanonical(Node::Constant(value));
            egraph.union_trusted(class, constant, EVALUATE);
            // What a constant can also be written as is of no use.
            egraph[class]
                .nodes
                .retain(|node| matches!(node, Node::Constant(_)));
        }
    }
}

/// Saturates an e-graph of `terms` with the rules of `families`, within `limits`; the classes of
/// the terms come with it. The same terms always give the same e-graph.
pub fn saturate(
    terms: &[Term],
    families: &[Family],
    limits: &Limits,
    explained: bool,
) -> (EGraph<Node, Knowledge>, Vec<Id>) {
    static RULES: LazyLock<Vec<(Family, Rewrite<Node, Knowledge>)>> = LazyLock::new(|| {
        let rules = |family: Family| {
            family
                .rules()
                .iter()
                .map(move |rule| (family, rule.rewrite()))
        };
        Family::ALL.into_iter().flat_map(rules).collect()
    });
    let mut runner = Runner::<Node, Knowledge>::new(Knowledge)
        .with_iter_limit(limits.iterations)
        .with_node_limit(limits.nodes)
        // Time would make results differ from run to run.
        .with_time_limit(Duration::MAX)
        .with_scheduler(SimpleScheduler);
    if explained {
        runner = runner.with_explanations_enabled();
    }
    for term in terms {
        runner = runner.with_expr(&term.expression());
    }
    let rules = RULES.iter().filter(|(family, _)| families.contains(family));
    let runner = runner.run(rules.map(|(_, rule)| rule));
    let classes = runner
        .roots
        .iter()
        .map(|root| runner.egraph.find(*root))
        .collect();
    (runner.egraph, classes)
}

/// Weighs terms by what their operations cost where they are computed.
pub struct Weigh<'a> {
    pub egraph: &'a EGraph<Node, Knowledge>,
    pub costs: Costs,
}

impl CostFunction<Node> for Weigh<'_> {
    type Cost = u64;

    fn cost<C: FnMut(Id) -> u64>(&mut self, node: &Node, mut operand: C) -> u64 {
        let Node::Binary(operator, [left, right]) = node else {
            return 0;
        };
        let depends = |id: Id| self.egraph[id].data.depends;
        let each = self
            .costs
            .operation(*operator, depends(*left).or(depends(*right)));
        each.saturating_add(operand(*left))
            .saturating_add(operand(*right))
    }
}

/// A way to write an access: base + scalar + constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// What would be in a vector register, but for a constant.
    pub base: Id,
    /// What would be the scalar operand.
    pub scalar: Option<Id>,
    /// What is left, to be shared out between register and immediate.
    pub constant: i32,
}

/// The ways in which the e-graph writes `class`; `zero` is the class of 0.
pub fn splits(
    egraph: &EGraph<Node, Knowledge>,
    class: Id,
    zero: Id,
    scalar: ScalarOperand,
) -> Vec<Split> {
    let mut splits = Vec::new();
    let mut push = |split: Split| {
        if !splits.contains(&split) {
            splits.push(split);
        }
    };
    if let Some(value) = egraph[class].data.value() {
        let split = |base, constant| Split {
            base,
            scalar: None,
            constant,
        };
        return match i32::try_from(value) {
            Ok(constant) => vec![split(zero, constant)],
            Err(_) => vec![split(class, 0)],
        };
    }
    let mut parts = vec![(class, 0)];
    parts.extend(sums(egraph, class).filter_map(|[base, rest]| {
        // A constant of more than 31 bits is one to subtract.
        let value = egraph[rest].data.value()?;
        Some((base, value as i32))
    }));
    for (base, constant) in parts {
        push(Split {
            base,
            scalar: None,
            constant,
        });
        if takes(egraph, scalar, base) {
            push(Split {
                base: zero,
                scalar: Some(base),
                constant,
            });
        }
        for [base, rest] in sums(egraph, base) {
            if takes(egraph, scalar, rest) {
                push(Split {
                    base,
                    scalar: Some(rest),
                    constant,
                });
            }
        }
    }
    splits
}

/// Whether a class may be in the scalar operand.
fn takes(egraph: &EGraph<Node, Knowledge>, scalar: ScalarOperand, class: Id) -> bool {
    let depends = |id: Id| egraph[id].data.depends;
    let uniform = !depends(class).has(Kind::Thread) && depends(class) != Depends::NOTHING;
    // A part that is the same in all steps.
    let fixed = |id: Id| !depends(id).has(Kind::Step) && depends(id) != Depends::NOTHING;
    match scalar {
        ScalarOperand::None => false,
        ScalarOperand::Uniform => uniform,
        ScalarOperand::Step => {
            let mut sums = sums(egraph, class);
            uniform && !fixed(class) && !sums.any(|parts| parts.into_iter().any(fixed))
        }
    }
}

/// The sums in a class.
fn sums(egraph: &EGraph<Node, Knowledge>, class: Id) -> impl Iterator<Item = [Id; 2]> + '_ {
    egraph[class].nodes.iter().filter_map(|node| match node {
        Node::Binary(Operator::Add, operands) => Some(operands.map(|id| egraph.find(id))),
        _ => None,
    })
}
