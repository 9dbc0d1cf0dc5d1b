//! Random layouts: nested, with zero and negative strides, compact and not.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tilefold_layout::{IntTuple, Layout, Nest, Swizzle, Tiler};

/// So many cases, the same in every run; `PROPTEST_RNG_SEED` gives others.
pub fn cases(cases: u32) -> ProptestConfig {
    let seed = std::env::var("PROPTEST_RNG_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed.unwrap_or(0)),
        failure_persistence: None,
        max_global_rejects: 20 * cases,
        ..ProptestConfig::default()
    }
}

/// A shape of at most `limit` coordinates, nested up to three deep.
pub fn shape(limit: i64) -> impl Strategy<Value = IntTuple> {
    let extent = prop_oneof![4 => 1..9i64, 1 => Just(1), 1 => 9..13i64].prop_map(Nest::Int);
    let nest = extent.prop_recursive(3, 8, 4, |inner| {
        prop::collection::vec(inner, 1..4).prop_map(Nest::Tuple)
    });
    nest.prop_filter("too many coordinates", move |shape: &IntTuple| {
        shape.checked_product().is_some_and(|n| n <= limit)
    })
}

/// Any layout: strides of any sign and size, repetitions included.
pub fn any_layout(limit: i64) -> impl Strategy<Value = Layout> {
    shape(limit).prop_flat_map(|shape| {
        let leaves = shape.leaves().len();
        let stride = prop_oneof![5 => 0..20i64, 2 => Just(0), 2 => 20..200i64, 2 => -20..0i64];
        prop::collection::vec(stride, leaves)
            .prop_map(move |strides| with_strides(&shape, &strides))
    })
}

/// A layout with strides of at least 0.
pub fn non_negative(limit: i64) -> impl Strategy<Value = Layout> {
    any_layout(limit).prop_map(|layout| {
        let strides: Vec<i64> = layout.stride().leaves().iter().map(|d| d.abs()).collect();
        with_strides(layout.shape(), &strides)
    })
}

/// A layout that reaches each offset below its size once, in any order of its leaves.
pub fn compact(limit: i64) -> impl Strategy<Value = Layout> {
    spread(limit, 1)
}

/// An injective layout: compact in any order of leaves, with gaps of up to `gap` times between.
pub fn spread(limit: i64, gap: i64) -> impl Strategy<Value = Layout> {
    shape(limit).prop_flat_map(move |shape| {
        let leaves = shape.leaves();
        let order = Just((0..leaves.len()).collect::<Vec<_>>()).prop_shuffle();
        let gaps = prop::collection::vec(1..=gap, leaves.len());
        (order, gaps).prop_map(move |(order, gaps)| {
            let mut strides = vec![0; leaves.len()];
            let mut covered = 1;
            for leaf in order {
                covered *= gaps[leaf];
                strides[leaf] = covered;
                covered *= leaves[leaf];
            }
            with_strides(&shape, &strides)
        })
    })
}

/// A layout whose flat modes are taken from those of `Layout::identity(size)`: divisors of the
/// size, so that compositions with compact layouts are often admissible.
pub fn dividing(size: i64) -> impl Strategy<Value = Layout> {
    let divisors: Vec<i64> = (1..=size).filter(|d| size % d == 0).collect();
    let mode = (
        prop::sample::select(divisors.clone()),
        prop::sample::select(divisors),
    );
    prop::collection::vec(mode, 1..4).prop_filter_map("too many coordinates", |modes| {
        Layout::flat(&modes).ok().filter(|l| l.size() <= 4096)
    })
}

/// Swizzles within 12 bits.
pub fn swizzle() -> impl Strategy<Value = Swizzle> {
    (0..4u32, 0..4u32, 0..5i32, any::<bool>()).prop_map(|(bits, base, extra, down)| {
        let shift = bits as i32 + extra;
        let shift = if down { shift } else { -shift };
        Swizzle::new(bits, base, shift).expect("|shift| >= bits")
    })
}

/// A layout, an even tile per mode of it, and the tile's extents.
pub fn evenly_tiled(limit: i64) -> impl Strategy<Value = (Layout, Vec<i64>)> {
    any_layout(limit).prop_flat_map(|layout| {
        let tiles: Vec<_> = layout
            .modes()
            .iter()
            .map(|mode| {
                let size = mode.size();
                prop::sample::select((1..=size).filter(|d| size % d == 0).collect::<Vec<_>>())
            })
            .collect();
        (Just(layout), tiles)
    })
}

/// `n:1` for each extent.
pub fn tiler(extents: &[i64]) -> Tiler {
    let tile = |&n| Tiler::Layout(Layout::identity(n).expect("extents are positive"));
    Tiler::Modes(extents.iter().map(tile).collect())
}

fn with_strides(shape: &IntTuple, strides: &[i64]) -> Layout {
    let mut next = strides.iter();
    let stride = shape.map(&mut |_| *next.next().expect("one stride for each leaf"));
    Layout::new(shape.clone(), stride).expect("small layouts are valid")
}
