//! The explanation as text.

use super::{
    addresses,
    choices::{Choice, Explained, says},
    copies::{Own, own},
    not_modelled,
};
use comfy_table::{Table, presets::NOTHING};
use serde_json::Value;
use tilefold::{
    Compiled, Score, Spec,
    report::{occupancy, occupancy_limits, occupancy_lines, waves},
};
use tilefold_passes::search::{
    Proposal,
    layouts::{Candidate, LayoutSearch},
    schedules::{Choices, Figures, Kind, MARGIN, ScheduleSearch, Step, Weighed},
};

/// Pairs of a layout and a copy that are printed of those that none matches in every figure.
const PARETO: usize = 4;

/// What was chosen, why, and what it beat.
pub fn text(
    spec: &Spec,
    compiled: &Compiled,
    explained: Option<&Explained>,
    chains: bool,
) -> String {
    let search = &compiled.search;
    let mut lines = vec![format!("plan for {}", compiled.manifest.arch)];
    plan(&compiled.manifest.spec, &mut lines);
    let occupancy = occupancy(compiled);
    lines.push("occupancy:".into());
    let limits = occupancy_limits(&occupancy);
    for (figure, limits) in occupancy_lines(&occupancy, waves(compiled))
        .into_iter()
        .zip(limits)
    {
        lines.push(format!("  {figure} ({limits})"));
    }
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
            if search.spilled > 0 {
                lines.push(format!(
                    "registers went to memory in {} of {} plans compiled in {} search{} of at most \
                     three each",
                    search.spilled,
                    search.compiled,
                    search.searches,
                    if search.searches == 1 { "" } else { "es" }
                ));
            }
            beaten(schedules, &mut lines);
            unmodelled(compiled, &mut lines);
        }
        _ => lines.push(unsearched(places, explained)),
    }
    if let Some(explained) = explained {
        why(explained, &mut lines);
    }
    carried(&own(spec, compiled), &mut lines);
    lines.extend(addresses::lines(
        &addresses::groups(compiled),
        addresses::left_in_loop(compiled),
        chains,
    ));
    for (name, place) in ["A", "B"].into_iter().zip(places) {
        if let Some(found) = place {
            placed(name, found, &mut lines);
        }
    }
    lines.join("\n")
}

/// Why no tile or schedule was searched for.
fn unsearched(places: &[Option<LayoutSearch>], explained: Option<&Explained>) -> String {
    let said = |explained: &Explained| {
        let mut choices = explained.choices.iter();
        choices.all(|choice| choice.decided_by == "spec")
    };
    match explained {
        Some(explained) if said(explained) && places.iter().all(Option::is_none) => {
            "\nnothing was searched: the spec says it all".into()
        }
        Some(Explained {
            expected: Err(refusal),
            ..
        }) => format!(
            "\nnothing that the rules reach can be built with what the spec says: tile and schedule \
             are as it says and by default, for which the search has no place ({})",
            says(refusal)
        ),
        Some(_) => {
            "\nno tile or schedule was searched: the spec says all of which there is a choice, or \
             nothing that was found goes with what it says"
                .into()
        }
        None => {
            "\nno tile or schedule was searched: no rates of the chip's memory are known".into()
        }
    }
}

/// Every choice beside the best kernel with another value.
fn why(explained: &Explained, lines: &mut Vec<String>) {
    lines.push(
        "\nwhy, choice by choice: the best kernel with another value (instructions of the main loop \
         are for each mma's worth of what is asked for; modelled times are for comparing, and \
         predict nothing):"
            .into(),
    );
    let (said, chosen): (Vec<&Choice>, Vec<&Choice>) = explained
        .choices
        .iter()
        .partition(|choice| choice.decided_by == "spec");
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table.set_header([
        "choice",
        "plan",
        "other",
        "per mma",
        "us",
        "VGPRs",
        "LDS",
        "decided by",
    ]);
    let figures = |figures: &Figures| {
        [
            format!("{:.3}", figures.instructions()),
            format!("{:.1}", figures.modelled_us),
            figures.vgprs.to_string(),
            figures.lds_bytes.to_string(),
        ]
    };
    let row = |name: &str, plan: String, other: String, of: Option<&Figures>, reason: String| {
        let [per_mma, time, vgprs, lds] = of.map_or_else(Default::default, figures);
        [
            name.to_string(),
            plan,
            other,
            per_mma,
            time,
            vgprs,
            lds,
            reason,
        ]
    };
    let plan = match &explained.expected {
        Ok(_) => String::new(),
        Err(refusal) => format!("the search does not build it: {}", says(refusal)),
    };
    let expected = explained.expected.as_ref().ok();
    table.add_row(row(
        "the plan",
        String::new(),
        String::new(),
        expected,
        plan,
    ));
    for choice in &chosen {
        let other = choice.other.as_ref();
        let text = other.map_or_else(String::new, |other| {
            let with: Vec<String> = other
                .with
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| format!("{name} {}", plain(value)))
                .collect();
            match with.is_empty() {
                true => plain(&other.value),
                false => format!("{} with {}", plain(&other.value), with.join(", ")),
            }
        });
        table.add_row(row(
            choice.choice,
            plain(&choice.value),
            text,
            other.map(|other| &other.expected),
            choice.reason.clone(),
        ));
    }
    if !chosen.is_empty() {
        lines.extend(table.lines().map(|line| format!("  {}", line.trim_end())));
    }
    if !explained.complete {
        lines.push("  among the kernels that came before the search's limit".into());
    }
    if !said.is_empty() {
        let said: Vec<&str> = said.iter().map(|choice| choice.choice).collect();
        lines.push(format!("  as the spec says: {}", said.join(", ")));
    }
    // What is refused for all is said beside the choice.
    let alone = chosen
        .iter()
        .filter(|choice| !["refused", "default"].contains(&choice.decided_by));
    let refused: Vec<String> = alone
        .flat_map(|choice| {
            let line = |reason: &String| format!("    {} {reason}", choice.choice);
            choice.alone_refused.iter().map(line)
        })
        .collect();
    if !refused.is_empty() {
        lines.push("  refused with all else as in the plan:".into());
        lines.extend(refused);
    }
}

