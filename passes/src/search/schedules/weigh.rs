//! Which combinations of choices can be built, and what the model says of them.

use super::{FINALISTS, Kind, MARGIN, Open, ScheduleSearch};
use crate::{describe::order, tiling::copy_threads};
use std::collections::BTreeMap;
use tilefold_cost::{Contiguous, Kernel, LdsInstructions, Model, Operand};
use tilefold_dialect::problem::{Extent, OperandLayout};
use tilefold_machine::{Access, Width};

/// Extents that are not given are taken to be this.
const TYPICAL: i64 = 4096;
/// Registers of addresses and of the code generator's own, over accumulators, fragments and
/// staged tiles: what compiled kernels of these plans had.
const OTHER_VGPRS: i64 = 12;
/// Runners-up kept for the record.
const RUNNERS_UP: usize = 5;

/// What the model expects of a kernel, per wave and K tile unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Figures {
    /// Modelled microseconds: for comparing, no prediction.
    pub modelled_us: f64,
    /// Instructions of the main loop for each matrix instruction.
    pub instructions_per_mma: f64,
    /// Vector registers of a wave.
    pub vgprs: i64,
    /// LDS bytes of a workgroup.
    pub lds_bytes: i64,
}

/// A combination of choices with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighed {
    /// The choices.
    pub choices: BTreeMap<Kind, i64>,
    /// What the model expects.
    pub figures: Figures,
}

/// One combination, by its fields.
struct Combination {
    block: [i64; 3],
    waves: [i64; 2],
    buffers: i64,
    prefetch: i64,
    ahead: i64,
    group: i64,
}

pub(super) fn best(open: &Open<'_>, options: &BTreeMap<Kind, Vec<i64>>) -> Option<ScheduleSearch> {
    let model = Model::new(open.machine).ok()?;
    let mut weighed = Vec::new();
    let mut refused: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut choices = BTreeMap::new();
    combinations(
        open,
        options,
        &Kind::ALL,
        &mut choices,
        &mut |choices| match weigh(open, &model, choices) {
            Ok(figures) => weighed.push(Weighed {
                choices: choices.clone(),
                figures,
            }),
            Err(reason) => *refused.entry(reason).or_default() += 1,
        },
    );
    let count = weighed.len();
    // Total orders all the way: equal figures are decided by the choices.
    weighed.sort_by(|a, b| {
        let cost = a.figures.modelled_us.total_cmp(&b.figures.modelled_us);
        cost.then_with(|| a.choices.cmp(&b.choices))
    });
    let limit = weighed.first()?.figures.modelled_us * (1.0 + MARGIN);
    let start = super::start(open);
    let baseline = weighed
        .iter()
        .find(|candidate| candidate.choices == start)
        .cloned();
    let start = baseline.unwrap_or_else(|| weighed.last().cloned().unwrap_or(weighed[0].clone()));
    weighed.retain(|candidate| candidate.figures.modelled_us <= limit);
    weighed.sort_by(|a, b| {
        let instructions = |w: &Weighed| w.figures.instructions_per_mma;
        instructions(a)
            .total_cmp(&instructions(b))
            .then_with(|| a.figures.modelled_us.total_cmp(&b.figures.modelled_us))
            .then_with(|| a.choices.cmp(&b.choices))
    });
    let runners_up = weighed
        .iter()
        .skip(FINALISTS)
        .take(RUNNERS_UP)
        .cloned()
        .collect();
    weighed.truncate(FINALISTS);
    Some(ScheduleSearch {
        finalists: weighed,
        runners_up,
        weighed: count,
        refused,
        start,
    })
}

/// Calls `visit` with every combination of options.
fn combinations(
    open: &Open<'_>,
    options: &BTreeMap<Kind, Vec<i64>>,
    kinds: &[Kind],
    choices: &mut BTreeMap<Kind, i64>,
    visit: &mut impl FnMut(&BTreeMap<Kind, i64>),
) {
    let Some((kind, rest)) = kinds.split_first() else {
        visit(choices);
        return;
    };
    for value in options.get(kind).into_iter().flatten() {
        choices.insert(*kind, *value);
        if plausible(open, choices).is_ok() {
            combinations(open, options, rest, choices, visit);
        }
    }
    choices.remove(kind);
}

/// Whether the choices so far make sense together; cuts off what nobody would build early, so
/// that the rest is few.
pub(super) fn plausible(
    open: &Open<'_>,
    choices: &BTreeMap<Kind, i64>,
) -> Result<(), &'static str> {
    let get = |kind| choices.get(&kind).copied();
    let [atom_m, atom_n, _] = open.atom.shape;
    for (extent, waves, atom) in [
        (Kind::M, Kind::WavesM, atom_m),
        (Kind::N, Kind::WavesN, atom_n),
    ] {
        if let (Some(extent), Some(waves)) = (get(extent), get(waves))
            && extent % (atom * waves) != 0
        {
            return Err("no whole atoms for every wave");
        }
    }
    match (get(Kind::Prefetch), get(Kind::Ahead)) {
        (Some(prefetch), Some(ahead)) if prefetch != 2 && ahead > 1 => {
            Err("reads ahead without interleaving")
        }
        _ => Ok(()),
    }
}

pub(super) fn weigh(
    open: &Open<'_>,
    model: &Model,
    choices: &BTreeMap<Kind, i64>,
) -> Result<Figures, &'static str> {
    let get = |kind: Kind| choices.get(&kind).copied().unwrap_or(kind.least());
    let combination = Combination {
        block: [get(Kind::M), get(Kind::N), get(Kind::K)],
        waves: [get(Kind::WavesM), get(Kind::WavesN)],
        buffers: get(Kind::Buffers),
        prefetch: get(Kind::Prefetch),
        ahead: get(Kind::Ahead),
        group: get(Kind::Group),
    };
    figures(open, model, &combination)
}

