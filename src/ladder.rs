//! The published ladder: its specs, and what was published of them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tilefold_dialect::spec::{Spec, SpecError};

/// One step of the ladder.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name, that of its spec file.
    pub name: String,
    /// LDS bytes of a workgroup.
    pub lds_bytes: Option<u32>,
    /// Waves per SIMD, for `gfx11` and `gfx12`.
    #[serde(default)]
    pub waves_per_simd: BTreeMap<String, u32>,
    /// Vector registers, for `gfx11` and `gfx12`.
    #[serde(default)]
    pub vgprs: BTreeMap<String, u32>,
    /// Milliseconds at 8192 x 8192 x 8192, by chip.
    #[serde(default)]
    pub ms: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    step: Vec<Step>,
}

macro_rules! specs {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../specs/ladder/", $name, ".toml")))),*]
    };
}

/// The specs of the steps, in order.
const SPECS: &[(&str, &str)] = specs!["1", "2", "3-pad", "3-xor", "4", "5", "6", "7", "8", "tuned"];

/// The steps with what was published of them, in order.
pub fn steps() -> Vec<Step> {
    let published: Published = toml::from_str(include_str!("ladder/published.toml"))
        .expect("a test reads the published figures");
    published.step
}

impl Step {
    /// The step's spec, for a chip.
    ///
    /// # Errors
    /// A [`SpecError`] where the chip is unknown.
    pub fn spec(&self, chip: &str) -> Result<Spec, SpecError> {
        let text = SPECS
            .iter()
            .find(|(name, _)| *name == self.name)
            .map_or("", |(_, text)| text);
        let text = text.replace("arch = \"gfx1201\"", &format!("arch = {chip:?}"));
        Spec::from_toml(&format!("{}.toml", self.name), text)
    }

    /// A figure of the two columns of the published resource tables, for a chip.
    pub fn column(figures: &BTreeMap<String, u32>, chip: &str) -> Option<u32> {
        // The tables name two generations; the boards of this ladder are these.
        let column = match chip {
            "gfx1100" | "gfx1151" => "gfx11",
            "gfx1201" => "gfx12",
            _ => return None,
        };
        figures.get(column).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_spec_and_figures() {
        let names: Vec<String> = steps().into_iter().map(|step| step.name).collect();
        assert!(names.iter().eq(SPECS.iter().map(|(name, _)| name)));
        for step in steps() {
            for chip in ["gfx1100", "gfx1151", "gfx1201"] {
                assert_eq!(step.spec(chip).unwrap().arch, chip);
            }
        }
    }
}
