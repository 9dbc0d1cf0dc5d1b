//! Program control: waits, barriers, hints, modes and program-counter arithmetic.

use tilefold_machine::Generation;

use crate::counters::Class;
use crate::error::Error;
use crate::group::{Flow, Group};
use crate::program::{Barrier, Op};
use crate::text::{Line, NULL, Value, number};
use crate::waits::{Queue, Wait};
use crate::wave::Wave;

/// Instructions that read or change what is not in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    /// Bits of the denormal modes (f32 in bits 0 and 1, f16 and f64 in bits 2 and 3): the first,
    /// how many, and what they become.
    DenormMode(u32, u32, Bits),
    /// Whether f16 results that overflow saturate: the lowest bit.
    Saturate(Bits),
    /// Address of the next instruction to a register pair.
    GetPc(u16),
    /// Jump to a register pair.
    SetPc(u16),
    /// Both: the pair written, the pair jumped to.
    SwapPc(u16, u16),
    /// The scalar cache forgets what it holds.
    InvalidateScalar,
    /// A message or another event that the scalar queue counts.
    Message,
    /// So many bits from an offset of a hardware register, to a scalar register.
    GetRegister(u16, Hardware, u32, u32),
    /// A trap of that number.
    Trap(u32),
    /// The time, to a register pair that the scalar queue fills.
    Time(u16),
}

/// Bits of a constant or of a scalar register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bits {
    Constant(u32),
    Register(u16),
}

impl Bits {
    fn of<const W: usize>(self, wave: &Wave<W>) -> u32 {
        match self {
            Bits::Constant(value) => value,
            Bits::Register(index) => wave.s[usize::from(index)],
        }
    }
}

/// Hardware registers that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hardware {
    /// Rounding, to nearest even, in the low four bits, the denormal modes in the next four, and
    /// FP16_OVFL in bit 23; before RDNA 4 also DX10_CLAMP in bit 8 and IEEE in bit 9.
    Mode,
    /// The wave's place among those of its SIMD, from bit 0 on, and the SIMD, from the bit given
    /// on.
    Place(u32),
    /// What is always zero here.
    Zero,
    /// The low and high halves of the time.
    Cycles,
    CyclesHigh,
}

impl<const W: usize> Group<'_, W> {
    /// Executes one.
    pub(crate) fn system(&mut self, system: System, wave: &mut Wave<W>) -> Result<Flow, Error> {
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
            System::Saturate(value) => wave.mode.saturates = value.of(wave) & 1 == 1,
            System::DenormMode(offset, bits, value) => {
                let value = value.of(wave);
                let field = (u32::MAX >> (32 - bits)) << offset;
                let old = wave.mode.f32 | wave.mode.f16_f64 << 2;
                let mode = old & !field | value << offset & field;
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
            System::Trap(number) => {
                return Err(Error::Trap {
                    number,
                    address: self.program.insts[wave.pc].address,
                    workgroup: self.id,
                    wave: wave.id,
                });
            }
            System::InvalidateScalar => {
                self.invalidate_scalar(wave);
            }
            System::Message => wave.waits.push(Queue::Scalar, Default::default(), None),
            // Time is the instructions that the wave executed: it passes, and the same every run.
            System::GetRegister(dst, register, offset, bits) => {
                let value = match register {
                    Hardware::Mode => self.mode(wave),
                    Hardware::Place(simd) => {
                        let simds = self.simds();
                        (wave.id / simds) | (wave.id % simds) << simd
                    }
                    Hardware::Zero => 0,
                    Hardware::Cycles => wave.executed as u32,
                    Hardware::CyclesHigh => (wave.executed >> 32) as u32,
                };
                wave.set_scalar(dst, value >> offset & (u32::MAX >> (32 - bits)));
            }
            System::Time(first) => {
                if first != NULL {
                    wave.set_scalar(first, wave.executed as u32);
                    wave.set_scalar(first + 1, (wave.executed >> 32) as u32);
                }
                let fills = self.program.insts[wave.pc].fills;
                let registers = fills.map_or(Default::default(), |(_, registers)| registers);
                wave.waits.push(Queue::Scalar, registers, None);
            }
        }
        Ok(Flow::Next)
    }
}

