//! `bound-stores`: blocks may overlap the edges of C, and nothing is stored past them.
//!
//! Stores go through a buffer descriptor that ends with the block's last line inside C, so that
//! lines past it are dropped by the hardware. What lies past the end of a line is in the
//! descriptor's range, being padding or the next line: a block that overlaps the end of the
//! lines stores only the accesses that lie inside, and the rest of a line element by element.

use crate::{PassError, plan::Plan, rewrite, widen_copies::widest};
use melior::{Context, ir::Module};
use tilefold_dialect::{
    atoms::{Direction, Space},
    tile::text,
};

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    for view in rewrite::named(block, "tile.view") {
        if text(&view, "operand")? == "c" {
            rewrite::set_text(context, view, "space", "buffer");
        }
    }
    for operation in rewrite::named(block, "tile.store") {
        let store = text(&operation, "store")?.replacen("global_", "buffer_", 1);
        let element = widest(Space::Buffer, Direction::Store, plan.problem.c.element, 1)?;
        rewrite::set_text(context, operation, "store", &store);
        rewrite::set_text(context, operation, "edge", element.name);
    }
    Ok(())
}
