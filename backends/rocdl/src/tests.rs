//! Small kernels in the LLVM dialect, compiled for every chip there is a record of.

use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::utility::register_all_dialects;
use rayon::prelude::*;
use tilefold_llvm::LlvmError;
use tilefold_machine::{Machine, Workgroup};

use crate::*;

mod manifest;

const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

fn context() -> Context {
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    context
}

/// A wave multiplies fragments from memory, `steps` times 16 of K an iteration into `tiles`
/// accumulators, each B through `lds_bytes` of LDS.
fn gemm(chip: &str, tiles: usize, steps: usize, lds_bytes: usize) -> String {
    // gfx11 has the operands twice, in both halves of the wave.
    let fragment = if chip == "gfx1201" {
        "vector<8xf16>"
    } else {
        "vector<16xf16>"
    };
    let accumulator = "vector<8xf32>";
    let each = |make: &dyn Fn(usize) -> String| (0..tiles).map(make).collect::<Vec<_>>().join(", ");
    let zeros = each(&|_| "%zero".to_owned());
    let types = each(&|_| accumulator.to_owned());
    let carried = each(&|tile| format!("%acc0_{tile}: {accumulator}"));
    let last = each(&|tile| format!("%acc{steps}_{tile}"));
    let mut body = String::new();
    for step in 0..steps {
        body += &format!(
            "%a{step} = llvm.getelementptr %ap[{step}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, {fragment}
             %x{step} = llvm.load %a{step} {{alignment = 16 : i64}} : !llvm.ptr<1> -> {fragment}
             llvm.store %x{step}, %shared {{alignment = 16 : i64}} : {fragment}, !llvm.ptr<3>
             rocdl.barrier
             %y{step} = llvm.load %shared {{alignment = 16 : i64}} : !llvm.ptr<3> -> {fragment}\n"
        );
        for tile in 0..tiles {
            body += &format!(
                "%b{step}_{tile} = llvm.getelementptr %bp[{}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, {fragment}
                 %z{step}_{tile} = llvm.load %b{step}_{tile} {{alignment = 16 : i64}} : !llvm.ptr<1> -> {fragment}
                 %acc{}_{tile} = rocdl.wmma.f32.16x16x16.f16 %y{step}, %z{step}_{tile}, %acc{step}_{tile}
                   : ({fragment}, {fragment}, {accumulator}) -> {accumulator}\n",
                step * tiles + tile,
                step + 1,
            );
        }
    }
    let stores: String = (0..tiles)
        .map(|tile| {
            format!(
                "%c{tile} = llvm.getelementptr %cp[{tile}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, {accumulator}
                 llvm.store %acc{steps}_{tile}, %c{tile} {{alignment = 16 : i64}} : {accumulator}, !llvm.ptr<1>\n"
            )
        })
        .collect();
    format!(
        "llvm.mlir.global internal @lds() {{addr_space = 3 : i32, alignment = 16 : i64}}
           : !llvm.array<{lds_bytes} x i8>
         llvm.func @gemm(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %k: i32) attributes {{
           rocdl.kernel, rocdl.flat_work_group_size = \"64,64\",
           rocdl.reqd_work_group_size = array<i32: 64, 1, 1>
         }} {{
           %begin = llvm.mlir.constant(0 : i32) : i32
           %advance = llvm.mlir.constant({} : i32) : i32
           %zero = llvm.mlir.zero : {accumulator}
           %lane = rocdl.workitem.id.x : i32
           %base = llvm.mlir.addressof @lds : !llvm.ptr<3>
           %shared = llvm.getelementptr %base[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, {fragment}
           %cp = llvm.getelementptr %c[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {accumulator}
           llvm.br ^loop(%begin, {zeros} : i32, {types})
         ^loop(%i: i32, {carried}):
           %at = llvm.add %i, %lane : i32
           %ap = llvm.getelementptr %a[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {fragment}
           %bp = llvm.getelementptr %b[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {fragment}
           {body}
           %next = llvm.add %i, %advance : i32
           %more = llvm.icmp \"slt\" %next, %k : i32
           llvm.cond_br %more, ^loop(%next, {last} : i32, {types}), ^end
         ^end:
           {stores}
           llvm.return
         }}",
        16 * steps
    )
}

fn info(tiles: u32) -> KernelInfo {
    KernelInfo {
        name: "gemm".to_owned(),
        block: [64, 1, 1],
        dynamic_lds_bytes: 0,
        k_step: Some(KStep { k: 16, mma: tiles }),
    }
}

fn compile_text(
    text: &str,
    kernel: &KernelInfo,
    chip: &str,
    options: &Options,
) -> Result<CodeObject, RocdlError> {
    let context = context();
    let module = Module::parse(&context, text).expect("the test's module parses");
    compile(&module, kernel, chip, options)
}

#[test]
fn compiles_a_gemm_for_every_chip() {
    for chip in CHIPS {
        let options = Options {
            want_llvm_ir: true,
            want_isa: true,
            ..Options::default()
        };
        let code = compile_text(&gemm(chip, 2, 2, 4096), &info(2), chip, &options).unwrap();
        assert!(
            code.isa
                .as_ref()
                .unwrap()
                .contains("v_wmma_f32_16x16x16_f16")
        );
        assert!(
            code.llvm_ir
                .as_ref()
                .unwrap()
                .contains("amdgpu_kernel void @gemm")
        );
        assert_eq!(code.warnings, [""; 0]);

        let resources = code.resources;
        assert_eq!(resources.lds_bytes, 4096);
        assert_eq!((resources.vgpr_spills, resources.sgpr_spills), (0, 0));
        assert_eq!((resources.scratch_bytes, resources.agprs), (0, 0));
        assert!((20..128).contains(&resources.vgprs), "{resources:?}");
        let machine = Machine::by_name(chip).unwrap();
        let workgroup = Workgroup {
            waves: 2,
            vgprs: resources.vgprs,
            lds_bytes: 4096,
        };
        assert_eq!(
            resources.waves_per_simd,
            machine.waves_per_simd(workgroup),
            "{chip}"
        );
        assert_eq!(
            resources.resident_workgroups,
            machine.resident_workgroups(workgroup)
        );

        let main_loop = resources.main_loop.unwrap();
        assert_eq!(
            (main_loop.mma, main_loop.k_per_iteration),
            (4, Some(32)),
            "{main_loop:?}"
        );
        let [fragment_loads, a_and_b] = if chip == "gfx1201" { [1, 6] } else { [2, 12] };
        assert_eq!(main_loop.lds_stores, 2 * fragment_loads);
        assert_eq!(main_loop.lds_loads, 2 * fragment_loads);
        assert_eq!(main_loop.global_loads, a_and_b);
        assert!(main_loop.waits > 0 && main_loop.salu > 0 && main_loop.other > 0);
        let MainLoop {
            mma,
            lds_loads,
            lds_stores,
            global_loads,
            waits,
            valu,
            salu,
            other,
            ..
        } = main_loop;
        let sum = mma + lds_loads + lds_stores + global_loads + waits + valu + salu + other;
        assert_eq!(sum, main_loop.total);

        let kinds: Vec<_> = code
            .metadata
            .arguments
            .iter()
            .map(|a| a.kind.as_str())
            .collect();
        assert_eq!(
            kinds[..4],
            [
                "global_buffer",
                "global_buffer",
                "global_buffer",
                "by_value"
            ]
        );
        assert_eq!((code.metadata.wave, code.metadata.max_lanes), (32, 64));
        assert_eq!(code.metadata.descriptor, "gemm.kd");
    }
}

#[test]
fn the_main_loop_is_as_snapshot() {
    let code = compile_text(
        &gemm("gfx1201", 1, 1, 4096),
        &info(1),
        "gfx1201",
        &Options::default(),
    );
    let code = code.unwrap();
    let listing = disassemble(&code.hsaco, "gemm", "gfx1201").unwrap();
    let text: Vec<_> = listing
        .iter()
        .map(|instruction| instruction.text.as_str())
        .collect();
    insta::assert_snapshot!("gfx1201_disassembly", text.join("\n"));
    insta::assert_json_snapshot!("gfx1201_resources", code.resources);
}

#[test]
fn a_gpu_module_inside_does_as_well() {
    let plain = gemm("gfx1100", 1, 1, 4096);
    let nested = format!("gpu.module @kernels {{ {plain} }}");
    let compile = |text: &str| compile_text(text, &info(1), "gfx1100", &Options::default());
    assert!(compile(&plain).unwrap().hsaco == compile(&nested).unwrap().hsaco);
}

#[test]
fn threads_do_not_change_a_byte() {
    let compile = |chip: &str| {
        let text = gemm(chip, 3, 2, 8192);
        compile_text(&text, &info(3), chip, &Options::default())
            .unwrap()
            .hsaco
    };
    let alone = CHIPS.map(compile);
    (0..12).into_par_iter().for_each(|index| {
        assert!(
            compile(CHIPS[index % 3]) == alone[index % 3],
            "{}",
            CHIPS[index % 3]
        );
    });
}

#[test]
fn the_block_and_lds_are_checked() {
    let text = gemm("gfx1201", 1, 1, 4096);
    let compile = |kernel| compile_text(&text, &kernel, "gfx1201", &Options::default());
    for block in [
        [0, 1, 1],
        [1025, 1, 1],
        [32, 33, 1],
        [u32::MAX, u32::MAX, 2],
    ] {
        let error = compile(KernelInfo { block, ..info(1) }).unwrap_err();
        assert!(
            matches!(error, RocdlError::Block { most: 1024, .. }),
            "{error}"
        );
    }
    let error = compile(KernelInfo {
        dynamic_lds_bytes: u32::MAX,
        ..info(1)
    })
    .unwrap_err();
    assert!(
        matches!(error, RocdlError::Lds { most: 65536, .. }),
        "{error}"
    );
    // Allowed alone, too much beside the static bytes.
    let error = compile(KernelInfo {
        dynamic_lds_bytes: 65536,
        ..info(1)
    })
    .unwrap_err();
    assert_eq!(
        error,
        RocdlError::Lds {
            bytes: 69632,
            chip: "gfx1201".into(),
            most: 65536
        }
    );
    let code = compile(KernelInfo {
        dynamic_lds_bytes: 28672,
        ..info(1)
    })
    .unwrap();
    assert_eq!(
        (code.resources.lds_bytes, code.resources.resident_workgroups),
        (32768, 2)
    );
}

#[test]
fn static_lds_over_the_limit_is_an_error() {
    let text = gemm("gfx1100", 1, 1, 70_000);
    let error = compile_text(&text, &info(1), "gfx1100", &Options::default()).unwrap_err();
    assert!(
        matches!(error, RocdlError::Llvm(LlvmError::Refused { .. })),
        "{error}"
    );
    assert!(error.to_string().contains("70000"), "{error}");
}

#[test]
fn names_are_checked() {
    let text = gemm("gfx1201", 1, 1, 4096);
    for name in ["", "9", "a b", "gemm\0", "ge/mm", &"a".repeat(256)] {
        let kernel = KernelInfo {
            name: name.to_owned(),
            ..info(1)
        };
        let error = compile_text(&text, &kernel, "gfx1201", &Options::default()).unwrap_err();
        assert_eq!(error, RocdlError::Name(name.to_owned()));
    }
    let kernel = KernelInfo {
        name: "other".to_owned(),
        ..info(1)
    };
    let error = compile_text(&text, &kernel, "gfx1201", &Options::default()).unwrap_err();
    assert!(error.to_string().ends_with("it has gemm"), "{error}");
    for chip in ["gfx1200", "gfx942", "", "gfx"] {
        let error = compile_text(&text, &info(1), chip, &Options::default()).unwrap_err();
        assert!(matches!(error, RocdlError::UnknownChip(_)), "{error}");
    }
}

#[test]
fn operations_that_the_chip_lacks_are_errors() {
    let kernel = |body: &str| {
        format!("llvm.func @gemm() attributes {{rocdl.kernel}} {{ {body}\n llvm.return }}")
    };
    let compile =
        |body: &str, chip| compile_text(&kernel(body), &info(1), chip, &Options::default());
    compile("rocdl.s.wait.dscnt 0", "gfx1201").unwrap();
    let error = compile("rocdl.s.wait.dscnt 0", "gfx1100").unwrap_err();
    assert_eq!(error.to_string(), "gfx1100 has no `rocdl.s.wait.dscnt`");
    let intrinsic = "llvm.call_intrinsic \"llvm.amdgcn.s.barrier.signal\"(%n) : (i32) -> ()";
    let error = compile(
        &format!("%n = llvm.mlir.constant(1 : i32) : i32 {intrinsic}"),
        "gfx1151",
    );
    assert!(matches!(error.unwrap_err(), RocdlError::Intrinsic { .. }));
    // One that the table does not know reaches LLVM, and the guard.
    let unlisted = "%q = llvm.mlir.zero : !llvm.ptr<3>
        %x = rocdl.s.get.named.barrier.state %q : !llvm.ptr<3> -> i32
        llvm.store volatile %x, %q : i32, !llvm.ptr<3>";
    for _ in 0..2 {
        let error = compile(unlisted, "gfx1100").unwrap_err();
        assert!(
            matches!(error, RocdlError::Llvm(LlvmError::Crashed { .. })),
            "{error:?}"
        );
    }
    compile("rocdl.s.setprio 1", "gfx1100").unwrap();
}

#[test]
fn inline_assembly_is_assembled_or_an_error() {
    let compile = |text: &str| {
        let kernel = format!(
            "llvm.func @gemm() attributes {{rocdl.kernel}} {{
               llvm.inline_asm has_side_effects \"{text}\", \"\" : () -> ()
               llvm.return
             }}"
        );
        compile_text(&kernel, &info(1), "gfx1201", &Options::default())
    };
    compile("s_nop 1").unwrap();
    assert!(
        compile("s_nap 1")
            .unwrap_err()
            .to_string()
            .contains("invalid instruction")
    );
}

#[test]
fn what_has_no_translation_is_an_error() {
    let text = "func.func @f() { return }
        llvm.func @gemm() attributes {rocdl.kernel} { llvm.return }";
    let error = compile_text(text, &info(1), "gfx1201", &Options::default()).unwrap_err();
    assert!(matches!(error, RocdlError::Module(_)), "{error}");
    assert!(error.to_string().contains("func"), "{error}");
}

#[test]
fn functions_of_their_own_features_must_be_in_cu_mode() {
    let compile = |features: &str| {
        let text = format!(
            "llvm.func @gemm() attributes {{rocdl.kernel,
               passthrough = [[\"target-features\", \"{features}\"]]}} {{ llvm.return }}"
        );
        compile_text(&text, &info(1), "gfx1201", &Options::default())
    };
    compile("+cumode").unwrap();
    assert_eq!(
        compile("+dot11-insts").unwrap_err(),
        RocdlError::CuMode("gemm".into())
    );
    assert!(
        compile("+cumode,+bogus")
            .unwrap_err()
            .to_string()
            .contains("+bogus")
    );
}

#[test]
fn spills_are_counted() {
    let text = gemm("gfx1100", 40, 1, 4096);
    let code = compile_text(&text, &info(40), "gfx1100", &Options::default()).unwrap();
    assert!(
        (241..=256).contains(&code.resources.vgprs),
        "{:?}",
        code.resources
    );
    assert!(code.resources.vgpr_spills > 0 && code.resources.scratch_bytes > 0);
}

#[test]
fn garbage_is_no_code_object() {
    let code = compile_text(
        &gemm("gfx1201", 1, 1, 4096),
        &info(1),
        "gfx1201",
        &Options::default(),
    );
    let hsaco = code.unwrap().hsaco;
    assert!(read_metadata(b"").is_err() && read_metadata(b"\x7fELF").is_err());
    assert!(disassemble(&hsaco, "other", "gfx1201").is_err());
    for length in (0..hsaco.len()).step_by(97) {
        // Cut short, it may or may not be readable, but never more than an error.
        let _ = read_metadata(&hsaco[..length]);
        let _ = disassemble(&hsaco[..length], "gemm", "gfx1201");
    }
    for at in (0..hsaco.len()).step_by(13) {
        let mut broken = hsaco.clone();
        broken[at] ^= 0xff;
        let _ = read_metadata(&broken);
        let _ = disassemble(&broken, "gemm", "gfx1201");
    }
}
