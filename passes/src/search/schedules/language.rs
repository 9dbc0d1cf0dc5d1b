//! Choices as terms.
//!
//! A kernel is `(kernel (tile m n k slice) (waves m n) (schedule buffers prefetch cadence ahead lead
//! commit priority group))`, its leaves being choices such as `m=128`. Two terms are equal when
//! the kernels that they name compute the same C from the same A and B: which is so for all
//! values of all choices, so that the leaves of one kind end in one class. What cannot be built
//! is no matter of equality; it is refused when combinations are weighed.

use crate::plan::Plan;
use egg::{Id, RecExpr, define_language};
use std::{fmt, str::FromStr};
use tilefold_dialect::{
    atoms::MmaAtom,
    plan::{Commit, Lead, Prefetch},
    spec::Spec,
};

/// One value of one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaf {
    /// Rows of a workgroup's tile.
    M(i64),
    /// Columns of a workgroup's tile.
    N(i64),
    /// Depth of a K tile.
    K(i64),
    /// K of an atom, and so of a fragment, however many instructions take it.
    Slice(i64),
    /// Waves along M.
    WavesM(i64),
    /// Waves along N.
    WavesN(i64),
    /// LDS buffers of each operand.
    Buffers(i64),
    /// When the next tiles are loaded.
    Prefetch(Prefetch),
    /// Matrix instructions from one load to the next.
    Cadence(i64),
    /// Matrix instructions whose fragments are read together.
    Ahead(i64),
    /// The operand that goes first.
    Lead(Lead),
    /// When the next tiles go to LDS.
    Commit(Commit),
    /// Whether waves raise their priority around matrix instructions.
    Priority(bool),
    /// Tile rows of a group of workgroups.
    Group(i64),
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "they are those of `Leaf`")]
pub enum Kind {
    M,
    N,
    K,
    Slice,
    WavesM,
    WavesN,
    Buffers,
    Prefetch,
    Cadence,
    Ahead,
    Lead,
    Commit,
    Priority,
    Group,
}

impl Kind {
    /// Every kind, in the order of a kernel's term.
    pub const ALL: [Kind; 14] = [
        Kind::M,
        Kind::N,
        Kind::K,
        Kind::Slice,
        Kind::WavesM,
        Kind::WavesN,
        Kind::Buffers,
        Kind::Prefetch,
        Kind::Cadence,
        Kind::Ahead,
        Kind::Lead,
        Kind::Commit,
        Kind::Priority,
        Kind::Group,
    ];

    /// Those of which the model knows what they take, and not what they are worth on a device.
    pub const UNWEIGHED: [Kind; 3] = [Kind::Cadence, Kind::Commit, Kind::Priority];

    /// The name in terms.
    pub fn name(self) -> &'static str {
        match self {
            Kind::M => "m",
            Kind::N => "n",
            Kind::K => "k",
            Kind::Slice => "slice",
            Kind::WavesM => "waves-m",
            Kind::WavesN => "waves-n",
            Kind::Buffers => "buffers",
            Kind::Prefetch => "prefetch",
            Kind::Cadence => "cadence",
            Kind::Ahead => "ahead",
            Kind::Lead => "lead",
            Kind::Commit => "commit",
            Kind::Priority => "priority",
            Kind::Group => "group",
        }
    }
}

impl Leaf {
    /// The value, where it is a number.
    pub fn count(self) -> Option<i64> {
        match self {
            Leaf::M(count)
            | Leaf::N(count)
            | Leaf::K(count)
            | Leaf::WavesM(count)
            | Leaf::WavesN(count)
            | Leaf::Cadence(count)
            | Leaf::Ahead(count)
            | Leaf::Group(count) => Some(count),
            _ => None,
        }
    }

    /// What is chosen.
    pub fn kind(self) -> Kind {
        match self {
            Leaf::M(_) => Kind::M,
            Leaf::N(_) => Kind::N,
            Leaf::K(_) => Kind::K,
            Leaf::Slice(_) => Kind::Slice,
            Leaf::WavesM(_) => Kind::WavesM,
            Leaf::WavesN(_) => Kind::WavesN,
            Leaf::Buffers(_) => Kind::Buffers,
            Leaf::Prefetch(_) => Kind::Prefetch,
            Leaf::Cadence(_) => Kind::Cadence,
            Leaf::Ahead(_) => Kind::Ahead,
            Leaf::Lead(_) => Kind::Lead,
            Leaf::Commit(_) => Kind::Commit,
            Leaf::Priority(_) => Kind::Priority,
            Leaf::Group(_) => Kind::Group,
        }
    }

