//! Bank conflicts, instructions and address registers of everything that a workgroup reads from
//! or writes to a tile.
//!
//! A lane's offset is Sw(t + v), t the thread's part and v the value's. What is counted is an
//! access of those lanes that the banks serve together, which are few, and it is counted once for
//! all that cost the same:
//! - without a swizzle, moving all lanes by whole words moves their banks round;
//! - with one, where a part w of v shares no bit with the rest of any lane's offset,
//!   Sw(t + v) = Sw(t + v - w) xor Sw(w), and an xor with a constant renames the banks, of which
//!   there is a power of two.

mod registers;
mod served;

use super::{
    budget::{PAIR, SCREEN},
    domain::Domain,
    mix::Mixed,
    placement::Placement,
};
use registers::Starts;
use served::{Lanes, Seen, Served, Service};
use std::{cell::RefCell, collections::HashMap, rc::Rc};
use tilefold_dialect::atoms::{CopyAtom, Direction, Space};
use tilefold_layout::{Layout, Swizzle};
use tilefold_machine::{Access, Width};

/// Steps of a layout that is composed with another.
const COMPOSE: u64 = 500;
/// Steps of one lane's access, when its bank is found.
const LANE: u64 = 5;

/// One side's use of a tile: a thread-value layout carried on to offsets before the swizzle.
pub(super) struct Side {
    access: Access,
    threads: Rc<Threads>,
    /// Parts of all values, in order.
    values: Rc<Vec<i64>>,
    /// Elements of the widest access but for a swizzle.
    pub width: i64,
    /// What accesses of one width cost, without and with a swizzle.
    uses: Vec<(i64, bool, Use)>,
}

/// Parts of the threads in a tile's offsets before the swizzle.
struct Threads {
    parts: Vec<i64>,
    /// Every bit that some thread's part has.
    used: i64,
    /// By bit, the bits from which it differs in some thread's part.
    differs: Vec<i64>,
    /// The lanes served together, by how they are served.
    together: RefCell<Vec<(usize, Rc<Vec<Lanes>>)>>,
}

/// What is served, by number, and how many times.
type Counts = Rc<[(usize, i64)]>;

/// Accesses of one width by all threads.
struct Use {
    /// Instructions of all waves.
    instructions: i64,
    /// Those that cost something at all, by their number, and how many each stands for.
    served: Counts,
    /// The same by where they start in a period.
    within: Vec<(i64, Counts)>,
    starts: Starts,
}

/// What of a side is counted with one swizzle in front.
struct Counted {
    /// Number of how it is served.
    service: usize,
    /// Place among the side's uses.
    at: usize,
    served: Counts,
    /// Number of the swizzle.
    swizzle: usize,
}

/// What one side costs, for the whole tile and all waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SideCost {
    /// Elements of an access.
    pub width: i64,
    /// Instructions of all waves.
    pub instructions: i64,
    /// Cycles that bank conflicts add.
    pub cycles: i64,
    /// Address registers of a thread.
    pub registers: i64,
}

/// Parts of one placement's layouts that were carried on before, by mode: those of threads and
/// those of values.
#[derive(Default)]
pub(super) struct Parts {
    threads: HashMap<Layout, Option<Rc<Threads>>, Mixed>,
    values: HashMap<Layout, Option<Rc<Vec<i64>>>, Mixed>,
}

/// Counts, remembering what was counted.
pub(super) struct Counter<'a> {
    domain: &'a Domain,
    services: Vec<Service<'a>>,
    /// By access and most elements, the number of how it is served.
    widths: Vec<(Access, i64, Option<usize>)>,
    numbers: HashMap<Vec<i64>, usize, Mixed>,
    patterns: Vec<Vec<i64>>,
    known: HashMap<Served, usize, Mixed>,
    served: Vec<Served>,
    /// The swizzles that were in front of something, and with each the cycles of what is served,
    /// by number; less than 0 where they were not counted yet.
    swizzles: HashMap<Swizzle, usize, Mixed>,
    cycles: Vec<Vec<i64>>,
    seen: Seen,
}

