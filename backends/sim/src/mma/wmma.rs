//! WMMA of RDNA 3 and RDNA 4: 16x16 tiles of D = A x B + C.
//!
//! Lane maps: AMD's matrix instruction calculator. A wave has two or four groups of 16 lanes; lane
//! `l` of group `g` holds row `l` of A, or column `l` of B, C and D.
//!
//! On RDNA 3 every group holds all of K, and register `r` of C and D holds row `G r + g` of `G`
//! groups. On RDNA 4 the groups hold different parts of K. In wave32 register `r` of C and D holds
//! row `8 g + r`; in wave64 groups 2 and 3 hold the second half of the registers that groups 0 and
//! 1 have in wave32, of all operands. Where that would leave them half a register of A and B (K of
//! 16, four bits), they hold none of it and are ignored.

use std::sync::LazyLock;

use crate::check::Check;
use crate::chip::Isa;
use crate::group::Group;
use crate::program::Inst;
use crate::simd::vectorized;
use crate::text::{Line, Value};
use crate::valu::float::{from_bf8, from_bf16, from_f16, from_fp8, to_bf16, to_f16, to_f32_odd};
use crate::valu::{Type, constant, overflow};
use crate::wave::Wave;

/// Element types of A and B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    F16,
    Bf16,
    Fp8,
    Bf8,
    Int8 { signed: bool },
    Int4 { signed: bool },
}

impl Element {
    /// By the name of the format; integers are signed or not.
    pub(super) fn named(name: &str, signed: bool) -> Option<Element> {
        Some(match name {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "fp8" => Element::Fp8,
            "bf8" => Element::Bf8,
            "iu8" => Element::Int8 { signed },
            "iu4" => Element::Int4 { signed },
            _ => return None,
        })
    }

    /// The value of an element's bits.
    pub(super) fn value(self, bits: u32) -> f64 {
        match self {
            Element::F16 => f64::from(from_f16(bits)),
            Element::Bf16 => f64::from(from_bf16(bits)),
            Element::Fp8 => f64::from(from_fp8(bits as u8)),
            Element::Bf8 => f64::from(from_bf8(bits as u8)),
            Element::Int8 { signed: true } => f64::from(bits as u8 as i8),
            Element::Int4 { signed: true } => f64::from(((bits << 28) as i32) >> 28),
            Element::Int8 { .. } | Element::Int4 { .. } => f64::from(bits),
        }
    }

    pub(super) fn bits(self) -> usize {
        match self {
            Element::F16 | Element::Bf16 => 16,
            Element::Fp8 | Element::Bf8 | Element::Int8 { .. } => 8,
            Element::Int4 { .. } => 4,
        }
    }
}

/// Types of C and D.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accumulator {
    F32,
    F16,
    Bf16,
    I32,
}

