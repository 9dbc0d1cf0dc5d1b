//! The multiplication in a fixed order, with loads spread among its instructions.

use super::{
    Lowered, Lowering, Staged, emit::Emit, global::TileLoads, multiply::Multiplication,
    pairs::Window,
};
use crate::{PassError, rewrite};
use melior::ir::{Value, operation::OperationRef};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    rc::Rc,
};
use tilefold_dialect::{
    plan::Lead,
    tile::{integer, layout, text},
};

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

/// One matrix instruction of a wave's tile: K slice, part of it where an atom has several
/// instructions, and accumulator along m and n.
#[derive(Clone, Copy)]
struct Step {
    slice: i64,
    part: i64,
    m: i64,
    n: i64,
}

impl Step {
    /// The fragments that it reads: (operand, slice, index).
    fn fragments(self) -> [Fragment; 2] {
        [(0, self.slice, self.m), (1, self.slice, self.n)]
    }
}

/// The matrix instructions of a tile in their order, and the fragments that have been read.
pub struct Reader<'c> {
    order: Order,
    steps: Vec<Step>,
    due: Reads,
    fragments: HashMap<Fragment, Value<'c, 'c>>,
}

impl<'c> Reader<'c> {
    /// K slice after K slice, and in each the fragments of the operand that leads one by one,
    /// every one against all of the other operand's: the first instructions of those atoms, then
    /// the second ones, so that none adds to what the one before it has just begun to add to.
    pub fn new(multiplication: &Multiplication<'c>, order: Order) -> Self {
        let [repeat_m, repeat_n, repeat_k] = multiplication.repeat;
        let parts = multiplication.parts;
        let (outer, inner) = match order.lead {
            0 => (repeat_m, repeat_n),
            _ => (repeat_n, repeat_m),
        };
        let lead = order.lead;
        let step = move |slice, part, outer, inner| match lead {
            0 => Step {
                slice,
                part,
                m: outer,
                n: inner,
            },
            _ => Step {
                slice,
                part,
                m: inner,
                n: outer,
            },
        };
        let line = move |slice, part, at| (0..inner).map(move |other| step(slice, part, at, other));
        let lines = move |slice, at| (0..parts).flat_map(move |part| line(slice, part, at));
        let steps: Vec<Step> = (0..repeat_k)
            .flat_map(|slice| (0..outer).flat_map(move |at| lines(slice, at)))
            .collect();
        Self {
            due: reads(&steps, order.ahead.max(1)),
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
        let longest = loads.iter().map(TileLoads::len).max().unwrap_or(0);
        let mut queue = (0..longest)
            .flat_map(|index| (0..loads.len()).map(move |turn| (turn ^ lead, index)))
            .filter(|(operand, index)| *index < loads[*operand].len());
        let mut staged = [Vec::new(), Vec::new()];
        self.window = Some(Window::default());
        for fragment in std::mem::take(&mut reader.due.first) {
            let value = self.fragment(emit, multiplication, fragment)?;
            reader.fragments.insert(fragment, value);
        }
        for at in range {
            if at % reader.order.cadence == 0
                && let Some((operand, index)) = queue.next()
            {
                staged[operand].push(loads[operand].load(emit, index));
            }
            for fragment in std::mem::take(&mut reader.due.before[at]) {
                let value = self.fragment(emit, multiplication, fragment)?;
                reader.fragments.insert(fragment, value);
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
