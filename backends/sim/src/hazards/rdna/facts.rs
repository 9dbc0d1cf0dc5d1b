//! What the hazards of RDNA need to know of an instruction, from its text.

use super::rows::{RDNA3, RDNA4, RDNA35, Row, Rule};
use super::{Settles, VCC_BITS};
use crate::chip::Chip;
use crate::text::{Half, Line, NULL, VCC, Value};
use crate::waits::Registers;
use tilefold_machine::Generation;

/// Where the high halves of vector registers begin in a set; there are no accumulation registers.
const HIGH: u16 = 256;

/// Vector memory that is not flat, and the rest of it with LDS and exports.
const BUFFERS: [&str; 3] = ["buffer_", "tbuffer_", "image_"];
const MEMORY: [&str; 5] = ["global_", "flat_", "scratch_", "ds_", "exp"];

/// Accesses of memory, as counters tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Load,
    Store,
    Lds,
}

impl Access {
    /// The bits of all of them.
    const ALL: u8 = 7;

    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// What an instruction may be in a hazard.
#[derive(Default)]
pub(crate) struct Facts {
    /// The bits below.
    pub(crate) roles: u32,
    /// The rules of the chip in waves of this size, a bit for each.
    pub(crate) rules: u32,
    pub(crate) settles: Settles,
    /// Vector registers by halves: read, operand by operand and in all, and written.
    pub(super) sources: Vec<Registers>,
    pub(super) reads: Registers,
    pub(super) writes: Registers,
    /// Accesses of memory that it waits for, all or so far that they have read their registers: a
    /// bit for each of [`Access`].
    pub(super) sources_read: u8,
    /// What the instruction itself is of these.
    pub(super) access: Option<Access>,
    /// Vector instructions that a direct load lets stand.
    pub(super) standing: usize,
    /// Scalar registers, without `null`, `m0` and EXEC; both halves of VCC where either.
    pub(super) scalar_reads: u128,
    /// Those read and their neighbours in 64 bits.
    pub(super) scalar_pairs: u128,
    pub(super) scalar_writes: u128,
    /// Those read as a lane mask.
    pub(super) mask: u128,
}

fn rows(chip: Chip) -> &'static [Row] {
    match chip.machine.generation {
        Generation::Rdna3 => RDNA3,
        Generation::Rdna35 => RDNA35,
        Generation::Rdna4 => RDNA4,
        Generation::Cdna4 => &[],
    }
}

fn vector_of(value: &Value) -> Registers {
    let mut registers = Registers::default();
    if let &Value::Vector { first, count, half } = value {
        if half != Some(Half::High) {
            registers.add_vector(first, count);
        }
        if half != Some(Half::Low) {
            registers.add_vector(first.saturating_add(HIGH), count);
        }
    }
    registers
}

fn scalar_of(value: &Value) -> u128 {
    match *value {
        Value::Scalar { first, count } => (first..first.saturating_add(count))
            .filter(|&index| index < NULL)
            .fold(0, |bits, index| bits | 1 << index),
        _ => 0,
    }
}

/// Adds the other half of VCC where one is there.
fn whole_vcc(bits: u128) -> u128 {
    if bits & VCC_BITS == 0 {
        bits
    } else {
        bits | VCC_BITS
    }
}

/// Which stem of `v_` names a transcendental instruction.
fn is_transcendental(name: &str) -> bool {
    let rest = name.strip_prefix("v_s_").or(name.strip_prefix("v_"));
    let stem = rest.and_then(|rest| rest.split('_').next()).unwrap_or("");
    ["rcp", "rsq", "sqrt", "exp", "log", "sin", "cos"].contains(&stem)
}

/// Scalar loads and what else goes through the scalar cache.
fn is_scalar_memory(name: &str) -> bool {
    [
        "s_load_",
        "s_buffer_",
        "s_dcache_",
        "s_gl1_inv",
        "s_prefetch_",
        "s_mem",
        "s_atc_",
    ]
    .iter()
    .any(|stem| name.starts_with(stem))
}

/// Whether a field of `s_waitcnt_depctr` or `s_wait_alu` waits for everything, read from LLVM's
/// text: fields by name, or all of them as a number, of which it has `count` bits from `first`.
fn is_zero(line: &Line, text: &str, name: &str, [first, count]: [u32; 2]) -> bool {
    let bits = match line.operands.first().map(|operand| &operand.value) {
        Some(&Value::Int(bits)) => Some(bits as u64),
        Some(&Value::Literal(bits)) => Some(bits),
        _ => None,
    };
    match bits {
        Some(bits) => bits >> first & ((1 << count) - 1) == 0,
        None => text.contains(&format!("depctr_{name}(0)")),
    }
}

