//! Thread-value layouts of a workgroup's tiles, computed from atoms by the layout algebra.
//!
//! Every layout here maps (thread of the workgroup, value) to the column-major index of an
//! element in a block tile. Nothing here knows a lane number: the atoms' tables do.

use tilefold_dialect::atoms::MmaAtom;
use tilefold_layout::{Layout, LayoutError, make_layout, make_layout_tv};

/// Layouts of A, B and C for an mma over the whole block tile.
#[derive(Clone, Debug)]
pub struct MmaLayouts {
    /// (thread, (value, m repeat, k repeat)) -> (m, k).
    pub a: Layout,
    /// (thread, (value, n repeat, k repeat)) -> (n, k).
    pub b: Layout,
    /// (thread, (value, m repeat, n repeat)) -> (m, n).
    pub c: Layout,
    /// Atoms of one wave along m, n and k.
    pub repeat: [i64; 3],
}

impl MmaLayouts {
    /// Spreads `atom` over `block` = (m, n, k) with `waves`, a layout (wave m, wave n) -> wave
    /// that is a bijection onto the workgroup's waves. A wave's atoms lie next to each other.
    ///
    /// The caller has checked that the block is a whole number of atoms per wave.
    ///
    /// # Errors
    /// A [`LayoutError`] where the algebra cannot express a step.
    pub fn new(atom: &MmaAtom, block: [i64; 3], waves: &Layout) -> Result<Self, LayoutError> {
        let grid = [waves.mode(0)?.size(), waves.mode(1)?.size()];
        let [am, an, ak] = atom.shape;
        let repeat = [
            block[0] / (am * grid[0]),
            block[1] / (an * grid[1]),
            block[2] / ak,
        ];
        let coordinate = waves.right_inverse();
        // Wave -> offset, given how far one step along each wave coordinate goes.
        let wave =
            |m: i64, n: i64| Layout::flat(&[(grid[0], m), (grid[1], n)])?.compose(&coordinate);
        let (a, b) = (atom.a(), atom.b());
        let order = contiguous_k(&a, am)?;
        Ok(Self {
            a: spread(
                &relabel(&a, am, &order)?,
                [am, ak],
                [block[0], block[2]],
                &wave(am * repeat[0], 0)?,
                [repeat[0], repeat[2]],
            )?,
            b: spread(
                &relabel(&b, an, &order)?,
                [an, ak],
                [block[1], block[2]],
                &wave(0, an * repeat[1])?,
                [repeat[1], repeat[2]],
            )?,
            c: spread_results(&atom.c(), atom, block, waves)?,
            repeat,
        })
    }
}

/// (thread, (value, m repeat, n repeat)) -> (m, n): `results`, the (lane, value) -> (m, n) of
/// `atom`, over a block as [`MmaLayouts::new`] spreads it.
///
/// # Errors
/// A [`LayoutError`] where the algebra cannot express a step.
pub fn spread_results(
    results: &Layout,
    atom: &MmaAtom,
    block: [i64; 3],
    waves: &Layout,
) -> Result<Layout, LayoutError> {
    let grid = [waves.mode(0)?.size(), waves.mode(1)?.size()];
    let [m, n, _] = atom.shape;
    let repeat = [block[0] / (m * grid[0]), block[1] / (n * grid[1])];
    let steps = [
        (grid[0], m * repeat[0]),
        (grid[1], n * repeat[1] * block[0]),
    ];
    let wave = Layout::flat(&steps)?.compose(&waves.right_inverse())?;
    spread(results, [m, n], [block[0], block[1]], &wave, repeat)
}

/// One atom's operand layout, repeated over waves and within a wave, onto a block tile.
fn spread(
    atom: &Layout,
    extent: [i64; 2],
    tile: [i64; 2],
    wave: &Layout,
    repeat: [i64; 2],
) -> Result<Layout, LayoutError> {
    let embed = Layout::flat(&[(extent[0], 1), (extent[1], tile[0])])?;
    let lanes = embed.compose(&atom.mode(0)?)?;
    let values = embed.compose(&atom.mode(1)?)?;
    let steps = Layout::flat(&[(repeat[0], extent[0]), (repeat[1], extent[1] * tile[0])])?;
    make_layout(&[
        make_layout(&[lanes, wave.clone()])?,
        make_layout(&[values, steps.mode(0)?, steps.mode(1)?])?,
    ])
}

