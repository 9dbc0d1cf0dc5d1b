//! What a workgroup's waves do wrong, told with the instructions that led there.

use tilefold_machine::Generation;

use crate::check::{Check, Finding};
use crate::group::Group;
use crate::hazards::Facts;
use crate::memory::lds::{Faults, Stored, Touch};
use crate::program::{Inst, Op};
use crate::waits::{Queue, Registers};
use crate::wave::{HISTORY, Wave};

/// Findings kept of one workgroup.
pub(crate) const KEPT: usize = 8;

impl<const W: usize> Group<'_, W> {
    pub(crate) fn check_waits(&mut self, wave: &Wave<W>, inst: &Inst<W>) {
        if !self.checks.has(Check::MissingWait) {
            return;
        }
        let pending = |registers: &Registers, but: Option<Queue>| {
            let found = wave.waits.pending(registers, but)?;
            let Some(moves) = inst.moves else {
                return Some(found);
            };
            let mut registers = *registers;
            wave.waits.spare_other_half(moves, &mut registers);
            wave.waits.pending(&registers, but)
        };
        let mut found = pending(&inst.uses, None);
        if let (None, Some((own, registers))) = (&found, &inst.fills) {
            // Loads of one queue may follow each other into a register that they write in order.
            let in_order = match own {
                Queue::Load => {
                    let flat = matches!(&inst.op, Op::Vmem(vmem) if vmem.is_flat());
                    !flat && self.machine.generation != Generation::Rdna4
                }
                own => *own != Queue::Scalar,
            };
            found = pending(registers, in_order.then_some(*own));
        }
        if let Some((queue, register)) = found {
            self.find(Check::MissingWait, wave, inst, None, || {
                let load = match queue {
                    Queue::Load => "a vector memory load",
                    Queue::Lds => "an LDS operation",
                    Queue::Direct => "a direct load from LDS",
                    Queue::Scalar => "a scalar load",
                    Queue::Store => "a store",
                };
                format!("{register} is used while {load} into it is pending")
            });
        }
    }

    /// Wait states or waits that are missing before an instruction.
    pub(crate) fn check_hazards(&mut self, wave: &mut Wave<W>, inst: &Inst<W>, facts: &Facts) {
        if !self.checks.has(Check::Hazard) {
            return;
        }
        let program = self.program;
        let facts_of = |index: usize| program.insts.get(index)?.hazard.as_deref();
        match facts {
            Facts::Cdna(facts) => {
                let facts_of = |index: usize| facts_of(index)?.as_cdna();
                if let Some(met) = wave.recent.cdna.step(wave.pc, facts, facts_of) {
                    self.find(Check::Hazard, wave, inst, None, || {
                        format!(
                            "{} (`{}`): {} wait states between them, {} are needed (LLVM's {})",
                            met.row.name,
                            program.insts[met.first].text,
                            met.has,
                            met.needs,
                            met.row.source
                        )
                    });
                }
            }
            Facts::Rdna(facts) => {
                let facts_of = |index: usize| facts_of(index)?.as_rdna();
                let executed = wave.executed.checked_sub(2);
                let before =
                    executed.map(|at| wave.history[(at % HISTORY as u64) as usize] as usize);
                let recent = &mut wave.recent.rdna;
                if let Some(met) = recent.step(wave.pc, facts, before, facts_of) {
                    self.find(Check::Hazard, wave, inst, None, || {
                        let first = met.first.and_then(|first| program.insts.get(first));
                        met.describe(first.map(|first| &*first.text))
                    });
                }
            }
        }
    }

    /// An access of LDS bytes that a load from memory may still write.
    pub(crate) fn check_pending_bytes(&mut self, touch: &Touch<W>, wave: &Wave<W>, inst: &Inst<W>) {
        if let Some(lane) = wave.waits.pending_bytes(touch) {
            let (at, offsets) = (touch.base[lane], &touch.offsets[..touch.spans]);
            self.find(Check::MissingWait, wave, inst, Some(lane as u32), || {
                format!("LDS at {at} + {offsets:?} is used while a load into it is pending")
            });
        }
    }

    /// Counts what a check found and keeps the first findings.
    #[cold]
    pub(crate) fn find(
        &mut self,
        check: Check,
        wave: &Wave<W>,
        inst: &Inst<W>,
        lane: Option<u32>,
        message: impl FnOnce() -> String,
    ) {
        if !self.checks.has(check) {
            return;
        }
        if self.tally.findings.len() >= KEPT {
            self.tally.checks[check as usize] += 1;
            return;
        }
        let finding = self.finding(check, wave, inst, lane, message());
        self.tally.find(finding, KEPT);
    }

    /// What a check found, with the instructions that led there.
    pub(crate) fn finding(
        &self,
        check: Check,
        wave: &Wave<W>,
        inst: &Inst<W>,
        lane: Option<u32>,
        message: String,
    ) -> Finding {
        let kept = wave.executed.min(HISTORY as u64);
        let history = (wave.executed - kept..wave.executed)
            .map(|at| wave.history[(at % HISTORY as u64) as usize])
            .map(|index| self.program.insts[index as usize].text.to_string())
            .collect();
        Finding {
            check,
            message,
            instruction: inst.text.to_string(),
            address: inst.address,
            source: None,
            workgroup: self.id,
            wave: wave.id,
            lane,
            history,
        }
    }

    /// Notes an LDS access and reports what it collides with.
    #[inline]
    pub(crate) fn note_lds(
        &mut self,
        touch: &Touch<W>,
        wave: &Wave<W>,
        inst: &Inst<W>,
        stored: Option<Stored<'_>>,
    ) {
        if self.checks.has(Check::LdsRace) || self.checks.has(Check::LdsUninitialized) {
            let faults = self.lds.note(touch, wave.id, wave.barriers, stored);
            self.report_lds(touch, faults, wave, inst);
        }
    }

    pub(crate) fn report_lds(
        &mut self,
        touch: &Touch<W>,
        faults: Faults,
        wave: &Wave<W>,
        inst: &Inst<W>,
    ) {
        if faults == Faults::default() {
            return;
        }
        let at = |lanes: u64| {
            let lane = lanes.trailing_zeros();
            (
                lane,
                touch.base[lane as usize % W],
                touch.offsets[..touch.spans].to_vec(),
            )
        };
        if faults.race != 0 {
            let (lane, base, offsets) = at(faults.race);
            let verb = if touch.write { "writes" } else { "reads" };
            self.find(Check::LdsRace, wave, inst, Some(lane), || {
                format!(
                    "{verb} LDS at {base} + {offsets:?} ({} bytes), which another wave touched \
                     since the barrier before",
                    touch.bytes
                )
            });
        }
        if faults.uninitialized != 0 {
            let (lane, base, offsets) = at(faults.uninitialized);
            self.find(Check::LdsUninitialized, wave, inst, Some(lane), || {
                format!("reads LDS at {base} + {offsets:?}, where nobody wrote")
            });
        }
    }
}
