use crate::LlvmError;

/// The triple of every code object that the HIP runtime loads.
pub(crate) const TRIPLE: &str = "amdgcn-amd-amdhsa";

/// A chip that this crate generates code for and disassembles.
///
/// LLVM aborts on a name that it does not know, so names are looked up here first, exactly and
/// never by prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chip {
    name: &'static str,
    generation: Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    Gfx9,
    Gfx11,
    Gfx12,
}

use Generation::{Gfx9, Gfx11, Gfx12};

// The processors of LLVM's AMDGPU usage page that have matrix instructions Tilefold knows.
const CHIPS: [(&str, Generation); 12] = [
    ("gfx942", Gfx9),
    ("gfx950", Gfx9),
    ("gfx1100", Gfx11),
    ("gfx1101", Gfx11),
    ("gfx1102", Gfx11),
    ("gfx1103", Gfx11),
    ("gfx1150", Gfx11),
    ("gfx1151", Gfx11),
    ("gfx1152", Gfx11),
    ("gfx1153", Gfx11),
    ("gfx1200", Gfx12),
    ("gfx1201", Gfx12),
];

impl Chip {
    /// Looks a chip up by its exact name, such as `gfx1201`.
    ///
    /// # Errors
    /// [`LlvmError::UnknownChip`], which lists the known ones.
    pub fn find(name: &str) -> Result<Chip, LlvmError> {
        CHIPS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(name, generation)| Chip { name, generation })
            .ok_or_else(|| LlvmError::UnknownChip {
                chip: name.to_owned(),
                known: CHIPS.map(|(name, _)| name).join(", "),
            })
    }

    /// Every known chip.
    pub fn all() -> impl Iterator<Item = Chip> {
        CHIPS
            .into_iter()
            .map(|(name, generation)| Chip { name, generation })
    }

    /// The name as LLVM spells it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Lanes of a wave unless the kernel asks otherwise: 64 on gfx9, 32 on gfx11 and gfx12.
    pub fn wave_size(self) -> u32 {
        if self.generation == Gfx9 { 64 } else { 32 }
    }

    /// Whether 16-bit register halves (`v0.l`, `v0.h`) are operands of their own.
    pub(crate) fn has_true16(self) -> bool {
        self.generation != Gfx9
    }

    /// Whether a work-group processor's two CUs can share a workgroup, which `+cumode` forbids.
    pub(crate) fn has_cu_mode(self) -> bool {
        self.generation != Gfx9
    }

    /// Whether its encodings are those of the ninth generation, CDNA among them.
    pub(crate) fn is_gfx9(self) -> bool {
        self.generation == Gfx9
    }

    /// Whether barriers have separate signal and wait instructions.
    pub(crate) fn has_split_barriers(self) -> bool {
        self.generation == Gfx12
    }
}
