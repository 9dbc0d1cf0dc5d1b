//! Hazards of gfx950: pairs of instructions between which hardware needs wait states that it does
//! not insert by itself. LLVM pads them; hand-written code must.
//!
//! Every row of [`ROWS`] names a pair, what they have in common, and how many wait states must lie
//! between them. An instruction is one wait state, `s_nop n` is n + 1. The source of all rows is
//! LLVM's `GCNHazardRecognizer` with its counts for gfx940 and gfx950; each row names the check in
//! it. Instructions on f64 matrices are not in the table.

mod facts;

use std::collections::VecDeque;

use crate::waits::Registers;

pub(crate) use facts::Facts;

/// What the first instruction of a pair does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// A vector instruction writes scalar registers.
    ScalarWrite,
    /// A vector comparison writes EXEC.
    ExecWrite,
    /// A vector instruction that is none of the matrix unit's writes vector registers.
    VectorWrite,
    /// A transcendental instruction writes vector registers.
    Transcendental,
    /// An instruction writes part of a vector register, or scales while it converts.
    PartWrite,
    /// A scalar instruction writes M0.
    M0Write,
    /// A store of more than 8 bytes reads its data.
    WideStore,
    /// A dot product writes.
    Dot,
    /// A matrix instruction of the XDL unit writes.
    Xdl,
    /// Another matrix instruction writes: f32 operands.
    Smfma,
    /// A matrix instruction of the XDL unit reads its third operand.
    XdlReadsC,
}

/// What the second instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Then {
    Vector,
    /// A vector instruction that is not transcendental.
    Ordinary,
    /// Any that reads vector registers: vector, vector memory, LDS.
    Reader,
    VectorMemory,
    LaneSelect,
    ReadLane,
    ReadWriteLane,
    DivFmas,
    Dpp,
    /// A load into LDS or a message.
    ByM0,
    LaneSwap,
    Matrix,
}

/// The registers that both have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Common {
    /// None need be.
    Nothing,
    /// Written (or read) first, read then.
    Reads,
    /// Written first, read then as the lane's number.
    Select,
    /// Written or read first, written then.
    Writes,
    /// Written first, read then as first or second matrix operand.
    Factors,
    /// Written first, read then as third matrix operand.
    Addend,
    /// Written by a dot product; then a factor of the same one, or touched by another instruction.
    DotReads,
}

/// How many wait states a pair needs.
#[derive(Clone, Copy)]
pub(crate) enum States {
    Fixed(u32),
    /// By the passes (of four cycles) of the first instruction.
    Passes(fn(u32) -> u32),
}

/// A hazard.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) first: First,
    pub(crate) then: Then,
    pub(crate) common: Common,
    pub(crate) states: States,
    /// The check in LLVM's recogniser.
    pub(crate) source: &'static str,
}

/// One more on gfx950 than on gfx940 where a matrix instruction has more than two passes.
fn more(passes: u32) -> u32 {
    u32::from(passes != 2)
}

const fn row(
    name: &'static str,
    first: First,
    then: Then,
    common: Common,
    states: States,
    source: &'static str,
) -> Row {
    Row {
        name,
        first,
        then,
        common,
        states,
        source,
    }
}

