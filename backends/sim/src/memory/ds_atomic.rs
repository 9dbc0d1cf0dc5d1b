//! Atomic operations on LDS: lane by lane, and the counters of a wave's active lanes.

use super::ds::{Ds, Kind};
use super::element::{Atomic, Operation};
use super::lds::Touch;
use crate::group::Group;
use crate::valu::{Type, flush_denormal};
use crate::wave::Wave;

impl<const W: usize> Ds<W> {
    /// Adds or subtracts the number of active lanes once.
    pub(super) fn count(
        &self,
        operation: Atomic,
        touch: &Touch<W>,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
    ) {
        if touch.lanes == 0 {
            return;
        }
        let at = touch.base[0].wrapping_add(self.offsets[0]) as usize;
        let old = group.lds.read_u32(at);
        let exec = wave.exec();
        let new = operation.apply(old.into(), exec.count_ones().into(), 0);
        group.lds.write_u32(at, new as u32);
        wave.write(self.dst, &[old; W], exec);
    }

    pub(super) fn atomic(&self, touch: &Touch<W>, wave: &mut Wave<W>, group: &mut Group<'_, W>) {
        let Kind::Atomic { operation, returns } = self.kind else {
            return;
        };
        let words = self.bytes / 4;
        let operand = |wave: &Wave<W>, first: u16, lane: usize| {
            let first = usize::from(first);
            let high = if words == 2 {
                wave.v[first + 1][lane]
            } else {
                0
            };
            u64::from(wave.v[first][lane]) | u64::from(high) << 32
        };
        let mut old = [[0; W]; 2];
        for lane in 0..W {
            if touch.lanes >> lane & 1 == 0 {
                continue;
            }
            let at = touch.base[lane].wrapping_add(self.offsets[0]) as usize;
            for (word, old) in old[..words].iter_mut().enumerate() {
                old[lane] = group.lds.read_u32(at + 4 * word);
            }
            let before = u64::from(old[0][lane]) | u64::from(old[1][lane]) << 32;
            let value = operand(wave, self.data[0], lane);
            let compare = match operation.operation {
                Operation::CompareSwap => operand(wave, self.data[1], lane),
                _ => 0,
            };
            let after = match (operation.operation, words) {
                (Operation::AddF, 1) => u64::from(add(before as u32, value as u32, wave)),
                _ => operation.apply(before, value, compare),
            };
            for word in 0..words {
                group
                    .lds
                    .write_u32(at + 4 * word, (after >> (32 * word)) as u32);
            }
        }
        if returns {
            for (word, old) in old[..words].iter().enumerate() {
                wave.write(self.dst + word as u16, old, touch.lanes);
            }
        }
    }
}

/// The sum of two f32: in LDS denormals are dropped where the mode says so (LLVM: "DS atomic fadd F32
/// does respect the denormal mode"), in global memory they are kept.
fn add<const W: usize>(old: u32, value: u32, wave: &Wave<W>) -> u32 {
    let drop = |bits: u32, kept: u32| match wave.mode.f32 & kept {
        0 => flush_denormal(bits, Type::F32),
        _ => bits,
    };
    let [old, value] = [old, value].map(|bits| f32::from_bits(drop(bits, 1)));
    drop((old + value).to_bits(), 2)
}
