//! Direct loads from LDS: one value at the address in M0, for every lane.
//!
//! Source: the "LDS Direct Load" sections of AMD's RDNA 3.5 and RDNA 4 guides (RDNA 3's is the
//! same but for names). M0 holds the byte address in its low half, a multiple of four, and the type
//! above it; EXEC counts by quads: where one lane is on, all four are written. The result is
//! counted by EXPcnt. It works only where a workgroup has one compute unit to itself (CU mode).
//! Parameters of pixels (`lds_param_load`) lie where graphics hardware put them and are not
//! simulated. What the wait fields (`wait_vdst` and the like) wait for are earlier instructions'
//! registers, and values arrive at once here.

use super::element::{Extend, extend_value};
use super::lds::Touch;
use crate::check::Check;
use crate::group::Group;
use crate::program::Inst;
use crate::text::{Line, M0, Value};
use crate::wave::Wave;

/// A direct load, ready to execute.
#[derive(Debug)]
pub(crate) struct Broadcast {
    dst: u16,
}

/// Fields that hold the instruction back.
const WAITS: [&str; 3] = ["wait_vdst", "wait_va_vdst", "wait_vm_vsrc"];

impl Broadcast {
    /// The direct load of a line; none for another LDS instruction.
    pub(crate) fn new(line: &Line) -> Option<Result<Broadcast, String>> {
        let base = line.name.strip_prefix("lds_");
        match base.or_else(|| line.name.strip_prefix("ds_"))? {
            "direct_load" => {}
            "param_load" => {
                return Some(Err("no pixels have parameters in a compute kernel".into()));
            }
            _ => return None,
        }
        for name in WAITS {
            line.number(name);
        }
        Some(match line.operands.first().map(|operand| &operand.value) {
            Some(&Value::Vector { first, .. }) => Ok(Broadcast { dst: first }),
            _ => Err("the destination is no vector register".into()),
        })
    }

    /// Executes; the value returned are the bytes read, as one lane's. The error says why it cannot.
    pub(crate) fn execute<const W: usize>(
        &self,
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Result<Option<Touch<W>>, String> {
        if group.across_units {
            return Err("direct loads need a workgroup on one compute unit (CU mode)".into());
        }
        let m0 = wave.s[usize::from(M0)];
        let address = m0 & 0xffff;
        let (bytes, extend) = match m0 >> 16 & 7 {
            0 => (1, Extend::Zero),
            1 => (2, Extend::Zero),
            2 => (4, Extend::None),
            4 => (1, Extend::Sign),
            5 => (2, Extend::Sign),
            other => return Err(format!("M0 asks for type {other}, which is reserved")),
        };
        if !address.is_multiple_of(4) {
            return Err(format!("the address in M0, {address}, is no multiple of 4"));
        }
        let exec = wave.exec();
        if exec == 0 {
            return Ok(None);
        }
        let lane = exec.trailing_zeros();
        let len = group.lds.len();
        if address as usize + bytes > len {
            group.find(Check::LdsBounds, wave, inst, Some(lane), || {
                format!("{bytes} bytes at LDS {address} end past the workgroup's {len} bytes")
            });
            wave.write(self.dst, &[0; W], quads(exec));
            return Ok(None);
        }
        let touch = Touch {
            base: [address; W],
            offsets: [0; 2],
            spans: 1,
            bytes,
            lanes: 1 << lane,
            write: false,
            atomic: false,
            instruction: inst.address,
        };
        group.note_lds(&touch, wave, inst, None);
        let at = address as usize;
        let value = match extend {
            Extend::None => group.lds.read_u32(at),
            _ => extend_value(&group.lds.bytes[at..at + bytes], extend),
        };
        wave.write(self.dst, &[value; W], quads(exec));
        Ok(Some(touch))
    }
}

/// All lanes of the quads that have one of these.
fn quads(lanes: u64) -> u64 {
    let first = (lanes | lanes >> 1 | lanes >> 2 | lanes >> 3) & 0x1111_1111_1111_1111;
    first * 15
}

#[cfg(test)]
mod tests {
    use super::quads;

    #[test]
    fn one_lane_turns_on_its_quad() {
        assert_eq!(quads(0), 0);
        assert_eq!(quads(1 << 2 | 1 << 63), 0xf000_0000_0000_000f);
        assert_eq!(quads(0b1000_0001_0000), 0xff0);
    }
}
