//! How tiles of A and B are carried to LDS: as the spec says, or as wide as can be.

use super::{
    check::{Checked, refuse},
    lines::{lines, loaded_elements},
    memory_order,
};
use crate::{
    access::{Coordinates, Ownership, in_matrix},
    tiling::{copy_layout, copy_threads},
};
use tilefold_dialect::{
    atoms::{CopyAtom, MmaAtom, Space},
    problem::Problem,
    spec::Spec,
};
use tilefold_layout::Layout;

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
