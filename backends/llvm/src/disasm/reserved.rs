//! Encodings that LLVM 22's disassembler does not survive.
//!
//! It runs into code that its authors held unreachable where a field has a reserved value that it
//! decodes but cannot print, and where a literal is marked that the encoding cannot have. The
//! fields are those of AMD's instruction set guides for the chips.

use super::MAX_INSTRUCTION_BYTES;
use crate::chip::Chip;

/// The source value that says: a literal follows.
const LITERAL: u32 = 0xff;

/// The source value of VOP1, VOP2 and VOPC that says: sub-dword addressing follows.
const SDWA: u32 = 0xf9;

/// The upper half of the prefix that loads scales for the matrix instruction behind it.
const SCALES: u32 = 0xd3ac;

/// Whether the window begins with one of them.
pub(super) fn is_reserved(chip: Chip, window: &[u8; MAX_INSTRUCTION_BYTES]) -> bool {
    let dword = |index: usize| {
        let bytes = &window[4 * index..][..4];
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    };
    let (first, second) = (dword(0), dword(1));
    if chip.is_gfx9() {
        let reserved = |first, second| vop3(first, second) || f8f6f4(first, second);
        sdwa(first, second)
            || buffer(first, second)
            || reserved(first, second)
            || first >> 16 == SCALES && reserved(dword(2), dword(3))
    } else {
        chip.has_split_barriers() && barrier(first)
    }
}

/// `width` bits of `word` from bit `low`.
fn bits(word: u32, low: u32, width: u32) -> u32 {
    (word >> low) & ((1 << width) - 1)
}

/// Sub-dword selectors end at 6, the treatment of the unused bits at 2; a comparison has a scalar
/// destination in the place of both.
fn sdwa(first: u32, second: u32) -> bool {
    let is_sdwa = first >> 31 == 0 && bits(first, 0, 9) == SDWA;
    let is_compare = first >> 25 == 0x3e;
    let destination = bits(second, 8, 3) == 7 || bits(second, 11, 2) == 3;
    is_sdwa && (destination && !is_compare || bits(second, 16, 3) == 7 || bits(second, 24, 3) == 7)
}

/// No source of VOP3 is a literal before gfx10, and no scalar destination ever.
fn vop3(first: u32, second: u32) -> bool {
    let is_compare = bits(first, 16, 10) < 0x100;
    first >> 26 == 0x34
        && ([0, 9, 18]
            .iter()
            .any(|&low| bits(second, low, 9) == LITERAL)
            || is_compare && bits(first, 0, 8) == LITERAL)
}

/// The scalar offset of MUBUF and MTBUF is no literal.
fn buffer(first: u32, second: u32) -> bool {
    matches!(first >> 26, 0x38 | 0x3a) && bits(second, 24, 8) == LITERAL
}

/// The matrix instructions over fp8, fp6 and fp4 (16x16x128 and 32x32x64) take A and B from vector
/// registers, in formats that end at 4.
fn f8f6f4(first: u32, second: u32) -> bool {
    let is_vector = |low| bits(second, low, 9) >= 0x100;
    let is_format = |number| number <= 4;
    matches!(first >> 16, 0xd3ad | 0xd3ae)
        && !(is_vector(0)
            && is_vector(9)
            && is_format(bits(first, 8, 3))
            && is_format(second >> 29))
}

/// The scalar operations 0x4e to 0x52 name a barrier, which no literal does.
fn barrier(first: u32) -> bool {
    first >> 23 == 0x17d
        && (0x4e..=0x52).contains(&bits(first, 8, 8))
        && bits(first, 0, 8) == LITERAL
}

#[cfg(test)]
mod tests {
    use crate::disasm::Disassembler;

    fn decode(chip: &str, dwords: &[u32]) -> Option<(usize, String)> {
        let bytes: Vec<u8> = dwords
            .iter()
            .flat_map(|dword| dword.to_le_bytes())
            .collect();
        Disassembler::new(chip).unwrap().decode(&bytes, 0)
    }

    // Each of them ends a process that hands it to LLVM 22.
    #[test]
    fn reserved_encodings_are_no_instructions() {
        let cases: [(&str, &[u32]); 8] = [
            ("gfx950", &[0x0b26_e0f9, 0xe157_b901]),
            ("gfx942", &[0xd1c7_84ff, 0xad55_faff]),
            ("gfx942", &[0xd071_e9ff, 0x40bf_a166]),
            ("gfx942", &[0xe00e_3b7d, 0xff0d_3ee9]),
            ("gfx950", &[0xd3ad_8347, 0xd9dd_e98a]),
            (
                "gfx950",
                &[0xd3ac_4df8, 0x6522_a83b, 0xd3ae_0bf3, 0x5bfe_8b43],
            ),
            ("gfx1201", &[0xbec6_4fff, 0x0c04_3d2d]),
            ("gfx1200", &[0xbeff_4eff, 0x0000_0001]),
        ];
        for (chip, dwords) in cases {
            assert_eq!(decode(chip, dwords), None, "{chip} {dwords:x?}");
        }
    }

    #[test]
    fn what_stands_behind_an_instruction_does_not_matter() {
        let [scaled, unscaled] = [0xd3ac_0000, 0xbf80_0000];
        let reserved = [0xd3ad_8347, 0xd9dd_e98a];
        let decoded = decode("gfx950", &[unscaled, 0xbf80_0000, reserved[0], reserved[1]]);
        assert_eq!(decoded, Some((4, "s_nop 0".to_owned())));
        let decoded = decode("gfx950", &[scaled, 0x0002_3318, 0xd3ad_0800, 0x0452_1904]).unwrap();
        assert_eq!(decoded.0, 16);
        assert!(
            decoded
                .1
                .starts_with("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19]")
        );
    }
}
