//! Direct loads from LDS, by the "LDS Direct Load" sections of AMD's RDNA 3.5 and RDNA 4 guides.

use tilefold_llvm::codegen::{Options, generate};
use tilefold_llvm::{Chip, LlvmModule, link::link};
use tilefold_sim::{Arg, Check, CodeObject, Error, Launch, Report, Simulator};

use crate::{CHIPS, build, words};

/// Lanes fill LDS with words, then all load what an argument says, twice.
const SOURCE: &str = r#"
@shared = internal addrspace(3) global [64 x i32] poison, align 16
define amdgpu_kernel void @k(ptr addrspace(1) %y, i32 %first, i32 %second) #0 {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %to = getelementptr [64 x i32], ptr addrspace(3) @shared, i32 0, i32 %lane
  %spread = mul i32 %lane, -2053847937
  store volatile i32 %spread, ptr addrspace(3) %to
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %a = call float @llvm.amdgcn.lds.direct.load(i32 %first)
  %b = call float @llvm.amdgcn.lds.direct.load(i32 %second)
  %x = bitcast float %a to i32
  %z = bitcast float %b to i32
  %twice = mul i32 %x, 3
  %sum = add i32 %twice, %z
  %at = getelementptr i32, ptr addrspace(1) %y, i32 %lane
  store i32 %sum, ptr addrspace(1) %at
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare float @llvm.amdgcn.lds.direct.load(i32)
"#;

fn compile(chip: &str, wave: u32) -> CodeObject {
    let features = format!("+cumode,+wavefrontsize{wave}");
    let ir = format!(
        "{SOURCE}attributes #0 = {{ \"amdgpu-flat-work-group-size\"=\"1,64\" \
         \"target-features\"=\"{features}\" }}"
    );
    let module = LlvmModule::parse(ir.as_bytes()).unwrap();
    let mut options = Options::new(Chip::find(chip).unwrap());
    options.features = vec![format!("+wavefrontsize{wave}")];
    let elf = link(&generate(module, &options).unwrap().object).unwrap();
    CodeObject::load(&elf).unwrap()
}

#[test]
fn every_type_is_loaded_into_every_lane() {
    let word = |address: u32| (address / 4).wrapping_mul(2_241_119_359);
    // What M0 asks for, and the value.
    let values = |address: u32| {
        let word = word(address);
        [
            (0, word & 0xff),
            (1, word & 0xffff),
            (2, word),
            (4, word as i8 as u32),
            (5, word as i16 as u32),
        ]
        .map(|(kind, value)| (address | kind << 16, value))
    };
    for chip in CHIPS {
        for wave in [32, 64] {
            let object = compile(chip, wave);
            for address in [0, 12, 124, 252] {
                for (first, x) in values(address) {
                    let (second, z) = values(252 - address)[first as usize % 5];
                    let mut simulator = Simulator::new();
                    let y = simulator.memory.alloc_output(4 * 64);
                    let launch = Launch {
                        block: [64, 1, 1],
                        args: vec![Arg::Buffer(y), Arg::U32(first), Arg::U32(second)],
                        ..Launch::default()
                    };
                    let report = simulator.launch(&object, "k", launch).unwrap();
                    assert!(report.passed(), "{chip} {wave}: {:#?}", report.findings);
                    let expected = x.wrapping_mul(3).wrapping_add(z);
                    let got = words(&simulator.memory.read(y));
                    assert_eq!(got, vec![expected; 64], "{chip} {wave} {first:#x}");
                }
            }
        }
    }
}

/// Waves of 32: the first lane of each stores, a barrier, and lanes 5 and 10 load what the other
/// wave stored.
const EXCHANGE: &str = "
s_load_b128 s[4:7], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_lshlrev_b32 v2, 2, v1
v_readfirstlane_b32 s8, v1
v_mov_b32 v3, -1
{scalar} // arguments
v_add_nc_u32 v4, 100, v1
s_mov_b32 exec_lo, 1
ds_store_b32 v2, v4 offset:16
s_mov_b32 exec_lo, -1
{lds}
{barrier} // exchange
s_xor_b32 s9, s8, 32
s_lshl_b32 s9, s9, 2
s_add_i32 s9, s9, 0x20010
s_mov_b32 m0, s9
s_mov_b32 exec_lo, 0x420
{direct} v3 // wave
s_mov_b32 exec_lo, -1
{wait} // loaded
v_mov_b32 v5, v3
global_store_b32 v2, v5, s[6:7]
";

