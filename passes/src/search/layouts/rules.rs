//! The rules, as data, and how they are applied.
//!
//! A rule of placements or copies is an identity of functions. A rule of memories or carriages
//! leads from one legal choice to another: its condition says what keeps the choice legal, and
//! what would never win and is therefore not led to.

use super::{
    TileUse,
    analysis::{Data, Graph, Meaning},
    budget::{MATCH, RIGHT},
    copy_rules, domain,
    domain::Domain,
    language::{self, Term},
    placement::Placement,
    placement_rules,
};
use egg::{
    Applier, ENodeOrVar, Id, Language, Pattern, PatternAst, RecExpr, Rewrite, Searcher, Subst,
    Symbol,
};
use std::rc::Rc;

/// One rule.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it says, in one line; R and K are the tile's extents.
    pub equation: &'static str,
    /// Where it holds; empty where always.
    pub condition: &'static str,
    /// The pattern of the left side.
    pub left: &'static str,
    /// The right sides, over the variables of the left one.
    pub(super) right: fn(&Domain, &Bound<'_>) -> Option<Vec<PatternAst<Term>>>,
}

/// What the variables of a left side stand for.
pub(super) struct Bound<'a> {
    graph: &'a Graph,
    subst: &'a Subst,
}

impl Bound<'_> {
    fn data(&self, variable: &str) -> Option<&Data> {
        let id = *self.subst.get(language::variable(variable))?;
        Some(&self.graph[id].data)
    }

    pub fn number(&self, variable: &str) -> Option<i64> {
        self.data(variable)?.number()
    }

    pub fn numbers<const N: usize>(&self, variables: [&str; N]) -> Option<[i64; N]> {
        let mut numbers = [0; N];
        for (number, variable) in numbers.iter_mut().zip(variables) {
            *number = self.number(variable)?;
        }
        Some(numbers)
    }

    pub fn placement(&self, variable: &str) -> Option<&Placement> {
        self.data(variable)?.placement().map(Rc::as_ref)
    }

    pub fn copy(&self, variable: &str) -> Option<&domain::Copy> {
        self.data(variable)?.copy().map(Rc::as_ref)
    }
}

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    placement_rules::RULES.iter().chain(copy_rules::RULES)
}

impl Rule {
    /// The rule of that name.
    pub fn by_name(name: &str) -> Option<&'static Rule> {
        rules().find(|rule| rule.name == name)
    }

    /// What the rule makes of a whole term: every right side, where the left one matches.
    ///
    /// # Errors
    /// A [`super::LayoutError`] where the use is none.
    pub fn apply(
        &self,
        usage: &TileUse,
        term: &RecExpr<Term>,
    ) -> Result<Vec<RecExpr<Term>>, super::LayoutError> {
        let pattern = self.pattern();
        if let ENodeOrVar::ENode(root) = &pattern.ast[pattern.ast.root()]
            && !term[term.root()].matches(root)
        {
            return Ok(Vec::new());
        }
        let domain = Rc::new(Domain::new(usage, &Rc::default())?);
        let mut graph = Graph::new(Meaning {
            domain: Rc::clone(&domain),
        });
        let root = graph.add_expr(term);
        graph.rebuild();
        let Some(found) = pattern.search_eclass(&graph, root) else {
            return Ok(Vec::new());
        };
        let mut rights = Vec::new();
        for subst in &found.substs {
            let bound = Bound {
                graph: &graph,
                subst,
            };
            for right in (self.right)(&domain, &bound).unwrap_or_default() {
                rights.push(instance(&graph, &right, subst));
            }
        }
        Ok(rights)
    }

    /// Whether it is one of placements or of memories.
    pub(super) fn is_of_placements(&self) -> bool {
        let mut placements = placement_rules::RULES.iter();
        placements.any(|rule| rule.name == self.name)
    }

    fn pattern(&self) -> Pattern<Term> {
        let parsed = self.left.parse();
        parsed.expect("left sides are constants that the test of the rules parses")
    }

    pub(super) fn rewrite(&'static self) -> Rewrite<Term, Meaning> {
        let apply = Apply { rule: self };
        Rewrite::new(self.name, self.pattern(), apply)
            .expect("right sides are made of what is bound")
    }
}

/// The term that a pattern is, each variable replaced by the only term of its class.
fn instance(graph: &Graph, pattern: &PatternAst<Term>, subst: &Subst) -> RecExpr<Term> {
    let mut term = RecExpr::default();
    let mut places: Vec<Id> = Vec::new();
    for node in pattern.as_ref() {
        let place = match node {
            ENodeOrVar::ENode(node) => {
                let node = node.clone().map_children(|id| places[usize::from(id)]);
                term.add(node)
            }
            ENodeOrVar::Var(variable) => append(graph, subst[*variable], &mut term),
        };
        places.push(place);
    }
    term
}

fn append(graph: &Graph, class: Id, term: &mut RecExpr<Term>) -> Id {
    let mut node = graph[class].nodes[0].clone();
    for child in node.children_mut() {
        *child = append(graph, *child, term);
    }
    term.add(node)
}

/// The class of a pattern's instance, where there is one.
fn known(graph: &Graph, pattern: &PatternAst<Term>, subst: &Subst) -> Option<Id> {
    let mut classes: Vec<Id> = Vec::with_capacity(pattern.len());
    for node in pattern.as_ref() {
        classes.push(match node {
            ENodeOrVar::ENode(node) => {
                let node = node.clone().map_children(|id| classes[usize::from(id)]);
                graph.lookup(node)?
            }
            ENodeOrVar::Var(variable) => subst[*variable],
        });
    }
    classes.last().map(|class| graph.find(*class))
}

struct Apply {
    rule: &'static Rule,
}

impl Applier<Term, Meaning> for Apply {
    fn apply_one(
        &self,
        graph: &mut Graph,
        class: Id,
        subst: &Subst,
        left: Option<&PatternAst<Term>>,
        name: Symbol,
    ) -> Vec<Id> {
        let domain = Rc::clone(&graph.analysis.domain);
        let bound = Bound { graph, subst };
        let rights = (self.rule.right)(&domain, &bound).unwrap_or_default();
        let mut changed = Vec::new();
        domain.work.spend(MATCH * rights.len() as u64);
        for right in rights {
            // Most matches are those of rounds before.
            if known(graph, &right, subst) == Some(graph.find(class)) {
                continue;
            }
            // What is left out is found again, and then there is no work for it.
            if domain.work.is_over() && !changed.is_empty() {
                break;
            }
            domain.work.spend(RIGHT);
            let (id, new) = match left {
                Some(left) => graph.union_instantiations(left, &right, subst, name),
                None => {
                    let id = graph.add_instantiation(&right, subst);
                    (id, graph.union(class, id))
                }
            };
            if new {
                changed.push(id);
            }
        }
        changed
    }
}
