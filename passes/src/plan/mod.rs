//! The completed plan: every choice of a kernel, made and checked.
//!
//! [`Plan::complete`] fills in what a spec leaves open with the documented defaults of
//! `defaults.rs` and refuses what the machine or the atoms cannot do, each refusal pointing at
//! the field of the spec that decides it.

mod check;
mod copy;
mod defaults;
mod lines;
mod registers;
mod shared;

pub(crate) use check::{
    depth as check_depth, least as least_block, load as load_of, mma as mma_of, prefetch,
    problem as plain_problem, reach as check_reach, schedule as prefetch_of,
};
pub(crate) use lines::{loaded_elements, most_apart, too_far_apart};
pub use registers::Registers;
pub(crate) use registers::{interleaved, packed};
pub use shared::elements as buffer_elements;
pub(crate) use shared::{elements_of as tile_elements, permutes};

use crate::{
    describe::order,
    tiling::{MmaLayouts, copy_threads},
};
use tilefold_address::Family;
use tilefold_dialect::{
    atoms::{MmaAtom, Space},
    element::ElementType,
    plan::{Commit, LdsLayout, Lead, PartialPlan, Prefetch},
    problem::{Operand, OperandLayout, Problem},
    spec::{Spec, SpecError},
};
use tilefold_layout::{ComposedLayout, Layout};
use tilefold_machine::Machine;

/// How loads and fragment reads go between matrix instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Matrix instructions from one load of the next tiles to the next.
    pub cadence: i64,
    /// What so many matrix instructions use is read from LDS during as many before them.
    pub ahead: i64,
    /// The operand that is loaded first, and of which a fragment is kept while the other's run
    /// past it.
    pub lead: Lead,
    /// When the next tiles go to LDS.
    pub commit: Commit,
    /// Whether a wave raises its priority around matrix instructions.
    pub priority: bool,
}

/// Every choice of one kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the kernel's symbol.
    pub kernel: String,
    /// The chip.
    pub machine: &'static Machine,
    /// What is multiplied; layouts are row or column order.
    pub problem: Problem,
    /// m, n and k of a workgroup's tile, in elements.
    pub block: [i64; 3],
    /// Waves along m and n.
    pub waves: [i64; 2],
    /// The matrix instruction.
    pub atom: &'static MmaAtom,
    /// (wave m, wave n) -> wave.
    pub wave_layout: Layout,
    /// Whether loads go through buffer descriptors.
    pub load_space: Space,
    /// Elements of A and of B that a global load moves.
    pub load_elements: [i64; 2],
    /// Thread and value layouts of the copies of A and B.
    pub copies: [(Layout, Layout); 2],
    /// Value layouts of the copies in the order in which values are stored to LDS.
    pub stores: [Layout; 2],
    /// Where the elements of the tiles of A and B lie in LDS.
    pub lds: [ComposedLayout; 2],
    /// Whether the spec or a default chose another LDS layout than plain rows.
    pub lds_laid_out: bool,
    /// Tiles of each operand in LDS.
    pub buffers: i64,
    /// When the next tile is loaded.
    pub prefetch: Prefetch,
    /// How an interleaved multiplication goes.
    pub schedule: Schedule,
    /// Tile rows of a group of workgroups that run together.
    pub group_rows: Option<i64>,
    /// The rules by which accesses share registers that hold addresses: all of them, unless what
    /// they are worth is to be measured.
    pub address_rules: Vec<Family>,
    /// The spec with every field of the plan filled in.
    pub completed: Spec,
}

