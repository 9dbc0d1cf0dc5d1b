//! Code objects: the ELF file, its kernel descriptors and its image in memory.
//!
//! Source of the descriptor's layout: LLVM's AMDGPU usage guide, "Kernel Descriptor".

use object::elf::FileHeader64;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{
    LittleEndian, Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget,
};

use crate::chip::{Chip, Isa};
use crate::error::Error;
use crate::lines::{Debug, Lines};
use crate::metadata::{self, KernelInfo};

/// A 64-bit address of a symbol, and one of the image: LLVM's AMDGPU usage guide, "Relocation
/// Records".
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_RELATIVE64: u32 = 13;
/// Type of the AMDGPU metadata note.
const NT_AMDGPU_METADATA: u32 = 32;
/// Bytes of a kernel descriptor.
const DESCRIPTOR_BYTES: usize = 64;
/// Bytes before the code that counts on preloaded arguments.
const PRELOAD_PROLOGUE: u64 = 256;
/// Largest image that is loaded.
const MAX_IMAGE: u64 = 1 << 28;

/// A code object, ready to be launched from.
#[derive(Debug, Clone)]
pub struct CodeObject {
    chip: Chip,
    kernels: Vec<Kernel>,
    image: Vec<u8>,
    code: std::ops::Range<u64>,
    debug: Debug,
    /// Where the image holds addresses that its own is to be added to, and these.
    relocations: Vec<(usize, u64)>,
}

/// A kernel of a code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) info: KernelInfo,
    pub(crate) descriptor: Descriptor,
    /// Address of the first instruction in the image.
    pub(crate) entry: u64,
}

/// The fields of a kernel descriptor that decide a wave's initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) lds_bytes: u32,
    pub(crate) scratch_bytes: u32,
    pub(crate) kernarg_bytes: u32,
    entry_offset: i64,
    rsrc1: u32,
    rsrc2: u32,
    rsrc3: u32,
    properties: u16,
    preload: u16,
}

impl Descriptor {
    fn parse(bytes: &[u8; DESCRIPTOR_BYTES]) -> Descriptor {
        let u32_at = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Descriptor {
            lds_bytes: u32_at(0),
            scratch_bytes: u32_at(4),
            kernarg_bytes: u32_at(8),
            entry_offset: i64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[16 + i])),
            rsrc3: u32_at(44),
            rsrc1: u32_at(48),
            rsrc2: u32_at(52),
            properties: u16_at(56),
            preload: u16_at(58),
        }
    }

    /// Two bits: keep denormal f32 inputs, keep denormal f32 results.
    pub(crate) fn denormals_f32(self) -> u32 {
        self.rsrc1 >> 16 & 3
    }

    /// The same for f16 and f64.
    pub(crate) fn denormals_f16_f64(self) -> u32 {
        self.rsrc1 >> 18 & 3
    }

    /// Rounding mode of f32 in bits 0 and 1, of f16 and f64 in bits 2 and 3; 0 is to nearest even.
    pub(crate) fn rounding(self) -> u32 {
        self.rsrc1 >> 12 & 15
    }

    /// Whether a NaN is clamped to zero. Always on where the bit has another meaning.
    pub(crate) fn clamp_nan(self) -> bool {
        self.rsrc1 >> 21 & 1 == 1
    }

    /// Whether the wave runs in IEEE mode. RDNA 4 has no such mode, the bit another meaning.
    pub(crate) fn ieee(self) -> bool {
        self.rsrc1 >> 23 & 1 == 1
    }

    /// Whether f16 results past the largest number become it instead of infinity.
    pub(crate) fn f16_saturates(self) -> bool {
        self.rsrc1 >> 26 & 1 == 1
    }

    /// Vector registers of a wave, those of both kinds on gfx90a and later: in blocks of eight,
    /// of four in waves of 64 on RDNA, which may share more between the halves.
    pub(crate) fn vgprs(self, isa: Isa, wave: u32) -> u32 {
        let blocks = (self.rsrc1 & 63) + 1;
        match (isa, wave) {
            (Isa::Gfx11, 64) => 4 * blocks + 8 * (self.rsrc3 & 15),
            (Isa::Gfx12, 64) => 4 * blocks,
            _ => 8 * blocks,
        }
    }

    /// Scalar registers of a wave on gfx9, in blocks of sixteen; VCC and the like are among them.
    /// RDNA gives every wave all there are.
    pub(crate) fn sgprs(self) -> u32 {
        8 * ((self.rsrc1 >> 6 & 15) + 1).next_multiple_of(2)
    }

    /// The place of `a0` among them, which is the count of those named `v`.
    pub(crate) fn accum_offset(self) -> u32 {
        4 * ((self.rsrc3 & 63) + 1)
    }

    /// Words of the kernarg segment that are put in scalar registers, and the first of them.
    pub(crate) fn preload(self) -> (u32, u32) {
        let preload = u32::from(self.preload);
        (preload & 127, preload >> 7)
    }

    /// Whether a workgroup runs on two compute units (WGP mode). Reserved, and zero, before RDNA.
    pub(crate) fn across_units(self) -> bool {
        self.rsrc1 >> 29 & 1 == 1
    }

    pub(crate) fn user_sgprs(self) -> u32 {
        self.rsrc2 >> 1 & 31
    }

    pub(crate) fn workgroup_id(self, axis: u32) -> bool {
        self.rsrc2 >> (7 + axis) & 1 == 1
    }

    pub(crate) fn workgroup_info(self) -> bool {
        self.rsrc2 >> 10 & 1 == 1
    }

    pub(crate) fn private_segment(self) -> bool {
        self.rsrc2 & 1 == 1
    }

    /// Whether the kernel may need more stack than it says: it recurses, calls what is not known,
    /// or allocates by the data.
    pub(crate) fn dynamic_stack(self) -> bool {
        self.property(11)
    }

    pub(crate) fn property(self, bit: u32) -> bool {
        self.properties >> bit & 1 == 1
    }
}

