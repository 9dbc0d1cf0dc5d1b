//! The search for the places of tiles in LDS, for several kernels of one spec.

use super::{
    layouts::{LayoutSearch, Limits, Searches, TileUse},
    schedules::{Choices, Open},
};
use crate::{
    access::{Ownership, in_matrix},
    plan::{load_of, loaded_elements, memory_order},
    tiling::{MmaLayouts, copy_layout},
};
use tilefold_dialect::{
    atoms::Space,
    plan::{LdsLayout, PartialCopy, PartialPlan},
    spec::Spec,
};
use tilefold_layout::Layout;

/// The tiles of several kernels, whose searches share their limits.
pub(super) struct Placing<'a> {
    open: &'a Open<'a>,
    spec: &'a Spec,
    placed: &'a mut Placed,
    /// Work of the searches before.
    before: u64,
}

/// What searches have found, and those that go on from it.
pub(super) struct Placed {
    searches: Searches,
    found: Vec<(Tile, Option<LayoutSearch>)>,
}

impl Default for Placed {
    fn default() -> Self {
        Self {
            searches: Searches::new(Limits::default(), 0),
            found: Vec::new(),
        }
    }
}

/// A tile whose place is open: how it is used, and where the spec says that the layouts of its copy.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tile {
    usage: TileUse,
    copy: Option<[Layout; 3]>,
}

impl<'a> Placing<'a> {
    /// For kernels with these choices, which share what there is to spend on what is not `placed`
    /// yet.
    pub fn new<'c>(
        open: &'a Open<'a>,
        spec: &'a Spec,
        limits: Limits,
        placed: &'a mut Placed,
        kernels: impl Iterator<Item = &'c Choices>,
    ) -> Self {
        let mut uses: Vec<Tile> = Vec::new();
        for usage in kernels.flat_map(|it| uses_of(open, spec, it)).flatten() {
            let known = placed.found.iter().any(|(known, _)| *known == usage);
            if !known && !uses.contains(&usage) {
                uses.push(usage);
            }
        }
        placed.searches.go_on(limits, uses.len());
        Self {
            open,
            spec,
            before: placed.searches.work(),
            placed,
        }
    }

    /// Work of these searches so far.
    pub fn work(&self) -> u64 {
        self.placed.searches.work() - self.before
    }

    /// Finds where the tiles of both operands lie, and writes it into the plan; not where the
    /// plan says.
    pub fn place(
        &mut self,
        plan: &mut PartialPlan,
        choices: &Choices,
    ) -> [Option<LayoutSearch>; 2] {
        let [a, b] = uses_of(self.open, self.spec, choices);
        let sides = [
            (&mut plan.lds.a, &mut plan.copy.a, a),
            (&mut plan.lds.b, &mut plan.copy.b, b),
        ];
        sides.map(|(choice, copy, usage)| {
            let found = self.search(usage?)?;
            let best = &found.best;
            *choice = Some(LdsLayout::Expr(best.lds.clone()));
            copy.threads = Some(best.threads.clone());
            copy.values = Some(best.values.clone());
            copy.stores = (best.stores != best.values).then(|| best.stores.clone());
            Some(found)
        })
    }

    fn search(&mut self, usage: Tile) -> Option<LayoutSearch> {
        let Placed {
            searches,
            found: all,
        } = &mut *self.placed;
        if let Some((_, known)) = all.iter().find(|(known, _)| *known == usage) {
            return known.clone();
        }
        let found = {
            let copy = usage.copy.as_ref().map(|copy| copy.each_ref());
            searches.search_with(&usage.usage, copy).ok()
        };
        all.push((usage, found.clone()));
        found
    }
}

/// How a kernel uses the tiles whose places the spec leaves open.
fn uses_of(open: &Open<'_>, spec: &Spec, choices: &Choices) -> [Option<Tile>; 2] {
    let plan = &spec.plan;
    let waves = match &plan.mma.waves {
        Some(layout) => Ok(layout.clone()),
        None => Layout::row_major(&choices.waves),
    };
    let Open {
        machine, problem, ..
    } = *open;
    let Some(atom) = open.atom(choices) else {
        return [None, None];
    };
    let spread = waves.and_then(|waves| MmaLayouts::new(atom, choices.block, &waves));
    let Ok(mma) = spread else {
        return [None, None];
    };
    let named = load_of(spec, atom).ok().flatten();
    let widest = named.map_or(128 / i64::from(atom.input.bits()), |load| {
        load.elements(atom.input)
    });
    let usage = |operand: usize, fragments: Layout| TileUse {
        machine,
        tile: [choices.block[operand], choices.block[2]],
        element: atom.input,
        threads: choices.waves[0] * choices.waves[1] * atom.wave,
        along: usize::from(memory_order(problem, operand) == "row"),
        load_elements: widest.min(loaded_elements(
            problem,
            operand,
            named.map_or(Space::Buffer, |load| load.space),
        )),
        fragments,
        max_bytes: i64::from(machine.lds.per_workgroup),
        reorder: true,
    };
    let tile = |operand: usize, place: &Option<LdsLayout>, copy: &PartialCopy, fragments| {
        if place.is_some() {
            return None;
        }
        let mut usage = usage(operand, fragments);
        let copy = match (&copy.threads, &copy.values) {
            (None, None) => None,
            (Some(threads), Some(values)) => {
                let whole = copy_layout(threads, values, usage.tile).ok()?;
                let order = memory_order(problem, operand);
                let loaded = in_matrix(usage.tile, order);
                usage.load_elements = Ownership::new(&whole).width(usage.load_elements, loaded);
                let stores = copy.stores.as_ref().unwrap_or(values);
                Some([threads.clone(), values.clone(), stores.clone()])
            }
            _ => return None,
        };
        Some(Tile { usage, copy })
    };
    [
        tile(0, &plan.lds.a, &plan.copy.a, mma.a),
        tile(1, &plan.lds.b, &plan.copy.b, mma.b),
    ]
}