impl Plan {
    /// Completes and checks a spec.
    ///
    /// # Errors
    /// A [`SpecError`] that points at the field that cannot be met, with the rule and what
    /// would do.
    pub fn complete(spec: &Spec) -> Result<Self, SpecError> {
        // Fields of a spec can be changed after it was read: what a spec guarantees holds again
        // from here on. Of an unchanged one this finds nothing.
        Spec::new(&spec.arch, spec.problem.clone(), spec.plan.clone())?;
        let machine = Machine::by_name(&spec.arch).map_err(|unknown| {
            let known = unknown.known.join(", ");
            spec.error("arch", unknown.to_string(), format!("known chips: {known}"))
        })?;
        let problem = check::problem(spec)?;
        let partial = &spec.plan;
        let atom = check::mma(spec, machine, &problem)?;
        let load = check::load(spec, atom)?;
        let prefetch = check::schedule(spec)?.unwrap_or(defaults::PREFETCH);
        let schedule = check::order(spec);
        let (block, waves) = defaults::tile(&problem, atom, partial);
        let buffers = partial.lds.buffers.unwrap_or(defaults::BUFFERS);
        let tiles = [[block[0], block[2]], [block[1], block[2]]];
        // First, since it bounds the work of all that walks over the elements of a tile.
        let fits = |sizes| shared::fits(spec, machine, atom, tiles, sizes, buffers);
        fits(tiles.map(|[rows, depth]| rows * depth))?;
        check::tile(spec, atom, block, waves)?;
        check::depth(spec, &problem, atom, block[2])?;
        check::reach(spec, &problem, check::least(atom, waves), block)?;
        let wave_layout = match &partial.mma.waves {
            Some(layout) => Ok(layout.clone()),
            None => Layout::row_major(&waves),
        };
        let spread = wave_layout
            .and_then(|layout| Ok((MmaLayouts::new(atom, block, &layout)?, layout)))
            .map_err(|error| spec.error("mma.waves", error.to_string(), "take another order"));
        let (mma, wave_layout) = spread?;

        let threads = waves[0] * waves[1] * atom.wave;
        let copy =
            |operand| copy::copy(spec, &problem, operand, tiles[operand], threads, load, atom);
        let copies = [copy(0)?, copy(1)?];
        let loads = [0, 1].map(|operand| {
            let [rows, depth] = tiles[operand];
            rows * depth / (copies[operand].elements * threads)
        });
        check::registers(
            spec, machine, atom, block, waves, loads, prefetch, &schedule,
        )?;
        let choices =
            [&partial.lds.a, &partial.lds.b].map(|choice| choice.clone().unwrap_or(defaults::LDS));
        let place =
            |operand| shared::layout(spec, operand, &choices[operand], tiles[operand], atom);
        let lds: [ComposedLayout; 2] = [place(0)?, place(1)?];
        fits(
            lds.each_ref()
                .map(|layout| shared::elements(layout, atom.input)),
        )?;
        shared::reachable(
            spec,
            &lds,
            &copies.each_ref().map(|copy| copy.commit.clone()),
            &mma,
        )?;

        let load_space = load.map_or(Space::Buffer, |atom| atom.space);
        let mut plan = Self {
            kernel: "gemm".into(),
            machine,
            problem,
            block,
            waves,
            atom,
            wave_layout,
            load_space,
            load_elements: copies.each_ref().map(|copy| copy.elements),
            stores: copies.each_ref().map(|copy| copy.stores.clone()),
            copies: copies.map(|copy| (copy.threads, copy.values)),
            lds,
            lds_laid_out: choices.iter().any(|choice| *choice != LdsLayout::None),
            buffers,
            prefetch,
            schedule,
            group_rows: partial.schedule.group_rows,
            address_rules: Family::ALL.to_vec(),
            completed: spec.clone(),
        };
        plan.completed.plan = plan.fill(partial, choices);
        Ok(plan)
    }

