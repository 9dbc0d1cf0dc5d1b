//! Which combinations of choices can be built, and what the model says of them.

use super::{
    Choices, Limits, MARGIN, Open, Options, Reason, Refused, ScheduleSearch,
    counts::{Counts, across, repeats},
    finalists,
};
use crate::{
    early_commits::last_group,
    plan::{Registers, Schedule, packed},
    tiling::copy_threads,
};
use tilefold_cost::{Contiguous, Kernel, LdsInstructions, Model, Operand};
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{Commit, Lead, Prefetch},
    problem::Extent,
};
use tilefold_machine::{Access, Width, Workgroup};

/// Extents that are not given are taken to be this.
const TYPICAL: i64 = 4096;
/// Registers of addresses and of the code generator's own, over accumulators, fragments and
/// staged tiles: what compiled kernels of these plans had.
const OTHER_VGPRS: i64 = 12;
/// Registers of LDS addresses and of values that are turned, for an operand that lies across.
const ACROSS_VGPRS: i64 = 14;
/// The best so many of those that the model weighs are tried with every choice that it does not.
const EXPANDED: usize = 64;

/// What the model expects of a kernel, per wave and K tile unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Figures {
    /// Modelled microseconds: for comparing, no prediction.
    pub modelled_us: f64,
    /// Instructions of the main loop for each matrix instruction.
    pub instructions_per_mma: f64,
    /// Elements of C that are computed for each that is asked for: more than 1 where tiles reach
    /// over its edges.
    pub waste: f64,
    /// Vector registers of a wave.
    pub vgprs: i64,
    /// Registers that a wave has besides, all waves of its workgroup being resident.
    pub spare_vgprs: i64,
    /// LDS bytes of a workgroup.
    pub lds_bytes: i64,
}

impl Figures {
    /// Instructions of the main loop for each matrix instruction's worth of what is asked for.
    pub fn instructions(&self) -> f64 {
        self.instructions_per_mma * self.waste
    }
}

/// A combination of choices with its figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// The choices.
    pub choices: Choices,
    /// What the model expects.
    pub figures: Figures,
}

impl Weighed {
    /// Fewest instructions, then least modelled time, then fewest registers; equal figures are
    /// decided by the choices, so that the order is total.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b) = (&self.figures, &other.figures);
        a.instructions()
            .total_cmp(&b.instructions())
            .then_with(|| a.modelled_us.total_cmp(&b.modelled_us))
            .then_with(|| a.vgprs.cmp(&b.vgprs))
            .then_with(|| self.choices.cmp(&other.choices))
    }
}

pub(super) fn best(
    open: &Open<'_>,
    options: &Options,
    limits: &Limits,
) -> Result<ScheduleSearch, Refused> {
    let mut refused = Refused::new();
    let Some(mut weigher) = Weigher::new(open) else {
        return Err(refused);
    };
    let start = super::start(open);
    let mut kept: Vec<Weighed> = Vec::new();
    let (mut count, mut least) = (0, f64::INFINITY);
    let per_schedule = options.ahead.len() * options.lead.len() * options.group.len();
    let per_buffers = options.prefetch.len() * per_schedule;
    let (mut left, mut complete) = (limits.combinations, true);
    let tried = options.largest_first(start).into_iter().flat_map(|tile| {
        options
            .buffers
            .iter()
            .map(move |buffers| tile.with(*buffers))
    });
    for tile in tried {
        if left == 0 && count > 0 {
            complete = false;
            break;
        }
        let possible = weigher.tile(&tile).and_then(|()| weigher.lds_bytes(&tile));
        if let Err(reason) = possible {
            left = left.saturating_sub(1);
            *refused.entry(reason).or_default() += per_buffers;
            continue;
        }
        left = left.saturating_sub(per_buffers);
        for choices in options.schedules(tile) {
            match weigher.schedule(&choices) {
                Ok(figures) if figures.spare_vgprs < limits.spare_vgprs => {
                    *refused.entry(Reason::TooFewSpare).or_default() += 1;
                }
                Ok(figures) => {
                    count += 1;
                    least = figures.modelled_us.min(least);
                    if figures.modelled_us <= least * (1.0 + MARGIN) {
                        kept.push(Weighed { choices, figures });
                    }
                }
                Err(reason) => *refused.entry(reason).or_default() += 1,
            }
        }
    }
    kept.retain(|candidate| candidate.figures.modelled_us <= least * (1.0 + MARGIN));
    if kept.is_empty() {
        return Err(refused);
    }
    kept.sort_by(Weighed::compare);
    let mut others = Vec::new();
    for candidate in kept.iter().take(EXPANDED) {
        for choices in options.unweighed(candidate.choices) {
            if choices != candidate.choices
                && let Ok(figures) = weigher.schedule(&choices)
                && figures.spare_vgprs >= limits.spare_vgprs
            {
                others.push(Weighed { choices, figures });
            }
        }
    }
    kept.extend(others);
    kept.sort_by(Weighed::compare);
    let start = weigher.figures(&start).ok().map(|figures| Weighed {
        choices: start,
        figures,
    });
    let (finalists, runners_up) = finalists::choose(&kept);
    Ok(ScheduleSearch {
        finalists,
        runners_up,
        weighed: count,
        limits: *limits,
        complete,
        refused,
        start,
    })
}

