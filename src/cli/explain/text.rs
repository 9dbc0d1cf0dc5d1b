//! The explanation as text.

use super::Occupancy;
use serde_json::Value;
use tilefold::{Compiled, Score};
use tilefold_passes::search::{
    Proposal,
    layouts::{Candidate, LayoutSearch},
    schedules::{Choices, Figures, Kind, MARGIN, ScheduleSearch, Step, Weighed},
};

/// What was chosen, why, and what it beat.
pub fn text(compiled: &Compiled) -> String {
    let search = &compiled.search;
    let mut lines = vec![format!("plan for {}", compiled.manifest.arch)];
    plan(&compiled.manifest.spec, &mut lines);
    let occupancy = Occupancy::of(compiled);
    lines.push(format!(
        "occupancy: {} waves per SIMD, set by {} (registers allow {}, LDS {})",
        occupancy.waves_per_simd, occupancy.set_by, occupancy.by_registers, occupancy.by_lds
    ));
    let kept = search.proposals.plans.get(search.kept);
    let places = kept.map_or(&[][..], |proposal| &proposal.layouts);
    match (&search.proposals.schedules, kept) {
        (Some(schedules), Some(kept)) => {
            let finalists = search.proposals.plans.iter().zip(&search.scores);
            searched(schedules, kept, &mut lines);
            lines.push(format!(
                "compiled to decide, within {:.0} % of the least modelled time:",
                100.0 * MARGIN
            ));
            for (index, (proposal, score)) in finalists.enumerate() {
                lines.push(finalist(proposal, score, index == search.kept));
            }
            beaten(schedules, &mut lines);
        }
        _ if places.iter().any(Option::is_some) => lines.push(
            "\nno tile that the rules reach can be built: tile and schedule are as the spec says \
             and by default"
                .into(),
        ),
        _ => lines.push("\nnothing was searched: the spec says it all".into()),
    }
    for (name, place) in ["A", "B"].into_iter().zip(places) {
        if let Some(found) = place {
            placed(name, found, &mut lines);
        }
    }
    lines.join("\n")
}

/// The completed spec, key by key.
fn plan(spec: &Value, lines: &mut Vec<String>) {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            items.join(" x ")
        }
        other => other.to_string(),
    };
    for table in ["tile", "atoms", "copy", "mma", "lds", "schedule"] {
        for (key, value) in spec[table].as_object().into_iter().flatten() {
            match value.as_object() {
                None => lines.push(format!("  {table}.{key} = {}", plain(value))),
                Some(inner) => lines.extend(
                    inner
                        .iter()
                        .map(|(name, value)| format!("  {table}.{key}.{name} = {}", plain(value))),
                ),
            }
        }
    }
}

fn searched(schedules: &ScheduleSearch, kept: &Proposal, lines: &mut Vec<String>) {
    let refused: usize = schedules.refused.values().sum();
    lines.push(format!(
        "\nsearched: {} kernels weighed; {refused} refused{}",
        schedules.weighed,
        if refused == 0 { "" } else { ":" }
    ));
    for (reason, count) in &schedules.refused {
        lines.push(format!("  {count} for {reason}"));
    }
    let unweighed: Vec<&str> = Kind::UNWEIGHED.into_iter().map(Kind::name).collect();
    lines.push(format!(
        "the model cannot tell values of {} apart: they are tried with the best, and counted where \
         compiled",
        unweighed.join(", ")
    ));
    lines.push("from one wave with one atom and what the spec says, by:".into());
    for steps in kept.chain.chunk_by(|a, b| a.rule == b.rule) {
        if let Some(Step { rule, choice }) = steps.last() {
            let times = match steps.len() {
                1 => String::new(),
                steps => format!(", in {steps} steps"),
            };
            lines.push(format!("  {rule} -> {choice}{times}"));
        }
    }
}

