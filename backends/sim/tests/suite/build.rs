//! Builds code objects with LLVM's clang.

use std::path::PathBuf;
use std::process::Command;

use tilefold_sim::CodeObject;

/// LLVM 22's clang, by the prefix that the workspace builds against.
fn clang() -> PathBuf {
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
const PRELUDE: &str = r#"
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

/// The assembly of an OpenCL C source.
#[allow(dead_code)]
pub fn assembly(chip: &str, source: &str) -> String {
    String::from_utf8(run(
        chip,
        "cl",
        &format!("{PRELUDE}{source}"),
        &["-cl-std=CL2.0", "-S"],
    ))
    .expect("assembly is text")
}

/// The code object of an assembly source.
#[allow(dead_code)]
pub fn assemble(chip: &str, source: &str) -> CodeObject {
    CodeObject::load(&run(chip, "assembler", source, &[])).expect("clang's output loads")
}
