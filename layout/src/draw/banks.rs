//! Which lanes collide in the banks of a memory.

use crate::error::{LayoutError, Result, Rule};

/// A banked memory: `banks` banks of `width` bytes each, interleaved, and which lanes it serves
/// together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankModel {
    /// Number of banks.
    pub banks: i64,
    /// Bytes of one bank in one row.
    pub width: i64,
    /// Lanes served in the same cycle where their banks differ.
    pub groups: Vec<Vec<usize>>,
}

impl BankModel {
    /// Lanes `0..lanes` in runs of `run`.
    pub fn in_runs(banks: i64, width: i64, lanes: usize, run: usize) -> BankModel {
        let lanes: Vec<usize> = (0..lanes).collect();
        BankModel {
            banks,
            width,
            groups: lanes.chunks(run.max(1)).map(<[usize]>::to_vec).collect(),
        }
    }
}

/// What one group of lanes asks of each bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankUse {
    /// For each bank, the words asked for (their number in the memory) and the lanes that ask.
    pub banks: Vec<Vec<(i64, Vec<usize>)>>,
}

impl BankUse {
    /// Cycles to serve the group: the most words that any one bank gives. Lanes that ask for the
    /// same word share it.
    pub fn cycles(&self) -> i64 {
        self.banks.iter().map(Vec::len).max().unwrap_or(0) as i64
    }
}

/// What each group of lanes asks of each bank, where lane `i` accesses `bytes` bytes from byte
/// address `addresses[i]`.
///
/// # Errors
/// [`Rule::PositiveFactor`] where banks, width or bytes are below 1, [`Rule::TooLarge`] above 4096
/// banks or 1024 bytes a lane, [`Rule::OutOfRange`] where a group names a lane without an address
/// or an address is negative.
pub fn bank_use(addresses: &[i64], bytes: i64, model: &BankModel) -> Result<Vec<BankUse>> {
    let fail = |rule| LayoutError::unary("banks", &format!("{} lanes", addresses.len()), rule);
    for factor in [model.banks, model.width, bytes] {
        if factor < 1 {
            return Err(fail(Rule::PositiveFactor { factor }));
        }
    }
    for (cells, limit) in [(model.banks, 4096), (bytes, 1024)] {
        if cells > limit {
            return Err(fail(Rule::TooLarge { cells, limit }));
        }
    }
    let mut uses = Vec::with_capacity(model.groups.len());
    for group in &model.groups {
        let mut banks = vec![Vec::<(i64, Vec<usize>)>::new(); model.banks as usize];
        for &lane in group {
            let extent = addresses.len() as i64;
            let &address = addresses.get(lane).ok_or_else(|| {
                fail(Rule::OutOfRange {
                    coordinate: lane as i64,
                    extent,
                })
            })?;
            let last = address.checked_add(bytes - 1).filter(|_| address >= 0);
            let last = last.ok_or_else(|| {
                fail(Rule::OutOfRange {
                    coordinate: address,
                    extent: i64::MAX,
                })
            })?;
            for word in address / model.width..=last / model.width {
                let bank = &mut banks[(word % model.banks) as usize];
                match bank.iter_mut().find(|(other, _)| *other == word) {
                    Some((_, lanes)) => lanes.push(lane),
                    None => bank.push((word, vec![lane])),
                }
            }
        }
        uses.push(BankUse { banks });
    }
    Ok(uses)
}
