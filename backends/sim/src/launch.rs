//! Launching a kernel: workgroups run in parallel, their results do not depend on how.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::chip::Isa;
use crate::error::Error;
use crate::group::{Common, Group, Tally};
use crate::memory::{BufferId, Memory};
use crate::object::{CodeObject, Descriptor, Kernel};
use crate::program::{Op, Program};
use crate::report::{Check, Checks, Class, Counters, InstructionConflicts, Report};
use crate::start::{self, Start};

/// Findings kept of a launch.
const KEPT: usize = 32;

/// A kernel argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// The address of a buffer.
    Buffer(BufferId),
    /// A signed 32-bit integer.
    I32(i32),
    /// An unsigned 32-bit integer.
    U32(u32),
    /// A 64-bit integer.
    I64(i64),
    /// A single-precision number.
    F32(f32),
    /// A half-precision number, as its bits.
    F16(u16),
    /// Anything by value.
    Bytes(Vec<u8>),
}

/// What a kernel is launched with.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Workgroups in x, y and z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y and z.
    pub block: [u32; 3],
    /// The arguments in the kernel's order; trailing ones left out are zero and noted.
    pub args: Vec<Arg>,
    /// Bytes of LDS beyond those that the kernel declares.
    pub dynamic_lds: u32,
    /// The checks that run.
    pub checks: Checks,
    /// Most instructions that one wave may execute.
    pub max_instructions: u64,
}

impl Default for Launch {
    fn default() -> Self {
        Launch {
            grid: [1; 3],
            block: [1; 3],
            args: Vec::new(),
            dynamic_lds: 0,
            checks: Checks::all(),
            max_instructions: 50_000_000,
        }
    }
}

/// An instruction that the simulator would stop at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// Offset in the code object's image.
    pub address: u64,
    /// LLVM's text, or the bytes when LLVM knows no instruction there.
    pub instruction: String,
    /// What is not known about it.
    pub reason: String,
}

impl CodeObject {
    /// The instructions of a kernel that a launch would stop at if it reached them.
    ///
    /// # Errors
    /// [`Error::Kernel`] when there is no such kernel, [`Error::Format`] when it cannot be decoded.
    pub fn unsupported(&self, kernel: &str) -> Result<Vec<Unsupported>, Error> {
        let kernel = self.kernel(kernel)?;
        match kernel.info.wave {
            64 => Program::<64>::decode(self, kernel.entry).map(|program| unsupported(&program)),
            _ => Program::<32>::decode(self, kernel.entry).map(|program| unsupported(&program)),
        }
    }
}

fn unsupported<const W: usize>(program: &Program<W>) -> Vec<Unsupported> {
    program
        .insts
        .iter()
        .filter_map(|inst| match &inst.op {
            Op::Unknown(reason) => Some(Unsupported {
                address: inst.address,
                instruction: inst.text.to_string(),
                reason: reason.clone(),
            }),
            _ => None,
        })
        .collect()
}

/// Runs kernels on its memory.
///
/// ```no_run
/// use tilefold_sim::{Arg, CodeObject, Launch, Simulator};
///
/// let object = CodeObject::load(&std::fs::read("add.hsaco")?)?;
/// let mut simulator = Simulator::new();
/// let x = simulator.memory.alloc_input(&[1, 0, 0, 0]);
/// let y = simulator.memory.alloc_output(4);
/// let report = simulator.launch(
///     &object,
///     "add",
///     Launch {
///         block: [32, 1, 1],
///         args: vec![Arg::Buffer(x), Arg::Buffer(y), Arg::I32(1)],
///         ..Launch::default()
///     },
/// )?;
/// assert!(report.passed(), "{:?}", report.findings);
/// println!("{:?}", simulator.memory.read(y));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Simulator {
    /// The buffers that kernels can be given.
    pub memory: Memory,
}

impl Simulator {
    /// A simulator without buffers.
    pub fn new() -> Simulator {
        Simulator::default()
    }

    /// Runs a kernel over the whole grid.
    ///
    /// Workgroups run in parallel on rayon's current pool. When two of them touch the same word
    /// of an output and one writes, the launch is run again from its start, one workgroup after
    /// the other in grid order (x fastest): memory and report are the same for every thread count.
    ///
    /// # Errors
    /// [`Error::Kernel`] and [`Error::Launch`] for a launch that does not fit the kernel;
    /// [`Error::Instruction`], [`Error::Jump`] and [`Error::Endless`] when the run cannot go on.
    /// Outputs then hold what was written until there.
    pub fn launch(
        &mut self,
        object: &CodeObject,
        kernel: &str,
        launch: Launch,
    ) -> Result<Report, Error> {
        let kernel = object.kernel(kernel)?;
        check(object, kernel, &launch)?;
        let buffers = self.memory.len();
        let result = match kernel.info.wave {
            64 => self.run::<64>(object, kernel, &launch),
            _ => self.run::<32>(object, kernel, &launch),
        };
        self.memory.truncate(buffers);
        result
    }