fn depctr(line: &Line, text: &str) -> Settles {
    let zero = |name: &str, bits: [u32; 2]| is_zero(line, text, name, bits);
    Settles {
        vector: zero("va_vdst", [12, 4]),
        vector_scalar: zero("va_sdst", [9, 3]),
        vector_vcc: zero("va_vcc", [1, 1]),
        scalar: zero("sa_sdst", [0, 1]),
    }
}

/// Which accesses a wait leaves none of that still read their registers: by `vm_vsrc`, or where
/// all of a kind have returned.
fn waited(line: &Line, text: &str) -> u8 {
    let all = |counter: &str, access: Access| match text.contains(&format!("{counter}(0)")) {
        true => access.bit(),
        false => 0,
    };
    let none = text.ends_with(" 0x0") || text.ends_with(" 0");
    let counted = |part: &str, access: Access| match none && line.name.contains(part) {
        true => access.bit(),
        false => 0,
    };
    match line.name.as_str() {
        "s_waitcnt_depctr" | "s_wait_alu" => match is_zero(line, text, "vm_vsrc", [2, 3]) {
            true => Access::ALL,
            false => 0,
        },
        "s_wait_idle" => Access::ALL,
        "s_waitcnt" => all("vmcnt", Access::Load) | all("lgkmcnt", Access::Lds),
        _ => {
            counted("vmcnt", Access::Load)
                | counted("loadcnt", Access::Load)
                | counted("vscnt", Access::Store)
                | counted("storecnt", Access::Store)
                | counted("lgkmcnt", Access::Lds)
                | counted("dscnt", Access::Lds)
        }
    }
}

impl Facts {
    pub(super) const VECTOR: u32 = 1;
    pub(super) const SCALAR: u32 = 1 << 1;
    pub(super) const TRANSCENDENTAL: u32 = 1 << 2;
    /// A scalar instruction writes EXEC.
    pub(super) const WRITES_EXEC: u32 = 1 << 3;
    /// A vector comparison writes it.
    pub(super) const COMPARES_EXEC: u32 = 1 << 4;
    pub(super) const PERMLANE: u32 = 1 << 5;
    pub(super) const S_NOP: u32 = 1 << 6;
    pub(super) const DEALLOC: u32 = 1 << 7;
    /// The chip has the rules about lane masks, or about what vector instructions read.
    pub(super) const MASKS: u32 = 1 << 8;
    pub(super) const READS: u32 = 1 << 9;
    /// It touches scalar registers that those are about.
    const TOUCHES: u32 = 1 << 10;
    /// It reads a lane mask.
    const READS_MASK: u32 = 1 << 11;
    /// It jumps to another function.
    pub(super) const CALLS: u32 = 1 << 12;
    /// A direct load from LDS.
    pub(super) const DIRECT: u32 = 1 << 13;
    /// A 64-bit multiply-add whose result lies over a factor.
    pub(super) const OVERLAPS: u32 = 1 << 14;

    pub(crate) fn new(text: &str, chip: Chip, wave: usize) -> Facts {
        let rules = rows(chip)
            .iter()
            .filter(|row| wave == 64 || !row.wave64)
            .fold(0_u32, |bits, row| bits | 1 << row.rule as u8);
        let any = |some: &[Rule]| some.iter().any(|&rule| rules >> rule as u8 & 1 == 1);
        let mut facts = Facts {
            rules,
            ..Facts::default()
        };
        for part in text.split("::") {
            facts.add(&Line::parse(part), part, wave);
        }
        facts.scalar_pairs = (0..NULL / 2)
            .map(|pair| 3_u128 << (2 * pair))
            .filter(|pair| facts.scalar_reads & pair != 0)
            .fold(0, |bits, pair| bits | pair);
        if facts.scalar_reads | facts.scalar_writes != 0 {
            facts.roles |= Facts::TOUCHES;
        }
        if facts.mask != 0 {
            facts.roles |= Facts::READS_MASK;
        }
        if any(&[Rule::MaskByScalar, Rule::MaskByVector, Rule::MaskVcc]) {
            facts.roles |= Facts::MASKS;
        }
        if any(&[Rule::ReadByScalar, Rule::ReadByVector, Rule::ReadVcc]) {
            facts.roles |= Facts::READS;
            facts.scalar_reads = whole_vcc(facts.scalar_reads);
            facts.scalar_writes = whole_vcc(facts.scalar_writes);
        }
        facts
    }

    /// Whether it has one of these roles.
    #[inline]
    pub(super) fn is(&self, roles: u32) -> bool {
        self.roles & roles != 0
    }

