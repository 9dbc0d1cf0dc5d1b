//! The multiplication with loads spread among its instructions.

use super::{Lowered, Lowering, emit::Emit, global::TileLoads};
use crate::{PassError, rewrite};
use melior::ir::{Value, operation::OperationRef};
use std::collections::HashMap;
use tilefold_dialect::tile::integer;

/// One matrix instruction of a wave's tile: K slice, and accumulator along m and n.
#[derive(Clone, Copy)]
struct Step {
    slice: i64,
    m: i64,
    n: i64,
}

impl Step {
    /// The fragments that it reads: (operand, slice, index).
    fn fragments(self) -> [(usize, i64, i64); 2] {
        [(0, self.slice, self.m), (1, self.slice, self.n)]
    }
}

impl<'c> Lowering<'c, '_> {
    /// `tile.fold`: accumulators n fastest, then m, then K slices. With each matrix instruction
    /// goes a load of the next tiles, while there are any, and the fragments that are due.
    pub fn fold(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let multiplication = self.multiplication(operation, 5)?;
        let mut sums = self.registers(operation, 8)?;
        let cadence = integer(&operation, "cadence")?.max(1) as usize;
        let ahead = integer(&operation, "ahead")?.max(0) as usize;
        let priority = integer(&operation, "priority")?;
        let loads = [
            self.fold_loads(emit, operation, 0)?,
            self.fold_loads(emit, operation, 1)?,
        ];
        let [repeat_m, repeat_n, repeat_k] = multiplication.repeat;
        let steps: Vec<Step> = (0..repeat_k)
            .flat_map(|slice| {
                (0..repeat_m)
                    .flat_map(move |m| (0..repeat_n).map(move |n| Step { slice, m, n }))
            })
            .collect();
        // Loads of the next tiles: A and B in turn, then what is left of the longer one.
        let mut queue = Vec::new();
        for index in 0..loads[0].len().max(loads[1].len()) {
            queue.extend((0..2).filter(|operand| index < loads[*operand].len()).map(|o| (o, index)));
        }
        let mut staged = [Vec::new(), Vec::new()];
        let mut queue = queue.into_iter();
        let mut fragments: HashMap<(usize, i64, i64), Value<'c, 'c>> = HashMap::new();
        let mut read = 0;
        for (at, step) in steps.iter().enumerate() {
            if at % cadence == 0
                && let Some((operand, index)) = queue.next()
            {
                staged[operand].push(loads[operand].load(emit, index));
            }
            // Everything that the steps up to `ahead` from here read. The last of what is read
            // together is used first: one wait then covers all of it.
            let until = (at + ahead + 1).min(steps.len());
            for due in steps[read.min(until)..until].iter().flat_map(|step| step.fragments()) {
                if !fragments.contains_key(&due) {
                    let (operand, slice, index) = due;
                    let value = self.fragment(emit, &multiplication, operand, slice, index)?;
                    fragments.insert(due, value);
                }
            }
            read = read.max(until);
            let [a, b] = step.fragments().map(|fragment| fragments[&fragment]);
            if priority > 0 {
                set_priority(emit, priority);
            }
            self.accumulate(emit, &mut sums, [repeat_m, step.m, step.n], a, b);
            if priority > 0 {
                set_priority(emit, 0);
            }
            hold_order(emit);
        }
        for (operand, index) in queue {
            staged[operand].push(loads[operand].load(emit, index));
        }
        let [a, b] = staged;
        self.bind(rewrite::result(operation, 0)?, Lowered::Staged(a));
        self.bind(rewrite::result(operation, 1)?, Lowered::Staged(b));
        self.bind(rewrite::result(operation, 2)?, Lowered::Accumulators(sums));
        Ok(())
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
        let names = [["a_tile", "a_copy", "a_load"], ["b_tile", "b_copy", "b_load"]][operand];
        self.tile_loads(emit, operation, &matrix, [block, step], names)
    }
}

/// Nothing moves across: left to itself, LLVM's scheduler gathers the loads again.
pub fn hold_order(emit: &Emit<'_>) {
    emit.effect("rocdl.sched.barrier", &[], &[("mask", emit.integer(32, 0))]);
}

fn set_priority(emit: &Emit<'_>, priority: i64) {
    emit.effect("rocdl.s.setprio", &[], &[("priority", emit.integer(16, priority))]);
}
