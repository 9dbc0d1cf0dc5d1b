//! The scaling of operands of a division, which f32 and f64 have alike.

/// Defines `div_scale` of a float type, given how to scale by a power of two, by which one, and
/// from which difference of exponents and up to which exponent it is done.
///
/// It scales one operand of a division, `s0`, which is the denominator `s1` or the numerator `s2`,
/// so that the Newton steps neither overflow nor lose bits; the flag tells `v_div_fmas` to scale
/// back.
macro_rules! div_scale {
    ($float:ty, $scale:ident, $by:expr, $far:expr, $near:expr) => {
        fn div_scale(s0: $float, s1: $float, s2: $float) -> ($float, bool) {
            let (up, down) = ($scale(s0, $by), $scale(s0, -$by));
            let tiny = |ratio: f64| ratio.abs() < f64::from(<$float>::MIN_POSITIVE);
            let reciprocal = tiny(1.0 / f64::from(s1));
            let quotient = tiny(f64::from(s2) / f64::from(s1));
            if s2 == 0.0 || s1 == 0.0 {
                (<$float>::NAN, false)
            } else if biased_exponent(s2) - biased_exponent(s1) >= $far {
                (if s0 == s1 { up } else { s0 }, true)
            } else if s1.is_subnormal() {
                (up, false)
            } else if reciprocal && quotient {
                // AMD's text scales the denominator up, which overflows for every such one; down
                // is what the flag then undoes.
                (if s0 == s1 { down } else { s0 }, true)
            } else if reciprocal {
                (down, false)
            } else if quotient {
                (if s0 == s2 { up } else { s0 }, true)
            } else if biased_exponent(s2) <= $near {
                (up, false)
            } else {
                (s0, false)
            }
        }
    };
}
pub(super) use div_scale;
