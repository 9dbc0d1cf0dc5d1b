//! LDS instructions: loads, stores, atomics, and the lane exchanges that use its crossbar.

use tilefold_machine::{Access, Width};

use super::access::{self, Vmem};
use super::element::{Atomic, Extend, Operation, extend_value, fill};
use super::exchange::swizzle;
use super::lds::Touch;
use super::transpose;
use crate::check::Check;
use crate::chip::Isa;
use crate::group::Group;
use crate::program::Inst;
use crate::simd::vectorized;
use crate::text::{Half, Line, M0, Value};
use crate::trace::Lanes;
use crate::wave::Wave;

pub(super) enum Kind<const W: usize> {
    Load(Extend),
    /// Sixteen lanes exchange elements of so many bits after the load.
    Transpose(usize),
    Store(Option<Half>),
    Atomic {
        operation: Atomic,
        returns: bool,
    },
    /// One word at M0 grows or shrinks by the number of active lanes; all read what it was.
    Count(Atomic),
    /// Each lane reads the lane that its address names; whether those switched off have a value.
    Gather {
        inactive: bool,
    },
    /// Each lane writes the lane that its address names.
    Scatter,
    /// Each lane reads the lane of a fixed table.
    Swizzle(Box<[u8; W]>),
}

/// An LDS instruction, ready to execute.
pub(crate) struct Ds<const W: usize> {
    pub(super) kind: Kind<W>,
    pub(super) dst: u16,
    pub(super) address: u16,
    pub(super) data: [u16; 2],
    pub(super) offsets: [u32; 2],
    spans: usize,
    /// Bytes of a span.
    pub(super) bytes: usize,
    /// Lanes that an exchange stays within.
    pub(super) reach: usize,
    /// Its place among the LDS instructions of the program.
    index: usize,
}

/// The names that older architectures give.
fn canonical(name: &str) -> String {
    name.replace("ds_read2st64_", "ds_load_2addr_stride64_")
        .replace("ds_read2_", "ds_load_2addr_")
        .replace("ds_read_", "ds_load_")
        .replace("ds_write2st64_", "ds_store_2addr_stride64_")
        .replace("ds_write2_", "ds_store_2addr_")
        .replace("ds_write_", "ds_store_")
}

/// Width in bytes and extension that `b32`, `u16_d16_hi` and the like name.
fn load_kind(name: &str) -> Option<(usize, Extend)> {
    Some(match name {
        "b32" => (4, Extend::None),
        "b64" => (8, Extend::None),
        "b96" => (12, Extend::None),
        "b128" => (16, Extend::None),
        "u8" => (1, Extend::Zero),
        "i8" => (1, Extend::Sign),
        "u16" => (2, Extend::Zero),
        "i16" => (2, Extend::Sign),
        "u16_d16" => (2, Extend::Half(Half::Low, false)),
        "u16_d16_hi" => (2, Extend::Half(Half::High, false)),
        "u8_d16" => (1, Extend::Half(Half::Low, false)),
        "u8_d16_hi" => (1, Extend::Half(Half::High, false)),
        "i8_d16" => (1, Extend::Half(Half::Low, true)),
        "i8_d16_hi" => (1, Extend::Half(Half::High, true)),
        _ => return None,
    })
}

fn store_kind(name: &str) -> Option<(usize, Option<Half>)> {
    Some(match name {
        "b8" => (1, None),
        "b16" => (2, None),
        "b8_d16_hi" => (1, Some(Half::High)),
        "b16_d16_hi" => (2, Some(Half::High)),
        other => match load_kind(other)? {
            (bytes, Extend::None) => (bytes, None),
            _ => return None,
        },
    })
}

fn vector(line: &Line, at: usize) -> Option<u16> {
    match line.operands.get(at)?.value {
        Value::Vector { first, .. } => Some(first),
        _ => None,
    }
}

impl<const W: usize> Ds<W> {
    /// The LDS instruction of a line; the error says what is not known about it.
    pub(crate) fn new(line: &Line, isa: Isa, index: usize) -> Result<Ds<W>, String> {
        let name = canonical(&line.name);
        Self::build(line, name.strip_prefix("ds_").unwrap_or(&name), isa, index)
            .ok_or_else(|| "no such LDS instruction or operand".to_owned())
    }

