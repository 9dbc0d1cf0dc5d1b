//! What matrix instructions of gfx950 should compute, from lane maps and formats written down here
//! once more.

use half::{bf16, f16};

/// How elements are encoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Format {
    F64,
    F32,
    F16,
    Bf16,
    Fp8,
    Bf8,
    Fp6,
    Bf6,
    Fp4,
    I8,
}

use Format::*;

impl Format {
    pub fn bits(self) -> usize {
        match self {
            F64 => 64,
            F32 => 32,
            F16 | Bf16 => 16,
            Fp8 | Bf8 | I8 => 8,
            Fp6 | Bf6 => 6,
            Fp4 => 4,
        }
    }

    /// `cbsz` or `blgp` of the F8F6F4 instructions.
    pub fn code(self) -> usize {
        [Fp8, Bf8, Fp6, Bf6, Fp4]
            .iter()
            .position(|&format| format == self)
            .expect("a format of F8F6F4")
    }

    /// The value of an encoding.
    pub fn decode(self, code: u64) -> f64 {
        let small = |exponent_bits: u32, mantissa_bits: u32| {
            let bias = 2_i32.pow(exponent_bits - 1) - 1;
            let sign = if code >> (exponent_bits + mantissa_bits) & 1 == 1 {
                -1.0
            } else {
                1.0
            };
            let exponent = (code >> mantissa_bits) as i32 & (2_i32.pow(exponent_bits) - 1);
            let fraction =
                (code % 2_u64.pow(mantissa_bits)) as f64 / 2_f64.powi(mantissa_bits as i32);
            match exponent {
                0 => sign * fraction * 2_f64.powi(1 - bias),
                _ => sign * (1.0 + fraction) * 2_f64.powi(exponent - bias),
            }
        };
        match self {
            F64 => f64::from_bits(code),
            F32 => f64::from(f32::from_bits(code as u32)),
            F16 => f16::from_bits(code as u16).to_f64(),
            Bf16 => bf16::from_bits(code as u16).to_f64(),
            Fp8 if code & 0x7f == 0x7f => f64::NAN,
            Fp8 => small(4, 3),
            Bf8 if code & 0x7f > 0x7c => f64::NAN,
            Bf8 if code == 0x7c => f64::INFINITY,
            Bf8 if code == 0xfc => f64::NEG_INFINITY,
            Bf8 => small(5, 2),
            Fp6 => small(2, 3),
            Bf6 => small(3, 2),
            Fp4 => small(2, 1),
            I8 => f64::from(code as u8 as i8),
        }
    }
}

/// One instruction's shape.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Between `v_mfma_` and the formats, as LLVM names it.
    pub dim: usize,
    pub k: usize,
    pub blocks: usize,
    pub a: Format,
    pub b: Format,
    /// Whether it is one of the F8F6F4 instructions.
    pub mixed: bool,
}

/// Where an element of a matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub lane: usize,
    /// Counted in elements from the operand's first register.
    pub element: usize,
}

impl Shape {
    pub fn name(&self) -> String {
        let Shape { dim, k, blocks, .. } = self;
        let blocks = match blocks {
            1 => String::new(),
            blocks => format!("_{blocks}b"),
        };
        let word = |format| match format {
            F64 => "f64",
            F32 => "f32",
            F16 => "f16",
            Bf16 => "bf16",
            Fp8 => "fp8",
            Bf8 => "bf8",
            I8 => "i8",
            Fp6 | Bf6 | Fp4 => "small",
        };
        let sum = match self.a {
            F64 => "f64",
            I8 => "i32",
            _ => "f32",
        };
        let formats = match (self.mixed, self.a) {
            (true, _) => "f8f6f4".to_owned(),
            (false, Fp8 | Bf8) => format!("{}_{}", word(self.a), word(self.b)),
            (false, a) => word(a).to_owned(),
        };
        format!("{sum}_{dim}x{dim}x{k}{blocks}_{formats}")
    }

    /// Element `k` of row (or column) `index` of A or B of a block.
    pub fn input(&self, format: Format, block: usize, index: usize, k: usize) -> Place {
        // Lanes that one block's row or column is spread over.
        let parts = 64 / (self.dim * self.blocks);
        let run = match self.mixed && format.bits() == 8 {
            true => 16,
            false => self.k / parts,
        };
        let part = k / run % parts;
        Place {
            lane: (part * self.blocks + block) * self.dim + index,
            element: k / (run * parts) * run + k % run,
        }
    }

    /// Element `[row][column]` of C and D of a block.
    pub fn output(&self, block: usize, row: usize, column: usize) -> Place {
        let (lane, element) = match (self.dim, self.a) {
            (16, F64) => (16 * (row % 4) + column, row / 4),
            (4, F64) => (16 * row + 4 * block + column, 0),
            (32, _) => (
                32 * (row / 4 % 2) + column,
                16 * block + 4 * (row / 8) + row % 4,
            ),
            (16, _) => (16 * (row / 4) + column, 4 * block + row % 4),
            _ => (4 * block + column, row),
        };
        Place { lane, element }
    }

    /// Registers of A or B.
    pub fn registers(&self, format: Format) -> usize {
        self.dim * self.blocks * self.k * format.bits() / 64 / 32
    }

