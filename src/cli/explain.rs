//! `tilefold explain`

mod text;

use super::{Report, json, print, read_spec};
use clap::Args;
use serde_json::{Value, json as object};
use std::path::PathBuf;
use tilefold::{CompileOptions, Compiled, Error, compile};
use tilefold_passes::search::{
    layouts::{Candidate, LayoutSearch},
    schedules::{Choices, Kind, Leaf, Weighed},
};

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
        Report::Text => text::text(&compiled),
    })?;
    Ok(true)
}

fn explain(compiled: &Compiled) -> Value {
    let search = &compiled.search;
    let kept = search.proposals.plans.get(search.kept);
    let finalists = search
        .proposals
        .plans
        .iter()
        .zip(&search.scores)
        .enumerate();
    let finalists = finalists.map(|(index, (proposal, score))| {
        object!({
            "kept": index == search.kept,
            "choices": choices(&Choices::of(&proposal.plan)),
            "expected": proposal.figures,
            "compiled": score,
        })
    });
    let mut explanation = object!({
        "arch": compiled.manifest.arch,
        "plan": compiled.manifest.spec,
        "occupancy": Occupancy::of(compiled),
        "finalists": finalists.collect::<Vec<_>>(),
        "not_modelled": Kind::UNWEIGHED.map(Kind::name),
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
        explanation["start"] = object!(schedules.start.as_ref().map(weighed));
    }
    explanation
}

fn weighed(weighed: &Weighed) -> Value {
    object!({ "choices": choices(&weighed.choices), "expected": weighed.figures })
}

fn choices(choices: &Choices) -> Value {
    let entry = |leaf: Leaf| {
        let text = leaf.value();
        let value = text
            .parse::<i64>()
            .map_or_else(|_| object!(text), |number| object!(number));
        (leaf.kind().name().to_string(), value)
    };
    Value::Object(choices.leaves().map(entry).into_iter().collect())
}

fn layout(search: &LayoutSearch) -> Value {
    let figures = |candidate: &Candidate| {
        object!({
            "layout": candidate.lds.to_string(),
            "conflict_cycles": [candidate.read_cycles, candidate.write_cycles],
            "bits": [candidate.read_bits, candidate.write_bits],
            "bytes": candidate.cost.bytes,
            "permutes": candidate.cost.permutes,
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
#[derive(serde::Serialize)]
struct Occupancy {
    waves_per_simd: u32,
    by_registers: u32,
    by_lds: u32,
    set_by: &'static str,
}

impl Occupancy {
    fn of(compiled: &Compiled) -> Self {
        let machine = compiled.plan.machine;
        let resources = &compiled.code.resources;
        let granule = machine.vgpr.granule;
        let allocated = resources.vgprs.div_ceil(granule).max(1) * granule;
        let by_registers = (machine.vgpr.per_simd / allocated).min(machine.max_waves_per_simd);
        let waves = (compiled.plan.threads() / compiled.plan.atom.wave) as u32;
        let workgroups = machine.lds.per_cu / resources.lds_bytes.max(1);
        let by_lds = (workgroups * waves / machine.simds_per_cu).min(machine.max_waves_per_simd);
        Self {
            waves_per_simd: resources.waves_per_simd,
            by_registers,
            by_lds,
            set_by: if by_registers < by_lds {
                "registers"
            } else {
                "LDS"
            },
        }
    }
}
