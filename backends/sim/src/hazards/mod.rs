//! Hazards: what hardware does not wait for by itself, so that compilers must.
//!
//! Every generation has a table of named rows, each with its source. [`cdna`] counts wait states
//! between pairs of instructions; [`rdna`] follows which results the waits of RDNA
//! (`s_waitcnt_depctr`, `s_wait_alu`) have to settle. Both run in the order in which a wave
//! executes, across branches, and look at nothing but what decoding noted.

pub(crate) mod cdna;
pub(crate) mod rdna;

use crate::chip::{Chip, Isa};
use crate::text::Line;

/// What hazards need to know of an instruction.
pub(crate) enum Facts {
    Cdna(cdna::Facts),
    Rdna(rdna::Facts),
}

/// What a wave did so lately that it still matters.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    pub(crate) cdna: cdna::Recent,
    pub(crate) rdna: rdna::Recent,
}

impl Facts {
    pub(crate) fn new(text: &str, chip: Chip, wave: usize) -> Facts {
        match chip.isa {
            Isa::Gfx9 => Facts::Cdna(cdna::Facts::new(&Line::parse(text), chip)),
            Isa::Gfx11 | Isa::Gfx12 => Facts::Rdna(rdna::Facts::new(text, chip, wave)),
        }
    }

    pub(crate) fn as_cdna(&self) -> Option<&cdna::Facts> {
        match self {
            Facts::Cdna(facts) => Some(facts),
            Facts::Rdna(_) => None,
        }
    }

    pub(crate) fn as_rdna(&self) -> Option<&rdna::Facts> {
        match self {
            Facts::Rdna(facts) => Some(facts),
            Facts::Cdna(_) => None,
        }
    }
}

/// Drops what no hazard of a kernel needs, so that most instructions have nothing to look at.
pub(crate) fn prune<'f>(facts: impl Iterator<Item = &'f mut Option<Box<Facts>>>) {
    let mut facts: Vec<_> = facts.collect();
    let cdna = facts.iter().filter_map(|facts| facts.as_ref()?.as_cdna());
    let present = cdna.fold(0, |bits, facts| bits | facts.then);
    let rdna = facts.iter().filter_map(|facts| facts.as_ref()?.as_rdna());
    let roles = rdna.fold(0, |roles, facts| roles | facts.roles);
    for slot in &mut facts {
        let needed = match slot.as_deref_mut() {
            Some(Facts::Cdna(facts)) => {
                facts.keep_for(present);
                true
            }
            Some(Facts::Rdna(facts)) => facts.keep_for(roles),
            None => false,
        };
        if !needed {
            **slot = None;
        }
    }
}
