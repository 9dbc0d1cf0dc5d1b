//! Loading and launching a code object ends in a report or in an error, whatever the bytes.
//!
//! Run it from this crate's parent folder, starting from a folder of code objects:
//! `cargo fuzz run code_object OBJECTS -- -max_len=40000`

#![no_main]

use std::ffi::{c_char, c_int};

use libfuzzer_sys::fuzz_target;
use tilefold_sim::{Arg, CodeObject, Launch, Simulator, Trace};

fuzz_target!(|bytes: &[u8]| {
    let Ok(object) = CodeObject::load(bytes) else {
        return;
    };
    let names: Vec<String> = object.kernels().map(|kernel| kernel.name.clone()).collect();
    for name in names.iter().take(4) {
        let _ = object.unsupported(name);
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&[0; 4096]);
        let b = simulator.memory.alloc_output(4096);
        let launch = Launch {
            grid: [2, 1, 1],
            block: [64, 1, 1],
            args: [a, a, b].map(Arg::Buffer).to_vec(),
            max_instructions: 2000,
            trace: Some(Trace {
                limit: 20,
                ..Trace::default()
            }),
            ..Launch::default()
        };
        let _ = simulator.launch(&object, name, launch);
    }
});

type Input = extern "C" fn(*const u8, usize) -> c_int;

unsafe extern "C" {
    fn LLVMFuzzerRunDriver(argc: *mut c_int, argv: *mut *mut *mut c_char, input: Input) -> c_int;
    fn LLVMFuzzerTestOneInput(bytes: *const u8, length: usize) -> c_int;
}

/// Runs the fuzzer. It brings a `main` of its own, but so does one of MLIR's static libraries,
/// `mlir-opt`'s, and the linker would take whichever comes first.
#[unsafe(no_mangle)]
pub extern "C" fn main(mut argc: c_int, mut argv: *mut *mut c_char) -> c_int {
    extern "C" fn input(bytes: *const u8, length: usize) -> c_int {
        // SAFETY: the driver passes the bytes that it made.
        unsafe { LLVMFuzzerTestOneInput(bytes, length) }
    }
    // SAFETY: the arguments are those that C passes to `main`, and stay alive until it returns.
    unsafe { LLVMFuzzerRunDriver(&mut argc, &mut argv, input) }
}
