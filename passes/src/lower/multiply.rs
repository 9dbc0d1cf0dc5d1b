//! Fragments from LDS and the matrix instructions.

use super::{
    Lowered, Lowering,
    emit::Emit,
    fold::{Order, Reader, lead},
    pairs::Window,
    registers::regroup,
    shared::Shared,
};
use crate::{PassError, order::Fragment, rewrite};
use melior::ir::{Type, Value, operation::OperationRef};
use std::rc::Rc;
use tilefold_dialect::{
    atoms::{CopyAtom, RegisterVector},
    tile::{integer, integers, layout, text},
};
use tilefold_layout::Layout;

/// What `tile.mma` and `tile.fold` multiply.
pub struct Multiplication<'c> {
    tiles: [Rc<Shared<'c>>; 2],
    buffer: Value<'c, 'c>,
    layouts: [Layout; 2],
    /// Elements of one LDS load of A and of B.
    widths: [i64; 2],
    /// Atoms of a wave along m, n and k.
    pub repeat: [i64; 3],
    /// Instructions of an atom along k.
    pub parts: i64,
    /// Whether the atom takes B first.
    b_first: bool,
}

impl<'c> Multiplication<'c> {
    /// Elements of one LDS load of operand 0 (A) or 1 (B).
    pub fn read_elements(&self, operand: usize) -> i64 {
        self.widths[operand]
    }

    /// A fragment of A and one of B in the order in which the atom takes them.
    pub fn ordered(&self, [a, b]: [Value<'c, 'c>; 2]) -> [Value<'c, 'c>; 2] {
        if self.b_first { [b, a] } else { [a, b] }
    }
}

