//! `lay-out-lds`: where the elements of a tile lie in LDS, so that lanes that are served
//! together meet different banks.

use crate::{PassError, plan::Plan, rewrite, widen_copies::widen_shared};
use melior::{Context, ir::Module};

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    for (operand, lds) in rewrite::named(block, "tile.lds").into_iter().enumerate() {
        rewrite::set_text(context, lds, "layout", &plan.lds[operand].to_string());
    }
    widen_shared(context, module, plan)
}
