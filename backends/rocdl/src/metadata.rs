//! What a code object's own metadata says of a kernel.
//!
//! The metadata is an ELF note of name `AMDGPU` and type 32 that holds a msgpack map; the keys are
//! those of LLVM's AMDGPU usage page, code object version 5.

use object::elf::FileHeader64;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind};
use rmpv::Value;

use crate::error::RocdlError;

/// The note's type.
const NT_AMDGPU_METADATA: u32 = 32;

/// A kernel as its code object describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelMetadata {
    /// The kernel's name.
    pub name: String,
    /// The symbol of its descriptor, which is what a launch names.
    pub descriptor: String,
    /// The arguments in order, hidden ones included.
    pub arguments: Vec<MetadataArgument>,
    /// Bytes of the argument segment.
    pub kernarg_bytes: u32,
    /// LDS bytes that the code declares.
    pub lds_bytes: u32,
    /// Scratch bytes of a lane.
    pub scratch_bytes: u32,
    /// Lanes of the largest workgroup it may be launched with.
    pub max_lanes: u32,
    /// Lanes of a wave.
    pub wave: u32,
    /// Scalar registers.
    pub sgprs: u32,
    /// Vector registers; accumulation registers included where they share a file.
    pub vgprs: u32,
    /// Accumulation registers.
    pub agprs: u32,
    /// Scalar registers spilled.
    pub sgpr_spills: u32,
    /// Vector registers spilled.
    pub vgpr_spills: u32,
    /// Whether a workgroup may spread over both CUs of a work-group processor.
    pub wgp_mode: bool,
}

/// One argument as the metadata lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataArgument {
    /// Byte offset in the argument segment.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// LLVM's word for what it is: `global_buffer`, `by_value`, `hidden_block_count_x` and so on.
    pub kind: String,
}

impl MetadataArgument {
    /// Whether the runtime fills it in, not the caller.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

fn bad(reason: impl ToString) -> RocdlError {
    RocdlError::CodeObject(reason.to_string())
}

/// The kernels of a code object, in the metadata's order.
///
/// # Errors
/// [`RocdlError::CodeObject`] when the bytes are no ELF file, or the note is missing or malformed.
pub fn read_metadata(hsaco: &[u8]) -> Result<Vec<KernelMetadata>, RocdlError> {
    let header = FileHeader64::<Endianness>::parse(hsaco).map_err(bad)?;
    let endian = header.endian().map_err(bad)?;
    for segment in header.program_headers(endian, hsaco).map_err(bad)? {
        let Some(mut notes) = segment.notes(endian, hsaco).map_err(bad)? else {
            continue;
        };
        while let Some(note) = notes.next().map_err(bad)? {
            if note.name() == b"AMDGPU" && note.n_type(endian) == NT_AMDGPU_METADATA {
                return read_note(note.desc());
            }
        }
    }
    Err(bad("no metadata note"))
}

fn read_note(mut desc: &[u8]) -> Result<Vec<KernelMetadata>, RocdlError> {
    let root = rmpv::decode::read_value(&mut desc).map_err(bad)?;
    let kernels = get(&root, "amdhsa.kernels").and_then(Value::as_array);
    kernels
        .ok_or_else(|| bad("metadata without amdhsa.kernels"))?
        .iter()
        .map(read_kernel)
        .collect()
}

fn read_kernel(kernel: &Value) -> Result<KernelMetadata, RocdlError> {
    let arguments = get(kernel, ".args")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    Ok(KernelMetadata {
        name: text(kernel, ".name")?,
        descriptor: text(kernel, ".symbol")?,
        arguments: arguments
            .iter()
            .map(read_argument)
            .collect::<Result<_, _>>()?,
        kernarg_bytes: number(kernel, ".kernarg_segment_size")?,
        lds_bytes: number(kernel, ".group_segment_fixed_size")?,
        scratch_bytes: number(kernel, ".private_segment_fixed_size")?,
        max_lanes: number(kernel, ".max_flat_workgroup_size")?,
        wave: number(kernel, ".wavefront_size")?,
        sgprs: number(kernel, ".sgpr_count")?,
        vgprs: number(kernel, ".vgpr_count")?,
        agprs: optional(kernel, ".agpr_count")?.unwrap_or(0),
        sgpr_spills: optional(kernel, ".sgpr_spill_count")?.unwrap_or(0),
        vgpr_spills: optional(kernel, ".vgpr_spill_count")?.unwrap_or(0),
        wgp_mode: optional(kernel, ".workgroup_processor_mode")?.unwrap_or(0) != 0,
    })
}

fn read_argument(argument: &Value) -> Result<MetadataArgument, RocdlError> {
    Ok(MetadataArgument {
        offset: number(argument, ".offset")?,
        size: number(argument, ".size")?,
        kind: text(argument, ".value_kind")?,
    })
}

fn get<'a>(map: &'a Value, key: &str) -> Option<&'a Value> {
    let entries = map.as_map()?;
    entries
        .iter()
        .find(|(name, _)| name.as_str() == Some(key))
        .map(|(_, value)| value)
}

fn text(map: &Value, key: &str) -> Result<String, RocdlError> {
    let value = get(map, key).and_then(Value::as_str);
    value
        .map(str::to_owned)
        .ok_or_else(|| bad(format!("metadata without {key}")))
}

fn number(map: &Value, key: &str) -> Result<u32, RocdlError> {
    optional(map, key)?.ok_or_else(|| bad(format!("metadata without {key}")))
}

/// `None` when the key is missing; what is there must be a `u32`.
fn optional(map: &Value, key: &str) -> Result<Option<u32>, RocdlError> {
    let Some(value) = get(map, key) else {
        return Ok(None);
    };
    // LLVM writes some flags as booleans, some as numbers.
    let number = value.as_u64().or_else(|| value.as_bool().map(u64::from));
    let number = number.and_then(|number| u32::try_from(number).ok());
    number
        .map(Some)
        .ok_or_else(|| bad(format!("metadata: {key} is {value}")))
}

/// The machine code of a function and the address of its first byte.
///
/// # Errors
/// [`RocdlError::CodeObject`] when there is no such function or its bytes are outside the file.
pub(crate) fn function_code<'a>(
    hsaco: &'a [u8],
    name: &str,
) -> Result<(u64, &'a [u8]), RocdlError> {
    let file = ElfFile64::<Endianness>::parse(hsaco).map_err(bad)?;
    let symbol = file
        .symbols()
        .find(|symbol| symbol.kind() == SymbolKind::Text && symbol.name() == Ok(name))
        .ok_or_else(|| bad(format!("no function `{name}`")))?;
    let section = symbol
        .section_index()
        .and_then(|index| file.section_by_index(index).ok())
        .ok_or_else(|| bad(format!("function `{name}` is in no section")))?;
    let code = section
        .data_range(symbol.address(), symbol.size())
        .map_err(bad)?
        .ok_or_else(|| bad(format!("function `{name}` is outside its section")))?;
    Ok((symbol.address(), code))
}
