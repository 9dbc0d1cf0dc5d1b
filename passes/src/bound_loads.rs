//! `bound-loads`: global loads of A and B go through buffer descriptors.
//!
//! The hardware knows how far the operand reaches and returns zero beyond it, so that a tile
//! may overlap the edge of the matrix.

use crate::{PassError, plan::Plan, rewrite};
use melior::{Context, ir::Module};
use tilefold_dialect::tile::text;

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, _plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    for view in rewrite::named(block, "tile.view") {
        if text(&view, "operand")? != "c" {
            rewrite::set_text(context, view, "space", "buffer");
        }
    }
    for kind in ["tile.copy", "tile.load"] {
        for operation in rewrite::everywhere(block, kind)? {
            let load = text(&operation, "load")?.replacen("global_", "buffer_", 1);
            rewrite::set_text(context, operation, "load", &load);
        }
    }
    Ok(())
}
