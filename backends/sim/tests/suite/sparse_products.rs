//! SMFMAC of gfx950 and SWMMAC of gfx1201 against matrix products over lane maps of their own: A
//! is drawn as a whole with two of each four neighbours, and stored with their places.
//!
//! The maps are those of AMD's matrix instruction calculator, but for the shapes that CDNA 4 added.
//! Inputs are such that every sum is exact in f64.

use tilefold_sim::{Arg, Check, Launch, Report, Simulator};

use crate::matrices::model::Format::{self, *};
use crate::{Bytes, Numbers, build, words};

/// An instruction without its operands.
#[derive(Debug, Clone, Copy)]
struct Shape {
    chip: &'static str,
    wave: usize,
    dim: usize,
    k: usize,
    /// Of A, B, and C with D.
    formats: [Format; 3],
    clamp: bool,
    /// Negation of elements of A in low and in high halves, then of B's.
    neg: [[bool; 2]; 2],
}

impl Shape {
    fn name(&self) -> String {
        let word = |format| match format {
            F32 => "f32",
            F16 => "f16",
            Bf16 => "bf16",
            Fp8 => "fp8",
            Bf8 => "bf8",
            I32 => "i32",
            I8 | U8 if self.cdna() => "i8",
            I8 | U8 => "iu8",
            I4 | U4 => "iu4",
        };
        let Shape { dim, k, .. } = self;
        let [a, b, d] = self.formats.map(word);
        let stem = if self.cdna() { "v_smfmac" } else { "v_swmmac" };
        match self.formats[0] {
            Fp8 | Bf8 => format!("{stem}_{d}_{dim}x{dim}x{k}_{a}_{b}"),
            _ => format!("{stem}_{d}_{dim}x{dim}x{k}_{a}"),
        }
    }

    fn cdna(&self) -> bool {
        self.chip == "gfx950"
    }

    fn bits(&self) -> usize {
        self.formats[0].bits()
    }

    /// Group of lanes and element of a lane of B's element `k`, or of A's as if it were dense.
    fn input(&self, operand: usize, k: usize) -> (usize, usize) {
        let bit = |of: usize| k / of % 2;
        if self.cdna() {
            // As many bits as there are groups of lanes; runs are of 128 bits of B at most.
            let groups = 64 / self.dim;
            let run = (self.k / groups).min(128 / self.bits());
            return (k / run % groups, k / (run * groups) * run + k % run);
        }
        match (self.wave, self.bits(), self.k, operand) {
            (32, 16, _, _) => (bit(8), k / 16 * 8 + k % 8),
            (_, 16, _, _) => (bit(8) + 2 * bit(16), k % 8),
            (32, ..) => (k / (self.k / 2), k % (self.k / 2)),
            // Half a register of A: the upper two groups have nothing.
            (_, 4, 32, 0) => (bit(16), k % 16),
            (_, 8, _, _) | (_, 4, 32, _) => (bit(16) + 2 * bit(8), k % 8),
            _ => (bit(32) + 2 * bit(16), k % 16),
        }
    }

    /// Elements of a lane of A as if it were dense, or of B.
    fn per_lane(&self, operand: usize) -> usize {
        1 + (0..self.k)
            .map(|k| self.input(operand, k).1)
            .max()
            .unwrap_or(0)
    }

    /// Lane, register and shift of an element of C and D.
    fn output(&self, row: usize, column: usize) -> (usize, usize, u32) {
        let (lane, register) = match (self.cdna(), self.dim, self.wave) {
            (true, 32, _) => (32 * (row / 4 % 2) + column, row / 8 * 4 + row % 4),
            (true, ..) => (16 * (row / 4) + column, row % 4),
            (_, _, 32) => (16 * (row / 8) + column, row % 8),
            _ => (16 * (row / 8) + 32 * (row % 8 / 4) + column, row % 4),
        };
        match self.formats[2].bits() {
            16 => (lane, register / 2, register as u32 % 2 * 16),
            _ => (lane, register, 0),
        }
    }

