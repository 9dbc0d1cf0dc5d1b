//! Counters in LDS that grow and shrink by the number of active lanes, at an address in M0.

use tilefold_sim::{Arg, Check, Launch, Report, Simulator};

use crate::{Numbers, build, words};

const CASES: [(&str, usize); 7] = [
    ("gfx1100", 32),
    ("gfx1100", 64),
    ("gfx1151", 32),
    ("gfx1151", 64),
    ("gfx1201", 32),
    ("gfx1201", 64),
    ("gfx950", 64),
];

fn run(chip: &str, wave: usize, body: &str, bytes: usize) -> (Report, Vec<u32>) {
    let body = format!(
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\n\
         v_lshlrev_b32 v1, 2, v0\n{{scalar}}\n{body}"
    );
    let body = match chip {
        "gfx950" => body,
        _ => body
            .replace("dwordx2", "b64")
            .replace("dword", "b32")
            .replace("v_add_u32", "v_add_nc_u32")
            .replace("ds_write", "ds_store"),
    };
    let mut simulator = Simulator::new();
    let out = simulator.memory.alloc_inout(&vec![0; bytes]);
    let launch = Launch {
        block: [wave as u32, 1, 1],
        args: vec![Arg::Buffer(out)],
        ..Launch::default()
    };
    let object = build::kernel_in(chip, wave, &body);
    let report = simulator.launch(&object, "k", launch).unwrap();
    (report, words(&simulator.memory.read(out)))
}

#[test]
fn active_lanes_are_counted() {
    const START: u32 = 0xffff_ffc0;
    for (chip, wave) in CASES {
        let mut numbers = Numbers(17);
        let mut body = format!(
            "v_mov_b32 v2, 40\nv_mov_b32 v3, {START:#x}\nds_write_b32 v2, v3\n{{lds}}\n\
             s_mov_b32 m0, 32\n"
        );
        let mut steps = Vec::new();
        for _ in 0..200 {
            let mask = u64::from(numbers.next()) << 32 | u64::from(numbers.next());
            // None is no access.
            let mask = match mask % 16 {
                0 => 0,
                _ => mask & (u64::MAX >> (64 - wave)),
            };
            let grows = numbers.next().is_multiple_of(2);
            let name = if grows { "ds_append" } else { "ds_consume" };
            let (low, high) = (mask as u32, (mask >> 32) as u32);
            body += &format!(
                "v_mov_b32 v4, 7\ns_mov_b32 exec_lo, {low:#x}\ns_mov_b32 exec_hi, {high:#x}\n\
                 {name} v4 offset:8\n{{lds}}\ns_mov_b32 exec_lo, -1\n\
                 s_mov_b32 exec_hi, -1\nglobal_store_dword v1, v4, s[4:5]\n\
                 v_add_u32 v1, {}, v1\n",
                4 * wave
            );
            steps.push((mask, grows));
        }
        let body = match wave {
            32 => body
                .lines()
                .filter(|line| !line.contains("exec_hi"))
                .map(|line| format!("{line}\n"))
                .collect(),
            _ => body,
        };
        let (report, out) = run(chip, wave, &body, 4 * wave * steps.len());
        assert!(report.passed(), "{chip} {wave}: {:#?}", report.findings);
        let mut counter = START;
        for ((mask, grows), got) in steps.into_iter().zip(out.chunks(wave)) {
            for (lane, got) in got.iter().enumerate() {
                let expected = if mask >> lane & 1 == 1 { counter } else { 7 };
                assert_eq!(*got, expected, "{chip} {wave} lane {lane} of {mask:#x}");
            }
            let by = (0..64).filter(|lane| mask >> lane & 1 == 1).count() as u32;
            counter = match grows {
                true => counter.wrapping_add(by),
                false => counter.wrapping_sub(by),
            };
        }
    }
}

#[test]
fn counters_are_checked_like_other_accesses() {
    for (chip, wave) in CASES {
        for (body, check) in [
            (
                "s_mov_b32 m0, 0\nds_append v4\n{lds}",
                Check::LdsUninitialized,
            ),
            (
                "v_mov_b32 v2, 0\nds_write_b32 v2, v2\n{lds}\ns_mov_b32 m0, 0x3fe\n\
                 ds_append v4\n{lds}",
                Check::LdsBounds,
            ),
            (
                "v_mov_b32 v2, 0\nds_write_b32 v2, v2\n{lds}\ns_mov_b32 m0, 0\n\
                 ds_consume v4\nv_mov_b32 v5, v4",
                Check::MissingWait,
            ),
        ] {
            let (report, _) = run(chip, wave, body, 64);
            let found = Vec::from_iter(report.findings.iter().map(|finding| finding.check));
            assert_eq!(found, [check], "{chip} {wave} {body}");
        }
    }
}
