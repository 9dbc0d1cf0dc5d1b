//! Several terms as one program: each node once, each at its stage.

use crate::{
    facts::{Depends, Facts},
    node::Node,
    space::Costs,
    term::{Kind, Term, Variable},
    word::{Operator, Word},
};
use egg::{Id, Language};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What is to be emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instruction<'a, V> {
    /// A constant.
    Constant(u32),
    /// The value of a variable.
    Variable(&'a Variable),
    /// An operation on values that were emitted before.
    Binary(Operator, V, V),
}

/// What a placement uses, counted over the whole group; what terms share is counted once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Vector registers held over the loop.
    pub registers: usize,
    /// Vector operations in the loop.
    pub loop_vector: usize,
    /// Scalar operations in the loop.
    pub loop_scalar: usize,
    /// Vector operations before the loop.
    pub entry_vector: usize,
    /// Scalar operations before the loop.
    pub entry_scalar: usize,
    /// All of it, weighted; see [`Costs`].
    pub total: u64,
}

/// Nodes, operands before their users, and the places of the terms among them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    nodes: Vec<Node>,
    depends: Vec<Depends>,
    roots: Vec<usize>,
}

impl Program {
    pub fn new<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Self {
        let (mut nodes, mut roots) = (Vec::new(), Vec::new());
        let mut known: HashMap<Node, Id> = HashMap::new();
        for term in terms {
            let mut places: Vec<Id> = Vec::with_capacity(term.nodes().len());
            for node in term.nodes() {
                let node = node
                    .clone()
                    .map_children(|child| places[usize::from(child)]);
                let place = *known.entry(node).or_insert_with_key(|node| {
                    nodes.push(node.clone());
                    Id::from(nodes.len() - 1)
                });
                places.push(place);
            }
            roots.push(usize::from(places[places.len() - 1]));
        }
        let mut facts: Vec<Facts> = Vec::with_capacity(nodes.len());
        for node in &nodes {
            facts.push(Facts::of(
                node,
                |operand| facts[usize::from(operand)],
                Word::MACHINE,
            ));
        }
        let depends = facts.into_iter().map(|facts| facts.depends).collect();
        Self {
            nodes,
            depends,
            roots,
        }
    }

    fn in_loop(&self, node: usize) -> bool {
        self.depends[node].has(Kind::Step)
    }

