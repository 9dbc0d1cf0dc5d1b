//! Bank conflicts, instructions and address registers of everything that a workgroup reads from
//! or writes to a tile.
//!
//! A lane's offset is Sw(t + v), t the thread's part and v the value's. Waves whose lanes lie
//! alike, and accesses that lie at another v, often cost the same, and are then counted once:
//! - without a swizzle, moving all lanes by whole words moves their banks round;
//! - with one, where no t shares a bit with the rest of the offset, Sw(t + v) = Sw(t) xor Sw(v),
//!   and an xor with a constant renames the banks, of which there is a power of two.
//!
//! Anything else is counted access by access.

use super::{domain::Domain, placement::Placement};
use std::{collections::HashMap, rc::Rc};
use tilefold_dialect::atoms::{CopyAtom, Direction, Space};
use tilefold_layout::{Layout, Swizzle};
use tilefold_machine::{Access, Width};

/// One side's use of a tile: a thread-value layout carried on to offsets before the swizzle.
pub(super) struct Side {
    access: Access,
    threads: Rc<Threads>,
    /// Parts of all values, in order.
    values: Rc<Vec<i64>>,
    /// Elements of the widest access but for a swizzle.
    pub width: i64,
    /// Groups of accesses that cost the same, without and with a swizzle, by width.
    groups: HashMap<(i64, bool), (Vec<Group>, Starts)>,
}

/// Parts of the threads in a tile's offsets before the swizzle.
struct Threads {
    /// Waves whose lanes lie alike: the number of their pattern, what is added to it in each.
    waves: Vec<(usize, Vec<i64>)>,
    /// Every bit that some thread's part has.
    used: i64,
    /// By bit, the bits from which it differs in some thread's part.
    differs: Vec<i64>,
}

/// The values' parts at which accesses of one width start.
struct Starts {
    /// Those that share no bit with any thread's part, in order.
    apart: Vec<i64>,
    /// Every bit that one of these has.
    bits: i64,
    /// Whether these are all sums of such bits.
    cube: bool,
    /// How many others there are.
    sums: i64,
}

/// Accesses of one wave that cost the same.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Group {
    /// Offsets of the lanes, the smallest 0: a number for this pattern.
    pattern: usize,
    /// What is added to them before the swizzle.
    start: i64,
    /// How many accesses.
    count: i64,
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
    threads: HashMap<Layout, Option<Rc<Threads>>>,
    values: HashMap<Layout, Option<Rc<Vec<i64>>>>,
}

/// Counts, remembering what was counted.
pub(super) struct Counter<'a> {
    domain: &'a Domain,
    numbers: HashMap<Vec<i64>, usize>,
    patterns: Vec<Vec<i64>>,
    cycles: HashMap<(usize, i64, Swizzle, i64, Access), i64>,
}

