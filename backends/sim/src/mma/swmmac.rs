//! SWMMAC of RDNA 4: C += A x B where of each four neighbours of A along K two are there.
//!
//! Source: AMD's RDNA 4 guide, "WMMA" (operands, and that C and D are one), and AMD's matrix
//! instruction calculator for the lane maps, also of the indices: of each row of A, pair `j` of a
//! lane's elements has its two places within four in bits `4 j` of the lane's index register, from
//! the set that `index_key` names. Unproven on a device: that the lower two bits are the first
//! element's, as they are in CDNA's guide for its own such instructions.

use super::sparse::{pair, place, same_place};
use super::wmma::{
    Accumulator, Element, Panel, Rows, Tile, load_tile, multiply, sixteen, store_tile,
};
use crate::chip::Isa;
use crate::group::Group;
use crate::program::Inst;
use crate::text::{Line, Value};
use crate::wave::Wave;

/// A SWMMAC instruction, ready to execute.
pub(crate) struct Swmmac {
    a: (u16, Element),
    b: (u16, Element),
    d: u16,
    index: u16,
    key: u32,
    accumulator: Accumulator,
    k: usize,
    /// For A and B: negate the elements of low halves, of high halves.
    neg: [[bool; 3]; 2],
    clamp: bool,
}

impl Swmmac {
    /// The SWMMAC of a line in waves of `W` lanes; the error says what is not known about it.
    pub(crate) fn new<const W: usize>(line: &Line, isa: Isa) -> Result<Swmmac, String> {
        match isa {
            Isa::Gfx12 => Self::build::<W>(line),
            _ => None,
        }
        .ok_or_else(|| "no such SWMMAC or operand".to_owned())
    }

    fn build<const W: usize>(line: &Line) -> Option<Swmmac> {
        let mut parts = line.name.strip_prefix("v_swmmac_")?.split('_');
        let accumulator = Accumulator::named(parts.next()?)?;
        let shape = parts.next()?;
        let neg: [[bool; 3]; 2] = [line.bits("neg_lo", false), line.bits("neg_hi", false)];
        let a = parts.next()?;
        let b = parts.next().unwrap_or(a);
        let (a, b) = (Element::named(a, neg[0][0])?, Element::named(b, neg[0][1])?);
        let k = match (shape, a.bits()) {
            ("16x16x32", _) => 32,
            ("16x16x64", 4) => 64,
            _ => return None,
        };
        let register = |at: usize, registers: usize| match line.operands.get(at)?.value {
            Value::Vector { first, count, .. } if usize::from(count) == registers => Some(first),
            _ => None,
        };
        let packed = matches!(accumulator, Accumulator::F16 | Accumulator::Bf16);
        let (of_a, of_b) = (Self::parts::<W>(0, k, a), Self::parts::<W>(1, k, b));
        // What no encoding or no type has.
        let real = a.bits() == 16;
        let integers = accumulator == Accumulator::I32;
        let none = [
            line.flag("clamp") && !integers,
            neg[0][2] || neg[1][2],
            !real && (neg[1][0] || neg[1][1]),
            !real && !integers && (neg[0][0] || neg[0][1]),
        ];
        if none.contains(&true) {
            return None;
        }
        // Two bits for each element of A in a lane.
        let sets = 32 / (k / of_a);
        let key = line.number("index_key").unwrap_or(0);
        if !(0..sets as i64).contains(&key) {
            return None;
        }
        Some(Swmmac {
            a: (register(1, k * a.bits() / 64 / of_a)?, a),
            b: (register(2, k * b.bits() / 32 / of_b)?, b),
            d: register(0, 256 / W / if packed { 2 } else { 1 })?,
            index: register(3, 1)?,
            key: key as u32 * (k / of_a) as u32,
            accumulator,
            k,
            neg,
            clamp: line.flag("clamp"),
        })
    }

    /// Into how many parts the groups of lanes divide K of A or B: as many as there are groups,
    /// where a part fills registers.
    fn parts<const W: usize>(operand: usize, k: usize, element: Element) -> usize {
        let kept = if operand == 0 { k / 2 } else { k };
        (W / 16).min(kept * element.bits() / 32)
    }

