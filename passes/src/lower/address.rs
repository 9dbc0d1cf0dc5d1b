//! Offsets as code: a part that depends on the thread alone, computed once, and constants.

use super::emit::Emit;
use crate::{PassError, access::in_lds};
use melior::ir::Value;
use tilefold_address::{Instruction, Limits, Operator, Space, Term, Variable, place};
use tilefold_layout::{ComposedLayout, Layout};

/// Emits `layout(thread)` for a layout over threads: the sum over its modes of
/// ((thread / d) mod extent) * stride, d the product of the extents before.
///
/// Returns `None` where the layout is zero for every thread.
pub fn of_thread<'c>(
    emit: &Emit<'c>,
    thread: Value<'c, 'c>,
    layout: &Layout,
) -> Option<Value<'c, 'c>> {
    let modes = layout.coalesce().flat_modes();
    let mut divisor = 1;
    let mut sum: Option<Value<'c, 'c>> = None;
    for (position, (extent, stride)) in modes.iter().copied().enumerate() {
        let (own, is_last) = (divisor, position + 1 == modes.len());
        divisor *= extent;
        if stride == 0 || extent == 1 {
            continue;
        }
        let mut coordinate = thread;
        if own > 1 {
            coordinate = emit.binary("llvm.udiv", coordinate, emit.constant(32, own));
        }
        if !is_last {
            coordinate = emit.binary("llvm.urem", coordinate, emit.constant(32, extent));
        }
        let term = if stride == 1 {
            coordinate
        } else {
            emit.mul(coordinate, emit.constant(32, stride))
        };
        sum = Some(match sum {
            Some(sum) => emit.add(sum, term),
            None => term,
        });
    }
    sum
}

/// Byte offsets of one operand's accesses to its tile in LDS: registers, computed at the top of
/// the kernel, and constants that the instructions add.
///
/// Offsets are terms of `tilefold-address`, which finds the fewest registers: where a constant
/// meets no bit that a register ever has, xor is addition, and addition of a constant is the
/// instruction's own.
pub struct SharedAddress<'c> {
    registers: Vec<Value<'c, 'c>>,
    /// Register and constant of each access.
    accesses: Vec<(usize, i64)>,
}

impl<'c> SharedAddress<'c> {
    /// Prepares the accesses of `width` consecutive values each. `layout` is the thread-value
    /// layout, `placement` the tile's layout in LDS, `bytes` the size of an element.
    pub fn new(
        emit: &Emit<'c>,
        thread: Value<'c, 'c>,
        layout: &Layout,
        placement: &ComposedLayout,
        width: i64,
        bytes: i64,
    ) -> Result<Self, PassError> {
        let [threads, values] = in_lds(placement, layout)?;
        let word = |value: i64| {
            let wanted = "an offset of 32 bits";
            u32::try_from(value).map_err(|_| PassError::Form { wanted, found: 0 })
        };
        let index = Term::variable(Variable::thread(word(threads.size())?));
        let base = Term::of_layout(&threads, &index)?;
        let bytes = word(bytes)?;
        let offsets = values
            .offsets()
            .step_by(width as usize)
            .map(|value| {
                let inner = base.clone() + word(placement.offset() + value)?;
                let swizzled = match placement.swizzle() {
                    Some(swizzle) if !swizzle.is_identity() => inner.swizzled(swizzle),
                    _ => inner,
                };
                Ok(swizzled * bytes)
            })
            .collect::<Result<Vec<Term>, PassError>>()?;
        let placed = place(&offsets, &Space::lds(), &Limits::default())?;
        let one = |instruction: Instruction<'_, Value<'c, 'c>>| match instruction {
            Instruction::Constant(value) => emit.constant(32, value.into()),
            Instruction::Variable(_) => thread,
            Instruction::Binary(operator, left, right) => operation(emit, operator, left, right),
        };
        let entry = placed.entry(one);
        // Nothing depends on the step: all is computed here.
        let registers = placed.step(&entry, one).registers;
        let accesses = placed
            .accesses()
            .iter()
            .map(|access| (access.register, i64::from(access.immediate)))
            .collect();
        Ok(Self {
            registers,
            accesses,
        })
    }

    /// Register part and constant part, in bytes, of access `index`.
    pub fn access(&self, index: usize) -> (Value<'c, 'c>, i64) {
        let (register, constant) = self.accesses[index];
        (self.registers[register], constant)
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
