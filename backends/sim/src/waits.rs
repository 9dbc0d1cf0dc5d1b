//! Wait counters: which registers a pending load may still write.
//!
//! Values arrive at once in the simulation; what is pending is only remembered, so that an access
//! without the wait it needs is found. Loads of vector memory are counted in order, as are LDS
//! operations among themselves; scalar loads return in any order (LLVM's AMDGPU usage guide,
//! "Memory Model", and its wait insertion pass). Loads into one register may follow each other
//! where they also write it in order, which vector memory of RDNA 4 does not do (its feature
//! `vmem-write-vgpr-in-order`), and flat accesses nowhere do. Accesses of memory that move one half of a register do not meet
//! loads into the other half; what else touches either half does, since such a load may write the
//! whole register (its wait insertion pass: `determineVGPR16Dependency`). On gfx9 stores wait in the queue of the loads, and
//! loads into LDS hold the bytes that they write; a flat access, which may go to memory or to LDS,
//! returns in no order with either (the wait insertion pass: `counterOutOfOrder`), so that behind it
//! only the wait for all says anything.

use std::collections::VecDeque;

use crate::chip::Isa;
use crate::loads::Section;
use crate::memory::lds::Touch;
use crate::scalar_cache::Own;
use crate::signals::Number;
use crate::text::Half;

/// Words of a set of vector registers: 512 registers.
pub(crate) const VECTOR_WORDS: usize = 8;

/// A set of registers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) vector: [u64; VECTOR_WORDS],
    pub(crate) scalar: u128,
}

impl Registers {
    pub(crate) fn add_vector(&mut self, first: u16, count: u16) {
        for index in usize::from(first)..usize::from(first) + usize::from(count) {
            if let Some(word) = self.vector.get_mut(index / 64) {
                *word |= 1 << (index % 64);
            }
        }
    }

    pub(crate) fn add_scalar(&mut self, first: u16, count: u16) {
        for index in first..first + count {
            self.scalar |= 1_u128.checked_shl(u32::from(index)).unwrap_or(0);
        }
    }

    pub(crate) fn add(&mut self, other: &Registers) {
        for (word, &more) in self.vector.iter_mut().zip(&other.vector) {
            *word |= more;
        }
        self.scalar |= other.scalar;
    }

    pub(crate) fn remove(&mut self, other: &Registers) {
        for (word, &less) in self.vector.iter_mut().zip(&other.vector) {
            *word &= !less;
        }
        self.scalar &= !other.scalar;
    }

    #[inline]
    pub(crate) fn meets(&self, other: &Registers) -> bool {
        let vector = self
            .vector
            .iter()
            .zip(&other.vector)
            .fold(0, |bits, (a, b)| bits | a & b);
        vector != 0 || self.scalar & other.scalar != 0
    }

    /// The first register of both sets, as LLVM writes it.
    pub(crate) fn first_common(&self, other: &Registers) -> String {
        for (at, (a, b)) in self.vector.iter().zip(&other.vector).enumerate() {
            if a & b != 0 {
                let index = at * 64 + (a & b).trailing_zeros() as usize;
                return match index.checked_sub(256) {
                    Some(index) => format!("a{index}"),
                    None => format!("v{index}"),
                };
            }
        }
        format!("s{}", (self.scalar & other.scalar).trailing_zeros())
    }
}

/// The queues whose entries a wait can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Vector memory loads: `vmcnt`, `loadcnt`.
    Load,
    /// LDS operations: `lgkmcnt`, `dscnt`.
    Lds,
    /// Direct loads from LDS: `expcnt`.
    Direct,
    /// Scalar loads and messages: `lgkmcnt`, `kmcnt`.
    Scalar,
    /// Stores and atomic operations without a result: `vscnt`, `storecnt`.
    Store,
}

/// How many entries of each queue a wait lets stand; none means it does not wait for that queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) load: Option<u32>,
    pub(crate) lds: Option<u32>,
    pub(crate) direct: Option<u32>,
    pub(crate) scalar: Option<u32>,
    pub(crate) store: Option<u32>,
}

