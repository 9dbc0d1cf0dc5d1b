//! Hazards of RDNA 3, 3.5 and 4: results and registers that hardware does not guard, and the waits
//! that do.
//!
//! AMD's guides name the counters of `s_waitcnt_depctr` and `s_wait_alu` but not what they are for.
//! The rows follow two compilers that AMD's engineers told: LLVM (`GCNHazardRecognizer`,
//! `AMDGPUWaitSGPRHazards`, and which chip has which feature in `AMDGPU.td`) and Mesa's ACO
//! (`aco_insert_NOPs`, its part for these generations). Where both differ, the row takes the one
//! that asks for less, and says so; what LLVM puts where no such reader follows is no fault to
//! leave out.
//!
//! Instructions that settle results: every access of vector memory or LDS waits for all earlier
//! vector instructions (both compilers treat it as `va_vdst(0)`); of `s_waitcnt_depctr` and
//! `s_wait_alu` a field counts when it is 0 (`va_vdst`: vector results; `va_sdst` and `va_vcc`:
//! scalar registers and VCC written by vector instructions; `sa_sdst`: those written by scalar
//! instructions). `vm_vsrc`: accesses of memory have read their registers; `va_ssrc`
//! and `hold_cnt` matter to no row.

mod facts;
mod rows;

use facts::Access;
pub(crate) use facts::Facts;

use crate::text::VCC;
use rows::{RDNA3, RDNA4, RDNA35, Rule};

/// Bits of both halves of VCC in a set of scalar registers.
const VCC_BITS: u128 = 3 << VCC;

/// Vector instructions that are remembered: as many as a direct load can let stand, and one.
const REMEMBERED: usize = 16;

/// Vector instructions and transcendental ones between a transcendental result and its reader.
const BETWEEN: (u64, u64) = (5, 1);

/// A pair of writes on both sides of a write of EXEC and their reader lie at most seven apart.
const WINDOW: u64 = 8;

/// Vector instructions between the writes on both sides of a write of EXEC, and behind the second.
const APART: (usize, usize) = (2, 4);

/// A hazard met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met {
    pub(crate) rule: Rule,
    /// The earlier instruction; none where it is the later one itself.
    pub(crate) first: Option<usize>,
}

impl Met {
    /// What the finding says; `first` is the text of the earlier instruction.
    pub(crate) fn describe(&self, first: Option<&str>) -> String {
        let mut rows = RDNA3.iter().chain(RDNA35).chain(RDNA4);
        let Some(row) = rows.find(|row| row.rule == self.rule) else {
            return String::new();
        };
        let behind = first.map_or(String::new(), |first| format!(" (behind `{first}`)"));
        let (name, cure, source) = (row.name, row.cure, row.source);
        format!("{name}{behind}: {cure} would do ({source})")
    }
}

/// A vector instruction executed, and how many vector and transcendental instructions and scalar
/// writes of EXEC there had been with it.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    index: u32,
    vectors: u64,
    transcendentals: u64,
    execs: u64,
}

/// Scalar registers whose new values may not be seen yet.
#[derive(Debug, Default)]
struct Unsettled {
    /// Written by scalar instructions.
    by_scalar: u128,
    /// Written by vector instructions.
    by_vector: u128,
    /// Who wrote them last, and whether that was a vector instruction.
    writers: Vec<(u32, u128, bool)>,
}

impl Unsettled {
    fn note(&mut self, index: usize, registers: u128, vector: bool) {
        if registers == 0 {
            return;
        }
        self.writers.retain_mut(|(_, written, kind)| {
            *written &= if *kind == vector {
                !registers
            } else {
                u128::MAX
            };
            *written != 0
        });
        self.writers.push((index as u32, registers, vector));
    }

    fn writer(&self, registers: u128, vector: bool) -> Option<usize> {
        let mut writers = self.writers.iter();
        let (index, ..) =
            writers.find(|(_, written, kind)| *kind == vector && written & registers != 0)?;
        Some(*index as usize)
    }

    /// What a wait with these fields at 0 leaves.
    fn wait(&mut self, settles: Settles) {
        if settles.scalar {
            self.by_scalar = 0;
        }
        if settles.vector_scalar {
            self.by_vector &= VCC_BITS;
        }
        if settles.vector_vcc {
            self.by_vector &= !VCC_BITS;
        }
        if self.by_scalar | self.by_vector == 0 {
            self.writers.clear();
        }
    }

