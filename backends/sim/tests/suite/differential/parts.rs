//! The forms DPP, which reads a source from other lanes, and SDWA, which takes and writes parts of
//! registers.

use std::rc::Rc;

use super::forms::{Entry, Source, written};
use super::harness::{After, Case, Kind};

/// Which lane a lane reads its first source from.
type Route = fn(usize) -> Option<usize>;

/// A DPP control, its route, and whether a lane without a source reads zero.
const DPP: &[(&str, Route, bool)] = &[
    (
        "quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
        |l| Some(l ^ 1),
        false,
    ),
    (
        "row_half_mirror row_mask:0xf bank_mask:0xf",
        |l| Some(l ^ 7),
        false,
    ),
    (
        "row_mirror row_mask:0xf bank_mask:0xf",
        |l| Some(l ^ 15),
        false,
    ),
    (
        "row_ror:3 row_mask:0xf bank_mask:0xf",
        |l| Some(l & !15 | (l + 13) & 15),
        false,
    ),
    (
        "row_shr:2 row_mask:0xf bank_mask:0xf",
        |l| (l % 16 >= 2).then(|| l - 2),
        false,
    ),
    (
        "row_shl:4 row_mask:0xf bank_mask:0xf",
        |l| (l % 16 < 12).then(|| l + 4),
        false,
    ),
    (
        "row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:{0}",
        |l| (l % 16 >= 1).then(|| l - 1),
        true,
    ),
    // Rows and banks of four lanes that are left alone.
    (
        "quad_perm:[3,3,3,3] row_mask:0x5 bank_mask:0xa",
        |l| (l / 16 % 2 == 0 && l / 4 % 2 == 1).then_some(l | 3),
        false,
    ),
];
const DPP_RDNA: &[(&str, Route, bool)] = &[
    (
        "row_xmask:5 row_mask:0xf bank_mask:0xf",
        |l| Some(l ^ 5),
        false,
    ),
    (
        "row_share:9 row_mask:0xf bank_mask:0xf",
        |l| Some(l & !15 | 9),
        false,
    ),
];
const DPP_CDNA: &[(&str, Route, bool)] = &[
    (
        "row_newbcast:3 row_mask:0xf bank_mask:0xf",
        |l| Some(l & !15 | 3),
        false,
    ),
    (
        "row_bcast:15 row_mask:0xf bank_mask:0xf",
        |l| (l >= 16).then(|| (l & !15) - 1),
        false,
    ),
    (
        "row_bcast:31 row_mask:0xc bank_mask:0xf",
        |l| (l >= 32).then_some(31),
        false,
    ),
];
/// The only one of 64-bit operations.
const DPP_WIDE: &[(&str, Route, bool)] = &[DPP_CDNA[0]];

/// Destination and source parts of SDWA, and what becomes of the other bits.
const SDWA: &[[&str; 4]] = &[
    ["DWORD", "UNUSED_PAD", "DWORD", "DWORD"],
    ["DWORD", "UNUSED_PAD", "WORD_1", "WORD_0"],
    ["DWORD", "UNUSED_PAD", "BYTE_3", "BYTE_1"],
    ["WORD_1", "UNUSED_PRESERVE", "DWORD", "WORD_1"],
    ["BYTE_2", "UNUSED_PAD", "BYTE_0", "DWORD"],
    ["WORD_0", "UNUSED_SEXT", "WORD_1", "WORD_1"],
    ["BYTE_1", "UNUSED_SEXT", "BYTE_2", "BYTE_3"],
];

fn part(name: &str, value: u64) -> u64 {
    match name.split_once('_') {
        Some(("BYTE", at)) => value >> (8 * at.parse::<u32>().unwrap()) & 0xff,
        Some((_, at)) => value >> (16 * at.parse::<u32>().unwrap()) & 0xffff,
        None => value & 0xffff_ffff,
    }
}

/// The register after a part of it was written.
fn merge(to: &str, unused: &str, value: u64, old: u64) -> u64 {
    let (shift, bits) = match to.split_once('_') {
        Some(("BYTE", at)) => (8 * at.parse::<u32>().unwrap(), 8),
        Some((_, at)) => (16 * at.parse::<u32>().unwrap(), 16),
        None => return value & 0xffff_ffff,
    };
    let field = (1_u64 << bits) - 1;
    let low = (value & field) << shift;
    match unused {
        "UNUSED_PRESERVE" => old & 0xffff_ffff & !(field << shift) | low,
        "UNUSED_SEXT" if value >> (bits - 1) & 1 == 1 => {
            low | 0xffff_ffff & !((1_u64 << (shift + bits)) - 1)
        }
        _ => low,
    }
}