/// The hazards.
pub(crate) static ROWS: &[Row] = &[
    row(
        "a vector instruction writes a scalar register that vector memory reads",
        First::ScalarWrite,
        Then::VectorMemory,
        Common::Reads,
        States::Fixed(5),
        "checkVMEMHazards",
    ),
    row(
        "a vector instruction writes the lane number of v_readlane or v_writelane",
        First::ScalarWrite,
        Then::LaneSelect,
        Common::Select,
        States::Fixed(4),
        "checkRWLaneHazards",
    ),
    row(
        "a vector instruction writes VCC before v_div_fmas",
        First::ScalarWrite,
        Then::DivFmas,
        Common::Reads,
        States::Fixed(4),
        "checkDivFMasHazards",
    ),
    row(
        "a vector instruction writes a scalar register that a vector instruction reads",
        First::ScalarWrite,
        Then::Vector,
        Common::Reads,
        States::Fixed(2),
        "checkVALUHazards, VDecCoExec",
    ),
    row(
        "a comparison writes EXEC before a lane control",
        First::ExecWrite,
        Then::Dpp,
        Common::Nothing,
        States::Fixed(5),
        "checkDPPHazards",
    ),
    row(
        "a comparison writes EXEC before a read or write of one lane",
        First::ExecWrite,
        Then::ReadWriteLane,
        Common::Nothing,
        States::Fixed(4),
        "checkVALUHazards, VDecCoExec",
    ),
    row(
        "a comparison writes EXEC before a matrix instruction",
        First::ExecWrite,
        Then::Matrix,
        Common::Nothing,
        States::Fixed(4),
        "checkMAIHazards90A",
    ),
    row(
        "a comparison writes EXEC before an exchange of rows",
        First::ExecWrite,
        Then::LaneSwap,
        Common::Nothing,
        States::Fixed(4),
        "checkPermlaneHazards",
    ),
    row(
        "a lane control reads a register just written",
        First::VectorWrite,
        Then::Dpp,
        Common::Reads,
        States::Fixed(2),
        "checkDPPHazards",
    ),
    row(
        "v_readlane or v_readfirstlane reads a register just written",
        First::VectorWrite,
        Then::ReadLane,
        Common::Reads,
        States::Fixed(1),
        "checkVALUHazards, VDecCoExec",
    ),
    row(
        "a matrix instruction reads a register just written",
        First::VectorWrite,
        Then::Matrix,
        Common::Reads,
        States::Fixed(2),
        "checkMAIHazards90A",
    ),
    row(
        "an exchange of rows reads a register just written",
        First::VectorWrite,
        Then::LaneSwap,
        Common::Reads,
        States::Fixed(2),
        "checkPermlaneHazards",
    ),
    row(
        "a transcendental result is read at once",
        First::Transcendental,
        Then::Ordinary,
        Common::Reads,
        States::Fixed(1),
        "checkVALUHazards, TransForwarding",
    ),
    row(
        "part of a register is written and the register read at once",
        First::PartWrite,
        Then::Vector,
        Common::Reads,
        States::Fixed(1),
        "checkVALUHazards, DstSelForwarding and CvtScaleForwarding",
    ),
    row(
        "a scalar instruction writes M0 before a load into LDS or a message",
        First::M0Write,
        Then::ByM0,
        Common::Nothing,
        States::Fixed(1),
        "checkReadM0Hazards",
    ),
    row(
        "a vector instruction overwrites the data of a store of more than 8 bytes",
        First::WideStore,
        Then::Vector,
        Common::Writes,
        States::Fixed(2),
        "checkVALUHazardsHelper",
    ),
    row(
        "a dot product is read",
        First::Dot,
        Then::Reader,
        Common::DotReads,
        States::Fixed(3),
        "checkMAIVALUHazards, dot products",
    ),
    row(
        "a matrix instruction's result is a factor of the next",
        First::Xdl,
        Then::Matrix,
        Common::Factors,
        States::Passes(|passes| passes + 3 + more(passes)),
        "checkMAIHazards90A",
    ),
    row(
        "a matrix instruction's result is a factor of the next",
        First::Smfma,
        Then::Matrix,
        Common::Factors,
        States::Passes(|passes| passes + 2),
        "checkMAIHazards90A",
    ),
    row(
        "a matrix instruction's result is the addend of the next in part",
        First::Xdl,
        Then::Matrix,
        Common::Addend,
        States::Passes(|passes| passes + 1 + more(passes)),
        "checkMAIHazards90A",
    ),
    row(
        "a matrix instruction's result is the addend of the next in part",
        First::Smfma,
        Then::Matrix,
        Common::Addend,
        States::Passes(|passes| passes),
        "checkMAIHazards90A",
    ),
    row(
        "a matrix instruction's result is read",
        First::Xdl,
        Then::Reader,
        Common::Reads,
        States::Passes(|passes| passes + 3 + more(passes)),
        "checkMAIVALUHazards",
    ),
    row(
        "a matrix instruction's result is read",
        First::Smfma,
        Then::Reader,
        Common::Reads,
        States::Passes(|passes| passes + 2),
        "checkMAIVALUHazards",
    ),
    row(
        "a matrix instruction's result is overwritten",
        First::Xdl,
        Then::Reader,
        Common::Writes,
        States::Passes(|passes| passes + 3 + more(passes)),
        "checkMAIVALUHazards",
    ),
    row(
        "a matrix instruction's result is overwritten",
        First::Smfma,
        Then::Reader,
        Common::Writes,
        States::Passes(|passes| passes + 2),
        "checkMAIVALUHazards",
    ),
    row(
        "the addend of a matrix instruction is overwritten",
        First::XdlReadsC,
        Then::Vector,
        Common::Writes,
        States::Passes(|passes| passes - 1),
        "checkMAIVALUHazards",
    ),
];

