//! What a launch gives a kernel besides its visible arguments, and what it refuses.

use tilefold_llvm::codegen::{Options, generate};
use tilefold_llvm::{Chip, LlvmModule, link::link};
use tilefold_sim::{Arg, CodeObject, Error, Launch, Report, Simulator};

use crate::{CHIPS, build, words};

/// A code object from LLVM IR, as another crate's tests would build it.
fn from_ir(chip: &str, ir: &str) -> CodeObject {
    let module = LlvmModule::parse(ir.as_bytes()).unwrap();
    let options = Options::new(Chip::find(chip).unwrap());
    let elf = link(&generate(module, &options).unwrap().object).unwrap();
    CodeObject::load(&elf).unwrap()
}

fn launch(object: &CodeObject, launch: Launch, out: usize) -> Result<(Report, Vec<u32>), Error> {
    let mut simulator = Simulator::new();
    let y = simulator.memory.alloc_output(4 * out);
    let args = [vec![Arg::Buffer(y)], launch.args.clone()].concat();
    let report = simulator.launch(object, "k", Launch { args, ..launch })?;
    assert!(report.passed(), "{:#?}", report.findings);
    Ok((report, words(&simulator.memory.read(y))))
}

#[test]
fn the_dispatch_packet_says_how_large_grid_and_workgroup_are() {
    const SOURCE: &str = "
kernel void k(global uint *y) {
    constant uint *packet = (constant uint *)__builtin_amdgcn_dispatch_ptr();
    if (get_local_id(0) == 0 && get_local_id(1) == 0)
        for (int i = 0; i < 8; i++) y[i] = packet[i];
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let sizes = Launch {
            block: [8, 4, 1],
            ..Launch::default()
        };
        let (_, y) = launch(&object, sizes, 8).unwrap();
        // Setup and the block's extents of 16 bits, then the grid in work-items.
        assert_eq!(y[0] >> 16 & 3, 3, "{chip}: three dimensions");
        assert_eq!([y[1] & 0xffff, y[1] >> 16, y[2] & 0xffff], [8, 4, 1]);
        assert_eq!(y[3..6], [8, 4, 1]);
    }
}

#[test]
fn hidden_arguments_say_grid_block_and_dimensions() {
    const SOURCE: &str = "
kernel void k(global uint *y) {
    constant uchar *hidden = __builtin_amdgcn_implicitarg_ptr();
    for (int i = 0; i < 3; i++) {
        y[i] = ((constant uint *)hidden)[i];
        y[3 + i] = *(constant ushort *)(hidden + 12 + 2 * i);
    }
    y[6] = *(constant ushort *)(hidden + 64);
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let sizes = Launch {
            grid: [1, 2, 1],
            ..Launch::default()
        };
        let (_, y) = launch(&object, sizes, 7).unwrap();
        assert_eq!(y, [1, 2, 1, 1, 1, 1, 2], "{chip}");
    }
}

/// Lanes turn their numbers round in LDS that the launch adds.
const DYNAMIC: &str = r#"
@static = internal addrspace(3) global [64 x i32] poison, align 16
@dynamic = external addrspace(3) global [0 x i32], align 16
define amdgpu_kernel void @k(ptr addrspace(1) %y) #0 {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %to = getelementptr [0 x i32], ptr addrspace(3) @dynamic, i32 0, i32 %lane
  %keep = getelementptr [64 x i32], ptr addrspace(3) @static, i32 0, i32 %lane
  store i32 %lane, ptr addrspace(3) %keep
  %other = xor i32 %lane, 31
  store volatile i32 %other, ptr addrspace(3) %to
  %twisted = getelementptr [0 x i32], ptr addrspace(3) @dynamic, i32 0, i32 %other
  %value = load volatile i32, ptr addrspace(3) %twisted
  %kept = load volatile i32, ptr addrspace(3) %keep
  %sum = add i32 %value, %kept
  %at = getelementptr i32, ptr addrspace(1) %y, i32 %lane
  store i32 %sum, ptr addrspace(1) %at
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="32,32" }
"#;

