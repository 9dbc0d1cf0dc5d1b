//! `s_barrier_signal_isfirst` of RDNA 4, by its pseudo-code in AMD's guide.

use tilefold_sim::{Arg, Launch, Simulator};

use crate::{build, words};

/// Each wave stores whether it was the first at each of two barriers.
const BODY: &str = "
s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
s_cmp_eq_u32 0, 0
s_barrier_signal_isfirst -1
s_barrier_wait -1
s_wait_kmcnt 0x0
s_cselect_b32 s8, 1, 0
s_cmp_eq_u32 0, 0
s_barrier_signal_isfirst -1
s_barrier_wait -1
s_cselect_b32 s9, 16, 0
s_add_co_i32 s8, s8, s9
v_mov_b32 v3, s8
global_store_b32 v2, v3, s[4:5]
";

#[test]
fn one_wave_is_told_that_it_is_the_first() {
    for (wave, items) in [(32, 128), (64, 256), (32, 32), (64, 40)] {
        let object = build::kernel_in("gfx1201", wave, BODY);
        let mut simulator = Simulator::new();
        let y = simulator.memory.alloc_output(4 * items);
        let launch = Launch {
            block: [items as u32, 1, 1],
            args: vec![Arg::Buffer(y)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{:#?}", report.findings);
        let y = words(&simulator.memory.read(y));
        let firsts: Vec<u32> = y.chunks(wave).map(|wave| wave[0]).collect();
        // Which wave is the first is not defined, but it is one. A wave that is a workgroup by
        // itself has no barrier to be the first at.
        let told: u32 = firsts.iter().sum();
        let expected = if firsts.len() > 1 { 17 } else { 0 };
        assert_eq!(told, expected, "{wave} {items}: {firsts:?}");
    }
    let object = build::kernel("gfx1201", "s_barrier_signal_isfirst m0");
    let unsupported = object.unsupported("k").unwrap();
    assert!(
        unsupported[0].reason.contains("workgroup's barrier"),
        "{unsupported:?}"
    );
}
