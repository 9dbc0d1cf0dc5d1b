//! Search among equals, with e-graphs.
//!
//! [`plans`] completes a spec that leaves anything of its plan open: [`schedules`] finds tile,
//! waves and schedule, [`layouts`] the placement of both tiles in LDS and the copies that fill
//! them. What a spec says is kept. A copy is searched together with its tile's place in LDS,
//! where neither is said, and the place alone where the copy is said; a place that is said has the
//! copy that [`Plan::complete`] gives it.

pub mod layouts;
mod loads;
mod placing;
pub mod schedules;
mod why;

pub use loads::{LoadWidth, load_widths};
pub use why::alternatives;

use crate::plan::{
    Plan, check_depth, check_reach, least_block, load_of, mma_of, plain_problem, prefetch,
    prefetch_of,
};
use layouts::LayoutSearch;
use placing::{Placed, Placing};
use schedules::{Choices, Grid, Leaf, Limits, Open, Reason, Refused, Said, ScheduleSearch, Step};
use std::cell::{OnceCell, RefCell};
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{LdsLayout, PartialPlan, Prefetch},
    spec::{Spec, SpecError},
};
use tilefold_layout::Layout;
use tilefold_machine::Machine;

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
    /// At most three plans, to be decided by the code that they compile to.
    pub plans: Vec<Proposal>,
    /// The search over schedules, where there was one.
    pub schedules: Option<ScheduleSearch>,
    /// Work of the searches over layouts, of which [`layouts::Limits::work`] is the most.
    pub layout_work: u64,
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
            layout_work: 0,
        }
    }
}

/// Completes a spec: what it leaves open is searched.
///
/// # Errors
/// A [`SpecError`] that points at the field that cannot be met.
pub fn plans(spec: &Spec) -> Result<Proposals, SpecError> {
    plans_without(spec, &[])
}

/// As [`plans`], with rule families left out: for measuring what each is worth. The families are
/// those of [`schedules::rules`], `layouts`, and `addresses`, which [`Plan::address_rules`] then
/// lacks.
///
/// # Errors
/// As [`plans`].
pub fn plans_without(spec: &Spec, without: &[&str]) -> Result<Proposals, SpecError> {
    Search::new(spec, without).plans(&Limits::default())
}

/// The search for the plans of one spec, which can go on where those that it proposes turn out to
/// be no good.
pub struct Search<'a> {
    spec: &'a Spec,
    without: &'a [&'a str],
    /// The grid of tiles and schedules, once it has been weighed.
    grid: OnceCell<Result<RefCell<Grid>, Refused>>,
    /// Where tiles lie in LDS, as searches before have found it.
    placed: RefCell<Placed>,
}

