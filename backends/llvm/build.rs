//! Compiles the C++ shim, which holds what LLVM and lld offer to C++ alone.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shim");

    // The prefix that mlir-sys takes its LLVM from; without one, Debian's place.
    let config = env::var_os("MLIR_SYS_220_PREFIX")
        .map(|prefix| Path::new(&prefix).join("bin/llvm-config"))
        .filter(|config| config.exists())
        .unwrap_or_else(|| Path::new("/usr/lib/llvm-22/bin/llvm-config").to_owned());
    let include = answer(&config, "--includedir");
    let libraries = answer(&config, "--libdir");

    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flag("-fno-exceptions")
        // As LLVM itself was built: its inline functions must be the same on both sides.
        .define("NDEBUG", None)
        // LLVM's own headers are not to be warned about.
        .flag("-isystem")
        .flag(&include)
        .files(["shim/guard.cpp", "shim/codegen.cpp", "shim/link.cpp"])
        .compile("tilefold_llvm_shim");

    println!("cargo:rustc-link-search={libraries}");
    // lld's own two archives; the LLVM libraries that they need come with mlir-sys.
    println!("cargo:rustc-link-lib=static=lldELF");
    println!("cargo:rustc-link-lib=static=lldCommon");
}

fn answer(config: &Path, question: &str) -> String {
    let output = Command::new(config)
        .arg(question)
        .output()
        .unwrap_or_else(|error| panic!("{} does not run: {error}", config.display()));
    assert!(
        output.status.success(),
        "{} {question}: {}",
        config.display(),
        output.status
    );
    String::from_utf8(output.stdout)
        .expect("llvm-config answers in UTF-8")
        .trim()
        .to_owned()
}
