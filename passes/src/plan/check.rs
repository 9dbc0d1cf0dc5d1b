//! What a spec may ask for, checked against the atoms and the machine.

use super::load_width;
use crate::tiling::{copy_layout, copy_threads};
use tilefold_dialect::{
    atoms::{CopyAtom, Direction, MmaAtom, Space},
    element::ElementType,
    plan::Prefetch,
    problem::{OperandLayout, Problem},
    spec::{Spec, SpecError},
};
use tilefold_layout::Layout;
use tilefold_machine::Machine;

type Checked<T> = Result<T, SpecError>;

fn refuse<T>(
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
    for (name, operand) in
        [("a", &mut problem.a), ("b", &mut problem.b), ("c", &mut problem.c)]
    {
        let OperandLayout::Expr(layout) = &operand.layout else { continue };
        let modes = layout.flat_modes();
        let (order, ld) = match modes[..] {
            [_, (_, 1)] if layout.rank() == 2 => (OperandLayout::Row, modes[0].1),
            [(_, 1), _] if layout.rank() == 2 => (OperandLayout::Col, modes[1].1),
            _ => {
                return refuse(
                    spec,
                    &format!("gemm.{name}.layout"),
                    format!("{layout} is not contiguous along one of its two coordinates"),
                    "kernels take a matrix with one leading dimension: write `row` or `col` with \
                     `ld`, or a flat layout such as (4096,4096):(4096,1)",
                );
            }
        };
        operand.layout = order;
        operand.ld = Some(ld);
    }
    Ok(problem)
}

/// The matrix instruction, by name or by the problem's types.
pub fn mma(spec: &Spec, machine: &Machine, problem: &Problem) -> Checked<&'static MmaAtom> {
    let chip = machine.name.as_str();
    let names = || MmaAtom::of_chip(chip).map(|atom| atom.name).collect::<Vec<_>>().join(", ");
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
                return refuse(
                    spec,
                    "gemm.accumulate",
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
            format!("take {accumulate} or f32, or accumulate in f32"),
        );
    }
    Ok(atom)
}

/// The load atom, where the spec names one.
pub fn load(spec: &Spec) -> Checked<Option<&'static CopyAtom>> {
    let Some(name) = &spec.plan.atoms.load else { return Ok(None) };
    let is_load = |atom: &&CopyAtom| atom.direction == Direction::Load && atom.space != Space::Lds;
    let loads: Vec<_> = CopyAtom::all().iter().filter(is_load).collect();
    let known = || loads.iter().map(|atom| atom.name).collect::<Vec<_>>().join(", ");
    let element = spec.problem.a.element;
    match loads.iter().find(|atom| atom.name == name) {
        Some(atom) if atom.elements(element) > 0 => Ok(Some(atom)),
        Some(_) => refuse(
            spec,
            "atoms.load",
            format!("{name} is narrower than an element of {element}"),
            "take a wider load",
        ),
        None => refuse(
            spec,
            "atoms.load",
            format!("there is no load from memory called {name}"),
            format!("known loads: {}", known()),
        ),
    }
}

/// The schedule, as far as it is built.
pub fn schedule(spec: &Spec) -> Checked<Option<Prefetch>> {
    let schedule = &spec.plan.schedule;
    if schedule.prefetch == Some(Prefetch::Interleaved) {
        return refuse(
            spec,
            "schedule.prefetch",
            "interleaved prefetch is not built in this version",
            "take burst, or none",
        );
    }
    if schedule.priority == Some(true) {
        return refuse(
            spec,
            "schedule.priority",
            "wave priorities are not built in this version",
            "leave the field out",
        );
    }
    Ok(schedule.prefetch)
}

/// Whether the block is whole atoms for every wave, and the wave has registers for its part.
pub fn tile(
    spec: &Spec,
    machine: &Machine,
    atom: &MmaAtom,
    block: [i64; 3],
    waves: [i64; 2],
) -> Checked<()> {
    let count = waves[0].saturating_mul(waves[1]);
    let limit = i64::from(machine.max_waves_per_workgroup);
    if count > limit {
        return refuse(
            spec,
            "tile.waves",
            format!("{count} waves are more than the {limit} of a workgroup on {}", machine.name),
            format!("take at most {limit} waves"),
        );
    }
    let need = [atom.shape[0] * waves[0], atom.shape[1] * waves[1], atom.shape[2]];
    for (index, name) in ["m", "n", "k"].into_iter().enumerate() {
        if block[index] % need[index] != 0 {
            return refuse(
                spec,
                "tile.block",
                format!(
                    "{name} = {} is no multiple of {}, the atom {}'s {name}{}",
                    block[index],
                    need[index],
                    atom.name,
                    if index < 2 { " times the waves along it" } else { "" },
                ),
                format!("take a multiple of {}", need[index]),
            );
        }
    }
    let repeat = [block[0] / need[0], block[1] / need[1]];
    let bits = |element: &str| element[1..].parse::<i64>().unwrap_or(32);
    let vgprs = |vector: &tilefold_dialect::atoms::RegisterVector| {
        vector.len * bits(vector.element) / 32
    };
    let accumulators = repeat[0].saturating_mul(repeat[1]).saturating_mul(vgprs(&atom.cd));
    let fragments = (repeat[0] + 1).saturating_mul(vgprs(&atom.ab));
    let addressable = i64::from(machine.vgpr.addressable);
    if accumulators.saturating_add(fragments) > addressable {
        return refuse(
            spec,
            "tile.block",
            format!(
                "a wave's part of the tile needs {accumulators} VGPRs for accumulators and \
                 {fragments} for fragments, a wave has {addressable}"
            ),
            "take a smaller block or more waves",
        );
    }
    // All matrix instructions of a K tile are unrolled; longer loops gain nothing and take
    // the compiler minutes.
    let unrolled = repeat[0] * repeat[1] * (block[2] / need[2]);
    if unrolled > MAX_UNROLLED {
        return refuse(
            spec,
            "tile.block",
            format!("{unrolled} matrix instructions per K tile and wave are too many to unroll"),
            format!("take a k that leaves at most {MAX_UNROLLED}"),
        );
    }
    Ok(())
}

