//! The operations that work with symbolic extents.
//!
//! They follow the plain operations, with one difference: where a count must be compared with an
//! extent, what is known of the name decides, and where it does not the operation refuses.

use super::{Extent, SymLayout};
use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::Layout;
use crate::nest::Nest;
use crate::stride::{Path, Stride};
use crate::tiler::Tiler;

pub(super) const OVERFLOW: Rule = Rule::Overflow { what: "the result" };

pub(super) type Mode<S> = (Extent, S);

/// Drops extents of 1 and merges what continues a static mode.
pub(super) fn coalesced<S: Stride>(modes: Vec<Mode<S>>) -> Result<Vec<Mode<S>>, Rule> {
    let mut out: Vec<Mode<S>> = Vec::with_capacity(modes.len());
    for (extent, stride) in modes {
        if extent == Extent::Static(1) {
            continue;
        }
        match out.last_mut() {
            Some((Extent::Static(n), d)) if d.scale(*n) == Some(stride) => {
                let merged = extent.times(*n).ok_or(OVERFLOW)?;
                let d = *d;
                out.pop();
                out.push((merged, d));
            }
            _ => out.push((extent, stride)),
        }
    }
    Ok(out)
}

impl<S: Stride> SymLayout<S> {
    pub(super) fn from_modes(modes: Vec<Mode<S>>) -> Result<SymLayout<S>> {
        let (mut shape, mut stride): (Vec<_>, Vec<_>) = modes
            .into_iter()
            .map(|(n, d)| (Nest::Int(n), Nest::Int(d)))
            .unzip();
        match shape.len() {
            0 => Ok(SymLayout::from(&Layout::unit())),
            1 => SymLayout::new(shape.remove(0), stride.remove(0)),
            _ => SymLayout::new(Nest::Tuple(shape), Nest::Tuple(stride)),
        }
    }

    /// The simplest equal layout: flat, without extents of 1, with contiguous modes merged. A mode
    /// after a symbolic one is never contiguous with it.
    ///
    /// # Errors
    /// [`Rule::Overflow`].
    pub fn coalesce(&self) -> Result<SymLayout<S>> {
        let fail = |rule| LayoutError::unary("coalesce", self, rule);
        let modes = coalesced(self.flat_modes()).map_err(fail)?;
        SymLayout::from_modes(modes).map_err(|e| fail(e.rule))
    }

    /// `self ∘ other`, as [`Layout::compose`].
    ///
    /// # Errors
    /// As there; [`Rule::NeedsStatic`] or [`Rule::NeedsMultiple`] with the mode of `other` where
    /// the result depends on a name's value.
    pub fn compose<T: Stride>(&self, other: &SymLayout<T>) -> Result<SymLayout<S>> {
        self.composed(other)
            .map_err(|fault| fault.of("composition", self, other))
    }

    pub(super) fn composed<T: Stride>(&self, other: &SymLayout<T>) -> Result<SymLayout<S>, Fault> {
        let mut walk = Walk {
            left: self,
            fields: vec![],
        };
        let (shape, stride) = walk.nest(&other.shape, &other.stride)?;
        Ok(SymLayout::new(shape, stride)?)
    }

    /// Composes with a tiler of any form, as [`Layout::compose_by`].
    ///
    /// # Errors
    /// As there, and as [`SymLayout::compose`].
    pub fn compose_by(&self, tiler: &Tiler) -> Result<SymLayout<S>> {
        self.composed_by(tiler)
            .map_err(|fault| fault.of("composition", self, tiler))
    }

    fn composed_by(&self, tiler: &Tiler) -> Result<SymLayout<S>, Fault> {
        match tiler {
            Tiler::Layout(layout) => self.composed(&SymLayout::from(layout)),
            Tiler::Whole => Ok(self.clone()),
            Tiler::Modes(tilers) => {
                tiler.check_rank(self.shape.rank())?;
                let mut parts = Vec::with_capacity(tilers.len());
                for (i, (mode, tiler)) in self.modes().iter().zip(tilers).enumerate() {
                    let part = mode.composed_by(tiler);
                    parts.push(part.map_err(|fault| fault.within(i))?);
                }
                Ok(SymLayout::bundle(parts)?)
            }
        }
    }
}

