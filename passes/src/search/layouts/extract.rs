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
    rc::Rc,
};
use tilefold_layout::{Layout, Swizzle};
use tilefold_machine::Access;

/// A placement or a copy with the least term that stands for it.
pub(super) struct Member<T> {
    pub what: Rc<T>,
    pub term: Text,
}

impl<T> Clone for Member<T> {
    fn clone(&self) -> Self {
        Self {
            what: Rc::clone(&self.what),
            term: self.term.clone(),
        }
    }
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

/// The members of the choices, in order of their terms.
pub(super) struct Members {
    pub placements: Vec<Member<Placement>>,
    pub copies: Vec<Member<Copy>>,
}

/// The pairs that matter.
pub(super) struct Pairs<'a> {
    pub members: &'a Members,
    /// Pairs of a placement that is addressed by constant steps.
    pub enumerated: usize,
    /// The best pair of each placement, best first.
    pub best: Vec<Pair>,
    /// Pairs that no other beats in one figure without being beaten in another, best first.
    pub pareto: Vec<Pair>,
    /// By number of LDS instructions: pairs, those without conflict cycles, the least cycles.
    pub by_instructions: BTreeMap<i64, (usize, usize, i64)>,
    /// Whether all pairs were weighed.
    pub complete: bool,
}

/// Placements that differ in their swizzle alone, and what reads and writes of them are.
struct Group {
    reads: Side,
    writes: Vec<Writes>,
    /// Those whose accesses are equally wide, by one of their swizzles.
    widths: Vec<(Swizzle, Vec<Reads>)>,
}

/// A placement, and what reads of it cost, where that was counted.
type Reads = (usize, Option<SideCost>);

/// Copies that write one placement alike, with whatever swizzle.
struct Writes {
    side: Side,
    figures: (i64, i64),
    /// The first of them, and how many they are.
    copy: usize,
    copies: usize,
}

/// Pairs with the same number of instructions, by what they are weighed in the order of.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Batch {
    /// Whether it is of anything but plain rows, swizzled or not, with copies that touch as few
    /// cache lines as any: these go well together, are few, and are always weighed.
    far: bool,
    padded: bool,
    instructions: i64,
    figures: (i64, i64),
    group: usize,
    width: usize,
    writes: usize,
}

impl Members {
    pub fn new(graph: &Graph) -> Self {
        let texts = least_terms(graph);
        Self {
            placements: members(graph, &texts, |node| match node {
                Term::Hold(of) => graph[*of].data.placement().map(|what| (*of, what)),
                _ => None,
            }),
            copies: members(graph, &texts, |node| match node {
                Term::Carry(of) => graph[*of].data.copy().map(|what| (*of, what)),
                _ => None,
            }),
        }
    }

    /// The placements, with one copy that is given.
    pub fn with_copy(&self, copy: Copy) -> Self {
        let term = Text {
            nodes: 1,
            text: "given".into(),
        };
        let what = Rc::new(copy);
        Self {
            placements: self.placements.clone(),
            copies: vec![Member { what, term }],
        }
    }

    /// Placements that differ in their swizzle alone, by the width that it leaves them: plain rows
    /// first, which go with most tiles.
    fn groups(&self) -> Vec<Vec<(Swizzle, Vec<usize>)>> {
        let mut first: HashMap<&Layout, usize> = HashMap::new();
        let mut groups: Vec<Vec<(Swizzle, Vec<usize>)>> = Vec::new();
        for (index, member) in self.placements.iter().enumerate() {
            let fresh = groups.len();
            let group = *first.entry(&member.what.inner).or_insert(fresh);
            if group == fresh {
                groups.push(Vec::new());
            }
            let swizzle = member.what.swizzle;
            let runs = |it: Swizzle| (it.is_identity(), it.base());
            let widths = &mut groups[group];
            match widths.iter_mut().find(|it| runs(it.0) == runs(swizzle)) {
                Some((_, same)) => same.push(index),
                None => widths.push((swizzle, vec![index])),
            }
        }
        let rows = self.placements.iter().find(|it| it.term.text == "rows");
        let rows = rows.and_then(|rows| first.get(&rows.what.inner));
        if let Some(rows) = rows {
            groups[..=*rows].rotate_right(1);
        }
        groups
    }
}

