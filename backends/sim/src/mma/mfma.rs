//! MFMA of CDNA 4 (gfx950) in wave64: D = A x B + C.
//!
//! Lane maps of A, B, C and D: AMD's matrix instruction calculator for the shapes that CDNA 3 has;
//! those of CDNA 4 continue them (FlyDSL's published forms agree). Lane `l` holds row
//! `l % (dim * blocks)` of A or that column of B, and the part `l / (dim * blocks)` of K.
//!
//! F8F6F4 instructions with 8-bit elements hold K in two runs of 16 elements that lie half of K
//! apart; 6-bit and 4-bit elements in one run of 32. This decides which elements meet where the
//! formats of A and B differ, and which scale an element has: the scale of K's block `j` of 32
//! comes from lane `dim * j + row`. For 8-bit elements that is what AMD's composable_kernel printed
//! on the device (its `scale_mapping` tests) and what AMD's article on matrix cores shows; for 4-bit
//! elements the article says so; for 6-bit elements AMD's emulator takes one run while FlyDSL takes
//! two: one run is chosen here, unproven.
//!
//! The order of additions is not published: here products are summed in f64 in the order of k, then
//! C is added and the result rounded once (f64 products: a chain of fused multiply-adds that begins
//! with C). SMFMAC instructions are the same with a sparse A, whose zeros are put back. In the mode
//! FP16_OVFL sums that overflow become the largest f32 or integer, as CDNA 4's
//! guide has it ("Clamp"); infinities of operands stay, which is a choice. EXEC is ignored, and
//! denormals are kept (CDNA 3 ISA, "Matrix arithmetic instructions").

use super::Room;
use super::format::{Format, e8m0};
use super::panel::{self, Order, SCALED};
use super::shapes::{Accumulator, Lanes, Shape};
use super::sparse;
use crate::group::Group;
use crate::text::{Line, Value};
use crate::valu::{Type, constant};
use crate::wave::Wave;

/// Where a scale comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    Vector(u16),
    Scalar(u16),
    Const(u32),
}

const NO_OPERAND: &str = "an operand is of no known kind";

/// Where C comes from.
#[derive(Debug, Clone, Copy)]
enum Addend {
    Vector(u16),
    Const(u64),
}

/// Scales that leave elements of 8 bits and products of them within f32.
const SMALL: std::ops::RangeInclusive<f64> = 1.0 / 65536.0..=65536.0;

/// Where the places of a sparse A's elements are: a register and the first bit.
type Index = (u16, u32);

/// An MFMA instruction, ready to execute.
#[derive(Debug)]
pub(crate) struct Mfma {
    shape: Shape,
    /// First registers and formats of A and B.
    inputs: [(u16, Format); 2],
    c: Addend,
    d: u16,
    /// Scales of A and B and the byte of them that counts.
    scales: Option<[(Source, u32); 2]>,
    /// A of `2^cbsz` neighbouring blocks comes from block `abid` of them.
    cbsz: u32,
    abid: u32,
    blgp: u32,
    /// Negation of A, B and C in f64.
    neg: [bool; 3],
    /// SMFMAC: of each four neighbours in K, A has two.
    sparse: Option<Index>,
}

/// Registers from the first, how many.
type Range = (u16, u16);