impl SymLayout {
    /// The largest layout `R` with numbers as strides and `self(R(i)) == i` for all
    /// `i < size(R)`.
    ///
    /// # Errors
    /// [`Rule::NeedsStatic`] with the mode where the inverse would go on behind a symbolic mode.
    pub fn right_inverse(&self) -> Result<SymLayout> {
        let fail = |rule| LayoutError::unary("right_inverse", self, rule);
        let modes = coalesced(self.flat_modes()).map_err(fail)?;
        // (extent, stride, index stride if it is a number)
        let mut index = Some(1i64);
        let unknown = modes.iter().map(|mode| &mode.0);
        let unknown = unknown.clone().find(|n| n.symbol().is_some()).cloned();
        let mut sorted = Vec::new();
        for (extent, stride) in modes {
            let here = index;
            index = match extent {
                Extent::Static(n) => index.and_then(|index| index.checked_mul(n)),
                Extent::Symbolic(_) => None,
            };
            sorted.push((extent, stride, here));
        }
        sorted.sort_by_key(|mode| mode.1);
        let mut result = Vec::new();
        let mut covered = 1i64;
        for (extent, stride, index) in sorted {
            if stride != covered {
                continue;
            }
            let Some(index) = index else {
                // Only a symbolic mode, or a size past 64 bits, leaves an index unknown.
                let extent = unknown.ok_or_else(|| fail(OVERFLOW))?;
                let why = "coordinates of the modes behind it are multiples of it";
                return Err(fail(extent.needs_static(why)).at(self.name_path(0)));
            };
            result.push((extent.clone(), index));
            match extent {
                Extent::Static(n) => {
                    covered = covered.checked_mul(n).ok_or_else(|| fail(OVERFLOW))?
                }
                Extent::Symbolic(_) => break,
            }
        }
        let inverse = SymLayout::from_modes(coalesced(result).map_err(fail)?);
        inverse.map_err(|e| fail(e.rule))
    }
}

type Parts<S> = (Nest<Extent>, Nest<S>);

struct Walk<'a, S> {
    left: &'a SymLayout<S>,
    fields: Vec<(Path, Field<S>)>,
}

impl<S: Stride> Walk<'_, S> {
    fn nest<T: Stride>(
        &mut self,
        shape: &Nest<Extent>,
        stride: &Nest<T>,
    ) -> Result<Parts<S>, Fault> {
        match (shape, stride) {
            (Nest::Tuple(n), Nest::Tuple(d)) => {
                let mut parts = (Vec::new(), Vec::new());
                for (i, (n, d)) in n.iter().zip(d).enumerate() {
                    let (n, d) = self.nest(n, d).map_err(|fault| fault.within(i))?;
                    parts.0.push(n);
                    parts.1.push(d);
                }
                Ok((Nest::Tuple(parts.0), Nest::Tuple(parts.1)))
            }
            (Nest::Int(n), Nest::Int(d)) => {
                let field = self.field(d.path())?;
                let parts = field.compose(n, d.value())?;
                // What is reached only grows, so the mode that carries first is at fault.
                field.check_carry()?;
                Ok(parts)
            }
            _ => unreachable!("a layout's shape and stride are congruent"),
        }
    }

    fn field(&mut self, path: Path) -> Result<&mut Field<S>, Rule> {
        if let Some(at) = self.fields.iter().position(|(p, _)| *p == path) {
            return Ok(&mut self.fields[at].1);
        }
        let (mut shape, mut stride) = (&self.left.shape, &self.left.stride);
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
        let part = SymLayout {
            shape: shape.clone(),
            stride: stride.clone(),
        };
        let mut modes = part.flat_modes();
        // The last mode is unbounded, also where its extent is 1.
        if let Some((last, _)) = modes.last_mut()
            && *last == Extent::Static(1)
        {
            *last = Extent::Static(2);
        }
        let modes = coalesced(modes)?;
        let reach = vec![(0, 0); modes.len()];
        self.fields.push((path, Field { modes, reach }));
        let last = self.fields.len() - 1;
        Ok(&mut self.fields[last].1)
    }
}

