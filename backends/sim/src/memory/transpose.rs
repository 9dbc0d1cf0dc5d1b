//! LDS loads of gfx950 that transpose: `ds_read_b64_tr_b16`, `_b8`, `_b4` and `ds_read_b96_tr_b6`.
//!
//! Sixteen lanes load a tile with sixteen columns, row by row, each lane a run of elements; every
//! lane then gets a column. Source: FlyDSL's copy atoms of CDNA 4 (4, 6 and 8 bits), continued to
//! 16 bits; not confirmed on a device.

/// Lanes that exchange elements; also the columns of their tile.
const LANES: usize = 16;

/// Bits of an element of a transposing load, and what it loads: `b64_tr_b16` and the like.
pub(super) fn parse(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "b64_tr_b16" => (16, 8),
        "b64_tr_b8" => (8, 8),
        "b64_tr_b4" => (4, 8),
        "b96_tr_b6" => (6, 12),
        _ => return None,
    })
}

/// Transposes what lanes loaded into `words` registers.
pub(super) fn transpose<const W: usize>(loaded: &mut [[u32; W]], bits: usize) {
    let per_lane = loaded.len() * 32 / bits;
    let get = |words: &[[u32; W]], lane: usize, element: usize| {
        let at = element * bits;
        let word = |index: usize| words.get(index).map_or(0, |word| u64::from(word[lane]));
        let both = word(at / 32) | word(at / 32 + 1) << 32;
        both >> (at % 32) & ((1 << bits) - 1)
    };
    let source = loaded.to_vec();
    for word in loaded.iter_mut() {
        *word = [0; W];
    }
    for lane in 0..W {
        for row in 0..per_lane {
            let element = row * LANES + lane % LANES;
            let from = lane / LANES * LANES + element / per_lane;
            let value = get(&source, from, element % per_lane) << (row * bits % 32);
            let first = row * bits / 32;
            loaded[first][lane] |= value as u32;
            if let Some(next) = loaded.get_mut(first + 1) {
                next[lane] |= (value >> 32) as u32;
            }
        }
    }
}
