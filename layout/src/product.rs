//! Products: a layout repeated in the pattern of another.

use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::{IntTuple, Nest};
use crate::tiler::Tiler;

impl Layout {
    /// (block, repetition): this layout, repeated where `tiler` says, each repetition shifted
    /// clear of the others. With one tiler per mode, each mode is repeated so.
    ///
    /// # Errors
    /// As [`Layout::complement`] of this layout and [`Layout::compose`].
    pub fn logical_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        let tiler = tiler.into();
        let product = self.product(&tiler).and_then(Layout::checked);
        product.map_err(|fault| fault.of("logical_product", self, &tiler))
    }

    /// [`Layout::logical_product`], for the caller to check.
    fn product(&self, tiler: &Tiler) -> Result<Layout, Fault> {
        match tiler {
            Tiler::Whole => Ok(self.clone()),
            Tiler::Layout(tile) => {
                let repetition = self.repetition(tile)?;
                Ok(Layout::bundle([self.clone(), repetition]))
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.rank())?;
                let mut modes = self.modes();
                for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                    *mode = mode.product(tiler).map_err(|fault| fault.within(i))?;
                }
                Ok(Layout::bundle(modes))
            }
        }
    }

    /// Where each repetition of this layout in the pattern of `tile` starts.
    fn repetition(&self, tile: &Layout) -> Result<Layout, Fault> {
        let overflow = || Rule::Overflow {
            what: "the product's cosize",
        };
        let cotarget = self
            .size()
            .checked_mul(tile.cosize())
            .ok_or_else(overflow)?;
        let mut room = self.complement_in(&[cotarget])?;
        // Past its size the complement would run on in a gap of the block, over the block itself:
        // where the gaps hold too few repetitions, the rest go behind it.
        if tile.cosize() > room.size() {
            let ends = self
                .leaves()
                .into_iter()
                .filter(|mode| mode.0 != 1 && mode.1 != 0);
            let end = ends.map(|(n, d)| n.saturating_mul(d)).max().unwrap_or(1);
            let cotarget = end.checked_mul(tile.cosize()).ok_or_else(overflow)?;
            room = self.complement_in(&[cotarget])?;
        }
        let repeated = room.composed(tile)?;
        apart_on_both_sides(&room, tile, &repeated)?;
        Ok(repeated)
    }

    /// The blocks of all modes and the repetitions of all modes, along the tiler's tree, for the
    /// caller to check.
    fn repeat_all(&self, tiler: &Tiler) -> Result<(Layout, Layout), Fault> {
        match tiler {
            Tiler::Layout(tile) => Ok((self.clone(), self.repetition(tile)?)),
            Tiler::Whole => Err(Rule::NothingToZip.into()),
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.rank())?;
                let mut blocks = Vec::with_capacity(tilers.len());
                let mut rests = Vec::with_capacity(self.rank());
                for (i, mode) in self.modes().into_iter().enumerate() {
                    let Some(tiler) = tilers.get(i) else {
                        rests.push(mode);
                        continue;
                    };
                    let pair = mode.repeat_all(tiler).map_err(|fault| fault.within(i))?;
                    blocks.push(pair.0);
                    rests.push(pair.1);
                }
                Ok((Layout::bundle(blocks), Layout::bundle(rests)))
            }
        }
    }

    /// A product whose blocks and repetitions are put together by `arrange`.
    fn arranged_product(
        &self,
        operation: &'static str,
        tiler: Tiler,
        arrange: impl FnOnce(Layout, Layout) -> Layout,
    ) -> Result<Layout> {
        let parts = self.repeat_all(&tiler);
        let product = parts.and_then(|(block, rest)| arrange(block, rest).checked());
        product.map_err(|fault| fault.of(operation, self, &tiler))
    }

    /// `((block...),(repetition...))`, gathered from all modes.
    ///
    /// # Errors
    /// As [`Layout::logical_product`]; [`Rule::NothingToZip`] for `_`.
    pub fn zipped_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.arranged_product("zipped_product", tiler.into(), |block, rest| {
            Layout::bundle([block, rest])
        })
    }

    /// `(block, repetition0, repetition1, ...)`.
    ///
    /// # Errors
    /// As [`Layout::zipped_product`].
    pub fn tiled_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.arranged_product("tiled_product", tiler.into(), |block, rest| {
            Layout::bundle(std::iter::once(block).chain(rest.into_modes()))
        })
    }

    /// `(block0, block1, ..., repetition0, repetition1, ...)`.
    ///
    /// # Errors
    /// As [`Layout::zipped_product`].
    pub fn flat_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.arranged_product("flat_product", tiler.into(), |block, rest| {
            Layout::bundle(block.into_modes().into_iter().chain(rest.into_modes()))
        })
    }

    /// The same as [`Layout::zipped_product`].
    ///
    /// # Errors
    /// As [`Layout::zipped_product`].
    pub fn hier_unzip_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.zipped_product(tiler).map_err(|e| LayoutError {
            operation: "hier_unzip_product",
            ..e
        })
    }

    /// Repeats this block over `tiler`, mode by mode: mode `i` is (block mode, tiler mode), so
    /// whole blocks lie side by side.
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    pub fn blocked_product(&self, tiler: &Layout) -> Result<Layout> {
        let product = self.ranked_product(tiler);
        let zipped = product.and_then(|(block, repeated)| zip_modes(block, repeated).checked());
        zipped.map_err(|fault| fault.of("blocked_product", self, tiler))
    }

    /// As [`Layout::blocked_product`] with the blocks interleaved: mode `i` is (tiler mode, block
    /// mode).
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    pub fn raked_product(&self, tiler: &Layout) -> Result<Layout> {
        self.raked(tiler)
            .map_err(|fault| fault.of("raked_product", self, tiler))
    }

    pub(crate) fn raked(&self, tiler: &Layout) -> Result<Layout, Fault> {
        let (block, repeated) = self.ranked_product(tiler)?;
        zip_modes(repeated, block).checked()
    }

    /// Block and repetitions, with as many modes each as the one that has more.
    fn ranked_product(&self, tiler: &Layout) -> Result<(Layout, Layout), Fault> {
        let rank = self.rank().max(tiler.rank());
        let repeated = self.repetition_by_mode(tiler)?;
        Ok((self.padded(rank), repeated.padded(rank)))
    }

    /// [`Layout::repetition`] with the tiler's modes, of which a leaf is one.
    pub(crate) fn repetition_by_mode(&self, tiler: &Layout) -> Result<Layout, Fault> {
        let repeated = self.repetition(tiler)?;
        Ok(match tiler.shape {
            Nest::Int(_) => Layout::bundle([repeated]),
            Nest::Tuple(_) => repeated,
        })
    }

    /// Repeats this block until it fills `shape`, block after block in the order given (first mode
    /// fastest where none is).
    ///
    /// # Errors
    /// [`Rule::Rank`] where the block has more modes than the shape, [`Rule::Divisibility`] with
    /// the mode where the block does not divide it, [`Rule::OrderProfile`], and as
    /// [`Layout::blocked_product`].
    pub fn tile_to_shape(&self, shape: &IntTuple, order: Option<&IntTuple>) -> Result<Layout> {
        let fail = |rule| LayoutError::binary("tile_to_shape", self, shape, rule);
        if self.rank() > shape.rank() {
            return Err(fail(Rule::Rank {
                expected: shape.rank(),
                found: self.rank(),
            }));
        }
        let block = self.padded(shape.rank());
        let mut counts = Vec::with_capacity(shape.rank());
        for (i, (target, mode)) in shape.modes().iter().zip(block.modes()).enumerate() {
            let overflow = || {
                fail(Rule::Overflow {
                    what: "the shape's size",
                })
            };
            let target = target.checked_product().ok_or_else(overflow)?;
            let divisor = mode.size();
            if target < 1 || target % divisor != 0 {
                return Err(fail(Rule::Divisibility {
                    value: target,
                    divisor,
                })
                .at([i]));
            }
            counts.push(target / divisor);
        }
        let counts = match shape {
            Nest::Int(_) => Nest::Int(counts[0]),
            Nest::Tuple(_) => Nest::flat(&counts),
        };
        let repetition = match order {
            Some(order) => Layout::ordered(counts, order),
            None => Layout::compact_left(counts),
        };
        let repetition = repetition.map_err(|e| e.shown("tile_to_shape", self, shape))?;
        let tiled = block.blocked_product(&repetition);
        tiled.map_err(|e| e.shown("tile_to_shape", self, shape))
    }
}

