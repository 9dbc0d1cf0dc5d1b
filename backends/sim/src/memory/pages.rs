//! The contents of a buffer in pages that exist from the first touch on.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::pattern::Pattern;

/// Words of a page. Small, so that a column of a matrix with long rows costs little more than its
/// bytes.
pub(super) const PAGE_WORDS: usize = 256;
/// Pages of a leaf of the table.
const LEAF_PAGES: usize = 64;

/// Who touched a word of an output.
#[derive(Debug, Default)]
pub(super) struct Owner {
    /// The workgroup that wrote it last, counted from 1.
    pub(super) writer: AtomicU32,
    /// The workgroup that read it.
    pub(super) reader: AtomicU32,
}

#[derive(Debug)]
pub(super) struct Page {
    /// Contents; a relaxed atomic each, since workgroups run on several threads.
    pub(super) words: [AtomicU32; PAGE_WORDS],
    /// Empty in inputs.
    pub(super) owners: Box<[Owner]>,
    /// Numbers of the instructions that stored the words last, once they are given.
    stamps: OnceLock<Box<[AtomicU32; PAGE_WORDS]>>,
}

impl Page {
    /// The number of the instruction that stored a word last, or 0.
    #[inline]
    pub(super) fn stamp(&self, at: usize) -> u32 {
        let stamps = self.stamps.get();
        stamps.map_or(0, |stamps| stamps[at].load(Relaxed))
    }

    /// Sets that number; returns what it was.
    #[inline]
    pub(super) fn set_stamp(&self, at: usize, number: u32) -> u32 {
        let stamps = self
            .stamps
            .get_or_init(|| Box::new([const { AtomicU32::new(0) }; PAGE_WORDS]));
        stamps[at].swap(number, Relaxed)
    }
}

type Leaf = [OnceLock<Box<Page>>; LEAF_PAGES];

/// What is in pages that nobody touched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Background {
    /// One word everywhere.
    Word(u32),
    Pattern(Pattern),
}

impl Background {
    fn word(&self, index: usize) -> u32 {
        match self {
            Background::Word(word) => *word,
            Background::Pattern(pattern) => pattern.word(index as u64),
        }
    }
}

#[derive(Debug)]
pub(super) struct Pages {
    leaves: Box<[OnceLock<Box<Leaf>>]>,
    /// Numbers of the pages that exist, in no order.
    touched: Mutex<Vec<usize>>,
    background: Background,
    owned: bool,
}

/// The words of the pages that existed, with their numbers.
pub(super) type Snapshot = Vec<(usize, Box<[u32]>)>;

impl Pages {
    pub(super) fn new(words: usize, background: Background, owned: bool) -> Pages {
        let leaves = words.div_ceil(PAGE_WORDS * LEAF_PAGES);
        Pages {
            leaves: (0..leaves).map(|_| OnceLock::new()).collect(),
            touched: Mutex::default(),
            background,
            owned,
        }
    }

    /// The page of a word, which must lie within the buffer.
    #[inline]
    pub(super) fn page(&self, word: usize) -> &Page {
        let leaf = &self.leaves[word / (PAGE_WORDS * LEAF_PAGES)];
        let page = leaf
            .get()
            .and_then(|leaf| leaf[word / PAGE_WORDS % LEAF_PAGES].get());
        match page {
            Some(page) => page,
            None => self.touch(word / PAGE_WORDS),
        }
    }

    #[inline]
    pub(super) fn word(&self, word: usize) -> &AtomicU32 {
        &self.page(word).words[word % PAGE_WORDS]
    }

    #[cold]
    fn touch(&self, number: usize) -> &Page {
        let leaf = self.leaves[number / LEAF_PAGES]
            .get_or_init(|| Box::new([const { OnceLock::new() }; LEAF_PAGES]));
        leaf[number % LEAF_PAGES].get_or_init(|| {
            self.touched
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(number);
            let first = number * PAGE_WORDS;
            let owners = if self.owned { PAGE_WORDS } else { 0 };
            Box::new(Page {
                words: std::array::from_fn(|at| AtomicU32::new(self.background.word(first + at))),
                owners: (0..owners).map(|_| Owner::default()).collect(),
                stamps: OnceLock::new(),
            })
        })
    }

    /// The word, whether its page exists or not; makes none.
    pub(super) fn peek(&self, word: usize) -> u32 {
        let leaf = self.leaves[word / (PAGE_WORDS * LEAF_PAGES)].get();
        match leaf.and_then(|leaf| leaf[word / PAGE_WORDS % LEAF_PAGES].get()) {
            Some(page) => page.words[word % PAGE_WORDS].load(Relaxed),
            None => self.background.word(word),
        }
    }

    fn touched(&mut self) -> &mut Vec<usize> {
        self.touched
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of pages that exist.
    pub(super) fn count(&self) -> usize {
        self.touched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    fn slot(&mut self, number: usize) -> Option<&mut OnceLock<Box<Page>>> {
        let leaf = self.leaves[number / LEAF_PAGES].get_mut()?;
        Some(&mut leaf[number % LEAF_PAGES])
    }

    /// Forgets who touched what.
    pub(super) fn reset_owners(&mut self) {
        for number in self.touched().clone() {
            if let Some(page) = self.slot(number).and_then(OnceLock::get_mut) {
                for owner in &mut page.owners {
                    *owner = Owner::default();
                }
                page.stamps.take();
            }
        }
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        let numbers = self.touched().clone();
        numbers
            .into_iter()
            .map(|number| {
                let page = self.page(number * PAGE_WORDS);
                let words = page.words.iter().map(|word| word.load(Relaxed));
                (number, words.collect())
            })
            .collect()
    }

    /// Goes back to a snapshot; pages that did not exist then are dropped.
    pub(super) fn restore(&mut self, snapshot: &Snapshot) {
        for number in std::mem::take(self.touched()) {
            if let Some(slot) = self.slot(number) {
                slot.take();
            }
        }
        for (number, words) in snapshot {
            let page = self.page(number * PAGE_WORDS);
            for (word, &value) in page.words.iter().zip(words) {
                word.store(value, Relaxed);
            }
        }
    }
}
