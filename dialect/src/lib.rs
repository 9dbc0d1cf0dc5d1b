//! The vocabulary of Tilefold: GEMM spec, plan, copy and mma atoms, and the tile MLIR dialect

pub mod atoms;
pub mod builder;
pub mod element;
pub mod plan;
pub mod problem;
pub mod spec;
pub mod tile;
