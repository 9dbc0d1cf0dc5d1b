//! Which family's an instruction is, and its operation there.

use crate::chip::{Chip, Isa};
use crate::counters::Class;
use crate::memory::access::Vmem;
use crate::memory::broadcast::Broadcast;
use crate::memory::ds::Ds;
use crate::memory::scalar::Smem;
use crate::mma::{Mfma, Swmmac, Wmma};
use crate::program::Op;
use crate::salu::Salu;
use crate::text::Line;
use crate::valu::{self, Dot, Valu};

/// The operation of the two halves of a dual instruction.
pub(crate) fn dual<const W: usize>(lines: &[Line; 2], isa: Isa) -> Result<Op<W>, String> {
    let half = |line: &Line| {
        let name = match line.name.strip_prefix("v_dual_") {
            Some(rest) => format!("v_{rest}"),
            None => return Err("not a dual instruction".to_owned()),
        };
        let line = Line {
            name,
            ..line.clone()
        };
        let row = valu::row(&line.name).ok_or("unknown mnemonic")?;
        match (Valu::new(&line, row, isa), line.unread()) {
            (Ok(_), Some(name)) => Err(unknown_modifier(name)),
            (half, _) => half,
        }
    };
    let [x, y] = lines;
    Ok(Op::Dual(Box::new([half(x)?, half(y)?])))
}

/// The operation of a line that is no control; none but a known one whose modifiers its family
/// asked for, so that none is ignored.
pub(crate) fn operation<const W: usize>(
    line: &Line,
    chip: Chip,
    ds_count: &mut usize,
) -> (Class, Op<W>) {
    let (class, op) = family(line, chip, ds_count);
    match (line.unread(), &op) {
        (None, _) | (_, Op::Unknown(_)) => (class, op),
        (Some(name), _) => (class, Op::Unknown(unknown_modifier(name))),
    }
}

fn unknown_modifier(name: &str) -> String {
    format!("the modifier {name} is not simulated there")
}

