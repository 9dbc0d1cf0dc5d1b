//! One instruction of machine code to its text.

mod reserved;

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use llvm_sys::disassembler::{
    LLVMCreateDisasmCPUFeatures, LLVMDisasmContextRef, LLVMDisasmDispose, LLVMDisasmInstruction,
};

use crate::chip::{Chip, TRIPLE};
use crate::error::LlvmError;
use crate::init;
use reserved::is_reserved;

/// Longest text of one instruction, its terminator included. The longest known ones, image
/// instructions with separate address registers, stay below 150 characters.
const TEXT_BYTES: usize = 512;

/// Longest encoding in bytes: gfx12 has VOP3P with DPP and literal at 16, gfx11 images at 20.
const MAX_INSTRUCTION_BYTES: usize = 20;

type Window = [u8; MAX_INSTRUCTION_BYTES];

/// Disassembles the instructions of one chip.
///
/// Making one takes about a millisecond; it may move between threads.
///
/// ```
/// use tilefold_llvm::disasm::Disassembler;
///
/// let mut disassembler = Disassembler::new("gfx1201")?;
/// let bytes = 0x4a02_0702_u32.to_le_bytes();
/// let (length, text) = disassembler.decode(&bytes, 0).unwrap();
/// assert_eq!((length, text.as_str()), (4, "v_add_nc_u32_e32 v1, v2, v3"));
/// # Ok::<(), tilefold_llvm::LlvmError>(())
/// ```
#[derive(Debug)]
pub struct Disassembler {
    chip: Chip,
    context: LLVMDisasmContextRef,
}

// SAFETY: the context owns all that it points to and no thread-local state; `decode` takes
// `&mut self`, so no two threads are ever inside one context.
unsafe impl Send for Disassembler {}

impl Disassembler {
    /// A disassembler for the chip with the wave size that is its default.
    ///
    /// # Errors
    /// [`LlvmError::UnknownChip`] when the name is not in the table of [`Chip`].
    pub fn new(chip: &str) -> Result<Disassembler, LlvmError> {
        let chip = Chip::find(chip)?;
        Self::with_wave_size(chip, chip.wave_size())
    }

    /// A disassembler for waves of `wave` lanes, which decides whether lane masks are written as
    /// one scalar register or as two.
    ///
    /// # Errors
    /// [`LlvmError::WaveSize`] unless `wave` is 64, or 32 on a chip that has it.
    pub fn with_wave_size(chip: Chip, wave: u32) -> Result<Disassembler, LlvmError> {
        init::disassembler();
        let mut features = Vec::new();
        if chip.has_true16() {
            // Without it the 16-bit operands that other compilers emit do not decode.
            features.push("+real-true16");
        }
        match wave {
            _ if wave == chip.wave_size() => {}
            64 => features.push("+wavefrontsize64"),
            _ => {
                return Err(LlvmError::WaveSize {
                    chip: chip.name(),
                    wave,
                });
            }
        }
        let c_string = |text: &str| CString::new(text).expect("chips and features hold no NUL");
        let triple = c_string(TRIPLE);
        let name = c_string(chip.name());
        let features = c_string(&features.join(","));
        // SAFETY: the three strings outlive the call, which copies them; no callbacks are given.
        let context = unsafe {
            LLVMCreateDisasmCPUFeatures(
                triple.as_ptr(),
                name.as_ptr(),
                features.as_ptr(),
                ptr::null_mut(),
                0,
                None,
                None,
            )
        };
        if context.is_null() {
            return Err(LlvmError::NoDisassembler { chip: chip.name() });
        }
        Ok(Disassembler { chip, context })
    }