/// Pairs up modes: mode `i` of the result is (mode `i` of `a`, mode `i` of `b`).
///
/// # Errors
/// [`Rule::Rank`] where the ranks differ.
pub fn zip(a: &Layout, b: &Layout) -> Result<Layout> {
    if a.rank() != b.rank() {
        let rule = Rule::Rank {
            expected: a.rank(),
            found: b.rank(),
        };
        return Err(LayoutError::binary("zip", a, b, rule));
    }
    let zipped = zip_modes(a.clone(), b.clone()).checked();
    zipped.map_err(|fault| fault.of("zip", a, b))
}

fn zip_modes(a: Layout, b: Layout) -> Layout {
    let pairs = a.into_modes().into_iter().zip(b.into_modes());
    Layout::bundle(pairs.map(|(a, b)| Layout::bundle([a, b])))
}

/// Whether repetitions before and behind the block, as a tile with strides of both signs has them,
/// stay within the mode of `room` that they lie in: farther apart, one would lie over another.
fn apart_on_both_sides(room: &Layout, tile: &Layout, repeated: &Layout) -> Result<(), Fault> {
    let mut steps = repeated.leaves();
    steps.retain(|mode| mode.0 != 1 && mode.1 != 0);
    let ahead = steps.iter().any(|step| step.1 > 0);
    let back = |mode: &(i64, i64)| mode.0 != 1 && mode.1 < 0;
    let (Some(first_back), true) = (tile.leaves().iter().position(back), ahead) else {
        return Ok(());
    };
    // A composition with both signs moves along one mode of the room only.
    let least = steps.iter().map(|step| step.1.abs()).min().unwrap_or(0);
    let modes = room.leaves();
    let left_mode = modes.iter().rposition(|mode| mode.1 <= least);
    let left_mode = left_mode.filter(|at| at + 1 < modes.len());
    if let Some(left_mode) = left_mode {
        let (extent, stride) = modes[left_mode];
        let reach = (repeated.cosize() - 1) / stride;
        if reach >= extent {
            let rule = Rule::Carry {
                left_mode,
                reach,
                extent,
            };
            return Err(Fault::at(rule, tile.shape.leaf_path(first_back)));
        }
    }
    Ok(())
}
