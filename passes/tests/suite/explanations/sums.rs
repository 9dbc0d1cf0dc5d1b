//! What a kernel with some choices computes, event by event: who owns which element of C, which
//! tile each fragment holds when it is read, and when LDS is overwritten; and every rule of
//! schedules against it.

use std::collections::{HashMap, HashSet};
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{Commit, Lead, Prefetch},
};
use tilefold_layout::Layout;
use tilefold_passes::{
    search::schedules::{Choices, rules},
    tiling::MmaLayouts,
};

/// A number for every index of the sum, so that no two sets of them have the same total.
fn mark(k: i64) -> u64 {
    let mut x = (k as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Of the K tiles that one accumulator sums up: (tile, slice, instruction of its atom),
/// as often as it does.
type Sums = HashMap<(i64, i64), Vec<(i64, i64, i64)>>;

/// A workgroup's LDS and registers.
struct Workgroup {
    repeat: [i64; 3],
    /// Instructions of an atom.
    parts: i64,
    buffers: Vec<[Option<i64>; 2]>,
    sums: Sums,
    /// How many groups too early LDS is overwritten: a fault on purpose.
    too_early: usize,
}

impl Workgroup {
    fn product(&mut self, [m, n, slice, part]: [i64; 4], [a, b]: [Option<i64>; 2]) {
        // A fragment of a tile that is not there, or tiles that do not belong together, are no
        // part of any sum.
        let tile = match (a, b) {
            (Some(a), Some(b)) if a == b => a,
            _ => -1,
        };
        self.sums
            .entry((m, n))
            .or_default()
            .push((tile, slice, part));
    }

    /// The matrix instructions in order.
    fn steps(&self, lead: Lead) -> Vec<[i64; 4]> {
        let [rm, rn, rk] = self.repeat;
        let (outer, inner) = match lead {
            Lead::A => (rm, rn),
            Lead::B => (rn, rm),
        };
        let mut steps = Vec::new();
        for slice in 0..rk {
            for at in 0..outer {
                for part in 0..self.parts {
                    steps.extend((0..inner).map(|other| match lead {
                        Lead::A => [at, other, slice, part],
                        Lead::B => [other, at, slice, part],
                    }));
                }
            }
        }
        steps
    }

    /// One K tile from `buffer`, the next one, if there is any, going to `target`.
    fn tile(&mut self, choices: &Choices, buffer: usize, next: Option<(i64, usize)>) {
        let steps = self.steps(choices.lead);
        let interleaved = choices.prefetch == Prefetch::Interleaved;
        let ahead = if interleaved {
            choices.ahead as usize
        } else {
            1
        };
        let groups: Vec<&[[i64; 4]]> = steps.chunks(ahead).collect();
        let mut held: HashMap<(usize, i64, i64), Option<i64>> = HashMap::new();
        let mut read = |group: &[[i64; 4]], lds: &[[Option<i64>; 2]]| {
            for [m, n, slice, _] in group {
                held.entry((0, *m, *slice)).or_insert(lds[buffer][0]);
                held.entry((1, *n, *slice)).or_insert(lds[buffer][1]);
            }
        };
        let commit = |lds: &mut Vec<[Option<i64>; 2]>| {
            if let Some((tile, target)) = next {
                lds[target] = [Some(tile); 2];
            }
        };
        let early = interleaved && choices.commit == Commit::Reads;
        let last = groups.len().saturating_sub(1 + self.too_early);
        read(groups[0], &self.buffers);
        let mut done = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            if early && index == last {
                commit(&mut self.buffers);
            }
            if let Some(following) = groups.get(index + 1) {
                read(following, &self.buffers);
            }
            done.extend(group.iter().copied());
        }
        for [m, n, slice, part] in done {
            let fragments = [held[&(0, m, slice)], held[&(1, n, slice)]];
            self.product([m, n, slice, part], fragments);
        }
        if !early {
            commit(&mut self.buffers);
        }
    }
}

/// What every accumulator of a wave sums up over `tiles` K tiles.
fn summed(choices: &Choices, repeat: [i64; 3], parts: i64, tiles: i64, too_early: usize) -> Sums {
    let mut workgroup = Workgroup {
        repeat,
        parts,
        buffers: vec![[None; 2]; choices.buffers as usize],
        sums: Sums::new(),
        too_early,
    };
    let buffer = |tile: i64| (tile % choices.buffers) as usize;
    let prefetches = choices.buffers == 2 || choices.prefetch != Prefetch::None;
    for tile in 0..tiles {
        if tile == 0 || !prefetches {
            workgroup.buffers[buffer(tile)] = [Some(tile); 2];
        }
        let next = (prefetches && tile + 1 < tiles).then(|| (tile + 1, buffer(tile + 1)));
        workgroup.tile(choices, buffer(tile), next);
    }
    workgroup.sums
}

/// For every element of C of those extents the marks of all that is added up there.
fn evaluate(atom: &MmaAtom, choices: &Choices, [m, n, k]: [i64; 3], too_early: usize) -> Vec<u64> {
    let [block_m, block_n, block_k] = choices.block;
    let waves = Layout::row_major(&choices.waves).unwrap();
    let mma = MmaLayouts::new(atom, choices.block, &waves).unwrap();
    let [rm, rn, _] = mma.repeat;
    let parts = atom.instructions;
    let sums = summed(choices, mma.repeat, parts, k / block_k, too_early);
    let [depth, of_part] = [atom.shape[2], atom.instruction_shape()[2]];
    let total = |at: (i64, i64)| {
        let products = sums[&at].iter().flat_map(|(tile, slice, part)| {
            let first = tile * block_k + slice * depth + part * of_part;
            (0..of_part).map(move |inner| (*tile, first + inner))
        });
        products.fold(0u64, |sum, (tile, k)| match tile {
            -1 => sum.wrapping_add(mark(-1)),
            _ => sum.wrapping_add(mark(k)),
        })
    };
    let totals: HashMap<(i64, i64), u64> = (0..rm)
        .flat_map(|m| (0..rn).map(move |n| (m, n)))
        .map(|at| (at, total(at)))
        .collect();
    // What each place of the block holds, by the lanes and values of all waves.
    let values = mma.c.mode(1).unwrap();
    let per_atom = values.mode(0).unwrap().size();
    let mut block = vec![0u64; (block_m * block_n) as usize];
    for thread in mma.c.mode(0).unwrap().offsets() {
        for (value, offset) in values.offsets().enumerate() {
            let at = value as i64 / per_atom;
            let place = &mut block[(thread + offset) as usize];
            *place = place.wrapping_add(totals[&(at % rm, at / rm)]);
        }
    }
    let (tiles_m, tiles_n) = (m / block_m, n / block_n);
    let mut c = vec![0u64; (m * n) as usize];
    for id in 0..tiles_m * tiles_n {
        let rows = choices.group_rows.min(tiles_m);
        let (group, local) = (id / (rows * tiles_n), id % (rows * tiles_n));
        let here = rows.min(tiles_m - group * rows);
        let (row, col) = (group * rows + local % here, local / here);
        for (index, value) in block.iter().enumerate() {
            let (i, j) = (index as i64 % block_m, index as i64 / block_m);
            let place = &mut c[(row * block_m + i + (col * block_n + j) * m) as usize];
            *place = place.wrapping_add(*value);
        }
    }
    c
}

fn common_multiple(a: i64, b: i64) -> i64 {
    (1..).map(|times| a * times).find(|it| it % b == 0).unwrap()
}

/// The atom that a kernel with these choices has, its types being those of another; none where
/// the tile is too shallow for it.
fn atom_of(atom: &MmaAtom, choices: &Choices) -> Option<&'static MmaAtom> {
    MmaAtom::of_types(atom.chips[0], atom.input, atom.accumulator)
        .find(|it| it.shape[2] == choices.slice && choices.block[2] % choices.slice == 0)
}

