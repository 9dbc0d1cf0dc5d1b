//! Moves values between vector registers and global memory, lane by lane.

use super::access::{Place, Vmem};
use super::element::{Atomic, Extend, Operation, extend_value, fill};
use crate::check::Check;
use crate::group::Group;
use crate::overwrites::{Swap, Writing};
use crate::poll::{Poll, Seen};
use crate::program::Inst;
use crate::races::{Reading, Scope};
use crate::text::Half;
use crate::waits::Access;
use crate::wave::Wave;

impl Vmem {
    pub(super) fn load<const W: usize>(
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
        let mut fault = None;
        let mut hint = wave.hint;
        let mut loaded = 0;
        let (scope, mut reading) = (self.scope(group, inst), Reading::default());
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
                if !buffer.is_input() {
                    group.overlap |= buffer.note_read(at, size, &group.visitor);
                    let place = (lane as u32, address);
                    if scope == Scope::Wave {
                        group.note_load(address, size);
                        group.overlap |= group.meets_pending(address, size, Access::Load);
                    }
                    group.reads(buffer, (at, size), place, scope, &mut reading, wave);
                }
                Seen::note(&mut group.seen, buffer, (at, size), address);
                loaded += size as u64;
                match size {
                    1 => out[0][lane] = extend_value(&[buffer.read_u8(at)], extend),
                    2 => out[0][lane] = extend_value(&buffer.read_u16(at).to_le_bytes(), extend),
                    16 => {
                        for (out, word) in out.iter_mut().zip(buffer.read_words::<4>(at)) {
                            out[lane] = word;
                        }
                    }
                    _ => {
                        for word in 0..size / 4 {
                            out[part + word][lane] = buffer.read_u32(at + 4 * word);
                        }
                    }
                }
            }
        }
        wave.hint = hint;
        group.tally.read += loaded;
        let exec = wave.exec();
        match extend {
            Extend::None => {
                for (word, out) in out[..words].iter().enumerate() {
                    wave.write(self.dst + word as u16, out, exec);
                }
            }
            _ => fill(wave, self.dst, extend, &out[0], exec),
        }
        self.report(fault, None, wave, group, inst);
        group.report_reading(reading, wave, inst);
    }

    pub(super) fn store<const W: usize>(
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
        let (mut fault, mut input) = (None, None);
        let mut writing = Writing::default();
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
                stored += size as u64;
                group.stored.push(address / 4);
                let value = match half {
                    Some(Half::High) => register[lane] >> 16,
                    _ => register[lane],
                };
                group.overlap |= buffer.note_write(at, size, value, &group.visitor)
                    || group.meets_pending(address, size, Access::Store);
                let place = (lane as u32, address);
                group.stores(buffer, (at, size), value, place, &mut writing, wave);
                match size {
                    1 => buffer.write_u8(at, value as u8),
                    2 => buffer.write_u16(at, value as u16),
                    _ => buffer.write_u32(at, value),
                }
            }
        }
        wave.hint = hint;
        group.tally.written += stored;
        self.report(fault, input, wave, group, inst);
        group.report_writing(writing, wave, inst);
    }

    pub(super) fn atomic<const W: usize>(
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
        let words = self.bytes / 4;
        let mask = (1_u16 << words) - 1;
        let operand = |wave: &Wave<W>, first: usize, lane: usize| {
            let high = if words == 2 {
                wave.v[first + 1][lane]
            } else {
                0
            };
            u64::from(wave.v[first][lane]) | u64::from(high) << 32
        };
        let (mut fault, mut input) = (None, None);
        let mut writing = Writing::default();
        let mut hint = wave.hint;
        let mut old = [[0; W]; 2];
        for lane in 0..W {
            // Atomics are in range as a whole or not at all.
            let Place::At {
                address,
                words: in_range,
            } = places[lane]
            else {
                continue;
            };
            if in_range & mask != mask {
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
            group.overlap |= buffer.note_atomic(at, self.bytes, &group.visitor)
                || group.meets_pending(address, self.bytes, Access::Atomic);
            group.tally.written += self.bytes as u64;
            let first = address / 4;
            group.changed.extend(first..first + words as u64);
            for (word, old) in old[..words].iter_mut().enumerate() {
                old[lane] = buffer.read_u32(at + 4 * word);
            }
            let before = u64::from(old[0][lane]) | u64::from(old[1][lane]) << 32;
            let value = operand(wave, data, lane);
            // A compare-and-swap has the new value first, then what it expects.
            let compare = match operation.operation {
                Operation::CompareSwap => operand(wave, data + words, lane),
                _ => 0,
            };
            let after = operation.apply(before, value, compare);
            // A comparison that fails is tried again, as a load is.
            match after == before {
                true => Seen::note(&mut group.seen, buffer, (at, self.bytes), address),
                false => wave.poll = Poll::default(),
            }
            let compares = operation.operation == Operation::CompareSwap;
            for (word, old) in old[..words].iter().enumerate() {
                let (at, new) = (at + 4 * word, (after >> (32 * word)) as u32);
                let swap = Swap {
                    before: old[lane],
                    after: new,
                    returns,
                    compares,
                    lost: compares && before != compare,
                };
                let place = (lane as u32, address + 4 * word as u64);
                group.swaps(buffer, at, swap, place, &mut writing, wave);
                buffer.write_u32(at, new);
            }
        }
        wave.hint = hint;
        if returns {
            let exec = wave.exec();
            for (word, old) in old[..self.bytes / 4].iter().enumerate() {
                wave.write(self.dst + word as u16, old, exec);
            }
        }
        self.report(fault, input, wave, group, inst);
        group.report_writing(writing, wave, inst);
    }

    pub(super) fn report<const W: usize>(
        &self,
        fault: Option<(u32, u64)>,
        input: Option<(u32, u64)>,
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
    }

    /// Eight elements that a lane loaded become eight of other lanes, one of each: of 16 bits those
    /// of the eight lanes around it, of 8 bits those of eight out of sixteen. Both maps were measured
    /// on gfx1201: the first as FlyDSL's attention kernels use it and others report it, the second
    /// by a GEMM whose operand is laid out for it, which a second kernel bears out.
    pub(super) fn transpose<const W: usize>(&self, wave: &mut Wave<W>) {
        let dst = usize::from(self.dst);
        let words = self.bytes / 4;
        let loaded: Vec<[u32; W]> = wave.v[dst..dst + words].to_vec();
        // 16-bit elements in 128 bits, 8-bit ones in 64: eight a lane in either case.
        let bits = if words == 4 { 16 } else { 8 };
        let per_word = 32 / bits;
        let mask = (1_u32 << bits) - 1;
        let element =
            |lane: usize, at: usize| loaded[at / per_word][lane] >> (bits * (at % per_word)) & mask;
        let from = |lane: usize, row: usize| match bits {
            16 => lane / 8 * 8 + row,
            _ => lane / 16 * 16 + row / 4 * 8 + lane / 8 % 2 * 4 + row % 4,
        };
        for (word, register) in wave.v[dst..dst + words].iter_mut().enumerate() {
            for (lane, value) in register.iter_mut().enumerate() {
                *value = (0..per_word).fold(0, |bits_so_far, within| {
                    let row = word * per_word + within;
                    bits_so_far | element(from(lane, row), lane % 8) << (bits * within)
                });
            }
        }
    }
}
