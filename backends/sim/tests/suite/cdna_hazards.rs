//! Hazards of gfx950 in a whole kernel: LLVM's own output has none, and has one for each `s_nop` that
//! is made a wait state shorter.

use tilefold_sim::{Arg, Check, CodeObject, Launch, Report, Simulator};

use crate::build;

const CHIP: &str = "gfx950";

/// Divisions, exponentials, lane controls, lane reads, masks, wide stores, and a matrix product
/// whose result is used at once.
const KERNEL: &str = "
#define as_int_(x) __builtin_astype(x, int)
#define as_float_(x) __builtin_astype(x, float)
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef half half8_ __attribute__((ext_vector_type(8)));
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static float add_from(float x, int control) {
    int moved = 0;
    switch (control) {
    case 0: moved = __builtin_amdgcn_update_dpp(0, as_int_(x), 0x111, 0xf, 0xf, 1); break;
    case 1: moved = __builtin_amdgcn_update_dpp(0, as_int_(x), 0x112, 0xf, 0xf, 1); break;
    case 2: moved = __builtin_amdgcn_update_dpp(0, as_int_(x), 0x142, 0xa, 0xf, 0); break;
    default: moved = __builtin_amdgcn_update_dpp(0, as_int_(x), 0x143, 0xc, 0xf, 0); break;
    }
    return x + as_float_(moved);
}
kernel void k(global const float *in, global float *out, int n) {
    int i = get_local_id(0);
    float x = in[i] / (in[(i + 1) % 64] + 3.0f);
    float y = __builtin_amdgcn_exp2f(x) * __builtin_amdgcn_rcpf(x + 2.0f);
    for (int j = 0; j < 4; ++j) y = add_from(y, j);
    float first = as_float_(__builtin_amdgcn_readfirstlane(as_int_(y)));
    float lane = as_float_(__builtin_amdgcn_readlane(as_int_(y), __builtin_amdgcn_readfirstlane(n)));
    if (y > first) y = y * lane; else y = y - first;
    half8_ a, b;
    for (int j = 0; j < 8; ++j) { a[j] = (half)(x * j); b[j] = (half)(y + j); }
    float4_ c = {x, y, first, lane};
    float4_ d = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
    d = d * 2.0f + c;
    d = __builtin_amdgcn_mfma_f32_16x16x32_f16(b, a, d, 0, 0, 0);
    long sum = (long)n * i + ((long)i << 33);
    *(global float4_ *)(out + 4 * i) = d;
    d = d + (float)(sum >> 20);
    *(global float4_ *)(out + 256 + 4 * i) = d;
}";

fn run(object: &CodeObject) -> Report {
    let mut simulator = Simulator::new();
    let input: Vec<u8> = (0..64)
        .flat_map(|i| (i as f32 / 16.0 - 1.0).to_le_bytes())
        .collect();
    let a = simulator.memory.alloc_input(&input);
    let b = simulator.memory.alloc_output(4 * 512);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::I32(5)],
        ..Launch::default()
    };
    simulator.launch(object, "k", launch).unwrap()
}

#[test]
fn every_wait_state_that_llvm_inserts_is_needed() {
    let assembly = build::assembly(CHIP, KERNEL);
    let load = |text: &str| CodeObject::load(&build::assemble(CHIP, text)).unwrap();
    let report = run(&load(&assembly));
    assert!(report.passed(), "{:#?}", report.findings);
    let lines: Vec<&str> = assembly.lines().collect();
    let end = lines
        .iter()
        .position(|line| line.contains("s_endpgm"))
        .unwrap();
    let mut found = std::collections::BTreeSet::new();
    for (at, line) in lines[..end].iter().enumerate() {
        let Some(count) = line.trim().strip_prefix("s_nop ") else {
            continue;
        };
        let shorter = match count.trim().parse::<u32>().unwrap() {
            0 => String::new(),
            count => format!("s_nop {}", count - 1),
        };
        let mut changed = lines.clone();
        changed[at] = &shorter;
        let report = run(&load(&changed.join("\n")));
        assert!(
            report.count(Check::Hazard) > 0,
            "line {at}, {}: {line} is one too long",
            lines[at - 1].trim()
        );
        found.insert(
            report.findings[0]
                .message
                .split(" (")
                .next()
                .unwrap()
                .to_owned(),
        );
    }
    assert!(found.len() >= 5, "{found:#?}");
}
