//! Dot products of packed integers, added to a third source.
//!
//! Source: AMD's CDNA 3 instruction set guide, "VOP3P Instructions" and "VOP2 Instructions".

use super::{Row, Type, map3};

/// Sum of the products of fields of so many bits, on top of `c`, modulo 2^32.
#[inline(always)]
fn dot(a: u32, b: u32, c: u32, bits: u32, signed: bool) -> u32 {
    let field = |value: u32, at: u32| {
        let high = value << (32 - bits - at);
        match signed {
            true => (high as i32 >> (32 - bits)) as u32,
            false => high >> (32 - bits),
        }
    };
    (0..32 / bits).fold(c, |sum, at| {
        let at = at * bits;
        sum.wrapping_add(field(a, at).wrapping_mul(field(b, at)))
    })
}

pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    const THREE: &[Type] = &[Type::B32, Type::B32, Type::B32];
    macro_rules! rows {
        ($($key:pat => $bits:literal, $signed:literal;)*) => {
            match name {
                $($key => Row::narrow(
                    |s, _, out| map3(s, out, |a, b, c| dot(a, b, c, $bits, $signed)),
                    Type::B32,
                    THREE,
                ),)*
                _ => return None,
            }
        };
    }
    let row = rows!(
        "v_dot2_i32_i16" | "v_dot2c_i32_i16" => 16, true;
        "v_dot2_u32_u16" => 16, false;
        "v_dot4_i32_i8" | "v_dot4c_i32_i8" => 8, true;
        "v_dot4_u32_u8" => 8, false;
        "v_dot8_i32_i4" | "v_dot8c_i32_i4" => 4, true;
        "v_dot8_u32_u4" => 4, false;
    );
    Some(match name.contains("c_") {
        true => row.accumulate(),
        false => row,
    })
}
