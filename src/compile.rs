//! From a spec to a code object.

use crate::{Error, launch};
use std::time::Instant;
use tilefold_dialect::{problem, spec::Spec, tile};
use tilefold_passes::{
    ARGUMENTS, Plan, lower,
    search::{Proposal, Proposals, Search, schedules::Limits},
    tile_module,
};
use tilefold_rocdl::{
    ArgumentType, CodeObject, Extent, Factor, Grid, KStep, KernelInfo, Manifest, Options, StageMs,
};

/// Which form of the kernel to keep as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The tile module before any pass.
    Tile,
    /// The tile module after the pass of that name.
    Pass(String),
    /// The module in the LLVM and ROCDL dialects.
    Rocdl,
    /// LLVM IR after optimisation.
    Llvm,
    /// Assembly.
    Isa,
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// A form of the kernel to keep.
    pub emit: Option<Emit>,
}

/// Milliseconds that each stage of a compilation took.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct CompileMs {
    /// Completing and checking the plan, by search where the spec leaves anything open.
    pub plan: f64,
    /// An MLIR context with the dialects.
    pub context: f64,
    /// The passes over the tile dialect.
    pub passes: f64,
    /// The lowering to ROCDL.
    pub lower: f64,
    /// The stages of the backend.
    #[serde(flatten)]
    pub backend: StageMs,
    /// All of it.
    pub total: f64,
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Every choice made.
    pub plan: Plan,
    /// The code object, its resources and its metadata.
    pub code: CodeObject,
    /// What a launcher needs to know.
    pub manifest: Manifest,
    /// The form that was asked for.
    pub emitted: Option<String>,
    /// How long it took.
    pub compile_ms: CompileMs,
    /// What was searched.
    pub search: Searched,
}

/// Searches that may follow the first, each for kernels with more registers to spare.
const RETRIES: usize = 12;

/// Compiles a spec: where it leaves anything open, every plan that the search proposes, of which
/// the one whose code is best is kept.
///
/// A plan whose registers go to memory is no candidate. Where all that are proposed spill, the
/// search goes on to kernels that have as many more registers to spare as went to memory; only
/// where none is left the one that spills least is kept.
///
/// Best is what [`Score::compare`] puts first: fewest instructions of the main loop for each matrix
/// instruction's worth of what is asked for (tiles that reach over the edges of C do more), then
/// fewest conflict cycles, then the order in which the search proposes.
///
/// # Errors
/// [`Error::Spec`] where the spec asks for what the chip or this version cannot do; the other
/// kinds are faults of the compiler.
pub fn compile(spec: &Spec, options: &CompileOptions) -> Result<Compiled, Error> {
    let start = Instant::now();
    let search = Search::new(spec, &[]);
    let (mut search_ms, mut spilled, mut layout_work) = (0.0, 0, 0);
    let (mut searches, mut plans) = (0, 0);
    let mut limits = Limits::default();
    let mut left = limits.layouts.work;
    let mut best: Option<Compiled> = None;
    for _ in 0..=RETRIES {
        let lap = Instant::now();
        // All searches for one spec share what there is to spend, and each leaves some of it to
        // those that may follow.
        limits.layouts.work = left - left / 3;
        let proposals = match search.plans(&limits) {
            // What more registers would take is no fault of the spec.
            Err(_) if best.is_some() => break,
            found => found?,
        };
        search_ms += lap.elapsed().as_secs_f64() * 1e3;
        let Some(found) = decide(proposals, options)? else {
            break;
        };
        let spent = found.search.proposals.layout_work;
        left = left.saturating_sub(spent);
        layout_work += spent;
        spilled += found.search.scores.iter().filter(|it| it.spills()).count();
        plans += found.search.scores.len();
        searches += 1;
        limits.spare_vgprs = found.search.spare_vgprs(limits.spare_vgprs);
        if best
            .as_ref()
            .is_none_or(|best| found.search.beats(&best.search))
        {
            best = Some(found);
        }
        if limits.spare_vgprs == 0 {
            break;
        }
    }
    let mut kept = best.expect("without spare registers the search proposes something");
    kept.search.spilled = spilled;
    kept.search.compiled = plans;
    kept.search.searches = searches;
    kept.search.layout_work = layout_work;
    kept.compile_ms.plan = search_ms;
    kept.compile_ms.total = start.elapsed().as_secs_f64() * 1e3;
    Ok(kept)
}

/// Compiles all proposals and keeps the best; none where there are none.
fn decide(proposals: Proposals, options: &CompileOptions) -> Result<Option<Compiled>, Error> {
    let mut compiled = Vec::new();
    for proposal in &proposals.plans {
        compiled.push(compile_plan(&proposal.plan, options)?);
    }
    let scores: Vec<Score> = proposals
        .plans
        .iter()
        .zip(&compiled)
        .map(|(proposal, compiled)| Score::of(proposal, compiled))
        .collect();
    let best = (0..compiled.len()).min_by(|a, b| scores[*a].compare(&scores[*b]));
    Ok(best.map(|best| {
        let mut kept = compiled.swap_remove(best);
        kept.search = Searched {
            proposals,
            scores,
            kept: best,
            spilled: 0,
            compiled: 0,
            searches: 0,
            layout_work: 0,
        };
        kept
    }))
}

