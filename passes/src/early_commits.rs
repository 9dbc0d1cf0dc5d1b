//! `early-commits`: the next tiles go to LDS while the last matrix instructions are still to come.
//!
//! Once the last fragments of the present tiles are in registers, LDS may take the next ones. The
//! matrix instructions that use those fragments then run while the stores are under way, at the
//! price of waiting for global memory that much earlier.

use crate::{
    PassError,
    plan::Plan,
    rewrite::{self, Before},
};
use melior::{
    Context,
    ir::{
        Module,
        operation::{OperationLike, OperationMutLike},
    },
};
use tilefold_dialect::tile::{TileBuilder, integer, integers};

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let step = rewrite::body(rewrite::single(block, "scf.for")?)?;
    let tile = TileBuilder::new(context, module.as_operation().location());
    for fold in rewrite::named(step, "tile.fold") {
        let sum = rewrite::result(fold, 2)?;
        let [m, n, k] = integers::<3>(&fold, "repeat")?;
        let tail = last_group(m * n * k * plan.atom.instructions, integer(&fold, "ahead")?);
        // Behind the commits of what the fold loads.
        let staged = [rewrite::result(fold, 0)?, rewrite::result(fold, 1)?];
        let operations = rewrite::operations(step);
        let last = operations.iter().rposition(|operation| {
            rewrite::name(*operation) == "tile.commit"
                && rewrite::operand(*operation, 0).is_ok_and(|tile| staged.contains(&tile))
        });
        let behind = last.and_then(|last| operations.get(last + 1));
        let behind = *behind.ok_or(PassError::Form {
            wanted: "staged commits",
            found: 0,
        })?;
        let rest = Before::new(context, step, behind).value(tile.rest(sum))?;
        for user in operations {
            rewrite::mutable(user).replace_uses_of_with(sum, rest);
        }
        rewrite::set(fold, "tail", tile.int(tail));
    }
    Ok(())
}

/// Matrix instructions of the last group of `ahead` among `count`.
pub fn last_group(count: i64, ahead: i64) -> i64 {
    match count.checked_rem(ahead.max(1)) {
        Some(0) | None => ahead.clamp(1, count.max(1)),
        Some(rest) => rest,
    }
}
