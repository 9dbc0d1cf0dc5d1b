//! Thread-value layouts: which element of a tile belongs to which value of which thread.

use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;

/// The tile that threads and their values make, and the layout from (thread, value) onto it.
///
/// `threads` and `values` map coordinates of a tile to thread and value numbers. The tile's extents
/// are the products of theirs, mode by mode, each thread's values lying next to one another. The
/// result sends (thread, value) to a 1-D (column-major) coordinate of the tile.
///
/// # Errors
/// [`Rule::Mismatch`] where thread or value numbers repeat or leave gaps, and as
/// [`Layout::raked_product`].
pub fn make_layout_tv(threads: &Layout, values: &Layout) -> Result<(Vec<i64>, Layout)> {
    let fail = |rule| LayoutError::binary("make_layout_tv", threads, values, rule);
    let raked = threads.raked_product(values).map_err(|e| fail(e.rule))?;
    let inverse = raked.right_inverse();
    // A product that is one to one is so in both factors; spans as large as sizes leave no gap.
    let gapless = |layout: &Layout| layout.cosize() == layout.size();
    if inverse.size() != raked.size() || !gapless(threads) || !gapless(values) {
        let why =
            "the thread and the value layout must each number their elements from 0 without gaps";
        return Err(fail(Rule::Mismatch { why }));
    }
    let tile = raked.modes().iter().map(Layout::size).collect();
    let by_thread = Layout::col_major(&[threads.size(), values.size()])?;
    Ok((tile, inverse.compose(&by_thread).map_err(|e| fail(e.rule))?))
}
