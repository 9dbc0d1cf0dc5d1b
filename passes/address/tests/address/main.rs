//! Placements of whole groups of accesses.

mod double_buffer;
mod explain;
mod global;
mod lds;
mod limits;
mod minimum;
mod tile;
