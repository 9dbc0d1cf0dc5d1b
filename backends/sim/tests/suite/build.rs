//! Builds code objects with LLVM's clang.

use std::path::PathBuf;
use std::process::Command;

use tilefold_sim::CodeObject;

/// LLVM 22's clang, by the prefix that the workspace builds against.
pub fn clang() -> PathBuf {
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or("/usr/lib/llvm-22".to_owned());
    PathBuf::from(prefix).join("bin/clang-22")
}

fn run(chip: &str, language: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (input, output) = (folder.path().join("source"), folder.path().join("output"));
    std::fs::write(&input, source).expect("the folder is writable");
    let result = Command::new(clang())
        .args([
            "-x",
            language,
            "-target",
            "amdgcn-amd-amdhsa",
            "-nogpulib",
            "-O3",
            "-mcumode",
        ])
        .arg(format!("-mcpu={chip}"))
        .args(flags)
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .expect("clang-22 of LLVM 22 is installed");
    let errors = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{chip}: {errors}\n{source}");
    std::fs::read(&output).expect("clang wrote its output")
}

/// What the sources use of OpenCL's library, whose functions are not linked.
pub const PRELUDE: &str = r#"
#define get_local_id(axis) ((int)(axis == 0 ? __builtin_amdgcn_workitem_id_x() : \
    axis == 1 ? __builtin_amdgcn_workitem_id_y() : __builtin_amdgcn_workitem_id_z()))
#define get_group_id(axis) ((int)(axis == 0 ? __builtin_amdgcn_workgroup_id_x() : \
    axis == 1 ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_z()))
#define barrier(flags) do { \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
#define atomic_add(p, v) __opencl_atomic_fetch_add((volatile global atomic_int *)(p), v, \
    memory_order_relaxed, memory_scope_device)
"#;

/// The ELF file of an assembly file.
pub fn assemble(chip: &str, source: &str) -> Vec<u8> {
    run(chip, "assembler", source, &[])
}

/// The same with flags for clang.
pub fn assemble_with(chip: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    run(chip, "assembler", source, flags)
}

fn wave_flags(chip: &str, wave: usize) -> &'static [&'static str] {
    match wave == 64 && !chip.starts_with("gfx9") {
        true => &["-mwavefrontsize64"],
        false => &[],
    }
}

/// The ELF file of an assembly file for waves of a size.
pub fn assemble_in(chip: &str, wave: usize, source: &str) -> Vec<u8> {
    run(chip, "assembler", source, wave_flags(chip, wave))
}

/// The assembly file that LLVM's `llc` makes of machine code in which all is done but the waits for
/// hazards.
pub fn padded(chip: &str, wave: usize, source: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input = folder.path().join("source.mir");
    std::fs::write(&input, source).expect("the folder is writable");
    let result = Command::new(clang().with_file_name("llc"))
        .args([
            "-mtriple=amdgcn-amd-amdhsa",
            "-start-before=post-RA-hazard-rec",
        ])
        .arg(format!("-mcpu={chip}"))
        .arg(format!("-mattr=+wavefrontsize{wave}"))
        .arg(&input)
        .args(["-o", "-"])
        .output()
        .expect("llc of LLVM 22 is installed");
    let errors = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{chip}: {errors}");
    String::from_utf8(result.stdout).expect("assembly is text")
}

/// What clang makes of an OpenCL C source before it is assembled.
pub fn assembly(chip: &str, source: &str) -> String {
    let flags = ["-cl-std=CL2.0", "-S"];
    let text = run(chip, "cl", &format!("{PRELUDE}{source}"), &flags);
    String::from_utf8(text).expect("assembly is text")
}

/// The same in waves of a size, with more flags.
pub fn assembly_in(chip: &str, wave: usize, source: &str, flags: &[&str]) -> String {
    let flags = [&["-cl-std=CL2.0", "-S"], wave_flags(chip, wave), flags].concat();
    let text = run(chip, "cl", &format!("{PRELUDE}{source}"), &flags);
    String::from_utf8(text).expect("assembly is text")
}

/// The ELF file of an OpenCL C source.
pub fn elf(chip: &str, source: &str) -> Vec<u8> {
    run(
        chip,
        "cl",
        &format!("{PRELUDE}{source}"),
        &["-cl-std=CL2.0"],
    )
}

/// The code object of an OpenCL C source.
pub fn compile(chip: &str, source: &str) -> CodeObject {
    CodeObject::load(&elf(chip, source)).expect("clang's output loads")
}

/// The same with more flags for clang.
pub fn compile_with(chip: &str, source: &str, flags: &[&str]) -> CodeObject {
    CodeObject::load(&elf_with(chip, source, flags)).expect("clang's output loads")
}

