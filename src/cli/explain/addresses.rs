//! What holds the addresses of the main loop's accesses, and by which rules.

use serde::Serialize;
use tilefold::Compiled;
use tilefold_address::{Chain, Origin, Step};
use tilefold_dialect::atoms::{Direction, Space};
use tilefold_passes::{Addresses, addresses};
use tilefold_rocdl::{address_arithmetic, disassemble};

/// The accesses of one kind to one operand's tile.
#[derive(Serialize)]
pub struct Group {
    /// What accesses what.
    pub accesses_of: String,
    /// Bits of an access.
    pub bits: i64,
    /// Accesses of a thread and K tile.
    pub accesses: usize,
    /// Vector registers that hold their offsets, all computed before the loop.
    pub registers: usize,
    /// As many as no placement can do without.
    pub fewest: usize,
    /// Scalars that hold the part of offsets that is the same for all threads.
    pub scalars: usize,
    /// The largest constant that an instruction adds.
    pub largest_constant: u32,
    /// Whether rules found the placement, or limits left a register to each offset.
    pub origin: Origin,
    /// The chain of rules of one access, the last.
    pub chain: Option<OneChain>,
}

/// From an access's offset to register + scalar + constant.
#[derive(Serialize)]
pub struct OneChain {
    /// Which access.
    pub access: usize,
    /// All terms: the offset, and that after each step.
    pub terms: Vec<String>,
    /// The rules.
    pub steps: Vec<Step>,
}

/// Vector instructions of the compiled main loop that compute addresses; None where its code cannot
/// be read back.
pub fn left_in_loop(compiled: &Compiled) -> Option<usize> {
    let manifest = &compiled.manifest;
    let code = &compiled.code.hsaco;
    let instructions = disassemble(code, &compiled.plan.kernel, &manifest.arch).ok()?;
    Some(address_arithmetic(&instructions))
}

/// All groups of a compiled kernel; none of loads that do not go through descriptors.
pub fn groups(compiled: &Compiled) -> Vec<Group> {
    let groups = addresses(&compiled.plan).unwrap_or_default();
    groups.iter().map(group).collect()
}

fn group(of: &Addresses) -> Group {
    let operand = ["A", "B"][of.operand.min(1)];
    let accesses_of = match (of.space, of.direction) {
        (Space::Lds, Direction::Load) => format!("reads of {operand} from LDS"),
        (Space::Lds, Direction::Store) => format!("writes of {operand} to LDS"),
        (_, Direction::Load) => format!("loads of {operand}"),
        (_, Direction::Store) => format!("stores of {operand}"),
    };
    let placement = &of.placement;
    let accesses = placement.accesses();
    let last = accesses.len().saturating_sub(1);
    let constants = accesses.iter().map(|access| access.immediate);
    Group {
        accesses_of,
        bits: of.bits,
        accesses: accesses.len(),
        registers: placement.registers().len(),
        fewest: placement.minimum(),
        scalars: placement.scalars().len(),
        largest_constant: constants.max().unwrap_or(0),
        origin: placement.origin(),
        chain: placement.explain(last).ok().map(|chain| one(last, &chain)),
    }
}

fn one(access: usize, chain: &Chain) -> OneChain {
    OneChain {
        access,
        terms: chain.terms.iter().map(ToString::to_string).collect(),
        steps: chain.steps.clone(),
    }
}

/// The groups as lines, with the chains where they are asked for; then what the compiled loop has
/// left of them.
pub fn lines(groups: &[Group], left: Option<usize>, chains: bool) -> Vec<String> {
    let registers: usize = groups.iter().map(|group| group.registers).sum();
    let mut lines = vec![format!(
        "\naddresses: {registers} registers are to hold the offsets of all accesses below, computed \
         before the loop (equal ones are the code generator's to merge):"
    )];
    for group in groups {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let mut line = format!(
            "  {}: {} of {} bits by {} register{} (no placement has fewer than {}), constants up to {}",
            group.accesses_of,
            group.accesses,
            group.bits,
            group.registers,
            plural(group.registers),
            group.fewest,
            group.largest_constant
        );
        if group.scalars > 0 {
            line += &format!(" and {} scalar{}", group.scalars, plural(group.scalars));
        }
        match (&group.chain, group.origin) {
            (_, Origin::Limits | Origin::Fault) => line += ", a register to each offset",
            (Some(chain), _) => {
                let steps = chain.steps.len();
                line += &format!("; the last by {steps} step{}", plural(steps));
            }
            (None, _) => line += "; of the last no chain is found within the limits",
        }
        lines.push(line);
        if let (true, Some(chain)) = (chains, &group.chain) {
            for (index, term) in chain.terms.iter().enumerate() {
                let step = index.checked_sub(1).and_then(|step| chain.steps.get(step));
                lines.push(match step {
                    None => format!("      {term}"),
                    Some(step) => {
                        let backwards = if step.backward { ", backwards" } else { "" };
                        format!("    {}{backwards} -> {term}", step.rule)
                    }
                });
            }
        }
    }
    lines.extend(left.map(left_over));
    lines
}

/// What the compiled loop has left, in a line.
fn left_over(left: usize) -> String {
    match left {
        0 => "  compiled, no vector instruction of the main loop computes an address".into(),
        1 => "  compiled, 1 vector instruction of the main loop still computes an address".into(),
        _ => format!(
            "  compiled, {left} vector instructions of the main loop still compute addresses"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn what_the_loop_computes_is_said() {
        let last = |left| lines(&[], left, false).pop().unwrap();
        assert!(last(Some(0)).contains("no vector instruction"));
        assert!(last(Some(1)).contains("1 vector instruction of the main loop still computes"));
        assert!(last(Some(30)).contains("30 vector instructions of the main loop still compute"));
        assert!(last(None).contains("0 registers are to hold"));
    }
}
