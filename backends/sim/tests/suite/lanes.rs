//! Instructions that move values between lanes, and memory accesses of every width.

use crate::instructions::{BOTH, execute, execute_all};

#[test]
fn lanes_and_masks() {
    for chip in BOTH {
        for (at, ([a, ..], [got, ..])) in execute(chip, "v_mbcnt_lo_u32_b32 v0, 0xf0f0f0f0, v1")
            .into_iter()
            .enumerate()
        {
            let lane = at as u32 % 32;
            let below = (0..lane).filter(|bit| bit % 8 >= 4).count() as u32;
            assert_eq!(got, a.wrapping_add(below), "{chip} lane {lane}");
        }
        let select = "v_cndmask_b32 v0, v1, -1.0, vcc_lo";
        for (at, ([a, ..], [got, ..])) in execute(chip, select).into_iter().enumerate() {
            let on = 0x5555_aaaa_u32 >> (at % 32) & 1 == 1;
            assert_eq!(got, if on { 0xbf80_0000 } else { a }, "{chip}");
        }
        let all = execute(chip, "v_readfirstlane_b32 s20, v1");
        for chunk in all.chunks(32) {
            assert!(
                chunk.iter().all(|(_, out)| out[2] == chunk[0].0[0]),
                "{chip}"
            );
        }
        let all = execute(chip, "v_readlane_b32 s20, v1, 7");
        for chunk in all.chunks(32) {
            assert!(
                chunk.iter().all(|(_, out)| out[2] == chunk[7].0[0]),
                "{chip}"
            );
        }
        type From = fn(usize) -> usize;
        let moves: [(&str, From); 6] = [
            (
                "v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
                |l| l ^ 1,
            ),
            (
                "v_mov_b32_dpp v0, v1 row_xmask:5 row_mask:0xf bank_mask:0xf",
                |l| l ^ 5,
            ),
            (
                "v_mov_b32_dpp v0, v1 row_half_mirror row_mask:0xf bank_mask:0xf",
                |l| l ^ 7,
            ),
            (
                "v_mov_b32_dpp v0, v1 row_ror:3 row_mask:0xf bank_mask:0xf",
                |l| l / 16 * 16 + (l + 13) % 16,
            ),
            (
                "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)\n{lds}",
                |l| l ^ 16,
            ),
            ("v_permlanex16_b32 v0, v1, 0x76543210, 0xfedcba98", |l| {
                l ^ 16
            }),
        ];
        for (text, from) in moves {
            for chunk in execute(
                chip,
                &text.replace("0x76543210, 0xfedcba98", "s12, s13").replace(
                    "v_permlanex16",
                    "s_mov_b32 s12, 0x76543210\ns_mov_b32 s13, 0xfedcba98\n{alu}\nv_permlanex16",
                ),
            )
            .chunks(32)
            {
                for (lane, (_, out)) in chunk.iter().enumerate() {
                    assert_eq!(out[0], chunk[from(lane)].0[0], "{chip} {text} lane {lane}");
                }
            }
        }
        // A shift out of the row: lane 0 keeps what v0 was, or reads zero with bound_ctrl.
        let shift = "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf";
        for (suffix, old) in [("", true), (" bound_ctrl:1", false)] {
            for chunk in execute(chip, &format!("{shift}{suffix}")).chunks(32) {
                for (lane, (input, out)) in chunk.iter().enumerate() {
                    let expected = match lane % 16 {
                        0 if old => input[2],
                        0 => 0,
                        _ => chunk[lane - 1].0[0],
                    };
                    assert_eq!(out[0], expected, "{chip} {shift}{suffix} lane {lane}");
                }
            }
        }
        // Addresses pick lanes by their bits 2 to 6.
        for chunk in execute(chip, "ds_bpermute_b32 v0, v2, v1\n{lds}").chunks(32) {
            for (input, out) in chunk {
                assert_eq!(out[0], chunk[input[1] as usize / 4 % 32].0[0], "{chip}");
            }
        }
    }
}

#[test]
fn lanes_switched_off_are_fetched_by_one_instruction() {
    for (name, fetches) in [("ds_bpermute_b32", false), ("ds_bpermute_fi_b32", true)] {
        let text = format!(
            "s_mov_b32 exec_lo, 0x6db6db6d\n{name} v0, v2, v1\n{{lds}}\ns_mov_b32 exec_lo, -1"
        );
        for chunk in execute("gfx1201", &text).chunks(32) {
            for (lane, (input, out)) in chunk.iter().enumerate() {
                let active = |lane: usize| 0x6db6_db6d_u32 >> lane & 1 == 1;
                let from = input[1] as usize / 4 % 32;
                let expected = match (active(lane), fetches || active(from)) {
                    (true, true) => chunk[from].0[0],
                    (true, false) => 0,
                    (false, _) => input[2],
                };
                assert_eq!(out[0], expected, "{name} lane {lane}");
            }
        }
    }
}

