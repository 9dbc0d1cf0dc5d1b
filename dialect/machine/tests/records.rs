//! The chip files are complete and agree with themselves.

use tilefold_machine::{Access, Generation, Machine, Width};

#[test]
fn every_chip_is_found_by_its_own_name_only() {
    let names: Vec<_> = Machine::all()
        .iter()
        .map(|machine| machine.name.as_str())
        .collect();
    assert_eq!(names, ["gfx1100", "gfx1151", "gfx1201", "gfx950"]);
    for name in names {
        assert_eq!(Machine::by_name(name).unwrap().name, name);
    }
    assert_eq!(
        Machine::by_name("gfx1151").unwrap().generation,
        Generation::Rdna35
    );
}

#[test]
fn a_prefix_or_a_neighbour_is_an_error_that_lists_the_known_chips() {
    for name in ["gfx11", "gfx1200", "gfx12010", "GFX1201", ""] {
        let error = Machine::by_name(name).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("unknown chip `{name}`; known chips: gfx1100, gfx1151, gfx1201, gfx950")
        );
    }
}

#[test]
fn lane_groups_hold_every_lane_once() {
    for machine in Machine::all() {
        for width in [Width::B8, Width::B32, Width::B64, Width::B96, Width::B128] {
            for access in [Access::Read, Access::Write] {
                let groups = machine.lds.groups(width, access);
                let mut lanes: Vec<_> = groups.concat();
                lanes.sort_unstable();
                let wave: Vec<_> = (0..machine.wave as u8).collect();
                assert_eq!(lanes, wave, "{} {width:?} {access:?}", machine.name);
            }
        }
    }
}

#[test]
fn register_files_hold_whole_granules() {
    for machine in Machine::all() {
        assert_eq!(
            machine.vgpr.per_simd % machine.vgpr.granule,
            0,
            "{}",
            machine.name
        );
        assert_eq!(
            machine.lds.per_cu % machine.lds.granule,
            0,
            "{}",
            machine.name
        );
        assert!(machine.vgpr.addressable <= machine.vgpr.per_simd);
        assert!(!machine.devices.is_empty());
        assert!(machine.matrix_instructions().count() > 0);
    }
}

#[test]
fn peak_rates_follow_from_the_issue_cycles() {
    // The f16 peaks published with the RDNA ladder: 90.4, 59.4 and 195 TFLOP/s.
    let published = [("gfx1100", 90.4), ("gfx1151", 59.4), ("gfx1201", 195.0)];
    for (name, tflops) in published {
        let machine = Machine::by_name(name).unwrap();
        let device = &machine.devices[0];
        let cycles = machine.matrix_cycles("v_wmma_f16_16x16x16_f16").unwrap();
        let flop_per_cycle = f64::from(2 * 16 * 16 * 16 * machine.simds_per_cu) / f64::from(cycles);
        let peak = flop_per_cycle * f64::from(device.cu) * f64::from(device.clock_mhz) * 1e-6;
        assert!(
            (peak / tflops - 1.0).abs() < 0.01,
            "{name}: {peak} against {tflops}"
        );
    }
}

#[test]
fn weak_facts_are_facts_of_the_record() {
    for machine in Machine::all() {
        let path = format!("{}/chips/{}.toml", env!("CARGO_MANIFEST_DIR"), machine.name);
        let record: toml::Value = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for weak in &machine.weak {
            let fact = weak
                .split('.')
                .try_fold(&record, |value, key| match key.parse::<usize>() {
                    Ok(index) => value.get(index),
                    Err(_) => value.get(key),
                });
            assert!(fact.is_some(), "{} has no {weak}", machine.name);
        }
    }
}
