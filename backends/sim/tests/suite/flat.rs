//! Flat accesses: to global memory, LDS and scratch alike, with all their checks.

use tilefold_sim::{Arg, Check, Launch, Simulator, Space};

use crate::faults::plant;
use crate::{Bytes, CHIPS, build, words};

#[test]
fn one_pointer_to_three_memories() {
    const SOURCE: &str = "
kernel void k(global const int *x, global int *y) {
    local int t[64];
    int p[8];
    int i = get_local_id(0);
    t[i] = 100 * i;
    for (int j = 0; j < 8; j++) p[j] = x[i] + j;
    int *q = x[i] % 3 == 0 ? (int *)&t[i] : x[i] % 3 == 1 ? (int *)&p[x[i] % 8] : (int *)&y[i];
    *q += 3;
    __opencl_atomic_fetch_add((volatile atomic_int *)q, 5, memory_order_relaxed,
                              memory_scope_work_group);
    y[i + 64] = t[i];
    int s = 0;
    for (int j = 0; j < 8; j++) s += p[j];
    y[i + 128] = s;
}";
    for chip in CHIPS {
        for flags in [&["-mno-wavefrontsize64"], &["-mwavefrontsize64"]] {
            let object = build::compile_with(chip, SOURCE, flags);
            let mut simulator = Simulator::new();
            let x: Vec<u32> = (0..64).map(|i| i * 7 % 23).collect();
            let a = simulator.memory.alloc_input(&x.bytes());
            let b = simulator.memory.alloc_inout(&[0; 4 * 192]);
            let launch = Launch {
                block: [64, 1, 1],
                args: [a, b].map(Arg::Buffer).to_vec(),
                ..Launch::default()
            };
            let report = simulator.launch(&object, "k", launch).unwrap();
            assert!(report.passed(), "{chip}: {:#?}", report.findings);
            let y = words(&simulator.memory.read(b));
            for i in 0..64 {
                let add = |part| if x[i] % 3 == part { 8 } else { 0 };
                let sum = 8 * x[i] + 28 + add(1);
                let expected = [add(2), 100 * i as u32 + add(0), sum];
                assert_eq!([y[i], y[i + 64], y[i + 128]], expected, "{chip} lane {i}");
            }
            // LDS instructions moved 256 bytes each way beside what flat ones did, by part of memory.
            let moved = [Space::Lds, Space::Flat].map(|space| report.counters.moved[&space]);
            let [in_lds, elsewhere] = moved.map(|moved| (moved.read, moved.written));
            let sums = (in_lds.0 + elsewhere.0, in_lds.1 + elsewhere.1);
            assert!(in_lds.0 > 0 && elsewhere.0 > 0, "{chip}: {moved:?}");
            assert_eq!(sums, (256 + 256, 512 + 256), "{chip}");
        }
    }
}

/// Waves hand each other a word a lane through LDS and keep one in scratch, by flat addresses.
const EXCHANGE: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
s_mov_b64 s[12:13], src_shared_base
s_mov_b64 s[14:15], src_private_base
v_mov_b32 v11, s13
v_mov_b32 v10, v2
v_mov_b32 v21, s15
v_mov_b32 v20, 8
flat_store_b32 v[10:11], v1
{lds} // stored
{barrier} // first
v_xor_b32 v10, 0x80, v2
flat_load_b32 v5, v[10:11]
{load}
{lds} // loaded
flat_store_b32 v[20:21], v5
flat_load_b32 v6, v[20:21]
{load}
{lds}
{scalar}
global_store_b32 v2, v6, s[6:7]
";

#[test]
fn every_check_of_lds_and_scratch_holds_for_them() {
    let plant =
        |check, from: &str, to: &str, at: &str| plant(&CHIPS, EXCHANGE, check, from, to, at);
    let load = "flat_load_b32 v5, v[10:11]";
    let far = "v_add_nc_u32 v10, 0x400, v10\nflat_load_b32 v5, v[10:11]";
    plant(Check::LdsBounds, load, far, "flat_load");
    let unwritten = "v_add_nc_u32 v10, 0x100, v10\nflat_load_b32 v5, v[10:11]";
    plant(Check::LdsUninitialized, load, unwritten, "flat_load");
    plant(
        Check::LdsRace,
        "{lds} // stored",
        "",
        "flat_store_b32 v[10:11]",
    );
    plant(
        Check::MissingWait,
        "{load}\n{lds} // loaded",
        "{load}",
        "flat_store_b32 v[20:21]",
    );
    plant(
        Check::MissingWait,
        "{load}\n{lds} // loaded",
        "{lds}",
        "flat_store_b32 v[20:21]",
    );
    plant(
        Check::ScratchBounds,
        "v_mov_b32 v20, 8",
        "v_mov_b32 v20, 13",
        "flat_store",
    );
    // The base alone is no address of either.
    plant(
        Check::GlobalBounds,
        "v_mov_b32 v21, s15",
        "v_mov_b32 v21, s14",
        "flat_store",
    );
}

#[test]
fn a_missing_barrier_is_a_race() {
    // Without it the lanes of the other wave were not written.
    let body = EXCHANGE.replace(
        "{barrier} // first",
        "{barrier}\nflat_store_b32 v[10:11], v1\n{lds}\n{barrier} // first",
    );
    plant(
        &CHIPS,
        &body,
        Check::LdsRace,
        "{barrier} // first",
        "",
        "flat_",
    );
}
