//! gfx950: bank conflicts by a count of its own for every width and direction, and the fp8 tile
//! that the published swizzle is about.

use std::collections::{BTreeMap, BTreeSet};

use tilefold_machine::{Access, Generation, Machine, Width, Workgroup};

fn gfx950() -> &'static Machine {
    Machine::by_name("gfx950").unwrap()
}

/// The group that serves a lane, by formula rather than by list.
fn group(lane: u32, width: Width, access: Access) -> u32 {
    let (half, quad) = (lane / 32, lane % 32 / 4);
    match (width, access) {
        (Width::B8 | Width::B16 | Width::B32, _) => 0,
        (Width::B64, Access::Read) => half,
        (Width::B64, Access::Write) => lane / 16,
        // Quads 0 and 5, 1 and 4, 2 and 7, 3 and 6 go together.
        (Width::B96, Access::Read) => 4 * half + if quad < 4 { quad } else { (quad - 4) ^ 1 },
        // Quads whose number has an even count of ones, then the odd ones.
        (Width::B128, Access::Read) => 2 * half + quad.count_ones() % 2,
        (Width::B96 | Width::B128, Access::Write) => lane / 8,
    }
}

fn banks(width: Width, access: Access) -> u64 {
    match (width, access) {
        (Width::B8 | Width::B16 | Width::B32, _) => 64,
        (Width::B64 | Width::B128, Access::Read) => 64,
        _ => 32,
    }
}

/// Conflict cycles by a set of words for each group and bank.
fn count(addresses: &[Option<u32>], width: Width, access: Access) -> u32 {
    let mut words: BTreeMap<(u32, u64), BTreeSet<u64>> = BTreeMap::new();
    for (lane, address) in addresses.iter().enumerate() {
        let Some(address) = *address else { continue };
        for byte in 0..width.bytes() {
            let word = (u64::from(address) + u64::from(byte)) / 4;
            let bank = word % banks(width, access);
            let key = (group(lane as u32, width, access), bank);
            words.entry(key).or_default().insert(word);
        }
    }
    let groups: BTreeSet<u32> = words.keys().map(|(group, _)| *group).collect();
    groups
        .iter()
        .map(|wanted| {
            let of_group = words.iter().filter(|((group, _), _)| group == wanted);
            of_group.map(|(_, words)| words.len() as u32).max().unwrap() - 1
        })
        .sum()
}

const WIDTHS: [Width; 6] = [
    Width::B8,
    Width::B16,
    Width::B32,
    Width::B64,
    Width::B96,
    Width::B128,
];

#[test]
fn conflicts_equal_a_count_of_words_for_every_width_and_direction() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for width in WIDTHS {
        for access in [Access::Read, Access::Write] {
            let mut seen = BTreeSet::new();
            for case in 0..400 {
                // Strided, swizzled, scattered; every third case with lanes switched off.
                let stride = 4 * (1 + random() % 160);
                let shift = random() % 8;
                let addresses: Vec<_> = (0..64)
                    .map(|lane| {
                        let address = match case % 4 {
                            0 => lane * stride,
                            1 => (lane * stride) ^ ((lane >> shift) * 16),
                            2 => random() % 4096 / 4 * 4,
                            _ => random() % 163_000,
                        };
                        (case % 3 != 0 || random() % 4 != 0).then_some(address)
                    })
                    .collect();
                let cycles = gfx950().conflict_cycles(&addresses, width, access);
                assert_eq!(
                    cycles,
                    count(&addresses, width, access),
                    "{width:?} {access:?} {addresses:?}"
                );
                seen.insert(cycles);
            }
            assert!(seen.len() > 5, "{width:?} {access:?}: {seen:?}");
        }
    }
}

#[test]
fn banks_belong_to_width_and_direction() {
    let lds = &gfx950().lds;
    for width in WIDTHS {
        for access in [Access::Read, Access::Write] {
            assert_eq!(
                u64::from(lds.banks_of(width, access)),
                banks(width, access),
                "{width:?} {access:?}"
            );
        }
    }
    // 128 bytes apart: the same of 32 banks, another of 64.
    let pair = [Some(0), Some(128)];
    let cycles = |access| gfx950().conflict_cycles(&pair, Width::B128, access);
    assert_eq!((cycles(Access::Read), cycles(Access::Write)), (0, 1));
    let rdna = Machine::by_name("gfx1201").unwrap();
    assert_eq!(rdna.lds.banks_of(Width::B128, Access::Write), 32);
}

