//! Reading the parsed document: which keys there are, and of which type each value is.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use toml::de::{DeTable, DeValue};

use super::error::{SpecError, SpecSource, join};

/// A table of the document, with its path.
pub(super) struct Table<'a> {
    source: &'a SpecSource,
    path: String,
    entries: Option<&'a DeTable<'a>>,
}

/// A value of the document, with its path.
pub(super) struct Node<'a> {
    source: &'a SpecSource,
    pub(super) path: String,
    value: &'a DeValue<'a>,
}

/// A type that a field of the spec can have.
pub(super) trait Field: Sized {
    fn read(node: &Node<'_>) -> Result<Self, SpecError>;
}

impl<'a> Table<'a> {
    /// The whole document. All keys must be among those known.
    pub(super) fn root(
        source: &'a SpecSource,
        entries: &'a DeTable<'a>,
        known: &[&str],
    ) -> Result<Self, SpecError> {
        Self {
            source,
            path: String::new(),
            entries: Some(entries),
        }
        .knowing(known)
    }

    /// The table under a key, empty where it is not given. All keys must be among those known.
    pub(super) fn table(&self, key: &str, known: &[&str]) -> Result<Self, SpecError> {
        match self.node(key) {
            None => Ok(Self {
                source: self.source,
                path: join(&self.path, key),
                entries: None,
            }),
            Some(node) => node.table(known),
        }
    }

    /// The table under a key. All keys must be among those known.
    pub(super) fn required_table(&self, key: &str, known: &[&str]) -> Result<Self, SpecError> {
        self.node(key)
            .ok_or_else(|| self.missing(key, known))?
            .table(known)
    }

    /// The value under a key, if it is given.
    pub(super) fn get<T: Field>(&self, key: &str) -> Result<Option<T>, SpecError> {
        self.node(key).map(|node| T::read(&node)).transpose()
    }

    /// The value under a key that must be given.
    pub(super) fn required<T: Field>(&self, key: &str) -> Result<T, SpecError> {
        self.get(key)?.ok_or_else(|| self.missing(key, &[]))
    }

    fn node(&self, key: &str) -> Option<Node<'a>> {
        let value = self.entries?.get(key)?;
        Some(Node {
            source: self.source,
            path: join(&self.path, key),
            value: value.get_ref(),
        })
    }

    fn missing(&self, key: &str, inside: &[&str]) -> SpecError {
        let path = join(&self.path, key);
        let help = match key {
            "arch" => "name the chip, as in `arch = \"gfx1201\"`".to_owned(),
            "m" | "n" | "k" => format!("give a number, as in `{key} = 4096`, or `{key} = \"any\"`"),
            "a" | "b" | "c" => {
                format!(
                    "add `{key} = {{ type = \"f16\", layout = \"row\" }}` to `[{}]`",
                    self.path
                )
            }
            _ if inside.is_empty() => format!("add `{key}` to `{}`", self.path),
            _ => format!("add a table `[{path}]` with {}", listed(inside)),
        };
        SpecError::at(self.source, &path, "is required", help)
    }

    fn knowing(self, known: &[&str]) -> Result<Self, SpecError> {
        let unknown =
            |key: &&toml::Spanned<toml::de::DeString<'_>>| !known.contains(&key.get_ref().as_ref());
        let Some(key) = self
            .entries
            .and_then(|entries| entries.keys().find(unknown))
        else {
            return Ok(self);
        };
        let place = if self.path.is_empty() {
            "at the top".to_owned()
        } else {
            format!("in `{}`", self.path)
        };
        let name = shortened(key.get_ref());
        let mut help = format!("{place} there can be {}", listed(known));
        if let Some(near) = nearest(key.get_ref(), known) {
            help = format!("did you mean `{near}`? {help}");
        }
        Err(SpecError::within(
            self.source,
            &join(&self.path, &name),
            key.span(),
            format!("there is no such key {place}"),
            help,
        ))
    }
}

impl<'a> Node<'a> {
    /// An error about this field.
    pub(super) fn error(&self, rule: impl Into<String>, help: impl Into<String>) -> SpecError {
        SpecError::at(self.source, &self.path, rule, help)
    }

