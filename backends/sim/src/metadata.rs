//! The AMDGPU metadata note: msgpack that lists kernels and their arguments.
//!
//! Source of the keys: LLVM's AMDGPU usage guide, "Code Object V5 Metadata".

use rmpv::Value;

use crate::error::Error;

/// One argument in the kernarg segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgInfo {
    /// Name in the source, empty when the compiler left it out.
    pub name: String,
    /// Offset in the kernarg segment in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// What the loader passes, such as `by_value`, `global_buffer` or `hidden_block_count_x`.
    pub kind: String,
}

impl ArgInfo {
    /// Whether the loader fills it, not the caller.
    pub fn hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

/// What the note says of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name of the kernel.
    pub name: String,
    /// Name of its descriptor's symbol.
    pub symbol: String,
    /// Arguments in order, hidden ones at the end.
    pub args: Vec<ArgInfo>,
    /// Size of the kernarg segment in bytes.
    pub kernarg_size: u32,
    /// Static LDS in bytes.
    pub lds_bytes: u32,
    /// Scratch of one lane in bytes.
    pub scratch_bytes: u32,
    /// Lanes of a wave.
    pub wave: u32,
    /// Largest workgroup, in work-items.
    pub max_workgroup: u32,
}

/// Deepest nesting of a note; LLVM's has five levels.
const MAX_DEPTH: usize = 32;

pub(crate) struct Metadata {
    pub(crate) target: String,
    pub(crate) kernels: Vec<KernelInfo>,
}

pub(crate) fn parse(mut bytes: &[u8]) -> Result<Metadata, Error> {
    let root = rmpv::decode::read_value_with_max_depth(&mut bytes, MAX_DEPTH)
        .map_err(|error| Error::Format(format!("metadata note: {error}")))?;
    let target = text(&root, "amdhsa.target").unwrap_or_default();
    let kernels = list(&root, "amdhsa.kernels")
        .iter()
        .map(kernel)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| Error::Format("metadata note: a kernel lacks its name or symbol".into()))?;
    Ok(Metadata { target, kernels })
}

fn kernel(value: &Value) -> Option<KernelInfo> {
    Some(KernelInfo {
        name: text(value, ".name")?,
        symbol: text(value, ".symbol")?,
        args: list(value, ".args").iter().map(arg).collect(),
        kernarg_size: int(value, ".kernarg_segment_size"),
        lds_bytes: int(value, ".group_segment_fixed_size"),
        scratch_bytes: int(value, ".private_segment_fixed_size"),
        wave: int(value, ".wavefront_size"),
        max_workgroup: int(value, ".max_flat_workgroup_size"),
    })
}

fn arg(value: &Value) -> ArgInfo {
    ArgInfo {
        name: text(value, ".name").unwrap_or_default(),
        offset: int(value, ".offset"),
        size: int(value, ".size"),
        kind: text(value, ".value_kind").unwrap_or_default(),
    }
}

fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value
        .as_map()?
        .iter()
        .find(|(name, _)| name.as_str() == Some(key))
        .map(|(_, value)| value)
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(field(value, key)?.as_str()?.to_owned())
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    field(value, key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn int(value: &Value, key: &str) -> u32 {
    field(value, key)
        .and_then(Value::as_u64)
        .and_then(|int| u32::try_from(int).ok())
        .unwrap_or(0)
}