pub fn dpp(entry: &Rc<Entry>, chip: &str, cases: &mut Vec<Case>) {
    let sources = entry.sources();
    let texts: Vec<String> = sources.iter().map(|source| written(source, None)).collect();
    let own = if chip.starts_with("gfx9") {
        DPP_CDNA
    } else {
        DPP_RDNA
    };
    let all: Vec<_> = match entry.bits {
        64 => DPP_WIDE.to_vec(),
        // Controls are the same for all: some instructions stand for the others.
        _ if ["v_add_f32", "v_mov_b32", "v_add_u16"].contains(&entry.name.as_str()) => {
            [DPP, own].concat()
        }
        _ => vec![DPP[0], DPP[4], DPP[6], DPP[7]],
    };
    for (control, route, zero) in all {
        // gfx9 writes the bit that is set as 0.
        let set = if chip.starts_with("gfx9") { "0" } else { "1" };
        let control = control.replace("{0}", set);
        let text = entry.text("_dpp", &texts, &format!(" {control}"));
        let (sources, entry) = (sources.clone(), entry.clone());
        cases.push(Case {
            before: entry.before,
            text,
            kind: entry.kind,
            model: Rc::new(move |lane| {
                let old = entry.old(lane);
                let mut values = [0; 3];
                for (at, source) in sources.iter().enumerate() {
                    values[at] = match (at, route(lane.at)) {
                        (0, Some(from)) => source.read(&lane.other(from)),
                        (0, None) if zero => 0,
                        (0, None) => {
                            return After {
                                value: old,
                                mask: false,
                            };
                        }
                        _ => source.read(lane),
                    };
                }
                let (value, mask) = (entry.op)(values, lane);
                After {
                    value: entry.place(value, old),
                    mask,
                }
            }),
        });
    }
}

pub fn sdwa(entry: &Rc<Entry>, cases: &mut Vec<Case>) {
    let sources = entry.sources();
    for &[to, unused, first, second] in SDWA {
        // Parts of a float that is not compared bit by bit say nothing, nor does a NaN's sign.
        let close = matches!(entry.kind, Kind::Close32 | Kind::Close16);
        if to != "DWORD" && close || unused == "UNUSED_SEXT" && entry.kind == Kind::F16 {
            continue;
        }
        // Signs of numbers are spread by sext; floats have their own modifiers.
        for modified in [false, true] {
            let text = |source: &Source| {
                let name = written(source, None);
                match (modified, source.float()) {
                    (false, _) => name,
                    (true, false) => format!("sext({name})"),
                    (true, true) => format!("-|{name}|"),
                }
            };
            let texts: Vec<String> = sources.iter().map(text).collect();
            let mut tail = String::new();
            if entry.bits != 0 {
                tail += &format!(" dst_sel:{to} dst_unused:{unused}");
            }
            for (at, part) in [first, second].into_iter().take(sources.len()).enumerate() {
                tail += &format!(" src{at}_sel:{part}");
            }
            let text = entry.text("_sdwa", &texts, &tail);
            let (sources, entry) = (sources.clone(), entry.clone());
            cases.push(Case {
                before: entry.before,
                text,
                kind: match (to, entry.kind) {
                    ("DWORD", kind) | ("WORD_1" | "WORD_0", kind @ Kind::F16) => kind,
                    // The part of a float that another takes is compared as it is.
                    (_, Kind::F32) => Kind::Bits,
                    (_, kind) => kind,
                },
                model: Rc::new(move |lane| {
                    let mut values = [0; 3];
                    for (at, source) in sources.iter().enumerate() {
                        let name = [first, second][at];
                        let whole = source.read(lane);
                        let mut value = part(name, whole);
                        let bits = match name.split_once('_') {
                            Some(("BYTE", _)) => 8,
                            Some(_) => 16,
                            None => 32,
                        };
                        if modified && !source.float() {
                            let up = 64 - bits;
                            value = ((value << up) as i64 >> up) as u64 & 0xffff_ffff;
                        }
                        if modified && source.float() {
                            let sign = 1_u64 << (source.bits() - 1);
                            value |= sign;
                        }
                        values[at] = value;
                    }
                    let (value, mask) = (entry.op)(values, lane);
                    let old = entry.old(lane);
                    let value = match entry.bits {
                        0 => old,
                        16 if to == "DWORD" => entry.place(value, old),
                        _ => old & !0xffff_ffff | merge(to, unused, value, old),
                    };
                    After { value, mask }
                }),
            });
        }
    }
}
