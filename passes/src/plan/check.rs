//! What a spec may ask for, checked against the atoms and the machine.

use super::{Registers, Schedule, lines};
use tilefold_dialect::{
    atoms::{CopyAtom, Direction, MmaAtom, Space},
    element::ElementType,
    plan::{Commit, Lead, PartialPlan, Prefetch},
    problem::{MAX_EXTENT, OperandLayout, Problem},
    spec::{Spec, SpecError},
};
use tilefold_machine::Machine;

pub(super) type Checked<T> = Result<T, SpecError>;

pub(super) fn refuse<T>(
    spec: &Spec,
    field: &str,
    rule: impl Into<String>,
    help: impl Into<String>,
) -> Checked<T> {
    Err(SpecError::at(spec.source(), field, rule, help))
}

/// The problem with every layout as row or column order and a leading dimension.
pub fn problem(spec: &Spec) -> Checked<Problem> {
    let mut problem = spec.problem.clone();
    for (name, operand) in [
        ("a", &mut problem.a),
        ("b", &mut problem.b),
        ("c", &mut problem.c),
    ] {
        let OperandLayout::Expr(layout) = &operand.layout else {
            continue;
        };
        let field = format!("gemm.{name}.layout");
        let modes: Vec<_> = layout
            .modes()
            .iter()
            .flat_map(|mode| mode.coalesce().flat_modes())
            .collect();
        let (order, lines, length) = match modes[..] {
            [lines, (length, 1)] => (OperandLayout::Row, lines, length),
            [(length, 1), lines] => (OperandLayout::Col, lines, length),
            _ => {
                return refuse(
                    spec,
                    &field,
                    format!("{layout} is not contiguous along one of its two coordinates"),
                    "kernels take a matrix with one leading dimension: write `row` or `col` with \
                     `ld`, or a flat layout such as (4096,4096):(4096,1)",
                );
            }
        };
        // A single line may be any distance from a next one that is not there.
        let ld = if lines.0 == 1 { length } else { lines.1 };
        if ld < length || ld > MAX_EXTENT {
            return refuse(
                spec,
                &field,
                format!("{layout} has lines of {length} elements that lie {ld} apart"),
                format!(
                    "kernels take lines that do not overlap, at most {MAX_EXTENT} elements apart"
                ),
            );
        }
        operand.layout = order;
        operand.ld = Some(ld);
    }
    Ok(problem)
}

/// The matrix instruction, by name or by the problem's types.
pub fn mma(spec: &Spec, machine: &Machine, problem: &Problem) -> Checked<&'static MmaAtom> {
    let chip = machine.name.as_str();
    let names = || {
        MmaAtom::of_chip(chip)
            .map(|atom| atom.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    if problem.a.element != problem.b.element {
        return refuse(
            spec,
            "gemm.b.type",
            format!("A is {} and B is {}", problem.a.element, problem.b.element),
            "the matrix instructions of this chip take one type for both",
        );
    }
    let (input, accumulate) = (problem.a.element, problem.accumulate);
    let atom = match &spec.plan.atoms.mma {
        Some(name) => match MmaAtom::by_name(chip, name) {
            Some(atom) if (atom.input, atom.accumulator) == (input, accumulate) => atom,
            Some(atom) => {
                return refuse(
                    spec,
                    "atoms.mma",
                    format!(
                        "{name} multiplies {} and accumulates in {}, the problem asks for {input} \
                         and {accumulate}",
                        atom.input, atom.accumulator
                    ),
                    match MmaAtom::by_types(chip, input, accumulate) {
                        Some(fitting) => format!("{} does", fitting.name),
                        None => format!("{chip} has {}", names()),
                    },
                );
            }
            None => {
                return refuse(
                    spec,
                    "atoms.mma",
                    format!("{chip} has no matrix instruction {name}"),
                    format!("it has {}", names()),
                );
            }
        },
        None => match MmaAtom::by_types(chip, input, accumulate) {
            Some(atom) => atom,
            None => {
                let takes_input = MmaAtom::of_chip(chip).any(|atom| atom.input == input);
                return refuse(
                    spec,
                    if takes_input {
                        "gemm.accumulate"
                    } else {
                        "gemm.a.type"
                    },
                    format!(
                        "{chip} has no matrix instruction that multiplies {input} and accumulates \
                         in {accumulate}"
                    ),
                    format!("it has {}", names()),
                );
            }
        },
    };
    let output = problem.c.element;
    let converts = output == accumulate
        || output == ElementType::F32
        || (accumulate == ElementType::F32
            && matches!(output, ElementType::F16 | ElementType::Bf16));
    if !converts {
        return refuse(
            spec,
            "gemm.c.type",
            format!("sums in {accumulate} are not converted to {output}"),
            match accumulate {
                ElementType::F32 => "take f32, f16 or bf16".into(),
                _ => format!("take {accumulate} or f32, or accumulate in f32"),
            },
        );
    }
    Ok(atom)
}

/// The load atom, where the spec names one.
pub fn load(spec: &Spec, atom: &MmaAtom) -> Checked<Option<&'static CopyAtom>> {
    let Some(name) = &spec.plan.atoms.load else {
        return Ok(None);
    };
    let loads = || {
        CopyAtom::all().iter().filter(|load| {
            load.direction == Direction::Load
                && load.space != Space::Lds
                && load.elements(atom.input) > 0
        })
    };
    if let Some(load) = loads().find(|load| load.name == name) {
        return Ok(Some(load));
    }
    let known: Vec<_> = loads().map(|load| load.name).collect();
    refuse(
        spec,
        "atoms.load",
        format!(
            "there is no load of {} from memory called {name}",
            atom.input
        ),
        format!("known loads: {}", known.join(", ")),
    )
}

