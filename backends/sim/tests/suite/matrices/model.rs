//! What each WMMA computes: formats, lane maps and products, written down here once more.

use half::{bf16, f16};

use crate::Numbers;

/// How elements are encoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Format {
    F32,
    F16,
    Bf16,
    Fp8,
    Bf8,
    I32,
    I8,
    U8,
    I4,
    U4,
}

use Format::*;

impl Format {
    pub fn bits(self) -> usize {
        match self {
            F32 | I32 => 32,
            F16 | Bf16 => 16,
            Fp8 | Bf8 | I8 | U8 => 8,
            I4 | U4 => 4,
        }
    }

    /// The value of an encoding.
    pub fn decode(self, bits: u32) -> f64 {
        // Sign, exponent and mantissa of a byte.
        let byte = |mantissa: u32, bias: i32| {
            let sign = if bits >> 7 & 1 == 1 { -1.0 } else { 1.0 };
            let exponent = (bits >> mantissa & (0x7f >> mantissa)) as i32;
            let fraction = f64::from(bits & ((1 << mantissa) - 1)) / f64::from(1 << mantissa);
            match exponent {
                0 => sign * fraction * 2_f64.powi(1 - bias),
                _ => sign * (1.0 + fraction) * 2_f64.powi(exponent - bias),
            }
        };
        match self {
            F32 => f64::from(f32::from_bits(bits)),
            F16 => f16::from_bits(bits as u16).to_f64(),
            Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Fp8 => byte(3, 7),
            Bf8 => byte(2, 15),
            I32 => f64::from(bits as i32),
            I8 => f64::from(bits as u8 as i8),
            U8 => f64::from(bits as u8),
            I4 => f64::from((bits as i32) << 28 >> 28),
            U4 => f64::from(bits & 15),
        }
    }

    /// An encoding of moderate size.
    pub fn sample(self, numbers: &mut Numbers) -> u32 {
        let random = numbers.next();
        match self {
            F32 => ((random % 2000) as f32 / 8.0 - 125.0).to_bits(),
            F16 => u32::from(f16::from_f32((random % 4000) as f32 / 128.0 - 15.0).to_bits()),
            Bf16 => u32::from(bf16::from_f32((random % 200) as f32 / 8.0 - 12.0).to_bits()),
            // Exponents near one; a denormal now and then.
            Fp8 => {
                if random.is_multiple_of(7) {
                    random & 0x87
                } else {
                    random & 0x8f | 0x30
                }
            }
            Bf8 => {
                if random.is_multiple_of(7) {
                    random & 0x83
                } else {
                    random & 0x87 | 0x38
                }
            }
            I32 => random,
            _ => random & ((1 << self.bits()) - 1),
        }
    }

