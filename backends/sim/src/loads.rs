//! Which waves loaded a word since it was stored, as one number.
//!
//! Most words are loaded by the same waves as their neighbours: sets of loads are lists that share
//! what comes first, each kept once.

use std::collections::HashMap;

use crate::signals::{Done, Point};

/// Whether a word was ever loaded as a signal is kept beside its loads.
pub(crate) const SIGNAL: u32 = 1 << 31;

/// In place of the byte after the last of a word: the load may be an atomic one, of which only other
/// workgroups could tell.
pub(crate) const LOCAL: u8 = 1 << 4;

/// Number of an instruction that loads, from 1; 0 for none.
pub(crate) type Section = u32;

/// What one instruction loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loaded {
    pub(crate) point: Point,
    pub(crate) done: Done,
}

/// Loads of bytes of a word, added to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    rest: u32,
    section: Section,
    bytes: u8,
}

/// The loads of a launch.
#[derive(Debug, Default)]
pub(crate) struct Loads {
    /// By number; the first is 1.
    sections: Vec<Loaded>,
    /// By number, the same; 0 is the empty set.
    nodes: Vec<Node>,
    index: HashMap<Node, u32>,
    /// What became of a set to which the last section was added.
    added: HashMap<(u32, Section, u8), u32>,
}

impl Loads {
    /// The loads of a new instruction.
    pub(crate) fn section(&mut self, point: Point) -> Section {
        let done = Done::NEVER;
        self.sections.push(Loaded { point, done });
        // No set gets what earlier instructions loaded.
        self.added.clear();
        self.sections.len() as Section
    }

    fn get(&self, section: Section) -> Option<&Loaded> {
        self.sections.get((section as usize).checked_sub(1)?)
    }

    /// A wave waited for what an instruction loaded.
    pub(crate) fn complete(&mut self, section: Section, now: Done) {
        let at = (section as usize).checked_sub(1);
        if let Some(loaded) = at.and_then(|at| self.sections.get_mut(at)) {
            loaded.done = now;
        }
    }

    fn node(&self, set: u32) -> Option<Node> {
        let number = (set & !SIGNAL) as usize;
        self.nodes.get(number.checked_sub(1)?).copied()
    }

    /// The loads of a set, the last one first, and the bytes that each loaded.
    pub(crate) fn of(&self, set: u32) -> impl Iterator<Item = (&Loaded, u8)> {
        let mut next = self.node(set);
        std::iter::from_fn(move || {
            let node = next?;
            next = self.node(node.rest);
            Some((self.get(node.section)?, node.bytes))
        })
    }

    fn with(&mut self, rest: u32, section: Section, bytes: u8) -> u32 {
        let node = Node {
            rest,
            section,
            bytes,
        };
        let next = self.nodes.len() as u32 + 1;
        if next == SIGNAL {
            // No more sets: what was loaded last is forgotten.
            return rest;
        }
        *self.index.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    /// The set with the bytes of its loads as `left` says of each; those without any are dropped.
    pub(crate) fn filter(&mut self, set: u32, left: impl Fn(&Loaded, u8) -> u8) -> u32 {
        let mut kept = Vec::new();
        let (mut at, mut whole) = (set & !SIGNAL, 0);
        while let Some(node) = self.node(at) {
            let bytes = self
                .get(node.section)
                .map_or(0, |loaded| left(loaded, node.bytes));
            if bytes != node.bytes {
                // All that comes first must be built anew.
                whole = kept.len() + 1;
            }
            kept.push((at, node.section, bytes));
            at = node.rest;
        }
        let mut sum = kept.get(whole).map_or(0, |(set, ..)| *set);
        for &(_, section, bytes) in kept[..whole].iter().rev() {
            if bytes & !LOCAL != 0 {
                sum = self.with(sum, section, bytes);
            }
        }
        sum | set & SIGNAL
    }

    /// The set after a section loaded bytes. Loads that are `before` the section and complete, as far
    /// as these are their bytes, need not be kept: what is ordered behind the section is behind them too.
    pub(crate) fn add(
        &mut self,
        set: u32,
        section: Section,
        bytes: u8,
        before: impl Fn(&Loaded) -> bool,
    ) -> u32 {
        let signal = set & SIGNAL;
        let set = set & !SIGNAL;
        match self.node(set) {
            Some(node) if node.section == section && bytes & !node.bytes == 0 => {
                return set | signal;
            }
            _ => {}
        }
        if let Some(&known) = self.added.get(&(set, section, bytes)) {
            return known | signal;
        }
        let mut own = bytes;
        let mut next = self.node(set);
        while let Some(node) = next {
            if node.section == section && (node.bytes ^ bytes) & LOCAL == 0 {
                own |= node.bytes;
            }
            next = self.node(node.rest);
        }
        let rest = self.filter(set, |loaded, theirs| match before(loaded) {
            // One that may be atomic does not make up for one that is not.
            true if theirs & LOCAL != 0 || own & LOCAL == 0 => theirs & !own,
            _ => theirs,
        });
        let sum = self.with(rest, section, own);
        self.added.insert((set, section, bytes), sum);
        sum | signal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(wave: u32) -> Point {
        Point {
            workgroup: 1,
            wave,
            number: 1,
            barrier: 0,
        }
    }

    #[test]
    fn sets_are_kept_once() {
        let mut loads = Loads::default();
        let [a, b, c] = [0, 1, 2].map(|wave| loads.section(point(wave)));
        let none = |_: &Loaded| false;
        let ab = loads.add(0, a, 15, none);
        let ab = loads.add(ab | SIGNAL, b, 3, none);
        assert_ne!(ab & SIGNAL, 0);
        let of = |loads: &Loads, set| {
            let all = loads
                .of(set)
                .map(|(loaded, bytes)| (loaded.point.wave, bytes));
            all.collect::<Vec<_>>()
        };
        assert_eq!(of(&loads, ab), [(1, 3), (0, 15)]);
        assert_eq!(loads.add(ab, b, 2, none), ab);
        let abc = loads.add(ab, c, 1, |loaded| loaded.point.wave == 1);
        assert_eq!(of(&loads, abc), [(2, 1), (1, 2), (0, 15)]);
        let count = loads.nodes.len();
        assert_eq!(loads.add(ab, c, 1, none), abc, "the first one counts");
        let left = loads.filter(abc, |_, bytes| bytes & !3);
        assert_eq!(of(&loads, left), [(0, 12)]);
        assert_eq!(loads.filter(abc, |_, bytes| bytes), abc);
        assert_eq!(loads.nodes.len(), count + 1);
        assert_eq!(loads.filter(abc, |_, _| 0), SIGNAL);
    }
}
