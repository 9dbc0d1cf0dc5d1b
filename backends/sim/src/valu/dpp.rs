//! Data-parallel primitives: the first source read from another lane.
//!
//! Source: AMD's RDNA 3 instruction set guide, "Data Parallel Processing", and LLVM's spelling of
//! the controls.

use crate::text::{Line, list_numbers, number};

/// Marks a lane whose source does not exist.
const NONE: u8 = u8::MAX;

pub(crate) struct Dpp<const W: usize> {
    source: [u8; W],
    /// Lanes that row and bank masks let through.
    enabled: u64,
    /// A missing source reads as zero; else the lane is not written.
    bound_ctrl: bool,
    /// Lanes switched off may be read.
    fetch_inactive: bool,
}

impl<const W: usize> Dpp<W> {
    pub(crate) fn new(line: &Line) -> Result<Dpp<W>, String> {
        let mut pick = None;
        for modifier in &line.modifiers {
            let list = list_numbers(&modifier.value);
            let list: Vec<u8> = list.map(|digit| digit as u8 & 15).collect();
            let n = number(&modifier.value).unwrap_or(0) as i32;
            if let Some(source) = control(&modifier.name, n, &list) {
                pick = Some(source);
                modifier.read.set(true);
            }
        }
        let pick = pick.ok_or("no known lane control")?;
        let row_mask = line.number("row_mask").unwrap_or(15);
        let bank_mask = line.number("bank_mask").unwrap_or(15);
        let mut source = [NONE; W];
        let mut enabled = 0;
        for lane in 0..W as i32 {
            let from = pick(lane);
            if (0..W as i32).contains(&from) {
                source[lane as usize] = from as u8;
            }
            // A bank is four lanes of a row of sixteen.
            let on = (row_mask >> (lane / 16) & 1 == 1) && (bank_mask >> (lane % 16 / 4) & 1 == 1);
            enabled |= u64::from(on) << lane;
        }
        Ok(Dpp {
            source,
            enabled,
            // dpp8 has no such bit: a lane switched off reads as zero.
            bound_ctrl: line.flag("bound_ctrl") || line.flag("dpp8"),
            fetch_inactive: line.number("fi") == Some(1),
        })
    }

    /// The moved values and the lanes to be written.
    pub(crate) fn apply(&self, values: &[u32; W], exec: u64) -> ([u32; W], u64) {
        let mut moved = [0; W];
        let mut lanes = exec & self.enabled;
        for lane in 0..W {
            let from = self.source[lane];
            if from != NONE && (self.fetch_inactive || exec >> from & 1 == 1) {
                moved[lane] = values[usize::from(from)];
            } else if !self.bound_ctrl {
                lanes &= !(1 << lane);
            }
        }
        (moved, lanes)
    }
}

/// The lane that each lane reads; a negative one does not exist.
fn control(name: &str, n: i32, list: &[u8]) -> Option<Box<dyn Fn(i32) -> i32>> {
    let row = |lane: i32| lane & !15;
    // Shifts stay in a row of sixteen.
    let within = move |lane: i32, from: i32| {
        if row(lane) == row(from) && from >= 0 {
            from
        } else {
            -1
        }
    };
    Some(match (name, list) {
        ("quad_perm", &[a, b, c, d]) => {
            let list = [a, b, c, d].map(|from| i32::from(from & 3));
            Box::new(move |lane| (lane & !3) + list[lane as usize & 3])
        }
        ("dpp8", list) => {
            let list: [u8; 8] = list.try_into().ok()?;
            Box::new(move |lane| (lane & !7) + i32::from(list[lane as usize & 7] & 7))
        }
        ("row_shl", _) => Box::new(move |lane| within(lane, lane + n)),
        ("row_shr", _) => Box::new(move |lane| within(lane, lane - n)),
        ("row_ror", _) => Box::new(move |lane| row(lane) + ((lane - n) & 15)),
        ("row_mirror", _) => Box::new(|lane| lane ^ 15),
        ("row_half_mirror", _) => Box::new(|lane| lane ^ 7),
        ("row_share" | "row_newbcast", _) => Box::new(move |lane| row(lane) + (n & 15)),
        ("row_xmask", _) => Box::new(move |lane| lane ^ (n & 15)),
        // Whole-wave controls, which only CDNA has.
        ("row_bcast", _) if n == 15 => {
            Box::new(move |lane| if lane < 16 { -1 } else { row(lane) - 1 })
        }
        ("row_bcast", _) => Box::new(|lane| if lane < 32 { -1 } else { 31 }),
        ("wave_shl", _) => Box::new(|lane| lane + 1),
        ("wave_shr", _) => Box::new(|lane| lane - 1),
        ("wave_rol", _) => Box::new(|lane| (lane + 1) & 63),
        ("wave_ror", _) => Box::new(|lane| (lane - 1) & 63),
        _ => return None,
    })
}
