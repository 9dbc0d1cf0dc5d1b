//! Swaps of rows and transposing LDS loads of gfx950.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{Bytes, Numbers, build, words};

/// Runs a body that leaves `v8` and `v9`, given random ones, and returns both sets.
fn run(body: &str) -> [Vec<u32>; 2] {
    let body = format!(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\n{{scalar}}\n\
         global_load_dword v8, v1, s[4:5]\nglobal_load_dword v9, v1, s[4:5] offset:256\n\
         global_load_dword v10, v1, s[4:5] offset:512\n{{load}}\n{body}\n\
         global_store_dword v1, v8, s[6:7]\nglobal_store_dword v1, v9, s[6:7] offset:256\n\
         global_store_dword v1, v10, s[6:7] offset:512\n"
    );
    let object = build::kernel("gfx950", &body);
    let mut numbers = Numbers(12);
    let input: Vec<u32> = (0..192).map(|_| numbers.next()).collect();
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_output(768);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    [input, words(&simulator.memory.read(b))]
}

#[test]
fn rows_change_places() {
    for row in [16, 32] {
        let [old, new] = run(&format!("v_permlane{row}_swap_b32_e32 v8, v9"));
        for lane in 0..64 {
            let (v8, v9) = match lane / row % 2 {
                0 => (old[lane], old[lane + row]),
                _ => (old[64 + lane - row], old[64 + lane]),
            };
            assert_eq!((new[lane], new[64 + lane]), (v8, v9), "{row} lane {lane}");
        }
    }
}

#[test]
fn only_active_lanes_change_places() {
    // Some low rows' lanes are off, some high ones', some both: what they hold stays, and arrives
    // with `fi` only, or as zero with `bound_ctrl`.
    const EXEC: u64 = 0x00ff_3c3c_ffff_ff0f;
    let on = |lane: usize| EXEC >> lane & 1 == 1;
    for row in [16, 32] {
        for (modifiers, fetches, zero) in [
            ("", false, false),
            (" fi:1", true, false),
            (" bound_ctrl:1", false, true),
        ] {
            let [old, new] = run(&format!(
                "s_mov_b64 s[8:9], exec\ns_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\n\
                 v_permlane{row}_swap_b32_e64 v8, v9{modifiers}\ns_mov_b64 exec, s[8:9]",
                EXEC as u32,
                EXEC >> 32
            ));
            for lane in 0..64 {
                // The odd rows of v8, the even ones of v9, each from the other.
                let odd = lane / row % 2;
                let (own, other) = (64 * (1 - odd) + lane, 64 * odd + (lane ^ row));
                let expected = match (on(lane), on(lane ^ row) || fetches) {
                    (false, _) => old[own],
                    (true, true) => old[other],
                    (true, false) if zero => 0,
                    (true, false) => old[own],
                };
                assert_eq!(new[own], expected, "{row}{modifiers} lane {lane}");
                let kept = 64 * odd + lane;
                assert_eq!(new[kept], old[kept], "{row}{modifiers} lane {lane}");
            }
        }
    }
}

#[test]
fn transposing_loads() {
    for (name, bits, count) in [
        ("ds_read_b64_tr_b16", 16, 2),
        ("ds_read_b64_tr_b8", 8, 2),
        ("ds_read_b64_tr_b4", 4, 2),
        ("ds_read_b96_tr_b6", 6, 3),
    ] {
        // Every lane stores its registers one after the other and loads from the same place.
        let (stores, dst) = match count {
            2 => ("ds_write_b64 v2, v[8:9]", "v[8:9]"),
            _ => ("ds_write_b96 v2, v[8:10]", "v[8:10]"),
        };
        let [old, new] = run(&format!(
            "v_mul_u32_u24_e32 v2, {}, v0\n{stores}\n{{lds}}\n{name} {dst}, v2\n{{lds}}",
            4 * count
        ));
        let element = |words: &[u32], lane: usize, at: usize| {
            (0..bits).fold(0, |value, bit| {
                let position = at * bits + bit;
                value | (words[64 * (position / 32) + lane] >> (position % 32) & 1) << bit
            })
        };
        let per_lane = 32 * count / bits;
        for lane in 0..64 {
            for row in 0..per_lane {
                // Row by row, a tile of sixteen columns; each lane gets one.
                let linear = 16 * row + lane % 16;
                let from = lane - lane % 16 + linear / per_lane;
                assert_eq!(
                    element(&new, lane, row),
                    element(&old, from, linear % per_lane),
                    "{name} lane {lane} element {row}"
                );
            }
        }
    }
}
