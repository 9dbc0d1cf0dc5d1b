//! Thread-value layouts by brute force: who owns what, and whether A's and B's K agree.

use std::collections::{HashMap, HashSet};
use tilefold_dialect::atoms::MmaAtom;
use tilefold_layout::Layout;
use tilefold_passes::tiling::{MmaLayouts, copy_layout, copy_threads};

/// Index of the element that each value of each thread is, by (thread, value).
fn owned(layout: &Layout) -> Vec<Vec<i64>> {
    let [threads, values] = [0, 1].map(|mode| layout.mode(mode).unwrap());
    threads
        .offsets()
        .map(|t| values.offsets().map(|v| t + v).collect())
        .collect()
}

fn blocks() -> impl Iterator<Item = ([i64; 3], Layout)> {
    [
        ([16, 16, 16], "(1,1):(1,1)"),
        ([32, 48, 32], "(1,1):(1,1)"),
        ([64, 32, 32], "(2,1):(1,1)"),
        ([128, 96, 64], "(2,2):(2,1)"),
        ([128, 96, 64], "(2,2):(1,2)"),
        ([256, 256, 16], "(4,4):(4,1)"),
    ]
    .into_iter()
    .map(|(block, waves)| (block, waves.parse().unwrap()))
}

#[test]
fn every_element_of_c_has_one_owner() {
    for atom in MmaAtom::all() {
        for (block, waves) in blocks() {
            let c = MmaLayouts::new(atom, block, &waves).unwrap().c;
            let mut elements: Vec<i64> = owned(&c).into_iter().flatten().collect();
            elements.sort_unstable();
            assert!(
                elements.into_iter().eq(0..block[0] * block[1]),
                "{} {block:?}",
                atom.name
            );
        }
    }
}

/// Executes the block's mma on index sets: each instruction multiplies what the lanes hold at
/// the places that the atom's published maps name, whatever the fragments put there. Every
/// product a[m][k] b[n][k] must be added to c[m][n] exactly once, and no other product ever.
#[test]
fn fragments_multiply_the_block() {
    for atom in MmaAtom::all() {
        for (block, waves) in blocks().filter(|(block, _)| block[0] <= 64) {
            let layouts = MmaLayouts::new(atom, block, &waves).unwrap();
            let [rm, rn, rk] = layouts.repeat;
            let [a, b, c] = [&layouts.a, &layouts.b, &layouts.c].map(owned);
            let [am, an, _] = atom.shape;
            let maps = [atom.a(), atom.b(), atom.c()].map(|layout| owned(&layout));
            let values = maps.each_ref().map(|map| map[0].len());
            let mut added: HashMap<i64, HashSet<i64>> = HashMap::new();
            for wave in 0..waves.size() as usize {
                let lane = |lane: usize| wave * atom.wave as usize + lane;
                for (ik, im, in_) in (0..rk).flat_map(|k| {
                    (0..rm).flat_map(move |m| {
                        (0..rn).map(move |n| (k as usize, m as usize, n as usize))
                    })
                }) {
                    // Places of the instruction's operands -> what the fragments put there.
                    let mut at = [HashMap::new(), HashMap::new()];
                    for l in 0..atom.wave as usize {
                        for v in 0..values[0] {
                            let place = maps[0][l][v];
                            let held = a[lane(l)][v + values[0] * (im + rm as usize * ik)];
                            let was = at[0].insert((place % am, place / am), held);
                            assert!(was.is_none_or(|was| was == held), "halves repeat");
                        }
                        for v in 0..values[1] {
                            let place = maps[1][l][v];
                            let held = b[lane(l)][v + values[1] * (in_ + rn as usize * ik)];
                            at[1].insert((place % an, place / an), held);
                        }
                    }
                    for l in 0..atom.wave as usize {
                        for v in 0..values[2] {
                            let place = maps[2][l][v];
                            let (row, col) = (place % am, place / am);
                            let into = c[lane(l)][v + values[2] * (im + rm as usize * in_)];
                            let (m, n) = (into % block[0], into / block[0]);
                            for k in 0..atom.shape[2] {
                                let (x, y) = (at[0][&(row, k)], at[1][&(col, k)]);
                                assert_eq!(x % block[0], m, "row of A in {}", atom.name);
                                assert_eq!(y % block[1], n, "column of B in {}", atom.name);
                                assert_eq!(x / block[0], y / block[1], "K in {}", atom.name);
                                let new = added.entry(into).or_default().insert(x / block[0]);
                                assert!(new, "one product twice in {}", atom.name);
                            }
                        }
                    }
                }
            }
            assert!(added.values().all(|ks| ks.len() as i64 == block[2]));
            assert_eq!(added.len() as i64, block[0] * block[1]);
        }
    }
}

#[test]
fn copies_move_every_element_once() {
    for tile in [[16, 16], [32, 16], [96, 64], [128, 64], [256, 16], [48, 32]] {
        for along in [0, 1] {
            for threads in [32, 64, 128, 512] {
                for width in [1, 2, 4, 8] {
                    let Some((thread_layout, values)) = copy_threads(tile, along, threads, width)
                    else {
                        continue;
                    };
                    let layout = copy_layout(&thread_layout, &values, tile).unwrap();
                    let owned = owned(&layout);
                    assert_eq!(owned.len() as i64, threads);
                    // A group of `width` values lies side by side along the line.
                    let step = if along == 0 { 1 } else { tile[0] };
                    for thread in &owned {
                        for group in thread.chunks(width as usize) {
                            assert!(group.windows(2).all(|pair| pair[1] - pair[0] == step));
                        }
                    }
                    let mut elements: Vec<i64> = owned.into_iter().flatten().collect();
                    elements.sort_unstable();
                    assert!(elements.into_iter().eq(0..tile[0] * tile[1]));
                }
            }
        }
    }
}

#[test]
fn rdna4_fragments_are_runs_of_eight() {
    let atom = MmaAtom::by_name("gfx1201", "wmma.f16.16x16x16.f16").unwrap();
    let layouts = MmaLayouts::new(atom, [16, 16, 16], &"(1,1):(1,1)".parse().unwrap()).unwrap();
    // (lane row, lane half), wave; 8 values 16 apart in the column-major tile: K 0 to 7 or 8 to 15.
    assert_eq!(
        layouts.a.to_string(),
        "(((16,2),1),(8,1,1)):(((1,128),0),(16,16,256))"
    );
}
