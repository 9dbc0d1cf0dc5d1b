//! Slices, element sizes, shares of a domain, and the text notation.

use proptest::prelude::*;
use tilefold_layout::{
    ComposedLayout, IntTuple, Layout, Nest, Outer, SliceCoord, Swizzle, domain_distribute,
    recognise,
};

use crate::generate::{any_layout, cases, compact, non_negative, shape, swizzle};

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn slices_are_the_rest_of_the_function(
        a in any_layout(500),
        keep in prop::collection::vec(any::<bool>(), 1..4),
        index in 0..500i64,
    ) {
        prop_assume!(a.depth() > 0);
        let fixed = a.idx2crd(index % a.size());
        let coord = |i: usize| -> SliceCoord {
            if keep.get(i).copied().unwrap_or(false) {
                Nest::Int(None)
            } else {
                fixed.get(i).unwrap().map(&mut |c| Some(*c))
            }
        };
        let coord = Nest::Tuple((0..a.rank()).map(coord).collect());
        let (kept, offset) = a.slice_and_offset(&coord).unwrap();
        for j in 0..kept.size() {
            let mut inner = kept.idx2crd(j).modes().to_vec().into_iter();
            let full = (0..a.rank()).map(|i| match coord.get(i) {
                Some(Nest::Int(None)) => inner.next().unwrap(),
                _ => fixed.get(i).unwrap().clone(),
            });
            let full = Nest::Tuple(full.collect());
            prop_assert_eq!(kept.at(j) + offset, a.at_coord(&full).unwrap());
        }
        let swizzled = ComposedLayout::new(Swizzle::new(2, 0, 3).unwrap(), a);
        let part = swizzled.slice(&coord).unwrap();
        prop_assert!((0..part.size()).all(|j| part.at(j) == Swizzle::new(2, 0, 3).unwrap().apply(kept.at(j) + offset)));
    }

    #[test]
    fn finer_and_back(a in any_layout(500), n in 1..9i64) {
        let Ok(fine) = a.downcast(n) else { return Ok(()) };
        prop_assert_eq!(fine.size(), a.size() * n);
        let pieces = |l: &Layout| {
            let mut all: Vec<i64> = l.offsets().collect();
            all.sort_unstable();
            all
        };
        let mut expected: Vec<i64> =
            a.offsets().flat_map(|x| (0..n).map(move |j| x * n + j)).collect();
        expected.sort_unstable();
        prop_assert_eq!(pieces(&fine), expected);
        if let Ok(back) = fine.upcast(n) {
            prop_assert_eq!(back, a);
        }
    }

    /// An upcast layout reaches exactly the units that the elements lie in.
    #[test]
    fn coarser_units_are_those_reached(a in compact(500), log in 0..4u32) {
        let n = 1i64 << log;
        let Ok(coarse) = a.upcast(n) else { return Ok(()) };
        let units = |it: &mut dyn Iterator<Item = i64>| {
            let mut all: Vec<i64> = it.collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        prop_assert_eq!(units(&mut coarse.offsets()), units(&mut a.offsets().map(|x| x / n)));
    }

    #[test]
    fn swizzles_change_units(sw in swizzle(), log in 0..3u32, x in 0..4096i64) {
        let n = 1i64 << log;
        let fine = sw.downcast(n).unwrap();
        prop_assert_eq!(fine.apply(x * n), sw.apply(x) * n);
        prop_assert_eq!(fine.upcast(n).unwrap(), sw);
    }

    #[test]
    fn shares_divide_the_domain(s in shape(1000), count in 1..100i64) {
        let share = domain_distribute(&s, count).unwrap();
        let size = s.checked_product().unwrap();
        prop_assert_eq!(count % share.size(), 0);
        prop_assert_eq!(size % share.size(), 0);
        let offsets: Vec<i64> = share.offsets().collect();
        prop_assert!(offsets.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(offsets.iter().all(|&i| i < size));
    }

    #[test]
    fn tables_of_layouts_are_recognised(a in any_layout(500), sw in swizzle(), offset in -64..64i64) {
        let table: Vec<i64> = a.offsets().collect();
        prop_assert_eq!(recognise(&table).unwrap(), a.coalesce().into());
        if a.flat_modes().iter().all(|m| m.1 >= 0) {
            let swizzled = ComposedLayout::with_offset(Outer::Swizzle(sw), offset, a).unwrap();
            let table: Vec<i64> = swizzled.offsets().collect();
            let found = recognise(&table).unwrap();
            prop_assert_eq!(found.offsets().collect::<Vec<_>>(), table);
        }
    }

    #[test]
    fn recognised_tables_are_right(table in prop::collection::vec(0..9i64, 1..9)) {
        if let Some(layout) = recognise(&table) {
            prop_assert_eq!(layout.offsets().collect::<Vec<_>>(), table);
        }
    }

    #[test]
    fn text_round_trips(a in any_layout(2000), sw in swizzle(), offset in -50..50i64) {
        prop_assert_eq!(a.to_string().parse::<Layout>().unwrap(), a.clone());
        prop_assert_eq!(a.shape().to_string().parse::<IntTuple>().unwrap(), a.shape().clone());
        let composed = ComposedLayout::with_offset(Outer::Swizzle(sw), offset, a.clone()).unwrap();
        let text = composed.to_string();
        let back = text.parse::<ComposedLayout>().unwrap();
        prop_assert_eq!(back.to_string(), text.clone());
        prop_assert_eq!(serde_json::from_str::<ComposedLayout>(&format!("{text:?}")).unwrap(), back);
        prop_assert_eq!(sw.to_string().parse::<Swizzle>().unwrap(), sw);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9Sw<>():,o@ _-]{0,40}") {
        let _ = text.parse::<Layout>();
        let _ = text.parse::<ComposedLayout>();
        let _ = text.parse::<tilefold_layout::Tiler>();
        let _ = text.parse::<Layout<tilefold_layout::Basis>>();
    }

    #[test]
    fn any_numbers_are_layouts_or_refused(
        modes in prop::collection::vec((any::<i64>(), any::<i64>()), 1..4),
        other in non_negative(50),
        index in any::<i64>(),
    ) {
        let Ok(a) = Layout::flat(&modes) else { return Ok(()) };
        let _ = (a.size(), a.cosize(), a.at(index), a.checked_at(index), a.idx2crd(index));
        let _ = (a.coalesce(), a.filter(), a.right_inverse(), a.left_inverse(), a.nullspace());
        let _ = (a.compose(&other), other.compose(&a), a.complement(index), a.complement_self());
        let _ = (a.logical_divide(&other), other.logical_divide(&a), a.logical_product(&other));
        let _ = (a.upcast(index), a.downcast(index), other.logical_product(&a), a.compact_like());
    }
}
