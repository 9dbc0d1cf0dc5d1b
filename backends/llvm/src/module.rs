use std::ffi::c_char;
use std::mem;

use llvm_sys::core::{LLVMContextCreate, LLVMContextDispose, LLVMDisposeModule};
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};

use crate::error::{LlvmError, Stage};
use crate::guard::guarded;
use crate::sink::{Collected, Sink};

unsafe extern "C" {
    // shim/codegen.cpp
    fn tilefold_parse_ir(
        context: LLVMContextRef,
        bytes: *const c_char,
        count: usize,
        out: Sink,
    ) -> LLVMModuleRef;
}

/// A module of LLVM IR in a context of its own, so that modules on different threads share
/// nothing.
#[derive(Debug)]
pub struct LlvmModule {
    context: LLVMContextRef,
    module: LLVMModuleRef,
}

// SAFETY: module and context refer only to each other, and are used through `self` alone.
unsafe impl Send for LlvmModule {}

impl LlvmModule {
    /// Parses textual IR or bitcode.
    ///
    /// # Errors
    /// [`LlvmError::Refused`] when it is neither.
    pub fn parse(ir: &[u8]) -> Result<LlvmModule, LlvmError> {
        let mut collected = Collected::default();
        // SAFETY: makes a context, owned from here on.
        let context = unsafe { LLVMContextCreate() };
        // SAFETY: the bytes are readable and copied; the sink is called during the call only.
        let module =
            unsafe { tilefold_parse_ir(context, ir.as_ptr().cast(), ir.len(), collected.sink()) };
        if module.is_null() {
            // A crash while parsing is not told apart: the small context is leaked either way.
            return Err(LlvmError::Refused {
                stage: Stage::Parse,
                messages: collected.errors,
            });
        }
        Ok(LlvmModule { context, module })
    }

    /// Takes the module that `translate` makes in the context that it is given.
    ///
    /// # Errors
    /// [`LlvmError::Refused`] when it returns null, [`LlvmError::Crashed`] when it crashes.
    ///
    /// # Safety
    /// `translate` returns null or a module of that context which nobody else owns, and observes
    /// the rule of [`guarded`].
    pub unsafe fn translate(
        translate: impl FnOnce(LLVMContextRef) -> LLVMModuleRef,
    ) -> Result<LlvmModule, LlvmError> {
        // SAFETY: makes a context, owned from here on and leaked after a crash.
        let context = unsafe { LLVMContextCreate() };
        // SAFETY: the caller's promise.
        let module = unsafe { guarded(Stage::Translate, || translate(context)) }?;
        if module.is_null() {
            // SAFETY: nothing was made in the context.
            unsafe { LLVMContextDispose(context) };
            return Err(LlvmError::Refused {
                stage: Stage::Translate,
                messages: vec!["it has no translation to LLVM IR".to_owned()],
            });
        }
        Ok(LlvmModule { context, module })
    }

    pub(crate) fn as_raw(&self) -> LLVMModuleRef {
        self.module
    }

    /// Never disposes of it: LLVM crashed inside it.
    pub(crate) fn leak(self) {
        mem::forget(self);
    }
}

impl Drop for LlvmModule {
    fn drop(&mut self) {
        // SAFETY: both are owned, the module lives in the context and goes first.
        unsafe {
            LLVMDisposeModule(self.module);
            LLVMContextDispose(self.context);
        }
    }
}
