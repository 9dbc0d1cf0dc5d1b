//! `lower`: the tile module becomes a kernel in the LLVM and ROCDL dialects.
//!
//! Offsets that depend on the thread alone are computed once at the top of the kernel; what the
//! layouts say of values becomes constants.

mod address;
mod emit;
mod epilogue;
mod fold;
mod global;
mod multiply;
mod pairs;
mod permute;
mod registers;
mod shared;

use crate::{PassError, describe::ARGUMENTS, plan::Plan, rewrite};
use emit::Emit;
use global::Matrix;
use melior::{
    Context,
    ir::{
        Attribute, Block, BlockLike, BlockRef, Location, Module, Region, RegionLike, Type, Value,
        ValueLike,
        attribute::DenseI32ArrayAttribute,
        operation::{OperationBuilder, OperationLike, OperationRef},
    },
    pass::{PassManager, conversion, transform},
};
use shared::Shared;
use std::{collections::HashMap, rc::Rc};
use tilefold_layout::Layout;

/// What a value of the tile module has become.
#[derive(Clone)]
enum Lowered<'c> {
    Scalar(Value<'c, 'c>),
    Matrix(Rc<Matrix<'c>>),
    Shared(Rc<Shared<'c>>),
    Staged(Rc<Staged<'c>>),
    /// One vector per atom, m fastest.
    Accumulators(Vec<Value<'c, 'c>>),
    /// The same of a fold that has left some of its matrix instructions.
    Unfinished(Rc<fold::Unfinished<'c>>),
}

/// A tile on its way to LDS.
struct Staged<'c> {
    /// Integer vectors, in the order of the load's values.
    pieces: Vec<Value<'c, 'c>>,
    /// The thread-value layout of the load.
    layout: Layout,
}

impl Staged<'_> {
    /// Where each of the values that `stores` has, in its order, stands among those loaded.
    fn order(&self, stores: &Layout) -> Result<Vec<usize>, PassError> {
        let loaded: Vec<i64> = self.layout.mode(1)?.offsets().collect();
        let places: HashMap<i64, usize> = loaded.into_iter().zip(0..).collect();
        let place = |value: i64| {
            let wanted = "a value that was loaded";
            places
                .get(&value)
                .copied()
                .ok_or(PassError::Form { wanted, found: 0 })
        };
        stores.mode(1)?.offsets().map(place).collect()
    }
}

/// The state of lowering one kernel.
struct Lowering<'c, 'p> {
    plan: &'p Plan,
    /// Appends to the kernel's first block: dominates the loop.
    entry: Emit<'c>,
    thread: Value<'c, 'c>,
    values: HashMap<usize, Lowered<'c>>,
    addresses: shared::Addresses<'c>,
    /// Reads of fragments since the last scheduling barrier, where the plan orders them.
    window: Option<pairs::Window<'c>>,
}

/// Lowers a tile module to a module with one kernel.
///
/// # Errors
/// A [`PassError`] where the module is not one that the passes make.
pub fn lower<'c>(
    context: &'c Context,
    module: &Module<'c>,
    plan: &Plan,
) -> Result<Module<'c>, PassError> {
    let location = Location::unknown(context);
    let (_, source) = rewrite::function(module)?;
    let lowered = Module::new(location);
    let globals = Emit::new(context, location, lowered.body());

    let region = Region::new();
    let pointer = globals.pointer(emit::GLOBAL);
    let types: Vec<Type<'_>> = ARGUMENTS
        .iter()
        .enumerate()
        .map(|(index, _)| if index < 3 { pointer } else { globals.int(32) })
        .collect();
    let arguments: Vec<_> = types.iter().map(|r#type| (*r#type, location)).collect();
    let block = region.append_block(Block::new(&arguments));
    let entry = Emit::new(context, location, block);
    let thread = entry.op(
        "rocdl.workitem.id.x",
        &[],
        entry.int(32),
        &[(
            "range",
            entry.attribute(&format!("#llvm.constant_range<i32, 0, {}>", plan.threads())),
        )],
    );
    let mut lowering = Lowering {
        plan,
        entry,
        thread,
        values: HashMap::new(),
        addresses: HashMap::new(),
        window: None,
    };
    for index in 0..ARGUMENTS.len() {
        let from: Value<'_, '_> = argument(source, index)?;
        lowering.bind(from, Lowered::Scalar(argument(block, index)?));
    }
    lowering.block(&globals, &entry, source)?;
    entry.effect("llvm.return", &[], &[]);

    globals.append(kernel(&entry, plan, region));
    let manager = PassManager::new(context);
    manager.add_pass(conversion::create_scf_to_control_flow());
    manager.add_pass(conversion::create_control_flow_to_llvm());
    manager.add_pass(conversion::create_arith_to_llvm());
    manager.add_pass(conversion::create_reconcile_unrealized_casts());
    manager.add_pass(transform::create_canonicalizer());
    manager.add_pass(transform::create_cse());
    let mut lowered = lowered;
    manager
        .run(&mut lowered)
        .map_err(|error| PassError::Mlir(error.to_string()))?;
    Ok(lowered)
}