impl<'a> Search<'a> {
    /// The search for a spec, with rule families left out as in [`plans_without`].
    pub fn new(spec: &'a Spec, without: &'a [&'a str]) -> Self {
        Self {
            spec,
            without,
            grid: OnceCell::new(),
            placed: RefCell::default(),
        }
    }

    /// The plans within limits. There are none where no kernel has as many registers to spare as
    /// are asked for; where none are, there is one plan at least.
    ///
    /// # Errors
    /// As [`plans`].
    pub fn plans(&self, limits: &Limits) -> Result<Proposals, SpecError> {
        let (spec, without) = (self.spec, self.without);
        // Defaults need not go with what is said, where the search finds what does.
        let default = Plan::complete(spec);
        if !anything_open(spec) {
            return match limits.spare_vgprs {
                0 => Ok(Proposals::only(default?)),
                _ => Ok(Proposals::default()),
            };
        }
        // Whatever is wrong with the rest of the spec is said first.
        Spec::new(&spec.arch, spec.problem.clone(), spec.plan.clone())?;
        let machine = Machine::by_name(&spec.arch)
            .map_err(|unknown| spec.error("arch", unknown.to_string(), "take a known chip"))?;
        let problem = plain_problem(spec)?;
        let atom = mma_of(spec, machine, &problem)?;
        let load = load_of(spec, atom)?;
        prefetch_of(spec)?;
        let said = [0, 1].map(|operand| Said::of(&problem, &spec.plan, load, atom.input, operand));
        let open = Open {
            machine,
            problem: &problem,
            atoms: atoms(spec, atom),
            fixed: fixed(&spec.plan, atom),
            said,
            without,
        };
        possible(spec, &open)?;
        let grid = self
            .grid
            .get_or_init(|| Grid::new(&open, limits.combinations).map(RefCell::new));
        let found = match grid {
            Ok(grid) => grid.borrow_mut().search(&open, limits),
            Err(refused) => Err(refused.clone()),
        };
        let (kernels, found) = match found {
            Ok(found) => {
                let finalists = found.finalists.iter();
                let kernels = finalists.map(|it| (it.choices, Some(it.figures))).collect();
                (kernels, Some(found))
            }
            Err(refused) if refused.contains_key(&Reason::TooFewSpare) => {
                return Ok(Proposals::default());
            }
            // What the rules do not reach has no figures, only choices that take fewer registers.
            Err(_) if limits.spare_vgprs > 0 => {
                let kernels = default.as_ref().map_or_else(
                    |_| Vec::new(),
                    |default| leaner(&open.fixed, Choices::of(default)),
                );
                (kernels.into_iter().map(|it| (it, None)).collect(), None)
            }
            Err(refused) => {
                let padding = default.is_err() && !refused.contains_key(&Reason::TooMuchLds);
                if let Some(error) = nothing_left(spec, &open, &refused, padding) {
                    return Err(error);
                }
                // What the rules do not reach may still be built as it is said and by default.
                (
                    vec![(Choices::of(default.as_ref().map_err(Clone::clone)?), None)],
                    None,
                )
            }
        };
        let choices = kernels.iter().map(|(choices, _)| choices);
        let mut placed = self.placed.borrow_mut();
        let mut placing = Placing::new(&open, spec, limits.layouts, &mut placed, choices);
        let mut proposals = Proposals {
            plans: Vec::new(),
            schedules: found,
            layout_work: 0,
        };
        let mut error = None;
        for (choices, figures) in kernels {
            let mut filled = spec.clone();
            choices.fill(&mut filled);
            let mut layouts = [None, None];
            if without.contains(&"layouts") {
                // What the search over layouts starts from.
                filled.plan.lds.a.get_or_insert(LdsLayout::None);
                filled.plan.lds.b.get_or_insert(LdsLayout::None);
            } else {
                layouts = placing.place(&mut filled.plan, &choices);
            }
            // Something else that the spec says, such as padding, may not go with it.
            match Plan::complete(&filled) {
                Ok(mut plan) => {
                    if without.contains(&"addresses") {
                        plan.address_rules.clear();
                    }
                    // Of what was found accesses are as wide as the plan has them.
                    let figures = figures.map(|figures| {
                        schedules::weigh_plan(&open, &choices, &plan).unwrap_or(figures)
                    });
                    proposals.plans.push(Proposal {
                        plan,
                        chain: match figures {
                            Some(_) => schedules::explain(&open, &choices),
                            None => Vec::new(),
                        },
                        figures,
                        layouts,
                    })
                }
                Err(refusal) => error = error.or(Some(refusal)),
            }
        }
        proposals.layout_work = placing.work();
        match error {
            Some(_) if limits.spare_vgprs > 0 => Ok(proposals),
            Some(error) if proposals.plans.is_empty() => match default {
                Ok(plan) => Ok(Proposals::only(plan)),
                Err(_) => Err(error),
            },
            _ => Ok(proposals),
        }
    }
}

/// Whether there is anything to search.
fn anything_open(spec: &Spec) -> bool {
    let (plan, problem) = (&spec.plan, &spec.problem);
    let mut atoms = MmaAtom::of_types(&spec.arch, problem.a.element, problem.accumulate);
    let choice = plan.atoms.mma.is_none() && atoms.nth(1).is_some();
    let (tile, lds, schedule) = (&plan.tile, &plan.lds, &plan.schedule);
    let order = schedule
        .prefetch
        .is_none_or(|it| it == Prefetch::Interleaved)
        && (schedule.cadence.is_none()
            || schedule.ahead.is_none()
            || schedule.lead.is_none()
            || schedule.commit.is_none()
            || schedule.priority.is_none());
    let waves = tile.waves.is_none() && plan.mma.waves.is_none();
    tile.block.whole().is_none()
        || choice
        || waves
        || lds.buffers.is_none()
        || lds.a.is_none()
        || lds.b.is_none()
        || schedule.prefetch.is_none()
        || schedule.group_rows.is_none()
        || order
}

/// Schedules of a kernel, as far as they are open, that may need fewer registers than its own: in a
/// fixed order with the least read ahead, and with less on the way.
fn leaner(fixed: &[Leaf], kernel: Choices) -> Vec<Choices> {
    let with = |kernel: Choices, leaf: Leaf| {
        let open = !fixed.iter().any(|said| said.kind() == leaf.kind());
        if open { kernel.with(leaf) } else { kernel }
    };
    let ways = [Prefetch::Interleaved, Prefetch::None, Prefetch::Burst];
    let mut kernels = ways
        .map(|way| with(with(kernel, Leaf::Ahead(1)), Leaf::Prefetch(way)))
        .to_vec();
    kernels.dedup();
    kernels.retain(|it| *it != kernel);
    kernels
}

/// The atoms that a spec leaves to choose from, `atom` being one.
fn atoms(spec: &Spec, atom: &'static MmaAtom) -> Vec<&'static MmaAtom> {
    match spec.plan.atoms.mma {
        Some(_) => vec![atom],
        None => MmaAtom::of_types(&spec.arch, atom.input, atom.accumulator).collect(),
    }
}

/// The choices that a plan says or that follow from what it says; if it names an atom, `atom`.
fn fixed(plan: &PartialPlan, atom: &MmaAtom) -> Vec<Leaf> {
    let (tile, lds, schedule) = (&plan.tile, &plan.lds, &plan.schedule);
    let size = |layout: &Layout, axis: usize| Some(layout.mode(axis).ok()?.size());
    // A layout in LDS is over the tile, a layout of waves has as many as there are.
    let placed = |place: &Option<LdsLayout>, axis: usize| match place {
        Some(LdsLayout::Expr(layout)) => size(layout.inner(), axis),
        _ => None,
    };
    let waves = |axis: usize| {
        let layout = plan.mma.waves.as_ref();
        let named = tile.waves.map(|waves| waves[axis]);
        named.or_else(|| size(layout?, axis))
    };
    let [m, n, k] = tile.block.0;
    let depth = k.or_else(|| placed(&lds.a, 1).or_else(|| placed(&lds.b, 1)));
    let said = [
        m.or_else(|| placed(&lds.a, 0)).map(Leaf::M),
        n.or_else(|| placed(&lds.b, 0)).map(Leaf::N),
        depth.map(Leaf::K),
        plan.atoms.mma.as_ref().map(|_| Leaf::Slice(atom.shape[2])),
        waves(0).map(Leaf::WavesM),
        waves(1).map(Leaf::WavesN),
        lds.buffers.map(Leaf::Buffers),
        prefetch(plan).map(Leaf::Prefetch),
        schedule.cadence.map(Leaf::Cadence),
        schedule.ahead.map(Leaf::Ahead),
        schedule.lead.map(Leaf::Lead),
        schedule.commit.map(Leaf::Commit),
        schedule.priority.map(Leaf::Priority),
        schedule.group_rows.map(Leaf::Group),
    ];
    said.into_iter().flatten().collect()
}

/// Refuses what no kernel with the choices already made can do: K that is no whole tiles, and lines
/// too far apart for the smallest tile.
fn possible(spec: &Spec, open: &Open<'_>) -> Result<(), SpecError> {
    let shallow = open.atoms.iter().min_by_key(|atom| atom.shape[2]);
    let Some(atom) = shallow else { return Ok(()) };
    let none = Choices {
        block: [0; 3],
        ..Choices::default()
    };
    let said = open
        .fixed
        .iter()
        .fold(none, |choices, leaf| choices.with(*leaf));
    let least = least_block(atom, said.waves);
    let block = [0, 1, 2].map(|axis| said.block[axis].max(least[axis]));
    check_depth(spec, open.problem, atom, block[2])?;
    check_reach(spec, open.problem, least, block)
}

/// The error where what a spec says of its tile leaves nothing that can be built. A block that is
/// said whole, or not at all, is judged by the plan's own check; unless that judges the `padding`
/// alone which the plan has by default, and with which nothing was refused.
fn nothing_left(
    spec: &Spec,
    open: &Open<'_>,
    refused: &Refused,
    padding: bool,
) -> Option<SpecError> {
    let block = spec.plan.tile.block;
    let judged = block.is_open() || block.whole().is_some();
    if refused.is_empty() || (judged && !(padding && fits_unpadded(spec))) {
        return None;
    }
    let said: Vec<String> = open.fixed.iter().map(Leaf::to_string).collect();
    let mut reasons: Vec<(Reason, usize)> = refused.iter().map(|(why, n)| (*why, *n)).collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let tried: usize = reasons.iter().map(|(_, count)| count).sum();
    let least = schedules::refusal(open);
    let figures = |why: &Reason| {
        let refusal = least.filter(|least| least.reason == *why)?;
        Some(format!(" ({} of {})", refusal.need?, refusal.limit?))
    };
    let why: Vec<String> = reasons
        .iter()
        .map(|(why, count)| format!("{count} for {why}{}", figures(why).unwrap_or_default()))
        .collect();
    Some(spec.error(
        "tile.block",
        format!(
            "none of {tried} kernels with {} can be built: {}",
            said.join(", "),
            why.join(", ")
        ),
        "leave more open, or change what is said",
    ))
}

/// Whether a plan can be completed once what the spec leaves open of the layouts in LDS has no
/// padding.
fn fits_unpadded(spec: &Spec) -> bool {
    let mut plain = spec.clone();
    plain.plan.lds.a.get_or_insert(LdsLayout::None);
    plain.plan.lds.b.get_or_insert(LdsLayout::None);
    Plan::complete(&plain).is_ok()
}
