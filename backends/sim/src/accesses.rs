//! The memory instructions of a wave: what they move, what they wait for, whom they tell.

use tilefold_machine::Generation;

use crate::group::{Flow, Group};
use crate::memory::access::Vmem;
use crate::memory::lds::Touch;
use crate::memory::scalar::Smem;
use crate::poll::Poll;
use crate::program::Inst;
use crate::waits::Queue;
use crate::wave::Wave;

impl<const W: usize> Group<'_, W> {
    #[inline]
    pub(crate) fn vector_memory(
        &mut self,
        vmem: &Vmem,
        wave: &mut Wave<W>,
        inst: &Inst<W>,
    ) -> Flow {
        self.visit(wave);
        if vmem.stores() {
            self.issue(vmem.how(), wave);
        }
        let before = (self.tally.read, self.tally.written);
        self.clear_words();
        let touch = vmem.execute(wave, self, inst);
        self.moved_since(wave, before);
        if let Some(touch) = &touch {
            self.moved_in_lds_too(wave, touch);
            self.order_by_lds(touch, vmem.has_result(), wave);
            // Loads into LDS write it in the order of the loads.
            if vmem.is_flat() {
                self.check_pending_bytes(touch, wave, inst);
            }
            if wave.signalled.is_some() {
                wave.carried.push(*touch);
            }
        }
        let (queue, registers) = inst.fills.unwrap_or((Queue::Store, Default::default()));
        // A flat access may be one of LDS, and is waited for as both.
        let touch = match vmem.is_flat() {
            true => {
                wave.waits.push(Queue::Lds, registers, touch);
                None
            }
            false => touch,
        };
        wave.waits.push(queue, registers, touch);
        wave.waits
            .last_fills(queue, inst.moves.map(|moves| moves.half));
        if vmem.is_flat() && self.machine.generation == Generation::Cdna4 {
            for queue in [Queue::Lds, queue] {
                wave.waits.last_disorders(queue);
            }
        }
        let own = match vmem.is_atomic() {
            true => self.scalar_cache.change(&self.changed, wave),
            false => self.scalar_cache.store(&self.stored, wave),
        };
        if !self.stored.is_empty() {
            wave.poll = Poll::default();
        }
        self.expose_words(queue, wave);
        if self.signals.is_some() || own != 0 {
            let told = self.tell(own);
            wave.waits.last_tells(queue, told);
            self.arrive(wave);
        }
        let written = || self.stored.iter().chain(&self.changed);
        let awaited = |word: &u64| self.awaited.contains(word);
        self.tells = !self.awaited.is_empty() && written().any(awaited);
        match self.polls(wave) || self.tells {
            true => Flow::Poll,
            false => Flow::Next,
        }
    }

    #[inline]
    pub(crate) fn scalar_memory(
        &mut self,
        smem: &Smem,
        wave: &mut Wave<W>,
        inst: &Inst<W>,
    ) -> Flow {
        let before = (self.tally.read, self.tally.written);
        self.visit(wave);
        self.clear_words();
        smem.execute(wave, self, inst);
        self.moved_since(wave, before);
        if let Some((queue, registers)) = inst.fills {
            wave.waits.push(queue, registers, None);
            self.expose_words(queue, wave);
            if self.signals.is_some() {
                let told = self.tell(0);
                wave.waits.last_tells(queue, told);
            }
        }
        match self.polls(wave) {
            true => Flow::Poll,
            false => Flow::Next,
        }
    }

    fn clear_words(&mut self) {
        self.loaded.clear();
        self.stored.clear();
        self.changed.clear();
    }

    /// Whether what was just loaded has been found there often enough.
    #[inline]
    fn polls(&mut self, wave: &mut Wave<W>) -> bool {
        let polls = !self.seen.is_empty() && wave.poll.again(wave.pc, &self.seen);
        self.seen.clear();
        polls
    }

    /// Counts the bytes of LDS that an LDS instruction touched.
    #[inline]
    pub(crate) fn moved_in_lds(&mut self, wave: &Wave<W>, touch: Option<&Touch<W>>) {
        if let Some(touch) = touch {
            let bytes = touch.requested();
            let (read, written) = if touch.write { (0, bytes) } else { (bytes, 0) };
            self.moved(wave, read, written);
        }
    }

    /// The same of a vector memory instruction.
    fn moved_in_lds_too(&mut self, wave: &Wave<W>, touch: &Touch<W>) {
        let (count, bytes) = (&mut self.tally.counts[wave.pc], touch.requested());
        match touch.write {
            true => count.lds_written += bytes,
            false => count.lds_read += bytes,
        }
    }

    /// Counts bytes of the instruction that a wave executes.
    #[inline]
    fn moved(&mut self, wave: &Wave<W>, read: u64, written: u64) {
        let count = &mut self.tally.counts[wave.pc];
        count.read += read;
        count.written += written;
    }

    /// Counts for an instruction the bytes that were read and written since the sums were these.
    #[inline]
    fn moved_since(&mut self, wave: &Wave<W>, (read, written): (u64, u64)) {
        let (read, written) = (self.tally.read - read, self.tally.written - written);
        self.moved(wave, read, written);
    }
}
