//! Vector instructions of the main loop that compute addresses, found in its disassembly.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::main_loop::{Instruction, body, mnemonic};

/// How many vector ALU instructions of the main loop compute an address: those whose result is, in
/// one step or several, what a load or store of the loop has as its address register; 0 where there
/// is no loop with a matrix instruction. A `v_dual_*` pair is one instruction.
/// Copies from register to register, which the allocator of registers makes, compute nothing: what
/// they copy is looked at.
///
/// An address that the loop reads from memory or LDS counts as nothing: no arithmetic makes it.
pub fn address_arithmetic(instructions: &[Instruction]) -> usize {
    let Some(body) = body(instructions) else {
        return 0;
    };
    let mut found = BTreeSet::new();
    let mut wanted: Vec<(usize, u32)> = Vec::new();
    for (at, instruction) in body.iter().enumerate() {
        wanted.extend(address(&instruction.text).map(|register| (at, register)));
    }
    let mut seen = BTreeSet::new();
    while let Some((at, register)) = wanted.pop() {
        if !seen.insert((at, register)) {
            continue;
        }
        // What is not written before it in this step comes from the one before.
        let before = (0..at).rev().chain((at..body.len()).rev());
        let writer = before
            .into_iter()
            .find(|writer| writes(&body[*writer].text).any(|it| it == register));
        let Some(writer) = writer.filter(|writer| is_arithmetic(&body[*writer].text)) else {
            continue;
        };
        if !is_move(&body[writer].text) {
            found.insert(writer);
        }
        wanted.extend(reads(&body[writer].text).map(|register| (writer, register)));
    }
    found.len()
}

/// Whether an instruction is of the vector ALU, and no matrix instruction.
fn is_arithmetic(text: &str) -> bool {
    let matrix = ["v_wmma_", "v_swmmac_", "v_mfma_", "v_smfmac_"];
    text.starts_with("v_") && !matrix.iter().any(|prefix| text.starts_with(prefix))
}

/// Whether an instruction only copies registers, in both halves where it has two.
fn is_move(text: &str) -> bool {
    halves(text).all(|half| half.starts_with("v_mov_b") || half.starts_with("v_dual_mov_b"))
}

/// Both halves of a pair, or the one instruction.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    text.split("::").map(str::trim)
}

/// The operands of one instruction, with the modifiers behind the last.
fn operands(text: &str) -> impl Iterator<Item = &str> {
    let (_, operands) = text.split_once(' ').unwrap_or_default();
    operands.split(',').map(str::trim)
}

/// The vector registers of an operand such as `v7`, `v7.h`, `-v7` or `v[4:7]`.
fn registers(operand: &str) -> RangeInclusive<u32> {
    let none = RangeInclusive::new(1, 0);
    let operand = operand.split_ascii_whitespace().next().unwrap_or_default();
    let operand = operand.trim_matches(['-', '|', ')']);
    let Some(number) = operand.strip_prefix('v') else {
        return none;
    };
    let parsed = |text: &str| text.parse::<u32>().ok();
    match number.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(range) => {
            let (first, last) = range.split_once(':').unwrap_or((range, range));
            match (parsed(first), parsed(last)) {
                (Some(first), Some(last)) => first..=last,
                _ => none,
            }
        }
        None => {
            let number = number.trim_end_matches(".l").trim_end_matches(".h");
            parsed(number).map_or(none, |register| register..=register)
        }
    }
}

/// The position of the address among the operands of a load or store.
fn address_operand(text: &str) -> Option<usize> {
    let name = mnemonic(text);
    let (space, access) = name.split_once('_')?;
    match space {
        "buffer" if access.starts_with("load") || access.starts_with("store") => Some(1),
        "ds" | "global" | "flat" if access.starts_with("load") || access.starts_with("read") => {
            Some(1)
        }
        "ds" | "global" | "flat" if access.starts_with("store") || access.starts_with("write") => {
            Some(0)
        }
        _ => None,
    }
}

/// The registers that hold a load's or store's address.
fn address(text: &str) -> RangeInclusive<u32> {
    match address_operand(text) {
        Some(at) => registers(operands(text).nth(at).unwrap_or_default()),
        None => registers(""),
    }
}

