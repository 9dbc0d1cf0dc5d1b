//! The counting rule of bank conflicts, on single accesses and on whole tiles of f16.

use tilefold_machine::{Access, Machine, Width};

/// What is done to an element's offset in a row-major tile.
#[derive(Clone, Copy)]
enum Arrange {
    /// Rows with so many elements of padding behind them.
    Pad(u32),
    /// The swizzle of `bits` bits: offset bits `base + shift ..` are XORed onto `base ..`.
    Swizzle { bits: u32, base: u32, shift: u32 },
}

impl Arrange {
    fn address(self, block_k: u32, row: u32, k: u32) -> u32 {
        const ELEMENT_BYTES: u32 = 2;
        ELEMENT_BYTES
            * match self {
                Self::Pad(pad) => row * (block_k + pad) + k,
                Self::Swizzle { bits, base, shift } => {
                    let offset = row * block_k + k;
                    let mask = ((1 << bits) - 1) << (base + shift);
                    offset ^ ((offset & mask) >> shift)
                }
            }
    }
}

/// Conflict cycles of the 128-bit reads by which one wave fetches the fragments of 16 rows.
///
/// On gfx11 both halves of the wave hold the same 16 rows and all of K; on gfx12 each half holds
/// half of K.
fn fragment_reads(machine: &Machine, arrange: Arrange, block_k: u32) -> u32 {
    let halves_differ = machine.name == "gfx1201";
    (0..block_k)
        .step_by(if halves_differ { 16 } else { 8 })
        .map(|k| {
            let lanes: Vec<_> = (0..32)
                .map(|lane| {
                    let half = if halves_differ { 8 * (lane / 16) } else { 0 };
                    Some(arrange.address(block_k, lane % 16, k + half))
                })
                .collect();
            machine.conflict_cycles(&lanes, Width::B128, Access::Read)
        })
        .sum()
}

/// Conflict cycles of the 128-bit writes of a 64-row tile, consecutive lanes along K.
fn tile_writes(machine: &Machine, arrange: Arrange, block_k: u32) -> u32 {
    let chunks = block_k / 8;
    (0..64 * chunks)
        .step_by(32)
        .map(|first| {
            let lanes: Vec<_> = (first..first + 32)
                .map(|chunk| Some(arrange.address(block_k, chunk / chunks, 8 * (chunk % chunks))))
                .collect();
            machine.conflict_cycles(&lanes, Width::B128, Access::Write)
        })
        .sum()
}

/// The chips whose waves of 32 lanes read WMMA fragments.
fn rdna() -> impl Iterator<Item = &'static Machine> {
    Machine::all().iter().filter(|machine| machine.wave == 32)
}

#[test]
fn a_conflict_counts_words_beyond_the_first_in_a_bank() {
    let machine = Machine::by_name("gfx1201").unwrap();
    let cycles = |address: &dyn Fn(u32) -> Option<u32>, width| {
        let lanes: Vec<_> = (0..32).map(address).collect();
        machine.conflict_cycles(&lanes, width, Access::Read)
    };
    assert_eq!(
        cycles(&|lane| Some(4 * lane), Width::B32),
        0,
        "one word a bank"
    );
    assert_eq!(cycles(&|_| Some(64), Width::B32), 0, "one word for all");
    assert_eq!(
        cycles(&|lane| Some(2 * lane), Width::B16),
        0,
        "two lanes share a word"
    );
    assert_eq!(
        cycles(&|lane| Some(8 * lane), Width::B32),
        1,
        "two words a bank"
    );
    assert_eq!(
        cycles(&|lane| Some(128 * lane), Width::B32),
        31,
        "all in one bank"
    );
    assert_eq!(
        cycles(&|lane| Some(128 * lane), Width::B64),
        2 * 15,
        "two groups of 16"
    );
    assert_eq!(
        cycles(&|lane| Some(128 * lane), Width::B128),
        4 * 7,
        "four groups of 8"
    );
    assert_eq!(
        cycles(&|lane| (lane < 2).then_some(128 * lane), Width::B32),
        1,
        "others are off"
    );
    assert_eq!(cycles(&|_| None, Width::B32), 0);
    assert_eq!(
        cycles(&|lane| Some(u32::MAX - lane), Width::B128),
        0,
        "the end of the range"
    );
    assert_eq!(
        machine.conflict_cycles(&[Some(0), Some(128)], Width::B32, Access::Write),
        1
    );
}