/// What a wave did so lately that it may still be the first of a pair.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// Wait states passed.
    clock: u64,
    /// Instruction, its place among the instruction's deeds, when, and until when it matters.
    deeds: VecDeque<(u32, u8, u64, u64)>,
}

/// A hazard met.
pub(crate) struct Met {
    pub(crate) row: &'static Row,
    /// The first instruction of the pair.
    pub(crate) first: usize,
    /// Wait states that the pair needs and has.
    pub(crate) needs: u32,
    pub(crate) has: u64,
}

impl Recent {
    /// Takes the next instruction; `facts_of` gives what is known about an earlier one.
    pub(crate) fn step<'p>(
        &mut self,
        index: usize,
        facts: &Facts,
        facts_of: impl Fn(usize) -> Option<&'p Facts>,
    ) -> Option<Met> {
        let clock = self.clock;
        self.clock += u64::from(facts.states);
        while self.deeds.front().is_some_and(|deed| deed.3 <= clock) {
            self.deeds.pop_front();
        }
        let mut met = None;
        if facts.then != 0 {
            met = self.deeds.iter().find_map(|&(first, at, when, until)| {
                if until <= clock {
                    return None;
                }
                let deed = facts_of(first as usize)?.deeds.get(usize::from(at))?;
                if deed.thens & facts.then == 0 {
                    return None;
                }
                let has = clock - when;
                deed.rows.iter().find_map(|&(row, needs)| {
                    (has < u64::from(needs) && facts.completes(row, deed)).then_some(Met {
                        row,
                        first: first as usize,
                        needs,
                        has,
                    })
                })
            });
        }
        // LLVM looks for the last matrix instruction that wrote a register: what another one writes
        // over as a whole is waited for as that one's.
        if let Some(written) = facts.deeds.iter().find(|deed| deed.is_matrix_write()) {
            self.deeds.retain(|&(first, at, ..)| {
                let earlier = facts_of(first as usize).and_then(|it| it.deeds.get(usize::from(at)));
                !earlier.is_some_and(|earlier| {
                    let mut left = earlier.registers;
                    left.remove(&written.registers);
                    earlier.is_matrix_write() && left == Registers::default()
                })
            });
        }
        for (at, deed) in facts.deeds.iter().enumerate() {
            let until = self.clock + u64::from(deed.longest);
            self.deeds
                .push_back((index as u32, at as u8, self.clock, until));
        }
        met
    }
}

/// Registers of an instruction and what it does with them that may be the first of a pair.
pub(crate) struct Deed {
    pub(crate) registers: Registers,
    /// Mnemonic, where pairs of the same one differ from others.
    pub(crate) name: String,
    /// The hazards that it may begin, and the wait states that they need.
    rows: Vec<(&'static Row, u32)>,
    /// What may be their second instruction: a bit for each [`Then`].
    thens: u32,
    /// Most wait states of any.
    longest: u32,
}

impl Deed {
    pub(crate) fn new(first: First, registers: Registers, passes: u32, name: &str) -> Deed {
        let needs = |row: &Row| match row.states {
            States::Fixed(states) => states,
            States::Passes(states) => states(passes),
        };
        let rows = ROWS.iter().filter(|row| row.first == first);
        let mut deed = Deed {
            registers,
            name: name.to_owned(),
            rows: rows.map(|row| (row, needs(row))).collect(),
            thens: 0,
            longest: 0,
        };
        deed.keep_for(u32::MAX);
        deed
    }

    /// Whether it is what a matrix instruction writes.
    fn is_matrix_write(&self) -> bool {
        let first = self.rows.first().map(|(row, _)| row.first);
        matches!(first, Some(First::Xdl | First::Smfma))
    }

    /// Drops the hazards whose second instruction is none of `present`; whether any are left.
    fn keep_for(&mut self, present: u32) -> bool {
        self.rows
            .retain(|(row, _)| present >> row.then as u8 & 1 == 1);
        let rows = self.rows.iter();
        self.thens = rows
            .clone()
            .fold(0, |bits, (row, _)| bits | 1 << row.then as u8);
        self.longest = rows.map(|(_, needs)| *needs).max().unwrap_or(0);
        !self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests;