impl Mfma {
    /// The MFMA of a line; the error says what is not known about it.
    pub(crate) fn new(line: &Line) -> Result<Mfma, String> {
        if let Some(name) = line.name.strip_prefix("v_smfmac_") {
            let shape = Shape::sparse(name).ok_or("no such matrix instruction on gfx950")?;
            return Self::sparse(line, shape).ok_or_else(|| NO_OPERAND.to_owned());
        }
        let name = line.name.strip_prefix("v_mfma_").unwrap_or(&line.name);
        let (name, scaled) = match name.strip_prefix("scale_") {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let shape = Shape::find(name).ok_or("no such matrix instruction on gfx950")?;
        let small = |name| line.number(name).unwrap_or(0);
        let codes = [small("cbsz"), small("blgp")];
        let formats = match shape.formats {
            Some(formats) => formats,
            None => {
                let [a, b] = codes.map(Format::of_f8f6f4);
                a.zip(b)
                    .map(|(a, b)| [a, b])
                    .ok_or("no such element format")?
            }
        };
        let (cbsz, blgp) = match shape.formats {
            Some(_) => (codes[0], codes[1]),
            None => (0, 0),
        };
        let abid = small("abid");
        let most = match shape.lanes {
            Lanes::Blocks => i64::from(shape.blocks.ilog2()),
            _ => 0,
        };
        if !(0..=most).contains(&cbsz) || !(0..1 << cbsz).contains(&abid) {
            return Err("cbsz or abid names blocks that are not there".into());
        }
        let patterns = if shape.lanes == Lanes::Fixed { 1 } else { 8 };
        if !(0..patterns).contains(&blgp) {
            return Err("blgp has no meaning here".into());
        }
        Self::build(line, shape, formats, scaled)
            .map(|mfma| Mfma {
                cbsz: cbsz as u32,
                abid: abid as u32,
                blgp: blgp as u32,
                ..mfma
            })
            .ok_or_else(|| NO_OPERAND.to_owned())
    }

    /// D = A x B + D of a sparse A: D, A, B, index. `cbsz` of zero lets `abid` choose between the
    /// sets of indices that a register has room for (CDNA 4 guide, "Details of Sparsity
    /// Structure").
    fn sparse(line: &Line, shape: Shape) -> Option<Mfma> {
        let formats = shape.formats?;
        let register = |at: usize, registers: usize| match line.operands.get(at)?.value {
            Value::Vector { first, count, .. } if usize::from(count) == registers => Some(first),
            _ => None,
        };
        let registers = shape.per_lane() * formats[0].bits() / 32;
        // Two bits for each of A's elements.
        let bits = shape.per_lane() as u32;
        let [cbsz, abid] = ["cbsz", "abid"].map(|name| line.number(name).unwrap_or(0) as u32);
        let set = match cbsz & 3 {
            0 => abid % (32 / bits),
            _ => 0,
        };
        let d = register(0, shape.accumulators())?;
        Some(Mfma {
            shape,
            inputs: [
                (register(1, registers / 2)?, formats[0]),
                (register(2, registers)?, formats[1]),
            ],
            c: Addend::Vector(d),
            d,
            scales: None,
            cbsz: 0,
            abid: 0,
            blgp: 0,
            neg: [false; 3],
            sparse: Some((register(3, 1)?, set * bits)),
        })
    }

    fn build(line: &Line, shape: Shape, formats: [Format; 2], scaled: bool) -> Option<Mfma> {
        let register = |at: usize, registers: usize| match line.operands.get(at)?.value {
            Value::Vector { first, count, .. } if usize::from(count) == registers => Some(first),
            _ => None,
        };
        let input = |at: usize| {
            let format = formats[at];
            Some((
                register(at + 1, shape.per_lane() * format.bits() / 32)?,
                format,
            ))
        };
        let c = match &line.operands.get(3)?.value {
            Value::Vector { .. } => Addend::Vector(register(3, shape.accumulators())?),
            value => Addend::Const(constant(
                value,
                match shape.accumulator {
                    Accumulator::F32 => Type::F32,
                    Accumulator::F64 => Type::F64,
                    Accumulator::I32 => Type::B32,
                },
            )?),
        };
        // LLVM leaves out `op_sel_hi` where all its bits are set.
        let select: [[bool; 3]; 2] = [line.bits("op_sel", false), line.bits("op_sel_hi", true)];
        let scale = |at: usize| {
            let source = match &line.operands.get(at + 4)?.value {
                Value::Vector { first, .. } => Source::Vector(*first),
                Value::Scalar { first, .. } => Source::Scalar(*first),
                value => Source::Const(constant(value, Type::B32)? as u32),
            };
            Some((
                source,
                u32::from(select[0][at]) + 2 * u32::from(select[1][at]),
            ))
        };
        Some(Mfma {
            shape,
            inputs: [input(0)?, input(1)?],
            c,
            d: register(0, shape.accumulators())?,
            scales: match scaled {
                true => Some([scale(0)?, scale(1)?]),
                false => None,
            },
            cbsz: 0,
            abid: 0,
            blgp: 0,
            neg: match shape.accumulator {
                Accumulator::F64 => line.bits("neg", false),
                _ => [false; 3],
            },
            sparse: None,
        })
    }

    /// Registers of A and of B.
    fn inputs(&self) -> [Range; 2] {
        let [a, b] = self.inputs.map(|(first, format)| {
            let registers = self.shape.per_lane() * format.bits() / 32;
            (first, registers as u16)
        });
        match self.sparse {
            Some(_) => [(a.0, a.1 / 2), b],
            None => [a, b],
        }
    }

    /// Passes of four cycles, on which hazards depend.
    pub(crate) fn passes(&self) -> u32 {
        self.shape.passes(self.inputs.map(|(_, format)| format))
    }

    fn is_f64(&self) -> bool {
        self.shape.accumulator == Accumulator::F64
    }

    /// Executes; the error says what its operands may not be.
    pub(crate) fn execute<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
    ) -> Result<(), String> {
        let saturate = wave.mode.saturates;
        self.compute(&mut wave.v, &wave.s, &mut group.room, saturate)
    }

