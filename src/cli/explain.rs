//! `tilefold explain`

use super::{Report, json, print, read_spec};
use clap::Args;
use serde_json::{Value, json as object};
use std::{collections::BTreeMap, path::PathBuf};
use tilefold::{CompileOptions, Compiled, Error, compile};
use tilefold_passes::search::{layouts::LayoutSearch, schedules::Weighed};

/// Arguments of `tilefold explain`.
#[derive(Args)]
pub struct Arguments {
    /// The spec file.
    spec: PathBuf,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "text")]
    report: Report,
}

/// Compiles the spec and says what was chosen and why.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let spec = read_spec(&arguments.spec)?;
    let compiled = compile(&spec, &CompileOptions::default())?;
    let explanation = explain(&compiled);
    print(&match arguments.report {
        Report::Json => json(&explanation)?,
        Report::Text => text(&explanation),
    })?;
    Ok(true)
}

fn explain(compiled: &Compiled) -> Value {
    let search = &compiled.search;
    let kept = search.proposals.plans.get(search.kept);
    let mut explanation = object!({
        "arch": compiled.manifest.arch,
        "plan": compiled.manifest.spec,
        "occupancy": occupancy(compiled),
        "finalists": search.proposals.plans.iter().zip(&search.scores).enumerate().map(
            |(index, (proposal, score))| object!({
                "kept": index == search.kept,
                "tile": proposal.plan.block,
                "waves": proposal.plan.waves,
                "buffers": proposal.plan.buffers,
                "ahead": proposal.plan.schedule.ahead,
                "group_rows": proposal.plan.group_rows,
                "expected": proposal.figures,
                "compiled": score,
            })
        ).collect::<Vec<_>>(),
    });
    if let Some(proposal) = kept {
        explanation["chain"] = object!(proposal.chain);
        explanation["lds"] = object!({
            "a": proposal.layouts[0].as_ref().map(layout),
            "b": proposal.layouts[1].as_ref().map(layout),
        });
    }
    if let Some(schedules) = &search.proposals.schedules {
        explanation["weighed"] = object!(schedules.weighed);
        explanation["refused"] = object!(schedules.refused);
        explanation["runners_up"] =
            object!(schedules.runners_up.iter().map(weighed).collect::<Vec<_>>());
        explanation["start"] = weighed(&schedules.start);
    }
    explanation
}

fn weighed(weighed: &Weighed) -> Value {
    let choices: BTreeMap<&str, i64> = weighed
        .choices
        .iter()
        .map(|(kind, value)| (kind.name(), *value))
        .collect();
    object!({ "choices": choices, "expected": weighed.figures })
}

fn layout(search: &LayoutSearch) -> Value {
    let figures = |candidate: &tilefold_passes::search::layouts::Candidate| {
        object!({
            "layout": candidate.lds.to_string(),
            "conflict_cycles": [candidate.read_cycles, candidate.write_cycles],
            "bits": [candidate.read_bits, candidate.write_bits],
            "bytes": candidate.cost.bytes,
            "registers": candidate.cost.registers,
        })
    };
    object!({
        "best": figures(&search.best),
        "published": search.published.as_ref().map(figures),
        "runners_up": search.runners_up.iter().map(figures).collect::<Vec<_>>(),
        "enumerated": search.enumerated,
        "chain": search.explanation,
        "no_zero_conflicts": search.zero_conflict_proof,
    })
}

/// What limits the waves of a SIMD.
fn occupancy(compiled: &Compiled) -> Value {
    let machine = compiled.plan.machine;
    let resources = &compiled.code.resources;
    let granule = machine.vgpr.granule;
    let allocated = resources.vgprs.div_ceil(granule).max(1) * granule;
    let by_registers = (machine.vgpr.per_simd / allocated).min(machine.max_waves_per_simd);
    let waves = (compiled.plan.threads() / compiled.plan.atom.wave) as u32;
    let workgroups = machine.lds.per_cu / resources.lds_bytes.max(1);
    let by_lds = (workgroups * waves / machine.simds_per_cu).min(machine.max_waves_per_simd);
    object!({
        "waves_per_simd": resources.waves_per_simd,
        "by_registers": by_registers,
        "by_lds": by_lds,
        "set_by": if by_registers < by_lds { "registers" } else { "LDS" },
    })
}

