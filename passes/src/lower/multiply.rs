//! Fragments from LDS and the matrix instructions.

use super::{Lowered, Lowering, emit::Emit, registers::regroup};
use crate::{PassError, rewrite};
use melior::ir::{Type, Value, operation::OperationRef};
use tilefold_dialect::{
    atoms::{CopyAtom, RegisterVector},
    tile::{integers, layout, text},
};

impl<'c> Lowering<'c, '_> {
    /// `tile.zero`
    pub fn zero(&mut self, operation: OperationRef<'c, '_>) -> Result<(), PassError> {
        let repeat = integers::<2>(&operation, "repeat")?;
        let zero = self
            .entry
            .zero(register_type(&self.entry, &self.plan.atom.cd));
        let count = (repeat[0] * repeat[1]) as usize;
        self.bind(
            rewrite::result(operation, 0)?,
            Lowered::Accumulators(vec![zero; count]),
        );
        Ok(())
    }

    /// `tile.mma`: for each K slice of the tile all fragments, then all products.
    pub fn multiply(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let tiles = [self.shared(operation, 0)?, self.shared(operation, 1)?];
        let buffer = self.scalar(operation, 2)?;
        let mut sums = self.registers(operation, 3)?;
        let [repeat_m, repeat_n, repeat_k] = integers::<3>(&operation, "repeat")?;
        let layouts = [
            layout(&operation, "a_layout")?,
            layout(&operation, "b_layout")?,
        ];
        let load = CopyAtom::by_name(text(&operation, "load")?).ok_or(PassError::Form {
            wanted: "a load atom",
            found: 0,
        })?;
        let atom = self.plan.atom;
        let width = load.elements(atom.input);
        let fragment_type = register_type(emit, &atom.ab);
        for slice in 0..repeat_k {
            let mut fragments = [Vec::new(), Vec::new()];
            for (operand, repeat) in [repeat_m, repeat_n].into_iter().enumerate() {
                let values = atom.ab.len / atom.ab.step;
                for index in 0..repeat {
                    let first = (slice * repeat + index) * values;
                    let pieces = self.read(
                        emit,
                        &tiles[operand],
                        buffer,
                        &layouts[operand],
                        width,
                        first..first + values,
                    )?;
                    let whole = regroup(emit, &pieces, width, values, atom.input.bits());
                    fragments[operand].push(emit.bitcast(whole[0], fragment_type));
                }
            }
            let [a, b] = &fragments;
            for (m, a) in a.iter().enumerate() {
                for (n, b) in b.iter().enumerate() {
                    let sum = &mut sums[m + n * repeat_m as usize];
                    *sum = self.product(emit, *a, *b, *sum);
                }
            }
        }
        self.bind(rewrite::result(operation, 0)?, Lowered::Accumulators(sums));
        Ok(())
    }

    /// One matrix instruction.
    fn product(
        &self,
        emit: &Emit<'c>,
        a: Value<'c, 'c>,
        b: Value<'c, 'c>,
        sum: Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        let atom = self.plan.atom;
        let r#type = register_type(emit, &atom.cd);
        // A 16-bit accumulator names the half of its registers that it fills: the low one.
        let half = [("opsel", emit.integer(1, 0))];
        let attributes: &[_] = if atom.accumulator.bits() == 16 {
            &half
        } else {
            &[]
        };
        emit.op(atom.operation, &[a, b, sum], r#type, attributes)
    }
}

/// The type of an operand's registers.
pub fn register_type<'c>(emit: &Emit<'c>, vector: &RegisterVector) -> Type<'c> {
    emit.vector_of(vector.len, emit.r#type(vector.element))
}