impl CodeObject {
    /// Reads an ELF file as clang and lld write it for the HSA loader.
    ///
    /// # Errors
    /// [`Error::Format`] for anything that is no such file, [`Error::Chip`] for a chip that is not
    /// simulated.
    pub fn load(bytes: &[u8]) -> Result<CodeObject, Error> {
        let format = |error: object::Error| Error::Format(error.to_string());
        let elf: ElfFile64<'_, LittleEndian> = ElfFile64::parse(bytes).map_err(format)?;
        let header = elf.elf_header();
        if header.e_machine(LittleEndian) != object::elf::EM_AMDGPU {
            return Err(Error::Format("the ELF machine is not AMDGPU".into()));
        }
        let metadata = note(header, bytes)?;
        // The target is `amdgcn-amd-amdhsa--gfx1100` or, of newer compilers,
        // `amdgpu11.00-amd-amdhsa-unknown-gfx1100`, features after a colon.
        let name = metadata.target.split(':').next().unwrap_or_default();
        let chip = Chip::find(name.rsplit('-').next().unwrap_or_default())?;
        let (image, code) = load_image(header, bytes)?;
        let relocations = relocations(&elf, image.len())?;
        let mut kernels = Vec::new();
        for info in metadata.kernels {
            let symbol = elf
                .dynamic_symbols()
                .chain(elf.symbols())
                .find(|symbol| symbol.name() == Ok(info.symbol.as_str()))
                .ok_or_else(|| Error::Format(format!("no symbol `{}`", info.symbol)))?;
            let at = symbol.address();
            let descriptor = usize::try_from(at)
                .ok()
                .and_then(|at| image.get(at..at.checked_add(DESCRIPTOR_BYTES)?))
                .and_then(|bytes| bytes.try_into().ok())
                .map(Descriptor::parse)
                .ok_or_else(|| Error::Format(format!("`{}` lies outside", info.symbol)))?;
            let mut entry = at.wrapping_add_signed(descriptor.entry_offset);
            if descriptor.preload().0 > 0 {
                // Firmware that preloads skips the loads for firmware that does not.
                entry = entry.wrapping_add(PRELOAD_PROLOGUE);
            }
            if !code.contains(&entry) {
                return Err(Error::Format(format!("`{}` enters no code", info.name)));
            }
            kernels.push(Kernel {
                info,
                descriptor,
                entry,
            });
        }
        Ok(CodeObject {
            chip,
            kernels,
            image,
            code,
            debug: Debug::new(&elf),
            relocations,
        })
    }

