//! Buffer accesses with a format: elements are loaded or stored as they are in memory, converted
//! between that and registers here.

use super::access::{Kind, Place, Vmem};
use super::element::Extend;
use super::format::Format;
use crate::group::Group;
use crate::program::Inst;
use crate::text::{Half, Line};
use crate::valu::write_half;
use crate::wave::Wave;

/// How registers hold components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    /// One in each.
    Full,
    /// Two in each.
    Packed,
    /// One, in the high half.
    High,
}

/// What an access with a format has besides an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) loads: bool,
    /// The format that the instruction names; else the resource names it.
    format: Option<Format>,
    components: usize,
    width: Width,
}

/// The components of a resource in their order.
const IDENTITY: [u32; 4] = [4, 5, 6, 7];

impl Typed {
    /// What a line says of its format; none where it has none.
    pub(super) fn new(line: &Line, space: &str, rest: &str) -> Option<Result<Typed, ()>> {
        if !matches!(space, "buffer" | "tbuffer") {
            return None;
        }
        let (loads, rest) = match rest.split_once('_')? {
            ("load", rest) => (true, rest),
            ("store", rest) => (false, rest),
            _ => return None,
        };
        let (before, after) = rest.split_once("format_")?;
        // gfx9 says behind the word what later chips say before it.
        let (width, components) = match (before, after) {
            ("", after) => match after.strip_prefix("d16_") {
                Some(after) => match after.strip_prefix("hi_") {
                    Some(after) => (Width::High, after),
                    None => (Width::Packed, after),
                },
                None => (Width::Full, after),
            },
            ("d16_", after) => (Width::Packed, after),
            ("d16_hi_", after) => (Width::High, after),
            _ => return Some(Err(())),
        };
        let components = match components {
            "x" => 1,
            "xy" => 2,
            "xyz" => 3,
            "xyzw" => 4,
            _ => return Some(Err(())),
        };
        let format = match space {
            "tbuffer" => match Format::named(line.modifier("format")) {
                None => return Some(Err(())),
                format => format,
            },
            _ => None,
        };
        let typed = Typed {
            loads,
            format,
            components,
            width,
        };
        Some(typed.fits().map(|()| typed))
    }

    fn narrow(self) -> bool {
        self.width != Width::Full
    }

    fn fits(self) -> Result<(), ()> {
        match self.format {
            Some(format) if self.narrow() && !format.fits_narrow() => Err(()),
            _ => Ok(()),
        }
    }
}

impl Vmem {
    /// Why an access with a format cannot be executed with the resource that it finds.
    pub(crate) fn refused<const W: usize>(&self, wave: &Wave<W>) -> Option<&'static str> {
        let typed = self.typed?;
        let (format, selects) = self.format(typed, wave);
        let Some(format) = format else {
            return Some("the format of its buffer resource is not simulated");
        };
        if typed.narrow() && !format.fits_narrow() {
            return Some("integers of 32 bits are not simulated in halves of registers");
        }
        if self.stores() {
            if format.count > typed.components {
                return Some("it stores fewer components than its format has");
            }
            if selects[..format.count] != IDENTITY[..format.count] {
                return Some("stores with selected components are not simulated");
            }
        }
        None
    }

    /// The format, and which component each of the four is: 0 and 1 are these numbers.
    fn format<const W: usize>(&self, typed: Typed, wave: &Wave<W>) -> (Option<Format>, [u32; 4]) {
        let word = self.resource_word(wave, 3);
        match typed.format {
            Some(format) => (Some(format), IDENTITY),
            None => (
                Format::of_resource(word, self.isa),
                [0, 3, 6, 9].map(|shift| word >> shift & 7),
            ),
        }
    }

    /// Executes an access with a format that [`Vmem::refused`] has nothing against.
    pub(super) fn typed<const W: usize>(
        &self,
        typed: Typed,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) {
        let (Some(format), selects) = self.format(typed, wave) else {
            return;
        };
        // Elements pass through registers of their own, behind all others.
        let spare = wave.v.len();
        wave.v.resize(spare + 4, [0; W]);
        let mut raw = *self;
        raw.typed = None;
        raw.bytes = format.bytes();
        raw.dst = spare as u16;
        raw.data = spare as u16;
        raw.kind = match self.kind {
            Kind::Store(_) => Kind::Store(None),
            _ if format.bytes() < 4 => Kind::Load(Extend::Zero),
            _ => Kind::Load(Extend::None),
        };
        let mut places = [Place::Off; W];
        raw.places(&mut places, wave, group, inst);
        // The range check is for elements as a whole.
        let words = format.bytes().div_ceil(4) as u32;
        for place in &mut places {
            if let Place::At { words: inside, .. } = place
                && inside.trailing_ones() < words
            {
                *inside = 0;
            }
        }
        match raw.kind {
            Kind::Store(_) => {
                self.encode(typed, format, wave, spare);
                raw.store(None, &places, wave, group, inst);
            }
            Kind::Load(extend) => {
                raw.load(extend, &places, wave, group, inst);
                self.decode(typed, (format, selects), wave, spare);
            }
            _ => {}
        }
        wave.v.truncate(spare);
    }

    fn decode<const W: usize>(
        &self,
        typed: Typed,
        (format, selects): (Format, [u32; 4]),
        wave: &mut Wave<W>,
        spare: usize,
    ) {
        let exec = wave.exec();
        let narrow = typed.narrow();
        let value = |lane: usize, at: usize| match selects[at] {
            1 => format.one(narrow),
            select @ 4..=7 if ((select - 4) as usize) < format.count => {
                let words = [0, 1, 2, 3].map(|word| wave.v[spare + word][lane]);
                let at = (select - 4) as usize;
                format.decode(at, format.component(words, at), narrow)
            }
            _ => 0,
        };
        let values: [[u32; W]; 4] =
            std::array::from_fn(|at| std::array::from_fn(|lane| value(lane, at)));
        for (at, values) in values[..typed.components].iter().enumerate() {
            let (register, half) = match typed.width {
                Width::Full => {
                    wave.write(self.dst + at as u16, values, exec);
                    continue;
                }
                Width::High => (self.dst, Half::High),
                Width::Packed if at % 2 == 0 => (self.dst + at as u16 / 2, Half::Low),
                Width::Packed => (self.dst + at as u16 / 2, Half::High),
            };
            write_half(wave, register, half, values, exec);
        }
    }

    fn encode<const W: usize>(
        &self,
        typed: Typed,
        format: Format,
        wave: &mut Wave<W>,
        spare: usize,
    ) {
        for at in 0..format.count {
            let (register, shift) = match typed.width {
                Width::Full => (at, 0),
                Width::Packed => (at / 2, 16 * (at % 2)),
                Width::High => (0, 16),
            };
            let values = wave.v[usize::from(self.data) + register];
            let place = format.place(at);
            let word = &mut wave.v[spare + place / 32];
            for (word, value) in word.iter_mut().zip(values) {
                *word |= format.encode(at, value >> shift, typed.narrow()) << (place % 32);
            }
        }
    }
}
