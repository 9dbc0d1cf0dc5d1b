//! Instructions that move values between lanes or to scalar registers.

use super::{Input, Type, write_half};
use crate::text::{Half, Line, M0, Value};
use crate::wave::Wave;

/// A lane instruction, ready to execute.
pub(crate) enum LaneOp {
    ReadFirst {
        dst: u16,
        source: Input,
    },
    Read {
        dst: u16,
        source: Input,
        lane: Input,
    },
    Write {
        dst: u16,
        value: Input,
        lane: Input,
    },
    /// Bits of a mask below the lane, counted from lane `first`.
    MaskedCount {
        dst: u16,
        mask: Input,
        addend: Input,
        first: u32,
    },
    /// The register that lies M0 past the one named.
    MoveFrom {
        dst: u16,
        source: u16,
    },
    /// The same for the destination.
    MoveTo {
        dst: u16,
        source: Input,
    },
    /// Lanes 32 apart read each other, also those that are off.
    Opposite {
        dst: u16,
        source: u16,
    },
    Swap {
        a: u16,
        b: u16,
    },
    SwapHalves {
        a: (u16, Half),
        b: (u16, Half),
    },
    /// Sixteen selectors of four bits choose the lane of a row, or of the opposite one. A lane that
    /// is switched off is read, reads as zero, or leaves the result alone, as with DPP.
    Permute {
        dst: u16,
        source: Input,
        selectors: Selectors,
        opposite: bool,
        fetch_inactive: bool,
        bound_ctrl: bool,
    },
}

/// Where the selectors of a permutation are.
pub(crate) enum Selectors {
    /// In two words, eight in each.
    Words(Input, Input),
    /// In each lane's own value, the lowest bits.
    Own(Input),
}

/// The lane instruction of a line; none when it is another family's.
pub(crate) fn lane_op(line: &Line) -> Option<Result<LaneOp, String>> {
    let build = match line.name.as_str() {
        "v_readfirstlane_b32" => |line: &Line| {
            Some(LaneOp::ReadFirst {
                dst: scalar(line, 0)?,
                source: input(line, 1)?,
            })
        },
        "v_readlane_b32" => |line: &Line| {
            Some(LaneOp::Read {
                dst: scalar(line, 0)?,
                source: input(line, 1)?,
                lane: input(line, 2)?,
            })
        },
        "v_writelane_b32" => |line: &Line| {
            Some(LaneOp::Write {
                dst: vector(line, 0)?,
                value: input(line, 1)?,
                lane: input(line, 2)?,
            })
        },
        "v_mbcnt_lo_u32_b32" | "v_mbcnt_hi_u32_b32" => |line: &Line| {
            Some(LaneOp::MaskedCount {
                dst: vector(line, 0)?,
                mask: input(line, 1)?,
                addend: input(line, 2)?,
                first: if line.name.contains("_hi_") { 32 } else { 0 },
            })
        },
        "v_movrels_b32" => |line: &Line| {
            Some(LaneOp::MoveFrom {
                dst: vector(line, 0)?,
                source: vector(line, 1)?,
            })
        },
        "v_movreld_b32" => |line: &Line| {
            Some(LaneOp::MoveTo {
                dst: vector(line, 0)?,
                source: input(line, 1)?,
            })
        },
        "v_permlane64_b32" => |line: &Line| {
            Some(LaneOp::Opposite {
                dst: vector(line, 0)?,
                source: vector(line, 1)?,
            })
        },
        "v_swap_b32" => |line: &Line| {
            Some(LaneOp::Swap {
                a: vector(line, 0)?,
                b: vector(line, 1)?,
            })
        },
        "v_swap_b16" => |line: &Line| {
            Some(LaneOp::SwapHalves {
                a: half(line, 0)?,
                b: half(line, 1)?,
            })
        },
        "v_permlane16_b32"
        | "v_permlanex16_b32"
        | "v_permlane16_var_b32"
        | "v_permlanex16_var_b32" => |line: &Line| {
            let select: [bool; 2] = line.bits("op_sel", false);
            Some(LaneOp::Permute {
                dst: vector(line, 0)?,
                source: input(line, 1)?,
                selectors: match line.name.contains("_var_") {
                    true => Selectors::Own(input(line, 2)?),
                    false => Selectors::Words(input(line, 2)?, input(line, 3)?),
                },
                opposite: line.name.contains('x'),
                // So AMD's RDNA 3 guide names the bits, `V_PERMLANE16_B32`; its pseudo-code leaves
                // open what they do, so that DPP's meaning is taken.
                fetch_inactive: select[0],
                bound_ctrl: select[1],
            })
        },
        _ => return None,
    };
    Some(build(line).ok_or_else(|| "an operand is of no known kind".to_owned()))
}

fn input(line: &Line, at: usize) -> Option<Input> {
    Input::new(line.operands.get(at)?, Type::B32, false)
}

