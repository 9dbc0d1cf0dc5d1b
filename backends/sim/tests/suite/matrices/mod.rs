//! WMMA of every type in waves of 32 and 64 against matrix products over lane maps of their own.
//!
//! The maps are those of AMD's matrix instruction calculator. Inputs are such that every sum is
//! exact in f64, so the one rounding at the end is all there is to compare; which k an element has
//! shows in no sum as long as A and B agree on it.

pub mod model;

use serde_json::Value;
use tilefold_sim::{Arg, Check, Launch, Report, Simulator};

use crate::mfma::vectors::{numbers, tables};
use crate::{Bytes, build, words};
use model::{Case, rdna3, rdna4};

/// Runs instructions one after the other, all of one chip and wave, on registers of their own:
/// lines of `[register][lane]`, A, B and C, each in eight. Yields the report and C's.
fn run(cases: &[Case], registers: &[Vec<Vec<u32>>]) -> (Report, Vec<Vec<Vec<u32>>>) {
    let (chip, wave) = (cases[0].chip, cases[0].wave);
    let bytes = 4 * wave;
    let mut body =
        "s_load_b128 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, v1\n{scalar}\n"
            .to_owned();
    for case in cases {
        for at in 20..44 {
            body += &format!("global_load_b32 v{at}, v1, s[4:5]\nv_add_nc_u32 v1, {bytes}, v1\n");
        }
        body += &format!("{{load}}\n{}\n", case.text());
        for at in 36..44 {
            body += &format!("global_store_b32 v2, v{at}, s[6:7]\nv_add_nc_u32 v2, {bytes}, v2\n");
        }
    }
    let object = build::kernel_in(chip, wave, &body);
    let mut simulator = Simulator::new();
    let input = registers.concat().concat();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_output(8 * bytes * cases.len());
    let launch = Launch {
        block: [wave as u32, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert_eq!(report.counters.mma, cases.len() as u64);
    let got = words(&simulator.memory.read(b));
    let lines: Vec<Vec<u32>> = got.chunks(wave).map(<[u32]>::to_vec).collect();
    (report, lines.chunks(8).map(<[_]>::to_vec).collect())
}

fn check(cases: &[Case]) {
    let (registers, expected): (Vec<_>, Vec<_>) = cases.iter().map(Case::sample).unzip();
    let (report, got) = run(cases, &registers);
    assert!(report.passed(), "{:#?}", report.findings);
    for ((case, got), expected) in cases.iter().zip(&got).zip(&expected) {
        let label = format!("{} wave{} {}", case.chip, case.wave, case.text());
        for (register, (got, expected)) in got.iter().zip(expected).enumerate() {
            for (lane, (got, expected)) in got.iter().zip(expected).enumerate() {
                assert_eq!(got, expected, "{label} v{} lane {lane}", 36 + register);
            }
        }
    }
}

#[test]
fn every_shape_is_its_product() {
    for wave in [32, 64] {
        check(&rdna3("gfx1100", wave));
        check(&rdna3("gfx1151", wave));
        check(&rdna4(wave));
    }
}

#[test]
fn lane_maps_are_the_published_ones() {
    let Some(tables) = tables() else {
        eprintln!("SKIPPED: no mma_atoms.json; set TILEFOLD_VECTORS to its folder");
        return;
    };
    let cases = [32, 64].map(|wave| [rdna3("gfx1100", wave), rdna4(wave)].concat());
    let mut compared = 0;
    for record in tables["mma"].as_array().expect("a list of records") {
        let word = |name: &str| record[name].as_str().expect("a word");
        let matches = |case: &&Case| {
            record["wave"] == case.wave
                && word("instruction").strip_prefix("v_wmma_") == Some(case.name)
                && word("arch") == if case.rdna3() { "rdna3" } else { "rdna4" }
        };
        if let Some(case) = cases.iter().flatten().find(matches) {
            compare(case, record);
            compared += 1;
        }
    }
    assert!(compared >= 18, "only {compared} tables compared");
}

fn compare(case: &Case, record: &Value) {
    let id = &record["id"];
    let table = |operand: &str, name: &str| numbers(&record[operand], name).expect("a table");
    for (at, name, index_name, k_name) in [(0, "A", "rows", "cols"), (1, "B", "cols", "rows")] {
        let (index, k) = (table(name, index_name), table(name, k_name));
        for lane in 0..case.wave {
            for element in 0..index[lane].len() {
                let bits = case.formats[at].bits();
                let places = case.input(index[lane][element], k[lane][element], bits);
                assert!(
                    places.contains(&(lane, element)),
                    "{id} {name} lane {lane} element {element}: {places:?}"
                );
            }
        }
    }
    let (rows, columns) = (table("C", "rows"), table("C", "cols"));
    let elements = record["C"]["elements"].as_array().expect("a list");
    for lane in 0..case.wave {
        for (at, element) in elements.iter().enumerate() {
            let (place, register, shift) = case.output(rows[lane][at], columns[lane][at]);
            assert_eq!(place, lane, "{id} C element {at}");
            let bits = match case.formats[2].bits() {
                16 => format!("v{register}.[{}:{shift}]", shift + 15),
                _ => format!("v{register}"),
            };
            assert_eq!(element, &bits, "{id} C lane {lane}");
        }
    }
}

#[test]
fn every_group_of_lanes_must_repeat_the_first() {
    let case = rdna3("gfx1100", 64)[0];
    let (registers, _) = case.sample();
    for group in 1..4 {
        for (operand, name) in ["A", "B"].into_iter().enumerate() {
            let mut spoilt = registers.clone();
            spoilt[8 * operand + 3][16 * group + 5] ^= 1;
            let (report, _) = run(&[case], &[spoilt]);
            let [finding] = &report.findings[..] else {
                panic!("{name} of group {group}: {:#?}", report.findings);
            };
            assert_eq!(finding.check, Check::WmmaHalves);
            assert_eq!(finding.lane, Some(16 * group as u32 + 5));
            let message = finding.to_string();
            let register = 20 + 8 * operand + 3;
            assert!(
                message.contains(&format!("{name} in v{register} differs from lane 5")),
                "{message}"
            );
        }
    }
}

#[test]
fn a_wave_of_64_may_not_read_at_once_what_it_multiplied() {
    for (chip, pair, apart) in [
        (
            "gfx1100",
            "v_wmma_i32_16x16x16_iu8 v[20:23], v[4:7], v[8:11], 0\n{between}\n\
             v_wmma_i32_16x16x16_iu8 v[30:33], v[{read}:{last}], v[8:11], 0",
            4,
        ),
        (
            "gfx1201",
            "v_wmma_f16_16x16x16_f16 v[22:23], v[4:5], v[8:9], 0\n{between}\n\
             v_wmma_f16_16x16x16_f16 v[30:31], v[{read}:{last}], v[8:9], 0",
            2,
        ),
    ] {
        let found = |between: &str, read: usize| {
            let body = pair
                .replace("{between}", between)
                .replace("{read}", &read.to_string())
                .replace("{last}", &(read + apart - 1).to_string());
            let object = build::kernel_in(chip, 64, &body);
            let launch = Launch {
                block: [64, 1, 1],
                ..Launch::default()
            };
            let report = Simulator::new().launch(&object, "k", launch).unwrap();
            report.count(Check::WmmaHazard)
        };
        // The last register that the first one writes, and the one after it.
        assert_eq!(found("", 23), 1, "{chip}");
        assert_eq!(found("v_nop", 23), 0, "{chip}");
        assert_eq!(found("", 24), 0, "{chip}");
        assert_eq!(found("", 21), 1, "{chip}");
    }
}
