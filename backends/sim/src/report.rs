//! What a launch reports: counters, checks and findings.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Something that a kernel must not do, or (for warnings) that deserves a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Check {
    /// A register was read or overwritten while a load into it was pending.
    MissingWait,
    /// Two waves touched the same LDS bytes between two barriers, one of them writing. An access
    /// that was not waited for before a barrier counts behind that barrier too.
    LdsRace,
    /// LDS bytes were read that nobody wrote.
    LdsUninitialized,
    /// An LDS access outside what the workgroup has.
    LdsBounds,
    /// A global, buffer or scalar access outside every buffer of the launch.
    GlobalBounds,
    /// A store into a buffer that the launch passed as an input.
    InputStore,
    /// A scratch access outside what the kernel asked for.
    ScratchBounds,
    /// The waves of a workgroup passed different numbers of barriers.
    BarrierDivergence,
    /// RDNA 3: lanes 16 to 31 of an A or B operand of WMMA do not repeat lanes 0 to 15.
    WmmaHalves,
    /// RDNA 3: a WMMA reads as A or B what the WMMA right before it writes; one other vector
    /// instruction must stand between (LLVM's hazard recogniser inserts a `v_nop`).
    WmmaHazard,
    /// Two workgroups touched the same 32-bit word of an output, one of them writing. A warning:
    /// atomics do so by intent, and neighbours share words of narrower elements. Such a launch
    /// runs its workgroups one after the other.
    WorkgroupOverlap,
    /// A buffer access on which AMD's guide (soffset counts for the range check) and LLVM's comment
    /// (it does not) differ. A warning; AMD's reading is executed.
    RangeReading,
}

impl Check {
    /// Every check, in the order of the report.
    pub const ALL: [Check; 12] = [
        Check::MissingWait,
        Check::LdsRace,
        Check::LdsUninitialized,
        Check::LdsBounds,
        Check::GlobalBounds,
        Check::InputStore,
        Check::ScratchBounds,
        Check::BarrierDivergence,
        Check::WmmaHalves,
        Check::WmmaHazard,
        Check::WorkgroupOverlap,
        Check::RangeReading,
    ];

    /// Name in reports, such as `lds_race`.
    pub fn name(self) -> &'static str {
        match self {
            Check::MissingWait => "missing_wait",
            Check::LdsRace => "lds_race",
            Check::LdsUninitialized => "lds_uninitialized",
            Check::LdsBounds => "lds_bounds",
            Check::GlobalBounds => "global_bounds",
            Check::InputStore => "input_store",
            Check::ScratchBounds => "scratch_bounds",
            Check::BarrierDivergence => "barrier_divergence",
            Check::WmmaHalves => "wmma_halves",
            Check::WmmaHazard => "wmma_hazard",
            Check::WorkgroupOverlap => "workgroup_overlap",
            Check::RangeReading => "range_reading",
        }
    }

    /// Whether it only warns: a launch with such findings alone passes.
    pub fn is_warning(self) -> bool {
        matches!(self, Check::WorkgroupOverlap | Check::RangeReading)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which checks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks(u32);

impl Checks {
    /// All of them.
    pub fn all() -> Checks {
        Checks(u32::MAX)
    }

    /// None of them.
    pub fn none() -> Checks {
        Checks(0)
    }

    /// The same with one check switched on.
    pub fn with(self, check: Check) -> Checks {
        Checks(self.0 | 1 << check as u32)
    }

    /// The same with one check switched off.
    pub fn without(self, check: Check) -> Checks {
        Checks(self.0 & !(1 << check as u32))
    }

    /// Whether the check is on.
    pub fn has(self, check: Check) -> bool {
        self.0 >> check as u32 & 1 == 1
    }
}

impl Default for Checks {
    fn default() -> Self {
        Checks::all()
    }
}

/// One thing a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// What happened, with registers and addresses.
    pub message: String,
    /// LLVM's text of the instruction; empty when the finding belongs to none.
    pub instruction: String,
    /// Its offset in the code object's image.
    pub address: u64,
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Wave in the workgroup.
    pub wave: u32,
    /// First lane concerned, where the check concerns lanes.
    pub lane: Option<u32>,
    /// The last instructions of that wave, oldest first, the one at fault last.
    pub history: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        write!(f, "{}: {} (", self.check, self.message)?;
        if !self.instruction.is_empty() {
            write!(f, "`{}` at {:#x}, ", self.instruction, self.address)?;
        }
        write!(f, "workgroup {x},{y},{z} wave {}", self.wave)?;
        if let Some(lane) = self.lane {
            write!(f, " lane {lane}")?;
        }
        f.write_str(")")
    }
}

/// Kinds of instructions that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Class {
    /// Vector arithmetic.
    Valu,
    /// Scalar arithmetic.
    Salu,
    /// Matrix instructions.
    Mma,
    /// LDS accesses.
    Lds,
    /// Global, buffer and scratch accesses.
    Vmem,
    /// Scalar loads.
    Smem,
    /// Branches.
    Branch,
    /// Waits.
    Wait,
    /// Barriers.
    Barrier,
    /// All else: hints, messages, cache operations, the end.
    Other,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 10] = [
        Class::Valu,
        Class::Salu,
        Class::Mma,
        Class::Lds,
        Class::Vmem,
        Class::Smem,
        Class::Branch,
        Class::Wait,
        Class::Barrier,
        Class::Other,
    ];
}

/// LDS conflict cycles of one instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstructionConflicts {
    /// Offset in the code object's image.
    pub address: u64,
    /// LLVM's text.
    pub instruction: String,
    /// Executions.
    pub executions: u64,
    /// Conflict cycles, all executions together.
    pub cycles: u64,
}

/// Sums over a launch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Instructions executed, each counted once a wave.
    pub wave_instructions: u64,
    /// The same by class.
    pub by_class: BTreeMap<Class, u64>,
    /// Matrix instructions.
    pub mma: u64,
    /// Cycles that bank conflicts add to LDS reads.
    pub lds_conflict_cycles_read: u64,
    /// Cycles that bank conflicts add to LDS writes.
    pub lds_conflict_cycles_write: u64,
    /// Bytes that active lanes loaded from global memory, scalar loads not counted.
    pub global_bytes_read: u64,
    /// Bytes that active lanes stored to global memory.
    pub global_bytes_written: u64,
    /// The LDS instructions that had conflicts, by address.
    pub conflicts: Vec<InstructionConflicts>,
}

/// The outcome of a launch that ran to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How often each check that was on found something; zeros included.
    pub checks: BTreeMap<&'static str, u64>,
    /// The first findings, in workgroup order.
    pub findings: Vec<Finding>,
    /// Sums.
    pub counters: Counters,
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
}
