//! Swaps of rows of lanes between two registers (gfx950).
//!
//! Source: the pseudo-code of AMD's CDNA 4 instruction set guide, "V_PERMLANE16_SWAP_B32" and
//! "V_PERMLANE32_SWAP_B32": odd rows of the destination and even rows of the source change places.
//! It does not speak of EXEC; here inactive lanes are not written, and what they hold arrives as
//! zero with `bound_ctrl`, as it is with `fi`, and not at all otherwise, as in `v_permlane16_b32`.

use crate::text::{Line, Value};
use crate::wave::Wave;

/// A swap, ready to execute.
pub(crate) struct Swap {
    /// The register that gives odd rows.
    dst: u16,
    /// The register that gives even rows.
    src: u16,
    /// Lanes of a row.
    row: usize,
    fetch_inactive: bool,
    zero_inactive: bool,
}

/// The swap of a line; none when it is another family's.
pub(crate) fn swap(line: &Line) -> Option<Result<Swap, String>> {
    let row = match line.name.as_str() {
        "v_permlane16_swap_b32" => 16,
        "v_permlane32_swap_b32" => 32,
        _ => return None,
    };
    let vector = |at: usize| match line.operands.get(at)?.value {
        Value::Vector { first, .. } => Some(first),
        _ => None,
    };
    let on = |name| line.number(name).is_some_and(|value| value != 0);
    Some(match vector(0).zip(vector(1)) {
        Some((dst, src)) => Ok(Swap {
            dst,
            src,
            row,
            fetch_inactive: on("fi"),
            zero_inactive: on("bound_ctrl"),
        }),
        None => Err("an operand is no vector register".into()),
    })
}

impl Swap {
    pub(crate) fn execute<const W: usize>(&self, wave: &mut Wave<W>) {
        let exec = wave.exec();
        let active = |lane: usize| exec >> lane & 1 == 1;
        let (odd, even) = (wave.v[usize::from(self.dst)], wave.v[usize::from(self.src)]);
        let take = |from: &[u32; W], lane: usize| match active(lane) || self.fetch_inactive {
            true => Some(from[lane]),
            false => self.zero_inactive.then_some(0),
        };
        for low in (0..W).filter(|lane| (lane / self.row).is_multiple_of(2)) {
            let high = low + self.row;
            if high >= W {
                break;
            }
            let (up, down) = (take(&even, low), take(&odd, high));
            if let (true, Some(value)) = (active(high), up) {
                wave.v[usize::from(self.dst)][high] = value;
            }
            if let (true, Some(value)) = (active(low), down) {
                wave.v[usize::from(self.src)][low] = value;
            }
        }
    }
}
