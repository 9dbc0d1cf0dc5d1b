//! What the search answers.

use super::{
    comparison::other_copy,
    conflicts::{Counter, SideCost, sides},
    domain::{Copy, Domain, Threads, TileUse},
    explain::Step,
    extract::{Pair, Pairs, cost},
    placement::Placement,
};
use serde::{Serialize, Serializer};
use std::fmt::Display;
use tilefold_layout::{ComposedLayout, Layout, Swizzle};

/// The figures by which candidates are compared, the weightiest first, for one tile: all waves
/// of the workgroup, each fragment read once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cost {
    /// LDS instructions of all waves: fewest where they are widest.
    pub instructions: i64,
    /// Cache lines that global loads touch, each load of each wave for itself: fewest where
    /// consecutive lanes are neighbours in memory.
    pub cache_lines: i64,
    /// Cycles that bank conflicts add to reads and writes.
    pub conflict_cycles: i64,
    /// Registers of a thread that are put together from parts of others before they are stored.
    pub permutes: i64,
    /// Bytes of LDS.
    pub bytes: i64,
    /// Registers of a thread that hold LDS addresses, those of reads and of writes.
    pub registers: i64,
}

/// How a candidate stands to bank conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It has none, and no element of LDS is left unused.
    Free,
    /// It has none, by padding.
    Padded,
    /// It has some.
    Conflicting,
}

impl Class {
    pub(super) fn of(conflict_cycles: i64, padding: i64) -> Self {
        match (conflict_cycles, padding) {
            (1.., _) => Self::Conflicting,
            (_, 1..) => Self::Padded,
            _ => Self::Free,
        }
    }
}

impl Candidate {
    /// How it stands to bank conflicts.
    pub fn class(&self) -> Class {
        Class::of(self.cost.conflict_cycles, self.pad.unwrap_or(0))
    }
}

impl Cost {
    pub(super) fn figures(&self) -> [i64; 6] {
        [
            self.instructions,
            self.cache_lines,
            self.conflict_cycles,
            self.permutes,
            self.bytes,
            self.registers,
        ]
    }
}

/// A placement of the tile with a copy that fills it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The placement, over (row, k), in elements.
    #[serde(serialize_with = "text")]
    pub lds: ComposedLayout,
    /// Unused elements after each row, where the placement is padded rows.
    pub pad: Option<i64>,
    /// Thread layout of the copy over the tile.
    #[serde(serialize_with = "text")]
    pub threads: Layout,
    /// Value layout of the copy over the tile, in the order in which values are loaded.
    #[serde(serialize_with = "text")]
    pub values: Layout,
    /// Value layout of the copy in the order in which values are stored: `values`, unless the
    /// use allows reordering.
    #[serde(serialize_with = "text")]
    pub stores: Layout,
    /// Bits of a global load.
    pub load_bits: i64,
    /// Bits of an LDS read.
    pub read_bits: i64,
    /// Bits of an LDS write.
    pub write_bits: i64,
    /// Cycles that bank conflicts add to reads.
    pub read_cycles: i64,
    /// Cycles that bank conflicts add to writes.
    pub write_cycles: i64,
    /// All figures together.
    pub cost: Cost,
    /// The term.
    pub term: String,
}

/// That no candidate with accesses as wide as they get is free of bank conflicts: the rules were
/// exhausted, and all pairs that they reach weighed. What they do not reach (swizzles that split
/// what is accessed together, or that change only bits above the banks, and all that is no
/// swizzle of an order or padding that a rule makes) is not among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoZeroConflicts {
    /// Pairs of placement and copy that were weighed.
    pub enumerated: usize,
    /// Those of them with as few LDS instructions as the best.
    pub at_widest: usize,
    /// Of these the least conflict cycles.
    pub least_cycles: i64,
    /// Pairs without conflict cycles that have more LDS instructions.
    pub free_with_more_instructions: usize,
}

/// How much was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Enumerated {
    /// Placements: different functions.
    pub placements: usize,
    /// Copies: different functions.
    pub copies: usize,
    /// Pairs of both, without those whose threads do not find their values by constant steps.
    pub pairs: usize,
}

/// The answer of [`super::search`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayoutSearch {
    /// What was searched for.
    #[serde(skip)]
    pub usage: TileUse,
    /// The best by [`Cost`], and of equal ones the one with the least term.
    pub best: Candidate,
    /// The next best placements, each with its best copy.
    pub runners_up: Vec<Candidate>,
    /// Candidates that no other one matches in every figure, best first.
    pub pareto: Vec<Candidate>,
    /// The published permutation of whole fragments among a row's, with the copy to start from;
    /// none where a row is no power of two of fragments.
    pub published: Option<Candidate>,
    /// What was found and weighed.
    pub enumerated: Enumerated,
    /// Whether the rules were exhausted and all weighed that could be the best; else this is the
    /// best so far.
    pub complete: bool,
    /// From plain rows and the copy to start from to the best, rule by rule.
    pub explanation: Vec<Step>,
    /// The best pair of the best placement with another copy.
    pub other_copy: Option<Candidate>,
    /// Where nothing as wide as the best is free of conflicts, the search being complete.
    pub zero_conflict_proof: Option<NoZeroConflicts>,
}

