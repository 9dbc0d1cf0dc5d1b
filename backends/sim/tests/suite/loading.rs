//! Files that are no code objects are refused, whatever is in them.

use proptest::prelude::*;
use tilefold_sim::{CodeObject, Error};

use crate::build;

fn add() -> Vec<u8> {
    build::elf(
        "gfx1100",
        "kernel void k(global int *x) { x[get_local_id(0)] += 1; }",
    )
}

#[test]
fn truncated_files_are_refused() {
    let elf = add();
    assert!(CodeObject::load(&elf).is_ok());
    for length in 0..elf.len() {
        // Section headers at the end are not needed; all before is.
        let _ = CodeObject::load(&elf[..length]);
    }
    assert!(matches!(
        CodeObject::load(&elf[..64]),
        Err(Error::Format(_))
    ));
    assert!(matches!(CodeObject::load(&[]), Err(Error::Format(_))));
}

#[test]
fn other_chips_are_refused_by_name() {
    let elf = build::elf("gfx906", "kernel void k(global int *x) { x[0] = 1; }");
    let Err(Error::Chip { chip, known }) = CodeObject::load(&elf) else {
        panic!("gfx906 is not simulated");
    };
    assert_eq!(chip, "gfx906");
    assert!(known.contains("gfx1100"));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(CodeObject::load(&bytes).is_err());
    }
}