/// The judgement of combinations, which remembers what many of them share.
pub(super) struct Weigher<'a> {
    open: &'a Open<'a>,
    model: Model,
    /// Costs of the last tile and prefetch, by group of rows and workgroups on a compute unit.
    costs: Vec<((i64, u32), f64)>,
    costs_of: Option<([i64; 4], [i64; 2], i64, bool)>,
}

impl<'a> Weigher<'a> {
    /// None where no rates of the chip's memory are known.
    pub fn new(open: &'a Open<'a>) -> Option<Self> {
        Some(Self {
            open,
            model: Model::new(open.machine).ok()?,
            costs: Vec::new(),
            costs_of: None,
        })
    }

    /// What the model expects, or what keeps the kernel from being built.
    pub fn figures(&mut self, choices: &Choices) -> Result<Figures, Reason> {
        self.tile(choices)?;
        self.lds_bytes(choices)?;
        self.schedule(choices)
    }

    /// Whether block and waves go together, and with the problem.
    pub(super) fn tile(&self, choices: &Choices) -> Result<(), Reason> {
        let Choices { block, waves, .. } = *choices;
        let (machine, problem) = (self.open.machine, self.open.problem);
        let atom = self.atom(choices)?;
        let whole = |axis: usize| block[axis] % (atom.shape[axis] * waves[axis]) == 0;
        if !whole(0) || !whole(1) || block[2] % atom.shape[2] != 0 {
            return Err(Reason::PartAtoms);
        }
        let count = waves[0] * waves[1];
        if count > i64::from(machine.max_waves_per_workgroup) {
            return Err(Reason::TooManyWaves);
        }
        let divides = |extent: Extent, tile: i64| extent.exact().is_none_or(|it| it % tile == 0);
        // Blocks may reach over the edges of C, and K tiles may not.
        let k = block[2];
        if !divides(problem.k, k) {
            return Err(Reason::PartTiles);
        }
        let widest = 128 / i64::from(atom.input.bits());
        for (operand, across) in across(problem).into_iter().enumerate() {
            let along = usize::from(!across);
            let tile = [block[operand], k];
            if copy_threads(tile, along, count * atom.wave, widest).is_none() {
                return Err(Reason::UnevenThreads);
            }
        }
        Ok(())
    }

