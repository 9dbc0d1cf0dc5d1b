//! Exchanges between lanes: by numbers, by rotations and Fourier orders of `ds_swizzle_b32`, by the
//! halves of a wave of 64.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{build, words};

/// What lanes that hold their number plus one have after each of some instructions, from v3 to v4.
pub fn run(chip: &str, wave: usize, bodies: &[String]) -> Vec<Vec<u32>> {
    let load = if chip == "gfx950" {
        "s_load_dwordx2"
    } else {
        "s_load_b64"
    };
    let store = if chip == "gfx950" {
        "global_store_dword"
    } else {
        "global_store_b32"
    };
    let add = if chip == "gfx950" {
        "v_add_u32"
    } else {
        "v_add_nc_u32"
    };
    let on = if wave == 64 {
        "s_mov_b64 exec, -1"
    } else {
        "s_mov_b32 exec_lo, -1"
    };
    let parts: String = bodies
        .iter()
        .map(|body| {
            format!(
                "v_mov_b32 v4, 0\n{body}\n{{lds}}\n{on}\n{store} v2, v4, s[4:5]\n\
                 {add} v2, {}, v2\n",
                4 * wave
            )
        })
        .collect();
    let body = format!(
        "{load} s[4:5], s[0:1], 0x0\nv_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v2, 2, v1\n\
         {add} v3, 1, v1\n{{scalar}}\n{parts}"
    );
    let object = build::kernel_in(chip, wave, &body);
    let mut simulator = Simulator::new();
    let y = simulator.memory.alloc_output(4 * wave * bodies.len());
    let launch = Launch {
        block: [wave as u32, 1, 1],
        args: vec![Arg::Buffer(y)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let got = words(&simulator.memory.read(y));
    got.chunks(wave).map(<[u32]>::to_vec).collect()
}

const WAVES: [(&str, usize); 7] = [
    ("gfx1100", 32),
    ("gfx1100", 64),
    ("gfx1151", 32),
    ("gfx1151", 64),
    ("gfx1201", 32),
    ("gfx1201", 64),
    ("gfx950", 64),
];

/// The examples of AMD's guides for the input 1, 2, ... 0x20, as they are printed there.
const EXAMPLES: [(&str, &str); 8] = [
    (
        "swizzle(FFT,0)",
        "1,11,9,19,5,15,d,1d,3,13,b,1b,7,17,f,1f,2,12,a,1a,6,16,e,1e,4,14,c,1c,8,18,10,20",
    ),
    (
        "swizzle(FFT,16)",
        "1,9,5,d,3,b,7,f,2,a,6,e,4,c,8,10,11,19,15,1d,13,1b,17,1f,12,1a,16,1e,14,1c,18,20",
    ),
    (
        "0xe01f",
        "1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,10,11,12,13,14,15,16,17,18,19,1a,1b,1c,1d,1e,1f,20",
    ),
    (
        "swizzle(ROTATE,0,1)",
        "2,3,4,5,6,7,8,9,a,b,c,d,e,f,10,11,12,13,14,15,16,17,18,19,1a,1b,1c,1d,1e,1f,20,1",
    ),
    (
        "swizzle(ROTATE,1,1)",
        "20,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,10,11,12,13,14,15,16,17,18,19,1a,1b,1c,1d,1e,1f",
    ),
    (
        "0xc420",
        "20,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,10,11,12,13,14,15,16,17,18,19,1a,1b,1c,1d,1e,1f",
    ),
    (
        "0xc021",
        "1,4,3,6,5,8,7,a,9,c,b,e,d,10,f,12,11,14,13,16,15,18,17,1a,19,1c,1b,1e,1d,20,1f,2",
    ),
    (
        "0xc421",
        "1f,2,1,4,3,6,5,8,7,a,9,c,b,e,d,10,f,12,11,14,13,16,15,18,17,1a,19,1c,1b,1e,1d,20",
    ),
];

#[test]
fn swizzles_are_those_of_the_guides_examples() {
    for (chip, wave) in WAVES {
        let bodies = EXAMPLES.map(|(offset, _)| format!("ds_swizzle_b32 v4, v3 offset:{offset}"));
        for ((offset, lanes), got) in EXAMPLES.iter().zip(run(chip, wave, &bodies)) {
            let lanes: Vec<u32> = lanes
                .split(',')
                .map(|lane| u32::from_str_radix(lane, 16).unwrap())
                .collect();
            let expected: Vec<u32> = (0..wave)
                .map(|lane| lanes[lane % 32] + (lane as u32 & 32))
                .collect();
            assert_eq!(got, expected, "{chip} {wave} {offset}");
        }
    }
}

#[test]
fn every_rotation_and_fourier_order_follows_the_rule() {
    let swizzle = |offset: u32| format!("ds_swizzle_b32 v4, v3 offset:{offset:#x}");
    let fourier: Vec<String> = (0..32).map(|mask| swizzle(0xe000 + mask)).collect();
    for (mask, got) in (0..32_u32).zip(run("gfx950", 64, &fourier)) {
        for (lane, value) in got.into_iter().enumerate() {
            // The bits of the lane from the highest, moved down by as many as the mask keeps.
            let lane = lane as u32;
            let reversed = (0..5).fold(0, |bits, at| bits | (lane >> at & 1) << (4 - at));
            let from = reversed >> mask.count_ones() | lane & mask;
            assert_eq!(value, (lane & 32) + from + 1, "FFT {mask} lane {lane}");
        }
    }
    let offsets: Vec<u32> = (0xc000..0xc800).filter(|offset| offset % 7 == 0).collect();
    let rotations: Vec<String> = offsets.iter().map(|&offset| swizzle(offset)).collect();
    for (offset, got) in offsets.iter().zip(run("gfx1100", 32, &rotations)) {
        let (mask, by) = (offset & 31, offset >> 5 & 31);
        for (lane, value) in got.into_iter().enumerate() {
            let lane = lane as u32;
            let turned = match offset >> 10 & 1 {
                0 => (lane + by) % 32,
                _ => (lane + 32 - by) % 32,
            };
            let from = (0..5).fold(0, |bits, at| {
                let source = if mask >> at & 1 == 1 { lane } else { turned };
                bits | source & 1 << at
            });
            assert_eq!(value, from + 1, "rotation {offset:#x} lane {lane}");
        }
    }
}

/// Lanes that a number names, some lanes off: of those that write to one lane, the last wins, and
/// those that are off are read as zero.
#[test]
fn lanes_are_named_by_numbers() {
    const EXEC: u32 = 0x6db6_9c35;
    let on = |lane: usize| lane >= 32 || EXEC >> lane & 1 == 1;
    // The lane's own number times so many bytes.
    let texts = [
        (2, "ds_permute_b32 v4, v5, v3"),
        (52, "ds_permute_b32 v4, v5, v3"),
        (52, "ds_bpermute_b32 v4, v5, v3"),
        (52, "ds_bpermute_b32 v4, v5, v3 offset:8"),
        (0, "ds_swizzle_b32 v4, v3 offset:swizzle(SWAP,16)"),
    ];
    let bodies = texts.map(|(bytes, text)| {
        format!("v_mul_u32_u24 v5, {bytes}, v1\ns_mov_b32 exec_lo, {EXEC:#x}\n{text}")
    });
    for (chip, wave) in WAVES {
        // RDNA 3's numbers are those of a half of a wave of 64.
        let reach = match chip {
            "gfx1100" | "gfx1151" => 32,
            _ => wave,
        };
        for (&(bytes, text), got) in texts.iter().zip(run(chip, wave, &bodies)) {
            let named = |lane: usize| {
                let offset = if text.ends_with(":8") { 2 } else { 0 };
                lane / reach * reach + (bytes * lane / 4 + offset) % reach
            };
            let mut expected = vec![0; wave];
            for lane in (0..wave).filter(|&lane| on(lane)) {
                let (to, from) = match () {
                    () if text.starts_with("ds_p") => (named(lane), lane),
                    () if text.starts_with("ds_b") => (lane, named(lane)),
                    () => (lane, lane ^ 16),
                };
                expected[to] = if on(from) { from as u32 + 1 } else { 0 };
            }
            // Nothing is written to lanes that are off.
            for lane in (0..wave).filter(|&lane| !on(lane)) {
                expected[lane] = 0;
            }
            assert_eq!(got, expected, "{chip} {wave} {text} of {bytes} bytes");
        }
    }
}

#[test]
fn halves_of_a_wave_trade_places() {
    for (chip, wave) in WAVES {
        if chip == "gfx950" {
            continue;
        }
        let off = match wave {
            64 => "s_mov_b32 exec_lo, 0xff\ns_mov_b32 exec_hi, 0x100",
            _ => "s_mov_b32 exec_lo, 0xff",
        };
        let got = run(chip, wave, &[format!("{off}\nv_permlane64_b32 v4, v3")]);
        let expected: Vec<u32> = (0..wave as u32)
            .map(|lane| match (wave, lane) {
                // Lanes that are off are read, and not written.
                (64, 0..8 | 40) => (lane ^ 32) + 1,
                _ => 0,
            })
            .collect();
        assert_eq!(got, [expected], "{chip} {wave}");
    }
}

/// Lanes of a row, or of the opposite one, picked by each lane's own value, where some are off.
#[test]
fn lanes_are_picked_by_own_values() {
    const EXEC: u32 = 0x0ff1_3c35;
    for wave in [32, 64] {
        // Bits of the selector past the lowest four do not count.
        let bodies: Vec<String> = ["v_permlane16_var_b32", "v_permlanex16_var_b32"]
            .into_iter()
            .flat_map(|name| {
                [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[inactive, bound]| {
                    format!(
                        "v_mul_u32_u24 v5, 7, v1\nv_mov_b32 v4, 99\ns_mov_b32 s20, 1\n\
                         s_sleep_var s20\ns_mov_b32 exec_lo, {EXEC:#x}\n\
                         {name} v4, v3, v5 op_sel:[{inactive},{bound}]"
                    )
                })
            })
            .collect();
        let on = |lane: usize| lane >= 32 || EXEC >> lane & 1 == 1;
        for (at, got) in run("gfx1201", wave, &bodies).into_iter().enumerate() {
            let (opposite, bound, inactive) = (at / 4 * 16, at / 2 % 2 == 1, at % 2 == 1);
            for (lane, got) in got.into_iter().enumerate() {
                let from = (lane / 16 * 16 + 7 * lane % 16) ^ opposite;
                let expected = match on(lane) {
                    false => 99,
                    true if on(from) || inactive => from as u32 + 1,
                    true if bound => 0,
                    true => 99,
                };
                assert_eq!(got, expected, "{wave} lane {lane}: {}", bodies[at]);
            }
        }
    }
}
