//! Scalar loads.

use super::resource::{Range, Reader, Resource};
use crate::check::Check;
use crate::chip::Isa;
use crate::group::Group;
use crate::poll::Seen;
use crate::program::Inst;
use crate::races::{Reading, Scope};
use crate::text::{Line, NULL, Value};
use crate::wave::Wave;

/// A scalar load, ready to execute.
pub(crate) struct Smem {
    dst: u16,
    words: u16,
    /// Bytes of a load narrower than a word, and whether it is signed.
    narrow: Option<(u32, bool)>,
    base: u16,
    /// Whether the base is a buffer resource.
    buffer: bool,
    register: Option<u16>,
    offset: i64,
    isa: Isa,
}

impl Smem {
    /// The scalar load of a line; the error says what is not known about it.
    pub(crate) fn new(line: &Line, isa: Isa) -> Result<Smem, String> {
        Self::build(line, isa).ok_or_else(|| "no such scalar load or operand".to_owned())
    }

    /// The first address that it loads from.
    pub(crate) fn address<const W: usize>(&self, wave: &Wave<W>) -> u64 {
        if let Some(range) = self.range(wave) {
            return range.address;
        }
        let register = self.register.map_or(0, |index| wave.s[usize::from(index)]);
        wave.pair(self.base)
            .wrapping_add_signed(self.offset)
            .wrapping_add(u64::from(register))
    }

    /// What a load meets whose base is a buffer resource.
    fn range<const W: usize>(&self, wave: &Wave<W>) -> Option<Range> {
        let register = self.register.map_or(0, |index| wave.s[usize::from(index)]);
        let rules = (self.isa, Reader::Scalar);
        self.buffer.then(|| {
            let resource = Resource::new(self.base, wave, 0, self.offset, rules);
            resource.range(0, 0, register, 4 * usize::from(self.words))
        })
    }

    fn build(line: &Line, isa: Isa) -> Option<Smem> {
        let (buffer, width) = match line.name.strip_prefix("s_buffer_load_") {
            Some(width) => (true, width),
            None => (false, line.name.strip_prefix("s_load_")?),
        };
        let (words, narrow) = match width {
            "b32" | "dword" => (1, None),
            "b64" | "dwordx2" => (2, None),
            "b96" => (3, None),
            "b128" | "dwordx4" => (4, None),
            "b256" | "dwordx8" => (8, None),
            "b512" | "dwordx16" => (16, None),
            "u8" => (1, Some((1, false))),
            "i8" => (1, Some((1, true))),
            "u16" => (1, Some((2, false))),
            "i16" => (1, Some((2, true))),
            _ => return None,
        };
        let scalar = |at: usize| match line.operands.get(at)?.value {
            Value::Scalar { first, .. } => Some(first),
            _ => None,
        };
        let mut offset = line.number("offset").unwrap_or(0);
        let register = match line.operands.get(2)?.value {
            Value::Scalar { first: NULL, .. } => None,
            Value::Scalar { first, .. } => Some(first),
            Value::Literal(bits) => {
                offset += i64::from(bits as u32);
                None
            }
            // The constant has 24 bits on gfx12 and 21 before, and a sign.
            Value::Int(int) => {
                offset += int;
                None
            }
            _ => return None,
        };
        Some(Smem {
            dst: scalar(0)?,
            words,
            narrow,
            base: scalar(1)?,
            buffer,
            register,
            offset,
            isa,
        })
    }

    pub(crate) fn execute<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let register = self.register.map_or(0, |index| wave.s[usize::from(index)]);
        let size = self.narrow.map_or(4, |(bytes, _)| bytes);
        let memory = group.memory;
        let (mut fault, mut stale) = (None, None);
        // No compiler does so, but a loop may wait for what it finds behind the scalar cache.
        let polls = std::mem::take(&mut wave.fresh_scalars) && inst.facts.decides;
        let scope = if polls { Scope::Device } else { Scope::Wave };
        let mut reading = Reading::default();
        let mut values = [0; 16];
        let range = self.range(wave);
        // Words are aligned whatever the address says.
        let base = match &range {
            Some(range) => range.address,
            None => wave
                .pair(self.base)
                .wrapping_add_signed(self.offset)
                .wrapping_add(u64::from(register)),
        };
        let base = base & !u64::from(size.min(4) - 1);
        for word in 0..self.words {
            if range
                .as_ref()
                .is_some_and(|range| range.words >> word & 1 == 0)
            {
                continue;
            }
            let address = base.wrapping_add(4 * u64::from(word));
            match memory.locate(address, u64::from(size), &mut wave.hint) {
                None => fault = fault.or(Some(address)),
                Some((buffer, at)) => {
                    if !buffer.is_input() {
                        let bytes = (at, size as usize);
                        group.note_load(address, bytes.1);
                        group.overlap |= buffer.note_read(at, size as usize, &group.visitor);
                        group.reads(buffer, bytes, (0, address), scope, &mut reading, wave);
                    }
                    let who = group.stale(buffer, (at, size as usize), address, wave);
                    stale = stale.or(who.map(|who| (who, address)));
                    Seen::note(&mut group.seen, buffer, (at, size as usize), address);
                    group.tally.read += u64::from(size);
                    values[usize::from(word)] = match self.narrow {
                        None => buffer.read_u32(at),
                        Some((1, false)) => u32::from(buffer.read_u8(at)),
                        Some((1, true)) => buffer.read_u8(at) as i8 as i32 as u32,
                        Some((_, false)) => u32::from(buffer.read_u16(at)),
                        Some((_, true)) => buffer.read_u16(at) as i16 as i32 as u32,
                    };
                }
            }
        }
        for word in 0..self.words {
            if self.dst != NULL {
                wave.set_scalar(self.dst + word, values[usize::from(word)]);
            }
        }
        group.report_reading(reading.by_scalar_cache(), wave, inst);
        if let Some((who, address)) = stale {
            group.find(Check::StaleScalar, wave, inst, None, || {
                format!(
                    "{who} wrote it, the scalar cache may not know: {}",
                    memory.describe(address)
                )
            });
        }
        if let Some(address) = fault {
            group.find(Check::GlobalBounds, wave, inst, None, || {
                memory.describe(address)
            });
        }
    }
}
