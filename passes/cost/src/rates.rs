//! How fast each board's memory is.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// Sustained rates of one board, in TB/s (10^12 bytes a second), over all compute units.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Lines from L2.
    pub l2: f64,
    /// L2 misses that the last-level cache serves.
    pub llc: f64,
    /// L2 misses that memory serves, and stores of the result.
    pub dram: f64,
    /// Whether the model was fitted to timings of this board. On others it is a guess.
    pub on_ladder: bool,
}

#[derive(Deserialize)]
struct Row {
    device: String,
    #[serde(flatten)]
    rates: Rates,
}

impl Rates {
    /// The rates of a chip's board, both by the names of the machine record.
    pub fn of(chip: &str, device: &str) -> Option<Self> {
        static ALL: OnceLock<BTreeMap<String, Vec<Row>>> = OnceLock::new();
        ALL.get_or_init(|| {
            toml::from_str(include_str!("rates.toml")).expect("the file is embedded and tested")
        })
        .get(chip)?
        .iter()
        .find(|row| row.device == device)
        .map(|row| row.rates)
    }
}
