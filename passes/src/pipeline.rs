//! The named passes, in order.

use crate::{
    PassError, bound_loads, bound_stores, describe::describe, double_buffer, early_commits,
    interleave, lay_out_lds, one_buffer, order_blocks, partition, plan::Plan, stage_commits,
    unroll_buffers, widen_copies, widen_epilogue,
};
use melior::{
    Context,
    ir::{Module, operation::OperationLike},
};
use tilefold_dialect::plan::{Commit, Prefetch};

type Run = for<'c> fn(&'c Context, &Module<'c>, &Plan) -> Result<(), PassError>;

/// One rewrite of the tile module.
pub struct Pass {
    /// The name that `--emit` takes.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    applies: fn(&Plan) -> bool,
    run: Run,
}

impl Pass {
    /// Whether a plan calls for it.
    pub fn applies(&self, plan: &Plan) -> bool {
        (self.applies)(plan)
    }
}

/// Every pass over the tile dialect, in the order in which they run.
pub static PASSES: [Pass; 13] = [
    Pass {
        name: "partition",
        summary: "spread the problem over workgroups, waves and atoms, with a loop over K tiles",
        applies: |_| true,
        run: partition::run,
    },
    Pass {
        name: "widen-copies",
        summary: "move as many bits at once as the layouts allow",
        applies: |_| true,
        run: widen_copies::run,
    },
    Pass {
        name: "widen-epilogue",
        summary: "bring neighbours of a line of C together in a lane",
        applies: |_| true,
        run: widen_epilogue::run,
    },
    Pass {
        name: "double-buffer",
        summary: "fill one LDS tile while the other is multiplied",
        applies: |plan| plan.buffers == 2 || plan.prefetch != Prefetch::None,
        run: double_buffer::run,
    },
    Pass {
        name: "stage-commits",
        summary: "keep the next tile in registers until the current one is multiplied",
        applies: |plan| plan.prefetch != Prefetch::None,
        run: stage_commits::run,
    },
    Pass {
        name: "one-buffer",
        summary: "commit over the tile just read, behind a second barrier",
        applies: |plan| plan.buffers == 1 && plan.prefetch != Prefetch::None,
        run: one_buffer::run,
    },
    Pass {
        name: "lay-out-lds",
        summary: "pad or permute the tiles in LDS against bank conflicts",
        applies: |plan| plan.lds_laid_out,
        run: lay_out_lds::run,
    },
    Pass {
        name: "bound-loads",
        summary: "read nothing past the edges of A and B, so that blocks may overlap them",
        applies: |_| true,
        run: bound_loads::run,
    },
    Pass {
        name: "bound-stores",
        summary: "store nothing past the edges of C, so that blocks may overlap them",
        applies: |_| true,
        run: bound_stores::run,
    },
    Pass {
        name: "interleave",
        summary: "spread the loads of the next tiles among the matrix instructions",
        applies: |plan| plan.prefetch == Prefetch::Interleaved,
        run: interleave::run,
    },
    Pass {
        name: "early-commits",
        summary: "fill LDS while the last matrix instructions are still to come",
        applies: |plan| {
            plan.prefetch == Prefetch::Interleaved && plan.schedule.commit == Commit::Reads
        },
        run: early_commits::run,
    },
    Pass {
        name: "order-blocks",
        summary: "hand out tiles of C in groups of rows",
        applies: |plan| plan.group_rows.is_some_and(|rows| rows > 1),
        run: order_blocks::run,
    },
    Pass {
        name: "unroll-buffers",
        summary: "take two steps at a time, so that which buffer is a constant",
        applies: |plan| plan.buffers == 2,
        run: unroll_buffers::run,
    },
];

/// The tile module of a plan after all its passes. `observe` sees the module after each, by
/// the pass's name, and before the first as `tile`.
///
/// # Errors
/// A [`PassError`] where a pass meets what it cannot rewrite.
pub fn tile_module<'c>(
    context: &'c Context,
    plan: &Plan,
    mut observe: impl FnMut(&'static str, &Module<'c>),
) -> Result<Module<'c>, PassError> {
    let module = describe(context, plan);
    observe("tile", &module);
    for pass in PASSES.iter().filter(|pass| pass.applies(plan)) {
        (pass.run)(context, &module, plan)?;
        if !module.as_operation().verify() {
            return Err(PassError::Verify { pass: pass.name });
        }
        observe(pass.name, &module);
    }
    Ok(module)
}
