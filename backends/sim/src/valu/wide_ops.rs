//! Operations with 64-bit operands or results.

use super::double::passed;
use super::{Row, Shape, Type};

fn f(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Loops over the lanes of three sources; those not listed are zero.
#[inline(always)]
fn map<const W: usize>(s: &[[u64; W]; 3], out: &mut [u64; W], f: impl Fn(u64, u64, u64) -> u64) {
    for lane in 0..W {
        out[lane] = f(s[0][lane], s[1][lane], s[2][lane]);
    }
}

/// Loops over the lanes of a multiply-add that also yields a carry.
#[inline(always)]
fn mad<const W: usize>(
    s: &[[u64; W]; 3],
    out: &mut [u64; W],
    f: impl Fn(u32, u32, u64) -> (u64, bool),
) -> u64 {
    let mut carries = 0;
    for lane in 0..W {
        let (value, carry) = f(s[0][lane] as u32, s[1][lane] as u32, s[2][lane]);
        out[lane] = value;
        carries |= u64::from(carry) << lane;
    }
    carries
}

pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    const MAD: &[Type] = &[Type::B32, Type::B32, Type::B64];
    const SHIFT: &[Type] = &[Type::B32, Type::B64];
    const TWO: &[Type] = &[Type::F64, Type::F64];
    const THREE: &[Type] = &[Type::F64, Type::F64, Type::F64];
    macro_rules! rows {
        ($($key:pat => $result:ident, $types:expr, |$a:ident, $b:ident, $c:ident| $body:expr;)*) => {
            match name {
                $($key => Row::wide(|s, _, out| {
                    map(s, out, |$a, $b, $c| $body);
                    0
                }, Type::$result, $types),)*
                _ => return None,
            }
        };
    }
    match name {
        "v_mad_u64_u32" | "v_mad_co_u64_u32" => {
            return Some(
                Row::wide(
                    |s, _, out| {
                        mad(s, out, |a, b, c| {
                            (u64::from(a) * u64::from(b)).overflowing_add(c)
                        })
                    },
                    Type::B64,
                    MAD,
                )
                .shape(Shape::MaskOut),
            );
        }
        "v_mad_i64_i32" | "v_mad_co_i64_i32" => {
            return Some(
                Row::wide(
                    |s, _, out| {
                        mad(s, out, |a, b, c| {
                            let product = i64::from(a as i32) * i64::from(b as i32);
                            // The flag is the bit above a sum of 65 bits: the sign.
                            let sum = i128::from(product) + i128::from(c as i64);
                            (sum as u64, sum < 0)
                        })
                    },
                    Type::B64,
                    MAD,
                )
                .shape(Shape::MaskOut),
            );
        }
        _ => {}
    }
    Some(rows!(
        "v_mov_b64" => B64, &[Type::B64], |a, _b, _c| a;
        "v_lshlrev_b64" => B64, SHIFT, |a, b, _c| b << (a & 63);
        "v_lshrrev_b64" => B64, SHIFT, |a, b, _c| b >> (a & 63);
        "v_ashrrev_i64" => B64, SHIFT, |a, b, _c| ((b as i64) >> (a & 63)) as u64;
        "v_lshl_add_u64" => B64, &[Type::B64, Type::B32, Type::B64], |a, b, c| {
            (a << (b & 7)).wrapping_add(c)
        };
        "v_add_f64" => F64, TWO, |a, b, _c| (f(a) + f(b)).to_bits();
        "v_mul_f64" => F64, TWO, |a, b, _c| (f(a) * f(b)).to_bits();
        "v_fma_f64" => F64, THREE, |a, b, c| f(a).mul_add(f(b), f(c)).to_bits();
        "v_rcp_f64" => F64, &[Type::F64], |a, _b, _c| (1.0 / f(a)).to_bits();
        "v_sqrt_f64" => F64, &[Type::F64], |a, _b, _c| f(a).sqrt().to_bits();
        "v_rsq_f64" => F64, &[Type::F64], |a, _b, _c| (1.0 / f(a).sqrt()).to_bits();
        "v_rndne_f64" => F64, &[Type::F64], |a, _b, _c| f(a).round_ties_even().to_bits();
        "v_floor_f64" => F64, &[Type::F64], |a, _b, _c| f(a).floor().to_bits();
        "v_trunc_f64" => F64, &[Type::F64], |a, _b, _c| passed(f(a).trunc());
    ))
}