    /// The encoding of a value, rounded once.
    pub fn encode(self, value: f64, clamp: bool) -> u32 {
        match self {
            F32 => (value as f32).to_bits(),
            F16 => u32::from(f16::from_f64(value).to_bits()),
            Bf16 => u32::from(bf16::from_f64(value).to_bits()),
            I32 if clamp => value.clamp(-2_147_483_648.0, 2_147_483_647.0) as i32 as u32,
            _ => value as i64 as u32,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Case {
    pub chip: &'static str,
    pub wave: usize,
    pub name: &'static str,
    pub formats: [Format; 3],
    pub k: usize,
    /// C when it is a constant.
    pub constant: Option<(&'static str, f64)>,
    /// 16-bit accumulators of RDNA 3 in high halves.
    pub high: bool,
    pub clamp: bool,
    /// What LLVM writes as `neg_lo` and `neg_hi`: of floats the signs of elements with even and odd
    /// k, and for C the sign and whether the absolute value is taken; of integers whether they are
    /// signed, which the formats say.
    pub neg: Option<[[bool; 3]; 2]>,
}

impl Case {
    fn new(chip: &'static str, wave: usize, name: &'static str, formats: [Format; 3]) -> Case {
        Case {
            chip,
            wave,
            name,
            formats,
            k: if name.starts_with("i32_16x16x32") {
                32
            } else {
                16
            },
            constant: None,
            high: false,
            clamp: false,
            neg: None,
        }
    }

    pub fn rdna3(&self) -> bool {
        self.chip.starts_with("gfx11")
    }

    fn groups(&self) -> usize {
        self.wave / 16
    }

    /// Where element `[index][k]` of A (or B) is: lanes, and element of the lane.
    pub fn input(&self, index: usize, k: usize, bits: usize) -> Vec<(usize, usize)> {
        let groups = self.groups();
        if self.rdna3() {
            return (0..groups).map(|group| (16 * group + index, k)).collect();
        }
        // The bits of k from the lowest: so many within a run, then which groups they choose.
        let (run, choose): (usize, &[usize]) = match (groups, bits, self.k) {
            // Runs of four; k / 4 is the group, of wave32 its parity.
            (2, 16, _) => (4, &[1]),
            (_, 16, _) => (4, &[1, 2]),
            (2, _, k) => (k / 2, &[1]),
            // Half a register: the upper two groups have nothing.
            (_, 4, 16) => (8, &[1]),
            (_, _, k) => (k / 4, &[2, 1]),
        };
        let (mut rest, mut group) = (k / run, 0);
        for weight in choose {
            group += rest % 2 * weight;
            rest /= 2;
        }
        vec![(16 * group + index, rest * run + k % run)]
    }

    /// Lane, register and shift of element `[row][column]` of C and D.
    pub fn output(&self, row: usize, column: usize) -> (usize, usize, u32) {
        let narrow = self.formats[2].bits() == 16;
        let groups = self.groups();
        if self.rdna3() {
            let shift = if narrow && self.high { 16 } else { 0 };
            return (16 * (row % groups) + column, row / groups, shift);
        }
        let (half, within) = (row / 8, row % 8);
        let (lane, register) = match groups {
            2 => (16 * half + column, within),
            _ => (16 * half + 32 * (within / 4) + column, within % 4),
        };
        match narrow {
            true => (lane, register / 2, register as u32 % 2 * 16),
            false => (lane, register, 0),
        }
    }

    /// Registers of an input, and of C and D.
    fn counts(&self) -> [usize; 3] {
        let input = |format: Format| {
            let groups = if self.rdna3() { 1 } else { self.groups() };
            (self.k * format.bits() / 32 / groups).max(1)
        };
        let packed = !self.rdna3() && self.formats[2].bits() == 16;
        let output = 256 / self.wave / if packed { 2 } else { 1 };
        [input(self.formats[0]), input(self.formats[1]), output]
    }

    /// The instruction: A from v20, B from v28, C and D from v36.
    pub fn text(&self) -> String {
        let counts = self.counts();
        let range = |at: usize| match (20 + 8 * at, counts[at]) {
            (first, 1) => format!("v{first}"),
            (first, count) => format!("v[{first}:{}]", first + count - 1),
        };
        let c = self.constant.map_or(range(2), |(text, _)| text.to_owned());
        let [a, b, d] = [range(0), range(1), range(2)];
        let mut text = format!("v_wmma_{} {d}, {a}, {b}, {c}", self.name);
        if self.high {
            text += " op_sel:[0,0,1]";
        }
        let signed = |at: usize| matches!(self.formats[at], I8 | I4);
        let [low, high] = match self.neg {
            Some(neg) => neg,
            None => [[signed(0), signed(1), false], [false; 3]],
        };
        for (name, bits) in [("neg_lo", low), ("neg_hi", high)] {
            if bits.contains(&true) {
                text += &format!(" {name}:{:?}", bits.map(u8::from));
            }
        }
        if self.clamp {
            text += " clamp";
        }
        text
    }

    /// The value that enters the product or sum for what was encoded.
    fn signed(&self, operand: usize, at: usize, value: f64) -> f64 {
        match (self.neg, operand) {
            (None, _) => value,
            (Some([neg, abs]), 2) => {
                let value = if abs[2] { value.abs() } else { value };
                if neg[2] { -value } else { value }
            }
            (Some(neg), _) => match neg[at % 2][operand] {
                true => -value,
                false => value,
            },
        }
    }

    /// Random registers, and what C's become.
    pub fn sample(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let mut numbers = Numbers(self.name.len() as u64);
        let mut registers = vec![vec![0_u32; self.wave]; 24];
        let mut inputs = [[[0.0; 32]; 16]; 2];
        for operand in 0..2 {
            let format = self.formats[operand];
            let (bits, per_register) = (format.bits(), 32 / format.bits());
            for index in 0..16 {
                for k in 0..self.k {
                    let code = format.sample(&mut numbers);
                    inputs[operand][index][k] = self.signed(operand, k, format.decode(code));
                    for (lane, at) in self.input(index, k, bits) {
                        registers[8 * operand + at / per_register][lane] |=
                            code << (at % per_register * bits);
                    }
                }
            }
        }
        if self.name == "i32_16x16x16_iu4" && !self.rdna3() && self.wave == 64 {
            // What is ignored.
            registers[0][32..].fill(0x1357_9bdf);
            registers[8][32..].fill(0x2468_ace0);
        }
        // The halves that C does not use hold something that must stay.
        registers[16..].fill(vec![0x1234_5678; self.wave]);
        let format = self.formats[2];
        let mask = u32::MAX >> (32 - format.bits());
        let mut expected = registers[16..].to_vec();
        for row in 0..16 {
            for column in 0..16 {
                let c = format.sample(&mut numbers);
                let (lane, register, shift) = self.output(row, column);
                let slot = &mut registers[16 + register][lane];
                *slot = *slot & !(mask << shift) | c << shift;
                let c = self.constant.map_or(format.decode(c), |(_, value)| value);
                let products = (0..self.k).map(|k| inputs[0][row][k] * inputs[1][column][k]);
                let sum = products.fold(self.signed(2, 0, c), |sum, product| sum + product);
                let slot = &mut expected[register][lane];
                *slot = *slot & !(mask << shift) | format.encode(sum, self.clamp) << shift;
            }
        }
        (registers, expected)
    }
}

/// Signs of every kind.
const SIGNS: [[bool; 3]; 2] = [[true, false, true], [false, true, true]];

pub fn rdna3(chip: &'static str, wave: usize) -> Vec<Case> {
    let new = |name, formats| Case::new(chip, wave, name, formats);
    let f16 = new("f32_16x16x16_f16", [F16, F16, F32]);
    let half = new("f16_16x16x16_f16", [F16, F16, F16]);
    let bf16 = new("bf16_16x16x16_bf16", [Bf16, Bf16, Bf16]);
    let bytes = |a, b| new("i32_16x16x16_iu8", [a, b, I32]);
    vec![
        f16,
        Case {
            constant: Some(("1.0", 1.0)),
            ..f16
        },
        Case {
            neg: Some(SIGNS),
            ..f16
        },
        new("f32_16x16x16_bf16", [Bf16, Bf16, F32]),
        half,
        Case { high: true, ..half },
        bf16,
        Case { high: true, ..bf16 },
        bytes(I8, I8),
        bytes(U8, I8),
        Case {
            clamp: true,
            ..bytes(U8, U8)
        },
        Case {
            constant: Some(("-5", -5.0)),
            ..bytes(I8, U8)
        },
        new("i32_16x16x16_iu4", [I4, U4, I32]),
    ]
}

pub fn rdna4(wave: usize) -> Vec<Case> {
    let new = |name, formats| Case::new("gfx1201", wave, name, formats);
    let f16 = new("f32_16x16x16_f16", [F16, F16, F32]);
    let bf16 = new("f32_16x16x16_bf16", [Bf16, Bf16, F32]);
    let half = new("f16_16x16x16_f16", [F16, F16, F16]);
    let bytes = |a, b| new("i32_16x16x16_iu8", [a, b, I32]);
    vec![
        f16,
        Case {
            neg: Some(SIGNS),
            ..f16
        },
        bf16,
        Case {
            constant: Some(("0", 0.0)),
            ..bf16
        },
        half,
        Case {
            neg: Some(SIGNS),
            ..half
        },
        new("bf16_16x16x16_bf16", [Bf16, Bf16, Bf16]),
        new("f32_16x16x16_fp8_fp8", [Fp8, Fp8, F32]),
        new("f32_16x16x16_fp8_bf8", [Fp8, Bf8, F32]),
        new("f32_16x16x16_bf8_fp8", [Bf8, Fp8, F32]),
        new("f32_16x16x16_bf8_bf8", [Bf8, Bf8, F32]),
        bytes(I8, I8),
        bytes(U8, I8),
        Case {
            clamp: true,
            ..bytes(U8, U8)
        },
        new("i32_16x16x32_iu4", [I4, U4, I32]),
        new("i32_16x16x16_iu4", [U4, I4, I32]),
    ]
}