    fn run<const W: usize>(
        &mut self,
        object: &CodeObject,
        kernel: &Kernel,
        launch: &Launch,
    ) -> Result<Report, Error> {
        let program = Program::<W>::decode(object, kernel.entry)?;
        let descriptor = kernel.descriptor;
        let lds_bytes = descriptor.lds_bytes + launch.dynamic_lds;
        // Compilers widen loads of arguments up to the alignment of the segment, a cache line.
        let size = descriptor
            .kernarg_bytes
            .max(kernel.info.kernarg_size)
            .next_multiple_of(64);
        let (kernarg, notes) = start::kernarg(&kernel.info, size, launch, &self.memory)
            .map_err(|reason| refuse(kernel, reason))?;
        if object.target().isa == Isa::Gfx9 {
            allocated(&program, descriptor).map_err(|reason| refuse(kernel, reason))?;
        }
        let (words, first) = descriptor.preload();
        let preload = kernarg
            .chunks_exact(4)
            .skip(first as usize)
            .take(words as usize)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let packet = start::packet(launch, lds_bytes, descriptor.scratch_bytes);
        let [kernarg, packet, image] = [&kernarg[..], &packet[..], object.image()].map(|bytes| {
            let id = self.memory.alloc_input(bytes);
            self.memory.address(id).unwrap_or(0)
        });
        let start = Start {
            descriptor,
            isa: object.target().isa,
            block: launch.block,
            kernarg,
            packet,
            scratch_bytes: descriptor.scratch_bytes,
            vectors: program.vectors,
            entry: program.entry,
            preload,
        };
        let snapshot = self.memory.snapshot();
        let (tally, overlap) = {
            self.memory.reset_owners();
            let machine = object.target().machine;
            let common = common(&self.memory, &program, machine, launch, lds_bytes, image);
            parallel(&common, &start, launch)?
        };
        let tally = if overlap {
            self.memory.restore(&snapshot);
            self.memory.reset_owners();
            let machine = object.target().machine;
            let common = common(&self.memory, &program, machine, launch, lds_bytes, image);
            serial(&common, &start, launch)?
        } else {
            tally
        };
        Ok(report(tally, &program, launch, notes))
    }
}

/// Whether the registers that a program names are among those that its descriptor asks for, where
/// one file holds both kinds.
fn allocated<const W: usize>(program: &Program<W>, descriptor: Descriptor) -> Result<(), String> {
    let (all, offset) = (descriptor.unified_vgprs(), descriptor.accum_offset());
    let kinds = [
        ("v", program.vgprs, offset.min(all)),
        ("a", program.agprs, all.saturating_sub(offset)),
    ];
    for (kind, named, allocated) in kinds {
        if let Some(last) = named
            .checked_sub(1)
            .filter(|&last| last >= allocated as usize)
        {
            return Err(format!(
                "its code names {kind}{last}, its descriptor asks for {allocated} registers of \
                 that kind"
            ));
        }
    }
    Ok(())
}

fn common<'a, const W: usize>(
    memory: &'a Memory,
    program: &'a Program<W>,
    machine: &'static tilefold_machine::Machine,
    launch: &Launch,
    lds_bytes: u32,
    image: u64,
) -> Common<'a, W> {
    Common {
        memory,
        program,
        machine,
        checks: launch.checks,
        image,
        lds_bytes: lds_bytes as usize,
        limit: launch.max_instructions,
    }
}

fn refuse(kernel: &Kernel, reason: String) -> Error {
    Error::Launch {
        kernel: kernel.info.name.clone(),
        reason,
    }
}

