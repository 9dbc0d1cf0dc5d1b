//! What a plan was chosen over.

use super::{
    atoms, fixed, schedules,
    schedules::{Alternatives, Choices, Limits, Open, Said},
};
use crate::plan::{Plan, load_of, mma_of, plain_problem};
use tilefold_dialect::spec::{Spec, SpecError};

/// For every choice of a plan that completes `spec` the best kernel with another value, among those
/// that a search within `limits` takes: see [`schedules::alternatives`]. The plan's own figures are
/// those of its layouts, as [`super::Proposal::figures`] has them; those of the others are expected
/// of layouts that nobody has looked for. None where no rates of the chip's memory are known.
///
/// # Errors
/// A [`SpecError`] where the spec cannot be met, which has no plan either.
pub fn alternatives(
    spec: &Spec,
    plan: &Plan,
    limits: &Limits,
) -> Result<Option<Alternatives>, SpecError> {
    let problem = plain_problem(spec)?;
    let atom = mma_of(spec, plan.machine, &problem)?;
    let load = load_of(spec, atom)?;
    let open = Open {
        machine: plan.machine,
        problem: &problem,
        atoms: atoms(spec, atom),
        fixed: fixed(&spec.plan, atom),
        said: [0, 1].map(|operand| Said::of(&problem, &spec.plan, load, atom.input, operand)),
        without: &[],
    };
    let choices = Choices::of(plan);
    let mut found = schedules::alternatives(&open, &choices, limits);
    // Of the plan itself it is known how wide its accesses are and where its tiles lie.
    if let Some(found) = &mut found
        && let Ok(figures) = &mut found.figures
        && let Some(known) = schedules::weigh_plan(&open, &choices, plan)
    {
        *figures = known;
    }
    Ok(found)
}
