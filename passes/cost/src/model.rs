//! The equations.

use thiserror::Error;
use tilefold_machine::{Device, Machine, Workgroup};

use crate::constants::{
    LATENCY_US, LAUNCH_US, OVERLAP_BURST, OVERLAP_INTERLEAVED, SUSTAINED, VECTOR_LOAD_CYCLES,
};
use crate::{BlockOrder, CostError, Kernel, MeanPanels, Rates};

/// What kernels are estimated for: a chip on a board.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// The chip.
    pub machine: &'static Machine,
    /// The board.
    pub device: &'static Device,
    /// How fast its memory is.
    pub rates: Rates,
}

/// The error of [`Model::new`] and [`Model::of_device`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no cost model of `{device}` with {chip}; boards with one: {}", .known.join(", "))]
pub struct UnknownDevice {
    /// The chip.
    pub chip: String,
    /// The board that was asked for.
    pub device: String,
    /// The boards that would have done.
    pub known: Vec<&'static str>,
}

/// The estimated time of a kernel. It orders schedules that lie far apart and is no measurement:
/// do not show it as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Microseconds, launch to end.
    pub microseconds: f64,
    /// The same in cycles of the board's clock.
    pub cycles: f64,
    /// Microseconds that each resource would take alone, at the rate that kernels sustain. They
    /// overlap: they do not add up.
    pub parts: Parts,
    /// The largest part.
    pub dominated_by: Part,
    /// Workgroups that are resident on one compute unit.
    pub resident: u32,
    /// Rounds in which the device's resident workgroups change, the last, partial one included.
    pub rounds: u64,
    /// Share of the device's places that the last round's workgroups take, above 0, at most 1.
    pub last_round_fill: f64,
    /// The steady state of one K tile in a full round, or in the only one.
    pub k_tile: KTile,
}

/// Microseconds of a whole kernel by what they are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// Matrix instructions.
    pub matrix: f64,
    /// Issue of vector loads, and LDS instructions with their conflicts.
    pub issue: f64,
    /// Lines from L2.
    pub l2: f64,
    /// L2 misses that the last-level cache serves.
    pub llc: f64,
    /// L2 misses that memory serves.
    pub dram: f64,
    /// What a workgroup does not overlap with its own matrix work: the first load and the store
    /// of the result.
    pub fill: f64,
    /// Launch.
    pub launch: f64,
}

/// What time is spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// [`Parts::matrix`].
    Matrix,
    /// [`Parts::issue`].
    Issue,
    /// [`Parts::l2`], [`Parts::llc`] and [`Parts::dram`] together.
    Memory,
    /// [`Parts::fill`].
    Fill,
    /// [`Parts::launch`].
    Launch,
}

/// One K tile of all workgroups that are resident.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KTile {
    /// Cycles from one K tile to the next.
    pub cycles: f64,
    /// Cycles of a compute unit's matrix instructions, at full rate.
    pub matrix_cycles: f64,
    /// Cycles of a compute unit's vector loads and LDS instructions, at full rate.
    pub issue_cycles: f64,
    /// Cycles of memory.
    pub memory_cycles: f64,
    /// Bytes of the lines that workgroups ask of L2.
    pub line_bytes: f64,
    /// Bytes of the distinct lines among those, which L2 misses.
    pub missed_bytes: f64,
}

/// One round: its K tiles in microseconds, and what it does once.
struct Round {
    k_tile: f64,
    once: f64,
    parts: Parts,
    line_bytes: f64,
    missed_bytes: f64,
}

impl Model {
    /// The chip on the first board of its record.
    ///
    /// # Errors
    /// [`UnknownDevice`] if there are no rates for it.
    pub fn new(machine: &'static Machine) -> Result<Self, UnknownDevice> {
        match machine.devices.first() {
            Some(device) => Self::of_device(machine, &device.name),
            None => Err(Self::unknown(machine, "")),
        }
    }

    /// The chip on the board of this name.
    ///
    /// # Errors
    /// [`UnknownDevice`] if the chip's record has no such board, or there are no rates for it.
    pub fn of_device(machine: &'static Machine, device: &str) -> Result<Self, UnknownDevice> {
        let found = machine.devices.iter().find(|of| of.name == device);
        match (found, Rates::of(&machine.name, device)) {
            (Some(device), Some(rates)) => Ok(Self {
                machine,
                device,
                rates,
            }),
            _ => Err(Self::unknown(machine, device)),
        }
    }

    fn unknown(machine: &'static Machine, device: &str) -> UnknownDevice {
        UnknownDevice {
            chip: machine.name.clone(),
            device: device.to_owned(),
            known: machine
                .devices
                .iter()
                .map(|of| of.name.as_str())
                .filter(|of| Rates::of(&machine.name, of).is_some())
                .collect(),
        }
    }