    fn atom(&self, choices: &Choices) -> Result<&'static MmaAtom, Reason> {
        self.open.atom(choices).ok_or(Reason::NoAtom)
    }

    /// Bytes of LDS that a workgroup needs.
    pub(super) fn lds_needed(&self, choices: &Choices) -> i64 {
        let [m, n, k] = choices.block;
        let bits = i64::from(self.open.problem.a.element.bits());
        (m + n) * k * choices.buffers * bits / 8
    }

    /// Vector registers that a wave needs, and those it has while its workgroup is resident.
    pub(super) fn registers(&self, choices: &Choices) -> Result<[i64; 2], Reason> {
        let (machine, atom) = (self.open.machine, self.atom(choices)?);
        let Choices {
            block,
            waves,
            prefetch,
            ..
        } = *choices;
        let schedule = Schedule {
            cadence: choices.cadence,
            ahead: choices.ahead,
            lead: choices.lead,
            commit: choices.commit,
            priority: choices.priority,
        };
        let need = Registers::of(atom, block, waves, prefetch, &schedule);
        let turned = ACROSS_VGPRS * across(self.open.problem).map(i64::from).iter().sum::<i64>();
        // A workgroup's waves share the SIMDs of one CU, and all must be resident.
        let count = waves[0] * waves[1];
        let per_simd = count.div_euclid(i64::from(machine.simds_per_cu)).max(1);
        let share = i64::from(machine.vgpr.per_simd) / per_simd;
        let granule = i64::from(machine.vgpr.granule);
        let limit = (share / granule * granule).min(i64::from(machine.vgpr.addressable));
        Ok([need.most() + OTHER_VGPRS + turned, limit])
    }

    /// LDS of a workgroup, as far as it has so much.
    pub(super) fn lds_bytes(&self, choices: &Choices) -> Result<i64, Reason> {
        let bytes = self.lds_needed(choices);
        if bytes > i64::from(self.open.machine.lds.per_workgroup) {
            return Err(Reason::TooMuchLds);
        }
        Ok(bytes)
    }

    /// The figures, tile and LDS being possible.
    fn schedule(&mut self, choices: &Choices) -> Result<Figures, Reason> {
        let Choices {
            block,
            prefetch,
            cadence,
            ahead,
            lead,
            commit,
            priority,
            ..
        } = *choices;
        let (problem, atom) = (self.open.problem, self.atom(choices)?);
        let interleaved = prefetch == Prefetch::Interleaved;
        let plain =
            ahead == 1 && cadence == 1 && lead == Lead::A && commit == Commit::End && !priority;
        if !interleaved && !plain {
            return Err(Reason::NotInterleaved);
        }
        let [rm, rn, _] = repeats(atom, choices);
        if ahead > 1 && ahead > rm * rn * atom.instructions {
            return Err(Reason::ReadTooFar);
        }
        if lead == Lead::B && packed(atom) {
            return Err(Reason::PackedAccumulators);
        }
        let counts = Counts::of(problem, atom, choices);
        let issued = (counts.loads[0] + counts.loads[1]) * cadence;
        let before = match commit {
            Commit::End => counts.mma,
            Commit::Reads => counts.mma - last_group(counts.mma, ahead),
        };
        if (cadence > 1 || commit == Commit::Reads) && issued > before {
            return Err(Reason::NoRoom);
        }
        let [vgprs, limit] = self.registers(choices)?;
        if vgprs > limit {
            return Err(Reason::TooManyVgprs);
        }

        let reached = |extent: Extent, tile: i64| match extent {
            Extent::Exact(extent) => ((extent - 1) / tile + 1) as f64 * tile as f64 / extent as f64,
            Extent::Any => 1.0,
        };
        let lds_bytes = self.lds_bytes(choices)?;
        let cost = self.cost(choices, vgprs, lds_bytes, &counts)?;
        Ok(Figures {
            modelled_us: cost,
            instructions_per_mma: counts.per_mma(),
            waste: reached(problem.m, block[0]) * reached(problem.n, block[1]),
            vgprs,
            spare_vgprs: limit - vgprs,
            lds_bytes,
        })
    }

    /// Modelled microseconds.
    fn cost(
        &mut self,
        choices: &Choices,
        vgprs: i64,
        lds_bytes: i64,
        counts: &Counts,
    ) -> Result<f64, Reason> {
        let Choices {
            block,
            waves,
            buffers,
            prefetch,
            group_rows,
            ..
        } = *choices;
        let interleaved = prefetch == Prefetch::Interleaved;
        let count = (waves[0] * waves[1]) as u32;
        let resident = self.open.machine.resident_workgroups(Workgroup {
            waves: count,
            vgprs: vgprs as u32,
            lds_bytes: lds_bytes as u32,
        });
        // All else follows from these.
        let [m, n, k] = block;
        let of = Some(([m, n, k, choices.slice], waves, buffers, interleaved));
        if self.costs_of != of {
            self.costs_of = of;
            self.costs.clear();
        }
        let key = (group_rows, resident);
        if let Some((_, cost)) = self.costs.iter().find(|(known, _)| *known == key) {
            return Ok(*cost);
        }
        let (problem, atom) = (self.open.problem, self.atom(choices)?);
        let across = across(problem);
        let operand = |index: usize| Operand {
            bits: atom.input.bits(),
            contiguous: match across[index] {
                true => Contiguous::Outer,
                false => Contiguous::K,
            },
        };
        let exact = |extent: Extent| extent.exact().unwrap_or(TYPICAL) as u64;
        let lds = |access, width, count: i64| LdsInstructions {
            access,
            width,
            count: count as u32,
        };
        // Stores are as wide as loads; a fragment of less is read whole.
        let fragment = match atom.input_vgprs() {
            2 => Width::B64,
            _ => Width::B128,
        };
        let kernel = Kernel {
            m: exact(problem.m),
            n: exact(problem.n),
            k: exact(problem.k),
            block: block.map(|extent| extent as u32),
            waves: count,
            interleaved,
            group_rows: group_rows as u64,
            a: operand(0),
            b: operand(1),
            c_bits: problem.c.element.bits(),
            mma: atom.instruction_shape().map(|extent| extent as u32),
            mma_cycles: self
                .open
                .machine
                .matrix_cycles(atom.instruction)
                .ok_or(Reason::NoRates)?,
            vector_loads: (counts.loads[0] + counts.loads[1]) as u32,
            lds: vec![
                lds(Access::Read, fragment, counts.reads),
                lds(Access::Write, Width::B128, counts.stores),
            ],
            lds_conflict_cycles: 0,
            lds_bytes: lds_bytes as u32,
            vgprs: vgprs as u32,
        };
        let cost = self.model.cost(&kernel).map_err(|_| Reason::TooLarge)?;
        self.costs.push((key, cost.microseconds));
        Ok(cost.microseconds)
    }
}
