//! The tables: a row for every hazard of each generation, with where it is from.

/// What goes wrong; the numbers are bits of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Rule {
    Transcendental,
    PartialForwarding,
    MaskByScalar,
    MaskByVector,
    MaskVcc,
    ReadByScalar,
    ReadByVector,
    ReadVcc,
    Permlane,
    Dealloc,
    DirectVector,
    DirectMemory,
    MultiplyAdd,
}

/// A hazard.
pub(crate) struct Row {
    pub(super) rule: Rule,
    /// What the later instruction does.
    pub(super) name: &'static str,
    /// Whether only waves of 64 have it.
    pub(super) wave64: bool,
    /// What would do.
    pub(super) cure: &'static str,
    pub(super) source: &'static str,
}

/// A vector instruction reads what a transcendental one wrote, with at most five vector
/// instructions and one transcendental between. Both compilers, with the same numbers; LLVM counts
/// the old value of a result that DPP or `v_writelane` keeps in some lanes as read, which is not
/// done here, since it is not written rather than read. RDNA 3.5 does not have it (LLVM:
/// `FeatureVALUTransUseHazard` is in 11.0's features alone; ACO: before GFX11.5).
const TRANSCENDENTAL: Row = Row {
    rule: Rule::Transcendental,
    name: "reads a transcendental result too early",
    wave64: false,
    cure: "s_waitcnt_depctr depctr_va_vdst(0)",
    source: "LLVM's fixVALUTransUseHazard, ACO's VALUTransUseHazard",
};

/// A vector instruction reads two registers, one written before a scalar instruction wrote EXEC and
/// the other behind it, with at most two vector instructions between both writes and four behind
/// the later one. As LLVM, an operand of several registers counts as one; ACO looks at them one by
/// one.
const PARTIAL_FORWARDING: Row = Row {
    rule: Rule::PartialForwarding,
    name: "reads registers that were written on both sides of a write of EXEC",
    wave64: true,
    cure: "s_waitcnt_depctr depctr_va_vdst(0)",
    source: "LLVM's fixVALUPartialForwardingHazard, ACO's VALUPartialForwardingHazard",
};

/// A scalar register that a vector instruction read as a lane mask, then a scalar instruction
/// wrote, is read by a scalar or vector instruction. LLVM waits behind the write, whoever reads.
const MASK_BY_SCALAR: Row = Row {
    rule: Rule::MaskByScalar,
    name: "reads a scalar register that was a lane mask and was then written by a scalar \
           instruction",
    wave64: true,
    cure: "s_waitcnt_depctr depctr_sa_sdst(0)",
    source: "LLVM's fixVALUMaskWriteHazard, ACO's VALUMaskWriteHazard",
};

/// The same where a vector instruction wrote it and a vector instruction reads it. ACO also waits
/// before scalar readers, which LLVM's comment says need none; it waits behind the write anyway.
const MASK_BY_VECTOR: Row = Row {
    rule: Rule::MaskByVector,
    name: "reads a scalar register that was a lane mask and was then written by a vector \
           instruction",
    wave64: true,
    cure: "s_waitcnt_depctr depctr_va_sdst(0)",
    source: "LLVM's fixVALUMaskWriteHazard, ACO's VALUMaskWriteHazard",
};

/// The same of VCC, which has a counter of its own.
const MASK_VCC: Row = Row {
    rule: Rule::MaskVcc,
    name: "reads VCC, which was a lane mask and was then written by a vector instruction",
    wave64: true,
    cure: "s_waitcnt_depctr depctr_va_vcc(0)",
    source: "LLVM's fixVALUMaskWriteHazard, ACO's VALUMaskWriteHazard",
};

/// A scalar register of a pair that a vector instruction ever read, then a scalar instruction
/// wrote, is read by a scalar or vector instruction. ACO and earlier LLVM let it expire after ten
/// other scalar instructions, today's LLVM does not. Scalar loads and buffer accesses settle it.
const READ_BY_SCALAR: Row = Row {
    rule: Rule::ReadByScalar,
    name: "reads a scalar register that a vector instruction had read and a scalar one then wrote",
    wave64: false,
    cure: "s_wait_alu depctr_sa_sdst(0)",
    source: "LLVM's AMDGPUWaitSGPRHazards, ACO's VALUReadSGPRHazard",
};

