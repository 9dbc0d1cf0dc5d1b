//! The command line: reports, forms of the kernel, and foreign code objects.

use super::{scratch, tilefold};
use serde_json::Value;
use tilefold::{Manifest, PASSES};

fn report(arguments: &[&str]) -> Value {
    let output = tilefold(arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn compile_report_has_its_keys() {
    let report = report(&["compile", "specs/ladder/2.toml", "--report", "json"]);
    let keys: Vec<_> = report
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for key in [
        "arch",
        "kernel",
        "vgprs",
        "agprs",
        "sgprs",
        "lds_bytes",
        "scratch_bytes",
        "vgpr_spills",
        "sgpr_spills",
        "waves_per_simd",
        "resident_workgroups",
        "main_loop",
        "plan",
        "compile_ms",
    ] {
        assert!(keys.contains(&key), "{key} is missing of {keys:?}");
    }
    for key in [
        "mma",
        "lds_loads",
        "lds_stores",
        "global_loads",
        "waits",
        "valu",
        "salu",
        "other",
        "total",
        "k_per_iteration",
    ] {
        assert!(report["main_loop"][key].is_number(), "main_loop.{key}");
    }
    insta::assert_json_snapshot!(report["plan"]);
}

#[test]
fn run_report_has_its_keys() {
    let arguments = [
        "run",
        "specs/ladder/2.toml",
        "--m",
        "256",
        "--n",
        "256",
        "--k",
        "64",
    ];
    let report = report(&[&arguments[..], &["--report", "json"]].concat());
    assert_eq!(report["correct"], true);
    assert_eq!(report["mismatches"], 0);
    assert_eq!(report["max_abs_error"], 0.0);
    assert!(report["seconds"].is_number());
    for key in [
        "lds_conflict_cycles_read",
        "lds_conflict_cycles_write",
        "wave_instructions",
        "mma",
        "global_bytes_read",
        "global_bytes_written",
    ] {
        assert!(report["counters"][key].is_number(), "counters.{key}");
    }
    assert!(
        report["checks"]
            .as_object()
            .unwrap()
            .values()
            .all(|count| *count == 0)
    );
}

#[test]
fn every_form_is_printed() {
    for form in ["tile", "partition", "widen-copies", "rocdl", "llvm", "isa"] {
        let output = tilefold(&["compile", "specs/ladder/2.toml", "--emit", form]);
        assert!(output.status.success(), "{output:?}");
        assert!(output.stdout.len() > 200, "{form}");
    }
    let hsaco = tilefold(&["compile", "specs/ladder/2.toml", "--emit", "hsaco"]).stdout;
    assert!(hsaco.starts_with(b"\x7fELF"));
    // A form that this plan has not is refused, as is one that nobody has.
    for form in ["one-buffer", "nothing"] {
        let output = tilefold(&["compile", "specs/ladder/2.toml", "--emit", form]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    assert!(PASSES.iter().any(|pass| pass.name == "one-buffer"));
}

/// An array file of version 1.0.
fn npy(shape: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f2', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), bytes].concat()
}

#[test]
fn sim_runs_a_code_object_from_files() {
    let folder = scratch("sim");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let hsaco = path("gemm.hsaco");
    let compiled = tilefold(&["compile", "specs/ladder/2.toml", "-o", &hsaco]);
    assert!(compiled.status.success(), "{compiled:?}");
    let manifest = std::fs::read_to_string(path("gemm.hsaco.json")).unwrap();
    let manifest: Manifest = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest.block, [512, 1, 1]);
    assert_eq!(manifest.grid.size(512, 256, 64).unwrap(), [2, 1, 1]);

    // A[i][k] = i mod 8, B all ones: every element of C's row i is 64 (i mod 8).
    let f16 = |value: f32| half::f16::from_f32(value).to_le_bytes();
    let a: Vec<u8> = (0..256 * 64)
        .flat_map(|e| f16((e / 64 % 8) as f32))
        .collect();
    let b: Vec<u8> = (0..256 * 64).flat_map(|_| f16(1.0)).collect();
    std::fs::write(path("a.npy"), npy("(256, 64)", &a)).unwrap();
    std::fs::write(path("b.npy"), npy("(256, 64)", &b)).unwrap();
    let c_file = npy("(256, 256)", &vec![0; 256 * 256 * 2]);
    std::fs::write(path("c.npy"), &c_file).unwrap();
    let buffers = ["in:a.npy", "in:b.npy", "out:c.npy"].map(|text| {
        let (kind, name) = text.split_once(':').unwrap();
        format!("{kind}:{}", path(name))
    });
    let mut arguments = vec!["sim", &hsaco, "--kernel", "gemm", "--grid", "1,1,1"];
    arguments.extend(["--block", "512,1,1", "--report", "json"]);
    for text in buffers.iter().map(String::as_str).chain([
        "i32:256", "i32:256", "i32:64", "i32:64", "i32:64", "i32:256",
    ]) {
        arguments.extend(["--arg", text]);
    }
    let report = report(&arguments);
    assert_eq!(report["counters"]["mma"], 16 * 16 * 4);
    let c = std::fs::read(path("c.npy")).unwrap();
    let header = c_file.len() - 256 * 256 * 2;
    assert_eq!(c[..header], c_file[..header]);
    // C is column-major: consecutive elements are rows.
    for (index, element) in c[header..].chunks(2).enumerate() {
        assert_eq!(
            element,
            f16((index % 256 % 8 * 64) as f32),
            "element {index}"
        );
    }

    // An argument that is no argument.
    let output = tilefold(&[
        "sim", &hsaco, "--kernel", "gemm", "--grid", "1", "--block", "512", "--arg", "i31:4",
    ]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
