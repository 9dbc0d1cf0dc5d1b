//! How wide the accesses of a kernel's tiles are.

use super::{Choices, Open, counts::across};
use crate::{
    access::{Coordinates, Ownership, in_matrix},
    plan::{Plan, buffer_elements, loaded_elements, memory_order, tile_elements},
    tiling::{copy_layout, shared_by},
    widen_copies::{access_elements, shared_elements},
};
use std::collections::BTreeSet;
use tilefold_dialect::{
    atoms::{CopyAtom, MmaAtom, Space},
    element::ElementType,
    plan::{LdsLayout, PartialPlan},
    problem::Problem,
};
use tilefold_layout::{Layout, LayoutError, make_layout_tv};

/// Bytes of the widest access.
const WIDEST: i64 = 16;
/// Bytes of a register.
pub(super) const REGISTER: i64 = 4;

/// What a spec says of one operand's accesses.
#[derive(Clone, Debug)]
pub struct Said {
    /// Elements that a load may move at most.
    pub most: i64,
    /// Whether it must move as many, where nothing is said of the copy.
    pub exact: bool,
    /// Where the tile lies in LDS.
    pub place: Option<LdsLayout>,
    /// Elements of LDS that it takes there, where the place alone says so.
    pub taken: Option<i64>,
    /// Threads that copy it.
    pub threads: Option<i64>,
    /// Thread and value layouts of its copy.
    pub copy: Option<(Layout, Layout)>,
}

impl Said {
    /// What `plan` says of the accesses of operand 0 (A) or 1 (B), its loads being `load` if it
    /// names one.
    pub fn of(
        problem: &Problem,
        plan: &PartialPlan,
        load: Option<&CopyAtom>,
        element: ElementType,
        operand: usize,
    ) -> Self {
        let widest = load.map_or(8 * WIDEST / i64::from(element.bits()), |load| {
            load.elements(element)
        });
        let space = load.map_or(Space::Buffer, |load| load.space);
        let copy = [&plan.copy.a, &plan.copy.b][operand];
        let place = [&plan.lds.a, &plan.lds.b][operand].clone();
        let taken = match &place {
            Some(LdsLayout::Expr(layout)) => Some(buffer_elements(layout, element)),
            _ => None,
        };
        Self {
            most: widest.min(loaded_elements(problem, operand, space)),
            exact: load.is_some(),
            place,
            taken,
            threads: copy.threads.as_ref().map(Layout::size),
            copy: copy.threads.clone().zip(copy.values.clone()),
        }
    }
}

/// What the accesses of A and of B move, and what their tiles take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Widths {
    /// Bytes of a global load.
    pub loads: [i64; 2],
    /// Bytes of an LDS read.
    pub reads: [i64; 2],
    /// Bytes of an LDS store.
    pub stores: [i64; 2],
    /// Registers of a thread that are put together from parts of others before they are stored.
    pub permuted: [i64; 2],
    /// Lines of the matrix from which a thread loads.
    pub lines: [i64; 2],
    /// Bytes of LDS that one tile takes, padding and gaps included.
    pub tiles: [i64; 2],
}

impl Widths {
    /// Those of a plan, as it is lowered.
    ///
    /// # Errors
    /// A [`LayoutError`] where the algebra cannot lay the plan's tiles out.
    pub(crate) fn of(plan: &Plan) -> Result<Self, LayoutError> {
        let bytes = i64::from(plan.input().bits()) / 8;
        let [a, b, _] = access_elements(plan)?;
        let shared = shared_elements(plan)?;
        let permuted = |operand: usize| -> Result<i64, LayoutError> {
            let tile = [plan.block[operand], plan.block[2]];
            let (threads, _) = &plan.copies[operand];
            let stores = &plan.stores[operand];
            let values = |of| -> Result<Vec<i64>, LayoutError> {
                Ok(copy_layout(threads, of, tile)?.mode(1)?.offsets().collect())
            };
            let (loaded, stored) = (values(&plan.copies[operand].1)?, values(stores)?);
            let (store, whole) = (shared[operand][1], REGISTER / bytes);
            let unit = store.min(whole);
            // What is loaded by less than it is stored by is put together, in whatever order.
            let parts = match [a, b][operand] < unit {
                true => (stored.len() as i64 + whole - 1) / whole.max(1),
                false => apart(&loaded, &stored, unit, whole),
            };
            // Whole registers of several loads are brought side by side by one move in four.
            let moved = apart(&loaded, &stored, store, whole) / 4;
            Ok(if parts > 0 { parts } else { moved })
        };
        let lines = |operand: usize| -> Result<i64, LayoutError> {
            let tile = [plan.block[operand], plan.block[2]];
            let (threads, values) = &plan.copies[operand];
            let along = usize::from(plan.order(operand) == "row");
            lines(&copy_layout(threads, values, tile)?, tile, along)
        };
        Ok(Self {
            loads: [a * bytes, b * bytes],
            reads: shared.map(|it| it[0] * bytes),
            stores: shared.map(|it| it[1] * bytes),
            permuted: [permuted(0)?, permuted(1)?],
            lines: [lines(0)?, lines(1)?],
            tiles: plan
                .lds
                .each_ref()
                .map(|place| buffer_elements(place, plan.input()).saturating_mul(bytes)),
        })
    }

