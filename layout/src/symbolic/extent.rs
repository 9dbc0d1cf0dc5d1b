//! One extent: a number, or a name times a factor over a divisor.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use winnow::ascii::multispace0;
use winnow::combinator::{cut_err, opt, peek, preceded};
use winnow::token::take_while;
use winnow::{ModalResult, Parser};

use super::Symbol;
use crate::error::{LayoutError, Result, Rule};
use crate::recast::gcd;
use crate::text::{self, ParseError, expected};

/// An extent: known, or a share of a name. Text: `4`, `N`, `16*N`, `N/8`, `3*N/8`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// A known number.
    Static(i64),
    /// A number that is learnt later.
    Symbolic(Share),
}

/// `times * symbol / over`: a whole number for every value of the symbol. Factor and divisor have
/// no common factor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    symbol: Symbol,
    times: i64,
    over: i64,
}

impl Share {
    /// The name.
    pub fn symbol(&self) -> &Symbol {
        &self.symbol
    }

    /// The factor, at least 1.
    pub fn times(&self) -> i64 {
        self.times
    }

    /// The divisor, at least 1.
    pub fn over(&self) -> i64 {
        self.over
    }

    /// The extent for a value of the name; saturating.
    fn of(&self, value: i64) -> i64 {
        let scaled = i128::from(value) * i128::from(self.times) / i128::from(self.over);
        i64::try_from(scaled).unwrap_or(i64::MAX)
    }
}

impl From<i64> for Extent {
    fn from(value: i64) -> Self {
        Extent::Static(value)
    }
}

impl From<Symbol> for Extent {
    fn from(symbol: Symbol) -> Self {
        Extent::Symbolic(Share {
            symbol,
            times: 1,
            over: 1,
        })
    }
}

impl Extent {
    /// An extent from its text, with what is known of its name: one that is not among `symbols` is
    /// taken to be a multiple of the divisor it stands over.
    ///
    /// # Errors
    /// [`ParseError`]; [`Rule::PositiveExtent`]; [`Rule::NeedsMultiple`] where the divisor does
    /// not divide every value.
    pub fn parse(text: &str, symbols: &[Symbol]) -> Result<Extent, ParseError> {
        let written = text::parse_all(text, extent_text)?;
        let fail = |rule| LayoutError::unary("extent", &written, rule);
        let mut known = symbols.to_vec();
        written.declare(&mut known, symbols)?;
        let extent = written.resolve(&known).map_err(fail)?;
        if extent.min() < 1 {
            let extent = extent.min();
            Err(fail(Rule::PositiveExtent { extent }))?;
        }
        Ok(extent)
    }

    /// The name, where it has one.
    pub fn symbol(&self) -> Option<&Symbol> {
        match self {
            Extent::Static(_) => None,
            Extent::Symbolic(share) => Some(&share.symbol),
        }
    }

    /// The same extent with this knowledge of its name.
    pub(crate) fn with_symbol(&self, symbol: &Symbol) -> Extent {
        match self {
            Extent::Symbolic(share) => Extent::Symbolic(Share {
                symbol: symbol.clone(),
                ..share.clone()
            }),
            known => known.clone(),
        }
    }

    /// Whether every value it may take is a multiple of `n`.
    pub fn is_multiple_of(&self, n: i64) -> bool {
        match self {
            Extent::Static(value) => value.checked_rem(n) == Some(0),
            Extent::Symbolic(share) => {
                let known = i128::from(share.symbol.multiple()) * i128::from(share.times);
                let needed = i128::from(n) * i128::from(share.over);
                needed != 0 && known % needed == 0
            }
        }
    }

    /// The least value it may take.
    pub fn min(&self) -> i64 {
        match self {
            Extent::Static(value) => *value,
            Extent::Symbolic(share) => share.of(share.symbol.min()),
        }
    }

    /// The greatest value it may take, if it is bounded.
    pub fn max(&self) -> Option<i64> {
        match self {
            Extent::Static(value) => Some(*value),
            Extent::Symbolic(share) => Some(share.of(share.symbol.max()?)),
        }
    }

    /// `self * factor`, or `None` where that leaves 64 bits or the factor is below 1.
    pub fn times(&self, factor: i64) -> Option<Extent> {
        if factor < 1 {
            return None;
        }
        match self {
            Extent::Static(value) => Some(Extent::Static(value.checked_mul(factor)?)),
            Extent::Symbolic(share) => {
                let common = gcd(factor, share.over);
                Some(Extent::Symbolic(Share {
                    symbol: share.symbol.clone(),
                    times: share.times.checked_mul(factor / common)?,
                    over: share.over / common,
                }))
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
            Extent::Symbolic(share) => {
                let common = gcd(share.times, divisor);
                Some(Extent::Symbolic(Share {
                    symbol: share.symbol.clone(),
                    times: share.times / common,
                    over: share.over.checked_mul(divisor / common)?,
                }))
            }
        }
    }

    pub(crate) fn bind(&self, name: &str, value: i64) -> Result<Extent, Rule> {
        let share = match self {
            Extent::Symbolic(share) if share.symbol.name() == name => share,
            _ => return Ok(self.clone()),
        };
        if !share.symbol.takes(value) {
            return Err(Rule::SymbolValue {
                symbol: name.into(),
                value,
            });
        }
        let scaled = i128::from(value) * i128::from(share.times) / i128::from(share.over);
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

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Static(value) => value.fmt(f),
            Extent::Symbolic(share) => {
                if share.times != 1 {
                    write!(f, "{}*", share.times)?;
                }
                f.write_str(share.symbol.name())?;
                if share.over != 1 {
                    write!(f, "/{}", share.over)?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Extent {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Extent::parse(text, &[])
    }
}

/// What serde writes of an extent: its text, and what is known of its name.
#[derive(Serialize, Deserialize)]
struct ExtentData {
    extent: String,
    symbol: Option<Symbol>,
}

impl Serialize for Extent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = ExtentData {
            extent: self.to_string(),
            symbol: self.symbol().cloned(),
        };
        data.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Extent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = ExtentData::deserialize(deserializer)?;
        Extent::parse(&data.extent, data.symbol.as_slice()).map_err(D::Error::custom)
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

    /// The same extent with a number in place of its name, where `numbers` has one.
    pub(crate) fn with(&self, numbers: &[(&str, i64)]) -> Result<ExtentText, Rule> {
        let named = |(name, _): &&(&str, i64)| self.name.as_deref() == Some(*name);
        let Some(&(name, value)) = numbers.iter().find(named) else {
            return Ok(self.clone());
        };
        let product = self.times.checked_mul(value);
        let product = product.ok_or(Rule::Overflow { what: "the extent" })?;
        if product % self.over != 0 {
            return Err(Rule::NeedsMultiple {
                extent: format!("{name} = {value}").into(),
                divisor: self.over,
            });
        }
        Ok(ExtentText {
            times: product / self.over,
            name: None,
            over: 1,
        })
    }

    /// Adds its name to `known` unless `given` has it, as a multiple of its divisor.
    pub(crate) fn declare(&self, known: &mut Vec<Symbol>, given: &[Symbol]) -> Result<()> {
        let Some(name) = &self.name else {
            return Ok(());
        };
        if given.iter().any(|symbol| symbol.name() == name) {
            return Ok(());
        }
        let at = known.iter().position(|symbol| symbol.name() == name);
        let symbol = match at {
            Some(at) => known.swap_remove(at),
            None => Symbol::new(name)?,
        };
        known.push(symbol.multiple_of(self.over / gcd(self.times, self.over))?);
        Ok(())
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
