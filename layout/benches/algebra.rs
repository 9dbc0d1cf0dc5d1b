//! What a compiler asks of the algebra most, on layouts of depth 2. The aim is a microsecond each;
//! thread-value layouts take a little more.

use divan::{Bencher, black_box};
use tilefold_layout::{
    ComposedLayout, IntTuple, Layout, Swizzle, make_layout_tv, max_common_vector,
};

fn main() {
    // A call alone is near the timer's precision; many to a sample measure the steady state.
    divan::Divan::from_args().sample_size(256).main();
}

fn parse(text: &str) -> Layout {
    text.parse().expect("bench inputs are layouts")
}

/// The thread-value layout of the accumulators of one wave, and the tile it covers.
const THREAD_VALUE: &str = "((16,2),(8,2)):((16,8),(1,256))";
const TILE: &str = "((16,4),(16,8)):((1,512),(16,2048))";

#[divan::bench]
fn at(bencher: Bencher<'_, '_>) {
    let a = parse(TILE);
    bencher.bench(|| black_box(&a).at(black_box(4321)));
}

#[divan::bench]
fn at_coord(bencher: Bencher<'_, '_>) {
    let a = parse(TILE);
    let coord: IntTuple = [37, 101].into();
    bencher.bench(|| black_box(&a).at_coord(black_box(&coord)));
}

#[divan::bench]
fn coalesce(bencher: Bencher<'_, '_>) {
    let a = parse(TILE);
    bencher.bench(|| black_box(&a).coalesce());
}

#[divan::bench]
fn compose(bencher: Bencher<'_, '_>) {
    let (a, b) = (parse(TILE), parse(THREAD_VALUE));
    bencher.bench(|| black_box(&a).compose(black_box(&b)));
}

#[divan::bench]
fn complement(bencher: Bencher<'_, '_>) {
    let a = parse("((4,8),(2,2)):((1,16),(8,512))");
    bencher.bench(|| black_box(&a).complement(black_box(8192)));
}

#[divan::bench]
fn right_inverse(bencher: Bencher<'_, '_>) {
    let a = parse(TILE);
    bencher.bench(|| black_box(&a).right_inverse());
}

#[divan::bench]
fn left_inverse(bencher: Bencher<'_, '_>) {
    let a = parse(TILE);
    bencher.bench(|| black_box(&a).left_inverse());
}

#[divan::bench]
fn logical_divide(bencher: Bencher<'_, '_>) {
    let (a, t) = (parse(TILE), parse("(16,8):(1,64)"));
    bencher.bench(|| black_box(&a).logical_divide(black_box(&t)));
}

#[divan::bench]
fn zipped_divide_by_mode(bencher: Bencher<'_, '_>) {
    let a = parse(TILE);
    let t = [parse("16:1"), parse("16:1")];
    bencher.bench(|| black_box(&a).zipped_divide(black_box(&t)));
}

#[divan::bench]
fn logical_product(bencher: Bencher<'_, '_>) {
    let (a, b) = (parse("((2,2),8):((1,16),2)"), parse("(4,2):(2,1)"));
    bencher.bench(|| black_box(&a).logical_product(black_box(&b)));
}

#[divan::bench]
fn common_vector(bencher: Bencher<'_, '_>) {
    let (a, b) = (parse(TILE), parse("((16,4),(16,8)):((1,16),(64,1024))"));
    bencher.bench(|| max_common_vector(black_box(&a), black_box(&b)));
}

#[divan::bench]
fn compose_swizzled(bencher: Bencher<'_, '_>) {
    let swizzle = Swizzle::new(3, 3, 3).expect("a valid swizzle");
    let a = ComposedLayout::new(swizzle, parse("(128,64):(64,1)"));
    let b = parse("((8,16),(8,8)):((1,8),(128,1024))");
    bencher.bench(|| black_box(&a).compose(black_box(&b)));
}

#[divan::bench]
fn thread_value(bencher: Bencher<'_, '_>) {
    let (t, v) = (parse("(16,8):(8,1)"), parse("(1,8):(8,1)"));
    bencher.bench(|| make_layout_tv(black_box(&t), black_box(&v)));
}
