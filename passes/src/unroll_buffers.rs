//! `unroll-buffers`: two steps of the loop in a row, so that every buffer is a constant.
//!
//! With two LDS tiles per operand, the buffer that a step reads changes from step to step: as a
//! variable it costs vector instructions for every address in the loop. In a pair of steps the
//! first reads buffer 0 and the second buffer 1, which the LDS instructions add as part of their
//! constant offset.

use crate::{
    PassError,
    double_buffer::MMA_ACCUMULATOR,
    plan::Plan,
    rewrite::{self, Before},
};
use melior::{
    Context,
    dialect::scf,
    ir::{
        Block, BlockLike, BlockRef, Module, Operation, Region, RegionLike, Type, Value, ValueLike,
        attribute::IntegerAttribute,
        operation::{OperationBuilder, OperationLike, OperationMutLike, OperationRef},
        r#type::IntegerType,
    },
};
use std::collections::HashMap;

/// Number of `eq` among the predicates of `arith.cmpi`.
const EQUAL: i64 = 0;

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, _plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let r#loop = rewrite::single(block, "scf.for")?;
    let last = rewrite::single(block, "tile.mma")?;
    let operand = rewrite::operand;
    let [zero, steps, one] = [
        operand(r#loop, 0)?,
        operand(r#loop, 1)?,
        operand(r#loop, 2)?,
    ];
    let step = Step::of(rewrite::body(r#loop)?)?;

    // The loop goes over pairs.
    let before = Before::new(context, block, r#loop);
    let (odd, two) = (before.arith("arith.andi", steps, one)?, before.constant(2)?);
    let pairs = before.arith("arith.subi", steps, odd)?;
    rewrite::mutable(r#loop).set_operand(1, pairs);
    rewrite::mutable(r#loop).set_operand(2, two);

    // A step left over comes after it, and then the last tiles. Branches that end with the last
    // tiles, each from a constant buffer, were tried: LLVM spills accumulators where they meet.
    let sums = rewrite::result(r#loop, 0)?;
    let [left_over, none] = [(); 2].map(|()| Region::new());
    let yields = |block: BlockRef<'c, '_>, sums| {
        append(block, scf::r#yield(&[sums], last.location()));
    };
    let region = left_over.append_block(Block::new(&[]));
    let mut copied = Copied::default();
    copied.map(step.at, pairs);
    copied.map(step.next, steps);
    copied.map(step.current, zero);
    copied.map(step.other, one);
    copied.map(step.sums, sums);
    copied.copy(&step.operations, |operation| append(region, operation))?;
    yields(region, copied.of(step.result));
    yields(none.append_block(Block::new(&[])), sums);
    let after = Before::new(context, block, last);
    let is_odd = after.insert(
        OperationBuilder::new("arith.cmpi", after.location)
            .add_operands(&[odd, one])
            .add_results(&[IntegerType::new(context, 1).into()])
            .add_attributes(&[(
                melior::ir::Identifier::new(context, "predicate"),
                IntegerAttribute::new(IntegerType::new(context, 64).into(), EQUAL).into(),
            )])
            .build()
            .expect("the result type is given, so that nothing is inferred"),
    );
    let types: [Type<'c>; 1] = [sums.r#type()];
    let total = after.insert(
        OperationBuilder::new("scf.if", after.location)
            .add_operands(&[rewrite::result(is_odd, 0)?])
            .add_results(&types)
            .add_regions([left_over, none])
            .build()
            .expect("the result type is given, so that nothing is inferred"),
    );
    // Their buffer is the parity of all steps, as it was.
    rewrite::mutable(last).set_operand(MMA_ACCUMULATOR, rewrite::result(total, 0)?);

    // The second step of a pair.
    let inside = Before::new(context, step.block, step.r#yield);
    let mut copied = Copied::default();
    let after_next = inside.arith("arith.addi", step.next, one)?;
    copied.map(step.at, step.next);
    copied.map(step.next, after_next);
    copied.map(step.current, one);
    copied.map(step.other, zero);
    copied.map(step.sums, step.result);
    copied.copy(&step.operations, |operation| inside.insert(operation))?;
    rewrite::mutable(step.r#yield).set_operand(0, copied.of(step.result));
    for operation in &step.operations {
        rewrite::mutable(*operation).replace_uses_of_with(step.current, zero);
        rewrite::mutable(*operation).replace_uses_of_with(step.other, one);
    }
    for buffer in rewrite::named(step.block, "arith.andi") {
        rewrite::erase(buffer);
    }
    Ok(())
}

/// The loop's body: a step that reads one buffer and fills the other.
struct Step<'c, 'a> {
    block: BlockRef<'c, 'a>,
    /// Number of the step, and of the next one.
    at: Value<'c, 'a>,
    next: Value<'c, 'a>,
    /// The buffer that is read, and the one that is filled.
    current: Value<'c, 'a>,
    other: Value<'c, 'a>,
    /// Accumulators before the step, and after it.
    sums: Value<'c, 'a>,
    result: Value<'c, 'a>,
    /// What it does, without the arithmetic of its numbers and the yield.
    operations: Vec<OperationRef<'c, 'a>>,
    r#yield: OperationRef<'c, 'a>,
}

impl<'c, 'a> Step<'c, 'a> {
    fn of(block: BlockRef<'c, 'a>) -> Result<Self, PassError> {
        let argument = |index| {
            let wanted = "an argument of the loop";
            block
                .argument(index)
                .map(rewrite::value)
                .map_err(|_| PassError::Form {
                    wanted,
                    found: index,
                })
        };
        let (at, sums) = (argument(0)?, argument(1)?);
        let next = rewrite::result(rewrite::single(block, "arith.addi")?, 0)?;
        let buffers = rewrite::named(block, "arith.andi");
        let buffer_of = |number: Value<'c, 'a>| {
            let of = |buffer: &&OperationRef<'c, 'a>| {
                rewrite::operand(**buffer, 0).is_ok_and(|operand| operand == number)
            };
            buffers
                .iter()
                .find(of)
                .map(|buffer| rewrite::result(*buffer, 0))
        };
        let (Some(current), Some(other)) = (buffer_of(at), buffer_of(next)) else {
            return Err(PassError::Form {
                wanted: "the buffers of a step and of the next",
                found: buffers.len(),
            });
        };
        let r#yield = rewrite::single(block, "scf.yield")?;
        let operations = rewrite::operations(block)
            .into_iter()
            .filter(|operation| rewrite::name(*operation).starts_with("tile."))
            .collect();
        Ok(Self {
            block,
            at,
            next,
            current: current?,
            other: other?,
            sums,
            result: rewrite::operand(r#yield, 0)?,
            operations,
            r#yield,
        })
    }
}

/// Copies of operations, with what stands for the values that they use.
#[derive(Default)]
struct Copied<'c, 'a>(HashMap<usize, Value<'c, 'a>>);

impl<'c: 'a, 'a> Copied<'c, 'a> {
    fn map(&mut self, from: Value<'c, '_>, to: Value<'c, '_>) {
        self.0
            .insert(from.to_raw().ptr as usize, rewrite::value(to));
    }

    /// What stands for a value: itself where nothing else does.
    fn of(&self, value: Value<'c, '_>) -> Value<'c, 'a> {
        let key = value.to_raw().ptr as usize;
        self.0
            .get(&key)
            .copied()
            .unwrap_or_else(|| rewrite::value(value))
    }

    /// Copies operations; `place` puts each where it belongs.
    fn copy(
        &mut self,
        operations: &[OperationRef<'c, '_>],
        mut place: impl FnMut(Operation<'c>) -> OperationRef<'c, 'a>,
    ) -> Result<(), PassError> {
        for operation in operations {
            let copied = place((**operation).clone());
            for index in 0..copied.operand_count() {
                let used = self.of(rewrite::operand(copied, index)?);
                rewrite::mutable(copied).set_operand(index, used);
            }
            for index in 0..copied.result_count() {
                self.map(
                    rewrite::result(*operation, index)?,
                    rewrite::result(copied, index)?,
                );
            }
        }
        Ok(())
    }
}

/// Appends an operation to a block.
fn append<'c, 'a>(block: BlockRef<'c, 'a>, operation: Operation<'c>) -> OperationRef<'c, 'a> {
    let appended = block.append_operation(operation);
    // SAFETY: the operation lives as long as its block.
    unsafe { OperationRef::from_raw(appended.to_raw()) }
}
