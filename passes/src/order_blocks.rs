//! `order-blocks`: workgroups that run together compute neighbouring tiles.
//!
//! Tiles are handed out down groups of `group_rows` tile rows instead of along whole rows, so
//! that concurrent workgroups read overlapping panels of both operands.

use crate::{PassError, plan::Plan, rewrite};
use melior::{
    Context,
    ir::{Module, attribute::IntegerAttribute, r#type::IntegerType},
};

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let coordinates = rewrite::single(block, "tile.block")?;
    if let Some(rows) = plan.group_rows {
        let rows = IntegerAttribute::new(IntegerType::new(context, 64).into(), rows);
        rewrite::set(coordinates, "group_rows", rows.into());
    }
    Ok(())
}