    /// How many operands it writes: its first, or none.
    pub(crate) fn has_result(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Store(_) | Kind::Atomic { returns: false, .. }
        )
    }

    /// Whether it writes LDS.
    pub(crate) fn writes(&self) -> bool {
        matches!(
            self.kind,
            Kind::Store(_) | Kind::Atomic { .. } | Kind::Count(_)
        )
    }

    /// Whether M0 holds its address.
    pub(crate) fn reads_m0(&self) -> bool {
        matches!(self.kind, Kind::Count(_))
    }

    /// The addresses of each active lane, a list for each span, and the bytes of a span; none for
    /// exchanges between lanes.
    pub(crate) fn addresses(&self, wave: &Wave<W>) -> Option<(Vec<Lanes>, usize)> {
        if matches!(
            self.kind,
            Kind::Gather { .. } | Kind::Scatter | Kind::Swizzle(_)
        ) {
            return None;
        }
        let (base, exec) = self.reached(wave);
        let lanes = |offset: u32| {
            let active = (0..W).filter(|lane| exec >> lane & 1 == 1);
            active
                .map(|lane| (lane, u64::from(base[lane].wrapping_add(offset))))
                .collect()
        };
        let spans = self.offsets[..self.spans].iter();
        Some((spans.map(|&offset| lanes(offset)).collect(), self.bytes))
    }

    /// The address of each lane and the lanes that access memory.
    fn reached(&self, wave: &Wave<W>) -> ([u32; W], u64) {
        let exec = wave.exec();
        match self.kind {
            // The wave accesses it once.
            Kind::Count(_) => ([wave.s[usize::from(M0)]; W], exec & exec.wrapping_neg()),
            _ => (wave.v[usize::from(self.address)], exec),
        }
    }

    /// Its place among the LDS instructions of the program.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The LDS access that a flat instruction makes of the lanes whose addresses lie in LDS: by
    /// the low half of the address.
    pub(super) fn of_flat(flat: &Vmem, address: u16) -> Option<Ds<W>> {
        let kind = match flat.kind {
            access::Kind::Load(extend) => Kind::Load(extend),
            access::Kind::Store(half) => Kind::Store(half),
            access::Kind::Atomic { operation, returns } => Kind::Atomic { operation, returns },
            access::Kind::Transpose | access::Kind::LoadToLds(_) => return None,
        };
        // A compare-and-swap names a new value and then what is expected.
        let second = flat.data + (flat.bytes / 4) as u16;
        Some(Ds {
            kind,
            dst: flat.dst,
            address,
            data: [flat.data, second],
            offsets: [flat.offset as u32, 0],
            spans: 1,
            bytes: flat.bytes,
            reach: W,
            index: flat.lds_index,
        })
    }

    fn build(line: &Line, name: &str, isa: Isa, index: usize) -> Option<Ds<W>> {
        let offset = line.number("offset").unwrap_or(0) as u32;
        let mut ds = Ds {
            kind: Kind::Gather { inactive: false },
            dst: 0,
            address: 0,
            data: [0; 2],
            offsets: [offset, 0],
            spans: 1,
            bytes: 4,
            // RDNA 3 takes lane numbers modulo 32 in waves of 64 too.
            reach: if isa == Isa::Gfx11 { 32 } else { W },
            index,
        };
        match name {
            "bpermute_b32" | "bpermute_fi_b32" | "permute_b32" => {
                ds.dst = vector(line, 0)?;
                ds.address = vector(line, 1)?;
                ds.data[0] = vector(line, 2)?;
                ds.kind = match name {
                    "permute_b32" => Kind::Scatter,
                    _ => Kind::Gather {
                        inactive: name == "bpermute_fi_b32",
                    },
                };
                return Some(ds);
            }
            "swizzle_b32" => {
                ds.dst = vector(line, 0)?;
                ds.data[0] = vector(line, 1)?;
                ds.kind = Kind::Swizzle(Box::new(swizzle(line)?));
                return Some(ds);
            }
            // AMD's guides, "DS_APPEND" and "DS_CONSUME". LLVM puts an address in LDS in all of M0.
            "append" | "consume" => {
                let operation = if name == "append" {
                    "add_u32"
                } else {
                    "sub_u32"
                };
                ds.dst = vector(line, 0)?;
                ds.kind = Kind::Count(Atomic::parse(operation)?);
                return Some(ds);
            }
            _ => {}
        }
        let two = |rest: &str, ds: &mut Ds<W>| -> Option<String> {
            let (stride, width) = match rest.strip_prefix("2addr_stride64_") {
                Some(width) => (64, width),
                None => (1, rest.strip_prefix("2addr_")?),
            };
            let bytes = if width == "b64" { 8 } else { 4 };
            ds.spans = 2;
            ds.offsets = ["offset0", "offset1"]
                .map(|name| line.number(name).unwrap_or(0) as u32 * stride * bytes);
            Some(width.to_owned())
        };
        if let Some(rest) = name.strip_prefix("load_") {
            let rest = two(rest, &mut ds).unwrap_or_else(|| rest.to_owned());
            (ds.bytes, ds.kind) = match transpose::parse(&rest) {
                Some((bits, bytes)) => (bytes, Kind::Transpose(bits)),
                None => {
                    let (bytes, extend) = load_kind(&rest)?;
                    (bytes, Kind::Load(extend))
                }
            };
            ds.dst = vector(line, 0)?;
            ds.address = vector(line, 1)?;
        } else if let Some(rest) = name.strip_prefix("store_") {
            let rest = two(rest, &mut ds).unwrap_or_else(|| rest.to_owned());
            let (bytes, half) = store_kind(&rest)?;
            (ds.bytes, ds.kind) = (bytes, Kind::Store(half));
            ds.address = vector(line, 0)?;
            ds.data[0] = vector(line, 1)?;
            if ds.spans == 2 {
                ds.data[1] = vector(line, 2)?;
            }
        } else {
            let (operation, returns) = match name.split_once("_rtn_") {
                Some((operation, width)) => (format!("{operation}_{width}"), true),
                None => (name.to_owned(), false),
            };
            let operation = Atomic::parse(&operation)?;
            ds.bytes = operation.bytes;
            ds.kind = Kind::Atomic { operation, returns };
            let first = usize::from(returns);
            if returns {
                ds.dst = vector(line, 0)?;
            }
            ds.address = vector(line, first)?;
            ds.data[0] = vector(line, first + 1)?;
            if operation.operation == Operation::CompareSwap {
                // Up to gfx9 what is expected comes first, later the new value.
                ds.data[1] = vector(line, first + 2)?;
                if name.starts_with("cmpst_") {
                    ds.data.swap(0, 1);
                }
            }
        }
        Some(ds)
    }

    /// Executes; the value returned are the bytes touched.
    pub(crate) fn execute(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Option<Touch<W>> {
        let write = match self.kind {
            Kind::Gather { .. } | Kind::Scatter | Kind::Swizzle(_) => {
                self.exchange(wave);
                return None;
            }
            Kind::Load(_) | Kind::Transpose(_) => false,
            Kind::Store(_) | Kind::Atomic { .. } | Kind::Count(_) => true,
        };
        let (base, lanes) = self.reached(wave);
        let mut touch = Touch {
            base,
            offsets: self.offsets,
            spans: self.spans,
            bytes: self.bytes,
            lanes,
            write,
            atomic: matches!(self.kind, Kind::Atomic { .. } | Kind::Count(_)),
            instruction: inst.address,
        };
        self.check_bounds(&mut touch, wave, group, inst);
        self.count_conflicts(&touch, group);
        match self.kind {
            Kind::Store(half) => {
                let stored = |span, lane| self.stored(half, wave, span, lane);
                group.note_lds(&touch, wave, inst, Some(&stored));
            }
            _ => group.note_lds(&touch, wave, inst, None),
        }
        match self.kind {
            Kind::Load(extend) => self.load(extend, &touch, wave, group),
            Kind::Transpose(_) => self.load(Extend::None, &touch, wave, group),
            Kind::Store(half) => self.store(half, &touch, wave, group),
            Kind::Count(operation) => self.count(operation, &touch, wave, group),
            _ => self.atomic(&touch, wave, group),
        }
        Some(touch)
    }

    /// Takes the lanes out whose bytes do not exist.
    fn check_bounds(
        &self,
        touch: &mut Touch<W>,
        wave: &Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let len = group.lds.len() as u64;
        let past = |offset| past(&touch.base, offset, self.bytes as u64, len) & touch.lanes;
        let outside = self.offsets[..self.spans]
            .iter()
            .fold(0, |outside, &offset| outside | past(offset));
        if outside == 0 {
            return;
        }
        touch.lanes &= !outside;
        let lane = outside.trailing_zeros();
        let at = touch.base[lane as usize];
        let (bytes, offsets) = (self.bytes, &self.offsets[..self.spans]);
        group.find(Check::LdsBounds, wave, inst, Some(lane), || {
            format!("{bytes} bytes at LDS {at} + {offsets:?} end past the workgroup's {len} bytes")
        });
    }

    fn count_conflicts(&self, touch: &Touch<W>, group: &mut Group<'_, W>) {
        let access = if touch.write {
            Access::Write
        } else {
            Access::Read
        };
        let Some(width) = Width::from_bits(self.bytes as u32 * 8) else {
            return;
        };
        for span in 0..self.spans {
            group.count_conflicts(
                self.index,
                &touch.base,
                self.offsets[span],
                touch.lanes,
                width,
                access,
            );
        }
    }

    fn load(&self, extend: Extend, touch: &Touch<W>, wave: &mut Wave<W>, group: &Group<'_, W>) {
        let exec = wave.exec();
        let lds = &group.lds;
        if extend != Extend::None {
            let mut out = [0; W];
            for (lane, value) in out.iter_mut().enumerate() {
                if touch.lanes >> lane & 1 == 1 {
                    let at = touch.base[lane].wrapping_add(self.offsets[0]) as usize;
                    *value = extend_value(&lds.bytes[at..at + self.bytes], extend);
                }
            }
            return fill(wave, self.dst, extend, &out, exec);
        }
        let words = self.bytes / 4;
        for span in 0..self.spans {
            let mut out = [[0; W]; 4];
            match words {
                1 => load_words::<1, W>(lds, touch, self.offsets[span], &mut out),
                2 => load_words::<2, W>(lds, touch, self.offsets[span], &mut out),
                3 => load_words::<3, W>(lds, touch, self.offsets[span], &mut out),
                _ => load_words::<4, W>(lds, touch, self.offsets[span], &mut out),
            }
            if let Kind::Transpose(bits) = self.kind {
                transpose::transpose(&mut out[..words], bits);
            }
            for (word, out) in out[..words].iter().enumerate() {
                wave.write(self.dst + (span * words + word) as u16, out, exec);
            }
        }
    }

    /// What a lane stores.
    fn stored(&self, half: Option<Half>, wave: &Wave<W>, span: usize, lane: usize) -> [u8; 16] {
        let mut bytes = [0; 16];
        let data = usize::from(self.data[span]);
        let registers = wave.v[data..].iter().take(self.bytes.div_ceil(4));
        for (bytes, register) in bytes.chunks_exact_mut(4).zip(registers) {
            let word = match half {
                Some(Half::High) => register[lane] >> 16,
                _ => register[lane],
            };
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn store(
        &self,
        half: Option<Half>,
        touch: &Touch<W>,
        wave: &Wave<W>,
        group: &mut Group<'_, W>,
    ) {
        let lds = &mut group.lds;
        for span in 0..self.spans {
            let data = usize::from(self.data[span]);
            if self.bytes < 4 {
                for lane in 0..W {
                    if touch.lanes >> lane & 1 == 1 {
                        let at = touch.base[lane].wrapping_add(self.offsets[0]) as usize;
                        let value = match half {
                            Some(Half::High) => wave.v[data][lane] >> 16,
                            _ => wave.v[data][lane],
                        };
                        lds.bytes[at..at + self.bytes]
                            .copy_from_slice(&value.to_le_bytes()[..self.bytes]);
                    }
                }
                continue;
            }
            let registers = &wave.v[data..data + self.bytes / 4];
            for lane in 0..W {
                if touch.lanes >> lane & 1 == 1 {
                    let at = touch.base[lane].wrapping_add(self.offsets[span]) as usize;
                    for (word, register) in registers.iter().enumerate() {
                        lds.write_u32(at + 4 * word, register[lane]);
                    }
                }
            }
        }
    }
}

vectorized! {
    /// The lanes where some of the bytes at address plus offset, which wraps, lie past `len`.
    fn past[const W: usize](addresses: &[u32; W], offset: u32, bytes: u64, len: u64) -> u64 {
        let mut outside = 0_u64;
        for lane in 0..W {
            let end = u64::from(addresses[lane].wrapping_add(offset)) + bytes;
            outside |= u64::from(end > len) << lane;
        }
        outside
    }
}

#[inline(always)]
fn load_words<const N: usize, const W: usize>(
    lds: &super::lds::Lds,
    touch: &Touch<W>,
    offset: u32,
    out: &mut [[u32; W]; 4],
) {
    for lane in 0..W {
        if touch.lanes >> lane & 1 == 1 {
            let at = touch.base[lane].wrapping_add(offset) as usize;
            let bytes = &lds.bytes[at..at + 4 * N];
            for (word, out) in out[..N].iter_mut().enumerate() {
                let bytes = &bytes[4 * word..4 * word + 4];
                out[lane] = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
    }
}
