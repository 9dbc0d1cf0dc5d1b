//! Kernels compiled and assembled by LLVM, executed, and compared with the CPU.

// Loops over rows, lanes and k index several arrays at once.
#![allow(clippy::needless_range_loop)]

mod build;
mod cdna;
mod cdna_atomics;
mod cdna_exchanges;
mod cdna_execute;
mod cdna_hazards;
mod cdna_instructions;
mod cdna_lanes;
mod cdna_memory;
mod cdna_numbers;
mod compiled;
mod counters;
mod descriptors;
mod differential;
mod direct;
mod exchanges;
mod faults;
mod first;
mod flat;
mod float_instructions;
mod formats;
mod gemm;
mod hardware;
mod instructions;
mod kernels;
mod lane_counters;
mod lanes;
mod launching;
mod loading;
mod matrices;
mod mfma;
mod ordering;
mod profile;
mod rdna_atomics;
mod rdna_hazards;
mod rdna_oracle;
mod recode;
mod saturation;
mod scalar_floats;
mod scalars;
mod scope;
mod signals;
mod small_floats;
mod sources;
mod sparse;
mod sparse_products;
mod stale;
mod trace;
mod transposes;
mod waits;

/// The simulated chips in wave32.
const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

/// The bytes of numbers, as kernels see them.
trait Bytes {
    fn bytes(&self) -> Vec<u8>;
}

impl Bytes for [f32] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
}

impl Bytes for [u32] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
}

impl Bytes for [u16] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
}

/// Reads 32-bit words back.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Reads f32 back.
fn floats(bytes: &[u8]) -> Vec<f32> {
    words(bytes).into_iter().map(f32::from_bits).collect()
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u32 {
        // A 64-bit linear congruential generator; the high half is good enough for inputs.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// A small integer around zero.
    fn small(&mut self) -> i32 {
        (self.next() % 9) as i32 - 4
    }
}
