//! Operand tuples: special values of each type in all pairs and triples, and random ones.

use crate::Numbers;

/// Operands of one lane: a column for every kind, three of each.
#[derive(Debug, Clone, Copy)]
pub struct Tuple {
    pub f: [u32; 3],
    /// Selectors of `v_perm_b32`.
    pub p: u32,
    pub i: [u32; 3],
    pub h: [u32; 3],
    pub d: [u64; 3],
    pub q: [u64; 3],
    /// What the destination holds before.
    pub old: u64,
}

/// Tuples in one launch of one workgroup.
pub const LAUNCH: usize = 1024;
const PAIRS: usize = SPECIALS * SPECIALS;
const TRIPLES: usize = 12 * 12 * 12;
/// Tuples an instruction is tried on.
pub const TUPLES: usize = 5 * LAUNCH;
const SPECIALS: usize = 40;

/// Zeros, denormals, the smallest and largest numbers, infinities, NaNs of both kinds, and what
/// integers and halves of numbers turn on; the first twelve meet in triples.
const F: [u32; SPECIALS] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0x0000_0001,
    0x807f_ffff,
    0x7f7f_ffff,
    0x0080_0000,
    0xffc1_2345,
    0xffbf_ffff,
    0x8000_0001,
    0x007f_ffff,
    0x8080_0000,
    0xff7f_ffff,
    0x3f00_0000,
    0xbf00_0000,
    0x3fc0_0000,
    0x4020_0000,
    0x3eff_ffff,
    0x4b00_0000,
    0x4b00_0001,
    0xcb80_0000,
    0x4eff_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x4f80_0000,
    0x4f7f_ffff,
    0x477f_e000,
    0x477f_f000,
    0x3380_0000,
    0x3300_0000,
    0x43e0_0000,
    0x7e80_0000,
    0x7f00_0000,
    0x3280_0001,
];

const I: [u32; SPECIALS] = [
    0,
    1,
    31,
    32,
    0xffff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff,
    0x00ff_ffff,
    15,
    64,
    2,
    3,
    4,
    7,
    8,
    16,
    24,
    30,
    33,
    63,
    65,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff_8000,
    0xffff_7fff,
    0x0001_0000,
    0x0080_0000,
    0x007f_ffff,
    0xff80_0000,
    0xffff_fffe,
    0x5555_5555,
    0xaaaa_aaaa,
    0xffff_ff80,
    0x0102_0304,
];

/// Two halves each.
const H: [u32; SPECIALS] = [
    0,
    0x8000_8000,
    0x3c00_3c00,
    0xbc00_7c00,
    0x7c00_0001,
    0xfc00_7e00,
    0x7e01_7c01,
    0x7c01_03ff,
    0x0001_7bff,
    0x83ff_fbff,
    0x7bff_8001,
    0x0400_fc00,
    0xfe55_fdff,
    0x03ff_0400,
    0x3800_b800,
    0x3e00_4100,
    0x37ff_3801,
    0x6400_6401,
    0xe800_e801,
    0x7800_7800,
    0xf7ff_5bff,
    0x5c00_dc00,
    0x0200_8200,
    0x1400_0c00,
    0x3555_b555,
    0x4248_c248,
    0x4900_4901,
    0x1000_9000,
    0x0002_8002,
    0x3bff_bbff,
    0x3c01_bc01,
    0x7a00_fa00,
    0x0800_8800,
    0x2e66_ae66,
    0x5640_d640,
    0x000f_0010,
    0x0011_ffff,
    0x7fff_8000,
    0xff80_007f,
    0x0007_0008,
];

const D: [u64; SPECIALS] = [
    0,
    1 << 63,
    0x3ff0 << 48,
    0xbff0 << 48,
    0x7ff0 << 48,
    0xfff0 << 48,
    0x7ff8 << 48,
    0x7ff0_0000_0000_0001,
    1,
    0x800f_ffff_ffff_ffff,
    0x7fef_ffff_ffff_ffff,
    0x0010 << 48,
    0xfff8_0000_1234_5678,
    0xfff7_ffff_ffff_ffff,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x8010 << 48,
    0xffef_ffff_ffff_ffff,
    0x3fe0 << 48,
    0xbfe0 << 48,
    0x3ff8 << 48,
    0x4004 << 48,
    0x3fdf_ffff_ffff_ffff,
    0x4330 << 48,
    0x4330_0000_0000_0001,
    0xc340 << 48,
    0x41df_ffff_ffc0_0000,
    0x41e0 << 48,
    0xc1e0 << 48,
    0xc1e0_0000_0020_0000,
    0x41f0 << 48,
    0x41ef_ffff_ffe0_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x36a0 << 48,
    0x3690 << 48,
    0x3690_0000_0000_0001,
    0x7fd0 << 48,
    0x7fe0 << 48,
    0x3810_0000_1000_0000,
];