impl<'a> Pairs<'a> {
    /// Weighs all pairs, or what is near and as many of the rest as there is work for, but one at
    /// least.
    pub fn new(members: &'a Members, domain: &Domain) -> Self {
        let mut pairs = Self {
            members,
            enumerated: 0,
            best: Vec::new(),
            pareto: Vec::new(),
            by_instructions: BTreeMap::new(),
            complete: true,
        };
        pairs.weigh(domain);
        pairs
    }

    fn weigh(&mut self, domain: &Domain) {
        let mut counter = Counter::new(domain);
        let mut groups: Vec<Group> = Vec::new();
        let mut batches: Vec<Batch> = Vec::new();
        // Half of the work is left for what the pairs cost.
        let work = &domain.work;
        let until = work.until();
        work.allow(work.spent().midpoint(until.max(work.spent())));
        for widths in self.members.groups() {
            if work.is_over() && !batches.is_empty() {
                self.complete = false;
                break;
            }
            if let Some(group) = self.group(domain, &mut counter, widths) {
                let number = groups.len();
                self.batches(&mut counter, &group, number, &mut batches);
                groups.push(group);
            }
        }
        work.allow(until);
        // What is near goes first, then what is widest and loads best, and what is padded last: in
        // the order of what may be best, should there not be work enough for all.
        batches.sort_unstable();
        let mut best: Vec<Option<Pair>> = vec![None; self.members.placements.len()];
        let mut front: Vec<Pair> = Vec::new();
        // By batch and placement, whether a pair has no conflicts. Those that have are weighed after
        // all those that have none, before any of which they never go.
        let mut free: Vec<Vec<bool>> = Vec::new();
        let mut least: Option<(i64, i64)> = None;
        for conflicting in [false, true] {
            'batches: for (index, batch) in batches.iter().enumerate() {
                let group = &mut groups[batch.group];
                let writes = &mut group.writes[batch.writes];
                if !conflicting {
                    free.push(Vec::new());
                }
                for (at, (placement, read)) in group.widths[batch.width].1.iter_mut().enumerate() {
                    if work.is_over() {
                        // What is left need not be weighed where it cannot be the best.
                        let it = (batch.instructions, batch.figures.0);
                        let worse = |least| conflicting || batch.padded || least < it;
                        let done = match conflicting {
                            true => self.enumerated > 0 && (batch.far || least.is_some()),
                            false => batch.far,
                        };
                        if done {
                            self.complete &= least.is_some_and(worse);
                            break 'batches;
                        }
                    }
                    let what = &self.members.placements[*placement].what;
                    if read.is_none() {
                        *read = counter.cost(&mut group.reads, what.swizzle);
                    }
                    let known = free[..].get(index).and_then(|free| free.get(at)).copied();
                    let is_free = known.unwrap_or_else(|| {
                        read.is_some_and(|read| read.cycles == 0)
                            && counter.is_free(&mut writes.side, what.swizzle)
                    });
                    if !conflicting {
                        free[index].push(is_free);
                    }
                    if is_free == conflicting {
                        continue;
                    }
                    let write = counter.cost(&mut writes.side, what.swizzle);
                    let (Some(read), Some(write)) = (*read, write) else {
                        continue;
                    };
                    let copy = writes.copy;
                    let cost = cost(domain, what, &self.members.copies[copy].what, read, write);
                    let pair = Pair {
                        class: Class::of(cost.conflict_cycles, what.padding),
                        cost,
                        placement: *placement,
                        copy,
                    };
                    if pair.class == Class::Free {
                        let figures = (cost.instructions, cost.cache_lines);
                        least = Some(least.map_or(figures, |least| least.min(figures)));
                    }
                    self.take(pair, writes.copies, &mut best, &mut front);
                }
            }
        }
        self.best = best.into_iter().flatten().collect();
        self.best.sort_unstable();
        front.sort_unstable();
        self.pareto = front;
    }

    /// Takes in a pair that stands for so many.
    fn take(
        &mut self,
        pair: Pair,
        copies: usize,
        best: &mut [Option<Pair>],
        front: &mut Vec<Pair>,
    ) {
        self.enumerated += copies;
        let cycles = pair.cost.conflict_cycles;
        let entry = self.by_instructions.entry(pair.cost.instructions);
        let (count, free, least) = entry.or_insert((0, 0, cycles));
        *count += copies;
        *free += if cycles == 0 { copies } else { 0 };
        *least = cycles.min(*least);
        offer(front, &pair);
        let best = &mut best[pair.placement];
        if best.as_ref().is_none_or(|best| pair < *best) {
            *best = Some(pair);
        }
    }

    /// What reads and writes of placements are that differ in their swizzle; none where they are
    /// not addressed by constant steps.
    fn group(
        &mut self,
        domain: &Domain,
        counter: &mut Counter<'_>,
        widths: Vec<(Swizzle, Vec<usize>)>,
    ) -> Option<Group> {
        let (_, placements) = widths.first()?;
        let inner = &self.members.placements[*placements.first()?].what.inner;
        let mut parts = Parts::default();
        let fragments = &domain.usage.fragments;
        let most = [domain.fragment, domain.widest()];
        let reads = counter.side(inner, &mut parts, fragments, Access::Read, most[0])?;
        let mut writes: Vec<Writes> = Vec::new();
        // Those that load best first, should there not be work enough for all.
        let mut copies: Vec<usize> = (0..self.members.copies.len()).collect();
        copies.sort_by_key(|copy| self.members.copies[*copy].what.cache_lines);
        for copy in copies {
            let member = &self.members.copies[copy];
            if domain.work.is_over() && !writes.is_empty() {
                self.complete = false;
                break;
            }
            let commit = &member.what.commit;
            let side = counter.side(inner, &mut parts, commit, Access::Write, most[1]);
            let Some(side) = side else { continue };
            let figures = (member.what.cache_lines, member.what.permutes);
            domain.work.spend(5 * writes.len() as u64);
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
        let uncounted = |placements: Vec<usize>| placements.into_iter().map(|it| (it, None));
        let widths = widths.into_iter();
        Some(Group {
            reads,
            writes,
            widths: widths
                .map(|(swizzle, placements)| (swizzle, uncounted(placements).collect()))
                .collect(),
        })
    }

    fn batches(
        &self,
        counter: &mut Counter<'_>,
        group: &Group,
        number: usize,
        batches: &mut Vec<Batch>,
    ) {
        let copies = self.members.copies.iter();
        let least = copies.map(|copy| copy.what.cache_lines).min();
        let least = least.unwrap_or_default();
        for (width, (swizzle, placements)) in group.widths.iter().enumerate() {
            let Some(read) = counter.instructions(&group.reads, *swizzle) else {
                continue;
            };
            for (index, writes) in group.writes.iter().enumerate() {
                let Some(write) = counter.instructions(&writes.side, *swizzle) else {
                    continue;
                };
                let padding = |(it, _): &Reads| self.members.placements[*it].what.padding;
                batches.push(Batch {
                    far: number > 0 || writes.figures.0 > least,
                    padded: placements.first().map_or(0, padding) > 0,
                    instructions: read + write,
                    figures: writes.figures,
                    group: number,
                    width,
                    writes: index,
                });
            }
        }
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
    member: impl Fn(&Term) -> Option<(Id, &'a Rc<T>)>,
) -> Vec<Member<T>> {
    let mut found: BTreeMap<Text, Rc<T>> = BTreeMap::new();
    for node in graph.classes().flat_map(|class| &class.nodes) {
        if let Some((id, what)) = member(node)
            && let Some(text) = texts.get(&graph.find(id))
        {
            found.insert(text.clone(), Rc::clone(what));
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
