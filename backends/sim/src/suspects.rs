//! Accesses that look like races until more is known of their words.
//!
//! LLVM begins the loop around a compare-and-swap with a plain load: what a wave loads is judged at
//! its next barrier, or its end, unless it changes the word itself by an atomic operation before.
//! A store may be an atomic one, and some chips do not tell: two of them to a word are judged at
//! the end of the launch, unless the word turns out to be a signal.

use crate::check::{Check, Finding};
use crate::group::Group;
use crate::loads::SIGNAL;
use crate::memory::Memory;
use crate::program::Inst;
use crate::signals::Signals;
use crate::tally::Tally;
use crate::wave::Wave;

/// Suspects kept of a wave, and of a launch.
const OF_WAVE: usize = 32;
const OF_LAUNCH: usize = 1 << 12;

/// An instruction that may be part of a race.
#[derive(Debug, Clone)]
pub(crate) struct Suspect {
    /// What will be reported, without lane and place.
    finding: Finding,
    /// Lanes and where in memory they met another wave.
    places: Vec<(u32, u64)>,
}

impl Suspect {
    /// Forgets the word that holds an address.
    fn forget(&mut self, word: u64) {
        self.places.retain(|(_, address)| address / 4 != word / 4);
    }

    fn tell(mut self, memory: &Memory) -> Option<Finding> {
        let &(lane, address) = self.places.first()?;
        self.finding.lane = self.finding.lane.map(|_| lane);
        let place = memory.describe(address);
        self.finding.message = format!("{}: {place}", self.finding.message);
        Some(self.finding)
    }
}

impl<const W: usize> Group<'_, W> {
    pub(crate) fn suspect(
        &self,
        places: Vec<(u32, u64)>,
        what: String,
        wave: &Wave<W>,
        inst: &Inst<W>,
    ) -> Suspect {
        let lane = inst.facts.vector.then_some(0);
        Suspect {
            finding: self.finding(Check::GlobalRace, wave, inst, lane, what),
            places,
        }
    }

    /// A load is part of a race, unless its wave changes the words by atomic operations next.
    #[cold]
    pub(crate) fn suspect_load(&mut self, suspect: Suspect, wave: &mut Wave<W>) {
        if wave.suspects.len() == OF_WAVE {
            self.report_suspects(wave);
        }
        wave.suspects.push(suspect);
    }

    /// A wave changes the word at an address by an atomic operation.
    #[inline]
    pub(crate) fn forgive(&mut self, address: u64, wave: &mut Wave<W>) {
        for suspect in &mut wave.suspects {
            suspect.forget(address);
        }
    }

    /// Reports what a wave loaded in a race.
    #[inline]
    pub(crate) fn report_suspects(&mut self, wave: &mut Wave<W>) {
        if wave.suspects.is_empty() {
            return;
        }
        for suspect in std::mem::take(&mut wave.suspects) {
            if let Some(finding) = suspect.tell(self.memory) {
                self.tally.find(finding, crate::findings::KEPT);
            }
        }
    }
}

impl Signals {
    /// A store is part of a race, unless its words turn out to be signals.
    #[cold]
    pub(crate) fn suspect_store(&mut self, suspect: Suspect) {
        if self.suspects.len() < OF_LAUNCH {
            self.suspects.push(suspect);
        }
    }

    /// Reports stores that were part of a race; the first `kept` findings of the launch stay.
    pub(crate) fn report_suspects(self, memory: &Memory, tally: &mut Tally, kept: usize) {
        let is_signal = |address: u64| {
            let found = memory.locate(address, 1, &mut 0);
            found.is_some_and(|(buffer, at)| buffer.loads(at) & SIGNAL != 0)
        };
        for mut suspect in self.suspects {
            suspect.places.retain(|(_, address)| !is_signal(*address));
            if let Some(finding) = suspect.tell(memory) {
                tally.find(finding, kept);
            }
        }
    }
}
