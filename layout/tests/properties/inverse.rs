//! Complements leave nothing and repeat nothing; inverses invert.

use std::collections::HashSet;

use proptest::prelude::*;
use tilefold_layout::{
    ComposedLayout, Layout, Nest, Rule, Swizzle, max_common_layout, max_common_vector,
};

use crate::generate::{any_layout, cases, compact, non_negative, spread, swizzle};

/// All sums of an offset of `a` and one of `b`.
fn sums(a: &Layout, b: &Layout) -> Vec<i64> {
    a.offsets()
        .flat_map(|x| b.offsets().map(move |y| x + y))
        .collect()
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn complements_are_disjoint(a in non_negative(200), cotarget in 1..600i64) {
        let Ok(c) = a.complement(cotarget) else { return Ok(()) };
        let filtered = a.filter();
        prop_assume!(filtered.size() * c.size() <= 20_000);
        let all = sums(&filtered, &c);
        let distinct: HashSet<i64> = all.iter().copied().collect();
        prop_assert_eq!(distinct.len(), all.len());
        let strides: Vec<i64> = c.flat_modes().iter().map(|m| m.1).collect();
        prop_assert!(strides.is_sorted());
    }

    /// Offsets that coincide are refused as such, at a mode whose stride is the one named.
    #[test]
    fn complements_need_distinct_offsets(a in non_negative(200)) {
        let filtered = a.filter();
        let distinct: HashSet<i64> = filtered.offsets().collect();
        match a.complement_self() {
            Ok(_) => prop_assert_eq!(distinct.len() as i64, filtered.size()),
            Err(error) => {
                let Rule::Injective { stride, covered } = error.rule else {
                    return Err(TestCaseError::fail(error.to_string()));
                };
                prop_assert!(stride < covered);
                let path = error.mode.unwrap_or_default().0;
                let at = path.iter().try_fold(a.stride(), |nest, &i| nest.get(i));
                prop_assert_eq!(at, Some(&Nest::Int(stride)));
            }
        }
    }

    /// Where each stride is a multiple of what lies before it, nothing is left out.
    #[test]
    fn complements_fill(a in spread(100, 4), cotarget in 1..600i64) {
        let c = a.complement(cotarget).unwrap();
        prop_assume!(a.size() * c.size() <= 20_000);
        let mut all = sums(&a.filter(), &c);
        all.sort_unstable();
        prop_assert!(all.len() as i64 >= cotarget);
        prop_assert_eq!(all.clone(), (0..all.len() as i64).collect::<Vec<_>>());
    }

    #[test]
    fn right_inverses_invert(a in any_layout(2000)) {
        let r = a.right_inverse();
        for i in 0..r.size() {
            prop_assert_eq!(a.at(r.at(i)), i, "{} inverted by {}", a, r);
        }
    }

    #[test]
    fn left_inverses_invert(a in any_layout(2000)) {
        let Ok(l) = a.left_inverse() else { return Ok(()) };
        let offsets: Vec<i64> = a.offsets().collect();
        let distinct: HashSet<i64> = offsets.iter().copied().collect();
        for (i, &offset) in offsets.iter().enumerate() {
            prop_assert_eq!(a.at(l.at(offset)), offset, "{} inverted by {}", a, l);
            if distinct.len() == offsets.len() {
                prop_assert_eq!(l.at(offset), i as i64);
            }
        }
    }

    #[test]
    fn compact_layouts_invert_fully(a in compact(2000)) {
        prop_assert_eq!(a.right_inverse().size(), a.size());
        let l = a.left_inverse().unwrap();
        for i in 0..a.size() {
            prop_assert_eq!(l.at(a.at(i)), i);
        }
    }

    #[test]
    fn gaps_do_not_stop_left_inverses(a in spread(500, 4)) {
        prop_assert!(a.left_inverse().is_ok());
    }

    #[test]
    fn swizzles_are_involutions(sw in swizzle(), x in 0..1i64 << 40) {
        prop_assert_eq!(sw.apply(sw.apply(x)), x);
        let block: HashSet<i64> = (0..sw.period()).map(|i| sw.apply(i)).collect();
        prop_assert_eq!(block.len() as i64, sw.period());
        prop_assert!(block.iter().all(|&y| y < sw.period()));
        // Runs of 2^base stay together.
        let run = 1i64 << sw.base();
        prop_assert_eq!(sw.apply(x / run * run) + x % run, sw.apply(x));
    }

    #[test]
    fn swizzles_compose(a in swizzle(), b in swizzle(), x in 0..1i64 << 20) {
        if let Ok(both) = a.compose(b) {
            prop_assert_eq!(both.apply(x), a.apply(b.apply(x)), "{} o {} = {}", a, b, both);
        }
        prop_assert_eq!(a.compose(a).unwrap_or(Swizzle::IDENTITY).apply(x), x);
    }

    #[test]
    fn swizzled_inverses_invert(sw in swizzle(), a in compact(1024)) {
        let swizzled = ComposedLayout::new(sw, a);
        if let Ok(r) = swizzled.right_inverse() {
            for i in 0..r.size() {
                prop_assert_eq!(swizzled.at(r.at(i)), i);
            }
        }
        if let Ok(l) = swizzled.left_inverse() {
            for i in 0..swizzled.size() {
                prop_assert_eq!(swizzled.at(l.at(swizzled.at(i))), swizzled.at(i));
            }
        }
    }

    #[test]
    fn common_elements_are_contiguous_in_both(a in any_layout(400), b in any_layout(400)) {
        let inverse = b.right_inverse();
        let n = max_common_vector(&a, &b);
        prop_assert!(n >= 1);
        let more = n < inverse.size() && a.at(inverse.at(n)) == n;
        prop_assert!(!more, "{} and {} have more than {} in common", a, b, n);
        prop_assert!(n == 1 || (0..n).all(|i| a.at(inverse.at(i)) == i && b.at(inverse.at(i)) == i));
        if let Ok(r) = max_common_layout(&a, &b) {
            prop_assert!((0..r.size()).all(|i| a.at(r.at(i)) == i && b.at(r.at(i)) == i));
        }
    }

    #[test]
    fn a_layout_has_all_in_common_with_itself(a in compact(500)) {
        prop_assert_eq!(max_common_vector(&a, &a), a.size());
        prop_assert_eq!(max_common_layout(&a, &a).unwrap().size(), a.size());
    }
}
