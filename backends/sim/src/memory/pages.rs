//! The contents of a buffer in pages that exist from the first touch on.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::pattern::Pattern;

/// Words of a page. Small, so that a column of a matrix with long rows costs little more than its
/// bytes.
pub(super) const PAGE_WORDS: usize = 256;
/// Pages of a leaf of the table.
const LEAF_PAGES: usize = 64;

/// Something beside every word of a page, once it is needed.
type Beside<T> = OnceLock<Box<[T; PAGE_WORDS]>>;

#[derive(Debug)]
pub(super) struct Page {
    /// Contents; a relaxed atomic each, since workgroups run on several threads.
    pub(super) words: [AtomicU32; PAGE_WORDS],
    /// Who wrote them last, as a mark; empty in inputs.
    pub(super) writers: Box<[AtomicU64]>,
    /// Who read them, once anybody does while workgroups run side by side.
    readers: Beside<AtomicU64>,
    is_read: AtomicBool,
    /// Which instructions stored the words, where workgroups run one at a time.
    stamps: Beside<AtomicU32>,
    /// Which waves loaded them since, the same.
    loads: Beside<AtomicU32>,
}

fn beside(slot: &Beside<AtomicU32>) -> &[AtomicU32; PAGE_WORDS] {
    slot.get_or_init(|| Box::new([const { AtomicU32::new(0) }; PAGE_WORDS]))
}

impl Page {
    /// Who read a word, if anybody read in this page. Whoever asks has left its own mark before, so
    /// that of two that meet one sees the other.
    #[inline]
    pub(super) fn reader(&self, at: usize) -> Option<&AtomicU64> {
        match self.is_read.load(SeqCst) {
            true => self.readers.get().map(|readers| &readers[at]),
            false => None,
        }
    }

    /// The mark of who reads a word.
    #[inline]
    pub(super) fn reader_mut(&self, at: usize) -> &AtomicU64 {
        let readers = self
            .readers
            .get_or_init(|| Box::new([const { AtomicU64::new(0) }; PAGE_WORDS]));
        if !self.is_read.load(Relaxed) {
            self.is_read.store(true, SeqCst);
        }
        &readers[at]
    }

    /// What stored a word, or 0.
    #[inline]
    pub(super) fn stamp(&self, at: usize) -> u32 {
        let stamps = self.stamps.get();
        stamps.map_or(0, |stamps| stamps[at].load(Relaxed))
    }

    #[inline]
    pub(super) fn set_stamp(&self, at: usize, number: u32) {
        beside(&self.stamps)[at].store(number, Relaxed);
    }

    /// What loaded a word, or 0.
    #[inline]
    pub(super) fn loads(&self, at: usize) -> u32 {
        let loads = self.loads.get();
        loads.map_or(0, |loads| loads[at].load(Relaxed))
    }

    #[inline]
    pub(super) fn set_loads(&self, at: usize, number: u32) {
        beside(&self.loads)[at].store(number, Relaxed);
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
            let writers = if self.owned { PAGE_WORDS } else { 0 };
            Box::new(Page {
                words: std::array::from_fn(|at| AtomicU32::new(self.background.word(first + at))),
                writers: (0..writers).map(|_| AtomicU64::new(0)).collect(),
                readers: OnceLock::new(),
                is_read: AtomicBool::new(false),
                stamps: OnceLock::new(),
                loads: OnceLock::new(),
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
                for writer in &mut page.writers {
                    *writer = AtomicU64::new(0);
                }
                *page.is_read.get_mut() = false;
                page.readers.take();
                page.stamps.take();
                page.loads.take();
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
