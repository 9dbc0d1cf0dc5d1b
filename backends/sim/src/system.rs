//! Program control: waits, barriers, hints, modes and program-counter arithmetic.

use crate::counters::Class;
use crate::program::{Barrier, Op};
use crate::text::{Line, Value, number};
use crate::waits::Wait;

/// Instructions that read or change what is not in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    /// Denormal modes: f32 in bits 0 and 1, f16 and f64 in bits 2 and 3.
    DenormMode(u32),
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
        | "s_icache_inv"
        | "s_set_inst_prefetch_distance"
        | "s_inst_prefetch"
        | "s_ttracedata"
        | "s_code_end"
        | "s_waitcnt_depctr"
        | "s_wait_alu"
        | "s_prefetch_inst"
        | "s_prefetch_inst_pc_rel"
        | "s_prefetch_data"
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
        "s_barrier_signal" | "s_barrier_wait" => {
            // Barrier -1 is the workgroup's; named ones are none of RDNA 4's.
            let whole = matches!(
                line.operands.first().map(|operand| &operand.value),
                Some(Value::Int(-1) | Value::Literal(0xffff))
            );
            match (whole, name) {
                (true, "s_barrier_signal") => (Class::Barrier, Op::Barrier(Barrier::Signal)),
                (true, _) => (Class::Barrier, Op::Barrier(Barrier::Wait)),
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
            Some(mode) => (Class::Other, Op::System(System::DenormMode(mode as u32))),
            None => unknown("the mode is no constant"),
        },
        "s_round_mode" => match immediate(line, 0) {
            Some(0) => (Class::Other, Op::Nothing),
            _ => unknown("only rounding to nearest even is simulated"),
        },
        _ if name.starts_with("s_setreg") => setreg(text),
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

fn immediate(line: &Line, at: usize) -> Option<i64> {
    match line.operands.get(at)?.value {
        Value::Int(int) => Some(int),
        Value::Literal(bits) => Some(bits as i64),
        _ => None,
    }
}

/// `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15`: the denormal bits of the mode.
fn setreg<const W: usize>(text: &str) -> (Class, Op<W>) {
    let parsed = || {
        let (_, rest) = text.split_once("hwreg(HW_REG_MODE, ")?;
        let (range, value) = rest.split_once(')')?;
        let (offset, size) = range.split_once(',')?;
        let value = number(value.trim_start_matches(',').trim())?;
        Some((number(offset.trim())?, number(size.trim())?, value as u32))
    };
    match parsed() {
        Some((4, 4, value)) => (Class::Other, Op::System(System::DenormMode(value & 15))),
        // Round mode, to nearest even.
        Some((0, size, 0)) if size <= 4 => (Class::Other, Op::Nothing),
        _ => (
            Class::Other,
            Op::Unknown("of the hardware registers only the denormal mode can be set".into()),
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
            wait.store = Some(0);
        }
        "storecnt" | "vscnt" => wait.store = Some(value),
        "expcnt" | "samplecnt" | "bvhcnt" => {}
        _ => return None,
    }
    Some(wait)
}
