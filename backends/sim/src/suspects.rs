//! Accesses that look like races until more is known of their words.
//!
//! LLVM begins the loop around a compare-and-swap with a plain load: what a wave loads is judged at
//! its next barrier, or its end, unless it changes the word itself by an atomic operation before. The
//! same goes for loads of what was not released: an atomic operation on a byte loads its neighbours.
//! A store may be an atomic one, and some chips do not tell: two of them to a word are judged at
//! the end of the launch, unless the word turns out to be a signal.

use std::collections::HashSet;

use crate::check::{Check, Finding};
use crate::group::Group;
use crate::loads::SIGNAL;
use crate::memory::Memory;
use crate::program::Inst;
use crate::signals::Signals;
use crate::tally::Tally;
use crate::wave::Wave;

/// Suspects kept of a wave.
const OF_WAVE: usize = 32;
/// Suspects of a launch up to which all are kept; behind them, one of each word is.
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

/// Stores of a launch that are races unless their words turn out to be signals.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    kept: Vec<Suspect>,
    /// The words of all of them, by address over four.
    words: HashSet<u64>,
}

impl Suspects {
    fn add(&mut self, mut suspect: Suspect) {
        let word = |(_, address): &(u32, u64)| address / 4;
        if self.kept.len() >= OF_LAUNCH {
            let new = |place: &(u32, u64)| !self.words.contains(&word(place));
            suspect.places.retain(new);
        }
        if !suspect.places.is_empty() {
            self.words.extend(suspect.places.iter().map(word));
            self.kept.push(suspect);
        }
    }
}

impl<const W: usize> Group<'_, W> {
    pub(crate) fn suspect(
        &self,
        check: Check,
        places: Vec<(u32, u64)>,
        what: String,
        wave: &Wave<W>,
        inst: &Inst<W>,
    ) -> Suspect {
        let lane = inst.facts.vector.then_some(0);
        Suspect {
            finding: self.finding(check, wave, inst, lane, what),
            places,
        }
    }

    /// A load is part of a race, or comes too early, unless its wave changes the words by atomic
    /// operations next.
    #[cold]
    pub(crate) fn suspect_load(&mut self, suspect: Suspect, wave: &mut Wave<W>) {
        if !self.checks.has(suspect.finding.check) {
            return;
        }
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

    /// Reports what a wave loaded in a race, or too early.
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
        self.suspects.add(suspect);
    }

    /// Reports stores that were part of a race; the first `kept` findings of the launch stay.
    pub(crate) fn report_suspects(self, memory: &Memory, tally: &mut Tally, kept: usize) {
        let is_signal = |address: u64| {
            let found = memory.locate(address, 1, &mut 0);
            found.is_some_and(|(buffer, at)| buffer.loads(at) & SIGNAL != 0)
        };
        for mut suspect in self.suspects.kept {
            suspect.places.retain(|(_, address)| !is_signal(*address));
            if let Some(finding) = suspect.tell(memory) {
                tally.find(finding, kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many words a launch uses as signals, a race behind them is told.
    #[test]
    fn no_word_is_forgotten() {
        let mut memory = Memory::new();
        let buffer = memory.alloc_inout(&[0; 64]);
        let base = memory.address(buffer).expect("it was allocated here");
        let suspect = |word: u64, wave| Suspect {
            finding: Finding {
                check: Check::GlobalRace,
                message: "stores".to_owned(),
                instruction: String::new(),
                address: 0,
                source: None,
                workgroup: [0; 3],
                wave,
                lane: Some(0),
                history: Vec::new(),
            },
            places: vec![(3, base), (5, base + 4 * word)],
        };
        let (buffer, at) = memory.locate(base, 4, &mut 0).expect("its first word");
        buffer.set_loads(at, SIGNAL);
        let mut signals = Signals::new(false, false);
        for _ in 0..OF_LAUNCH + 10 {
            signals.suspect_store(suspect(0, 1));
        }
        for wave in [2, 3] {
            signals.suspect_store(suspect(7, wave));
        }
        assert_eq!(signals.suspects.kept.len(), OF_LAUNCH + 1);
        let mut tally = Tally::new(0, 0);
        signals.report_suspects(&memory, &mut tally, 4);
        let found = tally.findings.iter();
        let found: Vec<_> = found
            .map(|found| (found.wave, found.lane, found.message.contains("byte 28")))
            .collect();
        assert_eq!(found, [(2, Some(5), true)]);
    }
}
