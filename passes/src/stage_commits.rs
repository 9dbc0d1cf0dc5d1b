//! `stage-commits`: tiles wait in registers while the current ones are multiplied.
//!
//! A copy in the loop becomes a load where it stood and a commit to LDS after the
//! multiplication, so that waiting for global memory moves behind the matrix work.

use crate::{
    PassError,
    plan::Plan,
    rewrite::{self, Before},
};
use melior::{
    Context,
    ir::{Module, operation::OperationLike},
};
use tilefold_dialect::tile::{TileBuilder, integers, text};

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, _plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let r#loop = rewrite::single(block, "scf.for")?;
    let step = rewrite::body(r#loop)?;
    let barrier = rewrite::single(step, "tile.barrier")?;
    let commits = Before::new(context, step, barrier);
    for copy in rewrite::named(step, "tile.copy") {
        let tile = TileBuilder::new(context, copy.location());
        let operand = |index| rewrite::operand(copy, index);
        let (layout, stores) = (text(&copy, "layout")?, text(&copy, "stores")?);
        let staged = Before::new(context, step, copy).value(tile.load(
            operand(0)?,
            operand(1)?,
            operand(2)?,
            integers::<2>(&copy, "tile")?,
            layout,
            text(&copy, "load")?,
        ))?;
        commits.insert(tile.commit(
            staged,
            operand(3)?,
            operand(4)?,
            stores,
            text(&copy, "store")?,
        ));
        rewrite::erase(copy);
    }
    Ok(())
}