impl<'a> Counter<'a> {
    pub fn new(domain: &'a Domain) -> Self {
        Self {
            domain,
            services: Vec::new(),
            widths: Vec::new(),
            numbers: HashMap::default(),
            patterns: Vec::new(),
            known: HashMap::default(),
            served: Vec::new(),
            swizzles: HashMap::default(),
            cycles: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// What `layout`, (thread, value) -> element, makes of a tile that lies as `inner` says, whose
    /// parts are `parts`; none where threads do not find their values by constant steps, which is
    /// where [`crate::access::in_lds`] has no answer. An access takes at most `most` values.
    pub fn side(
        &mut self,
        inner: &Layout,
        parts: &mut Parts,
        layout: &Layout,
        access: Access,
        most: i64,
    ) -> Option<Side> {
        let work = &self.domain.work;
        let [threads, values] = [layout.mode(0).ok()?, layout.mode(1).ok()?];
        let threads = match parts.threads.get(&threads) {
            Some(known) => known.clone(),
            None => {
                work.spend(COMPOSE + 4 * threads.size().unsigned_abs());
                let placed = inner.compose(&threads).ok();
                let found = placed.map(|placed| Rc::new(Threads::new(table(&placed))));
                parts.threads.insert(threads, found.clone());
                found
            }
        }?;
        let values = match parts.values.get(&values) {
            Some(known) => known.clone(),
            None => {
                work.spend(COMPOSE + values.size().unsigned_abs());
                let placed = inner.compose(&values).ok();
                let found = placed.map(|placed| Rc::new(table(&placed)));
                parts.values.insert(values, found.clone());
                found
            }
        }?;
        let mut side = Side {
            access,
            threads,
            values,
            width: 1,
            uses: Vec::new(),
        };
        let most = most.min(self.domain.widest());
        work.spend(4 * side.values.len() as u64);
        while side.width * 2 <= most && side.fits(side.width * 2) {
            side.width *= 2;
        }
        Some(side)
    }

    /// Instructions of the side with a swizzle in front; none where none is so narrow.
    pub fn instructions(&mut self, side: &Side, swizzle: Swizzle) -> Option<i64> {
        let service = self.service(side.access, side.width_with(swizzle))?;
        let width = self.services[service].width;
        Some(self.waves(side) * (side.values.len() as i64 / width))
    }

    fn waves(&self, side: &Side) -> i64 {
        let wave = self.domain.usage.machine.wave as usize;
        side.threads.parts.len().div_ceil(wave) as i64
    }

    /// Whether the side has no conflicts with a swizzle in front. It is looked at as far as to its
    /// first conflict.
    pub fn is_free(&mut self, side: &mut Side, swizzle: Swizzle) -> bool {
        self.domain.work.spend(SCREEN);
        let Some(counted) = self.counted(side, swizzle) else {
            return false;
        };
        let mut served = counted.served.iter();
        served.all(|(number, _)| {
            self.domain.work.spend(1);
            self.cycles(&counted, swizzle, *number) == 0
        })
    }

    /// What the side costs with a swizzle in front; none where no instruction is so narrow.
    pub fn cost(&mut self, side: &mut Side, swizzle: Swizzle) -> Option<SideCost> {
        let counted = self.counted(side, swizzle)?;
        let served = counted.served.iter();
        self.domain.work.spend(PAIR + served.len() as u64);
        let mut cycles = 0;
        for (number, count) in served {
            cycles += count * self.cycles(&counted, swizzle, *number);
        }
        let found = &side.uses[counted.at].2;
        let variables = match found.starts.cube {
            true => 0,
            false => found.starts.apart.len() as u64,
        };
        self.domain.work.spend(2 * variables);
        Some(SideCost {
            width: self.services[counted.service].width,
            instructions: found.instructions,
            cycles,
            registers: side.registers(&found.starts, swizzle),
        })
    }

    /// What of the side is to be counted with a swizzle in front.
    fn counted(&mut self, side: &mut Side, swizzle: Swizzle) -> Option<Counted> {
        let service = self.service(side.access, side.width_with(swizzle))?;
        let width = self.services[service].width;
        let swizzled = !swizzle.is_identity();
        let known = |(w, s, _): &(i64, bool, Use)| (*w, *s) == (width, swizzled);
        let at = match side.uses.iter().position(known) {
            Some(at) => at,
            None => {
                let found = self.used(side, service, swizzled);
                side.uses.push((width, swizzled, found));
                side.uses.len() - 1
            }
        };
        let found = &mut side.uses[at].2;
        let served = match self.services[service].period(swizzle) {
            Some(period) => self.within(found, period),
            None => Rc::clone(&found.served),
        };
        let fresh = self.cycles.len();
        let number = *self.swizzles.entry(swizzle).or_insert(fresh);
        if number == fresh {
            self.cycles.push(Vec::new());
        }
        let known = &mut self.cycles[number];
        if known.len() < self.served.len() {
            known.resize(self.served.len(), -1);
        }
        Some(Counted {
            service,
            at,
            served,
            swizzle: number,
        })
    }

    /// Cycles of what is served, by its number.
    fn cycles(&mut self, counted: &Counted, swizzle: Swizzle, number: usize) -> i64 {
        let known = &mut self.cycles[counted.swizzle][number];
        if *known < 0 {
            let Served { pattern, start, .. } = self.served[number];
            let lanes = &self.patterns[pattern];
            let service = &self.services[counted.service];
            self.domain.work.spend(LANE * lanes.len() as u64);
            *known = service.cycles(lanes, start, swizzle, &mut self.seen);
        }
        *known
    }

    /// What is served, by where it starts in a period.
    fn within(&mut self, found: &mut Use, period: i64) -> Counts {
        if let Some((_, known)) = found.within.iter().find(|(known, _)| *known == period) {
            return Rc::clone(known);
        }
        let beyond = |(number, _): &(usize, i64)| self.served[*number].start >= period;
        let mut served = Rc::clone(&found.served);
        if served.iter().any(beyond) {
            let moved = served.iter().map(|(number, count)| {
                let served = self.served[*number];
                let start = served.start % period;
                (self.number(Served { start, ..served }), *count)
            });
            served = merged(moved.collect()).into();
        }
        self.domain.work.spend(LANE * served.len() as u64);
        found.within.push((period, Rc::clone(&served)));
        served
    }

    /// The number of how accesses of at most so many elements are served.
    fn service(&mut self, access: Access, most: i64) -> Option<usize> {
        let known = |it: &&(Access, i64, Option<usize>)| (it.0, it.1) == (access, most);
        if let Some((.., service)) = self.widths.iter().find(known) {
            return *service;
        }
        let service = self.fresh_service(access, most);
        self.widths.push((access, most, service));
        service
    }

    fn fresh_service(&mut self, access: Access, most: i64) -> Option<usize> {
        let direction = match access {
            Access::Read => Direction::Load,
            Access::Write => Direction::Store,
        };
        let element = self.domain.usage.element;
        let width = CopyAtom::widest(Space::Lds, direction, element, most)?.elements(element);
        let known = |it: &Service<'_>| (it.access, it.width) == (access, width);
        if let Some(known) = self.services.iter().position(known) {
            return Some(known);
        }
        let bytes = self.domain.bytes;
        let bits = Width::from_bits(u32::try_from(width * bytes * 8).ok()?)?;
        let lds = &self.domain.usage.machine.lds;
        let word = i64::from(lds.bank_bytes);
        let block = word.max(width * bytes);
        self.services.push(Service {
            width,
            access,
            lanes: lds.groups(bits, access),
            block: (block / bytes).max(1),
            banks: (i64::from(lds.banks_of(bits, access)) * word / block).max(1),
        });
        Some(self.services.len() - 1)
    }

    fn used(&mut self, side: &Side, service: usize, swizzled: bool) -> Use {
        let machine = self.domain.usage.machine;
        let word = (i64::from(machine.lds.bank_bytes) / self.domain.bytes).max(1);
        let renames = machine.lds.banks.is_power_of_two();
        let width = self.services[service].width;
        let values = || side.values.iter().step_by(width as usize);
        let accesses = values().count() as i64;
        let bits = values().fold(0, |bits, value| bits | value);
        let mut all: Vec<((usize, i64), i64)> = Vec::new();
        for lanes in self.together(&side.threads, service).iter() {
            let (base, used) = (lanes.base, lanes.used);
            let alike = match swizzled {
                false => (base | bits) % word == 0,
                // Terms without a bit in common add up to the bits that they have.
                true => renames && base & bits == 0 && (base | bits) & used == 0,
            };
            if alike {
                all.push(((lanes.pattern, 0), accesses));
                continue;
            }
            let starts = values().map(|value| match swizzled {
                false => (base + value) % word,
                true if renames => lanes.mixed(base + value),
                true => base + value,
            });
            all.extend(starts.map(|start| ((lanes.pattern, start), 1)));
        }
        self.domain
            .work
            .spend(LANE * (2 * all.len() as u64 + accesses.unsigned_abs()));
        let numbered = merged(all).into_iter().map(|((pattern, start), count)| {
            let served = Served {
                service,
                pattern,
                start,
            };
            (self.number(served), count)
        });
        Use {
            served: numbered.collect(),
            within: Vec::new(),
            instructions: self.waves(side) * accesses,
            starts: side.starts(width),
        }
    }

    /// The lanes of all waves that are served together.
    fn together(&mut self, threads: &Threads, service: usize) -> Rc<Vec<Lanes>> {
        let mut known = threads.together.borrow_mut();
        if let Some((_, lanes)) = known.iter().find(|(number, _)| *number == service) {
            return Rc::clone(lanes);
        }
        let groups = self.services[service].lanes;
        self.domain.work.spend(LANE * threads.parts.len() as u64);
        let mut all = Vec::new();
        for wave in threads
            .parts
            .chunks(self.domain.usage.machine.wave as usize)
        {
            for group in groups {
                let parts = group.iter().filter_map(|lane| wave.get(usize::from(*lane)));
                let mut lanes: Vec<i64> = parts.copied().collect();
                let base = lanes.iter().copied().min().unwrap_or(0);
                lanes.iter_mut().for_each(|offset| *offset -= base);
                all.push(Lanes {
                    base,
                    used: lanes.iter().fold(0, |bits, offset| bits | offset),
                    pattern: self.pattern(lanes),
                });
            }
        }
        let all = Rc::new(all);
        known.push((service, Rc::clone(&all)));
        all
    }

    fn pattern(&mut self, lanes: Vec<i64>) -> usize {
        let fresh = self.patterns.len();
        *self.numbers.entry(lanes).or_insert_with_key(|lanes| {
            self.patterns.push(lanes.clone());
            fresh
        })
    }

    fn number(&mut self, served: Served) -> usize {
        let fresh = self.served.len();
        *self.known.entry(served).or_insert_with(|| {
            self.served.push(served);
            fresh
        })
    }
}

impl Side {
    /// Elements of the widest access with a swizzle in front. Runs of 2^base stay runs, and
    /// nothing longer does: every bit of the swizzle has an effect on some element.
    fn width_with(&self, swizzle: Swizzle) -> i64 {
        if swizzle.is_identity() {
            return self.width;
        }
        self.width.min(1 << swizzle.base().min(32))
    }

    /// Whether groups of `width` values lie side by side, aligned to their number, in every
    /// thread.
    fn fits(&self, width: i64) -> bool {
        let groups = self.values.len().is_multiple_of(width as usize)
            && self.values.chunks(width as usize).all(|group| {
                group[0] % width == 0 && group.iter().zip(group[0]..).all(|(a, b)| *a == b)
            });
        groups && self.threads.used % width == 0
    }

    /// Whether another side costs the same with whatever swizzle.
    pub fn costs_as(&self, other: &Self) -> bool {
        self.width == other.width
            && (Rc::ptr_eq(&self.values, &other.values) || self.values == other.values)
            && (Rc::ptr_eq(&self.threads, &other.threads)
                || self.threads.parts == other.threads.parts)
    }
}

impl Threads {
    fn new(parts: Vec<i64>) -> Self {
        let used = parts.iter().fold(0, |bits, part| bits | part);
        let differs = (0..64 - used.leading_zeros()).map(|bit| {
            let against = |part: &i64| if part >> bit & 1 == 1 { !part } else { *part };
            parts.iter().fold(0, |bits, part| bits | against(part))
        });
        Self {
            differs: differs.collect(),
            parts,
            used,
            together: RefCell::default(),
        }
    }
}

/// Equal things once, with the sum of their counts.
fn merged<T: Ord + Copy>(mut all: Vec<(T, i64)>) -> Vec<(T, i64)> {
    all.sort_unstable();
    all.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0 };
        same
    });
    all
}

/// A layout's offsets, mode by mode.
pub(super) fn table(layout: &Layout) -> Vec<i64> {
    offsets(layout.flat_modes())
}

/// The offsets of modes of extents and strides.
pub(super) fn offsets(modes: Vec<(i64, i64)>) -> Vec<i64> {
    let mut offsets = vec![0];
    for (extent, stride) in modes {
        let before = offsets.len();
        for step in 1..extent {
            for index in 0..before {
                offsets.push(offsets[index] + step * stride);
            }
        }
    }
    offsets
}

/// What reads and writes of one placement by one copy are counted from.
pub(super) fn sides(
    counter: &mut Counter<'_>,
    placement: &Placement,
    fragments: &Layout,
    commit: &Layout,
) -> Option<[Side; 2]> {
    let (fragment, widest) = (counter.domain.fragment, counter.domain.widest());
    let (inner, mut parts) = (&placement.inner, Parts::default());
    Some([
        counter.side(inner, &mut parts, fragments, Access::Read, fragment)?,
        counter.side(inner, &mut parts, commit, Access::Write, widest)?,
    ])
}

#[cfg(test)]
mod tests;
