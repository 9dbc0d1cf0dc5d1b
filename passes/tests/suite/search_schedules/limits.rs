//! Limits of searches, and that nothing else decides where they end.

use super::{open, spec};
use tilefold_passes::{
    Plan,
    search::{
        Search, plans,
        schedules::{self, Limits},
    },
};

/// The limit on combinations is what stops the search: with the best so far, and always the same.
#[test]
fn a_limit_stops_the_search_with_the_best_so_far() {
    let plan = Plan::complete(&spec("gfx1201", "4096", "f16", ["row", "col"], "")).unwrap();
    let open = open(&plan);
    let within = |combinations| {
        let limits = Limits {
            combinations,
            ..Limits::default()
        };
        schedules::search_within(&open, &limits).unwrap()
    };
    let whole = schedules::search(&open).unwrap();
    assert!(whole.complete);
    let all = whole.weighed + whole.refused.values().sum::<usize>();
    let seen = |search: &schedules::ScheduleSearch| {
        search.weighed + search.refused.values().sum::<usize>()
    };
    let mut before = 0;
    for combinations in [0, 20_000, 80_000] {
        let stopped = within(combinations);
        assert!(!stopped.complete && !stopped.finalists.is_empty());
        assert_eq!(stopped.finalists, within(combinations).finalists);
        assert!((before..all).contains(&seen(&stopped)), "{combinations}");
        before = seen(&stopped) + 1;
        let best = |search: &schedules::ScheduleSearch| search.finalists[0].figures.instructions();
        println!(
            "{combinations}: {} seen, {:.3}",
            seen(&stopped),
            best(&stopped)
        );
    }
    // As much as there is, and no more.
    let enough = within(all);
    assert!(enough.complete);
    assert_eq!(enough.finalists, whole.finalists);
}

/// Of kernels with more registers to spare are all that are asked for, and of too many none.
#[test]
fn registers_to_spare_are_kept() {
    let spec = spec("gfx1201", "4096", "f16", ["row", "col"], "");
    let search = Search::new(&spec, &[]);
    for spare_vgprs in [0, 17, 60, 300] {
        let limits = Limits {
            spare_vgprs,
            ..Limits::default()
        };
        let found = search.plans(&limits).unwrap();
        assert_eq!(found.plans.is_empty(), spare_vgprs == 300);
        for proposal in &found.plans {
            assert!(proposal.figures.unwrap().spare_vgprs >= spare_vgprs);
        }
    }
}

/// Searches that follow the first one look at no more than what lies near their own best kernels,
/// and at nothing where the first one has used up what all of them have.
#[test]
fn searches_of_a_spec_share_their_limit() {
    let spec = spec("gfx1201", "4096", "fp8", ["col", "row"], "");
    let searches = |combinations| {
        let search = Search::new(&spec, &[]);
        [0, 20].map(|spare_vgprs| {
            let limits = Limits {
                spare_vgprs,
                combinations,
                ..Limits::default()
            };
            search.plans(&limits).unwrap().schedules.unwrap()
        })
    };
    let [first, second] = searches(Limits::default().combinations);
    println!("{} and {} combinations", first.tried, second.tried);
    assert!(first.complete && second.complete);
    assert!(first.tried > 100_000 && second.tried * 5 < first.tried);
    // What a search of its own finds.
    let alone = Limits {
        spare_vgprs: 20,
        ..Limits::default()
    };
    let alone = Search::new(&spec, &[]).plans(&alone).unwrap().schedules;
    assert_eq!(alone.unwrap().finalists, second.finalists);
    let few = 10_000;
    let [first, second] = searches(few);
    assert!(!first.complete && !second.complete);
    assert!(first.tried <= few && second.tried == 0);
}

#[test]
fn finalists_are_the_same_from_any_thread() {
    let spec = spec("gfx1201", "1024", "bf16", ["row", "col"], "");
    let found = || {
        let found = plans(&spec).unwrap();
        let plans: Vec<_> = found
            .plans
            .iter()
            .map(|proposal| {
                (
                    format!("{:?}", proposal.plan.completed.plan),
                    proposal.chain.clone(),
                )
            })
            .collect();
        (plans, found.schedules.unwrap().finalists)
    };
    let first = found();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(found)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), first);
        }
    });
}
