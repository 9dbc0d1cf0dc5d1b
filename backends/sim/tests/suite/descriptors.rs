//! Where buffer descriptors put a lane's bytes: swizzled structures, indices that count from the
//! lane, and the rules by which a descriptor says what is in range, atomics among it.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{Bytes, build, words};

/// The words that lanes load by an instruction, or all of them by a scalar one from an offset
/// (`SCALAR 4`), with a descriptor that adds `first` and `third` to
/// the address's upper half and the last word; v1 is the lane, v2 four times it.
fn load(chip: &str, [first, records, third]: [u32; 3], operands: &str) -> Vec<u32> {
    let access = match operands.strip_prefix("SCALAR ") {
        Some(offset) => format!(
            "s_buffer_load_dword s13, s[8:11], {:#x}\n{{scalar}}\nv_mov_b32 v3, s13",
            offset.parse::<u32>().expect("a number")
        ),
        None => format!("buffer_load_dword v3, {operands}"),
    };
    let text = format!(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_and_b32 v1, 0x3ff, v0\nv_lshlrev_b32 v2, 2, v1\n\
         v_mov_b32 v16, v1\nv_mov_b32 v17, 4\n{{scalar}}\ns_mov_b32 s8, s4\n\
         s_or_b32 s9, s5, {first:#x}\ns_mov_b32 s10, {records}\ns_mov_b32 s11, {third:#x}\n\
         s_movk_i32 s12, 0x10\n{access}\n{{load}}\n\
         global_store_dword v2, v3, s[6:7]"
    );
    let text = match chip {
        "gfx950" => text,
        _ => text
            .replace("s_load_dwordx4", "s_load_b128")
            .replace("_dword ", "_b32 "),
    };
    let object = build::kernel(
        chip,
        &text.replace("ZERO", if chip == "gfx1201" { "null" } else { "0" }),
    );
    let mut simulator = Simulator::new();
    let input: Vec<u32> = (0x1000..0x4000).collect();
    let a = simulator.memory.alloc_input(&input.bytes());
    let lanes = if chip == "gfx950" { 64 } else { 32 };
    let b = simulator.memory.alloc_output(4 * lanes as usize);
    let launch = Launch {
        block: [lanes, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{chip}: {:#?}", report.findings);
    words(&simulator.memory.read(b))
}

/// Which of the input's words each lane got; zero where it was out of range.
fn check(chip: &str, descriptor: [u32; 3], operands: &str, word: impl Fn(u32) -> Option<u32>) {
    for (lane, found) in (0..).zip(load(chip, descriptor, operands)) {
        let expected = word(lane).map_or(0, |word| 0x1000 + word);
        assert_eq!(
            found, expected,
            "{chip} {descriptor:x?} {operands} lane {lane}"
        );
    }
}

const RDNA: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

/// Words of structures whose elements lie together by groups of structures, as an array of them in
/// their order in memory: groups, elements of a structure, structures of a group, words.
fn swizzled(words: u32, element: u32, group: u32) -> Vec<(u32, u32)> {
    let mut places = Vec::new();
    for first in (0..64).step_by(group as usize) {
        for element_at in 0..words / element {
            for structure in first..first + group {
                places.extend((0..element).map(|word| (structure, element_at * element + word)));
            }
        }
    }
    places
}

#[test]
fn swizzled_structures() {
    // Structures of 32 bytes; the second word of each, and the one that an offset names.
    for (bits, group) in [(0, 8), (1, 16), (2, 32), (3, 64)] {
        let index_stride = bits << 21;
        let chips = [
            ("gfx950", 1 << 31, 1),
            ("gfx1100", 1 << 30, 1),
            ("gfx1151", 2 << 30, 2),
            ("gfx1201", 3 << 30, 4),
        ];
        for (chip, enable, element) in chips {
            let places = swizzled(8, element, group);
            let at = |place| {
                places
                    .iter()
                    .position(|&other| other == place)
                    .map(|at| at as u32)
            };
            let first = enable | 32 << 16;
            let descriptor = [first, 20, index_stride];
            check(
                chip,
                descriptor,
                "v1, s[8:11], ZERO idxen offset:4",
                |lane| at((lane, 1)).filter(|_| lane < 20),
            );
            let operands = "v[16:17], s[8:11], ZERO idxen offen offset:20";
            check(chip, descriptor, operands, |lane| {
                at((lane, 6)).filter(|_| lane < 20)
            });
            // The scalar offset moves the whole.
            let operands = "v1, s[8:11], s12 idxen offset:4";
            check(chip, descriptor, operands, |lane| {
                at((lane, 1)).filter(|_| lane < 20).map(|word| word + 4)
            });
        }
    }
    // gfx9 leaves the bit beside it to its caches.
    check(
        "gfx950",
        [1 << 30 | 32 << 16, 20, 0],
        "v1, s[8:11], 0 idxen offset:4",
        |lane| (lane < 20).then_some(8 * lane + 1),
    );
}

#[test]
fn lanes_that_are_indices() {
    let add = 1 << 23;
    for chip in RDNA {
        let rule = 1 << 28;
        check(
            chip,
            [8 << 16, 20, add | rule],
            "off, s[8:11], ZERO offset:4",
            |lane| (lane < 20).then_some(2 * lane + 1),
        );
        check(
            chip,
            [8 << 16, 20, add | rule],
            "v1, s[8:11], ZERO idxen",
            |lane| (2 * lane < 20).then_some(4 * lane),
        );
    }
    check(
        "gfx950",
        [8 << 16, 20, add],
        "off, s[8:11], 0 offset:4",
        |lane| (lane < 20).then_some(2 * lane + 1),
    );
    // There the data format is the stride's upper part: 1 << 14 bytes, of which two lanes have some.
    check(
        "gfx950",
        [0, 2, add | 1 << 15],
        "off, s[8:11], 0 offset:4",
        |lane| (lane < 2).then_some(4096 * lane + 1),
    );
}

#[test]
fn rules_of_range() {
    let stride = 16 << 16;
    let idxen = "v1, s[8:11], ZERO idxen offset:4";
    let both = "v[1:2], s[8:11], ZERO idxen offen";
    for chip in RDNA {
        // By index and offset, by index, not at all, by bytes.
        check(chip, [stride, 20, 0], idxen, |lane| {
            (lane < 20).then_some(4 * lane + 1)
        });
        check(chip, [stride, 20, 0], both, |lane| {
            (lane < 4).then_some(5 * lane)
        });
        check(chip, [stride, 20, 1 << 28], both, |lane| {
            (lane < 20).then_some(5 * lane)
        });
        check(chip, [stride, 1, 2 << 28], both, |lane| Some(5 * lane));
        check(chip, [stride, 0, 2 << 28], both, |_| None);
        check(chip, [stride, 20, 3 << 28], both, |lane| {
            (lane < 5).then_some(5 * lane)
        });
        // By bytes, but of swizzled structures.
        check(
            chip,
            [1 << 30 | stride, 20, 3 << 28],
            "v1, s[8:11], ZERO idxen offset:16",
            |_| None,
        );
        // Without a stride nothing lies within it.
        check(chip, [0, 4096, 0], "v2, s[8:11], ZERO offen", |_| None);
        check(chip, [0, 80, 3 << 28], "v2, s[8:11], ZERO offen", |lane| {
            (lane < 20).then_some(lane)
        });
    }
}

#[test]
fn scalar_loads_count_all_bytes_of_the_records() {
    for chip in ["gfx950", "gfx1100", "gfx1151", "gfx1201"] {
        for rule in 0..4 {
            for (stride, records, offset, word) in [
                (16, 100, 400, Some(100)),
                (16, 100, 1596, Some(399)),
                (16, 100, 1600, None),
                (0, 80, 76, Some(19)),
                (0, 80, 80, None),
            ] {
                let third = if chip == "gfx950" { 0 } else { rule << 28 };
                let descriptor = [stride << 16, records, third];
                let found = load(chip, descriptor, &format!("SCALAR {offset}"));
                let expected = word.map_or(0, |word| 0x1000 + word);
                assert!(
                    found.iter().all(|&found| found == expected),
                    "{chip} {rule} {offset}"
                );
            }
        }
    }
}

#[test]
fn atomics_are_in_range_as_a_whole() {
    // Of the third lane's two words the first is in range.
    for (name, swaps) in [
        ("buffer_atomic_add_u64 v[8:9]", false),
        ("buffer_atomic_cmpswap_b64 v[8:11]", true),
    ] {
        for chip in RDNA {
            let (zero, returns) = match chip {
                "gfx1201" => ("null", "th:TH_ATOMIC_RETURN"),
                _ => ("0", "glc"),
            };
            let text = format!(
                "s_load_b128 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v2, 3, v0\nv_mov_b32 v8, 5\n\
                 v_mov_b32 v9, 7\nv_lshlrev_b32 v10, 1, v0\nv_or_b32 v11, 1, v10\n{{scalar}}\n\
                 s_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_mov_b32 s10, 20\ns_mov_b32 s11, 3 << 28\n\
                 {name}, v2, s[8:11], {zero} offen {returns}\n{{load}}\n\
                 global_store_b64 v2, v[8:9], s[6:7]"
            );
            let mut simulator = Simulator::new();
            let start = Vec::from_iter(0..64_u32);
            let a = simulator.memory.alloc_inout(&start.bytes());
            let b = simulator.memory.alloc_output(256);
            let launch = Launch {
                block: [32, 1, 1],
                args: vec![Arg::Buffer(a), Arg::Buffer(b)],
                ..Launch::default()
            };
            let object = build::kernel(chip, &text);
            let report = simulator.launch(&object, "k", launch).unwrap();
            assert!(report.passed(), "{chip}: {:#?}", report.findings);
            let after = words(&simulator.memory.read(a));
            let returned = words(&simulator.memory.read(b));
            for word in 0..64 {
                let (old, operand) = (word as u32, [5, 7][word % 2]);
                let expected = match word < 4 {
                    true if swaps => (operand, old),
                    true => (old + operand, old),
                    false => (old, 0),
                };
                assert_eq!(
                    (after[word], returned[word]),
                    expected,
                    "{chip} {name} {word}"
                );
            }
        }
    }
}
