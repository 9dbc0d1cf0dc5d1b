//! Which combinations of choices can be built, and what the model says of them.

use super::{
    Choices, Figures, Open, Reason, Widths,
    counts::{Counts, across, in_lanes, loads, repeats},
};
use crate::{
    order::{Interleaved, Taken},
    plan::{Registers, Schedule, interleaved, permutes, too_far_apart},
};
use std::collections::HashMap;
use tilefold_cost::{Contiguous, Kernel, LdsInstructions, Model, Operand};
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{Commit, LdsLayout, Lead, Prefetch},
    problem::Extent,
};
use tilefold_machine::{Access, Generation, Machine, Width, Workgroup};

/// Extents that are not given are taken to be this.
const TYPICAL: i64 = 4096;
/// Registers of addresses and of the code generator's own, over accumulators, fragments and
/// staged tiles: what compiled kernels of these plans had.
fn other_vgprs(machine: &Machine) -> i64 {
    match machine.generation {
        Generation::Rdna4 => 7,
        _ => 10,
    }
}

/// Registers of LDS addresses and of values that are turned, for an operand that lies across.
const ACROSS_VGPRS: i64 = 8;
/// Registers that lie idle where LLVM joins reads of two fragments, for an operand whose fragments
/// are read whole by 32 or 64 bits.
const JOINED_VGPRS: i64 = 10;
/// Registers that kernels take beyond others where scalars are too many for scalar registers: LLVM
/// orders by these then. Each register has so many of them in its lanes.
const LANES_VGPRS: i64 = 24;
const LANES: i64 = 32;

/// What of a kernel decides on the registers of a wave.
struct Wave {
    atom: &'static MmaAtom,
    order: Interleaved,
    prefetch: Prefetch,
    interleaved: bool,
    /// Registers besides those of its part of a tile.
    others: i64,
    /// Registers that it has while all waves of its workgroup are resident.
    limit: i64,
}

impl Wave {
    /// Registers that it needs, `taken` being what its order takes, where it is interleaved.
    fn vgprs(&self, taken: Option<Taken>) -> i64 {
        Registers::with(self.atom, &self.order, self.prefetch, taken).most() + self.others
    }

    /// Fewer than it needs, in whatever order: what has no registers for these need not be followed
    /// through its instructions.
    fn least_vgprs(&self) -> i64 {
        let some = Registers::with(self.atom, &self.order, self.prefetch, None);
        some.accumulators + some.staged + self.others
    }
}

/// Block, K of a slice and waves.
type Tile = ([i64; 3], i64, [i64; 2]);

/// The judgement of combinations, which remembers what many of them share.
pub(super) struct Weigher<'a> {
    open: &'a Open<'a>,
    model: Model,
    /// Costs of the last tile and prefetch, by group of rows and workgroups on a compute unit.
    costs: Vec<((i64, u32), f64)>,
    costs_of: Option<([i64; 4], [i64; 2], i64, bool)>,
    /// Widths of the last tile.
    widths: Option<(Tile, Widths)>,
    taken: HashMap<Interleaved, Taken>,
}

impl<'a> Weigher<'a> {
    /// None where no rates of the chip's memory are known.
    pub fn new(open: &'a Open<'a>) -> Option<Self> {
        Some(Self {
            open,
            model: Model::new(open.machine).ok()?,
            costs: Vec::new(),
            costs_of: None,
            widths: None,
            taken: HashMap::new(),
        })
    }

    /// What the model expects, or what keeps the kernel from being built.
    pub fn figures(&mut self, choices: &Choices) -> Result<Figures, Reason> {
        self.tile(choices)?;
        let widths = self.widths(choices)?;
        self.lds_bytes(choices, &widths)?;
        self.schedule(choices, &widths)
    }

    /// As [`Self::figures`], the widths of the accesses being known.
    pub fn figures_of(&mut self, choices: &Choices, widths: &Widths) -> Result<Figures, Reason> {
        self.tile(choices)?;
        self.lds_bytes(choices, widths)?;
        self.costs_of = None;
        let figures = self.schedule(choices, widths);
        self.costs_of = None;
        figures
    }

    /// Whether block and waves go together, and with the problem.
    pub(super) fn tile(&mut self, choices: &Choices) -> Result<(), Reason> {
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
        // Blocks may reach over the edges of C, and kernels take whole K tiles.
        if problem.k.exact().is_some_and(|k| k % block[2] != 0) {
            return Err(Reason::PartTiles);
        }
        if too_far_apart(problem, block).is_some() {
            return Err(Reason::TooFarApart);
        }
        self.widths(choices).map(|_| ())
    }

    /// What the accesses of the tiles move.
    pub(super) fn widths(&mut self, choices: &Choices) -> Result<Widths, Reason> {
        let of = (choices.block, choices.slice, choices.waves);
        if let Some((known, widths)) = self.widths
            && known == of
        {
            return Ok(widths);
        }
        let atom = self.atom(choices)?;
        let xor = self
            .open
            .said
            .iter()
            .any(|said| said.place == Some(LdsLayout::Xor));
        if xor && !permutes(atom, choices.block[2]) {
            return Err(Reason::NoPermutation);
        }
        let widths = Widths::expected(self.open, atom, choices).ok_or(Reason::UnevenThreads)?;
        self.widths = Some((of, widths));
        Ok(widths)
    }

