//! Vector memory instructions: global, flat, buffer and scratch loads, stores and atomics.

use super::ds::Ds;
use super::element::{Atomic, Extend, load_kind, store_kind};
use super::lds::Touch;
use super::resource::{Reader, Resource};
use super::typed::Typed;
use super::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::check::Check;
use crate::chip::Isa;
use crate::group::Group;
use crate::program::Inst;
use crate::races::Scope;
use crate::signals::How;
use crate::text::{Half, Line, NULL, Operand, Value};
use crate::trace::Lanes;
use crate::wave::Wave;

/// How lanes find their addresses.
#[derive(Clone, Copy)]
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
pub(super) enum Scalar {
    Register(u16),
    Const(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Load(Extend),
    Store(Option<Half>),
    Atomic {
        operation: Atomic,
        returns: bool,
    },
    /// From global memory straight into LDS.
    LoadToLds(Extend),
    /// Elements of 16 or 8 bits that lanes exchange on their way.
    Transpose,
}

/// A vector memory instruction, ready to execute.
#[derive(Clone, Copy)]
pub(crate) struct Vmem {
    pub(super) kind: Kind,
    address: Address,
    pub(super) offset: i64,
    pub(super) dst: u16,
    pub(super) data: u16,
    pub(super) bytes: usize,
    /// Whether it converts between a format in memory and one in registers.
    pub(super) typed: Option<Typed>,
    /// Its place among the instructions that access LDS.
    pub(super) lds_index: usize,
    space: Space,
    /// How far its order reaches: at the scope of the device, or a wider one, LLVM loads a signal.
    scope: Scope,
    pub(super) isa: Isa,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Global,
    /// LDS and scratch too, by the address.
    Flat,
    Buffer,
    Scratch,
}

/// One lane's bytes: where they are, or why they are not accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Off,
    /// Dropped by the range check, whole or in the words not set in the mask.
    At {
        address: u64,
        words: u16,
    },
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
    pub(crate) fn new(line: &Line, isa: Isa, lds_index: usize) -> Result<Vmem, String> {
        Self::build(line, isa, lds_index)
            .ok_or_else(|| "no such memory instruction or operand".to_owned())
    }

