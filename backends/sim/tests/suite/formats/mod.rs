//! Buffer accesses with formats against a model of their own: every format, each number of
//! components, in registers and in halves of them.

mod model;

use tilefold_sim::{Arg, Check, CodeObject, Launch, Simulator};

use crate::differential::numbers::f16_bits;
use crate::{Bytes, Numbers, build, words};
use model::{Format, formats};

const CHIPS: [&str; 4] = ["gfx1100", "gfx1151", "gfx1201", "gfx950"];

/// An access with its format.
#[derive(Debug, Clone, Copy)]
struct Case {
    format: Format,
    components: usize,
    half: bool,
    /// Which components a resource selects; none where the instruction has the format.
    selects: Option<[u32; 4]>,
}

impl Case {
    /// The lines of the access, of registers from v4 on at byte v1 of the resource in s[8:11].
    fn text(&self, chip: &str, deed: &str) -> String {
        let name = &"xyzw"[..self.components];
        let registers = match self.half {
            true => self.components.div_ceil(2),
            false => self.components,
        };
        let operands = format!(
            "v[4:{}], v1, s[8:11], {}",
            3 + registers,
            if chip == "gfx1201" { "null" } else { "0" }
        );
        let middle = match (self.half, chip) {
            (false, _) => format!("{deed}_format_{name}"),
            (true, "gfx950") => format!("{deed}_format_d16_{name}"),
            (true, _) => format!("{deed}_d16_format_{name}"),
        };
        match self.selects {
            None => format!(
                "tbuffer_{middle} {operands} {} offen",
                self.format.text(chip)
            ),
            Some(selects) => {
                let selects = (0..4).fold(0, |word, at| word | selects[at] << (3 * at));
                let word = self.format.code(chip) | selects;
                format!("s_mov_b32 s11, 0x3{word:07x}\nbuffer_{middle} {operands} offen")
            }
        }
    }

    /// What four registers hold after a load from words.
    fn loaded(&self, words: &[u32]) -> [u32; 4] {
        let mut registers = [0; 4];
        for at in 0..self.components {
            let value = match self.selects.map_or(4 + at as u32, |selects| selects[at]) {
                0 => 0,
                1 if self.format.is_integer() => 1,
                1 if self.half => 0x3c00,
                1 => 0x3f80_0000,
                select if select as usize - 4 >= self.format.sizes.len() => 0,
                select => {
                    let at = select as usize - 4;
                    let bits = self.format.bits_of(words, at);
                    self.format.loaded(at, bits, self.half)
                }
            };
            match self.half {
                true => registers[at / 2] |= value << (16 * (at % 2)),
                false => registers[at] = value,
            }
        }
        registers
    }
}

fn word(numbers: &mut Numbers) -> u32 {
    let random = numbers.next();
    match numbers.next() % 5 {
        // Around -1 to 1 as f32, and as two f16.
        0 => ((random as i32 as f32) / 2_f32.powi(30)).to_bits(),
        1 => {
            let half = |bits: u32| f16_bits(f64::from(bits as u16 as i16) / 16384.0);
            half(random) | half(random >> 16) << 16
        }
        2 => ((random as i32 >> (random % 32)) as f32 + 0.5).to_bits(),
        3 => [
            0,
            0x8000_0000,
            0x7f80_0000,
            0xffc0_0000,
            0x8080_8080,
            0x8000_8000,
            0x7c00_fc00,
            0x7e01_8001,
            0x7f7f_7f7f,
            0xffff_ffff,
            // Their fractions lie so near the middle of two f16 that an f32 is in it.
            0xffef_ffef,
            0x8009_7ff7,
        ][random as usize % 12],
        _ => random,
    }
}

/// A kernel of a body between the setup of v1, lane times 16, and nothing: the first argument's
/// address is in s[4:5], the second's in s[6:7].
fn kernel(chip: &str, wave: usize, body: &str) -> CodeObject {
    let text = format!(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 4, v0\n\
         {{scalar}}\n{body}"
    );
    let text = match chip {
        "gfx950" => text,
        _ => text
            .replace("dwordx4", "b128")
            .replace("v_add_u32", "v_add_nc_u32"),
    };
    build::kernel_in(chip, wave, &text)
}

