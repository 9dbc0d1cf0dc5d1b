//! Integer operations with `clamp`: results beyond the type become its bounds.

use super::{Row, narrow};

fn s16(value: u32) -> i32 {
    i32::from(value as u16 as i16)
}

fn to_s16(value: i32) -> u32 {
    u32::from(value.clamp(-0x8000, 0x7fff) as u16)
}

/// The row of a mnemonic that has `clamp`, of 32 or of 16 bits.
pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    wide(name).or_else(|| short(name))
}

fn wide<const W: usize>(name: &str) -> Option<Row<W>> {
    Some(narrow!(name, B32, B32;
        "v_add_u32" | "v_add_nc_u32" => |a, b| a.saturating_add(b);
        "v_sub_u32" | "v_sub_nc_u32" => |a, b| a.saturating_sub(b);
        "v_subrev_u32" | "v_subrev_nc_u32" => |a, b| b.saturating_sub(a);
        "v_add_i32" | "v_add_nc_i32" => |a, b| (a as i32).saturating_add(b as i32) as u32;
        "v_sub_i32" | "v_sub_nc_i32" => |a, b| (a as i32).saturating_sub(b as i32) as u32;
        "v_mad_u32_u24" => |a, b, c| {
            let product = u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff);
            (product + u64::from(c)).min(u64::from(u32::MAX)) as u32
        };
    ))
}

fn short<const W: usize>(name: &str) -> Option<Row<W>> {
    Some(narrow!(name, B16, B16;
        "v_add_u16" | "v_add_nc_u16" => |a, b| ((a & 0xffff) + (b & 0xffff)).min(0xffff);
        "v_sub_u16" | "v_sub_nc_u16" => |a, b| (a & 0xffff).saturating_sub(b & 0xffff);
        "v_subrev_u16" => |a, b| (b & 0xffff).saturating_sub(a & 0xffff);
        "v_add_i16" | "v_add_nc_i16" => |a, b| to_s16(s16(a) + s16(b));
        "v_sub_i16" | "v_sub_nc_i16" => |a, b| to_s16(s16(a) - s16(b));
    ))
}
