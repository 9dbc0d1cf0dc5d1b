//! The kernel's function with the whole problem as one operation: where all passes start.

use crate::plan::Plan;
use melior::{
    Context,
    ir::{
        Block, BlockLike, Location, Module, Region, RegionLike, Type, Value,
        attribute::{StringAttribute, TypeAttribute},
        r#type::{FunctionType, IntegerType},
    },
};
use tilefold_dialect::{problem::OperandLayout, tile::TileBuilder};

/// Arguments of every GEMM kernel, in order: three pointers, then 32-bit integers. Extents and
/// leading dimensions count elements.
pub const ARGUMENTS: [&str; 9] = ["a", "b", "c", "m", "n", "k", "lda", "ldb", "ldc"];

/// How a matrix lies in memory, over the coordinates that its tiles use: "row" where the
/// second is contiguous, "col" where the first is.
///
/// B is K x N in the problem, while its tiles are over (n, k): what the spec calls a column of
/// B is a row here.
pub fn order(operand: usize, layout: &OperandLayout) -> &'static str {
    let second = matches!(layout, OperandLayout::Row) != (operand == 1);
    if second { "row" } else { "col" }
}

/// A module with one function that holds `tile.gemm`.
pub fn describe<'c>(context: &'c Context, plan: &Plan) -> Module<'c> {
    let location = Location::unknown(context);
    let pointer = Type::parse(context, "!llvm.ptr<1>").expect("the context has the LLVM dialect");
    let integer: Type<'_> = IntegerType::new(context, 32).into();
    let types: Vec<Type<'_>> = ARGUMENTS
        .iter()
        .enumerate()
        .map(|(i, _)| if i < 3 { pointer } else { integer })
        .collect();
    let arguments: Vec<_> = types.iter().map(|r#type| (*r#type, location)).collect();

    let block = Block::new(&arguments);
    let values: Vec<Value<'_, '_>> = (0..types.len())
        .map(|i| {
            block
                .argument(i)
                .expect("the block has all arguments")
                .into()
        })
        .collect();
    let problem = &plan.problem;
    let operands = [&problem.a, &problem.b, &problem.c];
    let elements = operands.map(|operand| operand.element.to_string());
    block.append_operation(TileBuilder::new(context, location).gemm(
        &values,
        [0, 1, 2].map(|i| order(i, &operands[i].layout)),
        elements.each_ref().map(String::as_str),
        &problem.accumulate.to_string(),
    ));
    block.append_operation(melior::dialect::func::r#return(&[], location));
    let region = Region::new();
    region.append_block(block);

    let function = melior::dialect::func::func(
        context,
        StringAttribute::new(context, &plan.kernel),
        TypeAttribute::new(FunctionType::new(context, &types, &[]).into()),
        region,
        &[],
        location,
    );
    let module = Module::new(location);
    module.body().append_operation(function);
    module
}
