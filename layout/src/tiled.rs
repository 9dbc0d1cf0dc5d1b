//! Atoms repeated over a block: which element every lane of every wave holds.
//!
//! An atom is what one instruction does to one small tile: a layout from (lane, value) to the
//! tile. A block is covered by repeating it, first across waves and then in each wave again and
//! again. All of it is divides and compositions.

use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::IntTuple;
use crate::tiler::Tiler;

/// One operand of an instruction: which element of its tile each value of each lane is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atom {
    /// Extents of the tile.
    pub tile: [i64; 2],
    /// From (lane, value) to the 1-D column-major coordinate of the tile.
    pub layout: Layout,
}

impl Atom {
    /// The atom of a tile and its (lane, value) layout.
    ///
    /// # Errors
    /// [`Rule::Rank`] unless the layout has two modes; [`Rule::OutOfRange`] where it leaves the
    /// tile.
    pub fn new(tile: [i64; 2], layout: Layout) -> Result<Atom> {
        let space = Layout::col_major(&tile)?;
        let fail = |rule| LayoutError::binary("atom", &layout, &IntTuple::from(tile), rule);
        if layout.rank() != 2 {
            return Err(fail(Rule::Rank {
                expected: 2,
                found: layout.rank(),
            }));
        }
        let negative = layout.flat_modes().iter().any(|m| m.1 < 0);
        if negative || layout.cosize() > space.size() {
            let coordinate = layout.cosize() - 1;
            return Err(fail(Rule::OutOfRange {
                coordinate,
                extent: space.size(),
            }));
        }
        Ok(Atom { tile, layout })
    }

    /// The atom repeated over `block`, whose modes are the tile's: a layout from
    /// `((lane, wave), (value, repeat0, repeat1))` to whatever `block` gives.
    ///
    /// `waves` says where each wave stands: a layout from the wave's number to the 1-D coordinate
    /// of a grid of `grid` atoms. Waves that share a place hold the same elements.
    ///
    /// # Errors
    /// [`Rule::Divisibility`] with the mode where atoms times grid do not divide the block, and as
    /// [`Layout::compose`].
    pub fn repeat(&self, grid: [i64; 2], waves: &Layout, block: &Layout) -> Result<Layout> {
        let fail = |rule| LayoutError::binary("repeat", &self.layout, block, rule);
        if block.rank() != 2 {
            return Err(fail(Rule::Rank {
                expected: 2,
                found: block.rank(),
            }));
        }
        for (i, mode) in block.modes().iter().enumerate() {
            let value = mode.size();
            let step = self.tile[i].checked_mul(grid[i]).filter(|&n| n > 0);
            let divisor = step.ok_or_else(|| fail(Rule::PositiveFactor { factor: grid[i] }))?;
            if value.checked_rem(divisor) != Some(0) {
                return Err(fail(Rule::Divisibility { value, divisor }).at([i]));
            }
        }
        let by_atom = block.zipped_divide(&extents(self.tile)?)?;
        let (inside, places) = (by_atom.mode(0)?, by_atom.mode(1)?);
        let held = inside.compose(&self.layout)?;
        let by_wave = places.zipped_divide(&extents(grid)?)?;
        let standing = by_wave.mode(0)?.compose(waves)?;
        let lanes = Layout::concat(&[held.mode(0)?, standing])?;
        let mut values = vec![held.mode(1)?];
        values.extend(by_wave.mode(1)?.into_modes());
        Layout::concat(&[lanes, Layout::concat(&values)?])
    }
}

/// A matrix instruction repeated over waves: `C(m,n) += A(m,k) B(n,k)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TiledMma {
    /// Operand A over (m, k).
    pub a: Atom,
    /// Operand B over (n, k).
    pub b: Atom,
    /// Operands C and D over (m, n).
    pub c: Atom,
    /// Waves along m and along n.
    grid: [i64; 2],
    /// From the wave's number to its 1-D coordinate in the grid.
    waves: Layout,
}

