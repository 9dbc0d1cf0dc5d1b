//! The simulated chips and what of their behaviour differs.

use tilefold_machine::Machine;

use crate::error::Error;

/// Instruction set generations, as far as execution differs between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isa {
    /// CDNA 4, whose instruction set descends from the ninth generation.
    Gfx9,
    /// RDNA 3 and 3.5.
    Gfx11,
    /// RDNA 4.
    Gfx12,
}

/// A simulated chip: its machine record and its instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chip {
    pub(crate) machine: &'static Machine,
    pub(crate) isa: Isa,
}

impl Chip {
    /// Finds a chip by its exact name.
    pub(crate) fn find(name: &str) -> Result<Chip, Error> {
        let machine = Machine::by_name(name).map_err(|unknown| Error::Chip {
            chip: name.to_owned(),
            known: unknown.known.join(", "),
        })?;
        let isa = match machine.generation {
            tilefold_machine::Generation::Rdna3 | tilefold_machine::Generation::Rdna35 => {
                Isa::Gfx11
            }
            tilefold_machine::Generation::Rdna4 => Isa::Gfx12,
            tilefold_machine::Generation::Cdna4 => Isa::Gfx9,
        };
        Ok(Chip { machine, isa })
    }

    pub(crate) fn name(self) -> &'static str {
        &self.machine.name
    }
}
