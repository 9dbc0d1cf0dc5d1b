//! Code generation and linking, from LLVM IR as text.

use rayon::prelude::*;

use crate::codegen::{Level, Options, generate};
use crate::link::link;
use crate::{Chip, LlvmError, LlvmModule, Stage};

/// Doubles `count` floats, one a lane.
const DOUBLE: &str = r#"
define amdgpu_kernel void @double(ptr addrspace(1) %data, i32 %count) #0 {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %inside = icmp ult i32 %lane, %count
  br i1 %inside, label %body, label %end
body:
  %at = getelementptr float, ptr addrspace(1) %data, i32 %lane
  %value = load float, ptr addrspace(1) %at
  %twice = fadd float %value, %value
  store float %twice, ptr addrspace(1) %at
  br label %end
end:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
"#;

fn options(chip: &str) -> Options {
    Options::new(Chip::find(chip).unwrap())
}

fn compile(ir: &str, options: &Options) -> Result<Vec<u8>, LlvmError> {
    link(&generate(LlvmModule::parse(ir.as_bytes())?, options)?.object)
}

#[test]
fn emits_what_is_asked_for() {
    for chip in Chip::all() {
        let mut options = Options::new(chip);
        options.want_assembly = true;
        options.want_ir = true;
        let module = LlvmModule::parse(DOUBLE.as_bytes()).unwrap();
        let generated = generate(module, &options).unwrap();
        assert_eq!(&generated.object[..4], b"\x7fELF");
        assert!(generated.assembly.unwrap().contains("\ndouble:"));
        let ir = generated.optimised_ir.unwrap();
        assert!(
            ir.contains("range(i32 0, 64)") || ir.contains("noundef"),
            "{ir}"
        );
        assert!(generated.warnings.is_empty(), "{:?}", generated.warnings);
        let [usage] = &generated.usage[..] else {
            panic!("{:?}", generated.usage)
        };
        assert_eq!(usage.name, "double");
        assert!(
            (1..8).contains(&usage.vgprs) && (1..32).contains(&usage.sgprs),
            "{usage:?}"
        );
        let waves = if chip.name().starts_with("gfx9") {
            8
        } else {
            16
        };
        assert_eq!(
            (usage.waves_per_simd, usage.lds_bytes),
            (waves, 0),
            "{usage:?}"
        );
        assert_eq!(
            (usage.vgpr_spills, usage.sgpr_spills, usage.scratch_bytes),
            (0, 0, 0)
        );
    }
}

#[test]
fn lds_counts_in_the_usage() {
    let ir = "@tile = internal addrspace(3) global [5000 x i8] poison, align 16
        define amdgpu_kernel void @k(i32 %at, i8 %value) {
          %p = getelementptr i8, ptr addrspace(3) @tile, i32 %at
          store volatile i8 %value, ptr addrspace(3) %p
          ret void
        }";
    let module = LlvmModule::parse(ir.as_bytes()).unwrap();
    let generated = generate(module, &options("gfx1100")).unwrap();
    assert_eq!(generated.usage[0].lds_bytes, 5000);
}

#[test]
fn links_the_same_bytes_on_any_number_of_threads() {
    let chips = ["gfx1100", "gfx1151", "gfx1201"];
    let one: Vec<_> = chips
        .map(|chip| compile(DOUBLE, &options(chip)).unwrap())
        .into();
    assert_ne!(one[0], one[2]);
    (0..24).into_par_iter().for_each(|index| {
        let chip = index % chips.len();
        assert!(
            compile(DOUBLE, &options(chips[chip])).unwrap() == one[chip],
            "{}",
            chips[chip]
        );
    });
    let text = String::from_utf8_lossy(&one[0]);
    let folder = std::env::temp_dir();
    assert!(!text.contains(folder.to_str().unwrap()) && !text.contains("kernel.o"));
}

#[test]
fn where_the_ir_came_from_does_not_show() {
    let from = |place: &str| format!("source_filename = \"{place}\"\n{DOUBLE}");
    let options = Options {
        want_assembly: true,
        want_ir: true,
        ..options("gfx1201")
    };
    let generated = |place: &str| {
        generate(LlvmModule::parse(from(place).as_bytes()).unwrap(), &options).unwrap()
    };
    let (one, other) = (
        generated("/home/someone/a.ll"),
        generated("/elsewhere/b.ll"),
    );
    assert!(one.object == other.object && one.assembly == other.assembly);
    assert!(one.optimised_ir.is_some());
    assert_eq!(one.optimised_ir, other.optimised_ir);
}

#[test]
fn levels_differ() {
    let at = |level| {
        compile(
            DOUBLE,
            &Options {
                level,
                ..options("gfx1201")
            },
        )
        .unwrap()
    };
    assert_ne!(at(Level::O0), at(Level::O3));
}

#[test]
fn bitcode_and_garbage() {
    assert!(matches!(
        LlvmModule::parse(b"BC\xc0\xde nonsense").unwrap_err(),
        LlvmError::Refused {
            stage: Stage::Parse,
            ..
        }
    ));
    let error = LlvmModule::parse(b"define void @f( {").unwrap_err();
    assert!(error.to_string().contains("tilefold:1:18"), "{error}");
    assert!(
        LlvmModule::parse(b"").is_ok(),
        "an empty module is a module"
    );
}