/// The kernel's function around its body.
fn kernel<'c>(emit: &Emit<'c>, plan: &Plan, body: Region<'c>) -> melior::ir::Operation<'c> {
    let threads = plan.threads();
    let pointers = "!llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>";
    let r#type = emit.attribute(&format!(
        "!llvm.func<void ({pointers}, i32, i32, i32, i32, i32, i32)>"
    ));
    // A and B are never written, and no operand overlaps another.
    let input = "{llvm.noalias, llvm.readonly, llvm.noundef}";
    let arguments = emit.attribute(&format!(
        "[{input}, {input}, {{llvm.noalias, llvm.noundef}}{}]",
        ", {llvm.noundef}".repeat(6)
    ));
    // In CU mode a workgroup has one CU's half of the LDS, as all published figures assume.
    let passthrough =
        emit.attribute(r#"[["target-features", "+cumode"], ["uniform-work-group-size", "true"]]"#);
    let unit = Attribute::unit(emit.context);
    let size = DenseI32ArrayAttribute::new(emit.context, &[threads as i32, 1, 1]);
    let attributes = [
        ("sym_name", emit.text(&plan.kernel)),
        ("function_type", r#type),
        ("arg_attrs", arguments),
        ("passthrough", passthrough),
        ("CConv", emit.attribute("#llvm.cconv<amdgpu_kernelcc>")),
        ("linkage", emit.attribute("#llvm.linkage<external>")),
        ("rocdl.kernel", unit),
        ("rocdl.reqd_work_group_size", size.into()),
        (
            "rocdl.flat_work_group_size",
            emit.text(&format!("{threads},{threads}")),
        ),
    ]
    .map(|(name, value)| (melior::ir::Identifier::new(emit.context, name), value));
    OperationBuilder::new("llvm.func", emit.location)
        .add_attributes(&attributes)
        .add_regions([body])
        .build()
        .expect("a function has no results to infer")
}

/// Argument `index` of a block.
fn argument<'c>(block: BlockRef<'c, '_>, index: usize) -> Result<Value<'c, 'c>, PassError> {
    let wanted = "a block argument";
    block
        .argument(index)
        .map(rewrite::value)
        .map_err(|_| PassError::Form {
            wanted,
            found: index,
        })
}

