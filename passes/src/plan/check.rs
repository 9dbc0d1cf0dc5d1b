//! What a spec may ask for, checked against the atoms and the machine.

use super::{Registers, Schedule, memory_order};
use crate::{
    access::{Coordinates, Ownership, in_matrix},
    tiling::{copy_layout, copy_threads},
};
use tilefold_dialect::{
    atoms::{CopyAtom, Direction, MmaAtom, Space},
    element::ElementType,
    plan::{Commit, Lead, Prefetch},
    problem::{Extent, MAX_EXTENT, OperandLayout, Problem},
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
    if schedule.priority == Some(true) && schedule.prefetch != Some(Prefetch::Interleaved) {
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
        if given
            && schedule
                .prefetch
                .is_some_and(|it| it != Prefetch::Interleaved)
        {
            return refuse(
                spec,
                &format!("schedule.{name}"),
                "it says how interleaved loads and reads go, and the prefetch is another",
                "take prefetch = \"interleaved\", or leave the field out",
            );
        }
    }
    Ok(schedule.prefetch)
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

/// Whether the block is whole atoms for every wave, and the wave has registers for its part.
pub fn tile(
    spec: &Spec,
    machine: &Machine,
    atom: &MmaAtom,
    block: [i64; 3],
    waves: [i64; 2],
    prefetch: Prefetch,
    order: &Schedule,
) -> Checked<()> {
    let need = [
        atom.shape[0] * waves[0],
        atom.shape[1] * waves[1],
        atom.shape[2],
    ];
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
    // What does not fit would go through memory in the main loop, and take LLVM minutes. This
    // bounds the matrix instructions of a K tile too, all of which are unrolled: along m and n by
    // registers, along k by LDS.
    let need = Registers::of(atom, block, waves, prefetch, order);
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

/// How one operand is copied.
pub struct Copy {
    /// Thread layout over the tile.
    pub threads: Layout,
    /// Values of a thread in the order of loading.
    pub values: Layout,
    /// The values in the order of storing.
    pub stores: Layout,
    /// Thread-value layout onto the tile, in the order of storing.
    pub commit: Layout,
    /// Elements that one load moves.
    pub elements: i64,
}

/// The copy of one operand's tile: given, or as wide as the load, the tile and the leading
/// dimension allow. `order` is how the tile lies in memory.
pub fn copy(
    spec: &Spec,
    problem: &Problem,
    operand: usize,
    tile: [i64; 2],
    threads: i64,
    load: Option<&CopyAtom>,
    atom: &MmaAtom,
) -> Checked<Copy> {
    let name = ["a", "b"][operand];
    let partial = [&spec.plan.copy.a, &spec.plan.copy.b][operand];
    let order = memory_order(problem, operand);
    let along = usize::from(order == "row");
    let the_tile = format!(
        "the {} x {} tile of {}",
        tile[0],
        tile[1],
        name.to_uppercase()
    );
    if copy_threads(tile, along, threads, 1).is_none() {
        return refuse(
            spec,
            "tile.block",
            format!("{threads} threads cannot share {the_tile} evenly"),
            format!(
                "its {} elements must be a multiple of the threads",
                tile[0] * tile[1]
            ),
        );
    }
    let widest = load.map_or(128 / i64::from(atom.input.bits()), |load| {
        load.elements(atom.input)
    });
    let space = load.map_or(Space::Buffer, |load| load.space);
    let aligned = widest.min(loaded_elements(problem, operand, space));
    let (thread_layout, values, whole, elements) = match (&partial.threads, &partial.values) {
        (Some(thread_layout), Some(values)) => {
            given_copy(spec, operand, tile, threads, [thread_layout, values]).map(|whole| {
                let width = Ownership::new(&whole).width(aligned, in_matrix(tile, order));
                (thread_layout.clone(), values.clone(), whole, width)
            })?
        }
        (None, None) => {
            let halves = std::iter::successors(Some(aligned), |elements| Some(elements / 2));
            halves
                .take_while(|elements| *elements > 0)
                .find_map(|elements| {
                    let (threads, values) = copy_threads(tile, along, threads, elements)?;
                    let layout = copy_layout(&threads, &values, tile).ok()?;
                    Some((threads, values, layout, elements))
                })
                .expect("one element at a time was found to work above")
        }
        (given, _) => {
            let (found, missing) = match given {
                Some(_) => ("threads", "values"),
                None => ("values", "threads"),
            };
            return refuse(
                spec,
                &format!("copy.{name}.{found}"),
                format!("{found} without {missing} do not say who carries what"),
                "give both threads and values, or neither",
            );
        }
    };
    // Another order of the same values is over the same elements: the spec has been checked.
    let (stores, commit) = match &partial.stores {
        None => (values.clone(), whole),
        Some(stores) => match copy_layout(&thread_layout, stores, tile) {
            Ok(commit) => (stores.clone(), commit),
            Err(error) => {
                return refuse(
                    spec,
                    &format!("copy.{name}.stores"),
                    error.to_string(),
                    "leave it out, and values are stored as they are loaded",
                );
            }
        },
    };
    let copy = Copy {
        threads: thread_layout,
        values,
        stores,
        commit,
        elements,
    };
    match load {
        Some(load) if copy.elements < widest => refuse(
            spec,
            "atoms.load",
            if aligned < widest {
                let lines = lines(problem, operand);
                format!(
                    "{} moves {widest} elements, lines of {} have {} and lie {} apart, which is no \
                     multiple of it",
                    load.name,
                    name.to_uppercase(),
                    lines.length.exact().unwrap_or_default(),
                    lines.apart.exact().unwrap_or_default()
                )
            } else {
                format!(
                    "{} moves {widest} elements, the copy of {the_tile} by {threads} threads has \
                     them together {} at a time",
                    load.name, copy.elements
                )
            },
            "leave the load out, and the widest that fits is taken",
        ),
        _ => Ok(copy),
    }
}

/// The thread-value layout of a copy that the spec gives, checked against the tile.
fn given_copy(
    spec: &Spec,
    operand: usize,
    tile: [i64; 2],
    threads: i64,
    [thread_layout, values]: [&Layout; 2],
) -> Checked<Layout> {
    let field = format!("copy.{}.threads", ["a", "b"][operand]);
    if thread_layout.size() != threads {
        return refuse(
            spec,
            &field,
            format!(
                "{thread_layout} has {} threads, the workgroup has {threads}",
                thread_layout.size()
            ),
            "name `tile.waves` too, or lay out as many threads as the workgroup has",
        );
    }
    let whole = copy_layout(thread_layout, values, tile)
        .ok()
        .filter(|layout| {
            let mut owned: Vec<i64> = layout.offsets().collect();
            owned.sort_unstable();
            owned.into_iter().eq(0..tile[0] * tile[1]) && Coordinates::new(layout, tile).is_ok()
        });
    match whole {
        Some(layout) => Ok(layout),
        None => refuse(
            spec,
            &field,
            format!(
                "threads {thread_layout} with values {values} do not give every element of the {} \
                 x {} tile to one thread",
                tile[0], tile[1]
            ),
            "what the threads and values cover, repeated, must be the tile exactly",
        ),
    }
}

/// Length of the lines of operand 0, 1 or 2 in memory, and how far apart they start.
struct Lines {
    length: Extent,
    apart: Extent,
    /// Whether they run along K.
    along_k: bool,
}

fn lines(problem: &Problem, operand: usize) -> Lines {
    let along_second = memory_order(problem, operand) == "row";
    let (rows, stored) = [
        (problem.m, &problem.a),
        (problem.n, &problem.b),
        (problem.m, &problem.c),
    ][operand];
    let second = if operand == 2 { problem.n } else { problem.k };
    let length = if along_second { second } else { rows };
    Lines {
        length,
        apart: stored.ld.map_or(length, Extent::Exact),
        along_k: along_second && operand != 2,
    }
}

/// Elements up to 16 that every line of operand 0, 1 or 2 is known to start at a multiple of:
/// nothing is known against lines of any length.
pub fn aligned_elements(problem: &Problem, operand: usize) -> i64 {
    let apart = lines(problem, operand).apart.exact();
    apart.map_or(16, |apart| 1 << apart.trailing_zeros().min(4))
}

/// Elements up to 16 that loads of A or B may move at once. Where lines run along M or N, they
/// are whole numbers of what cannot be half inside the matrix.
pub fn loaded_elements(problem: &Problem, operand: usize, space: Space) -> i64 {
    let lines = lines(problem, operand);
    let aligned = aligned_elements(problem, operand);
    let Some(length) = lines.length.exact().filter(|_| !lines.along_k) else {
        return aligned;
    };
    let element = [&problem.a, &problem.b][operand].element;
    let indivisible = indivisible(space, element, aligned);
    if length % indivisible == 0 {
        aligned
    } else {
        1 << length.trailing_zeros()
    }
}

/// Elements of a load of `width` that are inside the matrix together or not at all: range checks
/// of buffers drop whole 32-bit words, and a global load is moved inside as a whole.
pub fn indivisible(space: Space, element: ElementType, width: i64) -> i64 {
    match space {
        Space::Buffer => width.min(32 / i64::from(element.bits())),
        _ => width,
    }
}
