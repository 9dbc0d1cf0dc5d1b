//! A matrix instruction spread over waves.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CopyAtom, MmaAtom, TiledCopy, cut, numbers_all};
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::Nest;
use crate::tiler::Tiler;

/// A matrix instruction repeated over waves, `C(m,n) += A(m,k) B(n,k)`, as CuTe's `TiledMMA`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct TiledMma {
    atom: MmaAtom,
    /// From a place along (m, n, k) to the wave there.
    waves: Layout,
    permutation: Tiler,
    /// Waves along m, n and k.
    grid: [i64; 3],
    /// Extents of the tile that all waves cover at once.
    tile: [i64; 3],
}

#[derive(Serialize, Deserialize)]
struct Text {
    atom: MmaAtom,
    waves: Layout,
    permutation: Tiler,
}

const M: usize = 0;
const N: usize = 1;
const K: usize = 2;

impl TiledMma {
    /// The atom by waves standing as `waves` says, a layout from a place along (m, n, k) to the
    /// wave's number; modes left out have one wave. Waves along k hold parts of the same sums.
    ///
    /// `permutation` has a tile for each of m, n and k (`_` or nothing where all is in order): the
    /// coordinates of that mode are taken in the order the tile gives before atoms are laid on
    /// them, so that a wave's atoms may lie side by side. [`Tiler::Whole`] permutes nothing.
    ///
    /// # Errors
    /// [`Rule::TooManyModes`] for more than three modes, [`Rule::Mismatch`] where `waves` does not
    /// number its places from 0 each once or a permutation is not one, [`Rule::Divisibility`] with
    /// the mode where the atoms of the waves do not divide a permutation, [`Rule::Overflow`].
    pub fn new(atom: MmaAtom, waves: Layout, permutation: Tiler) -> Result<TiledMma> {
        let fail = |rule| LayoutError::binary("tiled_mma", &atom, &waves, rule);
        let rank = 3;
        if waves.rank() > rank {
            let found = waves.rank();
            return Err(fail(Rule::TooManyModes { found, rank }));
        }
        if !numbers_all(&waves) {
            let why = "waves must be numbered from 0, each place once";
            return Err(fail(Rule::Mismatch { why }));
        }
        let places = waves.padded(rank);
        let mut grid = [1; 3];
        let mut tile = atom.shape();
        for (i, mode) in places.modes().iter().enumerate() {
            grid[i] = mode.size();
            let covered = tile[i].checked_mul(grid[i]);
            tile[i] = covered.ok_or_else(|| fail(Rule::Overflow { what: "the tile" }))?;
        }
        let fail = |rule| LayoutError::binary("tiled_mma", &atom, &permutation, rule);
        let why = "a permutation is a layout that numbers its coordinates from 0, each once, or \
                   `_`, for each of m, n and k";
        match &permutation {
            Tiler::Layout(_) => return Err(fail(Rule::Mismatch { why })),
            Tiler::Modes(modes) if modes.len() > rank => {
                let found = modes.len();
                return Err(fail(Rule::TooManyModes { found, rank }));
            }
            _ => {}
        }
        for (i, covered) in tile.iter_mut().enumerate() {
            match along(&permutation, i) {
                Tiler::Whole => {}
                Tiler::Layout(order) if numbers_all(order) => {
                    let (value, divisor) = (order.size(), *covered);
                    if value % divisor != 0 {
                        return Err(fail(Rule::Divisibility { value, divisor }).at([i]));
                    }
                    *covered = value;
                }
                _ => {
                    return Err(fail(Rule::Mismatch { why }).at([i]));
                }
            }
        }
        Ok(TiledMma {
            atom,
            waves,
            permutation,
            grid,
            tile,
        })
    }

    /// The atom.
    pub fn atom(&self) -> &MmaAtom {
        &self.atom
    }

    /// From a place along (m, n, k) to the wave there.
    pub fn waves(&self) -> &Layout {
        &self.waves
    }

    /// The order in which coordinates are taken along m, n and k.
    pub fn permutation(&self) -> &Tiler {
        &self.permutation
    }

    /// Extents along m, n and k of what all waves multiply at once.
    pub fn tile(&self) -> [i64; 3] {
        self.tile
    }

    /// Number of threads: the lanes of all waves.
    pub fn threads(&self) -> i64 {
        self.atom.c().modes()[0].size() * self.waves.size()
    }

    /// Who holds which element of A in a block over (m, k): `((lane, wave), value, rest_m,
    /// rest_k)` to what `block` gives. Waves along n hold the same.
    ///
    /// # Errors
    /// [`Rule::Rank`], [`Rule::Divisibility`] with the mode where the tile does not divide the
    /// block, and as [`Layout::compose`].
    pub fn partition_a(&self, block: &Layout) -> Result<Layout> {
        self.partition("partition_a", self.atom.a(), [M, K], block)
    }

    /// Who holds which element of B in a block over (n, k). Waves along m hold the same.
    ///
    /// # Errors
    /// As [`TiledMma::partition_a`].
    pub fn partition_b(&self, block: &Layout) -> Result<Layout> {
        self.partition("partition_b", self.atom.b(), [N, K], block)
    }

    /// Who holds which element of C in a block over (m, n). Waves along k hold the same.
    ///
    /// # Errors
    /// As [`TiledMma::partition_a`].
    pub fn partition_c(&self, block: &Layout) -> Result<Layout> {
        self.partition("partition_c", self.atom.c(), [M, N], block)
    }

    fn partition(
        &self,
        operation: &'static str,
        operand: &Layout,
        modes: [usize; 2],
        block: &Layout,
    ) -> Result<Layout> {
        self.parts(operand, modes, block)
            .map_err(|e| e.shown(operation, self, block))
    }

