//! The local data share of a workgroup, and who touched which byte since the last barrier.

use std::collections::HashMap;

use crate::simd::vectorized;
use crate::wave::Wave;

/// Most waves of a workgroup whose accesses can be told apart.
pub(crate) const MAX_WAVES: u32 = 63;
/// Marks bytes that several waves read in one interval, or stored the same value in.
const SEVERAL: u16 = 63;
/// A tag holds a barrier interval above the six bits of a wave.
const WAVE_BITS: u32 = 6;
/// Interval 0 means never; interval 1 is any that is too long ago to matter.
const FIRST_INTERVAL: u64 = 2;
/// Intervals that a tag can tell apart.
const INTERVALS: u64 = 1 << (16 - WAVE_BITS);

/// The bytes that one LDS operation touches: at most two spans a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch<const W: usize> {
    pub(crate) base: [u32; W],
    pub(crate) offsets: [u32; 2],
    pub(crate) spans: usize,
    /// Bytes of a span.
    pub(crate) bytes: usize,
    /// Active lanes whose bytes all exist.
    pub(crate) lanes: u64,
    pub(crate) write: bool,
    /// Whether each lane's access is one atomic operation.
    pub(crate) atomic: bool,
    /// Address of the instruction.
    pub(crate) instruction: u64,
}

impl<const W: usize> Touch<W> {
    /// The first and one past the last byte, if there is a lane.
    fn range(&self) -> Option<(u64, u64)> {
        let spans = || self.spans().map(|(_, start)| start);
        Some((spans().min()?, spans().max()? + self.bytes as u64))
    }

    /// Lane and first byte of every span.
    fn spans(&self) -> impl Iterator<Item = (usize, u64)> {
        self.offsets[..self.spans].iter().flat_map(move |&offset| {
            (0..W)
                .filter(|&lane| self.lanes >> lane & 1 == 1)
                .map(move |lane| (lane, u64::from(self.base[lane].wrapping_add(offset))))
        })
    }

    /// The first lane here that touches a byte that the other touches too.
    pub(crate) fn meets(&self, other: &Touch<W>) -> Option<usize> {
        let ((low, high), (other_low, other_high)) = (self.range()?, other.range()?);
        if high <= other_low || other_high <= low {
            return None;
        }
        let clash = |start: u64| {
            other
                .spans()
                .any(|(_, at)| start < at + other.bytes as u64 && at < start + self.bytes as u64)
        };
        self.spans()
            .find(|&(_, start)| clash(start))
            .map(|(lane, _)| lane)
    }

    /// Lanes and bytes, one by one.
    fn each_byte(&self) -> impl Iterator<Item = (usize, usize)> {
        self.spans().flat_map(move |(lane, first)| {
            let first = first as usize;
            (first..first + self.bytes).map(move |byte| (lane, byte))
        })
    }

    /// Bytes that all lanes together asked for.
    pub(crate) fn requested(&self) -> u64 {
        let lanes = match self.lanes == Wave::<W>::ALL {
            true => W as u64,
            false => u64::from(self.lanes.count_ones()),
        };
        lanes * (self.spans * self.bytes) as u64
    }
}

/// Lanes with something wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    pub(crate) race: u64,
    pub(crate) uninitialized: u64,
}

/// What the spans of an access meet: lanes.
#[derive(Debug, Clone, Copy, Default)]
struct Met {
    race: u64,
    uninitialized: u64,
    /// Lanes that store where another wave stored, whose tags were left as they are.
    contested: u64,
}

/// Bytes that a lane stores, by span and lane.
pub(crate) type Stored<'s> = &'s dyn Fn(usize, usize) -> [u8; 16];

pub(crate) struct Lds {
    pub(crate) bytes: Vec<u8>,
    /// Per byte the interval and wave of the last write; 0 if nobody wrote.
    writers: Vec<u16>,
    /// Per byte the interval and wave of the last read, or [`SEVERAL`].
    readers: Vec<u16>,
    /// Per byte the interval and wave of the last atomic operation, or [`SEVERAL`]; empty until
    /// there is one.
    atomics: Vec<u16>,
    /// Of bytes that several waves stored the same value in: the interval, and a bit for each wave.
    shared: HashMap<usize, (u64, u64)>,
    /// Interval number that tags call [`FIRST_INTERVAL`].
    origin: u64,
}

