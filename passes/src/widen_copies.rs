//! `widen-copies`: every copy moves as many bits at once as the layouts allow.
//!
//! The threads of a global copy are laid out anew, so that each takes neighbours of a line of
//! the matrix; how far that goes is found by the algebra, and capped by the load atom where
//! the spec names one. LDS accesses widen to what their layouts allow.

use crate::{
    PassError,
    access::{Ownership, in_matrix},
    plan::Plan,
    rewrite,
    tiling::{MmaLayouts, copy_layout},
    widen_epilogue::Epilogue,
};
use melior::{
    Context,
    ir::{Module, operation::OperationRef},
};
use tilefold_dialect::{
    atoms::{CopyAtom, Direction, Space},
    element::ElementType,
    tile::{integers, layout, text},
};
use tilefold_layout::{ComposedLayout, Layout, LayoutError};

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    for (index, copy) in rewrite::everywhere(block, "tile.copy")?
        .into_iter()
        .enumerate()
    {
        let operand = index % 2;
        let tile = integers::<2>(&copy, "tile")?;
        let (threads, values) = &plan.copies[operand];
        let wide = copy_layout(threads, values, tile)?;
        let stores = copy_layout(threads, &plan.stores[operand], tile)?;
        let width = load_width(plan, operand, &wide, tile);
        let load = widest(Space::Global, Direction::Load, plan.input(), width)?;
        rewrite::set_text(context, copy, "layout", &wide.to_string());
        rewrite::set_text(context, copy, "stores", &stores.to_string());
        rewrite::set_text(context, copy, "load", load.name);
    }
    widen_shared(context, module, plan)?;
    Ok(())
}

/// Elements that one load of operand 0 or 1 moves, `wide` being the copy's thread-value layout.
fn load_width(plan: &Plan, operand: usize, wide: &Layout, tile: [i64; 2]) -> i64 {
    let limit = plan.load_elements[operand];
    Ownership::new(wide).width(limit, in_matrix(tile, plan.order(operand)))
}

/// Elements that one access to A, B and C moves once copies are as wide as they get: what
/// leading dimensions must be a multiple of.
///
/// # Errors
/// A [`LayoutError`] where the algebra cannot lay the plan's tiles out.
pub fn access_elements(plan: &Plan) -> Result<[i64; 3], LayoutError> {
    let [m, n, k] = plan.block;
    let mut widths = [1; 3];
    for (operand, tile) in [[m, k], [n, k]].into_iter().enumerate() {
        let (threads, values) = &plan.copies[operand];
        widths[operand] = load_width(plan, operand, &copy_layout(threads, values, tile)?, tile);
    }
    widths[2] = Epilogue::of(plan)?.elements;
    Ok(widths)
}

/// Elements that one read of a fragment and one store of a copy move, of A and of B, once they are
/// as wide as the tiles' layouts in LDS allow.
///
/// # Errors
/// A [`LayoutError`] where the algebra cannot lay the plan's tiles out.
pub fn shared_elements(plan: &Plan) -> Result<[[i64; 2]; 2], LayoutError> {
    let mma = MmaLayouts::new(plan.atom, plan.block, &plan.wave_layout)?;
    let mut widths = [[1; 2]; 2];
    for (operand, fragments) in [mma.a, mma.b].iter().enumerate() {
        let placement = Placement::of(&plan.lds[operand], plan.input());
        let tile = [plan.block[operand], plan.block[2]];
        let stores = copy_layout(&plan.copies[operand].0, &plan.stores[operand], tile)?;
        widths[operand] = [placement.width(fragments), placement.width(&stores)];
    }
    Ok(widths)
}

/// Widens what reads and writes LDS to what the tiles' layouts there allow.
pub fn widen_shared<'c>(
    context: &'c Context,
    module: &Module<'c>,
    plan: &Plan,
) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let (mut placements, mut tiles) = (Vec::new(), Vec::new());
    for lds in rewrite::named(block, "tile.lds") {
        let element = plan.input();
        placements.push(Placement::new(lds, element)?);
        tiles.push(rewrite::result(lds, 0)?);
    }
    // A copy, or the half of one that writes: to the LDS tile that operand `target` is.
    for (kind, target, order) in [("tile.copy", 3, "stores"), ("tile.commit", 1, "layout")] {
        for write in rewrite::everywhere(block, kind)? {
            let lds = rewrite::operand(write, target)?;
            let operand = tiles
                .iter()
                .position(|tile| *tile == lds)
                .ok_or(PassError::Form {
                    wanted: "a tile in LDS",
                    found: 0,
                })?;
            let width = placements[operand].width(&layout(&write, order)?);
            let store = widest(Space::Lds, Direction::Store, plan.input(), width)?;
            rewrite::set_text(context, write, "store", store.name);
        }
    }
    for mma in rewrite::everywhere(block, "tile.mma")? {
        // One fragment's values at a time: the first mode of the values.
        for (placement, [read, of]) in placements
            .iter()
            .zip([["a_read", "a_layout"], ["b_read", "b_layout"]])
        {
            let width = placement.width(&layout(&mma, of)?);
            let load = widest(Space::Lds, Direction::Load, plan.input(), width)?;
            rewrite::set_text(context, mma, read, load.name);
        }
    }
    Ok(())
}

/// Offsets in LDS of every element of a tile, by its column-major index.
struct Placement {
    offsets: Vec<i64>,
    limit: i64,
}

impl Placement {
    fn new(lds: OperationRef<'_, '_>, element: ElementType) -> Result<Self, PassError> {
        let layout: ComposedLayout = text(&lds, "layout")?.parse()?;
        Ok(Self::of(&layout, element))
    }

    fn of(layout: &ComposedLayout, element: ElementType) -> Self {
        let offsets = (0..layout.size()).map(|index| layout.at(index)).collect();
        Self {
            offsets,
            limit: elements_of_128_bits(element),
        }
    }

    fn width(&self, layout: &Layout) -> i64 {
        Ownership::new(layout).width(self.limit, |index| self.offsets[index as usize])
    }
}

/// Elements that the widest access moves.
pub fn elements_of_128_bits(element: ElementType) -> i64 {
    128 / i64::from(element.bits())
}

/// The widest atom for whole elements, up to `width` of them.
pub fn widest(
    space: Space,
    direction: Direction,
    element: ElementType,
    width: i64,
) -> Result<&'static CopyAtom, PassError> {
    CopyAtom::widest(space, direction, element, width).ok_or(PassError::Form {
        wanted: "a copy atom of whole elements",
        found: 0,
    })
}
