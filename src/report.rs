//! Reports of compilations and runs, as JSON and as text.

use crate::{Compiled, Outcome, compile::CompileMs};
use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;
use serde_json::Value;
use tilefold_machine::{Limit, Occupancy, Workgroup};
use tilefold_rocdl::Resources;

/// What a compilation reports. Its JSON keys are stable.
#[derive(Clone, Debug, Serialize)]
pub struct CompileReport {
    /// The chip.
    pub arch: String,
    /// The kernel's name.
    pub kernel: String,
    /// Registers, LDS, occupancy and the main loop.
    #[serde(flatten)]
    pub resources: Resources,
    /// What a compute unit holds of it, and what sets that.
    pub occupancy: Occupancy,
    /// Waves of a workgroup.
    pub workgroup_waves: u32,
    /// The completed spec.
    pub plan: Value,
    /// What is wrong with the kernel, though it is correct.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Milliseconds by stage.
    pub compile_ms: CompileMs,
}

/// What a run reports, beside what its compilation does.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The compilation's report.
    #[serde(flatten)]
    pub compile: CompileReport,
    /// The run.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl CompileReport {
    /// The report of a compiled kernel.
    pub fn new(compiled: &Compiled) -> Self {
        let of = &compiled.code.resources;
        let went = [of.vgpr_spills, of.sgpr_spills, of.scratch_bytes];
        let searched = [compiled.search.compiled, compiled.search.searches];
        Self {
            arch: compiled.manifest.arch.clone(),
            kernel: compiled.manifest.kernel.clone(),
            resources: compiled.code.resources,
            occupancy: occupancy(compiled),
            workgroup_waves: waves(compiled),
            plan: compiled.manifest.spec.clone(),
            warnings: spills(went, searched)
                .into_iter()
                .chain(cut_short(compiled))
                .collect(),
            compile_ms: compiled.compile_ms,
        }
    }

    /// The report as a table for a terminal.
    pub fn to_text(&self) -> String {
        let resources = &self.resources;
        let mut table = Table::new();
        table.load_preset(UTF8_FULL_CONDENSED);
        let mut row = |name: &str, value: String| {
            table.add_row([name.to_string(), value]);
        };
        row("kernel", format!("{} for {}", self.kernel, self.arch));
        row("tile", plan_line(&self.plan));
        row(
            "registers",
            format!("{} VGPRs, {} SGPRs", resources.vgprs, resources.sgprs),
        );
        row(
            "spills",
            spilled([
                resources.vgpr_spills,
                resources.sgpr_spills,
                resources.scratch_bytes,
            ]),
        );
        row("LDS", format!("{} bytes", resources.lds_bytes));
        row(
            "occupancy",
            occupancy_lines(&self.occupancy, self.workgroup_waves).join("\n"),
        );
        if let Some(main_loop) = &resources.main_loop {
            row(
                "main loop",
                format!(
                    "{} instructions: {} mma, {} LDS loads, {} LDS stores, {} global loads, \
                     {} waits, {} VALU, {} SALU, {} other",
                    main_loop.total,
                    main_loop.mma,
                    main_loop.lds_loads,
                    main_loop.lds_stores,
                    main_loop.global_loads,
                    main_loop.waits,
                    main_loop.valu,
                    main_loop.salu,
                    main_loop.other
                ),
            );
        }
        for warning in &self.warnings {
            row("warning", warning.clone());
        }
        row("compiled in", format!("{:.0} ms", self.compile_ms.total));
        table.to_string()
    }
}

/// Waves of a workgroup of a compiled kernel.
pub fn waves(compiled: &Compiled) -> u32 {
    (compiled.plan.threads() / compiled.plan.atom.wave) as u32
}

/// What a compute unit holds of a compiled kernel, and what sets that.
pub fn occupancy(compiled: &Compiled) -> Occupancy {
    let resources = &compiled.code.resources;
    compiled.plan.machine.occupancy(Workgroup {
        waves: waves(compiled),
        vgprs: resources.vgprs,
        lds_bytes: resources.lds_bytes,
    })
}

