//! MFMA of gfx950, every shape and format, against a model of its own.
//!
//! Inputs are such that sums are exact, so that no order of additions shows; other inputs hold
//! infinities, NaNs and denormals.

mod batch;
mod model;
pub mod vectors;

use batch::{Case, FIRST, check, range};
use model::{Extra, Format, Registers, Shape};

use crate::Numbers;
use Format::*;

/// Every dense instruction but the F8F6F4 ones.
fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |a, b, list: &[[usize; 3]]| {
        shapes.extend(list.iter().map(|&[dim, k, blocks]| Shape {
            dim,
            k,
            blocks,
            a,
            b,
            mixed: false,
        }));
    };
    add(
        F32,
        F32,
        &[[32, 1, 2], [16, 1, 4], [4, 1, 16], [32, 2, 1], [16, 4, 1]],
    );
    for format in [F16, Bf16] {
        add(
            format,
            format,
            &[
                [32, 4, 2],
                [16, 4, 4],
                [4, 4, 16],
                [32, 8, 1],
                [16, 16, 1],
                [32, 16, 1],
                [16, 32, 1],
            ],
        );
    }
    add(
        I8,
        I8,
        &[
            [32, 4, 2],
            [16, 4, 4],
            [4, 4, 16],
            [32, 16, 1],
            [16, 32, 1],
            [32, 32, 1],
            [16, 64, 1],
        ],
    );
    for a in [Fp8, Bf8] {
        for b in [Fp8, Bf8] {
            add(a, b, &[[16, 32, 1], [32, 16, 1]]);
        }
    }
    add(F64, F64, &[[16, 4, 1], [4, 4, 4]]);
    shapes
}

const SMALL: [Format; 5] = [Fp8, Bf8, Fp6, Bf6, Fp4];

fn mixed(dim: usize, a: Format, b: Format) -> Shape {
    Shape {
        dim,
        k: 2048 / dim,
        blocks: 1,
        a,
        b,
        mixed: true,
    }
}

/// What elements are drawn from.
#[derive(Clone, Copy, PartialEq)]
enum Draw {
    /// Moderate values, whose sums are exact.
    Moderate,
    /// -1, 0 and 1.
    Signs,
    /// Any bits.
    Wild,
}

fn element(format: Format, draw: Draw, numbers: &mut Numbers) -> u64 {
    let random = numbers.next();
    let bits = u64::from(random) | u64::from(numbers.next()) << 32;
    if draw == Draw::Wild {
        // Few of the wide formats, so that not all sums are NaN.
        let few = format.bits() >= 16 && !random.is_multiple_of(16);
        if !few {
            return bits & u64::MAX >> (64 - format.bits());
        }
    }
    let small = match draw {
        Draw::Signs => f64::from(random % 3) - 1.0,
        _ => f64::from(random % 2001) / 64.0 - 1000.0 / 64.0,
    };
    match format {
        F64 => small.to_bits(),
        F32 => u64::from((small as f32).to_bits()),
        F16 => u64::from(half::f16::from_f64(small).to_bits()),
        Bf16 => u64::from(half::bf16::from_f64(small).to_bits()),
        I8 if draw == Draw::Signs => u64::from(small as i8 as u8),
        I8 => bits & 0xff,
        Fp8 | Bf8 | Fp6 | Bf6 | Fp4 => {
            let codes = 0..1_u64 << format.bits();
            if draw == Draw::Signs {
                let mut codes = codes;
                return codes
                    .find(|&code| format.decode(code) == small)
                    .expect("every format has -1, 0 and 1");
            }
            // Exponents near one, and a denormal now and then.
            match (format, random.is_multiple_of(5)) {
                (Fp8, false) => bits & 0x9f | 0x20,
                (Bf8, false) => bits & 0x8f | 0x30,
                (Fp8, true) => bits & 0x87,
                (Bf8, true) => bits & 0x83,
                _ => bits % codes.end,
            }
        }
    }
}

fn registers(count: usize) -> Registers {
    vec![[0; 64]; count]
}

/// An operand's registers with every element drawn.
fn operand(format: Format, count: usize, draw: Draw, numbers: &mut Numbers) -> Registers {
    let mut registers = registers(count);
    for lane in 0..64 {
        for element_at in 0..count * 32 / format.bits() {
            let place = model::Place {
                lane,
                element: element_at,
            };
            let code = element(format, draw, numbers);
            model::put(&mut registers, place, format.bits(), code);
        }
    }
    registers
}

