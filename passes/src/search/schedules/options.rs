//! The combinations of what the rules reach.

use super::{Choice, Choices, Kind, Leaf};
use egg::EGraph;
use std::collections::BTreeMap;

/// What the rules reach of every choice, least first.
pub(super) struct Options {
    all: BTreeMap<Kind, Vec<Leaf>>,
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

    /// The leaves of a saturated graph.
    pub fn of(graph: &EGraph<Choice, ()>) -> Self {
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
        let of = |kind: Kind| all.get(&kind).cloned().unwrap_or_default();
        Self {
            buffers: of(Kind::Buffers),
            prefetch: of(Kind::Prefetch),
            ahead: of(Kind::Ahead),
            lead: of(Kind::Lead),
            group: of(Kind::Group),
            all,
        }
    }

    /// The values of one choice.
    pub fn values(&self, kind: Kind) -> &[Leaf] {
        self.all.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Every block with all atoms and waves, else as `start`. The largest come first: where a
    /// search is stopped, they are what it has seen.
    pub fn largest_first(&self, start: Choices) -> Vec<Choices> {
        let mut tiles = self.each(start, &Self::TILE);
        tiles.sort_by_key(|tile| std::cmp::Reverse((tile.block[0] * tile.block[1], *tile)));
        tiles
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

    /// A kernel with every value of the choices that the model does not weigh.
    pub fn unweighed(&self, kernel: Choices) -> Vec<Choices> {
        self.each(kernel, &Kind::UNWEIGHED)
    }

    fn each(&self, start: Choices, kinds: &[Kind]) -> Vec<Choices> {
        let mut found = vec![start];
        for kind in kinds {
            let values = self.values(*kind);
            let with = |it: Choices| values.iter().map(move |leaf| it.with(*leaf));
            found = found.into_iter().flat_map(with).collect();
        }
        found
    }
}
