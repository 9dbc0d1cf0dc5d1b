//! Exchanges of values between lanes, which use the crossbar of LDS and none of its memory.

use super::ds::{Ds, Kind};
use crate::text::Line;
use crate::wave::Wave;

/// The lane table of a `swizzle(...)` offset, as LLVM's usage guide spells its modes.
pub(super) fn swizzle<const W: usize>(line: &Line) -> Option<[u8; W]> {
    let text = line.modifier("offset").unwrap_or("0");
    let from: Box<dyn Fn(u8) -> u8> = match text.strip_prefix("swizzle(") {
        None => {
            let bits = crate::text::number(text)? as u16;
            match bits {
                0xe000.. => return Some(table(|lane| fourier(lane, bits as u8))),
                0xc000.. => {
                    let by = (bits >> 5 & 31) as u8;
                    let by = match bits >> 10 & 1 {
                        1 => by.wrapping_neg(),
                        _ => by,
                    };
                    return Some(table(|lane| rotated(lane, by, bits as u8)));
                }
                0x8000.. => {
                    Box::new(move |lane| (lane & !3) + (bits >> (2 * (lane & 3)) & 3) as u8)
                }
                _ => {
                    let (and, or, xor) = (bits & 31, bits >> 5 & 31, bits >> 10 & 31);
                    Box::new(move |lane| {
                        (lane & 32) | (((lane & 31) & and as u8) | or as u8) ^ xor as u8
                    })
                }
            }
        }
        Some(rest) => {
            let mut parts = rest.trim_end_matches(')').split(',').map(str::trim);
            let mode = parts.next()?;
            if mode == "BITMASK_PERM" {
                let pattern = parts.next()?.trim_matches('"').to_owned();
                if pattern.len() != 5 {
                    return None;
                }
                return Some(std::array::from_fn(|lane| {
                    pattern
                        .bytes()
                        .enumerate()
                        .fold(lane as u8 & 32, |from, (at, letter)| {
                            let bit = 16_u8 >> at;
                            from | match letter {
                                b'0' => 0,
                                b'1' => bit,
                                b'i' => !(lane as u8) & bit,
                                _ => lane as u8 & bit,
                            }
                        })
                }));
            }
            let n: Vec<u8> = parts.filter_map(|part| part.parse().ok()).collect();
            match (mode, n.as_slice()) {
                ("QUAD_PERM", &[a, b, c, d]) => {
                    let list = [a, b, c, d];
                    Box::new(move |lane| (lane & !3) + (list[usize::from(lane & 3)] & 3))
                }
                ("FFT", &[mask]) => return Some(table(|lane| fourier(lane, mask))),
                ("ROTATE", &[0, by]) => return Some(table(|lane| rotated(lane, by, 0))),
                ("ROTATE", &[1, by]) => {
                    return Some(table(|lane| rotated(lane, by.wrapping_neg(), 0)));
                }
                ("SWAP", &[group]) => Box::new(move |lane| lane ^ group & 31),
                ("REVERSE", &[group]) => Box::new(move |lane| lane ^ group.wrapping_sub(1) & 31),
                ("BROADCAST", &[group, from]) => {
                    Box::new(move |lane| lane & !group.wrapping_sub(1) | from & 31)
                }
                _ => return None,
            }
        }
    };
    Some(std::array::from_fn(|lane| from(lane as u8) & (W as u8 - 1)))
}

/// The table of a rule.
fn table<const W: usize>(from: impl Fn(u8) -> u8) -> [u8; W] {
    std::array::from_fn(|lane| from(lane as u8))
}

/// The lane read for a Fourier transform, by the pseudo-code of AMD's RDNA 3.5 guide,
/// `DS_SWIZZLE_B32` (CDNA 4's is the same): the lane's bits reversed, those of the mask kept.
fn fourier(lane: u8, mask: u8) -> u8 {
    let mask = mask & 31;
    let reversed = (lane & 31).reverse_bits() >> 3;
    lane & 32 | reversed >> mask.count_ones() | lane & mask
}

/// The lane read where 32 are rotated to the left but for the bits of a mask, by the same.
fn rotated(lane: u8, by: u8, mask: u8) -> u8 {
    let mask = mask & 31;
    lane & 32 | lane & mask | lane.wrapping_add(by) & !mask & 31
}

impl<const W: usize> Ds<W> {
    /// Lanes exchange values; lanes switched off read as zero, but for `ds_bpermute_fi_b32`, which
    /// fetches what is inactive (AMD's RDNA 4 guide, "DS_BPERMUTE_FI_B32").
    pub(super) fn exchange(&self, wave: &mut Wave<W>) {
        let exec = wave.exec();
        let data = wave.v[usize::from(self.data[0])];
        let addresses = &wave.v[usize::from(self.address)];
        let lane_of = |lane: usize| {
            let within = (addresses[lane].wrapping_add(self.offsets[0]) / 4) as usize % self.reach;
            lane / self.reach * self.reach + within
        };
        let active = |lane: usize| exec >> lane & 1 == 1;
        let mut out = [0; W];
        match &self.kind {
            &Kind::Gather { inactive } => {
                for (lane, value) in out.iter_mut().enumerate() {
                    let from = lane_of(lane);
                    *value = if inactive || active(from) {
                        data[from]
                    } else {
                        0
                    };
                }
            }
            Kind::Scatter => {
                for lane in (0..W).filter(|&lane| active(lane)) {
                    out[lane_of(lane)] = data[lane];
                }
            }
            Kind::Swizzle(table) => {
                for (lane, value) in out.iter_mut().enumerate() {
                    let from = usize::from(table[lane]);
                    *value = if active(from) { data[from] } else { 0 };
                }
            }
            _ => {}
        }
        wave.write(self.dst, &out, exec);
    }
}
