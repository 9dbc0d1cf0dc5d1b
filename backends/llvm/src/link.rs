//! Objects to code objects, with lld in process.

use std::ffi::{CString, c_char};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::error::{LlvmError, Stage};
use crate::sink::{Collected, Sink};

unsafe extern "C" {
    // shim/link.cpp
    fn tilefold_link(object: *const c_char, output: *const c_char, out: Sink) -> i32;
}

/// Whether lld, which keeps its state in globals, can still be called; also what lets one thread
/// in at a time.
static USABLE: Mutex<bool> = Mutex::new(true);

/// Links one AMDGPU object into a code object (hsaco). Equal objects give equal bytes, and none
/// of them tells a path.
///
/// # Errors
/// [`LlvmError::Refused`] when lld refuses the object, for being none or for an undefined symbol;
/// [`LlvmError::TemporaryFile`]; [`LlvmError::Crashed`], and [`LlvmError::LinkerLost`] ever after.
pub fn link(object: &[u8]) -> Result<Vec<u8>, LlvmError> {
    if !object.starts_with(b"\x7fELF") {
        // lld would take it for a linker script.
        let messages = vec!["the object is no ELF file".to_owned()];
        return Err(LlvmError::Refused {
            stage: Stage::Link,
            messages,
        });
    }
    let failed = |error: std::io::Error| LlvmError::TemporaryFile(error.to_string());
    // lld reads and writes files only; both go with the folder.
    let folder = tempfile::Builder::new()
        .prefix("tilefold-")
        .tempdir()
        .map_err(failed)?;
    let input = folder.path().join("kernel.o");
    let output = folder.path().join("kernel.hsaco");
    fs::write(&input, object).map_err(failed)?;

    let input = c_path(&input)?;
    let output_name = c_path(&output)?;
    let mut collected = Collected::default();
    let status = {
        // A poisoned lock says that a thread panicked here, which says nothing of lld.
        let mut usable = USABLE.lock().unwrap_or_else(PoisonError::into_inner);
        if !*usable {
            return Err(LlvmError::LinkerLost);
        }
        // SAFETY: the paths outlive the call, which is what the sink is called during; the lock
        // keeps every other thread out of lld.
        let status =
            unsafe { tilefold_link(input.as_ptr(), output_name.as_ptr(), collected.sink()) };
        *usable = status != 2;
        status
    };
    if status == 0 {
        return fs::read(&output).map_err(failed);
    }
    // The folder's name differs from run to run.
    let place = format!("{}/", folder.path().display());
    let mut messages: Vec<String> = collected
        .errors
        .iter()
        .map(|error| error.replace(&place, "").trim().to_owned())
        .collect();
    if messages.is_empty() {
        messages.push("lld gave no reason".to_owned());
    }
    let stage = Stage::Link;
    Err(match status {
        1 => LlvmError::Refused { stage, messages },
        _ => LlvmError::Crashed { stage, messages },
    })
}

fn c_path(path: &Path) -> Result<CString, LlvmError> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|error| LlvmError::TemporaryFile(error.to_string()))
}
