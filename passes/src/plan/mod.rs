//! The completed plan: every choice of a kernel, made and checked.
//!
//! [`Plan::complete`] fills in what a spec leaves open with the documented defaults of
//! [`defaults`] and refuses what the machine or the atoms cannot do, each refusal pointing at
//! the field of the spec that decides it.

mod check;
mod defaults;
mod shared;

pub use shared::elements as buffer_elements;

use crate::{describe::order, tiling::copy_threads};
use tilefold_dialect::{
    atoms::{CopyAtom, MmaAtom, Space},
    element::ElementType,
    plan::{LdsLayout, PartialPlan, Prefetch},
    problem::{Operand, OperandLayout, Problem},
    spec::{Spec, SpecError},
};
use tilefold_layout::{ComposedLayout, Layout};
use tilefold_machine::Machine;

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
    /// Most elements of A and of B that a global load moves.
    pub load_elements: [i64; 2],
    /// Thread and value layouts of the copies of A and B.
    pub copies: [(Layout, Layout); 2],
    /// Where the elements of the tiles of A and B lie in LDS.
    pub lds: [ComposedLayout; 2],
    /// Whether the spec or a default chose another LDS layout than plain rows.
    pub lds_laid_out: bool,
    /// Tiles of each operand in LDS.
    pub buffers: i64,
    /// When the next tile is loaded.
    pub prefetch: Prefetch,
    /// Tile rows of a group of workgroups that run together.
    pub group_rows: Option<i64>,
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
        let refuse = |field: &str, rule: String, help: String| {
            Err(SpecError::at(spec.source(), field, rule, help))
        };
        let machine = match Machine::by_name(&spec.arch) {
            Ok(machine) => machine,
            Err(unknown) => {
                let known = unknown.known.join(", ");
                return refuse("arch", unknown.to_string(), format!("known chips: {known}"));
            }
        };
        let problem = check::problem(spec)?;
        let partial = &spec.plan;
        let atom = check::mma(spec, machine, &problem)?;
        let load = check::load(spec)?;
        let prefetch = check::schedule(spec)?;
        let default = defaults::tile(machine, &problem, atom, partial);
        let block = partial.tile.block.unwrap_or(default.block);
        let waves = partial.tile.waves.unwrap_or(default.waves);
        check::tile(spec, machine, atom, block, waves)?;
        let wave_layout = check::wave_layout(spec, waves)?;

        let threads = waves[0] * waves[1] * atom.wave;
        let tiles = [[block[0], block[2]], [block[1], block[2]]];
        let mut copies = Vec::new();
        let mut load_elements = Vec::new();
        for operand in 0..2 {
            let along = usize::from(memory_order(&problem, operand) == "row");
            let copy = check::copy(spec, operand, tiles[operand], along, threads, load, atom)?;
            load_elements.push(copy.elements);
            copies.push((copy.threads, copy.values));
        }
        let buffers = partial.lds.buffers.unwrap_or(default.buffers);
        let choices = [&partial.lds.a, &partial.lds.b]
            .map(|choice| choice.clone().unwrap_or_else(|| default.lds.clone()));
        let mut lds = Vec::new();
        for operand in 0..2 {
            lds.push(shared::layout(spec, operand, &choices[operand], tiles[operand], atom)?);
        }
        shared::fits(spec, machine, &lds, atom.input, buffers, block)?;

        let pair = |items: Vec<_>| <[_; 2]>::try_from(items).ok();
        let (Some(copies), Some(lds)) = (pair(copies), <[_; 2]>::try_from(lds).ok()) else {
            unreachable!("both lists were filled once per operand")
        };
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
            load_elements: [load_elements[0], load_elements[1]],
            copies,
            lds,
            lds_laid_out: choices.iter().any(|choice| *choice != LdsLayout::None),
            buffers,
            prefetch: prefetch.unwrap_or(default.prefetch),
            group_rows: partial.schedule.group_rows,
            completed: spec.clone(),
        };
        plan.completed.plan = plan.fill(partial, choices);
        Ok(plan)
    }

    /// The partial plan with every field that is built set to what was chosen.
    fn fill(&self, partial: &PartialPlan, lds: [LdsLayout; 2]) -> PartialPlan {
        let mut filled = partial.clone();
        filled.tile.block = Some(self.block);
        filled.tile.waves = Some(self.waves);
        filled.atoms.mma = Some(self.atom.name.into());
        let width = self.load_elements[0].min(self.load_elements[1]) * i64::from(self.atom.input.bits());
        let space = if self.load_space == Space::Buffer { "buffer" } else { "global" };
        filled.atoms.load.get_or_insert(format!("{space}_load_b{width}"));
        let [a, b] = lds;
        filled.lds.a = Some(a);
        filled.lds.b = Some(b);
        filled.lds.buffers = Some(self.buffers);
        for (copy, (threads, values)) in
            [&mut filled.copy.a, &mut filled.copy.b].into_iter().zip(&self.copies)
        {
            copy.threads = Some(threads.clone());
            copy.values = Some(values.clone());
        }
        filled.mma.waves = Some(self.wave_layout.clone());
        filled.schedule.prefetch = Some(self.prefetch);
        filled.schedule.group_rows.get_or_insert(1);
        filled.schedule.priority.get_or_insert(false);
        filled
    }

    /// Threads of a workgroup.
    pub fn threads(&self) -> i64 {
        self.waves[0] * self.waves[1] * self.atom.wave
    }

    /// Element type of operand 0 (A) or 1 (B).
    pub fn input(&self, _operand: usize) -> ElementType {
        self.atom.input
    }

    /// A, B or C.
    pub fn operand(&self, operand: usize) -> &Operand {
        [&self.problem.a, &self.problem.b, &self.problem.c][operand]
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

fn memory_order(problem: &Problem, operand: usize) -> &'static str {
    let layout: &OperandLayout = match operand {
        0 => &problem.a.layout,
        1 => &problem.b.layout,
        _ => &problem.c.layout,
    };
    order(operand, layout)
}

/// The widest load of whole elements: 128 bits.
fn widest_load(element: ElementType) -> i64 {
    128 / i64::from(element.bits())
}

/// Elements that a named load moves.
fn load_width(load: Option<&CopyAtom>, element: ElementType) -> i64 {
    load.map_or(widest_load(element), |atom| atom.elements(element))
}