    /// What an order takes.
    fn taken(&mut self, order: Interleaved) -> Taken {
        *self.taken.entry(order).or_insert_with(|| order.take())
    }

    fn atom(&self, choices: &Choices) -> Result<&'static MmaAtom, Reason> {
        self.open.atom(choices).ok_or(Reason::NoAtom)
    }

    /// Vector registers that a wave needs, and those it has while its workgroup is resident.
    pub(super) fn registers(&mut self, choices: &Choices) -> Result<[i64; 2], Reason> {
        let widths = self.widths(choices)?;
        let wave = self.wave(choices, &widths)?;
        let taken = wave.interleaved.then(|| self.taken(wave.order));
        Ok([wave.vgprs(taken), wave.limit])
    }

    /// What of a kernel decides on the registers of a wave.
    fn wave(&self, choices: &Choices, widths: &Widths) -> Result<Wave, Reason> {
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
        let loads = loads(atom, choices, widths);
        let order = interleaved(atom, block, waves, loads, &schedule);
        let turned = ACROSS_VGPRS * across(self.open.problem).map(i64::from).iter().sum::<i64>();
        let element = i64::from(atom.input.bits()) / 8;
        let single = |operand: &usize| {
            let read = widths.reads[*operand];
            matches!(read, 4 | 8) && read == atom.input_values() * element
        };
        let joined = JOINED_VGPRS * [0, 1].iter().filter(|it| single(it)).count() as i64;
        let lanes = match in_lanes(widths) {
            0 => 0,
            scalars => LANES_VGPRS + (scalars + LANES - 1) / LANES,
        };
        // A workgroup's waves share the SIMDs of one CU, and all must be resident.
        let count = waves[0] * waves[1];
        let simds = i64::from(machine.simds_per_cu);
        let per_simd = (count + simds - 1) / simds;
        let share = i64::from(machine.vgpr.per_simd) / per_simd;
        let granule = i64::from(machine.vgpr.granule);
        let limit = (share / granule * granule).min(i64::from(machine.vgpr.addressable));
        Ok(Wave {
            atom,
            order,
            prefetch,
            interleaved: prefetch == Prefetch::Interleaved,
            others: other_vgprs(machine) + turned + joined + lanes,
            limit,
        })
    }

    /// LDS of a workgroup, as far as it has so much.
    pub(super) fn lds_bytes(&self, choices: &Choices, widths: &Widths) -> Result<i64, Reason> {
        let bytes = widths.lds_bytes(choices.buffers);
        if bytes > i64::from(self.open.machine.lds.per_workgroup) {
            return Err(Reason::TooMuchLds);
        }
        Ok(bytes)
    }

    /// The figures, tile and LDS being possible.
    pub(super) fn schedule(
        &mut self,
        choices: &Choices,
        widths: &Widths,
    ) -> Result<Figures, Reason> {
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
        let wave = self.wave(choices, widths)?;
        if wave.least_vgprs() > wave.limit {
            return Err(Reason::TooManyVgprs);
        }
        let taken = interleaved.then(|| self.taken(wave.order));
        let (vgprs, limit) = (wave.vgprs(taken), wave.limit);
        if vgprs > limit {
            return Err(Reason::TooManyVgprs);
        }
        let machine = self.open.machine;
        let counts = Counts::of(machine, problem, atom, choices, widths, taken);
        let reached = |extent: Extent, tile: i64| match extent {
            Extent::Exact(extent) => ((extent - 1) / tile + 1) as f64 * tile as f64 / extent as f64,
            Extent::Any => 1.0,
        };
        let lds_bytes = self.lds_bytes(choices, widths)?;
        let cost = self.cost(choices, vgprs, lds_bytes, &counts, widths)?;
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
        widths: &Widths,
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
        let width = |bytes: i64| match bytes {
            1 => Width::B8,
            2 => Width::B16,
            4 => Width::B32,
            8 => Width::B64,
            _ => Width::B128,
        };
        let [rm, rn, rk] = repeats(atom, choices);
        let fragment = atom.input_values() * i64::from(atom.input.bits()) / 8;
        let mut accesses = Vec::with_capacity(4);
        for (operand, repeat) in [rm, rn].into_iter().enumerate() {
            let [read, store] = [widths.reads[operand], widths.stores[operand]];
            let stored = counts.loads[operand] * widths.loads[operand] / store;
            accesses.push(lds(
                Access::Read,
                width(read),
                repeat * rk * fragment / read,
            ));
            accesses.push(lds(Access::Write, width(store), stored));
        }
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
            lds: accesses,
            lds_conflict_cycles: 0,
            lds_bytes: lds_bytes as u32,
            vgprs: vgprs as u32,
        };
        let cost = self.model.cost(&kernel).map_err(|_| Reason::TooLarge)?;
        self.costs.push((key, cost.microseconds));
        Ok(cost.microseconds)
    }
}