/// The same where a vector instruction wrote it and a vector instruction reads it. A scalar
/// instruction that reads any scalar register waits for vector instructions by itself.
const READ_BY_VECTOR: Row = Row {
    rule: Rule::ReadByVector,
    name: "reads a scalar register that a vector instruction had read and a vector one then wrote",
    wave64: false,
    cure: "s_wait_alu depctr_va_sdst(0)",
    source: "LLVM's AMDGPUWaitSGPRHazards, ACO's VALUReadSGPRHazard",
};

/// The same of VCC.
const READ_VCC: Row = Row {
    rule: Rule::ReadVcc,
    name: "reads VCC, which a vector instruction had read and a vector one then wrote",
    wave64: false,
    cure: "s_wait_alu depctr_va_vcc(0)",
    source: "LLVM's AMDGPUWaitSGPRHazards, ACO's VALUReadSGPRHazard",
};

/// A comparison writes EXEC and the next vector instruction permutes lanes across rows. LLVM puts a
/// move between them, since GFX10 drops `v_nop`; ACO says that from GFX11 on `v_nop` does.
const PERMLANE: Row = Row {
    rule: Rule::Permlane,
    name: "permutes lanes right behind a comparison that writes EXEC",
    wave64: false,
    cure: "another vector instruction",
    source: "LLVM's fixVcmpxPermlaneHazards, ACO's VcmpxPermlaneHazard",
};

/// The message that gives vector registers back must follow an `s_nop` at once.
const DEALLOC: Row = Row {
    rule: Rule::Dealloc,
    name: "gives vector registers back without an s_nop right before it",
    wave64: false,
    cure: "s_nop 0",
    source: "LLVM's requiresNopBeforeDeallocVGPRs, the first lines of ACO's handle_instruction_gfx11",
};

/// A direct load from LDS overwrites a register that one of the last 15 vector instructions reads or
/// writes, and lets that one stand: its field says how many of the latest may be under way, which
/// means nothing once a transcendental instruction is among them.
const DIRECT_VECTOR: Row = Row {
    rule: Rule::DirectVector,
    name: "overwrites a register that a vector instruction may still use",
    wave64: false,
    cure: "a smaller wait_vdst (RDNA 4: wait_va_vdst)",
    source: "LLVM's fixLdsDirectVALUHazard, ACO's LdsDirectVALUHazard",
};

/// A direct load from LDS overwrites a register that an access of memory or LDS before it uses, with
/// no vector instruction between. As ACO, an access that was waited for is no concern; LLVM counts
/// only a wait for all of them.
const DIRECT_MEMORY: Row = Row {
    rule: Rule::DirectMemory,
    name: "overwrites a register that an access of memory may still read",
    wave64: false,
    cure: "s_waitcnt_depctr depctr_vm_vsrc(0) (RDNA 4: wait_vm_vsrc:0)",
    source: "LLVM's fixLdsDirectVMEMHazard, ACO's LdsDirectVMEMHazard",
};

/// A 64-bit multiply-add writes over one of its factors. LLVM keeps its result apart from all of its
/// sources (`FeatureMADIntraFwdBug`, 11.0's alone), but for what nobody set of the sum, which looks
/// like any other register.
const MULTIPLY_ADD: Row = Row {
    rule: Rule::MultiplyAdd,
    name: "multiplies and adds in 64 bits over a factor",
    wave64: false,
    cure: "other registers for the result",
    source: "LLVM's FeatureMADIntraFwdBug",
};

/// The hazards of RDNA 3.
pub(super) static RDNA3: &[Row] = &[
    TRANSCENDENTAL,
    PARTIAL_FORWARDING,
    MASK_BY_SCALAR,
    MASK_BY_VECTOR,
    MASK_VCC,
    PERMLANE,
    DEALLOC,
    DIRECT_VECTOR,
    DIRECT_MEMORY,
    MULTIPLY_ADD,
];

/// The hazards of RDNA 3.5.
pub(super) static RDNA35: &[Row] = &[
    PARTIAL_FORWARDING,
    MASK_BY_SCALAR,
    MASK_BY_VECTOR,
    MASK_VCC,
    PERMLANE,
    DEALLOC,
    DIRECT_VECTOR,
    DIRECT_MEMORY,
];

/// The hazards of RDNA 4.
pub(super) static RDNA4: &[Row] = &[
    READ_BY_SCALAR,
    READ_BY_VECTOR,
    READ_VCC,
    PERMLANE,
    DEALLOC,
    DIRECT_VECTOR,
    DIRECT_MEMORY,
];
