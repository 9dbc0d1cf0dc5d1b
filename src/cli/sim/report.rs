//! The report of a simulation as tables for a terminal.

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use std::fmt::Display;
use tilefold_sim::{Counters, Finding, Report};

fn table() -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table
}

/// Name of a unit variant as JSON has it, such as `lds`.
fn name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "?".into(),
    }
}

/// The report, with the `hot` instructions executed most often.
pub fn text(report: &Report, hot: usize) -> String {
    let mut text = format!(
        "{}\n{}\n{}",
        checks(report),
        counters(&report.counters),
        moved(&report.counters)
    );
    if !report.counters.conflicts.is_empty() {
        text.push_str(&format!("\n{}", conflicts(report)));
    }
    if hot > 0 {
        text.push_str(&format!("\n{}", hottest(report, hot)));
    }
    for found in &report.findings {
        text.push_str(&format!("\n{}", finding(found)));
    }
    for note in &report.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    text
}

/// A finding, and below it the instructions that led there.
pub fn finding(finding: &Finding) -> String {
    let history = finding.history.iter();
    let history: String = history.map(|line| format!("\n    {line}")).collect();
    format!("{finding}{history}")
}

fn checks(report: &Report) -> Table {
    let mut table = table();
    for (name, count) in &report.checks {
        let found = match count {
            0 => "silent".into(),
            1 => "1 finding".into(),
            count => format!("{count} findings"),
        };
        table.add_row([(*name).to_string(), found]);
    }
    for name in &report.off {
        table.add_row([*name, "off"]);
    }
    table
}

fn counters(counters: &Counters) -> Table {
    let mut table = table();
    let mut row = |name: &str, count: &dyn Display| {
        table.add_row([name.to_string(), count.to_string()]);
    };
    row("wave instructions", &counters.wave_instructions);
    for (class, count) in counters.by_class.iter().filter(|(_, count)| **count > 0) {
        row(&format!("  {}", name(class)), count);
    }
    row("matrix instructions", &counters.mma);
    row(
        "LDS conflict cycles, reads",
        &counters.lds_conflict_cycles_read,
    );
    row(
        "LDS conflict cycles, writes",
        &counters.lds_conflict_cycles_write,
    );
    let divergence = counters.divergence;
    row("times lanes parted", &divergence.partings);
    row(
        "vector instructions with work-items off",
        &divergence.partly_off,
    );
    row(
        "lanes active in vector instructions",
        &format!("{:.1} %", 100.0 * divergence.active_share()),
    );
    table
}

fn moved(counters: &Counters) -> Table {
    let mut table = table();
    table.set_header(["bytes asked for", "read", "written"]);
    for (space, moved) in &counters.moved {
        table.add_row([
            name(space),
            moved.read.to_string(),
            moved.written.to_string(),
        ]);
    }
    table
}

fn conflicts(report: &Report) -> Table {
    let mut table = table();
    table.set_header(["LDS conflicts at", "instruction", "cycles", "accesses"]);
    for inst in &report.counters.conflicts {
        table.add_row([
            format!("{:#x}", inst.address),
            inst.instruction.clone(),
            inst.cycles.to_string(),
            inst.executions.to_string(),
        ]);
    }
    table
}

fn hottest(report: &Report, most: usize) -> Table {
    let mut table = table();
    let lines = report.instructions.iter().any(|inst| inst.source.is_some());
    let mut header = vec!["executed", "at", "instruction"];
    header.extend(lines.then_some("source"));
    table.set_header(header);
    for inst in report.hottest(most) {
        let mut row = vec![
            inst.executions.to_string(),
            format!("{:#x}", inst.address),
            inst.instruction.clone(),
        ];
        if lines {
            let source = inst.source.as_ref().map(ToString::to_string);
            row.push(source.unwrap_or_default());
        }
        table.add_row(row);
    }
    table
}