/// Conflict cycles of one 128-bit read of a 16x128 fp8 fragment, rows of 128 bytes: lane `i` reads
/// 16 bytes of row `i % 16` from `column`, which is a function of `i / 16`.
fn fragment(swizzled: bool, column: impl Fn(u32) -> u32) -> u32 {
    let addresses: Vec<_> = (0..64)
        .map(|lane| {
            let offset = lane % 16 * 128 + column(lane / 16);
            // Sw<3,4,4> on bytes.
            let mask = if swizzled { (offset >> 4) & 0x70 } else { 0 };
            Some(offset ^ mask)
        })
        .collect();
    gfx950().conflict_cycles(&addresses, Width::B128, Access::Read)
}

#[test]
fn the_published_swizzle_suits_the_split_labelling_of_k() {
    let split = |part: u32| move |quarter: u32| 64 * part + 16 * quarter;
    let contiguous = |part: u32| move |quarter: u32| 32 * quarter + 16 * part;
    for part in [0_u32, 1] {
        assert_eq!(fragment(false, split(part)), 4 * 3, "plain rows, four ways");
        assert_eq!(fragment(true, split(part)), 0);
        assert_eq!(fragment(true, contiguous(part)), 4, "two ways");
    }
}

#[test]
fn the_record_states_what_the_chip_has() {
    let machine = gfx950();
    assert_eq!(machine.generation, Generation::Cdna4);
    assert_eq!((machine.wave, machine.simds_per_cu), (64, 4));
    assert_eq!((machine.lds.per_cu, machine.lds.granule), (160 << 10, 1280));
    let device = &machine.devices[0];
    assert_eq!((device.cu, device.xcds), (256, 8));
    // 2.5166 PFLOP/s of bf16 and twice that of fp8, computed from the same fields elsewhere.
    let peak = |flop: u32, cycles: u32| {
        let flop_per_cycle = f64::from(2 * flop * machine.simds_per_cu) / f64::from(cycles);
        flop_per_cycle * f64::from(device.cu) * f64::from(device.clock_mhz) * 1e-6
    };
    let bf16 = machine
        .matrix_cycles("v_mfma_f32_16x16x32_bf16")
        .map(|cycles| peak(16 * 16 * 32, cycles));
    assert!((bf16.unwrap() - 2516.6).abs() < 0.1);
    let name = "v_mfma_f32_16x16x128_f8f6f4";
    let fp8 = peak(16 * 16 * 128, machine.matrix_cycles(name).unwrap());
    let fp4 = peak(16 * 16 * 128, machine.narrow_matrix_cycles(name).unwrap());
    assert!((fp8 - 5033.2).abs() < 0.1 && (fp4 - 2.0 * fp8).abs() < 0.1);
    assert_eq!(machine.matrix_cycles("v_wmma_f32_16x16x16_f16"), None);
}

/// As in `occupancy.rs`: LDS bytes, waves, VGPRs and LLVM 22's remark for gfx950.
const REMARKS: [(u32, u32, u32, u32); 22] = [
    (0, 1, 10, 8),
    (0, 1, 64, 8),
    (0, 1, 65, 7),
    (0, 1, 128, 4),
    (0, 2, 24, 8),
    (0, 2, 144, 3),
    (0, 3, 256, 2),
    (0, 10, 20, 8),
    (0, 5, 100, 4),
    (64, 1, 20, 8),
    (1024, 1, 20, 8),
    (4096, 1, 8, 8),
    (20000, 3, 40, 6),
    (20000, 6, 100, 4),
    (30000, 3, 40, 4),
    (32256, 4, 133, 3),
    (65536, 4, 200, 2),
    (81920, 4, 100, 2),
    (81921, 4, 40, 1),
    (163840, 8, 64, 2),
    (40960, 16, 32, 8),
    (65000, 5, 10, 3),
];

#[test]
fn waves_per_simd_are_those_of_the_remark() {
    for (lds_bytes, waves, vgprs, expected) in REMARKS {
        let workgroup = Workgroup {
            waves,
            vgprs,
            lds_bytes,
        };
        let waves = gfx950().waves_per_simd(workgroup);
        assert_eq!(waves, expected, "{workgroup:?}");
    }
    // 512 registers leave one wave a SIMD, and 160 KB one workgroup.
    let most = Workgroup {
        waves: 4,
        vgprs: 512,
        lds_bytes: 160 << 10,
    };
    assert_eq!(gfx950().resident_workgroups(most), 1);
    let granules = Workgroup {
        lds_bytes: 81_900,
        vgprs: 64,
        ..most
    };
    assert_eq!(gfx950().resident_workgroups(granules), 2);
}
