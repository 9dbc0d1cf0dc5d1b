//! Reading a spec answers, whatever the bytes; and what it reads, it writes and reads again.
//!
//! Run it from this crate's parent folder, starting from the specs at hand:
//! `cargo fuzz run spec ../specs ../specs/ladder -- -max_len=70000`

#![no_main]

use std::ffi::{c_char, c_int};

use libfuzzer_sys::fuzz_target;
use tilefold_dialect::spec::Spec;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(spec) = Spec::from_toml("fuzz", bytes) {
        let again = Spec::from_toml("again", spec.to_toml()).expect("what is written can be read");
        assert_eq!(again, spec);
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