    /// How many sets of indices a register has room for.
    fn sets(&self) -> usize {
        32 / self.per_lane(0)
    }
}

type Registers = Vec<Vec<u32>>;

/// First registers of A, B, C with D and the indices.
const FIRST: [usize; 4] = [8, 16, 32, 24];

struct Case {
    shape: Shape,
    text: String,
    /// In the order of `FIRST`.
    registers: [Registers; 4],
    expected: Registers,
}

/// A case with indices in a set; the modifiers name it.
fn case(shape: Shape, set: usize, modifiers: &str, numbers: &mut Numbers) -> Case {
    let Shape {
        wave,
        dim,
        k: depth,
        ..
    } = shape;
    let bits = shape.bits();
    let count = |operand: usize, share: usize| shape.per_lane(operand) * bits / 32 / share;
    let outputs = dim * dim / wave * shape.formats[2].bits() / 32;
    let mut registers =
        [count(0, 2), count(1, 1), outputs, 1].map(|count| vec![vec![0_u32; wave]; count]);
    for index in &mut registers[3][0] {
        *index = numbers.next();
    }
    let put = |registers: &mut Registers, lane: usize, element: usize, code: u32| {
        let at = element * bits;
        registers[at / 32][lane] |= code << (at % 32);
    };
    let mut inputs = [vec![vec![0.0; depth]; dim], vec![vec![0.0; depth]; dim]];
    let signed = |neg: bool, value: f64| if neg { -value } else { value };
    for index in 0..dim {
        for four in 0..depth / 4 {
            let (group, element) = shape.input(0, 4 * four);
            let lane = group * dim + index;
            let format = shape.formats[0];
            // Two places in any order; the same one now and then, with a zero in it.
            let first = numbers.next() as usize % 4;
            let second = (first + 1 + numbers.next() as usize % 3) % 4;
            let (second, zero) = match numbers.next() % 8 {
                0 => (first, Some(0)),
                1 => (first, Some(1)),
                _ => (second, None),
            };
            let shift = set * shape.per_lane(0) + element;
            let word = &mut registers[3][0][lane];
            *word = *word & !(15 << shift) | ((first | second << 2) as u32) << shift;
            for (at, place) in [first, second].into_iter().enumerate() {
                if zero == Some(at) {
                    continue;
                }
                let code = format.sample(numbers);
                put(&mut registers[0], lane, element / 2 + at, code);
                inputs[0][index][4 * four + place] = signed(shape.neg[0][at], format.decode(code));
            }
        }
        for k in 0..depth {
            let (group, element) = shape.input(1, k);
            let code = shape.formats[1].sample(numbers);
            put(&mut registers[1], group * dim + index, element, code);
            inputs[1][index][k] = signed(shape.neg[1][k % 2], shape.formats[1].decode(code));
        }
    }
    let format = shape.formats[2];
    let mut expected = registers[2].clone();
    for row in 0..dim {
        for column in 0..dim {
            let (lane, register, shift) = shape.output(row, column);
            let c = format.sample(numbers);
            registers[2][register][lane] |= c << shift;
            let products = (0..depth).map(|k| inputs[0][row][k] * inputs[1][column][k]);
            let sum = products.fold(format.decode(c), |sum, product| sum + product);
            expected[register][lane] |= format.encode(sum, shape.clamp) << shift;
        }
    }
    let range = |at: usize| match (FIRST[at], registers[at].len()) {
        (first, 1) => format!("v{first}"),
        (first, count) => format!("v[{first}:{}]", first + count - 1),
    };
    let [a, b, d, index] = [0, 1, 2, 3].map(range);
    let signs = |bits: [bool; 2]| format!("[{},{},0]", u8::from(bits[0]), u8::from(bits[1]));
    let signed = |at: usize| matches!(shape.formats[at], I8 | I4);
    let mut text = format!("{} {d}, {a}, {b}, {index}{modifiers}", shape.name());
    let low = match shape.formats[2] {
        I32 if !shape.cdna() => [signed(0), signed(1)],
        _ => [shape.neg[0][0], shape.neg[1][0]],
    };
    for (name, bits) in [
        ("neg_lo", low),
        ("neg_hi", [shape.neg[0][1], shape.neg[1][1]]),
    ] {
        if bits.contains(&true) {
            text += &format!(" {name}:{}", signs(bits));
        }
    }
    if shape.clamp {
        text += " clamp";
    }
    Case {
        shape,
        text,
        registers,
        expected,
    }
}