    /// Emits what the loop need not, in order; the values of all those nodes.
    pub fn entry<V: Clone>(
        &self,
        emit: &mut impl FnMut(Instruction<'_, V>) -> V,
    ) -> Vec<Option<V>> {
        self.emit(vec![None; self.nodes.len()], false, emit)
    }

    /// Emits the rest; the values of the terms.
    pub fn step<V: Clone>(
        &self,
        entry: &[Option<V>],
        emit: &mut impl FnMut(Instruction<'_, V>) -> V,
    ) -> Vec<V> {
        let values = self.emit(entry.to_vec(), true, emit);
        let value = |root: &usize| values[*root].clone().expect("both stages emit all nodes");
        self.roots.iter().map(value).collect()
    }

    fn emit<V: Clone>(
        &self,
        mut values: Vec<Option<V>>,
        in_loop: bool,
        emit: &mut impl FnMut(Instruction<'_, V>) -> V,
    ) -> Vec<Option<V>> {
        for (place, node) in self.nodes.iter().enumerate() {
            if self.in_loop(place) != in_loop {
                continue;
            }
            let operand = |id: &Id| {
                let value = values[usize::from(*id)].clone();
                value.expect("operands come first, and no later stage than their users")
            };
            let instruction = match node {
                Node::Constant(value) => Instruction::Constant(*value),
                Node::Variable(variable) => Instruction::Variable(variable),
                Node::Binary(operator, [left, right]) => {
                    Instruction::Binary(*operator, operand(left), operand(right))
                }
            };
            values[place] = Some(emit(instruction));
        }
        values
    }

    /// Values of the terms under each of many assignments, exact as long as they are less than
    /// 2^64: term by term, one value for each assignment.
    pub fn evaluate(&self, assignments: &Assignments, wraps: bool) -> Vec<Vec<u64>> {
        /// Assignments at a time: what is between is not kept.
        const CHUNK: usize = 1024;
        let mut values: Vec<Vec<u64>> = vec![Vec::new(); self.roots.len()];
        for chunk in assignments.values.chunks(CHUNK) {
            let columns = self.columns(chunk, &assignments.variables, wraps);
            for (values, root) in values.iter_mut().zip(&self.roots) {
                values.extend(&columns[*root]);
            }
        }
        values
    }

    /// Values of all nodes.
    fn columns(&self, chunk: &[Vec<u32>], variables: &[Variable], wraps: bool) -> Vec<Vec<u64>> {
        let mut columns: Vec<Vec<u64>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            columns.push(match node {
                Node::Constant(value) => vec![u64::from(*value); chunk.len()],
                Node::Variable(variable) => {
                    let place = variables.iter().position(|other| other == variable);
                    let place = place.expect("assignments give all variables a value");
                    let value = |values: &Vec<u32>| u64::from(values[place]);
                    chunk.iter().map(value).collect()
                }
                Node::Binary(operator, [left, right]) => {
                    let [left, right] = [left, right].map(|id| &columns[usize::from(*id)]);
                    let apply = |(left, right): (&u64, &u64)| match wraps {
                        true => {
                            let [left, right] = [*left as u32, *right as u32];
                            Word::MACHINE.apply(*operator, left, right).into()
                        }
                        false => exact(*operator, *left, *right),
                    };
                    left.iter().zip(right).map(apply).collect()
                }
            });
        }
        columns
    }

    /// What the first `registers` of the terms, in vector registers, and the rest use.
    pub fn cost(&self, registers: usize, costs: &Costs) -> Cost {
        let mut cost = Cost::default();
        let mut held = vec![false; self.nodes.len()];
        for root in &self.roots[..registers.min(self.roots.len())] {
            held[*root] |= !self.in_loop(*root);
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let Node::Binary(operator, operands) = node else {
                continue;
            };
            let depends = self.depends[place];
            let thread = depends.has(Kind::Thread);
            *match (self.in_loop(place), thread) {
                (true, true) => &mut cost.loop_vector,
                (true, false) => &mut cost.loop_scalar,
                (false, true) => &mut cost.entry_vector,
                (false, false) => &mut cost.entry_scalar,
            } += 1;
            cost.total = cost
                .total
                .saturating_add(costs.operation(*operator, depends));
            // What the loop's vector operations read of what was computed before it.
            for operand in operands.map(usize::from) {
                let vector = self.depends[operand].has(Kind::Thread);
                held[operand] |= self.in_loop(place) && vector && !self.in_loop(operand);
            }
        }
        cost.registers = held.iter().filter(|held| **held).count();
        let registers = u64::from(costs.register) * cost.registers as u64;
        cost.total = cost.total.saturating_add(registers);
        cost
    }
}

/// The operator on exact integers, saturating.
fn exact(operator: Operator, left: u64, right: u64) -> u64 {
    match operator {
        Operator::Add => left.saturating_add(right),
        Operator::Mul => left.saturating_mul(right),
        Operator::Xor => left ^ right,
        Operator::And => left & right,
        Operator::Shl if right < 32 => left.saturating_mul(1 << right),
        Operator::Lshr if right < 32 => left >> right,
        Operator::Shl | Operator::Lshr => 0,
        Operator::Udiv => left.checked_div(right).unwrap_or(0),
        Operator::Urem => left.checked_rem(right).unwrap_or(0),
    }
}

/// Values of variables to verify with: every value of those that differ between threads, together
/// with every value of the others where these are few, else with their least, their largest and
/// some between.
pub struct Assignments {
    pub variables: Vec<Variable>,
    /// Values of all variables; those that differ in threads alone are adjacent.
    pub values: Vec<Vec<u32>>,
    /// Number of assignments that differ in threads alone.
    pub threads: usize,
    /// Whether these are all there are.
    pub complete: bool,
}

impl Assignments {
    /// The number of values of uniform variables up to which all are tried.
    const FEW: u64 = 16;
    /// Values between least and largest that are tried where there are more.
    const BETWEEN: usize = 2;

    /// None where there are more than `limit` combinations of thread variables: their number.
    pub fn new(mut variables: Vec<Variable>, limit: usize) -> Result<Self, u64> {
        variables.sort();
        variables.dedup();
        let count = |variable: &Variable| u64::from(variable.max - variable.min) + 1;
        let is_thread = |variable: &&Variable| variable.kind == Kind::Thread;
        let product = |thread: bool| {
            let those = variables.iter().filter(|it| is_thread(it) == thread);
            those.map(count).fold(1, u64::saturating_mul)
        };
        let (threads, others) = (product(true), product(false));
        if threads > limit as u64 {
            return Err(threads);
        }
        // The `index`-th combination of those variables that `thread` tells.
        let combination = |values: &mut Vec<u32>, thread: bool, mut index: u64| {
            for (value, variable) in values.iter_mut().zip(&variables) {
                if is_thread(&variable) == thread {
                    *value = variable.min + (index % count(variable)) as u32;
                    index /= count(variable);
                }
            }
        };
        let mut state = 1u32;
        let mut between = |variable: &Variable| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            variable.min + ((u64::from(state) * count(variable)) >> 32) as u32
        };
        let mut uniform: Vec<Vec<u32>> = Vec::new();
        if others <= Self::FEW {
            for index in 0..others {
                let mut values = vec![0; variables.len()];
                combination(&mut values, false, index);
                uniform.push(values);
            }
        } else {
            uniform.push(variables.iter().map(|variable| variable.min).collect());
            uniform.push(variables.iter().map(|variable| variable.max).collect());
            for _ in 0..Self::BETWEEN {
                uniform.push(variables.iter().map(&mut between).collect());
            }
        }
        let mut values = Vec::new();
        for uniform in uniform {
            for index in 0..threads {
                let mut all = uniform.clone();
                combination(&mut all, true, index);
                values.push(all);
            }
        }
        let threads = threads as usize;
        Ok(Self {
            variables,
            values,
            threads,
            complete: others <= Self::FEW,
        })
    }

    /// An assignment in words.
    pub fn text(&self, index: usize) -> String {
        let each = self.variables.iter().zip(&self.values[index]);
        let each: Vec<String> = each
            .map(|(variable, value)| format!("{} = {value}", variable.name))
            .collect();
        each.join(", ")
    }
}
