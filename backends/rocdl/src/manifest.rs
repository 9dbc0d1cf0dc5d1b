//! What a launcher must know of a kernel, as JSON beside its hsaco.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::compile::CodeObject;
use crate::kernel::KernelInfo;

/// The manifest of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The symbol of the kernel's function; that of its descriptor has `.kd` behind it.
    pub kernel: String,
    /// The chip.
    pub arch: String,
    /// The arguments in order, without the hidden ones that the runtime fills in.
    pub arguments: Vec<Argument>,
    /// Bytes of the argument segment, hidden arguments included.
    pub kernarg_bytes: u32,
    /// Lanes of a workgroup along x, y and z.
    pub block: [u32; 3],
    /// How many workgroups there are.
    pub grid: Grid,
    /// LDS bytes that the code declares.
    pub lds_bytes: u32,
    /// LDS bytes that the launch must add.
    pub dynamic_lds_bytes: u32,
    /// What the code relies on of its arguments without checking. Loads through buffer descriptors
    /// also rely on the hardware's range check, with the scalar offset counted, as AMD's ISA guides
    /// have it: a launcher that trusts LLVM's reading, by which it does not count, keeps memory
    /// behind A and B readable as far as whole tiles reach.
    pub requirements: Vec<Requirement>,
    /// The completed spec.
    pub spec: Value,
    /// What compiled it.
    pub compiler: String,
    /// SHA-256 of all that went into the code, in hexadecimal; see [`Manifest::is_of`].
    pub hash: String,
}

/// One argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// The caller's name for it.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: ArgumentType,
    /// Byte offset in the argument segment.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
}

/// Types of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentType {
    /// The address of memory on the device.
    Buffer,
    /// A signed 32-bit integer.
    I32,
    /// An unsigned 32-bit integer.
    U32,
    /// A signed 64-bit integer.
    I64,
    /// An unsigned 64-bit integer.
    U64,
    /// A 16-bit float.
    F16,
    /// A 16-bit brain float.
    Bf16,
    /// A 32-bit float.
    F32,
}

impl ArgumentType {
    /// Its size in bytes.
    pub fn size(self) -> u32 {
        match self {
            ArgumentType::F16 | ArgumentType::Bf16 => 2,
            ArgumentType::I32 | ArgumentType::U32 | ArgumentType::F32 => 4,
            ArgumentType::Buffer | ArgumentType::I64 | ArgumentType::U64 => 8,
        }
    }
}

/// How the grid follows from the problem: along each axis the product of the factors, 1 when there
/// are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Workgroups along x.
    pub x: Vec<Factor>,
    /// Workgroups along y.
    pub y: Vec<Factor>,
    /// Workgroups along z.
    pub z: Vec<Factor>,
}

/// One factor of a grid's extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// A number.
    Constant(u32),
    /// An extent of the problem divided by a number, rounded up: the tiles that cover it.
    Tiles(Extent, u32),
}

/// An extent of the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Rows of C.
    M,
    /// Columns of C.
    N,
    /// The extent that is summed over.
    K,
}

impl Grid {
    /// Workgroups along x, y and z for a problem.
    ///
    /// # Errors
    /// [`ManifestError::Grid`] when a factor divides by zero or a product exceeds `u32`.
    pub fn size(&self, m: u64, n: u64, k: u64) -> Result<[u32; 3], ManifestError> {
        let count = |factor: &Factor| match *factor {
            Factor::Constant(number) => Some(u64::from(number)),
            Factor::Tiles(extent, by) => {
                let extent = match extent {
                    Extent::M => m,
                    Extent::N => n,
                    Extent::K => k,
                };
                (by != 0).then(|| extent.div_ceil(u64::from(by)))
            }
        };
        let extent = |factors: &[Factor]| {
            let product = factors
                .iter()
                .try_fold(1_u64, |p, factor| p.checked_mul(count(factor)?));
            product.and_then(|product| u32::try_from(product).ok())
        };
        match (extent(&self.x), extent(&self.y), extent(&self.z)) {
            (Some(x), Some(y), Some(z)) => Ok([x, y, z]),
            _ => Err(ManifestError::Grid),
        }
    }
}

/// What an argument's value must be: a multiple, of bytes for a buffer's address, and at most so
/// much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The name of the argument.
    pub argument: String,
    /// At least 1.
    pub multiple_of: u64,
    /// The largest value, for integers. Of a leading dimension these are elements: with more of
    /// them a tile spans more memory than offsets within a tile reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
}

/// Why there is no manifest.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The text is no manifest.
    #[error("manifest: {0}")]
    Json(String),
    /// The names are more or fewer than the kernel's arguments.
    #[error("{named} arguments are named, the kernel has {found}")]
    ArgumentCount {
        /// Names given.
        named: usize,
        /// Arguments of the code object.
        found: usize,
    },
    /// The type does not fit what the code object says.
    #[error("argument `{name}` is given as {ty:?}, the code object has {size} bytes of {kind}")]
    ArgumentType {
        /// The argument's name.
        name: String,
        /// The type given.
        ty: ArgumentType,
        /// Its size in the code object.
        size: u32,
        /// Its kind there.
        kind: String,
    },
    /// Two arguments have one name, or one has none.
    #[error("argument name `{0}` is empty or used twice")]
    ArgumentName(String),
    /// A requirement names no argument, divides by zero, or leaves no value.
    #[error("requirement: `{argument}` a multiple of {multiple_of}{}", most(*.at_most))]
    Requirement {
        /// The name in the requirement.
        argument: String,
        /// Its divisor.
        multiple_of: u64,
        /// The largest value.
        at_most: Option<u64>,
    },
    /// The grid divides by zero, or is larger than a `u32` counts.
    #[error("the grid divides by zero or exceeds 2^32 - 1 workgroups along an axis")]
    Grid,
    /// An argument lies outside the argument segment.
    #[error("argument `{0}` lies outside the argument segment or over another argument")]
    ArgumentPlace(String),
}

