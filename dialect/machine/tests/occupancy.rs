//! Occupancy against LLVM's own remark, and whole workgroups.

use tilefold_machine::{Limit, Machine, Workgroup};

/// LDS bytes, waves of a workgroup, VGPRs, and the occupancy that llc 22 printed for a kernel with
/// these (`-pass-remarks-analysis=kernel-resource-usage`, cu mode); gfx1100 and gfx1201 agree.
const REMARKS: [(u32, u32, u32, u32); 22] = [
    (0, 1, 10, 16),
    (0, 1, 97, 12),
    (0, 2, 24, 16),
    (0, 2, 144, 10),
    (0, 3, 256, 5),
    (0, 20, 20, 10),
    (0, 20, 160, 9),
    (64, 1, 20, 16),
    (1024, 1, 20, 16),
    (4096, 1, 8, 8),
    (5000, 1, 8, 7),
    (20000, 3, 40, 5),
    (20000, 6, 100, 9),
    (30000, 3, 40, 3),
    (32256, 4, 133, 4),
    (32256, 4, 200, 4),
    (32768, 16, 121, 10),
    (32768, 16, 128, 10),
    (32768, 16, 192, 8),
    (49152, 16, 192, 8),
    (64512, 4, 252, 2),
    (65000, 5, 10, 3),
];

#[test]
fn waves_per_simd_are_those_of_the_remark() {
    for chip in ["gfx1100", "gfx1151", "gfx1201"] {
        let machine = Machine::by_name(chip).unwrap();
        for (lds_bytes, waves, vgprs, expected) in REMARKS {
            let workgroup = Workgroup {
                waves,
                vgprs,
                lds_bytes,
            };
            assert_eq!(
                machine.waves_per_simd(workgroup),
                expected,
                "{chip} {workgroup:?}"
            );
        }
    }
}

#[test]
fn whole_workgroups_are_bounded_by_each_resource() {
    let machine = Machine::by_name("gfx1201").unwrap();
    let resident = |waves, vgprs, lds_bytes| {
        machine.resident_workgroups(Workgroup {
            waves,
            vgprs,
            lds_bytes,
        })
    };
    assert_eq!(resident(4, 133, 32256), 2, "LDS");
    assert_eq!(
        resident(4, 252, 16384),
        2,
        "registers: 5 waves a SIMD, 10 a compute unit"
    );
    assert_eq!(
        resident(16, 120, 32768),
        1,
        "24 waves fit, but only one whole workgroup"
    );
    assert_eq!(resident(2, 24, 0), 16, "wave slots and barriers");
    assert_eq!(resident(1, 24, 0), 32, "a single wave needs no barrier");
    // 64 KiB hold three times 21845 bytes, but not three times 22 granules of 1 KiB.
    assert_eq!(resident(1, 24, 21845), 2, "granules");
}

#[test]
fn what_does_not_fit_has_no_resident_workgroup() {
    let machine = Machine::by_name("gfx1100").unwrap();
    let resident = |waves, vgprs, lds_bytes| {
        machine.resident_workgroups(Workgroup {
            waves,
            vgprs,
            lds_bytes,
        })
    };
    assert_eq!(resident(33, 10, 0), 0);
    assert_eq!(resident(1, 257, 0), 0);
    assert_eq!(resident(1, 10, 65537), 0);
    assert_eq!(resident(32, 256, 0), 0);
    assert_eq!(resident(u32::MAX, u32::MAX, u32::MAX), 0);
    let huge = Workgroup {
        waves: u32::MAX,
        vgprs: u32::MAX,
        lds_bytes: u32::MAX,
    };
    assert_eq!(machine.waves_per_simd(huge), 1);
    let zero = Workgroup {
        waves: 0,
        vgprs: 0,
        lds_bytes: 0,
    };
    assert_eq!(machine.waves_per_simd(zero), 16);
}

/// Both figures and what sets them, where they differ and where they do not.
#[test]
fn occupancy_names_what_sets_it() {
    let machine = Machine::by_name("gfx1201").unwrap();
    let occupancy = |waves, vgprs, lds_bytes| {
        machine.occupancy(Workgroup {
            waves,
            vgprs,
            lds_bytes,
        })
    };
    // One wave with a little of everything: its SIMD has 16 slots.
    let small = occupancy(1, 40, 1024);
    assert_eq!(small.waves_per_simd, 16);
    assert_eq!(small.waves_set_by, [Limit::WaveSlots]);
    assert_eq!(
        (small.waves_by.registers, small.waves_by.lds),
        (32, Some(32))
    );
    // 64 KiB hold 3 times 21760 bytes, but 2 times the 22 granules that are allocated.
    let granules = occupancy(4, 100, 21760);
    assert_eq!((granules.waves_per_simd, granules.workgroups), (6, 2));
    assert_eq!(granules.resident_waves_per_simd, 4.0);
    assert_eq!(granules.allocated_lds_bytes, 22528);
    assert_eq!(granules.waves_set_by, [Limit::Lds]);
    assert_eq!(granules.workgroups_set_by, [Limit::Lds]);
    // Registers for 6 waves a SIMD, which is one workgroup of 8 waves, 4 on each.
    let whole = occupancy(8, 240, 16384);
    assert_eq!((whole.waves_per_simd, whole.workgroups), (6, 1));
    assert_eq!(whole.resident_waves_per_simd, 4.0);
    assert_eq!(whole.waves_set_by, [Limit::Registers]);
    assert_eq!(whole.workgroups_set_by, [Limit::Registers]);
    // Two waves to a workgroup: as many slots as barriers, in pairs.
    let pairs = occupancy(2, 24, 0);
    assert_eq!(pairs.workgroups_set_by, [Limit::WaveSlots]);
    assert_eq!(pairs.waves_by.lds, None);
    // Registers and LDS at once.
    let both = occupancy(4, 384, 32768);
    assert_eq!(both.waves_set_by, [Limit::Registers, Limit::Lds]);
    assert_eq!(both.workgroups_set_by, [Limit::Workgroup]);
}
