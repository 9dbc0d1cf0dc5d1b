//! Simplification: coalescing, filtering, and compact strides.

use crate::error::{Fault, LayoutError, Result, Rule};
use crate::layout::{Layout, Leaves};
use crate::nest::{IntTuple, Nest};
use crate::stride::Stride;

/// Whether a mode of this stride goes on where `extent` steps of `before` end. Strides of zero do,
/// whatever mode they name.
fn continues<S: Stride>(extent: i64, before: S, stride: S) -> bool {
    before.scale(extent) == Some(stride) || before.is_zero() && stride.is_zero()
}

/// Drops extents of 1 and merges each mode into the one before where it continues it.
pub(crate) fn coalesced<S: Stride>(modes: &[(i64, S)]) -> Leaves<S> {
    let mut out: Leaves<S> = Leaves::new();
    for &(extent, stride) in modes {
        if extent == 1 {
            continue;
        }
        match out.last_mut() {
            Some((n, d)) if continues(*n, *d, stride) => *n *= extent,
            _ => out.push((extent, stride)),
        }
    }
    out
}

/// As [`coalesced`], for a layout read as unbounded in its last mode: a last extent of 1 stays, for
/// a coordinate can run along it.
pub(crate) fn coalesced_unbounded<S: Stride>(mut modes: Leaves<S>) -> Leaves<S> {
    if let Some(last) = modes.last_mut()
        && last.0 == 1
    {
        last.0 = 2;
    }
    // The true extent of the last mode plays no part for its users, so the product may saturate.
    let mut out: Leaves<S> = Leaves::new();
    for (extent, stride) in modes {
        match out.last_mut() {
            _ if extent == 1 => {}
            Some((n, d)) if continues(*n, *d, stride) => *n = n.saturating_mul(extent),
            _ => out.push((extent, stride)),
        }
    }
    out
}

impl<S: Stride> Layout<S> {
    /// The simplest layout that is the same function of the 1-D coordinate: flat, without extents
    /// of 1, with contiguous modes merged.
    pub fn coalesce(&self) -> Layout<S> {
        Layout::from_leaves(&coalesced(&self.leaves()))
    }

    /// Coalesces each part of the layout that lies on a leaf of `profile`; modes past the profile
    /// stay as they are.
    ///
    /// # Errors
    /// [`Rule::TooManyModes`] where the profile has more modes than the layout.
    pub fn coalesce_by(&self, profile: &IntTuple) -> Result<Layout<S>> {
        self.by_profile(profile, &Layout::coalesce)
            .map_err(|fault| fault.of("coalesce", self, profile))
    }

    /// Stride-0 modes get extent 1; the set of offsets stays.
    pub fn filter_zeros(&self) -> Layout<S> {
        fn walk<S: Stride>(shape: &IntTuple, stride: &Nest<S>) -> IntTuple {
            match (shape, stride) {
                (_, Nest::Int(d)) if d.is_zero() => Nest::Int(1),
                (Nest::Tuple(n), Nest::Tuple(d)) => {
                    Nest::Tuple(n.iter().zip(d).map(|(n, d)| walk(n, d)).collect())
                }
                _ => shape.clone(),
            }
        }
        Layout {
            shape: walk(&self.shape, &self.stride),
            stride: self.stride.clone(),
        }
    }

    /// Extents under a 0 of `profile` become 1, strides stay: CuTe's `filter_zeros` with a target
    /// profile, which is a stride's as a rule.
    ///
    /// # Errors
    /// [`Rule::OrderProfile`] where the profile's tree is not the shape's or coarser.
    pub fn filter_zeros_by(&self, profile: &IntTuple) -> Result<Layout<S>> {
        fn walk(shape: &IntTuple, profile: &IntTuple) -> IntTuple {
            match (shape, profile) {
                (_, Nest::Int(0)) => shape.map(&mut |_| 1),
                (Nest::Tuple(n), Nest::Tuple(p)) => {
                    Nest::Tuple(n.iter().zip(p).map(|(n, p)| walk(n, p)).collect())
                }
                _ => shape.clone(),
            }
        }
        if !profile.compatible_profile(&self.shape) {
            let rule = Rule::OrderProfile;
            return Err(LayoutError::binary("filter_zeros", self, profile, rule));
        }
        Ok(Layout {
            shape: walk(&self.shape, profile),
            stride: self.stride.clone(),
        })
    }

    /// [`Layout::filter_zeros`], coalesced: what the layout is without repetition.
    pub fn filter(&self) -> Layout<S> {
        let mut modes = self.leaves();
        modes.retain(|(_, d)| !d.is_zero());
        Layout::from_leaves(&coalesced(&modes))
    }

    /// Filters each part of the layout that lies on a leaf of `profile`.
    ///
    /// # Errors
    /// [`Rule::TooManyModes`].
    pub fn filter_by(&self, profile: &IntTuple) -> Result<Layout<S>> {
        self.by_profile(profile, &Layout::filter)
            .map_err(|fault| fault.of("filter", self, profile))
    }

