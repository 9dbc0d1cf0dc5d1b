//! Whole kernels without matrix instructions.

use tilefold_sim::{Arg, CodeObject, Launch, Simulator};

use crate::{Bytes, CHIPS, Numbers, build, floats, words};

#[test]
fn vector_add_with_a_ragged_end() {
    const SOURCE: &str = r"
kernel void add(global const float *x, global const float *y, global float *z, int n) {
    int i = get_group_id(0) * 128 + get_local_id(0);
    if (i < n) z[i] = x[i] + y[i];
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let mut simulator = Simulator::new();
        let n = 1000;
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let y: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_input(&y.bytes());
        let c = simulator.memory.alloc_output(4 * n);
        let report = simulator
            .launch(
                &object,
                "add",
                Launch {
                    grid: [8, 1, 1],
                    block: [128, 1, 1],
                    args: vec![
                        Arg::Buffer(a),
                        Arg::Buffer(b),
                        Arg::Buffer(c),
                        Arg::I32(n as i32),
                    ],
                    ..Launch::default()
                },
            )
            .unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert_eq!(floats(&simulator.memory.read(c)), expected, "{chip}");
        assert_eq!(report.counters.global_bytes_read, 8 * n as u64);
        assert_eq!(report.counters.global_bytes_written, 4 * n as u64);
    }
}

pub const TRANSPOSE: &str = r"
kernel void transpose(global const uint *x, global uint *y, int n) {
    local uint tile[32 * 33];
    int lx = get_local_id(0), ly = get_local_id(1);
    int bx = get_group_id(0) * 32, by = get_group_id(1) * 32;
    for (int j = 0; j < 32; j += 8)
        tile[(ly + j) * 33 + lx] = x[(by + ly + j) * n + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 32; j += 8)
        y[(bx + ly + j) * n + by + lx] = tile[lx * 33 + ly + j];
}";

#[test]
fn transpose_through_lds() {
    for chip in CHIPS {
        let object = build::compile(chip, TRANSPOSE);
        let mut simulator = Simulator::new();
        let n = 96;
        let x: Vec<u32> = (0..n * n).collect();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_output(4 * x.len());
        let launch = Launch {
            grid: [3, 3, 1],
            block: [32, 8, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::U32(n)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "transpose", launch).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        let expected: Vec<u32> = (0..n * n).map(|i| (i % n) * n + i / n).collect();
        assert_eq!(words(&simulator.memory.read(b)), expected, "{chip}");
        // A row of 33 words puts a column of 32 into 32 banks.
        assert_eq!(report.counters.lds_conflict_cycles_read, 0, "{chip}");
        assert_eq!(report.counters.lds_conflict_cycles_write, 0, "{chip}");
    }
}

#[test]
fn reduction_with_divergence_and_atomics() {
    const SOURCE: &str = r"
kernel void reduce(global const int *x, global int *sum, int n) {
    local int part[256];
    int l = get_local_id(0);
    int s = 0;
    for (int i = get_group_id(0) * 256 + l; i < n; i += 256 * 4) s += x[i];
    part[l] = s;
    for (int stride = 128; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < stride) part[l] += part[l + stride];
    }
    if (l == 0) atomic_add(sum, part[0]);
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let mut numbers = Numbers(1);
        let x: Vec<u32> = (0..5000).map(|_| numbers.small() as u32).collect();
        let expected: i32 = x.iter().map(|&x| x as i32).sum();
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&x.bytes());
        let b = simulator.memory.alloc_inout(&[0; 4]);
        let launch = Launch {
            grid: [4, 1, 1],
            block: [256, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b), Arg::U32(x.len() as u32)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "reduce", launch).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        assert_eq!(
            words(&simulator.memory.read(b)),
            [expected as u32],
            "{chip}"
        );
    }
}

/// Launches `k` on an input and an output of 32-bit words; returns the output.
fn run(
    object: &CodeObject,
    grid: [u32; 3],
    block: [u32; 3],
    input: &[u32],
    out: usize,
) -> Vec<u32> {
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&input.bytes());
    let b = simulator.memory.alloc_output(4 * out);
    let launch = Launch {
        grid,
        block,
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(object, "k", launch).unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    words(&simulator.memory.read(b))
}

#[test]
fn ids_and_hidden_arguments() {
    // The hidden arguments follow the visible ones: block counts, then group sizes of 16 bits.
    const SOURCE: &str = "
kernel void k(global const uint *x, global uint *y) {
    constant uchar *hidden = __builtin_amdgcn_implicitarg_ptr();
    uint gx = *(constant uint *)hidden, gy = *(constant uint *)(hidden + 4);
    uint bx = *(constant ushort *)(hidden + 12), by = *(constant ushort *)(hidden + 14);
    uint bz = *(constant ushort *)(hidden + 16);
    uint group = get_group_id(0) + gx * (get_group_id(1) + gy * get_group_id(2));
    uint item = get_local_id(0) + bx * (get_local_id(1) + by * get_local_id(2));
    y[group * bx * by * bz + item] = x[item] + 1000 * group;
}";
    for chip in CHIPS {
        for flags in [&["-mno-wavefrontsize64"], &["-mwavefrontsize64"]] {
            let object = build::compile_with(chip, SOURCE, flags);
            let x: Vec<u32> = (0..5 * 3 * 7).collect();
            let got = run(&object, [2, 3, 2], [5, 3, 7], &x, 12 * x.len());
            let expected: Vec<u32> = (0..12)
                .flat_map(|group| x.iter().map(move |x| x + 1000 * group))
                .collect();
            assert_eq!(got, expected, "{chip} {flags:?}");
        }
    }
}