impl TiledMma {
    /// The instruction with these operands, by waves standing as `waves` says: a layout from a
    /// place along (m, n) to the wave's number.
    ///
    /// # Errors
    /// [`Rule::Mismatch`] where the tiles of the operands do not fit together, or `waves` does not
    /// number its waves from 0 without gaps.
    pub fn new(a: Atom, b: Atom, c: Atom, waves: &Layout) -> Result<TiledMma> {
        let fail = |why| LayoutError::binary("tiled_mma", &c.layout, waves, Rule::Mismatch { why });
        let ([m, k], [n, also_k]) = (a.tile, b.tile);
        if k != also_k || c.tile != [m, n] {
            return Err(fail("the operands' tiles disagree in m, n or k"));
        }
        let padded = waves.padded(2);
        let inverse = waves.right_inverse();
        if padded.rank() != 2 || inverse.size() != waves.size() {
            return Err(fail(
                "waves over (m,n) must be numbered from 0 without gaps",
            ));
        }
        let grid = [padded.mode(0)?.size(), padded.mode(1)?.size()];
        Ok(TiledMma {
            a,
            b,
            c,
            grid,
            waves: inverse,
        })
    }

    /// Who holds which element of A in a block over (m, k): `((lane, wave), (value, rest_m,
    /// rest_k))` to what `block` gives. Waves along n hold the same.
    ///
    /// # Errors
    /// As [`Atom::repeat`].
    pub fn partition_a(&self, block: &Layout) -> Result<Layout> {
        let along_m = Layout::flat(&[(self.grid[0], 1), (self.grid[1], 0)])?;
        self.a
            .repeat([self.grid[0], 1], &along_m.compose(&self.waves)?, block)
    }

    /// Who holds which element of B in a block over (n, k). Waves along m hold the same.
    ///
    /// # Errors
    /// As [`Atom::repeat`].
    pub fn partition_b(&self, block: &Layout) -> Result<Layout> {
        let along_n = Layout::flat(&[(self.grid[0], 0), (self.grid[1], 1)])?;
        self.b
            .repeat([self.grid[1], 1], &along_n.compose(&self.waves)?, block)
    }

    /// Who holds which element of C in a block over (m, n): each element once.
    ///
    /// # Errors
    /// As [`Atom::repeat`].
    pub fn partition_c(&self, block: &Layout) -> Result<Layout> {
        self.c.repeat(self.grid, &self.waves, block)
    }
}

/// A copy repeated over a tile: threads and values side by side, each thread's values in pieces of
/// what one instruction moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TiledCopy {
    /// Extents of the tile that one round of the copy covers.
    pub tile: Vec<i64>,
    /// From (thread, value) to the 1-D column-major coordinate of the tile.
    pub layout: Layout,
}

impl TiledCopy {
    /// Threads and values over a tile, as [`make_layout_tv`](crate::make_layout_tv).
    ///
    /// # Errors
    /// As there.
    pub fn new(threads: &Layout, values: &Layout) -> Result<TiledCopy> {
        let (tile, layout) = crate::tv::make_layout_tv(threads, values)?;
        Ok(TiledCopy { tile, layout })
    }

    /// What each thread moves of a block: `(thread, (value, rest...))` to what `block` gives.
    ///
    /// # Errors
    /// [`Rule::Divisibility`] with the mode where the tile does not divide the block,
    /// [`Rule::Rank`], and as [`Layout::compose`].
    pub fn partition(&self, block: &Layout) -> Result<Layout> {
        let fail = |rule| LayoutError::binary("tiled_copy", &self.layout, block, rule);
        if block.rank() != self.tile.len() {
            return Err(fail(Rule::Rank {
                expected: self.tile.len(),
                found: block.rank(),
            }));
        }
        for (i, (mode, &divisor)) in block.modes().iter().zip(&self.tile).enumerate() {
            let value = mode.size();
            if value % divisor != 0 {
                return Err(fail(Rule::Divisibility { value, divisor }).at([i]));
            }
        }
        let tiles: Result<Vec<_>> = self.tile.iter().map(|&n| Layout::identity(n)).collect();
        let divided = block.zipped_divide(&tiles?)?;
        let held = divided.mode(0)?.compose(&self.layout)?;
        let mut values = vec![held.mode(1)?];
        values.extend(divided.mode(1)?.into_modes());
        Layout::concat(&[held.mode(0)?, Layout::concat(&values)?])
    }
}

fn extents([a, b]: [i64; 2]) -> Result<Tiler> {
    Ok(Tiler::from(&[Layout::identity(a)?, Layout::identity(b)?]))
}
