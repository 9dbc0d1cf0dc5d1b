//! What the model says of a kernel, and which of two is better.

use super::Choices;

/// What the model expects of a kernel, per wave and K tile unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Figures {
    /// Modelled microseconds: for comparing, no prediction.
    pub modelled_us: f64,
    /// Instructions of the main loop for each matrix instruction.
    pub instructions_per_mma: f64,
    /// Elements of C that are computed for each that is asked for: more than 1 where tiles reach
    /// over its edges.
    pub waste: f64,
    /// Vector registers of a wave.
    pub vgprs: i64,
    /// Registers that a wave has besides, all waves of its workgroup being resident.
    pub spare_vgprs: i64,
    /// LDS bytes of a workgroup.
    pub lds_bytes: i64,
}

impl Figures {
    /// Instructions of the main loop for each matrix instruction's worth of what is asked for.
    pub fn instructions(&self) -> f64 {
        self.instructions_per_mma * self.waste
    }
}

/// A combination of choices with its figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed {
    /// The choices.
    pub choices: Choices,
    /// What the model expects.
    pub figures: Figures,
}

impl Weighed {
    /// Fewest instructions, then least modelled time, then fewest registers; equal figures are
    /// decided by the choices, so that the order is total.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b) = (&self.figures, &other.figures);
        a.instructions()
            .total_cmp(&b.instructions())
            .then_with(|| a.modelled_us.total_cmp(&b.modelled_us))
            .then_with(|| a.vgprs.cmp(&b.vgprs))
            .then_with(|| self.choices.cmp(&other.choices))
    }

    /// Least modelled time, then as [`Self::compare`].
    pub(super) fn compare_time(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b) = (&self.figures, &other.figures);
        let time = a.modelled_us.total_cmp(&b.modelled_us);
        time.then_with(|| self.compare(other))
    }
}
