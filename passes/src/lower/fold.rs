//! The multiplication in a fixed order, with loads spread among its instructions.

use super::{
    Lowered, Lowering, Staged, emit::Emit, global::TileLoads, multiply::Multiplication,
    pairs::Window,
};
use crate::{
    PassError,
    order::{self, Fragment, Reads, Step, reads, steps},
    rewrite,
};
use melior::ir::{Value, operation::OperationRef};
use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    rc::Rc,
};
use tilefold_dialect::{
    plan::Lead,
    tile::{integer, layout, text},
};

/// Bits of the widest access.
const WIDEST_BITS: i64 = 128;

/// What goes between matrix instructions, and when.
pub struct Order {
    /// Matrix instructions from one load to the next.
    pub cadence: usize,
    /// What so many matrix instructions use is read during as many before them.
    pub ahead: usize,
    /// The operand, 0 or 1, that is loaded first and of which a fragment is kept.
    pub lead: usize,
    /// The wave's priority around a matrix instruction; 0 leaves it alone.
    pub priority: i64,
}

/// The matrix instructions of a tile in their order, and the fragments that have been read.
pub struct Reader<'c> {
    order: Order,
    steps: Vec<Step>,
    due: VecDeque<(usize, Fragment)>,
    /// So many of those due go before everything else.
    first: usize,
    fragments: HashMap<Fragment, Value<'c, 'c>>,
}

impl<'c> Reader<'c> {
    /// The order of a multiplication.
    pub fn new(multiplication: &Multiplication<'c>, order: Order) -> Self {
        let steps = steps(multiplication.repeat, multiplication.parts, order.lead);
        let Reads { first, due } = reads(&steps, order.ahead);
        Self {
            due: due.into(),
            first,
            order,
            steps,
            fragments: HashMap::new(),
        }
    }

    /// Matrix instructions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }
}

/// A fold that has left its last matrix instructions, those from `done` on.
pub struct Unfinished<'c> {
    multiplication: Multiplication<'c>,
    sums: Vec<Value<'c, 'c>>,
    reader: Reader<'c>,
    done: usize,
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
            lead: lead(&operation)?,
            priority: integer(&operation, "priority")?,
        };
        let loads = [
            self.fold_loads(emit, operation, 0)?,
            self.fold_loads(emit, operation, 1)?,
        ];
        let mut reader = Reader::new(&multiplication, order);
        let tail = integer(&operation, "tail")?.max(0) as usize;
        let done = reader.len().saturating_sub(tail);
        let loaded = self.in_order(
            emit,
            &multiplication,
            &mut sums,
            &loads,
            &mut reader,
            0..done,
        )?;
        for (index, pieces) in loaded.into_iter().enumerate() {
            let layout = layout(&operation, ["a_copy", "b_copy"][index])?;
            let staged = Lowered::Staged(Rc::new(Staged { pieces, layout }));
            self.bind(rewrite::result(operation, index)?, staged);
        }
        let sums = match tail {
            0 => Lowered::Accumulators(sums),
            _ => Lowered::Unfinished(Rc::new(Unfinished {
                multiplication,
                sums,
                reader,
                done,
            })),
        };
        self.bind(rewrite::result(operation, 2)?, sums);
        Ok(())
    }

    /// `tile.rest`: what its fold has left. All fragments have been read.
    pub fn rest(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let Lowered::Unfinished(unfinished) = self.lowered(rewrite::operand(operation, 0)?)? else {
            return Err(PassError::Form {
                wanted: "a fold with matrix instructions left",
                found: 0,
            });
        };
        let Unfinished {
            multiplication,
            sums,
            reader,
            done,
        } = &*unfinished;
        let mut sums = sums.clone();
        for step in &reader.steps[*done..] {
            let read = step.fragments().map(|fragment| reader.fragments[&fragment]);
            self.product(
                emit,
                multiplication,
                &mut sums,
                *step,
                read,
                reader.order.priority,
            );
        }
        self.bind(rewrite::result(operation, 0)?, Lowered::Accumulators(sums));
        Ok(())
    }

    /// The matrix instructions `range` of a reader. With each goes a load of the next tiles, of
    /// one operand and the other in turn, while there are any, and the fragments that are due.
    /// Returns what was loaded for each operand.
    pub fn in_order(
        &mut self,
        emit: &Emit<'c>,
        multiplication: &Multiplication<'c>,
        sums: &mut [Value<'c, 'c>],
        loads: &[TileLoads<'c>],
        reader: &mut Reader<'c>,
        range: Range<usize>,
    ) -> Result<[Vec<Value<'c, 'c>>; 2], PassError> {
        let lead = reader.order.lead;
        let counts = [0, 1].map(|operand| loads.get(operand).map_or(0, TileLoads::len));
        let mut queue = order::loads(counts, lead);
        let mut staged = [Vec::new(), Vec::new()];
        self.window = Some(Window::default());
        for _ in 0..std::mem::take(&mut reader.first) {
            self.read_ahead(emit, multiplication, reader)?;
        }
        for at in range {
            if at % reader.order.cadence == 0
                && let Some((operand, index)) = queue.next()
            {
                staged[operand].push(loads[operand].load(emit, index));
            }
            while reader.due.front().is_some_and(|(before, _)| *before == at) {
                self.read_ahead(emit, multiplication, reader)?;
            }
            let step = reader.steps[at];
            let read = step.fragments().map(|fragment| reader.fragments[&fragment]);
            self.product(
                emit,
                multiplication,
                sums,
                step,
                read,
                reader.order.priority,
            );
        }
        self.window = None;
        for (operand, index) in queue {
            staged[operand].push(loads[operand].load(emit, index));
        }
        Ok(staged)
    }

    /// Reads the next fragment. Reads as wide as there are keep their order, which LLVM's scheduler would
    /// turn about, and wait in the middle of them; narrower ones it joins.
    fn read_ahead(
        &mut self,
        emit: &Emit<'c>,
        multiplication: &Multiplication<'c>,
        reader: &mut Reader<'c>,
    ) -> Result<(), PassError> {
        let Some((_, fragment)) = reader.due.pop_front() else {
            return Ok(());
        };
        let value = self.fragment(emit, multiplication, fragment)?;
        reader.fragments.insert(fragment, value);
        let bits = multiplication.read_elements(fragment.0) * i64::from(self.plan.input().bits());
        if bits == WIDEST_BITS {
            hold_order(emit);
        }
        Ok(())
    }

    /// One matrix instruction, which nothing passes.
    fn product(
        &mut self,
        emit: &Emit<'c>,
        multiplication: &Multiplication<'c>,
        sums: &mut [Value<'c, 'c>],
        step: Step,
        read: [Value<'c, 'c>; 2],
        priority: i64,
    ) {
        hold_order(emit);
        let read = read.map(|fragment| self.part(emit, fragment, step.part));
        let [a, b] = multiplication.ordered(read);
        if priority > 0 {
            set_priority(emit, priority);
        }
        let repeat_m = multiplication.repeat[0];
        self.accumulate(emit, sums, [repeat_m, step.m, step.n], a, b);
        if priority > 0 {
            set_priority(emit, 0);
        }
        hold_order(emit);
        if let Some(window) = &mut self.window {
            window.clear();
        }
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

/// The operand, 0 or 1, that leads a multiplication.
pub fn lead(operation: &OperationRef<'_, '_>) -> Result<usize, PassError> {
    Ok(usize::from(text(operation, "lead")? == Lead::B.name()))
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