    /// Whether its first operand is what it loads.
    pub(crate) fn has_result(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Store(_) | Kind::LoadToLds(_) | Kind::Atomic { returns: false, .. }
        )
    }

    /// Whether it accesses LDS by itself or may.
    pub(crate) fn touches_lds(&self) -> bool {
        self.space == Space::Flat || matches!(self.kind, Kind::LoadToLds(_))
    }

    /// Whether lanes exchange what they load.
    pub(crate) fn transposes(&self) -> bool {
        self.kind == Kind::Transpose
    }

    /// Whether it counts as an LDS operation as well: where it goes is known too late.
    pub(crate) fn is_flat(&self) -> bool {
        self.space == Space::Flat
    }

    /// Whether it writes global memory.
    pub(crate) fn stores(&self) -> bool {
        matches!(self.kind, Kind::Store(_) | Kind::Atomic { .. }) && !self.is_scratch()
    }

    /// How it stores.
    pub(crate) fn how(&self) -> How {
        match self.scope {
            _ if self.is_atomic() => How::Atomically,
            Scope::Wave => How::Plainly,
            _ => How::Scoped,
        }
    }

    /// How far the order of a load reaches.
    pub(super) fn scope<const W: usize>(&self, group: &Group<'_, W>, inst: &Inst<W>) -> Scope {
        let silent = self.isa != Isa::Gfx9 && !group.across_units;
        match self.scope {
            Scope::Wave if silent && inst.facts.decides => Scope::Maybe,
            scope => scope,
        }
    }

    /// Whether it is an atomic operation.
    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self.kind, Kind::Atomic { .. })
    }

    pub(crate) fn is_scratch(&self) -> bool {
        matches!(self.address, Address::Scratch { .. })
    }

    /// The address of each active lane; in scratch, the offset in it.
    pub(crate) fn addresses<const W: usize>(
        &self,
        wave: &Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Lanes {
        if let Address::Scratch { offset, scalar } = self.address {
            let base = match scalar {
                Scalar::Register(index) => wave.s[usize::from(index)],
                Scalar::Const(value) => value,
            };
            let active = (0..W).filter(|lane| wave.exec() >> lane & 1 == 1);
            return active
                .map(|lane| {
                    let offset = offset.map_or(0, |index| wave.v[usize::from(index)][lane]);
                    let at = u64::from(base.wrapping_add(offset));
                    (lane, at.wrapping_add_signed(self.offset))
                })
                .collect();
        }
        let mut places = [Place::Off; W];
        self.places(&mut places, wave, group, inst);
        let lanes = places.into_iter().enumerate();
        lanes
            .filter_map(|(lane, place)| match place {
                Place::At { address, .. } => Some((lane, address)),
                Place::Off => None,
            })
            .collect()
    }

    fn build(line: &Line, isa: Isa, lds_index: usize) -> Option<Vmem> {
        let (space, rest) = line.name.split_once('_')?;
        let (space, typed) = match Typed::new(line, space, rest) {
            Some(typed) => ("buffer", Some(typed.ok()?)),
            None => (space, None),
        };
        if line.flag("tfe") || line.flag("scale_offset") {
            return None;
        }
        let to_lds = line.flag("lds") || rest.starts_with("load_lds_");
        let (kind, bytes) = if let Some(Typed { loads, .. }) = typed {
            if to_lds {
                return None;
            }
            // How many bytes it is of is known when it is executed.
            match loads {
                true => (Kind::Load(Extend::None), 4),
                false => (Kind::Store(None), 4),
            }
        } else if to_lds {
            let rest = rest.strip_prefix("load_")?;
            let (bytes, extend) = load_kind(rest.strip_prefix("lds_").unwrap_or(rest))?;
            // Scratch has such loads, which LLVM does not emit.
            if isa != Isa::Gfx9 || !matches!(space, "global" | "buffer") {
                return None;
            }
            (Kind::LoadToLds(extend), bytes)
        } else if let Some(rest) = rest.strip_prefix("load_tr_") {
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
            (Kind::Atomic { operation, returns }, operation.bytes)
        };
        let loads = matches!(kind, Kind::Load(_) | Kind::Transpose | Kind::LoadToLds(_));
        let mut operands = line.operands.iter();
        let (mut dst, mut data) = (0, 0);
        let returns = matches!(kind, Kind::Atomic { returns: true, .. });
        // A buffer's data comes first, stored or loaded; an atomic there returns in place.
        if to_lds {
            // It has no register for its data.
        } else if space == "buffer" {
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
            typed,
            lds_index,
            space: match space {
                "buffer" => Space::Buffer,
                "scratch" => Space::Scratch,
                "flat" => Space::Flat,
                _ => Space::Global,
            },
            scope: match (isa, line.modifier("scope")) {
                (Isa::Gfx9, _) if line.flag("sc1") => Scope::Device,
                (Isa::Gfx9, _) if line.flag("sc0") => Scope::Workgroup,
                (Isa::Gfx11, _) if line.flag("glc") => Scope::Device,
                (Isa::Gfx12, Some("SCOPE_DEV" | "SCOPE_SYS")) => Scope::Device,
                (Isa::Gfx12, Some("SCOPE_SE")) => Scope::Workgroup,
                _ => Scope::Wave,
            },
            isa,
        })
    }

    /// Executes; the value returned are the LDS bytes touched.
    pub(crate) fn execute<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Option<Touch<W>> {
        match self.address {
            Address::Scratch { offset, scalar } => {
                self.scratch(offset, scalar, wave, group, inst);
                None
            }
            Address::Flat(first) if self.space == Space::Flat => {
                self.apertures(first, wave, group, inst)
            }
            _ => self.global(wave, group, inst),
        }
    }

    /// The lanes whose addresses lie in LDS and in scratch go there, the others to memory.
    fn apertures<const W: usize>(
        &self,
        first: u16,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Option<Touch<W>> {
        let exec = wave.exec();
        let high = &wave.v[usize::from(first) + 1];
        let within = |aperture: u64| {
            (0..W)
                .filter(|&lane| u64::from(high[lane]) == aperture >> 32)
                .fold(0, |lanes, lane| lanes | 1 << lane & exec)
        };
        let (shared, private) = (within(SHARED_APERTURE), within(PRIVATE_APERTURE));
        if shared | private == 0 {
            return self.global(wave, group, inst);
        }
        let mut touch = None;
        wave.set_exec(shared);
        if let Some(ds) = Ds::of_flat(self, first).filter(|_| shared != 0) {
            touch = ds.execute(wave, group, inst);
        }
        wave.set_exec(private);
        if private != 0 {
            self.scratch(Some(first), Scalar::Const(0), wave, group, inst);
        }
        wave.set_exec(exec & !(shared | private));
        self.global(wave, group, inst);
        wave.set_exec(exec);
        touch
    }

    fn global<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Option<Touch<W>> {
        if let Some(typed) = self.typed {
            self.typed(typed, wave, group, inst);
            return None;
        }
        let mut places = [Place::Off; W];
        self.places(&mut places, wave, group, inst);
        match self.kind {
            Kind::Load(extend) => self.load(extend, &places, wave, group, inst),
            Kind::Store(half) => self.store(half, &places, wave, group, inst),
            Kind::Atomic { operation, returns } => {
                self.atomic(operation, returns, &places, wave, group, inst);
            }
            Kind::LoadToLds(extend) => {
                return self.load_to_lds(extend, &places, wave, group, inst);
            }
            Kind::Transpose => {
                self.load(Extend::None, &places, wave, group, inst);
                self.transpose(wave);
            }
        }
        None
    }

    /// A word of its buffer resource.
    pub(super) fn resource_word<const W: usize>(&self, wave: &Wave<W>, at: u16) -> u32 {
        match self.address {
            Address::Buffer { resource, .. } => wave.s[usize::from(resource + at)],
            _ => 0,
        }
    }

    pub(super) fn places<const W: usize>(
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
                let indexed = index.is_some();
                let rules = (self.isa, Reader::Vector { indexed });
                let resource = Resource::new(resource, wave, value(scalar), self.offset, rules);
                let (indices, offsets) = (lanes(index), lanes(offset));
                let mut differs = None;
                for lane in active {
                    let index = indices.map_or(0, |indices| indices[lane]);
                    let offset = offsets.map_or(0, |offsets| offsets[lane]);
                    let range = resource.range(lane, index, offset, self.bytes);
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
}
