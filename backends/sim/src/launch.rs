//! Launching a kernel: workgroups run in parallel, their results do not depend on how.

use crate::check::{Checks, Finding};
use crate::chip::Isa;
use crate::error::Error;
use crate::group::{Common, Settings};
use crate::memory::{BufferId, MAX_WORKGROUPS, Memory};
use crate::object::{CodeObject, Descriptor, Kernel};
use crate::program::{Op, Program};
use crate::report::Report;
use crate::sample::{Sample, Sampled};
use crate::schedule::{Failure, parallel, serial, workgroup};
use crate::start::{self, Start};
use crate::summary;
use crate::text::VCC;
use crate::trace::Trace;

/// Scratch bytes of a lane where the kernel does not know how many it needs. The HIP runtime gives
/// 1 KiB unless told otherwise; recursion in tests wants more. What lies past it is a finding of
/// `scratch_bounds`.
const DYNAMIC_STACK: u32 = 1 << 14;

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
    /// This many bytes of LDS beside those that the kernel declares; the kernel is given their
    /// address in LDS. `local` pointers of OpenCL are such arguments.
    Lds(u32),
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
    /// The workgroups that run, if not all.
    pub sample: Option<Sample>,
    /// A wave to trace.
    pub trace: Option<Trace>,
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
            sample: None,
            trace: None,
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

/// Runs kernels on its memory. The front page of this crate has an example.
#[derive(Debug, Default)]
pub struct Simulator {
    /// The buffers that kernels can be given.
    pub memory: Memory,
    /// What was traced of the last launch, where that ended by an error; otherwise the trace is in
    /// its report.
    pub unfinished_trace: Option<String>,
    /// What the checks had found when an error ended the last launch; otherwise the findings are in
    /// its report.
    pub unfinished_findings: Vec<Finding>,
}

impl Simulator {
    /// A simulator without buffers.
    pub fn new() -> Simulator {
        Simulator::default()
    }

