//! Kernels that clang compiles from `tests/kernels`, without and with optimisation, in waves of 32
//! and 64, executed and compared with the CPU; no check may find anything in them, and the checks
//! must find what deliberately broken builds of them do.

mod atomics;
mod broken;
mod constants;
mod gemm;
mod integers;
mod pending;
mod races;
mod reals;
mod reductions;
mod rows;
mod scratch;
mod signals;
mod triton;
mod vectors;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use rayon::prelude::*;
use tilefold_sim::{Arg, CodeObject, Launch, Report, Simulator};

/// How a source is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Build {
    pub chip: &'static str,
    pub opt: &'static str,
    pub wave: u32,
    /// A macro that breaks the kernel.
    pub broken: Option<&'static str>,
}

/// Every simulated chip.
pub const CHIPS: [&str; 4] = ["gfx1100", "gfx1151", "gfx1201", "gfx950"];

/// Without and with optimisation on every chip, and waves of 64 where 32 is the rule.
pub fn builds() -> Vec<Build> {
    let build = |chip, opt, wave| Build {
        chip,
        opt,
        wave,
        broken: None,
    };
    let mut builds = Vec::new();
    for chip in CHIPS {
        let own = if chip.starts_with("gfx9") { 64 } else { 32 };
        builds.extend(["-O0", "-O3"].map(|opt| build(chip, opt, own)));
        if own == 32 && chip != "gfx1151" {
            builds.push(build(chip, "-O3", 64));
        }
    }
    builds
}

/// The code object of a source in `tests/kernels`, compiled once for all tests.
pub fn object(file: &'static str, build: Build) -> Arc<CodeObject> {
    type Slot = Arc<OnceLock<Arc<CodeObject>>>;
    static CACHE: OnceLock<Mutex<HashMap<(&str, Build), Slot>>> = OnceLock::new();
    let slot = {
        let mut cache = CACHE
            .get_or_init(Mutex::default)
            .lock()
            .expect("compiling panics outside the lock");
        Arc::clone(cache.entry((file, build)).or_default())
    };
    Arc::clone(slot.get_or_init(|| Arc::new(compile(file, build))))
}

fn compile(file: &str, build: Build) -> CodeObject {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let output = tempfile::tempdir().expect("a temporary folder");
    let output = output.path().join("kernel.hsaco");
    let mut clang = Command::new(crate::build::clang());
    let target = ["-target", "amdgcn-amd-amdhsa"];
    match Path::new(file).extension().and_then(|end| end.to_str()) {
        Some("cl") => clang.args(["-x", "cl", "-cl-std=CL2.0"]).args(target),
        Some("ll") => clang.args(["-x", "ir"]).args(target),
        _ => clang.args([
            "-x",
            "hip",
            "-std=c++17",
            "--cuda-device-only",
            "-nogpuinc",
            "--no-gpu-bundle-output",
        ]),
    };
    match file.ends_with(".hip") {
        true => clang.arg(format!("--offload-arch={}", build.chip)),
        false => clang.arg(format!("-mcpu={}", build.chip)),
    };
    // Both versions of the code object's layout, and on one chip the mode that keeps a workgroup
    // on half a processor.
    clang.arg(match build.opt {
        "-O0" => "-mcode-object-version=5",
        _ => "-mcode-object-version=6",
    });
    if build.chip == "gfx1151" {
        clang.arg("-mcumode");
    }
    if build.wave == 64 && !build.chip.starts_with("gfx9") {
        clang.args(["-mwavefrontsize64", "-DWAVE64"]);
    }
    clang.args(build.broken.map(|name| format!("-D{name}")));
    let result = clang
        .args(["-nogpulib", "-w", build.opt, "-I"])
        .arg(&folder)
        .arg(folder.join(file))
        .arg("-o")
        .arg(&output)
        .output()
        .expect("clang-22 of LLVM 22 is installed");
    let errors = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{file} {build:?}: {errors}");
    let elf = std::fs::read(&output).expect("clang wrote its output");
    CodeObject::load(&elf).unwrap_or_else(|error| panic!("{file} {build:?}: {error}"))
}

/// An argument of a kernel.
pub enum Value {
    In(Vec<u8>),
    /// An output of so many bytes.
    Out(usize),
    InOut(Vec<u8>),
    I32(i32),
    U64(u64),
    F32(f32),
    F16(f32),
    Bytes(Vec<u8>),
}