/// Of the smallest that has so many values.
fn pick(numbers: &mut Numbers) -> usize {
    numbers.next() as usize % SPECIALS
}

/// Places of three specials for a tuple; none for a random one.
fn specials(at: usize, numbers: &mut Numbers) -> Option<[usize; 3]> {
    if at < PAIRS {
        return Some([at % SPECIALS, at / SPECIALS, pick(numbers)]);
    }
    let at = at - PAIRS;
    (at < TRIPLES).then_some([at % 12, at / 12 % 12, at / 144])
}

fn word(numbers: &mut Numbers) -> u32 {
    numbers.next()
}

fn long(numbers: &mut Numbers) -> u64 {
    u64::from(numbers.next()) << 32 | u64::from(numbers.next())
}

/// Floats that are close enough to each other for sums and rounding to matter, or any bits.
fn floats(numbers: &mut Numbers) -> [u32; 3] {
    let near = |numbers: &mut Numbers| {
        let exponent = 118 + numbers.next() % 20;
        numbers.next() & 0x807f_ffff | exponent << 23
    };
    match numbers.next() % 4 {
        0 => [0; 3].map(|_| word(numbers)),
        // The addend nearly cancels the product.
        1 => {
            let (a, b) = (near(numbers), near(numbers));
            let product = f32::from_bits(a) * f32::from_bits(b);
            [a, b, (-product).to_bits() ^ (numbers.next() % 3)]
        }
        _ => [0; 3].map(|_| near(numbers)),
    }
}

fn halves(numbers: &mut Numbers) -> [u32; 3] {
    let near = |numbers: &mut Numbers| {
        let exponents = (11 + numbers.next() % 8) | (11 + numbers.next() % 8) << 16;
        numbers.next() & 0x83ff_83ff | exponents << 10
    };
    match numbers.next() % 3 {
        0 => [0; 3].map(|_| word(numbers)),
        _ => [0; 3].map(|_| near(numbers)),
    }
}

fn doubles(numbers: &mut Numbers) -> [u64; 3] {
    let near = |numbers: &mut Numbers| {
        let exponent = u64::from(1015 + numbers.next() % 20);
        long(numbers) & 0x800f_ffff_ffff_ffff | exponent << 52
    };
    match numbers.next() % 3 {
        0 => [0; 3].map(|_| long(numbers)),
        _ => [0; 3].map(|_| near(numbers)),
    }
}

/// All tuples, the same every time.
pub fn tuples() -> Vec<Tuple> {
    let mut numbers = Numbers(7);
    (0..TUPLES)
        .map(|at| {
            let n = &mut numbers;
            let old = long(n);
            let p = (0..4).fold(0, |p, byte| p | (n.next() % 16) << (8 * byte));
            // Every tenth has selectors beyond 15.
            let p = if at % 10 == 9 { word(n) } else { p };
            match specials(at, n) {
                Some(at) => Tuple {
                    f: at.map(|at| F[at]),
                    p,
                    i: at.map(|at| I[at]),
                    h: at.map(|at| H[at]),
                    d: at.map(|at| D[at]),
                    // Pairs of 32-bit specials.
                    q: at.map(|at| u64::from(I[at]) << 32 | u64::from(I[pick(n)])),
                    old,
                },
                None => Tuple {
                    f: floats(n),
                    p,
                    // Small numbers are shift amounts and widths.
                    i: [0; 3].map(|_| match n.next() % 3 {
                        0 => n.next() % 70,
                        _ => word(n),
                    }),
                    h: halves(n),
                    d: doubles(n),
                    q: [0; 3].map(|_| match n.next() % 3 {
                        0 => u64::from(n.next() % 70),
                        _ => long(n),
                    }),
                    old,
                },
            }
        })
        .collect()
}

/// A tuple as the kernel loads it: 28 words, to v20 and on.
pub fn record(tuple: &Tuple) -> [u32; 28] {
    let mut words = [0; 28];
    words[..3].copy_from_slice(&tuple.f);
    words[3] = tuple.p;
    words[4..7].copy_from_slice(&tuple.i);
    words[8..11].copy_from_slice(&tuple.h);
    for (at, &pair) in tuple
        .d
        .iter()
        .chain(&tuple.q)
        .chain([&tuple.old])
        .enumerate()
    {
        words[12 + 2 * at] = pair as u32;
        words[13 + 2 * at] = (pair >> 32) as u32;
    }
    words
}