impl<'c> Lowering<'c, '_> {
    fn bind(&mut self, from: Value<'c, '_>, to: Lowered<'c>) {
        self.values.insert(from.to_raw().ptr as usize, to);
    }

    fn lowered(&self, from: Value<'c, '_>) -> Result<Lowered<'c>, PassError> {
        self.values
            .get(&(from.to_raw().ptr as usize))
            .cloned()
            .ok_or(PassError::Form {
                wanted: "a value lowered before its use",
                found: 0,
            })
    }

    fn scalar(
        &self,
        operation: OperationRef<'c, '_>,
        index: usize,
    ) -> Result<Value<'c, 'c>, PassError> {
        match self.lowered(rewrite::operand(operation, index)?)? {
            Lowered::Scalar(value) => Ok(value),
            _ => Err(PassError::Form {
                wanted: "a scalar operand",
                found: index,
            }),
        }
    }

    fn matrix(
        &self,
        operation: OperationRef<'c, '_>,
        index: usize,
    ) -> Result<Rc<Matrix<'c>>, PassError> {
        match self.lowered(rewrite::operand(operation, index)?)? {
            Lowered::Matrix(matrix) => Ok(matrix),
            _ => Err(PassError::Form {
                wanted: "a matrix operand",
                found: index,
            }),
        }
    }

    fn shared(
        &self,
        operation: OperationRef<'c, '_>,
        index: usize,
    ) -> Result<Rc<Shared<'c>>, PassError> {
        match self.lowered(rewrite::operand(operation, index)?)? {
            Lowered::Shared(shared) => Ok(shared),
            _ => Err(PassError::Form {
                wanted: "an LDS operand",
                found: index,
            }),
        }
    }

    fn staged(
        &self,
        operation: OperationRef<'c, '_>,
        index: usize,
    ) -> Result<Rc<Staged<'c>>, PassError> {
        match self.lowered(rewrite::operand(operation, index)?)? {
            Lowered::Staged(staged) => Ok(staged),
            _ => Err(PassError::Form {
                wanted: "a staged operand",
                found: index,
            }),
        }
    }

    fn registers(
        &self,
        operation: OperationRef<'c, '_>,
        index: usize,
    ) -> Result<Vec<Value<'c, 'c>>, PassError> {
        match self.lowered(rewrite::operand(operation, index)?)? {
            Lowered::Accumulators(values) => Ok(values),
            _ => Err(PassError::Form {
                wanted: "an operand in registers",
                found: index,
            }),
        }
    }

    /// Lowers the operations of a block, appending with `emit`.
    fn block(
        &mut self,
        globals: &Emit<'c>,
        emit: &Emit<'c>,
        block: BlockRef<'c, '_>,
    ) -> Result<(), PassError> {
        let mut previous = String::new();
        for operation in rewrite::operations(block) {
            let name = rewrite::name(operation);
            // Loads stay ahead of the multiplication and commits behind it: left to itself,
            // LLVM's scheduler moves commits forward and so waits for the loads first.
            if (previous == "tile.load" || name == "tile.commit") && previous != name {
                fold::hold_order(emit);
            }
            match name.as_str() {
                "tile.view" => self.view(operation)?,
                "tile.block" => self.coordinates(operation)?,
                "tile.lds" => self.allocate(globals, operation)?,
                "tile.zero" => self.zero(operation)?,
                "tile.copy" => {
                    let staged = self.load_tile(emit, operation)?;
                    self.commit_tile(emit, operation, &staged, [3, 4], "stores")?;
                }
                "tile.load" => {
                    let staged = self.load_tile(emit, operation)?;
                    self.bind(
                        rewrite::result(operation, 0)?,
                        Lowered::Staged(Rc::new(staged)),
                    );
                }
                "tile.commit" => {
                    let staged = self.staged(operation, 0)?;
                    self.commit_tile(emit, operation, &staged, [1, 2], "layout")?;
                }
                "tile.barrier" => barrier(emit),
                "tile.mma" => self.multiply(emit, operation)?,
                "tile.fold" => self.fold(emit, operation)?,
                "tile.rest" => self.rest(emit, operation)?,
                "tile.store" => self.store_tile(emit, operation)?,
                "scf.for" => self.r#loop(globals, emit, operation)?,
                "scf.if" => self.branch(globals, emit, operation)?,
                "func.return" | "scf.yield" => {}
                _ if name.starts_with("arith.") => self.arith(emit, operation)?,
                _ => {
                    return Err(PassError::Form {
                        wanted: "an operation of the tile dialect",
                        found: 0,
                    });
                }
            }
            previous = name;
        }
        Ok(())
    }

    /// Either of two regions that end with accumulators.
    fn branch(
        &mut self,
        globals: &Emit<'c>,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let condition = self.scalar(operation, 0)?;
        let mut types = Vec::new();
        let mut regions = Vec::new();
        for index in [0, 1] {
            let region = Region::new();
            let inner = region.append_block(Block::new(&[]));
            let body = Emit::new(emit.context, emit.location, inner);
            let source = rewrite::region(operation, index)?;
            self.block(globals, &body, source)?;
            let sums = self.registers(rewrite::single(source, "scf.yield")?, 0)?;
            types = sums.iter().map(|value| value.r#type()).collect();
            body.effect("scf.yield", &sums, &[]);
            regions.push(region);
        }
        let count = types.len();
        let branch = OperationBuilder::new("scf.if", emit.location)
            .add_operands(&[condition])
            .add_results(&types)
            .add_regions_vec(regions)
            .build()
            .expect("the result types are given, so that nothing is inferred");
        let branch = emit.append(branch);
        let sums = (0..count)
            .map(|index| rewrite::result(branch, index))
            .collect::<Result<Vec<_>, _>>()?;
        self.bind(rewrite::result(operation, 0)?, Lowered::Accumulators(sums));
        Ok(())
    }

    /// A scalar operation, as it stands.
    fn arith(&mut self, emit: &Emit<'c>, operation: OperationRef<'c, '_>) -> Result<(), PassError> {
        let operands = (0..operation.operand_count())
            .map(|index| self.scalar(operation, index))
            .collect::<Result<Vec<_>, _>>()?;
        let attributes: Vec<_> = operation.attributes().collect();
        let from = rewrite::result(operation, 0)?;
        let copied = OperationBuilder::new(&rewrite::name(operation), emit.location)
            .add_operands(&operands)
            .add_results(&[from.r#type()])
            .add_attributes(&attributes)
            .build()
            .expect("the result type is given, so that nothing is inferred");
        let copied = emit.append(copied);
        self.bind(from, Lowered::Scalar(rewrite::result(copied, 0)?));
        Ok(())
    }

    /// The loop over K tiles, which carries one vector per accumulator.
    fn r#loop(
        &mut self,
        globals: &Emit<'c>,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let bounds = [0, 1, 2].map(|index| self.scalar(operation, index));
        let [first, last, step] = bounds;
        let initial = self.registers(operation, 3)?;
        let types: Vec<Type<'_>> = initial.iter().map(|value| value.r#type()).collect();
        let location = emit.location;
        let mut arguments = vec![(emit.int(32), location)];
        arguments.extend(types.iter().map(|r#type| (*r#type, location)));
        let region = Region::new();
        let inner = region.append_block(Block::new(&arguments));
        let body = Emit::new(emit.context, location, inner);

        let source = rewrite::body(operation)?;
        self.bind(argument(source, 0)?, Lowered::Scalar(argument(inner, 0)?));
        let carried = (0..types.len())
            .map(|index| argument(inner, 1 + index))
            .collect::<Result<Vec<_>, _>>()?;
        self.bind(argument(source, 1)?, Lowered::Accumulators(carried));
        self.block(globals, &body, source)?;
        let r#yield = rewrite::single(source, "scf.yield")?;
        body.effect("scf.yield", &self.registers(r#yield, 0)?, &[]);

        let mut operands = vec![first?, last?, step?];
        operands.extend(initial);
        let r#loop = OperationBuilder::new("scf.for", location)
            .add_operands(&operands)
            .add_results(&types)
            .add_regions([region])
            .build()
            .expect("the result types are given, so that nothing is inferred");
        let r#loop = emit.append(r#loop);
        let sums = (0..types.len())
            .map(|i| rewrite::result(r#loop, i))
            .collect::<Result<Vec<_>, _>>()?;
        self.bind(rewrite::result(operation, 0)?, Lowered::Accumulators(sums));
        Ok(())
    }
}

/// A barrier of the workgroup that LDS accesses do not cross: what `__syncthreads` is in HIP.
fn barrier(emit: &Emit<'_>) {
    let fence = |ordering| {
        let scope = emit.text("workgroup");
        let ordering = emit.integer(64, ordering);
        emit.effect(
            "llvm.fence",
            &[],
            &[("ordering", ordering), ("syncscope", scope)],
        );
    };
    fence(RELEASE);
    emit.effect("rocdl.s.barrier", &[], &[]);
    fence(ACQUIRE);
}

// Numbers of llvm::AtomicOrdering.
const ACQUIRE: i64 = 4;
const RELEASE: i64 = 5;
