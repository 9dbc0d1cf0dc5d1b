//! Search among equals, with e-graphs.
//!
//! [`plans`] completes a spec whose tile is open: [`schedules`] finds tile, waves and schedule,
//! [`layouts`] the placement of both tiles in LDS and the copies that fill them. A spec that
//! names its tile is completed by [`Plan::complete`] with its documented defaults.

pub mod layouts;
pub mod schedules;

use crate::{
    plan::{Plan, memory_order, mma_of, plain_problem},
    tiling::MmaLayouts,
};
use layouts::{LayoutSearch, TileUse};
use schedules::{Kind, Open, ScheduleSearch, Step};
use std::collections::BTreeMap;
use tilefold_dialect::{
    plan::{LdsLayout, Prefetch},
    spec::{Spec, SpecError},
};
use tilefold_layout::Layout;

/// A plan that the search proposes, and why.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The completed plan.
    pub plan: Plan,
    /// Rules from the smallest kernel to its tile, waves and schedule.
    pub chain: Vec<Step>,
    /// What the model expects of it.
    pub figures: Option<schedules::Figures>,
    /// The searches for the tiles of A and B in LDS, where the spec left them open.
    pub layouts: [Option<LayoutSearch>; 2],
}

/// What the search proposes for a spec.
#[derive(Clone, Debug, Default)]
pub struct Proposals {
    /// At most three plans, to be decided by the code that they compile to; one where the spec
    /// names its tile.
    pub plans: Vec<Proposal>,
    /// The search over schedules, where there was one.
    pub schedules: Option<ScheduleSearch>,
}

impl Proposals {
    /// A plan that no search has found: where there was nothing to search, or where nothing that
    /// the rules reach can be built, which the defaults can.
    fn only(plan: Plan) -> Self {
        let only = Proposal {
            plan,
            chain: Vec::new(),
            figures: None,
            layouts: [None, None],
        };
        Self {
            plans: vec![only],
            schedules: None,
        }
    }
}

/// Completes a spec: by search where its tile is open, else by defaults.
///
/// # Errors
/// A [`SpecError`] that points at the field that cannot be met.
pub fn plans(spec: &Spec) -> Result<Proposals, SpecError> {
    plans_without(spec, &[])
}

