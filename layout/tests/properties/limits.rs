//! Extents and strides near the limits of 64 bits: an answer is right or there is none.

use proptest::prelude::*;
use tilefold_layout::{
    ComposedLayout, Layout, Outer, Swizzle, max_common_layout, max_common_vector,
};

use crate::generate::{cases, huge};

/// The layout as a function of a non-negative number, its last mode unbounded, in more than 64
/// bits.
fn exact(layout: &Layout, index: i128) -> i128 {
    let modes = layout.flat_modes();
    let last = modes.len() - 1;
    let mut rest = index;
    let mut sum = 0i128;
    for (i, &(extent, stride)) in modes.iter().enumerate() {
        let digit = if i == last {
            rest
        } else {
            rest % i128::from(extent)
        };
        rest /= i128::from(extent);
        sum += digit * i128::from(stride);
    }
    sum
}

/// Some indices below `size`: the ends, and what lies around powers of two between.
fn samples(size: i64) -> Vec<i128> {
    let mut all: Vec<i128> = (0..63u32)
        .flat_map(|log| [(1i128 << log) - 1, 1 << log, (1 << log) + 1])
        .chain([
            0,
            i128::from(size) - 1,
            i128::from(size) / 3,
            i128::from(size) / 2,
        ])
        .filter(|&i| i >= 0 && i < i128::from(size))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn simple_forms_and_inverses(a in huge()) {
        let coalesced = a.coalesce();
        prop_assert_eq!(coalesced.size(), a.size());
        let right = a.right_inverse();
        for i in samples(right.size()) {
            prop_assert_eq!(exact(&a, exact(&right, i)), i, "{} by {}", a, right);
        }
        let left = a.left_inverse();
        for i in samples(a.size()) {
            let offset = exact(&a, i);
            prop_assert_eq!(exact(&coalesced, i), offset);
            prop_assert_eq!(i128::from(a.at(i64::try_from(i).unwrap())), offset);
            if let Ok(left) = &left {
                prop_assert_eq!(exact(&a, exact(left, offset)), offset, "{} by {}", a, left);
            }
        }
        for i in samples(a.size()).into_iter().map(|i| i64::try_from(i).unwrap()) {
            prop_assert_eq!(i128::from(a.at_coord(&a.idx2crd(i)).unwrap()), exact(&a, i.into()));
        }
        let _ = (a.filter(), a.nullspace(), a.compact_like(), a.complement_self());
    }

    #[test]
    fn compositions_and_divides(a in huge(), b in huge(), cotarget in 1..i64::MAX) {
        if let Ok(r) = a.compose(&b) {
            prop_assert_eq!(r.size(), b.size());
            for i in samples(b.size()) {
                let inner = exact(&b, i);
                if inner >= 0 {
                    prop_assert_eq!(exact(&r, i), exact(&a, inner), "{} o {} = {}", a, b, r);
                }
            }
        }
        if let Ok(divided) = a.logical_divide(&b) {
            let tile = divided.mode(0).unwrap();
            for i in samples(tile.size()) {
                let inner = exact(&b, i);
                if inner >= 0 {
                    prop_assert_eq!(exact(&tile, i), exact(&a, inner), "{} by {}", a, b);
                }
            }
        }
        if let Ok(product) = a.logical_product(&b) {
            prop_assert_eq!(product.size(), a.size().checked_mul(b.size()).unwrap());
        }
        if let Ok(rest) = a.complement(cotarget) {
            // Each offset at most once: no more of them than there is room for.
            let covered = i128::from(a.filter().size()) * i128::from(rest.size());
            let reach = i128::from(a.filter().cosize()) - 1 + i128::from(rest.cosize());
            prop_assert!(covered <= reach, "{} and {}", a, rest);
        }
        let common = max_common_vector(&a, &b);
        let inverse = b.right_inverse();
        for i in samples(common) {
            if common > 1 {
                prop_assert_eq!(exact(&a, exact(&inverse, i)), i);
            }
        }
        if let Ok(r) = max_common_layout(&a, &b) {
            for i in samples(r.size()) {
                prop_assert_eq!(exact(&a, exact(&r, i)), i);
                prop_assert_eq!(exact(&b, exact(&r, i)), i);
            }
        }
        let _ = (a.zipped_divide([b.clone()].as_slice()), a.tile_to_shape(b.shape(), None));
        let _ = (a.blocked_product(&b), a.raked_product(&b), a.with_shape(b.shape().clone()));
        let _ = (a.complement_shape(b.shape()), a.divide_evenly(&b));
        let _ = tilefold_layout::make_layout_tv(&a, &b);
    }

    #[test]
    fn recasts(a in huge(), n in prop_oneof![1..9i64, (0..62u32).prop_map(|log| 1i64 << log)]) {
        if let Ok(fine) = a.downcast(n) {
            prop_assert_eq!(i128::from(fine.size()), i128::from(a.size()) * i128::from(n));
            if let Ok(back) = fine.upcast(n) {
                prop_assert_eq!(back, a.clone());
            }
        }
        if let Ok(coarse) = a.upcast(n) {
            // The farthest element lies in the farthest unit, or not beyond it.
            let top = (a.cosize() - 1) / n;
            prop_assert!(coarse.cosize() > top || a.flat_modes().iter().any(|m| m.1 < 0));
        }
    }

    #[test]
    fn composed_layouts(a in huge(), offset in any::<i64>(), b in huge()) {
        let swizzle = Swizzle::new(3, 4, 3).unwrap();
        for outer in [Outer::Swizzle(swizzle), Outer::Layout(b)] {
            let Ok(layout) = ComposedLayout::with_offset(outer, offset, a.clone()) else { continue };
            let cosize = layout.cosize();
            if layout.swizzle().is_some() && a.flat_modes().iter().all(|m| m.1 >= 0) && offset >= 0 {
                for i in samples(a.size()) {
                    let at = swizzle.apply(i64::try_from(exact(&a, i)).unwrap() + offset);
                    prop_assert_eq!(layout.at(i64::try_from(i).unwrap()), at);
                    prop_assert!(at < cosize || cosize == i64::MAX);
                }
            }
            let _ = (layout.right_inverse(), layout.left_inverse());
        }
    }
}
