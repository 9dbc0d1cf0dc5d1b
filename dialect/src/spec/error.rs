//! The one error of a spec: which field, which rule, where in the file, and what would do.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use thiserror::Error;
use toml::de::{DeTable, DeValue};

/// The text of a spec and where its fields stand in it. Cheap to clone.
#[derive(Clone, Default)]
pub struct SpecSource(Arc<Text>);

#[derive(Default)]
struct Text {
    name: String,
    text: String,
    /// Byte ranges of values, by field path such as `tile.block` or `tile.block[0]`.
    spans: BTreeMap<String, Range<usize>>,
}

/// A spec that is wrong: the field, the rule that it breaks, and what would do.
///
/// Rendered by miette it also shows the place in the spec file.
#[derive(Debug, Clone, Error, Diagnostic)]
#[error("{field}: {rule}")]
pub struct SpecError {
    field: String,
    rule: String,
    #[help]
    help: String,
    #[source_code]
    text: SpecSource,
    #[label]
    span: SourceSpan,
}

impl SpecError {
    /// An error about `field`, a path such as `atoms.mma` or `tile.block[0]`.
    ///
    /// It points at the field's value in the spec; where the field is not given, at the table that
    /// it would stand in, or else at the beginning. `rule` is a sentence without a full stop that
    /// says what is wrong; `help` says what would do.
    pub fn at(
        source: &SpecSource,
        field: &str,
        rule: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::within(source, field, source.span(field), rule, help)
    }

    /// An error about `field` that points at a given range of the text.
    pub(super) fn within(
        source: &SpecSource,
        field: &str,
        span: Range<usize>,
        rule: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            field: field.to_owned(),
            rule: rule.into(),
            help: help.into(),
            text: source.clone(),
            span: span.into(),
        }
    }

    /// Path of the field at fault; `spec` where the whole file is.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The rule that the field breaks.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// What would do.
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Byte range in the text of the spec that the error points at.
    pub fn span(&self) -> Range<usize> {
        self.span.offset()..self.span.offset() + self.span.len()
    }
}

impl SpecSource {
    /// A text whose fields are not known (yet).
    pub(super) fn plain(name: &str, text: &str) -> Self {
        Self(Arc::new(Text {
            name: name.to_owned(),
            text: text.to_owned(),
            ..Text::default()
        }))
    }

    /// A text and the document parsed from it.
    pub(super) fn parsed(name: &str, text: &str, document: &DeTable<'_>) -> Self {
        let mut spans = BTreeMap::new();
        collect_spans(document, "", &mut spans);
        Self(Arc::new(Text {
            name: name.to_owned(),
            text: text.to_owned(),
            spans,
        }))
    }

    /// Name of the spec: of its file, where it has one.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Where a field stands, or the nearest table around it.
    pub(super) fn span(&self, field: &str) -> Range<usize> {
        let mut path = field;
        loop {
            if let Some(span) = self.0.spans.get(path) {
                return span.clone();
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = &path[..end],
                None => return 0..0,
            }
        }
    }
}

/// The path of a key in the table of that path.
pub(super) fn join(table: &str, key: &str) -> String {
    if table.is_empty() {
        key.to_owned()
    } else {
        format!("{table}.{key}")
    }
}

/// Longest key and longest array whose places are remembered. Any key or array of a spec is
/// shorter; without a bound, long keys around long arrays would take memory without measure.
const MAX_KEY: usize = 32;
const MAX_ARRAY: usize = 8;

fn collect_spans(table: &DeTable<'_>, path: &str, spans: &mut BTreeMap<String, Range<usize>>) {
    for (key, value) in table
        .iter()
        .filter(|(key, _)| key.get_ref().len() <= MAX_KEY)
    {
        let path = join(path, key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => collect_spans(inner, &path, spans),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate().take(MAX_ARRAY) {
                    spans.insert(format!("{path}[{index}]"), item.span());
                }
            }
            _ => {}
        }
        spans.insert(path, value.span());
    }
}

impl fmt::Debug for SpecSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SpecSource").field(&self.0.name).finish()
    }
}

impl SourceCode for SpecSource {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self
            .0
            .text
            .read_span(span, context_lines_before, context_lines_after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.0.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line(),
            inner.column(),
            inner.line_count(),
        )))
    }
}