    /// Works on vector and scalar registers.
    fn compute<const W: usize>(
        &self,
        v: &mut [[u32; W]],
        s: &[u32],
        room: &mut Room,
        saturate: bool,
    ) -> Result<(), String> {
        match (self.is_f64(), self.shape.width()) {
            (true, _) => {
                self.double(v);
                Ok(())
            }
            (false, 16) => self.single::<16, W>(v, s, room, saturate),
            (false, 32) => self.single::<32, W>(v, s, room, saturate),
            (false, _) => self.single::<64, W>(v, s, room, saturate),
        }
    }

    fn single<const D: usize, const W: usize>(
        &self,
        v: &mut [[u32; W]],
        s: &[u32],
        room: &mut Room,
        saturate: bool,
    ) -> Result<(), String> {
        let [a, b] = room.narrow.each_mut().map(|panel| {
            let (rows, _) = panel.as_chunks_mut::<D>();
            &mut rows[..self.shape.k]
        });
        let scales: [Option<Vec<[f64; D]>>; 2] = [self.factors(0, v, s), self.factors(1, v, s)];
        // Factors of common size keep the panels in f32.
        let small = scales.iter().flatten().flatten().flatten();
        let small = small.clone().all(|factor| SMALL.contains(factor));
        let narrow = scales.each_ref().map(|scales| {
            let scales = scales.as_ref().filter(|_| small)?;
            Some(Vec::from_iter(
                scales.iter().map(|row| row.map(|x| x as f32)),
            ))
        });
        self.panel(0, v, narrow[0].as_deref(), a)?;
        self.panel(1, v, narrow[1].as_deref(), b)?;
        let registers = self.load_c(v);
        let (dim, accumulator) = (self.shape.dim, self.shape.accumulator);
        let integers = accumulator == Accumulator::I32;
        if dim == 4 {
            panel::accumulate_small(registers, integers, a, b, saturate);
        } else if integers {
            panel::accumulate_i32(registers, dim, a, b, saturate);
        } else if small && panel::is_narrow(a) && panel::is_narrow(b) {
            panel::accumulate_exact(registers, dim, a, b, saturate);
        } else {
            let [wide_a, wide_b] = room.wide.each_mut().map(|panel| {
                let (rows, _) = panel.as_flattened_mut().as_chunks_mut::<D>();
                &mut rows[..self.shape.k]
            });
            let [of_a, of_b] = scales.each_ref().map(|scales| match small {
                true => None,
                false => scales.as_deref(),
            });
            panel::widen(a, of_a, wide_a);
            panel::widen(b, of_b, wide_b);
            panel::accumulate_f64(registers, dim, wide_a, wide_b, saturate);
        }
        Ok(())
    }

    /// The scales of an operand: for each 32 of K one of each row.
    fn factors<const D: usize, const W: usize>(
        &self,
        operand: usize,
        v: &[[u32; W]],
        s: &[u32],
    ) -> Option<Vec<[f64; D]>> {
        let (source, byte) = self.scales?[operand];
        let blocks = 0..self.shape.k / SCALED;
        Some(Vec::from_iter(blocks.map(|block| {
            std::array::from_fn(|row| {
                let word = match source {
                    Source::Vector(index) => v[usize::from(index)][block * D + row],
                    Source::Scalar(index) => s[usize::from(index)],
                    Source::Const(bits) => bits,
                };
                e8m0(word >> (8 * byte) & 0xff)
            })
        })))
    }

