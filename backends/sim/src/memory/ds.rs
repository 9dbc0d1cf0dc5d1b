//! LDS instructions: loads, stores, atomics, and the lane exchanges that use its crossbar.

use tilefold_machine::{Access, Width};

use super::lds::Touch;
use crate::chip::Isa;
use crate::group::Group;
use crate::program::Inst;
use crate::report::Check;
use crate::simd::vectorized;
use crate::text::{Half, Line, Value};
use crate::valu::write_half;
use crate::wave::Wave;

/// How a loaded value fills its register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extend {
    /// Whole registers.
    None,
    Zero,
    Sign,
    /// 16 bits into a half, the other kept. 8-bit values are extended as the flag (signed) says.
    Half(Half, bool),
}

/// Read-modify-write operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Atomic {
    AddU32,
    SubU32,
    AddF32,
    PkAddF16,
    PkAddBf16,
    MinI32,
    MaxI32,
    MinU32,
    MaxU32,
    And,
    Or,
    Xor,
    Swap,
    CompareSwap,
    AddU64,
}

impl Atomic {
    /// The operation that the last part of a mnemonic names.
    pub(crate) fn parse(name: &str) -> Option<Atomic> {
        Some(match name {
            "add_u32" | "add" => Atomic::AddU32,
            "sub_u32" | "sub" => Atomic::SubU32,
            "add_f32" => Atomic::AddF32,
            "pk_add_f16" => Atomic::PkAddF16,
            "pk_add_bf16" => Atomic::PkAddBf16,
            "min_i32" | "smin" => Atomic::MinI32,
            "max_i32" | "smax" => Atomic::MaxI32,
            "min_u32" | "umin" => Atomic::MinU32,
            "max_u32" | "umax" => Atomic::MaxU32,
            "and_b32" | "and" => Atomic::And,
            "or_b32" | "or" => Atomic::Or,
            "xor_b32" | "xor" => Atomic::Xor,
            "swap_b32" | "swap" => Atomic::Swap,
            "cmpswap_b32" | "cmpswap" => Atomic::CompareSwap,
            "add_u64" | "add_x2" => Atomic::AddU64,
            _ => return None,
        })
    }

    pub(crate) fn bytes(self) -> usize {
        if self == Atomic::AddU64 { 8 } else { 4 }
    }

    /// The new value of a 32-bit word; `compare` is what a compare-and-swap expects.
    pub(crate) fn apply(self, old: u32, value: u32, compare: u32) -> u32 {
        use crate::valu::float::{from_bf16, from_f16, to_bf16, to_f16};
        let halves = |from: fn(u32) -> f32, to: fn(f32) -> u32| {
            let add = |a: u32, b: u32| to(from(a & 0xffff) + from(b & 0xffff));
            add(old, value) | add(old >> 16, value >> 16) << 16
        };
        match self {
            Atomic::AddU32 | Atomic::AddU64 => old.wrapping_add(value),
            Atomic::SubU32 => old.wrapping_sub(value),
            Atomic::AddF32 => (f32::from_bits(old) + f32::from_bits(value)).to_bits(),
            Atomic::PkAddF16 => halves(from_f16, to_f16),
            Atomic::PkAddBf16 => halves(from_bf16, to_bf16),
            Atomic::MinI32 => (old as i32).min(value as i32) as u32,
            Atomic::MaxI32 => (old as i32).max(value as i32) as u32,
            Atomic::MinU32 => old.min(value),
            Atomic::MaxU32 => old.max(value),
            Atomic::And => old & value,
            Atomic::Or => old | value,
            Atomic::Xor => old ^ value,
            Atomic::Swap => value,
            Atomic::CompareSwap => {
                if old == compare {
                    value
                } else {
                    old
                }
            }
        }
    }
}

enum Kind<const W: usize> {
    Load(Extend),
    Store(Option<Half>),
    Atomic {
        operation: Atomic,
        returns: bool,
    },
    /// Each lane reads the lane that its address names.
    Gather,
    /// Each lane writes the lane that its address names.
    Scatter,
    /// Each lane reads the lane of a fixed table.
    Swizzle(Box<[u8; W]>),
}

