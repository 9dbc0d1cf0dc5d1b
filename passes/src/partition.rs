//! `partition`: the problem becomes a workgroup's loop over K tiles.
//!
//! One workgroup computes one block of C. Each step copies a tile of A and of B to LDS, waits
//! for all waves, multiplies, and waits again, since the next step overwrites the tiles. Atoms
//! are spread over waves; copies move one element at a time.

use crate::{
    PassError,
    plan::Plan,
    rewrite::{self, Before},
    tiling::{MmaLayouts, copy_layout},
};
use melior::{
    Context,
    ir::{
        Block, BlockLike, Module, Region, RegionLike, Type, Value, operation::OperationBuilder,
        r#type::IntegerType,
    },
};
use tilefold_dialect::{
    atoms::{CopyAtom, Direction, Space},
    tile::{TileBuilder, text},
};
use tilefold_layout::Layout;

/// Runs the pass.
pub fn run<'c>(context: &'c Context, module: &Module<'c>, plan: &Plan) -> Result<(), PassError> {
    let (_, block) = rewrite::function(module)?;
    let gemm = rewrite::single(block, "tile.gemm")?;
    let before = Before::new(context, block, gemm);
    let tile = TileBuilder::new(context, before.location);
    let argument = |index| rewrite::operand(gemm, index);
    let [m, n, k] = [argument(3)?, argument(4)?, argument(5)?];
    let [block_m, block_n, block_k] = plan.block;

    let operands = ["a", "b", "c"];
    let shapes = [[m, k], [n, k], [m, n]];
    let mut views = Vec::new();
    let mut elements = Vec::new();
    for (index, operand) in operands.iter().enumerate() {
        let element = text(&gemm, &format!("{operand}_element"))?;
        let order = text(&gemm, &format!("{operand}_order"))?;
        let view = tile.view(
            argument(index)?,
            shapes[index],
            argument(6 + index)?,
            operand,
            element,
            order,
        );
        views.push(before.value(view)?);
        elements.push(element);
    }
    let coordinates = before.insert(tile.block(m, n, [block_m, block_n]));
    let [at_m, at_n] = [
        rewrite::result(coordinates, 0)?,
        rewrite::result(coordinates, 1)?,
    ];

    let layouts = MmaLayouts::new(plan.atom, plan.block, &plan.wave_layout)?;
    let tiles = [[block_m, block_k], [block_n, block_k]];
    let mut shared = Vec::new();
    for (index, extent) in tiles.iter().enumerate() {
        let plain = Layout::row_major(extent)?.to_string();
        shared.push(before.value(tile.lds(operands[index], elements[index], &plain))?);
    }
    let [rm, rn, _] = layouts.repeat;
    let zero = before.value(tile.zero(plan.atom.name, [rm, rn]))?;

    let (first, one) = (before.constant(0)?, before.constant(1)?);
    let depth = before.constant(block_k)?;
    let steps = before.arith("arith.divui", k, depth)?;

    // One step of the loop.
    let i32: Type<'_> = IntegerType::new(context, 32).into();
    let accumulator = tile.accumulator();
    let step = Block::new(&[(i32, before.location), (accumulator, before.location)]);
    let argument = |index| -> Result<Value<'_, '_>, PassError> {
        let value = step.argument(index);
        value.map(rewrite::value).map_err(|_| PassError::Form {
            wanted: "an argument",
            found: 0,
        })
    };
    let at_k = argument(0)?;
    for (index, at) in [at_m, at_n].into_iter().enumerate() {
        let (threads, values) = plan.element_copy(index);
        let layout = copy_layout(&threads, &values, tiles[index])?;
        let element = plan.input();
        let narrow = |space, direction| {
            CopyAtom::widest(space, direction, element, 1)
                .map(|atom| atom.name)
                .ok_or(PassError::Form {
                    wanted: "a copy atom of one element",
                    found: 0,
                })
        };
        step.append_operation(tile.copy(
            views[index],
            at,
            at_k,
            shared[index],
            first,
            tiles[index],
            &layout.to_string(),
            narrow(Space::Global, Direction::Load)?,
            narrow(Space::Lds, Direction::Store)?,
        ));
    }
    step.append_operation(tile.barrier());
    let [a_layout, b_layout] = [layouts.a.to_string(), layouts.b.to_string()];
    let load =
        CopyAtom::widest(Space::Lds, Direction::Load, plan.input(), 1).ok_or(PassError::Form {
            wanted: "a copy atom of one element",
            found: 0,
        })?;
    let mma = step.append_operation(tile.mma(
        shared[0],
        shared[1],
        first,
        argument(1)?,
        plan.atom.name,
        layouts.repeat,
        [&a_layout, &b_layout],
        load.name,
    ));
    let sum: Value<'_, '_> = rewrite::result(mma, 0)?;
    step.append_operation(tile.barrier());
    step.append_operation(melior::dialect::scf::r#yield(&[sum], before.location));

    let region = Region::new();
    region.append_block(step);
    let r#loop = OperationBuilder::new("scf.for", before.location)
        .add_operands(&[first, steps, one, zero])
        .add_results(&[accumulator])
        .add_regions([region])
        .build()
        .expect("the result type is given, so that nothing is inferred");
    let total = before.value(r#loop)?;

    let output = plan.problem.c.element;
    let store =
        CopyAtom::widest(Space::Global, Direction::Store, output, 1).ok_or(PassError::Form {
            wanted: "a copy atom of one element",
            found: 0,
        })?;
    before.insert(tile.store(
        total,
        views[2],
        at_m,
        at_n,
        plan.atom.name,
        [block_m, block_n],
        &layouts.c.to_string(),
        store.name,
    ));
    rewrite::erase(gemm);
    Ok(())
}
