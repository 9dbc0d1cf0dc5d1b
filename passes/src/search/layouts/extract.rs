//! The best of all pairs of a placement and a copy.
//!
//! What a copy's stores cost depends on the placement, and figures of different kinds do not add
//! up, so that no sum over a term's nodes would find the best. All pairs of a placement's class
//! and a copy's are weighed, and none is dropped before.

use super::{
    Class, Cost,
    analysis::Graph,
    conflicts::{Counter, Parts, Side, SideCost},
    domain::{Copy, Domain},
    language::Term,
    placement::Placement,
};
use egg::{Id, Language};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use tilefold_machine::Access;

/// A placement or a copy with the least term that stands for it.
pub(super) struct Member<T> {
    pub what: Arc<T>,
    pub term: Text,
}

/// A term, ordered by its number of nodes, then as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text {
    nodes: usize,
    pub text: String,
}

/// One pair, its figures, and where its parts stand among the members.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub class: Class,
    pub cost: Cost,
    pub placement: usize,
    pub copy: usize,
}

/// The members of the choices, in order of their terms, and the pairs that matter.
pub(super) struct Pairs {
    pub placements: Vec<Member<Placement>>,
    pub copies: Vec<Member<Copy>>,
    /// Pairs of a placement that is addressed by constant steps.
    pub enumerated: usize,
    /// The best pair of each placement, best first.
    pub best: Vec<Pair>,
    /// Pairs that no other beats in one figure without being beaten in another, best first.
    pub pareto: Vec<Pair>,
    /// By number of LDS instructions: pairs, those without conflict cycles, the least cycles.
    pub by_instructions: BTreeMap<i64, (usize, usize, i64)>,
}

/// Copies that write one placement alike, with whatever swizzle.
struct Writes {
    side: Side,
    figures: (i64, i64),
    /// The first of them, and how many they are.
    copy: usize,
    copies: usize,
}

impl Pairs {
    pub fn new(graph: &Graph, domain: &Domain) -> Self {
        let texts = least_terms(graph);
        let placements = members(graph, &texts, |node| match node {
            Term::Hold(of) => graph[*of].data.placement().map(|what| (*of, what)),
            _ => None,
        });
        let copies = members(graph, &texts, |node| match node {
            Term::Carry(of) => graph[*of].data.copy().map(|what| (*of, what)),
            _ => None,
        });
        let mut pairs = Self {
            placements,
            copies,
            enumerated: 0,
            best: Vec::new(),
            pareto: Vec::new(),
            by_instructions: BTreeMap::new(),
        };
        pairs.weigh(domain);
        pairs
    }

    fn weigh(&mut self, domain: &Domain) {
        let mut counter = Counter::new(domain);
        let mut layouts: Vec<(&Placement, Vec<usize>)> = Vec::new();
        for (index, member) in self.placements.iter().enumerate() {
            match layouts
                .iter_mut()
                .find(|(first, _)| first.inner == member.what.inner)
            {
                Some((_, same)) => same.push(index),
                None => layouts.push((&member.what, vec![index])),
            }
        }
        let mut best: Vec<Option<Pair>> = vec![None; self.placements.len()];
        let mut front: Vec<Pair> = Vec::new();
        for (first, same) in layouts {
            let (inner, mut parts) = (&first.inner, Parts::default());
            let fragments = &domain.usage.fragments;
            let most = [domain.fragment, domain.widest()];
            let reads = counter.side(inner, &mut parts, fragments, Access::Read, most[0]);
            let Some(mut reads) = reads else { continue };
            let mut writes: Vec<Writes> = Vec::new();
            for (copy, member) in self.copies.iter().enumerate() {
                let commit = &member.what.commit;
                let side = counter.side(inner, &mut parts, commit, Access::Write, most[1]);
                let Some(side) = side else { continue };
                let figures = (member.what.cache_lines, member.what.permutes);
                let same = writes
                    .iter_mut()
                    .find(|known| known.figures == figures && known.side.costs_as(&side));
                match same {
                    Some(known) => known.copies += 1,
                    None => writes.push(Writes {
                        side,
                        figures,
                        copy,
                        copies: 1,
                    }),
                }
            }
            for placement in same {
                let what = &self.placements[placement].what;
                let Some(read) = counter.cost(&mut reads, what.swizzle) else {
                    continue;
                };
                for writes in &mut writes {
                    let Some(write) = counter.cost(&mut writes.side, what.swizzle) else {
                        continue;
                    };
                    let copy = writes.copy;
                    let cost = cost(domain, what, &self.copies[copy].what, read, write);
                    let pair = Pair {
                        class: Class::of(cost.conflict_cycles, what.padding),
                        cost,
                        placement,
                        copy,
                    };
                    self.enumerated += writes.copies;
                    let cycles = pair.cost.conflict_cycles;
                    let entry = self.by_instructions.entry(pair.cost.instructions);
                    let (count, free, least) = entry.or_insert((0, 0, cycles));
                    *count += writes.copies;
                    *free += if cycles == 0 { writes.copies } else { 0 };
                    *least = cycles.min(*least);
                    offer(&mut front, &pair);
                    let best = &mut best[placement];
                    if best.as_ref().is_none_or(|best| pair < *best) {
                        *best = Some(pair);
                    }
                }
            }
        }
        self.best = best.into_iter().flatten().collect();
        self.best.sort_unstable();
        front.sort_unstable();
        self.pareto = front;
    }
}

