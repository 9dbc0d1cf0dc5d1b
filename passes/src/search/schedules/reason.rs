//! What keeps a combination of choices from being built.

use serde::{Serialize, Serializer};
use std::fmt;

/// What keeps a combination of choices from being built, or from being searched. The side
/// conditions of the rules are made of these ([`super::Rule::conditions`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No atom of the types has the K of a slice.
    NoAtom,
    /// The tile is no whole number of atoms for every wave.
    PartAtoms,
    /// The waves are more than a workgroup has.
    TooManyWaves,
    /// K tiles do not divide the problem's K.
    PartTiles,
    /// Lines of A, B or C start so far apart that a tile spans more memory than offsets within a
    /// tile reach.
    TooFarApart,
    /// The threads cannot share a tile of A or B evenly.
    UnevenThreads,
    /// A row of K is no power of two of fragments, which the published permutation moves.
    NoPermutation,
    /// The tiles are more than the LDS of a workgroup.
    TooMuchLds,
    /// The order of loads is not the plain one, and they are not interleaved.
    NotInterleaved,
    /// Accumulators, fragments, staged tiles and addresses are more registers than a wave has
    /// while its workgroup is resident.
    TooManyVgprs,
    /// Kernels with as few registers to spare spilled when they were compiled.
    TooFewSpare,
    /// The machine record has no rates of the memory, or no cycles of the instruction.
    NoRates,
    /// A workgroup does not fit on a compute unit.
    TooLarge,
}

impl Reason {
    /// The refusal in words, as reports have it.
    pub fn text(self) -> &'static str {
        match self {
            Reason::NoAtom => "no atom of that k",
            Reason::PartAtoms => "no whole atoms for every wave",
            Reason::TooManyWaves => "more waves than a workgroup has",
            Reason::PartTiles => "K tiles that do not divide the problem's K",
            Reason::TooFarApart => "a tile that spans more than 2 GiB of memory",
            Reason::UnevenThreads => "threads that cannot share a tile evenly",
            Reason::NoPermutation => {
                "rows that are no power of two of fragments, which `xor` moves"
            }
            Reason::TooMuchLds => "more LDS than a workgroup has",
            Reason::NotInterleaved => "an order of what is not interleaved",
            Reason::TooManyVgprs => "more registers than a wave has",
            Reason::TooFewSpare => "no more registers to spare than kernels that spilled",
            Reason::NoRates => "no rates known",
            Reason::TooLarge => "a workgroup that does not fit on a CU",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}
