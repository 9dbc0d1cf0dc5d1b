//! Kernels of gfx950 from clang: the initial state of a wave of 64 and its registers.

use tilefold_sim::{Arg, CodeObject, Error, Launch, Simulator};

use crate::{Bytes, Numbers, build, floats, words};

const CHIP: &str = "gfx950";

const ADD: &str = "kernel void add(global const float *x, global const float *y,
                   global float *z, int n) {
    int i = get_group_id(0) * 256 + get_local_id(0);
    if (i < n) z[i] = x[i] + y[i];
}";

#[test]
fn vectors_are_added() {
    let mut numbers = Numbers(5);
    let n = 1000;
    let mut vector = || (0..n).map(|_| numbers.small() as f32).collect::<Vec<_>>();
    let (x, y) = (vector(), vector());
    for flags in [&["-O3"][..], &["-O0"]] {
        let object = build::compile_with(CHIP, ADD, flags);
        assert_eq!(object.chip(), CHIP);
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_input(&y.bytes());
        let c = simulator.memory.alloc_output(4 * n);
        let launch = Launch {
            grid: [4, 1, 1],
            block: [256, 1, 1],
            args: vec![
                Arg::Buffer(a),
                Arg::Buffer(b),
                Arg::Buffer(c),
                Arg::I32(n as i32),
            ],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "add", launch).unwrap();
        assert!(report.passed(), "{:#?}", report.findings);
        let sums: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert_eq!(floats(&simulator.memory.read(c)), sums, "{flags:?}");
    }
}

#[test]
fn ids_are_where_the_descriptor_puts_them() {
    let source = "kernel void ids(global int *out) {
        int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
        int item = x + 8 * (y + 4 * z);
        int group = get_group_id(0) + 2 * (get_group_id(1) + 3 * get_group_id(2));
        out[group * 128 + item] = x | y << 8 | z << 16 | group << 24;
    }";
    let object = build::compile(CHIP, source);
    let mut simulator = Simulator::new();
    let out = simulator.memory.alloc_output(4 * 24 * 128);
    let launch = Launch {
        grid: [2, 3, 4],
        block: [8, 4, 4],
        args: vec![Arg::Buffer(out)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "ids", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    let expected: Vec<u32> = (0..24 * 128)
        .map(|at| {
            let (group, item) = (at / 128, at % 128);
            (item % 8) | (item / 8 % 4) << 8 | (item / 32) << 16 | group << 24
        })
        .collect();
    assert_eq!(words(&simulator.memory.read(out)), expected);
}

#[test]
fn preloaded_arguments_are_in_registers_from_the_start() {
    // The pointer lands in s[2:3], the value in s4; s5 and s6 are the next word and the workgroup's
    // id. The size of the private segment has the register before them where it is asked for.
    for (line, first) in [("", 2), (".amdhsa_user_sgpr_private_segment_size 1", 3)] {
        preloaded_arguments(line, first);
    }
}

/// With a line of the descriptor, the arguments are in scalar registers from the first on.
fn preloaded_arguments(line: &str, first: u32) {
    // Loads for firmware that does not preload stand in the first 256 bytes and would trap here.
    let source = r#"
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.globl k
.p2align 8
.type k,@function
k:
s_trap 2
.fill 63, 4, 0xbf800000
s_mov_b32 s10, s{0}
s_mov_b32 s11, s{1}
s_add_u32 s12, s{3}, s{4}
v_lshlrev_b32_e32 v0, 2, v0
v_mov_b32_e32 v1, s12
global_store_dword v0, v1, s[10:11]
s_endpgm
.section .rodata,"a"
.p2align 6
.amdhsa_kernel k
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    {line}
    .amdhsa_user_sgpr_kernarg_preload_length 4
    .amdhsa_user_sgpr_kernarg_preload_offset 0
    .amdhsa_next_free_vgpr 2
    .amdhsa_next_free_sgpr 16
    .amdhsa_accum_offset 4
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 2
    .max_flat_workgroup_size: 1024
    .args:
      - {.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.offset: 8, .size: 4, .value_kind: by_value}
      - {.offset: 12, .size: 4, .value_kind: by_value}
...
.end_amdgpu_metadata
"#;
    let source = (0..5).fold(source.replace("{line}", line), |source, at| {
        source.replace(&format!("{{{at}}}"), &(first + at).to_string())
    });
    let object = CodeObject::load(&build::assemble(CHIP, &source)).unwrap();
    let mut simulator = Simulator::new();
    let out = simulator.memory.alloc_output(4 * 64);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(out), Arg::U32(7), Arg::U32(35)],
        ..Launch::default()
    };
    simulator.launch(&object, "k", launch).unwrap();
    assert_eq!(words(&simulator.memory.read(out)), [35; 64], "{line}");
}

#[test]
fn registers_beyond_the_descriptors_are_refused() {
    for (line, register) in [
        ("v_mov_b32_e32 v64, 0", "v64"),
        ("v_accvgpr_write_b32 a64, 0", "a64"),
    ] {
        let object = build::kernel(CHIP, line);
        let launch = Launch {
            block: [64, 1, 1],
            ..Launch::default()
        };
        let error = Simulator::new().launch(&object, "k", launch).unwrap_err();
        assert!(
            matches!(&error, Error::Launch { reason, .. } if reason.contains(register)),
            "{error}"
        );
    }
}
