//! The main loop of a kernel, found and counted in its disassembly.

use serde::{Deserialize, Serialize};
use tilefold_llvm::disasm::Disassembler;

use crate::error::RocdlError;
use crate::metadata::function_code;

/// One instruction of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Where it stands.
    pub address: u64,
    /// Its length in bytes.
    pub length: usize,
    /// Its text as LLVM writes it.
    pub text: String,
}

/// Disassembles the function `name` of a code object for `chip`.
///
/// # Errors
/// [`RocdlError::CodeObject`] when there is no such function or its bytes are not all
/// instructions; [`RocdlError::Llvm`] when the chip is unknown.
pub fn disassemble(hsaco: &[u8], name: &str, chip: &str) -> Result<Vec<Instruction>, RocdlError> {
    let mut disassembler = Disassembler::new(chip)?;
    let (start, code) = function_code(hsaco, name)?;
    let mut instructions = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let address = start.wrapping_add(at as u64);
        let (length, text) = disassembler.decode(&code[at..], address).ok_or_else(|| {
            RocdlError::CodeObject(format!("no instruction of {chip} at {address:#x}"))
        })?;
        instructions.push(Instruction {
            address,
            length,
            text,
        });
        at += length;
    }
    Ok(instructions)
}

/// The instructions of one iteration of the loop with the most matrix instructions, by class. The
/// loop is every instruction from its head to its back edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MainLoop {
    /// Matrix instructions: `v_wmma_*`, `v_swmmac_*`, `v_mfma_*`, `v_smfmac_*`.
    pub mma: u32,
    /// Reads of LDS: `ds_load_*`, `ds_read*`.
    pub lds_loads: u32,
    /// Writes of LDS: `ds_store_*`, `ds_write*`.
    pub lds_stores: u32,
    /// Reads of memory by lanes, into registers or LDS: `buffer_load_*`, `global_load_*`,
    /// `flat_load_*`.
    pub global_loads: u32,
    /// Waits for counters, those for the own arithmetic (`s_wait_alu`) included: `s_waitcnt*`,
    /// `s_wait_*`.
    pub waits: u32,
    /// Every other `v_*`. A `v_dual_*` pair is one instruction.
    pub valu: u32,
    /// Scalar arithmetic and branches: every other `s_*` but those below.
    pub salu: u32,
    /// What is left: scalar loads and cache control, barriers, messages, `s_setprio`, `s_sleep`,
    /// `s_nop`, `s_delay_alu`, `s_clause`, stores to memory, scratch, atomics, lane exchange
    /// through LDS (`ds_bpermute` and its like).
    pub other: u32,
    /// All of them.
    pub total: u32,
    /// Elements of K that an iteration advances by; `None` where the caller gave no
    /// [`KStep`](crate::KStep) or the matrix instructions are no whole number of its steps.
    pub k_per_iteration: Option<u32>,
}

/// Mnemonics with `s_` that do no arithmetic: beginnings.
const SCALAR_OTHER: [&str; 18] = [
    "s_load_",
    "s_buffer_load_",
    "s_prefetch_",
    "s_dcache_",
    "s_icache_",
    "s_gl1_inv",
    "s_barrier",
    "s_sendmsg",
    "s_setprio",
    "s_sleep",
    "s_nop",
    "s_delay_alu",
    "s_clause",
    "s_code_end",
    "s_endpgm",
    "s_trap",
    "s_set_inst_prefetch",
    "s_ttracedata",
];

impl MainLoop {
    /// Finds and counts the main loop; `None` when no loop has a matrix instruction. Of loops with
    /// equally many the shortest is meant.
    pub fn find(instructions: &[Instruction]) -> Option<MainLoop> {
        body(instructions).map(MainLoop::count)
    }

    fn count(instructions: &[Instruction]) -> MainLoop {
        let mut counts = MainLoop::default();
        for instruction in instructions {
            let mnemonic = mnemonic(&instruction.text);
            let begins = |prefixes: &[&str]| prefixes.iter().any(|p| mnemonic.starts_with(p));
            let class = if begins(&["v_wmma_", "v_swmmac_", "v_mfma_", "v_smfmac_"]) {
                &mut counts.mma
            } else if begins(&["v_"]) {
                &mut counts.valu
            } else if begins(&["ds_load_", "ds_read"]) {
                &mut counts.lds_loads
            } else if begins(&["ds_store_", "ds_write"]) {
                &mut counts.lds_stores
            } else if begins(&["buffer_load_", "global_load_", "flat_load_"]) {
                &mut counts.global_loads
            } else if begins(&["s_waitcnt", "s_wait_"]) {
                &mut counts.waits
            } else if begins(&["s_"]) && !begins(&SCALAR_OTHER) {
                &mut counts.salu
            } else {
                &mut counts.other
            };
            *class += 1;
            counts.total += 1;
        }
        counts
    }
}

/// The instructions of the main loop, from its head to its back edge: see [`MainLoop::find`].
pub(crate) fn body(instructions: &[Instruction]) -> Option<&[Instruction]> {
    let mut best: Option<(MainLoop, &[Instruction])> = None;
    for (head, last) in loops(instructions) {
        let body = &instructions[head..=last];
        let found = MainLoop::count(body);
        let is_better = best.is_none_or(|(best, _)| {
            (found.mma, std::cmp::Reverse(found.total)) > (best.mma, std::cmp::Reverse(best.total))
        });
        if found.mma > 0 && is_better {
            best = Some((found, body));
        }
    }
    best.map(|(_, body)| body)
}

