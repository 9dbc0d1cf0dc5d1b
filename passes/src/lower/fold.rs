//! The multiplication in a fixed order, with loads spread among its instructions.

use super::{Lowered, Lowering, emit::Emit, global::TileLoads, multiply::Multiplication};
use crate::{PassError, rewrite};
use melior::ir::{Value, operation::OperationRef};
use std::collections::{HashMap, HashSet};
use tilefold_dialect::tile::integer;

/// What goes between matrix instructions, and when.
pub struct Order {
    /// Matrix instructions from one load to the next.
    pub cadence: usize,
    /// What so many matrix instructions use is read during as many before them.
    pub ahead: usize,
    /// The wave's priority around a matrix instruction; 0 leaves it alone.
    pub priority: i64,
}

/// A fragment: operand, K slice, index along m or n.
pub type Fragment = (usize, i64, i64);

/// When fragments are read.
struct Reads {
    /// Before all matrix instructions.
    first: Vec<Fragment>,
    /// Just before each of them.
    before: Vec<Vec<Fragment>>,
}

/// Groups the steps by `ahead`, and spreads the reads of a group over the group before it. Of a
/// group's fragments the one that is used first is read last: LDS answers in order, so that a
/// single wait then covers the group.
fn reads(steps: &[Step], ahead: usize) -> Reads {
    let mut known = HashSet::new();
    let mut groups = steps.chunks(ahead).map(|group| {
        let used = group.iter().flat_map(|step| step.fragments());
        let mut new: Vec<_> = used.filter(|fragment| known.insert(*fragment)).collect();
        new.reverse();
        new
    });
    let first = groups.next().unwrap_or_default();
    let mut before = vec![Vec::new(); steps.len()];
    for (index, group) in groups.enumerate() {
        let count = group.len();
        for (place, fragment) in group.into_iter().enumerate() {
            before[index * ahead + place * ahead / count].push(fragment);
        }
    }
    Reads { first, before }
}

/// One matrix instruction of a wave's tile: K slice, and accumulator along m and n.
#[derive(Clone, Copy)]
struct Step {
    slice: i64,
    m: i64,
    n: i64,
}

impl Step {
    /// The fragments that it reads: (operand, slice, index).
    fn fragments(self) -> [Fragment; 2] {
        [(0, self.slice, self.m), (1, self.slice, self.n)]
    }
}

impl<'c> Lowering<'c, '_> {
    /// `tile.fold`
    pub fn fold(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let multiplication = self.multiplication(operation, 5)?;
        let mut sums = self.registers(operation, 8)?;
        let order = Order {
            cadence: integer(&operation, "cadence")?.max(1) as usize,
            ahead: integer(&operation, "ahead")?.max(0) as usize,
            priority: integer(&operation, "priority")?,
        };
        let loads = [
            self.fold_loads(emit, operation, 0)?,
            self.fold_loads(emit, operation, 1)?,
        ];
        let [a, b] = self.in_order(emit, &multiplication, &mut sums, &loads, &order)?;
        self.bind(rewrite::result(operation, 0)?, Lowered::Staged(a));
        self.bind(rewrite::result(operation, 1)?, Lowered::Staged(b));
        self.bind(rewrite::result(operation, 2)?, Lowered::Accumulators(sums));
        Ok(())
    }

    /// Accumulators n fastest, then m, then K slices. With each matrix instruction goes a load
    /// of the next tiles, A's and B's in turn, while there are any, and the fragments that are
    /// due. Returns what was loaded for each operand.
    pub fn in_order(
        &mut self,
        emit: &Emit<'c>,
        multiplication: &Multiplication<'c>,
        sums: &mut [Value<'c, 'c>],
        loads: &[TileLoads<'c>],
        order: &Order,
    ) -> Result<[Vec<Value<'c, 'c>>; 2], PassError> {
        let [repeat_m, repeat_n, repeat_k] = multiplication.repeat;
        let row = |slice, m| (0..repeat_n).map(move |n| Step { slice, m, n });
        let steps: Vec<Step> = (0..repeat_k)
            .flat_map(|slice| (0..repeat_m).flat_map(move |m| row(slice, m)))
            .collect();
        let longest = loads.iter().map(TileLoads::len).max().unwrap_or(0);
        let mut queue = (0..longest)
            .flat_map(|index| (0..loads.len()).map(move |operand| (operand, index)))
            .filter(|(operand, index)| *index < loads[*operand].len());
        let mut staged = [Vec::new(), Vec::new()];
        let mut fragments: HashMap<Fragment, Value<'c, 'c>> = HashMap::new();
        let mut due = reads(&steps, order.ahead.max(1));
        for fragment in due.first {
            fragments.insert(fragment, self.fragment(emit, multiplication, fragment)?);
        }
        for (at, step) in steps.iter().enumerate() {
            if at % order.cadence == 0
                && let Some((operand, index)) = queue.next()
            {
                staged[operand].push(loads[operand].load(emit, index));
            }
            for fragment in std::mem::take(&mut due.before[at]) {
                fragments.insert(fragment, self.fragment(emit, multiplication, fragment)?);
            }
            hold_order(emit);
            let read = step.fragments().map(|fragment| fragments[&fragment]);
            let [a, b] = multiplication.ordered(read);
            if order.priority > 0 {
                set_priority(emit, order.priority);
            }
            self.accumulate(emit, sums, [repeat_m, step.m, step.n], a, b);
            if order.priority > 0 {
                set_priority(emit, 0);
            }
            hold_order(emit);
        }
        for (operand, index) in queue {
            staged[operand].push(loads[operand].load(emit, index));
        }
        Ok(staged)
    }

    /// The loads of operand 0 (A) or 1 (B) of a fold.
    fn fold_loads(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
        operand: usize,
    ) -> Result<TileLoads<'c>, PassError> {
        let matrix = self.matrix(operation, 2 * operand)?;
        let block = self.scalar(operation, 2 * operand + 1)?;
        let step = self.scalar(operation, 4)?;
        let names = [
            ["a_tile", "a_copy", "a_load"],
            ["b_tile", "b_copy", "b_load"],
        ][operand];
        self.tile_loads(emit, operation, &matrix, [block, step], names)
    }
}

/// Nothing moves across: left to itself, LLVM's scheduler gathers the loads again.
pub fn hold_order(emit: &Emit<'_>) {
    emit.effect("rocdl.sched.barrier", &[], &[("mask", emit.integer(32, 0))]);
}

fn set_priority(emit: &Emit<'_>, priority: i64) {
    emit.effect(
        "rocdl.s.setprio",
        &[],
        &[("priority", emit.integer(16, priority))],
    );
}
