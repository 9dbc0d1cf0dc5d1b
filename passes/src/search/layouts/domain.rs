//! What is searched for: one operand's tile, checked, and what follows from it alone.

use super::{
    LayoutError,
    budget::{COPY, LOAD, Work},
    conflicts::table,
};
use crate::{access::Coordinates, tiling::copy_layout};
use std::rc::Rc;
use tilefold_dialect::element::ElementType;
use tilefold_layout::Layout;
use tilefold_machine::Machine;

/// Tiles of more elements than this are refused: more than any LDS holds.
const MAX_ELEMENTS: i64 = 1 << 20;
/// Threads of a workgroup, at most.
const MAX_THREADS: i64 = 1024;
/// Bits of the widest access.
const WIDEST: i64 = 128;

/// How one operand's tile is used.
#[derive(Clone, Debug, PartialEq)]
pub struct TileUse {
    /// The chip.
    pub machine: &'static Machine,
    /// Rows (m of A, n of B) and k.
    pub tile: [i64; 2],
    /// Type of the elements, of whole bytes.
    pub element: ElementType,
    /// Threads of the workgroup, whole waves.
    pub threads: i64,
    /// The coordinate of the tile along which global memory is contiguous: 0 or 1.
    pub along: usize,
    /// Elements of the widest global load.
    pub load_elements: i64,
    /// (thread, (value, repeats)) -> column-major index in the tile: what the mma reads, as
    /// [`crate::tiling::MmaLayouts`] gives it. The first mode of the values is one fragment.
    pub fragments: Layout,
    /// Most bytes that the tile may take.
    pub max_bytes: i64,
    /// Whether a copy may store a thread's values in another order than it loaded them, at the
    /// cost of byte permutes where that splits registers.
    pub reorder: bool,
}

/// A checked use and the figures that rules and costs are made from.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    pub usage: TileUse,
    /// Bytes of an element.
    pub bytes: i64,
    /// Elements that one load moves: the widest that the threads can share the tile by.
    pub load: i64,
    /// Values of one fragment.
    pub fragment: i64,
    /// Neighbours in K that both sides could move at once: no placement splits them.
    pub run: i64,
    /// Elements after which the banks repeat.
    pub period: i64,
    /// Threads along a line of memory in the copy to start from.
    pub along_threads: i64,
    /// What is counted of the work.
    pub work: Rc<Work>,
}

impl Domain {
    pub fn new(usage: &TileUse, work: &Rc<Work>) -> Result<Self, LayoutError> {
        let refuse = |rule: String| Err(LayoutError::Use { rule });
        let [rows, depth] = usage.tile;
        let size = rows.checked_mul(depth);
        if rows < 1 || depth < 1 || size.is_none_or(|size| size > MAX_ELEMENTS) {
            return refuse(format!(
                "a tile of {rows} x {depth} is empty or has more than {MAX_ELEMENTS} elements"
            ));
        }
        let bits = i64::from(usage.element.bits());
        if bits % 8 != 0 {
            return refuse(format!("{} is no whole number of bytes", usage.element));
        }
        let wave = i64::from(usage.machine.wave);
        if usage.threads < 1 || usage.threads > MAX_THREADS || usage.threads % wave != 0 {
            return refuse(format!(
                "{} threads are no whole waves of {wave}, at most {MAX_THREADS}",
                usage.threads
            ));
        }
        if usage.along > 1 {
            return refuse(format!("a tile has no coordinate {}", usage.along));
        }
        let modes = usage.fragments.modes();
        let [readers, values] = &modes[..] else {
            return refuse(format!("{} is no (thread, value)", usage.fragments));
        };
        let inside = usage.fragments.cosize() <= rows * depth;
        if readers.size() != usage.threads || values.size() > MAX_ELEMENTS || !inside {
            return refuse(format!(
                "{} does not send {} threads into {} elements",
                usage.fragments,
                usage.threads,
                rows * depth
            ));
        }
        let least = usage.fragments.flat_modes().into_iter().map(|mode| mode.1);
        if least.min().is_some_and(|stride| stride < 0) {
            return refuse(format!("{} steps backwards", usage.fragments));
        }
        let fragment = values.mode(0).map_or(1, |first| first.size());
        let bytes = bits / 8;
        let bank = &usage.machine.lds;
        let mut domain = Self {
            usage: usage.clone(),
            bytes,
            load: 1,
            fragment,
            run: 1,
            period: (i64::from(bank.banks * bank.bank_bytes) / bytes).max(1),
            along_threads: 1,
            work: Rc::clone(work),
        };
        let widest = usage.load_elements.clamp(1, WIDEST / bits);
        let mut load = 1 << widest.ilog2();
        domain.along_threads = loop {
            domain.load = load;
            if let Some(most) = domain.line_threads(1).max() {
                break most;
            }
            if load == 1 {
                return refuse(format!(
                    "{} threads cannot share {rows} x {depth} elements evenly",
                    usage.threads
                ));
            }
            load /= 2;
        };
        let read = fragment.min(WIDEST / bits);
        let read = 1 << read.ilog2().min(fragment.trailing_zeros());
        domain.run = match usage.along {
            1 => domain.load.min(read),
            _ => read,
        };
        Ok(domain)
    }

