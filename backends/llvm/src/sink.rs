//! What the C++ shim hands out, collected.

use std::ffi::{c_char, c_void};
use std::slice;

/// Everything that one call of the shim handed out.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub object: Vec<u8>,
    pub assembly: Option<String>,
    pub optimised_ir: Option<String>,
    pub remarks: Vec<String>,
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

/// `tilefold::Sink` of shim/shim.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Sink {
    data: *mut c_void,
    take: unsafe extern "C" fn(*mut c_void, u32, *const c_char, usize),
}

impl Collected {
    /// A sink that fills this; it must not be called after this is gone.
    pub(crate) fn sink(&mut self) -> Sink {
        Sink {
            data: (&raw mut *self).cast(),
            take,
        }
    }
}

unsafe extern "C" fn take(data: *mut c_void, piece: u32, bytes: *const c_char, count: usize) {
    // SAFETY: `data` is the `Collected` that made the sink, and only the thread that is inside
    // the shim's call uses it.
    let collected = unsafe { &mut *data.cast::<Collected>() };
    let bytes = if count == 0 {
        &[]
    } else {
        // SAFETY: the shim gives `count` readable bytes that stay as they are during the call.
        unsafe { slice::from_raw_parts(bytes.cast::<u8>(), count) }
    };
    let text = || String::from_utf8_lossy(bytes).into_owned();
    // The numbers of `tilefold::Piece`.
    match piece {
        0 => collected.object = bytes.to_vec(),
        1 => collected.assembly = Some(text()),
        2 => collected.optimised_ir = Some(text()),
        3 => collected.remarks.push(text()),
        4 => collected.warnings.push(text()),
        _ => collected.errors.push(text()),
    }
}
