//! Matrix instructions of gfx950: one wave, a loop of sixteen of the same.

// Benches share the way to LLVM's assembler with the tests and use little of it.
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/suite/build.rs"]
mod build;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tilefold_sim::{Arg, Checks, Launch, Simulator};

fn main() {
    divan::main();
}

const LOOPS: u32 = 4096;

/// Name, instruction, and the word that A and B are filled with: elements that are small integers,
/// whose sums are exact in f32, or elements of many sizes.
const CASES: [(&str, &str, u32); 8] = [
    (
        "fp8 16x16x128, small integers",
        "v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[8:15], v[16:23], v[32:35]",
        0xb838_b838,
    ),
    (
        "fp8 16x16x128",
        "v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[8:15], v[16:23], v[32:35]",
        0x0138_2947,
    ),
    (
        "scaled fp8 16x16x128",
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[8:15], v[16:23], v[32:35], v24, v24 \
         op_sel_hi:[0,0,0]",
        0x0138_2947,
    ),
    (
        "scaled fp4 16x16x128",
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[8:11], v[16:19], v[32:35], v24, v24 \
         op_sel_hi:[0,0,0] cbsz:4 blgp:4",
        0x1234_5678,
    ),
    (
        "f16 32x32x16, small integers",
        "v_mfma_f32_32x32x16_f16 v[32:47], v[8:11], v[16:19], v[32:47]",
        0x3c00_bc00,
    ),
    (
        "f16 32x32x16",
        "v_mfma_f32_32x32x16_f16 v[32:47], v[8:11], v[16:19], v[32:47]",
        0x3c01_0bcd,
    ),
    (
        "f16 16x16x32",
        "v_mfma_f32_16x16x32_f16 v[32:35], v[8:11], v[16:19], v[32:35]",
        0x3c01_0bcd,
    ),
    (
        "i8 32x32x32",
        "v_mfma_i32_32x32x32_i8 v[32:47], v[8:11], v[16:19], v[32:47]",
        0x81fe_7f01,
    ),
];

#[divan::bench(args = CASES.map(|(name, ..)| name))]
fn mfma(bencher: Bencher<'_, '_>, name: &str) {
    let (_, text, word) = CASES
        .into_iter()
        .find(|(known, ..)| *known == name)
        .expect("the name is one of the cases");
    let set = (8..24).fold(String::new(), |set, register| {
        set + &format!("v_mov_b32_e32 v{register}, {word:#x}\n")
    });
    let clear = (32..48).fold(String::new(), |clear, register| {
        clear + &format!("v_mov_b32_e32 v{register}, 0\n")
    });
    let body = format!(
        "{set}{clear}v_mov_b32_e32 v24, 0x7f\nv_mov_b32_e32 v1, 0\ns_movk_i32 s8, {}\nloop:\n{}\
         s_sub_i32 s8, s8, 1\ns_cmp_gt_i32 s8, 0\ns_cbranch_scc1 loop\n",
        LOOPS / 16,
        format!("{text}\n").repeat(16)
    );
    let object = build::kernel("gfx950", &body);
    let mut simulator = Simulator::new();
    let launch = Launch {
        block: [64, 1, 1],
        args: Vec::<Arg>::new(),
        checks: Checks::none(),
        ..Launch::default()
    };
    bencher.counter(ItemsCount::new(LOOPS)).bench_local(|| {
        black_box(simulator.launch(&object, "k", launch.clone())).expect("it runs")
    });
}
