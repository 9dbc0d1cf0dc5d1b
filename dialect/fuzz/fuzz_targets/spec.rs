//! Reading a spec answers, whatever the bytes; and what it reads, it writes and reads again.
//!
//! Run it from this crate's parent folder, starting from the specs at hand:
//! `cargo fuzz run spec ../specs ../specs/ladder -- -max_len=70000`

#![no_main]

use libfuzzer_sys::fuzz_target;
use tilefold_dialect::spec::Spec;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(spec) = Spec::from_toml("fuzz", bytes) {
        let again = Spec::from_toml("again", spec.to_toml()).expect("what is written can be read");
        assert_eq!(again, spec);
    }
});