#[test]
fn dynamic_lds_follows_the_static_one() {
    for chip in CHIPS {
        let object = from_ir(chip, DYNAMIC);
        let with = |dynamic_lds| Launch {
            block: [32, 1, 1],
            dynamic_lds,
            ..Launch::default()
        };
        let (_, y) = launch(&object, with(128), 32).unwrap();
        let expected: Vec<u32> = (0..32).map(|lane| 2 * lane).collect();
        assert_eq!(y, expected, "{chip}");
        let mut simulator = Simulator::new();
        let y = simulator.memory.alloc_output(128);
        let args = vec![Arg::Buffer(y)];
        let short = Launch { args, ..with(124) };
        let report = simulator.launch(&object, "k", short).unwrap();
        assert!(!report.passed(), "{chip}: one word is missing");
        let error = launch(&object, with(1 << 17), 32).unwrap_err();
        assert!(error.to_string().contains("bytes of LDS"), "{error}");
        let error = launch(&object, with(u32::MAX), 32).unwrap_err();
        assert!(error.to_string().contains("bytes of LDS"), "{error}");
    }
}

#[test]
fn local_pointers_are_arguments() {
    const SOURCE: &str = "
kernel void k(global uint *y, local uint *a, local uint *b) {
    int i = get_local_id(0);
    a[i] = i;
    b[i] = 100 * i;
    y[i] = a[i] + b[i];
    y[32 + i] = (uint)b - (uint)a;
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let with = |first: u32, second: u32| Launch {
            block: [32, 1, 1],
            args: vec![Arg::Lds(first), Arg::Lds(second)],
            ..Launch::default()
        };
        let expected: Vec<u32> = (0..32).map(|lane| 101 * lane).collect();
        let (_, y) = launch(&object, with(130, 128), 64).unwrap();
        assert_eq!(y[..32], expected, "{chip}");
        // The second begins at a multiple of 16.
        assert_eq!(y[32..], [144; 32], "{chip}");
        let error = launch(&object, with(u32::MAX, 128), 32).unwrap_err();
        assert!(error.to_string().contains("LDS"), "{error}");
    }
}

#[test]
fn scratch_belongs_to_each_lane() {
    const SOURCE: &str = "
kernel void k(global uint *y, uint n) {
    volatile uint part[4];
    int i = get_local_id(0);
    for (uint j = 0; j < n; j++) part[j] = i + j;
    y[i] = part[i % 4];
}";
    for chip in CHIPS {
        let object = build::compile(chip, SOURCE);
        let with = |n| Launch {
            block: [64, 1, 1],
            args: vec![Arg::U32(n)],
            ..Launch::default()
        };
        let (_, y) = launch(&object, with(4), 64).unwrap();
        let expected: Vec<u32> = (0..64).map(|lane| lane + lane % 4).collect();
        assert_eq!(y, expected, "{chip}");
    }
}

#[test]
fn loops_without_end_are_stopped() {
    // Alone, around a barrier, and in a wave that waits for one that never signals.
    for body in [
        "s_branch loop",
        "{barrier}\ns_branch loop",
        "s_nop 0\ns_cbranch_execnz loop",
    ] {
        for chip in CHIPS {
            let object = build::kernel(chip, &format!("loop:\n{body}"));
            let mut simulator = Simulator::new();
            let endless = Launch {
                grid: [2, 1, 1],
                block: [64, 1, 1],
                max_instructions: 1000,
                ..Launch::default()
            };
            let error = simulator.launch(&object, "k", endless).unwrap_err();
            let expected = Error::Endless {
                workgroup: [0; 3],
                wave: 0,
                limit: 1000,
                polling: None,
            };
            let Error::Endless {
                workgroup, limit, ..
            } = error
            else {
                panic!("{chip} {body}: {error} is not {expected}");
            };
            assert_eq!((workgroup, limit), ([0; 3], 1000), "{chip} {body}");
        }
    }
}

