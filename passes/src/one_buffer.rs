//! `one-buffer`: staged commits overwrite the tile that was just read.
//!
//! Half the LDS, hence more workgroups side by side, for a second barrier a step: every wave
//! must be done reading before any wave commits.

use crate::{
    PassError,
    plan::Plan,
    rewrite::{self, Before},
};
use melior::{
    Context,
    ir::{
        Module,
        attribute::IntegerAttribute,
        operation::{OperationLike, OperationMutLike},
        r#type::IntegerType,
    },
};
use tilefold_dialect::tile::TileBuilder;

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, _plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let one = IntegerAttribute::new(IntegerType::new(context, 64).into(), 1);
    for lds in rewrite::named(block, "tile.lds") {
        rewrite::set(lds, "buffers", one.into());
    }
    let r#loop = rewrite::single(block, "scf.for")?;
    let first = rewrite::operand(r#loop, 0)?;
    for (kind, buffer) in [("tile.copy", 4), ("tile.commit", 2), ("tile.mma", 2)] {
        for operation in rewrite::everywhere(block, kind)? {
            rewrite::mutable(operation).set_operand(buffer, first);
        }
    }
    let step = rewrite::body(r#loop)?;
    let commits = rewrite::named(step, "tile.commit");
    let first_commit = *commits.first().ok_or(PassError::Form {
        wanted: "a staged commit",
        found: 0,
    })?;
    let tile = TileBuilder::new(context, first_commit.location());
    Before::new(context, step, first_commit).insert(tile.barrier());
    Ok(())
}
