//! What hazards need to know of an instruction, from its text.

use super::{Common, Deed, First, Row, Then};
use crate::chip::Chip;
use crate::mma::Mfma;
use crate::text::{Line, M0, VCC, Value, list_numbers};
use crate::waits::Registers;

/// What an instruction may be in a pair.
#[derive(Default)]
pub(crate) struct Facts {
    /// Wait states that it is.
    pub(crate) states: u32,
    /// As the first.
    pub(crate) deeds: Vec<Deed>,
    /// As the second: a bit for each [`Then`].
    pub(crate) then: u32,
    reads: Registers,
    writes: Registers,
    select: Registers,
    factors: Registers,
    addend: Registers,
    name: String,
}

fn of(line: &Line, at: usize) -> Registers {
    let mut registers = Registers::default();
    match line.operands.get(at).map(|operand| &operand.value) {
        Some(&Value::Vector { first, count, .. }) => registers.add_vector(first, count),
        Some(&Value::Scalar { first, count }) => registers.add_scalar(first, count),
        _ => {}
    }
    registers
}

fn all(line: &Line, places: std::ops::Range<usize>) -> Registers {
    let mut registers = Registers::default();
    for at in places {
        registers.add(&of(line, at));
    }
    registers
}

fn only_scalar(registers: Registers) -> Registers {
    Registers {
        vector: Default::default(),
        ..registers
    }
}

fn only_vector(registers: Registers) -> Registers {
    Registers {
        scalar: 0,
        ..registers
    }
}

fn is_empty(registers: &Registers) -> bool {
    *registers == Registers::default()
}

fn is_transcendental(name: &str) -> bool {
    let stems = ["rcp", "rsq", "sqrt", "exp", "log", "sin", "cos"];
    name.strip_prefix("v_")
        .and_then(|rest| rest.split('_').next())
        .is_some_and(|stem| stems.contains(&stem))
}

/// Whether part of a destination is written by choice of a byte or half. Of the scaled conversions
/// LLVM counts those to FP4 with random rounding whatever they choose (`getDstSelForwardingOperand`).
fn writes_part(line: &Line) -> bool {
    let sdwa = line.sdwa && line.modifier("dst_sel").is_some_and(|sel| sel != "DWORD");
    let chosen = line.modifier("op_sel").is_some_and(|list| {
        let list: Vec<i64> = list_numbers(list).collect();
        list.len() >= line.operands.len() && list.last() == Some(&1)
    });
    let packed = line.name.starts_with("v_pk_") || line.name.starts_with("v_fma_mix");
    sdwa || chosen && !packed || line.name.starts_with("v_cvt_scalef32_sr_pk_fp4")
}

/// Passes of a matrix instruction.
fn passes(line: &Line, chip: Chip) -> u32 {
    // Formats 0 and 1 have eight bits.
    let narrow = ["cbsz", "blgp"]
        .iter()
        .all(|name| line.number(name).unwrap_or(0) > 1);
    let machine = chip.machine;
    let cycles = match machine.narrow_matrix_cycles(&line.name).filter(|_| narrow) {
        Some(cycles) => Some(cycles),
        None => machine.matrix_cycles(&line.name),
    };
    // Shapes that the record leaves out, and products of sparse matrices.
    let passes = cycles.map(|cycles| cycles / 4);
    match passes.or_else(|| Some(Mfma::new(line).ok()?.passes())) {
        Some(passes) => passes,
        None if line.name.contains("_16x16") => 4,
        None => 8,
    }
}

impl Facts {
    pub(crate) fn new(line: &Line, chip: Chip) -> Facts {
        let name = line.name.as_str();
        let mut facts = Facts {
            states: 1,
            name: name.to_owned(),
            ..Facts::default()
        };
        if name == "s_nop" {
            facts.states = match line.operands.first().map(|operand| &operand.value) {
                Some(&Value::Int(count)) => count.clamp(0, 15) as u32 + 1,
                _ => 1,
            };
        } else if name.starts_with("v_mfma") || name.starts_with("v_smfmac") {
            facts.matrix(line, chip);
        } else if name.starts_with("v_") {
            facts.vector(line);
        } else if ["global_", "flat_", "buffer_", "tbuffer_", "scratch_"]
            .iter()
            .any(|space| name.starts_with(space))
        {
            facts.memory(line);
        } else if name.starts_with("ds_") {
            facts.add(Then::Reader);
            let results = ["read", "_rtn_", "permute", "swizzle"];
            let loads = usize::from(results.iter().any(|part| name.contains(part)));
            facts.writes = all(line, 0..loads);
            facts.reads = all(line, loads..line.operands.len());
        } else if name.starts_with("s_sendmsg") {
            facts.add(Then::ByM0);
        } else if name.starts_with("s_")
            && !["s_cmp", "s_bitcmp", "s_setpc"]
                .iter()
                .any(|stem| name.starts_with(stem))
            && of(line, 0).scalar >> M0 & 1 == 1
        {
            facts.deed(First::M0Write, Registers::default(), 0);
        }
        facts
    }

    fn add(&mut self, then: Then) {
        self.then |= 1 << then as u8;
    }

    fn deed(&mut self, first: First, registers: Registers, passes: u32) {
        self.deeds
            .push(Deed::new(first, registers, passes, &self.name));
    }