    /// The length in bytes and the text of the instruction that `bytes` begin with, placed at
    /// `address`; `None` when they begin with none, a cut-off one included.
    pub fn decode(&mut self, bytes: &[u8], address: u64) -> Option<(usize, String)> {
        if bytes.len() < 4 {
            // Every encoding is a whole number of dwords.
            return None;
        }
        // LLVM 22 dereferences a null stream to complain about a literal that is cut off, so it
        // always sees zeros behind the end, and what reaches into them is refused here.
        let mut window = [0; MAX_INSTRUCTION_BYTES];
        let given = bytes.len().min(MAX_INSTRUCTION_BYTES);
        window[..given].copy_from_slice(&bytes[..given]);
        let (length, text) = self
            .decode_small_literal(&window, address)
            .or_else(|| self.decode_window(&window, address))?;
        (length <= given).then_some((length, text))
    }

    /// Decodes an instruction with a literal from 0x80 to 0xff. LLVM 22 takes the literal of
    /// `v_fmamk_f32` and its like for the encoding of an inline constant when it is that small:
    /// it prints the constant, or crashes on 0xff, which would announce another literal.
    fn decode_small_literal(&mut self, window: &Window, address: u64) -> Option<(usize, String)> {
        const STAND_IN: u32 = 0x5a5a_5a5a;
        // A literal follows one dword of code, or two.
        for at in [4, 8] {
            let bytes = window[at..at + 4].try_into().expect("four bytes");
            let literal = u32::from_le_bytes(bytes);
            if !(0x80..=0xff).contains(&literal) {
                continue;
            }
            let mut changed = *window;
            changed[at..at + 4].copy_from_slice(&STAND_IN.to_le_bytes());
            let decoded = self.decode_window(&changed, address);
            if let Some((length, text)) = decoded.filter(|(length, _)| *length == at + 4) {
                let shown = format!("{STAND_IN:#x}");
                if text.contains(&shown) {
                    return Some((length, text.replace(&shown, &format!("{literal:#x}"))));
                }
            }
        }
        None
    }

    fn decode_window(&mut self, window: &Window, address: u64) -> Option<(usize, String)> {
        if is_reserved(self.chip, window) {
            return None;
        }
        let mut text = [0 as c_char; TEXT_BYTES];
        // SAFETY: LLVM reads at most the whole window, which it does not write although the
        // pointer says so; it writes at most `TEXT_BYTES`, the terminator included.
        let length = unsafe {
            LLVMDisasmInstruction(
                self.context,
                window.as_ptr().cast_mut(),
                window.len() as u64,
                address,
                text.as_mut_ptr(),
                TEXT_BYTES,
            )
        };
        if length == 0 {
            return None;
        }
        // SAFETY: LLVM terminates what it wrote, and the array was zeroed before.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        Some((length, text.to_string_lossy().trim().to_owned()))
    }
}