impl<const W: usize> Group<'_, W> {
    fn mode(&self, wave: &Wave<W>) -> u32 {
        let mode = wave.mode;
        let older = match self.machine.generation {
            Generation::Rdna4 => 0,
            _ => u32::from(mode.clamp_nan) << 8 | u32::from(!mode.scales) << 9,
        };
        mode.f32 << 4 | mode.f16_f64 << 6 | older | u32::from(mode.saturates) << 23
    }

    /// SIMDs that a workgroup's waves are dealt to: two of a compute unit of RDNA, four of one of
    /// CDNA and of two of RDNA.
    fn simds(&self) -> u32 {
        match self.machine.generation {
            Generation::Cdna4 => 4,
            _ if self.across_units => 4,
            _ => 2,
        }
    }
}

/// The instruction of a line; none when it is another family's.
pub(crate) fn control<const W: usize>(line: &Line, text: &str) -> Option<(Class, Op<W>)> {
    let name = line.name.as_str();
    let pair = |at: usize| match line.operands.get(at).map(|operand| &operand.value) {
        Some(&Value::Scalar { first, .. }) => Some(first),
        _ => None,
    };
    let unknown = |reason: &str| (Class::Other, Op::Unknown(reason.to_owned()));
    Some(match name {
        "s_endpgm" => (Class::Other, Op::End),
        "v_nop" => (Class::Valu, Op::Nothing),
        // An instruction counter and hints: nothing that changes results.
        "s_nop"
        | "s_delay_alu"
        | "s_clause"
        | "s_setprio"
        | "s_sleep"
        | "s_sleep_var"
        | "s_icache_inv"
        | "s_set_inst_prefetch_distance"
        | "s_inst_prefetch"
        | "s_ttracedata"
        | "s_ttracedata_imm"
        | "s_version"
        | "s_code_end"
        | "s_waitcnt_depctr"
        | "s_wait_alu"
        | "s_prefetch_inst"
        | "s_prefetch_inst_pc_rel"
        | "s_prefetch_data"
        | "s_buffer_prefetch_data"
        | "s_sethalt"
        | "s_wait_event"
        | "s_singleuse_vdst"
        | "s_incperflevel"
        | "s_decperflevel"
        | "s_wakeup"
        | "s_barrier_leave" => (Class::Other, Op::Nothing),
        _ if is_cache_operation(name) => (Class::Other, Op::Nothing),
        "s_dcache_inv" => (Class::Other, Op::System(System::InvalidateScalar)),
        "s_sendmsg" | "s_sendmsghalt" => (Class::Other, Op::System(System::Message)),
        "s_barrier" => (Class::Barrier, Op::Barrier(Barrier::Both)),
        "s_barrier_signal" | "s_barrier_signal_isfirst" | "s_barrier_wait" => {
            // Barrier -1 is the workgroup's; named ones are none of RDNA 4's.
            let whole = matches!(
                line.operands.first().map(|operand| &operand.value),
                Some(Value::Int(-1) | Value::Literal(0xffff))
            );
            match (whole, name) {
                (true, "s_barrier_signal") => (Class::Barrier, Op::Barrier(Barrier::Signal)),
                (true, "s_barrier_wait") => (Class::Barrier, Op::Barrier(Barrier::Wait)),
                (true, _) => (Class::Barrier, Op::Barrier(Barrier::SignalFirst)),
                (false, _) => unknown("only the workgroup's barrier is simulated"),
            }
        }
        "s_getpc_b64" => (Class::Salu, Op::System(System::GetPc(pair(0)?))),
        "s_setpc_b64" => (Class::Branch, Op::System(System::SetPc(pair(0)?))),
        "s_swappc_b64" => (
            Class::Branch,
            Op::System(System::SwapPc(pair(0)?, pair(1)?)),
        ),
        "s_denorm_mode" => match immediate(line, 0) {
            Some(mode) => {
                let system = System::DenormMode(0, 4, Bits::Constant(mode as u32));
                (Class::Other, Op::System(system))
            }
            None => unknown("the mode is no constant"),
        },
        "s_round_mode" => match immediate(line, 0) {
            Some(0) => (Class::Other, Op::Nothing),
            _ => unknown("only rounding to nearest even is simulated"),
        },
        _ if name.starts_with("s_setreg") => setreg(line, text),
        "s_getreg_b32" => match getreg(line, text) {
            Ok(system) => (Class::Salu, Op::System(system)),
            Err(reason) => (Class::Salu, Op::Unknown(reason)),
        },
        "s_trap" => match immediate(line, 0) {
            Some(number) => (Class::Other, Op::System(System::Trap(number as u32))),
            None => unknown("the trap has no number"),
        },
        "s_memtime" | "s_memrealtime" => (Class::Other, Op::System(System::Time(pair(0)?))),
        "s_sendmsg_rtn_b64" if text.ends_with("sendmsg(MSG_RTN_GET_REALTIME)") => {
            (Class::Other, Op::System(System::Time(pair(0)?)))
        }
        _ if name.starts_with("s_sendmsg_rtn_") => unknown("of the messages only time has a reply"),
        _ => return wait(line, text).map(|wait| (Class::Wait, Op::Wait(wait))),
    })
}