impl Lds {
    pub(crate) fn new(bytes: usize) -> Lds {
        Lds {
            bytes: vec![0; bytes],
            writers: vec![0; bytes],
            readers: vec![0; bytes],
            atomics: Vec::new(),
            shared: HashMap::new(),
            origin: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline(always)]
    pub(crate) fn read_u32(&self, at: usize) -> u32 {
        let bytes = &self.bytes[at..at + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    #[inline(always)]
    pub(crate) fn write_u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Notes an access of a wave in a barrier interval and finds what it collides with. A store of
    /// the value that another wave stored there since the barrier collides with nothing, where
    /// `stored` tells what the lanes store.
    pub(crate) fn note<const W: usize>(
        &mut self,
        touch: &Touch<W>,
        wave: u32,
        interval: u64,
        stored: Option<Stored<'_>>,
    ) -> Faults {
        let mut number = interval - self.origin + FIRST_INTERVAL;
        if number >= INTERVALS {
            self.forget(interval);
            number = interval - self.origin + FIRST_INTERVAL;
        }
        let tag = (number as u16) << WAVE_BITS | wave as u16;
        if touch.atomic {
            return self.note_atomic(touch, tag);
        }
        let mut faults = Faults::default();
        for (span, &offset) in touch.offsets[..touch.spans].iter().enumerate() {
            let (writers, readers) = (&mut self.writers[..], &mut self.readers[..]);
            let mut found = match touch.bytes {
                16 => spans([(); 16], writers, readers, touch, offset, tag),
                12 => spans([(); 12], writers, readers, touch, offset, tag),
                8 => spans([(); 8], writers, readers, touch, offset, tag),
                4 => spans([(); 4], writers, readers, touch, offset, tag),
                2 => spans([(); 2], writers, readers, touch, offset, tag),
                _ => spans([(); 1], writers, readers, touch, offset, tag),
            };
            if found.contested != 0 {
                let stored = |lane| Some(stored?(span, lane));
                found.race |= self.contest(touch, offset, found.contested, (tag, interval), stored);
            } else if found.race != 0 && !touch.write && !self.shared.is_empty() {
                found.race &= !self.of_several(touch, offset, found.race, (tag, interval));
            }
            faults.race |= found.race;
            faults.uninitialized |= found.uninitialized;
        }
        if !self.atomics.is_empty() {
            self.meet_atomics(touch, tag, &mut faults);
        }
        faults
    }

    /// Lanes that store another value than another wave has stored in their bytes.
    fn contest<const W: usize>(
        &mut self,
        touch: &Touch<W>,
        offset: u32,
        lanes: u64,
        (tag, interval): (u16, u64),
        stored: impl Fn(usize) -> Option<[u8; 16]>,
    ) -> u64 {
        let mut race = 0;
        for lane in (0..W).filter(|&lane| lanes >> lane & 1 == 1) {
            let at = touch.base[lane].wrapping_add(offset) as usize;
            let there = &self.bytes[at..at + touch.bytes];
            let same = stored(lane).is_some_and(|value| value[..touch.bytes] == *there);
            for byte in at..at + touch.bytes {
                let writer = &mut self.writers[byte];
                if same && foreign(*writer, tag) {
                    let shared = self.shared.entry(byte).or_default();
                    if shared.0 != interval || *writer & SEVERAL != SEVERAL {
                        *shared = (interval, 1 << (*writer & SEVERAL));
                    }
                    shared.1 |= 1 << (tag & SEVERAL);
                    *writer = tag | SEVERAL;
                } else {
                    *writer = tag;
                }
            }
            race |= u64::from(!same) << lane;
        }
        race
    }

    /// Lanes that read nothing but what their own wave stored as well, where others did.
    fn of_several<const W: usize>(
        &self,
        touch: &Touch<W>,
        offset: u32,
        lanes: u64,
        (tag, interval): (u16, u64),
    ) -> u64 {
        let own = |byte: usize| {
            let writer = self.writers[byte];
            let shared = self.shared.get(&byte).copied().unwrap_or_default();
            let several = writer & SEVERAL == SEVERAL && shared.0 == interval;
            !foreign(writer, tag) || several && shared.1 >> (tag & SEVERAL) & 1 == 1
        };
        let bytes = |lane: usize| {
            let at = touch.base[lane].wrapping_add(offset) as usize;
            at..at + touch.bytes
        };
        (0..W)
            .filter(|&lane| lanes >> lane & 1 == 1 && bytes(lane).all(own))
            .fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// Notes an atomic operation, which collides with plain accesses alone.
    fn note_atomic<const W: usize>(&mut self, touch: &Touch<W>, tag: u16) -> Faults {
        if self.atomics.is_empty() {
            self.atomics = vec![0; self.bytes.len()];
        }
        let mut faults = Faults::default();
        for (lane, byte) in touch.each_byte() {
            let (writer, reader) = (self.writers[byte], self.readers[byte]);
            let atomic = &mut self.atomics[byte];
            let race = foreign(writer, tag) | foreign(reader, tag);
            faults.race |= u64::from(race) << lane;
            faults.uninitialized |= u64::from(writer == 0 && *atomic == 0) << lane;
            *atomic = if foreign(*atomic, tag) {
                tag | SEVERAL
            } else {
                tag
            };
        }
        faults
    }

    /// Adds what a plain access collides with among atomic operations; bytes that they wrote are
    /// initialised.
    fn meet_atomics<const W: usize>(&self, touch: &Touch<W>, tag: u16, faults: &mut Faults) {
        let mut unwritten = 0;
        for (lane, byte) in touch.each_byte() {
            let atomic = self.atomics[byte];
            faults.race |= u64::from(foreign(atomic, tag)) << lane;
            unwritten |= u64::from(atomic == 0 && self.writers[byte] == 0) << lane;
        }
        faults.uninitialized &= unwritten;
    }

    /// Moves the origin so that `interval` and the one before it have numbers again.
    fn forget(&mut self, interval: u64) {
        let origin = interval - 1;
        let shift = (origin - self.origin).min(INTERVALS) as u16;
        for tag in self
            .writers
            .iter_mut()
            .chain(&mut self.readers)
            .chain(&mut self.atomics)
        {
            let number = *tag >> WAVE_BITS;
            *tag = if *tag == 0 {
                0
            } else if number > shift {
                *tag - (shift << WAVE_BITS)
            } else {
                1 << WAVE_BITS
            };
        }
        self.origin = origin;
    }
}

vectorized! {
    /// Notes spans of N bytes.
    fn spans[const N: usize, const W: usize](
        _bytes: [(); N],
        writers: &mut [u16],
        readers: &mut [u16],
        touch: &Touch<W>,
        offset: u32,
        tag: u16,
    ) -> Met {
        let mut met = Met::default();
        for lane in 0..W {
            if touch.lanes >> lane & 1 == 0 {
                continue;
            }
            let at = (touch.base[lane].wrapping_add(offset)) as usize;
            let writers: &mut [u16; N] = (&mut writers[at..at + N])
                .try_into()
                .expect("the slice has N elements");
            let readers: &mut [u16; N] = (&mut readers[at..at + N])
                .try_into()
                .expect("the slice has N elements");
            let (race, unwritten, contested) = match touch.write {
                true => {
                    let (race, contested) = write_span(writers, readers, tag);
                    (race, false, contested)
                }
                false => {
                    let (race, unwritten) = read_span(writers, readers, tag);
                    (race, unwritten, false)
                }
            };
            met.race |= u64::from(race) << lane;
            met.uninitialized |= u64::from(unwritten) << lane;
            met.contested |= u64::from(contested) << lane;
        }
        met
    }
}

/// True if another wave touched the tag's byte in the same interval.
#[inline(always)]
fn foreign(other: u16, tag: u16) -> bool {
    ((other ^ tag) >> WAVE_BITS == 0) & (other != tag)
}

/// Whether another wave reads a byte, and whether another one stored one: then all keep their tags.
#[inline(always)]
fn write_span<const N: usize>(
    writers: &mut [u16; N],
    readers: &[u16; N],
    tag: u16,
) -> (bool, bool) {
    let (mut race, mut contested) = (false, false);
    for at in 0..N {
        race |= foreign(readers[at], tag);
        contested |= foreign(writers[at], tag);
    }
    if !contested {
        *writers = [tag; N];
    }
    (race, contested)
}

#[inline(always)]
fn read_span<const N: usize>(writers: &[u16; N], readers: &mut [u16; N], tag: u16) -> (bool, bool) {
    let (mut race, mut unwritten) = (false, false);
    for at in 0..N {
        race |= foreign(writers[at], tag);
        unwritten |= writers[at] == 0;
        readers[at] = if foreign(readers[at], tag) {
            tag | SEVERAL
        } else {
            tag
        };
    }
    (race, unwritten)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Lds {
        fn noted(&mut self, touch: &Touch<32>, wave: u32, interval: u64) -> Faults {
            self.note(touch, wave, interval, None)
        }
    }

    fn touch(at: u32, write: bool) -> Touch<32> {
        Touch {
            base: [at; 32],
            offsets: [0; 2],
            spans: 1,
            bytes: 4,
            lanes: 1,
            write,
            atomic: false,
            instruction: 0,
        }
    }

    #[test]
    fn atomics_race_with_plain_accesses_alone() {
        let atomic = |at| Touch {
            atomic: true,
            ..touch(at, true)
        };
        let mut lds = Lds::new(64);
        assert_eq!(lds.noted(&atomic(0), 0, 0).uninitialized, 1);
        assert_eq!(lds.noted(&atomic(0), 1, 0), Faults::default());
        assert_eq!(lds.noted(&atomic(0), 2, 0), Faults::default());
        assert_eq!(lds.noted(&touch(0, false), 1, 0).race, 1, "others' atomics");
        assert_eq!(
            lds.noted(&touch(0, false), 1, 1),
            Faults::default(),
            "they wrote it"
        );
        assert_eq!(
            lds.noted(&atomic(0), 0, 1).race,
            1,
            "wave 1 read it plainly"
        );
        assert_eq!(lds.noted(&touch(0, true), 1, 1).race, 1);
        assert_eq!(lds.noted(&atomic(0), 0, 2), Faults::default());
        assert_eq!(
            lds.noted(&touch(0, true), 0, 2),
            Faults::default(),
            "of one wave"
        );
        assert_eq!(lds.noted(&touch(4, false), 0, 2).uninitialized, 1);
    }

    #[test]
    fn races_are_between_waves_and_within_an_interval() {
        let mut lds = Lds::new(64);
        assert_eq!(lds.noted(&touch(0, false), 0, 0).uninitialized, 1);
        assert_eq!(lds.noted(&touch(4, true), 0, 0), Faults::default());
        assert_eq!(lds.noted(&touch(4, false), 0, 0), Faults::default());
        assert_eq!(lds.noted(&touch(4, false), 1, 0).race, 1);
        assert_eq!(lds.noted(&touch(4, false), 1, 1), Faults::default());
        assert_eq!(lds.noted(&touch(4, false), 2, 1), Faults::default());
        assert_eq!(
            lds.noted(&touch(4, true), 1, 1).race,
            1,
            "wave 2 reads it too"
        );
        assert_eq!(lds.noted(&touch(8, true), 1, 1), Faults::default());
        assert_eq!(lds.noted(&touch(7, true), 2, 1).race, 1, "one common byte");
    }

    #[test]
    fn stores_of_one_value_race_with_no_store() {
        let mut lds = Lds::new(64);
        let store = |lds: &mut Lds, wave: u32, interval: u64, value: u32| {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&value.to_le_bytes());
            let race = lds
                .note(&touch(8, true), wave, interval, Some(&|_, _| bytes))
                .race;
            lds.write_u32(8, value);
            race
        };
        assert_eq!(store(&mut lds, 0, 0, 7), 0);
        assert_eq!([1, 2, 0].map(|wave| store(&mut lds, wave, 0, 7)), [0; 3]);
        let read = |lds: &mut Lds, wave, interval| lds.noted(&touch(8, false), wave, interval).race;
        assert_eq!(read(&mut lds, 1, 0), 0, "it stored the value as well");
        assert_eq!(read(&mut lds, 3, 0), 1, "it did not");
        assert_eq!(read(&mut lds, 3, 1), 0, "behind the barrier");
        assert_eq!(store(&mut lds, 2, 1, 7), 1, "another wave reads it");
        assert_eq!(store(&mut lds, 4, 2, 7), 0);
        assert_eq!(store(&mut lds, 5, 2, 6), 1, "another value");
        assert_eq!(store(&mut lds, 5, 3, 6), 0);
        assert_eq!(
            lds.noted(&touch(8, true), 6, 3).race,
            1,
            "of a value not known"
        );
        assert_eq!(store(&mut lds, 0, 4, 5), 0);
        assert_eq!(store(&mut lds, 1, 4, 5), 0);
        assert_eq!(read(&mut lds, 5, 4), 1, "it stored before the barrier");
    }

    #[test]
    fn intervals_never_run_out() {
        let mut lds = Lds::new(8);
        for interval in 0..5000 {
            let wave = (interval % 2) as u32;
            assert_eq!(
                lds.noted(&touch(0, true), wave, interval),
                Faults::default()
            );
            assert_eq!(
                lds.noted(&touch(0, true), 1 - wave, interval).race,
                1,
                "{interval}"
            );
        }
    }
}
