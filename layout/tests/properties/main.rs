//! The algebra by brute force: every answer is compared with the function it stands for, over its
//! whole domain.

mod compose;
mod generate;
mod inverse;
mod limits;
mod rest;
mod tiling;
