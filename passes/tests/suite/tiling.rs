//! Thread-value layouts by brute force: who owns what, and whether A's and B's K agree.

use std::collections::HashMap;
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

/// Those blocks that are whole atoms along K.
fn blocks_of(atom: &MmaAtom) -> impl Iterator<Item = ([i64; 3], Layout)> {
    let depth = atom.shape[2];
    blocks().filter(move |(block, _)| block[2] % depth == 0)
}

#[test]
fn every_element_of_c_has_one_owner() {
    for atom in MmaAtom::all() {
        for (block, waves) in blocks_of(atom) {
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
/// the places that its published maps name, whatever the fragments put there. `held` says by lane
/// and value which of its values a lane really holds in A. How often each product
/// a[m][k] b[n][k] is added to c[m][n], and whether any other is.
fn products(
    atom: &MmaAtom,
    block: [i64; 3],
    waves: &Layout,
    held: impl Fn(usize, usize) -> [usize; 2],
) -> (HashMap<[i64; 2], u64>, bool) {
    let layouts = MmaLayouts::new(atom, block, waves).unwrap();
    let [rm, rn, rk] = layouts.repeat.map(|count| count as usize);
    let [a, b, c] = [&layouts.a, &layouts.b, &layouts.c].map(owned);
    let [am, an, depth] = atom.instruction_shape();
    let maps = [atom.a(), atom.b(), atom.c()].map(|layout| owned(&layout));
    let values = maps.each_ref().map(|map| map[0].len());
    // Values of one instruction.
    let taken = [0, 1].map(|operand| values[operand] / atom.instructions as usize);
    let (mut added, mut others) = (HashMap::new(), false);
    let lanes = atom.wave as usize;
    for wave in 0..waves.size() as usize {
        let atoms =
            (0..rk).flat_map(|k| (0..rm).flat_map(move |m| (0..rn).map(move |n| (k, m, n))));
        for (ik, im, in_) in atoms {
            for part in 0..atom.instructions as usize {
                // Places of the instruction's operands -> what the fragments put there. The
                // first instruction's maps are those of all.
                let mut at = [HashMap::new(), HashMap::new()];
                for l in 0..lanes {
                    for (v, place) in maps[0][l].iter().enumerate().take(taken[0]) {
                        let [lane, value] = held(l, v + part * taken[0]);
                        let value = value + values[0] * (im + rm * ik);
                        let held = a[wave * lanes + lane][value];
                        let was = at[0].insert((place % am, place / am), held);
                        assert!(was.is_none_or(|was| was == held), "halves repeat");
                    }
                    for (v, place) in maps[1][l].iter().enumerate().take(taken[1]) {
                        let value = v + part * taken[1] + values[1] * (in_ + rn * ik);
                        let held = b[wave * lanes + l][value];
                        at[1].insert((place % an, place / an), held);
                    }
                }
                for l in 0..lanes {
                    for (v, place) in maps[2][l].iter().enumerate() {
                        let (row, col) = (place % am, place / am);
                        let into = c[wave * lanes + l][v + values[2] * (im + rm * in_)];
                        let (m, n) = (into % block[0], into / block[0]);
                        for k in 0..depth {
                            let (x, y) = (at[0][&(row, k)], at[1][&(col, k)]);
                            let of = [x % block[0], y % block[1], x / block[0]];
                            others |= of != [m, n, y / block[1]];
                            *added.entry([into, x / block[0]]).or_insert(0) += 1;
                        }
                    }
                }
            }
        }
    }
    (added, others)
}

#[test]
fn fragments_multiply_the_block() {
    for atom in MmaAtom::all() {
        for (block, waves) in blocks_of(atom).filter(|(block, _)| block[0] <= 64) {
            let (added, others) = products(atom, block, &waves, |lane, value| [lane, value]);
            assert!(!others, "{} {block:?}", atom.name);
            assert!(added.values().all(|count| *count == 1), "{}", atom.name);
            let all = block.iter().product::<i64>();
            assert_eq!(added.len() as i64, all, "{} {block:?}", atom.name);
        }
    }
}

/// Renamed in A alone, K is another in B: half-waves whose second instructions have each other's
/// values of A.
#[test]
fn k_of_a_alone_is_not_renamed() {
    let waves = "(1,1):(1,1)".parse().unwrap();
    let pairs = MmaAtom::all().iter().filter(|atom| atom.instructions == 2);
    let mut tried = 0;
    for atom in pairs {
        let half = atom.input_values() as usize / 2;
        let swapped = |lane: usize, value: usize| match value < half {
            true => [lane, value],
            false => [lane ^ 16, value],
        };
        let (_, others) = products(atom, [32, 32, 64], &waves, swapped);
        assert!(others, "{}", atom.name);
        tried += 1;
    }
    assert_eq!(tried, 2);
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

#[test]
fn two_instructions_of_eight_bits_share_runs_of_sixteen() {
    for name in ["wmma.f32.16x16x32.fp8", "wmma.f32.16x16x32.bf8"] {
        let atom = MmaAtom::by_name("gfx1201", name).unwrap();
        let waves = "(1,1):(1,1)".parse().unwrap();
        let layouts = MmaLayouts::new(atom, [16, 16, 32], &waves).unwrap();
        for operand in [&layouts.a, &layouts.b] {
            // 16 values 16 apart in the column-major tile: K 0 to 15 or 16 to 31.
            assert_eq!(
                operand.to_string(),
                "(((16,2),1),(16,1,1)):(((1,256),0),(16,16,512))"
            );
        }
    }
}
