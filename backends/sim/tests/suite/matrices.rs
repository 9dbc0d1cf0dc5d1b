//! WMMA of every type against matrix products over lane maps written down here once more.
//!
//! The maps are those of AMD's matrix instruction calculator. Inputs are such that every sum is
//! exact in f64, so the one rounding at the end is all there is to compare.

use half::{bf16, f16};
use tilefold_sim::{Arg, Launch, Simulator};

use crate::{Bytes, Numbers, build, words};

/// How elements are encoded.
#[derive(Clone, Copy, PartialEq)]
enum Format {
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
    fn bits(self) -> usize {
        match self {
            F32 | I32 => 32,
            F16 | Bf16 => 16,
            Fp8 | Bf8 | I8 | U8 => 8,
            I4 | U4 => 4,
        }
    }

    /// The value of an encoding.
    fn decode(self, bits: u32) -> f64 {
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
    fn sample(self, numbers: &mut Numbers) -> u32 {
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
    fn encode(self, value: f64, clamp: bool) -> u32 {
        match self {
            F32 => (value as f32).to_bits(),
            F16 => u32::from(f16::from_f64(value).to_bits()),
            Bf16 => u32::from(bf16::from_f64(value).to_bits()),
            I32 if clamp => value.clamp(-2_147_483_648.0, 2_147_483_647.0) as i32 as u32,
            _ => value as i64 as u32,
        }
    }
}

struct Case {
    chip: &'static str,
    text: &'static str,
    formats: [Format; 3],
    k: usize,
    /// C when it is a constant.
    constant: Option<f64>,
    /// 16-bit accumulators of RDNA 3 in high halves.
    high: bool,
    clamp: bool,
}

/// Where in a lane's registers element `[row][k]` of A (or `[column][k]` of B) is: lanes, element.
fn input_place(chip: &str, row: usize, k: usize, size: usize, bits: usize) -> Vec<(usize, usize)> {
    if chip == "gfx1100" {
        return vec![(row, k), (row + 16, k)];
    }
    match bits {
        16 => vec![(row + k / 4 % 2 * 16, k / 8 * 4 + k % 4)],
        _ => vec![(row + k / (size / 2) * 16, k % (size / 2))],
    }
}

/// Lane, register and shift of element `[row][column]` of C and D.
fn output_place(case: &Case, row: usize, column: usize) -> (usize, usize, u32) {
    let bits = case.formats[2].bits();
    match (case.chip, bits) {
        ("gfx1100", 16) => (
            column + row % 2 * 16,
            row / 2,
            if case.high { 16 } else { 0 },
        ),
        ("gfx1100", _) => (column + row % 2 * 16, row / 2, 0),
        (_, 16) => (column + row / 8 * 16, row % 8 / 2, row as u32 % 2 * 16),
        _ => (column + row / 8 * 16, row % 8, 0),
    }
}

fn check(case: &Case) {
    let [a_format, b_format, c_format] = case.formats;
    let mut numbers = Numbers(case.text.len() as u64);
    // Registers by register and lane: A from 0, B from 8, C from 16.
    let mut registers = vec![[0_u32; 32]; 24];
    let mut inputs = [vec![vec![0.0; case.k]; 16], vec![vec![0.0; case.k]; 16]];
    for (operand, format) in [a_format, b_format].into_iter().enumerate() {
        for row in 0..16 {
            for k in 0..case.k {
                let bits = format.sample(&mut numbers);
                inputs[operand][row][k] = format.decode(bits);
                let per_register = 32 / format.bits();
                for (lane, at) in input_place(case.chip, row, k, case.k, format.bits()) {
                    registers[8 * operand + at / per_register][lane] |=
                        bits << (at % per_register * format.bits());
                }
            }
        }
    }
    // The halves that C does not use hold something that must stay.
    registers[16..].fill([0x1234_5678; 32]);
    let mask = u32::MAX >> (32 - c_format.bits());
    let mut expected = registers[16..].to_vec();
    for row in 0..16 {
        for column in 0..16 {
            let c = c_format.sample(&mut numbers);
            let (lane, register, shift) = output_place(case, row, column);
            let slot = &mut registers[16 + register][lane];
            *slot = *slot & !(mask << shift) | c << shift;
            let c = case.constant.unwrap_or(c_format.decode(c));
            let sum = (0..case.k).fold(c, |sum, k| sum + inputs[0][row][k] * inputs[1][column][k]);
            let slot = &mut expected[register][lane];
            *slot = *slot & !(mask << shift) | c_format.encode(sum, case.clamp) << shift;
        }
    }
    let loads: String = (0..24)
        .map(|at| {
            format!(
                "global_load_b32 v{}, v1, s[4:5] offset:{}\n",
                20 + at,
                128 * at
            )
        })
        .collect();
    let stores: String = (0..8)
        .map(|at| {
            format!(
                "global_store_b32 v1, v{}, s[6:7] offset:{}\n",
                36 + at,
                128 * at
            )
        })
        .collect();
    let body = format!(
        "s_load_b128 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n{{scalar}}\n{loads}{{load}}\n\
         {}\n{stores}",
        case.text
    );
    let object = build::kernel(case.chip, &body);
    let flat: Vec<u32> = registers.iter().flatten().copied().collect();
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&flat.bytes());
    let b = simulator.memory.alloc_output(1024);
    let launch = Launch {
        block: [32, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch).unwrap();
    assert!(report.passed(), "{}: {:#?}", case.text, report.findings);
    assert_eq!(report.counters.mma, 1);
    let got = words(&simulator.memory.read(b));
    for register in 0..8 {
        for lane in 0..32 {
            let (got, expected) = (got[32 * register + lane], expected[register][lane]);
            assert_eq!(
                got, expected,
                "{} {} v{register} lane {lane}",
                case.chip, case.text
            );
        }
    }
}

fn case(chip: &'static str, text: &'static str, formats: [Format; 3], k: usize) -> Case {
    Case {
        chip,
        text,
        formats,
        k,
        constant: None,
        high: false,
        clamp: false,
    }
}

#[test]
fn rdna3() {
    let new = |text, formats| case("gfx1100", text, formats, 16);
    let f16 = "v_wmma_f32_16x16x16_f16 v[36:43], v[20:27], v[28:35], v[36:43]";
    check(&new(f16, [F16, F16, F32]));
    let constant = "v_wmma_f32_16x16x16_f16 v[36:43], v[20:27], v[28:35], 1.0";
    check(&Case {
        constant: Some(1.0),
        ..new(constant, [F16, F16, F32])
    });
    let bf16 = "v_wmma_f32_16x16x16_bf16 v[36:43], v[20:27], v[28:35], v[36:43]";
    check(&new(bf16, [Bf16, Bf16, F32]));
    let low = "v_wmma_f16_16x16x16_f16 v[36:43], v[20:27], v[28:35], v[36:43]";
    check(&new(low, [F16, F16, F16]));
    let high = "v_wmma_f16_16x16x16_f16 v[36:43], v[20:27], v[28:35], v[36:43] op_sel:[0,0,1]";
    check(&Case {
        high: true,
        ..new(high, [F16, F16, F16])
    });
    let bf16 = "v_wmma_bf16_16x16x16_bf16 v[36:43], v[20:27], v[28:35], v[36:43]";
    check(&new(bf16, [Bf16, Bf16, Bf16]));
    let signed = "v_wmma_i32_16x16x16_iu8 v[36:43], v[20:23], v[28:31], v[36:43] neg_lo:[1,1,0]";
    check(&new(signed, [I8, I8, I32]));
    let mixed = "v_wmma_i32_16x16x16_iu8 v[36:43], v[20:23], v[28:31], v[36:43] neg_lo:[0,1,0]";
    check(&new(mixed, [U8, I8, I32]));
    let clamp = "v_wmma_i32_16x16x16_iu8 v[36:43], v[20:23], v[28:31], v[36:43] clamp";
    check(&Case {
        clamp: true,
        ..new(clamp, [U8, U8, I32])
    });
    let four = "v_wmma_i32_16x16x16_iu4 v[36:43], v[20:21], v[28:29], v[36:43] neg_lo:[1,0,0]";
    check(&new(four, [I4, U4, I32]));
}

#[test]
fn rdna4() {
    let new = |text, formats| case("gfx1201", text, formats, 16);
    let f16 = "v_wmma_f32_16x16x16_f16 v[36:43], v[20:23], v[28:31], v[36:43]";
    check(&new(f16, [F16, F16, F32]));
    let zero = "v_wmma_f32_16x16x16_bf16 v[36:43], v[20:23], v[28:31], 0";
    check(&Case {
        constant: Some(0.0),
        ..new(zero, [Bf16, Bf16, F32])
    });
    let packed = "v_wmma_f16_16x16x16_f16 v[36:39], v[20:23], v[28:31], v[36:39]";
    check(&new(packed, [F16, F16, F16]));
    let fp8 = "v_wmma_f32_16x16x16_fp8_fp8 v[36:43], v[20:21], v[28:29], v[36:43]";
    check(&new(fp8, [Fp8, Fp8, F32]));
    let both = "v_wmma_f32_16x16x16_fp8_bf8 v[36:43], v[20:21], v[28:29], v[36:43]";
    check(&new(both, [Fp8, Bf8, F32]));
    let bf8 = "v_wmma_f32_16x16x16_bf8_bf8 v[36:43], v[20:21], v[28:29], v[36:43]";
    check(&new(bf8, [Bf8, Bf8, F32]));
    let signed = "v_wmma_i32_16x16x16_iu8 v[36:43], v[20:21], v[28:29], v[36:43] neg_lo:[1,1,0]";
    check(&new(signed, [I8, I8, I32]));
    let clamp = "v_wmma_i32_16x16x16_iu8 v[36:43], v[20:21], v[28:29], v[36:43] clamp";
    check(&Case {
        clamp: true,
        ..new(clamp, [U8, U8, I32])
    });
    let four = "v_wmma_i32_16x16x32_iu4 v[36:43], v[20:21], v[28:29], v[36:43] neg_lo:[1,0,0]";
    check(&case("gfx1201", four, [I4, U4, I32], 32));
    let four = "v_wmma_i32_16x16x16_iu4 v[36:43], v20, v28, v[36:43]";
    check(&new(four, [U4, U4, I32]));
}
