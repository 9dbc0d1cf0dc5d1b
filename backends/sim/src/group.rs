//! One workgroup: its waves take turns between barriers.

use tilefold_machine::{Access, Machine, Width};

use crate::error::Error;
use crate::memory::Memory;
use crate::memory::lds::{Faults, Lds, Touch};
use crate::mma::Room;
use crate::program::{Barrier, Condition, Inst, Op, Program};
use crate::report::{Check, Checks, Class, Finding};
use crate::system::System;
use crate::waits::Queue;
use crate::wave::{HISTORY, State, Wave};

/// Findings kept of one workgroup.
pub(crate) const KEPT: usize = 8;

/// Instructions that a wave executes before the next one has its turn, so that a wave that waits
/// for another through memory does not wait for ever.
const TURN: u64 = 1 << 16;

/// What a workgroup counted and found.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    pub(crate) checks: [u64; Check::ALL.len()],
    pub(crate) findings: Vec<Finding>,
    pub(crate) classes: [u64; Class::ALL.len()],
    pub(crate) conflicts_read: u64,
    pub(crate) conflicts_write: u64,
    pub(crate) global_bytes_read: u64,
    pub(crate) global_bytes_written: u64,
    /// Per LDS instruction: spans accessed and conflict cycles.
    pub(crate) conflicts: Vec<(u64, u64)>,
}

impl Tally {
    pub(crate) fn new(ds_count: usize) -> Tally {
        Tally {
            checks: [0; Check::ALL.len()],
            findings: Vec::new(),
            classes: [0; Class::ALL.len()],
            conflicts_read: 0,
            conflicts_write: 0,
            global_bytes_read: 0,
            global_bytes_written: 0,
            conflicts: vec![(0, 0); ds_count],
        }
    }

    /// Adds what a later workgroup has; the first `findings` findings stay.
    pub(crate) fn add(&mut self, other: Tally, findings: usize) {
        let add = |sums: &mut [u64], more: &[u64]| {
            for (sum, more) in sums.iter_mut().zip(more) {
                *sum += more;
            }
        };
        add(&mut self.checks, &other.checks);
        add(&mut self.classes, &other.classes);
        self.conflicts_read += other.conflicts_read;
        self.conflicts_write += other.conflicts_write;
        self.global_bytes_read += other.global_bytes_read;
        self.global_bytes_written += other.global_bytes_written;
        for (sum, more) in self.conflicts.iter_mut().zip(&other.conflicts) {
            sum.0 += more.0;
            sum.1 += more.1;
        }
        let room = findings.saturating_sub(self.findings.len());
        self.findings.extend(other.findings.into_iter().take(room));
    }
}

/// The last addresses of an LDS instruction relative to its first active lane, with the conflicts
/// they had: moving all lanes by a whole number of words changes nothing about them.
#[derive(Clone)]
struct Pattern<const W: usize> {
    relative: [u32; W],
    misalignment: u32,
    lanes: u64,
    cycles: u64,
}

pub(crate) struct Group<'a, const W: usize> {
    pub(crate) memory: &'a Memory,
    pub(crate) program: &'a Program<W>,
    pub(crate) machine: &'static Machine,
    pub(crate) checks: Checks,
    pub(crate) id: [u32; 3],
    /// Its place in the grid, from 1.
    pub(crate) number: u32,
    /// Address of the code object's image.
    pub(crate) image: u64,
    pub(crate) lds: Lds,
    pub(crate) tally: Tally,
    /// Whether another workgroup touched the same bytes of an output.
    pub(crate) overlap: bool,
    /// Room for the operands of a matrix instruction.
    pub(crate) room: Box<Room>,
    patterns: Vec<Option<Box<Pattern<W>>>>,
    /// Barriers completed.
    phase: u64,
    /// Waves that reached the barrier not yet complete.
    arrived: u32,
    /// Waves that have not ended.
    live: u32,
    limit: u64,
}

/// What follows an instruction.
enum Flow {
    Next,
    Jump(usize),
    Block,
    End,
}

