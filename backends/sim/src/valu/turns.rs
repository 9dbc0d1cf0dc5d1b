//! Sines and cosines of turns, and the bits of 2 / pi that reduce radians to them.
//!
//! Source: the pseudo-code and examples of AMD's RDNA 3.5, RDNA 4 and CDNA 4 guides, `V_SIN_F32`,
//! `V_COS_F16` and `V_TRIG_PREOP_F64`.

use super::double::scale;

/// The quarter turn next to an angle in turns, modulo four, and what is left of it in radians.
fn quarter(turns: f64) -> (i64, f64) {
    // All of it exact but for the last product.
    let quarters = turns.fract() * 4.0;
    let nearest = quarters.round();
    let rest = (quarters - nearest) * std::f64::consts::FRAC_PI_2;
    ((nearest as i64).rem_euclid(4), rest)
}

/// The sine of an angle in turns: exact at quarters, +0 at whole and half turns but for -0 itself.
pub(super) fn sin(turns: f64) -> f64 {
    if turns == 0.0 {
        return turns;
    }
    let (quarter, rest) = quarter(turns);
    let value = match quarter {
        0 => rest.sin(),
        1 => rest.cos(),
        2 => -rest.sin(),
        _ => -rest.cos(),
    };
    value + 0.0
}

/// The cosine of an angle in turns.
pub(super) fn cos(turns: f64) -> f64 {
    let (quarter, rest) = quarter(turns);
    let value = match quarter {
        0 => rest.cos(),
        1 => -rest.sin(),
        2 => -rest.cos(),
        _ => rest.sin(),
    };
    value + 0.0
}

/// The first 1201 bits of 2 / pi behind the point, as many as the guides have.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// 53 bits from a place on.
fn bits(from: u32) -> u64 {
    let word = |at: u32| TWO_OVER_PI.get(at as usize).copied().unwrap_or(0);
    let both = u128::from(word(from / 64)) << 64 | u128::from(word(from / 64 + 1));
    (both << (from % 64) >> (128 - 53)) as u64
}

/// A segment of 2 / pi that begins where a number with this exponent makes whole turns of the bits
/// before it; scaled up for the largest numbers, lest it be denormal.
pub(super) fn trig_preop(value: u64, segment: u32) -> f64 {
    let exponent = (value >> 52 & 0x7ff) as i32;
    let shift = 53 * (segment & 31) + exponent.saturating_sub(1077).max(0) as u32;
    let up = if exponent >= 1968 { 128 } else { 0 };
    scale(bits(shift) as f64, -53 - shift as i32 + up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_follow_each_other() {
        let one = 1.0_f64.to_bits();
        let sum: f64 = (0..3).map(|segment| trig_preop(one, segment)).sum();
        assert_eq!(sum, std::f64::consts::FRAC_2_PI);
        assert_eq!(trig_preop(one, 0).to_bits() >> 52, 1022);
        // 2^60 has 1083 for its exponent: six bits of whole turns.
        let large = 2_f64.powi(60).to_bits();
        let first = trig_preop(one, 0);
        assert_eq!(trig_preop(large, 0) < 2_f64.powi(-6), first < 1.0);
        assert_eq!(trig_preop(u64::MAX >> 1, 31), 0.0);
    }

    #[test]
    fn whole_halves_and_quarters_are_exact() {
        for whole in [-65504.0, -3.0, 1.0, 1e30] {
            assert_eq!(sin(whole).to_bits(), 0, "{whole}");
            assert_eq!(cos(whole), 1.0);
        }
        assert_eq!(sin(-0.0).to_bits(), 1 << 63);
        assert_eq!([0.25, 0.5, 0.75].map(sin), [1.0, 0.0, -1.0]);
        assert_eq!([0.25, 0.5, 0.75].map(cos), [0.0, -1.0, 0.0]);
        assert!((sin(-1e-30) / -1e-30 - std::f64::consts::TAU).abs() < 1e-14);
        assert!(sin(f64::INFINITY).is_nan() && cos(f64::NAN).is_nan());
    }
}
