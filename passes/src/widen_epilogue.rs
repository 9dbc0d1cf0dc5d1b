//! `widen-epilogue`: each lane holds neighbours of a line of C, and stores them at once.
//!
//! A lane's results run along one coordinate of the atom's tile. Where the lines of C run along
//! the other, the atom is given B first and computes the transposed tile, whose results run along
//! the lines. Where a lane has every second result only, and the other half of the wave the
//! others, the halves exchange. Of all ways the cheapest is taken that stores widest.

use crate::{
    PassError,
    access::{Ownership, in_matrix},
    plan::Plan,
    rewrite,
    tiling::spread_results,
    widen_copies::{elements_of_128_bits, widest},
};
use melior::{Context, ir::Module};
use tilefold_dialect::atoms::{Direction, MmaAtom, Space};
use tilefold_layout::{Layout, LayoutError, make_layout};

/// How the results of a plan's atoms become stores.
#[derive(Clone, Debug)]
pub struct Epilogue {
    /// Whether atoms take B first and so hold transposed tiles.
    pub b_first: bool,
    /// Whether the halves of a wave exchange results.
    pub exchanged: bool,
    /// (thread, (value, m repeat, n repeat)) -> (m, n), once exchanged.
    pub layout: Layout,
    /// Elements that one store moves.
    pub elements: i64,
}

impl Epilogue {
    /// The cheapest of a plan's widest.
    ///
    /// # Errors
    /// A [`LayoutError`] where the algebra cannot express a step.
    pub fn of(plan: &Plan) -> Result<Self, LayoutError> {
        let mut ways = Self::ways(plan)?.into_iter();
        let first = ways.next().expect("results as they are, A first");
        Ok(ways.fold(first, |best, way| {
            if way.elements > best.elements {
                way
            } else {
                best
            }
        }))
    }

    /// Every way there is, the cheapest first: without an exchange before with one, A first before
    /// B first.
    ///
    /// # Errors
    /// A [`LayoutError`] where the algebra cannot express a step.
    pub fn ways(plan: &Plan) -> Result<Vec<Self>, LayoutError> {
        let [m, n, _] = plan.block;
        let limit = Self::most_elements(plan);
        let place = |atom: Layout, b_first, exchanged| {
            let layout = spread_results(&atom, plan.atom, plan.block, &plan.wave_layout)?;
            let elements = Ownership::new(&layout).width(limit, in_matrix([m, n], plan.order(2)));
            Ok(Self {
                b_first,
                exchanged,
                layout,
                elements,
            })
        };
        let results = plan.atom.c();
        let swapped = transposed(plan.atom)?;
        let mut ways = Vec::new();
        for exchange in [false, true] {
            for (b_first, results) in [(false, Some(&results)), (true, swapped.as_ref())] {
                let Some(results) = results else { continue };
                let results = if exchange {
                    exchanged(results)?
                } else {
                    Some(results.clone())
                };
                let Some(results) = results else { continue };
                ways.push(place(results, b_first, exchange)?);
            }
        }
        Ok(ways)
    }

    /// Elements of C that a store may move at once: as many as fit 128 bits, and as every line is
    /// known to start at a multiple of.
    pub fn most_elements(plan: &Plan) -> i64 {
        elements_of_128_bits(plan.problem.c.element).min(plan.aligned_elements(2))
    }
}

/// (lane, value) -> (m, n) of an atom that is given B's fragment for A's and A's for B's; `None`
/// where it takes them in different forms.
fn transposed(atom: &MmaAtom) -> Result<Option<Layout>, LayoutError> {
    let [m, n, _] = atom.shape;
    if m != n || atom.a_layout != atom.b_layout {
        return Ok(None);
    }
    let swap = Layout::flat(&[(m, n), (n, 1)])?;
    let results = atom.c();
    let modes = [
        swap.compose(&results.mode(0)?)?,
        swap.compose(&results.mode(1)?)?,
    ];
    make_layout(&modes).map(Some)
}

/// (lane, value) -> element once each lane of a wave's lower half has given the upper half of its
/// values to the lane as far into the upper half, for that one's lower values, and has sorted
/// what it has; `None` where the halves do not hold every second element each.
pub fn exchanged(results: &Layout) -> Result<Option<Layout>, LayoutError> {
    let lanes = results.mode(0)?.flat_modes();
    let values = results.mode(1)?.flat_modes();
    let (Some((&(2, near), lanes)), &[(count, far)]) = (lanes.split_last(), &values[..]) else {
        return Ok(None);
    };
    if far != 2 * near || count % 2 != 0 {
        return Ok(None);
    }
    let mut lanes = lanes.to_vec();
    lanes.push((2, count * near));
    make_layout(&[Layout::flat(&lanes)?, Layout::flat(&[(count, near)])?]).map(Some)
}

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let epilogue = Epilogue::of(plan)?;
    if epilogue.b_first {
        for mma in rewrite::everywhere(block, "tile.mma")? {
            rewrite::set_text(context, mma, "first", "b");
        }
    }
    for store in rewrite::named(block, "tile.store") {
        let element = plan.problem.c.element;
        let atom = widest(Space::Global, Direction::Store, element, epilogue.elements)?;
        rewrite::set_text(context, store, "layout", &epilogue.layout.to_string());
        rewrite::set_text(context, store, "store", atom.name);
        if epilogue.exchanged {
            rewrite::set_text(context, store, "exchange", HALVES);
        }
    }
    Ok(())
}

/// `tile.store`'s name of an exchange between the halves of a wave.
pub const HALVES: &str = "halves";