#[test]
fn spills_calls_and_tables() {
    // An array indexed at run time lives in scratch; the table in the image, found by its distance
    // from the program counter; the function is called.
    const SOURCE: &str = "
constant uint table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__attribute__((noinline)) static uint mix(uint a, uint b) { return a * 31 + (b ^ a) % 7; }
kernel void k(global const uint *x, global uint *y) {
    int i = get_local_id(0);
    uint part[16];
    for (int j = 0; j < 16; ++j) part[j] = x[i] * (j + 1);
    uint s = 0;
    for (int j = 0; j < 16; ++j) s += part[(x[i] + j * 5) % 16] * table[(i + j) % 8];
    y[i] = mix(s, i);
}";
    let digits = [3, 1, 4, 1, 5, 9, 2, 6];
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let x: Vec<u32> = (0..64).map(|i| i * i + 3).collect();
        let expected: Vec<u32> = (0..64_u32)
            .map(|i| {
                let x = x[i as usize];
                let s = (0..16).map(|j| {
                    let part = x * ((x + j * 5) % 16 + 1);
                    part * digits[((i + j) % 8) as usize]
                });
                let s: u32 = s.sum();
                s.wrapping_mul(31).wrapping_add((i ^ s) % 7)
            })
            .collect();
        assert_eq!(run(&object, [1; 3], [64, 1, 1], &x, 64), expected, "{chip}");
    }
}

#[test]
fn buffer_descriptors_bound_what_is_ragged() {
    // Rows of 40 halves in tiles of 64: what lies beyond reads as zero and is not stored.
    const SOURCE: &str = "
typedef uint vec4 __attribute__((ext_vector_type(4)));
kernel void k(global const uint *x, global uint *y) {
    __amdgpu_buffer_rsrc_t a = __builtin_amdgcn_make_buffer_rsrc((global void *)x, 0, 80, 0x31004000);
    __amdgpu_buffer_rsrc_t b = __builtin_amdgcn_make_buffer_rsrc(y, 0, 80, 0x31004000);
    int i = get_local_id(0);
    vec4 v = __builtin_amdgcn_raw_buffer_load_b128(a, i * 12, 0, 0);
    uint h = __builtin_amdgcn_raw_buffer_load_b16(a, i * 12 + 2, 0, 0);
    v.w += h;
    __builtin_amdgcn_raw_buffer_store_b128(v, b, i * 16, 0, 0);
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let x: Vec<u32> = (0..20).map(|i| 0x0001_0000 * i + 7).collect();
        let at = |i: usize| x.get(i).copied().unwrap_or(0);
        let expected: Vec<u32> = (0..5)
            .flat_map(|i| {
                let h = at(3 * i) >> 16;
                [at(3 * i), at(3 * i + 1), at(3 * i + 2), at(3 * i + 3) + h]
            })
            .collect();
        assert_eq!(run(&object, [1; 3], [32, 1, 1], &x, 20), expected, "{chip}");
    }
}

#[test]
fn softmax_with_shuffles() {
    const SOURCE: &str = "
kernel void k(global const float *x, global float *y) {
    int i = get_local_id(0);
    float v = x[i], m = v;
    for (int d = 1; d < 32; d *= 2) {
        float o = __builtin_bit_cast(float,
            __builtin_amdgcn_ds_bpermute((i ^ d) * 4, __builtin_bit_cast(int, m)));
        m = __builtin_fmaxf(m, o);
    }
    float e = __builtin_amdgcn_exp2f((v - m) * 1.442695f), s = e;
    for (int d = 1; d < 32; d *= 2)
        s += __builtin_bit_cast(float,
            __builtin_amdgcn_ds_bpermute((i ^ d) * 4, __builtin_bit_cast(int, s)));
    y[i] = e / s;
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let x: Vec<f32> = (0..32).map(|i| (i * 7 % 11) as f32 / 4.0).collect();
        let bits: Vec<u32> = x.iter().map(|x| x.to_bits()).collect();
        let most = x.iter().copied().fold(f32::MIN, f32::max);
        let sum: f64 = x.iter().map(|x| f64::from(x - most).exp()).sum();
        for (got, x) in run(&object, [1; 3], [32, 1, 1], &bits, 32)
            .into_iter()
            .zip(&x)
        {
            let expected = f64::from(x - most).exp() / sum;
            assert!(
                (f64::from(f32::from_bits(got)) - expected).abs() < 1e-6,
                "{chip}"
            );
        }
    }
}
