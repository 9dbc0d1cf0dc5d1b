//! `double-buffer`: two LDS tiles per operand, one filled while the other is multiplied.
//!
//! The first tiles are copied before the loop; each step copies the next tiles to the buffer
//! that nobody reads, so that one barrier a step is enough. The last tiles are multiplied
//! after the loop.

use crate::{
    PassError,
    plan::Plan,
    rewrite::{self, Before},
};
use melior::{
    Context,
    ir::{
        BlockLike, Module,
        attribute::IntegerAttribute,
        operation::{OperationMutLike, OperationRef},
        r#type::IntegerType,
    },
};

// Operand positions of the operations that change.
const COPY_STEP: usize = 2;
const COPY_BUFFER: usize = 4;
const MMA_BUFFER: usize = 2;
pub const MMA_ACCUMULATOR: usize = 3;

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, _plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let two = IntegerAttribute::new(IntegerType::new(context, 64).into(), 2);
    for lds in rewrite::named(block, "tile.lds") {
        rewrite::set(lds, "buffers", two.into());
    }
    let r#loop = rewrite::single(block, "scf.for")?;
    let step = rewrite::body(r#loop)?;
    let copies = rewrite::named(step, "tile.copy");
    let mma = rewrite::single(step, "tile.mma")?;
    let barriers = rewrite::named(step, "tile.barrier");
    let &[arrived, _overwrite] = &barriers[..] else {
        return Err(PassError::Form {
            wanted: "two barriers a step",
            found: barriers.len(),
        });
    };

    // Before the loop: the first tiles, as the copies of step 0 stand.
    let outside = Before::new(context, block, r#loop);
    let first = rewrite::operand(r#loop, 0)?;
    let one = rewrite::operand(r#loop, 2)?;
    for copy in &copies {
        let copied = outside.insert(clone(*copy));
        rewrite::mutable(copied).set_operand(COPY_STEP, first);
    }
    outside.insert(clone(arrived));
    let last = outside.arith("arith.subi", rewrite::operand(r#loop, 1)?, one)?;
    rewrite::mutable(r#loop).set_operand(1, last);

    // In the loop: the next tiles to the other buffer; no barrier before the multiplication.
    let head = step.first_operation().ok_or(PassError::Form {
        wanted: "a step",
        found: 0,
    })?;
    let inside = Before::new(context, step, head);
    let at = step
        .argument(0)
        .map(rewrite::value)
        .map_err(|_| PassError::Form {
            wanted: "a loop counter",
            found: 0,
        })?;
    let next = inside.arith("arith.addi", at, one)?;
    let current = inside.arith("arith.andi", at, one)?;
    let other = inside.arith("arith.andi", next, one)?;
    for copy in &copies {
        rewrite::mutable(*copy).set_operand(COPY_STEP, next);
        rewrite::mutable(*copy).set_operand(COPY_BUFFER, other);
    }
    rewrite::mutable(mma).set_operand(MMA_BUFFER, current);
    rewrite::erase(arrived);

    // After the loop: the last tiles.
    let store = rewrite::single(block, "tile.store")?;
    let after = Before::new(context, block, store);
    let buffer = after.arith("arith.andi", last, one)?;
    let final_mma = after.insert(clone(mma));
    rewrite::mutable(final_mma).set_operand(MMA_BUFFER, buffer);
    rewrite::mutable(final_mma).set_operand(MMA_ACCUMULATOR, rewrite::result(r#loop, 0)?);
    rewrite::mutable(store).set_operand(0, rewrite::result(final_mma, 0)?);
    Ok(())
}

fn clone<'c>(operation: OperationRef<'c, '_>) -> melior::ir::Operation<'c> {
    (*operation).clone()
}