/// Runs cases of one chip and wave one after another; yields the report and what each leaves in D.
fn run(cases: &[Case]) -> (Result<Report, String>, Vec<Registers>) {
    let Shape { chip, wave, .. } = cases[0].shape;
    let bytes = 4 * wave;
    let mut body =
        "s_load_b128 s[4:7], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n\
         v_mov_b32 v2, v1\n{scalar}\n"
            .to_owned();
    let mut input = Vec::new();
    for case in cases {
        for (registers, first) in case.registers.iter().zip(FIRST) {
            for (at, register) in registers.iter().enumerate() {
                input.extend_from_slice(register);
                body += &format!(
                    "global_load_b32 v{}, v1, s[4:5]\nv_add_nc_u32 v1, {bytes}, v1\n",
                    first + at
                );
            }
        }
        let gap = "v_nop\n".repeat(8) + &"s_nop 15\n".repeat(2);
        body += &format!("{{load}}\n{gap}{}\n{gap}", case.text);
        for at in 0..case.expected.len() {
            body += &format!(
                "global_store_b32 v2, v{}, s[6:7]\nv_add_nc_u32 v2, {bytes}, v2\n",
                FIRST[2] + at
            );
        }
        body += "{store}\n";
    }
    if chip == "gfx950" {
        body = body
            .replace("b128", "dwordx4")
            .replace("v_add_nc_u32", "v_add_u32")
            .replace("load_b32", "load_dword")
            .replace("store_b32", "store_dword");
    }
    let object = build::kernel_in(chip, wave, &body);
    let mut simulator = Simulator::new();
    let a = simulator.memory.alloc_input(&input.bytes());
    let outputs: usize = cases.iter().map(|case| case.expected.len()).sum();
    let b = simulator.memory.alloc_output(outputs * bytes);
    let launch = Launch {
        block: [wave as u32, 1, 1],
        args: vec![Arg::Buffer(a), Arg::Buffer(b)],
        ..Launch::default()
    };
    let report = simulator.launch(&object, "k", launch);
    let got = words(&simulator.memory.read(b));
    let mut lines = got.chunks(wave).map(<[u32]>::to_vec);
    let results = cases
        .iter()
        .map(|case| lines.by_ref().take(case.expected.len()).collect())
        .collect();
    (report.map_err(|error| error.to_string()), results)
}

fn check(cases: &[Case]) {
    let (report, results) = run(cases);
    let report = report.unwrap();
    assert!(report.passed(), "{:#?}", report.findings);
    assert_eq!(report.counters.mma, cases.len() as u64);
    for (case, got) in cases.iter().zip(results) {
        for (at, (got, expected)) in got.iter().zip(&case.expected).enumerate() {
            for (lane, (got, expected)) in got.iter().zip(expected).enumerate() {
                assert_eq!(
                    got, expected,
                    "wave{} {} register {at} lane {lane}",
                    case.shape.wave, case.text
                );
            }
        }
    }
}

