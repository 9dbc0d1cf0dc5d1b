//! How it is multiplied, as far as the user says. What is left out is searched.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer, ser::SerializeSeq};
use tilefold_layout::{ComposedLayout, Layout};

/// Every choice that the user may make or leave open; one struct for each table of the spec.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct PartialPlan {
    /// How C is cut up.
    #[serde(skip_serializing_if = "is_default")]
    pub tile: PartialTile,
    /// The instructions that do the work.
    #[serde(skip_serializing_if = "is_default")]
    pub atoms: PartialAtoms,
    /// How the workgroup carries tiles from memory to LDS.
    #[serde(skip_serializing_if = "is_default")]
    pub copy: PartialCopies,
    /// How waves lie over the tile.
    #[serde(skip_serializing_if = "is_default")]
    pub mma: PartialMma,
    /// How tiles lie in LDS.
    #[serde(skip_serializing_if = "is_default")]
    pub lds: PartialLds,
    /// What happens when.
    #[serde(skip_serializing_if = "is_default")]
    pub schedule: PartialSchedule,
}

/// `[tile]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialTile {
    /// m, n and k of one workgroup, in elements.
    #[serde(skip_serializing_if = "Block::is_open")]
    pub block: Block,
    /// Waves along m and n.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves: Option<[i64; 2]>,
}

/// m, n and k of one workgroup, each as far as it is said; an entry that is open is written `_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block(pub [Option<i64>; 3]);

impl Block {
    /// What stands for an open entry.
    pub const OPEN: &'static str = "_";

    /// Whether nothing of it is said.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// All three, where all are said.
    pub fn whole(self) -> Option<[i64; 3]> {
        let [m, n, k] = self.0;
        Some([m?, n?, k?])
    }
}

impl From<[i64; 3]> for Block {
    fn from(block: [i64; 3]) -> Self {
        Self(block.map(Some))
    }
}

impl From<[Option<i64>; 3]> for Block {
    fn from(block: [Option<i64>; 3]) -> Self {
        Self(block)
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_seq(Some(self.0.len()))?;
        for entry in self.0 {
            match entry {
                Some(extent) => entries.serialize_element(&extent)?,
                None => entries.serialize_element(Self::OPEN)?,
            }
        }
        entries.end()
    }
}

impl JsonSchema for Block {
    fn schema_name() -> Cow<'static, str> {
        "Block".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "m, n and k of one workgroup, in elements; `_` leaves an entry open.",
            "type": "array",
            "items": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": Self::OPEN }] },
            "minItems": 3,
            "maxItems": 3,
            "examples": [[128, 96, 64], ["_", "_", 32]],
        })
    }
}

/// `[atoms]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialAtoms {
    /// Name of the matrix instruction, such as `wmma.f16.16x16x16.f16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mma: Option<String>,
    /// Name of the load from memory, such as `buffer_load_b128`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
}

/// `[copy.a]` and `[copy.b]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialCopies {
    /// The copy of A, over the block's (m,k).
    #[serde(skip_serializing_if = "is_default")]
    pub a: PartialCopy,
    /// The copy of B, over the block's (n,k).
    #[serde(skip_serializing_if = "is_default")]
    pub b: PartialCopy,
}

/// Who carries what of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialCopy {
    /// Thread layout over the tile: a coordinate's thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub threads: Option<Layout>,
    /// Value layout over the tile: the elements of one thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub values: Option<Layout>,
    /// The same elements in the order in which the thread stores them to LDS: `values`, unless
    /// said otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub stores: Option<Layout>,
}

/// `[mma]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialMma {
    /// Wave layout over (m,n): which wave stands where. `tile.waves` is its shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub waves: Option<Layout>,
}

/// `[lds]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialLds {
    /// Tile of A, over (m,k).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<LdsLayout>,
    /// Tile of B, over (n,k).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<LdsLayout>,
    /// Tiles of each operand held at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<i64>,
}

/// `[schedule]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartialSchedule {
    /// When the loads of the next tile are issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<Prefetch>,
    /// With interleaved prefetch: matrix instructions from one load of the next tile to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cadence: Option<i64>,
    /// With interleaved prefetch: what so many matrix instructions use is read from LDS during as
    /// many before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<i64>,
    /// With interleaved prefetch: the operand that is loaded first, and of which a fragment is
    /// kept while the other's run past it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
    /// With interleaved prefetch: when the next tiles go to LDS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// Rows of workgroups that run through all columns together, for reuse in caches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_rows: Option<i64>,
    /// Whether waves raise their priority around matrix instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<bool>,
}

/// How a tile lies in LDS. Offsets count elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LdsLayout {
    /// Rows of K, one after another.
    None,
    /// Rows of K with so many elements of padding behind each.
    Pad(i64),
    /// Fragments of a row permuted by XOR with the row.
    Xor,
    /// Any layout over the tile.
    Expr(ComposedLayout),
}

/// When the loads of the next tile are issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Prefetch {
    /// When the tile is needed.
    None,
    /// All at once, before the matrix instructions of the present tile.
    Burst,
    /// One by one, between the matrix instructions of the present tile.
    Interleaved,
}

/// The operand that goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lead {
    /// A: rows of accumulators one after another.
    A,
    /// B: columns of accumulators one after another.
    B,
}

/// When tiles that wait in registers go to LDS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Commit {
    /// After all matrix instructions of the present tiles.
    End,
    /// After the last read of the present tiles, before the matrix instructions that use it.
    Reads,
}

impl Lead {
    /// Either operand.
    pub const ALL: [Self; 2] = [Self::A, Self::B];

    /// The name used in specs.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

impl Commit {
    /// Every moment.
    pub const ALL: [Self; 2] = [Self::End, Self::Reads];

    /// The name used in specs.
    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Reads => "reads",
        }
    }
}

impl Prefetch {
    /// Every way to prefetch.
    pub const ALL: [Self; 3] = [Self::None, Self::Burst, Self::Interleaved];

    /// The name used in specs.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Burst => "burst",
            Self::Interleaved => "interleaved",
        }
    }
}

impl fmt::Display for Prefetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for LdsLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Pad(elements) => write!(f, "pad({elements})"),
            Self::Xor => f.write_str("xor"),
            Self::Expr(layout) => layout.fmt(f),
        }
    }
}

impl Serialize for LdsLayout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for LdsLayout {
    fn schema_name() -> Cow<'static, str> {
        "LdsLayout".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "`none`, `pad(n)`, `xor`, or a layout over the tile; in elements.",
            "type": "string",
            "examples": ["none", "pad(8)", "xor", "Sw<3,3,3> o 0 o (128,64):(64,1)"],
        })
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
