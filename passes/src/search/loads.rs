//! How wide the loads of a tile may be.

use crate::{plan::Plan, tiling::copy_threads};
use serde::Serialize;

/// A width of the loads that carry one operand's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoadWidth {
    /// Bits of a load.
    pub bits: i64,
    /// Loads of a thread and K tile.
    pub loads: i64,
    /// Why loads are not so wide, where they cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'static str>,
}

/// Every width of loads of operand 0 (A) or 1 (B) of a plan, widest first.
pub fn load_widths(plan: &Plan, operand: usize) -> Vec<LoadWidth> {
    let bits = i64::from(plan.input().bits());
    let tile = [plan.block[operand], plan.block[2]];
    let along = usize::from(plan.order(operand) == "row");
    let aligned = crate::plan::loaded_elements(&plan.problem, operand, plan.load_space);
    let widths = std::iter::successors(Some(128 / bits), |width| (*width > 1).then_some(width / 2));
    widths
        .map(|width| LoadWidth {
            bits: width * bits,
            loads: tile[0] * tile[1] / (plan.threads() * width).max(1),
            refused: if width > aligned {
                Some("lines of the matrix are no multiple of it")
            } else if copy_threads(tile, along, plan.threads(), width).is_none() {
                Some("the threads cannot share the tile in such pieces")
            } else {
                None
            },
        })
        .collect()
}
