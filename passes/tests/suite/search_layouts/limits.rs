//! What the search does within limits: less, and the same each time.

use super::{brute::verify, fp8, wmma};
use tilefold_dialect::{element::ElementType, spec::Spec};
use tilefold_passes::search::{
    Search,
    layouts::{Class, LayoutSearch, Limits, Searches, TileUse, check, search},
    plans, schedules,
};

const ALL: Limits = Limits {
    work: u64::MAX,
    least: 0,
    nodes: usize::MAX,
    rounds: usize::MAX,
};

fn within(limits: Limits, usage: &TileUse) -> (LayoutSearch, u64) {
    let mut searches = Searches::new(limits, 1);
    let found = searches.search(usage).unwrap();
    (found, searches.work())
}

/// What is cut short is a legal answer for all that.
fn cut(limits: Limits, usage: &TileUse) -> (LayoutSearch, u64) {
    let (found, work) = within(limits, usage);
    assert!(!found.complete, "{limits:?}");
    assert_eq!(found.zero_conflict_proof, None, "{limits:?}");
    verify(usage, &found.best);
    check(usage, &found.explanation).unwrap();
    assert_eq!(found.explanation.last().unwrap().term, found.best.term);
    assert_eq!(within(limits, usage), (found.clone(), work), "{limits:?}");
    (found, work)
}

#[test]
fn little_work_gives_a_legal_answer_and_more_a_better_one() {
    let usage = fp8([128, 64], true);
    let (whole, all) = within(ALL, &usage);
    assert!(whole.complete);
    assert_eq!(whole, search(&usage).unwrap());
    for work in [0, 1, all / 100, all / 8, all / 2] {
        let (found, spent) = cut(Limits { work, ..ALL }, &usage);
        // What is begun is ended, and what is answered counted anew, a few times the tile.
        assert!(spent <= work + 100 * 128 * 64, "{spent} of {work}");
        assert!(found.enumerated.pairs < whole.enumerated.pairs);
        let [best, ours] = [&whole, &found].map(|it| (it.best.class(), it.best.cost));
        assert!(best <= ours, "{best:?} {ours:?}");
        // What is likely good is tried first.
        assert!(work < all / 8 || best.0 == ours.0, "{best:?} {ours:?}");
    }
    // Rules may spend no more than two thirds of it.
    let enough = Limits {
        work: 4 * all,
        ..ALL
    };
    assert_eq!(within(enough, &usage), (whole, all));
}

#[test]
fn few_rounds_and_few_nodes_are_kept_to() {
    let usage = wmma("gfx1100", ElementType::F16, [128, 64], 128, 1);
    let (whole, all) = within(ALL, &usage);
    assert!(whole.complete);
    for limits in [
        Limits { rounds: 0, ..ALL },
        Limits { rounds: 2, ..ALL },
        Limits { nodes: 1, ..ALL },
        Limits { nodes: 300, ..ALL },
    ] {
        let (found, work) = cut(limits, &usage);
        assert!(found.enumerated.placements < whole.enumerated.placements);
        assert!(work < all);
    }
    // The defaults suffice for ordinary tiles, and end what has no end.
    let default = Limits::default();
    assert!(default.rounds <= 24 && default.nodes <= 40_000);
}

#[test]
fn searches_share_what_there_is() {
    let usage = fp8([128, 32], true);
    let (alone, all) = within(ALL, &usage);
    assert!(alone.complete);
    // Of two searches the first leaves the second a half.
    let mut searches = Searches::new(Limits { work: all, ..ALL }, 2);
    assert!(!searches.search(&usage).unwrap().complete);
    let first = searches.work();
    assert!(first <= all / 2 + all / 20, "{first} of {all}");
    let other = fp8([64, 64], true);
    assert!(!searches.search(&other).unwrap().complete);
    assert!(searches.work() <= all, "{} of {all}", searches.work());
    // Another use of the same tile has the graph of the first.
    let mut searches = Searches::new(ALL, 2);
    assert_eq!(searches.search(&usage).unwrap(), alone);
    assert_eq!(searches.work(), all);
    assert_eq!(searches.search(&usage).unwrap().best, alone.best);
    assert!(searches.work() < 2 * all - all / 4);
}

