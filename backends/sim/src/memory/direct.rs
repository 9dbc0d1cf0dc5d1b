//! Loads from global memory straight into LDS.
//!
//! Lane `i` writes its value at the base in M0, plus the instruction's offset, plus `i` times the
//! size of a value; lanes switched off leave their place. The instruction's offset counts on both
//! sides. What the range check of a buffer drops is written as zero. The bytes change at any time
//! until the load is waited for. Sources: AMD's CDNA 3 instruction set guide, "Memory Buffer Load
//! to LDS", and LLVM's AMDGPU usage guide on `raw.ptr.buffer.load.lds`.

use super::access::{Place, Vmem};
use super::element::{Extend, extend_value};
use super::lds::Touch;
use crate::check::Check;
use crate::group::Group;
use crate::program::Inst;
use crate::races::Reading;
use crate::text::M0;
use crate::wave::Wave;

impl Vmem {
    /// Executes; the value returned are the LDS bytes written.
    pub(super) fn load_to_lds<const W: usize>(
        &self,
        extend: Extend,
        places: &[Place; W],
        wave: &mut Wave<W>,
        group: &mut Group<'_, W>,
        inst: &Inst<W>,
    ) -> Option<Touch<W>> {
        // Narrow values fill a word.
        let size = self.bytes.max(4);
        let first = wave.s[usize::from(M0)].wrapping_add(self.offset as u32);
        let mut touch = Touch {
            base: std::array::from_fn(|lane| first.wrapping_add((lane * size) as u32)),
            offsets: [0; 2],
            spans: 1,
            bytes: size,
            lanes: wave.exec(),
            write: true,
            atomic: false,
            instruction: inst.address,
        };
        let len = group.lds.len() as u64;
        let outside = (0..W)
            .filter(|&lane| u64::from(touch.base[lane]) + size as u64 > len)
            .fold(0, |lanes, lane| lanes | 1_u64 << lane)
            & touch.lanes;
        if outside != 0 {
            touch.lanes &= !outside;
            let lane = outside.trailing_zeros();
            let at = touch.base[lane as usize];
            group.find(Check::LdsBounds, wave, inst, Some(lane), || {
                format!("writes {size} bytes at LDS byte {at} of the workgroup's {len}")
            });
        }
        let memory = group.memory;
        let mut fault = None;
        let (scope, mut reading) = (self.scope(group, inst), Reading::default());
        let mut hint = wave.hint;
        for lane in 0..W {
            let Place::At { address, words } = places[lane] else {
                continue;
            };
            let mut values = [0_u32; 4];
            let part = self.bytes.min(4);
            for word in 0..size / 4 {
                if words >> word & 1 == 0 {
                    continue;
                }
                let address = address.wrapping_add(4 * word as u64);
                let Some((buffer, at)) = memory.locate(address, part as u64, &mut hint) else {
                    fault = fault.or(Some((lane as u32, address)));
                    continue;
                };
                if !buffer.is_input() {
                    group.overlap |= buffer.note_read(at, part, &group.visitor);
                    let place = (lane as u32, address);
                    group.reads(buffer, (at, part), place, scope, &mut reading, wave);
                }
                group.tally.read += part as u64;
                values[word] = match part {
                    1 => extend_value(&[buffer.read_u8(at)], extend),
                    2 => extend_value(&buffer.read_u16(at).to_le_bytes(), extend),
                    _ => buffer.read_u32(at),
                };
            }
            if touch.lanes >> lane & 1 == 1 {
                let at = touch.base[lane] as usize;
                for (word, &value) in values[..size / 4].iter().enumerate() {
                    group.lds.write_u32(at + 4 * word, value);
                }
            }
        }
        wave.hint = hint;
        group.note_lds(&touch, wave, inst, None);
        self.report(fault, None, wave, group, inst);
        group.report_reading(reading, wave, inst);
        Some(touch)
    }
}
