//! Every step of every explanation, evaluated on both sides over its whole domain.
//!
//! What a kernel computes is written down here a second time, event by event: who owns which
//! element of C, which tile each fragment holds when it is read, and when LDS is overwritten. Two
//! choices are equal where this gives the same sums for every element.

use crate::search_layouts::meaning;
use egg::{Language, RecExpr};
use std::{
    collections::{HashMap, HashSet},
    path::Path,
};
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{Commit, Lead, Prefetch},
    spec::Spec,
};
use tilefold_layout::Layout;
use tilefold_passes::{
    search::{
        Proposal,
        layouts::{LayoutSearch, Rule, check, language::Term},
        plans,
        schedules::{Choices, Leaf, rules},
    },
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
fn same_sums(atom: &MmaAtom, from: &Choices, to: &Choices) {
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

/// Steps that were evaluated before: many chains share some.
type Known = HashSet<(&'static str, Choices, Choices)>;

fn schedule_steps(proposal: &Proposal, start: Choices, known: &mut Known) -> usize {
    let mut choices = start;
    for step in &proposal.chain {
        let leaf: Leaf = step.choice.parse().unwrap();
        let next = choices.with(leaf);
        let used = |rule: &tilefold_passes::search::schedules::Rule| {
            let ends = [rule.from, rule.to];
            rule.name == step.rule
                && ends.contains(&choices.get(leaf.kind()))
                && ends.contains(&leaf)
        };
        assert!(rules().any(|rule| used(&rule)), "{step:?} from {choices:?}");
        let atom = proposal.plan.atom;
        if known.insert((atom.c_layout, choices, next)) {
            same_sums(atom, &choices, &next);
        }
        choices = next;
    }
    assert_eq!(choices, Choices::of(&proposal.plan));
    proposal.chain.len()
}

/// The parts of two terms on the way down to where they differ.
fn parts(from: &RecExpr<Term>, to: &RecExpr<Term>) -> Vec<[RecExpr<Term>; 2]> {
    let mut found = vec![[from.clone(), to.clone()]];
    loop {
        let [from, to] = &found[found.len() - 1];
        let (a, b) = (&from[from.root()], &to[to.root()]);
        if !a.matches(b) {
            return found;
        }
        let part = |term: &RecExpr<Term>, id: &egg::Id| {
            term[*id].clone().build_recexpr(|id| term[id].clone())
        };
        let children = a.children().iter().zip(b.children());
        let mut unequal = children
            .map(|(a, b)| [part(from, a), part(to, b)])
            .filter(|[a, b]| a.to_string() != b.to_string());
        match (unequal.next(), unequal.next()) {
            (Some(only), None) => found.push(only),
            _ => return found,
        }
    }
}

fn layout_steps(found: &LayoutSearch) -> usize {
    let (usage, steps) = (&found.usage, &found.explanation);
    check(usage, steps).unwrap();
    assert_eq!(steps.last().unwrap().term, found.best.term);
    let load = found.best.load_bits / i64::from(usage.element.bits());
    for pair in steps.windows(2) {
        let rule = Rule::by_name(pair[1].rule.unwrap()).unwrap();
        let [from, to] = [0, 1].map(|side| pair[side].term.parse::<RecExpr<Term>>().unwrap());
        // The part that the rule's left side stands for.
        let head = rule.left.trim_start_matches('(').split(' ').next().unwrap();
        let left = usize::from(pair[1].backwards);
        let parts = parts(&from, &to);
        let part = parts.iter().rev().find(|sides| {
            let side = &sides[left];
            side[side.root()].to_string() == head
        });
        let [from, to] = part.unwrap_or_else(|| panic!("{}: {from} to {to}", rule.name));
        assert!(
            meaning::equal(usage, load, from, to),
            "{}: {from} = {to}",
            rule.name
        );
    }
    steps.len() - 1
}

/// Checks all explanations of what is proposed for a spec; steps of schedules and of layouts.
fn checked(what: &str, spec: &Spec, known: &mut Known) -> [usize; 2] {
    let found = plans(spec).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut steps = [0; 2];
    let fixed = |choices: Choices| {
        // What the spec says is where the chain starts.
        let mut start = Choices::default();
        let (tile, schedule) = (&spec.plan.tile, &spec.plan.schedule);
        for axis in 0..3 {
            start.block[axis] = tile.block.0[axis].unwrap_or(start.block[axis]);
        }
        start.waves = tile.waves.unwrap_or(start.waves);
        let atoms = &spec.plan.atoms;
        let named = atoms
            .mma
            .as_ref()
            .and_then(|name| MmaAtom::by_name(&spec.arch, name));
        start.slice = named.map_or(start.slice, |atom| atom.shape[2]);
        start.buffers = spec.plan.lds.buffers.unwrap_or(start.buffers);
        start.prefetch = schedule.prefetch.unwrap_or(start.prefetch);
        start.cadence = schedule.cadence.unwrap_or(start.cadence);
        start.ahead = schedule.ahead.unwrap_or(start.ahead);
        start.lead = schedule.lead.unwrap_or(start.lead);
        start.commit = schedule.commit.unwrap_or(start.commit);
        start.priority = schedule.priority.unwrap_or(start.priority);
        start.group_rows = schedule.group_rows.unwrap_or(start.group_rows);
        if found.schedules.is_none() {
            choices
        } else {
            start
        }
    };
    let mut seen: Vec<&LayoutSearch> = Vec::new();
    for proposal in &found.plans {
        steps[0] += schedule_steps(proposal, fixed(Choices::of(&proposal.plan)), known);
        for layout in proposal.layouts.iter().flatten() {
            if !seen.contains(&layout) {
                seen.push(layout);
                steps[1] += layout_steps(layout);
            }
        }
    }
    steps
}

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            found.push(path);
        }
    }
}