    fn parts(&self, operand: &Layout, modes: [usize; 2], block: &Layout) -> Result<Layout> {
        let of = |extents: [i64; 3]| modes.map(|mode| extents[mode]);
        // Refuses what the tile does not divide, whatever of it is cut below.
        cut(block, &of(self.tile))?;
        let order = modes.map(|mode| along(&self.permutation, mode).clone());
        let ordered = block.logical_divide(Tiler::Modes(order.into()))?;
        let (inside, places) = cut(&ordered, &of(self.atom.shape()))?;
        let held = inside.compose(operand)?;
        let (standing, rest) = cut(&places, &of(self.grid))?;
        let waves = standing.compose(&self.places(modes)?)?;
        let mut parts = vec![Layout::concat(&[held.mode(0)?, waves])?, held.mode(1)?];
        parts.extend(rest.into_modes());
        Layout::concat(&parts)
    }

    /// From a wave's number to its place along two modes, the first fastest.
    fn places(&self, [first, second]: [usize; 2]) -> Result<Layout> {
        let mut modes = self.grid.map(|waves| (waves, 0));
        modes[first].1 = 1;
        modes[second].1 = self.grid[first];
        Layout::flat(&modes)?.compose(&self.waves.padded(3).right_inverse())
    }

    /// From (thread, value) to the tile of A over (m, k).
    ///
    /// # Errors
    /// As [`Layout::compose`], where no layout is that function.
    pub fn layout_a(&self) -> Result<Layout> {
        self.thread_values("layout_a", self.atom.a(), [M, K])
    }

    /// From (thread, value) to the tile of B over (n, k).
    ///
    /// # Errors
    /// As [`TiledMma::layout_a`].
    pub fn layout_b(&self) -> Result<Layout> {
        self.thread_values("layout_b", self.atom.b(), [N, K])
    }

    /// From (thread, value) to the tile of C over (m, n).
    ///
    /// # Errors
    /// As [`TiledMma::layout_a`].
    pub fn layout_c(&self) -> Result<Layout> {
        self.thread_values("layout_c", self.atom.c(), [M, N])
    }

    fn thread_values(
        &self,
        operation: &'static str,
        operand: &Layout,
        modes: [usize; 2],
    ) -> Result<Layout> {
        let tile = Layout::col_major(&modes.map(|mode| self.tile[mode]))?;
        let parts = self.partition(operation, operand, modes, &tile)?;
        parts.group(1..4)
    }

    /// The registers of A that one thread needs for a block of these extents along (m, k):
    /// `(value, rest_m, rest_k)`, compact, the first mode fastest.
    ///
    /// # Errors
    /// As [`TiledMma::partition_a`].
    pub fn fragment_a(&self, extents: [i64; 2]) -> Result<Layout> {
        fragment(&self.partition_a(&Layout::col_major(&extents)?)?)
    }

    /// The registers of B that one thread needs for a block along (n, k).
    ///
    /// # Errors
    /// As [`TiledMma::partition_a`].
    pub fn fragment_b(&self, extents: [i64; 2]) -> Result<Layout> {
        fragment(&self.partition_b(&Layout::col_major(&extents)?)?)
    }

    /// The registers of C that one thread needs for a block along (m, n).
    ///
    /// # Errors
    /// As [`TiledMma::partition_a`].
    pub fn fragment_c(&self, extents: [i64; 2]) -> Result<Layout> {
        fragment(&self.partition_c(&Layout::col_major(&extents)?)?)
    }

    /// The copy of A's tile by the threads that multiply it, each its own elements: CuTe's
    /// `make_tiled_copy_A`.
    ///
    /// # Errors
    /// As [`TiledMma::layout_a`] and [`TiledCopy::over`].
    pub fn tiled_copy_a(&self, atom: CopyAtom) -> Result<TiledCopy> {
        TiledCopy::over(atom, vec![self.tile[M], self.tile[K]], self.layout_a()?)
    }

    /// The copy of B's tile, as [`TiledMma::tiled_copy_a`].
    ///
    /// # Errors
    /// As there.
    pub fn tiled_copy_b(&self, atom: CopyAtom) -> Result<TiledCopy> {
        TiledCopy::over(atom, vec![self.tile[N], self.tile[K]], self.layout_b()?)
    }

    /// The copy of C's tile, as [`TiledMma::tiled_copy_a`].
    ///
    /// # Errors
    /// As there.
    pub fn tiled_copy_c(&self, atom: CopyAtom) -> Result<TiledCopy> {
        TiledCopy::over(atom, vec![self.tile[M], self.tile[N]], self.layout_c()?)
    }
}

/// The tile of one mode.
fn along(permutation: &Tiler, mode: usize) -> &Tiler {
    match permutation {
        Tiler::Modes(modes) => modes.get(mode).unwrap_or(&Tiler::Whole),
        all => all,
    }
}

/// The compact layout with the modes of one thread's part.
fn fragment(parts: &Layout) -> Result<Layout> {
    Layout::compact_left(Nest::Tuple(parts.shape().modes()[1..].to_vec()))
}

impl TryFrom<Text> for TiledMma {
    type Error = LayoutError;

    fn try_from(text: Text) -> Result<TiledMma> {
        TiledMma::new(text.atom, text.waves, text.permutation)
    }
}

impl From<TiledMma> for Text {
    fn from(mma: TiledMma) -> Text {
        Text {
            atom: mma.atom,
            waves: mma.waves,
            permutation: mma.permutation,
        }
    }
}

impl fmt::Display for TiledMma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.atom, self.waves)?;
        match &self.permutation {
            Tiler::Whole => Ok(()),
            order => write!(f, " in {order}"),
        }
    }
}
