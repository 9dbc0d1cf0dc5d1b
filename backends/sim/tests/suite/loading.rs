//! Files that are no code objects are refused, whatever is in them.

use proptest::prelude::*;
use tilefold_sim::{Arg, CodeObject, Error, Launch, Simulator, Trace};

use crate::build;

fn add() -> Vec<u8> {
    build::elf(
        "gfx1100",
        "kernel void k(global int *x) { x[get_local_id(0)] += 1; }",
    )
}

#[test]
fn truncated_files_are_refused() {
    let elf = add();
    assert!(CodeObject::load(&elf).is_ok());
    for length in 0..elf.len() {
        // Section headers at the end are not needed; all before is.
        let _ = CodeObject::load(&elf[..length]);
    }
    assert!(matches!(
        CodeObject::load(&elf[..64]),
        Err(Error::Format(_))
    ));
    assert!(matches!(CodeObject::load(&[]), Err(Error::Format(_))));
}

#[test]
fn other_chips_are_refused_by_name() {
    // Among them one that is numbered like a simulated chip, and AMD's older matrix machines.
    for name in [
        "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1200", "gfx1250",
    ] {
        let elf = build::elf(name, "kernel void k(global int *x) { x[0] = 1; }");
        let Err(Error::Chip { chip, known }) = CodeObject::load(&elf) else {
            panic!("{name} is not simulated");
        };
        assert_eq!(chip, name);
        assert!(known.contains("gfx1100"));
        assert!(elf.len() > 64);
        for length in (0..elf.len()).step_by(31) {
            assert!(CodeObject::load(&elf[..length]).is_err());
        }
    }
}

#[test]
fn other_files_are_refused() {
    let host = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let error = CodeObject::load(&host[..host.len().min(1 << 20)]).unwrap_err();
    assert!(matches!(error, Error::Format(_)), "{error}");
    let mut other = add();
    // The ELF machine is at byte 18.
    other[18] = 62;
    let error = CodeObject::load(&other).unwrap_err().to_string();
    assert!(error.contains("not AMDGPU"), "{error}");
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(CodeObject::load(&bytes).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A kernel with some of its bytes changed ends in a report or in an error.
    #[test]
    fn broken_kernels_never_panic(
        chip in 0..2_usize,
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..12),
    ) {
        static ELVES: std::sync::LazyLock<[Vec<u8>; 2]> = std::sync::LazyLock::new(|| {
            ["gfx1100", "gfx1201"].map(|chip| {
                build::elf(chip, &crate::sources::gemm(chip, "f16", "f32", 1, 2))
            })
        });
        let mut elf = ELVES[chip].clone();
        for (at, value) in edits {
            let at = at.index(elf.len());
            elf[at] = value;
        }
        run(&elf);
    }

    /// Single bits of a kernel with debug information turned over, its file cut anywhere.
    #[test]
    fn turned_bits_and_cut_files_never_panic(
        bits in proptest::collection::vec(any::<proptest::sample::Index>(), 1..4),
        length in any::<proptest::sample::Index>(),
        cut in any::<bool>(),
    ) {
        static ELF: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
            build::elf_with("gfx1201", crate::kernels::TRANSPOSE, &["-g"])
        });
        let mut elf = ELF.clone();
        for bit in bits {
            let bit = bit.index(8 * elf.len());
            elf[bit / 8] ^= 1 << (bit % 8);
        }
        if cut {
            elf.truncate(length.index(elf.len()));
        }
        run(&elf);
    }

    /// Any words at all as code.
    #[test]
    fn random_code_never_panics(
        chip in 0..2_usize,
        words in proptest::collection::vec(any::<u32>(), 1..40),
    ) {
        static ELVES: std::sync::LazyLock<[Vec<u8>; 2]> = std::sync::LazyLock::new(|| {
            ["gfx1100", "gfx1201"].map(|chip| {
                build::kernel_elf(chip, &".long 0xbf800000\n".repeat(40))
            })
        });
        let nop: Vec<u8> = 0xbf80_0000_u32.to_le_bytes().repeat(40);
        let mut elf = ELVES[chip].clone();
        let at = elf.windows(nop.len()).position(|window| window == nop).unwrap();
        for (word, slot) in words.iter().zip(elf[at..].chunks_exact_mut(4)) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        run(&elf);
    }
}

/// Launches whatever kernel there is, for a few instructions.
fn run(elf: &[u8]) {
    let Ok(object) = CodeObject::load(elf) else {
        return;
    };
    let names: Vec<String> = object.kernels().map(|kernel| kernel.name.clone()).collect();
    for name in names {
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&[0; 4096]);
        let b = simulator.memory.alloc_output(4096);
        let args = [a, a, b].map(Arg::Buffer).to_vec();
        let launch = Launch {
            block: [32, 1, 1],
            args,
            max_instructions: 2000,
            trace: Some(Trace {
                limit: 20,
                ..Trace::default()
            }),
            ..Launch::default()
        };
        let _ = simulator.launch(&object, &name, launch);
    }
}
