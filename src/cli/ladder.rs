//! `tilefold ladder`

use super::{Report, json, print};
use clap::Args;
use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeMap;
use tilefold::{
    CompileOptions, Compiled, Error, Extent, Outcome, RunOptions, compile,
    ladder::{Step, steps},
    report::RunReport,
    run,
};

/// Arguments of `tilefold ladder`.
#[derive(Args)]
pub struct Arguments {
    /// The chip.
    #[arg(long)]
    arch: String,
    /// The size at which every step runs on the simulator.
    #[arg(long, value_name = "M,N,K", default_value = "768,768,512", value_parser = size)]
    size: [i64; 3],
    /// The form of the report.
    #[arg(long, value_enum, default_value = "text")]
    report: Report,
}

fn size(text: &str) -> Result<[i64; 3], String> {
    let extents: Option<Vec<i64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    extents
        .and_then(|extents| extents.try_into().ok())
        .ok_or_else(|| "give three extents, such as 768,768,512".into())
}

#[derive(Serialize)]
struct Rung {
    published: Step,
    /// Whether the kernel was compiled for the size at which it ran, because the one for the
    /// published size does not take it.
    compiled_for_size: bool,
    ours: RunReport,
}

/// Compiles and runs every step; whether all are right.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let steps = steps();
    let style = ProgressStyle::with_template("{msg:8} {bar:30} {pos}/{len}");
    let progress = ProgressBar::new(steps.len() as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut rungs = Vec::new();
    for step in steps {
        progress.set_message(format!("step {}", step.name));
        let (compiled, outcome, compiled_for_size) = climbed(&step, arguments)?;
        rungs.push(Rung {
            published: step,
            compiled_for_size,
            ours: RunReport::new(&compiled, outcome),
        });
        progress.inc(1);
    }
    progress.finish_and_clear();
    print(&match arguments.report {
        Report::Json => json(&rungs)?,
        Report::Text => text(arguments, &rungs),
    })?;
    Ok(rungs.iter().all(|rung| rung.ours.outcome.passed()))
}

/// A step compiled and run: for its own size if that kernel takes the size of the run, which it
/// may not where lines are no multiple of its accesses, else for the size of the run.
fn climbed(step: &Step, arguments: &Arguments) -> Result<(Compiled, Outcome, bool), Error> {
    let mut spec = step.spec(&arguments.arch)?;
    let options = RunOptions {
        extents: arguments.size.map(Some),
        ..RunOptions::default()
    };
    let compiled = compile(&spec, &CompileOptions::default())?;
    match run(&compiled, &options) {
        Err(refused @ Error::Launch(_)) => {
            let [m, n, k] = arguments.size.map(Extent::Exact);
            (spec.problem.m, spec.problem.n, spec.problem.k) = (m, n, k);
            // What the kernel for that size cannot take either has been said.
            let Ok(compiled) = compile(&spec, &CompileOptions::default()) else {
                return Err(refused);
            };
            let outcome = run(&compiled, &options)?;
            Ok((compiled, outcome, true))
        }
        outcome => Ok((compiled, outcome?, false)),
    }
}

/// The result in a word: exact is what had to be, and is, equal to the reference.
fn verdict(correct: bool, checks_passed: bool, exact: bool) -> &'static str {
    match (correct, checks_passed, exact) {
        (false, ..) => "WRONG",
        (true, false, _) => "CHECKS FAILED",
        (true, true, true) => "exact",
        (true, true, false) => "within the bound",
    }
}