/// The half of a vector register that an access of memory loads or stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moves {
    pub(crate) register: u16,
    pub(crate) half: Half,
}

struct Pending<const W: usize> {
    registers: Registers,
    /// The half of its register that a load fills; none where it fills whole ones.
    half: Option<Half>,
    /// The LDS bytes of an operation, which stay in use until it is waited for.
    touch: Option<Touch<W>>,
    /// Whether it may return before what came earlier, or behind what came later.
    disorders: bool,
    /// What it does to words of global memory, by address over four.
    access: Access,
    words: Box<[u64]>,
    told: Told,
}

/// What an operation does to words of global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    Store,
    Atomic,
}

/// What an operation of vector memory has to do with other workgroups.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The number of a store, if it has one.
    pub(crate) store: Number,
    /// Stores whose words it loaded as signals.
    pub(crate) heard: Box<[Number]>,
    /// Its number among the instructions that load what kernels store.
    pub(crate) section: Section,
    /// The number of a store among those of its workgroup, where the scalar cache asks.
    pub(crate) own: Own,
}

impl Told {
    fn is_empty(&self) -> bool {
        self.store == 0 && self.section == 0 && self.own == 0 && self.heard.is_empty()
    }
}

pub(crate) struct Waits<const W: usize> {
    load: VecDeque<Pending<W>>,
    lds: VecDeque<Pending<W>>,
    direct: VecDeque<Pending<W>>,
    scalar: VecDeque<Pending<W>>,
    /// Whether a load into LDS was ever pending.
    any_direct: bool,
    store: VecDeque<Pending<W>>,
    /// Most LDS operations that are counted.
    deepest_lds: usize,
    /// What became complete and has to do with other workgroups.
    pub(crate) arrived: Vec<Told>,
    /// Registers that loads of vector memory may still write.
    pub(crate) by_load: Registers,
    /// The same for LDS operations.
    pub(crate) by_lds: Registers,
    /// The same for direct loads from LDS.
    pub(crate) by_direct: Registers,
    /// The same for scalar loads.
    pub(crate) by_scalar: Registers,
}

impl<const W: usize> Default for Waits<W> {
    fn default() -> Self {
        Waits {
            load: VecDeque::new(),
            lds: VecDeque::new(),
            direct: VecDeque::new(),
            scalar: VecDeque::new(),
            any_direct: false,
            store: VecDeque::new(),
            deepest_lds: DEEPEST,
            arrived: Vec::new(),
            by_load: Registers::default(),
            by_lds: Registers::default(),
            by_direct: Registers::default(),
            by_scalar: Registers::default(),
        }
    }
}

/// Entries kept in a queue: the widest counters have six bits, and compilers leave out a wait for
/// what more than 63 later loads follow.
const DEEPEST: usize = 63;

/// The same of LDS operations on gfx9, whose `lgkmcnt` has four bits (LLVM's AMDGPU usage guide).
const DEEPEST_LDS_OF_GFX9: usize = 15;

impl<const W: usize> Waits<W> {
    /// Nothing pending, on a chip of a generation.
    pub(crate) fn new(isa: Isa) -> Waits<W> {
        Waits {
            deepest_lds: match isa {
                Isa::Gfx9 => DEEPEST_LDS_OF_GFX9,
                Isa::Gfx11 | Isa::Gfx12 => DEEPEST,
            },
            ..Waits::default()
        }
    }

    /// Whether a register may still be written.
    pub(crate) fn any(&self) -> bool {
        !(self.load.is_empty()
            && self.lds.is_empty()
            && self.scalar.is_empty()
            && self.direct.is_empty())
    }