impl<'a> Counter<'a> {
    pub fn new(domain: &'a Domain) -> Self {
        Self {
            domain,
            numbers: HashMap::new(),
            patterns: Vec::new(),
            cycles: HashMap::new(),
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
        let [threads, values] = [layout.mode(0).ok()?, layout.mode(1).ok()?];
        let threads = match parts.threads.get(&threads) {
            Some(known) => known.clone(),
            None => {
                let placed = inner.compose(&threads).ok();
                let found = placed.map(|placed| Rc::new(self.threads(&table(&placed))));
                parts.threads.insert(threads, found.clone());
                found
            }
        }?;
        let values = match parts.values.get(&values) {
            Some(known) => known.clone(),
            None => {
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
            groups: HashMap::new(),
        };
        let most = most.min(self.domain.widest());
        while side.width * 2 <= most && side.fits(side.width * 2) {
            side.width *= 2;
        }
        Some(side)
    }

    fn threads(&mut self, parts: &[i64]) -> Threads {
        let mut waves: Vec<(usize, Vec<i64>)> = Vec::new();
        for wave in parts.chunks(self.domain.usage.machine.wave as usize) {
            let base = wave.iter().copied().min().unwrap_or(0);
            let lanes: Vec<i64> = wave.iter().map(|offset| offset - base).collect();
            let fresh = self.patterns.len();
            let pattern = *self.numbers.entry(lanes).or_insert_with_key(|lanes| {
                self.patterns.push(lanes.clone());
                fresh
            });
            match waves.iter_mut().find(|(known, _)| *known == pattern) {
                Some((_, bases)) => bases.push(base),
                None => waves.push((pattern, vec![base])),
            }
        }
        let used = parts.iter().fold(0, |bits, part| bits | part);
        let differs = (0..64 - used.leading_zeros()).map(|bit| {
            let against = |part: &i64| if part >> bit & 1 == 1 { !part } else { *part };
            parts.iter().fold(0, |bits, part| bits | against(part))
        });
        Threads {
            differs: differs.collect(),
            waves,
            used,
        }
    }

    /// What the side costs with a swizzle in front; none where no instruction is so narrow.
    pub fn cost(&mut self, side: &mut Side, swizzle: Swizzle) -> Option<SideCost> {
        let mut width = side.width;
        if !swizzle.is_identity() {
            // Runs of 2^base stay runs, and nothing longer does: every bit of the swizzle has an
            // effect on some element.
            width = width.min(1 << swizzle.base().min(32));
        }
        let direction = match side.access {
            Access::Read => Direction::Load,
            Access::Write => Direction::Store,
        };
        let element = self.domain.usage.element;
        let width = CopyAtom::widest(Space::Lds, direction, element, width)?.elements(element);
        let key = (width, !swizzle.is_identity());
        if !side.groups.contains_key(&key) {
            let groups = self.groups(side, width, key.1);
            let starts = side.starts(width);
            side.groups.insert(key, (groups, starts));
        }
        let (groups, starts) = &side.groups[&key];
        let (mut instructions, mut cycles) = (0, 0);
        for group in groups {
            instructions += group.count;
            cycles += group.count * self.group(group, swizzle, width, side.access)?;
        }
        Some(SideCost {
            width,
            instructions,
            cycles,
            registers: side.registers(starts, swizzle),
        })
    }

    fn groups(&self, side: &Side, width: i64, swizzled: bool) -> Vec<Group> {
        let machine = self.domain.usage.machine;
        let word = (i64::from(machine.lds.bank_bytes) / self.domain.bytes).max(1);
        let renames = machine.lds.banks.is_power_of_two();
        let accesses = side.values.len() as i64 / width;
        let values = || side.values.iter().step_by(width as usize);
        let bits = values().fold(0, |bits, value| bits | value);
        let mut groups: Vec<Group> = Vec::new();
        let mut add = |pattern: usize, start: i64, count: i64| {
            let known = groups
                .iter_mut()
                .find(|group| group.pattern == pattern && group.start == start);
            match known {
                Some(group) => group.count += count,
                None => groups.push(Group {
                    pattern,
                    start,
                    count,
                }),
            }
        };
        for (pattern, bases) in &side.threads.waves {
            let lanes = &self.patterns[*pattern];
            let used = lanes.iter().fold(0, |bits, offset| bits | offset);
            for base in bases {
                let alike = match swizzled {
                    false => (base | bits) % word == 0,
                    // Terms without a bit in common add up to the bits that they have.
                    true => renames && base & bits == 0 && (base | bits) & used == 0,
                };
                if alike {
                    add(*pattern, 0, accesses);
                    continue;
                }
                for value in values() {
                    let start = base + value;
                    let start = match swizzled {
                        false => start % word,
                        true if renames && start & used == 0 => 0,
                        true => start,
                    };
                    add(*pattern, start, 1);
                }
            }
        }
        groups
    }

    /// Cycles of one access.
    fn group(
        &mut self,
        group: &Group,
        swizzle: Swizzle,
        width: i64,
        access: Access,
    ) -> Option<i64> {
        let key = (group.pattern, group.start, swizzle, width, access);
        if let Some(cycles) = self.cycles.get(&key) {
            return Some(*cycles);
        }
        let bytes = self.domain.bytes;
        let addresses: Option<Vec<Option<u32>>> = self.patterns[group.pattern]
            .iter()
            .map(|offset| {
                let address = swizzle.apply(offset + group.start).checked_mul(bytes)?;
                Some(Some(u32::try_from(address).ok()?))
            })
            .collect();
        let width = Width::from_bits(u32::try_from(width * bytes * 8).ok()?)?;
        let machine = self.domain.usage.machine;
        let cycles = i64::from(machine.conflict_cycles(&addresses?, width, access));
        self.cycles.insert(key, cycles);
        Some(cycles)
    }
}

impl Side {
    /// Whether groups of `width` values lie side by side, aligned to their number, in every
    /// thread.
    fn fits(&self, width: i64) -> bool {
        let groups = self.values.len().is_multiple_of(width as usize)
            && self.values.chunks(width as usize).all(|group| {
                group[0] % width == 0 && group.iter().zip(group[0]..).all(|(a, b)| *a == b)
            });
        groups && self.threads.used % width == 0
    }

    /// Registers that hold what of an offset depends on the thread, as addresses are lowered:
    /// Sw(t) xor a constant where t has no bit of v, else Sw(t + v), and the rest is added by
    /// the instruction.
    fn registers(&self, starts: &Starts, swizzle: Swizzle) -> i64 {
        if swizzle.is_identity() {
            return 1;
        }
        let swizzled = self.threads.swizzled(swizzle);
        let variable = |start: i64| swizzle.apply(start) & swizzled;
        if starts.cube {
            // Variables of single bits span all variables, by xor.
            let mut basis: Vec<i64> = Vec::new();
            for bit in (0..63).filter(|bit| starts.bits >> bit & 1 == 1) {
                let reduced = basis
                    .iter()
                    .fold(variable(1 << bit), |rest, known| rest.min(rest ^ known));
                if reduced != 0 {
                    basis.push(reduced);
                }
            }
            return starts.sums + (1 << basis.len());
        }
        let mut variables: Vec<i64> = starts.apart.iter().map(|start| variable(*start)).collect();
        variables.sort_unstable();
        variables.dedup();
        starts.sums + variables.len() as i64
    }

    fn starts(&self, width: i64) -> Starts {
        let all = self.values.iter().copied().step_by(width as usize);
        let (mut apart, mut sums): (Vec<i64>, Vec<i64>) =
            all.partition(|start| start & self.threads.used == 0);
        for starts in [&mut apart, &mut sums] {
            starts.sort_unstable();
            starts.dedup();
        }
        let bits = apart.iter().fold(0, |bits, start| bits | start);
        Starts {
            cube: apart.len() == 1 << bits.count_ones().min(32),
            bits,
            apart,
            sums: sums.len() as i64,
        }
    }

    /// Whether another side costs the same with whatever swizzle.
    pub fn costs_as(&self, other: &Self) -> bool {
        self.width == other.width
            && self.values == other.values
            && (Rc::ptr_eq(&self.threads, &other.threads)
                || self.threads.waves == other.threads.waves
                    && self.threads.used == other.threads.used
                    && self.threads.differs == other.threads.differs)
    }
}

impl Threads {
    /// Every bit that some thread's part has after the swizzle: a changed bit is set where the
    /// bit and the one it is xored with differ.
    fn swizzled(&self, swizzle: Swizzle) -> i64 {
        let (target, shift) = (swizzle.target_mask(), swizzle.shift());
        let mut bits = self.used & !target;
        for bit in (0..63).filter(|bit| target >> bit & 1 == 1) {
            let source = bit + shift;
            let set = match self.differs.get(bit as usize) {
                Some(differs) => differs >> source & 1 == 1,
                // No thread's part has the bit itself.
                None => self.used >> source & 1 == 1,
            };
            bits |= i64::from(set) << bit;
        }
        bits
    }
}

/// A layout's offsets, mode by mode.
pub(super) fn table(layout: &Layout) -> Vec<i64> {
    let mut offsets = vec![0];
    for (extent, stride) in layout.flat_modes() {
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
