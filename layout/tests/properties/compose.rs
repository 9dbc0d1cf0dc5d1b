//! Composition is composition of functions; simplification keeps the function.

use proptest::prelude::*;
use tilefold_layout::{Basis, ComposedLayout, IntTuple, Layout, Nest, Rule};

use crate::generate::{
    any_layout, cases, compact, dividing, non_negative, shape, spread, swizzle, walking,
};

fn is_composition(a: &Layout, b: &Layout, r: &Layout) -> Result<(), TestCaseError> {
    prop_assert_eq!(r.size(), b.size());
    for i in 0..b.size() {
        prop_assert_eq!(r.at(i), a.at(b.at(i)), "{} o {} = {} at {}", a, b, r, i);
        // The result takes b's own coordinates.
        prop_assert_eq!(r.at_coord(&b.idx2crd(i)).unwrap(), r.at(i));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn composes_or_refuses(a in any_layout(2000), b in any_layout(500)) {
        if let Ok(r) = a.compose(&b) {
            is_composition(&a, &b, &r)?;
        }
    }

    /// Several modes on the right, each admissible alone: their sums must not carry.
    #[test]
    fn sums_compose_or_are_refused((a, b) in walking()) {
        if let Ok(r) = a.compose(&b) {
            is_composition(&a, &b, &r)?;
        }
        if b.flat_modes().iter().all(|mode| mode.1 >= 0) {
            refuses_only_what_is_wrong(&a, &b)?;
        }
    }

    #[test]
    fn composes_after_dividing(a in any_layout(2000), seed in dividing(720)) {
        if let Ok(r) = a.compose(&seed) {
            is_composition(&a, &seed, &r)?;
        }
    }

    #[test]
    fn right_divisions_are_not_refused(a in non_negative(500), b in non_negative(60)) {
        refuses_only_what_is_wrong(&a, &b)?;
    }

    #[test]
    fn right_divisions_of_compact_layouts_are_not_refused(a in compact(720), b in dividing(720)) {
        refuses_only_what_is_wrong(&a, &b)?;
    }

    #[test]
    fn associates(a in spread(400, 3), b in compact(200), c in compact(100)) {
        // Beyond its size a layout goes on in its last mode, which is another one after composing.
        prop_assume!(c.cosize() <= b.size() && b.cosize() <= a.size());
        let (Ok(ab), Ok(bc)) = (a.compose(&b), b.compose(&c)) else { return Ok(()) };
        if let (Ok(left), Ok(right)) = (ab.compose(&c), a.compose(&bc)) {
            for i in 0..c.size() {
                prop_assert_eq!(left.at(i), right.at(i));
            }
        }
    }

    /// The identity of the right size changes nothing, on either side.
    #[test]
    fn identity_is_neutral(a in any_layout(2000)) {
        let identity = Layout::identity(a.size()).unwrap();
        let right = a.compose(&identity).unwrap();
        is_composition(&a, &identity, &right)?;
        let reshaped = a.with_shape(a.shape().clone()).unwrap();
        for i in 0..a.size() {
            prop_assert_eq!(reshaped.at(i), a.at(i));
        }
        let wide = Layout::identity(1 << 20).unwrap();
        prop_assert_eq!(wide.compose(&a).unwrap(), a);
    }

    /// One mode into powers of two is always admissible when it stays inside.
    #[test]
    fn powers_of_two_always_compose(
        extents in prop::collection::vec(0..3u32, 1..5),
        n in 0..5u32,
        s in 0..6u32,
    ) {
        let total: u32 = extents.iter().sum();
        let s = s.min(total);
        let n = n.min(total - s);
        let extents: Vec<i64> = extents.iter().map(|e| 1 << e).collect();
        let a = Layout::row_major(&extents).unwrap();
        let b = Layout::flat(&[(1 << n, 1 << s)]).unwrap();
        is_composition(&a, &b, &a.compose(&b).unwrap())?;
    }

    #[test]
    fn basis_strides_pick_modes(a in any_layout(600), picks in prop::collection::vec(0..3usize, 1..4)) {
        prop_assume!(a.depth() > 0);
        let picks: Vec<usize> = picks.iter().map(|p| p % a.rank()).collect();
        let extents: Vec<i64> = picks.iter().map(|&p| a.modes()[p].size()).collect();
        let strides = picks.iter().map(|&p| Nest::Int(Basis::new(1, &[p]).unwrap())).collect();
        let b = Layout::new(IntTuple::flat(&extents), Nest::Tuple(strides)).unwrap();
        let Ok(r) = a.compose(&b) else {
            // Only where two strides lead to one mode can their sum leave it.
            let mut once = picks.clone();
            once.sort_unstable();
            prop_assert!(once.windows(2).any(|w| w[0] == w[1]));
            return Ok(());
        };
        for i in 0..b.size() {
            let coord = b.coord_at(i).unwrap();
            let full = (0..a.rank()).map(|m| coord.get(m).cloned().unwrap_or(Nest::Int(0)));
            prop_assert_eq!(r.at(i), a.at_coord(&Nest::Tuple(full.collect())).unwrap());
        }
    }

    #[test]
    fn simplification_keeps_the_function(a in any_layout(2000)) {
        let coalesced = a.coalesce();
        for i in 0..a.size() {
            prop_assert_eq!(coalesced.at(i), a.at(i));
            prop_assert_eq!(a.flatten().at(i), a.at(i));
        }
        let modes = coalesced.flat_modes();
        prop_assert!(modes.windows(2).all(|w| w[0].0 * w[0].1 != w[1].1));
        prop_assert!(modes.len() == 1 || modes.iter().all(|m| m.0 > 1));
    }

    #[test]
    fn profiles_coalesce_mode_by_mode(a in any_layout(500)) {
        let profile = IntTuple::flat(&vec![1; a.rank()]);
        let by_mode = a.coalesce_by(&profile).unwrap();
        for (before, after) in a.modes().iter().zip(by_mode.modes()) {
            prop_assert_eq!(&before.coalesce(), &after);
        }
    }

    /// Filtering keeps the set of offsets and repeats no mode.
    #[test]
    fn filter_keeps_offsets(a in any_layout(1000)) {
        let sorted = |l: &Layout| {
            let mut offsets: Vec<i64> = l.offsets().collect();
            offsets.sort_unstable();
            offsets.dedup();
            offsets
        };
        prop_assert_eq!(sorted(&a.filter()), sorted(&a));
        prop_assert_eq!(sorted(&a.filter_zeros()), sorted(&a));
        let null = a.nullspace();
        prop_assert_eq!(null.size() * a.filter_zeros().size(), a.size());
        prop_assert!(null.offsets().all(|i| a.at(i) == 0));
    }

    #[test]
    fn group_keeps_the_function(a in any_layout(500), start in 0..3usize, len in 1..3usize) {
        let start = start % a.rank();
        let len = len.min(a.rank() - start);
        let grouped = a.group(start..start + len).unwrap();
        prop_assert_eq!(grouped.rank(), a.rank() - len + 1);
        for i in 0..a.size() {
            prop_assert_eq!(grouped.at(i), a.at(i));
        }
    }

    #[test]
    fn coordinates_round_trip(a in any_layout(1000)) {
        for i in 0..a.size() {
            let coord = a.idx2crd(i);
            prop_assert!(coord.congruent(a.shape()));
            prop_assert_eq!(a.at_coord(&coord).unwrap(), a.at(i));
        }
        prop_assert_eq!(a.cosize(), 1 + a.offsets().max().unwrap() - a.offsets().min().unwrap());
    }

    #[test]
    fn compact_layouts_invert_by_coordinate(a in compact(1000)) {
        for i in 0..a.size() {
            let offset = a.at(i);
            prop_assert_eq!(a.get_1d_coord(offset), i);
            prop_assert_eq!(a.at_coord(&a.get_hier_coord(offset)).unwrap(), offset);
            prop_assert_eq!(a.at_coord(&a.get_flat_coord(offset)).unwrap(), offset);
        }
    }

    #[test]
    fn compact_forms_are_compact(s in shape(2000), base in non_negative(2000)) {
        let like = base.compact_like().unwrap();
        prop_assert_eq!(like.filter_zeros().size(), like.cosize());
        for layout in [Layout::compact_left(s.clone()), Layout::compact_right(s)] {
            let layout = layout.unwrap();
            prop_assert_eq!(layout.size(), layout.cosize());
            let mut offsets: Vec<i64> = layout.offsets().collect();
            offsets.sort_unstable();
            prop_assert_eq!(offsets, (0..layout.size()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn swizzled_layouts_compose(sw in swizzle(), a in non_negative(500), b in compact(100)) {
        let swizzled = ComposedLayout::new(sw, a);
        if let Ok(r) = swizzled.compose(&b) {
            for i in 0..b.size() {
                prop_assert_eq!(r.at(i), swizzled.at(b.at(i)));
            }
        }
        prop_assert!(swizzled.offsets().all(|offset| offset < swizzled.cosize()));
    }

    #[test]
    fn swizzles_follow_through_layouts(sw in swizzle(), a in spread(512, 2), b in compact(256)) {
        let inner = ComposedLayout::new(sw, b);
        if let Ok(r) = a.compose_swizzled(&inner) {
            for i in 0..inner.size() {
                prop_assert_eq!(r.at(i), a.at(inner.at(i)));
            }
        }
    }
}

/// Composition by divisions alone, as the rules of CuTe have it: `None` where those fail. What it
/// gives may be another function than the composition.
fn by_division(a: &Layout, b: &Layout) -> Option<Layout> {
    let mut left: Vec<(i64, i64)> = a.flat_modes();
    if left.last()?.0 == 1 {
        left.last_mut()?.0 = 2;
    }
    let left = Layout::flat(&left).ok()?.coalesce().flat_modes();
    let (&(_, last_stride), inner) = left.split_last()?;
    let mut modes = Vec::new();
    for (extent, stride) in b.flat_modes() {
        if stride == 0 {
            modes.push((extent, 0));
            continue;
        }
        let (mut rest, mut step) = (extent, stride);
        for &(n, d) in inner {
            let size = step.abs();
            if step >= n && step % n != 0 {
                return None;
            }
            let fits = n / size + i64::from(n % size != 0);
            if fits > 1 && rest > 1 {
                let taken = fits.min(rest);
                if rest % taken != 0 {
                    return None;
                }
                modes.push((taken, step * d));
                rest /= taken;
            }
            step = step.signum() * (size / n + i64::from(size % n != 0));
        }
        modes.push((rest, step * last_stride));
    }
    Layout::flat(&modes).ok()
}

/// Only what is wrong is refused: wherever division alone gives the composition, so does the
/// algebra here.
fn refuses_only_what_is_wrong(a: &Layout, b: &Layout) -> Result<(), TestCaseError> {
    let Some(divided) = by_division(a, b) else {
        return Ok(());
    };
    if (0..b.size()).all(|i| divided.at(i) == a.at(b.at(i))) {
        prop_assert!(a.compose(b).is_ok(), "{} o {} is {}", a, b, divided);
    }
    Ok(())
}

/// Where admissible compositions end: a stride of 3 in an extent of 4 is exact for two elements
/// only.
#[test]
fn truncation_is_admissible() {
    let parse = |text: &str| text.parse::<Layout>().unwrap();
    let a = parse("(4,6,8,10):(2,3,5,7)");
    assert_eq!(a.compose(&parse("2:3")).unwrap(), parse("2:6"));
    assert_eq!(a.compose(&parse("6:12")).unwrap(), parse("(2,3):(9,5)"));
    let a = parse("(4,2,8):(3,12,97)");
    assert_eq!(a.compose(&parse("3:3")).unwrap(), parse("3:9"));
    let refused = a.compose(&parse("4:3")).unwrap_err();
    assert_eq!(refused.rule, Rule::ShapeDivisibility { taken: 3, rest: 4 });
}
