//! Every constant of the model.

/// Bits of a cache line: memory moves whole lines of 128 bytes. It is the line of all machine
/// records with rates; a test holds the two together.
pub const LINE_BITS: u64 = 1024;

/// Share of the matrix unit's or the rate that a kernel reaches, `s`. Fitted.
pub const SUSTAINED: f64 = 0.87;

/// How well interleaved prefetch overlaps memory with matrix work, `q`: 1 adds the two up, and
/// infinity hides the smaller behind the larger. Fitted; resampled rows give 2.1 to 3.1.
pub const OVERLAP_INTERLEAVED: f64 = 2.54;

/// The same for a burst of prefetches ahead of the matrix work, which nothing hides. Chosen.
pub const OVERLAP_BURST: f64 = 1.0;

/// Cycles for which a vector load of one wave keeps the compute unit's address path. At 128 bits
/// a lane that is 64 bytes a cycle; narrower loads are taken to cost as much. Assumed.
pub const VECTOR_LOAD_CYCLES: f64 = 8.0;

/// Microseconds to launch a kernel. Assumed.
pub const LAUNCH_US: f64 = 5.0;

/// Microseconds until a workgroup's first load is there. Assumed.
pub const LATENCY_US: f64 = 0.83;

/// What a search keeps: candidates within this share of the best. Below it the model's order
/// means nothing.
pub const MARGIN: f64 = 0.15;

/// Rounds of workgroups up to which panels are counted exactly; beyond, by the closed form.
pub const EXACT_ROUNDS: u64 = 512;
