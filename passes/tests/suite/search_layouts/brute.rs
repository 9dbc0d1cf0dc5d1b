//! Figures counted without any shortcut, and all swizzles and thread layouts tried one by one.

use super::{meaning, wmma};
use egg::RecExpr;
use std::collections::HashSet;
use tilefold_dialect::element::ElementType;
use tilefold_layout::{ComposedLayout, Layout, Swizzle};
use tilefold_machine::{Access, Width};
use tilefold_passes::{
    access::in_lds,
    plan,
    search::layouts::{Candidate, TileUse, language::Term, search},
    tiling::copy_layout,
};

/// Instructions and conflict cycles of one side, access by access and lane by lane.
pub fn counted(
    usage: &TileUse,
    places: &[i64],
    owned: &[Vec<i64>],
    access: Access,
    most: usize,
) -> [i64; 2] {
    let bytes = i64::from(usage.element.bits()) / 8;
    let fits = |width: usize| {
        owned.iter().all(|values| {
            values.len().is_multiple_of(width)
                && values.chunks(width).all(|group| {
                    let first = places[group[0] as usize];
                    first % width as i64 == 0
                        && (0..width).all(|i| places[group[i] as usize] == first + i as i64)
                })
        })
    };
    let mut width = 1;
    while width * 2 <= most.min((16 / bytes) as usize) && fits(width * 2) {
        width *= 2;
    }
    let bits = Width::from_bits((width as i64 * bytes * 8) as u32).unwrap();
    let (mut instructions, mut cycles) = (0, 0);
    for wave in owned.chunks(usage.machine.wave as usize) {
        for value in (0..wave[0].len()).step_by(width) {
            let addresses: Vec<Option<u32>> = wave
                .iter()
                .map(|values| Some((places[values[value] as usize] * bytes) as u32))
                .collect();
            instructions += 1;
            cycles += i64::from(usage.machine.conflict_cycles(&addresses, bits, access));
        }
    }
    [instructions, cycles]
}

pub fn owned(layout: &Layout) -> Vec<Vec<i64>> {
    let [threads, values] = [0, 1].map(|mode| layout.mode(mode).unwrap());
    threads
        .offsets()
        .map(|thread| values.offsets().map(|value| thread + value).collect())
        .collect()
}

/// Values of one fragment.
fn fragment(usage: &TileUse) -> usize {
    let values = usage.fragments.mode(1).unwrap();
    values.mode(0).unwrap().size() as usize
}

/// Counts a candidate's figures anew, from its layouts and again from its term.
pub fn verify(usage: &TileUse, candidate: &Candidate) {
    let places: Vec<i64> = candidate.lds.offsets().collect();
    let commit = owned(&copy_layout(&candidate.threads, &candidate.stores, usage.tile).unwrap());
    let load = candidate.load_bits / i64::from(usage.element.bits());
    let term: RecExpr<Term> = candidate.term.parse().unwrap();
    let Term::Lds([hold, carry]) = &term[term.root()] else {
        panic!("{term} is no use");
    };
    let (Term::Hold(place), Term::Carry(copy)) = (&term[*hold], &term[*carry]) else {
        panic!("{term} is no use");
    };
    for (index, offset) in places.iter().enumerate() {
        let (row, k) = (index as i64 % usage.tile[0], index as i64 / usage.tile[0]);
        assert_eq!(
            *offset,
            meaning::offset(&term, *place, usage.tile, row, k),
            "{term}"
        );
    }
    let [loaded, stored] = meaning::carried(&term, *copy, usage, load);
    let whole = copy_layout(&candidate.threads, &candidate.values, usage.tile).unwrap();
    assert_eq!(owned(&whole), loaded, "{term}");
    assert_eq!(commit, stored, "{term}");
    let reads = owned(&usage.fragments);
    let read = counted(usage, &places, &reads, Access::Read, fragment(usage));
    let write = counted(usage, &places, &commit, Access::Write, 16);
    let cost = &candidate.cost;
    assert_eq!(
        [
            cost.instructions,
            candidate.read_cycles,
            candidate.write_cycles
        ],
        [read[0] + write[0], read[1], write[1]],
        "{term}"
    );
    assert_eq!(cost.conflict_cycles, read[1] + write[1]);
    let lines = cache_lines(usage, &loaded, load as usize);
    assert_eq!(cost.cache_lines, lines, "{term}");
    let bits = i64::from(usage.element.bits());
    let [read, write] = [candidate.read_bits, candidate.write_bits].map(|wide| wide / bits);
    let commit = copy_layout(&candidate.threads, &candidate.stores, usage.tile).unwrap();
    let sides = [(&usage.fragments, read), (&commit, write)];
    let kept = sides.map(|(layout, width)| registers(&candidate.lds, layout, width as usize));
    assert_eq!(cost.registers, kept[0] + kept[1], "{term}");
    let moved = match candidate.write_bits {
        32.. => permutes(usage, &loaded[0], &stored[0]),
        _ => 0,
    };
    assert_eq!(cost.permutes, moved, "{term}");
    let elements = plan::buffer_elements(&candidate.lds, usage.element);
    assert_eq!(cost.bytes, elements * i64::from(usage.element.bits()) / 8);
}

/// Cache lines of every load of every wave: line of the matrix and place on it.
fn cache_lines(usage: &TileUse, loaded: &[Vec<i64>], load: usize) -> i64 {
    let per_line = 128 * 8 / i64::from(usage.element.bits());
    let mut total = 0;
    for wave in loaded.chunks(usage.machine.wave as usize) {
        for value in (0..wave[0].len()).step_by(load) {
            let lines = wave.iter().map(|values| {
                let at = [values[value] % usage.tile[0], values[value] / usage.tile[0]];
                (at[1 - usage.along], at[usage.along] / per_line)
            });
            total += lines.collect::<HashSet<_>>().len() as i64;
        }
    }
    total
}