fn open(chip: &str, element: &str, orders: [&str; 2], tile: &str) -> Spec {
    let [a, b] = orders;
    Spec::from_toml(
        "open.toml",
        format!(
            "arch = \"{chip}\"\n[gemm]\nm = 4096\nn = 4096\nk = 4096\n\
             a = {{ type = \"{element}\", layout = \"{a}\" }}\n\
             b = {{ type = \"{element}\", layout = \"{b}\" }}\n\
             c = {{ type = \"f32\", layout = \"col\" }}\naccumulate = \"f32\"\n[tile]\n{tile}\n"
        ),
    )
    .unwrap()
}

#[test]
fn the_limits_of_a_spec_are_those_of_its_searches() {
    let spec = open(
        "gfx1201",
        "f16",
        ["row", "col"],
        "block = [\"_\", \"_\", 32]",
    );
    let within = |layouts| {
        let limits = schedules::Limits {
            layouts,
            ..schedules::Limits::default()
        };
        Search::new(&spec, &[]).plans(&limits).unwrap()
    };
    let whole = within(Limits::default()).layout_work;
    let half = Limits {
        work: whole / 2,
        ..Limits::default()
    };
    let cut = within(half);
    assert!(cut.layout_work < whole, "{} of {whole}", cut.layout_work);
    let mut found = cut.plans[0].layouts.iter().flatten();
    assert!(found.any(|found| !found.complete));
}

#[test]
fn tiles_of_many_factors_stay_within_the_limits_of_a_spec() {
    let most = Limits::default().work;
    // A bound on the time that a search takes, at some nanoseconds a step.
    assert!(most <= 125_000_000);
    for (chip, element, orders, tile) in [
        (
            "gfx1201",
            "fp8",
            ["row", "row"],
            "block = [240, 240, 128]\nwaves = [3, 5]",
        ),
        (
            "gfx1201",
            "fp8",
            ["row", "col"],
            "block = [384, 96, 128]\nwaves = [4, 2]",
        ),
        (
            "gfx1201",
            "f16",
            ["row", "col"],
            "block = [240, 240, 64]\nwaves = [3, 5]",
        ),
    ] {
        let what = format!("{chip} {element} {orders:?} {tile}");
        let found = plans(&open(chip, element, orders, tile)).unwrap();
        assert!(
            (1..=most).contains(&found.layout_work),
            "{what}: {}",
            found.layout_work
        );
        for found in found.plans[0].layouts.iter().flatten() {
            // As without limits.
            assert_eq!(found.best.cost.conflict_cycles, 0, "{what}");
            check(&found.usage, &found.explanation).unwrap();
            assert!(found.complete, "{what}");
        }
    }
}

/// Loads of one or two elements make many copies, and so many pairs that limits end the search.
#[test]
fn what_is_near_is_weighed_however_little_is_left() {
    let limits = Limits {
        work: 0,
        ..Limits::default()
    };
    for chip in ["gfx1100", "gfx1201"] {
        for (tile, threads) in [
            ([128, 32], 128),
            ([160, 32], 256),
            ([192, 64], 256),
            ([256, 64], 512),
        ] {
            for load_elements in [1, 2] {
                let usage = TileUse {
                    load_elements,
                    ..wmma(chip, ElementType::F16, tile, threads, 1)
                };
                let what = format!("{chip} {tile:?} by {threads}, {load_elements} at once");
                let (found, work) = cut(limits, &usage);
                assert_eq!(
                    found.best.class(),
                    Class::Free,
                    "{what}: {}",
                    found.best.lds
                );
                let published = found.published.as_ref();
                let published = published.map(|it| (it.class(), it.cost));
                let best = (found.best.class(), found.best.cost);
                assert!(published.is_none_or(|it| best <= it), "{what}");
                assert!(work <= 2 * limits.least, "{what}: {work}");
            }
        }
    }
}