    /// The partial plan with every field that is built set to what was chosen.
    fn fill(&self, partial: &PartialPlan, lds: [LdsLayout; 2]) -> PartialPlan {
        let mut filled = partial.clone();
        filled.tile.block = self.block.into();
        filled.tile.waves = Some(self.waves);
        filled.atoms.mma = Some(self.atom.name.into());
        // Where A and B are moved by loads of different widths no one name stands for both.
        let [width, other] = self
            .load_elements
            .map(|n| n * i64::from(self.atom.input.bits()));
        if width == other {
            let space = if self.load_space == Space::Buffer {
                "buffer"
            } else {
                "global"
            };
            filled
                .atoms
                .load
                .get_or_insert(format!("{space}_load_b{width}"));
        }
        let [a, b] = lds;
        filled.lds.a = Some(a);
        filled.lds.b = Some(b);
        filled.lds.buffers = Some(self.buffers);
        for (operand, copy) in [&mut filled.copy.a, &mut filled.copy.b]
            .into_iter()
            .enumerate()
        {
            let (threads, values) = &self.copies[operand];
            copy.threads = Some(threads.clone());
            copy.values = Some(values.clone());
            let stores = &self.stores[operand];
            copy.stores = (stores != values).then(|| stores.clone());
        }
        filled.mma.waves = Some(self.wave_layout.clone());
        filled.schedule.prefetch = Some(self.prefetch);
        if self.prefetch == Prefetch::Interleaved {
            filled.schedule.cadence = Some(self.schedule.cadence);
            filled.schedule.ahead = Some(self.schedule.ahead);
            filled.schedule.lead = Some(self.schedule.lead);
            filled.schedule.commit = Some(self.schedule.commit);
        }
        filled.schedule.group_rows.get_or_insert(1);
        filled.schedule.priority.get_or_insert(false);
        filled
    }

    /// Whether accumulators that are neighbours along M share registers, where the atom's results
    /// fill one half of each.
    pub fn packed(&self) -> bool {
        packed(self.atom)
    }

    /// Atoms of a wave along m and n.
    pub fn repeat(&self) -> [i64; 2] {
        [0, 1].map(|i| self.block[i] / (self.atom.shape[i] * self.waves[i]))
    }

    /// Threads of a workgroup.
    pub fn threads(&self) -> i64 {
        self.waves[0] * self.waves[1] * self.atom.wave
    }

    /// Element type of A and of B.
    pub fn input(&self) -> ElementType {
        self.atom.input
    }

    /// A, B or C.
    pub fn operand(&self, operand: usize) -> &Operand {
        [&self.problem.a, &self.problem.b, &self.problem.c][operand]
    }

    /// Elements up to 16 that every line of the operand is known to start at a multiple of.
    pub fn aligned_elements(&self, operand: usize) -> i64 {
        lines::aligned_elements(&self.problem, operand)
    }

    /// What lines of operand 0 (A) or 1 (B) that run along M or N must be a multiple of, in
    /// elements, where loads of the operand move `width` elements.
    pub fn whole_elements(&self, operand: usize, width: i64) -> i64 {
        lines::indivisible(self.load_space, self.operand(operand).element, width)
    }

    /// The axes of the block (0, 1 and 2 are m, n and k) along which the operand's tile has its
    /// lines in memory, and along which each of them runs.
    pub fn axes(&self, operand: usize) -> [usize; 2] {
        lines::axes(&self.problem, operand)
    }

    /// Elements of the operand's leading dimension at most: with more its tile would span more
    /// than 2 GiB of memory, which offsets within a tile do not reach.
    pub fn most_apart(&self, operand: usize) -> i64 {
        lines::most_apart_of(&self.problem, operand, self.block)
    }

    /// "row" where the second coordinate of the operand's tiles is contiguous in memory.
    pub fn order(&self, operand: usize) -> &'static str {
        memory_order(&self.problem, operand)
    }

    /// Thread and value layouts of a copy of one element at a time.
    pub fn element_copy(&self, operand: usize) -> (Layout, Layout) {
        let tile = [self.block[operand], self.block[2]];
        let along = usize::from(self.order(operand) == "row");
        copy_threads(tile, along, self.threads(), 1)
            .expect("completing the plan has found that the threads share the tile evenly")
    }

    /// Matrix operations of one K tile of the whole workgroup and K per iteration.
    pub fn k_per_iteration(&self) -> i64 {
        self.block[2]
    }
}

pub(crate) fn memory_order(problem: &Problem, operand: usize) -> &'static str {
    let layout: &OperandLayout = match operand {
        0 => &problem.a.layout,
        1 => &problem.b.layout,
        _ => &problem.c.layout,
    };
    order(operand, layout)
}