    pub(crate) fn push(&mut self, queue: Queue, registers: Registers, touch: Option<Touch<W>>) {
        let (entries, set) = match queue {
            Queue::Load => (&mut self.load, Some(&mut self.by_load)),
            Queue::Lds => (&mut self.lds, Some(&mut self.by_lds)),
            Queue::Direct => (&mut self.direct, Some(&mut self.by_direct)),
            Queue::Scalar => (&mut self.scalar, Some(&mut self.by_scalar)),
            Queue::Store => (&mut self.store, None),
        };
        // The hardware stalls when a counter is full, and its oldest entry completes.
        let deepest = match queue {
            Queue::Lds => self.deepest_lds,
            _ => DEEPEST,
        };
        let full = entries.len() == deepest;
        if full && let Some(first) = entries.pop_front() {
            self.arrived
                .extend(Some(first.told).filter(|told| !told.is_empty()));
        }
        if let Some(set) = set {
            if full {
                *set = Registers::default();
                for pending in entries.iter() {
                    set.add(&pending.registers);
                }
            }
            set.add(&registers);
        }
        self.any_direct |= queue == Queue::Load && touch.is_some();
        entries.push_back(Pending {
            registers,
            half: None,
            touch,
            disorders: false,
            access: Access::Load,
            words: Box::default(),
            told: Told::default(),
        });
    }

    /// Says what the operation last pushed does to words of global memory.
    pub(crate) fn last_accesses(&mut self, queue: Queue, access: Access, words: &[u64]) {
        if let Some(last) = self.last(queue) {
            (last.access, last.words) = (access, words.into());
        }
    }

    /// Says that the operation last pushed may return in any order.
    pub(crate) fn last_disorders(&mut self, queue: Queue) {
        if let Some(last) = self.last(queue) {
            last.disorders = true;
        }
    }

    /// Says that the load last pushed fills one half of its register.
    pub(crate) fn last_fills(&mut self, queue: Queue, half: Option<Half>) {
        if let Some(last) = self.last(queue) {
            last.half = half;
        }
    }

    fn last(&mut self, queue: Queue) -> Option<&mut Pending<W>> {
        let entries = match queue {
            Queue::Load => &mut self.load,
            Queue::Lds => &mut self.lds,
            Queue::Scalar => &mut self.scalar,
            _ => &mut self.store,
        };
        entries.back_mut()
    }

    /// Says what the operation last pushed has to do with other workgroups.
    pub(crate) fn last_tells(&mut self, queue: Queue, told: Told) {
        if let Some(last) = self.last(queue) {
            last.told = told;
        }
    }

    pub(crate) fn wait(&mut self, wait: Wait) {
        if let Some(left) = wait.load {
            settle(&mut self.load, &mut self.by_load, left, &mut self.arrived);
        }
        if let Some(left) = wait.lds {
            settle(&mut self.lds, &mut self.by_lds, left, &mut self.arrived);
        }
        if let Some(left) = wait.direct {
            settle(
                &mut self.direct,
                &mut self.by_direct,
                left,
                &mut self.arrived,
            );
        }
        if let Some(left) = wait.store {
            let done = self.store.len().saturating_sub(left as usize);
            finish(self.store.drain(..done), &mut self.arrived);
        }
        if wait.scalar == Some(0) {
            // They return in any order: only the wait for all of them says anything.
            settle(&mut self.scalar, &mut self.by_scalar, 0, &mut self.arrived);
        }
    }

    /// The LDS accesses that nobody waited for.
    pub(crate) fn open_touches(&self) -> impl Iterator<Item = &Touch<W>> {
        self.lds
            .iter()
            .chain(&self.direct)
            .chain(&self.load)
            .filter_map(|pending| pending.touch.as_ref())
    }

    /// The lane of an access that touches LDS bytes which a pending load from memory writes.
    pub(crate) fn pending_bytes(&self, touch: &Touch<W>) -> Option<usize> {
        if !self.any_direct {
            return None;
        }
        self.load
            .iter()
            .filter_map(|pending| pending.touch.as_ref())
            .find_map(|pending| touch.meets(pending))
    }

    /// What nobody waited for, by words of global memory.
    pub(crate) fn open_words(&self) -> impl Iterator<Item = (u64, Access)> {
        let pending = self.store.iter().chain(&self.load).chain(&self.scalar);
        pending.flat_map(|pending| pending.words.iter().map(|&word| (word, pending.access)))
    }