/// The schedule, as far as it is built: when tiles are loaded.
pub fn schedule(spec: &Spec) -> Checked<Option<Prefetch>> {
    if let Some(buffers) = spec.plan.lds.buffers.filter(|buffers| *buffers > 2) {
        return refuse(
            spec,
            "lds.buffers",
            format!("{buffers} tiles of each operand in LDS are not built in this version"),
            "take 1 or 2",
        );
    }
    let schedule = &spec.plan.schedule;
    let other = schedule
        .prefetch
        .is_some_and(|it| it != Prefetch::Interleaved);
    if schedule.priority == Some(true) && other {
        return refuse(
            spec,
            "schedule.priority",
            "priorities are raised around matrix instructions among which loads are spread",
            "take prefetch = \"interleaved\", or leave the field out",
        );
    }
    for (name, given) in [
        ("cadence", schedule.cadence.is_some()),
        ("ahead", schedule.ahead.is_some()),
        ("lead", schedule.lead.is_some()),
        ("commit", schedule.commit.is_some()),
    ] {
        if given && other {
            return refuse(
                spec,
                &format!("schedule.{name}"),
                "it says how interleaved loads and reads go, and the prefetch is another",
                "take prefetch = \"interleaved\", or leave the field out",
            );
        }
    }
    Ok(prefetch(&spec.plan))
}

/// When tiles are loaded, where a plan says it or says how interleaved loads go.
pub fn prefetch(plan: &PartialPlan) -> Option<Prefetch> {
    let schedule = &plan.schedule;
    let ordered = schedule.ahead.is_some()
        || schedule.cadence.is_some()
        || schedule.lead.is_some()
        || schedule.commit.is_some()
        || schedule.priority == Some(true);
    schedule
        .prefetch
        .or(ordered.then_some(Prefetch::Interleaved))
}

/// The order of an interleaved multiplication, what is left open by default.
pub fn order(spec: &Spec) -> Schedule {
    let said = &spec.plan.schedule;
    Schedule {
        cadence: said.cadence.unwrap_or(1),
        ahead: said.ahead.unwrap_or(1),
        lead: said.lead.unwrap_or(Lead::A),
        commit: said.commit.unwrap_or(Commit::End),
        priority: said.priority == Some(true),
    }
}

/// The smallest block of so many waves: one atom for each.
pub fn least(atom: &MmaAtom, waves: [i64; 2]) -> [i64; 3] {
    [
        atom.shape[0].saturating_mul(waves[0]),
        atom.shape[1].saturating_mul(waves[1]),
        atom.shape[2],
    ]
}

