//! Inputs, the reference, and the comparison with it.

mod compare;
mod encode;
mod inputs;
mod reference;

pub use compare::{Placement, compare};
pub use encode::{decode, encode};
pub use inputs::Inputs;
pub use reference::{Dense, Reference};
