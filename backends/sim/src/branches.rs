//! Loads whose value decides the branch that follows.

use crate::counters::{Class, Space};
use crate::program::{Condition, Inst, Op, add_operand};
use crate::text::{EXEC, Line, VCC};
use crate::waits::Registers;

/// Instructions that are looked at behind a load.
const REACH: usize = 96;

/// What hangs on a load.
#[derive(Default)]
struct Known {
    registers: Registers,
    scc: bool,
    /// Places in scratch.
    spilled: Vec<String>,
    /// Whether EXEC may have changed since the load, or a branch not been taken: then what a vector
    /// instruction writes is not all of a register.
    parted: bool,
}

/// Whether a branch that follows a load hangs on what it loads: through registers that instructions
/// write which read one that does, SCC, EXEC and scratch. What paths that are not followed do is
/// left out, and a vector register is rather kept than dropped.
pub(crate) fn decides<const W: usize>(insts: &[Inst<W>], load: usize) -> bool {
    let Some(Inst {
        fills: Some((_, filled)),
        op: Op::Vmem(_) | Op::Smem(_),
        ..
    }) = insts.get(load)
    else {
        return false;
    };
    let mut known = Known {
        registers: *filled,
        ..Known::default()
    };
    let mut at = load + 1;
    for _ in 0..REACH {
        let Some(inst) = insts.get(at) else { break };
        at += 1;
        match &inst.op {
            Op::Branch { condition, target } => match condition {
                Condition::Always => at = *target,
                Condition::Scc(_) if known.scc => return true,
                Condition::Vcc(_) if known.holds(VCC) => return true,
                Condition::Exec(_) if known.holds(EXEC) => return true,
                _ => known.parted = true,
            },
            Op::Barrier(_) | Op::End | Op::Unknown(_) => break,
            _ => known.follow(inst),
        }
    }
    false
}

impl Known {
    fn holds(&self, first: u16) -> bool {
        self.registers.scalar >> first & 3 != 0
    }

    /// What hangs on the load behind an instruction.
    fn follow<const W: usize>(&mut self, inst: &Inst<W>) {
        match inst.text.split_once("::") {
            Some((x, y)) => {
                let before = self.registers;
                self.write(inst, &Line::parse(x), &before);
                self.write(inst, &Line::parse(y), &before);
            }
            None if inst.facts.space.is_some() => self.access(inst),
            None => {
                let before = self.registers;
                self.write(inst, &Line::parse(&inst.text), &before);
            }
        }
        self.parted |= inst.facts.writes_exec;
    }

    /// An access of memory: what it loads hangs on where. Of flat ones, which may be in scratch, all
    /// registers count that are named beside one that does.
    fn access<const W: usize>(&mut self, inst: &Inst<W>) {
        let place = slot(inst);
        let filled = inst.fills.map(|(_, to)| to).unwrap_or_default();
        let is_store = filled == Registers::default();
        let is_spilled = place.as_ref().is_some_and(|it| self.spilled.contains(it));
        if !inst.uses.meets(&self.registers) && !is_spilled {
            return;
        }
        if inst.facts.space == Some(Space::Flat) {
            self.registers.add(&inst.uses);
        }
        self.registers.add(&filled);
        self.spilled.extend(place.filter(|_| is_store));
    }

    /// An instruction that writes registers.
    fn write<const W: usize>(&mut self, inst: &Inst<W>, line: &Line, before: &Registers) {
        let name = line.name.as_str();
        let is_scalar = inst.class == Class::Salu;
        let compares = ["s_cmp", "s_bitcmp", "v_cmpx"];
        let compares = compares.iter().any(|start| name.starts_with(start));
        let targets = match name {
            _ if compares => 0,
            _ if name.contains("_co_") || name.contains("div_scale") || name.contains("mad_") => 2,
            _ => 1,
        };
        let (mut to, mut from) = (Registers::default(), Registers::default());
        for (at, operand) in line.operands.iter().enumerate() {
            if at < targets {
                add_operand(Some(&operand.value), &mut to);
            }
            // The second of two targets may be a source.
            if at >= targets.min(1) {
                add_operand(Some(&operand.value), &mut from);
            }
        }
        if name.starts_with("v_dual_cndmask") || name.starts_with("v_div_fmas") {
            from.add_scalar(VCC, 2);
        }
        if name.contains("saveexec") || name.contains("wrexec") {
            from.add_scalar(EXEC, 2);
        }
        let reads_scc = ["s_cselect", "s_cmov", "s_addc", "s_subb"];
        let reads_scc = reads_scc.iter().any(|start| name.starts_with(start));
        if from.meets(before) || self.scc && is_scalar && reads_scc {
            self.registers.add(&to);
            self.scc |= is_scalar;
            if inst.facts.writes_exec {
                self.registers.add_scalar(EXEC, 2);
            }
        } else if compares {
            self.scc &= !is_scalar;
        } else if is_scalar || name.starts_with("v_cmp") || !self.parted && is_move(name) {
            self.registers.remove(&to);
        }
    }
}

/// Whether a vector instruction reads nothing of what it overwrites, of the plainest.
fn is_move(name: &str) -> bool {
    let plain = ["v_mov_b32_e32", "v_add_nc_u32_e32", "v_lshlrev_b32_e32"];
    plain.contains(&name)
}

/// Where in scratch an instruction loads or stores: its operands but for the data.
fn slot<const W: usize>(inst: &Inst<W>) -> Option<String> {
    if inst.facts.space != Some(Space::Scratch) {
        return None;
    }
    let (name, operands) = inst.text.split_once(' ')?;
    let data = usize::from(name.contains("_store_"));
    let operands = operands.split(',').enumerate();
    let place = operands
        .filter(|(at, _)| *at != data)
        .map(|(_, text)| text.trim());
    Some(place.collect::<Vec<_>>().join(","))
}
