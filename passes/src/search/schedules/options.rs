//! The combinations of what the rules reach.

use super::{Choice, Choices, Kind, Leaf};
use egg::EGraph;
use std::collections::BTreeMap;
use tilefold_dialect::plan::Prefetch;

/// Extents of tiles that are tried with everything else.
const EXTENTS: &[i64] = &[16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256];

/// The values of a choice that are tried with everything else; all others are tried with the best
/// of these.
fn coarse(kind: Kind) -> &'static [i64] {
    match kind {
        Kind::M | Kind::N => EXTENTS,
        Kind::K => &[16, 32, 64, 128],
        Kind::WavesM | Kind::WavesN => &[1, 2, 4, 8],
        Kind::Ahead => &[1, 2, 4, 8, 16, 32],
        Kind::Group => &[1, 8],
        _ => &[],
    }
}

/// What the rules reach of every choice, least first.
pub(super) struct Options {
    all: BTreeMap<Kind, Vec<Leaf>>,
    coarse: BTreeMap<Kind, Vec<Leaf>>,
    /// Numbers of LDS buffers.
    pub buffers: Vec<Leaf>,
    /// Ways to prefetch.
    pub prefetch: Vec<Leaf>,
    /// Distances at which fragments are read ahead.
    pub ahead: Vec<Leaf>,
    /// Operands that may go first.
    pub lead: Vec<Leaf>,
    /// Rows of a group of workgroups.
    pub group: Vec<Leaf>,
}

impl Options {
    /// The choices of a tile: its block, its atoms and its waves.
    pub const TILE: [Kind; 6] = [
        Kind::M,
        Kind::N,
        Kind::K,
        Kind::Slice,
        Kind::WavesM,
        Kind::WavesN,
    ];

    /// The leaves of a saturated graph; `blocks` says whether every block, and all
    /// waves, are tried with everything else.
    pub fn of(graph: &EGraph<Choice, ()>, blocks: bool) -> Self {
        let mut all: BTreeMap<Kind, Vec<Leaf>> = BTreeMap::new();
        for node in graph.classes().flat_map(|class| &class.nodes) {
            if let Choice::Leaf(leaf) = node {
                all.entry(leaf.kind()).or_default().push(*leaf);
            }
        }
        for values in all.values_mut() {
            values.sort_unstable();
            values.dedup();
        }
        let some = |(kind, values): (&Kind, &Vec<Leaf>)| {
            let all = blocks && *kind != Kind::Slice && Self::TILE.contains(kind);
            let tried = |leaf: &&Leaf| {
                let count = leaf.count();
                all || count.is_none_or(|count| coarse(*kind).contains(&count))
            };
            let some: Vec<Leaf> = values.iter().filter(tried).copied().collect();
            (
                *kind,
                if some.is_empty() {
                    values.clone()
                } else {
                    some
                },
            )
        };
        let coarse: BTreeMap<Kind, Vec<Leaf>> = all.iter().map(some).collect();
        let of = |kind: Kind| coarse.get(&kind).cloned().unwrap_or_default();
        Self {
            buffers: of(Kind::Buffers),
            prefetch: of(Kind::Prefetch),
            ahead: of(Kind::Ahead),
            lead: of(Kind::Lead),
            group: of(Kind::Group),
            coarse,
            all,
        }
    }

    /// The values of one choice.
    pub fn values(&self, kind: Kind) -> &[Leaf] {
        self.all.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Blocks with atoms and waves, else as `start`. The largest come first: where a search is
    /// stopped, they are what it has seen.
    pub fn largest_first(&self, start: Choices) -> Vec<Choices> {
        let mut found = vec![start];
        for kind in Self::TILE {
            let values = self.coarse.get(&kind).map_or(&[][..], Vec::as_slice);
            let with = |it: Choices| values.iter().map(move |leaf| it.with(*leaf));
            found = found.into_iter().flat_map(with).collect();
        }
        found.sort_by_key(|tile| std::cmp::Reverse((tile.block[0] * tile.block[1], *tile)));
        found
    }

    /// Schedules that are tried with every tile and number of buffers.
    pub fn per_buffers(&self) -> usize {
        self.prefetch.len() * self.ahead.len() * self.lead.len() * self.group.len()
    }

    /// What of every schedule the model weighs, with the tile and buffers of `tile`.
    pub fn schedules(&self, tile: Choices) -> impl Iterator<Item = Choices> + '_ {
        self.prefetch.iter().flat_map(move |prefetch| {
            let tile = tile.with(*prefetch);
            self.ahead.iter().flat_map(move |ahead| {
                let tile = tile.with(*ahead);
                self.lead.iter().flat_map(move |lead| {
                    let tile = tile.with(*lead);
                    self.group.iter().map(move |group| tile.with(*group))
                })
            })
        })
    }

    /// A kernel with one of its choices another, and with another tile read ahead as far too as
    /// is tried with every tile: its registers may not be enough for its own.
    pub fn neighbours(&self, kernel: Choices) -> impl Iterator<Item = Choices> + '_ {
        let leaves = self
            .all
            .iter()
            .flat_map(|(kind, values)| values.iter().map(move |leaf| (*kind, *leaf)));
        leaves.flat_map(move |(kind, leaf)| {
            let changed = kernel.with(leaf);
            let ahead: &[Leaf] = match kernel.prefetch {
                Prefetch::Interleaved if Self::TILE.contains(&kind) => &self.ahead,
                _ => &[],
            };
            let others = ahead.iter().map(move |ahead| changed.with(*ahead));
            std::iter::once(changed)
                .chain(others)
                .filter(move |it| *it != kernel)
        })
    }
}
