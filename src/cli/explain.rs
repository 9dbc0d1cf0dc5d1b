//! `tilefold explain`

mod addresses;
mod choices;
mod copies;
mod text;

use super::{Report, json, print, read_spec};
use choices::Explained;
use clap::Args;
use serde_json::{Value, json as object};
use std::{collections::BTreeMap, path::PathBuf};
use tilefold::{CompileOptions, Compiled, Error, Spec, compile, report::occupancy};
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
    /// Print the rules by which addresses are placed, which the JSON report has in any case.
    #[arg(long)]
    addresses: bool,
}

/// Compiles the spec and says what was chosen and why.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let spec = read_spec(&arguments.spec)?;
    let compiled = compile(&spec, &CompileOptions::default())?;
    let explained = choices::explain(&spec, &compiled)?;
    print(&match arguments.report {
        Report::Json => json(&explain(&spec, &compiled, explained.as_ref()))?,
        Report::Text => {
            let explained = explained.as_ref();
            text::text(&spec, &compiled, explained, arguments.addresses)
        }
    })?;
    Ok(true)
}

fn explain(spec: &Spec, compiled: &Compiled, explained: Option<&Explained>) -> Value {
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
            "choices": choice_values(&Choices::of(&proposal.plan)),
            "expected": proposal.figures,
            "compiled": score,
        })
    });
    let mut explanation = object!({
        "arch": compiled.manifest.arch,
        "plan": compiled.manifest.spec,
        "occupancy": occupancy(compiled),
        "why": explained.map(choices::value),
        "copies": copies::own(spec, compiled),
        "addresses": addresses::groups(compiled),
        "address_arithmetic": addresses::left_in_loop(compiled),
        "finalists": finalists.collect::<Vec<_>>(),
        "spilled": search.spilled,
        "compiled": search.compiled,
        "searches": search.searches,
        "not_modelled": not_modelled(compiled),
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
        explanation["complete"] = object!(schedules.complete);
        explanation["refused"] = object!(schedules.refused);
        explanation["runners_up"] =
            object!(schedules.runners_up.iter().map(weighed).collect::<Vec<_>>());
        explanation["start"] = object!(schedules.start.as_ref().map(weighed));
    }
    explanation
}

/// The choices that the model has no figure for, each with the values that were compiled.
fn not_modelled(compiled: &Compiled) -> BTreeMap<&'static str, Vec<Value>> {
    let of = |kind: Kind| {
        let plans = compiled.search.proposals.plans.iter();
        let mut leaves: Vec<Leaf> = plans
            .map(|proposal| Choices::of(&proposal.plan).get(kind))
            .collect();
        leaves.sort_unstable();
        leaves.dedup();
        let values = leaves.into_iter().map(leaf_value).collect();
        (kind.name(), values)
    };
    Kind::UNWEIGHED.into_iter().map(of).collect()
}

fn weighed(weighed: &Weighed) -> Value {
    object!({ "choices": choice_values(&weighed.choices), "expected": weighed.figures })
}

/// Choices by name.
fn choice_values(choices: &Choices) -> Value {
    let entry = |leaf: Leaf| (leaf.kind().name().to_string(), leaf_value(leaf));
    Value::Object(choices.leaves().map(entry).into_iter().collect())
}

/// The value of a choice: a number where it is one.
fn leaf_value(leaf: Leaf) -> Value {
    let text = leaf.value();
    text.parse::<i64>()
        .map_or_else(|_| object!(text), |number| object!(number))
}

/// The figures of a placement with its copy.
fn placed(candidate: &Candidate) -> Value {
    object!({
        "layout": candidate.lds.to_string(),
        "threads": candidate.threads.to_string(),
        "values": candidate.values.to_string(),
        "stores": candidate.stores.to_string(),
        "conflict_cycles": [candidate.read_cycles, candidate.write_cycles],
        "bits": [candidate.read_bits, candidate.write_bits],
        "load_bits": candidate.load_bits,
        "instructions": candidate.cost.instructions,
        "cache_lines": candidate.cost.cache_lines,
        "bytes": candidate.cost.bytes,
        "permutes": candidate.cost.permutes,
        "registers": candidate.cost.registers,
    })
}

fn layout(search: &LayoutSearch) -> Value {
    let all = |of: &[Candidate]| of.iter().map(placed).collect::<Vec<_>>();
    object!({
        "best": placed(&search.best),
        "published": search.published.as_ref().map(placed),
        "runners_up": all(&search.runners_up),
        "other_copy": search.other_copy.as_ref().map(placed),
        "pareto": all(&search.pareto),
        "enumerated": search.enumerated,
        "complete": search.complete,
        "chain": search.explanation,
        "no_zero_conflicts": search.zero_conflict_proof,
    })
}
