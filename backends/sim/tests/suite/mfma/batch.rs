//! Runs matrix instructions one after another in one kernel.
//!
//! Each case loads its registers from its own 16 KiB of one buffer, executes, and stores D to its
//! own 8 KiB of another: A goes to `v8`, B to `v16`, the scales to `v24` and `v25`, C to `v32` or
//! `a0`.

use tilefold_sim::{Arg, Launch, Report, Simulator};

use super::model::{Extra, Registers, Shape, multiply};
use crate::{Bytes, build, words};

/// An instruction with its operands.
pub struct Case {
    pub shape: Shape,
    pub text: String,
    pub extra: Extra,
    pub a: Registers,
    pub b: Registers,
    pub c: Registers,
    /// A constant C instead of the registers.
    pub constant: Option<Registers>,
    /// Which operands of A, B and C with D are accumulation registers.
    pub accumulation: [bool; 3],
}

/// The registers of an operand, as LLVM writes them.
pub fn range(accumulation: bool, first: usize, count: usize) -> String {
    let file = if accumulation { 'a' } else { 'v' };
    match count {
        1 => format!("{file}{first}"),
        _ => format!("{file}[{first}:{}]", first + count - 1),
    }
}

/// First registers of A, B and C, in vector and in accumulation registers.
pub const FIRST: [[usize; 2]; 3] = [[8, 40], [16, 48], [32, 0]];

/// Runs all cases and compares what they leave in D.
pub fn check(cases: &[Case]) -> Report {
    let mut body = String::from(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\n\
         v_add_u32_e32 v2, 0x1000, v1\nv_add_u32_e32 v3, 0x1000, v2\n\
         v_add_u32_e32 v4, 0x1000, v3\n{scalar}\n",
    );
    let mut inputs = Vec::new();
    for case in cases {
        let mut at = 0;
        let mut load = |registers: &Registers, accumulation: bool, first: usize| {
            let file = if accumulation { 'a' } else { 'v' };
            for (index, register) in registers.iter().enumerate() {
                body.push_str(&format!(
                    "global_load_dword {file}{}, v{}, s[4:5] offset:{}\n",
                    first + index,
                    1 + at / 16,
                    at % 16 * 256
                ));
                inputs.extend_from_slice(register);
                at += 1;
            }
        };
        let first = |operand: usize| FIRST[operand][usize::from(case.accumulation[operand])];
        load(&case.a, case.accumulation[0], first(0));
        load(&case.b, case.accumulation[1], first(1));
        load(&case.c, case.accumulation[2], first(2));
        if let Some(scales) = &case.extra.scales {
            load(&vec![scales[0].0, scales[1].0], false, 24);
        }
        inputs.resize(inputs.len().next_multiple_of(4096), 0);
        assert!(at <= 64);
        body.push_str(&format!("{{load}}\n{}\ns_nop 15\ns_nop 15\n", case.text));
        for index in 0..case.shape.accumulators() {
            let file = if case.accumulation[2] { 'a' } else { 'v' };
            body.push_str(&format!(
                "global_store_dword v{}, {file}{}, s[6:7] offset:{}\n",
                1 + index / 16,
                first(2) + index,
                index % 16 * 256
            ));
        }
        body.push_str(
            "{load}\ns_add_u32 s4, s4, 0x4000\ns_addc_u32 s5, s5, 0\n\
             s_add_u32 s6, s6, 0x2000\ns_addc_u32 s7, s7, 0\n",
        );
    }
    let object = build::kernel("gfx950", &body);
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&inputs.bytes());
    let b = simulator.memory.alloc_output(cases.len() * 0x2000);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    assert_eq!(report.counters.mma, cases.len() as u64);
    let got = words(&simulator.memory.read(b));
    for (case, got) in cases.iter().zip(got.chunks_exact(0x800)) {
        let c = case.constant.as_ref().unwrap_or(&case.c);
        let expected = multiply(&case.shape, &case.extra, &case.a, &case.b, c);
        for (register, expected) in expected.iter().enumerate() {
            for lane in 0..64 {
                let got = got[64 * register + lane];
                assert_eq!(
                    got,
                    expected[lane],
                    "{} register {register} lane {lane}: {} {}",
                    case.text,
                    f32::from_bits(got),
                    f32::from_bits(expected[lane])
                );
            }
        }
    }
    report
}
