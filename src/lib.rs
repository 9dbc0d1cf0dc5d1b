//! Compiles GEMM kernels for AMD GPUs from tile and layout specs, and proves them on a simulator.