impl Drop for Disassembler {
    fn drop(&mut self) {
        // SAFETY: the context came from LLVMCreateDisasmCPUFeatures and is disposed of once.
        unsafe { LLVMDisasmDispose(self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn text(chip: &str, code: &[u32]) -> Option<(usize, String)> {
        Disassembler::new(chip)
            .unwrap()
            .decode(&words(code), 0x1000)
    }

    #[test]
    fn decodes_known_words() {
        let cases: [(&str, &[u32], &str); 5] = [
            ("gfx1100", &[0xbfb0_0000], "s_endpgm"),
            ("gfx1151", &[0x4a02_0702], "v_add_nc_u32_e32 v1, v2, v3"),
            (
                "gfx1201",
                &[0x4a02_06ff, 0x1234_5678],
                "v_add_nc_u32_e32 v1, 0x12345678, v3",
            ),
            ("gfx950", &[0xbf81_0000], "s_endpgm"),
            ("gfx942", &[0x6802_0702], "v_add_u32_e32 v1, v2, v3"),
        ];
        for (chip, code, expected) in cases {
            let found = text(chip, code).unwrap();
            assert_eq!(found, (4 * code.len(), expected.to_owned()), "{chip}");
        }
    }

    #[test]
    fn writes_register_halves() {
        // VOP2 with opcode 50.
        let (length, text) = text("gfx1201", &[0x6402_0702]).unwrap();
        assert_eq!(
            (length, text.as_str()),
            (4, "v_add_f16_e32 v1.l, v2.l, v3.l")
        );
    }

    #[test]
    fn a_cut_off_literal_is_no_instruction() {
        let mut disassembler = Disassembler::new("gfx1201").unwrap();
        let code = words(&[0x4a02_06ff, 0x1234_5678]);
        for length in 0..8 {
            assert_eq!(
                disassembler.decode(&code[..length], 0),
                None,
                "{length} bytes"
            );
        }
        assert!(disassembler.decode(&code, 0).is_some());
    }

    #[test]
    fn small_literals_are_literals() {
        for literal in (0..0x300).chain([0x5a5a_5a5a, 0x3f80_0000, u32::MAX]) {
            let cases: [(&str, &[u32], &str, &str); 4] = [
                (
                    "gfx1201",
                    &[0x5806_0702, literal],
                    "v_fmamk_f32 v3, v2, ",
                    ", v3",
                ),
                (
                    "gfx1151",
                    &[0x6e02_0702, literal],
                    "v_fmamk_f16 v1.l, v2.l, ",
                    ", v3.l",
                ),
                (
                    "gfx1201",
                    &[0xa281_0302, literal],
                    "s_fmaak_f32 s1, s2, s3, ",
                    "",
                ),
                (
                    "gfx1201",
                    &[0xc890_0702, 0x0104_0105, literal],
                    "v_dual_fmamk_f32 v1, v2, ",
                    ", v3 :: v_dual_mov_b32 v4, v5",
                ),
            ];
            for (chip, code, before, after) in cases {
                let expected = format!("{before}{literal:#x}{after}");
                assert_eq!(text(chip, code), Some((4 * code.len(), expected)), "{chip}");
            }
        }
    }

    #[test]
    fn unknown_chips_are_errors() {
        for name in ["", "gfx1", "gfx12010", "sm_90", "GFX1201", "gfx1201\0"] {
            let error = Disassembler::new(name).unwrap_err();
            assert!(matches!(&error, LlvmError::UnknownChip { chip, .. } if chip == name));
            assert!(error.to_string().contains("gfx1201"));
        }
    }

    #[test]
    fn wave_size_decides_how_masks_are_written() {
        let code = words(&[0x7c94_0702]);
        let chip = Chip::find("gfx1201").unwrap();
        let decode = |wave| {
            Disassembler::with_wave_size(chip, wave)
                .unwrap()
                .decode(&code, 0)
        };
        assert_eq!(decode(32).unwrap().1, "v_cmp_eq_u32_e32 vcc_lo, v2, v3");
        assert_eq!(decode(64).unwrap().1, "v_cmp_eq_u32_e32 vcc, v2, v3");
        assert!(Disassembler::with_wave_size(chip, 16).is_err());
        assert!(Disassembler::with_wave_size(Chip::find("gfx950").unwrap(), 32).is_err());
    }

    #[test]
    fn random_bytes_never_crash() {
        // SplitMix64: the same bytes on every run.
        let mut state = 7_u64;
        let mut next = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = state;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        };
        for chip in Chip::all() {
            let mut disassembler = Disassembler::new(chip.name()).unwrap();
            let mut decoded = 0;
            for _ in 0..20_000 {
                let bytes = [next(), next(), next()].map(u64::to_le_bytes).concat();
                let length = (next() % 25) as usize;
                if let Some((used, text)) = disassembler.decode(&bytes[..length], next()) {
                    assert!(used <= length && used % 4 == 0 && !text.is_empty());
                    decoded += 1;
                }
            }
            assert!(decoded > 1000, "{}: only {decoded} decoded", chip.name());
        }
    }

    #[test]
    fn moves_between_threads() {
        let mut disassembler = Disassembler::new("gfx1100").unwrap();
        let code = words(&[0xbfb0_0000]);
        let decoded = std::thread::spawn(move || disassembler.decode(&code, 0))
            .join()
            .unwrap();
        assert_eq!(decoded, Some((4, "s_endpgm".to_owned())));
    }
}