    /// The chip it was compiled for.
    pub fn chip(&self) -> &'static str {
        self.chip.name()
    }

    /// What the metadata says of every kernel.
    pub fn kernels(&self) -> impl Iterator<Item = &KernelInfo> {
        self.kernels.iter().map(|kernel| &kernel.info)
    }

    pub(crate) fn target(&self) -> Chip {
        self.chip
    }

    /// The loaded segments as they are at an address; addresses in the ELF file are offsets in them.
    pub(crate) fn image_at(&self, base: u64) -> Vec<u8> {
        let mut image = self.image.clone();
        for &(at, addend) in &self.relocations {
            image[at..at + 8].copy_from_slice(&base.wrapping_add(addend).to_le_bytes());
        }
        image
    }

    /// The line tables, if it was compiled with them.
    pub(crate) fn lines(&self) -> Option<Lines<'_>> {
        self.debug.lines()
    }

    /// Addresses of the executable segment.
    pub(crate) fn code_range(&self) -> (u64, u64) {
        (self.code.start, self.code.end)
    }

    /// The bytes from `address` to the end of the executable segment.
    pub(crate) fn code_from(&self, address: u64) -> &[u8] {
        // `load` checked that the range lies in the image.
        &self.image[address as usize..self.code.end as usize]
    }

    pub(crate) fn kernel(&self, name: &str) -> Result<&Kernel, Error> {
        self.kernels
            .iter()
            .find(|kernel| kernel.info.name == name)
            .ok_or_else(|| Error::Kernel {
                name: name.to_owned(),
                known: self
                    .kernels()
                    .map(|kernel| kernel.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

fn note(header: &FileHeader64<LittleEndian>, bytes: &[u8]) -> Result<metadata::Metadata, Error> {
    let format = |error: object::Error| Error::Format(error.to_string());
    for segment in header
        .program_headers(LittleEndian, bytes)
        .map_err(format)?
    {
        let Some(mut notes) = segment.notes(LittleEndian, bytes).map_err(format)? else {
            continue;
        };
        while let Some(note) = notes.next().map_err(format)? {
            if note.n_type(LittleEndian) == NT_AMDGPU_METADATA && note.name() == b"AMDGPU" {
                return metadata::parse(note.desc());
            }
        }
    }
    Err(Error::Format("no AMDGPU metadata note".into()))
}

/// The dynamic relocations: offsets of 64-bit words and the addresses within the image they name.
fn relocations(elf: &ElfFile64<'_, LittleEndian>, len: usize) -> Result<Vec<(usize, u64)>, Error> {
    let Some(entries) = elf.dynamic_relocations() else {
        return Ok(Vec::new());
    };
    let symbols = elf.dynamic_symbol_table();
    entries
        .map(|(at, relocation)| {
            let refuse = |what: &str| Error::Format(format!("relocation at {at:#x}: {what}"));
            let addend = relocation.addend() as u64;
            let target = match (relocation.flags(), relocation.target()) {
                (
                    RelocationFlags::Elf {
                        r_type: R_AMDGPU_RELATIVE64,
                    },
                    _,
                ) => addend,
                (
                    RelocationFlags::Elf {
                        r_type: R_AMDGPU_ABS64,
                    },
                    RelocationTarget::Symbol(index),
                ) => symbols
                    .as_ref()
                    .and_then(|symbols| symbols.symbol_by_index(index).ok())
                    .filter(|symbol| !symbol.is_undefined())
                    .ok_or_else(|| refuse("its symbol is not defined here"))?
                    .address()
                    .wrapping_add(addend),
                _ => return Err(refuse("of another kind than 64-bit addresses")),
            };
            let at = usize::try_from(at)
                .ok()
                .filter(|at| at.checked_add(8).is_some_and(|end| end <= len))
                .ok_or_else(|| refuse("outside the image"))?;
            Ok((at, target))
        })
        .collect()
}

/// The memory image from address 0, and the addresses of its executable segment.
fn load_image(
    header: &FileHeader64<LittleEndian>,
    bytes: &[u8],
) -> Result<(Vec<u8>, std::ops::Range<u64>), Error> {
    let format = |error: object::Error| Error::Format(error.to_string());
    let mut image = Vec::new();
    let mut code = 0..0;
    for segment in header
        .program_headers(LittleEndian, bytes)
        .map_err(format)?
    {
        if segment.p_type(LittleEndian) != object::elf::PT_LOAD {
            continue;
        }
        let start = segment.p_vaddr(LittleEndian);
        let end = start
            .checked_add(segment.p_memsz(LittleEndian))
            .filter(|&end| end <= MAX_IMAGE)
            .ok_or_else(|| Error::Format("a segment is larger than any kernel".into()))?;
        let data = segment
            .data(LittleEndian, bytes)
            .map_err(|()| Error::Format("a segment lies outside the file".into()))?;
        if data.len() as u64 > end - start {
            return Err(Error::Format(
                "a segment is larger in file than in memory".into(),
            ));
        }
        if image.len() < end as usize {
            image.resize(end as usize, 0);
        }
        image[start as usize..start as usize + data.len()].copy_from_slice(data);
        if segment.p_flags(LittleEndian) & object::elf::PF_X != 0 {
            code = start..end;
        }
    }
    Ok((image, code))
}