fn family<const W: usize>(line: &Line, chip: Chip, ds_count: &mut usize) -> (Class, Op<W>) {
    let name = line.name.as_str();
    let known = |class: Class, op: Result<Op<W>, String>| (class, op.unwrap_or_else(Op::Unknown));
    if let Some(direct) = Broadcast::new(line) {
        return known(Class::Lds, direct.map(Op::Broadcast));
    }
    if name.starts_with("ds_") {
        let ds = Ds::new(line, chip.isa, *ds_count).map(|ds| Op::Ds(Box::new(ds)));
        *ds_count += 1;
        return known(Class::Lds, ds);
    }
    if ["global_", "flat_", "buffer_", "tbuffer_", "scratch_"]
        .iter()
        .any(|space| name.starts_with(space))
    {
        return known(
            Class::Vmem,
            Vmem::new(line, chip.isa, *ds_count).and_then(|vmem| {
                if vmem.transposes() && W == 64 {
                    return Err("which lane gets which element in wave64 is not known".into());
                }
                *ds_count += usize::from(vmem.touches_lds());
                Ok(Op::Vmem(Box::new(vmem)))
            }),
        );
    }
    if name.starts_with("s_load_") || name.starts_with("s_buffer_load_") {
        return known(
            Class::Smem,
            Smem::new(line, chip.isa).map(|smem| Op::Smem(Box::new(smem))),
        );
    }
    if name.starts_with("v_wmma_") {
        return known(
            Class::Mma,
            Wmma::new::<W>(line, chip.isa).map(|mma| Op::Wmma(Box::new(mma))),
        );
    }
    if name.starts_with("v_swmmac_") {
        return known(
            Class::Mma,
            Swmmac::new::<W>(line, chip.isa).map(|mma| Op::Swmmac(Box::new(mma))),
        );
    }
    if name.starts_with("v_mfma_") || name.starts_with("v_smfmac_") {
        let mfma = match (W, chip.isa) {
            (64, Isa::Gfx9) => Mfma::new(line),
            _ => Err("MFMA is simulated on gfx950 in wave64 only".into()),
        };
        return known(Class::Mma, mfma.map(|mma| Op::Mfma(Box::new(mma))));
    }
    if let Some(op) = valu::real(line) {
        let class = match name.starts_with("s_") {
            true => Class::Salu,
            false => Class::Valu,
        };
        return known(class, op.map(|op| Op::Real(Box::new(op))));
    }
    if name.starts_with("s_") {
        return match Salu::new(line) {
            Some(salu) => known(Class::Salu, salu.map(Op::Salu)),
            None => (Class::Salu, Op::Unknown("unknown mnemonic".into())),
        };
    }
    if let Some(op) = valu::lane_op(line) {
        return known(Class::Valu, op.map(|op| Op::Lane(Box::new(op))));
    }
    if let Some(op) = valu::recode(line) {
        return known(Class::Valu, op.map(|op| Op::Recode(Box::new(op))));
    }
    if let Some(op) = valu::sums(line) {
        return known(Class::Valu, op.map(|op| Op::Sums(Box::new(op))));
    }
    if let Some(op) = valu::swap(line) {
        return known(Class::Valu, op.map(Op::Swap));
    }
    if let Some(dot) = Dot::new(line) {
        return known(Class::Valu, dot.map(|dot| Op::Dot(Box::new(dot))));
    }
    if let Some(op) = valu::packed(line) {
        return known(Class::Valu, op.map(|op| Op::Packed(Box::new(op))));
    }
    match valu::row_of(line) {
        Some(row) => known(
            Class::Valu,
            Valu::new(line, row, chip.isa).map(|valu| Op::Valu(Box::new(valu))),
        ),
        None => (Class::Other, Op::Unknown("unknown mnemonic".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system;

    /// Lines of every family that gfx950 does not have, or has otherwise.
    const RDNA: &[&str] = &[
        "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]",
        "v_dot4_i32_iu8 v0, v1, v2, v3 neg_lo:[1,1,0]",
        "v_dual_add_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5",
        "v_permlane16_b32 v0, v1, s2, s3 op_sel:[1,0]",
        "v_permlanex16_b32 v0, v1, s2, s3",
        "v_swap_b16 v0.l, v1.h",
        "v_add_f32_e64_dpp v0, v1, v2 row_xmask:1 row_mask:0xf bank_mask:0xf",
        "v_cvt_f32_f16_e64 v0, v1.h clamp",
        "ds_load_b128 v[0:3], v4 offset:16",
        "s_load_b128 s[0:3], s[4:5], 0x10",
        "s_add_u32 s0, s1, s2",
        "scratch_store_b32 off, v0, s32 offset:4",
        "global_store_b64 v0, v[2:3], s[0:1] offset:8",
    ];

    /// The reason for which a line is unknown; none where it is known or control.
    fn unknown<const W: usize>(chip: &str, text: &str) -> Option<Option<String>> {
        let chip = Chip::find(chip).expect("the chip has a record");
        let op: Op<W> = match text.split_once("::") {
            Some((x, y)) => {
                let halves = [Line::parse(x), Line::parse(y)];
                dual(&halves, chip.isa).unwrap_or_else(Op::Unknown)
            }
            None => {
                let line = Line::parse(text);
                if system::control::<W>(&line, text).is_some() {
                    return None;
                }
                operation(&line, chip, &mut 0).1
            }
        };
        Some(match op {
            Op::Unknown(reason) => Some(reason),
            _ => None,
        })
    }

    fn try_one<const W: usize>(chip: &str, text: &str) -> usize {
        let Some(reason) = unknown::<W>(chip, text) else {
            return 0;
        };
        assert_eq!(reason, None, "{chip}: {text}");
        let more = unknown::<W>(chip, &format!("{text} unheard:1"));
        let reason = more
            .flatten()
            .unwrap_or_else(|| panic!("{text} ignores a modifier"));
        assert!(reason.contains("unheard"), "{text}: {reason}");
        1
    }

    #[test]
    fn no_family_ignores_a_modifier() {
        let lines = include_str!("../tests/suite/gfx950.s").lines();
        let lines = lines.filter(|line| !line.is_empty());
        let tried: usize = lines.map(|line| try_one::<64>("gfx950", line)).sum();
        assert!(tried > 300, "only {tried}");
        let tried: usize = RDNA.iter().map(|line| try_one::<32>("gfx1100", line)).sum();
        assert_eq!(tried, RDNA.len());
    }

    #[test]
    fn cache_policies_change_nothing() {
        for text in [
            "global_load_b32 v0, v1, s[0:1] glc slc dlc",
            "global_store_b32 v0, v1, s[0:1] th:TH_STORE_NT scope:SCOPE_SYS",
        ] {
            assert_eq!(unknown::<32>("gfx1201", text), Some(None), "{text}");
        }
    }
}
