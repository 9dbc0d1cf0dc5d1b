//! Which kernels are compiled to decide.
//!
//! The model cannot order what lies within its margin, and the counts that it expects are
//! estimates: registers and waits are what the code generator makes of an order. So the kernels
//! that are compiled differ in what shows in their code.

use super::{Choices, Weighed};

/// Kernels that are compiled to decide.
pub const FINALISTS: usize = 3;
/// Registers that a kernel has to spare where the code generator makes do with what is expected,
/// and where it takes as many beyond that as in the kernels of `tests/suite/estimates.rs`. What
/// spills for all that is refused when it has been compiled.
const SPARE_VGPRS: [i64; 2] = [6, 16];
/// Runners-up kept for the record.
const RUNNERS_UP: usize = 5;

/// Of kernels in order, best first: the best, which takes what registers there are; the best with a
/// few to spare, and the best with so many that it does not spill; where these are fewer, the best
/// with another tile or other waves, and the best with the first one's tile and another order of
/// work; then the best that differ in more than the order of blocks, which does not show in a main
/// loop. With them the best of the others.
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
    for spare in SPARE_VGPRS {
        let spares = |it: &&Weighed| it.figures.spare_vgprs >= spare;
        if !taken.iter().any(|it| spares(&it)) {
            taken.extend(kernels.iter().find(spares));
        }
    }
    if let Some(Weighed { choices: best, .. }) = taken.first().copied() {
        let other_shape = |it: &Choices| shape(it) != shape(&best);
        let other_order = |it: &Choices| shape(it) == shape(&best) && order(it) != order(&best);
        let safe = |it: &&Weighed| it.figures.spare_vgprs >= SPARE_VGPRS[1];
        if taken.len() < FINALISTS && !taken.iter().any(|it| other_shape(&it.choices)) {
            let mut safe = kernels.iter().filter(safe);
            taken.extend(safe.find(|it| other_shape(&it.choices)));
        }
        if taken.len() < FINALISTS && !taken.iter().any(|it| other_order(&it.choices)) {
            taken.extend(kernels.iter().find(|it| other_order(&it.choices)));
        }
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
