//! The barrier of a workgroup, which may be signalled and waited for apart.

use crate::check::Check;
use crate::group::{Flow, Group};
use crate::memory::lds::Faults;
use crate::program::Barrier;
use crate::wave::{State, Wave};

impl<const W: usize> Group<'_, W> {
    pub(crate) fn barrier(&mut self, barrier: Barrier, wave: &mut Wave<W>) -> Flow {
        if barrier != Barrier::Wait {
            if barrier == Barrier::SignalFirst {
                // A wave alone is in no workgroup: AMD's RDNA 4 guide, `S_BARRIER_SIGNAL_ISFIRST`
                // and "Barriers".
                wave.scc = self.arrived == 0 && self.waves > 1;
            }
            if wave.signalled.is_some() {
                let inst = &self.program.insts[wave.pc];
                self.find(Check::BarrierDivergence, wave, inst, None, || {
                    "signals the barrier again and has not waited for it".into()
                });
            }
            wave.signalled = Some(self.phase);
            self.report_suspects(wave);
            // What was not waited for may still happen behind the barrier.
            wave.carried.extend(wave.waits.open_touches().copied());
            self.leave_at_barrier(wave);
            self.arrived += 1;
            self.complete();
        }
        if matches!(barrier, Barrier::Signal | Barrier::SignalFirst) {
            return Flow::Next;
        }
        // Without a signal of its own the wave waits for the others to complete one.
        let number = wave.signalled.unwrap_or(self.phase);
        if self.phase > number {
            self.pass(wave);
            return Flow::Next;
        }
        wave.state = State::Barrier(number);
        Flow::Block
    }

    fn complete(&mut self) {
        if self.live > 0 && self.arrived >= self.live {
            self.phase += 1;
            self.arrived = 0;
        }
    }

    /// Lets a wave past a complete barrier.
    pub(crate) fn pass(&mut self, wave: &mut Wave<W>) {
        wave.state = State::Ready;
        wave.signalled = None;
        wave.barriers += 1;
        if let Some(left) = self.left.get(wave.passed().wrapping_sub(1)) {
            wave.heard.join(&left.heard);
            wave.scalar_heard.join(&left.scalar_heard);
        }
        let carried = std::mem::take(&mut wave.carried);
        for touch in &carried {
            let mut faults = self.lds.note(touch, wave.id, wave.barriers, None);
            faults.uninitialized = 0;
            if faults != Faults::default()
                && let Some(&index) = self.program.at.get(&touch.instruction)
            {
                self.report_lds(touch, faults, wave, &self.program.insts[index]);
            }
        }
    }

    pub(crate) fn end(&mut self, wave: &mut Wave<W>) {
        wave.state = State::Ended;
        self.report_suspects(wave);
        self.live -= 1;
        if wave.signalled == Some(self.phase) {
            self.arrived -= 1;
        }
        self.complete();
    }
}