fn text(arguments: &Arguments, rungs: &[Rung]) -> String {
    let arch = &arguments.arch;
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table.set_header([
        "step",
        "result",
        "LDS",
        "VGPRs",
        "waves/SIMD",
        "main loop",
        "per mma",
        "conflicts r/w",
        "published ms",
    ]);
    let beside = |ours: u32, published: Option<u32>| match published {
        Some(published) => format!("{ours} ({published})"),
        None => ours.to_string(),
    };
    for rung in rungs {
        let Rung {
            published, ours, ..
        } = rung;
        let resources = &ours.compile.resources;
        let (total, per_mma) = match &resources.main_loop {
            Some(main_loop) => (
                format!("{} for {} mma", main_loop.total, main_loop.mma),
                format!(
                    "{:.2}",
                    f64::from(main_loop.total) / f64::from(main_loop.mma.max(1))
                ),
            ),
            None => ("none".into(), "".into()),
        };
        let outcome = &ours.outcome;
        let counters = &outcome.counters;
        let mark = if rung.compiled_for_size { " *" } else { "" };
        table.add_row([
            format!("{}{mark}", published.name),
            verdict(outcome.correct, outcome.checks_passed, outcome.exact).into(),
            beside(resources.lds_bytes, published.lds_bytes),
            beside(resources.vgprs, Step::column(&published.vgprs, arch)),
            beside(
                resources.waves_per_simd,
                Step::column(&published.waves_per_simd, arch),
            ),
            total,
            per_mma,
            format!(
                "{} / {}",
                counters.lds_conflict_cycles_read, counters.lds_conflict_cycles_write
            ),
            published
                .ms
                .get(arch)
                .map_or(String::new(), |ms| format!("{ms:.2}")),
        ]);
    }
    let mut text = format!(
        "{table}\nIn brackets: published. Milliseconds are AMD's, measured at 8192 x 8192 x 8192; \
         nothing here was timed."
    );
    if rungs.iter().any(|rung| rung.compiled_for_size) {
        let [m, n, k] = arguments.size;
        text += &format!(
            "\n* The kernel for the published size does not take {m} x {n} x {k}: this one was \
             compiled for it, with narrower accesses."
        );
    }
    let rungs = rungs.iter();
    let found = rungs.map(|rung| (&rung.published.name[..], &rung.ours.outcome.checks));
    if let Some(findings) = findings(found) {
        text += &format!("\nThe simulator's checks found (docs/simulator.md): {findings}.");
    }
    text
}

/// What the checks found in every step in which they found anything; warnings are of it, which do
/// not make a result wrong.
fn findings<'a>(
    steps: impl Iterator<Item = (&'a str, &'a BTreeMap<&'static str, u64>)>,
) -> Option<String> {
    let found = steps.filter_map(|(step, checks)| {
        let found = checks.iter().filter(|(_, count)| **count > 0);
        let found: Vec<String> = found
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        (!found.is_empty()).then(|| format!("step {step}: {}", found.join(", ")))
    });
    let found: Vec<String> = found.collect();
    (!found.is_empty()).then(|| found.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{findings, verdict};
    use std::collections::BTreeMap;

    #[test]
    fn warnings_are_counted_step_by_step() {
        let silent = BTreeMap::from([("range_reading", 0), ("lds_race", 0)]);
        let warned = BTreeMap::from([("range_reading", 6), ("lds_race", 0)]);
        let both = BTreeMap::from([("range_reading", 2), ("lds_race", 1)]);
        assert_eq!(findings([("1", &silent)].into_iter()), None);
        assert_eq!(
            findings([("1", &warned), ("2", &silent), ("4", &both)].into_iter()).unwrap(),
            "step 1: range_reading 6; step 4: lds_race 1, range_reading 2"
        );
    }

    #[test]
    fn only_what_is_exact_is_called_so() {
        for bits in 0..8 {
            let [correct, checks, exact] = [1, 2, 4].map(|bit| bits & bit != 0);
            let all = correct && checks && exact;
            assert_eq!(verdict(correct, checks, exact) == "exact", all);
        }
        assert_eq!(verdict(true, true, false), "within the bound");
        assert_eq!(verdict(false, true, true), "WRONG");
        assert_eq!(verdict(true, false, true), "CHECKS FAILED");
    }
}