/// Every file in `specs/`, as it stands; and what it multiplies with all of its plan open.
#[test]
fn explanations_of_every_spec_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    assert!(paths.len() >= 11);
    let (mut problems, mut known) = (Vec::new(), Known::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let spec = Spec::from_toml("spec.toml", text).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let steps = checked(&name, &spec, &mut known);
        let mut open = spec.clone();
        open.plan = Default::default();
        if !problems.contains(&open.problem) {
            problems.push(open.problem.clone());
            let [schedule, layouts] = checked(&name, &open, &mut known);
            assert!(
                schedule >= 10 && layouts >= 2,
                "{name}: {schedule} {layouts}"
            );
        }
        println!("{name}: {steps:?} steps as it stands");
    }
}

/// Searched plans of every chip and type.
#[test]
fn explanations_of_searched_plans_hold() {
    let (mut total, mut known) = ([0; 2], Known::new());
    for chip in ["gfx1100", "gfx1151", "gfx1201"] {
        for atom in MmaAtom::of_chip(chip).filter(|atom| atom.instructions == 1) {
            let (input, sum) = (atom.input, atom.accumulator);
            // Along K and across: what is across is stored in another order.
            let text = format!(
                "arch = \"{chip}\"\n[gemm]\nm = 2048\nn = 2048\nk = 2048\n\
                 a = {{ type = \"{input}\", layout = \"row\" }}\n\
                 b = {{ type = \"{input}\", layout = \"row\" }}\n\
                 c = {{ type = \"{sum}\", layout = \"col\" }}\naccumulate = \"{sum}\"\n"
            );
            let spec = Spec::from_toml("searched.toml", text).unwrap();
            let steps = checked(&format!("{chip} {}", atom.name), &spec, &mut known);
            total = [total[0] + steps[0], total[1] + steps[1]];
        }
    }
    println!("{total:?} steps of schedules and of layouts");
    assert!(total[0] > 100 && total[1] > 40, "{total:?}");
}

/// Every rule in a kernel that uses what it changes, and a commit that comes too early.
#[test]
fn rules_of_schedules_keep_every_sum() {
    // It has an atom of two instructions, too.
    let atom = MmaAtom::by_name("gfx1201", "wmma.f32.16x16x16.fp8").unwrap();
    let around = Choices {
        block: [64, 96, 32],
        waves: [1, 2],
        prefetch: Prefetch::Interleaved,
        ahead: 4,
        ..Choices::default()
    };
    for buffers in [1, 2] {
        for commit in Commit::ALL {
            let around = Choices {
                buffers,
                commit,
                ..around
            };
            for rule in rules() {
                same_sums(atom, &around.with(rule.from), &around.with(rule.to));
            }
        }
    }
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