fn text(explanation: &Value) -> String {
    let plain = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), String::from)
    };
    let mut lines = vec![format!("plan for {}", plain(&explanation["arch"]))];
    for table in ["tile", "atoms", "copy", "mma", "lds", "schedule"] {
        for (key, value) in explanation["plan"][table].as_object().into_iter().flatten() {
            lines.push(format!("  {table}.{key} = {value}"));
        }
    }
    let occupancy = &explanation["occupancy"];
    lines.push(format!(
        "occupancy: {} waves per SIMD, set by {} (registers allow {}, LDS {})",
        occupancy["waves_per_simd"],
        plain(&occupancy["set_by"]),
        occupancy["by_registers"],
        occupancy["by_lds"]
    ));
    if let Some(weighed) = explanation.get("weighed") {
        lines.push(format!("\nsearched: {weighed} kernels weighed; refused:"));
        for (reason, count) in explanation["refused"].as_object().into_iter().flatten() {
            lines.push(format!("  {count} for {reason}"));
        }
        let chain = explanation["chain"].as_array().cloned().unwrap_or_default();
        lines.push("from one wave with one atom, by:".into());
        for steps in chain.chunk_by(|a, b| a["rule"] == b["rule"]) {
            if let Some(last) = steps.last() {
                let times = if steps.len() > 1 {
                    format!(", in {} steps", steps.len())
                } else {
                    String::new()
                };
                lines.push(format!(
                    "  {} -> {}{times}",
                    plain(&last["rule"]),
                    plain(&last["choice"])
                ));
            }
        }
        lines.push("compiled to decide (model's margin is 15 %):".into());
        for finalist in explanation["finalists"].as_array().into_iter().flatten() {
            lines.push(format!(
                "  {} tile {} waves {} buffers {} ahead {}: {:.3} instructions per mma, {} VGPRs, \
                 {} spills (expected {:.3}, {})",
                if finalist["kept"] == true { "*" } else { " " },
                finalist["tile"],
                finalist["waves"],
                finalist["buffers"],
                finalist["ahead"],
                finalist["compiled"]["instructions_per_mma"]
                    .as_f64()
                    .unwrap_or(f64::NAN),
                finalist["compiled"]["vgprs"],
                finalist["compiled"]["spills"],
                finalist["expected"]["instructions_per_mma"]
                    .as_f64()
                    .unwrap_or(f64::NAN),
                finalist["expected"]["vgprs"],
            ));
        }
        lines.push("within the margin, and beaten by expected instructions:".into());
        for runner in explanation["runners_up"].as_array().into_iter().flatten() {
            lines.push(format!("  {} {}", runner["choices"], runner["expected"]));
        }
    } else {
        lines.push(
            "\nnothing was searched: the spec names its tile, or no tile that the search builds \
             divides the problem"
                .into(),
        );
    }
    for operand in ["a", "b"] {
        let lds = &explanation["lds"][operand];
        if lds.is_null() {
            continue;
        }
        lines.push(format!(
            "\nLDS tile of {}: {} kept",
            operand.to_uppercase(),
            lds["best"]
        ));
        lines.push(format!("  of {}", lds["enumerated"]));
        lines.push(format!("  published permutation: {}", lds["published"]));
        for runner in lds["runners_up"].as_array().into_iter().flatten() {
            lines.push(format!("  beaten: {runner}"));
        }
        for step in lds["chain"].as_array().into_iter().flatten() {
            if let Some(rule) = step["rule"].as_str() {
                lines.push(format!("  {rule} -> {}", plain(&step["term"])));
            }
        }
        if !lds["no_zero_conflicts"].is_null() {
            lines.push(format!(
                "  none is free of conflicts: {}",
                lds["no_zero_conflicts"]
            ));
        }
    }
    lines.join("\n")
}