const LANES: usize = 64;

/// The words of the second buffer, of which each case has four for each lane.
fn run(object: &CodeObject, x: &[u32], bytes: usize) -> Vec<u32> {
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&x.bytes());
    let b = simulator.memory.alloc_inout(&vec![0; bytes]);
    let launch = Launch {
        block: [LANES as u32, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    words(&simulator.memory.read(b))
}

fn waves(chip: &str) -> &'static [usize] {
    if chip == "gfx950" { &[64] } else { &[32, 64] }
}

/// The resource of a pointer.
fn resource(pointer: usize, bytes: usize) -> String {
    format!(
        "s_mov_b32 s8, s{pointer}\ns_mov_b32 s9, s{}\ns_mov_b32 s10, {bytes}\ns_mov_b32 s11, 0x30000000\n",
        pointer + 1
    )
}

const IDENTITY: [u32; 4] = [4, 5, 6, 7];

/// Every format with each number of components from the least on, in registers and in halves: named
/// by the instruction, by the resource, and, given numbers, with components that these select.
fn cases(least: impl Fn(Format) -> usize, mut numbers: Option<&mut Numbers>) -> Vec<Case> {
    let mut cases = Vec::new();
    for format in formats() {
        for components in least(format)..=4 {
            for half in [false, true].into_iter().filter(|&half| format.fits(half)) {
                let mut all = vec![None, Some(IDENTITY)];
                if let Some(numbers) = &mut numbers {
                    let select = [0, 1, 4, 5, 6, 7];
                    all.push(Some([(); 4].map(|()| select[numbers.next() as usize % 6])));
                }
                cases.extend(all.into_iter().map(|selects| Case {
                    format,
                    components,
                    half,
                    selects,
                }));
            }
        }
    }
    cases
}