    /// An error about this field, a string, that points at the byte of that index in it.
    pub(super) fn error_in_string(
        &self,
        index: usize,
        rule: impl Into<String>,
        help: impl Into<String>,
    ) -> SpecError {
        let quoted = self.source.span(&self.path);
        let written = self
            .source
            .text()
            .get(quoted.start + 1..quoted.end.saturating_sub(1));
        // Escapes make the string shorter than its text; then the whole string has to do.
        let plain = written.is_some() && written == self.value.as_str();
        let at = quoted.start + 1 + index;
        let char_length = self
            .source
            .text()
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8);
        let span = if plain && at < quoted.end {
            at..at + char_length
        } else {
            quoted
        };
        SpecError::within(self.source, &self.path, span, rule, help)
    }

    /// The string, or an error that says what was expected instead.
    pub(super) fn string(&self, expected: &str, help: &str) -> Result<&'a str, SpecError> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type(expected, help)),
        }
    }

    /// The integer, which must lie in a range.
    pub(super) fn integer(&self, range: RangeInclusive<i64>, help: &str) -> Result<i64, SpecError> {
        let DeValue::Integer(digits) = self.value else {
            return Err(self.wrong_type("an integer", help));
        };
        // An integer beyond 64 bits is beyond every range.
        match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(self.error(
                format!(
                    "{} is not between {} and {}",
                    shortened(&digits.to_string()),
                    range.start(),
                    range.end()
                ),
                help,
            )),
        }
    }

    /// Integers of a fixed number, each of which must lie in a range.
    pub(super) fn integers<const N: usize>(
        &self,
        range: RangeInclusive<i64>,
        help: &str,
    ) -> Result<[i64; N], SpecError> {
        let mut values = [0; N];
        for (item, value) in self.items(N, help)?.iter().zip(&mut values) {
            *value = item.integer(range.clone(), help)?;
        }
        Ok(values)
    }

    /// The elements of an array, of which there must be so many.
    pub(super) fn items(&self, count: usize, help: &str) -> Result<Vec<Node<'a>>, SpecError> {
        let DeValue::Array(items) = self.value else {
            return Err(self.wrong_type(&format!("an array of {count} integers"), help));
        };
        if items.len() != count {
            return Err(self.error(format!("has {} elements, not {count}", items.len()), help));
        }
        let node = |(index, item): (usize, &'a toml::Spanned<DeValue<'a>>)| Node {
            source: self.source,
            path: format!("{}[{index}]", self.path),
            value: item.get_ref(),
        };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// Whether the value is a string.
    pub(super) fn is_string(&self) -> bool {
        self.value.is_str()
    }

    fn table(self, known: &[&str]) -> Result<Table<'a>, SpecError> {
        match self.value {
            DeValue::Table(entries) => Table {
                source: self.source,
                path: self.path,
                entries: Some(entries),
            }
            .knowing(known),
            _ => Err(self.wrong_type("a table", &format!("a table with {}", listed(known)))),
        }
    }

    fn wrong_type(&self, expected: &str, help: &str) -> SpecError {
        let found = match self.value.type_str() {
            kind @ ("integer" | "array") => format!("an {kind}"),
            kind => format!("a {kind}"),
        };
        self.error(format!("expected {expected}, found {found}"), help)
    }
}

impl Field for bool {
    fn read(node: &Node<'_>) -> Result<Self, SpecError> {
        match node.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(node.wrong_type("true or false", "write `true` or `false`, without quotes")),
        }
    }
}

/// `a`, `b` and `c`, each between backticks.
pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The known name that a misspelt one was probably meant to be: at most a third of its letters
/// differ. Of names equally near, the one that agrees longest from the start.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    const LONGEST: usize = 40;
    if name.chars().count() > LONGEST {
        return None;
    }
    let distance = |other: &str| edit_distance(&name.to_lowercase(), other);
    let common = |other: &str| {
        name.chars()
            .zip(other.chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let near = known
        .iter()
        .copied()
        .min_by_key(|other| (distance(other), Reverse(common(other))))?;
    (distance(near) <= near.chars().count().div_ceil(3)).then_some(near)
}

/// The name, cut off where it is too long to print.
pub(super) fn shortened(name: &str) -> String {
    const LONGEST: usize = 160;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// Fewest insertions, deletions, substitutions and swaps of neighbours that turn one word into
/// another (the distance of optimal string alignment).
fn edit_distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let same = from[i - 1] == to[j - 1];
                let mut best = table[i - 1][j - 1] + usize::from(!same);
                best = best.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                    best = best.min(table[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    table[from.len()][to.len()]
}
