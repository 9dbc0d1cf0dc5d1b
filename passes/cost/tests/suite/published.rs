//! The published ladder as kernels. Source: AMD, FP16 GEMM on RDNA 3 and RDNA 4, part 1: tiles,
//! LDS bytes, registers and milliseconds; f16 in and out, A row-major and B column-major.
//! Registers of steps that do not state them are the most that the published waves allow.

use tilefold_cost::{Contiguous, Kernel, LdsInstructions, Model, Operand};
use tilefold_machine::{Access, Generation, Machine, Width};

/// The chips of the ladder, in the order of a step's figures.
pub const CHIPS: [&str; 3] = ["gfx1100", "gfx1151", "gfx1201"];

const SQUARE: [u64; 3] = [8192, 8192, 8192];
const WIDE: [u64; 3] = [8192, 28672, 8192];

/// A step, with its times in the order of [`CHIPS`].
pub struct Step {
    pub name: &'static str,
    pub size: [u64; 3],
    pub block: [u32; 3],
    pub wave_grid: [u32; 2],
    pub copy: Width,
    pub lds_row: LdsRow,
    pub interleaved: bool,
    pub group_rows: u64,
    pub lds_bytes: u32,
    pub vgprs: [u32; 3],
    pub ms: [Option<f64>; 3],
}

/// How rows of an LDS tile are laid out.
#[derive(Clone, Copy)]
pub enum LdsRow {
    Plain,
    /// Eight elements of padding.
    Padded,
    /// Whole fragments permuted by XOR with the row.
    Permuted,
}

const COPIES: Step = Step {
    name: "2",
    size: SQUARE,
    block: [256, 256, 16],
    wave_grid: [4, 4],
    copy: Width::B128,
    lds_row: LdsRow::Plain,
    interleaved: false,
    group_rows: 1,
    lds_bytes: 32768,
    vgprs: [192, 192, 120],
    ms: [Some(36.89), Some(88.24), Some(30.25)],
};

const DEEP: Step = Step {
    name: "5",
    block: [128, 96, 64],
    wave_grid: [2, 2],
    lds_row: LdsRow::Padded,
    lds_bytes: 64512,
    vgprs: [256, 256, 256],
    ms: [Some(35.44), Some(72.40), Some(20.81)],
    ..COPIES
};

const INTERLEAVED: Step = Step {
    name: "7",
    interleaved: true,
    group_rows: 8,
    vgprs: [205, 205, 138],
    ms: [Some(17.10), Some(31.21), Some(9.85)],
    ..DEEP
};

const ONE_BUFFER: Step = Step {
    name: "8",
    lds_bytes: 32256,
    vgprs: [200, 200, 133],
    ms: [Some(15.50), Some(27.06), Some(8.71)],
    ..INTERLEAVED
};

const TUNED: Step = Step {
    name: "tuned",
    block: [192, 224, 64],
    wave_grid: [4, 2],
    lds_bytes: 59904,
    vgprs: [256, 256, 256],
    ms: [None, None, Some(7.73)],
    ..ONE_BUFFER
};

/// Every step that was timed. Step 4 is left out: its times are those of step 3.
pub const STEPS: [Step; 11] = [
    Step {
        name: "1",
        block: [32, 32, 16],
        wave_grid: [1, 1],
        copy: Width::B16,
        lds_bytes: 2048,
        vgprs: [96, 96, 96],
        ms: [Some(148.26), Some(334.95), Some(150.12)],
        ..COPIES
    },
    COPIES,
    Step {
        name: "3-pad",
        lds_row: LdsRow::Padded,
        lds_bytes: 49152,
        ms: [Some(37.02), Some(88.90), Some(30.25)],
        ..COPIES
    },
    Step {
        name: "3-xor",
        lds_row: LdsRow::Permuted,
        ms: [Some(36.71), Some(88.08), Some(30.37)],
        ..COPIES
    },
    DEEP,
    Step {
        name: "6",
        group_rows: 8,
        vgprs: [252, 252, 245],
        ms: [Some(21.66), Some(43.19), Some(11.94)],
        ..DEEP
    },
    INTERLEAVED,
    ONE_BUFFER,
    Step {
        name: "8 wide",
        size: WIDE,
        ms: [Some(54.55), Some(93.33), Some(29.55)],
        ..ONE_BUFFER
    },
    TUNED,
    Step {
        name: "tuned wide",
        size: WIDE,
        ms: [None, None, Some(26.64)],
        ..TUNED
    },
];