fn scalar(line: &Line, at: usize) -> Option<u16> {
    match line.operands.get(at)?.value {
        Value::Scalar { first, .. } => Some(first),
        _ => None,
    }
}

fn vector(line: &Line, at: usize) -> Option<u16> {
    match line.operands.get(at)?.value {
        Value::Vector { first, .. } => Some(first),
        _ => None,
    }
}

fn half(line: &Line, at: usize) -> Option<(u16, Half)> {
    match line.operands.get(at)?.value {
        Value::Vector { first, half, .. } => Some((first, half.unwrap_or(Half::Low))),
        _ => None,
    }
}

impl LaneOp {
    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let exec = wave.exec();
        let (mut a, mut b, mut c) = ([0; W], [0; W], [0; W]);
        match self {
            LaneOp::ReadFirst { dst, source } => {
                // With no lane active, lane 0 is read.
                let lane = if exec == 0 {
                    0
                } else {
                    exec.trailing_zeros() as usize
                };
                let value = source.fetch(wave, &mut a)[lane];
                wave.set_scalar(*dst, value);
            }
            LaneOp::Read { dst, source, lane } => {
                let lane = lane.fetch(wave, &mut b)[0] as usize % W;
                let value = source.fetch(wave, &mut a)[lane];
                wave.set_scalar(*dst, value);
            }
            LaneOp::Write { dst, value, lane } => {
                let lane = lane.fetch(wave, &mut b)[0] as usize % W;
                let value = value.fetch(wave, &mut a)[0];
                wave.v[usize::from(*dst)][lane] = value;
            }
            LaneOp::MaskedCount {
                dst,
                mask,
                addend,
                first,
            } => {
                let mask = *mask.fetch(wave, &mut a);
                let addend = addend.fetch(wave, &mut b);
                let counts = std::array::from_fn(|lane| {
                    let below = (lane as u32).saturating_sub(*first).min(32);
                    let bits = mask[lane] & ((1_u64 << below) - 1) as u32;
                    bits.count_ones().wrapping_add(addend[lane])
                });
                wave.write(*dst, &counts, exec);
            }
            LaneOp::MoveFrom { dst, source } => {
                // Past the file, register 0 is read.
                let at = usize::from(*source).wrapping_add(wave.s[usize::from(M0)] as usize);
                let values = *wave.v.get(at).unwrap_or(&wave.v[0]);
                wave.write(*dst, &values, exec);
            }
            LaneOp::MoveTo { dst, source } => {
                let at = usize::from(*dst).wrapping_add(wave.s[usize::from(M0)] as usize);
                let values = *source.fetch(wave, &mut a);
                // Past the file nothing is written.
                if at < wave.v.len() {
                    wave.write(at as u16, &values, exec);
                }
            }
            // AMD's RDNA guides, `V_PERMLANE64_B32`: nothing in a wave of 32.
            LaneOp::Opposite { dst, source } if W == 64 => {
                let values = &wave.v[usize::from(*source)];
                let opposite = std::array::from_fn(|lane| values[lane ^ 32]);
                wave.write(*dst, &opposite, exec);
            }
            LaneOp::Opposite { .. } => {}
            LaneOp::Swap { a, b } => {
                let (x, y) = (wave.v[usize::from(*a)], wave.v[usize::from(*b)]);
                wave.write(*a, &y, exec);
                wave.write(*b, &x, exec);
            }
            LaneOp::SwapHalves { a, b } => {
                let get = |(index, half): (u16, Half)| {
                    wave.v[usize::from(index)].map(|value| match half {
                        Half::Low => value & 0xffff,
                        Half::High => value >> 16,
                    })
                };
                let (x, y) = (get(*a), get(*b));
                write_half(wave, a.0, a.1, &y, exec);
                write_half(wave, b.0, b.1, &x, exec);
            }
            LaneOp::Permute {
                dst,
                source,
                selectors,
                opposite,
                fetch_inactive,
                bound_ctrl,
            } => {
                let selectors: [usize; W] = match selectors {
                    Selectors::Own(own) => own.fetch(wave, &mut b).map(|own| own as usize & 15),
                    Selectors::Words(low, high) => {
                        let low = low.fetch(wave, &mut b)[0];
                        let high = high.fetch(wave, &mut c)[0];
                        let all = u64::from(low) | u64::from(high) << 32;
                        std::array::from_fn(|lane| (all >> (4 * (lane & 15)) & 15) as usize)
                    }
                };
                let values = *source.fetch(wave, &mut a);
                let mut out = wave.v[usize::from(*dst)];
                for (lane, value) in out.iter_mut().enumerate() {
                    let row = (lane & !15) ^ if *opposite { 16 } else { 0 };
                    let from = row + selectors[lane];
                    if *fetch_inactive || exec >> from & 1 == 1 {
                        *value = values[from];
                    } else if *bound_ctrl {
                        *value = 0;
                    }
                }
                wave.write(*dst, &out, exec);
            }
        }
    }
}
