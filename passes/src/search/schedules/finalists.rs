//! Which kernels are compiled to decide.
//!
//! The model cannot order what lies within its margin, and the counts that it expects are
//! estimates: registers and waits are what the code generator makes of an order. So the kernels
//! that are compiled differ in what shows in their code.

use super::{Choices, Figures, Weighed};

/// Kernels that are compiled to decide.
pub const FINALISTS: usize = 3;
/// Registers that the code generator takes at most beyond those expected of a kernel, in the kernels
/// of `tests/suite/estimates.rs`. A kernel with so many to spare may still spill elsewhere: what
/// spills is refused when it has been compiled.
const SPARE_VGPRS: i64 = 16;
/// Runners-up kept for the record.
const RUNNERS_UP: usize = 5;

/// Of kernels in order, best first: the best; the best with another tile or other waves, which has
/// registers to spare where the best has not; the best with the first one's tile and waves and another order of work; and where there is no such, the
/// best that differ in more than the order of blocks, which does not show in a main loop. With
/// them the best of the others.
pub(super) fn choose(kernels: &[Weighed]) -> (Vec<Weighed>, Vec<Weighed>) {
    let shape = |it: &Choices| (it.block, it.waves);
    let order = |it: &Choices| {
        (
            it.slice,
            it.buffers,
            it.prefetch,
            it.ahead,
            it.lead,
            it.commit,
        )
    };
    let code = |it: &Choices| (shape(it), order(it), (it.buffers, it.cadence, it.priority));
    let mut taken: Vec<Weighed> = kernels.first().copied().into_iter().collect();
    if let Some(Weighed {
        choices: best,
        figures,
    }) = taken.first().copied()
    {
        let spares = |it: &Figures| it.spare_vgprs >= SPARE_VGPRS;
        let spare = |it: &&Weighed| spares(&figures) || spares(&it.figures);
        let mut spared = kernels.iter().filter(spare);
        let other_shape = |it: &Choices| shape(it) != shape(&best);
        let other_order = |it: &Choices| shape(it) == shape(&best) && order(it) != order(&best);
        taken.extend(spared.find(|it| other_shape(&it.choices)));
        taken.extend(kernels.iter().find(|it| other_order(&it.choices)));
    }
    for kernel in kernels {
        let known = |it: &Weighed| code(&it.choices) == code(&kernel.choices);
        if taken.len() < FINALISTS && !taken.iter().any(known) {
            taken.push(*kernel);
        }
    }
    taken.sort_by(Weighed::compare);
    let others = kernels.iter().filter(|it| !taken.contains(it));
    let runners_up = others.take(RUNNERS_UP).copied().collect();
    (taken, runners_up)
}
