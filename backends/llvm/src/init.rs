use std::sync::Once;

use llvm_sys::target::{
    LLVMInitializeAMDGPUAsmParser, LLVMInitializeAMDGPUAsmPrinter, LLVMInitializeAMDGPUTarget,
    LLVMInitializeAMDGPUTargetInfo, LLVMInitializeAMDGPUTargetMC,
};

unsafe extern "C" {
    // llvm-sys declares the initialisers of every target but not this one.
    fn LLVMInitializeAMDGPUDisassembler();
}

/// Registers what disassembly needs.
pub(crate) fn disassembler() {
    static ONCE: Once = Once::new();
    // SAFETY: the initialisers only add functions to LLVM's target registry, here once.
    ONCE.call_once(|| unsafe {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUDisassembler();
    });
}

/// Registers what code generation needs. Only the one target: all of them take longer.
pub(crate) fn code_generator() {
    static ONCE: Once = Once::new();
    disassembler();
    // SAFETY: as above; the passes that the target registers are behind LLVM's own lock.
    ONCE.call_once(|| unsafe {
        LLVMInitializeAMDGPUTarget();
        LLVMInitializeAMDGPUAsmPrinter();
        // Without a parser the first inline assembly aborts the process.
        LLVMInitializeAMDGPUAsmParser();
    });
}
