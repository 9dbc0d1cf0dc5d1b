//! Atomic operations of RDNA in global memory and in LDS: subtractions that stop at zero or do not
//! happen, and the lesser and the greater of floats.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{Bytes, Numbers, build, words};

const LANES: usize = 32;

/// What each lane's word becomes, and what the instruction returned: of a start and an operand.
fn run(chip: &str, name: &str, lds: bool, start: &[u32], operands: &[u32]) -> Vec<[u32; 2]> {
    // The result goes to v3, what the instruction returned to v4, and what the form that returns
    // nothing made of it afterwards, in LDS, to v7.
    let deed = match (lds, chip) {
        (true, _) => {
            let (stem, ty) = name.rsplit_once('_').expect("a name with a type");
            format!(
                "ds_store_b32 v1, v3 offset:16\n{{lds}}\n\
                 ds_{stem}_rtn_{ty} v5, v1, v4 offset:16\n{{lds}}\n\
                 ds_load_b32 v3, v1 offset:16\n{{lds}}\nds_{name} v1, v4 offset:16\n{{lds}}\n\
                 ds_load_b32 v7, v1 offset:16\n{{lds}}\n\
                 global_store_b32 v2, v7, s[8:9] offset:256"
            )
        }
        _ => {
            let returns = match chip {
                "gfx1201" => "th:TH_ATOMIC_RETURN",
                _ => "glc",
            };
            format!(
                "global_store_b32 v2, v3, s[8:9]\n{{store}}\n\
                 global_atomic_{name} v5, v2, v4, s[8:9] {returns}\n{{load}}\n\
                 global_load_b32 v3, v2, s[8:9]\n{{load}}"
            )
        }
    };
    let body = format!(
        "s_load_b128 s[4:7], s[0:1], 0x0\ns_load_b64 s[8:9], s[0:1], 0x10\n\
         v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 3, v0\n{{scalar}}\n\
         global_load_b32 v3, v1, s[4:5]\nglobal_load_b32 v4, v1, s[6:7]\n{{load}}\n\
         {deed}\nv_mov_b32 v4, v5\nglobal_store_b64 v2, v[3:4], s[8:9]"
    );
    let mut simulator = Simulator::new();
    let x = simulator.memory.alloc_input(&start.bytes());
    let y = simulator.memory.alloc_input(&operands.bytes());
    let z = simulator.memory.alloc_inout(&[0; 16 * LANES]);
    let launch = Launch {
        block: [LANES as u32, 1, 1],
        args: vec![Arg::Buffer(x), Arg::Buffer(y), Arg::Buffer(z)],
        ..Launch::default()
    };
    let report = simulator
        .launch(&build::kernel(chip, &body), "k", launch)
        .unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let out = words(&simulator.memory.read(z));
    let again = &out[2 * LANES..];
    (0..LANES)
        .map(|lane| {
            if lds {
                let expected = model(name, out[2 * lane], operands[lane]);
                assert_eq!(again[2 * lane], expected, "{name} without a result");
            }
            [out[2 * lane], out[2 * lane + 1]]
        })
        .collect()
}

/// A number that orders floats, -0 before +0.
fn order(bits: u32) -> i64 {
    let size = i64::from(bits & 0x7fff_ffff);
    if bits >> 31 == 1 { -size - 1 } else { size }
}

fn model(name: &str, old: u32, by: u32) -> u32 {
    let nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
    let (less, more) = (order(by) < order(old), order(by) > order(old));
    let zeros = (old | by) << 1 == 0;
    match name {
        "cond_sub_u32" if old < by => old,
        "csub_u32" | "sub_clamp_u32" | "cond_sub_u32" => old.saturating_sub(by),
        // RDNA 3's compare, and are false where there is NaN.
        "min_f32" if !nan(old) && !nan(by) && less && !zeros => by,
        "max_f32" if !nan(old) && !nan(by) && more && !zeros => by,
        "min_f32" | "max_f32" => old,
        // RDNA 4's are IEEE 754's minimumNumber and maximumNumber.
        _ if nan(old) && nan(by) => by | 1 << 22,
        _ if nan(old) => by,
        _ if nan(by) => old,
        "min_num_f32" if less => by,
        "max_num_f32" if more => by,
        _ => old,
    }
}

#[test]
fn operations_of_one_generation() {
    let mut numbers = Numbers(91);
    let edges = [
        0,
        1,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
        0x7f80_0000,
        0xff80_0000,
        0x7f80_0001,
        0x3f80_0000,
    ];
    for (chip, name, lds) in [
        ("gfx1100", "csub_u32", false),
        ("gfx1201", "cond_sub_u32", false),
        ("gfx1201", "sub_clamp_u32", false),
        ("gfx1201", "cond_sub_u32", true),
        ("gfx1201", "sub_clamp_u32", true),
        ("gfx1151", "min_f32", false),
        ("gfx1100", "max_f32", false),
        ("gfx1100", "min_f32", true),
        ("gfx1151", "max_f32", true),
        ("gfx1201", "min_num_f32", false),
        ("gfx1201", "max_num_f32", false),
        ("gfx1201", "min_num_f32", true),
        ("gfx1201", "max_num_f32", true),
    ] {
        for _ in 0..8 {
            let mut random = || match numbers.next() {
                edge if edge % 2 == 0 => edges[edge as usize / 2 % edges.len()],
                other => other,
            };
            let start = Vec::from_iter((0..LANES).map(|_| random()));
            let operands = Vec::from_iter((0..LANES).map(|_| random()));
            let got = run(chip, name, lds, &start, &operands);
            for (lane, got) in got.into_iter().enumerate() {
                let (old, by) = (start[lane], operands[lane]);
                let expected = [model(name, old, by), old];
                assert_eq!(got, expected, "{chip} {name} {lds} {old:#x} {by:#x}");
            }
        }
    }
}