/// Whether the launch fits the kernel and the chip.
fn check(object: &CodeObject, kernel: &Kernel, launch: &Launch) -> Result<(), Error> {
    let refuse = |reason: String| Err(refuse(kernel, reason));
    let product = |extents: [u32; 3]| {
        extents
            .into_iter()
            .try_fold(1_u32, |product, extent| product.checked_mul(extent))
            .filter(|&product| product > 0)
    };
    let machine = object.target().machine;
    let wave = if kernel.info.wave == 64 { 64 } else { 32 };
    let most = (machine
        .max_waves_per_workgroup
        .min(crate::memory::lds::MAX_WAVES)
        * wave)
        .min(kernel.info.max_workgroup.max(1))
        .min(1024);
    match product(launch.block) {
        Some(items) if items <= most => {}
        _ => {
            return refuse(format!(
                "a workgroup of {:?} work-items; it must have 1 to {most}",
                launch.block
            ));
        }
    }
    if product(launch.grid).is_none_or(|groups| groups == u32::MAX) {
        return refuse(format!("a grid of {:?} workgroups", launch.grid));
    }
    let lds = kernel.descriptor.lds_bytes.checked_add(launch.dynamic_lds);
    if lds.is_none_or(|lds| lds > machine.lds.per_workgroup) {
        return refuse(format!(
            "{} bytes of LDS and {} more; {} has {}",
            kernel.descriptor.lds_bytes,
            launch.dynamic_lds,
            machine.name,
            machine.lds.per_workgroup
        ));
    }
    if kernel.descriptor.rounding() != 0 {
        return refuse("it asks for another rounding than to nearest even".into());
    }
    let (words, first) = kernel.descriptor.preload();
    if words != 0 && object.target().isa != Isa::Gfx9 {
        return refuse("it asks for preloaded arguments, which its chip does not have".into());
    }
    if words > 16 || first + words > 1 << 9 {
        return refuse("it asks for more preloaded arguments than there are registers".into());
    }
    let size = kernel
        .descriptor
        .kernarg_bytes
        .max(kernel.info.kernarg_size);
    if size > 1 << 16 || kernel.descriptor.scratch_bytes > 1 << 20 {
        return refuse("its argument or scratch memory is larger than any compiler makes".into());
    }
    Ok(())
}

/// Workgroup `index` of a grid, x fastest.
fn workgroup(index: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [index % x, index / x % y, index / x / y]
}

/// Runs the workgroups in parallel; true if two of them met in memory, which ends the run early.
fn parallel<const W: usize>(
    common: &Common<'_, W>,
    start: &Start,
    launch: &Launch,
) -> Result<(Tally, bool), Error> {
    let groups: u32 = launch.grid.iter().product();
    let overlap = AtomicBool::new(false);
    let ds_count = common.program.ds_count;
    let tally = (0..groups)
        .into_par_iter()
        .map(|index| {
            if overlap.load(Ordering::Relaxed) {
                return Ok(Tally::new(0));
            }
            let mut group = Group::new(common, workgroup(index, launch.grid), index + 1);
            let result = group.run(&mut start.waves(group.id));
            if group.overlap {
                overlap.store(true, Ordering::Relaxed);
                return Ok(Tally::new(0));
            }
            result.map(|()| group.tally).map_err(|error| (index, error))
        })
        .reduce(
            || Ok(Tally::new(ds_count)),
            |a, b| match (a, b) {
                (Ok(mut a), Ok(b)) => {
                    a.add(b, KEPT);
                    Ok(a)
                }
                // The error of the first workgroup in grid order.
                (Err(a), Err(b)) => Err(if a.0 <= b.0 { a } else { b }),
                (Err(error), _) | (_, Err(error)) => Err(error),
            },
        );
    if overlap.into_inner() {
        return Ok((Tally::new(ds_count), true));
    }
    tally
        .map(|tally| (tally, false))
        .map_err(|(_, error)| error)
}

fn serial<const W: usize>(
    common: &Common<'_, W>,
    start: &Start,
    launch: &Launch,
) -> Result<Tally, Error> {
    let groups: u32 = launch.grid.iter().product();
    let mut sum = Tally::new(common.program.ds_count);
    for index in 0..groups {
        let mut group = Group::new(common, workgroup(index, launch.grid), index + 1);
        group.run(&mut start.waves(group.id))?;
        sum.add(group.tally, KEPT);
    }
    Ok(sum)
}

fn report<const W: usize>(
    tally: Tally,
    program: &Program<W>,
    launch: &Launch,
    notes: Vec<String>,
) -> Report {
    let by_class: BTreeMap<Class, u64> = Class::ALL
        .into_iter()
        .map(|class| (class, tally.classes[class as usize]))
        .collect();
    let conflicts = program
        .insts
        .iter()
        .filter_map(|inst| match &inst.op {
            Op::Ds(ds) => Some((inst, tally.conflicts[ds.index()])),
            _ => None,
        })
        .filter(|(_, (_, cycles))| *cycles > 0)
        .map(|(inst, (executions, cycles))| InstructionConflicts {
            address: inst.address,
            instruction: inst.text.to_string(),
            executions,
            cycles,
        })
        .collect();
    Report {
        checks: Check::ALL
            .into_iter()
            .filter(|check| launch.checks.has(*check))
            .map(|check| (check.name(), tally.checks[check as usize]))
            .collect(),
        findings: tally.findings,
        counters: Counters {
            wave_instructions: tally.classes.iter().sum(),
            mma: by_class[&Class::Mma],
            by_class,
            lds_conflict_cycles_read: tally.conflicts_read,
            lds_conflict_cycles_write: tally.conflicts_write,
            global_bytes_read: tally.global_bytes_read,
            global_bytes_written: tally.global_bytes_written,
            conflicts,
        },
        notes,
    }
}
