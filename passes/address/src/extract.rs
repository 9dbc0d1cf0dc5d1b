//! The cheapest terms of several classes together, where what they share counts once.

use crate::{
    node::Node,
    search::{Knowledge, Weigh},
    space::Costs,
    term::{Kind, Term, insert},
};
use egg::{EGraph, Extractor, Id, Language};
use std::collections::{BTreeMap, BTreeSet};

/// Passes over all choices.
const PASSES: usize = 4;

/// A node for each class.
struct Choice<'a> {
    egraph: &'a EGraph<Node, Knowledge>,
    costs: Costs,
    nodes: BTreeMap<Id, &'a Node>,
}

/// Terms of `roots`, of which the first `registers` are to be in registers. Each class first has the node that is cheapest by itself; then single nodes
/// are exchanged as long as that makes the whole cheaper.
pub fn together(
    egraph: &EGraph<Node, Knowledge>,
    costs: Costs,
    roots: &[Id],
    registers: usize,
) -> Vec<Term> {
    let extractor = Extractor::new(egraph, Weigh { egraph, costs });
    let mut choice = Choice {
        egraph,
        costs,
        nodes: BTreeMap::new(),
    };
    for class in egraph.classes() {
        choice
            .nodes
            .insert(class.id, extractor.find_best_node(class.id));
    }
    let mut least = choice.cost(roots, registers);
    for _ in 0..PASSES {
        let before = least;
        let used: Vec<Id> = choice.used(roots).unwrap_or_default();
        for class in used {
            for node in &egraph[class].nodes {
                let own = choice.nodes.insert(class, node);
                match (choice.cost(roots, registers), own) {
                    (cost, _) if cost < least => least = cost,
                    (_, Some(own)) => {
                        choice.nodes.insert(class, own);
                    }
                    (_, None) => {}
                }
            }
        }
        if least == before {
            break;
        }
    }
    roots.iter().map(|root| choice.term(*root)).collect()
}

impl Choice<'_> {
    fn node(&self, class: Id) -> &Node {
        self.nodes[&self.egraph.find(class)]
    }

    /// The classes that the terms of `roots` use; `None` where a term would contain itself.
    fn used(&self, roots: &[Id]) -> Option<Vec<Id>> {
        fn visit(choice: &Choice<'_>, class: Id, done: &mut BTreeMap<Id, bool>) -> bool {
            let class = choice.egraph.find(class);
            match done.get(&class) {
                Some(done) => return *done,
                None => done.insert(class, false),
            };
            let children = choice.node(class).children();
            let all = children.iter().all(|child| visit(choice, *child, done));
            done.insert(class, all);
            all
        }
        let mut done = BTreeMap::new();
        let finite = roots.iter().all(|root| visit(self, *root, &mut done));
        finite.then(|| done.into_keys().collect())
    }

    /// As [`Program::cost`](crate::program::Program::cost).
    fn cost(&self, roots: &[Id], registers: usize) -> u64 {
        let Some(used) = self.used(roots) else {
            return u64::MAX;
        };
        let depends = |id: Id| self.egraph[id].data.depends;
        let in_loop = |id: Id| depends(id).has(Kind::Step);
        let find = |id: &Id| self.egraph.find(*id);
        let roots = roots[..registers].iter().map(find);
        let mut held: BTreeSet<Id> = roots.filter(|root| !in_loop(*root)).collect();
        let mut cost = 0u64;
        for class in used {
            let Node::Binary(operator, operands) = self.node(class) else {
                continue;
            };
            let both = depends(operands[0]).or(depends(operands[1]));
            cost = cost.saturating_add(self.costs.operation(*operator, both));
            let vector = |id: &Id| depends(*id).has(Kind::Thread) && !in_loop(*id);
            if in_loop(class) {
                held.extend(operands.iter().map(find).filter(vector));
            }
        }
        cost.saturating_add(u64::from(self.costs.register) * held.len() as u64)
    }

    fn term(&self, root: Id) -> Term {
        fn push(choice: &Choice<'_>, class: Id, nodes: &mut Vec<Node>) -> Id {
            let node = choice.node(class).clone();
            let node = node.map_children(|child| push(choice, child, nodes));
            insert(nodes, node)
        }
        let mut nodes = Vec::new();
        push(self, root, &mut nodes);
        Term::from_nodes(&nodes)
    }
}
