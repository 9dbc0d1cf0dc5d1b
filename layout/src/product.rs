//! Products: a layout repeated in the pattern of another.

use crate::error::{LayoutError, Result, Rule};
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
        self.product("logical_product", &tiler.into())?
            .validated("logical_product")
    }

    fn product(&self, operation: &'static str, tiler: &Tiler) -> Result<Layout> {
        match tiler {
            Tiler::Whole => Ok(self.clone()),
            Tiler::Layout(tile) => {
                let repetition = self.repetition(operation, tile)?;
                Ok(Layout::bundle(vec![self.clone(), repetition]))
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(operation, self)?;
                let mut modes = self.modes();
                for (i, (mode, tiler)) in modes.iter_mut().zip(tilers).enumerate() {
                    *mode = mode.product(operation, tiler).map_err(|e| e.within(i))?;
                }
                Ok(Layout::bundle(modes))
            }
        }
    }

    /// Where each repetition of this layout in the pattern of `tile` starts.
    fn repetition(&self, operation: &'static str, tile: &Layout) -> Result<Layout> {
        let fail = |rule| LayoutError::binary(operation, self, tile, rule);
        let cotarget = self.size().checked_mul(tile.cosize());
        let cotarget = cotarget.ok_or_else(|| {
            fail(Rule::Overflow {
                what: "the product's cosize",
            })
        })?;
        let room = self.complement_in(&[cotarget]).map_err(|e| fail(e.rule))?;
        // Past its size the complement would run on in a gap of the block, over the block itself:
        // where the gaps hold too few repetitions, the rest go behind it.
        let room = if tile.cosize() > room.size() {
            let ends = self.filter().flat_modes().into_iter();
            let end = ends.map(|(n, d)| n.saturating_mul(d)).max().unwrap_or(1);
            let cotarget = end.checked_mul(tile.cosize()).ok_or_else(|| {
                fail(Rule::Overflow {
                    what: "the product's cosize",
                })
            })?;
            self.complement_in(&[cotarget]).map_err(|e| fail(e.rule))?
        } else {
            room
        };
        room.compose(tile).map_err(|e| LayoutError {
            mode: e.mode,
            ..fail(e.rule)
        })
    }

    /// The blocks of all modes and the repetitions of all modes, along the tiler's tree.
    fn repeat_all(&self, operation: &'static str, tiler: &Tiler) -> Result<(Layout, Layout)> {
        match tiler {
            Tiler::Layout(tile) => Ok((self.clone(), self.repetition(operation, tile)?)),
            Tiler::Whole => {
                Err(LayoutError::binary(operation, self, tiler, Rule::NothingToZip).at([]))
            }
            Tiler::Modes(tilers) => {
                tiler.check_rank(operation, self)?;
                let mut blocks = Vec::with_capacity(tilers.len());
                let mut rests = Vec::with_capacity(self.rank());
                for (i, mode) in self.modes().into_iter().enumerate() {
                    let Some(tiler) = tilers.get(i) else {
                        rests.push(mode);
                        continue;
                    };
                    let pair = mode.repeat_all(operation, tiler).map_err(|e| e.within(i))?;
                    blocks.push(pair.0);
                    rests.push(pair.1);
                }
                Ok((
                    Layout::join(blocks, operation)?,
                    Layout::join(rests, operation)?,
                ))
            }
        }
    }

    /// `((block...),(repetition...))`, gathered from all modes.
    ///
    /// # Errors
    /// As [`Layout::logical_product`]; [`Rule::NothingToZip`] for `_`.
    pub fn zipped_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        let (block, rest) = self.repeat_all("zipped_product", &tiler.into())?;
        Layout::join(vec![block, rest], "zipped_product")
    }

    /// `(block, repetition0, repetition1, ...)`.
    ///
    /// # Errors
    /// As [`Layout::zipped_product`].
    pub fn tiled_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        let (block, rest) = self.repeat_all("tiled_product", &tiler.into())?;
        let mut modes = vec![block];
        modes.extend(rest.into_modes());
        Layout::join(modes, "tiled_product")
    }

    /// `(block0, block1, ..., repetition0, repetition1, ...)`.
    ///
    /// # Errors
    /// As [`Layout::zipped_product`].
    pub fn flat_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        let (block, rest) = self.repeat_all("flat_product", &tiler.into())?;
        let mut modes = block.into_modes();
        modes.extend(rest.into_modes());
        Layout::join(modes, "flat_product")
    }

    /// The same as [`Layout::zipped_product`].
    ///
    /// # Errors
    /// As [`Layout::zipped_product`].
    pub fn hier_unzip_product(&self, tiler: impl Into<Tiler>) -> Result<Layout> {
        self.zipped_product(tiler)
    }

    /// Repeats this block over `tiler`, mode by mode: mode `i` is (block mode, tiler mode), so
    /// whole blocks lie side by side.
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    pub fn blocked_product(&self, tiler: &Layout) -> Result<Layout> {
        let (block, repeated) = self.ranked_product("blocked_product", tiler)?;
        zip_modes(block, repeated, "blocked_product")
    }

    /// As [`Layout::blocked_product`] with the blocks interleaved: mode `i` is (tiler mode, block
    /// mode).
    ///
    /// # Errors
    /// As [`Layout::logical_product`].
    pub fn raked_product(&self, tiler: &Layout) -> Result<Layout> {
        let (block, repeated) = self.ranked_product("raked_product", tiler)?;
        zip_modes(repeated, block, "raked_product")
    }

    fn ranked_product(&self, operation: &'static str, tiler: &Layout) -> Result<(Layout, Layout)> {
        let rank = self.rank().max(tiler.rank());
        let block = tupled(self.padded(rank));
        let tiler = tupled(tiler.padded(rank));
        let repeated = block.repetition(operation, &tiler)?;
        Ok((block, repeated))
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
            Some(order) => Layout::ordered(counts, order)?,
            None => Layout::compact_left(counts)?,
        };
        block.blocked_product(&repetition)
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
    zip_modes(a.clone(), b.clone(), "zip")
}

fn zip_modes(a: Layout, b: Layout, operation: &'static str) -> Result<Layout> {
    let pairs = a.into_modes().into_iter().zip(b.into_modes());
    Layout::join(
        pairs.map(|(a, b)| Layout::bundle(vec![a, b])).collect(),
        operation,
    )
}

/// A leaf as a tuple of one.
fn tupled(layout: Layout) -> Layout {
    match layout.shape {
        Nest::Int(_) => Layout {
            shape: Nest::Tuple(vec![layout.shape]),
            stride: Nest::Tuple(vec![layout.stride]),
        },
        Nest::Tuple(_) => layout,
    }
}
