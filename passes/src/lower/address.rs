//! Offsets as code: what depends on the thread, what is the same for all threads, and constants.

use super::{emit::Emit, global::Matrix};
use crate::{
    PassError,
    access::Coordinates,
    addresses::{LD, of_lds, of_matrix, threads},
    plan::Plan,
};
use melior::ir::Value;
use tilefold_address::{
    Access, Family, Instruction, Operands, Operator, Placement, Term, Variable,
};
use tilefold_layout::{ComposedLayout, Layout};

/// Emits `layout(thread)` for a layout over threads; `None` where it is zero for every thread.
pub fn of_thread<'c>(
    emit: &Emit<'c>,
    thread: Value<'c, 'c>,
    layout: &Layout,
) -> Result<Option<Value<'c, 'c>>, PassError> {
    let term = Term::of_layout(layout, &threads(layout)?)?;
    if term == Term::constant(0) {
        return Ok(None);
    }
    Ok(Some(term.emit(|instruction| match instruction {
        Instruction::Constant(value) => emit.constant(32, value.into()),
        Instruction::Variable(_) => thread,
        Instruction::Binary(operator, left, right) => operation(emit, operator, left, right),
    })))
}

/// Byte offsets of one operand's accesses: registers, scalars, and constants that the instructions
/// add. All are computed at the top of the kernel: none depends on the step.
pub struct Placed<'c> {
    operands: Operands<Value<'c, 'c>>,
    accesses: Vec<Access>,
}

impl<'c> Placed<'c> {
    /// Places accesses of `width` consecutive values each to a tile in LDS. `layout` is the
    /// thread-value layout, `placement` the tile's layout in LDS, `bytes` the size of an element.
    pub fn in_lds(
        emit: &Emit<'c>,
        thread: Value<'c, 'c>,
        rules: &[Family],
        layout: &Layout,
        placement: &ComposedLayout,
        width: i64,
        bytes: i64,
    ) -> Result<Self, PassError> {
        let placed = of_lds(rules, layout, placement, width, bytes)?;
        Ok(Self::new(emit, &placed, |_| thread))
    }

    /// Places accesses through a descriptor to a tile of `tile` elements of a matrix, at
    /// `positions` of the tile and from where the threads of `coordinates` lie: see
    /// [`of_matrix`].
    pub fn in_matrix(
        emit: &Emit<'c>,
        thread: Value<'c, 'c>,
        plan: &Plan,
        matrix: &Matrix<'c>,
        tile: [i64; 2],
        coordinates: &Coordinates,
        positions: &[[i64; 2]],
    ) -> Result<Self, PassError> {
        let placed = of_matrix(
            &plan.address_rules,
            matrix.along,
            matrix.bytes(),
            tile,
            coordinates,
            positions,
            plan.machine.buffer_offset_bits,
        )?;
        Ok(Self::new(emit, &placed, |variable| {
            if *variable.name == *LD {
                matrix.ld
            } else {
                thread
            }
        }))
    }

    /// Emits what a placement's registers and scalars hold.
    fn new(
        emit: &Emit<'c>,
        placed: &Placement,
        variable: impl Fn(&Variable) -> Value<'c, 'c>,
    ) -> Self {
        let one = |instruction: Instruction<'_, Value<'c, 'c>>| match instruction {
            Instruction::Constant(value) => emit.constant(32, value.into()),
            Instruction::Variable(name) => variable(name),
            Instruction::Binary(operator, left, right) => operation(emit, operator, left, right),
        };
        let entry = placed.entry(one);
        Self {
            operands: placed.step(&entry, one),
            accesses: placed.accesses().to_vec(),
        }
    }

    /// Number of accesses.
    pub fn len(&self) -> usize {
        self.accesses.len()
    }

    /// Register part and constant part, in bytes, of access `index`.
    pub fn access(&self, index: usize) -> (Value<'c, 'c>, i64) {
        let access = self.accesses[index];
        (
            self.operands.registers[access.register],
            access.immediate.into(),
        )
    }

    /// Scalar part of access `index`, where it has one.
    pub fn scalar(&self, index: usize) -> Option<Value<'c, 'c>> {
        let scalar = self.accesses[index].scalar?;
        Some(self.operands.scalars[scalar])
    }
}

/// Emits an operation on offsets.
fn operation<'c>(
    emit: &Emit<'c>,
    operator: Operator,
    left: Value<'c, 'c>,
    right: Value<'c, 'c>,
) -> Value<'c, 'c> {
    match operator {
        // The rules keep values, not the absence of wrapping on the way.
        Operator::Add => emit.binary("llvm.add", left, right),
        Operator::Mul => emit.binary("llvm.mul", left, right),
        Operator::Xor => emit.binary("llvm.xor", left, right),
        Operator::And => emit.binary("llvm.and", left, right),
        Operator::Shl => emit.binary("llvm.shl", left, right),
        Operator::Lshr => emit.binary("llvm.lshr", left, right),
        Operator::Udiv => emit.binary("llvm.udiv", left, right),
        Operator::Urem => emit.binary("llvm.urem", left, right),
    }
}