/// What the workgroups of a launch share.
pub(crate) struct Common<'a, const W: usize> {
    pub(crate) memory: &'a Memory,
    pub(crate) program: &'a Program<W>,
    pub(crate) machine: &'static Machine,
    pub(crate) checks: Checks,
    pub(crate) image: u64,
    pub(crate) lds_bytes: usize,
    /// Most instructions of a wave.
    pub(crate) limit: u64,
}

impl<'a, const W: usize> Group<'a, W> {
    pub(crate) fn new(common: &Common<'a, W>, id: [u32; 3], number: u32) -> Group<'a, W> {
        let ds_count = common.program.ds_count;
        Group {
            memory: common.memory,
            program: common.program,
            machine: common.machine,
            checks: common.checks,
            id,
            number,
            image: common.image,
            lds: Lds::new(common.lds_bytes),
            tally: Tally::new(ds_count),
            overlap: false,
            room: Room::new(),
            patterns: vec![None; ds_count],
            phase: 0,
            arrived: 0,
            live: 0,
            limit: common.limit,
        }
    }

    /// Runs all waves to their end.
    pub(crate) fn run(&mut self, waves: &mut [Wave<W>]) -> Result<(), Error> {
        self.live = waves.len() as u32;
        loop {
            let mut moved = false;
            for wave in waves.iter_mut() {
                match wave.state {
                    State::Ended => continue,
                    State::Barrier(number) if self.phase <= number => continue,
                    State::Barrier(_) => self.pass(wave),
                    State::Ready => {}
                }
                moved = true;
                self.turn(wave)?;
            }
            if self.live == 0 {
                break;
            }
            if !moved {
                // Every wave left waits for a barrier that was never signalled.
                for wave in waves.iter().filter(|wave| wave.state != State::Ended) {
                    let inst = &self.program.insts[wave.pc];
                    self.find(Check::BarrierDivergence, wave, inst, None, || {
                        "waits for ever at a barrier that not all waves signal".into()
                    });
                }
                break;
            }
        }
        let most = waves.iter().map(|wave| wave.barriers).max().unwrap_or(0);
        if let Some(wave) = waves.iter().find(|wave| wave.barriers != most) {
            let last = wave.history[(wave.executed.wrapping_sub(1) % HISTORY as u64) as usize];
            let inst = &self.program.insts[last as usize];
            self.find(Check::BarrierDivergence, wave, inst, None, || {
                format!("passed {} barriers, another wave {most}", wave.barriers)
            });
        }
        Ok(())
    }

    /// Runs a wave until it blocks, ends, or its turn is over.
    fn turn(&mut self, wave: &mut Wave<W>) -> Result<(), Error> {
        let program = self.program;
        let last = wave.executed + TURN;
        while wave.executed < last {
            let Some(inst) = program.insts.get(wave.pc) else {
                return Err(Error::Jump { address: 0 });
            };
            wave.history[(wave.executed % HISTORY as u64) as usize] = wave.pc as u32;
            wave.executed += 1;
            self.tally.classes[inst.class as usize] += 1;
            if wave.waits.any() {
                self.check_waits(wave, inst);
            }
            match self.step(wave, inst)? {
                Flow::Next => wave.pc += 1,
                Flow::Jump(target) => wave.pc = target,
                Flow::Block => {
                    wave.pc += 1;
                    return Ok(());
                }
                Flow::End => {
                    self.end(wave);
                    return Ok(());
                }
            }
        }
        if wave.executed >= self.limit {
            return Err(Error::Endless {
                workgroup: self.id,
                wave: wave.id,
                limit: self.limit,
            });
        }
        Ok(())
    }

    #[inline]
    fn step(&mut self, wave: &mut Wave<W>, inst: &Inst<W>) -> Result<Flow, Error> {
        if inst.class == Class::Valu {
            wave.last_mma = None;
        }
        match &inst.op {
            Op::Valu(valu) => valu.execute(wave),
            Op::Salu(salu) => salu.execute(wave),
            Op::Ds(ds) => {
                let touch = ds.execute(wave, self, inst);
                if let (Some(touch), Some(_)) = (&touch, wave.signalled) {
                    wave.carried.push(*touch);
                }
                let (_, registers) = inst.fills.unwrap_or((Queue::Lds, Default::default()));
                if let Some(touch) = &touch {
                    self.check_pending_bytes(touch, wave, inst);
                }
                wave.waits.push(Queue::Lds, registers, touch);
            }
            Op::Wmma(wmma) => wmma.execute(wave, self, inst),
            Op::Mfma(mfma) => mfma.execute(wave, self),
            Op::Vmem(vmem) => {
                let touch = vmem.execute(wave, self, inst);
                // Loads into LDS write it in the order of the loads.
                if let Some(touch) = touch.as_ref().filter(|_| vmem.is_flat()) {
                    self.check_pending_bytes(touch, wave, inst);
                }
                if let Some((queue, registers)) = inst.fills {
                    // A flat access may be one of LDS, and is waited for as both.
                    if vmem.is_flat() {
                        wave.waits.push(Queue::Lds, registers, touch);
                        wave.waits.push(queue, registers, None);
                    } else {
                        wave.waits.push(queue, registers, touch);
                    }
                }
            }
            Op::Smem(smem) => {
                smem.execute(wave, self, inst);
                if let Some((queue, registers)) = inst.fills {
                    wave.waits.push(queue, registers, None);
                }
            }
            Op::Dual(halves) => {
                let [x, y] = &**halves;
                let (first, second) = (x.compute(wave), y.compute(wave));
                x.commit(wave, &first);
                y.commit(wave, &second);
            }
            Op::Packed(packed) => packed.execute(wave),
            Op::Lane(lane) => lane.execute(wave),
            Op::Branch { condition, target } => {
                let taken = match *condition {
                    Condition::Always => true,
                    Condition::Scc(on) => wave.scc == on,
                    Condition::Vcc(any) => (wave.vcc() != 0) == any,
                    Condition::Exec(any) => (wave.exec() != 0) == any,
                };
                if taken {
                    return Ok(Flow::Jump(*target));
                }
            }
            Op::Wait(wait) => wave.waits.wait(*wait),
            Op::Barrier(barrier) => return Ok(self.barrier(*barrier, wave)),
            Op::System(system) => return self.system(*system, wave),
            Op::Nothing => {}
            Op::End => return Ok(Flow::End),
            Op::Unknown(reason) => {
                return Err(Error::Instruction {
                    text: inst.text.to_string(),
                    address: inst.address,
                    reason: reason.clone(),
                });
            }
        }
        Ok(Flow::Next)
    }

    fn system(&mut self, system: System, wave: &mut Wave<W>) -> Result<Flow, Error> {
        let next = self
            .program
            .insts
            .get(wave.pc + 1)
            .map_or(0, |inst| inst.address);
        let address = self.image.wrapping_add(next);
        let store = |wave: &mut Wave<W>, first: u16| {
            wave.set_scalar(first, address as u32);
            wave.set_scalar(first + 1, (address >> 32) as u32);
        };
        match system {
            System::DenormMode(mode) => {
                wave.mode.f32 = mode & 3;
                wave.mode.f16_f64 = mode >> 2 & 3;
            }
            System::GetPc(first) => store(wave, first),
            System::SetPc(first) => {
                let target = wave.pair(first).wrapping_sub(self.image);
                return Ok(Flow::Jump(self.program.jump(target)?));
            }
            System::SwapPc(back, first) => {
                let target = wave.pair(first).wrapping_sub(self.image);
                store(wave, back);
                return Ok(Flow::Jump(self.program.jump(target)?));
            }
            System::Message => wave.waits.push(Queue::Scalar, Default::default(), None),
        }
        Ok(Flow::Next)
    }

    fn barrier(&mut self, barrier: Barrier, wave: &mut Wave<W>) -> Flow {
        if barrier != Barrier::Wait {
            wave.signalled = Some(self.phase);
            // What was not waited for may still happen behind the barrier.
            wave.carried.extend(wave.waits.open_touches().copied());
            self.arrived += 1;
            self.complete();
        }
        if barrier == Barrier::Signal {
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
    fn pass(&mut self, wave: &mut Wave<W>) {
        wave.state = State::Ready;
        wave.signalled = None;
        wave.barriers += 1;
        let carried = std::mem::take(&mut wave.carried);
        for touch in &carried {
            let mut faults = self.lds.note(touch, wave.id, wave.barriers);
            faults.uninitialized = 0;
            if faults != Faults::default()
                && let Some(&index) = self.program.at.get(&touch.instruction)
            {
                self.report_lds(touch, faults, wave, &self.program.insts[index]);
            }
        }
    }

    fn end(&mut self, wave: &mut Wave<W>) {
        wave.state = State::Ended;
        self.live -= 1;
        if wave.signalled == Some(self.phase) {
            self.arrived -= 1;
        }
        self.complete();
    }

    fn check_waits(&mut self, wave: &Wave<W>, inst: &Inst<W>) {
        if !self.checks.has(Check::MissingWait) {
            return;
        }
        let mut found = wave.waits.pending(&inst.uses);
        if let (None, Some((own, registers))) = (&found, &inst.fills) {
            // Loads of one in-order queue may follow each other into a register.
            found = wave
                .waits
                .pending(registers)
                .filter(|(queue, _)| queue != own || *own == Queue::Scalar);
        }
        if let Some((queue, register)) = found {
            self.find(Check::MissingWait, wave, inst, None, || {
                let load = match queue {
                    Queue::Load => "a vector memory load",
                    Queue::Lds => "an LDS operation",
                    Queue::Scalar => "a scalar load",
                };
                format!("{register} is used while {load} into it is pending")
            });
        }
    }

    /// An access of LDS bytes that a load from memory may still write.
    fn check_pending_bytes(&mut self, touch: &Touch<W>, wave: &Wave<W>, inst: &Inst<W>) {
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
        self.tally.checks[check as usize] += 1;
        if self.tally.findings.len() >= KEPT {
            return;
        }
        let kept = wave.executed.min(HISTORY as u64);
        let history = (wave.executed - kept..wave.executed)
            .map(|at| wave.history[(at % HISTORY as u64) as usize])
            .map(|index| self.program.insts[index as usize].text.to_string())
            .collect();
        self.tally.findings.push(Finding {
            check,
            message: message(),
            instruction: inst.text.to_string(),
            address: inst.address,
            workgroup: self.id,
            wave: wave.id,
            lane,
            history,
        });
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

    /// Counts the bank conflicts of one span of an LDS instruction.
    #[inline]
    pub(crate) fn count_conflicts(
        &mut self,
        index: usize,
        base: &[u32; W],
        offset: u32,
        lanes: u64,
        width: Width,
        access: Access,
    ) {
        if lanes == 0 {
            return;
        }
        let first = base[lanes.trailing_zeros() as usize];
        let misalignment = first.wrapping_add(offset) % 4;
        let all = lanes == Wave::<W>::ALL;
        let mut relative = [0; W];
        for lane in 0..W {
            let on = all || lanes >> lane & 1 == 1;
            relative[lane] = if on {
                base[lane].wrapping_sub(first)
            } else {
                0
            };
        }
        let cycles = match &self.patterns[index] {
            Some(pattern)
                if pattern.lanes == lanes
                    && pattern.misalignment == misalignment
                    && pattern.relative == relative =>
            {
                pattern.cycles
            }
            _ => {
                let addresses: [Option<u32>; W] = std::array::from_fn(|lane| {
                    (lanes >> lane & 1 == 1).then(|| base[lane].wrapping_add(offset))
                });
                let cycles = u64::from(self.machine.conflict_cycles(&addresses, width, access));
                self.patterns[index] = Some(Box::new(Pattern {
                    relative,
                    misalignment,
                    lanes,
                    cycles,
                }));
                cycles
            }
        };
        let (accesses, sum) = &mut self.tally.conflicts[index];
        *accesses += 1;
        *sum += cycles;
        match access {
            Access::Read => self.tally.conflicts_read += cycles,
            Access::Write => self.tally.conflicts_write += cycles,
        }
    }
}
