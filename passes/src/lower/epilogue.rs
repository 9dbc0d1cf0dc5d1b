//! The accumulators on their way to C.

use super::{Lowering, emit::Emit, registers::regroup};
use crate::{PassError, access::Coordinates};
use melior::ir::{Type, Value, operation::OperationRef};
use tilefold_dialect::{
    atoms::CopyAtom,
    element::ElementType,
    tile::{integers, layout, text},
};

impl<'c> Lowering<'c, '_> {
    /// `tile.store`
    pub fn store_tile(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let sums = self.registers(operation, 0)?;
        let matrix = self.matrix(operation, 1)?;
        let tile = integers::<2>(&operation, "tile")?;
        let coordinates = Coordinates::new(&layout(&operation, "layout")?, tile)?;
        let atom = CopyAtom::by_name(text(&operation, "store")?).ok_or(PassError::Form {
            wanted: "a store atom",
            found: 0,
        })?;
        let width = atom.elements(matrix.element);

        let mut base = matrix.base;
        for coordinate in [0, 1] {
            let block = self.scalar(operation, 2 + coordinate)?;
            let position = emit.mul(block, emit.constant(32, tile[coordinate]));
            base = emit.offset(base, matrix.offset_of(emit, coordinate, position));
        }
        let thread = matrix.thread_offset(emit, self.thread, &coordinates);
        let mut starts = coordinates.values.iter().step_by(width as usize);
        for sum in sums {
            let converted = self.output(emit, sum, matrix.element);
            let values = self.plan.atom.cd.len / self.plan.atom.cd.step;
            for piece in regroup(emit, &[converted], values, width, matrix.element.bits()) {
                let position = *starts.next().ok_or(PassError::Form {
                    wanted: "a place in C",
                    found: 0,
                })?;
                let (across, along) = matrix.value_offset(emit, position);
                let lane = across.map_or(thread, |across| emit.add(thread, across));
                let pointer = emit.offset_by(emit.offset(base, emit.widen(lane)), along);
                emit.store(piece, pointer, i64::from(atom.bits) / 8);
            }
        }
        Ok(())
    }

    /// One atom's sums in the element type of C, as a vector of integers.
    fn output(&self, emit: &Emit<'c>, sum: Value<'c, 'c>, element: ElementType) -> Value<'c, 'c> {
        let cd = &self.plan.atom.cd;
        let from = self.plan.atom.accumulator;
        let values = cd.len / cd.step;
        let float = |element: ElementType| -> Type<'c> {
            emit.vector_of(values, emit.r#type(&element.to_string()))
        };
        // The elements alone, without the halves that the atom leaves out.
        let bits = from.bits();
        let mut packed = emit.bitcast(sum, emit.vector(cd.len, bits));
        if cd.step > 1 {
            let positions: Vec<i32> = (0..values).map(|v| (v * cd.step) as i32).collect();
            packed = emit.shuffle(packed, packed, &positions, emit.vector(values, bits));
        }
        if from == element {
            return packed;
        }
        let number = emit.bitcast(packed, float(from));
        let name = if element.bits() > bits {
            "llvm.fpext"
        } else {
            "llvm.fptrunc"
        };
        let converted = emit.op(name, &[number], float(element), &[]);
        emit.bitcast(converted, emit.vector(values, element.bits()))
    }
}