/// Most matrix instructions of one K tile and wave.
const MAX_UNROLLED: i64 = 512;

/// The wave layout: a bijection from (wave m, wave n) onto the workgroup's waves.
pub fn wave_layout(spec: &Spec, waves: [i64; 2]) -> Checked<Layout> {
    let field = "mma.waves";
    let fault = |error: &dyn std::fmt::Display| {
        SpecError::at(spec.source(), field, error.to_string(), "take a permutation of the waves")
    };
    let Some(layout) = &spec.plan.mma.waves else {
        return Layout::row_major(&waves).map_err(|error| fault(&error));
    };
    let extents = [0, 1].map(|i| layout.mode(i).map(|mode| mode.size()).unwrap_or(0));
    if layout.rank() != 2 || extents != waves {
        return refuse(
            spec,
            field,
            format!("{layout} is not over the {} x {} waves", waves[0], waves[1]),
            "its two modes are the waves along m and n",
        );
    }
    let mut ids: Vec<i64> = layout.offsets().collect();
    ids.sort_unstable();
    if !ids.into_iter().eq(0..layout.size()) {
        return refuse(
            spec,
            field,
            format!("{layout} does not give every wave one place"),
            "its values must be 0, 1, ... up to the number of waves, each once",
        );
    }
    Ok(layout.clone())
}

/// How one operand is copied.
pub struct Copy {
    pub threads: Layout,
    pub values: Layout,
    pub elements: i64,
}

/// The copy of one operand's tile: given, or as wide as the load and the tile allow.
pub fn copy(
    spec: &Spec,
    operand: usize,
    tile: [i64; 2],
    along: usize,
    threads: i64,
    load: Option<&CopyAtom>,
    atom: &MmaAtom,
) -> Checked<Copy> {
    let name = ["a", "b"][operand];
    let partial = [&spec.plan.copy.a, &spec.plan.copy.b][operand];
    let widest = load_width(load, atom.input);
    if copy_threads(tile, along, threads, 1).is_none() {
        return refuse(
            spec,
            "tile.block",
            format!(
                "{threads} threads cannot share the {} x {} tile of {} evenly",
                tile[0],
                tile[1],
                name.to_uppercase()
            ),
            "take fewer waves, or a block whose extents are multiples of powers of two",
        );
    }
    match (&partial.threads, &partial.values) {
        (Some(thread_layout), Some(values)) => {
            let whole = copy_layout(thread_layout, values, tile).ok().filter(|layout| {
                let mut owned: Vec<i64> = layout.offsets().collect();
                owned.sort_unstable();
                owned.into_iter().eq(0..tile[0] * tile[1])
            });
            if thread_layout.size() != threads || whole.is_none() {
                return refuse(
                    spec,
                    &format!("copy.{name}.threads"),
                    format!(
                        "threads {thread_layout} with values {values} do not give every element of \
                         the {} x {} tile to one of {threads} threads",
                        tile[0], tile[1]
                    ),
                    "what the threads and values cover, repeated, must be the tile exactly",
                );
            }
            Ok(Copy {
                threads: thread_layout.clone(),
                values: values.clone(),
                elements: widest,
            })
        }
        (None, None) => {
            let mut elements = widest;
            loop {
                if let Some((thread_layout, values)) = copy_threads(tile, along, threads, elements)
                {
                    return Ok(Copy { threads: thread_layout, values, elements });
                }
                if load.is_some() {
                    return refuse(
                        spec,
                        "atoms.load",
                        format!(
                            "{threads} threads cannot share the {} x {} tile of {} in pieces of \
                             {elements} elements",
                            tile[0],
                            tile[1],
                            name.to_uppercase()
                        ),
                        "leave the load out, and the widest that fits is taken",
                    );
                }
                elements /= 2;
            }
        }
        (given, _) => refuse(
            spec,
            &format!("copy.{name}"),
            format!("{} is missing", if given.is_some() { "values" } else { "threads" }),
            "give both threads and values, or neither",
        ),
    }
}