    pub(crate) fn execute<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Result<(), String> {
        self.check(wave, group, inst);
        let [a, b] = &mut group.room.wide;
        self.sparse(wave, a)?;
        self.dense(wave, b);
        let rows = Rows {
            isa: Isa::Gfx12,
            packed: matches!(self.accumulator, Accumulator::F16 | Accumulator::Bf16),
            high: false,
            accumulator: self.accumulator,
            clamp: self.clamp,
            saturate: wave.mode.saturates,
        };
        let mut tile: Tile = [[0.0; 16]; 16];
        load_tile(&wave.v[usize::from(self.d)..], rows, &mut tile);
        multiply(&a[..self.k], &b[..self.k], &mut tile);
        store_tile(&mut wave.v[usize::from(self.d)..], rows, &tile);
        wave.last_mma = Some((self.d, self.registers::<W>()));
        Ok(())
    }

    /// Registers of C and D.
    fn registers<const W: usize>(&self) -> u16 {
        match self.accumulator {
            Accumulator::F16 | Accumulator::Bf16 => 128 / W as u16,
            _ => 256 / W as u16,
        }
    }

    /// An instruction must lie between this one and one that wrote what it reads as A, B or indices.
    fn check<const W: usize>(&self, wave: &Wave<W>, group: &mut Group<'_, W>, inst: &Inst<W>) {
        let [a, b] = [(self.a, 0), (self.b, 1)].map(|((first, element), operand)| {
            let parts = Self::parts::<W>(operand, self.k, element);
            let kept = if operand == 0 { self.k / 2 } else { self.k };
            (first, (kept * element.bits() / 32 / parts) as u16)
        });
        for (name, (first, count)) in [("A", a), ("B", b), ("the index", (self.index, 1))] {
            super::check_distance(name, first, count, wave, group, inst);
        }
    }

    /// B as `panel[k][column]`.
    fn dense<const W: usize>(&self, wave: &Wave<W>, panel: &mut Panel) {
        let (first, element) = self.b;
        let parts = Self::parts::<W>(1, self.k, element);
        let per_lane = self.k / parts;
        for part in 0..parts {
            for at in 0..per_lane {
                let k = place(element.bits(), self.k, parts, part, at);
                let words = self.lanes(wave, first, element, part, at);
                let flip = self.neg[k % 2][1] && element.bits() == 16;
                panel[k] = words.map(|word| {
                    let value = element.value(word);
                    if flip { -value } else { value }
                });
            }
        }
    }

    /// A as `panel[k][row]`, with zeros where nothing is.
    fn sparse<const W: usize>(&self, wave: &Wave<W>, panel: &mut Panel) -> Result<(), String> {
        let (first, element) = self.a;
        let parts = Self::parts::<W>(0, self.k, element);
        panel[..self.k].fill([0.0; 16]);
        for part in 0..parts {
            let indices = sixteen(&wave.v[usize::from(self.index)], 16 * part);
            for four in 0..self.k / parts / 4 {
                let [low, high] =
                    [0, 1].map(|at| self.lanes(wave, first, element, part, 2 * four + at));
                for row in 0..16 {
                    let index = indices[row] >> self.key >> (4 * four) & 15;
                    let elements = pair(index, [low[row], high[row]])
                        .ok_or_else(|| same_place(16 * part + row))?;
                    for (at, word) in elements.into_iter().enumerate() {
                        let Some((within, word)) = word else { continue };
                        let k = place(element.bits(), self.k, parts, part, 4 * four + within);
                        let value = element.value(word);
                        let flip = self.neg[at][0] && element.bits() == 16;
                        panel[k][row] = if flip { -value } else { value };
                    }
                }
            }
        }
        Ok(())
    }

    /// One element of each lane of a group.
    fn lanes<const W: usize>(
        &self,
        wave: &Wave<W>,
        first: u16,
        element: Element,
        group: usize,
        at: usize,
    ) -> [u32; 16] {
        let bits = element.bits();
        let register = &wave.v[usize::from(first) + at * bits / 32];
        let mask = u32::MAX >> (32 - bits);
        sixteen(register, 16 * group).map(|word| word >> (at * bits % 32) & mask)
    }
}
