//! Vector memory instructions: global, flat, buffer and scratch loads, stores and atomics.

use super::ds::{Atomic, Extend, extend_value, fill};
use super::resource::Resource;
use crate::group::Group;
use crate::program::Inst;
use crate::report::Check;
use crate::text::{Half, Line, NULL, Operand, Value};
use crate::wave::Wave;

/// How lanes find their addresses.
enum Address {
    /// A register pair each.
    Flat(u16),
    /// A scalar pair plus an unsigned 32-bit register each.
    Based { base: u16, offset: Option<u16> },
    /// A buffer resource in four scalars, an offset (and index) each, a scalar offset.
    Buffer {
        resource: u16,
        index: Option<u16>,
        offset: Option<u16>,
        scalar: Scalar,
    },
    /// The lane's scratch.
    Scratch { offset: Option<u16>, scalar: Scalar },
}

#[derive(Clone, Copy)]
enum Scalar {
    Register(u16),
    Const(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load(Extend),
    Store(Option<Half>),
    Atomic {
        operation: Atomic,
        returns: bool,
    },
    /// A tile of 16x16 16-bit (or 8-bit) elements, transposed on its way.
    Transpose,
}

/// A vector memory instruction, ready to execute.
pub(crate) struct Vmem {
    kind: Kind,
    address: Address,
    offset: i64,
    dst: u16,
    data: u16,
    bytes: usize,
}

/// One lane's bytes: where they are, or why they are not accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Off,
    /// Dropped by the range check, whole or in the words not set in the mask.
    At {
        address: u64,
        words: u16,
    },
}

/// Width and extension by the names of every generation.
fn load_kind(name: &str) -> Option<(usize, Extend)> {
    use Half::{High, Low};
    Some(match name {
        "b32" | "dword" => (4, Extend::None),
        "b64" | "dwordx2" => (8, Extend::None),
        "b96" | "dwordx3" => (12, Extend::None),
        "b128" | "dwordx4" => (16, Extend::None),
        "u8" | "ubyte" => (1, Extend::Zero),
        "i8" | "sbyte" => (1, Extend::Sign),
        "u16" | "ushort" => (2, Extend::Zero),
        "i16" | "sshort" => (2, Extend::Sign),
        "d16_b16" | "short_d16" => (2, Extend::Half(Low, false)),
        "d16_hi_b16" | "short_d16_hi" => (2, Extend::Half(High, false)),
        "d16_u8" | "ubyte_d16" => (1, Extend::Half(Low, false)),
        "d16_hi_u8" | "ubyte_d16_hi" => (1, Extend::Half(High, false)),
        "d16_i8" | "sbyte_d16" => (1, Extend::Half(Low, true)),
        "d16_hi_i8" | "sbyte_d16_hi" => (1, Extend::Half(High, true)),
        _ => return None,
    })
}

fn store_kind(name: &str) -> Option<(usize, Option<Half>)> {
    Some(match name {
        "b8" | "byte" => (1, None),
        "b16" | "short" => (2, None),
        "d16_hi_b8" | "byte_d16_hi" => (1, Some(Half::High)),
        "d16_hi_b16" | "short_d16_hi" => (2, Some(Half::High)),
        other => match load_kind(other)? {
            (bytes, Extend::None) => (bytes, None),
            _ => return None,
        },
    })
}

fn vector(operand: Option<&Operand>) -> Option<u16> {
    match operand?.value {
        Value::Vector { first, .. } => Some(first),
        _ => None,
    }
}

fn scalar(operand: Option<&Operand>) -> Option<Scalar> {
    Some(match operand?.value {
        Value::Scalar { first: NULL, .. } => Scalar::Const(0),
        Value::Scalar { first, .. } => Scalar::Register(first),
        Value::Int(int) => Scalar::Const(int as u32),
        Value::Literal(bits) => Scalar::Const(bits as u32),
        Value::Word(ref word) if word == "off" => Scalar::Const(0),
        _ => return None,
    })
}

fn scalar_register(operand: Option<&Operand>) -> Option<u16> {
    match operand?.value {
        Value::Scalar { first, .. } => Some(first),
        _ => None,
    }
}

