//! One extent: a number, or a name times a factor over a divisor.

use std::fmt;
use std::sync::Arc;

use winnow::combinator::{cut_err, opt, peek, preceded};
use winnow::token::take_while;
use winnow::{ModalResult, Parser};

use crate::error::Rule;
use crate::recast::gcd;
use crate::text::{self, expected};
use winnow::ascii::multispace0;

/// A name for a number that is not known yet, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    name: Arc<str>,
    multiple: i64,
    min: i64,
    max: Option<i64>,
}

impl Symbol {
    /// Any number from 1.
    pub fn new(name: &str) -> Symbol {
        Symbol {
            name: name.into(),
            multiple: 1,
            min: 1,
            max: None,
        }
    }

    /// A multiple of `n` as well as of what it already is; `n` below 1 counts as 1.
    pub fn multiple_of(mut self, n: i64) -> Symbol {
        let n = n.max(1);
        let common = gcd(self.multiple, n);
        self.multiple = (self.multiple / common).saturating_mul(n);
        self
    }

    /// At least `min` and at most `max`.
    pub fn within(mut self, min: i64, max: Option<i64>) -> Symbol {
        self.min = min.max(1);
        self.max = max;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The least value it may take.
    fn least(&self) -> i64 {
        let steps = self.min / self.multiple + i64::from(self.min % self.multiple != 0);
        steps.saturating_mul(self.multiple)
    }
}

/// An extent: known, or `times * symbol / over`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// A known number.
    Static(i64),
    /// A multiple of a share of a name; `over` divides `times` times every value of the name, and
    /// the two have no common factor.
    Symbolic {
        /// The name.
        symbol: Symbol,
        /// Factor.
        times: i64,
        /// Divisor.
        over: i64,
    },
}

impl From<Symbol> for Extent {
    fn from(symbol: Symbol) -> Self {
        Extent::Symbolic {
            symbol,
            times: 1,
            over: 1,
        }
    }
}

impl Extent {
    /// Whether every value it may take is a multiple of `n`.
    pub fn is_multiple_of(&self, n: i64) -> bool {
        match self {
            Extent::Static(value) => value.checked_rem(n) == Some(0),
            Extent::Symbolic {
                symbol,
                times,
                over,
            } => {
                let known = i128::from(symbol.multiple) * i128::from(*times);
                let needed = i128::from(n) * i128::from(*over);
                needed != 0 && known % needed == 0
            }
        }
    }

    /// The least value it may take.
    pub fn min(&self) -> i64 {
        match self {
            Extent::Static(value) => *value,
            Extent::Symbolic {
                symbol,
                times,
                over,
            } => scaled(symbol.least(), *times, *over),
        }
    }

    /// The greatest value it may take, if it is bounded.
    pub fn max(&self) -> Option<i64> {
        match self {
            Extent::Static(value) => Some(*value),
            Extent::Symbolic {
                symbol,
                times,
                over,
            } => Some(scaled(symbol.max?, *times, *over)),
        }
    }

    /// `self * factor`, or `None` where that leaves 64 bits.
    pub fn times(&self, factor: i64) -> Option<Extent> {
        if factor < 1 {
            return None;
        }
        match self {
            Extent::Static(value) => Some(Extent::Static(value.checked_mul(factor)?)),
            Extent::Symbolic {
                symbol,
                times,
                over,
            } => {
                let common = gcd(factor, *over);
                let times = times.checked_mul(factor / common)?;
                Some(Extent::Symbolic {
                    symbol: symbol.clone(),
                    times,
                    over: over / common,
                })
            }
        }
    }

    /// `self / divisor` where that is a whole number for every value.
    pub fn divided(&self, divisor: i64) -> Option<Extent> {
        if divisor < 1 || !self.is_multiple_of(divisor) {
            return None;
        }
        match self {
            Extent::Static(value) => Some(Extent::Static(value / divisor)),
            Extent::Symbolic {
                symbol,
                times,
                over,
            } => {
                let common = gcd(*times, divisor);
                let over = over.checked_mul(divisor / common)?;
                Some(Extent::Symbolic {
                    symbol: symbol.clone(),
                    times: times / common,
                    over,
                })
            }
        }
    }

