//! A name, and what is known of the number it stands for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{LayoutError, Result, Rule};
use crate::recast::gcd;

/// A name for a number that is not known yet, and what is known of it.
///
/// At least one number fits what is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "SymbolText", into = "SymbolText")]
pub struct Symbol {
    name: Arc<str>,
    multiple: i64,
    min: i64,
    max: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct SymbolText {
    name: String,
    multiple: i64,
    min: i64,
    max: Option<i64>,
}

impl Symbol {
    /// Any number from 1.
    ///
    /// # Errors
    /// [`Rule::SymbolName`] unless the name is a letter and then letters, digits and `_`.
    pub fn new(name: &str) -> Result<Symbol> {
        let mut letters = name.chars();
        let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
        if !first || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let text = name.escape_debug();
            return Err(LayoutError::unary("symbol", &text, Rule::SymbolName));
        }
        Ok(Symbol {
            name: name.into(),
            multiple: 1,
            min: 1,
            max: None,
        })
    }

    /// A multiple of `n` as well as of what it already is.
    ///
    /// # Errors
    /// [`Rule::PositiveFactor`]; [`Rule::SymbolRange`] where no number of its range is such a
    /// multiple.
    pub fn multiple_of(self, n: i64) -> Result<Symbol> {
        if n < 1 {
            let rule = Rule::PositiveFactor { factor: n };
            return Err(LayoutError::unary("symbol", &self.name, rule));
        }
        let multiple = n.checked_mul(self.multiple / gcd(self.multiple, n));
        Symbol {
            multiple: multiple.unwrap_or(0),
            ..self
        }
        .inhabited()
    }

    /// At least `min` and at most `max`, and never below 1.
    ///
    /// # Errors
    /// [`Rule::SymbolRange`] where no number of this range is a multiple of what it must be.
    pub fn within(self, min: i64, max: Option<i64>) -> Result<Symbol> {
        let min = min.max(1);
        Symbol { min, max, ..self }.inhabited()
    }

    /// Itself if some number fits; a multiple of 0 stands for one past 64 bits.
    fn inhabited(self) -> Result<Symbol> {
        let (multiple, min, max) = (self.multiple, self.min, self.max);
        match self.least() {
            Some(least) if max.is_none_or(|max| least <= max) => Ok(self),
            _ => {
                let rule = Rule::SymbolRange { multiple, min, max };
                Err(LayoutError::unary("symbol", &self.name, rule))
            }
        }
    }

    /// What is known here and there of one name.
    pub(crate) fn merged(&self, other: &Symbol) -> Result<Symbol> {
        let max = match (self.max, other.max) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let min = self.min.max(other.min);
        let either = self.clone().multiple_of(other.multiple)?;
        either.within(min, max)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is a multiple of.
    pub fn multiple(&self) -> i64 {
        self.multiple
    }

    /// The least number it may be.
    pub fn min(&self) -> i64 {
        self.least().expect("some number fits, as was checked")
    }

    /// The greatest number it may be, where there is one.
    pub fn max(&self) -> Option<i64> {
        self.max.map(|max| max / self.multiple * self.multiple)
    }

    /// Whether it may be this number.
    pub fn takes(&self, value: i64) -> bool {
        let within = value >= self.min && self.max.is_none_or(|max| value <= max);
        within && value % self.multiple == 0
    }

    fn least(&self) -> Option<i64> {
        let over = self.min.checked_rem(self.multiple)?;
        let steps = self.min / self.multiple + i64::from(over != 0);
        steps.checked_mul(self.multiple)
    }
}

impl TryFrom<SymbolText> for Symbol {
    type Error = LayoutError;

    fn try_from(text: SymbolText) -> Result<Symbol> {
        let symbol = Symbol::new(&text.name)?.multiple_of(text.multiple)?;
        symbol.within(text.min, text.max)
    }
}

impl From<Symbol> for SymbolText {
    fn from(symbol: Symbol) -> SymbolText {
        SymbolText {
            name: symbol.name.to_string(),
            multiple: symbol.multiple,
            min: symbol.min,
            max: symbol.max,
        }
    }
}
