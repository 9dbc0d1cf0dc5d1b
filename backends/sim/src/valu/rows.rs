//! Which row of which table an instruction is.

use super::{
    Body, Row, Shape, Type, bytes, compare, convert, dot, double, half_ops, integer, saturate,
    single, wide_ops,
};
use crate::text::Line;

/// The row of a mnemonic.
pub(crate) fn row<const W: usize>(name: &str) -> Option<Row<W>> {
    integer::row(name)
        .or_else(|| single::row(name))
        .or_else(|| half_ops::row(name))
        .or_else(|| convert::row(name))
        .or_else(|| compare::row(name))
        .or_else(|| wide_ops::row(name))
        .or_else(|| double::row(name))
        .or_else(|| dot::row(name))
        .or_else(|| bytes::row(name))
}

/// The row of a line, whose modifiers may choose among several.
pub(crate) fn row_of<const W: usize>(line: &Line) -> Option<Row<W>> {
    let name = line.name.as_str();
    if let Some(rest) = name.strip_prefix("v_bitop3_") {
        let (ty, sources): (_, &'static [Type]) = match rest {
            "b32" => (Type::B32, &[Type::B32; 3]),
            "b16" => (Type::B16, &[Type::B16; 3]),
            _ => return None,
        };
        let table = line.number("bitop3").unwrap_or(0) as u8;
        return Some(Row {
            body: Body::Table(table),
            shape: Shape::Plain,
            result: ty,
            sources,
            accumulates: false,
            keeps: false,
        });
    }
    if ["v_alignbit_b32", "v_alignbyte_b32"].contains(&name) && line.bits::<4>("op_sel", false)[2] {
        // From RDNA 3 on the shift is 16 bits, which may be the high ones.
        let mut row = row(name)?;
        row.sources = &[Type::B32, Type::B32, Type::B16];
        return Some(row);
    }
    if line.flag("clamp")
        && let Some(row) = saturate::row(name)
    {
        return Some(row);
    }
    match line.number("byte_sel") {
        Some(byte) if byte != 0 => row(&format!("{name} byte {byte}")),
        _ => row(name),
    }
}

/// Whether a 16-bit result leaves the other half of its register alone on gfx9, where most
/// instructions clear it.
///
/// Source: what LLVM counts on (`GCNSubtarget::zeroesHigh16BitsOfDest`); it counts on neither for
/// the bit operations and the conversions to integers.
pub(super) fn keeps_half(name: &str) -> bool {
    let fused = ["v_fma_f16", "v_fmac_f16", "v_fmaak_f16", "v_fmamk_f16"];
    let others = ["v_mad_u16", "v_mad_i16", "v_div_fixup_f16", "v_bitop3_b16"];
    fused.contains(&name)
        || others.contains(&name)
        || name.starts_with("v_ashr_pk_")
        || name.starts_with("v_cvt_pk_")
        || name.starts_with("v_cvt_sr_")
}
