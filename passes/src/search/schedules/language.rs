//! Choices as terms.
//!
//! A kernel is `(kernel (tile m k n) (waves m n) (schedule buffers prefetch ahead group))`, its
//! leaves being choices such as `m=128`. Two terms are equal when the kernels that they name
//! compute the same C from the same A and B: which is so for all values of all choices, so that
//! the leaves of one kind end in one class. What cannot be built is no matter of equality; it is
//! refused when combinations are weighed.

use egg::{Id, RecExpr, define_language};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Rows of a workgroup's tile.
    M,
    /// Columns of a workgroup's tile.
    N,
    /// Depth of a K tile.
    K,
    /// Waves along M.
    WavesM,
    /// Waves along N.
    WavesN,
    /// LDS buffers of each operand.
    Buffers,
    /// 0: wait for each tile; 1: load the next one in a burst; 2: between matrix instructions.
    Prefetch,
    /// Matrix instructions whose fragments are read together.
    Ahead,
    /// Tile rows of a group of workgroups.
    Group,
}

impl Kind {
    /// Every kind, in the order of a kernel's term.
    pub const ALL: [Kind; 9] = [
        Kind::M,
        Kind::N,
        Kind::K,
        Kind::WavesM,
        Kind::WavesN,
        Kind::Buffers,
        Kind::Prefetch,
        Kind::Ahead,
        Kind::Group,
    ];

    /// The name in terms.
    pub fn name(self) -> &'static str {
        match self {
            Kind::M => "m",
            Kind::N => "n",
            Kind::K => "k",
            Kind::WavesM => "waves-m",
            Kind::WavesN => "waves-n",
            Kind::Buffers => "buffers",
            Kind::Prefetch => "prefetch",
            Kind::Ahead => "ahead",
            Kind::Group => "group",
        }
    }

    /// The value of the first step of the ladder, or less.
    pub fn least(self) -> i64 {
        match self {
            Kind::M | Kind::N | Kind::K => 16,
            Kind::Prefetch => 0,
            _ => 1,
        }
    }
}

/// One value of one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leaf {
    /// What is chosen.
    pub kind: Kind,
    /// What for.
    pub value: i64,
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind.name(), self.value)
    }
}

impl FromStr for Leaf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is no choice");
        let (name, value) = text.split_once('=').ok_or_else(unknown)?;
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(unknown)?;
        Ok(Leaf {
            kind,
            value: value.parse().map_err(|_| unknown())?,
        })
    }
}

define_language! {
    /// A node of a term.
    #[allow(missing_docs, reason = "the macro makes the variants, whose names say it")]
    pub enum Choice {
        "kernel" = Kernel([Id; 3]),
        "tile" = Tile([Id; 3]),
        "waves" = Waves([Id; 2]),
        "schedule" = Schedule([Id; 4]),
        Leaf(Leaf),
    }
}

/// The term of a kernel.
pub(super) fn kernel(choices: &BTreeMap<Kind, i64>) -> RecExpr<Choice> {
    let mut term = RecExpr::default();
    let mut leaf = |kind: Kind| {
        let value = choices.get(&kind).copied().unwrap_or(kind.least());
        term.add(Choice::Leaf(Leaf { kind, value }))
    };
    let [m, n, k, waves_m, waves_n, buffers, prefetch, ahead, group] = Kind::ALL.map(&mut leaf);
    let tile = term.add(Choice::Tile([m, n, k]));
    let waves = term.add(Choice::Waves([waves_m, waves_n]));
    let schedule = term.add(Choice::Schedule([buffers, prefetch, ahead, group]));
    term.add(Choice::Kernel([tile, waves, schedule]));
    term
}