    /// Whether rules lead to the same terms for another use, which may have other fragments.
    pub fn leads_as(&self, other: &Self) -> bool {
        let fragments = self.usage.fragments.clone();
        let other_usage = TileUse {
            fragments,
            ..other.usage.clone()
        };
        self.run == other.run && self.usage == other_usage
    }

    /// Elements of a LDS access as wide as there is.
    pub fn widest(&self) -> i64 {
        WIDEST / 8 / self.bytes
    }

    /// The numbers of threads that can lie along a line of memory while each has `raked` lines.
    pub fn line_threads(&self, raked: i64) -> impl Iterator<Item = i64> + '_ {
        let (line, across) = (
            self.usage.tile[self.usage.along],
            self.usage.tile[1 - self.usage.along],
        );
        let threads = self.usage.threads;
        (1..=threads).filter(move |n| {
            let whole = line % self.load == 0 && (line / self.load) % n == 0;
            whole && threads % n == 0 && across % (threads / n * raked) == 0
        })
    }

    /// Whether so many threads can.
    pub fn shares(&self, threads: i64, raked: i64) -> bool {
        self.line_threads(raked).any(|fits| fits == threads)
    }
}

/// The order of threads of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Threads {
    /// Threads side by side on a line of memory.
    pub line: i64,
    /// How many of the consecutive threads go along before any goes across, a divisor of `line`;
    pub first_along: i64,
    /// and how many then go across before the rest goes along, a divisor of those across.
    pub then_across: i64,
}

/// Who carries what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Copy {
    pub order: Threads,
    /// Neighbouring lines of one thread.
    pub raked: i64,
    /// Neighbours on each of these lines that are stored before those of the next line.
    pub turned: i64,
    /// Thread layout over the tile.
    pub threads: Layout,
    /// Value layout over the tile, in the order of loading.
    pub values: Layout,
    /// Value layout over the tile, in the order of storing.
    pub stores: Layout,
    /// (thread, value) -> column-major index in the tile, in the order of storing.
    pub commit: Layout,
    /// Cache lines that the workgroup's loads touch, each load of each wave for itself.
    pub cache_lines: i64,
    /// Registers per thread that a store takes from the halves or bytes of several, where stores
    /// move whole registers.
    pub permutes: i64,
}

impl Copy {
    /// The copy, stored as it is loaded, if it gives every element of the tile to one thread.
    pub fn new(domain: &Domain, order: Threads, raked: i64) -> Option<Self> {
        let usage = &domain.usage;
        let total = usage.threads;
        let Threads {
            line,
            first_along,
            then_across,
        } = order;
        let divides = |a: i64, b: i64| a > 0 && b % a == 0;
        if !divides(line, total) || !divides(first_along, line) || raked < 1 {
            return None;
        }
        let most = usage.tile[1 - usage.along];
        let height = total / line;
        if raked > most || !divides(then_across, height) || !domain.shares(line, raked) {
            return None;
        }
        // Threads are numbered along, across, the rest along, the rest across.
        let after = first_along * then_across;
        let threads = domain.pair(
            &[(first_along, 1), (line / first_along, after)],
            &[
                (then_across, first_along),
                (height / then_across, then_across * line),
            ],
        )?;
        let values = domain.pair(&[(domain.load, 1)], &[(raked, domain.load)])?;
        domain.work.spend(COPY);
        let commit = copy_layout(&threads, &values, usage.tile).ok()?;
        Coordinates::new(&commit, usage.tile).ok()?;
        Some(Self {
            order,
            raked,
            turned: domain.load,
            threads,
            stores: values.clone(),
            values,
            cache_lines: cache_lines(domain, &commit)?,
            permutes: 0,
            commit,
        })
    }

