//! Main loops compute no addresses, however wide accesses are.

use tilefold::{
    CompileOptions, Compiled,
    ElementType::{Bf8, Bf16, F16, F32},
    Gemm, LdsLayout, Operand,
    OperandLayout::{Col, Row},
    Prefetch, Spec, compile,
};
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

/// Narrow reads of a burst, which LLVM would join at the price of an addition each.
#[test]
fn reads_that_are_joined_take_no_sums() {
    let operand = |element, ld| Operand::new(element, Col).with_ld(ld);
    let problem = Gemm::new("gfx1100").m(100).n(250).k(80);
    let problem = problem
        .operand_a(operand(Bf16, 106))
        .b(Bf16, Col)
        .c(F16, Col);
    let tile = problem.accumulate(F32).block([48, 128, 80]).waves([1, 2]);
    for prefetch in [Prefetch::Burst, Prefetch::None] {
        let spec = tile.clone().lds(LdsLayout::Pad(2), LdsLayout::Pad(16));
        let spec = spec.prefetch(prefetch).build().unwrap();
        let compiled = compile(&spec, &CompileOptions::default()).unwrap();
        assert_eq!(left(&compiled), 0, "{prefetch}");
    }
}

/// Lanes that A and B have in common, and steps along both.
#[test]
fn lanes_of_both_matrices_are_added_to_neither() {
    let operand = |layout| Operand::new(Bf8, layout);
    let problem = Gemm::new("gfx1201").m(5).n(1000).k(8192);
    let problem = problem.operand_a(operand(Row)).operand_b(operand(Col));
    let tile = problem.c(F16, Row).accumulate(F32).block([16, 16, 128]);
    for load in ["global_load_b8", "global_load_b32"] {
        let mut spec = tile.clone().waves([1, 1]).build().unwrap();
        spec.plan.atoms.load = Some(load.into());
        spec.plan.schedule.prefetch = Some(Prefetch::Interleaved);
        let compiled = compile(&spec, &CompileOptions::default()).unwrap();
        assert_eq!(left(&compiled), 0, "{load}");
    }
}
