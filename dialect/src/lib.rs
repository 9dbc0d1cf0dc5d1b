//! The vocabulary of Tilefold: GEMM spec, plan, copy and mma atoms, and the tile MLIR dialect

pub mod element;
