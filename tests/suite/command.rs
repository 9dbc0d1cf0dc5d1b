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

/// A kernel that doubles floats, compiled from LLVM IR beside the test.
fn doubling(folder: &std::path::Path) -> String {
    let ir = r#"
define amdgpu_kernel void @double(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %n) #0 {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %wide = zext i32 %group to i64
  %first = mul i64 %wide, 64
  %item = zext i32 %lane to i64
  %at = add i64 %first, %item
  %inside = icmp ult i64 %at, %n
  br i1 %inside, label %body, label %end
body:
  %from = getelementptr float, ptr addrspace(1) %x, i64 %at
  %value = load float, ptr addrspace(1) %from
  %twice = fadd float %value, %value
  %to = getelementptr float, ptr addrspace(1) %y, i64 %at
  store float %twice, ptr addrspace(1) %to
  br label %end
end:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
"#;
    use tilefold_llvm::{Chip, LlvmModule, codegen, link::link};
    let module = LlvmModule::parse(ir.as_bytes()).unwrap();
    let options = codegen::Options::new(Chip::find("gfx1201").unwrap());
    let elf = link(&codegen::generate(module, &options).unwrap().object).unwrap();
    let path = folder.join("double.hsaco");
    std::fs::write(&path, elf).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn sim_fills_buffers_samples_and_traces() {
    let folder = scratch("sim-patterns");
    let object = doubling(&folder);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let launch = |grid: &str, more: &[&str]| {
        let mut arguments = vec!["sim", &object, "--kernel", "double", "--grid", grid];
        arguments.extend(["--block", "64"]);
        arguments.extend(more);
        tilefold(&arguments)
    };
    let json = |output: std::process::Output| -> Value {
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };

    // Outputs by type and shape, written where a file is named.
    let out = format!("out:f32:10x10:{}", path("y.npy"));
    let trace = path("trace.txt");
    let report = json(launch(
        "2",
        &[
            "--arg",
            "in:f32:100:iota",
            "--arg",
            &out,
            "--arg",
            "i64:100",
            "--off",
            "range_reading,global_race",
            "--trace",
            &trace,
            "--trace-wave",
            "1,0,0:1",
            "--report",
            "json",
        ],
    ));
    let file = std::fs::read(path("y.npy")).unwrap();
    assert_eq!(&file[..6], b"\x93NUMPY");
    let elements: Vec<f32> = file[file.len() - 400..]
        .chunks(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let expected: Vec<f32> = (0..100).map(|index| 2.0 * index as f32).collect();
    assert_eq!(elements, expected);
    assert_eq!(
        report["off"],
        serde_json::json!(["global_race", "range_reading"])
    );
    assert!(report["checks"].get("range_reading").is_none());
    assert_eq!(report["counters"]["moved"]["global"]["written"], 400);
    assert!(report["instructions"].as_array().unwrap().len() > 8);
    assert!(report.get("trace").is_none(), "it stands in its file");
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(trace.starts_with("wave 1 of workgroup 1,0,0\n"), "{trace}");
    assert!(
        trace.contains("exec_lo = 0xf"),
        "four of its lanes are inside:\n{trace}"
    );

    // A buffer of 120 GB and a part of its grid.
    let elements = 30_000_000_000_u64;
    let (x, y) = (
        format!("in:f32:{elements}:random:3"),
        format!("out:f32:{elements}"),
    );
    let n = format!("i64:{elements}");
    let report = json(launch(
        "468750000",
        &[
            "--arg", &x, "--arg", &y, "--arg", &n, "--sample", "5", "--report", "json",
        ],
    ));
    let sampled = &report["sampled"];
    assert_eq!(sampled["of"], 468_750_000);
    assert_eq!(
        sampled["workgroups"][4],
        serde_json::json!([468_749_999, 0, 0])
    );
    assert_eq!(report["counters"]["moved"]["global"]["read"], 5 * 256);

    // The text has tables; a finding ends with status 1.
    let output = launch(
        "1",
        &[
            "--arg",
            "in:f32:64:ones",
            "--arg",
            "out:f32:63",
            "--arg",
            "i64:64",
        ],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "global_bounds",
        "1 finding",
        "bytes asked for",
        "executed",
        "lane 31",
        "wave 1",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    for wrong in [
        &["--arg", "in:f32:64:twos"][..],
        &["--arg", "in:f33:64:ones"],
        &["--off", "no_check"],
        &["--sample", "0"],
        &["--sample", "3", "--only", "0"],
        &["--only", "7"],
        &["--trace-limit", "3"],
        &["--arg", "null", "--arg", "null", "--arg", "i32:1"],
    ] {
        let output = launch("1", wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {output:?}");
    }
}