#[test]
fn loads_convert_from_every_format() {
    let mut numbers = Numbers(5);
    let cases = cases(|_| 1, Some(&mut numbers));
    let x = Vec::from_iter((0..4 * LANES).map(|_| word(&mut numbers)));
    for chip in CHIPS {
        for &wave in waves(chip) {
            let mut body = resource(4, 4 * x.len()) + "v_mov_b32 v2, v1\n";
            let store = match chip {
                "gfx950" => "global_store_dwordx4",
                _ => "global_store_b128",
            };
            for case in &cases {
                body += "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_mov_b32 v6, 0\nv_mov_b32 v7, 0\n";
                body += &format!(
                    "{}\n{{load}}\n{store} v2, v[4:7], s[6:7]\nv_add_u32 v2, 0x400, v2\n{{store}}\n",
                    case.text(chip, "load")
                );
            }
            let got = run(&kernel(chip, wave, &body), &x, 0x400 * cases.len());
            for (case, got) in cases.iter().zip(got.chunks(4 * LANES)) {
                for (got, x) in got.chunks(4).zip(x.chunks(4)) {
                    let expected = case.loaded(x);
                    for (got, expected) in got.iter().zip(expected) {
                        let (bits, count) = if case.half { (16, 2) } else { (32, 1) };
                        for at in 0..count {
                            let [got, expected] = [*got, expected]
                                .map(|word| word >> (16 * at) & (u32::MAX >> (32 - bits)));
                            assert!(
                                case.format.same(got, expected, bits),
                                "{chip} {wave} {case:?} of {x:x?}: {got:#x} {expected:#x}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn stores_convert_to_every_format() {
    let mut numbers = Numbers(6);
    let cases = cases(|format| format.sizes.len(), None);
    let x = Vec::from_iter((0..4 * LANES).map(|_| word(&mut numbers)));
    for chip in CHIPS {
        for &wave in waves(chip) {
            let load = match chip {
                "gfx950" => "global_load_dwordx4",
                _ => "global_load_b128",
            };
            let mut body = resource(6, 0x400 * cases.len());
            body += &format!("{load} v[4:7], v1, s[4:5]\n{{load}}\n");
            for case in &cases {
                body += &format!("{}\nv_add_u32 v1, 0x400, v1\n", case.text(chip, "store"));
            }
            let got = run(&kernel(chip, wave, &body), &x, 0x400 * cases.len());
            for (case, got) in cases.iter().zip(got.chunks(4 * LANES)) {
                let format = case.format;
                for (got, x) in got.chunks(4).zip(x.chunks(4)) {
                    for (at, &size) in format.sizes.iter().enumerate() {
                        let register = match case.half {
                            true => x[at / 2] >> (16 * (at % 2)) & 0xffff,
                            false => x[at],
                        };
                        let expected = format.stored(at, register, case.half);
                        let stored = format.bits_of(got, at);
                        assert!(
                            format.same(stored, expected, size),
                            "{chip} {wave} {case:?} of {x:x?}: {stored:#x} {expected:#x}"
                        );
                    }
                    let used = format.bits() as usize;
                    let rest = got.iter().enumerate().all(|(at, word)| match used {
                        _ if 32 * at >= used => *word == 0,
                        ..32 => word >> used == 0,
                        _ => true,
                    });
                    assert!(rest, "{chip} {wave} {case:?}: {got:x?}");
                }
            }
        }
    }
}

#[test]
fn high_halves_are_loaded_and_stored() {
    let mut numbers = Numbers(7);
    let x = Vec::from_iter((0..4 * LANES).map(|_| word(&mut numbers)));
    let formats: Vec<Format> = formats()
        .into_iter()
        .filter(|format| format.sizes.len() == 1 && format.fits(true))
        .collect();
    for chip in CHIPS {
        let (load, store, soffset) = match chip {
            "gfx950" => (
                "buffer_load_format_d16_hi_x",
                "buffer_store_format_d16_hi_x",
                "0",
            ),
            "gfx1201" => (
                "buffer_load_d16_hi_format_x",
                "buffer_store_d16_hi_format_x",
                "null",
            ),
            _ => (
                "buffer_load_d16_hi_format_x",
                "buffer_store_d16_hi_format_x",
                "0",
            ),
        };
        for &wave in waves(chip) {
            // A word that a load leaves, the element that the load's word stores.
            let mut body = "v_mov_b32 v2, v1\n".to_owned();
            for format in &formats {
                let code = format.code(chip) | IDENTITY[0];
                body += &resource(4, 4 * x.len());
                body += &format!(
                    "s_mov_b32 s11, 0x3{code:07x}\nv_mov_b32 v4, 0x12345678\n\
                     {load} v4, v1, s[8:11], {soffset} offen\n{{load}}\n\
                     global_store_dword v2, v4, s[6:7]\n"
                );
                body += &resource(6, 0x400 * formats.len());
                body += &format!(
                    "s_mov_b32 s11, 0x3{code:07x}\nglobal_load_dword v5, v1, s[4:5]\n{{load}}\n\
                     {store} v5, v2, s[8:11], {soffset} offen offset:4\n\
                     {{store}}\nv_add_u32 v2, 0x400, v2\n"
                );
            }
            let body = match chip {
                "gfx950" => body,
                _ => body.replace("dword", "b32"),
            };
            let got = run(&kernel(chip, wave, &body), &x, 0x400 * formats.len());
            for (format, got) in formats.iter().zip(got.chunks(4 * LANES)) {
                for (got, x) in got.chunks(4).zip(x.chunks(4)) {
                    let what = format!("{chip} {wave} {format:?} of {:#x}: {got:x?}", x[0]);
                    let loaded = format.loaded(0, format.bits_of(x, 0), true);
                    assert!(format.same(got[0] >> 16, loaded, 16), "{what}");
                    assert_eq!(got[0] & 0xffff, 0x5678, "{what}");
                    let stored = format.stored(0, x[0] >> 16, true);
                    assert!(format.same(got[1], stored, format.sizes[0]), "{what}");
                    assert_eq!(got[2..], [0; 2], "{what}");
                }
            }
        }
    }
}

#[test]
fn elements_are_in_range_as_a_whole() {
    let x = [7_u32; 4 * LANES];
    let vectors = Format {
        layout: "32_32_32_32",
        sizes: &[32; 4],
        number: "UINT",
        codes: [14 << 15 | 4 << 12, 61 << 12],
    };
    for chip in CHIPS {
        let case = |selects| Case {
            format: vectors,
            components: 4,
            half: false,
            selects: Some(selects),
        };
        let (store, wait) = match chip {
            "gfx950" => ("global_store_dwordx4", "{load}"),
            _ => ("global_store_b128", "{load}"),
        };
        // Of the last lane's element one word is outside.
        let body = resource(4, 16 * LANES - 4)
            + &case([4, 1, 0, 7]).text(chip, "load")
            + &format!("\n{wait}\n{store} v1, v[4:7], s[6:7]\n{{store}}\n")
            + &resource(6, 32 * LANES - 4)
            + "v_add_u32 v1, 0x400, v1\n"
            + &case(IDENTITY).text(chip, "store");
        let got = run(&kernel(chip, 64, &body), &x, 0x800);
        for (lane, got) in got.chunks(4).enumerate() {
            let (expected, stored) = ([7, 1, 0, 7], lane >= LANES);
            match lane % LANES == LANES - 1 {
                true if stored => assert_eq!(got, [0; 4], "{chip}"),
                true => assert_eq!(got, [0, 1, 0, 0], "{chip}"),
                false => assert_eq!(got, expected, "{chip} {lane}"),
            }
        }
    }
}

#[test]
fn what_is_not_simulated_is_an_error() {
    let soffset = |chip: &str| if chip == "gfx1201" { "null" } else { "0" };
    for chip in CHIPS {
        let later = usize::from(chip != "gfx950");
        let zero = soffset(chip);
        for (text, word, reason) in [
            // No format, or on gfx9 also one without a meaning: 10_11_11_UNORM.
            ("buffer_load_format_x v4", [0, 0], "not simulated"),
            ("buffer_load_format_x v4", [6 << 15, 0], "not simulated"),
            // 8_8_8_8_UNORM.
            (
                "buffer_store_format_x v4",
                [10 << 15, 42 << 12],
                "fewer components",
            ),
            // 8_UNORM, whose component is the second.
            (
                "buffer_store_format_x v4",
                [1 << 15 | 5, 1 << 12 | 5],
                "selected components",
            ),
        ] {
            let word = word[later] | if word[later] & 7 == 0 { 4 } else { 0 };
            let body = resource(4, 64)
                + &format!("s_mov_b32 s11, 0x3{word:07x}\n{text}, v1, s[8:11], {zero} offen");
            let mut simulator = Simulator::new();
            let a = simulator.memory.alloc_inout(&[0; 1024]);
            let launch = Launch {
                block: [LANES as u32, 1, 1],
                args: vec![Arg::Buffer(a), Arg::Buffer(a)],
                ..Launch::default()
            };
            let error = simulator.launch(&kernel(chip, 64, &body), "k", launch);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(reason), "{chip} {text}: {error}");
        }
        let format = match chip {
            "gfx950" => "[BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_UNORM]",
            _ => "0",
        };
        let body = format!("tbuffer_load_format_x v4, off, s[8:11], {zero} format:{format}");
        let object = build::kernel(chip, &body);
        assert_eq!(object.unsupported("k").unwrap().len(), 1, "{chip}");
    }
}

#[test]
fn loads_with_formats_are_waited_for() {
    for chip in CHIPS {
        let case = Case {
            format: formats()[0],
            components: 2,
            half: false,
            selects: None,
        };
        let body = resource(4, 1024) + &case.text(chip, "load") + "\nv_mov_b32 v8, v5";
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_inout(&[0; 1024]);
        let launch = Launch {
            block: [LANES as u32, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(a)],
            ..Launch::default()
        };
        let report = simulator
            .launch(&kernel(chip, 64, &body), "k", launch)
            .unwrap();
        assert_eq!(report.findings[0].check, Check::MissingWait, "{chip}");
    }
}