/// Compiles one plan: nothing is searched.
///
/// # Errors
/// [`Error::Pass`] and [`Error::Rocdl`], which are faults of the compiler, or of who changed the
/// plan.
pub fn compile_plan(plan: &Plan, options: &CompileOptions) -> Result<Compiled, Error> {
    let mut lap = Instant::now();
    let mut stage = || {
        let elapsed = lap.elapsed();
        lap = Instant::now();
        elapsed.as_secs_f64() * 1e3
    };
    let context = tile::context();
    let mut compile_ms = CompileMs {
        context: stage(),
        ..CompileMs::default()
    };
    let wanted = match &options.emit {
        Some(Emit::Tile) => Some("tile"),
        Some(Emit::Pass(name)) => Some(name.as_str()),
        _ => None,
    };
    let mut emitted = None;
    let module = tile_module(&context, plan, |name, module| {
        if wanted == Some(name) {
            emitted = Some(module.as_operation().to_string());
        }
    })?;
    compile_ms.passes = stage();

    let lowered = lower(&context, &module, plan)?;
    if options.emit == Some(Emit::Rocdl) {
        emitted = Some(lowered.as_operation().to_string());
    }
    compile_ms.lower = stage();

    let kernel = kernel_info(plan);
    let backend = Options {
        want_llvm_ir: options.emit == Some(Emit::Llvm),
        want_isa: options.emit == Some(Emit::Isa),
        ..Options::default()
    };
    let mut code = tilefold_rocdl::compile(&lowered, &kernel, &plan.machine.name, &backend)?;
    compile_ms.backend = code.stage_ms;
    emitted = emitted
        .or_else(|| code.llvm_ir.take())
        .or_else(|| code.isa.take());
    let manifest = manifest(plan, &kernel, &code)?;
    Ok(Compiled {
        plan: plan.clone(),
        code,
        manifest,
        emitted,
        compile_ms,
        search: Searched::default(),
    })
}

/// What the search proposed, and how it was decided.
#[derive(Clone, Debug, Default)]
pub struct Searched {
    /// The plans that were compiled.
    pub proposals: Proposals,
    /// What decided between them, in the same order.
    pub scores: Vec<Score>,
    /// Position of the one that was kept.
    pub kept: usize,
    /// Plans that were compiled, in this search and those before, and refused because their
    /// registers went to memory.
    pub spilled: usize,
    /// Plans that were compiled in all searches, at most three in each.
    pub compiled: usize,
    /// Searches: one, and where all that it proposed spilled, those after it.
    pub searches: usize,
    /// Work of the searches for places in LDS, of this search and those before; see
    /// [`tilefold_passes::search::layouts::Limits`].
    pub layout_work: u64,
}

impl Searched {
    /// The score of the plan that was kept.
    fn score(&self) -> Option<&Score> {
        self.scores.get(self.kept)
    }

    /// Registers to spare that the search after one for `asked` must ask for; 0 where none is to
    /// follow: because the plan that was kept does not spill, or no figures say what would.
    fn spare_vgprs(&self, asked: i64) -> i64 {
        if !self.score().is_some_and(Score::spills) {
            return 0;
        }
        let more = |(proposal, score): (&Proposal, &Score)| {
            let spare = proposal.figures?.spare_vgprs;
            Some(spare + i64::from(score.vgpr_spills).max(1))
        };
        let plans = self.proposals.plans.iter().zip(&self.scores);
        let first = i64::from(asked == 0);
        plans.filter_map(more).min().unwrap_or(first)
    }

    /// Whether what was kept is better than what another search has.
    fn beats(&self, other: &Self) -> bool {
        match (self.score(), other.score()) {
            (Some(score), Some(other)) => score.compare(other).is_lt(),
            (score, _) => score.is_some(),
        }
    }
}

/// What decides between plans that the model cannot tell apart: counts of the code.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Score {
    /// Vector registers that went to memory.
    pub vgpr_spills: u32,
    /// Scalar registers that did.
    pub sgpr_spills: u32,
    /// Bytes of a lane's scratch memory.
    pub scratch_bytes: u32,
    /// Instructions of the main loop for each matrix instruction.
    pub instructions_per_mma: f64,
    /// Elements of C that are computed for each that is asked for.
    pub waste: f64,
    /// Tiles whose places in LDS are not free of conflicts, their search having been cut short by
    /// its limits.
    pub cut_short: usize,
    /// Cycles that bank conflicts add for one tile of K, all waves together, where the search has
    /// placed the tiles; 0 where the spec says their places, which all plans then share.
    pub conflict_cycles: i64,
    /// Vector registers.
    pub vgprs: u32,
}

