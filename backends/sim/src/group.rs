//! One workgroup: its waves take turns between barriers.

use std::collections::HashMap;

use tilefold_machine::Machine;

use crate::check::{Check, Checks};
use crate::conflicts::Pattern;
use crate::counters::Class;
use crate::error::Error;
use crate::lines::SourceLine;
use crate::loads::Section;
use crate::memory::lds::Lds;
use crate::memory::{Memory, Visitor};
use crate::mma::Room;
use crate::ordering::Barriers;
use crate::poll::Seen;
use crate::program::{Condition, Inst, Op, Program};
use crate::scalar_cache::ScalarCache;
use crate::signals::{Number, Signals};
use crate::tally::Tally;
use crate::trace::{Trace, Tracer};
use crate::waits::Queue;
use crate::wave::{HISTORY, State, Wave};

/// Instructions that a wave executes before the next one has its turn, so that a wave that waits
/// for another through memory does not wait for ever.
const TURN: u64 = 1 << 16;

pub(crate) struct Group<'a, const W: usize> {
    pub(crate) memory: &'a Memory,
    pub(crate) program: &'a Program<W>,
    pub(crate) machine: &'static Machine,
    pub(crate) checks: Checks,
    pub(crate) id: [u32; 3],
    /// Its place in the grid, from 1.
    pub(crate) number: u32,
    pub(crate) grid: [u32; 3],
    /// The wave that accesses memory.
    pub(crate) visitor: Visitor,
    /// Address of the code object's image.
    pub(crate) image: u64,
    pub(crate) lds: Lds,
    pub(crate) tally: Tally,
    /// Whether it met another workgroup in an output, or its waves each other.
    pub(crate) overlap: bool,
    /// Whether the waves of a workgroup run on two compute units, which have a cache each.
    pub(crate) across_units: bool,
    /// Words of outputs that the instruction being executed loads, by address over four, where its
    /// wave must have waited for them before a barrier.
    pub(crate) loaded: Vec<u64>,
    /// Words that it stores, the same.
    pub(crate) stored: Vec<u64>,
    /// Words that it changes as an atomic operation, the same.
    pub(crate) changed: Vec<u64>,
    /// What the scalar cache may not know.
    pub(crate) scalar_cache: ScalarCache,
    /// What waves leave behind at barriers.
    pub(crate) left: Barriers,
    /// What workgroups tell each other; none where they run in parallel and have nothing to do
    /// with each other.
    pub(crate) signals: Option<Signals>,
    /// The last atomic operation on words of LDS, by address over four.
    pub(crate) lds_atomics: HashMap<u32, Number>,
    /// Number of the store being executed.
    pub(crate) storing: Number,
    /// The number of the instruction being executed among those that load, if it does.
    pub(crate) section: Section,
    /// Stores of which the instruction being executed brings word.
    pub(crate) hearing: Vec<Number>,
    /// Words that other workgroups wait for, by address over four, and whether one was written.
    pub(crate) awaited: Vec<u64>,
    pub(crate) tells: bool,
    /// The wave that has the next turn.
    next: usize,
    /// What the instruction being executed loads that may change.
    pub(crate) seen: Vec<Seen>,
    /// The trace of one of its waves.
    pub(crate) trace: Option<Box<Tracer<'a, W>>>,
    /// Room for the operands of a matrix instruction.
    pub(crate) room: Box<Room>,
    pub(crate) patterns: Vec<Option<Box<Pattern<W>>>>,
    /// Barriers completed.
    pub(crate) phase: u64,
    /// Waves that reached the barrier not yet complete.
    pub(crate) arrived: u32,
    /// Waves that have not ended.
    pub(crate) live: u32,
    /// Waves that it began with.
    pub(crate) waves: u32,
    limit: u64,
}

/// What follows an instruction.
pub(crate) enum Flow {
    Next,
    Jump(usize),
    Block,
    /// It loaded what it had loaded many times before.
    Poll,
    End,
}

/// Why a wave's turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// It ended or waits at a barrier.
    Blocked,
    Polls,
    /// It was long enough.
    Long,
}

/// Why a workgroup stops running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    Ended,
    /// Every wave that could run loads the same words over and over.
    Polls,
    /// It changed a word that another workgroup waits for.
    Tells,
    /// None of its waves came to a barrier or to its end in a whole turn, nor do all poll.
    Long,
}

/// What the workgroups of a launch share.
pub(crate) struct Common<'a, const W: usize> {
    pub(crate) memory: &'a Memory,
    pub(crate) program: &'a Program<W>,
    pub(crate) settings: Settings,
    pub(crate) trace: Option<Trace>,
    /// Source line of every instruction, where there is a trace and the code object has lines.
    pub(crate) sources: &'a [Option<SourceLine>],
}