    /// Whether any rule can be met in a kernel whose instructions have these roles.
    pub(crate) fn keep_for(&mut self, roles: u32) -> bool {
        for (rule, some) in [
            (Rule::Transcendental, Facts::TRANSCENDENTAL),
            (Rule::PartialForwarding, Facts::WRITES_EXEC),
            (Rule::MaskByScalar, Facts::READS_MASK),
            (Rule::MaskByVector, Facts::READS_MASK),
            (Rule::MaskVcc, Facts::READS_MASK),
            (Rule::Permlane, Facts::PERMLANE | Facts::COMPARES_EXEC),
            (Rule::Dealloc, Facts::DEALLOC),
            (Rule::DirectVector, Facts::DIRECT),
            (Rule::DirectMemory, Facts::DIRECT),
            (Rule::MultiplyAdd, Facts::OVERLAPS),
        ] {
            if roles & some != some {
                self.rules &= !(1 << rule as u8);
            }
        }
        let has = |some: &[Rule]| some.iter().any(|&rule| self.rules >> rule as u8 & 1 == 1);
        let vectors = has(&[
            Rule::Transcendental,
            Rule::PartialForwarding,
            Rule::Permlane,
            Rule::DirectVector,
        ]);
        let masks = has(&[Rule::MaskByScalar, Rule::MaskByVector, Rule::MaskVcc]);
        let reads = has(&[Rule::ReadByScalar, Rule::ReadByVector, Rule::ReadVcc]);
        if !masks {
            self.roles &= !Facts::MASKS;
        }
        self.is(Facts::VECTOR) && vectors
            || self.is(Facts::WRITES_EXEC) && has(&[Rule::PartialForwarding])
            || self.is(Facts::TOUCHES) && (masks || reads)
            || self.settles != Settles::default() && (vectors || masks || reads)
            || self.is(Facts::DIRECT) && has(&[Rule::DirectVector])
            || (self.access.is_some() || self.sources_read != 0) && has(&[Rule::DirectMemory])
            || self.is(Facts::CALLS) && (vectors || masks)
            || self.is(Facts::S_NOP | Facts::DEALLOC) && has(&[Rule::Dealloc])
            || self.is(Facts::OVERLAPS) && has(&[Rule::MultiplyAdd])
    }

    fn add(&mut self, line: &Line, text: &str, wave: usize) {
        let name = line.name.as_str();
        let all = Settles {
            vector: false,
            vector_scalar: true,
            vector_vcc: true,
            scalar: true,
        };
        if name.starts_with("s_wait") {
            self.sources_read = waited(line, text);
        }
        if name.starts_with("v_") {
            self.vector(line, wave);
            self.sources_read = Access::ALL;
        } else if matches!(name, "s_waitcnt_depctr" | "s_wait_alu") {
            self.settles = depctr(line, text);
        } else if name == "s_wait_idle" {
            self.settles = Settles {
                vector: true,
                ..all
            };
        } else if is_scalar_memory(name) {
            self.settles = self.on_reads(all);
            if name.contains("_load_") {
                let target = line.operands.first().map(|operand| &operand.value);
                self.scalar_writes = target.map_or(0, scalar_of);
            }
        } else if name.starts_with("s_") {
            self.scalar(line, text, wave);
        } else if ["lds_direct_load", "ds_direct_load"].contains(&name) {
            self.roles |= Facts::DIRECT;
            let target = line.operands.first().map(|operand| &operand.value);
            self.writes = target.map_or(Registers::default(), vector_of);
            let field = line.number("wait_vdst").or(line.number("wait_va_vdst"));
            // What is not written is 0 in LLVM's text.
            self.standing = field.map_or(0, |count| count.clamp(0, 15) as usize);
            // RDNA 3's waits for no access.
            if name == "ds_direct_load" && line.number("wait_vm_vsrc").unwrap_or(0) == 0 {
                self.sources_read = Access::ALL;
            }
        } else if BUFFERS.iter().any(|kind| name.starts_with(kind)) {
            let all = self.on_reads(all);
            self.settles = Settles {
                vector: true,
                ..all
            };
            self.accesses(line);
        } else if MEMORY.iter().any(|kind| name.starts_with(kind)) {
            // Loads of parameters, which begin with `ds_` as well, access no memory.
            self.settles.vector = name != "ds_param_load";
            match name {
                "ds_param_load" => {}
                "exp" => self.sources_read = Access::ALL,
                _ => self.accesses(line),
            }
        }
    }

    /// The vector registers of an access, and what it is.
    fn accesses(&mut self, line: &Line) {
        let name = line.name.as_str();
        for operand in &line.operands {
            self.reads.add(&vector_of(&operand.value));
        }
        self.access = Some(match name {
            _ if name.starts_with("ds_") => Access::Lds,
            _ if name.contains("_store") => Access::Store,
            _ => Access::Load,
        });
    }

