//! Offsets as code: what depends on the thread, what is the same for all threads, and constants.

use super::{emit::Emit, global::Matrix};
use crate::{
    PassError,
    access::{Coordinates, in_lds},
};
use melior::ir::Value;
use tilefold_address::{
    Access, Family, Instruction, Kind, Limits, Operands, Operator, ScalarOperand, Space, Term,
    Variable, place,
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

/// The thread's number in a layout over threads.
fn threads(layout: &Layout) -> Result<Term, PassError> {
    Ok(Term::variable(Variable::thread(word(layout.size())?)))
}

/// A number of an offset.
fn word(value: i64) -> Result<u32, PassError> {
    let wanted = "an offset of 32 bits";
    u32::try_from(value).map_err(|_| PassError::Form { wanted, found: 0 })
}

/// Byte offsets of one operand's accesses: registers, scalars, and constants that the instructions
/// add. All are computed at the top of the kernel: none depends on the step.
///
/// Offsets are terms of `tilefold-address`, which finds the fewest registers: where a constant
/// meets no bit that a register ever has, xor is addition, and addition of a constant is the
/// instruction's own.
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
        let [threads, values] = in_lds(placement, layout)?;
        let base = Term::of_layout(&threads, &self::threads(&threads)?)?;
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
        Self::new(emit, &offsets, &Space::lds(), rules, |_| thread)
    }

    /// Places accesses through a descriptor to a tile of `tile` elements of a matrix, at
    /// `positions` of the tile and from where the threads of `coordinates` lie. What lies across
    /// lines goes to the scalar operand, as far as it is the same for all threads. The immediate
    /// of such instructions has `immediate_bits` bits.
    pub fn in_matrix(
        emit: &Emit<'c>,
        thread: Value<'c, 'c>,
        rules: &[Family],
        matrix: &Matrix<'c>,
        tile: [i64; 2],
        coordinates: &Coordinates,
        positions: &[[i64; 2]],
        immediate_bits: u32,
    ) -> Result<Self, PassError> {
        let bytes = matrix.bytes();
        // What the kernel's conditions on leading dimensions leave: a tile spans less than 2 GiB.
        let most = i64::from(i32::MAX) / (tile[0].max(tile[1]) * bytes);
        let ld = Variable::new(LD, Kind::Uniform, 1, word(most)?);
        let ld = Term::variable(ld);
        let (across, along) = (1 - matrix.along, matrix.along);
        let part = |coordinate: usize| -> Result<Term, PassError> {
            let layout = &coordinates.threads[coordinate];
            Ok(Term::of_layout(layout, &threads(layout)?)?)
        };
        let thread_part = part(across)? * ld.clone() + part(along)?;
        let offsets = positions
            .iter()
            .map(|position| {
                let mut offset = thread_part.clone() + word(position[along])?;
                if position[across] != 0 {
                    offset = offset + ld.clone() * word(position[across])?;
                }
                Ok(offset * word(bytes)?)
            })
            .collect::<Result<Vec<Term>, PassError>>()?;
        let space = Space::buffer(immediate_bits, ScalarOperand::Uniform);
        Self::new(emit, &offsets, &space, rules, |variable| {
            if *variable.name == *LD {
                matrix.ld
            } else {
                thread
            }
        })
    }

    fn new(
        emit: &Emit<'c>,
        offsets: &[Term],
        space: &Space,
        rules: &[Family],
        variable: impl Fn(&Variable) -> Value<'c, 'c>,
    ) -> Result<Self, PassError> {
        let limits = Limits {
            families: rules.to_vec(),
            evaluated: false,
            ..Limits::default()
        };
        let mut placed = place(offsets, space, &limits)?;
        if placed.registers().len() > placed.minimum() && rules == Family::ALL {
            // What the rules miss, trying all threads may find.
            let evaluated = place(offsets, space, &Limits::default())?;
            if evaluated.registers().len() < placed.registers().len() {
                placed = evaluated;
            }
        }
        let one = |instruction: Instruction<'_, Value<'c, 'c>>| match instruction {
            Instruction::Constant(value) => emit.constant(32, value.into()),
            Instruction::Variable(name) => variable(name),
            Instruction::Binary(operator, left, right) => operation(emit, operator, left, right),
        };
        let entry = placed.entry(one);
        Ok(Self {
            operands: placed.step(&entry, one),
            accesses: placed.accesses().to_vec(),
        })
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

/// The leading dimension's name in terms.
const LD: &str = "ld";

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