pub(crate) fn mnemonic(text: &str) -> &str {
    text.split_ascii_whitespace().next().unwrap_or_default()
}

/// Where a branch goes: an index, if it is a branch to an instruction of the function.
fn target(instructions: &[Instruction], at: usize) -> Option<usize> {
    let instruction = &instructions[at];
    let (name, operand) = instruction.text.split_once(' ')?;
    if name != "s_branch" && !name.starts_with("s_cbranch_") {
        return None;
    }
    // A signed count of dwords from the next instruction, which LLVM prints as unsigned.
    let dwords: i32 = operand.trim().parse().ok()?;
    let dwords = i64::from(u16::try_from(dwords & 0xffff).ok()?.cast_signed());
    let next = instruction.address.wrapping_add(instruction.length as u64);
    let address = next.wrapping_add_signed(4 * dwords);
    instructions
        .binary_search_by_key(&address, |instruction| instruction.address)
        .ok()
}

/// Head and last instruction of every loop: a branch back to where control can come round to the
/// branch again without leaving the instructions in between. (Code that was moved behind the end
/// of the function also branches back, but what it branches to does not lead to it.)
fn loops(instructions: &[Instruction]) -> Vec<(usize, usize)> {
    let targets: Vec<Option<usize>> = (0..instructions.len())
        .map(|at| target(instructions, at))
        .collect();
    let mut found = Vec::new();
    for (last, head) in targets.iter().enumerate() {
        if let Some(head) = head.filter(|&head| head <= last)
            && reaches(instructions, &targets, head, last)
        {
            found.push((head, last));
        }
    }
    found
}

fn reaches(
    instructions: &[Instruction],
    targets: &[Option<usize>],
    head: usize,
    last: usize,
) -> bool {
    let mut seen = vec![false; last - head + 1];
    let mut pending = vec![head];
    while let Some(at) = pending.pop() {
        if !(head..=last).contains(&at) || std::mem::replace(&mut seen[at - head], true) {
            continue;
        }
        if at == last {
            return true;
        }
        let ends = matches!(
            mnemonic(&instructions[at].text),
            "s_branch" | "s_endpgm" | "s_setpc_b64"
        );
        if !ends {
            pending.push(at + 1);
        }
        pending.extend(targets[at]);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions of four bytes each, the addresses ascending.
    fn listing(texts: &[&str]) -> Vec<Instruction> {
        let place = |(index, text): (usize, &&str)| Instruction {
            address: 0x1000 + 4 * index as u64,
            length: 4,
            text: (*text).to_owned(),
        };
        texts.iter().enumerate().map(place).collect()
    }

    #[test]
    fn counts_every_class() {
        let found = MainLoop::find(&listing(&[
            "v_mov_b32_e32 v0, 0",
            "buffer_load_b128 v[0:3], v4, s[0:3], null offen",
            "ds_load_b128 v[0:3], v4",
            "ds_load_2addr_b64 v[0:3], v4 offset1:1",
            "s_wait_dscnt 0x0",
            "s_waitcnt lgkmcnt(0)",
            "s_setprio 1",
            "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
            "v_dual_mov_b32 v0, 1 :: v_dual_mov_b32 v1, 2",
            "ds_store_b128 v4, v[0:3]",
            "ds_bpermute_b32 v0, v1, v2",
            "global_store_b32 v0, v1, s[0:1]",
            "s_barrier_wait 0xffff",
            "s_load_b32 s0, s[2:3], 0x0",
            "s_add_co_i32 s0, s0, 1",
            "s_cmp_lt_i32 s0, s1",
            "s_cbranch_scc1 65520",
            "s_endpgm",
        ]))
        .unwrap();
        let expected = MainLoop {
            mma: 1,
            lds_loads: 2,
            lds_stores: 1,
            global_loads: 1,
            waits: 2,
            valu: 1,
            salu: 3,
            other: 5,
            total: 16,
            k_per_iteration: None,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn takes_the_inner_of_nested_loops() {
        let found = MainLoop::find(&listing(&[
            "s_mov_b32 s0, 0",
            "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
            "s_cbranch_scc1 65534",
            "s_cbranch_scc0 65532",
            "s_endpgm",
        ]));
        assert_eq!(found.unwrap().total, 2);
    }

    #[test]
    fn code_behind_the_end_is_no_loop() {
        let found = MainLoop::find(&listing(&[
            "s_cbranch_scc1 3",
            "v_nop",
            "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
            "s_endpgm",
            "v_nop",
            "s_branch 65532",
        ]));
        assert_eq!(found, None);
    }

    #[test]
    fn odd_branches_are_no_loops() {
        for branch in [
            "s_branch 65000",
            "s_branch nowhere",
            "s_branch",
            "s_cbranch_vccz 1",
            "",
        ] {
            let wmma = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]";
            assert_eq!(MainLoop::find(&listing(&[wmma, branch])), None, "{branch}");
        }
    }
}