impl<'c> Lowering<'c, '_> {
    /// `tile.zero`
    pub fn zero(&mut self, operation: OperationRef<'c, '_>) -> Result<(), PassError> {
        let repeat = integers::<2>(&operation, "repeat")?;
        let zero = self
            .entry
            .zero(register_type(&self.entry, &self.plan.atom.cd));
        let count = self.accumulators(repeat[0]) * repeat[1];
        let zeros = vec![zero; count as usize];
        self.bind(rewrite::result(operation, 0)?, Lowered::Accumulators(zeros));
        Ok(())
    }

    /// `tile.mma`: for each K slice of the tile all fragments, then all products.
    pub fn multiply(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let multiplication = self.multiplication(operation, 0)?;
        let mut sums = self.registers(operation, 3)?;
        if let Ok(ahead) = usize::try_from(integer(&operation, "ahead")?) {
            let priority = integer(&operation, "priority")?;
            let order = Order {
                cadence: 1,
                ahead,
                lead: lead(&operation)?,
                priority,
            };
            let mut reader = Reader::new(&multiplication, order);
            let all = 0..reader.len();
            self.in_order(emit, &multiplication, &mut sums, &[], &mut reader, all)?;
            self.bind(rewrite::result(operation, 0)?, Lowered::Accumulators(sums));
            return Ok(());
        }
        let [repeat_m, repeat_n, repeat_k] = multiplication.repeat;
        self.window = Some(Window::default());
        for slice in 0..repeat_k {
            let mut fragments = [Vec::new(), Vec::new()];
            for (operand, repeat) in [repeat_m, repeat_n].into_iter().enumerate() {
                for index in 0..repeat {
                    let fragment = self.fragment(emit, &multiplication, (operand, slice, index))?;
                    fragments[operand].push(fragment);
                }
            }
            for part in 0..multiplication.parts {
                for m in 0..repeat_m {
                    for n in 0..repeat_n {
                        let read = [fragments[0][m as usize], fragments[1][n as usize]];
                        let read = read.map(|fragment| self.part(emit, fragment, part));
                        let [a, b] = multiplication.ordered(read);
                        self.accumulate(emit, &mut sums, [repeat_m, m, n], a, b);
                    }
                }
            }
        }
        self.window = None;
        self.bind(rewrite::result(operation, 0)?, Lowered::Accumulators(sums));
        Ok(())
    }

    /// What an operation multiplies, its LDS tiles and buffer being operands from `first` on.
    pub fn multiplication(
        &self,
        operation: OperationRef<'c, '_>,
        first: usize,
    ) -> Result<Multiplication<'c>, PassError> {
        let width = |name: &str| -> Result<i64, PassError> {
            let load = CopyAtom::by_name(text(&operation, name)?);
            let load = load.ok_or(PassError::Form {
                wanted: "a load atom",
                found: 0,
            })?;
            Ok(load.elements(self.plan.atom.input))
        };
        Ok(Multiplication {
            tiles: [
                self.shared(operation, first)?,
                self.shared(operation, first + 1)?,
            ],
            buffer: self.scalar(operation, first + 2)?,
            layouts: [
                layout(&operation, "a_layout")?,
                layout(&operation, "b_layout")?,
            ],
            widths: [width("a_read")?, width("b_read")?],
            repeat: integers::<3>(&operation, "repeat")?,
            parts: self.plan.atom.instructions,
            b_first: text(&operation, "first")? == "b",
        })
    }

    /// Fragment `index` of operand 0 (A) or 1 (B) in a K slice.
    pub fn fragment(
        &mut self,
        emit: &Emit<'c>,
        multiplication: &Multiplication<'c>,
        (operand, slice, index): Fragment,
    ) -> Result<Value<'c, 'c>, PassError> {
        let Multiplication {
            tiles,
            buffer,
            layouts,
            widths,
            repeat,
            ..
        } = multiplication;
        let width = widths[operand];
        let atom = self.plan.atom;
        let values = atom.input_values();
        let first = (slice * repeat[operand] + index) * values;
        let range = first..first + values;
        let pieces = self.read(
            emit,
            &tiles[operand],
            *buffer,
            &layouts[operand],
            width,
            range,
        )?;
        let whole = regroup(emit, &pieces, width, values, atom.input.bits());
        let RegisterVector { len, element, step } = atom.ab;
        let held = RegisterVector {
            len: len * atom.instructions,
            element,
            step,
        };
        Ok(emit.bitcast(whole[0], register_type(emit, &held)))
    }

    /// What instruction `part` of an atom takes of a fragment.
    pub fn part(&self, emit: &Emit<'c>, fragment: Value<'c, 'c>, part: i64) -> Value<'c, 'c> {
        let atom = self.plan.atom;
        if atom.instructions == 1 {
            return fragment;
        }
        let len = atom.ab.len;
        let positions: Vec<i32> = (part * len..(part + 1) * len)
            .map(|position| position as i32)
            .collect();
        emit.shuffle(
            fragment,
            fragment,
            &positions,
            register_type(emit, &atom.ab),
        )
    }

    /// Vectors that hold the accumulators of `repeat_m` atoms along M.
    ///
    /// Where an atom fills one half of each register, neighbours along M share them.
    pub fn accumulators(&self, repeat_m: i64) -> i64 {
        if self.plan.packed() {
            (repeat_m + 1) / 2
        } else {
            repeat_m
        }
    }

    /// Adds the product of two fragments to accumulator (m, n); `at` is (repeat along m, m, n).
    pub fn accumulate(
        &self,
        emit: &Emit<'c>,
        sums: &mut [Value<'c, 'c>],
        at: [i64; 3],
        a: Value<'c, 'c>,
        b: Value<'c, 'c>,
    ) {
        let [repeat_m, m, n] = at;
        let atom = self.plan.atom;
        let (place, half) = if self.plan.packed() {
            (m / 2, m % 2)
        } else {
            (m, 0)
        };
        let sum = &mut sums[(place + n * self.accumulators(repeat_m)) as usize];
        let r#type = register_type(emit, &atom.cd);
        *sum = if self.plan.packed() {
            // The other half of each register passes through.
            let name = format!("{}.tied", atom.operation.replace("rocdl.", "llvm.amdgcn."));
            let operands = [a, b, *sum, emit.constant(1, half)];
            emit.op(
                "llvm.call_intrinsic",
                &operands,
                r#type,
                &[
                    ("intrin", emit.text(&name)),
                    ("op_bundle_sizes", emit.attribute("array<i32>")),
                    ("operandSegmentSizes", emit.attribute("array<i32: 4, 0>")),
                ],
            )
        } else {
            // A 16-bit accumulator names the half of its registers that it fills: the low one.
            let low = [("opsel", emit.integer(1, 0))];
            let attributes: &[_] = if atom.accumulator.bits() == 16 {
                &low
            } else {
                &[]
            };
            emit.op(atom.operation, &[a, b, *sum], r#type, attributes)
        };
    }
}

/// The type of an operand's registers.
pub fn register_type<'c>(emit: &Emit<'c>, vector: &RegisterVector) -> Type<'c> {
    emit.vector_of(vector.len, emit.r#type(vector.element))
}