/// What the launch, the kernel and the chip say of how workgroups run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) machine: &'static Machine,
    pub(crate) checks: Checks,
    /// Address of the code object's image.
    pub(crate) image: u64,
    pub(crate) lds_bytes: usize,
    /// Whether the waves of a workgroup run on two compute units, which have a cache each.
    pub(crate) across_units: bool,
    /// Whether a wave that waits behind a barrier waits for what others stored before it.
    pub(crate) shared_order: bool,
    /// Most instructions of a wave.
    pub(crate) limit: u64,
    /// Workgroups in x, y and z.
    pub(crate) grid: [u32; 3],
}

impl<'a, const W: usize> Group<'a, W> {
    pub(crate) fn new(
        common: &Common<'a, W>,
        id: [u32; 3],
        number: u32,
        parallel: bool,
    ) -> Group<'a, W> {
        let ds_count = common.program.ds_count;
        Group {
            memory: common.memory,
            program: common.program,
            machine: common.settings.machine,
            checks: common.settings.checks,
            id,
            number,
            grid: common.settings.grid,
            visitor: Visitor {
                workgroup: number,
                wave: 0,
                passed: 0,
                barrier: 0,
                parallel,
                waves: common.settings.checks.has(Check::GlobalRace),
            },
            image: common.settings.image,
            lds: Lds::new(common.settings.lds_bytes),
            tally: Tally::new(common.program.insts.len(), ds_count),
            overlap: false,
            across_units: common.settings.across_units,
            loaded: Vec::new(),
            stored: Vec::new(),
            changed: Vec::new(),
            scalar_cache: ScalarCache::new(common.program.invalidates),
            left: Barriers::default(),
            signals: None,
            lds_atomics: HashMap::new(),
            storing: 0,
            section: 0,
            hearing: Vec::new(),
            awaited: Vec::new(),
            tells: false,
            next: 0,
            seen: Vec::new(),
            trace: common
                .trace
                .filter(|trace| trace.workgroup == id)
                .map(|trace| Box::new(Tracer::new(trace, common.sources))),
            room: Room::new(),
            patterns: vec![None; ds_count],
            phase: 0,
            arrived: 0,
            live: 0,
            waves: 0,
            limit: common.settings.limit,
        }
    }

    /// Says how many waves it has.
    pub(crate) fn start(&mut self, waves: &[Wave<W>]) {
        self.live = waves.len() as u32;
        self.waves = self.live;
    }

    /// Runs all waves until they end or others should have their turn. Where it goes on alone, it
    /// stops only when it waits for others. When they end, also by an error, what was traced is in
    /// the tally.
    pub(crate) fn run(&mut self, waves: &mut [Wave<W>], alone: bool) -> Result<Pause, Error> {
        let result = self.turns(waves, alone);
        match &result {
            Ok(Pause::Polls | Pause::Long | Pause::Tells) => {}
            Ok(Pause::Ended) => self.end_trace(None),
            Err(error) => self.end_trace(Some(error)),
        }
        result
    }

    /// Moves what was traced to the tally.
    pub(crate) fn end_trace(&mut self, error: Option<&Error>) {
        if let Some(trace) = self.trace.take() {
            self.tally.trace = Some(trace.finish(error));
        }
    }

    fn turns(&mut self, waves: &mut [Wave<W>], alone: bool) -> Result<Pause, Error> {
        loop {
            let mut moved = false;
            let (mut blocked, mut long) = (false, false);
            // Who told others has had its turn.
            let (first, count) = (std::mem::take(&mut self.next), waves.len());
            for at in (0..count).map(|at| (first + at) % count) {
                let wave = &mut waves[at];
                match wave.state {
                    State::Ended => continue,
                    State::Barrier(number) if self.phase <= number => continue,
                    State::Barrier(_) => self.pass(wave),
                    State::Ready => {}
                }
                moved = true;
                match self.turn(wave)? {
                    Turn::Blocked => blocked = true,
                    Turn::Long => long = true,
                    Turn::Polls => {}
                }
                if std::mem::take(&mut self.tells) {
                    self.next = (at + 1) % count;
                    return Ok(Pause::Tells);
                }
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
            match (blocked, long) {
                (false, false) => return Ok(Pause::Polls),
                (false, true) if !alone => return Ok(Pause::Long),
                _ => {}
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
        Ok(Pause::Ended)
    }

    /// Runs a wave until it blocks, ends, polls, or its turn is over.
    fn turn(&mut self, wave: &mut Wave<W>) -> Result<Turn, Error> {
        let program = self.program;
        if wave.executed >= self.limit {
            return Err(Error::Endless {
                workgroup: self.id,
                wave: wave.id,
                limit: self.limit,
                polling: wave.poll.describe(self.memory),
            });
        }
        let last = self.limit.min(wave.executed + TURN);
        let traced = self.traces(wave);
        while wave.executed < last {
            let Some(inst) = program.insts.get(wave.pc) else {
                return Err(Error::Jump { address: 0 });
            };
            wave.history[(wave.executed % HISTORY as u64) as usize] = wave.pc as u32;
            wave.executed += 1;
            let exec = self.count(wave, inst);
            if wave.waits.any() {
                self.check_waits(wave, inst);
            }
            if let Some(facts) = &inst.hazard {
                self.check_hazards(wave, inst, facts);
            }
            if traced {
                self.trace_before(wave, inst);
            }
            let flow = self.step(wave, inst)?;
            if traced {
                self.trace_after(wave, inst);
            }
            if inst.facts.writes_exec {
                // Lanes part where some of those that were on stay on and others do not.
                let now = wave.exec();
                self.tally.partings += u64::from(now != 0 && now & exec == now && now != exec);
            }
            match flow {
                Flow::Next => wave.pc += 1,
                Flow::Jump(target) => wave.pc = target,
                Flow::Block => {
                    wave.pc += 1;
                    return Ok(Turn::Blocked);
                }
                Flow::Poll => {
                    wave.pc += 1;
                    return Ok(Turn::Polls);
                }
                Flow::End => {
                    self.end(wave);
                    return Ok(Turn::Blocked);
                }
            }
        }
        Ok(Turn::Long)
    }

    /// Counts an instruction about to be executed; returns EXEC.
    #[inline]
    fn count(&mut self, wave: &Wave<W>, inst: &Inst<W>) -> u64 {
        let exec = wave.exec();
        let count = &mut self.tally.counts[wave.pc];
        count.executions += 1;
        if inst.facts.vector && exec != Wave::<W>::ALL {
            count.off += W as u64 - u64::from(exec.count_ones());
            self.tally.partly_off += u64::from(exec != wave.items);
        }
        exec
    }

    #[inline]
    fn step(&mut self, wave: &mut Wave<W>, inst: &Inst<W>) -> Result<Flow, Error> {
        if inst.class == Class::Valu {
            wave.last_mma = None;
        }
        match &inst.op {
            Op::Valu(valu) => valu.execute(wave),
            Op::Salu(salu) => salu.execute(wave),
            Op::Real(real) => real.execute(wave),
            Op::Ds(ds) => {
                let touch = ds.execute(wave, self, inst);
                self.moved_in_lds(wave, touch.as_ref());
                if let Some(touch) = &touch {
                    self.order_by_lds(touch, ds.has_result(), wave);
                }
                if let (Some(touch), Some(_)) = (&touch, wave.signalled) {
                    wave.carried.push(*touch);
                }
                let (_, registers) = inst.fills.unwrap_or((Queue::Lds, Default::default()));
                if let Some(touch) = &touch {
                    self.check_pending_bytes(touch, wave, inst);
                }
                wave.waits.push(Queue::Lds, registers, touch);
                wave.waits
                    .last_fills(Queue::Lds, inst.moves.map(|moves| moves.half));
            }
            Op::Broadcast(direct) => {
                let touch = direct
                    .execute(wave, self, inst)
                    .map_err(|reason| refuse(inst, reason))?;
                self.moved_in_lds(wave, touch.as_ref());
                if let (Some(touch), Some(_)) = (&touch, wave.signalled) {
                    wave.carried.push(*touch);
                }
                let (queue, registers) = inst.fills.unwrap_or((Queue::Direct, Default::default()));
                wave.waits.push(queue, registers, touch);
            }
            Op::Wmma(wmma) => wmma.execute(wave, self, inst),
            Op::Swmmac(swmmac) => swmmac
                .execute(wave, self, inst)
                .map_err(|reason| refuse(inst, reason))?,
            Op::Mfma(mfma) => mfma
                .execute(wave, self)
                .map_err(|reason| refuse(inst, reason))?,
            Op::Vmem(vmem) => match vmem.refused(wave) {
                Some(reason) => return Err(refuse(inst, reason.into())),
                None => return Ok(self.vector_memory(vmem, wave, inst)),
            },
            Op::Smem(smem) => return Ok(self.scalar_memory(smem, wave, inst)),
            Op::Dual(halves) => {
                let [x, y] = &**halves;
                let (first, second) = (x.compute(wave), y.compute(wave));
                x.commit(wave, &first);
                y.commit(wave, &second);
            }
            Op::Packed(packed) => packed.execute(wave),
            Op::Dot(dot) => dot.execute(wave),
            Op::Lane(lane) => lane.execute(wave),
            Op::Recode(recode) => recode.execute(wave),
            Op::Sums(sums) => sums.execute(wave),
            Op::Swap(swap) => swap.execute(wave),
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
            Op::Wait(wait) => {
                wave.waits.wait(*wait);
                if wait.load == Some(0) {
                    wave.settled = wave.passed();
                }
                self.arrive(wave);
            }
            Op::Barrier(barrier) => return Ok(self.barrier(*barrier, wave)),
            Op::System(system) => return self.system(*system, wave),
            Op::Nothing => {}
            Op::End => return Ok(Flow::End),
            Op::Unknown(reason) => return Err(refuse(inst, reason.clone())),
        }
        Ok(Flow::Next)
    }
}

/// The error of an instruction that cannot be executed.
fn refuse<const W: usize>(inst: &Inst<W>, reason: String) -> Error {
    Error::Instruction {
        text: inst.text.to_string(),
        address: inst.address,
        reason,
    }
}