    /// Runs a kernel over the whole grid.
    ///
    /// Workgroups run in parallel on rayon's current pool. When two of them, or two waves of one
    /// without a barrier between, touch the same word of an output and one writes, or one loads a
    /// word over and over, the launch is run again from its start, one workgroup after the other in grid order (x fastest); one that waits for a
    /// word to change lets others run until it does. Memory and report are the same for every
    /// thread count.
    ///
    /// # Errors
    /// [`Error::Kernel`] and [`Error::Launch`] for a launch that does not fit the kernel;
    /// [`Error::Instruction`], [`Error::Jump`], [`Error::Trap`] and [`Error::Endless`] when the run
    /// cannot go on.
    /// Outputs then hold what was written until there, `unfinished_trace` what was traced, and
    /// `unfinished_findings` what may have led there, an access outside the stack for one.
    pub fn launch(
        &mut self,
        object: &CodeObject,
        kernel: &str,
        launch: Launch,
    ) -> Result<Report, Error> {
        let kernel = object.kernel(kernel)?;
        check(object, kernel, &launch)?;
        self.unfinished_trace = None;
        self.unfinished_findings.clear();
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
        let groups = match &launch.sample {
            None => None,
            Some(sample) => sample
                .pick(launch.grid)
                .map_err(|reason| refuse(kernel, reason))?,
        };
        let program = Program::<W>::decode(object, kernel.entry)?;
        let descriptor = kernel.descriptor;
        // Compilers widen loads of arguments up to the alignment of the segment, a cache line.
        let size = descriptor
            .kernarg_bytes
            .max(kernel.info.kernarg_size)
            .next_multiple_of(64);
        let (kernarg, notes) = start::kernarg(
            &kernel.info,
            size,
            descriptor.lds_bytes,
            launch,
            &self.memory,
        )
        .map_err(|reason| refuse(kernel, reason))?;
        // `check` saw that the sum is no more than the chip has.
        let lds_bytes = start::lds_bytes(descriptor.lds_bytes, launch).unwrap_or(0);
        allocated(&program, descriptor, object.target().isa)
            .map_err(|reason| refuse(kernel, reason))?;
        let (words, first) = descriptor.preload();
        let preload = kernarg
            .chunks_exact(4)
            .skip(first as usize)
            .take(words as usize)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let scratch_bytes = match descriptor.dynamic_stack() {
            true => descriptor.scratch_bytes.max(DYNAMIC_STACK),
            false => descriptor.scratch_bytes,
        };
        let packet = start::packet(launch, lds_bytes, scratch_bytes);
        let kernarg = self.memory.alloc_own(&kernarg, "the kernel's arguments");
        let packet = self.memory.alloc_own(&packet, "the dispatch packet");
        let image = object.image_at(self.memory.next_address());
        let image = self.memory.alloc_own(&image, "the code object");
        let start = Start {
            descriptor,
            isa: object.target().isa,
            block: launch.block,
            kernarg,
            packet,
            scratch_bytes,
            vectors: program.vectors,
            entry: program.entry,
            preload,
        };
        let settings = Settings {
            machine: object.target().machine,
            checks: launch.checks,
            image,
            lds_bytes: lds_bytes as usize,
            across_units: descriptor.across_units(),
            shared_order: object.target().isa == Isa::Gfx9,
            limit: launch.max_instructions,
            grid: launch.grid,
        };
        let lines = launch.trace.and_then(|_| object.lines());
        let sources: Vec<_> = match &lines {
            Some(lines) => {
                let addresses = program.insts.iter().map(|inst| inst.address);
                addresses.map(|address| lines.find(address)).collect()
            }
            None => Vec::new(),
        };
        let snapshot = self.memory.snapshot();
        self.memory.reset_owners();
        let common = Common {
            memory: &self.memory,
            program: &program,
            settings,
            trace: launch.trace,
            sources: &sources,
        };
        let mut stop = |failure: Failure| {
            self.unfinished_trace = failure.trace;
            self.unfinished_findings = failure.findings;
            let lines = object.lines();
            for finding in &mut self.unfinished_findings {
                finding.source = lines.as_ref().and_then(|lines| lines.find(finding.address));
            }
            failure.error
        };
        let (mut tally, overlap) =
            parallel(&common, &start, groups.as_deref()).map_err(&mut stop)?;
        if overlap {
            self.memory.restore(&snapshot);
            self.memory.reset_owners();
            let common = Common {
                memory: &self.memory,
                program: &program,
                settings,
                trace: launch.trace,
                sources: &sources,
            };
            tally = serial(&common, &start, groups.as_deref()).map_err(stop)?;
        }
        let mut report = summary::report(tally, object, &program, launch, notes);
        if let Some(groups) = groups {
            let sampled = Sampled {
                workgroups: groups
                    .into_iter()
                    .map(|index| workgroup(index, launch.grid))
                    .collect(),
                of: launch
                    .grid
                    .iter()
                    .map(|&extent| u64::from(extent))
                    .product(),
            };
            report.notes.push(sampled.note());
            report.sampled = Some(sampled);
        }
        Ok(report)
    }
}

/// Whether the registers that a program names are among those that its descriptor asks for. On
/// gfx9 one file holds `v` and `a`; on RDNA all waves have all scalar registers.
fn allocated<const W: usize>(
    program: &Program<W>,
    descriptor: Descriptor,
    isa: Isa,
) -> Result<(), String> {
    let all = descriptor.vgprs(isa, W as u32);
    let (offset, scalars) = match isa {
        Isa::Gfx9 => (descriptor.accum_offset(), descriptor.sgprs()),
        _ => (all, u32::from(VCC)),
    };
    let kinds = [
        ("v", program.vgprs, offset.min(all)),
        ("a", program.agprs, all.saturating_sub(offset)),
        ("s", program.sgprs, scalars),
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
    if product(launch.grid).is_none_or(|groups| groups > MAX_WORKGROUPS) {
        return refuse(format!(
            "a grid of {:?} workgroups; it must have 1 to {MAX_WORKGROUPS}",
            launch.grid
        ));
    }
    let lds = start::lds_bytes(kernel.descriptor.lds_bytes, launch);
    if lds.is_none_or(|lds| lds > machine.lds.per_workgroup) {
        return refuse(format!(
            "{} bytes of LDS and {} more; {} has {}",
            kernel.descriptor.lds_bytes,
            launch.dynamic_lds,
            machine.name,
            machine.lds.per_workgroup
        ));
    }
    if let Some(trace) = &launch.trace {
        let [x, y, z] = launch.block;
        let waves = (x * y * z).div_ceil(wave);
        let inside = (0..3).all(|axis| trace.workgroup[axis] < launch.grid[axis]);
        if !inside || trace.wave >= waves {
            return refuse(format!(
                "wave {} of workgroup {:?} cannot be traced: there are {waves} waves in each of \
                 {:?} workgroups",
                trace.wave, trace.workgroup, launch.grid
            ));
        }
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