    /// What readers meet: registers, and by which rule of three (scalar, vector, VCC). What is
    /// found counts as waited for from there on, so that one missing wait is one finding.
    fn read(&mut self, reads: u128, vector: bool, rules: [Rule; 3], tables: u32) -> Option<Met> {
        let by_vector = if vector { reads & self.by_vector } else { 0 };
        let hits = [
            reads & self.by_scalar,
            by_vector & !VCC_BITS,
            by_vector & VCC_BITS,
        ];
        let hit = |at: usize| hits[at] != 0 && tables >> rules[at] as u8 & 1 == 1;
        let at = (0..3).find(|&at| hit(at))?;
        let met = Met {
            rule: rules[at],
            first: self.writer(hits[at], at > 0),
        };
        self.wait(Settles {
            scalar: hit(0),
            vector_scalar: hit(1),
            vector_vcc: hit(2),
            ..Settles::default()
        });
        Some(met)
    }
}

/// Which results an instruction waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Settles {
    /// Results of vector instructions (`va_vdst`).
    pub(crate) vector: bool,
    /// Scalar registers that they write (`va_sdst`).
    pub(crate) vector_scalar: bool,
    /// VCC that they write (`va_vcc`).
    pub(crate) vector_vcc: bool,
    /// Scalar registers that scalar instructions write (`sa_sdst`).
    pub(crate) scalar: bool,
}

/// What a wave did so lately that it still matters.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    now: Done,
    /// Vector instructions whose results a wait made sure of.
    settled: u64,
    transcendentals: [Option<Done>; 2],
    vectors: [Done; REMEMBERED],
    /// Scalar registers read as lane masks and not written since.
    masks: u128,
    /// Scalar registers of pairs that vector instructions read.
    read: u128,
    unsettled: Unsettled,
    comparison: Option<usize>,
    /// Accesses of memory that may still read their registers.
    accesses: Vec<u32>,
}

