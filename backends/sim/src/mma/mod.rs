//! Matrix instructions.
//!
//! AMD describes them as D = A x B + C and publishes no order of the additions inside. Here the
//! products and the sum of one instruction are formed in f64, in the order of k and with C first,
//! and rounded once to the accumulator's type; sums of integers are exact. One file per family.

mod wmma;

pub(crate) use wmma::{MAX_K, Panel, Wmma};
