//! Atoms repeated over blocks: which element every thread holds, reads or writes.
//!
//! An atom is what one instruction does to one small tile, as layouts from (lane, value) to the
//! tile. A tiled copy or a tiled multiplication spreads an atom over a workgroup's threads; its
//! partitions say which elements of a block each thread deals with. All of it is divides and
//! compositions, with CuTe's results.
//!
//! ```
//! use tilefold_layout::{CopyAtom, Layout, TiledCopy};
//! // 128 threads, each moving 8 neighbours along a row: 16 x 64 elements in one go.
//! let threads: Layout = "(16,8):(8,1)".parse()?;
//! let values: Layout = "(1,8):(8,1)".parse()?;
//! let copy = TiledCopy::new(CopyAtom::per_lane(8)?, &threads, &values)?;
//! let block: Layout = "(64,64):(64,1)".parse()?;
//! let parts = copy.partition_source(&block)?;
//! assert_eq!(parts.to_string(), "((8,16),(8,1),4,1):((8,64),(1,0),1024,0)");
//! // What thread 9 moves: its own modes, and where it starts.
//! let (mine, start) = parts.slice_and_offset(&"(9,_,_,_)".parse()?)?;
//! assert_eq!((mine.to_string().as_str(), start), ("((8,1),4,1):((1,0),1024,0)", 72));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atom;
mod copy;
mod mma;

pub use atom::{CopyAtom, MmaAtom, Side};
pub use copy::TiledCopy;
pub use mma::TiledMma;

use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::IntTuple;

/// `block` cut evenly in tiles of these extents: one tile, and how it repeats along each mode.
fn cut(block: &Layout, tile: &[i64]) -> Result<(Layout, Layout)> {
    let fail = |rule| LayoutError::binary("partition", block, &IntTuple::from(tile), rule);
    if block.rank() != tile.len() {
        return Err(fail(Rule::Rank {
            expected: tile.len(),
            found: block.rank(),
        }));
    }
    for (i, (mode, &divisor)) in block.modes().iter().zip(tile).enumerate() {
        let value = mode.size();
        if value % divisor != 0 {
            return Err(fail(Rule::Divisibility { value, divisor }).at([i]));
        }
    }
    let tiles: Result<Vec<_>> = tile.iter().map(|&n| Layout::identity(n)).collect();
    let divided = block.zipped_divide(&tiles?)?;
    let (inside, rest) = (divided.mode(0)?, divided.mode(1)?);
    // A divide rounds up within a nested mode's extents, too.
    let modes = block.modes().into_iter().zip(rest.modes()).zip(tile);
    for (i, ((mode, rest), tile)) in modes.enumerate() {
        if tile * rest.size() != mode.size() {
            let why = "the tile reaches past the end of an extent within the mode";
            return Err(fail(Rule::Mismatch { why }).at([i]));
        }
    }
    Ok((inside, rest))
}

/// Whether the layout reaches each of `0..n` and nothing else, repeating some by strides of 0
/// alone.
fn reaches_all(layout: &Layout, n: i64) -> bool {
    let once = layout.filter();
    // What the inverse leaves out, whichever way it leads, would make the cosize larger.
    once.cosize() == n && once.right_inverse().size() == n
}

/// Whether the layout numbers its coordinates `0..size`, each number once.
fn numbers_all(layout: &Layout) -> bool {
    layout.right_inverse().size() == layout.size()
}