impl Recent {
    /// Takes the next instruction, which follows `before`; `facts_of` gives what is known about
    /// an earlier one.
    pub(crate) fn step<'p>(
        &mut self,
        index: usize,
        facts: &Facts,
        before: Option<usize>,
        facts_of: impl Fn(usize) -> Option<&'p Facts>,
    ) -> Option<Met> {
        let has = |rule: Rule| facts.rules >> rule as u8 & 1 == 1;
        let mut met = None;
        if facts.settles != Settles::default() {
            self.settle(facts);
        }
        if facts.is(Facts::DEALLOC) && has(Rule::Dealloc) {
            let nop = before.and_then(&facts_of);
            if !nop.is_some_and(|facts| facts.is(Facts::S_NOP)) {
                let first = before;
                let rule = Rule::Dealloc;
                met = Some(Met { rule, first });
            }
        }
        if facts.is(Facts::OVERLAPS) && has(Rule::MultiplyAdd) {
            let (rule, first) = (Rule::MultiplyAdd, None);
            met = Some(Met { rule, first });
        }
        if has(Rule::DirectMemory) {
            met = self.memory(index, facts, &facts_of).or(met);
        }
        if facts.is(Facts::DIRECT)
            && has(Rule::DirectVector)
            && let Some(first) = self.still_used(facts, &facts_of)
        {
            let (rule, first) = (Rule::DirectVector, Some(first));
            met = Some(Met { rule, first });
        }
        if facts.is(Facts::VECTOR) {
            met = self.vector(index, facts, &facts_of).or(met);
        } else if facts.is(Facts::WRITES_EXEC) {
            self.now.execs += 1;
        }
        if facts.is(Facts::VECTOR | Facts::SCALAR) {
            if facts.is(Facts::MASKS) {
                met = self.lane_masks(index, facts).or(met);
            } else if facts.is(Facts::READS) {
                met = self.scalar_reads(index, facts).or(met);
            }
        } else if facts.scalar_writes != 0 {
            // A scalar load brings new values, for which other waits are responsible.
            self.masks &= !facts.scalar_writes;
            self.unsettled.by_scalar &= !facts.scalar_writes;
            self.unsettled.by_vector &= !facts.scalar_writes;
        }
        if facts.is(Facts::CALLS) {
            self.forget(facts.is(Facts::MASKS));
        }
        met
    }

    /// A call or a return: LLVM looks for all but RDNA 4's scalar registers in one function at a
    /// time. ACO settles everything before them.
    fn forget(&mut self, masks: bool) {
        self.settled = self.now.vectors;
        self.transcendentals = [None; 2];
        self.comparison = None;
        self.accesses.clear();
        if masks {
            self.masks = 0;
            self.unsettled = Unsettled::default();
        }
    }

    fn settle(&mut self, facts: &Facts) {
        let settles = facts.settles;
        if settles.vector {
            self.settled = self.now.vectors;
            self.transcendentals = [None; 2];
            // ACO: then scalar results of vector instructions have arrived as well. LLVM waits for
            // them all the same.
            if facts.is(Facts::MASKS) {
                self.unsettled.by_vector = 0;
            }
        }
        self.unsettled.wait(settles);
    }

    /// Vector registers, and lanes.
    fn vector<'p>(
        &mut self,
        index: usize,
        facts: &Facts,
        facts_of: &impl Fn(usize) -> Option<&'p Facts>,
    ) -> Option<Met> {
        let mut met = None;
        let has = |rule: Rule| facts.rules >> rule as u8 & 1 == 1;
        if let Some(first) = self.comparison.take()
            && facts.is(Facts::PERMLANE)
            && has(Rule::Permlane)
        {
            let (rule, first) = (Rule::Permlane, Some(first));
            met = Some(Met { rule, first });
        }
        if facts.is(Facts::COMPARES_EXEC) {
            self.comparison = Some(index);
        }
        let early = self.transcendentals.iter().flatten().find(|done| {
            self.now.vectors - done.vectors <= BETWEEN.0
                && self.now.transcendentals - done.transcendentals <= BETWEEN.1
                && facts_of(done.index as usize)
                    .is_some_and(|first| first.writes.meets(&facts.reads))
        });
        if let Some(done) = early
            && has(Rule::Transcendental)
        {
            let first = Some(done.index as usize);
            let rule = Rule::Transcendental;
            met = Some(Met { rule, first });
            self.settled = self.now.vectors;
            self.transcendentals = [None; 2];
        }
        if facts.sources.len() > 1
            && has(Rule::PartialForwarding)
            && let Some(first) = self.partly_forwarded(facts, facts_of)
        {
            let (rule, first) = (Rule::PartialForwarding, Some(first));
            met = Some(Met { rule, first });
            self.settled = self.now.vectors;
            self.transcendentals = [None; 2];
        }
        self.now.index = index as u32;
        self.now.vectors += 1;
        self.now.transcendentals += u64::from(facts.is(Facts::TRANSCENDENTAL));
        if facts.is(Facts::TRANSCENDENTAL) {
            self.transcendentals = [Some(self.now), self.transcendentals[0]];
        }
        self.vectors[self.now.vectors as usize % REMEMBERED] = self.now;
        met
    }

    /// Accesses of memory, and direct loads that overwrite what they read.
    fn memory<'p>(
        &mut self,
        index: usize,
        facts: &Facts,
        facts_of: &impl Fn(usize) -> Option<&'p Facts>,
    ) -> Option<Met> {
        let of = |at: u32| facts_of(at as usize);
        if facts.sources_read != 0 {
            let read = |access: Access| facts.sources_read & access.bit() != 0;
            self.accesses
                .retain(|&at| of(at).is_some_and(|it| !it.access.is_some_and(read)));
        }
        if facts.access.is_some() && !self.accesses.contains(&(index as u32)) {
            self.accesses.push(index as u32);
        }
        if !facts.is(Facts::DIRECT) {
            return None;
        }
        let reads = |at: &&u32| of(**at).is_some_and(|it| it.reads.meets(&facts.writes));
        let first = self.accesses.iter().find(reads).copied()?;
        self.accesses.clear();
        let (rule, first) = (Rule::DirectMemory, Some(first as usize));
        Some(Met { rule, first })
    }

    /// The vector instruction that a direct load lets stand although it overwrites its register.
    fn still_used<'p>(
        &self,
        facts: &Facts,
        facts_of: &impl Fn(usize) -> Option<&'p Facts>,
    ) -> Option<usize> {
        let known = (self.now.vectors - self.settled).min(REMEMBERED as u64 - 1) as usize;
        let mut transcendental = false;
        for back in 0..known {
            let done = &self.vectors[(self.now.vectors as usize - back) % REMEMBERED];
            let first = facts_of(done.index as usize)?;
            transcendental |= first.is(Facts::TRANSCENDENTAL);
            if first.reads.meets(&facts.writes) || first.writes.meets(&facts.writes) {
                let standing = if transcendental { 0 } else { back };
                return (facts.standing > standing).then_some(done.index as usize);
            }
        }
        None
    }

    /// The earlier writer of two on both sides of a write of EXEC.
    fn partly_forwarded<'p>(
        &self,
        facts: &Facts,
        facts_of: &impl Fn(usize) -> Option<&'p Facts>,
    ) -> Option<usize> {
        let known = (self.now.vectors - self.settled).min(WINDOW) as usize;
        let done = |back: usize| &self.vectors[(self.now.vectors as usize - back) % REMEMBERED];
        let oldest = done(known.checked_sub(1)?);
        if oldest.execs == self.now.execs {
            return None;
        }
        let writes = |back: usize| Some(&facts_of(done(back).index as usize)?.writes);
        let later = (0..known.min(APART.1 + 1))
            .find(|&back| writes(back).is_some_and(|writes| writes.meets(&facts.reads)))?;
        let last = known.min(later + APART.0 + 2);
        (later + 1..last).find_map(|back| {
            if done(back).execs == done(later).execs {
                return None;
            }
            let earlier = facts.sources.iter().any(|source| {
                let meets = |back: usize| writes(back).is_some_and(|writes| writes.meets(source));
                meets(back) && !(0..back).any(meets)
            });
            earlier.then(|| done(back).index as usize)
        })
    }

    /// Scalar registers that were lane masks: RDNA 3 and 3.5 in wave64.
    fn lane_masks(&mut self, index: usize, facts: &Facts) -> Option<Met> {
        let vector = facts.is(Facts::VECTOR);
        let rules = [Rule::MaskByScalar, Rule::MaskByVector, Rule::MaskVcc];
        let reads = facts.scalar_reads;
        let met = self.unsettled.read(reads, vector, rules, facts.rules);
        let written = facts.scalar_writes & self.masks;
        match vector {
            true => {
                self.unsettled.by_vector |= written;
                self.unsettled.by_scalar &= !facts.scalar_writes;
            }
            false => {
                self.unsettled.by_scalar |= written;
                self.unsettled.by_vector &= !facts.scalar_writes;
            }
        }
        self.unsettled.note(index, written, vector);
        self.masks &= !facts.scalar_writes;
        self.masks |= facts.mask;
        met
    }

    /// Scalar registers that vector instructions read: RDNA 4.
    fn scalar_reads(&mut self, index: usize, facts: &Facts) -> Option<Met> {
        let vector = facts.is(Facts::VECTOR);
        let rules = [Rule::ReadByScalar, Rule::ReadByVector, Rule::ReadVcc];
        let reads = facts.scalar_reads & self.read;
        if !vector && reads & VCC_BITS & self.unsettled.by_vector != 0 {
            self.unsettled.by_vector &= !VCC_BITS;
            self.unsettled.by_scalar &= !VCC_BITS;
        }
        if !vector && facts.scalar_reads & !VCC_BITS != 0 {
            self.unsettled.by_vector &= VCC_BITS;
        }
        let met = self.unsettled.read(reads, vector, rules, facts.rules);
        if vector {
            self.read |= facts.scalar_pairs;
        }
        if facts.is(Facts::CALLS) {
            // LLVM does not wait for the address to return to.
            self.unsettled.by_scalar &= !facts.scalar_writes;
            self.unsettled.by_vector &= !facts.scalar_writes;
            return met;
        }
        let written = facts.scalar_writes & self.read;
        let vcc = written & VCC_BITS;
        match vector {
            true => {
                self.unsettled.by_vector |= written;
                self.unsettled.by_scalar &= !vcc;
            }
            false => {
                self.unsettled.by_scalar |= written;
                self.unsettled.by_vector &= !vcc;
            }
        }
        self.unsettled.note(index, written, vector);
        met
    }
}

#[cfg(test)]
mod tests;
