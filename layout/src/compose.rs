//! Composition: `A ∘ B`, the layout whose every coordinate `c` gives `A(B(c))`.
//!
//! The left layout is read as unbounded in its last mode. Its coalesced extents are the radices of
//! a number system; each mode of the right layout is a digit pattern in it. A layout equals the
//! composition exactly where no digit carries: each mode's stride and the extent it walks over
//! divide one another (or the mode ends before it matters), and the modes together stay within
//! each extent. The first is what CuTe asserts; the second it does not, and gives a wrong layout.

use crate::coalesce::coalesced_unbounded;
use crate::error::{LayoutError, Result, Rule};
use crate::layout::Layout;
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
        let mut walk = Walk {
            left: self,
            fields: Vec::with_capacity(1),
            ragged: false,
        };
        let composed = walk.layout(other).and_then(|layout| {
            walk.check_carry()?;
            layout
                .validated("composition")
                .map_err(|e| (vec![], e.rule))
        });
        composed
            .map_err(|(path, rule)| LayoutError::binary("composition", self, other, rule).at(path))
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
        match tiler {
            Tiler::Layout(layout) => self.compose(layout),
            Tiler::Whole => Ok(self.clone()),
            Tiler::Modes(tilers) => {
                tiler.check_rank("composition", self)?;
                let modes = self.modes();
                let parts = modes.iter().zip(tilers).enumerate();
                let parts: Result<Vec<_>> = parts
                    .map(|(i, (l, t))| l.compose_by(t).map_err(|e| e.within(i)))
                    .collect();
                Layout::join(parts?, "composition")
            }
        }
    }
}

impl<S: Stride> Layout<S> {
    /// The compositions with a tile and with what repeats it.
    ///
    /// Leaves of the repetition count tiles: where such a stride does not divide an extent it walks
    /// over, the last tile of that extent reaches past it, and the result gives what it finds
    /// there. Faults come as the path within the tile and the rule; the results are not validated.
    pub(crate) fn compose_pair(
        &self,
        tile: &Layout,
        rest: &Layout,
    ) -> Result<(Layout<S>, Layout<S>), Fault> {
        let mut walk = Walk {
            left: self,
            fields: Vec::with_capacity(1),
            ragged: false,
        };
        let tile = walk.layout(tile)?;
        let crossed: Vec<_> = walk.fields.iter().map(|(_, f)| f.reach.clone()).collect();
        walk.ragged = true;
        let rest = walk.layout(rest).map_err(|(_, rule)| (vec![], rule))?;
        walk.check_carry()?;
        // Where tiles reach past an extent, what the tile takes behind it is no longer a whole
        // number of repetitions, and elements between would be in none.
        for ((_, field), crossed) in walk.fields.iter().zip(&crossed) {
            for &mode in &field.ragged {
                if crossed[mode + 1..].iter().any(|r| *r != (0, 0)) {
                    let (reach, extent) = (field.reach[mode].1, field.modes[mode].0);
                    let rule = Rule::Carry {
                        left_mode: mode,
                        reach,
                        extent,
                    };
                    return Err((vec![], rule));
                }
            }
        }
        Ok((tile, rest))
    }
}

pub(crate) type Fault = (Vec<usize>, Rule);
type Parts<S> = (IntTuple, Nest<S>);

/// One composition under way: the right layout's tree is walked leaf by leaf.
struct Walk<'a, S> {
    left: &'a Layout<S>,
    /// The parts of the left layout that strides have led to.
    fields: Vec<(Path, Field<S>)>,
    /// Whether the leaves count tiles, the last of which may reach past an extent.
    ragged: bool,
}

impl<S: Stride> Walk<'_, S> {
    fn layout<T: Stride>(&mut self, right: &Layout<T>) -> Result<Layout<S>, Fault> {
        let parts = self.nest(&right.shape, &right.stride);
        let (shape, stride) = parts.map_err(|(mut path, rule)| {
            path.reverse();
            (path, rule)
        })?;
        Ok(Layout { shape, stride })
    }

    fn check_carry(&self) -> Result<(), Fault> {
        let mut fields = self.fields.iter();
        fields
            .try_for_each(|(_, field)| field.check_carry())
            .map_err(|rule| (vec![], rule))
    }

    fn nest<T: Stride>(&mut self, shape: &IntTuple, stride: &Nest<T>) -> Result<Parts<S>, Fault> {
        match (shape, stride) {
            (Nest::Tuple(n), Nest::Tuple(d)) => {
                let mut shapes = Vec::with_capacity(n.len());
                let mut strides = Vec::with_capacity(n.len());
                for (i, (n, d)) in n.iter().zip(d).enumerate() {
                    let (n, d) = self.nest(n, d).map_err(|(mut path, rule)| {
                        path.push(i);
                        (path, rule)
                    })?;
                    shapes.push(n);
                    strides.push(d);
                }
                Ok((Nest::Tuple(shapes), Nest::Tuple(strides)))
            }
            (Nest::Int(n), Nest::Int(d)) => {
                let ragged = self.ragged;
                let field = self.field(d.path()).map_err(|rule| (vec![], rule))?;
                field
                    .compose(*n, d.value(), ragged)
                    .map_err(|rule| (vec![], rule))
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
    modes: Vec<(i64, S)>,
    /// Lowest and highest coordinate reached in each mode, if there is more than one.
    reach: Vec<(i64, i64)>,
    /// Modes of which tiles reach past the extent.
    ragged: Vec<usize>,
}

impl<S: Stride> Field<S> {
    fn new(left: &Layout<S>, path: Path) -> Result<Self, Rule> {
        let mut shape = &left.shape;
        let mut stride = &left.stride;
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
        let mut modes = Vec::with_capacity(8);
        crate::layout::collect(shape, stride, &mut modes);
        let modes = coalesced_unbounded(modes);
        let reach = vec![(0, 0); if modes.len() > 1 { modes.len() } else { 0 }];
        Ok(Field {
            modes,
            reach,
            ragged: vec![],
        })
    }

    /// The composition with one mode, `extent:stride`.
    fn compose(&mut self, extent: i64, stride: i64, ragged: bool) -> Result<Parts<S>, Rule> {
        let overflow = Rule::Overflow {
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
            return Ok(leaf(extent, last_stride.scale(stride).ok_or(overflow)?));
        }
        let mut out: Vec<(i64, S)> = Vec::new();
        let (mut rest, mut step) = (extent, stride);
        for (i, &(n, d)) in inner.iter().enumerate() {
            if rest == 1 && !out.is_empty() {
                break;
            }
            let size = step.checked_abs().ok_or(overflow.clone())?;
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
                out.push((taken, d.scale(step).ok_or(overflow.clone())?));
                self.reach[i] = widened(self.reach[i], taken, step).ok_or(overflow.clone())?;
                rest = if taken == rest { 1 } else { rest / taken };
            }
            step = step.signum();
        }
        if rest > 1 || out.is_empty() {
            let last = inner.len();
            out.push((rest, last_stride.scale(step).ok_or(overflow.clone())?));
            self.reach[last] = widened(self.reach[last], rest, step).ok_or(overflow)?;
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