/// Registers of a thread whose elements do not stand together in one register as loaded.
fn permutes(usage: &TileUse, loaded: &[i64], stored: &[i64]) -> i64 {
    let count = 32 / usage.element.bits() as usize;
    let words = stored.chunks(count);
    words
        .filter(|word| !loaded.chunks(count).any(|other| other == *word))
        .count() as i64
}

/// Different things that threads keep to address their accesses: with an offset Sw(t + v), what
/// is left of it when the bits that no thread has are taken off, where v shares no bit with any t.
fn registers(lds: &ComposedLayout, layout: &Layout, width: usize) -> i64 {
    let [threads, values] = in_lds(lds, layout).unwrap();
    let swizzle = lds.swizzle().unwrap();
    if swizzle.is_identity() {
        return 1;
    }
    let used = threads.offsets().fold(0, |bits, part| bits | part);
    let swizzled = threads
        .offsets()
        .fold(0, |bits, part| bits | swizzle.apply(part));
    let starts = values.offsets().step_by(width);
    let kept = starts.map(|start| match start & used {
        0 => (true, swizzle.apply(start) & swizzled),
        _ => (false, start),
    });
    kept.collect::<HashSet<_>>().len() as i64
}

#[test]
fn figures_are_those_of_a_full_count() {
    for (chip, tile, threads, along) in [
        ("gfx1100", [64, 32], 128, 1),
        ("gfx1201", [64, 32], 128, 1),
        ("gfx1100", [64, 16], 128, 0),
        ("gfx1201", [96, 32], 32, 1),
        ("gfx1201", [48, 48], 32, 0),
    ] {
        let usage = wmma(chip, ElementType::F16, tile, threads, along);
        let found = search(&usage).unwrap();
        for candidate in found.pareto.iter().chain(&found.runners_up) {
            verify(&usage, candidate);
        }
        verify(&usage, &found.best);
        match found.published {
            Some(published) => verify(&usage, &published),
            None => assert_eq!(tile[1], 48, "48 is no power of two of fragments"),
        }
    }
}

/// Thread layouts over (row, k) in which consecutive threads go along or across first, or split
/// either at any divisor.
fn thread_layouts(usage: &TileUse, load: i64) -> Vec<(Layout, Layout)> {
    let (line, across) = (usage.tile[usage.along], usage.tile[1 - usage.along]);
    let mut found = Vec::new();
    for n in (1..=usage.threads).filter(|n| usage.threads % n == 0) {
        let m = usage.threads / n;
        if (line / load) % n != 0 || across % m != 0 {
            continue;
        }
        for first in (1..=n).filter(|first| n % first == 0) {
            for then in (1..=m).filter(|then| m % then == 0) {
                if first != 1 && then != m {
                    continue;
                }
                let strides = [
                    format!("({first},{}):(1,{})", n / first, first * then),
                    format!("({then},{}):({first},{})", m / then, then * n),
                ];
                let [along, across] = strides.map(|text| text.parse::<Layout>().unwrap());
                let values: Layout = match usage.along {
                    1 => format!("(1,{load}):({load},1)"),
                    _ => format!("({load},1):(1,{load})"),
                }
                .parse()
                .unwrap();
                let both = if usage.along == 1 {
                    [across, along]
                } else {
                    [along, across]
                };
                found.push((Layout::concat(&both).unwrap(), values));
            }
        }
    }
    found
}

#[test]
fn no_swizzle_with_any_thread_layout_beats_the_best() {
    for (chip, tile, along) in [
        ("gfx1100", [64, 32], 1),
        ("gfx1201", [64, 16], 1),
        ("gfx1201", [64, 32], 1),
        ("gfx1100", [64, 16], 0),
    ] {
        let usage = wmma(chip, ElementType::F16, tile, 128, along);
        let found = search(&usage).unwrap();
        let reads = owned(&usage.fragments);
        let plain = Layout::row_major(&tile).unwrap();
        let copies: Vec<_> = thread_layouts(&usage, 8)
            .into_iter()
            .map(|(threads, values)| owned(&copy_layout(&threads, &values, tile).unwrap()))
            .collect();
        let best = [
            found.best.cost.instructions,
            found.best.cost.conflict_cycles,
        ];
        let mut tried = 0;
        let top = (tile[0] * tile[1]).ilog2();
        for base in 0..top {
            for bits in 0..top {
                for shift in -(top as i32)..=top as i32 {
                    let Ok(swizzle) = Swizzle::new(bits, base, shift) else {
                        continue;
                    };
                    if bits + base + shift.unsigned_abs() > top {
                        continue;
                    }
                    let lds = ComposedLayout::new(swizzle, plain.clone());
                    let places: Vec<i64> = lds.offsets().collect();
                    let read = counted(&usage, &places, &reads, Access::Read, fragment(&usage));
                    if read[0] > best[0] {
                        continue;
                    }
                    for copy in &copies {
                        let write = counted(&usage, &places, copy, Access::Write, 8);
                        let brute = [read[0] + write[0], read[1] + write[1]];
                        // Of the copies only those that load as few cache lines are beaten in
                        // conflicts too.
                        tried += 1;
                        assert!(
                            best[0] <= brute[0],
                            "{chip} {tile:?}: {swizzle} has {brute:?}, the best {best:?}"
                        );
                        if along == 1 {
                            assert!(best <= brute, "{chip} {tile:?}: {swizzle} has {brute:?}");
                        }
                    }
                }
            }
        }
        assert!(tried > 500, "{tried} tried");
    }
}