impl Score {
    fn of(proposal: &Proposal, compiled: &Compiled) -> Self {
        let resources = &compiled.code.resources;
        let per_mma = |main_loop: &tilefold_rocdl::MainLoop| {
            f64::from(main_loop.total) / f64::from(main_loop.mma.max(1))
        };
        Self {
            vgpr_spills: resources.vgpr_spills,
            sgpr_spills: resources.sgpr_spills,
            scratch_bytes: resources.scratch_bytes,
            instructions_per_mma: resources.main_loop.as_ref().map_or(f64::INFINITY, per_mma),
            waste: waste(&compiled.plan),
            cut_short: proposal
                .layouts
                .iter()
                .flatten()
                .filter(|found| found.is_cut_short())
                .count(),
            conflict_cycles: proposal
                .layouts
                .iter()
                .flatten()
                .map(|found| found.best.cost.conflict_cycles)
                .sum(),
            vgprs: resources.vgprs,
        }
    }

    /// Whether anything goes through scratch memory. Scalar registers that lanes of vector
    /// registers hold do not.
    pub fn spills(&self) -> bool {
        self.vgpr_spills > 0 || self.scratch_bytes > 0
    }

    /// Instructions of the main loop for each matrix instruction's worth of what is asked for.
    pub fn instructions(&self) -> f64 {
        self.instructions_per_mma * self.waste
    }

    /// What goes to memory first: bytes of it, then vector registers. Then what was searched to the
    /// end goes before what has conflicts because it was not. Then fewest instructions, fewest
    /// conflict cycles, and fewest scalar registers that lanes of vector registers hold,
    /// whose instructions, where they are in the main loop, are counted. How many vector registers
    /// are used counts by the workgroups that are resident with them, in the order in which the
    /// search proposes.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        (self.scratch_bytes, self.vgpr_spills)
            .cmp(&(other.scratch_bytes, other.vgpr_spills))
            .then(self.cut_short.cmp(&other.cut_short))
            .then(self.instructions().total_cmp(&other.instructions()))
            .then(self.conflict_cycles.cmp(&other.conflict_cycles))
            .then(self.sgpr_spills.cmp(&other.sgpr_spills))
    }
}

/// Elements of C that a plan computes for each that is asked for.
fn waste(plan: &Plan) -> f64 {
    let reached = |extent: problem::Extent, tile: i64| {
        let exact = extent.exact().filter(|extent| *extent > 0);
        exact.map_or(1.0, |extent| {
            ((extent - 1) / tile + 1) as f64 * tile as f64 / extent as f64
        })
    };
    let [m, n, _] = plan.block;
    reached(plan.problem.m, m) * reached(plan.problem.n, n)
}

fn kernel_info(plan: &Plan) -> KernelInfo {
    let [block_m, block_n, _] = plan.block;
    let [m, n, k] = plan.atom.instruction_shape();
    let tiles = block_m / (m * plan.waves[0]) * (block_n / (n * plan.waves[1]));
    KernelInfo {
        name: plan.kernel.clone(),
        block: [plan.threads() as u32, 1, 1],
        dynamic_lds_bytes: 0,
        k_step: Some(KStep {
            k: k as u32,
            mma: tiles as u32,
        }),
    }
}

fn manifest(plan: &Plan, kernel: &KernelInfo, code: &CodeObject) -> Result<Manifest, Error> {
    let arguments: Vec<_> = ARGUMENTS
        .iter()
        .enumerate()
        .map(|(index, name)| {
            (
                *name,
                if index < 3 {
                    ArgumentType::Buffer
                } else {
                    ArgumentType::I32
                },
            )
        })
        .collect();
    let [m, n, _] = plan.block.map(|extent| extent as u32);
    let grid = Grid {
        x: vec![Factor::Tiles(Extent::M, m), Factor::Tiles(Extent::N, n)],
        ..Grid::default()
    };
    let spec = serde_json::to_value(&plan.completed).unwrap_or_default();
    Ok(Manifest::new(
        kernel,
        &plan.machine.name,
        code,
        &arguments,
        grid,
        launch::requirements(plan),
        spec,
    )?)
}

#[cfg(test)]
mod tests {
    use super::Score;

    /// Scalar registers in lanes of vector registers are cheaper than anything in memory, and than
    /// an instruction of the main loop.
    #[test]
    fn memory_goes_before_instructions_and_these_before_lanes() {
        let score = |vgpr_spills, sgpr_spills, scratch_bytes, instructions_per_mma| Score {
            vgpr_spills,
            sgpr_spills,
            scratch_bytes,
            instructions_per_mma,
            waste: 1.0,
            cut_short: 0,
            conflict_cycles: 0,
            vgprs: 256,
        };
        let ordered = [
            score(0, 0, 0, 2.0),
            score(0, 9, 0, 2.0),
            score(0, 0, 0, 2.5),
            score(1, 0, 4, 1.5),
            score(3, 0, 8, 1.0),
        ];
        assert!(
            ordered
                .windows(2)
                .all(|pair| pair[0].compare(&pair[1]).is_lt())
        );
        assert!(!ordered[1].spills() && ordered[3].spills());
        // What has conflicts because its search was cut short is behind what has not.
        let cut_short = Score {
            cut_short: 1,
            ..score(0, 0, 0, 1.0)
        };
        assert!(ordered[2].compare(&cut_short).is_lt() && cut_short.compare(&ordered[3]).is_lt());
    }
}