/// A part of the left layout as radices, and the coordinates reached in each.
struct Field<S> {
    modes: Vec<Mode<S>>,
    reach: Vec<(i64, i64)>,
}

impl<S: Stride> Field<S> {
    fn compose(&mut self, extent: &Extent, stride: i64) -> Result<Parts<S>, Rule> {
        let leaf = |n: Extent, d: S| (Nest::Int(n), Nest::Int(d));
        let Some(((_, last_stride), inner)) = self.modes.split_last() else {
            return Ok(leaf(extent.clone(), S::ZERO));
        };
        if stride == 0 {
            return Ok(leaf(extent.clone(), S::ZERO));
        }
        let last_stride = *last_stride;
        let mut out: Vec<Mode<S>> = Vec::new();
        let (mut rest, mut step) = (extent.clone(), stride);
        for (i, (n, d)) in inner.iter().enumerate() {
            if rest == Extent::Static(1) && !out.is_empty() {
                break;
            }
            let Extent::Static(n) = *n else {
                return Err(n.needs_static("a mode of the left layout is walked over"));
            };
            let size = step.checked_abs().ok_or(OVERFLOW)?;
            if size >= n && size % n != 0 {
                return Err(Rule::StrideDivisibility {
                    stride: step,
                    extent: n,
                });
            }
            let fits = n / size + i64::from(n % size != 0);
            if fits > 1 && rest != Extent::Static(1) {
                let whole = rest.max().is_some_and(|max| max <= fits);
                if whole {
                    out.push((rest.clone(), d.scale(step).ok_or(OVERFLOW)?));
                    let most = rest.max().unwrap_or(fits);
                    self.reach[i] = widened(self.reach[i], most, step).ok_or(OVERFLOW)?;
                    rest = Extent::Static(1);
                } else {
                    if n % size != 0 {
                        return Err(Rule::StrideDivisibility {
                            stride: step,
                            extent: n,
                        });
                    }
                    let left = rest.divided(fits);
                    out.push((Extent::Static(fits), d.scale(step).ok_or(OVERFLOW)?));
                    self.reach[i] = widened(self.reach[i], fits, step).ok_or(OVERFLOW)?;
                    rest = match (left, rest) {
                        (Some(left), _) => left,
                        (None, Extent::Static(rest)) => {
                            return Err(Rule::ShapeDivisibility { taken: fits, rest });
                        }
                        (None, symbolic) => return Err(symbolic.needs_multiple(fits)),
                    };
                }
            }
            step = step.signum() * (size / n).max(1);
        }
        if rest != Extent::Static(1) || out.is_empty() {
            let last = self.modes.len() - 1;
            // Only the sign matters of what is reached in the unbounded mode.
            let most = rest.max().unwrap_or(2);
            self.reach[last] = widened(self.reach[last], most, step).ok_or(OVERFLOW)?;
            out.push((rest, last_stride.scale(step).ok_or(OVERFLOW)?));
        }
        if let [(n, d)] = &out[..] {
            return Ok(leaf(n.clone(), *d));
        }
        let (shape, stride) = out
            .into_iter()
            .map(|(n, d)| (Nest::Int(n), Nest::Int(d)))
            .unzip();
        Ok((Nest::Tuple(shape), Nest::Tuple(stride)))
    }

    fn check_carry(&self) -> Result<(), Rule> {
        let Some((_, bounded)) = self.reach.split_last() else {
            return Ok(());
        };
        for (left_mode, (&(low, high), (extent, _))) in bounded.iter().zip(&self.modes).enumerate()
        {
            let extent = extent.min();
            if high >= extent || low <= -extent {
                let reach = if high >= extent { high } else { low };
                return Err(Rule::Carry {
                    left_mode,
                    reach,
                    extent,
                });
            }
        }
        let low = self.reach.iter().position(|r| r.0 < 0);
        let used = self.reach.iter().filter(|r| **r != (0, 0)).count();
        if let Some(left_mode) = low
            && used > 1
            && self.reach.iter().any(|r| r.1 > 0)
        {
            let (reach, extent) = (self.reach[left_mode].0, self.modes[left_mode].0.min());
            return Err(Rule::Carry {
                left_mode,
                reach,
                extent,
            });
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