    pub(crate) fn bind(&self, name: &str, value: i64) -> Result<Extent, Rule> {
        let Extent::Symbolic {
            symbol,
            times,
            over,
        } = self
        else {
            return Ok(self.clone());
        };
        if symbol.name() != name {
            return Ok(self.clone());
        }
        let fits = value >= symbol.min && symbol.max.is_none_or(|max| value <= max);
        if !fits || value % symbol.multiple != 0 {
            return Err(Rule::SymbolValue {
                symbol: name.into(),
                value,
            });
        }
        let scaled = i128::from(value) * i128::from(*times) / i128::from(*over);
        let value = i64::try_from(scaled);
        value
            .map(Extent::Static)
            .map_err(|_| Rule::Overflow { what: "the extent" })
    }

    pub(crate) fn needs_static(&self, why: &'static str) -> Rule {
        Rule::NeedsStatic {
            extent: self.to_string().into(),
            why,
        }
    }

    pub(crate) fn needs_multiple(&self, divisor: i64) -> Rule {
        Rule::NeedsMultiple {
            extent: self.to_string().into(),
            divisor,
        }
    }
}

fn scaled(value: i64, times: i64, over: i64) -> i64 {
    // A divisor of 0 is none that arithmetic here makes; it divides by nothing.
    let scaled = i128::from(value) * i128::from(times) / i128::from(over).max(1);
    i64::try_from(scaled).unwrap_or(i64::MAX)
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Static(value) => value.fmt(f),
            Extent::Symbolic {
                symbol,
                times,
                over,
            } => {
                if *times != 1 {
                    write!(f, "{times}*")?;
                }
                f.write_str(&symbol.name)?;
                if *over != 1 {
                    write!(f, "/{over}")?;
                }
                Ok(())
            }
        }
    }
}

/// An extent as written.
#[derive(Clone)]
pub(crate) struct ExtentText {
    times: i64,
    name: Option<String>,
    over: i64,
}

impl fmt::Display for ExtentText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            None => write!(f, "{}", self.times),
            Some(name) if self.times == 1 && self.over == 1 => f.write_str(name),
            Some(name) if self.times == 1 => write!(f, "{name}/{}", self.over),
            Some(name) if self.over == 1 => write!(f, "{}*{name}", self.times),
            Some(name) => write!(f, "{}*{name}/{}", self.times, self.over),
        }
    }
}

impl ExtentText {
    /// The number, where it has no name.
    pub(crate) fn number(&self) -> Option<i64> {
        self.name.is_none().then_some(self.times)
    }

    /// Adds its name to `known` unless `given` has it, as a multiple of its divisor.
    pub(crate) fn declare(&self, known: &mut Vec<Symbol>, given: &[Symbol]) {
        let Some(name) = &self.name else { return };
        if given.iter().any(|symbol| symbol.name() == name) {
            return;
        }
        let at = known.iter().position(|symbol| symbol.name() == name);
        let symbol = at.map_or_else(|| Symbol::new(name), |at| known.swap_remove(at));
        known.push(symbol.multiple_of(self.over / gcd(self.times, self.over)));
    }

    pub(crate) fn resolve(&self, known: &[Symbol]) -> Result<Extent, Rule> {
        let Some(name) = &self.name else {
            return Ok(Extent::Static(self.times));
        };
        let symbol = known.iter().find(|symbol| symbol.name() == name);
        let extent = Extent::from(symbol.expect("every name was declared").clone());
        let overflow = Rule::Overflow { what: "the extent" };
        if self.times < 1 {
            return Err(Rule::PositiveExtent { extent: self.times });
        }
        let times = extent.times(self.times).ok_or(overflow)?;
        times
            .divided(self.over)
            .ok_or_else(|| extent.needs_multiple(self.over))
    }
}

/// `4`, `N`, `16*N`, `N/8`, `3*N/8`.
pub(crate) fn extent_text(input: &mut &str) -> ModalResult<ExtentText> {
    let letter = |c: char| c.is_ascii_alphabetic();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut name = preceded(
        multispace0,
        (take_while(1, letter), take_while(0.., word)).take(),
    )
    .context(expected("a name"));
    let mut times = 1;
    if peek(opt(name.by_ref())).parse_next(input)?.is_none() {
        times = text::int(input)?;
        if opt(preceded(multispace0, '*')).parse_next(input)?.is_none() {
            return Ok(ExtentText {
                times,
                name: None,
                over: 1,
            });
        }
    }
    let name = cut_err(name).parse_next(input)?.to_string();
    let over = match opt(preceded(multispace0, '/')).parse_next(input)? {
        Some(_) => cut_err(text::int.verify(|n| *n >= 1)).parse_next(input)?,
        None => 1,
    };
    Ok(ExtentText {
        times,
        name: Some(name),
        over,
    })
}
