//! Models of sums of absolute differences and of means of bytes.

use super::harness::{After, Kind};
use super::table::{Table, longs, words};

/// The sum of the differences of bytes, of those alone whose reference is not zero if `masked`.
fn sum(a: [u8; 4], b: [u8; 4], masked: bool) -> u64 {
    let pairs = a.into_iter().zip(b);
    let counted = pairs.filter(|&(_, b)| !masked || b > 0);
    counted
        .map(|(a, b)| (i64::from(a) - i64::from(b)).unsigned_abs())
        .sum()
}

/// Four bytes of eight.
fn slice(a: u64, at: usize) -> [u8; 4] {
    let bytes = a.to_le_bytes();
    [0, 1, 2, 3].map(|byte| bytes[at + byte])
}

pub fn add(t: &mut Table) {
    let three = "D, i0, i1, i2";
    for (name, masked) in [("v_sad_u8", false), ("v_msad_u8", true)] {
        let model = words!(|a, b, c| {
            (sum(a.to_le_bytes(), b.to_le_bytes(), masked) + u64::from(c)) as u32
        });
        t.word(name, "3", three, model);
    }
    let high = words!(|a, b, c| {
        (sum(a.to_le_bytes(), b.to_le_bytes(), false) * 65536 + u64::from(c)) as u32
    });
    t.word("v_sad_hi_u8", "3", three, high);
    let sixteen = words!(|a, b, c| {
        let part = |x: u32, at: u32| i64::from(x / 65536_u32.pow(at) % 65536);
        let differ = |at: u32| (part(a, at) - part(b, at)).abs();
        (i64::from(c) + differ(0) + differ(1)) as u32
    });
    t.word("v_sad_u16", "3", three, sixteen);
    let mean = words!(|a, b, c| {
        let bytes = [0, 1, 2, 3].map(|at| {
            let [a, b, c] = [a, b, c].map(|x| u32::from(x.to_le_bytes()[at]));
            ((a + b + c % 2) / 2) as u8
        });
        u32::from_le_bytes(bytes)
    });
    t.word("v_lerp_u8", "3", three, mean);
    for (name, masked) in [("v_qsad_pk_u16_u8", false), ("v_mqsad_pk_u16_u8", true)] {
        let model = longs(move |a, b, c| {
            (0..4).fold(0, |packed, at| {
                let one = sum(slice(a, at), (b as u32).to_le_bytes(), masked);
                let total = (one + (c >> (16 * at) & 0xffff)) % 65536;
                packed + (total << (16 * at))
            })
        });
        t.long(name, "3", "DD, q0, i1, q2", model);
    }
    // Its results fill four registers, two of which a case looks at.
    for at in [0, 2] {
        let (low, high) = (48 + at, 49 + at);
        let text = format!(
            "v_mqsad_u32_u8 v[48:51], q0, i1, v[20:23]\nv_mov_b32 D, v{low}\nv_mov_b32 v9, v{high}"
        );
        t.case(text, Kind::Bits, move |lane| {
            let tuple = lane.tuple();
            let [f0, f1, f2] = tuple.f;
            let addends = [f0, f1, f2, tuple.p];
            let one = |at: usize| {
                let sum = sum(slice(tuple.q[0], at), tuple.i[1].to_le_bytes(), true);
                (sum + u64::from(addends[at])) & 0xffff_ffff
            };
            After {
                value: one(at) | one(at + 1) << 32,
                mask: false,
            }
        });
    }
}