fn is_cache_operation(name: &str) -> bool {
    let known = [
        "buffer_gl0_inv",
        "buffer_gl1_inv",
        "buffer_inv",
        "buffer_wbl2",
        "buffer_wbinvl1",
        "global_inv",
        "global_wb",
        "global_wbinv",
        "s_dcache_inv_vol",
        "s_dcache_wb_vol",
        "s_gl1_inv",
        "s_dcache_wb",
    ];
    known.contains(&name)
}

/// Whether an instruction is LLVM's trap, behind which nothing of the kernel need follow.
pub(crate) fn ends_path(line: &Line) -> bool {
    line.name == "s_trap" && immediate(line, 0) == Some(2)
}

fn immediate(line: &Line, at: usize) -> Option<i64> {
    match line.operands.get(at)?.value {
        Value::Int(int) => Some(int),
        Value::Literal(bits) => Some(bits as i64),
        _ => None,
    }
}

/// Name, offset, number of bits and what follows of `hwreg(HW_REG_MODE, 4, 4), 15`.
fn hardware(text: &str) -> Option<(&str, u32, u32, &str)> {
    let (_, rest) = text.split_once("hwreg(")?;
    let (inside, rest) = rest.split_once(')')?;
    let mut parts = inside.split(',').map(str::trim);
    // RDNA 4 has most of them by wave.
    let name = parts.next()?.trim_start_matches("HW_REG_");
    let name = name.strip_prefix("WAVE_").unwrap_or(name);
    let mut part = |default: u32| match parts.next() {
        Some(text) => u32::try_from(number(text)?).ok(),
        None => Some(default),
    };
    let (offset, bits) = (part(0)?, part(32)?);
    // The encoding has five bits for each.
    (offset < 32 && (1..=32).contains(&bits)).then_some((name, offset, bits, rest))
}

