//! Every vector ALU instruction in scope, in the operand forms LLVM emits, against models that
//! know nothing of the simulator.
//!
//! A chip's table holds instructions and models, from AMD's pseudo-code; [`forms`] makes of each
//! its encodings, constants, sign modifiers, `clamp`, DPP and SDWA; [`harness`] runs them all in
//! one kernel on 5,120 tuples of operands ([`operands`]) and compares bit by bit. What is laxer is
//! said at [`harness::Kind`]: NaNs of float results, and the last bit of transcendental functions.

mod bytes;
mod clamps;
mod compares;
mod conversions;
mod cubes;
mod division;
mod dots;
mod doubles;
pub mod extrema;
mod floats;
mod forms;
mod halves;
pub mod harness;
mod integers;
mod integers_more;
mod lanes;
mod norms;
pub mod numbers;
pub mod operands;
mod parts;
mod scope;
mod table;
mod turns;

use table::Table;

fn table(chip: &'static str) -> Table {
    let mut table = Table {
        chip,
        cases: Vec::new(),
    };
    integers::add(&mut table);
    floats::add(&mut table);
    conversions::add(&mut table);
    compares::add(&mut table);
    lanes::add(&mut table);
    dots::add(&mut table);
    bytes::add(&mut table);
    turns::add(&mut table);
    clamps::add(&mut table);
    cubes::add(&mut table);
    norms::add(&mut table);
    table
}

fn agrees(chip: &'static str) {
    let table = table(chip);
    let wrong = harness::differences(chip, &table.cases);
    assert!(
        wrong.is_empty(),
        "{} of {} forms differ:\n{}",
        wrong.len(),
        table.cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn gfx1100_agrees_with_the_models() {
    agrees("gfx1100");
}

#[test]
fn gfx1151_agrees_with_the_models() {
    agrees("gfx1151");
}

#[test]
fn gfx1201_agrees_with_the_models() {
    agrees("gfx1201");
}

#[test]
fn gfx950_agrees_with_the_models() {
    agrees("gfx950");
}