/// Both sides of a step, element for element.
pub fn same_sums(atom: &MmaAtom, from: &Choices, to: &Choices) {
    let mut extents = [0, 1, 2].map(|axis| common_multiple(from.block[axis], to.block[axis]));
    // Three K tiles of the deeper side, so that either buffer is used again.
    extents[2] *= 3;
    let sides = [from, to].map(|side| {
        // Waves that the tile has no atoms for have no part of it: the other side is as fine.
        let atom = atom_of(atom, side)?;
        let whole = |axis: usize| side.block[axis] % (atom.shape[axis] * side.waves[axis]) == 0;
        (whole(0) && whole(1)).then(|| evaluate(atom, side, extents, 0))
    });
    let [m, n, k] = extents;
    let all = (0..k).fold(0u64, |sum, k| sum.wrapping_add(mark(k)));
    for side in sides.into_iter().flatten() {
        assert!(
            side == vec![all; (m * n) as usize],
            "{from:?} and {to:?} at {extents:?}"
        );
    }
}

/// Kernels that use what the rules change; they have an atom of two instructions, too.
fn kernels() -> impl Iterator<Item = Choices> {
    let around = Choices {
        block: [64, 96, 32],
        waves: [1, 2],
        prefetch: Prefetch::Interleaved,
        ahead: 4,
        ..Choices::default()
    };
    let with = move |buffers| Commit::ALL.map(|commit| (buffers, commit));
    let all = [1, 2].into_iter().flat_map(with);
    all.map(move |(buffers, commit)| Choices {
        buffers,
        commit,
        ..around
    })
}

