//! What a layout is divided or multiplied by.

use std::fmt;

use crate::error::Rule;
use crate::layout::Layout;

/// A tile: one layout over the whole domain, or one per mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tiler {
    /// A layout over the domain of what is tiled. An integer `n` stands for `n:1`, and 1 for `1:0`.
    Layout(Layout),
    /// `_`: the mode is left as it is.
    Whole,
    /// Mode by mode; modes without a tiler are left as they are.
    Modes(Vec<Tiler>),
}

impl Tiler {
    /// Refuses more tilers than modes, and none.
    pub(crate) fn check_rank(&self, rank: usize) -> Result<(), Rule> {
        match self {
            Tiler::Modes(modes) if modes.is_empty() => Err(Rule::EmptyTuple),
            Tiler::Modes(modes) if modes.len() > rank => {
                let found = modes.len();
                Err(Rule::TooManyModes { found, rank })
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Tiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tiler::Layout(layout) => layout.fmt(f),
            Tiler::Whole => f.write_str("_"),
            Tiler::Modes(modes) => {
                f.write_str("<")?;
                for (i, mode) in modes.iter().enumerate() {
                    write!(f, "{}{mode}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(">")
            }
        }
    }
}

impl From<Layout> for Tiler {
    fn from(layout: Layout) -> Self {
        Tiler::Layout(layout)
    }
}

impl From<&Layout> for Tiler {
    fn from(layout: &Layout) -> Self {
        Tiler::Layout(layout.clone())
    }
}

impl From<&Tiler> for Tiler {
    fn from(tiler: &Tiler) -> Self {
        tiler.clone()
    }
}

impl From<&[Layout]> for Tiler {
    fn from(layouts: &[Layout]) -> Self {
        Tiler::Modes(layouts.iter().map(Tiler::from).collect())
    }
}

impl From<&Vec<Layout>> for Tiler {
    fn from(layouts: &Vec<Layout>) -> Self {
        Tiler::from(layouts.as_slice())
    }
}

impl<const N: usize> From<&[Layout; N]> for Tiler {
    fn from(layouts: &[Layout; N]) -> Self {
        Tiler::from(layouts.as_slice())
    }
}