    fn by_profile(
        &self,
        profile: &IntTuple,
        f: &impl Fn(&Layout<S>) -> Layout<S>,
    ) -> Result<Layout<S>, Fault> {
        let Nest::Tuple(profiles) = profile else {
            return Ok(f(self));
        };
        if profiles.len() > self.rank() {
            let rule = Rule::TooManyModes {
                found: profiles.len(),
                rank: self.rank(),
            };
            return Err(rule.into());
        }
        let mut modes = self.modes();
        for (i, (mode, profile)) in modes.iter_mut().zip(profiles).enumerate() {
            let simple = mode.by_profile(profile, f);
            *mode = simple.map_err(|fault| fault.within(i))?;
        }
        Layout::bundle(modes).checked()
    }
}

impl Layout {
    /// The compact layout of a shape whose first leaf moves fastest. Leaves of extent 1 get
    /// stride 0.
    ///
    /// # Errors
    /// As for [`Layout::new`].
    pub fn compact_left(shape: impl Into<IntTuple>) -> Result<Layout> {
        let shape = shape.into();
        let mut covered = 1i64;
        let stride = shape.map(&mut |&n| compact_step(n, &mut covered));
        Layout::new(shape, stride)
    }

    /// The compact layout of a shape whose last leaf moves fastest.
    ///
    /// # Errors
    /// As for [`Layout::new`].
    pub fn compact_right(shape: impl Into<IntTuple>) -> Result<Layout> {
        fn walk(shape: &IntTuple, covered: &mut i64) -> IntTuple {
            match shape {
                Nest::Int(n) => Nest::Int(compact_step(*n, covered)),
                Nest::Tuple(items) => {
                    let mut out: Vec<_> = items.iter().rev().map(|n| walk(n, covered)).collect();
                    out.reverse();
                    Nest::Tuple(out)
                }
            }
        }
        let shape = shape.into();
        let stride = walk(&shape, &mut 1);
        Layout::new(shape, stride)
    }

    /// The compact layout of a shape whose modes move in the order given: the leaf of `order` with
    /// the least value moves fastest. Parts of the shape under one leaf of `order` are compact
    /// among themselves, first leaf fastest; of equal order values the first moves fastest. (CuTe
    /// starts those at the same stride, so that their offsets coincide.)
    ///
    /// # Errors
    /// [`Rule::OrderProfile`], and as for [`Layout::new`].
    pub fn ordered(shape: impl Into<IntTuple>, order: &IntTuple) -> Result<Layout> {
        let shape = shape.into();
        if !order.compatible_profile(&shape) {
            return Err(LayoutError::binary(
                "make_layout",
                &shape,
                order,
                Rule::OrderProfile,
            ));
        }
        let stride = ordered_strides(&shape, order);
        Layout::new(shape, stride)
    }

    /// A compact layout with this one's shape and order of strides; stride-0 modes keep stride 0.
    ///
    /// # Errors
    /// As for [`Layout::new`].
    pub fn compact_like(&self) -> Result<Layout> {
        let stride = ordered_strides(&self.filter_zeros().shape, &self.stride);
        Layout::new(self.shape.clone(), stride)
    }
}

fn compact_step(extent: i64, covered: &mut i64) -> i64 {
    if extent == 1 {
        return 0;
    }
    let stride = *covered;
    *covered = covered.saturating_mul(extent.max(1));
    stride
}

/// Compact strides of `shape` in the order of `order`, whose profile the shape refines.
fn ordered_strides(shape: &IntTuple, order: &IntTuple) -> IntTuple {
    fn leaves(shape: &IntTuple, order: &IntTuple, out: &mut Vec<(i64, i64)>) {
        match (shape, order) {
            (Nest::Tuple(n), Nest::Tuple(o)) => {
                n.iter().zip(o).for_each(|(n, o)| leaves(n, o, out));
            }
            (n, Nest::Int(o)) => out.push((*o, n.checked_product().unwrap_or(i64::MAX))),
            _ => unreachable!("the order's profile was checked"),
        }
    }
    fn walk(
        shape: &IntTuple,
        order: &IntTuple,
        reference: &[(i64, i64)],
        leaf: &mut usize,
    ) -> IntTuple {
        match (shape, order) {
            (Nest::Tuple(n), Nest::Tuple(o)) => Nest::Tuple(
                n.iter()
                    .zip(o)
                    .map(|(n, o)| walk(n, o, reference, leaf))
                    .collect(),
            ),
            (n, Nest::Int(o)) => {
                let here = (*o, *leaf);
                *leaf += 1;
                let before = reference
                    .iter()
                    .enumerate()
                    .filter(|(i, m)| (m.0, *i) < here);
                let mut covered = before.fold(1i64, |p, (_, m)| p.saturating_mul(m.1));
                n.map(&mut |&n| compact_step(n, &mut covered))
            }
            _ => unreachable!("the order's profile was checked"),
        }
    }
    let mut reference = Vec::new();
    leaves(shape, order, &mut reference);
    walk(shape, order, &reference, &mut 0)
}