/// The vector registers that an instruction writes.
fn writes(text: &str) -> impl Iterator<Item = u32> {
    let name = mnemonic(text);
    let is_load = address_operand(text) == Some(1) && !name.contains("_store");
    let writes = name.starts_with("v_") || name.starts_with("ds_bpermute") || is_load;
    let halves = halves(text).filter(move |_| writes);
    halves.flat_map(|half| registers(operands(half).next().unwrap_or_default()))
}

/// The vector registers that an instruction of the vector ALU reads.
fn reads(text: &str) -> impl Iterator<Item = u32> {
    halves(text).flat_map(|half| operands(half).skip(1).flat_map(registers))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a loop with these instructions computes for addresses.
    fn of_loop(texts: &[&str]) -> usize {
        let wmma = "v_wmma_f32_16x16x16_f16 v[80:87], v[88:95], v[96:103], v[80:87]";
        let back = format!("s_cbranch_scc1 {}", 65536 - texts.len() - 2);
        let all = texts
            .iter()
            .copied()
            .chain([wmma, back.as_str(), "s_endpgm"]);
        let place = |(index, text): (usize, &str)| Instruction {
            address: 0x1000 + 4 * index as u64,
            length: 4,
            text: text.to_owned(),
        };
        address_arithmetic(&all.enumerate().map(place).collect::<Vec<_>>())
    }

    #[test]
    fn what_feeds_an_address_is_counted() {
        for (access, count) in [
            ("buffer_load_u16 v9, v1, s[0:3], 0 offen", 1),
            ("buffer_load_b128 v[4:7], v1, s[0:3], s5 offen offset:16", 1),
            ("buffer_load_u16 v1, v9, s[0:3], 0 offen", 0),
            ("buffer_load_b32 v9, off, s[0:3], 0", 0),
            ("buffer_store_b32 v1, v9, s[0:3], 0 offen", 0),
            ("buffer_store_b32 v9, v1, s[0:3], 0 offen", 1),
            ("global_load_b64 v[4:5], v1, s[0:1]", 1),
            ("global_load_b64 v[4:5], v[0:1], off", 1),
            ("ds_load_b128 v[4:7], v1 offset:32", 1),
            ("ds_store_b64 v1, v[4:5]", 1),
            ("ds_store_2addr_b64 v9, v[0:1], v[4:5] offset1:1", 0),
            ("s_nop 0", 0),
        ] {
            let add = "v_add_nc_u32_e32 v1, 14, v2";
            assert_eq!(of_loop(&[add, access]), count, "{access}");
            // Around the loop, too.
            assert_eq!(of_loop(&[access, add]), count, "{access}");
        }
    }

    #[test]
    fn steps_on_the_way_are_counted_and_data_is_not() {
        let count = of_loop(&[
            "v_lshlrev_b32_e32 v3, 1, v2",
            "v_dual_add_nc_u32 v1, v3, v4 :: v_dual_mov_b32 v5, 0",
            "v_perm_b32 v6, v7, v8, 0x5040100",
            "ds_load_b32 v4, v5",
            "ds_store_b32 v1, v6",
        ]);
        assert_eq!(count, 2);
        // Each step adds to what the step before has.
        assert_eq!(
            of_loop(&["ds_load_b32 v4, v1", "v_add_nc_u32_e32 v1, s0, v1"]),
            1
        );
        // A copy computes nothing, what it copies may be computed.
        let copied = ["v_mov_b32_e32 v1, v2", "ds_load_b32 v4, v1"];
        assert_eq!(of_loop(&copied), 0);
        assert_eq!(
            of_loop(&[&["v_xor_b32_e32 v2, 16, v3"], &copied[..]].concat()),
            1
        );
        // Another value of the register is none of the address.
        assert_eq!(
            of_loop(&[
                "v_mov_b32_e32 v1, 0",
                "ds_load_b32 v1, v9",
                "ds_store_b32 v1, v2"
            ]),
            0
        );
        assert_eq!(address_arithmetic(&[]), 0);
    }
}