    /// Puts C where D will be and returns those registers. A and B have been read.
    fn load_c<'a, const W: usize>(&self, v: &'a mut [[u32; W]]) -> &'a mut [[u32; W]] {
        let (d, count) = (usize::from(self.d), self.shape.accumulators());
        let words = if self.is_f64() { 2 } else { 1 };
        match self.c {
            Addend::Vector(first) => {
                let first = usize::from(first);
                if first != d {
                    v.copy_within(first..first + count, d);
                }
            }
            Addend::Const(bits) => {
                for (at, register) in v[d..d + count].iter_mut().enumerate() {
                    *register = [(bits >> (at % words * 32)) as u32; W];
                }
            }
        }
        &mut v[d..d + count]
    }

    fn panel<const D: usize, const W: usize>(
        &self,
        operand: usize,
        v: &[[u32; W]],
        scales: Option<&[[f32; D]]>,
        panel: &mut [[f32; D]],
    ) -> Result<(), String> {
        let (first, format) = self.inputs[operand];
        let (_, count) = self.inputs()[operand];
        let registers = &v[usize::from(first)..][..usize::from(count)];
        let moved: Vec<[u32; W]>;
        let registers = if let (0, Some((index, shift))) = (operand, self.sparse) {
            let indices = &v[usize::from(index)];
            moved = sparse::spread(registers, indices, shift, format.bits())
                .map_err(sparse::same_place)?;
            &moved
        } else if self.moves(operand) {
            moved = registers
                .iter()
                .map(|register| std::array::from_fn(|lane| register[self.from(operand, lane)]))
                .collect();
            &moved
        } else {
            registers
        };
        let order = Order {
            per_lane: self.shape.per_lane(),
            run: self.shape.run(format),
        };
        panel::fill(registers, format, order, scales, panel);
        Ok(())
    }

    fn moves(&self, operand: usize) -> bool {
        match operand {
            0 => self.cbsz != 0,
            _ => self.blgp != 0,
        }
    }

    /// The lane whose element a lane gets (AMD's matrix instruction calculator, "CBSZ", "ABID" and
    /// "BLGP").
    fn from(&self, operand: usize, lane: usize) -> usize {
        if operand == 0 {
            let (block, row) = (lane / self.shape.dim, lane % self.shape.dim);
            let group = block >> self.cbsz << self.cbsz;
            return (group + self.abid as usize) * self.shape.dim + row;
        }
        match self.blgp {
            1 => lane % 32,
            2 => 32 + lane % 32,
            3 => (lane + 16) % 64,
            pattern @ 4..=7 => (pattern as usize - 4) * 16 + lane % 16,
            _ => lane,
        }
    }

    fn double<const W: usize>(&self, v: &mut [[u32; W]]) {
        let [a, b] = self.inputs.map(|(first, _)| {
            let (low, high) = (&v[usize::from(first)], &v[usize::from(first) + 1]);
            std::array::from_fn::<f64, W, _>(|lane| {
                f64::from_bits(u64::from(low[lane]) | u64::from(high[lane]) << 32)
            })
        });
        let registers = self.load_c(v);
        panel::accumulate_double(registers, self.shape.dim, self.neg, &a, &b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mfma(text: &str) -> Result<Mfma, String> {
        Mfma::new(&Line::parse(text))
    }

    #[test]
    fn registers_and_passes() {
        let text = "v_mfma_scale_f32_32x32x64_f8f6f4 a[0:15], v[8:15], v[16:19], a[0:15], v24, v25 \
                    op_sel_hi:[0,0,0] blgp:4";
        let scaled = mfma(text).unwrap();
        assert_eq!(scaled.inputs(), [(8, 8), (16, 4)]);
        assert_eq!(scaled.passes(), 16);
        let small = "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[8:13], v[16:19], 0 cbsz:2 blgp:4";
        let small = mfma(small).unwrap();
        assert_eq!(small.passes(), 8);
        let double = mfma("v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]").unwrap();
        assert!(double.is_f64() && double.passes() == 16);
    }

    #[test]
    fn passes_are_those_of_the_machine_record() {
        let machine = tilefold_machine::Machine::by_name("gfx950").unwrap();
        let mut compared = 0;
        for (name, cycles) in machine.matrix_instructions() {
            let name = name
                .trim_start_matches("v_mfma_")
                .trim_start_matches("scale_");
            let shape = Shape::find(name).unwrap();
            // The record's cycles are those of the widest formats.
            let formats = shape.formats.unwrap_or([Format::Fp8; 2]);
            assert_eq!(4 * shape.passes(formats), cycles, "{name}");
            compared += 1;
        }
        assert!(compared >= 26);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for (text, reason) in [
            (
                "v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[6:7], 0",
                "no such matrix",
            ),
            (
                "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v12",
                "operand",
            ),
            (
                "v_smfmac_f32_16x16x16_f16 v[0:3], v[4:5], v[8:11], v12",
                "no such matrix",
            ),
            (
                "v_mfma_f32_16x16x16_f16 v[0:3], v[4:7], v[6:7], 0",
                "operand",
            ),
            (
                "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0 cbsz:1",
                "blocks",
            ),
            (
                "v_mfma_f32_16x16x4_4b_f16 v[0:15], v[24:25], v[26:27], 0 cbsz:1 abid:2",
                "blocks",
            ),
            (
                "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0 blgp:1",
                "blgp",
            ),
            (
                "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], 0 cbsz:5",
                "format",
            ),
            (
                "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], 0 cbsz:4",
                "operand",
            ),
        ] {
            let error = mfma(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