/// The order of K in which a lane's values are neighbours: K -> new K.
///
/// A product does not change when the K of A and of B are renamed alike, so that a lane may
/// take values that lie together in memory, whatever K the instruction calls them. On RDNA 4
/// this turns the two runs of four per lane into one of eight.
fn contiguous_k(operand: &Layout, rows: i64) -> Result<Layout, LayoutError> {
    let k_extent = operand.cosize() / rows;
    let to_k = Layout::flat(&[(rows, 0), (k_extent, 1)])?;
    let lanes = to_k.compose(&operand.mode(0)?)?.filter();
    let values = to_k.compose(&operand.mode(1)?)?;
    Ok(make_layout(&[values, lanes])?.coalesce().right_inverse())
}

/// The operand's layout with its K renamed by `order`.
fn relabel(operand: &Layout, rows: i64, order: &Layout) -> Result<Layout, LayoutError> {
    let modes: Vec<(i64, i64)> = std::iter::once((rows, 1))
        .chain(
            order
                .flat_modes()
                .into_iter()
                .map(|(extent, stride)| (extent, stride * rows)),
        )
        .collect();
    let rename = Layout::flat(&modes)?;
    let lanes = rename.compose(&operand.mode(0)?)?;
    make_layout(&[lanes, rename.compose(&operand.mode(1)?)?.coalesce()])
}

/// Thread-value layout of a copy of a whole `tile`: `threads` and `values` are layouts over
/// the tile's two coordinates (where a thread, or a value of it, sits); what they cover is
/// repeated until the tile is full, down the first coordinate first.
///
/// # Errors
/// A [`LayoutError`] where `threads` and `values` cover no whole part of the tile.
pub fn copy_layout(
    threads: &Layout,
    values: &Layout,
    tile: [i64; 2],
) -> Result<Layout, LayoutError> {
    let (covered, layout) = make_layout_tv(threads, values)?;
    let embed = Layout::flat(&[(covered[0], 1), (covered[1], tile[0])])?;
    let rest = Layout::flat(&[
        (tile[0] / covered[0], covered[0]),
        (tile[1] / covered[1], covered[1] * tile[0]),
    ])?;
    make_layout(&[
        embed.compose(&layout.mode(0)?)?,
        make_layout(&[
            embed.compose(&layout.mode(1)?)?,
            rest.mode(0)?,
            rest.mode(1)?,
        ])?,
    ])
}

/// Threads along and across the lines of a `tile` that `threads` threads copy, each moving `width`
/// neighbours along coordinate `along` at once: as many along as divide both.
///
/// `None` where the threads cannot share the tile evenly that way.
pub(crate) fn shared_by(
    tile: [i64; 2],
    along: usize,
    threads: i64,
    width: i64,
) -> Option<[i64; 2]> {
    if threads < 1 || width < 1 || tile[along] < 1 || tile[along] % width != 0 {
        return None;
    }
    let (mut side_by_side, mut rest) = (threads, tile[along] / width);
    while rest != 0 {
        (side_by_side, rest) = (rest, side_by_side % rest);
    }
    let above = threads / side_by_side;
    (tile[1 - along] % above == 0).then_some([side_by_side, above])
}

/// Thread and value layouts that copy a `tile` with `threads` threads, each moving `width`
/// neighbours along coordinate `along` at once and consecutive threads moving on along it.
///
/// `None` where the threads cannot share the tile evenly that way.
pub fn copy_threads(
    tile: [i64; 2],
    along: usize,
    threads: i64,
    width: i64,
) -> Option<(Layout, Layout)> {
    let across = 1 - along;
    let [along_threads, across_threads] = shared_by(tile, along, threads, width)?;
    let mut thread_modes = [(0, 0); 2];
    thread_modes[along] = (along_threads, 1);
    thread_modes[across] = (across_threads, along_threads);
    let mut value_modes = [(1, 1); 2];
    value_modes[along] = (width, 1);
    value_modes[across] = (1, width);
    Some((
        Layout::flat(&thread_modes).ok()?,
        Layout::flat(&value_modes).ok()?,
    ))
}