/// Whether the block is whole atoms for every wave.
pub fn tile(spec: &Spec, atom: &MmaAtom, block: [i64; 3], waves: [i64; 2]) -> Checked<()> {
    let need = least(atom, waves);
    for (index, name) in ["m", "n", "k"].into_iter().enumerate() {
        if block[index] % need[index] != 0 {
            return refuse(
                spec,
                "tile.block",
                format!(
                    "{name} = {} is no multiple of {}, the {name} of {}{}",
                    block[index],
                    need[index],
                    atom.name,
                    match waves.get(index) {
                        Some(&waves) if waves > 1 => format!(" times {waves} waves"),
                        _ => String::new(),
                    },
                ),
                format!("take a multiple of {}", need[index]),
            );
        }
    }
    Ok(())
}

/// Whether the problem's K, where it is given, is whole K tiles of `depth`.
pub fn depth(spec: &Spec, problem: &Problem, atom: &MmaAtom, depth: i64) -> Checked<()> {
    let Some(k) = problem.k.exact().filter(|k| k % depth != 0) else {
        return Ok(());
    };
    let said = spec.plan.tile.block.0[2].is_some();
    let least = atom.shape[2];
    refuse(
        spec,
        if said { "tile.block" } else { "gemm.k" },
        format!(
            "the problem's k = {k} is no multiple of {depth}, the k of {}, and the rest of a K tile \
             is not built in this version",
            if depth == least {
                "an atom"
            } else {
                "the tile"
            }
        ),
        match k % least {
            0 => format!("take a k that divides {k}, such as {least}, or leave it open"),
            _ => format!("pad A and B with zeros along k to a multiple of {least}"),
        },
    )
}

/// Whether offsets within a tile reach all of it, where the problem says how far apart the lines
/// of an operand are. No block is smaller than `least`.
pub fn reach(spec: &Spec, problem: &Problem, least: [i64; 3], block: [i64; 3]) -> Checked<()> {
    let Some(operand) = lines::too_far_apart(problem, block) else {
        return Ok(());
    };
    let [across, along] = lines::axes(problem, operand);
    let most = lines::most_apart_of(problem, operand, block);
    let said = [&spec.problem.a, &spec.problem.b, &spec.problem.c][operand];
    let name = ["a", "b", "c"][operand];
    let axis = |axis: usize| ["m", "n", "k"][axis];
    let field = match said.layout {
        OperandLayout::Expr(_) => format!("gemm.{name}.layout"),
        _ if said.ld.is_some() => format!("gemm.{name}.ld"),
        _ => format!("gemm.{}", axis(along)),
    };
    let lines = block[across];
    refuse(
        spec,
        &field,
        format!(
            "a tile of {lines} lines of {} would span more than 2 GiB, which offsets within a tile \
             do not reach",
            name.to_uppercase(),
        ),
        if lines > least[across] {
            format!(
                "take a smaller {} in tile.block: {lines} lines may start at most {most} elements \
                 apart",
                axis(across)
            )
        } else {
            format!(
                "lines that start at most {most} elements apart can be had: multiply in parts, or \
                 store {} in the other order",
                name.to_uppercase()
            )
        },
    )
}

/// Whether a wave has registers for its part of the block: what does not fit would go through
/// memory in the main loop, and take LLVM minutes. With what LDS holds this bounds the matrix
/// instructions of a K tile too, all of which are unrolled. `loads` are those of a thread for the
/// tiles of A and B.
#[allow(clippy::too_many_arguments, reason = "each is a choice of its own")]
pub fn registers(
    spec: &Spec,
    machine: &Machine,
    atom: &MmaAtom,
    block: [i64; 3],
    waves: [i64; 2],
    loads: [i64; 2],
    prefetch: Prefetch,
    order: &Schedule,
) -> Checked<()> {
    let need = Registers::of(atom, block, waves, loads, prefetch, order);
    let addressable = i64::from(machine.vgpr.addressable);
    if need.most() <= addressable {
        return Ok(());
    }
    let Registers {
        accumulators,
        fragments,
        staged,
        ..
    } = need;
    refuse(
        spec,
        "tile.block",
        format!(
            "a wave's part of the tile needs {accumulators} VGPRs for accumulators, {fragments} for \
             fragments and {staged} on the way to LDS, a wave has {addressable}"
        ),
        "take a smaller block or more waves (`tile.waves`)",
    )
}
