//! Addresses as terms.
pub mod term;
mod node;
pub mod word;