/// The model of a chip's board on the ladder.
pub fn model(chip: &str) -> Model {
    let machine = Machine::by_name(chip).expect("the ladder's chips have records");
    Model::new(machine).expect("the ladder's boards have rates")
}

impl Step {
    /// The step of this name.
    pub fn named(name: &str) -> &'static Step {
        STEPS
            .iter()
            .find(|step| step.name == name)
            .expect("tests name steps of the ladder")
    }

    /// The kernel of a chip, by its place in [`CHIPS`].
    pub fn kernel(&self, chip: usize) -> Kernel {
        let machine = Machine::by_name(CHIPS[chip]).expect("the ladder's chips have records");
        let [m, n, k] = self.size;
        let [block_m, block_n, block_k] = self.block;
        let waves = self.wave_grid[0] * self.wave_grid[1];
        let operand = Operand {
            bits: 16,
            contiguous: Contiguous::K,
        };
        let elements = (block_m + block_n) * block_k;
        let copies = elements * 2 / self.copy.bytes() / (waves * machine.wave);
        // RDNA 3 keeps all of a fragment's 16 K values in each lane, RDNA 4 half of them.
        let reads_per_fragment = if machine.generation == Generation::Rdna4 {
            1
        } else {
            2
        };
        let fragments =
            (block_m / 16 / self.wave_grid[0] + block_n / 16 / self.wave_grid[1]) * (block_k / 16);
        Kernel {
            m,
            n,
            k,
            block: self.block,
            waves,
            interleaved: self.interleaved,
            group_rows: self.group_rows,
            a: operand,
            b: operand,
            c_bits: 16,
            mma: [16, 16, 16],
            mma_cycles: machine
                .matrix_cycles("v_wmma_f16_16x16x16_f16")
                .expect("the ladder's chips have WMMA"),
            vector_loads: copies,
            lds: vec![
                LdsInstructions {
                    access: Access::Read,
                    width: Width::B128,
                    count: fragments * reads_per_fragment,
                },
                LdsInstructions {
                    access: Access::Write,
                    width: self.copy,
                    count: copies,
                },
            ],
            lds_conflict_cycles: self.conflicts(machine, fragments, copies),
            lds_bytes: self.lds_bytes,
            vgprs: self.vgprs[chip],
        }
    }

    /// Conflict cycles of one wave per K tile. Fragments are alike along M and N: rows of a tile
    /// 16 apart lie a whole number of times around the banks apart. Copies of a wave are alike
    /// too, as each covers whole rows.
    fn conflicts(&self, machine: &Machine, fragments: u32, copies: u32) -> u32 {
        let half = machine.generation == Generation::Rdna4;
        let read = |k: u32, part: u32| {
            let lane_address = |lane: u32| {
                let lane_k = if half { 8 * (lane / 16) } else { 8 * part };
                Some(2 * self.lds_element(machine, lane % 16, k + lane_k))
            };
            let addresses: Vec<_> = (0..32).map(lane_address).collect();
            machine.conflict_cycles(&addresses, Width::B128, Access::Read)
        };
        let slices = self.block[2] / 16;
        let parts = if half { 1 } else { 2 };
        let reads: u32 = (0..slices)
            .flat_map(|slice| (0..parts).map(move |part| (16 * slice, part)))
            .map(|(k, part)| read(k, part))
            .sum();
        let per_lane = self.copy.bytes() / 2;
        let written: Vec<_> = (0..32)
            .map(|lane| {
                let (row, k) = (
                    lane * per_lane / self.block[2],
                    lane * per_lane % self.block[2],
                );
                Some(2 * self.lds_element(machine, row, k))
            })
            .collect();
        let write = machine.conflict_cycles(&written, self.copy, Access::Write);
        reads * (fragments / slices) + write * copies
    }

    /// Where an element of an LDS tile lies, in elements.
    fn lds_element(&self, machine: &Machine, row: u32, k: u32) -> u32 {
        let block_k = self.block[2];
        match self.lds_row {
            LdsRow::Plain => row * block_k + k,
            LdsRow::Padded => row * (block_k + 8) + k,
            LdsRow::Permuted => {
                let unit = if machine.generation == Generation::Rdna4 {
                    8
                } else {
                    16
                };
                row * block_k + ((k / unit) ^ (row % (block_k / unit))) * unit + k % unit
            }
        }
    }
}
