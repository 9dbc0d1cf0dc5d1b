//! Machine records of AMD GPUs: registers, LDS, lane groups, issue cycles.
//!
//! A chip is one file in `chips/`, where each fact stands beside its source and a fact whose
//! source is weak says so. Everything that depends on the chip reads its [`Machine`]: the search,
//! the lowering, the launch geometry and the simulator.
//!
//! ```
//! use tilefold_machine::Machine;
//!
//! let machine = Machine::by_name("gfx1201")?;
//! assert_eq!(machine.wave, 32);
//! assert_eq!(machine.matrix_cycles("v_wmma_f16_16x16x16_f16"), Some(16));
//! # Ok::<(), tilefold_machine::UnknownChip>(())
//! ```
//!
//! To add a chip, write its file and add it to the list in this file; the tests check the rest.

mod lds;
mod occupancy;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use thiserror::Error;

pub use lds::{Access, LaneGroups, Lds, Width};
pub use occupancy::{By, Limit, Occupancy, Workgroup};

/// The chip files, in the order in which they are listed to the user.
const CHIPS: [&str; 4] = [
    include_str!("../chips/gfx1100.toml"),
    include_str!("../chips/gfx1151.toml"),
    include_str!("../chips/gfx1201.toml"),
    include_str!("../chips/gfx950.toml"),
];

/// What is known of one chip. On RDNA figures hold for wave32 and cu mode.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name by which LLVM and the user call the chip, such as `gfx1201`.
    pub name: String,
    /// Instruction set generation.
    pub generation: Generation,
    /// Lanes in a wave.
    pub wave: u32,
    /// SIMDs in a compute unit.
    pub simds_per_cu: u32,
    /// Wave slots of a SIMD.
    pub max_waves_per_simd: u32,
    /// Largest workgroup, in waves.
    pub max_waves_per_workgroup: u32,
    /// Most workgroups of several waves that a compute unit holds at once (each takes a barrier).
    pub max_workgroups_per_cu: u32,
    /// Bits of an LDS instruction's constant offset, which is in bytes and never negative.
    pub ds_offset_bits: u32,
    /// Bits of a buffer instruction's constant offset in bytes, of which none is a sign.
    pub buffer_offset_bits: u32,
    /// Bytes of a cache line.
    pub cache_line: u32,
    /// Vector registers.
    pub vgpr: Vgpr,
    /// Local data share.
    pub lds: Lds,
    /// Boards that carry the chip.
    pub devices: Vec<Device>,
    /// Paths of the facts that have no source that can be checked, such as `devices.0.clock_mhz`.
    /// What is shown to a user and rests on one of them says so.
    pub weak: Vec<String>,
    matrix_cycles: BTreeMap<String, u32>,
    #[serde(default)]
    matrix_cycles_narrow: BTreeMap<String, u32>,
}

/// Instruction set generations: what decides which atoms a chip has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub enum Generation {
    /// RDNA 3: gfx1100.
    #[serde(rename = "rdna3")]
    Rdna3,
    /// RDNA 3.5: gfx1151.
    #[serde(rename = "rdna3.5")]
    Rdna35,
    /// RDNA 4: gfx1201.
    #[serde(rename = "rdna4")]
    Rdna4,
    /// CDNA 4: gfx950.
    #[serde(rename = "cdna4")]
    Cdna4,
}

/// Vector registers, counted as registers of one wave (one register is 4 bytes in every lane).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vgpr {
    /// Registers of a SIMD, shared by its waves.
    pub per_simd: u32,
    /// A wave's registers are allocated in multiples of this.
    pub granule: u32,
    /// Registers that one wave can name.
    pub addressable: u32,
}

/// One board.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Product name.
    pub name: String,
    /// Compute units, those of all accelerator dies together.
    pub cu: u32,
    /// Accelerator dies (XCDs), each with an L2 cache of its own; consecutive workgroups go to
    /// consecutive dies in turn. 1 where nothing is said.
    #[serde(default = "one_die")]
    pub xcds: u32,
    /// Boost clock in MHz.
    pub clock_mhz: u32,
    /// Peak memory bandwidth in GB/s (10^9 bytes).
    pub dram_gbps: u32,
    /// Bytes of the L2 cache, of one die where there are several.
    pub l2_bytes: u64,
    /// Bytes of the last-level cache between L2 and memory.
    pub llc_bytes: u64,
}

fn one_die() -> u32 {
    1
}

/// The error of [`Machine::by_name`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown chip `{name}`; known chips: {}", .known.join(", "))]
pub struct UnknownChip {
    /// The name that was asked for.
    pub name: String,
    /// The names that would have done.
    pub known: Vec<&'static str>,
}

impl Machine {
    /// Every chip there is a record of.
    pub fn all() -> &'static [Machine] {
        static ALL: OnceLock<Vec<Machine>> = OnceLock::new();
        ALL.get_or_init(|| {
            CHIPS
                .iter()
                .map(|text| toml::from_str(text).expect("chip files are embedded and tested"))
                .collect()
        })
    }

    /// The record of the chip with exactly this name: `gfx1100` is not `gfx11`, nor is `gfx1103`.
    ///
    /// # Errors
    /// [`UnknownChip`], which lists the known names.
    pub fn by_name(name: &str) -> Result<&'static Machine, UnknownChip> {
        Self::all()
            .iter()
            .find(|machine| machine.name == name)
            .ok_or_else(|| UnknownChip {
                name: name.to_owned(),
                known: Self::all()
                    .iter()
                    .map(|machine| machine.name.as_str())
                    .collect(),
            })
    }

    /// Cycles for which a matrix instruction, by its assembly name, keeps one SIMD's matrix unit.
    /// None for an instruction that the chip does not have. Of an instruction that takes operands
    /// of several formats these are the cycles with 8-bit ones: see
    /// [`Machine::narrow_matrix_cycles`].
    pub fn matrix_cycles(&self, instruction: &str) -> Option<u32> {
        self.matrix_cycles.get(instruction).copied()
    }

    /// Cycles of a matrix instruction that takes operands of several formats, where both have six
    /// or four bits. None for all other instructions.
    pub fn narrow_matrix_cycles(&self, instruction: &str) -> Option<u32> {
        self.matrix_cycles_narrow.get(instruction).copied()
    }

    /// The matrix instructions with a known issue time, in order of name, and their cycles.
    pub fn matrix_instructions(&self) -> impl Iterator<Item = (&str, u32)> {
        self.matrix_cycles
            .iter()
            .map(|(name, &cycles)| (name.as_str(), cycles))
    }
}
