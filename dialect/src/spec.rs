//! The spec: what is multiplied, on which chip, and as much of the how as the user cares to say.
//!
//! A spec is read from TOML, from any format of serde, or made by the builder
//! [`Gemm`](crate::builder::Gemm); all three go through [`Spec::from_toml`], so the same rules
//! hold and the same errors come out.
//!
//! ```
//! use tilefold_dialect::spec::Spec;
//!
//! let spec = Spec::from_toml(
//!     "gemm.toml",
//!     r#"
//!     arch = "gfx1201"
//!
//!     [gemm]
//!     m = 4096
//!     n = 4096
//!     k = "any"
//!     a = { type = "f16", layout = "row" }
//!     b = { type = "f16", layout = "col" }
//!     c = { type = "f16", layout = "col" }
//!     accumulate = "f16"
//!
//!     [tile]
//!     block = [128, 96, 64]
//!     "#,
//! )?;
//! assert_eq!(spec.plan.tile.block.whole(), Some([128, 96, 64]));
//! assert_eq!(spec.plan.atoms.mma, None);
//!
//! let error = Spec::from_toml("gemm.toml", "arch = 'gfx1201'\n[gemm]\nmm = 4").unwrap_err();
//! assert_eq!(error.field(), "gemm.mm");
//! # Ok::<(), tilefold_dialect::spec::SpecError>(())
//! ```

mod check;
mod error;
mod fields;
mod limits;
mod read;

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use toml::de::DeTable;

use crate::plan::PartialPlan;
use crate::problem::Problem;
pub use error::{SpecError, SpecSource};
pub use limits::MAX_BYTES;
use read::Table;

/// A multiplication, the chip it runs on, and the choices already made.
///
/// Two specs are equal if they say the same, whatever text they were read from.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Name of the chip, one that has a machine record.
    pub arch: String,
    /// What is multiplied.
    pub problem: Problem,
    /// The choices already made.
    pub plan: PartialPlan,
    source: SpecSource,
}

/// The shape of a spec in TOML, JSON and so on.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Tilefold spec", deny_unknown_fields)]
struct Document<'a> {
    /// Name of the chip, such as `gfx1201`.
    arch: &'a str,
    /// What is multiplied.
    gemm: &'a Problem,
    #[serde(flatten)]
    plan: &'a PartialPlan,
}

impl Spec {
    /// A spec of the given parts, checked as if it were read from the TOML that says the same.
    ///
    /// # Errors
    /// [`SpecError`] where the parts break a rule.
    pub fn new(arch: &str, problem: Problem, plan: PartialPlan) -> Result<Self, SpecError> {
        Self::from_toml(
            "spec",
            document_text(&Document {
                arch,
                gemm: &problem,
                plan: &plan,
            }),
        )
    }

    /// Reads a spec. `name` is what errors call the text, as a rule its file name.
    ///
    /// Whatever the bytes, this answers in time proportional to the limits, without a panic.
    ///
    /// # Errors
    /// [`SpecError`], which points at the place in the text: not UTF-8, longer than [`MAX_BYTES`]
    /// or nested too deep, not TOML, a key that is unknown, missing or given twice, a value of the
    /// wrong type or out of range, an unknown chip, or fields that contradict one another.
    pub fn from_toml(name: &str, text: impl AsRef<[u8]>) -> Result<Self, SpecError> {
        let text = limits::check(name, text.as_ref())?;
        let document = DeTable::parse(text).map_err(|error| syntax_error(name, text, &error))?;
        let source = SpecSource::parsed(name, text, document.get_ref());
        let root = Table::root(&source, document.get_ref(), &fields::TOP)?;
        let spec = Self {
            arch: fields::arch(&root)?,
            problem: fields::problem(&root)?,
            plan: fields::plan(&root)?,
            source: source.clone(),
        };
        check::check(&spec)?;
        Ok(spec)
    }

    /// Reads the spec in a file; of a file that is too long only the beginning is read.
    ///
    /// # Errors
    /// [`SpecError`] where the file cannot be read, and as [`Spec::from_toml`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SpecError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let mut text = Vec::new();
        let enough = MAX_BYTES as u64 + 1;
        File::open(path)
            .and_then(|file| file.take(enough).read_to_end(&mut text))
            .map_err(|error| {
                SpecError::at(
                    &SpecSource::plain(&name, ""),
                    "spec",
                    format!("cannot be read: {error}"),
                    "name a spec file; `specs/gemm.toml` is one to start from",
                )
            })?;
        Self::from_toml(&name, text)
    }

    /// The spec as TOML, in an order of its own and without comments: reading it back gives an
    /// equal spec.
    pub fn to_toml(&self) -> String {
        document_text(&self.document())
    }

    /// JSON schema of specs, for editors.
    pub fn json_schema() -> Schema {
        schemars::schema_for!(Document<'_>)
    }

    /// The text that the spec was read from, for [`SpecError::at`].
    pub fn source(&self) -> &SpecSource {
        &self.source
    }

    /// An error about one of this spec's fields: see [`SpecError::at`].
    pub fn error(
        &self,
        field: &str,
        rule: impl Into<String>,
        help: impl Into<String>,
    ) -> SpecError {
        SpecError::at(&self.source, field, rule, help)
    }

    fn document(&self) -> Document<'_> {
        Document {
            arch: &self.arch,
            gemm: &self.problem,
            plan: &self.plan,
        }
    }
}

pub(crate) fn document_text(document: &impl Serialize) -> String {
    toml::to_string(document).expect("a spec has only strings, integers, booleans and tables")
}

fn syntax_error(name: &str, text: &str, error: &toml::de::Error) -> SpecError {
    let span = error.span().unwrap_or(0..0);
    let place = text.get(span.clone()).unwrap_or_default();
    let (rule, help) = if error.message().contains("duplicate key") {
        (
            format!("`{}` is given twice", read::shortened(place)),
            "keep one of them",
        )
    } else {
        let help = "a spec is TOML: tables in brackets, texts between quotes, as in \
                    `arch = \"gfx1201\"`";
        (error.message().replace('\n', ", "), help)
    };
    SpecError::within(&SpecSource::plain(name, text), "spec", span, rule, help)
}

impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        (&self.arch, &self.problem, &self.plan) == (&other.arch, &other.problem, &other.plan)
    }
}

impl Eq for Spec {}

impl Serialize for Spec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = toml::Table::deserialize(deserializer)?;
        let text = toml::to_string(&document).map_err(serde::de::Error::custom)?;
        Self::from_toml("spec", text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Spec {
    fn schema_name() -> Cow<'static, str> {
        "Spec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Document::json_schema(generator)
    }
}
