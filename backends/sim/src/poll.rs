//! What a wave loads over and over, as a loop does that waits for a word to change.

use crate::memory::{Buffer, Memory};

/// Times that a wave loads the same from the same places, by a few instructions and without storing
/// anything, until others have their turn. A loop that does so for another reason goes on later.
const POLLS: u32 = 256;

/// The same where nothing that it waits for has changed since: its loop may count.
const POLLS_IN_VAIN: u32 = 1024;

/// The same where it did so before and has found a value that was not the one that it waits for.
const MORE_POLLS: u32 = 8;

/// A word that a load found where kernels store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) address: u64,
    word: u32,
}

impl Seen {
    /// Notes the words that a lane of an instruction finds in a buffer, unless nobody can change
    /// them.
    #[inline]
    pub(crate) fn note(
        seen: &mut Vec<Seen>,
        buffer: &Buffer,
        (at, len): (usize, usize),
        from: u64,
    ) {
        if buffer.is_input() {
            return;
        }
        for word in at / 4..(at + len).div_ceil(4) {
            let address = (from - at as u64) + 4 * word as u64;
            // Lanes often load the same.
            if seen.last().is_none_or(|last| last.address != address) {
                let word = buffer.read_u32(4 * word);
                seen.push(Seen { address, word });
            }
        }
    }

    /// Whether it is something else now.
    pub(crate) fn changed(&self, memory: &Memory) -> bool {
        memory.word_at(self.address) != Some(self.word)
    }
}

/// Instructions that a loop polls by.
const INSTRUCTIONS: usize = 4;

/// What an instruction of a loop found.
#[derive(Debug, Clone)]
struct Found {
    pc: usize,
    seen: Vec<Seen>,
    /// How many loads had found the same when it last did.
    last: u32,
}

/// What a wave loads over and over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Poll {
    found: Vec<Found>,
    /// Loads that found the same.
    times: u32,
    /// Loads of each instruction that make a turn, where it is not [`POLLS`]: they have been as many
    /// as it takes, or nothing that it waits for has changed.
    each: Option<u32>,
}

impl Poll {
    /// Notes what an instruction loads; whether as many as it takes have found the same.
    #[inline]
    pub(crate) fn again(&mut self, pc: usize, seen: &[Seen]) -> bool {
        let enough = self.enough();
        match self.found.iter_mut().find(|found| found.pc == pc) {
            Some(found) if found.seen == seen => {
                self.times = self.times.wrapping_add(1);
                found.last = self.times;
                let again = self.times.is_multiple_of(enough);
                if again {
                    self.each = Some(MORE_POLLS);
                }
                return again;
            }
            Some(found) if self.each.is_some() => found.seen = seen.to_vec(),
            found => {
                if found.is_some() || self.found.len() == INSTRUCTIONS {
                    self.found.clear();
                }
                self.each = None;
                self.found.push(Found {
                    pc,
                    seen: seen.to_vec(),
                    last: 0,
                });
            }
        }
        for found in &mut self.found {
            found.last = 0;
        }
        self.times = 0;
        false
    }

    /// Loads that make a turn.
    fn enough(&self) -> u32 {
        self.each.unwrap_or(POLLS) * (self.found.len() as u32).max(1)
    }

    /// Asks for more loads: nothing that the loop waits for has changed.
    pub(crate) fn lengthen(&mut self) {
        self.each = Some(POLLS_IN_VAIN);
    }

    /// The words that are loaded over and over: not those that a wave looked at once before.
    pub(crate) fn words(&self) -> impl Iterator<Item = Seen> {
        let often = !self.found.is_empty() && self.times >= self.enough();
        let found = self.found.iter();
        let lately = found.filter(move |found| often && found.last > self.times / 2);
        lately.flat_map(|found| found.seen.iter().copied())
    }

    /// Says which they are.
    pub(crate) fn describe(&self, memory: &Memory) -> Option<String> {
        let mut addresses: Vec<u64> = self.words().map(|seen| seen.address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let words: Vec<String> = addresses
            .iter()
            .map(|&word| memory.describe(word))
            .collect();
        (!words.is_empty()).then(|| words.join(", and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_waits_for_what_its_lanes_load_and_not_for_what_was_loaded_before() {
        let mut memory = Memory::new();
        let buffer = memory.alloc_inout(&[0; 64]);
        let base = memory.address(buffer).expect("it was allocated here");
        let (buffer, _) = memory.locate(base, 4, &mut 0).expect("its first word");
        let lanes = |words: &[usize]| {
            let mut seen = Vec::new();
            for word in words {
                Seen::note(&mut seen, buffer, (4 * word, 8), base + 4 * *word as u64);
            }
            seen
        };
        let mut poll = Poll::default();
        assert!(!poll.again(1, &lanes(&[9])));
        while !poll.again(2, &lanes(&[0, 0, 3])) {}
        let words: Vec<u64> = poll.words().map(|seen| (seen.address - base) / 4).collect();
        assert_eq!(words, [0, 1, 0, 1, 3, 4]);
    }
}
