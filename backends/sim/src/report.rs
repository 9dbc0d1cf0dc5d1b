//! What a launch reports.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::check::{Check, Finding};
use crate::counters::{Counters, InstructionCount};
use crate::sample::Sampled;

/// The outcome of a launch that ran to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How often each check that was on found something; zeros included.
    pub checks: BTreeMap<&'static str, u64>,
    /// The checks that were off.
    pub off: Vec<&'static str>,
    /// The first findings, in workgroup order.
    pub findings: Vec<Finding>,
    /// Sums.
    pub counters: Counters,
    /// Every instruction that was executed, by address.
    pub instructions: Vec<InstructionCount>,
    /// The workgroups that ran, where not all did.
    pub sampled: Option<Sampled>,
    /// The trace that was asked for, unless its workgroup did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// What was assumed, such as arguments not given.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether no check but a warning found anything.
    pub fn passed(&self) -> bool {
        Check::ALL
            .iter()
            .filter(|check| !check.is_warning())
            .all(|check| self.count(*check) == 0)
    }

    /// How often a check found something.
    pub fn count(&self, check: Check) -> u64 {
        self.checks.get(check.name()).copied().unwrap_or(0)
    }

    /// The `most` instructions executed most often, that first; the earlier address first where
    /// they are equal.
    pub fn hottest(&self, most: usize) -> Vec<&InstructionCount> {
        let mut all: Vec<_> = self.instructions.iter().collect();
        all.sort_by_key(|count| (std::cmp::Reverse(count.executions), count.address));
        all.truncate(most);
        all
    }
}