impl Manifest {
    /// The manifest of a kernel: `arguments` are the caller's names and types in order, checked
    /// against the code object, which tells the offsets.
    ///
    /// # Errors
    /// [`ManifestError`] when the arguments, the requirements or the grid are wrong.
    pub fn new(
        kernel: &KernelInfo,
        arch: &str,
        code: &CodeObject,
        arguments: &[(&str, ArgumentType)],
        grid: Grid,
        requirements: Vec<Requirement>,
        spec: Value,
    ) -> Result<Manifest, ManifestError> {
        let found: Vec<_> = code
            .metadata
            .arguments
            .iter()
            .filter(|found| !found.is_hidden())
            .collect();
        if found.len() != arguments.len() {
            let (named, found) = (arguments.len(), found.len());
            return Err(ManifestError::ArgumentCount { named, found });
        }
        let mut listed = Vec::with_capacity(found.len());
        for (&(name, ty), found) in arguments.iter().zip(found) {
            let is_buffer = found.kind == "global_buffer";
            if found.size != ty.size() || is_buffer != (ty == ArgumentType::Buffer) {
                return Err(ManifestError::ArgumentType {
                    name: name.to_owned(),
                    ty,
                    size: found.size,
                    kind: found.kind.clone(),
                });
            }
            let name = name.to_owned();
            listed.push(Argument {
                name,
                ty,
                offset: found.offset,
                size: found.size,
            });
        }
        let compiler = compiler_version();
        let hash = hash(&code.hsaco, &spec, &compiler);
        let manifest = Manifest {
            kernel: kernel.name.clone(),
            arch: arch.to_owned(),
            arguments: listed,
            kernarg_bytes: code.metadata.kernarg_bytes,
            block: kernel.block,
            grid,
            lds_bytes: code.metadata.lds_bytes,
            dynamic_lds_bytes: kernel.dynamic_lds_bytes,
            requirements,
            spec,
            compiler,
            hash,
        };
        manifest.validate()?;
        Ok(manifest)
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// [`ManifestError::Json`] with line and column when the text is no manifest, another
    /// [`ManifestError`] when it contradicts itself.
    pub fn from_json(text: &str) -> Result<Manifest, ManifestError> {
        let manifest: Manifest =
            serde_json::from_str(text).map_err(|error| ManifestError::Json(error.to_string()))?;
        manifest.validate()?;
        Ok(manifest)
    }

    /// The manifest as JSON, with a line's end behind it.
    ///
    /// # Errors
    /// [`ManifestError::Json`] when the spec holds what JSON has not.
    pub fn to_json(&self) -> Result<String, ManifestError> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n")
            .map_err(|error| ManifestError::Json(error.to_string()))
    }

    /// Whether the manifest belongs to these bytes and is as it was written: the hash covers the
    /// hsaco, the spec and the compiler's version.
    pub fn is_of(&self, hsaco: &[u8]) -> bool {
        hash(hsaco, &self.spec, &self.compiler) == self.hash
    }

    fn validate(&self) -> Result<(), ManifestError> {
        let mut end = 0;
        for (index, argument) in self.arguments.iter().enumerate() {
            let name = &argument.name;
            if name.is_empty()
                || self.arguments[..index]
                    .iter()
                    .any(|other| other.name == *name)
            {
                return Err(ManifestError::ArgumentName(name.clone()));
            }
            let stop = argument.offset.checked_add(argument.size);
            let is_inside = stop.is_some_and(|stop| stop <= self.kernarg_bytes);
            if !is_inside || argument.offset < end || argument.size != argument.ty.size() {
                return Err(ManifestError::ArgumentPlace(name.clone()));
            }
            end = argument.offset + argument.size;
        }
        for Requirement {
            argument,
            multiple_of,
            at_most,
        } in &self.requirements
        {
            let known = self.arguments.iter().find(|it| it.name == *argument);
            // An address has no largest value, and where there is one it leaves some multiple.
            let leaves = known.is_some_and(|argument| {
                at_most
                    .is_none_or(|most| argument.ty != ArgumentType::Buffer && most >= *multiple_of)
            });
            if !leaves || *multiple_of == 0 {
                return Err(ManifestError::Requirement {
                    argument: argument.clone(),
                    multiple_of: *multiple_of,
                    at_most: *at_most,
                });
            }
        }
        self.grid.size(1, 1, 1).map(|_| ())
    }
}

/// The largest value of a requirement, as its error has it.
fn most(at_most: Option<u64>) -> String {
    at_most.map_or_else(String::new, |most| format!(" and at most {most}"))
}

/// The version of Tilefold and of the LLVM inside it.
pub fn compiler_version() -> String {
    format!(
        "tilefold {}, LLVM {}",
        env!("CARGO_PKG_VERSION"),
        tilefold_llvm::llvm_version()
    )
}

fn hash(hsaco: &[u8], spec: &Value, compiler: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [hsaco, spec.to_string().as_bytes(), compiler.as_bytes()] {
        // The lengths keep the parts apart.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