/// A WMMA with operands as gfx11 has them.
const WMMA: &str = "define amdgpu_kernel void @k(ptr addrspace(1) %p) {
      %a = load <16 x half>, ptr addrspace(1) %p
      %c = load <8 x float>, ptr addrspace(1) %p
      %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(
          <16 x half> %a, <16 x half> %a, <8 x float> %c)
      store <8 x float> %d, ptr addrspace(1) %p
      ret void
    }";

#[test]
fn an_intrinsic_that_the_chip_lacks_is_an_error() {
    compile(WMMA, &options("gfx1100")).unwrap();
    for _ in 0..2 {
        let error = compile(WMMA, &options("gfx942")).unwrap_err();
        assert!(matches!(
            error,
            LlvmError::Crashed {
                stage: Stage::Generate,
                ..
            }
        ));
        assert!(error.to_string().contains("wmma"), "{error}");
    }
    compile(WMMA, &options("gfx1100")).unwrap();
}

#[test]
fn crashes_on_one_thread_leave_the_others_alone() {
    let expected = compile(WMMA, &options("gfx1100")).unwrap();
    (0..24).into_par_iter().for_each(|index| match index % 3 {
        0 => assert!(compile(WMMA, &options("gfx942")).is_err()),
        1 => assert!(link(b"\x7fELF").is_err()),
        _ => assert!(compile(WMMA, &options("gfx1100")).unwrap() == expected),
    });
}

#[test]
fn lds_over_the_limit_is_an_error() {
    let ir = "@tile = internal addrspace(3) global [70000 x i8] poison
        define amdgpu_kernel void @k(i32 %at, i8 %value) {
          %p = getelementptr i8, ptr addrspace(3) @tile, i32 %at
          store volatile i8 %value, ptr addrspace(3) %p
          ret void
        }";
    let error = compile(ir, &options("gfx1201")).unwrap_err();
    assert!(matches!(
        error,
        LlvmError::Refused {
            stage: Stage::Generate,
            ..
        }
    ));
    assert!(
        error
            .to_string()
            .contains("local memory (70000) exceeds limit (65536)"),
        "{error}"
    );
}

#[test]
fn inline_assembly_is_assembled_or_an_error() {
    let kernel = |assembly: &str| {
        format!(
            "define amdgpu_kernel void @k() {{
               call void asm sideeffect \"{assembly}\", \"\"()
               ret void
             }}"
        )
    };
    compile(&kernel("s_nop 3"), &options("gfx1201")).unwrap();
    let error = compile(&kernel("s_nonsense 3"), &options("gfx1201")).unwrap_err();
    assert!(error.to_string().contains("invalid instruction"), "{error}");
}

#[test]
fn unknown_names_are_errors() {
    for name in ["gfx1202", "", "native", "help"] {
        assert!(
            matches!(Chip::find(name), Err(LlvmError::UnknownChip { .. })),
            "{name}"
        );
    }
    for feature in ["+nonsense", "cumode", "+help", "+", ""] {
        let mut options = options("gfx1201");
        options.features.push(feature.to_owned());
        let module = LlvmModule::parse(DOUBLE.as_bytes()).unwrap();
        let result = generate(module, &options);
        assert_eq!(result.is_err(), !feature.is_empty(), "{feature}");
    }
    let mut options = options("gfx1201");
    options.features.push("+a\0b".to_owned());
    let module = LlvmModule::parse(DOUBLE.as_bytes()).unwrap();
    assert!(
        generate(module, &options)
            .unwrap_err()
            .to_string()
            .contains("NUL")
    );
}

#[test]
fn a_function_for_another_chip_is_an_error() {
    let kernel = |attributes| format!("define amdgpu_kernel void @k() {attributes} {{ ret void }}");
    for (attributes, reason) in [
        (
            "\"target-cpu\"=\"gfx9999\"",
            "function `k` is for `gfx9999`, not for gfx1201",
        ),
        (
            "\"target-cpu\"=\"gfx1100\"",
            "function `k` is for `gfx1100`, not for gfx1201",
        ),
        (
            "\"target-features\"=\"+cumode,+nonsense\"",
            "unknown target feature `+nonsense`",
        ),
    ] {
        let error = generate(
            LlvmModule::parse(kernel(attributes).as_bytes()).unwrap(),
            &options("gfx1201"),
        );
        assert!(
            error.unwrap_err().to_string().contains(reason),
            "{attributes}"
        );
    }
    compile(&kernel("\"target-cpu\"=\"gfx1201\""), &options("gfx1201")).unwrap();
}

#[test]
fn the_linker_refuses_and_goes_on() {
    let undefined = "declare void @missing()
        define amdgpu_kernel void @k() { call void @missing() ret void }";
    let error = compile(undefined, &options("gfx1201")).unwrap_err();
    assert!(
        matches!(
            error,
            LlvmError::Refused {
                stage: Stage::Link,
                ..
            }
        ),
        "{error:?}"
    );
    let message = error.to_string();
    assert!(message.contains("undefined symbol: missing"), "{message}");
    assert!(
        !message.contains(std::env::temp_dir().to_str().unwrap()),
        "{message}"
    );
    for bytes in [&b""[..], b"\x7fELF", b"no object at all"] {
        assert!(matches!(
            link(bytes),
            Err(LlvmError::Refused {
                stage: Stage::Link,
                ..
            })
        ));
    }
    compile(DOUBLE, &options("gfx1201")).unwrap();
}
