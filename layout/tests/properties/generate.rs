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

/// A layout of two to four modes that do not merge, and one of one to four modes whose strides
/// start within them: so that the second walks over the first and often carries, or just does not.
pub fn walking() -> impl Strategy<Value = (Layout, Layout)> {
    let radices =
        prop::collection::vec((prop::sample::select(vec![2, 3, 4, 6, 8]), -9..50i64), 2..5);
    let digit = (
        0..5usize,
        prop::sample::select(vec![1, 2, 3, 4]),
        2..7i64,
        prop::bool::weighted(0.15),
    );
    (radices, prop::collection::vec(digit, 1..5)).prop_map(|(radices, digits)| {
        let left = Layout::flat(&radices).expect("small layouts are valid");
        let modes: Vec<(i64, i64)> = digits
            .into_iter()
            .map(|(skip, step, count, down)| {
                let before: i64 = radices.iter().take(skip).map(|mode| mode.0).product();
                let stride = before * step;
                (count, if down { -stride } else { stride })
            })
            .collect();
        (left, Layout::flat(&modes).expect("small layouts are valid"))
    })
}

/// Layouts with extents and strides up to the limits of 64 bits.
pub fn huge() -> impl Strategy<Value = Layout> {
    let number = prop_oneof![
        4 => 1..9i64,
        3 => (0..62u32).prop_map(|log| 1i64 << log),
        2 => (1..62u32, -1..2i64).prop_map(|(log, off)| (1i64 << log) + off),
        1 => prop::sample::select(vec![1_000_000_007, 3_037_000_499, i64::MAX / 3, i64::MAX - 1]),
    ];
    let stride = (number.clone(), 0..12u32).prop_map(|(stride, kind)| match kind {
        0 => 0,
        1 => -stride,
        _ => stride,
    });
    prop::collection::vec((number, stride), 1..5)
        .prop_filter_map("past 64 bits", |modes| Layout::flat(&modes).ok())
}