/// The ELF file of an OpenCL C source compiled with more flags.
pub fn elf_with(chip: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let flags = [&["-cl-std=CL2.0"], flags].concat();
    run(chip, "cl", &format!("{PRELUDE}{source}"), &flags)
}

/// A kernel `k` from its instructions, with three buffers as arguments, 1 KiB of LDS and 16 bytes
/// of scratch, in wave64 on gfx9 and in wave32 elsewhere. `{load}`, `{store}`, `{lds}`, `{scalar}`
/// and `{barrier}` stand for the chip's waits for all loads, stores, LDS operations and scalar
/// loads, and for its barrier, `{alu}` for a wait for scalar and vector instructions;
/// `{load but one}` and `{lds but one}` let the last one stand.
pub fn kernel(chip: &str, body: &str) -> CodeObject {
    CodeObject::load(&kernel_elf(chip, body)).expect("clang's output loads")
}

/// The same in waves of another size.
pub fn kernel_in(chip: &str, wave: usize, body: &str) -> CodeObject {
    let mut source = kernel_source(chip, body);
    let mut flags = vec!["-g"];
    if wave == 64 && !chip.starts_with("gfx9") {
        source = source
            .replace(".amdhsa_wavefront_size32 1", ".amdhsa_wavefront_size32 0")
            .replace(".wavefront_size: 32", ".wavefront_size: 64");
        flags.push("-mwavefrontsize64");
    }
    let elf = run(chip, "assembler", &source, &flags);
    CodeObject::load(&elf).expect("clang's output loads")
}

/// The ELF file of such a kernel, with the lines of its source.
pub fn kernel_elf(chip: &str, body: &str) -> Vec<u8> {
    run(chip, "assembler", &kernel_source(chip, body), &["-g"])
}

/// The source of such a kernel.
pub fn kernel_source(chip: &str, body: &str) -> String {
    let gfx12 = chip.starts_with("gfx12");
    let gfx9 = chip.starts_with("gfx9");
    // gfx9 shares one register file between both kinds, a0 from 64 here.
    let (wave, registers) = match gfx9 {
        true => (64, ".amdhsa_accum_offset 64"),
        false => (
            32,
            ".amdhsa_wavefront_size32 1\n    .amdhsa_workgroup_processor_mode 1",
        ),
    };
    let words = match gfx12 {
        true => [
            ("{load}", "s_wait_loadcnt 0"),
            ("{load but one}", "s_wait_loadcnt 1"),
            ("{lds but one}", "s_wait_dscnt 1"),
            ("{lds}", "s_wait_dscnt 0"),
            ("{scalar}", "s_wait_kmcnt 0"),
            ("{store}", "s_wait_storecnt 0"),
            ("{alu}", "s_wait_alu 0"),
            ("{barrier}", "s_barrier_signal -1\ns_barrier_wait -1"),
        ],
        false => [
            ("{load}", "s_waitcnt vmcnt(0)"),
            ("{load but one}", "s_waitcnt vmcnt(1)"),
            ("{lds but one}", "s_waitcnt lgkmcnt(1)"),
            ("{lds}", "s_waitcnt lgkmcnt(0)"),
            ("{scalar}", "s_waitcnt lgkmcnt(0)"),
            ("{alu}", if gfx9 { "" } else { "s_waitcnt_depctr 0" }),
            (
                "{store}",
                if gfx9 {
                    "s_waitcnt vmcnt(0)"
                } else {
                    "s_waitcnt_vscnt null, 0"
                },
            ),
            ("{barrier}", "s_barrier"),
        ],
    };
    let body = words
        .iter()
        .fold(body.to_owned(), |body, (from, to)| body.replace(from, to));
    format!(
        r#"
.amdgcn_target "amdgcn-amd-amdhsa--{chip}"
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
s_endpgm
.section .rodata,"a"
.p2align 6
.amdhsa_kernel k
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 128
    .amdhsa_next_free_sgpr 64
    .amdhsa_group_segment_fixed_size 1024
    .amdhsa_private_segment_fixed_size 16
    {registers}
    .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--{chip}
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 16
    .wavefront_size: {wave}
    .sgpr_count: 64
    .vgpr_count: 128
    .max_flat_workgroup_size: 1024
    .args:
      - {{.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}}
      - {{.address_space: global, .offset: 8, .size: 8, .value_kind: global_buffer}}
      - {{.address_space: global, .offset: 16, .size: 8, .value_kind: global_buffer}}
...
.end_amdgpu_metadata
"#
    )
}