impl Vmem {
    /// The vector memory instruction of a line; the error says what is not known about it.
    pub(crate) fn new(line: &Line) -> Result<Vmem, String> {
        Self::build(line).ok_or_else(|| "no such memory instruction or operand".to_owned())
    }

    /// Whether its first operand is what it loads.
    pub(crate) fn has_result(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Store(_) | Kind::Atomic { returns: false, .. }
        )
    }

    fn build(line: &Line) -> Option<Vmem> {
        let (space, rest) = line.name.split_once('_')?;
        if line.flag("lds") || line.flag("tfe") || rest.contains("lds") || line.flag("scale_offset")
        {
            return None;
        }
        let (kind, bytes) = if let Some(rest) = rest.strip_prefix("load_tr_") {
            let bytes = match rest {
                "b128" => 16,
                "b64" => 8,
                _ => return None,
            };
            (Kind::Transpose, bytes)
        } else if let Some(rest) = rest.strip_prefix("load_") {
            let (bytes, extend) = load_kind(rest)?;
            (Kind::Load(extend), bytes)
        } else if let Some(rest) = rest.strip_prefix("store_") {
            let (bytes, half) = store_kind(rest)?;
            (Kind::Store(half), bytes)
        } else {
            let operation = Atomic::parse(rest.strip_prefix("atomic_")?)?;
            // Before gfx12 `glc` or `sc0` asks for the old value, there it is a temporal hint.
            let returns = line.flag("glc")
                || line.flag("sc0")
                || line
                    .modifier("th")
                    .is_some_and(|hint| hint.contains("RETURN"));
            (Kind::Atomic { operation, returns }, operation.bytes())
        };
        let loads = matches!(kind, Kind::Load(_) | Kind::Transpose);
        let mut operands = line.operands.iter();
        let (mut dst, mut data) = (0, 0);
        let returns = matches!(kind, Kind::Atomic { returns: true, .. });
        // A buffer's data comes first, stored or loaded; an atomic there returns in place.
        if space == "buffer" {
            data = vector(operands.next())?;
            dst = data;
        } else if loads || returns {
            dst = vector(operands.next())?;
        }
        let address = match space {
            "buffer" => {
                let register = operands.next()?;
                let resource = scalar_register(operands.next())?;
                let scalar = scalar(operands.next())?;
                let first = vector(Some(register));
                let (index, offset) = match (line.flag("idxen"), line.flag("offen")) {
                    (true, true) => (Some(first?), Some(first? + 1)),
                    (true, false) => (Some(first?), None),
                    (false, true) => (None, Some(first?)),
                    (false, false) => (None, None),
                };
                Address::Buffer {
                    resource,
                    index,
                    offset,
                    scalar,
                }
            }
            "scratch" => {
                let offset = vector(operands.next());
                if !loads {
                    data = vector(operands.next())?;
                }
                Address::Scratch {
                    offset,
                    scalar: scalar(operands.next())?,
                }
            }
            "global" | "flat" => {
                let first = operands.next()?;
                if !loads {
                    data = vector(operands.next())?;
                }
                match operands.next().map(|operand| &operand.value) {
                    Some(&Value::Scalar { first: base, .. }) if base != NULL => Address::Based {
                        base,
                        offset: vector(Some(first)),
                    },
                    _ => Address::Flat(vector(Some(first))?),
                }
            }
            _ => return None,
        };
        Some(Vmem {
            kind,
            address,
            offset: line.number("offset").unwrap_or(0),
            dst,
            data,
            bytes,
        })
    }

    pub(crate) fn execute<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        if let Address::Scratch { offset, scalar } = self.address {
            return self.scratch(offset, scalar, wave, group, inst);
        }
        let mut places = [Place::Off; W];
        self.places(&mut places, wave, group, inst);
        match self.kind {
            Kind::Load(extend) => self.load(extend, &places, wave, group, inst),
            Kind::Store(half) => self.store(half, &places, wave, group, inst),
            Kind::Atomic { operation, returns } => {
                self.atomic(operation, returns, &places, wave, group, inst);
            }
            Kind::Transpose => {
                self.load(Extend::None, &places, wave, group, inst);
                self.transpose(wave);
            }
        }
    }

    fn places<const W: usize>(
        &self,
        places: &mut [Place; W],
        wave: &Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let exec = wave.exec();
        let value = |scalar: Scalar| match scalar {
            Scalar::Register(index) => wave.s[usize::from(index)],
            Scalar::Const(value) => value,
        };
        let lanes = |register: Option<u16>| register.map(|index| &wave.v[usize::from(index)]);
        let active = (0..W).filter(|lane| exec >> lane & 1 == 1);
        match self.address {
            Address::Flat(first) => {
                let first = usize::from(first);
                let (low, high) = (&wave.v[first], &wave.v[first + 1]);
                for lane in active {
                    let base = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                    let address = base.wrapping_add_signed(self.offset);
                    places[lane] = Place::At {
                        address,
                        words: u16::MAX,
                    };
                }
            }
            Address::Based { base, offset } => {
                let base = wave.pair(base).wrapping_add_signed(self.offset);
                let offsets = lanes(offset);
                for lane in active {
                    let offset = offsets.map_or(0, |offsets| u64::from(offsets[lane]));
                    let address = base.wrapping_add(offset);
                    places[lane] = Place::At {
                        address,
                        words: u16::MAX,
                    };
                }
            }
            Address::Buffer {
                resource,
                index,
                offset,
                scalar,
            } => {
                let resource = Resource::new(resource, wave, value(scalar), self.offset);
                let (indices, offsets) = (lanes(index), lanes(offset));
                let mut differs = None;
                for lane in active {
                    let index = indices.map_or(0, |indices| indices[lane]);
                    let offset = offsets.map_or(0, |offsets| offsets[lane]);
                    let range = resource.range(index, offset, self.bytes);
                    if range.differs && differs.is_none() {
                        differs = Some(lane as u32);
                    }
                    places[lane] = Place::At {
                        address: range.address,
                        words: range.words,
                    };
                }
                if let Some(lane) = differs {
                    group.find(Check::RangeReading, wave, inst, Some(lane), || {
                        format!(
                            "{} bytes are in range or not by whether soffset {:#x} counts",
                            resource.records(),
                            value(scalar)
                        )
                    });
                }
            }
            Address::Scratch { .. } => {}
        }
    }

    fn load<const W: usize>(
        &self,
        extend: Extend,
        places: &[Place; W],
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let memory = group.memory;
        let words = self.bytes.div_ceil(4);
        let mut out = [[0; W]; 4];
        let (mut fault, mut overlap) = (None, None);
        let mut hint = wave.hint;
        let mut loaded = 0;
        for lane in 0..W {
            let Place::At {
                address,
                words: mask,
            } = places[lane]
            else {
                continue;
            };
            // All words at once, or those that passed the range check one by one.
            let whole = u32::from(mask).trailing_ones() as usize >= words;
            let (parts, size) = if whole {
                (1, self.bytes)
            } else {
                (words, 4.min(self.bytes))
            };
            for part in 0..parts {
                if !whole && mask >> part & 1 == 0 {
                    continue;
                }
                let address = address.wrapping_add(4 * part as u64);
                let Some((buffer, at)) = memory.locate(address, size as u64, &mut hint) else {
                    fault = fault.or(Some((lane as u32, address)));
                    continue;
                };
                if !buffer.is_input() && buffer.note_read(at, size, group.number) {
                    overlap = overlap.or(Some((lane as u32, address)));
                }
                loaded += size as u64;
                match size {
                    1 => out[0][lane] = extend_value(&[buffer.read_u8(at)], extend),
                    2 => out[0][lane] = extend_value(&buffer.read_u16(at).to_le_bytes(), extend),
                    _ => {
                        for word in 0..size / 4 {
                            out[part + word][lane] = buffer.read_u32(at + 4 * word);
                        }
                    }
                }
            }
        }
        wave.hint = hint;
        group.tally.global_bytes_read += loaded;
        let exec = wave.exec();
        match extend {
            Extend::None => {
                for (word, out) in out[..words].iter().enumerate() {
                    wave.write(self.dst + word as u16, out, exec);
                }
            }
            _ => fill(wave, self.dst, extend, &out[0], exec),
        }
        self.report(fault, None, overlap, wave, group, inst);
    }

    fn store<const W: usize>(
        &self,
        half: Option<Half>,
        places: &[Place; W],
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let memory = group.memory;
        let words = self.bytes.div_ceil(4);
        let data = &wave.v[usize::from(self.data)..usize::from(self.data) + words];
        let (mut fault, mut input, mut overlap) = (None, None, None);
        let mut hint = wave.hint;
        let mut stored = 0;
        for lane in 0..W {
            let Place::At {
                address,
                words: mask,
            } = places[lane]
            else {
                continue;
            };
            let size = self.bytes.min(4);
            for (word, register) in data.iter().enumerate() {
                if mask >> word & 1 == 0 {
                    continue;
                }
                let address = address.wrapping_add(4 * word as u64);
                let Some((buffer, at)) = memory.locate(address, size as u64, &mut hint) else {
                    fault = fault.or(Some((lane as u32, address)));
                    continue;
                };
                if buffer.is_input() {
                    input = input.or(Some((lane as u32, address)));
                    continue;
                }
                if buffer.note_write(at, size, group.number) {
                    overlap = overlap.or(Some((lane as u32, address)));
                }
                stored += size as u64;
                let value = match half {
                    Some(Half::High) => register[lane] >> 16,
                    _ => register[lane],
                };
                match size {
                    1 => buffer.write_u8(at, value as u8),
                    2 => buffer.write_u16(at, value as u16),
                    _ => buffer.write_u32(at, value),
                }
            }
        }
        wave.hint = hint;
        group.tally.global_bytes_written += stored;
        self.report(fault, input, overlap, wave, group, inst);
    }

    fn atomic<const W: usize>(
        &self,
        operation: Atomic,
        returns: bool,
        places: &[Place; W],
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let memory = group.memory;
        let data = usize::from(self.data);
        let wide = self.bytes == 8;
        let (mut fault, mut input, mut overlap) = (None, None, None);
        let mut hint = wave.hint;
        let mut old = [[0; W]; 2];
        for lane in 0..W {
            let Place::At { address, words } = places[lane] else {
                continue;
            };
            // Atomics are in range as a whole or not at all.
            if words & if wide { 3 } else { 1 } != if wide { 3 } else { 1 } {
                continue;
            }
            let Some((buffer, at)) = memory.locate(address, self.bytes as u64, &mut hint) else {
                fault = fault.or(Some((lane as u32, address)));
                continue;
            };
            if buffer.is_input() {
                input = input.or(Some((lane as u32, address)));
                continue;
            }
            if buffer.note_write(at, self.bytes, group.number) {
                overlap = overlap.or(Some((lane as u32, address)));
            }
            group.tally.global_bytes_written += self.bytes as u64;
            let value = wave.v[data][lane];
            old[0][lane] = buffer.read_u32(at);
            if wide {
                old[1][lane] = buffer.read_u32(at + 4);
                let before = u64::from(old[0][lane]) | u64::from(old[1][lane]) << 32;
                let addend = u64::from(value) | u64::from(wave.v[data + 1][lane]) << 32;
                let sum = before.wrapping_add(addend);
                buffer.write_u32(at, sum as u32);
                buffer.write_u32(at + 4, (sum >> 32) as u32);
                continue;
            }
            // A compare-and-swap has the new value first, then what it expects.
            let compare = match operation {
                Atomic::CompareSwap => wave.v[data + 1][lane],
                _ => 0,
            };
            buffer.write_u32(at, operation.apply(old[0][lane], value, compare));
        }
        wave.hint = hint;
        if returns {
            let exec = wave.exec();
            for (word, old) in old[..self.bytes / 4].iter().enumerate() {
                wave.write(self.dst + word as u16, old, exec);
            }
        }
        self.report(fault, input, overlap, wave, group, inst);
    }

    fn report<const W: usize>(
        &self,
        fault: Option<(u32, u64)>,
        input: Option<(u32, u64)>,
        overlap: Option<(u32, u64)>,
        wave: &Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let memory = group.memory;
        if let Some((lane, address)) = fault {
            group.find(Check::GlobalBounds, wave, inst, Some(lane), || {
                memory.describe(address)
            });
        }
        if let Some((lane, address)) = input {
            group.find(Check::InputStore, wave, inst, Some(lane), || {
                format!("store into an input: {}", memory.describe(address))
            });
        }
        if let Some((lane, address)) = overlap {
            group.overlap = true;
            group.find(Check::WorkgroupOverlap, wave, inst, Some(lane), || {
                format!("another workgroup touched it: {}", memory.describe(address))
            });
        }
    }

    /// Rows of eight elements that the lanes loaded become columns: in each half of sixteen lanes
    /// lane `i` held elements `8 j ..` of row `i` and ends with the row `i` of the transposed tile.
    fn transpose<const W: usize>(&self, wave: &mut Wave<W>) {
        let dst = usize::from(self.dst);
        let words = self.bytes / 4;
        let loaded: Vec<[u32; W]> = wave.v[dst..dst + words].to_vec();
        // 16-bit elements in 128 bits, 8-bit ones in 64: eight a lane in either case.
        let bits = if words == 4 { 16 } else { 8 };
        let per_word = 32 / bits;
        let mask = (1_u32 << bits) - 1;
        let element =
            |lane: usize, at: usize| loaded[at / per_word][lane] >> (bits * (at % per_word)) & mask;
        for (word, register) in wave.v[dst..dst + words].iter_mut().enumerate() {
            for (lane, value) in register.iter_mut().enumerate() {
                let (part, column) = (lane / 16, lane % 16);
                *value = (0..per_word).fold(0, |bits_so_far, within| {
                    // The tile's row is the lane's place in its half and the half itself.
                    let row = part * 8 + word * per_word + within;
                    let from = row % 16 + 16 * (column / 8);
                    bits_so_far | element(from % W, column % 8) << (bits * within)
                });
            }
        }
    }

    fn scratch<const W: usize>(
        &self,
        offset: Option<u16>,
        scalar: Scalar,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let exec = wave.exec();
        let per_lane = wave.scratch.len() / W;
        let base = match scalar {
            Scalar::Register(index) => wave.s[usize::from(index)],
            Scalar::Const(value) => value,
        };
        let words = self.bytes.div_ceil(4);
        let mut out = [[0; W]; 4];
        let mut fault = None;
        for lane in (0..W).filter(|lane| exec >> lane & 1 == 1) {
            let offset = offset.map_or(0, |index| wave.v[usize::from(index)][lane]);
            let at = u64::from(base.wrapping_add(offset)).wrapping_add_signed(self.offset);
            if at
                .checked_add(self.bytes as u64)
                .is_none_or(|end| end > per_lane as u64)
            {
                fault = fault.or(Some((lane as u32, at)));
                continue;
            }
            let at = lane * per_lane + at as usize;
            let bytes = at..at + self.bytes;
            match self.kind {
                Kind::Load(Extend::None) => {
                    for (word, chunk) in wave.scratch[bytes].chunks_exact(4).enumerate() {
                        out[word][lane] = extend_word(chunk);
                    }
                }
                Kind::Load(extend) => out[0][lane] = extend_value(&wave.scratch[bytes], extend),
                Kind::Store(half) => {
                    for word in 0..words {
                        let value = wave.v[usize::from(self.data) + word][lane];
                        let value = if half == Some(Half::High) {
                            value >> 16
                        } else {
                            value
                        };
                        let size = self.bytes.min(4);
                        wave.scratch[at + 4 * word..at + 4 * word + size]
                            .copy_from_slice(&value.to_le_bytes()[..size]);
                    }
                }
                _ => {}
            }
        }
        if let Kind::Load(extend) = self.kind {
            match extend {
                Extend::None => {
                    for (word, out) in out[..words].iter().enumerate() {
                        wave.write(self.dst + word as u16, out, exec);
                    }
                }
                _ => fill(wave, self.dst, extend, &out[0], exec),
            }
        }
        if let Some((lane, at)) = fault {
            group.find(Check::ScratchBounds, wave, inst, Some(lane), || {
                format!("scratch byte {at} of {per_lane}")
            });
        }
    }
}

fn extend_word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