fn run(chip: &str, body: &str) -> Result<(Report, Vec<u32>), Error> {
    let gfx12 = chip.starts_with("gfx12");
    let [direct, wait] = match gfx12 {
        true => ["ds_direct_load", "s_wait_expcnt 0"],
        false => ["lds_direct_load", "s_waitcnt expcnt(0)"],
    };
    let body = body.replace("{direct}", direct).replace("{wait}", wait);
    let body = match gfx12 {
        true => body.replace("s_add_i32", "s_add_co_i32"),
        false => body,
    };
    let source = build::kernel_source(chip, &body);
    let source = match body.contains("WGP") {
        true => source,
        false => source.replace("processor_mode 1", "processor_mode 0"),
    };
    let object = CodeObject::load(&build::assemble(chip, &source)).unwrap();
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_output(4);
    let b = simulator.memory.alloc_output(4 * 64);
    let launch = Launch {
        block: [64, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch)?;
    Ok((report, words(&simulator.memory.read(b))))
}

#[test]
fn quads_with_a_lane_on_are_written_whole() {
    for chip in CHIPS {
        let (report, got) = run(chip, EXCHANGE).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
        let expected: Vec<u32> = (0..64)
            .map(|lane| match lane % 32 {
                4..12 => 100 + ((lane / 32) ^ 1) * 32,
                _ => u32::MAX,
            })
            .collect();
        assert_eq!(got, expected, "{chip}");
    }
}

#[test]
fn what_is_wrong_with_them_is_found() {
    let only = |report: &Report, check: Check, chip: &str| {
        for other in Check::ALL {
            let found = report.count(other) > 0;
            assert_eq!(found, other == check, "{chip}: {:#?}", report.findings);
        }
    };
    for chip in CHIPS {
        for (from, to, check, at) in [
            ("{wait} // loaded", "", Check::MissingWait, "v_mov_b32"),
            (
                "{wait} // loaded\nv_mov_b32 v5, v3",
                "v_mov_b32 v3, 0\nv_mov_b32 v5, v3",
                Check::MissingWait,
                "v_mov_b32_e32 v3, 0",
            ),
            ("0x20010", "0x20410", Check::LdsBounds, "direct_load"),
            ("0x20010", "0x20014", Check::LdsUninitialized, "direct_load"),
            (
                "v2, v4 offset:16",
                "v2, v4 offset:16\n{lds}\n{barrier}\nds_store_b32 v2, v4 offset:16",
                Check::LdsRace,
                "",
            ),
        ] {
            assert!(EXCHANGE.contains(from), "{from}");
            let body = match check {
                // The second wave stores while the first one loads.
                Check::LdsRace => EXCHANGE
                    .replace(from, to)
                    .replace("{barrier} // exchange", ""),
                _ => EXCHANGE.replace(from, to),
            };
            let (report, _) = run(chip, &body).unwrap();
            only(&report, check, chip);
            assert!(
                report.findings[0].instruction.contains(at),
                "{:#?}",
                report.findings
            );
        }
        // Without the barrier the first wave reads what nobody wrote, the second what it races for.
        let (report, _) = run(chip, &EXCHANGE.replace("{barrier} // exchange", "")).unwrap();
        let found = [Check::LdsUninitialized, Check::LdsRace].map(|check| report.count(check));
        assert_eq!(found, [1, 2], "{chip}: {:#?}", report.findings);
        // A load that nobody waited for before a barrier reads behind it.
        let body = EXCHANGE.replace(
            "s_mov_b32 exec_lo, -1\n{wait} // loaded",
            "s_mov_b32 exec_lo, -1\n{barrier}\nds_store_b32 v2, v4 offset:16\n{wait}",
        );
        let (report, _) = run(chip, &body).unwrap();
        only(&report, Check::LdsRace, chip);
        let waited = body.replace("\n{barrier}\nds_store", "\n{wait}\n{barrier}\nds_store");
        let (report, _) = run(chip, &waited).unwrap();
        assert!(report.passed(), "{chip}: {:#?}", report.findings);
    }
}

#[test]
fn what_hardware_does_not_do_is_an_error() {
    for chip in CHIPS {
        for (from, to, reason) in [
            ("0x20010", "0x30010", "type 3"),
            ("0x20010", "0x20011", "no multiple of 4"),
            ("// wave", "// WGP", "CU mode"),
        ] {
            let error = run(chip, &EXCHANGE.replace(from, to))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(reason) && error.contains("direct_load"),
                "{error}"
            );
        }
        let name = if chip == "gfx1201" {
            "ds_param_load"
        } else {
            "lds_param_load"
        };
        let object = build::kernel(chip, &format!("{name} v1, attr0.x"));
        let unsupported = object.unsupported("k").unwrap();
        assert!(unsupported[0].reason.contains("pixels"), "{unsupported:?}");
    }
}