    fn matrix(&mut self, line: &Line, chip: Chip) {
        let sparse = line.name.starts_with("v_smfmac");
        self.add(Then::Matrix);
        self.factors = all(line, 1..3);
        self.factors.add(&all(line, 4..line.operands.len()));
        self.addend = of(line, if sparse { 0 } else { 3 });
        if sparse {
            self.factors.add(&of(line, 3));
        }
        self.reads = self.factors;
        self.reads.add(&self.addend);
        let passes = passes(line, chip);
        if line.name.ends_with("_f64") {
            return;
        }
        match line.name.starts_with("v_mfma_f32_") && line.name.ends_with("_f32") {
            true => self.deed(First::Smfma, of(line, 0), passes),
            false => {
                self.deed(First::Xdl, of(line, 0), passes);
                self.deed(First::XdlReadsC, only_vector(self.addend), passes);
            }
        }
    }

    fn vector(&mut self, line: &Line) {
        let name = line.name.as_str();
        if name == "v_nop" {
            return;
        }
        // The second operand is a mask that is written, too.
        let carries = ["_co_u32", "v_div_scale", "v_mad_u64_u32", "v_mad_i64_i32"];
        let written = 1 + usize::from(carries.iter().any(|part| name.contains(part)));
        let swaps = name.starts_with("v_swap") || name.contains("_swap_");
        self.writes = all(line, 0..if swaps { 2 } else { written });
        self.reads = all(line, written..line.operands.len());
        let accumulates = name.contains("fmac") || name.contains("c_") && name.contains("dot");
        if accumulates || swaps || writes_part(line) || name.starts_with("v_writelane") {
            self.reads.add(&of(line, 0));
        }
        if name.starts_with("v_div_fmas") {
            self.reads.add_scalar(VCC, 2);
            self.add(Then::DivFmas);
        }
        self.add(Then::Vector);
        self.add(Then::Reader);
        if is_transcendental(name) {
            self.deed(First::Transcendental, self.writes, 0);
        } else {
            self.add(Then::Ordinary);
        }
        if line.dpp {
            self.add(Then::Dpp);
        }
        if name.starts_with("v_permlane") {
            self.add(Then::LaneSwap);
        }
        let lane = name.starts_with("v_readlane") || name.starts_with("v_writelane");
        if lane {
            self.add(Then::LaneSelect);
            self.select = only_scalar(of(line, 2));
        }
        if lane || name.starts_with("v_readfirstlane") {
            self.add(Then::ReadWriteLane);
        }
        if name.starts_with("v_read") {
            self.add(Then::ReadLane);
        }
        if name.starts_with("v_cmpx") {
            self.deed(First::ExecWrite, Registers::default(), 0);
        }
        if !is_empty(&only_scalar(self.writes)) {
            self.deed(First::ScalarWrite, only_scalar(self.writes), 0);
        }
        let vectors = only_vector(self.writes);
        if !is_empty(&vectors) {
            if writes_part(line) {
                self.deed(First::PartWrite, vectors, 0);
            }
            if name.starts_with("v_dot") {
                self.factors = all(line, 1..3);
                self.deed(First::Dot, vectors, 0);
            } else {
                self.deed(First::VectorWrite, vectors, 0);
            }
        }
    }

    fn memory(&mut self, line: &Line) {
        let name = line.name.as_str();
        self.add(Then::VectorMemory);
        self.add(Then::Reader);
        let to_lds = line.flag("lds") || name.contains("_load_lds_");
        let returns = name.contains("_atomic_") && line.flag("sc0");
        let loads = usize::from((name.contains("_load_") || returns) && !to_lds);
        self.writes = all(line, 0..loads);
        self.reads = all(line, loads..line.operands.len());
        if to_lds {
            self.add(Then::ByM0);
            self.reads.add_scalar(M0, 1);
        }
        if !name.contains("_store_") {
            return;
        }
        // A buffer's data stands first, and a scalar offset in a register gives it the time.
        let buffer = name.contains("buffer_");
        let data = of(line, usize::from(!buffer));
        let words: u32 = data.vector.iter().map(|word| word.count_ones()).sum();
        let scalar = buffer
            && matches!(line.operands.get(3), Some(operand)
            if matches!(operand.value, Value::Scalar { .. }));
        if words > 2 && !scalar {
            self.deed(First::WideStore, data, 0);
        }
    }

    /// Whether it makes a pair with a deed before it.
    pub(super) fn completes(&self, row: &Row, deed: &Deed) -> bool {
        if self.then >> row.then as u8 & 1 == 0 {
            return false;
        }
        let first = &deed.registers;
        match row.common {
            Common::Nothing => true,
            Common::Reads => first.meets(&self.reads),
            Common::Select => first.meets(&self.select),
            Common::Writes => first.meets(&self.writes),
            Common::Factors => first.meets(&self.factors),
            // The same registers as a whole are passed on without a wait (after two passes it
            // would take two states, which are not asked for here).
            Common::Addend => first.meets(&self.addend) && *first != self.addend,
            Common::DotReads if deed.name == self.name => first.meets(&self.factors),
            Common::DotReads => first.meets(&self.reads) || first.meets(&self.writes),
        }
    }

    /// Drops the deeds that make no pair with what `present` has, a bit for each [`Then`].
    pub(crate) fn keep_for(&mut self, present: u32) {
        self.deeds.retain_mut(|deed| deed.keep_for(present));
    }
}