struct Options {
    draw: Draw,
    accumulation: [bool; 3],
    /// What is written for C, and its bits.
    constant: Option<(&'static str, u64)>,
    extra: Extra,
    modifiers: String,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            draw: Draw::Moderate,
            accumulation: [false; 3],
            constant: None,
            extra: Extra::default(),
            modifiers: String::new(),
        }
    }
}

fn case(shape: Shape, options: Options, numbers: &mut Numbers) -> Case {
    let counts = [shape.registers(shape.a), shape.registers(shape.b)];
    let accumulators = shape.accumulators();
    let a = operand(shape.a, counts[0], options.draw, numbers);
    let b = operand(shape.b, counts[1], options.draw, numbers);
    let c = match shape.a {
        F64 => operand(F64, accumulators, options.draw, numbers),
        I8 => {
            let mut c = registers(accumulators);
            c.iter_mut()
                .flatten()
                .for_each(|word| *word = numbers.next());
            c
        }
        _ => operand(F32, accumulators, options.draw, numbers),
    };
    let name = |operand: usize, count| {
        let accumulation = options.accumulation[operand];
        range(
            accumulation,
            FIRST[operand][usize::from(accumulation)],
            count,
        )
    };
    let d = name(2, accumulators);
    let third = match options.constant {
        Some((text, _)) => text.to_owned(),
        None => d.clone(),
    };
    let scaled = options.extra.scales.is_some();
    let mut text = format!(
        "v_mfma_{}{} {d}, {}, {}, {third}",
        if scaled { "scale_" } else { "" },
        shape.name(),
        name(0, counts[0]),
        name(1, counts[1]),
    );
    if let Some(scales) = &options.extra.scales {
        let bit = |bit: usize| scales[0].1 >> bit & 1;
        let other = |bit: usize| scales[1].1 >> bit & 1;
        text.push_str(&format!(
            ", v24, v25 op_sel:[{},{},0] op_sel_hi:[{},{},0]",
            bit(0),
            other(0),
            bit(1),
            other(1)
        ));
    }
    if shape.mixed {
        text.push_str(&format!(" cbsz:{} blgp:{}", shape.a.code(), shape.b.code()));
    }
    text.push_str(&options.modifiers);
    let constant = options.constant.map(|(_, bits)| {
        let words = if shape.a == F64 { 2 } else { 1 };
        Registers::from_iter((0..accumulators).map(|at| [(bits >> (at % words * 32)) as u32; 64]))
    });
    Case {
        shape,
        text,
        extra: options.extra,
        a,
        b,
        c,
        constant,
        accumulation: options.accumulation,
    }
}

#[test]
fn every_shape_in_every_register_file() {
    let mut numbers = Numbers(1);
    let mut cases = Vec::new();
    for shape in shapes() {
        for accumulation in [[false; 3], [false, false, true], [true, true, false]] {
            let options = Options {
                accumulation,
                ..Options::default()
            };
            cases.push(case(shape, options, &mut numbers));
        }
    }
    check(&cases);
}

#[test]
fn signs_and_special_values() {
    let mut numbers = Numbers(2);
    let mut cases = Vec::new();
    let small = [16, 32]
        .into_iter()
        .flat_map(|dim| SMALL.map(|format| mixed(dim, format, format)));
    for shape in shapes().into_iter().chain(small) {
        for draw in [Draw::Signs, Draw::Wild] {
            let options = Options {
                draw,
                ..Options::default()
            };
            cases.push(case(shape, options, &mut numbers));
        }
    }
    check(&cases);
}

#[test]
fn constants_as_c() {
    let mut numbers = Numbers(3);
    let mut cases = Vec::new();
    for shape in shapes() {
        let constants: &[(&str, u64)] = match shape.a {
            F64 => &[("0", 0), ("1.0", 0x3ff0 << 48), ("-4.0", 0xc010 << 48)],
            I8 => &[("0", 0), ("17", 17), ("-3", 0xffff_fffd)],
            _ => &[("0", 0), ("1.0", 0x3f80_0000), ("-0.5", 0xbf00_0000)],
        };
        for &constant in constants {
            let options = Options {
                constant: Some(constant),
                ..Options::default()
            };
            cases.push(case(shape, options, &mut numbers));
        }
    }
    check(&cases);
}

