//! `bound-loads`: tiles may overlap the edges of A and B, and nothing is read past them.
//!
//! Where the plan has buffer loads they go through descriptors: the hardware knows how far the
//! operand reaches and returns zero beyond it. Global loads are not checked by anybody, so that
//! lanes past the last row (or column) read the last one instead; what they read is multiplied
//! into rows or columns of C that nobody stores.

use crate::{PassError, plan::Plan, rewrite};
use melior::{Context, ir::Module};
use tilefold_dialect::{atoms::Space, tile::text};

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let buffer = plan.load_space == Space::Buffer;
    for view in rewrite::named(block, "tile.view") {
        if text(&view, "operand")? != "c" {
            let space = if buffer { "buffer" } else { "clamped" };
            rewrite::set_text(context, view, "space", space);
        }
    }
    if !buffer {
        return Ok(());
    }
    for kind in ["tile.copy", "tile.load"] {
        for operation in rewrite::everywhere(block, kind)? {
            let load = text(&operation, "load")?.replacen("global_", "buffer_", 1);
            rewrite::set_text(context, operation, "load", &load);
        }
    }
    Ok(())
}
