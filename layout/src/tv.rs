//! Thread-value layouts: which element of a tile belongs to which value of which thread.

use crate::error::{Fault, Result, Rule};
use crate::inverse::right_inverse_of;
use crate::layout::{Layout, Leaves};

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
    thread_values(threads, values).map_err(|fault| fault.of("make_layout_tv", threads, values))
}

fn thread_values(threads: &Layout, values: &Layout) -> Result<(Vec<i64>, Layout), Fault> {
    let why = "the thread and the value layout must each number their elements from 0 without gaps";
    // Spans as large as sizes leave no gap where the product is one to one.
    let gapless = |layout: &Layout| layout.cosize() == layout.size();
    if !gapless(threads) || !gapless(values) {
        return Err(Rule::Mismatch { why }.into());
    }
    // The raked product, leaf by leaf: the values of each mode go before its threads.
    let repeated = threads.repetition_by_mode(values)?;
    let rank = threads.rank().max(values.rank());
    let mut tile = Vec::with_capacity(rank);
    let mut leaves = Leaves::new();
    for i in 0..rank {
        let modes = [repeated.view().mode(i), threads.view().mode(i)];
        let modes = modes.into_iter().flatten();
        tile.push(modes.clone().map(|mode| mode.size()).product());
        modes.for_each(|mode| leaves.extend(mode.leaves()));
    }
    let inverse = right_inverse_of(&leaves);
    if inverse.size() != threads.size() * values.size() {
        return Err(Rule::Mismatch { why }.into());
    }
    let by_thread = Layout::col_major(&[threads.size(), values.size()])?;
    Ok((tile, inverse.composed(&by_thread)?))
}
