//! Composition: `A ∘ B`, the layout whose every coordinate `c` gives `A(B(c))`.
//!
//! The left layout is read as unbounded in its last mode. Its coalesced extents are the radices of
//! a number system; each mode of the right layout is a digit pattern in it. A layout equals the
//! composition exactly where no digit carries: each mode's stride and the extent it walks over
//! divide one another (or the mode ends before it matters), and the modes together stay within
//! each extent. The first is what CuTe asserts; the second it does not, and gives a wrong layout.

use smallvec::{SmallVec, smallvec};

use crate::coalesce::coalesced_unbounded;
use crate::error::{Fault, Result, Rule};
use crate::layout::{Layout, Leaves, View};
use crate::nest::{IntTuple, Nest};
use crate::stride::{Path, Stride};
use crate::tiler::Tiler;

impl<S: Stride> Layout<S> {
    /// `self ∘ other`: first `other`, then `self`. The result has `other`'s shape, with modes split
    /// where they cross a mode of `self`.
    ///
    /// `other` may have basis strides, which then lead to modes of `self`.
    ///
    /// # Errors
    /// [`Rule::StrideDivisibility`], [`Rule::ShapeDivisibility`] or [`Rule::Carry`] where no layout
    /// of that form is the composition, [`Rule::NoSuchMode`] where a basis stride leads nowhere,
    /// [`Rule::Overflow`].
    pub fn compose<T: Stride>(&self, other: &Layout<T>) -> Result<Layout<S>> {
        self.composed(other)
            .map_err(|fault| fault.of("composition", self, other))
    }

    pub(crate) fn composed<T: Stride>(&self, other: &Layout<T>) -> Result<Layout<S>, Fault> {
        self.view().composed(other)
    }

    /// Composes mode by mode; modes of `self` past the tiler are dropped, as CuTe does.
    ///
    /// # Errors
    /// [`Rule::TooManyModes`], or as [`Layout::compose`] with the mode named.
    pub fn compose_tiler(&self, tiler: &[Layout]) -> Result<Layout<S>> {
        self.compose_by(&Tiler::Modes(
            tiler.iter().cloned().map(Tiler::Layout).collect(),
        ))
    }

    /// Composes with a tiler of any form: a layout, `_` (no change), or a tuple mode by mode.
    ///
    /// # Errors
    /// As [`Layout::compose_tiler`].
    pub fn compose_by(&self, tiler: &Tiler) -> Result<Layout<S>> {
        self.view()
            .composed_by(tiler)
            .map_err(|fault| fault.of("composition", self, tiler))
    }
}

impl<S: Stride> View<'_, S> {
    fn composed<T: Stride>(self, other: &Layout<T>) -> Result<Layout<S>, Fault> {
        let mut walk = Walk::new(self);
        let layout = walk.layout(other)?;
        if let Err(rule) = walk.check_carry() {
            return Err(Fault::at(
                rule,
                self.carrying_mode(other).unwrap_or_default(),
            ));
        }
        layout.checked()
    }

    fn composed_by(self, tiler: &Tiler) -> Result<Layout<S>, Fault> {
        match tiler {
            Tiler::Layout(layout) => self.composed(layout),
            Tiler::Whole => Ok(self.to_layout()),
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.rank())?;
                let mut parts = Vec::with_capacity(tilers.len());
                for (i, (mode, tiler)) in self.modes().zip(tilers).enumerate() {
                    let part = mode.composed_by(tiler);
                    parts.push(part.map_err(|fault| fault.within(i))?);
                }
                Layout::bundle(parts).checked()
            }
        }
    }

    /// The mode of `right` that, added to those before it, carries.
    #[cold]
    fn carrying_mode<T: Stride>(self, right: &Layout<T>) -> Option<Vec<usize>> {
        let mut walk = Walk::new(self);
        let carries = |&(n, d): &(i64, T)| {
            let composed = walk.field(d.path()).map(|f| f.compose(n, d.value(), false));
            composed.is_err() || walk.check_carry().is_err()
        };
        let leaf = right.leaves().iter().position(carries)?;
        Some(right.shape.leaf_path(leaf))
    }

    /// The compositions with a tile and with what repeats it.
    ///
    /// Leaves of the repetition count tiles: where such a stride does not divide an extent it walks
    /// over, the last tile of that extent reaches past it, and the result gives what it finds
    /// there. Faults come with the path within the tile; the results are for the caller to check.
    pub(crate) fn compose_pair(
        self,
        tile: &Layout,
        rest: &Layout,
    ) -> Result<(Layout<S>, Layout<S>), Fault> {
        let mut walk = Walk::new(self);
        let tile_of_self = walk.layout(tile)?;
        walk.ragged = true;
        let rest = walk.layout(rest).map_err(Fault::anywhere)?;
        if let Err(rule) = walk.check_carry() {
            return Err(Fault::at(
                rule,
                self.carrying_mode(tile).unwrap_or_default(),
            ));
        }
        // Where tiles reach past an extent, what the tile takes behind it is no longer a whole
        // number of repetitions, and elements between would be in none.
        if walk
            .fields
            .iter()
            .any(|(_, field)| !field.ragged.is_empty())
        {
            let mut alone = Walk::new(self);
            alone.layout(tile)?;
            for ((_, field), (_, of_tile)) in walk.fields.iter().zip(&alone.fields) {
                for &mode in &field.ragged {
                    if of_tile.reach[mode + 1..].iter().any(|r| *r != (0, 0)) {
                        let (reach, extent) = (field.reach[mode].1, field.modes[mode].0);
                        let rule = Rule::Carry {
                            left_mode: mode,
                            reach,
                            extent,
                        };
                        return Err(rule.into());
                    }
                }
            }
        }
        Ok((tile_of_self, rest))
    }
}