    /// Registers of C and D.
    pub fn accumulators(&self) -> usize {
        let words = if self.a == F64 { 2 } else { 1 };
        self.dim * self.dim * self.blocks / 64 * words
    }
}

/// Registers, each of 64 lanes.
pub type Registers = Vec<[u32; 64]>;

/// Reads an element of `bits` bits from a lane.
pub fn get(registers: &[[u32; 64]], place: Place, bits: usize) -> u64 {
    (0..bits).fold(0, |code, bit| {
        let at = place.element * bits + bit;
        code | u64::from(registers[at / 32][place.lane] >> (at % 32) & 1) << bit
    })
}

/// Writes an element of `bits` bits to a lane.
pub fn put(registers: &mut [[u32; 64]], place: Place, bits: usize, code: u64) {
    for bit in 0..bits {
        let at = place.element * bits + bit;
        let word = &mut registers[at / 32][place.lane];
        *word = *word & !(1 << (at % 32)) | (code as u32 >> (bit % 32) & 1) << (at % 32);
        if bit >= 32 {
            *word = *word & !(1 << (at % 32)) | ((code >> bit) as u32 & 1) << (at % 32);
        }
    }
}

/// What stands beside an instruction's registers.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    pub cbsz: usize,
    pub abid: usize,
    pub blgp: usize,
    /// Registers of scales of A and B, and which byte.
    pub scales: Option<[([u32; 64], usize); 2]>,
    pub neg: [bool; 3],
}

fn sign(value: f64, neg: bool) -> f64 {
    if neg { -value } else { value }
}

impl Extra {
    fn scale(&self, operand: usize, lane: usize) -> f64 {
        match &self.scales {
            None => 1.0,
            Some(scales) => {
                let (register, byte) = &scales[operand];
                match register[lane].to_le_bytes()[*byte] {
                    0xff => f64::NAN,
                    exponent => 2_f64.powi(i32::from(exponent) - 127),
                }
            }
        }
    }
}

/// A sum rounded once to f32.
fn add_once(a: f64, b: f64) -> f32 {
    let sum = a + b;
    // The part of the smaller one that the sum in f64 lost.
    let (large, small) = if a.abs() > b.abs() { (a, b) } else { (b, a) };
    let lost = small - (sum - large);
    // Only its sign matters, and only where the sum lies halfway between two f32.
    let beside = match lost {
        lost if lost > 0.0 => sum.next_up(),
        lost if lost < 0.0 => sum.next_down(),
        _ => sum,
    };
    let (near, other) = (sum as f32, beside as f32);
    let halfway = f64::from(sum.next_up() as f32) != f64::from(sum.next_down() as f32);
    if halfway { other } else { near }
}

/// D, given the registers of A, B and C.
pub fn multiply(
    shape: &Shape,
    extra: &Extra,
    a: &Registers,
    b: &Registers,
    c: &Registers,
) -> Registers {
    let mut d = c.clone();
    for block in 0..shape.blocks {
        // 2^cbsz blocks share the A of one of them.
        let from = block - block % (1 << extra.cbsz) + extra.abid;
        for row in 0..shape.dim {
            for column in 0..shape.dim {
                let place = shape.output(block, row, column);
                let products = (0..shape.k).map(|k| {
                    let at = shape.input(shape.a, from, row, k);
                    let scale = extra.scale(0, shape.dim * (k / 32) + row);
                    let left = shape.a.decode(get(a, at, shape.a.bits())) * scale;
                    let mut at = shape.input(shape.b, block, column, k);
                    at.lane = match extra.blgp {
                        0 => at.lane,
                        1 => at.lane % 32,
                        2 => at.lane % 32 + 32,
                        3 => (at.lane + 16) % 64,
                        pattern => at.lane % 16 + 16 * (pattern - 4),
                    };
                    let scale = extra.scale(1, shape.dim * (k / 32) + column);
                    let right = shape.b.decode(get(b, at, shape.b.bits())) * scale;
                    (sign(left, extra.neg[0]), sign(right, extra.neg[1]))
                });
                let bits = if shape.a == F64 { 64 } else { 32 };
                let old = get(c, place, bits);
                let new = match shape.a {
                    F64 => {
                        let c = sign(f64::from_bits(old), extra.neg[2]);
                        let sum = products.fold(c, |sum, (a, b)| a.mul_add(b, sum));
                        if sum.is_nan() {
                            0x7ff8 << 48
                        } else {
                            sum.to_bits()
                        }
                    }
                    I8 => {
                        let sum = products.fold(0, |sum, (a, b)| sum + a as i64 * b as i64);
                        u64::from((sum + i64::from(old as u32 as i32)) as u32)
                    }
                    _ => {
                        let sum = products.fold(0.0, |sum, (a, b)| a.mul_add(b, sum));
                        let sum = add_once(sum, f64::from(f32::from_bits(old as u32)));
                        u64::from(if sum.is_nan() {
                            0x7fc0_0000
                        } else {
                            sum.to_bits()
                        })
                    }
                };
                put(&mut d, place, bits, new);
            }
        }
    }
    d
}
