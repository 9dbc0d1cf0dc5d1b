//! What a launch counts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::lines::SourceLine;

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
    /// Whether its instructions work on the lanes that EXEC has on.
    pub(crate) fn is_vector(self) -> bool {
        matches!(self, Class::Valu | Class::Mma | Class::Lds | Class::Vmem)
    }

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
    /// Whether it reads or writes LDS.
    pub access: &'static str,
    /// Executions, the two spans of one instruction counted apart.
    pub executions: u64,
    /// Conflict cycles, all executions together.
    pub cycles: u64,
}

/// Where memory instructions find their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// LDS, by whatever instructions.
    Lds,
    /// Global memory, by addresses.
    Global,
    /// Global memory, by buffer resources.
    Buffer,
    /// Global memory or scratch, by flat addresses.
    Flat,
    /// Global memory, by scalar loads.
    Scalar,
    /// Scratch.
    Scratch,
}

/// Bytes moved, as the active lanes asked for them: caches are not simulated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Bytes read; of an atomic operation none.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

/// How far the lanes of waves went together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// How often an instruction that writes EXEC left some of a wave's active lanes on and switched
    /// others off: the wave's lanes parted there.
    pub partings: u64,
    /// Vector instructions executed (arithmetic, matrix, LDS and vector memory).
    pub vector_instructions: u64,
    /// Those of them executed while some of the wave's work-items were off.
    pub partly_off: u64,
    /// Lanes that were on, summed over the vector instructions.
    pub active_lanes: u64,
    /// Lanes that there were, summed over the vector instructions.
    pub lanes: u64,
}

impl Divergence {
    /// Share of lanes active in vector instructions, from 0 to 1; 1 where there were none.
    pub fn active_share(&self) -> f64 {
        match self.lanes {
            0 => 1.0,
            lanes => self.active_lanes as f64 / lanes as f64,
        }
    }
}

/// What one instruction did, all waves together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstructionCount {
    /// Offset in the code object's image.
    pub address: u64,
    /// LLVM's text.
    pub instruction: String,
    /// Where it stands in the source, if the code object says so.
    pub source: Option<SourceLine>,
    /// Executions, each counted once a wave.
    pub executions: u64,
    /// Lanes that were on, summed over the executions; 0 for scalar instructions.
    pub active_lanes: u64,
    /// Bytes that it moved; of a load into LDS those read from memory and those written to LDS.
    pub moved: Moved,
    /// Cycles that bank conflicts added to it.
    pub conflict_cycles: u64,
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
    /// Bytes that active lanes loaded from global memory, scalar loads not counted: by addresses,
    /// buffers and flat addresses together.
    pub global_bytes_read: u64,
    /// Bytes that active lanes stored to global memory.
    pub global_bytes_written: u64,
    /// Bytes moved, by where they are.
    pub moved: BTreeMap<Space, Moved>,
    /// How far lanes went together.
    pub divergence: Divergence,
    /// The LDS instructions that had conflicts, by address.
    pub conflicts: Vec<InstructionConflicts>,
}
