//! Hazards of RDNA 3, 3.5 and 4 in a whole kernel: what clang makes of it has none at any level, and
//! of what it makes with one wait left out the check finds what that wait is for.

use std::collections::BTreeSet;

use tilefold_sim::{Arg, Check, CodeObject, Launch, Report, Simulator};

use crate::{Bytes, build};

/// Transcendental functions, lane masks of every kind, uniform values that lanes made, branches,
/// 64-bit sums and moves across rows.
const KERNEL: &str = "
#define as_int_(x) __builtin_astype(x, int)
#define as_float_(x) __builtin_astype(x, float)
kernel void k(global const float *in, global float *out, int n) {
    int i = get_local_id(0);
    float x = in[i], y = x;
    long sum = 0;
    for (int j = 0; j < n; ++j) {
        float other = in[(i + j) % 64];
        float z = __builtin_amdgcn_exp2f(y) * __builtin_amdgcn_rcpf(other + 3.0f);
        y = z > other ? z + __builtin_amdgcn_sinf(z) : __builtin_amdgcn_logf(z + 2.0f);
        if (y > x) y -= __builtin_amdgcn_sqrtf(y * y + other);
        else if (z < 0.5f) y += as_float_(__builtin_amdgcn_readfirstlane(as_int_(z)));
        int lane = __builtin_amdgcn_readfirstlane(i + j) & 31;
        z = as_float_(__builtin_amdgcn_readlane(as_int_(y), lane));
        y = (z > y) != (other > x) ? y + z : y;
        sum += (long)(int)(z * 64.0f) * ((long)i << 30) + (y > other ? j : lane);
    }
    if (y > x) y += as_float_(__builtin_amdgcn_permlanex16(
        as_int_(y), as_int_(y), 0x76543210, 0xfedcba98, 0, 0));
    out[i] = y / (x + 2.5f) + (float)(sum / (n + i + 1));
}";

fn run(object: &CodeObject) -> Report {
    let mut simulator = Simulator::new();
    let input: Vec<f32> = (0..64).map(|i| i as f32 / 16.0 - 1.0).collect();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_output(4 * 64);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::I32(5)],
        ..Launch::default()
    };
    simulator.launch(object, "k", launch).unwrap()
}

#[test]
fn clang_leaves_none() {
    for chip in crate::CHIPS {
        for opt in ["-O0", "-O1", "-O2", "-O3"] {
            for wave in ["-mno-wavefrontsize64", "-mwavefrontsize64"] {
                let report = run(&build::compile_with(chip, KERNEL, &[opt, wave]));
                assert!(
                    report.passed(),
                    "{chip} {opt} {wave}: {:#?}",
                    report.findings
                );
            }
        }
    }
}

/// What the findings say, up to the instructions, where each wait of the kernel is left out in turn.
fn without_waits(chip: &str, wave: usize) -> BTreeSet<String> {
    let assembly = build::assembly_in(chip, wave, KERNEL, &[]);
    let lines: Vec<&str> = assembly.lines().collect();
    let end = lines
        .iter()
        .position(|line| line.contains("s_endpgm"))
        .unwrap();
    let wait = |line: &str| {
        ["s_waitcnt_depctr", "s_wait_alu"]
            .iter()
            .any(|name| line.contains(name))
    };
    let mut found = BTreeSet::new();
    for at in (0..end).filter(|&at| wait(lines[at])) {
        let mut changed = lines.clone();
        changed[at] = "";
        let object = build::assemble_in(chip, wave, &changed.join("\n"));
        let report = run(&CodeObject::load(&object).unwrap());
        for finding in &report.findings {
            assert_eq!(finding.check, Check::Hazard, "{chip}: {finding}");
            let (name, rest) = finding.message.split_once(" (behind `").unwrap();
            assert!(rest.contains("(0) would do (LLVM's "), "{finding}");
            found.insert(name.to_owned());
        }
    }
    found
}

#[test]
fn waits_that_clang_inserts_are_needed() {
    const TRANSCENDENTAL: &str = "reads a transcendental result too early";
    const MASKS: [&str; 4] = [
        "reads VCC, which was a lane mask and was then written by a vector instruction",
        "reads a scalar register that was a lane mask and was then written by a scalar instruction",
        "reads a scalar register that was a lane mask and was then written by a vector instruction",
        "reads registers that were written on both sides of a write of EXEC",
    ];
    const READS: [&str; 3] = [
        "reads VCC, which a vector instruction had read and a vector one then wrote",
        "reads a scalar register that a vector instruction had read and a scalar one then wrote",
        "reads a scalar register that a vector instruction had read and a vector one then wrote",
    ];
    let both = [&MASKS[..], &[TRANSCENDENTAL]].concat();
    for (chip, wave, expected) in [
        ("gfx1100", 32, &[TRANSCENDENTAL][..]),
        ("gfx1100", 64, &both),
        ("gfx1151", 32, &[]),
        ("gfx1151", 64, &MASKS),
        ("gfx1201", 32, &READS),
        ("gfx1201", 64, &READS),
    ] {
        let found = without_waits(chip, wave);
        let expected = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(found, expected, "{chip} wave{wave}");
    }
}
