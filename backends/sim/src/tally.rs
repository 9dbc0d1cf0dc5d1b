//! Sums of one workgroup, and of all.

use crate::check::{Check, Finding};

/// What one instruction did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) executions: u64,
    /// Lanes that were off, of vector instructions.
    pub(crate) off: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
    /// Bytes of LDS that a vector memory instruction moved: flat accesses, and loads into LDS.
    pub(crate) lds_read: u64,
    pub(crate) lds_written: u64,
}

/// What a workgroup counted and found.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    pub(crate) checks: [u64; Check::ALL.len()],
    pub(crate) findings: Vec<Finding>,
    pub(crate) trace: Option<String>,
    /// By instruction of the program.
    pub(crate) counts: Vec<Count>,
    /// Vector instructions executed while some work-items were off.
    pub(crate) partly_off: u64,
    /// Times that lanes parted.
    pub(crate) partings: u64,
    /// Bytes that memory instructions read and wrote, LDS instructions left out.
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) conflicts_read: u64,
    pub(crate) conflicts_write: u64,
    /// Per LDS instruction: spans accessed and conflict cycles.
    pub(crate) conflicts: Vec<(u64, u64)>,
}

impl Tally {
    pub(crate) fn new(instructions: usize, ds_count: usize) -> Tally {
        Tally {
            checks: [0; Check::ALL.len()],
            findings: Vec::new(),
            trace: None,
            counts: vec![Count::default(); instructions],
            partly_off: 0,
            partings: 0,
            read: 0,
            written: 0,
            conflicts_read: 0,
            conflicts_write: 0,
            conflicts: vec![(0, 0); ds_count],
        }
    }

    /// Counts a finding; the first `kept` stay.
    pub(crate) fn find(&mut self, finding: Finding, kept: usize) {
        self.checks[finding.check as usize] += 1;
        if self.findings.len() < kept {
            self.findings.push(finding);
        }
    }

    /// Adds what a later workgroup has; the first `findings` findings stay.
    pub(crate) fn add(&mut self, other: Tally, findings: usize) {
        let add = |sums: &mut [u64], more: &[u64]| {
            for (sum, more) in sums.iter_mut().zip(more) {
                *sum += more;
            }
        };
        add(&mut self.checks, &other.checks);
        for (sum, more) in self.counts.iter_mut().zip(&other.counts) {
            sum.executions += more.executions;
            sum.off += more.off;
            sum.read += more.read;
            sum.written += more.written;
            sum.lds_read += more.lds_read;
            sum.lds_written += more.lds_written;
        }
        self.partly_off += other.partly_off;
        self.partings += other.partings;
        self.read += other.read;
        self.written += other.written;
        self.conflicts_read += other.conflicts_read;
        self.conflicts_write += other.conflicts_write;
        for (sum, more) in self.conflicts.iter_mut().zip(&other.conflicts) {
            sum.0 += more.0;
            sum.1 += more.1;
        }
        self.trace = self.trace.take().or(other.trace);
        let room = findings.saturating_sub(self.findings.len());
        self.findings.extend(other.findings.into_iter().take(room));
    }
}