/// Both figures of an occupancy, for workgroups of so many waves, and what sets them: that of
/// LLVM and of published tables, and that of whole workgroups.
pub fn occupancy_lines(occupancy: &Occupancy, waves: u32) -> [String; 2] {
    let plural = |count: u32| if count == 1 { "" } else { "s" };
    [
        format!(
            "{} waves per SIMD as LLVM and published tables count, set by {}",
            occupancy.waves_per_simd,
            set_by(&occupancy.waves_set_by),
        ),
        format!(
            "{} whole workgroup{} of {waves} wave{} per CU, which is {} waves per SIMD, set by {}",
            occupancy.workgroups,
            plural(occupancy.workgroups),
            plural(waves),
            occupancy.resident_waves_per_simd,
            set_by(&occupancy.workgroups_set_by),
        ),
    ]
}

/// What each limit alone would allow, of both figures of an occupancy.
pub fn occupancy_limits(occupancy: &Occupancy) -> [String; 2] {
    let lds = |figure: Option<u32>| figure.map_or("any".into(), |figure| figure.to_string());
    let (by, whole) = (occupancy.waves_by, occupancy.workgroups_by);
    [
        format!(
            "registers allow {}, LDS {}, slots {}",
            by.registers,
            lds(by.lds),
            by.slots
        ),
        format!(
            "registers allow {} ({} allocated to a wave), LDS {} ({} bytes allocated), slots {}",
            whole.registers,
            occupancy.allocated_vgprs,
            lds(whole.lds),
            occupancy.allocated_lds_bytes,
            whole.slots
        ),
    ]
}

fn set_by(limits: &[Limit]) -> String {
    let names: Vec<&str> = limits.iter().copied().map(limit).collect();
    names.join(" and ")
}

fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Registers => "registers",
        Limit::Lds => "LDS",
        Limit::WaveSlots => "wave slots",
        Limit::Barriers => "barriers",
        Limit::Workgroup => "what one workgroup may have",
    }
}

/// Vector and scalar registers that were spilled, and bytes of memory, in a line.
fn spilled([vectors, scalars, bytes]: [u32; 3]) -> String {
    // Without memory there is nowhere else.
    let to = match (scalars, bytes) {
        (1.., 0) => " to lanes of VGPRs",
        _ => "",
    };
    format!("{vectors} VGPRs, {scalars} SGPRs{to}, {bytes} bytes of scratch")
}

/// A warning where so many vector and scalar registers go to so many bytes of memory. `compiled`
/// plans were compiled in so many `searches`.
fn spills([vectors, scalars, bytes]: [u32; 3], [compiled, searches]: [usize; 2]) -> Option<String> {
    // Scalars go to lanes of vector registers first.
    if vectors == 0 && bytes == 0 {
        return None;
    }
    // What spills is only kept where all do.
    let all = match [compiled, searches] {
        [0 | 1, _] => String::new(),
        [_, 1] => format!("; so do those of all {compiled} plans that were compiled"),
        _ => format!("; so do those of all {compiled} plans compiled in {searches} searches"),
    };
    let scalars = match scalars {
        0 => String::new(),
        count => format!(" ({count} scalar ones go to lanes of vector registers, or there too)"),
    };
    Some(format!(
        "{vectors} vector registers go to {bytes} bytes of memory a lane{scalars}{all}: take a \
         smaller tile or more waves"
    ))
}

/// A warning for each tile whose place in LDS has conflicts, and whose search ended by its limits.
fn cut_short(compiled: &Compiled) -> impl Iterator<Item = String> {
    let search = &compiled.search;
    let layouts = search.proposals.plans.get(search.kept);
    let layouts = layouts.map(|plan| plan.layouts.each_ref());
    let tiles = ["A", "B"].into_iter().zip(layouts.into_iter().flatten());
    tiles.filter_map(|(operand, found)| {
        let found = found.as_ref().filter(|found| found.is_cut_short())?;
        Some(format!(
            "a tile of {operand} in LDS has {} conflict cycles, and its search was cut short by its \
             limits: say more of the plan, as of the tile, or the place itself",
            found.best.cost.conflict_cycles
        ))
    })
}