/// An LDS instruction, ready to execute.
pub(crate) struct Ds<const W: usize> {
    kind: Kind<W>,
    dst: u16,
    address: u16,
    data: [u16; 2],
    offsets: [u32; 2],
    spans: usize,
    /// Bytes of a span.
    bytes: usize,
    /// Lanes that an exchange stays within.
    reach: usize,
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

/// The lane table of a `swizzle(...)` offset, as LLVM's usage guide spells its modes.
fn swizzle<const W: usize>(line: &Line) -> Option<[u8; W]> {
    let text = line.modifier("offset").unwrap_or("0");
    let from: Box<dyn Fn(u8) -> u8> = match text.strip_prefix("swizzle(") {
        None => {
            let bits = crate::text::number(text)? as u16;
            match bits >> 15 {
                1 if bits < 0xe000 => {
                    Box::new(move |lane| (lane & !3) + (bits >> (2 * (lane & 3)) & 3) as u8)
                }
                0 => {
                    let (and, or, xor) = (bits & 31, bits >> 5 & 31, bits >> 10 & 31);
                    Box::new(move |lane| {
                        (lane & 32) | (((lane & 31) & and as u8) | or as u8) ^ xor as u8
                    })
                }
                _ => return None,
            }
        }
        Some(rest) => {
            let mut parts = rest.trim_end_matches(')').split(',').map(str::trim);
            let mode = parts.next()?;
            if mode == "BITMASK_PERM" {
                let pattern = parts.next()?.trim_matches('"').to_owned();
                if pattern.len() != 5 {
                    return None;
                }
                return Some(std::array::from_fn(|lane| {
                    pattern
                        .bytes()
                        .enumerate()
                        .fold(lane as u8 & 32, |from, (at, letter)| {
                            let bit = 16_u8 >> at;
                            from | match letter {
                                b'0' => 0,
                                b'1' => bit,
                                b'i' => !(lane as u8) & bit,
                                _ => lane as u8 & bit,
                            }
                        })
                }));
            }
            let n: Vec<u8> = parts.filter_map(|part| part.parse().ok()).collect();
            match (mode, n.as_slice()) {
                ("QUAD_PERM", &[a, b, c, d]) => {
                    let list = [a, b, c, d];
                    Box::new(move |lane| (lane & !3) + (list[usize::from(lane & 3)] & 3))
                }
                ("SWAP", &[group]) => Box::new(move |lane| lane ^ group & 31),
                ("REVERSE", &[group]) => Box::new(move |lane| lane ^ group.wrapping_sub(1) & 31),
                ("BROADCAST", &[group, from]) => {
                    Box::new(move |lane| lane & !group.wrapping_sub(1) | from & 31)
                }
                _ => return None,
            }
        }
    };
    Some(std::array::from_fn(|lane| from(lane as u8) & (W as u8 - 1)))
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

    /// Its place among the LDS instructions of the program.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    fn build(line: &Line, name: &str, isa: Isa, index: usize) -> Option<Ds<W>> {
        let offset = line.number("offset").unwrap_or(0) as u32;
        let mut ds = Ds {
            kind: Kind::Gather,
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
            "bpermute_b32" | "permute_b32" => {
                ds.dst = vector(line, 0)?;
                ds.address = vector(line, 1)?;
                ds.data[0] = vector(line, 2)?;
                if name == "permute_b32" {
                    ds.kind = Kind::Scatter;
                }
                return Some(ds);
            }
            "swizzle_b32" => {
                ds.dst = vector(line, 0)?;
                ds.data[0] = vector(line, 1)?;
                ds.kind = Kind::Swizzle(Box::new(swizzle(line)?));
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
            let (bytes, extend) = load_kind(&rest)?;
            (ds.bytes, ds.kind) = (bytes, Kind::Load(extend));
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
            ds.bytes = operation.bytes();
            ds.kind = Kind::Atomic { operation, returns };
            let first = usize::from(returns);
            if returns {
                ds.dst = vector(line, 0)?;
            }
            ds.address = vector(line, first)?;
            ds.data[0] = vector(line, first + 1)?;
            if operation == Atomic::CompareSwap || operation == Atomic::AddU64 {
                return None;
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
            Kind::Gather | Kind::Scatter | Kind::Swizzle(_) => {
                self.exchange(wave);
                return None;
            }
            Kind::Load(_) => false,
            Kind::Store(_) | Kind::Atomic { .. } => true,
        };
        let mut touch = Touch {
            base: wave.v[usize::from(self.address)],
            offsets: self.offsets,
            spans: self.spans,
            bytes: self.bytes,
            lanes: wave.exec(),
            write,
            instruction: inst.address,
        };
        self.check_bounds(&mut touch, wave, group, inst);
        self.count_conflicts(&touch, group);
        if let Kind::Atomic { .. } = self.kind {
            // Waves may race for an atomic: only what is uninitialised matters.
            self.atomic(&touch, wave, group);
            return None;
        }
        if group.checks.has(Check::LdsRace) || group.checks.has(Check::LdsUninitialized) {
            let faults = group.lds.note(&touch, wave.id, wave.barriers);
            group.report_lds(&touch, faults, wave, inst);
        }
        match self.kind {
            Kind::Load(extend) => self.load(extend, &touch, wave, group),
            Kind::Store(half) => self.store(half, &touch, wave, group),
            _ => {}
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
        let furthest = u64::from(self.offsets[0].max(self.offsets[1])) + self.bytes as u64;
        let outside = past(&touch.base, furthest, len) & touch.lanes;
        if outside == 0 {
            return;
        }
        touch.lanes &= !outside;
        let lane = outside.trailing_zeros();
        let at = touch.base[lane as usize];
        group.find(Check::LdsBounds, wave, inst, Some(lane), || {
            format!("LDS byte {at} plus {furthest} is past the workgroup's {len} bytes")
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
            for (word, out) in out[..words].iter().enumerate() {
                wave.write(self.dst + (span * words + word) as u16, out, exec);
            }
        }
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

    fn atomic(&self, touch: &Touch<W>, wave: &mut Wave<W>, group: &mut Group<'_, W>) {
        let Kind::Atomic { operation, returns } = self.kind else {
            return;
        };
        let mut old = [0; W];
        for lane in 0..W {
            if touch.lanes >> lane & 1 == 1 {
                let at = touch.base[lane].wrapping_add(self.offsets[0]) as usize;
                old[lane] = group.lds.read_u32(at);
                let value = wave.v[usize::from(self.data[0])][lane];
                group
                    .lds
                    .write_u32(at, operation.apply(old[lane], value, 0));
            }
        }
        if returns {
            wave.write(self.dst, &old, touch.lanes);
        }
    }

    /// Lanes exchange values; lanes switched off read as zero.
    fn exchange(&self, wave: &mut Wave<W>) {
        let exec = wave.exec();
        let data = wave.v[usize::from(self.data[0])];
        let addresses = &wave.v[usize::from(self.address)];
        let lane_of = |lane: usize| {
            let within = (addresses[lane].wrapping_add(self.offsets[0]) / 4) as usize % self.reach;
            lane / self.reach * self.reach + within
        };
        let active = |lane: usize| exec >> lane & 1 == 1;
        let mut out = [0; W];
        match &self.kind {
            Kind::Gather => {
                for (lane, value) in out.iter_mut().enumerate() {
                    let from = lane_of(lane);
                    *value = if active(from) { data[from] } else { 0 };
                }
            }
            Kind::Scatter => {
                for lane in (0..W).filter(|&lane| active(lane)) {
                    out[lane_of(lane)] = data[lane];
                }
            }
            Kind::Swizzle(table) => {
                for (lane, value) in out.iter_mut().enumerate() {
                    let from = usize::from(table[lane]);
                    *value = if active(from) { data[from] } else { 0 };
                }
            }
            _ => {}
        }
        wave.write(self.dst, &out, exec);
    }
}

vectorized! {
    /// The lanes whose address plus `furthest` lies past `len`.
    fn past[const W: usize](addresses: &[u32; W], furthest: u64, len: u64) -> u64 {
        let mut outside = 0_u64;
        for lane in 0..W {
            outside |= u64::from(u64::from(addresses[lane]) + furthest > len) << lane;
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

/// A value of one or two bytes, extended to 32 bits.
pub(crate) fn extend_value(bytes: &[u8], extend: Extend) -> u32 {
    let signed = matches!(extend, Extend::Sign | Extend::Half(_, true));
    match (bytes, signed) {
        (&[byte], false) => u32::from(byte),
        (&[byte], true) => byte as i8 as i32 as u32,
        (&[low, high], false) => u32::from(u16::from_le_bytes([low, high])),
        (&[low, high], true) => i16::from_le_bytes([low, high]) as i32 as u32,
        _ => 0,
    }
}

/// Writes extended values to a register or to half of it.
pub(crate) fn fill<const W: usize>(
    wave: &mut Wave<W>,
    dst: u16,
    extend: Extend,
    values: &[u32; W],
    exec: u64,
) {
    match extend {
        Extend::Half(half, _) => write_half(wave, dst, half, values, exec),
        _ => wave.write(dst, values, exec),
    }
}
