//! Main loops compute no addresses, however wide accesses are.

use tilefold::{CompileOptions, Compiled, Spec, compile};
use tilefold_rocdl::{address_arithmetic, disassemble};

fn compiled(chip: &str, element: &str, ld: &str, order: &str, more: &str) -> Compiled {
    let spec = format!(
        "arch = \"{chip}\"\ngemm.m = 1024\ngemm.n = 1024\ngemm.k = 1536\n\
         gemm.a = {{ type = \"{element}\", layout = \"{order}\"{ld} }}\n\
         gemm.b = {{ type = \"{element}\", layout = \"col\"{ld} }}\n\
         gemm.c = {{ type = \"{element}\", layout = \"col\" }}\n\
         gemm.accumulate = \"{element}\"\n[schedule]\nprefetch = \"interleaved\"\n{more}"
    );
    let spec = Spec::from_toml("spec.toml", spec).unwrap();
    compile(&spec, &CompileOptions::default()).unwrap()
}

fn left(compiled: &Compiled) -> usize {
    let arch = &compiled.manifest.arch;
    let code = disassemble(&compiled.code.hsaco, &compiled.plan.kernel, arch).unwrap();
    address_arithmetic(&code)
}

/// Constants of many narrow loads by one register.
#[test]
fn constants_of_narrow_loads_are_immediates() {
    for (chip, bits, ld) in [
        ("gfx1100", 16, ", ld = 1537"),
        ("gfx1151", 16, ", ld = 1537"),
        ("gfx1201", 16, ""),
        ("gfx1100", 32, ", ld = 1538"),
    ] {
        let load = format!("[atoms]\nload = \"buffer_load_b{bits}\"");
        let more = format!("[tile]\nblock = [128, 128, 64]\n{load}");
        let compiled = compiled(chip, "f16", ld, "row", &more);
        let many = compiled.code.resources.main_loop.unwrap().global_loads;
        assert!(many >= 1024 / bits, "{many} of {bits} bits");
        assert_eq!(left(&compiled), 0, "{chip}, loads of {bits} bits");
    }
}

/// A register of stores to LDS that is a sum, both in front of the loop and in it.
#[test]
fn registers_that_are_sums_are_whole() {
    for chip in ["gfx1151", "gfx1201"] {
        let more = "[tile]\nblock = [256, 16, 48]\n[atoms]\nload = \"global_load_b64\"";
        let compiled = compiled(chip, "bf16", "", "col", more);
        assert_eq!(left(&compiled), 0, "{chip}");
    }
}
