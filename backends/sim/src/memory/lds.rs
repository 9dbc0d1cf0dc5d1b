//! The local data share of a workgroup, and who touched which byte since the last barrier.

use crate::simd::vectorized;
use crate::wave::Wave;

/// Most waves of a workgroup whose accesses can be told apart.
pub(crate) const MAX_WAVES: u32 = 63;
/// Marks bytes that several waves read in one interval.
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

pub(crate) struct Lds {
    pub(crate) bytes: Vec<u8>,
    /// Per byte the interval and wave of the last write; 0 if nobody wrote.
    writers: Vec<u16>,
    /// Per byte the interval and wave of the last read, or [`SEVERAL`].
    readers: Vec<u16>,
    /// Per byte the interval and wave of the last atomic operation, or [`SEVERAL`]; empty until
    /// there is one.
    atomics: Vec<u16>,
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

    /// Notes an access of a wave in a barrier interval and finds what it collides with.
    pub(crate) fn note<const W: usize>(
        &mut self,
        touch: &Touch<W>,
        wave: u32,
        interval: u64,
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
        for &offset in &touch.offsets[..touch.spans] {
            let (writers, readers) = (&mut self.writers[..], &mut self.readers[..]);
            let found = match touch.bytes {
                16 => spans([(); 16], writers, readers, touch, offset, tag),
                12 => spans([(); 12], writers, readers, touch, offset, tag),
                8 => spans([(); 8], writers, readers, touch, offset, tag),
                4 => spans([(); 4], writers, readers, touch, offset, tag),
                2 => spans([(); 2], writers, readers, touch, offset, tag),
                _ => spans([(); 1], writers, readers, touch, offset, tag),
            };
            faults.race |= found.race;
            faults.uninitialized |= found.uninitialized;
        }
        if !self.atomics.is_empty() {
            self.meet_atomics(touch, tag, &mut faults);
        }
        faults
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
    ) -> Faults {
        let mut faults = Faults::default();
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
            let (race, unwritten) = match touch.write {
                true => (write_span(writers, readers, tag), false),
                false => read_span(writers, readers, tag),
            };
            faults.race |= u64::from(race) << lane;
            faults.uninitialized |= u64::from(unwritten) << lane;
        }
        faults
    }
}

/// True if another wave touched the tag's byte in the same interval.
#[inline(always)]
fn foreign(other: u16, tag: u16) -> bool {
    ((other ^ tag) >> WAVE_BITS == 0) & (other != tag)
}

#[inline(always)]
fn write_span<const N: usize>(writers: &mut [u16; N], readers: &[u16; N], tag: u16) -> bool {
    let mut race = false;
    for at in 0..N {
        race |= foreign(writers[at], tag) | foreign(readers[at], tag);
    }
    *writers = [tag; N];
    race
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
        assert_eq!(lds.note(&atomic(0), 0, 0).uninitialized, 1);
        assert_eq!(lds.note(&atomic(0), 1, 0), Faults::default());
        assert_eq!(lds.note(&atomic(0), 2, 0), Faults::default());
        assert_eq!(lds.note(&touch(0, false), 1, 0).race, 1, "others' atomics");
        assert_eq!(
            lds.note(&touch(0, false), 1, 1),
            Faults::default(),
            "they wrote it"
        );
        assert_eq!(lds.note(&atomic(0), 0, 1).race, 1, "wave 1 read it plainly");
        assert_eq!(lds.note(&touch(0, true), 1, 1).race, 1);
        assert_eq!(lds.note(&atomic(0), 0, 2), Faults::default());
        assert_eq!(
            lds.note(&touch(0, true), 0, 2),
            Faults::default(),
            "of one wave"
        );
        assert_eq!(lds.note(&touch(4, false), 0, 2).uninitialized, 1);
    }

    #[test]
    fn races_are_between_waves_and_within_an_interval() {
        let mut lds = Lds::new(64);
        assert_eq!(lds.note(&touch(0, false), 0, 0).uninitialized, 1);
        assert_eq!(lds.note(&touch(4, true), 0, 0), Faults::default());
        assert_eq!(lds.note(&touch(4, false), 0, 0), Faults::default());
        assert_eq!(lds.note(&touch(4, false), 1, 0).race, 1);
        assert_eq!(lds.note(&touch(4, false), 1, 1), Faults::default());
        assert_eq!(lds.note(&touch(4, false), 2, 1), Faults::default());
        assert_eq!(
            lds.note(&touch(4, true), 1, 1).race,
            1,
            "wave 2 reads it too"
        );
        assert_eq!(lds.note(&touch(8, true), 1, 1), Faults::default());
        assert_eq!(lds.note(&touch(7, true), 2, 1).race, 1, "one common byte");
    }

    #[test]
    fn intervals_never_run_out() {
        let mut lds = Lds::new(8);
        for interval in 0..5000 {
            let wave = (interval % 2) as u32;
            assert_eq!(lds.note(&touch(0, true), wave, interval), Faults::default());
            assert_eq!(
                lds.note(&touch(0, true), 1 - wave, interval).race,
                1,
                "{interval}"
            );
        }
    }
}
