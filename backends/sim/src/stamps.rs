//! What stored the bytes of a word, as one number.

use std::collections::HashMap;

use crate::signals::Number;

/// Marks a stamp that stands for several stores, by the place of their parts.
const PARTS: u32 = 1 << 31;

/// Stores by byte of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Parts {
    /// The last store of each byte, or 0.
    pub(crate) bytes: [Number; 4],
    /// Stores before that which still count, as a list of [`Stamps`], by byte: of the same value,
    /// where nothing orders them before it; what an atomic operation began with, and other waves'
    /// atomic operations before it.
    pub(crate) same: [u32; 4],
}

impl Parts {
    /// The stores of some bytes, each once, with those before of the same value and with its bytes.
    pub(crate) fn of(self, bytes: u8) -> impl Iterator<Item = (Number, u32, u8)> {
        let mut left = bytes;
        std::iter::from_fn(move || {
            while left != 0 {
                let first = left.trailing_zeros() as usize;
                let (number, same) = (self.bytes[first], self.same[first]);
                let alike = |at: &usize| {
                    left >> at & 1 == 1 && (self.bytes[*at], self.same[*at]) == (number, same)
                };
                let here = (0..4).filter(alike).fold(0, |mask, at| mask | 1 << at);
                left &= !here;
                if number != 0 {
                    return Some((number, same, here));
                }
            }
            None
        })
    }

    /// After a store of some bytes.
    pub(crate) fn stored(mut self, number: Number, bytes: u8) -> Parts {
        for at in (0..4).filter(|at| bytes >> at & 1 == 1) {
            (self.bytes[at], self.same[at]) = (number, 0);
        }
        self
    }
}

/// One store more, and the rest of a list.
#[derive(Debug, Clone, Copy)]
struct List {
    number: Number,
    rest: u32,
    /// The longest part of the list that begins with a plain store.
    plain: u32,
}

/// The stamps of a launch: the number of a store, or of parts.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    parts: Vec<Parts>,
    index: HashMap<Parts, u32>,
    /// Lists of stores, by number from 1.
    lists: Vec<List>,
    list_index: HashMap<(Number, u32), u32>,
}

impl Stamps {
    /// What a stamp stands for.
    pub(crate) fn parts(&self, stamp: u32) -> Parts {
        match stamp & PARTS {
            0 => Parts {
                bytes: [stamp; 4],
                same: [0; 4],
            },
            _ => {
                let parts = self.parts.get((stamp & !PARTS) as usize);
                parts.copied().unwrap_or_default()
            }
        }
    }

    /// The stamp of parts. There are fewer of them than bytes stored by parts.
    pub(crate) fn stamp(&mut self, parts: Parts) -> u32 {
        let first = parts.bytes[0];
        if parts.same == [0; 4] && parts.bytes == [first; 4] {
            return first;
        }
        let next = self.parts.len() as u32;
        *self.index.entry(parts).or_insert_with(|| {
            self.parts.push(parts);
            PARTS | next & !PARTS
        })
    }

    /// After a store of some bytes, `same` of which it left as one had stored them that nothing
    /// orders before it. `plain` tells plain stores.
    pub(crate) fn stored(
        &mut self,
        parts: Parts,
        number: Number,
        (bytes, same): (u8, u8),
        plain: impl Fn(Number) -> bool,
    ) -> Parts {
        let mut after = parts.stored(number, bytes);
        for at in (0..4).filter(|at| (same & bytes) >> at & 1 == 1) {
            let list = (parts.bytes[at], parts.same[at]);
            after.same[at] = match parts.bytes[at] == number {
                true => parts.same[at],
                false => *self.list_index.entry(list).or_insert_with(|| {
                    let (number, rest) = list;
                    let next = self.lists.len() as u32 + 1;
                    let plain = match plain(number) {
                        true => next,
                        false => get(&self.lists, rest).map_or(0, |rest| rest.plain),
                    };
                    self.lists.push(List {
                        number,
                        rest,
                        plain,
                    });
                    next
                }),
            };
        }
        after
    }

    /// After an atomic operation on some bytes: what stored `kept` bytes of them before still counts.
    pub(crate) fn changed(
        &mut self,
        parts: Parts,
        number: Number,
        (bytes, kept): (u8, u8),
        plain: impl Fn(Number) -> bool,
    ) -> Parts {
        let mut after = self.stored(parts, number, (bytes, kept), plain);
        for at in (0..4).filter(|at| (bytes & !kept) >> at & 1 == 1) {
            after.same[at] = parts.same[at];
        }
        after
    }

    /// The stores of a list, the last one first; of many that changed a word by atomic operations,
    /// the `plain` ones alone are found at once.
    pub(crate) fn list(&self, list: u32, plain: bool) -> impl Iterator<Item = Number> {
        let mut next = list;
        std::iter::from_fn(move || {
            let mut found = get(&self.lists, next)?;
            if plain {
                found = get(&self.lists, found.plain)?;
            }
            next = found.rest;
            Some(found.number)
        })
    }
}

fn get(lists: &[List], list: u32) -> Option<&List> {
    lists.get((list as usize).checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_stores() {
        let mut stamps = Stamps::default();
        let whole = stamps.parts(0);
        let whole = stamps.stamp(whole.stored(7, 15));
        assert_eq!(whole, 7);
        let mixed = stamps.parts(whole);
        let mixed = stamps.stamp(mixed.stored(9, 0b0100));
        assert_eq!(stamps.parts(mixed).bytes, [7, 7, 9, 7]);
        let of = |bytes| stamps.parts(mixed).of(bytes).collect::<Vec<_>>();
        assert_eq!(of(15), [(7, 0, 0b1011), (9, 0, 0b0100)]);
        assert_eq!(of(0b0110), [(7, 0, 0b0010), (9, 0, 0b0100)]);
        assert_eq!(Parts::default().of(15).count(), 0);
        let plain = |number| number == 7;
        let same = stamps.stored(stamps.parts(whole), 9, (15, 0b0011), plain);
        assert_ne!(stamps.stamp(same), 9);
        let again = stamps.stored(same, 10, (15, 0b0001), plain);
        let list = |at: usize| stamps.list(again.same[at], false).collect::<Vec<_>>();
        assert_eq!([list(0), list(1)], [vec![9, 7], vec![]]);
        let plain = |at: usize| stamps.list(again.same[at], true).collect::<Vec<_>>();
        assert_eq!([plain(0), plain(1)], [vec![7], vec![]]);
        let later = again.stored(11, 15);
        assert_eq!(stamps.stamp(later), 11);
    }
}
