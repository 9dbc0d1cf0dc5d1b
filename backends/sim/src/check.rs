//! Checks, which of them run, and what they found.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::lines::SourceLine;

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
    /// RDNA 3: lanes past the first 16 of an A or B operand of WMMA do not repeat those.
    WmmaHalves,
    /// RDNA: a WMMA reads as A or B what the WMMA right before it writes; one other vector
    /// instruction must stand between (LLVM's hazard recogniser inserts a `v_nop`).
    WmmaHazard,
    /// Two instructions between which hardware does not wait by itself, without what must stand
    /// between them. gfx950: wait states, such as between a comparison into VCC and `v_div_fmas`, or
    /// a matrix instruction and whatever reads its result; those of f64 matrices are not looked for.
    /// RDNA 3, 3.5 and 4: waits by `s_waitcnt_depctr` or `s_wait_alu`, such as between a
    /// transcendental instruction and whatever reads its result. The pairs are those that LLVM pads.
    Hazard,
    /// Global bytes were read that another wave had stored and not waited for before it signalled:
    /// by a wave of another workgroup, behind a flag or an atomic operation of the storing one (or
    /// that wave had not waited for the load that told it of the signal); where waves of a
    /// workgroup run on two compute units, also by one of the same workgroup, behind a barrier.
    Unreleased,
    /// A scalar load of a word that a vector store of the same workgroup wrote in this launch, or of
    /// another one that the wave has heard of, with no `s_dcache_inv` between the completed store
    /// and the load: the scalar cache does not see such stores.
    StaleScalar,
    /// Two waves, of one workgroup or of two, touched the same byte of an output, one of them
    /// stored, and nothing orders the two: no barrier of their workgroup and no signal that one of
    /// them heard of, by an atomic operation or a load at the scope of the device. Not where both
    /// are such accesses, nor where several store the same value.
    GlobalRace,
    /// A buffer access on which AMD's guide (soffset counts for the range check) and LLVM's comment
    /// (it does not) differ. A warning; AMD's reading is executed.
    RangeReading,
}

impl Check {
    /// Every check, in the order of the report.
    pub const ALL: [Check; 15] = [
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
        Check::Hazard,
        Check::Unreleased,
        Check::StaleScalar,
        Check::GlobalRace,
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
            Check::Hazard => "hazard",
            Check::Unreleased => "unreleased",
            Check::StaleScalar => "stale_scalar",
            Check::GlobalRace => "global_race",
            Check::RangeReading => "range_reading",
        }
    }

    /// The check of a name.
    ///
    /// # Errors
    /// [`UnknownCheck`], which lists the names there are.
    pub fn by_name(name: &str) -> Result<Check, UnknownCheck> {
        Check::ALL
            .into_iter()
            .find(|check| check.name() == name)
            .ok_or_else(|| UnknownCheck {
                name: name.to_owned(),
            })
    }

    /// Whether it only warns: a launch with such findings alone passes.
    pub fn is_warning(self) -> bool {
        matches!(self, Check::RangeReading)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no check has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no check `{name}`{}; the checks are {}", now(name), names())]
pub struct UnknownCheck {
    /// The name given.
    pub name: String,
}

/// What took the place of a check that there was.
fn now(name: &str) -> &'static str {
    match name {
        "workgroup_overlap" => " any more: `global_race` finds the faults among what it warned of",
        _ => "",
    }
}

fn names() -> String {
    Check::ALL.map(Check::name).join(", ")
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
    /// Where it stands in the source, if the code object says so.
    pub source: Option<SourceLine>,
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Wave in the workgroup.
    pub wave: u32,
    /// First lane concerned; none where it is the wave as a whole.
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
        if let Some(source) = &self.source {
            write!(f, "{source}, ")?;
        }
        write!(f, "workgroup {x},{y},{z} wave {}", self.wave)?;
        if let Some(lane) = self.lane {
            write!(f, " lane {lane}")?;
        }
        f.write_str(")")
    }
}
