//! The command line of Tilefold.
fn main() {}
