//! Estimates the time of a WMMA GEMM schedule from its machine record, to prune a search.
//!
//! The model is fitted to published timings of one series of kernels on three boards. It tells
//! bad schedules from good ones and cannot order good ones: keep everything within [`MARGIN`] of
//! the best and decide between those otherwise. Never show its times as if they were measured.
//!
//! ```
//! use tilefold_cost::{Contiguous, Kernel, LdsInstructions, MARGIN, Model, Operand, prune};
//! use tilefold_machine::{Access, Machine, Width};
//!
//! let machine = Machine::by_name("gfx1201")?;
//! let model = Model::new(machine)?;
//! let operand = Operand { bits: 16, contiguous: Contiguous::K };
//! let kernel = |group_rows| Kernel {
//!     m: 8192, n: 8192, k: 8192,
//!     block: [128, 96, 64], waves: 4, interleaved: true, group_rows,
//!     a: operand, b: operand, c_bits: 16,
//!     mma: [16, 16, 16],
//!     mma_cycles: machine.matrix_cycles("v_wmma_f16_16x16x16_f16").expect("it has WMMA"),
//!     vector_loads: 14,
//!     lds: vec![
//!         LdsInstructions { access: Access::Read, width: Width::B128, count: 28 },
//!         LdsInstructions { access: Access::Write, width: Width::B128, count: 14 },
//!     ],
//!     lds_conflict_cycles: 0,
//!     lds_bytes: 32256,
//!     vgprs: 133,
//! };
//! // Row-major order misses the cache so often that the search need not look at it again.
//! let kept = prune(&model, &[kernel(1), kernel(8)], MARGIN);
//! assert_eq!(kept.len(), 1);
//! assert_eq!(kept[0].index, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Equations
//! Times of a round, in which the device's places for workgroups are full:
//!
//! - T = launch + sum over rounds of (K tiles x t + fill). Full rounds take their mean number of
//!   panels; the last round holds what is left.
//! - t = ((max(Tmatrix, Tissue) / s)^q + Tmemory^q)^(1/q), with q = 1 for a burst of prefetches,
//!   fitted where they are interleaved; s is fitted.
//! - Tmatrix = n x matrix instructions of the workgroup x their cycles / SIMDs, for n resident
//!   workgroups a compute unit. Source of the cycles: the machine record.
//! - Tissue = n x waves x (8 x vector loads + LDS cycles). LDS serves a group of lanes a cycle;
//!   source of the groups: the machine record. That loads and LDS add up is assumed.
//! - Tmemory = line bytes / L2 + missed bytes x ((1 - h) / DRAM + h / LLC), with
//!   h = min(1, LLC bytes / bytes of A and B). Source of the rates: [`Rates`].
//! - line bytes: whole 128-byte lines of each workgroup's K tile. missed bytes: those of the
//!   distinct panels that the round's workgroups read ([`BlockOrder::panels`]), fetched anew by
//!   every K tile: a slice of 32 bytes fetches its lines four times.
//! - fill = (latency + Tmemory + C bytes / DRAM) / n.
//!
//! All constants are in [`constants`]. How the fit compares with the published times is a table in
//! the tests, and stands in `docs/cost-model.md`.
//!
//! # Where it is wrong
//! - Bursts on gfx1201 (steps 5 and 6 of the ladder): estimated 24 % and 25 % too long.
//! - Differences under about 15 % mean nothing. It cannot tell wave grids, effects of occupancy,
//!   or variants of code with the same counts apart.
//! - Operands that are contiguous along M or N are counted by the same rule, but no timing of
//!   one was in the fit; nor of any type but f16, a grid of less than a round, or a K of few
//!   tiles. With less than a round, the rates of the whole device are taken for a part of it.
//! - Lines are taken to be gone by the next K tile. Where the cache holds them, a K tile of
//!   less than a line costs less than it says.
//! - A board's clock is its boost clock, which not every record has a source for.

pub mod constants;
mod kernel;
mod model;
mod order;
mod prune;
mod rates;

pub use constants::MARGIN;
pub use kernel::{Contiguous, CostError, Kernel, LdsInstructions, Operand};
pub use model::{Cost, KTile, Model, Part, Parts, UnknownDevice};
pub use order::{BlockOrder, MeanPanels, Panels};
pub use prune::{Candidate, prune};
pub use rates::Rates;
