//! Tests of the passes and of the layouts that they rest on.

mod completing;
mod epilogue;
mod explanations;
mod pipeline;
mod random;
mod refusals;
mod search_layouts;
mod search_schedules;
mod tiling;

use tilefold_dialect::spec::Spec;
use tilefold_passes::Plan;

/// The plan of a spec given as TOML.
fn plan(text: &str) -> Plan {
    let spec = Spec::from_toml("spec.toml", text).unwrap();
    Plan::complete(&spec).unwrap()
}
