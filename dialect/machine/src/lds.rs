//! The local data share: its size, its banks and who is served together.

use serde::Deserialize;

use crate::Machine;

/// Local data share.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lds {
    /// Most bytes that one workgroup may have.
    pub per_workgroup: u32,
    /// Bytes that the workgroups of one compute unit share.
    pub per_cu: u32,
    /// A workgroup's bytes are allocated in multiples of this.
    pub granule: u32,
    /// Banks there are. Accesses of some widths are spread over fewer: see [`Lds::banks_of`].
    pub banks: u32,
    /// Bytes of a bank's word.
    pub bank_bytes: u32,
    read: LaneGroups,
    write: LaneGroups,
}

/// The lanes that an LDS instruction serves together, by the width of a lane's access: each row
/// is a group, and the groups of one width hold every lane of the wave once, of RDNA's of 32 lanes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneGroups {
    /// Banks of the widths that do not use all of them.
    #[serde(default)]
    banks: FewerBanks,
    b32: Vec<Vec<u8>>,
    b64: Vec<Vec<u8>>,
    b96: Vec<Vec<u8>>,
    b128: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FewerBanks {
    b32: Option<u32>,
    b64: Option<u32>,
    b96: Option<u32>,
    b128: Option<u32>,
}

/// Direction of an LDS access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// From LDS to registers.
    Read,
    /// From registers to LDS.
    Write,
}

/// How much one lane moves in one LDS access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// One byte.
    B8,
    /// Two bytes.
    B16,
    /// Four bytes.
    B32,
    /// Eight bytes.
    B64,
    /// Twelve bytes.
    B96,
    /// Sixteen bytes.
    B128,
}

impl Width {
    /// The width of so many bits, if LDS instructions have it.
    pub fn from_bits(bits: u32) -> Option<Self> {
        Some(match bits {
            8 => Self::B8,
            16 => Self::B16,
            32 => Self::B32,
            64 => Self::B64,
            96 => Self::B96,
            128 => Self::B128,
            _ => return None,
        })
    }

    /// Bytes that one lane moves.
    pub fn bytes(self) -> u32 {
        match self {
            Self::B8 => 1,
            Self::B16 => 2,
            Self::B32 => 4,
            Self::B64 => 8,
            Self::B96 => 12,
            Self::B128 => 16,
        }
    }
}

impl Lds {
    /// Banks over which an access is spread: word `w` lies in bank `w % banks_of(..)`. Below 32
    /// bits the banks of 32 bits hold.
    pub fn banks_of(&self, width: Width, access: Access) -> u32 {
        let fewer = &self.direction(access).banks;
        let fewer = match width {
            Width::B8 | Width::B16 | Width::B32 => fewer.b32,
            Width::B64 => fewer.b64,
            Width::B96 => fewer.b96,
            Width::B128 => fewer.b128,
        };
        fewer.unwrap_or(self.banks)
    }

    fn direction(&self, access: Access) -> &LaneGroups {
        match access {
            Access::Read => &self.read,
            Access::Write => &self.write,
        }
    }

    /// The lanes served together in an access. Below 32 bits the groups of 32 bits hold.
    pub fn groups(&self, width: Width, access: Access) -> &[Vec<u8>] {
        let groups = self.direction(access);
        match width {
            Width::B8 | Width::B16 | Width::B32 => &groups.b32,
            Width::B64 => &groups.b64,
            Width::B96 => &groups.b96,
            Width::B128 => &groups.b128,
        }
    }
}

impl Machine {
    /// Cycles that bank conflicts add to one LDS access of a wave.
    ///
    /// `addresses[lane]` is the byte address of the lane's access, or none where the lane is
    /// switched off; lanes past the end of the slice are off too.
    ///
    /// The rule: for each group of lanes that is served together, take the largest number of
    /// distinct words (of a bank's width) that active lanes touch in one bank, less one; add up
    /// over the groups. Lanes on one word share it, and a group without active lanes costs nothing.
    /// A wave of more lanes than the groups hold (64 on RDNA) is served in as many passes of those.
    pub fn conflict_cycles(&self, addresses: &[Option<u32>], width: Width, access: Access) -> u32 {
        let banks = self.lds.banks_of(width, access);
        let groups = self.lds.groups(width, access);
        let pass = groups.iter().map(Vec::len).sum::<usize>().max(1);
        let served = |addresses: &[Option<u32>], group: &[u8]| {
            let active = group
                .iter()
                .filter_map(|&lane| *addresses.get(usize::from(lane))?);
            self.deepest_bank(active, width, banks).saturating_sub(1)
        };
        addresses
            .chunks(pass)
            .flat_map(|addresses| groups.iter().map(move |group| served(addresses, group)))
            .sum()
    }

    /// The largest number of distinct words in one bank among accesses at the given addresses.
    fn deepest_bank(&self, addresses: impl Iterator<Item = u32>, width: Width, banks: u32) -> u32 {
        let word_bytes = u64::from(self.lds.bank_bytes);
        let mut words: Vec<u64> = addresses
            .flat_map(|address| {
                let first = u64::from(address);
                let last = first + u64::from(width.bytes()) - 1;
                first / word_bytes..=last / word_bytes
            })
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut depths = vec![0; banks as usize];
        for word in words {
            depths[(word % u64::from(banks)) as usize] += 1;
        }
        depths.into_iter().max().unwrap_or(0)
    }
}