/// The figures of a pair.
pub(super) fn cost(
    domain: &Domain,
    placement: &Placement,
    copy: &Copy,
    read: SideCost,
    write: SideCost,
) -> Cost {
    // Stores of less than a register take any half or byte of one.
    let whole = write.width * domain.bytes >= 4;
    Cost {
        instructions: read.instructions + write.instructions,
        cache_lines: copy.cache_lines,
        conflict_cycles: read.cycles + write.cycles,
        permutes: if whole { copy.permutes } else { 0 },
        bytes: placement.bytes,
        registers: read.registers + write.registers,
    }
}

/// Takes a pair into the front, unless one there is nowhere worse; of equal ones the first in
/// order stays.
fn offer(front: &mut Vec<Pair>, pair: &Pair) {
    let figures = pair.cost.figures();
    let nowhere_worse = |a: &[i64; 6], b: &[i64; 6]| a.iter().zip(b).all(|(a, b)| a <= b);
    for member in front.iter_mut() {
        let its = member.cost.figures();
        if its == figures {
            if *pair < *member {
                *member = pair.clone();
            }
            return;
        }
        if nowhere_worse(&its, &figures) {
            return;
        }
    }
    front.retain(|member| !nowhere_worse(&figures, &member.cost.figures()));
    front.push(pair.clone());
}

/// The members of a choice, one a class, in order of their terms.
fn members<'a, T: 'a>(
    graph: &'a Graph,
    texts: &HashMap<Id, Text>,
    member: impl Fn(&Term) -> Option<(Id, &'a Arc<T>)>,
) -> Vec<Member<T>> {
    let mut found: BTreeMap<Text, Arc<T>> = BTreeMap::new();
    for node in graph.classes().flat_map(|class| &class.nodes) {
        if let Some((id, what)) = member(node)
            && let Some(text) = texts.get(&graph.find(id))
        {
            found.insert(text.clone(), Arc::clone(what));
        }
    }
    let members = found.into_iter();
    members.map(|(term, what)| Member { what, term }).collect()
}

/// The least term of every class of placements, copies and numbers.
fn least_terms(graph: &Graph) -> HashMap<Id, Text> {
    let mut texts: HashMap<Id, Text> = HashMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for class in graph.classes() {
            for node in &class.nodes {
                if matches!(node, Term::Lds(_) | Term::Hold(_) | Term::Carry(_)) {
                    continue;
                }
                let children: Option<Vec<&Text>> = node
                    .children()
                    .iter()
                    .map(|child| texts.get(&graph.find(*child)))
                    .collect();
                let Some(children) = children else { continue };
                let nodes = 1 + children.iter().map(|child| child.nodes).sum::<usize>();
                let known = texts.get(&class.id);
                if known.is_some_and(|known| known.nodes < nodes) {
                    continue;
                }
                let mut text = node.to_string();
                if !children.is_empty() {
                    let parts = children.iter().map(|child| child.text.as_str());
                    text = format!("({text} {})", parts.collect::<Vec<_>>().join(" "));
                }
                let text = Text { nodes, text };
                if known.is_none_or(|known| text < *known) {
                    texts.insert(class.id, text);
                    changed = true;
                }
            }
        }
    }
    texts
}