/// The choices that tell kernels apart, in a line.
fn choices(choices: &Choices) -> String {
    let [m, n, k] = choices.block;
    let [waves_m, waves_n] = choices.waves;
    let mut line = format!(
        "tile {m} x {n} x {k}, waves {waves_m} x {waves_n}, {} buffer{}, prefetch {}",
        choices.buffers,
        if choices.buffers == 1 { "" } else { "s" },
        choices.prefetch
    );
    let least = Choices::default();
    for kind in [
        Kind::Cadence,
        Kind::Ahead,
        Kind::Lead,
        Kind::Commit,
        Kind::Priority,
    ] {
        let leaf = choices.get(kind);
        if leaf != least.get(kind) {
            line += &format!(", {} {}", kind.name(), leaf.value());
        }
    }
    line + &format!(", groups of {}", choices.group_rows)
}

fn expected(figures: &Figures) -> String {
    let waste = match figures.waste {
        waste if waste > 1.0 => format!(", {:.1} % beyond the edges", 100.0 * (waste - 1.0)),
        _ => String::new(),
    };
    format!(
        "{:.3} instructions per mma, {} VGPRs, {} bytes of LDS{waste}",
        figures.instructions_per_mma, figures.vgprs, figures.lds_bytes
    )
}

fn finalist(proposal: &Proposal, score: &Score, kept: bool) -> String {
    let mark = if kept { "*" } else { " " };
    let compiled = format!(
        "{:.3} instructions per mma, {} VGPRs, {} spills",
        score.instructions_per_mma, score.vgprs, score.spills
    );
    let expected = match &proposal.figures {
        Some(figures) => format!("\n      expected {}", expected(figures)),
        None => String::new(),
    };
    let choices = choices(&Choices::of(&proposal.plan));
    format!("  {mark} {choices}\n      compiled {compiled}{expected}")
}

fn beaten(schedules: &ScheduleSearch, lines: &mut Vec<String>) {
    if !schedules.runners_up.is_empty() {
        lines.push("within the margin, and not compiled:".into());
    }
    for Weighed {
        choices: of,
        figures,
    } in &schedules.runners_up
    {
        lines.push(format!(
            "    {}\n      expected {}",
            choices(of),
            expected(figures)
        ));
    }
}

fn placed(name: &str, found: &LayoutSearch, lines: &mut Vec<String>) {
    lines.push(format!("\nLDS tile of {name}: {}", candidate(&found.best)));
    let enumerated = &found.enumerated;
    lines.push(format!(
        "  of {} placements with {} copies, {} pairs",
        enumerated.placements, enumerated.copies, enumerated.pairs
    ));
    if let Some(published) = &found.published {
        lines.push(format!("  published permutation: {}", candidate(published)));
    }
    for runner in &found.runners_up {
        lines.push(format!("  beaten: {}", candidate(runner)));
    }
    for step in &found.explanation {
        if let Some(rule) = step.rule {
            let backwards = if step.backwards { ", backwards" } else { "" };
            lines.push(format!("  {rule}{backwards} -> {}", step.term));
        }
    }
    if let Some(proof) = &found.zero_conflict_proof {
        lines.push(format!(
            "  of {} pairs with accesses as wide as they get none is free of conflicts, the least \
             is {} cycles; {} pairs with narrower ones are",
            proof.at_widest, proof.least_cycles, proof.free_with_more_instructions
        ));
    }
}

fn candidate(of: &Candidate) -> String {
    let mut line = format!(
        "{} by {} o {}, reads of {} bits with {} conflict cycles, writes of {} with {}, {} bytes, {} \
         address registers",
        of.lds,
        of.threads,
        of.values,
        of.read_bits,
        of.read_cycles,
        of.write_bits,
        of.write_cycles,
        of.cost.bytes,
        of.cost.registers
    );
    if of.stores != of.values {
        line += &format!(
            ", stored in the order {} by {} permutes",
            of.stores, of.cost.permutes
        );
    }
    line
}
