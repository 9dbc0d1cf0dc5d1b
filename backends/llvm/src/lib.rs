//! LLVM in process: code generation, linking and disassembly, guarded so that nothing ends the process