    /// The estimated time of a kernel.
    ///
    /// # Errors
    /// [`CostError`] for a kernel with an extent of zero, one that does not fit on the chip, and
    /// one of too many workgroups.
    pub fn cost(&self, kernel: &Kernel) -> Result<Cost, CostError> {
        kernel.check()?;
        let resident = self.resident(kernel)?;
        let rows = kernel.m.div_ceil(kernel.block[0].into());
        let cols = kernel.n.div_ceil(kernel.block[1].into());
        let order =
            BlockOrder::new(rows, cols, kernel.group_rows).ok_or(CostError::TooManyWorkgroups)?;

        let places = u64::from(resident) * u64::from(self.device.cu);
        let full = order.blocks() / places;
        let left = order.blocks() % places;
        let mut total = LAUNCH_US;
        let mut parts = Parts {
            launch: LAUNCH_US,
            ..Parts::default()
        };
        let mut steady = None;
        let k_tiles = kernel.k.div_ceil(kernel.block[2].into()) as f64;
        let mut add = |round: Round, times: u64| {
            total += times as f64 * (k_tiles * round.k_tile + round.once);
            parts.add(&round.parts, times as f64, k_tiles);
            steady.get_or_insert(round);
        };
        if full > 0 {
            let panels = order.mean_panels(places);
            add(self.round(kernel, resident, places, panels), full);
        }
        if left > 0 {
            let of = order.panels(order.blocks() - left..order.blocks());
            let panels = MeanPanels {
                rows: of.rows as f64,
                cols: of.cols as f64,
            };
            // The fullest compute units set the time; they hold no more than fit.
            let deepest = left.div_ceil(self.device.cu.into()).min(resident.into()) as u32;
            add(self.round(kernel, deepest, left, panels), 1);
        }

        let steady = steady.expect("there is a workgroup, hence a round");
        let clock = f64::from(self.device.clock_mhz);
        Ok(Cost {
            microseconds: total,
            cycles: total * clock,
            dominated_by: parts.largest(),
            parts,
            resident,
            rounds: full + u64::from(left > 0),
            last_round_fill: match left {
                0 => 1.0,
                left => left as f64 / places as f64,
            },
            k_tile: KTile {
                cycles: steady.k_tile * clock,
                matrix_cycles: steady.parts.matrix * clock * SUSTAINED,
                issue_cycles: steady.parts.issue * clock * SUSTAINED,
                memory_cycles: steady.parts.memory() * clock,
                line_bytes: steady.line_bytes,
                missed_bytes: steady.missed_bytes,
            },
        })
    }

    fn resident(&self, kernel: &Kernel) -> Result<u32, CostError> {
        let workgroup = Workgroup {
            waves: kernel.waves,
            vgprs: kernel.vgprs,
            lds_bytes: kernel.lds_bytes,
        };
        match self.machine.resident_workgroups(workgroup) {
            0 => Err(CostError::DoesNotFit {
                chip: self.machine.name.clone(),
                waves: kernel.waves,
                vgprs: kernel.vgprs,
                lds_bytes: kernel.lds_bytes,
            }),
            resident => Ok(resident),
        }
    }

    /// A round of `workgroups`, of which a compute unit holds up to `resident`, and which read
    /// distinct `panels`.
    fn round(&self, kernel: &Kernel, resident: u32, workgroups: u64, panels: MeanPanels) -> Round {
        let per_cu = f64::from(resident);
        let workgroups = workgroups as f64;
        let clock = f64::from(self.device.clock_mhz);
        let waves = per_cu * f64::from(kernel.waves);

        let simds = f64::from(self.machine.simds_per_cu).min(waves);
        let mma_cycles = kernel.mmas() * f64::from(kernel.mma_cycles);
        let matrix = per_cu * mma_cycles / simds / clock / SUSTAINED;
        let loads = VECTOR_LOAD_CYCLES * f64::from(kernel.vector_loads);
        let issue = waves * (loads + kernel.lds_cycles(self.machine)) / clock / SUSTAINED;

        // TB/s are bytes a picosecond: 10^6 of them to the microsecond.
        let us = |bytes: f64, rate: f64| bytes / rate * 1e-6;
        let (a, b) = (kernel.a_panel(), kernel.b_panel());
        let line_bytes = workgroups * (a + b);
        let missed_bytes = panels.rows * a + panels.cols * b;
        // What share of the operands the last-level cache holds.
        let held = (self.device.llc_bytes as f64 / kernel.operand_bytes()).min(1.0);
        let mut parts = Parts {
            matrix,
            issue,
            l2: us(line_bytes, self.rates.l2),
            llc: us(missed_bytes * held, self.rates.llc),
            dram: us(missed_bytes * (1.0 - held), self.rates.dram),
            ..Parts::default()
        };
        let memory = parts.memory();
        let store = us(workgroups * kernel.c_bytes(), self.rates.dram);
        // Another resident workgroup computes meanwhile.
        parts.fill = (LATENCY_US + memory + store) / per_cu;

        let q = match kernel.interleaved {
            true => OVERLAP_INTERLEAVED,
            false => OVERLAP_BURST,
        };
        Round {
            k_tile: overlap(matrix.max(issue), memory, q),
            once: parts.fill,
            parts,
            line_bytes,
            missed_bytes,
        }
    }
}

/// The q-norm of two times: their sum at q = 1, towards the larger as q grows.
fn overlap(work: f64, memory: f64, q: f64) -> f64 {
    let larger = work.max(memory);
    // Relative to the larger, no power leaves the range of f64.
    larger * ((work / larger).powf(q) + (memory / larger).powf(q)).powf(1.0 / q)
}

impl Parts {
    /// Lines from L2, and misses.
    pub fn memory(&self) -> f64 {
        self.l2 + self.llc + self.dram
    }

    fn add(&mut self, round: &Parts, times: f64, k_tiles: f64) {
        self.matrix += times * k_tiles * round.matrix;
        self.issue += times * k_tiles * round.issue;
        self.l2 += times * k_tiles * round.l2;
        self.llc += times * k_tiles * round.llc;
        self.dram += times * k_tiles * round.dram;
        self.fill += times * round.fill;
    }

    /// The largest part; of equal ones the first in the order of [`Part`].
    fn largest(&self) -> Part {
        let mut largest = (Part::Matrix, self.matrix);
        for other in [
            (Part::Issue, self.issue),
            (Part::Memory, self.memory()),
            (Part::Fill, self.fill),
            (Part::Launch, self.launch),
        ] {
            if other.1 > largest.1 {
                largest = other;
            }
        }
        largest.0
    }
}