#[test]
fn lanes_in_different_groups_do_not_conflict() {
    // Lanes 0 and 4 are served together on gfx1201 and apart on gfx1100; 0 and 20 the other way.
    let pair = |chip, other: u32| {
        let lanes: Vec<_> = (0..32)
            .map(|lane| (lane == 0 || lane == other).then_some(128 * lane))
            .collect();
        Machine::by_name(chip)
            .unwrap()
            .conflict_cycles(&lanes, Width::B128, Access::Read)
    };
    assert_eq!((pair("gfx1201", 4), pair("gfx1100", 4)), (1, 0));
    assert_eq!((pair("gfx1201", 20), pair("gfx1100", 20)), (0, 1));
}

#[test]
fn one_swizzle_for_each_depth_of_tile_leaves_no_conflict() {
    for machine in rdna() {
        for (block_k, bits, shift) in [(16, 1, 3), (32, 2, 3), (64, 3, 3), (128, 3, 4)] {
            let swizzle = Arrange::Swizzle {
                bits,
                base: 3,
                shift,
            };
            let case = format!("{} block_k {block_k}", machine.name);
            assert_eq!(
                fragment_reads(machine, swizzle, block_k),
                0,
                "reads, {case}"
            );
            assert_eq!(tile_writes(machine, swizzle, block_k), 0, "writes, {case}");
        }
    }
}

#[test]
fn plain_rows_conflict_in_reads() {
    for machine in rdna() {
        for block_k in [32, 64, 128] {
            assert!(
                fragment_reads(machine, Arrange::Pad(0), block_k) > 0,
                "{}",
                machine.name
            );
        }
    }
}

#[test]
fn padding_cures_reads_but_not_the_writes_of_gfx1100() {
    for machine in rdna() {
        for block_k in [16, 32, 64, 128] {
            let case = format!("{} block_k {block_k}", machine.name);
            assert_eq!(
                fragment_reads(machine, Arrange::Pad(8), block_k),
                0,
                "reads, {case}"
            );
        }
    }
    let writes =
        |chip, block_k| tile_writes(Machine::by_name(chip).unwrap(), Arrange::Pad(8), block_k);
    assert!(writes("gfx1100", 64) > 0);
}

/// The rule written out: of each group and bank the distinct words, the most of them less one.
fn brute_force(groups: &[Vec<u8>], addresses: &[Option<u32>], words: u32, banks: u32) -> u32 {
    let of_group = |group: &Vec<u8>| {
        let in_bank = |bank: u32| {
            let mut found: Vec<u32> = group
                .iter()
                .filter_map(|&lane| addresses[usize::from(lane)])
                .flat_map(|address| (0..words).map(move |word| address / 4 + word))
                .filter(|word| word % banks == bank)
                .collect();
            found.sort_unstable();
            found.dedup();
            found.len() as u32
        };
        let deepest = (0..banks).map(in_bank).max();
        deepest.unwrap_or(0).saturating_sub(1)
    };
    groups.iter().map(of_group).sum()
}

#[test]
fn sixty_four_lanes_of_rdna_are_two_passes() {
    for machine in rdna() {
        let (near, far) = (|lane: u32| Some(4 * lane), |lane: u32| Some(128 * lane));
        for (width, words) in [(Width::B32, 1), (Width::B64, 2), (Width::B128, 4)] {
            for access in [Access::Read, Access::Write] {
                let groups = machine.lds.groups(width, access);
                let banks = machine.lds.banks_of(width, access);
                // A lane in seven is off, and words are shared now and then.
                let mixed = |lane: u32| {
                    let hash = lane.wrapping_mul(0x9e37_79b9) >> 20;
                    (lane % 7 != 3).then_some(hash % 97 * 4 * words)
                };
                let half = |first: u32, of: &dyn Fn(u32) -> Option<u32>| -> Vec<Option<u32>> {
                    (first..first + 32).map(of).collect()
                };
                for (low, high) in [
                    (half(0, &near), half(0, &far)),
                    (half(0, &far), half(0, &near)),
                    (half(0, &mixed), half(32, &mixed)),
                ] {
                    let expected = brute_force(groups, &low, words, banks)
                        + brute_force(groups, &high, words, banks);
                    let wave = [low, high].concat();
                    let got = machine.conflict_cycles(&wave, width, access);
                    assert_eq!(got, expected, "{} {width:?} {access:?}", machine.name);
                    assert!(got > 0);
                }
            }
        }
    }
}