/// Loads, layouts, copies and the epilogue.
fn carried(choices: &[Own], lines: &mut Vec<String>) {
    lines.push("\nhow tiles are carried, and C is stored:".into());
    for choice in choices {
        let other = match &choice.other {
            Some(other) => format!("; next {other}"),
            None => String::new(),
        };
        lines.push(format!(
            "  {}: {}{other}; {}",
            choice.choice, choice.value, choice.reason
        ));
    }
}

/// What was compiled of the choices that the model has no figure for.
fn unmodelled(compiled: &Compiled, lines: &mut Vec<String>) {
    let compiled: Vec<String> = not_modelled(compiled)
        .into_iter()
        .map(|(name, values)| {
            let values: Vec<String> = values.iter().map(plain).collect();
            format!("{name} {}", values.join(" and "))
        })
        .collect();
    let kinds: Vec<&str> = Kind::UNWEIGHED.into_iter().map(Kind::name).collect();
    lines.push(format!(
        "what {} are worth the model does not know (of a priority it counts the instructions): of \
         kernels that are equal by the model the first in a fixed order goes first; compiled were {}",
        kinds.join(", "),
        compiled.join(", ")
    ));
}

/// A value as people read it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The completed spec, key by key.
fn plan(spec: &Value, lines: &mut Vec<String>) {
    let plain = |value: &Value| match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            items.join(" x ")
        }
        other => plain(other),
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
    if !schedules.complete {
        lines.push("  stopped by its limit, with the best so far".into());
    }
    for (reason, count) in &schedules.refused {
        lines.push(format!("  {count} for {reason}"));
    }
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
        Kind::Slice,
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
        "{:.3} instructions per mma, {:.1} us modelled, {} VGPRs, {} bytes of LDS{waste}",
        figures.instructions_per_mma, figures.modelled_us, figures.vgprs, figures.lds_bytes
    )
}

fn finalist(proposal: &Proposal, score: &Score, kept: bool) -> String {
    let mark = if kept { "*" } else { " " };
    let compiled = format!(
        "{:.3} instructions per mma, {} VGPRs, {}",
        score.instructions_per_mma,
        score.vgprs,
        spilled(score)
    );
    let expected = match &proposal.figures {
        Some(figures) => format!("\n      expected {}", expected(figures)),
        None => String::new(),
    };
    let choices = choices(&Choices::of(&proposal.plan));
    format!("  {mark} {choices}\n      compiled {compiled}{expected}")
}

/// What goes through memory: registers, and bytes of it.
fn spilled(score: &Score) -> String {
    if !score.spills() {
        return match score.sgpr_spills {
            0 => "no spills".into(),
            count => format!("{count} SGPRs spilled to lanes of VGPRs, nothing to memory"),
        };
    }
    format!(
        "{} VGPRs and {} SGPRs spilled, {} bytes of scratch",
        score.vgpr_spills, score.sgpr_spills, score.scratch_bytes
    )
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
        "  of {} placements with {} copies, {} pair{}: {}",
        enumerated.placements,
        enumerated.copies,
        enumerated.pairs,
        if enumerated.pairs == 1 { "" } else { "s" },
        match found.complete {
            true => "all that the rules reach",
            false => "the search stopped at its limits before the rules were exhausted",
        }
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
    let (first, rest) = found.pareto.split_at(found.pareto.len().min(PARETO));
    if found.pareto.len() > 1 {
        lines.push(format!(
            "  Pareto set: {} pairs that no other{} matches in every figure:",
            found.pareto.len(),
            match found.complete {
                true => String::new(),
                false => format!(" of the {} that were looked at", enumerated.pairs),
            }
        ));
        lines.extend(first.iter().map(|it| format!("    {}", candidate(it))));
        if !rest.is_empty() {
            lines.push(format!("    and {} more, in the JSON report", rest.len()));
        }
    } else {
        lines.push(format!("  {}", alone(found.complete, enumerated.pairs)));
    }
    if let Some(proof) = &found.zero_conflict_proof {
        lines.push(format!(
            "  none of the {} pairs with accesses as wide as they get is free of conflicts, the \
             least is {} cycles; {} pairs with narrower ones are free (pairs of the orders, paddings \
             and swizzles that the rules reach)",
            proof.at_widest, proof.least_cycles, proof.free_with_more_instructions
        ));
    }
}

/// What is known where no pair but the best is in the Pareto set of those that were looked at.
fn alone(complete: bool, pairs: usize) -> String {
    match (complete, pairs) {
        (true, _) => {
            "no other pair is better in any figure: the best is the whole Pareto set".into()
        }
        (false, 0 | 1) => "no other pair was looked at".into(),
        (false, _) => {
            format!("of the {pairs} pairs that were looked at no other is better in any figure")
        }
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

#[cfg(test)]
mod tests {
    use super::alone;

    #[test]
    fn only_all_pairs_are_a_whole_set() {
        let whole = |complete, pairs| alone(complete, pairs).contains("whole Pareto set");
        assert!(whole(true, 1) && whole(true, 9) && !whole(false, 1) && !whole(false, 9));
        assert_eq!(alone(false, 1), "no other pair was looked at");
        assert!(alone(false, 9).contains("of the 9 pairs"));
    }
}