fn cdna() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |formats: [Format; 3], list: &[[usize; 2]]| {
        shapes.extend(list.iter().map(|&[dim, k]| Shape {
            chip: "gfx950",
            wave: 64,
            dim,
            k,
            formats,
            clamp: false,
            neg: [[false; 2]; 2],
        }));
    };
    for format in [F16, Bf16] {
        add(
            [format, format, F32],
            &[[16, 32], [32, 16], [16, 64], [32, 32]],
        );
    }
    let bytes = [[16, 64], [32, 32], [16, 128], [32, 64]];
    add([I8, I8, I32], &bytes);
    for a in [Fp8, Bf8] {
        for b in [Fp8, Bf8] {
            add([a, b, F32], &bytes);
        }
    }
    shapes
}

fn rdna(wave: usize) -> Vec<Shape> {
    let new = |k, formats| Shape {
        chip: "gfx1201",
        wave,
        dim: 16,
        k,
        formats,
        clamp: false,
        neg: [[false; 2]; 2],
    };
    let mut shapes = Vec::new();
    for formats in [
        [F16, F16, F32],
        [Bf16, Bf16, F32],
        [F16, F16, F16],
        [Bf16, Bf16, Bf16],
    ] {
        shapes.push(new(32, formats));
        shapes.push(Shape {
            neg: [[true, false], [false, true]],
            ..new(32, formats)
        });
        shapes.push(Shape {
            neg: [[false, true], [true, false]],
            ..new(32, formats)
        });
    }
    for a in [Fp8, Bf8] {
        for b in [Fp8, Bf8] {
            shapes.push(new(32, [a, b, F32]));
        }
    }
    for [signed, unsigned] in [[I8, U8], [I4, U4]] {
        for a in [signed, unsigned] {
            for b in [signed, unsigned] {
                for clamp in [false, true] {
                    for k in [32, 64] {
                        if k == 32 || a.bits() == 4 {
                            shapes.push(Shape {
                                clamp,
                                ..new(k, [a, b, I32])
                            });
                        }
                    }
                }
            }
        }
    }
    shapes
}

#[test]
fn every_shape_of_cdna_is_its_product() {
    let mut numbers = Numbers(21);
    let mut cases = Vec::new();
    for shape in cdna() {
        for set in 0..shape.sets() {
            for _ in 0..2 {
                cases.push(case(shape, set, &format!(" abid:{set}"), &mut numbers));
            }
        }
        // Another cbsz takes the first set.
        cases.push(case(shape, 0, " cbsz:1 abid:1", &mut numbers));
    }
    check(&cases);
}

#[test]
fn every_shape_of_rdna_is_its_product() {
    let mut numbers = Numbers(22);
    for wave in [32, 64] {
        let mut cases = Vec::new();
        for shape in rdna(wave) {
            for set in 0..shape.sets() {
                let modifiers = match set {
                    0 => String::new(),
                    set => format!(" index_key:{set}"),
                };
                cases.push(case(shape, set, &modifiers, &mut numbers));
            }
        }
        check(&cases);
    }
}

#[test]
fn two_elements_in_one_place_are_an_error() {
    let mut numbers = Numbers(23);
    for shape in [cdna()[0], rdna(32)[0], rdna(64)[0]] {
        let mut case = case(shape, 0, "", &mut numbers);
        case.registers[3][0][5] &= !15;
        case.registers[0][0][5] = 0x3c00_3c00;
        let (report, _) = run(&[case]);
        let error = report.unwrap_err();
        assert!(error.contains("lane 5 have the same place"), "{error}");
    }
}

#[test]
fn products_are_kept_apart_from_their_operands() {
    // The second reads as its index what the first writes.
    let text = "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[16:23], v24\n";
    for (between, finding) in [("", true), ("v_nop\n", false)] {
        let body =
            format!("{text}{between}v_swmmac_f32_16x16x32_f16 v[32:39], v[8:11], v[16:23], v7");
        let object = build::kernel_in("gfx1201", 32, &body);
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_output(64);
        let launch = Launch {
            block: [32, 1, 1],
            args: vec![Arg::Buffer(a)],
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        let found = report
            .findings
            .iter()
            .any(|it| it.check == Check::WmmaHazard);
        assert_eq!(found, finding, "{:#?}", report.findings);
    }
}