#[test]
fn blocks_and_lane_patterns() {
    let mut numbers = Numbers(4);
    let mut cases = Vec::new();
    let mut add = |shape, cbsz, abid, blgp| {
        let options = Options {
            extra: Extra {
                cbsz,
                abid,
                blgp,
                ..Extra::default()
            },
            modifiers: format!(" cbsz:{cbsz} abid:{abid} blgp:{blgp}"),
            ..Options::default()
        };
        cases.push(case(shape, options, &mut numbers));
    };
    for shape in shapes() {
        if shape.a == F64 || shape.blocks == 1 {
            continue;
        }
        for cbsz in 1..=shape.blocks.ilog2() as usize {
            add(shape, cbsz, 0, 0);
            add(shape, cbsz, (1 << cbsz) - 1, cbsz);
        }
        for blgp in 1..8 {
            add(shape, 0, 0, blgp);
        }
    }
    for shape in shapes() {
        if shape.a == F32 && shape.blocks == 1 {
            (1..8).for_each(|blgp| add(shape, 0, 0, blgp));
        }
    }
    check(&cases);
}

#[test]
fn signs_of_f64_operands() {
    let mut numbers = Numbers(5);
    let mut cases = Vec::new();
    for shape in shapes().into_iter().filter(|shape| shape.a == F64) {
        for bits in 1..8 {
            let neg = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
            let options = Options {
                extra: Extra {
                    neg,
                    ..Extra::default()
                },
                modifiers: format!(" neg:[{},{},{}]", neg[0] as u8, neg[1] as u8, neg[2] as u8),
                ..Options::default()
            };
            cases.push(case(shape, options, &mut numbers));
        }
    }
    check(&cases);
}

/// Scales of which no two neighbours are alike.
fn scales(numbers: &mut Numbers, exponents: std::ops::Range<u32>) -> [u32; 64] {
    std::array::from_fn(|_| {
        u32::from_le_bytes([0; 4].map(|_: u32| {
            (exponents.start + numbers.next() % (exponents.end - exponents.start)) as u8
        }))
    })
}

#[test]
fn mixed_formats() {
    let mut numbers = Numbers(6);
    let mut cases = Vec::new();
    for dim in [16, 32] {
        for a in SMALL {
            for b in SMALL {
                let options = Options {
                    accumulation: [false, false, a == b],
                    ..Options::default()
                };
                cases.push(case(mixed(dim, a, b), options, &mut numbers));
            }
        }
    }
    check(&cases);
}

#[test]
fn scales_of_every_block_and_byte() {
    let mut numbers = Numbers(7);
    let mut cases = Vec::new();
    for dim in [16, 32] {
        for a in SMALL {
            for b in SMALL {
                let bytes = [(a.code() + b.code()) % 4, (a.code() + 3 * b.code() + 1) % 4];
                let options = Options {
                    extra: Extra {
                        scales: Some(bytes.map(|byte| (scales(&mut numbers, 122..132), byte))),
                        ..Extra::default()
                    },
                    ..Options::default()
                };
                cases.push(case(mixed(dim, a, b), options, &mut numbers));
            }
        }
    }
    check(&cases);
}

#[test]
fn largest_and_smallest_scales_and_nan() {
    let mut numbers = Numbers(8);
    let mut cases = Vec::new();
    for dim in [16, 32] {
        for format in SMALL {
            let shape = mixed(dim, format, format);
            // Factors that leave f32's range meet their inverses.
            let ends = |numbers: &mut Numbers| {
                let mut low = scales(numbers, 0..1);
                let mut high = scales(numbers, 254..255);
                for lane in 0..64 {
                    if lane / dim % 2 == 1 {
                        std::mem::swap(&mut low[lane], &mut high[lane]);
                    }
                }
                [(low, 1), (high, 2)]
            };
            let with = |scales| Options {
                draw: Draw::Signs,
                extra: Extra {
                    scales: Some(scales),
                    ..Extra::default()
                },
                ..Options::default()
            };
            let scales_of = ends(&mut numbers);
            cases.push(case(shape, with(scales_of), &mut numbers));
            let mut scales_of = [
                (scales(&mut numbers, 125..129), 0),
                (scales(&mut numbers, 125..129), 3),
            ];
            scales_of[0].0[5] |= 0xff;
            scales_of[1].0[dim + 3] |= 0xff00_0000;
            cases.push(case(shape, with(scales_of), &mut numbers));
        }
    }
    check(&cases);
}