/// `s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)`.
fn getreg(line: &Line, text: &str) -> Result<System, String> {
    let dst = match line.operands.first().map(|operand| &operand.value) {
        Some(&Value::Scalar { first, .. }) => first,
        _ => return Err("the destination is no scalar register".into()),
    };
    let (name, offset, bits, _) = hardware(text).ok_or("no such hardware register")?;
    let register = match name {
        "MODE" => Hardware::Mode,
        // AMD's guides, "Hardware register HW_ID": wave and SIMD, and where that is. Every
        // workgroup runs in the first compute unit of the first shader array and XCC.
        "HW_ID" => Hardware::Place(4),
        "HW_ID1" => Hardware::Place(8),
        "HW_ID2" | "XCC_ID" => Hardware::Zero,
        "SHADER_CYCLES" | "SHADER_CYCLES_LO" => Hardware::Cycles,
        "SHADER_CYCLES_HI" => Hardware::CyclesHigh,
        name => return Err(format!("the hardware register {name} is not simulated")),
    };
    Ok(System::GetRegister(dst, register, offset, bits))
}

/// `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15`: denormal bits of the mode or FP16_OVFL,
/// from a constant or a register.
fn setreg<const W: usize>(line: &Line, text: &str) -> (Class, Op<W>) {
    let parsed = || {
        let (name, offset, bits, rest) = hardware(text)?;
        let value = match line.operands.last()?.value {
            Value::Scalar { first: NULL, .. } => Bits::Constant(0),
            Value::Scalar { first, .. } => Bits::Register(first),
            _ => Bits::Constant(number(rest.trim_start_matches(',').trim())? as u32),
        };
        (name == "MODE").then_some((offset, bits, value))
    };
    match parsed() {
        Some((offset @ 4..8, bits, value)) if offset + bits <= 8 => (
            Class::Other,
            Op::System(System::DenormMode(offset - 4, bits, value)),
        ),
        Some((23, 1, value)) => (Class::Other, Op::System(System::Saturate(value))),
        // Round modes, to nearest even.
        Some((offset, size, Bits::Constant(0))) if offset + size <= 4 => {
            (Class::Other, Op::Nothing)
        }
        _ => (
            Class::Other,
            Op::Unknown(
                "of the hardware registers only the denormal mode and FP16_OVFL can be set".into(),
            ),
        ),
    }
}

fn wait(line: &Line, text: &str) -> Option<Wait> {
    let name = line.name.as_str();
    if name == "s_waitcnt" {
        let field = |counter: &str| {
            let (_, rest) = text.split_once(counter)?;
            let (count, _) = rest.strip_prefix('(')?.split_once(')')?;
            count.parse().ok()
        };
        let (load, both) = (field("vmcnt"), field("lgkmcnt"));
        return Some(Wait {
            load,
            lds: both,
            direct: field("expcnt"),
            scalar: both,
            store: None,
        });
    }
    let rest = name.strip_prefix("s_wait_").or_else(|| {
        let rest = name.strip_prefix("s_waitcnt_")?;
        matches!(rest, "vscnt" | "expcnt" | "vmcnt" | "lgkmcnt").then_some(rest)
    })?;
    let value = line
        .operands
        .iter()
        .rev()
        .find_map(|operand| match operand.value {
            Value::Int(int) => Some(int as u32),
            Value::Literal(bits) => Some(bits as u32),
            _ => None,
        })
        .unwrap_or(0);
    let mut wait = Wait::default();
    match rest {
        "loadcnt" | "vmcnt" => wait.load = Some(value),
        "dscnt" => wait.lds = Some(value),
        "kmcnt" => wait.scalar = Some(value),
        "lgkmcnt" => (wait.lds, wait.scalar) = (Some(value), Some(value)),
        // The load count above bit 8, the LDS count below.
        "loadcnt_dscnt" => (wait.load, wait.lds) = (Some(value >> 8 & 63), Some(value & 63)),
        "storecnt_dscnt" => (wait.store, wait.lds) = (Some(value >> 8 & 63), Some(value & 63)),
        "idle" => {
            (wait.load, wait.lds, wait.scalar) = (Some(0), Some(0), Some(0));
            (wait.direct, wait.store) = (Some(0), Some(0));
        }
        "storecnt" | "vscnt" => wait.store = Some(value),
        "expcnt" => wait.direct = Some(value),
        "samplecnt" | "bvhcnt" => {}
        _ => return None,
    }
    Some(wait)
}