type Parts<S> = (IntTuple, Nest<S>);

/// One composition under way: the right layout's tree is walked leaf by leaf.
struct Walk<'a, S> {
    left: View<'a, S>,
    /// The parts of the left layout that strides have led to.
    fields: SmallVec<[(Path, Field<S>); 1]>,
    /// Whether the leaves count tiles, the last of which may reach past an extent.
    ragged: bool,
}

impl<'a, S: Stride> Walk<'a, S> {
    fn new(left: View<'a, S>) -> Self {
        Walk {
            left,
            fields: SmallVec::new(),
            ragged: false,
        }
    }

    fn layout<T: Stride>(&mut self, right: &Layout<T>) -> Result<Layout<S>, Fault> {
        let (shape, stride) = self.nest(&right.shape, &right.stride)?;
        Ok(Layout { shape, stride })
    }

    fn check_carry(&self) -> Result<(), Rule> {
        let mut fields = self.fields.iter();
        fields.try_for_each(|(_, field)| field.check_carry())
    }

    fn nest<T: Stride>(&mut self, shape: &IntTuple, stride: &Nest<T>) -> Result<Parts<S>, Fault> {
        match (shape, stride) {
            (Nest::Tuple(n), Nest::Tuple(d)) => {
                let mut shapes = Vec::with_capacity(n.len());
                let mut strides = Vec::with_capacity(n.len());
                for (i, (n, d)) in n.iter().zip(d).enumerate() {
                    let (n, d) = self.nest(n, d).map_err(|fault| fault.within(i))?;
                    shapes.push(n);
                    strides.push(d);
                }
                Ok((Nest::Tuple(shapes), Nest::Tuple(strides)))
            }
            (Nest::Int(n), Nest::Int(d)) => {
                let ragged = self.ragged;
                Ok(self.field(d.path())?.compose(*n, d.value(), ragged)?)
            }
            _ => unreachable!("a layout's shape and stride are congruent"),
        }
    }

    fn field(&mut self, path: Path) -> Result<&mut Field<S>, Rule> {
        let at = match self.fields.iter().position(|(p, _)| *p == path) {
            Some(at) => at,
            None => {
                self.fields.push((path, Field::new(self.left, path)?));
                self.fields.len() - 1
            }
        };
        Ok(&mut self.fields[at].1)
    }
}

/// The left layout, or the mode of it that a basis stride names, as radices; with the span of
/// coordinates that the right modes reach in each.
struct Field<S> {
    modes: Leaves<S>,
    /// Lowest and highest coordinate reached in each mode, if there is more than one.
    reach: SmallVec<[(i64, i64); 4]>,
    /// Modes of which tiles reach past the extent.
    ragged: Vec<usize>,
}

impl<S: Stride> Field<S> {
    fn new(left: View<'_, S>, path: Path) -> Result<Self, Rule> {
        let (mut shape, mut stride) = (left.shape, left.stride);
        for &index in path.indices() {
            let index = usize::from(index);
            let missing = Rule::NoSuchMode {
                index,
                rank: shape.rank(),
            };
            (shape, stride) = match (shape.get(index), stride.get(index)) {
                (Some(n), Some(d)) if shape.depth() > 0 => (n, d),
                _ => return Err(missing),
            };
        }
        let modes = coalesced_unbounded(View { shape, stride }.leaves());
        let reach = smallvec![(0, 0); if modes.len() > 1 { modes.len() } else { 0 }];
        Ok(Field {
            modes,
            reach,
            ragged: vec![],
        })
    }