    /// Those expected of a kernel whose places in LDS are searched where they are not said: reads
    /// as wide as fragments, and stores as wide as what a thread can bring together. None where
    /// the threads cannot share a tile.
    pub(super) fn expected(open: &Open<'_>, atom: &MmaAtom, choices: &Choices) -> Option<Self> {
        let bytes = (i64::from(atom.input.bits()) / 8).max(1);
        let threads = choices.waves[0] * choices.waves[1] * atom.wave;
        let across = across(open.problem);
        let mut widths = Self {
            loads: [0; 2],
            reads: [0; 2],
            stores: [0; 2],
            permuted: [0; 2],
            lines: [0; 2],
            tiles: [0; 2],
        };
        for (operand, said) in open.said.iter().enumerate() {
            if said.threads.is_some_and(|said| said != threads) {
                return None;
            }
            let tile = [choices.block[operand], choices.block[2]];
            let along = usize::from(!across[operand]);
            let (load, lines) = match &said.copy {
                Some((threads, values)) => {
                    let (covered, _) = make_layout_tv(threads, values).ok()?;
                    if (0..2).any(|at| covered.get(at).is_none_or(|it| tile[at] % it != 0)) {
                        return None;
                    }
                    let whole = copy_layout(threads, values, tile).ok()?;
                    let order = memory_order(open.problem, operand);
                    let load = Ownership::new(&whole).width(said.most, in_matrix(tile, order));
                    (load, lines(&whole, tile, along).ok()?)
                }
                None => {
                    let halves = std::iter::successors(Some(said.most), |it| Some(it / 2));
                    let least = if said.exact { said.most } else { 1 };
                    let mut halves = halves.take_while(|width| *width >= least);
                    halves.find_map(|width| {
                        let [_, side] = shared_by(tile, along, threads, width)?;
                        Some((width, tile[1 - along] / side))
                    })?
                }
            };
            // What neighbours along K are together in LDS.
            let line = match said.place {
                Some(LdsLayout::Pad(pad)) => two(tile[1].saturating_add(pad)),
                Some(LdsLayout::Expr(ref layout)) => {
                    let modes = layout.inner().modes();
                    let run = modes.get(1).map(|mode| mode.coalesce().flat_modes());
                    let run = run.and_then(|run| run.first().copied());
                    run.filter(|run| run.1 == 1).map_or(1, |run| two(run.0))
                }
                _ => WIDEST,
            };
            let whole = (WIDEST / bytes).min(line);
            let read = whole.min(two(atom.input_values()));
            let of_tile = || tile_elements(said.place.as_ref(), tile, atom.input);
            let elements = said.taken.unwrap_or_else(of_tile);
            widths.tiles[operand] = elements.saturating_mul(bytes);
            let count = tile[0] * tile[1] / (load * threads);
            let store = if across[operand] {
                // A thread has so many neighbours along K, from as many loads.
                let run = two(count.max(1));
                if run >= read { whole } else { run }
            } else {
                load.min(whole)
            };
            widths.loads[operand] = load * bytes;
            widths.lines[operand] = lines;
            widths.reads[operand] = read * bytes;
            widths.stores[operand] = store * bytes;
            let registers = tile[0] * tile[1] * bytes / (REGISTER * threads);
            widths.permuted[operand] = if across[operand] {
                if bytes < REGISTER { registers } else { 0 }
            } else if read * bytes < WIDEST && count % 2 == 0 && line * bytes >= WIDEST {
                // Halves of two loads are stored together where fragments are read by halves.
                registers / 4
            } else {
                0
            };
        }
        Some(widths)
    }

    /// Bytes of LDS that a workgroup needs, both tiles being there `buffers` times.
    pub(super) fn lds_bytes(&self, buffers: i64) -> i64 {
        let [a, b] = self.tiles;
        a.saturating_add(b).saturating_mul(buffers)
    }
}

/// Lines of a matrix that run along the coordinate `along`, of which a thread has some elements:
/// `copy` is a thread-value layout over a tile of it.
fn lines(copy: &Layout, tile: [i64; 2], along: usize) -> Result<i64, LayoutError> {
    let values = Coordinates::new(copy, tile)?.values;
    let lines: BTreeSet<i64> = values.iter().map(|value| value[1 - along]).collect();
    Ok(lines.len() as i64)
}

/// The largest power of two that divides a number.
fn two(number: i64) -> i64 {
    match number {
        0 => 1,
        _ => 1 << number.trailing_zeros().min(30),
    }
}

/// Groups of `unit` values, in the order `stored`, that are none of the groups `loaded`; counted by
/// registers of `whole` values.
fn apart(loaded: &[i64], stored: &[i64], unit: i64, whole: i64) -> i64 {
    let unit = unit.max(1) as usize;
    let known: BTreeSet<&[i64]> = loaded.chunks(unit).collect();
    let apart = stored.chunks(unit).filter(|group| !known.contains(group));
    let values = apart.map(|group| group.len() as i64).sum::<i64>();
    (values + whole - 1) / whole.max(1)
}
