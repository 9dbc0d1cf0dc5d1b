//! Occupancy against LLVM's own remark, and whole workgroups.

use tilefold_machine::{Machine, Workgroup};

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