/// Both sides of every rule of a family.
fn keeps_every_sum(family: &str) {
    let atom = MmaAtom::by_name("gfx1201", "wmma.f32.16x16x16.fp8").unwrap();
    let of_family: Vec<_> = rules().filter(|rule| rule.name == family).collect();
    assert!(!of_family.is_empty(), "no rule is named {family}");
    for around in kernels() {
        for rule in &of_family {
            same_sums(atom, &around.with(rule.from), &around.with(rule.to));
        }
    }
}

/// A test for each family of rules; and one that none was left out.
macro_rules! each {
    ($($test:ident,)*) => {
        $(
            #[test]
            fn $test() {
                keeps_every_sum(&stringify!($test).replace('_', "-"));
            }
        )*

        #[test]
        fn every_rule_of_schedules_has_a_test() {
            let tested = [$(stringify!($test)),*].map(|name| name.replace('_', "-"));
            let tested: HashSet<&str> = tested.iter().map(String::as_str).collect();
            let names: HashSet<&str> = rules().map(|rule| rule.name).collect();
            assert_eq!(tested, names);
        }
    };
}

each! {
    grow_m,
    grow_n,
    deepen_k,
    widen_fragments,
    split_m_over_waves,
    split_n_over_waves,
    double_buffer,
    prefetch,
    space_loads,
    read_ahead,
    lead_with_b,
    commit_after_reads,
    raise_priority,
    group_rows,
}

/// A commit that comes too early is no such kernel, unless the other buffer is free all the time.
#[test]
fn a_commit_before_the_last_reads_changes_sums() {
    let atom = MmaAtom::by_name("gfx1201", "wmma.f32.16x16x16.fp8").unwrap();
    let around = kernels().next().expect("there are four");
    let early = Choices {
        commit: Commit::Reads,
        ..around
    };
    let extents = [64, 96, 96];
    let right = evaluate(atom, &early, extents, 0);
    assert_ne!(evaluate(atom, &early, extents, 1), right);
    // The other buffer is free all the time.
    let apart = Choices {
        buffers: 2,
        ..early
    };
    assert_eq!(evaluate(atom, &apart, extents, 1), right);
}