#[test]
fn launches_that_do_not_fit_say_why() {
    let object = build::compile(
        "gfx1100",
        "kernel void k(global uint *y, ushort s) { y[0] = s; }",
    );
    let with = |arg: Arg| Launch {
        args: vec![arg],
        ..Launch::default()
    };
    let (report, y) = launch(&object, with(Arg::Bytes(vec![7, 0])), 1).unwrap();
    assert_eq!((y, report.notes), (vec![7], vec![]));
    let refusal = |arg: Launch| launch(&object, arg, 1).unwrap_err().to_string();
    assert!(refusal(with(Arg::I32(7))).contains("has 4 bytes, the kernel takes 2"));
    let grid = Launch {
        grid: [1 << 16, 1 << 16, 1],
        ..with(Arg::F16(0))
    };
    assert!(refusal(grid).contains("a grid of"));
    let block = Launch {
        block: [2048, 1, 1],
        ..with(Arg::F16(0))
    };
    assert!(refusal(block).contains("work-items"));
    let (report, _) = launch(&object, Launch::default(), 1).unwrap();
    assert!(
        report.notes[0].contains("was not given and is zero"),
        "{:?}",
        report.notes
    );
    let mut simulator = Simulator::new();
    let error = simulator
        .launch(&object, "kk", Launch::default())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no kernel `kk`; the code object has k"),
        "{error}"
    );
}

#[test]
fn registers_beyond_the_descriptors_are_refused() {
    let refused = |chip: &str, wave: usize, next: u32, line: &str| {
        let source = build::kernel_source(chip, line);
        let mut source = source.replace("next_free_vgpr 128", &format!("next_free_vgpr {next}"));
        let mut flags = vec![];
        if wave == 64 && chip != "gfx950" {
            source = source
                .replace("wavefront_size32 1", "wavefront_size32 0")
                .replace("wavefront_size: 32", "wavefront_size: 64");
            flags.push("-mwavefrontsize64");
        }
        let object = CodeObject::load(&build::assemble_with(chip, &source, &flags)).unwrap();
        let result = Simulator::new().launch(&object, "k", Launch::default());
        let reason = match result {
            Ok(_) => return None,
            Err(Error::Launch { reason, .. }) => reason,
            Err(error) => panic!("{chip}: {error}"),
        };
        let name = line.split([' ', ',']).nth(1).expect("a register");
        assert!(reason.contains(&format!("names {name},")), "{reason}");
        reason.split_once("asks for ").map(|(_, rest)| {
            let (count, _) = rest.split_once(' ').expect("a count");
            count.parse::<u32>().expect("a number")
        })
    };
    for chip in CHIPS {
        // Blocks of eight registers, of four in waves of 64.
        for (wave, next, allocated) in [
            (32, 128, 128),
            (32, 121, 128),
            (32, 120, 120),
            (64, 128, 128),
            (64, 121, 124),
            (64, 120, 120),
        ] {
            let last = format!("v_mov_b32_e32 v{}, 0", allocated - 1);
            assert_eq!(refused(chip, wave, next, &last), None, "{chip} {wave}");
            let beyond = format!("v_mov_b32_e32 v{allocated}, 0");
            let found = refused(chip, wave, next, &beyond);
            assert_eq!(found, Some(allocated), "{chip} {wave} {next}");
            let loaded = format!("ds_load_b32 v{allocated}, v0");
            assert_eq!(
                refused(chip, wave, next, &loaded),
                Some(allocated),
                "{chip}"
            );
        }
        assert_eq!(refused(chip, 32, 128, "s_mov_b32 s105, 0"), None, "{chip}");
    }
    // 64 scalar registers and those that the assembler adds for VCC and others, in blocks of 16.
    assert_eq!(refused("gfx950", 64, 128, "s_mov_b32 s79, 0"), None);
    assert_eq!(refused("gfx950", 64, 128, "s_mov_b32 s80, 0"), Some(80));
    assert_eq!(
        refused("gfx950", 64, 128, "s_load_dword s80, s[0:1], 0x0"),
        Some(80)
    );
}