    /// The composition with one mode, `extent:stride`.
    fn compose(&mut self, extent: i64, stride: i64, ragged: bool) -> Result<Parts<S>, Rule> {
        let overflow = || Rule::Overflow {
            what: "a stride of the composition",
        };
        let leaf = |n: i64, d: S| (Nest::Int(n), Nest::Int(d));
        if stride == 0 {
            return Ok(leaf(extent, S::ZERO));
        }
        let Some(((_, last_stride), inner)) = self.modes.split_last() else {
            return Ok(leaf(extent, S::ZERO));
        };
        if inner.is_empty() {
            return Ok(leaf(
                extent,
                last_stride.scale(stride).ok_or_else(overflow)?,
            ));
        }
        let mut out: SmallVec<[(i64, S); 4]> = SmallVec::new();
        let (mut rest, mut step) = (extent, stride);
        for (i, &(n, d)) in inner.iter().enumerate() {
            if rest == 1 && !out.is_empty() {
                break;
            }
            let size = step.checked_abs().ok_or_else(overflow)?;
            if size >= n {
                if size % n != 0 {
                    return Err(Rule::StrideDivisibility {
                        stride: step,
                        extent: n,
                    });
                }
                step /= n;
                continue;
            }
            let (whole, over) = if size == 1 {
                (n, 0)
            } else {
                (n / size, n % size)
            };
            let fits = whole + i64::from(over != 0);
            if rest > 1 {
                let taken = fits.min(rest);
                if taken != rest && rest % taken != 0 {
                    return Err(Rule::ShapeDivisibility { taken, rest });
                }
                // A stride that does not divide the extent is exact only within it.
                if over != 0 && rest > taken {
                    if !ragged {
                        return Err(Rule::StrideDivisibility {
                            stride: step,
                            extent: n,
                        });
                    }
                    self.ragged.push(i);
                }
                out.push((taken, d.scale(step).ok_or_else(overflow)?));
                self.reach[i] = widened(self.reach[i], taken, step).ok_or_else(overflow)?;
                rest = if taken == rest { 1 } else { rest / taken };
            }
            step = step.signum();
        }
        if rest > 1 || out.is_empty() {
            let last = inner.len();
            out.push((rest, last_stride.scale(step).ok_or_else(overflow)?));
            self.reach[last] = widened(self.reach[last], rest, step).ok_or_else(overflow)?;
        }
        if let [(n, d)] = out[..] {
            return Ok(leaf(n, d));
        }
        Ok((
            Nest::Tuple(out.iter().map(|m| Nest::Int(m.0)).collect()),
            Nest::Tuple(out.iter().map(|m| Nest::Int(m.1)).collect()),
        ))
    }

    fn check_carry(&self) -> Result<(), Rule> {
        let Some((_, bounded)) = self.reach.split_last() else {
            return Ok(());
        };
        for (i, (&(low, high), &(extent, _))) in bounded.iter().zip(&self.modes).enumerate() {
            if (high >= extent || low <= -extent) && !self.ragged.contains(&i) {
                let reach = if high >= extent { high } else { low };
                return Err(Rule::Carry {
                    left_mode: i,
                    reach,
                    extent,
                });
            }
        }
        // Negative indices count down from zero in every digit at once, so digits of both signs
        // are exact only where a single mode has them all.
        let low = self.reach.iter().position(|r| r.0 < 0);
        let high = self.reach.iter().position(|r| r.1 > 0);
        if let (Some(left_mode), Some(_)) = (low, high) {
            let used = self.reach.iter().filter(|r| **r != (0, 0)).count();
            if used > 1 {
                let (reach, extent) = (self.reach[left_mode].0, self.modes[left_mode].0);
                return Err(Rule::Carry {
                    left_mode,
                    reach,
                    extent,
                });
            }
        }
        Ok(())
    }
}

fn widened((low, high): (i64, i64), count: i64, step: i64) -> Option<(i64, i64)> {
    let far = (count - 1).checked_mul(step)?;
    if far < 0 {
        Some((low.checked_add(far)?, high))
    } else {
        Some((low, high.checked_add(far)?))
    }
}