    /// The value as terms and specs have it.
    pub fn value(self) -> String {
        match self {
            Leaf::M(value)
            | Leaf::N(value)
            | Leaf::K(value)
            | Leaf::Slice(value)
            | Leaf::WavesM(value)
            | Leaf::WavesN(value)
            | Leaf::Buffers(value)
            | Leaf::Cadence(value)
            | Leaf::Ahead(value)
            | Leaf::Group(value) => value.to_string(),
            Leaf::Prefetch(value) => value.to_string(),
            Leaf::Lead(value) => value.to_string(),
            Leaf::Commit(value) => value.to_string(),
            Leaf::Priority(value) => value.to_string(),
        }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind().name(), self.value())
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
        let count = || value.parse().map_err(|_| unknown());
        let leaf = match kind {
            Kind::M => Leaf::M(count()?),
            Kind::N => Leaf::N(count()?),
            Kind::K => Leaf::K(count()?),
            Kind::Slice => Leaf::Slice(count()?),
            Kind::WavesM => Leaf::WavesM(count()?),
            Kind::WavesN => Leaf::WavesN(count()?),
            Kind::Buffers => Leaf::Buffers(count()?),
            Kind::Cadence => Leaf::Cadence(count()?),
            Kind::Ahead => Leaf::Ahead(count()?),
            Kind::Group => Leaf::Group(count()?),
            Kind::Prefetch => Leaf::Prefetch(named(Prefetch::ALL, value).ok_or_else(unknown)?),
            Kind::Lead => Leaf::Lead(named(Lead::ALL, value).ok_or_else(unknown)?),
            Kind::Commit => Leaf::Commit(named(Commit::ALL, value).ok_or_else(unknown)?),
            Kind::Priority => Leaf::Priority(value.parse().map_err(|_| unknown())?),
        };
        Ok(leaf)
    }
}

fn named<T: fmt::Display + Copy, const N: usize>(all: [T; N], name: &str) -> Option<T> {
    all.into_iter().find(|value| value.to_string() == name)
}

/// One value for every choice: a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choices {
    /// m, n and k of a workgroup's tile.
    pub block: [i64; 3],
    /// K of an atom.
    pub slice: i64,
    /// Waves along m and n.
    pub waves: [i64; 2],
    /// LDS buffers of each operand.
    pub buffers: i64,
    /// When the next tiles are loaded.
    pub prefetch: Prefetch,
    /// Matrix instructions from one load to the next.
    pub cadence: i64,
    /// Matrix instructions whose fragments are read together.
    pub ahead: i64,
    /// The operand that goes first.
    pub lead: Lead,
    /// When the next tiles go to LDS.
    pub commit: Commit,
    /// Whether waves raise their priority around matrix instructions.
    pub priority: bool,
    /// Tile rows of a group of workgroups.
    pub group_rows: i64,
}

impl Default for Choices {
    /// Of every choice the least: one wave with one small tile, as the ladder begins.
    fn default() -> Self {
        Self {
            block: [16; 3],
            slice: 16,
            waves: [1; 2],
            buffers: 1,
            prefetch: Prefetch::None,
            cadence: 1,
            ahead: 1,
            lead: Lead::A,
            commit: Commit::End,
            priority: false,
            group_rows: 1,
        }
    }
}

impl Choices {
    /// The value of one choice.
    pub fn get(&self, kind: Kind) -> Leaf {
        match kind {
            Kind::M => Leaf::M(self.block[0]),
            Kind::N => Leaf::N(self.block[1]),
            Kind::K => Leaf::K(self.block[2]),
            Kind::Slice => Leaf::Slice(self.slice),
            Kind::WavesM => Leaf::WavesM(self.waves[0]),
            Kind::WavesN => Leaf::WavesN(self.waves[1]),
            Kind::Buffers => Leaf::Buffers(self.buffers),
            Kind::Prefetch => Leaf::Prefetch(self.prefetch),
            Kind::Cadence => Leaf::Cadence(self.cadence),
            Kind::Ahead => Leaf::Ahead(self.ahead),
            Kind::Lead => Leaf::Lead(self.lead),
            Kind::Commit => Leaf::Commit(self.commit),
            Kind::Priority => Leaf::Priority(self.priority),
            Kind::Group => Leaf::Group(self.group_rows),
        }
    }