/// The choices of a completed spec that people ask for first, in a line.
fn plan_line(plan: &Value) -> String {
    let text = |pointer: &str| match plan.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value
            .to_string()
            .replace(',', " x ")
            .replace(['[', ']'], ""),
        None => "?".into(),
    };
    format!(
        "{}, waves {}, {}, {}, {} buffers",
        text("/tile/block"),
        text("/tile/waves"),
        text("/atoms/mma"),
        match plan.pointer("/atoms/load") {
            Some(_) => text("/atoms/load"),
            None => "loads of A and of B by widths of their own".into(),
        },
        text("/lds/buffers")
    )
}

impl RunReport {
    /// The report of a run.
    pub fn new(compiled: &Compiled, outcome: Outcome) -> Self {
        Self {
            compile: CompileReport::new(compiled),
            outcome,
        }
    }

    /// The report as tables for a terminal.
    pub fn to_text(&self) -> String {
        let outcome = &self.outcome;
        let shape = outcome.shape;
        let mut table = Table::new();
        table.load_preset(UTF8_FULL_CONDENSED);
        let mut row = |name: &str, value: String| {
            table.add_row([name.to_string(), value]);
        };
        row(
            "problem",
            format!("{} x {} x {}", shape.m, shape.n, shape.k),
        );
        row(
            "result",
            match (outcome.correct, outcome.exact) {
                (true, true) => "equal to the reference, element for element".into(),
                (true, false) => {
                    format!(
                        "within the bound; largest error {:.3e}",
                        outcome.max_abs_error
                    )
                }
                (false, _) => format!("WRONG: {} elements differ", outcome.mismatches),
            },
        );
        let found: Vec<String> = outcome
            .checks
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(name, count)| format!("{name}: {count}"))
            .collect();
        row(
            "checks",
            if found.is_empty() {
                format!("all {} silent", outcome.checks.len())
            } else {
                found.join(", ")
            },
        );
        let counters = &outcome.counters;
        row(
            "counters",
            format!(
                "{} wave instructions, {} of them mma; {} and {} LDS conflict cycles in reads and \
                 writes; {} and {} bytes of memory read and written",
                counters.wave_instructions,
                counters.mma,
                counters.lds_conflict_cycles_read,
                counters.lds_conflict_cycles_write,
                counters.global_bytes_read,
                counters.global_bytes_written
            ),
        );
        row("simulated in", format!("{:.2} s", outcome.seconds));
        let mut text = format!("{}\n{table}", self.compile.to_text());
        for note in outcome
            .first_mismatch
            .iter()
            .chain(&outcome.findings)
            .chain(&outcome.notes)
        {
            text.push('\n');
            text.push_str(note);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::spills;

    #[test]
    fn lanes_of_registers_are_no_memory() {
        assert_eq!(spills([0; 3], [6, 2]), None);
        assert_eq!(spills([0, 76, 0], [6, 3]), None);
        assert_eq!(
            super::spilled([0, 76, 0]),
            "0 VGPRs, 76 SGPRs to lanes of VGPRs, 0 bytes of scratch"
        );
        assert_eq!(
            super::spilled([0, 0, 0]),
            "0 VGPRs, 0 SGPRs, 0 bytes of scratch"
        );
        let memory = spills([3, 0, 16], [9, 3]).unwrap();
        assert!(memory.starts_with("3 vector registers go to 16 bytes of memory a lane; so do"));
        assert!(
            memory.contains("all 9 plans compiled in 3 searches"),
            "{memory}"
        );
        let both = spills([3, 2, 16], [1, 1]).unwrap();
        assert!(
            both.contains("(2 scalar ones go to lanes of vector registers"),
            "{both}"
        );
    }
}
