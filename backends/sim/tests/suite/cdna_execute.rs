//! Runs single instructions of gfx950 on samples, over 64 lanes.

use tilefold_sim::{Arg, Check, Checks, Launch, Simulator};

use crate::{Bytes, Numbers, build, words};

pub const LANES: usize = 64;

/// Inputs v1, v2 and v3, and what v0, v10 and the mask s[20:21] hold afterwards.
pub struct Run {
    pub inputs: [Vec<u32>; 3],
    pub v0: Vec<u32>,
    pub v10: Vec<u32>,
    pub mask: u64,
}

fn samples(seed: u64) -> Vec<u32> {
    let special = [
        0,
        1,
        0xffff_ffff,
        0x7fff_ffff,
        0x8000_0000,
        0x7fff_8000,
        0x3f80_0000,
        0x7f80_0000,
        0xff80_0001,
        0x7fc0_0000,
        0x0000_0001,
        0x3c00_fc00,
        0x7bff_0400,
        0x8001_7e01,
        0x807f_7f80,
        0x0102_0304,
    ];
    let mut numbers = Numbers(seed);
    (0..LANES)
        .map(|lane| match (lane as u64 + seed) % 3 {
            0 => special[numbers.next() as usize % special.len()],
            1 => numbers.next(),
            _ => ((numbers.next() % 4001) as f32 / 16.0 - 125.0).to_bits(),
        })
        .collect()
}

/// Executes texts, each from a fresh start in which v0 is v3, v10 is v2, VCC is a pattern and
/// s[20:21] is zero. Hazards are another test's.
pub fn execute(texts: &[&str]) -> Vec<Run> {
    let part = |text: &&str| {
        format!(
            "
v_mov_b32 v1, v31
v_mov_b32 v2, v32
v_mov_b32 v3, v33
v_mov_b32 v0, v3
v_mov_b32 v10, v2
s_mov_b32 vcc_lo, 0x5555aaaa
s_mov_b32 vcc_hi, 0x0f0ff0f0
s_mov_b64 s[20:21], 0
s_mov_b32 s22, 0x87654321
{text}
s_mov_b64 exec, -1
v_mov_b32 v11, s20
v_mov_b32 v12, s21
global_store_dword v30, v0, s[6:7]
global_store_dword v30, v10, s[6:7] offset:256
global_store_dword v30, v11, s[6:7] offset:512
global_store_dword v30, v12, s[6:7] offset:768
s_add_u32 s6, s6, 1024
s_addc_u32 s7, s7, 0
"
        )
    };
    let parts: String = texts.iter().map(part).collect();
    let body = format!(
        "
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32 v30, 2, v0
{{scalar}}
global_load_dword v31, v30, s[4:5]
global_load_dword v32, v30, s[4:5] offset:256
global_load_dword v33, v30, s[4:5] offset:512
{{load}}
{parts}"
    );
    let object = build::kernel("gfx950", &body);
    let mut runs = Vec::new();
    for seed in 0..4 {
        let inputs = [0, 1, 2].map(|at| samples(seed * 3 + at));
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&inputs.concat().bytes());
        let b = simulator.memory.alloc_output(1024 * texts.len());
        let launch = Launch {
            block: [64, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b)],
            checks: Checks::all().without(Check::Hazard),
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{texts:?}: {:#?}", report.findings);
        for out in words(&simulator.memory.read(b)).chunks(256) {
            runs.push(Run {
                inputs: inputs.clone(),
                v0: out[..64].to_vec(),
                v10: out[64..128].to_vec(),
                mask: u64::from(out[128]) | u64::from(out[192]) << 32,
            });
        }
    }
    runs
}

/// The runs of one text.
pub fn of(text: &str) -> Vec<Run> {
    execute(&[text])
}

pub type Model = fn(u32, u32, u32) -> u32;

pub fn check_all(table: &[(&str, Model)]) {
    let texts: Vec<&str> = table.iter().map(|(text, _)| *text).collect();
    for (at, run) in execute(&texts).iter().enumerate() {
        let (text, model) = table[at % table.len()];
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|source| run.inputs[source][lane]);
            let (got, expected) = (run.v0[lane], model(a, b, c));
            assert_eq!(
                got, expected,
                "{text}: {a:#x} {b:#x} {c:#x} gives {got:#x}, not {expected:#x}"
            );
        }
    }
}

/// Checks a pair of results, of which the text leaves the high one in v10.
pub fn check_pair(text: &str, model: impl Fn(u32, u32, u32) -> u64) {
    for run in of(text) {
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|source| run.inputs[source][lane]);
            let got = u64::from(run.v0[lane]) | u64::from(run.v10[lane]) << 32;
            let expected = model(a, b, c);
            assert_eq!(
                got, expected,
                "{text}: {a:#x} {b:#x} {c:#x}: {got:#x} {expected:#x}"
            );
        }
    }
}

/// The halves of a word.
pub fn low(value: u32) -> u32 {
    value % 0x1_0000
}

pub fn high(value: u32) -> u32 {
    value / 0x1_0000
}
