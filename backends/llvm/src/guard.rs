//! The guard that keeps the process alive when LLVM or MLIR do not.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::{LlvmError, Stage};
use crate::sink::{Collected, Sink};

unsafe extern "C" {
    // shim/guard.cpp
    fn tilefold_guarded(
        out: Sink,
        body: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> bool;
}

struct Call<F, R> {
    body: Option<F>,
    result: Option<Result<R, Box<dyn Any + Send>>>,
}

/// Runs `body`, and turns a crash, an abort or a fatal error of LLVM's inside it into an error. A
/// panic passes through.
///
/// A stack that overflows is not caught, nor is a crash on another thread. After a crash the state
/// of whatever `body` touched is unknown: it must be leaked, not dropped.
///
/// # Errors
/// [`LlvmError::Crashed`], with `stage` as what was being done.
///
/// # Safety
/// A crash leaves by `longjmp`. Between `body` and the foreign code that may crash, no frame may
/// hold anything whose destructor matters.
pub unsafe fn guarded<R>(stage: Stage, body: impl FnOnce() -> R) -> Result<R, LlvmError> {
    let mut call = Call {
        body: Some(body),
        result: None,
    };
    let mut collected = Collected::default();
    // SAFETY: `run` gets the `Call` of its own type, which outlives it, as does `collected`.
    let survived = unsafe {
        tilefold_guarded(
            collected.sink(),
            runner(&call),
            (&raw mut call).cast::<c_void>(),
        )
    };
    match call.result {
        Some(Ok(result)) if survived => Ok(result),
        Some(Err(panic)) if survived => resume_unwind(panic),
        _ => Err(LlvmError::Crashed {
            stage,
            messages: collected.errors,
        }),
    }
}

/// The entry for the type of `call`, which cannot be written out.
fn runner<F: FnOnce() -> R, R>(_call: &Call<F, R>) -> unsafe extern "C" fn(*mut c_void) {
    run::<F, R>
}

unsafe extern "C" fn run<F: FnOnce() -> R, R>(data: *mut c_void) {
    // SAFETY: `guarded` passes its `Call<F, R>` and does not touch it meanwhile.
    let call = unsafe { &mut *data.cast::<Call<F, R>>() };
    if let Some(body) = call.body.take() {
        // A panic must not unwind through the C++ frames.
        call.result = Some(catch_unwind(AssertUnwindSafe(body)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        fn abort();
        fn raise(signal: i32) -> i32;
    }

    fn guard<R>(body: impl FnOnce() -> R) -> Result<R, LlvmError> {
        // SAFETY: the bodies below hold nothing to destroy.
        unsafe { guarded(Stage::Generate, body) }
    }

    #[test]
    fn returns_what_the_body_returns() {
        assert_eq!(guard(|| 7), Ok(7));
    }

    #[test]
    fn aborts_and_signals_are_errors_again_and_again() {
        for _ in 0..3 {
            // SAFETY: ends in the guard.
            let error = guard(|| unsafe { abort() }).unwrap_err();
            assert_eq!(error.to_string(), "LLVM failed to generate code: aborted");
            // SAFETY: SIGSEGV is 11 on Linux; ends in the guard.
            let error = guard(|| unsafe { raise(11) }).unwrap_err();
            assert!(
                error.to_string().ends_with("invalid memory access"),
                "{error}"
            );
        }
    }

    #[test]
    fn panics_pass_through() {
        let panic = catch_unwind(|| guard(|| panic!("mine"))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
    }
}