    /// These choices with one of them another.
    #[must_use]
    pub fn with(mut self, leaf: Leaf) -> Self {
        match leaf {
            Leaf::M(value) => self.block[0] = value,
            Leaf::N(value) => self.block[1] = value,
            Leaf::K(value) => self.block[2] = value,
            Leaf::Slice(value) => self.slice = value,
            Leaf::WavesM(value) => self.waves[0] = value,
            Leaf::WavesN(value) => self.waves[1] = value,
            Leaf::Buffers(value) => self.buffers = value,
            Leaf::Prefetch(value) => self.prefetch = value,
            Leaf::Cadence(value) => self.cadence = value,
            Leaf::Ahead(value) => self.ahead = value,
            Leaf::Lead(value) => self.lead = value,
            Leaf::Commit(value) => self.commit = value,
            Leaf::Priority(value) => self.priority = value,
            Leaf::Group(value) => self.group_rows = value,
        }
        self
    }

    /// Those of a plan.
    pub fn of(plan: &Plan) -> Self {
        let interleaved = plan.prefetch == Prefetch::Interleaved;
        let order = &plan.schedule;
        let least = Self::default();
        Self {
            block: plan.block,
            slice: plan.atom.shape[2],
            waves: plan.waves,
            buffers: plan.buffers,
            prefetch: plan.prefetch,
            cadence: if interleaved {
                order.cadence
            } else {
                least.cadence
            },
            ahead: if interleaved {
                order.ahead
            } else {
                least.ahead
            },
            lead: if interleaved { order.lead } else { least.lead },
            commit: if interleaved {
                order.commit
            } else {
                least.commit
            },
            priority: order.priority,
            group_rows: plan.group_rows.unwrap_or(least.group_rows),
        }
    }

    /// All values.
    pub fn leaves(&self) -> [Leaf; 14] {
        Kind::ALL.map(|kind| self.get(kind))
    }

    /// Writes the choices into a spec's plan: what it says of them is overwritten, and nothing
    /// else.
    pub fn fill(&self, spec: &mut Spec) {
        let problem = &spec.problem;
        let mut atoms = MmaAtom::of_types(&spec.arch, problem.a.element, problem.accumulate);
        let atom = atoms.find(|atom| atom.shape[2] == self.slice);
        let plan = &mut spec.plan;
        if let Some(atom) = atom {
            plan.atoms.mma = Some(atom.name.into());
        }
        plan.tile.block = self.block.into();
        plan.tile.waves = Some(self.waves);
        plan.lds.buffers = Some(self.buffers);
        let schedule = &mut plan.schedule;
        schedule.prefetch = Some(self.prefetch);
        schedule.group_rows = Some(self.group_rows);
        schedule.priority = Some(self.priority);
        // The rest says how interleaved loads go.
        let interleaved = self.prefetch == Prefetch::Interleaved;
        schedule.cadence = interleaved.then_some(self.cadence);
        schedule.ahead = interleaved.then_some(self.ahead);
        schedule.lead = interleaved.then_some(self.lead);
        schedule.commit = interleaved.then_some(self.commit);
    }
}

define_language! {
    /// A node of a term.
    #[allow(missing_docs, reason = "the macro makes the variants, whose names say it")]
    pub enum Choice {
        "kernel" = Kernel([Id; 3]),
        "tile" = Tile([Id; 4]),
        "waves" = Waves([Id; 2]),
        "schedule" = Schedule([Id; 8]),
        Leaf(Leaf),
    }
}

/// The term of a kernel.
pub(super) fn kernel(choices: &Choices) -> RecExpr<Choice> {
    let mut term = RecExpr::default();
    let [m, n, k, slice, waves_m, waves_n, schedule @ ..] =
        choices.leaves().map(|leaf| term.add(Choice::Leaf(leaf)));
    let tile = term.add(Choice::Tile([m, n, k, slice]));
    let waves = term.add(Choice::Waves([waves_m, waves_n]));
    let schedule = term.add(Choice::Schedule(schedule));
    term.add(Choice::Kernel([tile, waves, schedule]));
    term
}