#[test]
fn accesses_of_every_width() {
    // Through LDS and back, byte by byte the same as a slice of bytes.
    for chip in BOTH {
        let store = "ds_store_b32 v9, v1\nds_store_b32 v9, v2 offset:128\n{lds}\n";
        type Model = fn(&[u8], u32) -> u32;
        let loads: [(&str, Model); 7] = [
            ("ds_load_u8 v0, v9 offset:5", |x, _| u32::from(x[5])),
            ("ds_load_i8 v0, v9 offset:6", |x, _| {
                i32::from(x[6] as i8) as u32
            }),
            ("ds_load_u16 v0, v9 offset:2", |x, _| {
                u32::from(u16::from_le_bytes([x[2], x[3]]))
            }),
            ("ds_load_i16 v0, v9 offset:6", |x, _| {
                i32::from(i16::from_le_bytes([x[6], x[7]])) as u32
            }),
            ("ds_load_u16_d16 v0, v9", |x, old| {
                (old & 0xffff_0000) | u32::from(u16::from_le_bytes([x[0], x[1]]))
            }),
            ("ds_load_u16_d16_hi v0, v9 offset:2", |x, old| {
                (old & 0xffff) | u32::from(u16::from_le_bytes([x[2], x[3]])) << 16
            }),
            (
                "ds_load_2addr_b32 v[12:13], v9 offset0:1 offset1:32\n{lds}\nv_xor_b32 v0, v12, v13",
                |x, _| {
                    let word =
                        |at: usize| u32::from_le_bytes([x[at], x[at + 1], x[at + 2], x[at + 3]]);
                    word(4) ^ word(128)
                },
            ),
        ];
        for (text, model) in loads {
            let all = execute(chip, &format!("{store}{text}\n{{lds}}"));
            for chunk in all.chunks(32) {
                let bytes: Vec<u8> = [0, 1]
                    .iter()
                    .flat_map(|&part| {
                        chunk
                            .iter()
                            .flat_map(move |lane| lane.0[part].to_le_bytes())
                    })
                    .chain([0; 16])
                    .collect();
                for (lane, (input, out)) in chunk.iter().enumerate() {
                    assert_eq!(
                        out[0],
                        model(&bytes[4 * lane..], input[2]),
                        "{chip} {text} {lane}"
                    );
                }
            }
        }
        // Global memory: what was loaded comes back from an output through narrow stores.
        let text = "global_store_b32 v9, v3, s[6:7] offset:0\n\
                    global_store_b16 v9, v1, s[6:7] offset:0\n\
                    global_store_d16_hi_b16 v9, v2, s[6:7] offset:2\n\
                    global_load_b32 v0, v9, s[6:7]\n{load}";
        for ([a, c, _], [got, ..]) in execute(chip, text) {
            assert_eq!(got, (a & 0xffff) | (c & 0xffff_0000), "{chip}");
        }
        let text = "global_load_d16_b16 v0, v9, s[4:5] offset:2\n\
                    global_load_d16_hi_b16 v10, v9, s[4:5]\n{load}";
        for ([a, second, third], [low, high, _]) in execute(chip, text) {
            assert_eq!(
                (low, high),
                ((third & 0xffff_0000) | a >> 16, (second & 0xffff) | a << 16)
            );
        }
        let add = match chip {
            "gfx1201" => "global_atomic_add_u32 v0, v9, v1, s[6:7] th:TH_ATOMIC_RETURN",
            _ => "global_atomic_add_u32 v0, v9, v1, s[6:7] glc",
        };
        let text = format!(
            "global_store_b32 v9, v2, s[6:7]\n{add}\n{{load}}\n\
             global_load_b32 v10, v9, s[6:7]\n{{load}}"
        );
        for ([a, c, _], [old, new, _]) in execute(chip, &text) {
            assert_eq!((old, new), (c, a.wrapping_add(c)), "{chip}");
        }
    }
}

