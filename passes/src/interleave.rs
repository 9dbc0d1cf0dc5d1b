//! `interleave`: the loads of the next tiles are spread among the matrix instructions.
//!
//! Issued in one burst, they leave the memory system idle for most of the multiplication; one
//! with every few matrix instructions, their latency and their issue hide behind arithmetic.
//! Fragments are read a little ahead of their use, for the same reason.

use crate::{
    PassError,
    plan::Plan,
    rewrite::{self, Before},
};
use melior::{
    Context,
    ir::{
        Module,
        operation::{OperationLike, OperationMutLike, OperationRef},
    },
};
use tilefold_dialect::tile::TileBuilder;

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let step = rewrite::body(rewrite::single(block, "scf.for")?)?;
    let mma = rewrite::single(step, "tile.mma")?;
    let loads = rewrite::named(step, "tile.load");
    let &[load_a, load_b] = &loads[..] else {
        return Err(PassError::Form {
            wanted: "two staged loads",
            found: loads.len(),
        });
    };
    let tile = TileBuilder::new(context, mma.location());
    let operand = rewrite::operand;
    let taken = |operation: OperationRef<'c, '_>, name: &str| {
        let wanted = "an attribute";
        operation
            .attribute(name)
            .map_err(|_| PassError::Form { wanted, found: 0 })
    };
    let schedule = &plan.schedule;
    let attributes = [
        ("a_tile", taken(load_a, "tile")?),
        ("b_tile", taken(load_b, "tile")?),
        ("a_copy", taken(load_a, "layout")?),
        ("b_copy", taken(load_b, "layout")?),
        ("a_load", taken(load_a, "load")?),
        ("b_load", taken(load_b, "load")?),
        ("atom", taken(mma, "atom")?),
        ("repeat", taken(mma, "repeat")?),
        ("a_layout", taken(mma, "a_layout")?),
        ("b_layout", taken(mma, "b_layout")?),
        ("a_read", taken(mma, "a_read")?),
        ("b_read", taken(mma, "b_read")?),
        ("first", taken(mma, "first")?),
        ("cadence", tile.int(schedule.cadence)),
        ("ahead", tile.int(schedule.ahead)),
        ("lead", tile.text(schedule.lead.name())),
        ("priority", tile.int(i64::from(schedule.priority))),
        ("tail", tile.int(0)),
    ];
    let fold = Before::new(context, step, mma).insert(tile.fold(
        [
            operand(load_a, 0)?,
            operand(load_a, 1)?,
            operand(load_b, 0)?,
            operand(load_b, 1)?,
            operand(load_a, 2)?,
            operand(mma, 0)?,
            operand(mma, 1)?,
            operand(mma, 2)?,
            operand(mma, 3)?,
        ],
        &attributes,
    ));
    // The last tiles, after the loop, keep the same order.
    for last in rewrite::named(block, "tile.mma") {
        rewrite::set(last, "ahead", tile.int(schedule.ahead));
        rewrite::set(last, "lead", tile.text(schedule.lead.name()));
        rewrite::set(last, "priority", tile.int(i64::from(schedule.priority)));
    }
    // What used the loads and the multiplication uses the fold.
    for (index, replaced) in [load_a, load_b, mma].into_iter().enumerate() {
        let (old, new) = (rewrite::result(replaced, 0)?, rewrite::result(fold, index)?);
        for user in rewrite::operations(step) {
            rewrite::mutable(user).replace_uses_of_with(old, new);
        }
        rewrite::erase(replaced);
    }
    Ok(())
}
