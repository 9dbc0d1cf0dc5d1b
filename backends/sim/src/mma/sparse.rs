//! Of each four neighbours of a sparse matrix two are stored, with their places among the four.

/// The places and bits of a pair of elements by its index of four bits, the first element's place
/// below. Of two with one place the one whose bits are zero is left out; it is an error if neither's
/// are: AMD's CDNA guides demand two places.
pub(super) fn pair(index: u32, bits: [u32; 2]) -> Option<[Option<(usize, u32)>; 2]> {
    let places = [index & 3, index >> 2 & 3].map(|place| place as usize);
    let [first, second] = [0, 1].map(|at| Some((places[at], bits[at])));
    match (places[0] == places[1], bits) {
        (false, _) => Some([first, second]),
        (true, [_, 0]) => Some([first, None]),
        (true, [0, _]) => Some([None, second]),
        (true, _) => None,
    }
}

/// Why a lane's indices mean nothing.
pub(super) fn same_place(lane: usize) -> String {
    format!("two elements of A in lane {lane} have the same place, which AMD's guides forbid")
}

/// The k of an element of a group of lanes on RDNA 4, where the groups divide K into parts: the two
/// halves of a wave of 32 have halves of K, in 16-bit formats runs of eight by turns; groups 2 and
/// 3 of a wave of 64 have the second half of what 0 and 1 have in one of 32.
pub(super) fn place(bits: usize, k: usize, parts: usize, part: usize, at: usize) -> usize {
    let (half, within) = (part % 2, part / 2 * (k / parts) + at);
    match bits {
        16 => within / 8 * 16 + half * 8 + within % 8,
        _ => half * (k / 2) + within,
    }
}

/// A sparse operand's registers spread to those of a dense one, whose elements have the same order
/// in each lane: `bits` an element, whose index of a lane's pairs follow each other from `shift` on.
/// The error is a lane that has two elements in one place.
pub(super) fn spread<const W: usize>(
    registers: &[[u32; W]],
    indices: &[u32; W],
    shift: u32,
    bits: usize,
) -> Result<Vec<[u32; W]>, usize> {
    let mut dense = vec![[0; W]; 2 * registers.len()];
    let mask = u32::MAX >> (32 - bits);
    for at in 0..registers.len() * 16 / bits {
        for lane in 0..W {
            let element = |which: usize| {
                let first = (2 * at + which) * bits;
                registers[first / 32][lane] >> (first % 32) & mask
            };
            let index = indices[lane] >> shift >> (4 * at) & 15;
            let elements = pair(index, [element(0), element(1)]).ok_or(lane)?;
            for (place, word) in elements.into_iter().flatten() {
                let first = (4 * at + place) * bits;
                dense[first / 32][lane] |= word << (first % 32);
            }
        }
    }
    Ok(dense)
}