#[test]
fn lanes_that_are_switched_off_are_read_as_the_instruction_says() {
    // What a lane reads of one that is off: nothing, zero, or its value.
    #[derive(Clone, Copy)]
    enum Off {
        Keeps,
        Zero,
        Value,
    }
    const EXEC: u32 = 0x0ff1_3c35;
    const SELECT: u64 = 0xfed1_ba98_7654_0213;
    let on = |lane: usize| EXEC >> lane & 1 == 1;
    let reversed = |lane: usize| lane ^ 7;
    let picked = |lane: usize| (lane & 16) + (SELECT >> (4 * (lane % 16)) & 15) as usize;
    let across = |lane: usize| picked(lane) ^ 16;
    type From<'a> = &'a dyn Fn(usize) -> usize;
    let dpp8 = "v_mov_b32_dpp v0, v1 dpp8:[7,6,5,4,3,2,1,0]";
    let table: [(&str, &str, From<'_>, Off); 10] = [
        (dpp8, "", &reversed, Off::Zero),
        (dpp8, " fi:1", &reversed, Off::Value),
        ("v_permlane16_b32 v0, v1, s12, s13", "", &picked, Off::Keeps),
        (
            "v_permlane16_b32 v0, v1, s12, s13",
            " op_sel:[1,0]",
            &picked,
            Off::Value,
        ),
        (
            "v_permlane16_b32 v0, v1, s12, s13",
            " op_sel:[0,1]",
            &picked,
            Off::Zero,
        ),
        (
            "v_permlane16_b32 v0, v1, s12, s13",
            " op_sel:[1,1]",
            &picked,
            Off::Value,
        ),
        (
            "v_permlanex16_b32 v0, v1, s12, s13",
            "",
            &across,
            Off::Keeps,
        ),
        (
            "v_permlanex16_b32 v0, v1, s12, s13",
            " op_sel:[1,0]",
            &across,
            Off::Value,
        ),
        (
            "v_permlanex16_b32 v0, v1, s12, s13",
            " op_sel:[0,1]",
            &across,
            Off::Zero,
        ),
        (
            "v_permlanex16_b32 v0, v1, s12, s13",
            " op_sel:[1,1]",
            &across,
            Off::Value,
        ),
    ];
    for chip in BOTH {
        let texts: Vec<String> = table
            .iter()
            .map(|(text, modifier, ..)| {
                format!(
                    "s_mov_b32 s12, {:#x}\ns_mov_b32 s13, {:#x}\ns_mov_b32 exec_lo, {EXEC:#x}\n\
                     {{alu}}\n{text}{modifier}\ns_mov_b32 exec_lo, -1",
                    SELECT as u32,
                    SELECT >> 32
                )
            })
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (all, (text, modifier, from, off)) in execute_all(chip, &texts).iter().zip(table) {
            for wave in all.chunks(32) {
                for (lane, (input, out)) in wave.iter().enumerate() {
                    let expected = match (on(lane), on(from(lane)), off) {
                        (false, ..) | (_, false, Off::Keeps) => input[2],
                        (_, false, Off::Zero) => 0,
                        _ => wave[from(lane)].0[0],
                    };
                    assert_eq!(out[0], expected, "{chip} {text}{modifier} lane {lane}");
                }
            }
        }
    }
}

#[test]
fn registers_relative_to_m0() {
    // Past the registers there are v0 is read, and nothing written.
    for chip in BOTH {
        let texts = [
            "s_mov_b32 m0, 2\nv_movrels_b32 v10, v1",
            "s_movk_i32 m0, 0x7f\nv_movrels_b32 v10, v1",
            "s_mov_b32 m0, -1\nv_movrels_b32 v10, v1",
            "s_mov_b32 m0, 9\nv_movreld_b32 v1, v3",
            "s_movk_i32 m0, 0x7f\nv_movreld_b32 v1, v3",
        ];
        for (text, lanes) in texts.iter().zip(execute_all(chip, &texts)) {
            for ([_, b, c], [v0, v10, _]) in lanes {
                let kept = text.contains("reld") && text.contains("0x7f");
                assert_eq!((v0, v10), (c, if kept { b } else { c }), "{chip} {text}");
            }
        }
    }
}

#[test]
fn a_lane_number_beyond_the_wave_wraps_around() {
    for chip in BOTH {
        let read = "s_movk_i32 s12, 0x67\nv_readlane_b32 s20, v1, s12";
        for wave in execute(chip, read).chunks(32) {
            assert!(wave.iter().all(|(_, out)| out[2] == wave[7].0[0]), "{chip}");
        }
        let write = "s_movk_i32 s12, 0x47\nv_writelane_b32 v0, s21, s12";
        for wave in execute(chip, write).chunks(32) {
            for (lane, (input, out)) in wave.iter().enumerate() {
                let written = if lane == 7 { 0x1234_5678 } else { input[2] };
                assert_eq!(out[0], written, "{chip} lane {lane}");
            }
        }
    }
}
