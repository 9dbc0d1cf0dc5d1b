//! What is counted and checked of an instruction by its name alone, found once when it is decoded.

use crate::counters::{Class, Space};

/// Facts of one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Whether it works on the lanes that EXEC has on.
    pub(crate) vector: bool,
    /// Whether it writes EXEC.
    pub(crate) writes_exec: bool,
    /// Where a memory instruction finds its bytes.
    pub(crate) space: Option<Space>,
    /// Whether what it loads decides the branch that follows, as a loop does that waits for it.
    pub(crate) decides: bool,
}

impl Facts {
    /// The facts of an instruction as LLVM writes it.
    pub(crate) fn of(text: &str, class: Class) -> Facts {
        let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
        let first = operands.split(',').next().unwrap_or_default().trim();
        let prefixes = [
            ("ds_", Space::Lds),
            ("lds_", Space::Lds),
            ("global_", Space::Global),
            ("buffer_", Space::Buffer),
            ("tbuffer_", Space::Buffer),
            ("flat_", Space::Flat),
            ("scratch_", Space::Scratch),
            ("s_load_", Space::Scalar),
            ("s_buffer_load_", Space::Scalar),
        ];
        let space = prefixes
            .iter()
            .find(|(prefix, _)| name.starts_with(prefix))
            .map(|(_, space)| *space);
        Facts {
            vector: class.is_vector(),
            writes_exec: name.contains("saveexec")
                || name.contains("wrexec")
                || name.starts_with("v_cmpx_")
                || (class == Class::Salu && matches!(first, "exec" | "exec_lo" | "exec_hi")),
            space,
            decides: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell() {
        let writes = |text, class| Facts::of(text, class).writes_exec;
        assert!(writes("s_and_saveexec_b32 s0, vcc_lo", Class::Salu));
        assert!(writes("s_mov_b32 exec_lo, s0", Class::Salu));
        assert!(writes("v_cmpx_lt_i32_e64 v0, v1", Class::Valu));
        assert!(!writes("s_cmp_eq_u32 s1, exec_lo", Class::Salu));
        let space = |text| Facts::of(text, Class::Vmem).space;
        assert_eq!(
            space("buffer_load_b32 v0, v1, s[0:3], 0 offen"),
            Some(Space::Buffer)
        );
        assert_eq!(space("v_mov_b32_e32 v0, v1"), None);
    }
}
