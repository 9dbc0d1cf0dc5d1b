//! Loads whose value decides the branch that follows.

use crate::counters::{Class, Space};
use crate::program::{Condition, Inst, Op};
use crate::text::{EXEC, VCC};
use crate::waits::Registers;

/// Instructions that are looked at behind a load.
const REACH: usize = 96;

/// Whether the branch that follows a load hangs on what it loads. Registers count that an
/// instruction names beside one that counts already, and scratch that one is stored in: rather too
/// much than too little.
pub(crate) fn decides<const W: usize>(insts: &[Inst<W>], load: usize) -> bool {
    let Some(Inst {
        fills: Some((_, filled)),
        op: Op::Vmem(_) | Op::Smem(_),
        ..
    }) = insts.get(load)
    else {
        return false;
    };
    let mut known = *filled;
    let mut scc = false;
    let mut spilled: Vec<String> = Vec::new();
    let holds = |known: &Registers, first: u16| known.scalar >> first & 3 != 0;
    let mut at = load + 1;
    for _ in 0..REACH {
        let Some(inst) = insts.get(at) else { break };
        at += 1;
        match &inst.op {
            Op::Branch { condition, target } => match condition {
                Condition::Always => at = *target,
                Condition::Scc(_) if scc => return true,
                Condition::Vcc(_) if holds(&known, VCC) => return true,
                Condition::Exec(_) if holds(&known, EXEC) => return true,
                _ => {}
            },
            Op::Barrier(_) | Op::End | Op::Unknown(_) => break,
            _ => {}
        }
        let mut named = inst.uses;
        if let Some((_, filled)) = &inst.fills {
            named.add(filled);
        }
        let place = slot(inst);
        let filled = place.as_ref().is_some_and(|place| spilled.contains(place));
        if !named.meets(&known) && !filled {
            continue;
        }
        known.add(&named);
        spilled
            .extend(place.filter(|_| inst.fills.is_none_or(|(_, to)| to == Registers::default())));
        scc |= inst.class == Class::Salu;
        if inst.facts.writes_exec {
            known.add_scalar(EXEC, 2);
        }
    }
    false
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