    /// The signals that loads brought which nobody waited for.
    pub(crate) fn hearing(&self) -> impl Iterator<Item = Number> {
        self.load
            .iter()
            .chain(&self.scalar)
            .flat_map(|pending| pending.told.heard.iter().copied())
    }

    /// Takes from `registers` the one of which an access of memory moves a half, if all that is
    /// pending in it are loads into the other half.
    pub(crate) fn spare_other_half(&self, moves: Moves, registers: &mut Registers) {
        let mut register = Registers::default();
        register.add_vector(moves.register, 1);
        let entries = self.load.iter().chain(&self.lds).chain(&self.direct);
        let into_other = |pending: &Pending<W>| pending.half.is_some_and(|half| half != moves.half);
        if entries
            .filter(|pending| pending.registers.meets(&register))
            .all(into_other)
        {
            registers.remove(&register);
        }
    }

    /// The queue and the register of a pending load into one of `registers`, those of the queue
    /// `but` left out.
    pub(crate) fn pending(
        &self,
        registers: &Registers,
        but: Option<Queue>,
    ) -> Option<(Queue, String)> {
        [
            (Queue::Load, &self.by_load),
            (Queue::Lds, &self.by_lds),
            (Queue::Direct, &self.by_direct),
            (Queue::Scalar, &self.by_scalar),
        ]
        .into_iter()
        .find(|(queue, set)| Some(*queue) != but && set.meets(registers))
        .map(|(queue, set)| (queue, set.first_common(registers)))
    }
}

fn finish<const W: usize>(done: impl Iterator<Item = Pending<W>>, arrived: &mut Vec<Told>) {
    arrived.extend(
        done.map(|pending| pending.told)
            .filter(|told| !told.is_empty()),
    );
}

fn settle<const W: usize>(
    entries: &mut VecDeque<Pending<W>>,
    set: &mut Registers,
    left: u32,
    arrived: &mut Vec<Told>,
) {
    let left = left as usize;
    let any_order = left > 0 && entries.iter().any(|pending| pending.disorders);
    if entries.len() <= left || any_order {
        return;
    }
    finish(entries.drain(..entries.len() - left), arrived);
    *set = Registers::default();
    for pending in entries {
        set.add(&pending.registers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind a flat access of gfx9 a wait that leaves something says nothing.
    #[test]
    fn what_returns_in_any_order_is_waited_for_as_a_whole() {
        let register = |first| {
            let mut registers = Registers::default();
            registers.add_vector(first, 1);
            registers
        };
        for (queue, wait) in [
            (Queue::Load, |left| Wait {
                load: Some(left),
                ..Wait::default()
            }),
            (Queue::Lds, |left| Wait {
                lds: Some(left),
                ..Wait::default()
            }),
        ] as [(Queue, fn(u32) -> Wait); 2]
        {
            for disorders in [false, true] {
                let mut waits = Waits::<32>::default();
                waits.push(queue, register(1), None);
                if disorders {
                    waits.last_disorders(queue);
                }
                waits.push(queue, register(2), None);
                waits.wait(wait(1));
                assert_eq!(waits.pending(&register(1), None).is_some(), disorders);
                assert!(waits.pending(&register(2), None).is_some());
                waits.wait(wait(0));
                assert!(!waits.any());
            }
        }
    }

    /// A counter of four bits lets fifteen operations stand.
    #[test]
    fn what_more_operations_follow_than_are_counted_has_returned() {
        for (isa, standing) in [(Isa::Gfx9, 15), (Isa::Gfx11, 63)] {
            let mut waits = Waits::<32>::new(isa);
            let mut first = Registers::default();
            first.add_vector(1, 1);
            waits.push(Queue::Lds, first, None);
            for _ in 1..standing {
                waits.push(Queue::Lds, Registers::default(), None);
            }
            assert!(waits.pending(&first, None).is_some());
            waits.push(Queue::Lds, Registers::default(), None);
            assert_eq!(waits.pending(&first, None), None);
        }
    }
}