    /// What settles scalar registers by the rules on what vector instructions read alone.
    fn on_reads(&self, settles: Settles) -> Settles {
        match self.rules >> Rule::ReadByScalar as u8 & 1 {
            1 => settles,
            _ => Settles::default(),
        }
    }

    fn scalar(&mut self, line: &Line, text: &str, wave: usize) {
        let name = line.name.as_str();
        self.roles |= Facts::SCALAR;
        if name == "s_nop" {
            self.roles |= Facts::S_NOP;
        }
        if name == "s_sendmsg" && text.contains("DEALLOC_VGPRS") {
            self.roles |= Facts::DEALLOC;
        }
        if ["s_setpc", "s_swappc", "s_call"]
            .iter()
            .any(|stem| name.starts_with(stem))
        {
            self.roles |= Facts::CALLS;
        }
        let reads_all = [
            "s_cmp",
            "s_bitcmp",
            "s_setpc",
            "s_setreg",
            "s_barrier_",
            "s_sleep",
            "s_alloc_",
        ];
        let written = usize::from(!reads_all.iter().any(|stem| name.starts_with(stem)));
        let changes = ["s_addk_", "s_mulk_", "s_bitset", "s_fmac_"];
        let both = changes.iter().any(|stem| name.starts_with(stem));
        for (at, operand) in line.operands.iter().enumerate() {
            let bits = scalar_of(&operand.value);
            if at < written {
                self.scalar_writes |= bits;
                let exec = matches!(operand.value, Value::Scalar { first, .. } if first > NULL + 1);
                if exec {
                    self.roles |= Facts::WRITES_EXEC;
                }
            }
            if at >= written || both {
                self.scalar_reads |= bits;
            }
        }
        if name.contains("saveexec") || name.contains("wrexec") {
            self.roles |= Facts::WRITES_EXEC;
        }
        if name.starts_with("s_cbranch_vcc") {
            self.scalar_reads |= vcc(wave);
        }
    }

    fn vector(&mut self, line: &Line, wave: usize) {
        let name = line.name.as_str();
        self.roles |= Facts::VECTOR;
        if name == "v_nop" {
            return;
        }
        if is_transcendental(name) {
            self.roles |= Facts::TRANSCENDENTAL;
        }
        if name.starts_with("v_permlane") && !name.contains("swap") {
            self.roles |= Facts::PERMLANE;
        }
        let compares_exec = name.starts_with("v_cmpx");
        if compares_exec {
            self.roles |= Facts::COMPARES_EXEC;
        }
        // The second operand is a mask that is written, too.
        let carries = ["_co_", "v_div_scale", "v_mad_u64_u32", "v_mad_i64_i32"];
        let two = name.starts_with("v_swap") || carries.iter().any(|part| name.contains(part));
        let written = match (compares_exec, two) {
            (true, _) => 0,
            (_, true) => 2,
            _ => 1,
        };
        let accumulates = ["fmac", "dot2c", "dot2acc", "v_swmmac", "v_swap"];
        let both = accumulates.iter().any(|part| name.contains(part));
        for (at, operand) in line.operands.iter().enumerate() {
            let (vector, scalar) = (vector_of(&operand.value), scalar_of(&operand.value));
            if at < written {
                self.writes.add(&vector);
                self.scalar_writes |= scalar;
            }
            if at < written && !both {
                continue;
            }
            if vector != Registers::default() {
                self.reads.add(&vector);
                if !self.sources.contains(&vector) {
                    self.sources.push(vector);
                }
            }
            if at >= written {
                self.scalar_reads |= scalar;
            }
        }
        let in_64_bits = ["v_mad_u64_u32", "v_mad_i64_i32"];
        let factors = line.operands.iter().skip(2).take(2);
        if in_64_bits.iter().any(|stem| name.starts_with(stem))
            && factors
                .map(|factor| vector_of(&factor.value))
                .any(|factor| self.writes.meets(&factor))
        {
            self.roles |= Facts::OVERLAPS;
        }
        let masked = [
            "v_cndmask_b",
            "v_add_co_ci_",
            "v_sub_co_ci_",
            "v_subrev_co_ci_",
        ];
        if name.starts_with("v_div_fmas") || name == "v_dual_cndmask_b32" {
            self.scalar_reads |= vcc(wave);
            self.mask |= vcc(wave);
        } else if masked.iter().any(|stem| name.starts_with(stem)) {
            let last = line.operands.last().map(|operand| &operand.value);
            self.mask |= last.map_or(0, scalar_of);
        }
    }
}

/// VCC as a lane mask.
fn vcc(wave: usize) -> u128 {
    if wave == 64 { VCC_BITS } else { 1 << VCC }
}
