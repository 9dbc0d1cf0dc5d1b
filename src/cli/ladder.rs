//! `tilefold ladder`

use super::{Report, json, print};
use clap::Args;
use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tilefold::{
    CompileOptions, Error, RunOptions, compile,
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
    ours: RunReport,
}

/// Compiles and runs every step; whether all are right.
pub fn main(arguments: &Arguments) -> Result<bool, Error> {
    let steps = steps();
    let style = ProgressStyle::with_template("{msg:8} {bar:30} {pos}/{len}");
    let progress = ProgressBar::new(steps.len() as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut rungs = Vec::new();
    let mut passed = true;
    for step in steps {
        progress.set_message(format!("step {}", step.name));
        let compiled = compile(&step.spec(&arguments.arch)?, &CompileOptions::default())?;
        let options = RunOptions {
            extents: arguments.size.map(Some),
            ..RunOptions::default()
        };
        let outcome = run(&compiled, &options)?;
        passed &= outcome.passed();
        rungs.push(Rung {
            published: step,
            ours: RunReport::new(&compiled, outcome),
        });
        progress.inc(1);
    }
    progress.finish_and_clear();
    print(&match arguments.report {
        Report::Json => json(&rungs)?,
        Report::Text => text(&arguments.arch, &rungs),
    })?;
    Ok(passed)
}

fn text(arch: &str, rungs: &[Rung]) -> String {
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
    for Rung { published, ours } in rungs {
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
        let counters = &ours.outcome.counters;
        table.add_row([
            published.name.clone(),
            if ours.outcome.passed() {
                "exact".into()
            } else {
                "WRONG".into()
            },
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
    format!(
        "{table}\nIn brackets: published. Milliseconds are AMD's, measured at 8192 x 8192 x 8192; \
         nothing here was timed."
    )
}
