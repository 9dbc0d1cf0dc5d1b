//! The report of a launch, from the sums of its workgroups.

use std::collections::BTreeMap;

use crate::check::Check;
use crate::counters::{
    Class, Counters, Divergence, InstructionConflicts, InstructionCount, Moved, Space,
};
use crate::launch::Launch;
use crate::object::CodeObject;
use crate::program::{Inst, Op, Program};
use crate::report::Report;
use crate::tally::{Count, Tally};

pub(crate) fn report<const W: usize>(
    mut tally: Tally,
    object: &CodeObject,
    program: &Program<W>,
    launch: &Launch,
    notes: Vec<String>,
) -> Report {
    let lines = object.lines();
    let source = |address: u64| lines.as_ref().and_then(|lines| lines.find(address));
    for finding in &mut tally.findings {
        finding.source = source(finding.address);
    }
    let executed = || {
        let counted = program.insts.iter().zip(&tally.counts);
        counted.filter(|(_, count)| count.executions > 0)
    };
    let instructions = executed()
        .map(|(inst, count)| InstructionCount {
            address: inst.address,
            instruction: inst.text.to_string(),
            source: source(inst.address),
            executions: count.executions,
            active_lanes: active(inst, count),
            moved: Moved {
                read: count.read + count.lds_read,
                written: count.written + count.lds_written,
            },
            conflict_cycles: match &inst.op {
                Op::Ds(ds) => tally.conflicts[ds.index()].1,
                _ => 0,
            },
        })
        .collect();
    let mut by_class: BTreeMap<Class, u64> =
        Class::ALL.into_iter().map(|class| (class, 0)).collect();
    let mut moved: BTreeMap<Space, Moved> = BTreeMap::new();
    let (mut vector_instructions, mut active_lanes) = (0, 0);
    for (inst, count) in executed() {
        *by_class.entry(inst.class).or_default() += count.executions;
        if inst.facts.vector {
            vector_instructions += count.executions;
            active_lanes += active(inst, count);
        }
        if let Some(space) = inst.facts.space {
            let sum = moved.entry(space).or_default();
            sum.read += count.read;
            sum.written += count.written;
        }
        if count.lds_read + count.lds_written > 0 {
            let sum = moved.entry(Space::Lds).or_default();
            sum.read += count.lds_read;
            sum.written += count.lds_written;
        }
    }
    let global = |bytes: fn(&Moved) -> u64| {
        [Space::Global, Space::Buffer, Space::Flat]
            .iter()
            .filter_map(|space| moved.get(space))
            .map(bytes)
            .sum()
    };
    let counters = Counters {
        wave_instructions: by_class.values().sum(),
        mma: by_class[&Class::Mma],
        by_class,
        lds_conflict_cycles_read: tally.conflicts_read,
        lds_conflict_cycles_write: tally.conflicts_write,
        global_bytes_read: global(|moved| moved.read),
        global_bytes_written: global(|moved| moved.written),
        moved,
        divergence: Divergence {
            partings: tally.partings,
            vector_instructions,
            partly_off: tally.partly_off,
            active_lanes,
            lanes: vector_instructions * W as u64,
        },
        conflicts: conflicts(&tally, program),
    };
    let (on, off): (Vec<Check>, Vec<Check>) = Check::ALL
        .into_iter()
        .partition(|check| launch.checks.has(*check));
    Report {
        checks: on
            .into_iter()
            .map(|check| (check.name(), tally.checks[check as usize]))
            .collect(),
        off: off.into_iter().map(Check::name).collect(),
        findings: tally.findings,
        counters,
        instructions,
        sampled: None,
        trace: tally.trace,
        notes,
    }
}

/// Lanes that were on, summed over the executions of a vector instruction.
fn active<const W: usize>(inst: &Inst<W>, count: &Count) -> u64 {
    match inst.facts.vector {
        true => count.executions * W as u64 - count.off,
        false => 0,
    }
}

/// The LDS instructions that had conflicts.
fn conflicts<const W: usize>(tally: &Tally, program: &Program<W>) -> Vec<InstructionConflicts> {
    program
        .insts
        .iter()
        .filter_map(|inst| match &inst.op {
            Op::Ds(ds) => Some((inst, ds, tally.conflicts[ds.index()])),
            _ => None,
        })
        .filter(|(_, _, (_, cycles))| *cycles > 0)
        .map(|(inst, ds, (executions, cycles))| InstructionConflicts {
            address: inst.address,
            instruction: inst.text.to_string(),
            access: if ds.writes() { "write" } else { "read" },
            executions,
            cycles,
        })
        .collect()
}