/// As [`plans`], with rule families left out: for measuring what each is worth. The families are
/// those of [`schedules::rules`], and `layouts`.
///
/// # Errors
/// As [`plans`].
pub fn plans_without(spec: &Spec, without: &[&str]) -> Result<Proposals, SpecError> {
    let partial = &spec.plan;
    if partial.tile.block.is_some() {
        return Ok(Proposals::only(Plan::complete(spec)?));
    }
    // Whatever is wrong with the rest of the spec is said first.
    let default = Plan::complete(spec)?;
    let problem = plain_problem(spec)?;
    let atom = mma_of(spec, default.machine, &problem)?;
    let mut fixed = BTreeMap::new();
    let mut fix = |kind, value: Option<i64>| value.map(|value| fixed.insert(kind, value));
    // A layout of waves says how many there are.
    let layout = partial.mma.waves.as_ref();
    let waves = |axis: usize| {
        let named = partial.tile.waves.map(|waves| waves[axis]);
        named.or_else(|| Some(layout?.mode(axis).ok()?.size()))
    };
    fix(Kind::WavesM, waves(0));
    fix(Kind::WavesN, waves(1));
    fix(Kind::Buffers, partial.lds.buffers);
    // These say how interleaved loads go, and so that they are.
    let said = &partial.schedule;
    let interleaved =
        (said.ahead.is_some() || said.cadence.is_some() || said.priority == Some(true))
            .then_some(Prefetch::Interleaved);
    fix(
        Kind::Prefetch,
        said.prefetch
            .or(interleaved)
            .map(|prefetch| match prefetch {
                Prefetch::None => 0,
                Prefetch::Burst => 1,
                Prefetch::Interleaved => 2,
            }),
    );
    fix(Kind::Ahead, partial.schedule.ahead);
    fix(Kind::Group, partial.schedule.group_rows);
    let open = Open {
        machine: default.machine,
        problem: &problem,
        atom,
        fixed,
        without,
    };
    let Some(found) = schedules::search(&open) else {
        return Ok(Proposals::only(default));
    };
    let mut plans = Vec::new();
    for finalist in &found.finalists {
        let chosen = |kind: Kind| finalist.choices.get(&kind).copied().unwrap_or(kind.least());
        let mut filled = spec.clone();
        let block = [chosen(Kind::M), chosen(Kind::N), chosen(Kind::K)];
        let waves = [chosen(Kind::WavesM), chosen(Kind::WavesN)];
        filled.plan.tile.block = Some(block);
        filled.plan.tile.waves = Some(waves);
        filled.plan.lds.buffers = Some(chosen(Kind::Buffers));
        filled.plan.schedule.prefetch = Some(match chosen(Kind::Prefetch) {
            0 => Prefetch::None,
            1 => Prefetch::Burst,
            _ => Prefetch::Interleaved,
        });
        if filled.plan.schedule.prefetch == Some(Prefetch::Interleaved) {
            filled.plan.schedule.ahead = Some(chosen(Kind::Ahead));
        }
        filled.plan.schedule.group_rows = Some(chosen(Kind::Group));
        let mut layouts = [None, None];
        if !without.contains(&"layouts") {
            let wave_layout = match &partial.mma.waves {
                Some(layout) => Ok(layout.clone()),
                None => Layout::row_major(&waves),
            };
            let spread = wave_layout.and_then(|layout| MmaLayouts::new(atom, block, &layout));
            let Ok(mma) = spread else {
                continue;
            };
            for (operand, fragments) in [&mma.a, &mma.b].into_iter().enumerate() {
                layouts[operand] = place(
                    &mut filled,
                    operand,
                    fragments,
                    [block[operand], block[2]],
                    &default,
                );
            }
        } else {
            // What the search over layouts starts from.
            filled.plan.lds.a.get_or_insert(LdsLayout::None);
            filled.plan.lds.b.get_or_insert(LdsLayout::None);
        }
        let Ok(plan) = Plan::complete(&filled) else {
            // Something else that the spec says, such as padding, does not go with it.
            continue;
        };
        let chain = schedules::explain(&open, &finalist.choices);
        plans.push(Proposal {
            plan,
            chain,
            figures: Some(finalist.figures),
            layouts,
        });
    }
    if plans.is_empty() {
        return Ok(Proposals::only(default));
    }
    Ok(Proposals {
        plans,
        schedules: Some(found),
    })
}

/// Finds where one operand's tile lies, and writes it into the spec; not where the spec says.
fn place(
    spec: &mut Spec,
    operand: usize,
    fragments: &Layout,
    tile: [i64; 2],
    default: &Plan,
) -> Option<LayoutSearch> {
    let [waves_m, waves_n] = spec.plan.tile.waves?;
    let lds = &mut spec.plan.lds;
    let copies = &mut spec.plan.copy;
    let (choice, copy) = [(&mut lds.a, &mut copies.a), (&mut lds.b, &mut copies.b)]
        .into_iter()
        .nth(operand)?;
    if choice.is_some() || copy.threads.is_some() || copy.values.is_some() {
        return None;
    }
    let atom = default.atom;
    let found = layouts::search(&TileUse {
        machine: default.machine,
        tile,
        element: atom.input,
        threads: waves_m * waves_n * atom.wave,
        along: usize::from(memory_order(&default.problem, operand) == "row"),
        load_elements: default.load_elements[operand],
        fragments: fragments.clone(),
        max_bytes: i64::from(default.machine.lds.per_workgroup),
        reorder: false,
    })
    .ok()?;
    *choice = Some(LdsLayout::Expr(found.best.lds.clone()));
    copy.threads = Some(found.best.threads.clone());
    copy.values = Some(found.best.values.clone());
    Some(found)
}