    /// A copy by layouts that are given, if it gives every element of the tile to one thread.
    pub fn given(domain: &Domain, [threads, values, stores]: [&Layout; 3]) -> Option<Self> {
        let tile = domain.usage.tile;
        let whole = copy_layout(threads, values, tile).ok()?;
        let commit = copy_layout(threads, stores, tile).ok()?;
        Coordinates::new(&commit, tile).ok()?;
        Some(Self {
            order: Threads {
                line: domain.along_threads,
                first_along: domain.along_threads,
                then_across: 1,
            },
            raked: 1,
            turned: domain.load,
            threads: threads.clone(),
            values: values.clone(),
            stores: stores.clone(),
            // The same for every placement.
            cache_lines: cache_lines(domain, &whole).unwrap_or(0),
            permutes: permutes(domain, &whole, &commit)?,
            commit,
        })
    }

    /// The copy, stored `turned` neighbours of each line at a time.
    pub fn turned(&self, domain: &Domain, turned: i64) -> Option<Self> {
        if turned < 1 || domain.load % turned != 0 || self.turned != domain.load {
            return None;
        }
        let stores = domain.pair(
            &[(turned, 1), (domain.load / turned, turned * self.raked)],
            &[(self.raked, turned)],
        )?;
        let commit = copy_layout(&self.threads, &stores, domain.usage.tile).ok()?;
        Some(Self {
            turned,
            stores,
            permutes: permutes(domain, &self.commit, &commit)?,
            commit,
            ..self.clone()
        })
    }
}

impl Domain {
    /// A layout over the tile's two coordinates, given the modes of the one along memory's lines
    /// and of the other.
    fn pair(&self, along: &[(i64, i64)], across: &[(i64, i64)]) -> Option<Layout> {
        let nest = |modes: &[(i64, i64)]| {
            let modes: Vec<_> = modes.iter().copied().filter(|mode| mode.0 > 1).collect();
            Layout::flat(if modes.is_empty() { &[(1, 1)] } else { &modes }).ok()
        };
        let (along, across) = (nest(along)?, nest(across)?);
        let modes = match self.usage.along {
            0 => [along, across],
            _ => [across, along],
        };
        Layout::concat(&modes).ok()
    }
}

/// Cache lines of every load of every wave, in a matrix whose lines start at whole cache lines;
/// none where a load would not move neighbours, aligned to their number.
fn cache_lines(domain: &Domain, whole: &Layout) -> Option<i64> {
    let usage = &domain.usage;
    let [rows, _] = usage.tile;
    let at = |index: i64| match usage.along {
        0 => (index / rows, index % rows),
        _ => (index % rows, index / rows),
    };
    let parts = |mode| -> Option<Vec<(i64, i64)>> {
        Some(table(&whole.mode(mode).ok()?).into_iter().map(at).collect())
    };
    let (threads, values) = (parts(0)?, parts(1)?);
    let aligned = |part: &(i64, i64)| part.1 % domain.load == 0;
    let neighbours = |group: &[(i64, i64)]| {
        let next = (group[0].1..).map(|place| (group[0].0, place));
        aligned(&group[0]) && group.iter().copied().zip(next).all(|(a, b)| a == b)
    };
    let groups = values.chunks(domain.load as usize);
    if !threads.iter().all(aligned) || !groups.clone().all(neighbours) {
        return None;
    }
    let line = (i64::from(usage.machine.cache_line) / domain.bytes).max(1);
    // Loads of one wave touch as many where their values differ by whole cache lines.
    let mut starts = vec![0; line as usize];
    groups.for_each(|group| starts[(group[0].1 % line) as usize] += 1);
    let starts = (0..).zip(starts).filter(|(_, loads)| *loads > 0);
    let mut total = 0;
    for wave in threads.chunks(usage.machine.wave as usize) {
        for (start, loads) in starts.clone() {
            domain.work.spend(LOAD * wave.len() as u64);
            let places = wave
                .iter()
                .map(|thread| (thread.0, (thread.1 + start) / line));
            let mut touched: Vec<(i64, i64)> = places.collect();
            touched.sort_unstable();
            touched.dedup();
            total += loads * touched.len() as i64;
        }
    }
    Some(total)
}

/// Registers of one thread whose elements, in the order of storing, come from more than one
/// register, or from elsewhere in one, in the order of loading.
fn permutes(domain: &Domain, whole: &Layout, commit: &Layout) -> Option<i64> {
    let [loaded, stored] = [table(&whole.mode(1).ok()?), table(&commit.mode(1).ok()?)];
    let per_register = (4 / domain.bytes).max(1) as usize;
    let mut registers: Vec<&[i64]> = loaded.chunks(per_register).collect();
    registers.sort_unstable();
    let wanted = stored.chunks(per_register);
    Some(
        wanted
            .filter(|word| registers.binary_search(word).is_err())
            .count() as i64,
    )
}