impl LayoutSearch {
    /// Whether the best has bank conflicts and limits have ended the search, so that it is not
    /// known whether anything has none.
    pub fn is_cut_short(&self) -> bool {
        !self.complete && self.best.cost.conflict_cycles > 0
    }
}

fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

impl Pairs<'_> {
    /// The term of a pair.
    pub fn term(&self, pair: &Pair) -> String {
        self.term_by(pair, &self.members.copies[pair.copy].term.text)
    }

    /// The term of a pair's placement with another copy.
    pub fn term_by(&self, pair: &Pair, copy: &str) -> String {
        let placement = &self.members.placements[pair.placement].term.text;
        format!("(lds (hold {placement}) (carry {copy}))")
    }
}

/// Puts the answer together; none where nothing was weighed.
pub(super) fn report(
    domain: &Domain,
    pairs: &Pairs<'_>,
    explanation: Vec<Step>,
    mut complete: bool,
    runners_up: usize,
) -> Option<LayoutSearch> {
    let shown = |pair: &Pair| {
        let placement = &pairs.members.placements[pair.placement].what;
        let copy = &pairs.members.copies[pair.copy].what;
        candidate(domain, placement, copy, pairs.term(pair))
    };
    let (best, others) = pairs.best.split_first()?;
    // Every candidate is counted anew, which is work too.
    let mut pareto = Vec::new();
    for pair in &pairs.pareto {
        if domain.work.is_over() && !pareto.is_empty() {
            complete = false;
            break;
        }
        pareto.extend(shown(pair));
    }
    let free = pairs.by_instructions.values().map(|(_, free, _)| free);
    let (at_widest, none_free, least_cycles) = match pairs.by_instructions.first_key_value() {
        Some((_, (count, free, least))) => (*count, *free == 0, *least),
        None => (0, false, 0),
    };
    Some(LayoutSearch {
        usage: domain.usage.clone(),
        best: shown(best)?,
        runners_up: others.iter().take(runners_up).filter_map(shown).collect(),
        pareto,
        published: published(domain),
        enumerated: Enumerated {
            placements: pairs.members.placements.len(),
            copies: pairs.members.copies.len(),
            pairs: pairs.enumerated,
        },
        complete,
        explanation,
        other_copy: other_copy(domain, pairs, best),
        zero_conflict_proof: (complete && none_free).then(|| NoZeroConflicts {
            enumerated: pairs.enumerated,
            at_widest,
            least_cycles,
            free_with_more_instructions: free.sum(),
        }),
    })
}

pub(super) fn candidate(
    domain: &Domain,
    placement: &Placement,
    copy: &Copy,
    term: String,
) -> Option<Candidate> {
    let mut counter = Counter::new(domain);
    let [mut reads, mut writes] = sides(
        &mut counter,
        placement,
        &domain.usage.fragments,
        &copy.commit,
    )?;
    let read: SideCost = counter.cost(&mut reads, placement.swizzle)?;
    let write: SideCost = counter.cost(&mut writes, placement.swizzle)?;
    let bits = domain.bytes * 8;
    Some(Candidate {
        lds: placement.composed(),
        pad: (placement.padding > 0).then_some(placement.padding),
        threads: copy.threads.clone(),
        values: copy.values.clone(),
        stores: copy.stores.clone(),
        load_bits: domain.load * bits,
        read_bits: read.width * bits,
        write_bits: write.width * bits,
        read_cycles: read.cycles,
        write_cycles: write.cycles,
        cost: cost(domain, placement, copy, read, write),
        term,
    })
}

/// Block k / unit of a row goes to (k / unit) xor row among the row's blocks, the unit being a
/// fragment's values: step 3 of AMD's guide to FP16 GEMM on RDNA 3 and RDNA 4.
fn published(domain: &Domain) -> Option<Candidate> {
    let depth = domain.usage.tile[1];
    let unit = domain.fragment;
    let blocks = depth / unit;
    if depth % unit != 0 || blocks.count_ones() != 1 || unit.count_ones() != 1 {
        return None;
    }
    let [bits, base, row] = [blocks, unit, depth].map(i64::ilog2);
    let swizzle = Swizzle::new(bits, base, (row - base) as i32).ok()?;
    let placement = Placement::rows(domain)?.swizzled(domain, swizzle)?;
    let line = domain.along_threads;
    let order = Threads {
        line,
        first_along: line,
        then_across: domain.usage.threads / line,
    };
    let copy = Copy::new(domain, order, 1)?;
    let place = match swizzle.is_identity() {
        true => "rows".into(),
        false => format!("(sw {bits} {base} {} rows)", row - base),
    };
    let term = format!("(lds (hold {place}) (carry (along {line})))");
    candidate(domain, &placement, &copy, term)
}