fn figures(
    open: &Open<'_>,
    model: &Model,
    combination: &Combination,
) -> Result<Figures, &'static str> {
    let (machine, problem, atom) = (open.machine, open.problem, open.atom);
    let Combination {
        block,
        waves,
        buffers,
        prefetch,
        ahead,
        group,
    } = *combination;
    let count = waves[0] * waves[1];
    let threads = count * atom.wave;
    if count > i64::from(machine.max_waves_per_workgroup) {
        return Err("more waves than a workgroup has");
    }
    let extents = [problem.m, problem.n, problem.k];
    if extents
        .iter()
        .zip(block)
        .any(|(extent, tile)| match extent {
            Extent::Exact(extent) => extent % tile != 0,
            Extent::Any => false,
        })
    {
        return Err("tiles that do not divide the problem");
    }
    let input = i64::from(atom.input.bits());
    let lds_bytes = (block[0] + block[1]) * block[2] * buffers * input / 8;
    if lds_bytes > i64::from(machine.lds.per_workgroup) {
        return Err("more LDS than a workgroup has");
    }
    let widest = 128 / input;
    let layouts: [&OperandLayout; 2] = [&problem.a.layout, &problem.b.layout];
    for operand in 0..2 {
        let along = usize::from(order(operand, layouts[operand]) == "row");
        let tile = [block[operand], block[2]];
        if copy_threads(tile, along, threads, widest).is_none() {
            return Err("threads that cannot share a tile in 128-bit pieces");
        }
    }
    let [rm, rn, rk] = [
        block[0] / (atom.shape[0] * waves[0]),
        block[1] / (atom.shape[1] * waves[1]),
        block[2] / atom.shape[2],
    ];
    let mma = rm * rn * rk;
    if ahead > 1 && ahead > rm * rn {
        return Err("fragments read farther ahead than a K slice");
    }
    let packed = if atom.cd.step == 2 { (rm + 1) / 2 } else { rm };
    let accumulators = packed * rn * atom.cd.vgprs();
    // Fragments that live at once: those of a row of the slice, and those read ahead of it.
    let in_flight = match ahead {
        1 => rn + 2,
        _ if ahead < rn => rn + 3,
        _ if ahead < rm * rn => 2 * rn + 1 + ahead / rn,
        _ => 2 * (rm + rn),
    };
    let fragments = in_flight * atom.ab.vgprs();
    let carried = (block[0] + block[1]) * block[2] * input / (32 * threads);
    let staged = if prefetch == 0 { 0 } else { carried };
    let vgprs = accumulators + fragments + staged + OTHER_VGPRS;
    // What completing a plan asks for, which counts accumulators that share registers apart.
    let pieces = [block[0], block[1]].map(|rows| rows * block[2] * input / (32 * threads));
    let (multiplying, storing) = match prefetch {
        0 => (0, pieces[0].max(pieces[1])),
        _ => (carried, carried),
    };
    let asked = (multiplying + (rm + 1) * atom.ab.vgprs()).max(storing);
    if rm * rn * atom.cd.vgprs() + asked > i64::from(machine.vgpr.addressable) {
        return Err("more registers than a wave has");
    }
    // A workgroup's waves share the SIMDs of one CU, and all must be resident.
    let per_simd = count.div_euclid(i64::from(machine.simds_per_cu)).max(1);
    let share = i64::from(machine.vgpr.per_simd) / per_simd;
    let granule = i64::from(machine.vgpr.granule);
    let limit = (share / granule * granule).min(i64::from(machine.vgpr.addressable));
    if vgprs > limit {
        return Err("more registers than a wave has");
    }

    let loads = carried / 4;
    let fragment_reads = (rm + rn) * rk * ((atom.ab.vgprs() + 3) / 4);
    // Reads that are waited for: of each group at most one, and no more than there are.
    let groups = (mma / ahead).min((rm + rn - 1) * rk).max(rk.min(mma));
    let waits = if prefetch == 2 {
        groups
    } else {
        (rm + rn - 1) * rk
    } + 2;
    let fixed = 15;
    let total = mma + fragment_reads + 2 * loads + waits + fixed;
    let cycles = machine
        .matrix_cycles(atom.instruction)
        .ok_or("no issue cycles known")?;
    let contiguous = |operand: usize| match order(operand, layouts[operand]) {
        "row" => Contiguous::K,
        _ => Contiguous::Outer,
    };
    let operand = |index| Operand {
        bits: atom.input.bits(),
        contiguous: contiguous(index),
    };
    let exact = |extent: Extent| extent.exact().unwrap_or(TYPICAL) as u64;
    let lds = |access, count: i64| LdsInstructions {
        access,
        width: Width::B128,
        count: count as u32,
    };
    let kernel = Kernel {
        m: exact(problem.m),
        n: exact(problem.n),
        k: exact(problem.k),
        block: block.map(|extent| extent as u32),
        waves: count as u32,
        interleaved: prefetch == 2,
        group_rows: group as u64,
        a: operand(0),
        b: operand(1),
        c_bits: problem.c.element.bits(),
        mma: atom.shape.map(|extent| extent as u32),
        mma_cycles: cycles,
        vector_loads: loads as u32,
        lds: vec![lds(Access::Read, fragment_reads), lds(Access::Write, loads)],
        lds_conflict_cycles: 0,
        lds_bytes: lds_bytes as u32,
        vgprs: vgprs as u32,
    };
    let cost = model
        .cost(&kernel)
        .map_err(|_| "a workgroup that does not fit on a CU")?;
    Ok(Figures {
        modelled_us: cost.microseconds,
        instructions_per_mma: total as f64 / mma as f64,
        vgprs,
        lds_bytes,
    })
}