/// Launches a kernel; yields the report and what is in the outputs, in order.
pub fn launch(
    object: &CodeObject,
    kernel: &str,
    grid: [u32; 3],
    block: [u32; 3],
    values: &[Value],
    dynamic_lds: u32,
) -> Result<(Report, Vec<Vec<u8>>), tilefold_sim::Error> {
    let mut simulator = Simulator::new();
    let mut outputs = Vec::new();
    let args = values
        .iter()
        .map(|value| match value {
            Value::In(bytes) => Arg::Buffer(simulator.memory.alloc_input(bytes)),
            Value::Out(len) => {
                outputs.push(simulator.memory.alloc_output(*len));
                Arg::Buffer(outputs[outputs.len() - 1])
            }
            Value::InOut(bytes) => {
                outputs.push(simulator.memory.alloc_inout(bytes));
                Arg::Buffer(outputs[outputs.len() - 1])
            }
            Value::I32(value) => Arg::I32(*value),
            Value::U64(value) => Arg::I64(*value as i64),
            Value::F32(value) => Arg::F32(*value),
            Value::F16(value) => Arg::F16(half::f16::from_f32(*value).to_bits()),
            Value::Bytes(bytes) => Arg::Bytes(bytes.clone()),
        })
        .collect();
    let launch = Launch {
        grid,
        block,
        args,
        dynamic_lds,
        ..Launch::default()
    };
    let report = simulator.launch(object, kernel, launch)?;
    let outputs = outputs.iter().map(|&id| simulator.memory.read(id));
    Ok((report, outputs.collect()))
}

/// A kernel's launch, the same for every build.
pub struct Case {
    pub file: &'static str,
    pub kernel: &'static str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub values: Vec<Value>,
}

impl Case {
    /// A launch over `grid` workgroups of `block` work-items.
    pub fn new(
        file: &'static str,
        kernel: &'static str,
        grid: u32,
        block: u32,
        values: Vec<Value>,
    ) -> Case {
        Case {
            file,
            kernel,
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            values,
        }
    }

    /// Runs every build, which no check may complain about, and hands the outputs to `compare`.
    pub fn check(&self, compare: impl Fn(&str, &[Vec<u8>]) + Sync) {
        in_parallel(|build| {
            let label = format!("{} {} {build:?}", self.file, self.kernel);
            let object = object(self.file, build);
            let (report, outputs) =
                launch(&object, self.kernel, self.grid, self.block, &self.values, 0)
                    .unwrap_or_else(|error| panic!("{label}: {error}"));
            for &count in report.checks.values() {
                assert_eq!(count, 0, "{label}: false alarm: {:#?}", report.findings);
            }
            compare(&label, &outputs);
        });
    }

    /// The report of a broken build.
    pub fn broken(&self, chip: &'static str, opt: &'static str, name: &'static str) -> Report {
        let build = Build {
            chip,
            opt,
            wave: if chip.starts_with("gfx9") { 64 } else { 32 },
            broken: Some(name),
        };
        let object = object(self.file, build);
        launch(&object, self.kernel, self.grid, self.block, &self.values, 0)
            .unwrap_or_else(|error| panic!("{} {build:?}: {error}", self.kernel))
            .0
    }
}

/// Does something for every build.
pub fn in_parallel(each: impl Fn(Build) + Sync) {
    in_parallel_of(&builds(), each);
}

/// Does something for builds. What panics in a thread of the pool is said again in the test's own,
/// whose output is shown.
pub fn in_parallel_of(builds: &[Build], each: impl Fn(Build) + Sync) {
    let all = || builds.par_iter().for_each(|&build| each(build));
    if let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)) {
        match payload.downcast_ref::<String>() {
            Some(message) => panic!("{message}"),
            None => std::panic::resume_unwind(payload),
        }
    }
}

/// Numbers as their bytes and back.
pub trait Number: Copy {
    fn put(self) -> Vec<u8>;
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            fn put(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn get(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().expect("the bytes of one number"))
            }
        }
    )*};
}
numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 half::f16 half::bf16);

pub fn put<T: Number>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|&value| value.put()).collect()
}

pub fn get<T: Number>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::get).collect()
}

/// Random words with small, huge and edge values among them.
pub fn edgy(seed: u64, n: usize) -> Vec<u32> {
    let mut numbers = crate::Numbers(seed);
    let edges = [0, 1, 2, 7, 0xff, 0x8000, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    (0..n)
        .map(|_| match numbers.next() % 4 {
            0 => edges[(numbers.next() % 9) as usize],
            1 => numbers.next() % 1000,
            _ => numbers.next(),
        })
        .collect()
}

/// The same of 64 bits.
pub fn edgy64(seed: u64, n: usize) -> Vec<u64> {
    let mut numbers = crate::Numbers(seed ^ 0x55);
    edgy(seed, 2 * n)
        .chunks_exact(2)
        .map(|pair| {
            let wide = u64::from(pair[0]) | u64::from(pair[1]) << 32;
            // Numbers of every length.
            if numbers.next().is_multiple_of(2) {
                wide >> (numbers.next() % 64)
            } else {
                wide
            }
        })
        .collect()
}