impl Accumulator {
    pub(super) fn named(name: &str) -> Option<Accumulator> {
        Some(match name {
            "f32" => Accumulator::F32,
            "f16" => Accumulator::F16,
            "bf16" => Accumulator::Bf16,
            "i32" => Accumulator::I32,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Third {
    Registers(u16),
    Const(u32),
}

/// A WMMA instruction, ready to execute.
pub(crate) struct Wmma {
    a: (u16, Element),
    b: (u16, Element),
    c: Third,
    d: u16,
    accumulator: Accumulator,
    k: usize,
    isa: Isa,
    /// RDNA 3 with 16-bit accumulators: whether C and D are the high halves.
    high: bool,
    /// For A, B, C: negate the elements of low halves, of high halves. For C the second is abs.
    neg: [[bool; 3]; 2],
    clamp: bool,
}

/// Largest K, of CDNA too.
pub(super) const MAX_K: usize = 128;
/// An operand in f64: `[k][row of A or column of B]`.
pub(super) type Panel = [[f64; 16]; MAX_K];
pub(super) type Tile = [[f64; 16]; 16];

impl Wmma {
    /// The WMMA of a line in waves of `W` lanes; the error says what is not known about it.
    pub(crate) fn new<const W: usize>(line: &Line, isa: Isa) -> Result<Wmma, String> {
        Self::build::<W>(line, isa).ok_or_else(|| "no such WMMA or operand".to_owned())
    }

    fn build<const W: usize>(line: &Line, isa: Isa) -> Option<Wmma> {
        // v_wmma_f32_16x16x16_fp8_bf8
        let mut parts = line.name.strip_prefix("v_wmma_")?.split('_');
        let accumulator = Accumulator::named(parts.next()?)?;
        let k = match parts.next()? {
            "16x16x16" => 16,
            "16x16x32" => 32,
            _ => return None,
        };
        let neg: [[bool; 3]; 2] = [line.bits("neg_lo", false), line.bits("neg_hi", false)];
        let a = parts.next()?;
        let b = parts.next().unwrap_or(a);
        // For integers `neg_lo` means signed.
        let (a, b) = (Element::named(a, neg[0][0])?, Element::named(b, neg[0][1])?);
        let select: [bool; 3] = line.bits("op_sel", false);
        let register = |at: usize, bits: usize| match line.operands.get(at)?.value {
            Value::Vector { first, count, .. } if usize::from(count) * 32 == bits => Some(first),
            _ => None,
        };
        let input = |at: usize, element: Element| {
            Some((
                register(at, 32 * input_registers::<W>(isa, k, element))?,
                element,
            ))
        };
        let packed =
            isa == Isa::Gfx12 && matches!(accumulator, Accumulator::F16 | Accumulator::Bf16);
        let tile_bits = 256 / W * if packed { 16 } else { 32 };
        let c = match &line.operands.get(3)?.value {
            Value::Vector { .. } => Third::Registers(register(3, tile_bits)?),
            value => Third::Const(constant(
                value,
                match accumulator {
                    Accumulator::F32 => Type::F32,
                    Accumulator::I32 => Type::B32,
                    Accumulator::F16 | Accumulator::Bf16 => Type::F16,
                },
            )? as u32),
        };
        // What no encoding or no type has.
        let real = matches!(a.bits(), 16);
        let narrow = matches!(accumulator, Accumulator::F16 | Accumulator::Bf16);
        let none = [
            select[0] || select[1],
            select[2] && !(narrow && isa == Isa::Gfx11),
            line.flag("clamp") && accumulator != Accumulator::I32,
            !real && (neg[1][0] || neg[1][1]),
            accumulator == Accumulator::I32 && (neg[0][2] || neg[1][2]),
            matches!(a, Element::Fp8 | Element::Bf8) && (neg[0][0] || neg[0][1]),
        ];
        if none.contains(&true) {
            return None;
        }
        Some(Wmma {
            a: input(1, a)?,
            b: input(2, b)?,
            c,
            d: register(0, tile_bits)?,
            accumulator,
            k,
            isa,
            high: select[2],
            neg,
            clamp: line.flag("clamp"),
        })
    }

    pub(crate) fn execute<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        self.check(wave, group, inst);
        let [a, b] = &mut group.room.wide;
        let mut tile = [[0.0; 16]; 16];
        self.panel(self.a, 0, wave, a);
        self.panel(self.b, 1, wave, b);
        self.load_c(wave, &mut tile);
        multiply(&a[..self.k], &b[..self.k], &mut tile);
        let rows = self.rows(wave.mode.saturates);
        store_tile(&mut wave.v[usize::from(self.d)..], rows, &tile);
        let rows = 256 / W as u16;
        wave.last_mma = Some((self.d, if self.packed() { rows / 2 } else { rows }));
    }

    /// What the chips leave to the program: distance between dependent WMMAs and, on RDNA 3, that
    /// all groups of lanes repeat the first.
    fn check<const W: usize>(&self, wave: &Wave<W>, group: &mut Group<'_, W>, inst: &Inst<W>) {
        for (name, (first, element)) in [("A", self.a), ("B", self.b)] {
            let count = input_registers::<W>(self.isa, self.k, element) as u16;
            super::check_distance(name, first, count, wave, group, inst);
            if self.isa != Isa::Gfx11 {
                continue;
            }
            for register in first..first + count {
                let bits = &wave.v[usize::from(register)];
                if let Some(lane) = (16..W).find(|&lane| bits[lane] != bits[lane % 16]) {
                    group.find(Check::WmmaHalves, wave, inst, Some(lane as u32), || {
                        format!("{name} in v{register} differs from lane {}", lane % 16)
                    });
                    break;
                }
            }
        }
    }

    /// 16-bit accumulators on RDNA 4 lie two to a register.
    fn packed(&self) -> bool {
        self.isa == Isa::Gfx12 && matches!(self.accumulator, Accumulator::F16 | Accumulator::Bf16)
    }

    /// An operand as `panel[k][row of A or column of B]`.
    fn panel<const W: usize>(
        &self,
        (first, element): (u16, Element),
        operand: usize,
        wave: &Wave<W>,
        panel: &mut Panel,
    ) {
        let parts = parts::<W>(self.isa, self.k, element);
        fill_panel(&wave.v[usize::from(first)..], element, self.k, parts, panel);
        let [low, high] = self.neg.map(|neg| neg[operand]);
        if matches!(element, Element::F16 | Element::Bf16) && (low || high) {
            for (k, values) in panel.iter_mut().enumerate() {
                if if k % 2 == 0 { low } else { high } {
                    *values = values.map(|value| -value);
                }
            }
        }
    }

    fn rows(&self, saturate: bool) -> Rows {
        Rows {
            isa: self.isa,
            packed: self.packed(),
            high: self.high,
            accumulator: self.accumulator,
            clamp: self.clamp,
            saturate,
        }
    }

    fn load_c<const W: usize>(&self, wave: &Wave<W>, tile: &mut Tile) {
        match self.c {
            Third::Registers(first) => {
                load_tile(&wave.v[usize::from(first)..], self.rows(false), tile)
            }
            Third::Const(bits) => {
                let value = match self.accumulator {
                    Accumulator::F32 => f64::from(f32::from_bits(bits)),
                    Accumulator::F16 => f64::from(from_f16(bits)),
                    Accumulator::Bf16 => f64::from(from_bf16(bits)),
                    Accumulator::I32 => f64::from(bits as i32),
                };
                *tile = [[value; 16]; 16];
            }
        }
        self.sign_c(tile);
    }

    fn sign_c(&self, tile: &mut Tile) {
        if self.accumulator == Accumulator::I32 {
            return;
        }
        let (neg, abs) = (self.neg[0][2], self.neg[1][2]);
        if neg || abs {
            for value in tile.iter_mut().flatten() {
                let magnitude = if abs { value.abs() } else { *value };
                *value = if neg { -magnitude } else { magnitude };
            }
        }
    }
}

/// Into how many parts the groups of lanes divide K.
fn parts<const W: usize>(isa: Isa, k: usize, element: Element) -> usize {
    match isa {
        Isa::Gfx11 => 1,
        // A part fills registers. gfx9 has no WMMA.
        Isa::Gfx12 | Isa::Gfx9 => (W / 16).min(k * element.bits() / 32),
    }
}

/// Registers of A or B.
fn input_registers<const W: usize>(isa: Isa, k: usize, element: Element) -> usize {
    k * element.bits() / 32 / parts::<W>(isa, k, element)
}

/// How rows of C and D lie in registers.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) isa: Isa,
    /// Two rows to a register.
    pub(super) packed: bool,
    /// 16-bit rows in high halves.
    pub(super) high: bool,
    pub(super) accumulator: Accumulator,
    pub(super) clamp: bool,
    /// F16 results past the largest number become it (the mode FP16_OVFL).
    pub(super) saturate: bool,
}

impl Rows {
    /// Register, first lane, and shift within the register, of a row.
    #[inline(always)]
    fn place<const W: usize>(self, row: usize) -> (usize, usize, u32) {
        let (groups, rows) = (W / 16, 256 / W);
        let (register, group) = match self.isa {
            Isa::Gfx11 => (row / groups, row % groups),
            // gfx9 has no WMMA.
            Isa::Gfx12 | Isa::Gfx9 => (row % rows, row / 8 + row % 8 / rows * 2),
        };
        let lane = 16 * group;
        match self.packed {
            true => (register / 2, lane, 16 * (register as u32 % 2)),
            false => (register, lane, if self.high { 16 } else { 0 }),
        }
    }
}

/// A NaN is the positive quiet one.
#[inline(always)]
fn canonical(value: f32) -> f32 {
    if value.is_nan() {
        f32::from_bits(0x7fc0_0000)
    } else {
        value
    }
}

/// The values of all bytes in the two 8-bit formats.
static SMALL: LazyLock<[[f64; 256]; 2]> = LazyLock::new(|| {
    let bytes: [u8; 256] = std::array::from_fn(|byte| byte as u8);
    [
        bytes.map(|byte| f64::from(from_fp8(byte))),
        bytes.map(|byte| f64::from(from_bf8(byte))),
    ]
});

vectorized! {
    /// Decodes the elements of all lanes.
    fn fill_panel[const W: usize](
        registers: &[[u32; W]],
        element: Element,
        k: usize,
        parts: usize,
        panel: &mut Panel,
    ) {
        match element {
            Element::F16 => fill(registers, 16, k, parts, panel, |bits| {
                f64::from(from_f16(bits & 0xffff))
            }),
            Element::Bf16 => fill(registers, 16, k, parts, panel, |bits| {
                f64::from(from_bf16(bits & 0xffff))
            }),
            Element::Fp8 => {
                let table = &SMALL[0];
                fill(registers, 8, k, parts, panel, |bits| table[usize::from(bits as u8)]);
            }
            Element::Bf8 => {
                let table = &SMALL[1];
                fill(registers, 8, k, parts, panel, |bits| table[usize::from(bits as u8)]);
            }
            Element::Int8 { signed: true } => {
                fill(registers, 8, k, parts, panel, |bits| f64::from(bits as u8 as i8));
            }
            Element::Int8 { signed: false } => {
                fill(registers, 8, k, parts, panel, |bits| f64::from(bits as u8));
            }
            Element::Int4 { signed: true } => fill(registers, 4, k, parts, panel, |bits| {
                f64::from(((bits << 28) as i32) >> 28)
            }),
            Element::Int4 { signed: false } => {
                fill(registers, 4, k, parts, panel, |bits| f64::from(bits & 15));
            }
        }
    }
}

#[inline(always)]
fn fill<const W: usize>(
    registers: &[[u32; W]],
    bits: usize,
    k: usize,
    parts: usize,
    panel: &mut Panel,
    value: impl Fn(u32) -> f64,
) {
    let (per_register, per_lane) = (32 / bits, k / parts);
    for part in 0..parts {
        for at in 0..per_lane {
            // The half of a wave32 that has the element, and its place there.
            let (half, within) = (part % 2, part / 2 * per_lane + at);
            // 16-bit operands of RDNA 4 interleave the halves by fours.
            let place = match (parts, bits) {
                (1, _) => at,
                (_, 16) => within / 4 * 8 + half * 4 + within % 4,
                _ => half * (k / 2) + within,
            };
            let shift = (at % per_register * bits) as u32;
            let lanes = sixteen(&registers[at / per_register], 16 * part);
            for (out, bits) in panel[place].iter_mut().zip(lanes) {
                *out = value(bits >> shift);
            }
        }
    }
}

#[inline(always)]
pub(super) fn sixteen<const W: usize>(register: &[u32; W], first: usize) -> &[u32; 16] {
    register[first..first + 16]
        .try_into()
        .expect("the slice has 16 lanes")
}

vectorized! {
    pub(super) fn load_tile[const W: usize](registers: &[[u32; W]], rows: Rows, tile: &mut Tile) {
        for (row, values) in tile.iter_mut().enumerate() {
            let (register, lane, shift) = rows.place::<W>(row);
            let bits = sixteen(&registers[register], lane);
            *values = match rows.accumulator {
                Accumulator::F32 => bits.map(|bits| f64::from(f32::from_bits(bits))),
                Accumulator::F16 => bits.map(|bits| f64::from(from_f16(bits >> shift & 0xffff))),
                Accumulator::Bf16 => bits.map(|bits| f64::from(from_bf16(bits >> shift & 0xffff))),
                Accumulator::I32 => bits.map(|bits| f64::from(bits as i32)),
            };
        }
    }
}

vectorized! {
    /// 16-bit results keep the other half of their registers.
    pub(super) fn store_tile[const W: usize](registers: &mut [[u32; W]], rows: Rows, tile: &Tile) {
        for (row, values) in tile.iter().enumerate() {
            let (register, lane, shift) = rows.place::<W>(row);
            let keep = !(0xffff_u32 << shift);
            let bits: &mut [u32; 16] = (&mut registers[register][lane..lane + 16])
                .try_into()
                .expect("the slice has 16 lanes");
            match rows.accumulator {
                Accumulator::F32 => *bits = values.map(|value| canonical(value as f32).to_bits()),
                Accumulator::F16 => {
                    for (bits, &value) in bits.iter_mut().zip(values) {
                        let half = to_f16(canonical(to_f32_odd(value)));
                        let half = overflow::half(half, !rows.saturate || value.is_infinite());
                        *bits = *bits & keep | half << shift;
                    }
                }
                Accumulator::Bf16 => {
                    for (bits, &value) in bits.iter_mut().zip(values) {
                        *bits = *bits & keep | to_bf16(canonical(to_f32_odd(value))) << shift;
                    }
                }
                // Exact in f64; without clamping the low 32 bits remain.
                Accumulator::I32 if rows.clamp => *bits = values.map(|value| value as i32 as u32),
                Accumulator::I32 => *bits = values.map(|value| value as i64 as u32),
            }
        }
    }
}

vectorized! {
    /// `tile[m][n] += a[k][m] * b[k][n]`, the products being exact in f64.
    pub(super) fn multiply[](a: &[[f64; 16]], b: &[[f64; 16]], tile: &mut Tile) {
        for (m, sums) in tile.iter_mut().enumerate() {
            let mut row = *sums;
            for (a, b) in a.iter().zip(b) {
                let scale = a[m];
                for n in 0..16 {
                    row[n] = scale.mul_add(b[n], row[n]);
                }
            }
            *sums = row;
        }
    }
}
