//! Scratch: memory of each lane alone.

use super::access::{Kind, Scalar, Vmem};
use super::element::{Extend, Operation, extend_value, fill};
use crate::check::Check;
use crate::group::Group;
use crate::program::Inst;
use crate::text::Half;
use crate::wave::Wave;

impl Vmem {
    pub(super) fn scratch<const W: usize>(
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
                Kind::Load(_) => group.tally.read += self.bytes as u64,
                _ => group.tally.written += self.bytes as u64,
            }
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
                Kind::Atomic { operation, .. } => {
                    // Only flat addresses lead here; nobody else can see a lane's scratch.
                    let operand = |first: usize| {
                        let register = |word: usize| u64::from(wave.v[first + word][lane]);
                        register(0) | if words == 2 { register(1) << 32 } else { 0 }
                    };
                    let data = usize::from(self.data);
                    let compare = match operation.operation {
                        Operation::CompareSwap => operand(data + words),
                        _ => 0,
                    };
                    let stored = &mut wave.scratch[bytes];
                    for (word, chunk) in stored.chunks_exact(4).enumerate() {
                        out[word][lane] = extend_word(chunk);
                    }
                    let old = u64::from(out[0][lane]) | u64::from(out[1][lane]) << 32;
                    let new = operation.apply(old, operand(data), compare).to_le_bytes();
                    stored.copy_from_slice(&new[..self.bytes]);
                }
                Kind::Transpose | Kind::LoadToLds(_) => {}
            }
        }
        if let Kind::Atomic { returns: true, .. } = self.kind {
            for (word, out) in out[..words].iter().enumerate() {
                wave.write(self.dst + word as u16, out, exec);
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
